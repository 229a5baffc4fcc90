//! What fragments get of the values of a triangle's vertices. No text has an accuracy of it.

use fpprobe_spirv::interpolation::interpolated;
use fpprobe_spirv::layout::BINARY32;

use super::super::TraitLook::{Lanes, NanBits};
use super::super::TraitRow;
use super::{SINGLE, row};

const EVEN: &str = "a constant that is handed on by vertices is another in some fragments";
const RAMPS: &str = "coordinates of texels that should be exact are next to them";
const LOST: &str = "numbers that programs hand on as bits of floats are lost";

/// Inputs of fragment shaders.
pub(super) static TRAITS: &[TraitRow] = &[
    row(
        "{f}.flat_input_nan_bits",
        SINGLE,
        "What becomes of the bits of a NaN in a flat input of a fragment shader?",
        LOST,
        NanBits("{f}.input_flat"),
    ),
    row(
        "{f}.smooth_input_of_equal_values",
        SINGLE,
        "Is a smooth input exact where all vertices have the same value?",
        EVEN,
        Lanes("{f}.input_smooth", is_even, exactness),
    ),
    row(
        "{f}.noperspective_input_of_equal_values",
        SINGLE,
        "Is a noperspective input exact where all vertices have the same value?",
        EVEN,
        Lanes("{f}.input_noperspective", is_even, exactness),
    ),
    row(
        "{f}.centroid_input_of_equal_values",
        SINGLE,
        "Is a centroid input exact where all vertices have the same value?",
        EVEN,
        Lanes("{f}.input_centroid", is_even, exactness),
    ),
    row(
        "{f}.smooth_input_of_ramps",
        SINGLE,
        "Is a smooth input exact where it lies between numbers and is one?",
        RAMPS,
        Lanes("{f}.input_smooth", is_ramp, exactness),
    ),
    row(
        "{f}.noperspective_input_of_ramps",
        SINGLE,
        "Is a noperspective input exact where it lies between numbers and is one?",
        RAMPS,
        Lanes("{f}.input_noperspective", is_ramp, exactness),
    ),
    row(
        "{f}.centroid_input_of_ramps",
        SINGLE,
        "Is a centroid input exact where it lies between numbers and is one?",
        RAMPS,
        Lanes("{f}.input_centroid", is_ramp, exactness),
    ),
    row(
        "{f}.smooth_input_of_subnormals",
        SINGLE,
        "What is a smooth input where all vertices have the same subnormal value?",
        LOST,
        Lanes("{f}.input_smooth", is_subnormal, |case, result| match result {
            kept if kept == case[0] => "kept",
            zero if BINARY32.is_zero(zero) => "flushed",
            _ => "other",
        }),
    ),
];

fn between(case: &[u64]) -> Option<u64> {
    interpolated(BINARY32, case.try_into().ok()?)
}

fn is_one(case: &[u64]) -> bool {
    case.iter().all(|value| *value == case[0])
}

fn is_even(case: &[u64]) -> bool {
    is_one(case) && between(case).is_some()
}

/// The differences between the vertices are numbers, too, so that each step to the result can be
/// exact.
fn is_ramp(case: &[u64]) -> bool {
    let first = f32::from_bits(case[0] as u32);
    let is_number = |bits: &u64| {
        let difference = f64::from(f32::from_bits(*bits as u32)) - f64::from(first);
        f64::from(difference as f32) == difference
    };
    !is_one(case) && between(case).is_some() && case.iter().all(is_number)
}

fn is_subnormal(case: &[u64]) -> bool {
    is_one(case) && BINARY32.is_subnormal(case[0])
}

fn exactness(case: &[u64], result: u64) -> &'static str {
    if between(case) == Some(result) { "exact" } else { "inexact" }
}
