//! What the invocations of a subgroup compute together.

use fpprobe_profiles::observed_behaviour::Aspect::{Nan, SubnormalOperands};

use super::super::TraitLook::{Aspect, Number, SubgroupOrder};
use super::super::TraitRow;
use super::super::modes::{DEFAULT, KEEP_SPECIAL};
use super::{FLOATS, FLUSHED, MINUS_ZERO, SINGLE, row};

const LEFT_OPEN: &str = "the order is implementation-defined: results of reductions and prefix sums differ from device to device";
const CHOSEN: &str = "SPIR-V has the number under SignedZeroInfNanPreserve; WGSL says nothing";
const IDENTITY: &str = "an implementation that begins with the identity gives +0: a reduction and a scan of equal values differ";

/// Operations over subgroups.
pub(super) static TRAITS: &[TraitRow] = &[
    row(
        "{f}.subgroup_order",
        FLOATS,
        "In which order are the values of a subgroup added?",
        LEFT_OPEN,
        SubgroupOrder("{f}.subgroup_order"),
    ),
    row(
        "{f}.subgroup_inclusive_order",
        FLOATS,
        "In which order are the values of a subgroup added in an inclusive scan?",
        LEFT_OPEN,
        SubgroupOrder("{f}.subgroup_inclusive_order"),
    ),
    row(
        "{f}.subgroup_exclusive_order",
        FLOATS,
        "In which order are the values of a subgroup added in an exclusive scan?",
        LEFT_OPEN,
        SubgroupOrder("{f}.subgroup_exclusive_order"),
    ),
    row(
        "{f}.subgroup_clustered_order",
        FLOATS,
        "In which order are the values of a subgroup added in a cluster of four?",
        LEFT_OPEN,
        SubgroupOrder("{f}.subgroup_clustered_order"),
    ),
    row(
        "{f}.subgroup_partly_order",
        FLOATS,
        "In which order are the values of a subgroup added where every second one is active?",
        LEFT_OPEN,
        SubgroupOrder("{f}.subgroup_partly_order"),
    ),
    row(
        "{f}.subgroup_product_order",
        FLOATS,
        "In which order are the values of a subgroup multiplied?",
        LEFT_OPEN,
        SubgroupOrder("{f}.subgroup_product_order"),
    ),
    row(
        "{f}.subgroup_inclusive_product_order",
        FLOATS,
        "In which order are the values of a subgroup multiplied in an inclusive scan?",
        LEFT_OPEN,
        SubgroupOrder("{f}.subgroup_inclusive_product_order"),
    ),
    row(
        "{f}.subgroup_exclusive_product_order",
        FLOATS,
        "In which order are the values of a subgroup multiplied in an exclusive scan?",
        LEFT_OPEN,
        SubgroupOrder("{f}.subgroup_exclusive_product_order"),
    ),
    row(
        "{f}.subgroup_clustered_product_order",
        FLOATS,
        "In which order are the values of a subgroup multiplied in a cluster of four?",
        LEFT_OPEN,
        SubgroupOrder("{f}.subgroup_clustered_product_order"),
    ),
    row(
        "{f}.subgroup_partly_product_order",
        FLOATS,
        "In which order are the values of a subgroup multiplied where every second one is active?",
        LEFT_OPEN,
        SubgroupOrder("{f}.subgroup_partly_product_order"),
    ),
    row(
        "{f}.subgroup_fmin_of_nan",
        FLOATS,
        "What is the minimum of a subgroup of a NaN and a number?",
        CHOSEN,
        Aspect(Nan, &["{f}.subgroup_fmin"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL]),
    row(
        "{f}.subgroup_fmax_of_nan",
        FLOATS,
        "What is the maximum of a subgroup of a NaN and a number?",
        CHOSEN,
        Aspect(Nan, &["{f}.subgroup_fmax"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL]),
    row(
        "{f}.subgroup_sum_of_subnormals",
        FLOATS,
        "What becomes of subnormal values in the sum of a subgroup?",
        FLUSHED,
        Aspect(SubnormalOperands, &["{f}.subgroup_fadd"]),
    ),
    row(
        "{f}.subgroup_extremes_of_subnormals",
        FLOATS,
        "What becomes of subnormal values in the minimum and maximum of a subgroup?",
        FLUSHED,
        Aspect(SubnormalOperands, &["{f}.subgroup_fmin", "{f}.subgroup_fmax"]),
    ),
    row(
        "f32.subgroup_sum_of_negative_zeros",
        SINGLE,
        "What is the sum of -0 in a subgroup?",
        IDENTITY,
        Number("f32.subgroup_fadd", &[MINUS_ZERO, MINUS_ZERO]),
    ),
    row(
        "f32.subgroup_inclusive_sum_of_negative_zeros",
        SINGLE,
        "What is the inclusive scan of the sum of -0?",
        IDENTITY,
        Number("f32.subgroup_inclusive_fadd", &[MINUS_ZERO, MINUS_ZERO]),
    ),
    row(
        "f32.subgroup_exclusive_sum_of_negative_zeros",
        SINGLE,
        "What is the exclusive scan of the sum of -0?",
        IDENTITY,
        Number("f32.subgroup_exclusive_fadd", &[MINUS_ZERO, MINUS_ZERO]),
    ),
    row(
        "f32.subgroup_fmin_of_zeros",
        SINGLE,
        "What is the minimum of a subgroup of zeros of both signs, the other sign first?",
        "either is correct: a program that looks at the sign differs from device to device",
        Number("f32.subgroup_fmin", &[0, MINUS_ZERO]),
    ),
    row(
        "f32.subgroup_fmax_of_zeros",
        SINGLE,
        "What is the maximum of a subgroup of zeros of both signs, the other sign first?",
        "either is correct: a program that looks at the sign differs from device to device",
        Number("f32.subgroup_fmax", &[MINUS_ZERO, 0]),
    ),
];
