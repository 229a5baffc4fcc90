//! How much of an operation a cause is, and of which operands.

use std::collections::{HashMap, HashSet};

use fpprobe_profiles::judge::{Observations, Symptom, SymptomRank};
use fpprobe_profiles::oracle::Signature;
use fpprobe_spirv::{Format, Kernel};

use super::FailingLane;

/// Failing lanes from which something follows for their operation.
const ENOUGH: usize = 16;

/// The failing cases of each kernel of an operation in a format.
type FailingCases<'l> = HashMap<&'l Kernel, HashSet<&'l [u64]>>;

/// Whether each of these lanes has a subnormal operand, where the symptom does not say so itself.
pub(super) fn is_of_subnormals(symptom: Symptom, lanes: &[&FailingLane<'_>]) -> bool {
    let has_one = |lane: &&FailingLane<'_>| {
        let operands = Signature::new(lane.kernel).operands(lane.case, lane.part);
        operands.iter().any(|one| one.layout.is_some_and(|layout| layout.is_subnormal(one.bits)))
    };
    symptom.rank() != SymptomRank::Assumption && lanes.iter().all(has_one)
}

/// Whether most lanes of an operation in a format are among these.
pub(super) fn is_most(lanes: &[&FailingLane<'_>], index: &Observations<'_>) -> bool {
    let mut by_operation: HashMap<(&str, Format), FailingCases<'_>> = HashMap::new();
    for lane in lanes {
        let kernels = by_operation.entry((lane.kernel.op.name, lane.kernel.format)).or_default();
        kernels.entry(lane.kernel).or_default().insert(lane.case);
    }
    by_operation.into_values().any(|kernels| {
        let measured: usize =
            kernels.keys().filter_map(|kernel| index.get(kernel)).map(|one| one.cases.len()).sum();
        let failing: usize = kernels.values().map(HashSet::len).sum();
        failing >= ENOUGH && failing * 2 > measured
    })
}
