//! What is wrong with a lane, by what other lanes show.
//!
//! - A result that several rules refuse is one behaviour: what explains it under most of them is
//!   wrong with it. Rules that compare lanes with one another try no assumption, and follow those
//!   that do.
//! - An operation that computes something else is one behaviour: where most of its lanes are
//!   unrelated to what is accepted, those that look like a lost infinity, or are near, are so by
//!   chance.

use std::collections::BTreeMap;
use std::hash::Hash;

use foldhash::HashMap;
use fpprobe_profiles::judge::Symptom;
use fpprobe_spirv::{Controls, Format, Kernel};

use super::FailingLane;

/// Symptoms of operations whose results may be anything.
const ARBITRARY: [Symptom; 3] = [Symptom::Unstable, Symptom::FoldedOtherwise, Symptom::Unrelated];

/// Leaves each lane the symptoms that others leave it.
pub(super) fn settle(lanes: &mut [FailingLane<'_>]) {
    by_result(lanes);
    by_operation(lanes);
}

/// Leaves a lane the symptoms that explain its result under most of the rules that refuse it, under
/// whatever controls. One kernel after the other: hundreds of thousands of results may have failed.
fn by_result(lanes: &mut [FailingLane<'_>]) {
    let mut by_kernel: HashMap<Kernel, Vec<usize>> = HashMap::default();
    for (place, lane) in lanes.iter().enumerate() {
        by_kernel.entry(lane.kernel.with_controls(Controls::NONE)).or_default().push(place);
    }
    for places in by_kernel.into_values() {
        let of_kernel = places.iter().map(|place| &lanes[*place]);
        let tried = of_kernel.filter(|lane| !lane.is_compared());
        let votes = votes(tried, FailingLane::result, |lane| lane.symptoms.strongest().collect());
        for place in places {
            let lane = &mut lanes[place];
            let Some(of_result) = votes.get(&lane.result()) else { continue };
            let most = of_result.values().max();
            lane.symptoms = of_result
                .iter()
                .filter(|(_, count)| Some(*count) == most)
                .map(|(symptom, _)| *symptom)
                .collect();
        }
    }
}

/// Gives all lanes of an operation what at least half of them show, where that leaves the others to
/// chance. A direction of rounding explains an operation, or none of it: where it leaves a tenth of
/// the lanes off, all are off.
fn by_operation(lanes: &mut [FailingLane<'_>]) {
    let tried = lanes.iter().filter(|lane| !lane.is_compared());
    let votes =
        votes(tried, FailingLane::operation, |lane| lane.symptoms.strongest().take(1).collect());
    for lane in lanes {
        let Some(of_operation) = votes.get(&lane.operation()) else { continue };
        let count = |symptom: Symptom| of_operation.get(&symptom).copied().unwrap_or(0);
        let all: usize = of_operation.values().sum();
        let off = count(Symptom::Neighbour) + count(Symptom::Inaccurate);
        if let Some(most) = ARBITRARY.into_iter().find(|symptom| count(*symptom) * 2 >= all.max(1))
        {
            lane.symptoms = [most].into_iter().collect();
        } else if lane.is_compared() {
            lane.symptoms = of_operation
                .iter()
                .max_by_key(|(_, count)| **count)
                .map(|(most, _)| *most)
                .into_iter()
                .collect();
        } else if lane.symptoms.strongest().eq([Symptom::OtherDirection])
            && count(Symptom::OtherDirection) < 9 * off
        {
            lane.symptoms = [Symptom::Neighbour].into_iter().collect();
        }
    }
}

/// How many lanes of each kind show which of these symptoms.
fn votes<'l, 'a: 'l, K: Eq + Hash>(
    lanes: impl Iterator<Item = &'l FailingLane<'a>>,
    kind: impl Fn(&FailingLane<'a>) -> K,
    symptoms: impl Fn(&FailingLane<'a>) -> Vec<Symptom>,
) -> HashMap<K, BTreeMap<Symptom, usize>> {
    let mut votes: HashMap<K, BTreeMap<Symptom, usize>> = HashMap::default();
    for lane in lanes {
        let of_kind = votes.entry(kind(lane)).or_default();
        for symptom in symptoms(lane) {
            *of_kind.entry(symptom).or_default() += 1;
        }
    }
    votes
}

impl<'a> FailingLane<'a> {
    /// Whether it was compared with other lanes, without any assumption.
    fn is_compared(&self) -> bool {
        self.diagnosis.place.is_none() && !self.diagnosis.symptoms.contains(Symptom::Unstable)
    }

    /// What distinguishes its result among those of its kernel: operands, part of it, its bits.
    fn result(&self) -> (&'a [u64], usize, u64) {
        (self.case, self.part, self.diagnosis.result)
    }

    /// Its operation, of constants apart.
    pub(super) fn operation(&self) -> (&'static str, Format, bool) {
        (self.kernel.op.name, self.kernel.format, self.is_constant())
    }
}
