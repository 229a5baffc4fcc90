//! Whether arithmetic is left alone where a program requests `FPFastMathDefault` None.

use std::sync::LazyLock;

use fpprobe_profiles::judge::{Judge, Observations, undiagnosed};
use fpprobe_profiles::profile::built_in;
use fpprobe_profiles::{Level, Profile, Verdict};
use fpprobe_spirv::{Control, Kernel, Route};

use super::scope_values::ScopeValues;

/// The required rules of Vulkan for who requests it, and nothing beside it.
static RULES: LazyLock<Option<Profile>> = LazyLock::new(|| {
    let mut rules = built_in("vulkan")?.ok()?;
    let strict = |kernel: &Kernel| kernel.controls.contains(Control::FastMath0);
    rules.rules.retain(|rule| {
        rule.level == Level::Required
            && rule.parts.iter().flat_map(|part| &part.lowerings).all(strict)
    });
    rules.modes.clear();
    rules.rounding_modes.clear();
    rules.late_modes.clear();
    Some(rules)
});

/// The kernels that these rules look at, and those that a compiler folds.
pub(super) fn kernels() -> Vec<Kernel> {
    let mut all = Vec::new();
    for kernel in RULES.iter().flat_map(Profile::kernels) {
        all.push(kernel);
        // Whole vectors and matrices a compiler takes apart first, and a run does not ask them so.
        let apart = kernel.op.is_geometric() || kernel.has_matrices();
        all.extend(Kernel { route: Route::Spec, ..kernel }.checked().ok().filter(|_| !apart));
    }
    all
}

/// What these rules say of a device.
pub(super) fn judged(observations: &Observations<'_>) -> ScopeValues {
    let mut found = ScopeValues::default();
    let Some(rules) = &*RULES else { return found };
    for rule in undiagnosed(&[Judge::new(rules)], observations).swap_remove(0).rules {
        if rule.verdict == Verdict::Unsupported {
            found.lack();
        }
        found.count(rule.lanes);
        for (kernel, ..) in rule.failing_lanes() {
            if let Some(observation) = observations.get(kernel) {
                found.put("no", 1, observation);
            }
        }
        for lane in &rule.evidence {
            if let Some(observation) = observations.get(&lane.kernel) {
                found.show(observation, &lane.case, &lane.answer);
            }
        }
        let looked_at = rules
            .rule(&rule.id)
            .into_iter()
            .flat_map(|rule| &rule.parts)
            .flat_map(|part| &part.lowerings);
        let mut answered = looked_at
            .filter_map(|kernel| observations.get(kernel))
            .filter(|one| one.outcome.answered());
        if let Some(observation) = answered.next().filter(|_| rule.lanes > rule.failing) {
            found.put("yes", rule.lanes - rule.failing, observation);
        }
    }
    found
}
