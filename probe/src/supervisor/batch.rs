//! Which kernels share a module.

use std::collections::HashMap;

use fpprobe_spirv::op::Code;

use super::Ask;

/// Most values (operands of all cases) in one batch, so that none takes long or much memory.
const VALUES: usize = 1 << 18;

/// Whether kernels may share modules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Batching {
    /// Kernels of the same format, controls, route, width and front end share a module.
    Shared,
    /// Every kernel has a module of its own.
    Alone,
}

/// Distributes kernels over batches; each batch lists places in `asks`.
pub fn batches(asks: &[Ask], batching: Batching, most: usize) -> Vec<Vec<usize>> {
    let mut batches: Vec<Vec<usize>> = Vec::new();
    // The batch that still takes kernels of a kind, and the values in it.
    let mut open: HashMap<_, (usize, usize)> = HashMap::new();
    for (place, ask) in asks.iter().enumerate() {
        let kernel = &ask.kernel;
        let values = ask.cases.len() * kernel.arity();
        let alone = batching == Batching::Alone || matches!(kernel.op.code, Code::ImageRead | Code::ImageWrite);
        let kind = (kernel.format, kernel.controls, kernel.route, kernel.width, kernel.via);
        let room = open.get_mut(&kind).filter(|(batch, filled)| {
            !alone && batches[*batch].len() < most && filled.saturating_add(values) <= VALUES
        });
        if let Some((batch, filled)) = room {
            batches[*batch].push(place);
            *filled += values;
            continue;
        }
        batches.push(vec![place]);
        if !alone {
            open.insert(kind, (batches.len() - 1, values));
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpprobe_spirv::{Cases, Kernel};

    fn asks(ids: &[&str], cases: usize) -> Vec<Ask> {
        ids.iter()
            .map(|id| {
                let kernel: Kernel = id.parse().unwrap();
                Ask { kernel, cases: Cases::new("", kernel.arity(), vec![0; cases * kernel.arity()]) }
            })
            .collect()
    }

    #[test]
    fn kernels_of_a_kind_share_and_images_are_alone() {
        let ids = ["f32.fadd", "f16.fadd", "f32.fmul", "f32.fadd:controls=szin32", "b10g11r11.load:route=storage_image", "f32.sqrt", "f32.fmul:via=glsl"];
        let asks = asks(&ids, 4);
        assert_eq!(batches(&asks, Batching::Shared, 2), [vec![0, 2], vec![1], vec![3], vec![4], vec![5], vec![6]]);
        assert_eq!(batches(&asks, Batching::Alone, 2).len(), ids.len());
    }

    #[test]
    fn batches_are_bounded_by_their_values_too() {
        let asks = asks(&["f32.sqrt", "f32.sin", "f32.cos", "f32.exp"], VALUES / 2);
        assert_eq!(batches(&asks, Batching::Shared, 24), [vec![0, 1], vec![2, 3]]);
    }
}
