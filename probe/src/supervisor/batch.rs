//! Which kernels share a module.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use fpprobe_reports::model::Conditions;
use fpprobe_spirv::plan::{Direction, Element};
use fpprobe_spirv::{Format, Kernel, plan};

use super::WorkItem;
use fpprobe_worker::protocol::Runs;

/// Most values (operands of all cases) in one batch, so that none takes long or much memory.
const VALUES: usize = 1 << 18;
/// Most values of the results of texel kernels in one batch, whose code does little with each.
const TEXELS: usize = 1 << 20;

/// Whether kernels may share modules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Batching {
    /// Kernels of the same format, controls, route and front end share a module, scalars and
    /// vectors apart; texel kernels of the same operation, whatever their format.
    Shared,
    /// Every kernel has a module of its own, and runs so often.
    Alone(Runs),
}

impl Batching {
    /// Whether a kernel has its module to itself.
    pub fn is_alone(self, kernel: &Kernel) -> bool {
        matches!(self, Batching::Alone(_)) || plan::most_kernels(kernel) == 1
    }

    /// How often the kernels of a module run: under these conditions a module of several is
    /// compiled again where any of its kernels is to be.
    pub fn runs<'k>(
        self,
        mut kernels: impl Iterator<Item = &'k Kernel>,
        conditions: Conditions,
    ) -> Runs {
        match self {
            Batching::Alone(runs) => runs,
            Batching::Shared if kernels.any(|kernel| conditions.recompiles(kernel)) => {
                Runs::Recompiled
            }
            Batching::Shared => Runs::Two,
        }
    }
}

/// Distributes kernels over batches; each batch lists places in `work`. Kernels that are `early`
/// share no module with others, and come first.
pub fn batches(
    work: &[WorkItem],
    batching: Batching,
    most: usize,
    early: &HashSet<Kernel>,
) -> Vec<Vec<usize>> {
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut open: HashMap<_, Open> = HashMap::new();
    // Kernels of the same cases and the same kind of result come together: in a module they share
    // load and store.
    let mut places: Vec<usize> = (0..work.len()).collect();
    places.sort_by_cached_key(|place| {
        (work[*place].cases.name.as_str(), results(&work[*place].kernel))
    });
    for place in places {
        let item = &work[place];
        let kernel = &item.kernel;
        let alone = batching.is_alone(kernel);
        // All kernels of a module carry what the largest of them has for operands.
        let large = kernel.has_matrices();
        // Of a subgroup a work group is one.
        let team = kernel.op.code.team();
        // Images of several formats lie side by side.
        let texels = kernel.op.code.is_of_texels();
        let (each, all) =
            if texels { (kernel.outputs(), TEXELS) } else { (kernel.arity(), VALUES) };
        let values = item.cases.len() * each;
        let what = (texels.then_some(kernel.op.name), (!texels).then_some(kernel.format));
        let kind = (
            what,
            kernel.controls,
            kernel.route,
            kernel.stage,
            kernel.width > 1,
            kernel.via,
            (large, team),
            early.contains(kernel),
        );
        let buffers = plan::buffers(kernel);
        let most = most.min(plan::most_kernels(kernel));
        let room = open.get_mut(&kind).filter(|open| !alone && batches[open.batch].len() < most);
        if let Some(open) = room
            && open.values.saturating_add(values) <= all
            && open.buffers.union(&buffers).count() <= plan::MOST_BUFFERS
        {
            batches[open.batch].push(place);
            open.values += values;
            open.buffers.extend(buffers);
            continue;
        }
        batches.push(vec![place]);
        if !alone {
            open.insert(kind, Open { batch: batches.len() - 1, values, buffers });
        }
    }
    // The longest first, so that no worker is left with one of them when the others are done.
    let is_early = |batch: &[usize]| batch.iter().any(|place| early.contains(&work[*place].kernel));
    batches.sort_by_key(|batch| Reverse((is_early(batch), batch.len())));
    batches
}

/// The batch that still takes kernels of a kind.
struct Open {
    /// Its number.
    batch: usize,
    /// Values in it that count.
    values: usize,
    /// Buffers that they lie in.
    buffers: BTreeSet<(Direction, Element)>,
}

