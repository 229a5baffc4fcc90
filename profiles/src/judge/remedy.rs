//! Under which modes a deviation goes away, by what was measured under them.

use std::collections::{HashMap, HashSet};

use fpprobe_spirv::{Controls, Kernel};

use super::recipe::Recipe;
use super::{Judge, Observations, RuleVerdict, Verdict};

impl Judge<'_> {
    /// The smallest of these sets of modes under which a deviation without modes goes away: every
    /// lane that fails was measured under them and is accepted, and nothing else fails that
    /// counts for the rule. Modes do not reach commands.
    pub(super) fn fixed_by(
        &self,
        index: usize,
        deviation: &RuleVerdict,
        under: &[(Controls, Vec<RuleVerdict>)],
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Vec<Controls> {
        let mut fixed: Vec<Controls> = Vec::new();
        for (controls, verdicts) in under {
            let smaller = fixed.iter().any(|known| controls.holds(*known));
            let goes =
                verdicts[index].verdict.is_met() || verdicts[index].verdict == Verdict::Depends;
            if !smaller
                && goes
                && self.passes_under(index, deviation, *controls, absent, observations)
            {
                fixed.push(*controls);
            }
        }
        fixed
    }

    /// Whether each lane of a deviation was measured under these modes, and is accepted there.
    /// Kernels that do not exist under them have nothing to say.
    fn passes_under(
        &self,
        index: usize,
        deviation: &RuleVerdict,
        controls: Controls,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> bool {
        let recipe = Recipe { controls, lowerings: Vec::new() };
        let Some(failing) = self.failing_lanes(index, &recipe, absent, observations) else {
            return false;
        };
        let mut cases_of: HashMap<Kernel, HashSet<&[u64]>> = HashMap::new();
        let mut measured = false;
        for (kernel, case, part) in &deviation.cases {
            let under = kernel
                .controls
                .with(controls)
                .ok()
                .and_then(|all| kernel.with_controls(all).checked().ok());
            let Some(under) = under else { continue };
            let observation =
                observations.get(&under).filter(|one| one.outcome.answered() && under != *kernel);
            let Some(observation) = observation else { return false };
            let cases = cases_of.entry(under).or_insert_with(|| observation.cases.iter().collect());
            if !cases.contains(&case[..]) || failing.contains(&(under, &case[..], *part)) {
                return false;
            }
            measured = true;
        }
        measured
    }
}
