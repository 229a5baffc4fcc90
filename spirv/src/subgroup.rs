//! Operations over the invocations of a subgroup (SPIR-V, "Non-Uniform Instructions"): which
//! invocations of it take part, and whose values an invocation's result is of.

use rspirv::spirv::{Capability, GroupOperation};

use crate::layout::FloatLayout;

/// Fewest invocations of a subgroup that the arrangement of operands needs; also the size of a
/// cluster.
pub const SMALLEST_SUBGROUP: u32 = 4;
/// Most invocations of a subgroup of which the order of a sum is looked at.
pub const LARGEST_SUBGROUP: u32 = 64;
/// Number of an invocation that no subgroup has.
pub const NO_LANE: u64 = u32::MAX as u64;

/// Which values a result is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SubgroupForm {
    /// Those of all invocations.
    Reduce,
    /// Those of the invocations up to the result's own.
    Inclusive,
    /// Those of the invocations before the result's own.
    Exclusive,
    /// Those of the invocations of a cluster, [`SMALLEST_SUBGROUP`] of them.
    Clustered,
    /// Those of the active invocations, where others are not active.
    Partly,
}

impl SubgroupForm {
    /// The operand of the instruction.
    pub(crate) const fn operation(self) -> GroupOperation {
        match self {
            SubgroupForm::Reduce | SubgroupForm::Partly => GroupOperation::Reduce,
            SubgroupForm::Inclusive => GroupOperation::InclusiveScan,
            SubgroupForm::Exclusive => GroupOperation::ExclusiveScan,
            SubgroupForm::Clustered => GroupOperation::ClusteredReduce,
        }
    }

    /// What a module declares for it.
    pub(crate) const fn capability(self) -> Capability {
        match self {
            SubgroupForm::Clustered => Capability::GroupNonUniformClustered,
            _ => Capability::GroupNonUniformArithmetic,
        }
    }
}

/// Encoding of a summand beside which every other is lost: the largest power of two.
pub const fn large_summand(layout: FloatLayout) -> u64 {
    (2 * layout.bias() as u64) << layout.fraction
}

/// Encoding of a summand that is lost beside the large one, as are all of them together, and whose
/// multiples are exact: 2^-10.
pub const fn unit_summand(layout: FloatLayout) -> u64 {
    (layout.bias() as u64 - 10) << layout.fraction
}

/// The cases that show the order of a sum: each pair of invocations holds a large summand and the
/// same with the other sign, or one alone holds a large one; an invocation that no subgroup has
/// stands for none. The last case is a sum of units.
pub fn summands() -> Vec<u64> {
    let lanes = || 0..u64::from(LARGEST_SUBGROUP);
    let others = move |lane: u64| lanes().skip(lane as usize + 1).chain([NO_LANE]);
    let pairs =
        lanes().flat_map(|positive| others(positive).map(move |negative| [positive, negative]));
    pairs.chain([[NO_LANE; 2]]).flatten().collect()
}
