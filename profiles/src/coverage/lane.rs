//! One lane of a rule: what is accepted there, the right answer, and others near it.

use fpprobe_spirv::op::Function;

use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::Subnormals;
use crate::judge::strict;
use crate::oracle::{Demand, Operands, Signature};

/// A lane with its right answer.
pub(super) struct CoverageLane<'a> {
    pub(super) signature: &'a Signature,
    pub(super) case: &'a [u64],
    pub(super) part: usize,
    pub(super) operands: Operands,
    pub(super) demand: &'a Demand,
    pub(super) set: Set,
    pub(super) right: u64,
}

impl CoverageLane<'_> {
    /// How the answer's bits are read.
    pub(super) fn encoding(&self) -> Encoding {
        self.set.encoding()
    }

    /// Whether a subnormal is among the operands, or may be near the result.
    pub(super) fn is_tiny(&self) -> bool {
        let Encoding::Float(layout) = self.encoding() else { return self.reads_subnormal() };
        layout.is_subnormal(self.right) || layout.is_zero(self.right) || self.reads_subnormal()
    }

    fn reads_subnormal(&self) -> bool {
        self.operands
            .iter()
            .any(|operand| operand.layout.is_some_and(|layout| layout.is_subnormal(operand.bits)))
    }

    /// The answer under a changed demand, where that is another one and leaves no more than two.
    pub(super) fn under(&self, change: impl Fn(Demand) -> Demand) -> Option<u64> {
        let demand = change(exactly(self.demand));
        let set = self.signature.accepted_part(self.case, self.part, &demand);
        let (nan, right) = (Set::nan(self.encoding()), Set::one(self.encoding(), self.right));
        let numbers = set.minus(&nan).minus(&right);
        match numbers.count() {
            // Of NaNs one is as good as another.
            0 if right.and(&nan).is_empty() => set.and(&nan).members(1).first().copied(),
            1 | 2 => numbers.members(1).first().copied(),
            _ => None,
        }
    }

    /// An operand that was not to be handed on.
    pub(super) fn other_operand(&self) -> Option<u64> {
        let chooses = matches!(
            self.demand.function,
            Function::Min | Function::Max | Function::Clamp | Function::Choose
        );
        let others = self
            .operands
            .iter()
            .filter(|operand| operand.layout.is_some())
            .map(|operand| operand.bits);
        let other = |bits: &u64| *bits != self.right;
        let refused = others.clone().filter(other).find(|bits| !self.set.contains(*bits));
        if chooses { refused.or_else(|| others.clone().find(other)) } else { None }
    }

    /// The right answer of another part of the same encoding.
    pub(super) fn other_part(&self) -> Option<u64> {
        let parts = self.signature.encodings.len();
        let other = (1..parts)
            .map(|step| (self.part + step) % parts)
            .find(|other| self.signature.encodings[*other] == self.encoding())?;
        let set = self.signature.accepted_part(self.case, other, self.demand);
        Some(right(self.signature, self.case, other, self.demand, &set))
    }

    /// The nearest value outside of the range of accepted ones that the right answer lies in.
    pub(super) fn just_outside(&self) -> Option<u64> {
        let encoding = self.encoding();
        let key = encoding.key(self.right);
        let (from, to) =
            self.set.ranges().iter().find(|(from, to)| (*from..=*to).contains(&key))?;
        let (first, last) = encoding.limits();
        let beyond = [
            to.checked_add(1).filter(|key| *key <= last),
            from.checked_sub(1).filter(|key| *key >= first),
        ];
        beyond
            .into_iter()
            .flatten()
            .min_by_key(|beyond| beyond.abs_diff(key))
            .map(|key| encoding.at(key))
    }
}

/// The demand of the result rounded to nearest even under the profile's own environment; what the
/// environment leaves open is as IEEE 754 has it.
pub(super) fn exactly(demand: &Demand) -> Demand {
    let mut exact = strict(demand);
    for environment in [&mut exact.operands, &mut exact.results] {
        for subnormals in [&mut environment.subnormal_inputs, &mut environment.subnormal_results] {
            if *subnormals == Subnormals::Either {
                *subnormals = Subnormals::Keep;
            }
        }
    }
    exact
}

/// The right answer of what is accepted: to nearest even, subnormals kept where they may be, if
/// that is accepted and can be computed; else from the middle.
pub fn right(signature: &Signature, case: &[u64], part: usize, demand: &Demand, set: &Set) -> u64 {
    let (encoding, nan) = (set.encoding(), Set::nan(set.encoding()));
    let nearest = |accuracy| {
        let exact = signature.accepted_part(case, part, &Demand { accuracy, ..exactly(demand) });
        Some(exact.and(set)).filter(|both| !both.is_empty() && !exact.is_everything())
    };
    let best = nearest(Accuracy::NearestEven)
        .or_else(|| nearest(demand.accuracy.clone()))
        .unwrap_or_else(|| set.clone());
    let numbers = best.minus(&nan);
    let widest = numbers.ranges().iter().max_by_key(|(from, to)| from.abs_diff(*to));
    match (widest, encoding) {
        (Some((from, to)), _) => encoding.at(from.midpoint(*to)),
        (None, Encoding::Float(layout))
            if best.contains(layout.infinity() | layout.quiet_bit()) =>
        {
            layout.infinity() | layout.quiet_bit()
        }
        _ => best.members(1).first().copied().unwrap_or(0),
    }
}
