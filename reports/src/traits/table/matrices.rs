//! Products of cooperative matrices.

use fpprobe_profiles::matrix::MatrixAspect::{Bits, Model, Order, Probe, Repeatable, Rounding};
use fpprobe_spirv::cases::matrix::MatrixProbe;

use super::super::TraitLook::Matrix;
use super::super::TraitRow;
use super::row;

/// Elements of A and B, and of the result.
const PRODUCTS: &[&str] =
    &["f16_f16", "f16_f32", "bf16_f32", "e4m3_f16", "e4m3_f32", "e5m2_f16", "e5m2_f32", "f32_f32"];

const LEFT_OPEN: &str =
    "Vulkan leaves it to the implementation, so that sums differ from device to device";
const FLUSHED: &str =
    "small gradients vanish where it does, and training differs without a message";
const SPECIAL: &str = "what a NaN or an infinity becomes decides whether a broken sum is noticed";

/// Products of cooperative matrices.
pub(super) static TRAITS: &[TraitRow] = &[
    row(
        "matrix.{f}.model",
        PRODUCTS,
        "Which known unit gives the same sums?",
        "results of one unit can be expected of another that follows the same model",
        Matrix(Model),
    ),
    row(
        "matrix.{f}.order",
        PRODUCTS,
        "In which order are products and C added?",
        LEFT_OPEN,
        Matrix(Order),
    ),
    row(
        "matrix.{f}.products",
        PRODUCTS,
        "Is a product rounded before it is added?",
        LEFT_OPEN,
        Matrix(Probe(MatrixProbe::Product)),
    ),
    row(
        "matrix.{f}.rounding",
        PRODUCTS,
        "Which way are sums rounded?",
        LEFT_OPEN,
        Matrix(Rounding),
    ),
    row(
        "matrix.{f}.extra_bits",
        PRODUCTS,
        "How many bits below the last one of the result does a sum keep?",
        LEFT_OPEN,
        Matrix(Bits),
    ),
    row(
        "matrix.{f}.subnormal_a",
        PRODUCTS,
        "What becomes of subnormal elements of A?",
        FLUSHED,
        Matrix(Probe(MatrixProbe::SubnormalA)),
    ),
    row(
        "matrix.{f}.subnormal_b",
        PRODUCTS,
        "What becomes of subnormal elements of B?",
        FLUSHED,
        Matrix(Probe(MatrixProbe::SubnormalB)),
    ),
    row(
        "matrix.{f}.subnormal_c",
        PRODUCTS,
        "What becomes of a subnormal C?",
        FLUSHED,
        Matrix(Probe(MatrixProbe::SubnormalC)),
    ),
    row(
        "matrix.{f}.subnormal_result",
        PRODUCTS,
        "What becomes of a subnormal product?",
        FLUSHED,
        Matrix(Probe(MatrixProbe::SubnormalResult)),
    ),
    row(
        "matrix.{f}.infinity_times_zero",
        PRODUCTS,
        "What is infinity times zero?",
        SPECIAL,
        Matrix(Probe(MatrixProbe::InfinityTimesZero)),
    ),
    row(
        "matrix.{f}.nan_a",
        PRODUCTS,
        "What becomes of a NaN in A?",
        SPECIAL,
        Matrix(Probe(MatrixProbe::NanA)),
    ),
    row(
        "matrix.{f}.nan_c",
        PRODUCTS,
        "What becomes of a NaN in C?",
        SPECIAL,
        Matrix(Probe(MatrixProbe::NanC)),
    ),
    row(
        "matrix.{f}.negative_zeros",
        PRODUCTS,
        "What is a sum of products of -0, and a C of -0?",
        LEFT_OPEN,
        Matrix(Probe(MatrixProbe::NegativeZeros)),
    ),
    row(
        "matrix.{f}.partial_overflow",
        PRODUCTS,
        "What becomes of a sum that passes the largest number on its way?",
        "a narrow accumulator overflows where a wide one does not",
        Matrix(Probe(MatrixProbe::PartialOverflow)),
    ),
    row(
        "matrix.{f}.overflow",
        PRODUCTS,
        "What is a sum beyond the largest number?",
        SPECIAL,
        Matrix(Probe(MatrixProbe::Overflow)),
    ),
    row(
        "matrix.{f}.repeatable",
        PRODUCTS,
        "Are equal products the same when they run again, in other places of a matrix?",
        "tests that compare bits fail at random where they are not",
        Matrix(Repeatable),
    ),
];
