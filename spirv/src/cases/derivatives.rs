//! Quads of values, of which derivatives are differences.

use super::boundary::{Length, cut};
use super::several::{binary, roundings};
use crate::derivative::is_vertical;
use crate::kernel::Kernel;
use crate::op::Code;

/// Pairs of values whose difference shows something, each in both rows of a quad (along y in both
/// columns), where any row gives the same, and beside another one, where it does not.
pub(super) fn quads(kernel: &Kernel) -> Vec<u64> {
    let (Some(layout), Code::Derivative(op)) = (kernel.format.float(), kernel.op.code) else {
        return Vec::new();
    };
    let mut pairs = cut(&[kernel.format; 2], binary(layout), Length::Boundary);
    pairs.extend(roundings(layout).concat());
    let pairs: Vec<[u64; 2]> = pairs.as_chunks().0.to_vec();
    let count = pairs.len();
    let beside = |number: usize| pairs[(number + count / 2) % count];
    let both =
        (0..count).flat_map(|number| [pairs[number], beside(number)].map(|other| (number, other)));
    both.flat_map(|(number, [z, w])| {
        let [x, y] = pairs[number];
        if is_vertical(op) { [y, w, x, z] } else { [y, x, w, z] }
    })
    .collect()
}
