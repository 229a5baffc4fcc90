//! Which kernels share a module.

use std::collections::{BTreeSet, HashMap};

use fpprobe_spirv::op::Code;
use fpprobe_spirv::plan;

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
    // The batch that still takes kernels of a kind, the values in it, and the buffers they lie in.
    let mut open: HashMap<_, (usize, usize, BTreeSet<_>)> = HashMap::new();
    // Kernels of the same cases and the same kind of result come together: in a module they share load and store.
    let mut places: Vec<usize> = (0..asks.len()).collect();
    places.sort_by_key(|place| (asks[*place].cases.name.as_str(), asks[*place].kernel.result().format));
    for place in places {
        let ask = &asks[place];
        let kernel = &ask.kernel;
        let values = ask.cases.len() * kernel.arity();
        let alone = batching == Batching::Alone || matches!(kernel.op.code, Code::ImageRead | Code::ImageWrite);
        let kind = (kernel.format, kernel.controls, kernel.route, kernel.width, kernel.via);
        let buffers = plan::buffers(kernel);
        let room = open.get_mut(&kind).filter(|(batch, filled, used)| {
            !alone
                && batches[*batch].len() < most
                && filled.saturating_add(values) <= VALUES
                && used.union(&buffers).count() <= plan::MOST_BUFFERS
        });
        if let Some((batch, filled, used)) = room {
            batches[*batch].push(place);
            *filled += values;
            used.extend(buffers);
            continue;
        }
        batches.push(vec![place]);
        if !alone {
            open.insert(kind, (batches.len() - 1, values, buffers));
        }
    }
    // The longest first, so that no worker is left with one of them when the others are done.
    batches.sort_by_key(|batch| std::cmp::Reverse(batch.len()));
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
        let ids = [
            "f32.fadd",
            "f16.fadd",
            "f32.fmul",
            "f32.fadd:controls=szin32",
            "b10g11r11.load:route=storage_image",
            "f32.sqrt",
            "f32.fmul:via=glsl",
        ];
        let asks = asks(&ids, 4);
        assert_eq!(batches(&asks, Batching::Shared, 2), [vec![0, 2], vec![1], vec![3], vec![4], vec![5], vec![6]]);
        assert_eq!(batches(&asks, Batching::Alone, 2).len(), ids.len());
    }

    #[test]
    fn batches_need_no_more_buffers_than_every_device_has() {
        let ids = ["f32.fadd", "f32.ford_equal", "f32.select", "f32.fconvert_f16", "f32.fconvert_f64"];
        for batch in batches(&asks(&ids, 1), Batching::Shared, 24) {
            let kernels = batch.iter().map(|place| ids[*place].parse::<Kernel>().unwrap());
            let used: BTreeSet<_> = kernels.flat_map(|kernel| plan::buffers(&kernel)).collect();
            assert!(used.len() <= plan::MOST_BUFFERS, "{batch:?} uses {used:?}");
        }
    }

    #[test]
    fn batches_are_bounded_by_their_values_too() {
        let asks = asks(&["f32.sqrt", "f32.sin", "f32.cos", "f32.exp"], VALUES / 2);
        assert_eq!(batches(&asks, Batching::Shared, 24), [vec![0, 1], vec![2, 3]]);
    }
}
