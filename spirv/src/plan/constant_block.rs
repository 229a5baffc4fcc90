//! Constant blocks: the operands of some slots of a group of kernels in a uniform block or in push
//! constants, where every invocation of a dispatch finds the same ones at the same place.
//!
//! A constant block is `uvec4 header; uvec4 operands[];`. The header says which slots and which
//! rows of the module it serves: the first slot, their number, the first row, and how many vectors
//! each slot takes: operand after operand, each from a vector on, its components side by side in
//! words, a binary64 in two of them, the lower first. Push constants hold one slot, which is read
//! at constant offsets.

pub use crate::capacity::{PUSH_BYTES, UNIFORM_BYTES};
use crate::capacity::{vectors, vectors_of_slot};
use crate::kernel::Kernel;
use crate::plan::{PlacedKernel, Plan};
use crate::route::Route;

/// Binding of the uniform buffer in descriptor set 0.
pub const UNIFORM_BINDING: u32 = 10;
/// One dispatch of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dispatch {
    /// Work groups in x.
    pub columns: u32,
    /// Work groups in y.
    pub rows: u32,
    /// Words of its constant block; none for routes without.
    pub constant_block: Vec<u32>,
}

/// Vectors that the operands of a slot take, of the kernel where they take the most: every row
/// reads that many, and those of the last slot lie within the constant block, too.
pub(crate) fn most_vectors(plan: &Plan) -> u32 {
    plan.placed.iter().map(|placed| vectors_of_slot(&placed.kernel.params())).max().unwrap_or(0)
}

impl Plan {
    /// The dispatches that run the module once.
    pub fn dispatches(&self) -> Vec<Dispatch> {
        let route = self.route().unwrap_or_default();
        let Some(vectors) = vectors(route) else {
            return vec![Dispatch {
                columns: self.columns,
                rows: self.rows,
                constant_block: Vec::new(),
            }];
        };
        // Kernels of the same operands share their constant blocks.
        let together = |a: &PlacedKernel, b: &PlacedKernel| {
            a.values == b.values && a.kernel.params() == b.kernel.params()
        };
        let mut first = 0;
        let constant_blocks = self.placed.chunk_by(together).flat_map(|placed| {
            let constant_blocks = self.constant_blocks(placed, first, vectors);
            first += placed.len() as u32;
            constant_blocks
        });
        constant_blocks.collect()
    }

    /// The constant blocks of these kernels, which begin at this row: each with as many slots as
    /// fit, push constants with one.
    fn constant_blocks(&self, placed: &[PlacedKernel], row: u32, vectors: u32) -> Vec<Dispatch> {
        let Some(first) = placed.first() else { return Vec::new() };
        let (kernel, rows) = (&first.kernel, placed.len() as u32);
        let each = vectors_of_slot(&kernel.params());
        let most = if kernel.route == Route::Push {
            1
        } else {
            1 + (vectors - most_vectors(self)) / each.max(1)
        };
        let values: Vec<&[u64]> = first.values.chunks(kernel.arity()).collect();
        let constant_blocks = (0..).step_by(most as usize).zip(values.chunks(most as usize));
        let constant_block = constant_blocks.map(|(slot, slots)| {
            let count = slots.len() as u32;
            let mut constant_block = vec![slot, count, row, each];
            for values in slots {
                append(&mut constant_block, kernel, values);
            }
            constant_block.resize(4 * (1 + vectors) as usize, 0);
            Dispatch { columns: count + self.variant.shift, rows, constant_block }
        });
        constant_block.collect()
    }
}

/// Appends the operands of one slot.
fn append(constant_block: &mut Vec<u32>, kernel: &Kernel, values: &[u64]) {
    let mut values = values.iter();
    for shape in kernel.params() {
        for value in values.by_ref().take(shape.width as usize) {
            constant_block.push(*value as u32);
            if shape.format.bits() > 32 {
                constant_block.push((value >> 32) as u32);
            }
        }
        constant_block.resize(constant_block.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{LayoutRequest, Variant};

    fn plan(kernels: &[(&str, usize, Vec<u64>)]) -> Plan {
        let request: Vec<LayoutRequest> = kernels
            .iter()
            .map(|(id, operands, values)| {
                let kernel: Kernel = id.parse().unwrap();
                let slots = (values.len() / kernel.arity()) as u32;
                LayoutRequest { kernel, slots, operands: *operands, values: values.clone().into() }
            })
            .collect();
        Plan::sharing(&request, true, Variant { shift: 2, ..Variant::default() })
    }

    #[test]
    fn push_constants_hold_one_slot() {
        let values = vec![1, 2, 3, 4, 5 << 32 | 6, 7];
        let plan =
            plan(&[("f64.fadd:route=push", 0, values.clone()), ("f64.fmul:route=push", 0, values)]);
        let dispatches = plan.dispatches();
        assert_eq!(dispatches.len(), 3);
        for dispatch in &dispatches {
            assert_eq!(
                (dispatch.columns, dispatch.rows, dispatch.constant_block.len()),
                (1 + 2, 2, 32)
            );
        }
        // First slot, number of slots, first row, vectors of a slot; then each operand from a
        // vector on, the low word first.
        assert_eq!(dispatches[2].constant_block[..12], [2, 1, 0, 2, 6, 5, 0, 0, 7, 0, 0, 0]);
    }

    #[test]
    fn uniform_windows_hold_as_many_slots_as_fit_and_one_list_each() {
        let pairs: Vec<u64> = (0..2 * 600).collect();
        let plan = plan(&[
            ("f32.fadd:route=uniform", 0, pairs.clone()),
            ("f32.fmul:route=uniform", 0, pairs),
            ("f32.sqrt:route=uniform", 1, vec![7, 8, 9]),
        ]);
        let dispatches = plan.dispatches();
        let of = |dispatch: &Dispatch| {
            (dispatch.columns, dispatch.rows, dispatch.constant_block[..4].to_vec())
        };
        // Two vectors a pair: 511 pairs fit.
        assert_eq!(of(&dispatches[0]), (511 + 2, 2, vec![0, 511, 0, 2]));
        assert_eq!(of(&dispatches[1]), (89 + 2, 2, vec![511, 89, 0, 2]));
        assert_eq!(of(&dispatches[2]), (3 + 2, 1, vec![0, 3, 2, 1]));
        assert_eq!(dispatches.len(), 3);
        assert!(
            dispatches
                .iter()
                .all(|dispatch| dispatch.constant_block.len() as u32 * 4 == UNIFORM_BYTES)
        );
        assert_eq!(dispatches[1].constant_block[4..12], [2 * 511, 0, 0, 0, 2 * 511 + 1, 0, 0, 0]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |id: &str| id.parse::<Kernel>().unwrap_err().to_string();
        assert!(refused("f64.matrix_times_matrix:route=push;width=3").contains("take 10 vectors"));
        assert!("f32.matrix_times_matrix:route=push;width=3".parse::<Kernel>().is_ok());
        assert!("f64.fma:route=push;width=4".parse::<Kernel>().is_ok());
    }
}