/// What kernels must have in common to share a store.
fn results(kernel: &Kernel) -> Vec<(Format, u32)> {
    kernel.results().iter().map(|shape| (shape.format, shape.width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpprobe_spirv::Cases;

    fn work(ids: &[&str], cases: usize) -> Vec<WorkItem> {
        ids.iter()
            .map(|id| {
                let kernel: Kernel = id.parse().unwrap();
                WorkItem {
                    kernel,
                    cases: Cases::new("", kernel.arity(), vec![0; cases * kernel.arity()]),
                }
            })
            .collect()
    }

    #[test]
    fn kernels_of_a_kind_share() {
        let ids = [
            "f32.fadd",
            "f16.fadd",
            "f32.fmul",
            "f32.fadd:controls=szin32",
            "b10g11r11.load:route=storage_image",
            "f32.sqrt",
            "f32.fmul:via=glsl",
        ];
        let work = work(&ids, 4);
        assert_eq!(
            batches(&work, Batching::Shared, 2, &HashSet::new()),
            [vec![0, 2], vec![1], vec![3], vec![5], vec![6], vec![4]]
        );
        assert_eq!(batches(&work, Batching::Alone(Runs::Two), 2, &HashSet::new()).len(), ids.len());
    }

    #[test]
    fn texels_of_several_formats_share_as_many_images_as_every_device_has() {
        let formats = ["r8unorm", "rgba8unorm", "r16f", "rgba16f", "r32f"];
        let ids = |rest: &str| formats.map(|format| format!("{format}.{rest}"));
        for (rest, sizes) in [
            ("load:route=sampled", &[5][..]),
            ("load:route=storage_image", &[4, 1]),
            ("store:route=attachment", &[3, 2]),
            ("store:route=clear", &[1, 1, 1, 1, 1]),
            ("store:route=blit", &[1, 1, 1, 1, 1]),
        ] {
            let ids = ids(rest);
            let work = work(&ids.each_ref().map(String::as_str), 1 << 16);
            let batches = batches(&work, Batching::Shared, 24, &HashSet::new());
            assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), sizes, "{rest}");
            assert_eq!(Batching::Shared.is_alone(&work[0].kernel), sizes[0] == 1, "{rest}");
        }
        let ids =
            ["r8unorm.load:route=sampled", "r16f.sample:route=sampled", "r16f.load:route=view"];
        assert_eq!(batches(&work(&ids, 1), Batching::Shared, 24, &HashSet::new()).len(), 3);
    }

    #[test]
    fn batches_need_no_more_buffers_than_every_device_has() {
        let ids =
            ["f32.fadd", "f32.ford_equal", "f32.select", "f32.fconvert_f16", "f32.fconvert_f64"];
        for batch in batches(&work(&ids, 1), Batching::Shared, 24, &HashSet::new()) {
            let kernels = batch.iter().map(|place| ids[*place].parse::<Kernel>().unwrap());
            let used: BTreeSet<_> = kernels.flat_map(|kernel| plan::buffers(&kernel)).collect();
            assert!(used.len() <= plan::MOST_BUFFERS, "{batch:?} uses {used:?}");
        }
    }

    #[test]
    fn batches_are_bounded_by_their_values_too() {
        let work = work(&["f32.sqrt", "f32.sin", "f32.cos", "f32.exp"], VALUES / 2);
        assert_eq!(batches(&work, Batching::Shared, 24, &HashSet::new()), [vec![0, 1], vec![2, 3]]);
    }

    #[test]
    fn batches_of_texels_are_bounded_by_their_results() {
        let ids = [
            "rgba16f.load:route=sampled",
            "rgba8unorm.load:route=sampled",
            "r16f.load:route=sampled",
        ];
        // Four results for each case of the first two, and one of the third.
        for (cases, sizes) in [
            (TEXELS / 9, &[3][..]),
            (TEXELS / 8, &[2, 1]),
            (TEXELS / 5, &[2, 1]),
            (TEXELS, &[1, 1, 1]),
        ] {
            let batches = batches(&work(&ids, cases), Batching::Shared, 24, &HashSet::new());
            assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), sizes, "{cases}");
        }
    }

    #[test]
    fn stages_are_apart() {
        let ids = [
            "f32.sqrt",
            "f32.sqrt:stage=fragment",
            "f32.sin:stage=vertex",
            "f32.sin:stage=fragment",
        ];
        let mut batches = batches(&work(&ids, 1), Batching::Shared, 24, &HashSet::new());
        batches.sort();
        assert_eq!(batches, [vec![0], vec![1, 3], vec![2]]);
    }

    #[test]
    fn what_is_early_comes_first_and_shares_with_nobody_else() {
        let work = work(&["f32.fadd", "f32.fmul", "f32.fsub", "f32.sqrt", "f16.sqrt"], 1);
        let early = HashSet::from([work[3].kernel, work[4].kernel]);
        assert_eq!(batches(&work, Batching::Shared, 24, &early), [vec![4], vec![3], vec![0, 1, 2]]);
    }

    #[test]
    fn matrices_are_apart_and_share_modules() {
        let ids = [
            "f32.matrix_times_matrix:width=4",
            "f32.transpose:width=4",
            "f32.fadd:width=4",
            "f32.fmul:width=4",
        ];
        assert_eq!(
            batches(&work(&ids, 1), Batching::Shared, 24, &HashSet::new()),
            [vec![2, 3], vec![0, 1]]
        );
    }
}
