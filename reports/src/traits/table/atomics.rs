//! Atomic operations, in each kind of memory: they are units of hardware of their own.

use fpprobe_profiles::observed_behaviour::Aspect::{Nan, SubnormalOperands};

use super::super::TraitLook::{Aspect, NanBits, Number};
use super::super::TraitRow;
use super::super::modes::{DEFAULT, KEEP_SPECIAL};
use super::{FLOATS, FLUSHED, MINUS_ZERO, SINGLE, row};

const CHOSEN: &str = "SPIR-V has the number under SignedZeroInfNanPreserve, of a quiet NaN";
const EITHER: &str =
    "either is correct: a program that looks at the sign differs from device to device";
const PAYLOAD: &str = "programs mark data by the bits of a NaN";

/// Atomic operations.
pub(super) static TRAITS: &[TraitRow] = &[
    row(
        "{f}.atomic_sum_of_subnormals",
        FLOATS,
        "What becomes of subnormal values in an atomic addition in buffers?",
        FLUSHED,
        Aspect(SubnormalOperands, &["{f}.atomic_fadd"]),
    ),
    row(
        "{f}.atomic_extremes_of_subnormals",
        FLOATS,
        "What becomes of subnormal values in an atomic minimum or maximum in buffers?",
        FLUSHED,
        Aspect(SubnormalOperands, &["{f}.atomic_fmin", "{f}.atomic_fmax"]),
    ),
    row(
        "{f}.atomic_fmin_of_nan",
        FLOATS,
        "What does an atomic minimum of a NaN and a number store in buffers?",
        CHOSEN,
        Aspect(Nan, &["{f}.atomic_fmin"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL]),
    row(
        "f32.atomic_fmin_of_zeros",
        SINGLE,
        "What does an atomic minimum of +0 in memory and -0 store in buffers?",
        EITHER,
        Number("f32.atomic_fmin", &[0, MINUS_ZERO]),
    ),
    row(
        "{f}.atomic_fmax_of_nan",
        FLOATS,
        "What does an atomic maximum of a NaN and a number store in buffers?",
        CHOSEN,
        Aspect(Nan, &["{f}.atomic_fmax"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL]),
    row(
        "f32.atomic_fmax_of_zeros",
        SINGLE,
        "What does an atomic maximum of -0 in memory and +0 store in buffers?",
        EITHER,
        Number("f32.atomic_fmax", &[MINUS_ZERO, 0]),
    ),
    row(
        "{f}.atomic_exchange_of_nan",
        FLOATS,
        "What becomes of the bits of a NaN in an atomic exchange in buffers?",
        PAYLOAD,
        NanBits("{f}.atomic_exchange"),
    ),
    row(
        "{f}.atomic_sum_of_nan",
        FLOATS,
        "What becomes of the bits of a NaN in an atomic addition in buffers?",
        PAYLOAD,
        NanBits("{f}.atomic_fadd"),
    ),
    row(
        "{f}.shared_atomic_sum_of_subnormals",
        FLOATS,
        "What becomes of subnormal values in an atomic addition in shared memory?",
        FLUSHED,
        Aspect(SubnormalOperands, &["{f}.atomic_fadd:route=shared"]),
    ),
    row(
        "{f}.shared_atomic_extremes_of_subnormals",
        FLOATS,
        "What becomes of subnormal values in an atomic minimum or maximum in shared memory?",
        FLUSHED,
        Aspect(
            SubnormalOperands,
            &["{f}.atomic_fmin:route=shared", "{f}.atomic_fmax:route=shared"],
        ),
    ),
    row(
        "{f}.shared_atomic_fmin_of_nan",
        FLOATS,
        "What does an atomic minimum of a NaN and a number store in shared memory?",
        CHOSEN,
        Aspect(Nan, &["{f}.atomic_fmin:route=shared"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL]),
    row(
        "f32.shared_atomic_fmin_of_zeros",
        SINGLE,
        "What does an atomic minimum of +0 in memory and -0 store in shared memory?",
        EITHER,
        Number("f32.atomic_fmin:route=shared", &[0, MINUS_ZERO]),
    ),
    row(
        "{f}.shared_atomic_fmax_of_nan",
        FLOATS,
        "What does an atomic maximum of a NaN and a number store in shared memory?",
        CHOSEN,
        Aspect(Nan, &["{f}.atomic_fmax:route=shared"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL]),
    row(
        "f32.shared_atomic_fmax_of_zeros",
        SINGLE,
        "What does an atomic maximum of -0 in memory and +0 store in shared memory?",
        EITHER,
        Number("f32.atomic_fmax:route=shared", &[MINUS_ZERO, 0]),
    ),
    row(
        "{f}.shared_atomic_exchange_of_nan",
        FLOATS,
        "What becomes of the bits of a NaN in an atomic exchange in shared memory?",
        PAYLOAD,
        NanBits("{f}.atomic_exchange:route=shared"),
    ),
    row(
        "{f}.shared_atomic_sum_of_nan",
        FLOATS,
        "What becomes of the bits of a NaN in an atomic addition in shared memory?",
        PAYLOAD,
        NanBits("{f}.atomic_fadd:route=shared"),
    ),
    row(
        "f32.image_atomic_sum_of_subnormals",
        SINGLE,
        "What becomes of subnormal values in an atomic addition in images?",
        FLUSHED,
        Aspect(SubnormalOperands, &["f32.atomic_fadd:route=storage_image"]),
    ),
    row(
        "f32.image_atomic_extremes_of_subnormals",
        SINGLE,
        "What becomes of subnormal values in an atomic minimum or maximum in images?",
        FLUSHED,
        Aspect(
            SubnormalOperands,
            &["f32.atomic_fmin:route=storage_image", "f32.atomic_fmax:route=storage_image"],
        ),
    ),
    row(
        "f32.image_atomic_fmin_of_nan",
        SINGLE,
        "What does an atomic minimum of a NaN and a number store in images?",
        CHOSEN,
        Aspect(Nan, &["f32.atomic_fmin:route=storage_image"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL]),
    row(
        "f32.image_atomic_fmin_of_zeros",
        SINGLE,
        "What does an atomic minimum of +0 in memory and -0 store in images?",
        EITHER,
        Number("f32.atomic_fmin:route=storage_image", &[0, MINUS_ZERO]),
    ),
    row(
        "f32.image_atomic_fmax_of_nan",
        SINGLE,
        "What does an atomic maximum of a NaN and a number store in images?",
        CHOSEN,
        Aspect(Nan, &["f32.atomic_fmax:route=storage_image"]),
    )
    .under(&[DEFAULT, KEEP_SPECIAL]),
    row(
        "f32.image_atomic_fmax_of_zeros",
        SINGLE,
        "What does an atomic maximum of -0 in memory and +0 store in images?",
        EITHER,
        Number("f32.atomic_fmax:route=storage_image", &[MINUS_ZERO, 0]),
    ),
    row(
        "f32.image_atomic_exchange_of_nan",
        SINGLE,
        "What becomes of the bits of a NaN in an atomic exchange in images?",
        PAYLOAD,
        NanBits("f32.atomic_exchange:route=storage_image"),
    ),
    row(
        "f32.image_atomic_sum_of_nan",
        SINGLE,
        "What becomes of the bits of a NaN in an atomic addition in images?",
        PAYLOAD,
        NanBits("f32.atomic_fadd:route=storage_image"),
    ),
];
