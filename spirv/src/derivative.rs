//! Derivatives (Vulkan, Shaders, "Derivative Operations"): differences between the values that the
//! invocations of a quad hold, two by two fragments. Invocation 0 is the upper left one, 1 lies to
//! its right, 2 below it, 3 across.

use rspirv::spirv::{Capability, Op};

/// Invocations of a quad.
pub const QUAD_INVOCATIONS: u32 = 4;

/// From an invocation to the one beside it in the direction of a derivative: 1 along x, 2 along y.
fn step(op: Op) -> usize {
    if matches!(op, Op::DPdy | Op::DPdyFine | Op::DPdyCoarse) { 2 } else { 1 }
}

/// Whether a derivative is along y.
pub fn is_vertical(op: Op) -> bool {
    step(op) == 2
}

/// The invocations whose values an invocation's derivative is the difference of: minuend and
/// subtrahend, of its own row (along y its own column).
pub fn difference(op: Op, invocation: usize) -> [usize; 2] {
    [invocation | step(op), invocation & !step(op)]
}

/// An invocation of the row (along y the column) that may stand for an invocation's own: the
/// coarse derivative, or the plain one, may be the same in both.
pub fn across(op: Op, invocation: usize) -> Option<usize> {
    let is_fine = matches!(op, Op::DPdxFine | Op::DPdyFine);
    (!is_fine).then_some(invocation ^ (3 - step(op)))
}

/// What a module declares for an instruction beside `Shader`.
pub(crate) fn capability(op: Op) -> Option<Capability> {
    (!matches!(op, Op::DPdx | Op::DPdy)).then_some(Capability::DerivativeControl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_the_text() {
        let of = |op| [0, 1, 2, 3].map(|invocation| difference(op, invocation));
        assert_eq!(of(Op::DPdxFine), [[1, 0], [1, 0], [3, 2], [3, 2]]);
        assert_eq!(of(Op::DPdyFine), [[2, 0], [3, 1], [2, 0], [3, 1]]);
        let other = |op| [0, 1, 2, 3].map(|invocation| across(op, invocation));
        assert_eq!(other(Op::DPdx), [Some(2), Some(3), Some(0), Some(1)]);
        assert_eq!(other(Op::DPdyCoarse), [Some(1), Some(0), Some(3), Some(2)]);
        assert_eq!(other(Op::DPdyFine), [None; 4]);
    }
}
