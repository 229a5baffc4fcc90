//! Mistakes on one lane of a rule, and which of them are not accepted.

use super::lane::{CoverageLane, right};
use super::wrong::WrongResult;
use crate::accepted::Set;
use crate::oracle::{Demand, Signature};

/// What is known of one lane.
#[derive(Clone, Copy, Default)]
pub(super) struct Probe {
    /// Everything is accepted.
    pub(super) vacuous: bool,
    /// One answer is accepted, or any NaN.
    pub(super) single: bool,
    /// Kinds of wrong answers that differ from the right one, a bit each.
    pub(super) tried: u32,
    /// Those that are not accepted.
    pub(super) rejected: u32,
}

impl Probe {
    /// The same lane where a rule demands no result of it: only a relation can reject an answer.
    pub(super) fn unmeasured(self) -> Probe {
        Probe { vacuous: self.vacuous, ..Probe::default() }
    }
}

/// A wrong result of one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// What a device does that gives it.
    pub kind: WrongResult,
    /// Its bits.
    pub result: u64,
    /// Whether it is outside of what is accepted.
    pub rejected: bool,
}

/// Every plausible wrong result of one part of the result of a case; none where everything is
/// accepted.
pub fn mistakes(signature: &Signature, case: &[u64], part: usize, demand: &Demand) -> Vec<Mistake> {
    mistakes_outside(signature, case, part, demand, signature.accepted_part(case, part, demand))
}

fn mistakes_outside(
    signature: &Signature,
    case: &[u64],
    part: usize,
    demand: &Demand,
    set: Set,
) -> Vec<Mistake> {
    if set.is_everything() {
        return Vec::new();
    }
    let right = right(signature, case, part, demand, &set);
    let lane = CoverageLane {
        signature,
        case,
        part,
        operands: signature.operands(case, part),
        demand,
        set,
        right,
    };
    let results = WrongResult::ALL.into_iter().filter_map(|kind| Some((kind, kind.answer(&lane)?)));
    let wrong = results.filter(|(_, result)| *result != right);
    wrong
        .map(|(kind, result)| Mistake { kind, result, rejected: !lane.set.contains(result) })
        .collect()
}

/// Tries every kind of wrong answer on one part of the result of a case.
pub(super) fn probe(signature: &Signature, case: &[u64], part: usize, demand: &Demand) -> Probe {
    let set = signature.accepted_part(case, part, demand);
    let mut probe =
        Probe { vacuous: set.is_everything(), single: set.is_single(), ..Probe::default() };
    for Mistake { kind, rejected, .. } in mistakes_outside(signature, case, part, demand, set) {
        // The bit of a kind is its place among all.
        let bit = 1 << WrongResult::ALL.iter().take_while(|known| **known != kind).count();
        probe.tried |= bit;
        probe.rejected |= bit * u32::from(rejected);
    }
    probe
}
