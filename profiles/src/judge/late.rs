//! Late modes: measured only for rules that deviate, and as part of a recipe only where nothing
//! else is left to fix.

use fpprobe_spirv::needs::float_formats;
use fpprobe_spirv::{Control, Controls, Kernel};

use super::recipe::{Recipe, RecipeTrial};
use super::remedy::VerdictsUnder;
use super::{Judge, Observations, RuleVerdict, Verdict};

impl Judge<'_> {
    /// Notes the sets of late modes under which deviations without modes go away. Returns kernels
    /// that were not run and would say more.
    pub(super) fn late(
        &self,
        rules: &mut [RuleVerdict],
        tried: &[RecipeTrial],
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Vec<Kernel> {
        let sets =
            Controls::subsets(&self.profile.late_modes).into_iter().filter(|set| !set.is_empty());
        let under = |controls| {
            let recipe = Recipe { controls, lowerings: Vec::new() };
            (controls, self.verdicts(&recipe, absent, observations))
        };
        let verdicts: Vec<(Controls, Vec<RuleVerdict>)> = sets.map(under).collect();
        let under: Vec<VerdictsUnder<'_>> =
            verdicts.iter().map(|(set, rules)| VerdictsUnder::new(*set, rules)).collect();
        let mut all = Vec::new();
        for (index, rule) in
            rules.iter_mut().enumerate().filter(|(_, rule)| rule.verdict == Verdict::Deviates)
        {
            all.extend(self.late_of_rule(index, rule, &under, absent, observations));
        }
        let sets = || under.iter().map(|one| one.controls);
        let wholes =
            tried.iter().flat_map(|one| sets().filter_map(|set| completed(one, set, rules)));
        // The others wait for the first that lacks anything.
        let lacking =
            wholes.map(|controls| self.profile.kernels_deciding(controls)).find_map(|kernels| {
                let lacking: Vec<Kernel> = kernels
                    .into_iter()
                    .filter(|kernel| observations.get(kernel).is_none())
                    .collect();
                (!lacking.is_empty()).then_some(lacking)
            });
        all.extend(lacking.into_iter().flatten());
        all
    }

    /// The same of one rule. Larger sets wait for smaller ones.
    fn late_of_rule(
        &self,
        index: usize,
        rule: &mut RuleVerdict,
        under: &[VerdictsUnder<'_>],
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Vec<Kernel> {
        let places = self.places(index, &Recipe::default(), absent);
        let places = || places.iter().map(|(part, lowering)| (index, *part, *lowering));
        // What was selected by name alone cannot meet the rule.
        if places().any(|place| observations.get(&self.kernel(place, Controls::NONE)).is_none()) {
            return Vec::new();
        }
        for sets in under.chunk_by(|one, other| one.controls.len() == other.controls.len()) {
            let is_left = |one: &&VerdictsUnder<'_>| {
                speaks_of(one.controls, &rule.deviating)
                    && !rule.fixed_by.iter().any(|known| one.controls.holds(*known))
            };
            let sets: Vec<&VerdictsUnder<'_>> = sets.iter().filter(is_left).collect();
            for one in &sets {
                one.note(index, rule, observations);
            }
            let found = sets.iter().flat_map(|one| {
                places().flat_map(|place| self.findings(place, one.controls, observations))
            });
            let lacking: Vec<Kernel> = found
                .filter(|found| found.observation.is_none())
                .map(|found| found.kernel)
                .collect();
            if !lacking.is_empty() {
                return lacking;
            }
        }
        Vec::new()
    }
}

/// Whether modes govern floats of each of these kernels.
fn speaks_of(controls: Controls, kernels: &[Kernel]) -> bool {
    let governs = |mode: Control, kernel: &Kernel| {
        let widths =
            || float_formats(kernel).into_iter().filter_map(|format| format.float()?.mode_width());
        mode.width().is_none_or(|width| widths().any(|own| own == width))
    };
    controls.iter().all(|mode| kernels.iter().all(|kernel| governs(mode, kernel)))
}

/// The controls of a recipe with a set of late modes, where every rule that the recipe fails goes
/// away under some of these.
fn completed(tried: &RecipeTrial, set: Controls, rules: &[RuleVerdict]) -> Option<Controls> {
    let goes = |id: &String| {
        let fixed = rules.iter().filter(|rule| rule.id == *id).flat_map(|rule| &rule.fixed_by);
        fixed.into_iter().any(|known| set.holds(*known))
    };
    let whole =
        tried.unmeasured.is_empty() && !tried.failing.is_empty() && tried.failing.iter().all(goes);
    whole.then(|| tried.recipe.controls.with(set).ok()).flatten()
}
