//! Operations over the invocations of a subgroup (SPIR-V, "Non-Uniform Instructions"): which
//! invocations of it take part, and whose values an invocation's result is of.

use rspirv::spirv::{Capability, GroupOperation};

use crate::layout::FloatLayout;

/// Fewest invocations of a subgroup that the arrangement of operands needs; also the size of a
/// cluster.
pub const SMALLEST_SUBGROUP: u32 = 4;
/// Most invocations of a subgroup of which the order of a sum or product is looked at.
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

/// Encodings of what the invocations of a subgroup hold whose sum or product shows its order: one
/// invocation a value in which the units of others are lost that it meets, another one by which
/// it comes back to where units count, all others a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderValues {
    /// The value in which units are lost.
    pub masking: u64,
    /// The other one.
    pub restoring: u64,
    /// What all others hold.
    pub unit: u64,
}

impl OrderValues {
    /// Of a sum: the largest power of two, the same with the other sign, and 2^-10, whose multiples
    /// are exact and all of them together are lost beside a large one.
    pub const fn of_sum(layout: FloatLayout) -> OrderValues {
        let large = (2 * layout.bias() as u64) << layout.fraction;
        OrderValues {
            masking: large,
            restoring: large | layout.sign_bit(),
            unit: (layout.bias() as u64 - 10) << layout.fraction,
        }
    }

    /// Of a product: the smallest subnormal, which no number of these factors changes that is less
    /// than 1.5; the largest power of two; and a factor of which [`LARGEST_SUBGROUP`] together are
    /// less than 1.5.
    pub const fn of_product(layout: FloatLayout) -> OrderValues {
        OrderValues {
            masking: 1,
            restoring: OrderValues::of_sum(layout).masking,
            unit: layout.one() | 6 << (layout.fraction - 10),
        }
    }
}

/// The cases that show an order: two invocations hold the masking and the restoring value, or one
/// alone the masking one; an invocation that no subgroup has stands for none. The last case is of
/// units alone. Of a sum both values mask, so that one of the two ways to hold them does.
pub fn order_cases(both_ways: bool) -> Vec<u64> {
    let lanes = || 0..u64::from(LARGEST_SUBGROUP);
    let others = move |lane: u64| {
        lanes().filter(move |other| *other > lane || both_ways && *other != lane).chain([NO_LANE])
    };
    let pairs =
        lanes().flat_map(|masking| others(masking).map(move |restoring| [masking, restoring]));
    pairs.chain([[NO_LANE; 2]]).flatten().collect()
}
