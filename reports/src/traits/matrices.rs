//! Traits of products of matrices: which there are, the device says, so their kernels are those
//! that were observed.

use fpprobe_profiles::Observation;
use fpprobe_profiles::judge::Observations;
use fpprobe_profiles::matrix::MatrixAspect;

use super::scope_values::ScopeValues;

/// What the products of these elements show: those of A and B, and of the result, `f16_f32`.
pub(super) fn shown(
    aspect: MatrixAspect,
    elements: &str,
    observations: &Observations<'_>,
) -> ScopeValues {
    let mut found = ScopeValues::default();
    let is_own = |one: &Observation| {
        let unit =
            one.kernel.matrix.filter(|unit| unit.a == unit.b && one.kernel.controls.is_empty());
        unit.is_some_and(|unit| elements == format!("{}_{}", unit.a.name(), one.kernel.format))
    };
    let observed =
        observations.matrices().into_iter().filter(|one| one.outcome.answered() && is_own(one));
    for (observation, result) in aspect.of_each(&observed.collect::<Vec<_>>()) {
        found.put(&result.value, result.lanes, observation);
        found.counted(result.lanes, observation, result.case);
    }
    found
}
