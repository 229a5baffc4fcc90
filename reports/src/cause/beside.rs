//! What else is wrong with the lanes of a cause.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fpprobe_profiles::judge::{Observations, Symptom};

use super::{FailingLane, most_first};
use crate::model::OtherSymptom;

/// The other symptoms of the lanes of a cause, each with its simplest lane, those of the most lanes
/// first.
pub(super) fn beside(
    lanes: &[&FailingLane<'_>],
    symptom: Symptom,
    index: &Observations<'_>,
) -> Vec<OtherSymptom> {
    let mut others: BTreeMap<Symptom, Vec<&FailingLane<'_>>> = BTreeMap::new();
    let shows = |lane: &&FailingLane<'_>| {
        lane.symptoms.contains(symptom)
            || lane.diagnosis.symptoms.contains(symptom)
            || symptom == Symptom::ZeroMade && lane.is_zero()
    };
    for lane in lanes.iter().filter(|lane| !shows(lane)) {
        let other = lane.symptoms.strongest().next().unwrap_or(Symptom::Unrelated);
        others.entry(other).or_default().push(lane);
    }
    let other = |(symptom, lanes): (Symptom, Vec<&FailingLane<'_>>)| OtherSymptom {
        symptom: symptom.name().to_owned(),
        operations: most_first(lanes.iter().map(|lane| lane.kernel.op.name)),
        lanes: lanes.len(),
        simplest: lanes
            .iter()
            .min_by_key(|lane| lane.complexity())
            .and_then(|lane| lane.evidence(index)),
    };
    let mut others: Vec<OtherSymptom> = others.into_iter().map(other).collect();
    others.sort_by_key(|other| Reverse(other.lanes));
    others
}
