//! Results on which nothing but the rounding counts: those well within the range of normal numbers,
//! of operands that are normal numbers, by functions of a single step. No environment says anything
//! of these, and accuracies are stated of one number.

use std::cmp::Ordering;

use fpprobe_spirv::Coding;
use fpprobe_spirv::op::Function;
use rustc_apfloat::ieee::Quad;
use smallvec::SmallVec;

use super::definition::is_defined;
use super::exact::exact;
use super::round::nearest_magnitudes;
use super::{Operand, Operands};
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::quad::cut;
use crate::real::Exact;

/// Binades between these results and either end of the normal numbers.
const MARGIN: i32 = 2;

/// How the correctly rounded result (IEEE 754 roundTiesToEven) comes about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rounding {
    /// It is the exact result.
    Exact,
    /// The exact result lies beside it.
    Near,
    /// The exact result lies half-way between it and another number.
    Tie,
}

/// A result on which nothing but the rounding counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundedResult {
    /// The correctly rounded one.
    pub(crate) nearest: u64,
    /// The exact one, cut to the format's precision.
    toward_zero: u64,
    /// How the correctly rounded one comes about.
    pub(crate) how: Rounding,
}

impl RoundedResult {
    /// The one that this direction gives, if it is a direction.
    pub(crate) fn toward(&self, direction: &Accuracy) -> Option<u64> {
        match direction {
            // The magnitude next to the one that is cut.
            Accuracy::NearestAway if self.how == Rounding::Tie => Some(self.toward_zero + 1),
            Accuracy::NearestEven | Accuracy::NearestAway => Some(self.nearest),
            Accuracy::TowardZero => Some(self.toward_zero),
            _ => None,
        }
    }
}

/// What rounding gives, where nothing but that counts, unless an indeterminate part would make all
/// of them so.
pub(crate) fn rounding(
    encoding: Encoding,
    operands: &Operands,
    function: Function,
) -> Option<RoundedResult> {
    let Encoding::Float(layout) = encoding else { return None };
    let float =
        matches!(operands.coding, None | Some(Coding::Float(_))) && operands.given.is_none();
    let normal =
        |operand: &Operand| operand.layout.is_none_or(|layout| layout.is_normal(operand.bits));
    if !float || !is_single_step(function) || !operands.iter().all(normal) {
        return None;
    }
    let values: SmallVec<[Quad; 4]> = operands.iter().map(|operand| operand.value()).collect();
    let Exact::Number(real) = exact(function, &values)? else { return None };
    if real.is_negative() && !layout.signed {
        return None;
    }
    let (magnitude, other) = nearest_magnitudes(layout, real, false);
    let field = (magnitude >> layout.fraction) as i32;
    if magnitude != other || !(1 + MARGIN..=2 * layout.bias() - MARGIN).contains(&field) {
        return None;
    }
    let (near, far) = real.magnitudes();
    let cut = cut(layout, near);
    let sign = if real.is_negative() { layout.sign_bit() } else { 0 };
    let how = match (near == far, cut.half) {
        (true, _) if cut.exact => Rounding::Exact,
        (true, Ordering::Equal) => Rounding::Tie,
        _ => Rounding::Near,
    };
    Some(RoundedResult { nearest: magnitude | sign, toward_zero: cut.magnitude | sign, how })
}

/// Whether a function is computed by one operation, of operands that all say what the result is.
pub(crate) fn is_single_step(function: Function) -> bool {
    !is_defined(function) && !function.has_intermediates()
}

#[cfg(test)]
mod tests;
