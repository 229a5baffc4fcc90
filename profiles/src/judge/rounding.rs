//! Rounding modes: what a device is to be asked that meets a profile but for the direction in which
//! it rounds.

use fpprobe_spirv::{Control, Controls, Kernel};

use super::recipe::Recipe;
use super::{
    Judge, KernelJudgement, Observations, PartIndex, PartResult, RuleVerdict, VariantFinding,
    Verdict, relation,
};
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::Overflow;
use crate::oracle::Demand;

/// The ways in which devices round that a rounding mode would change.
const DIRECTIONS: [Accuracy; 3] =
    [Accuracy::TowardZero, Accuracy::NearestEven, Accuracy::NearestAway];

impl Judge<'_> {
    /// Sets of controls with rounding modes that may help where a recipe does not meet these rules:
    /// every lane that fails would be right if it were rounded in another direction, and the
    /// modes speak of every width that one fails at. Where something else is wrong, no rounding
    /// mode helps.
    pub(super) fn rounded<'v>(
        &self,
        recipe: &Recipe,
        unmet: impl Iterator<Item = &'v RuleVerdict>,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Vec<Controls> {
        let mut widths: Vec<u32> = Vec::new();
        for rule in unmet {
            let Some(of_rule) = self.rounded_widths(rule, recipe, absent, observations) else {
                return Vec::new();
            };
            widths.extend(of_rule);
        }
        let modes = self.profile.rounding_modes.iter().copied();
        let modes: Vec<Control> = modes
            .filter(|mode| mode.width().is_some_and(|width| widths.contains(&width)))
            .collect();
        let speaks =
            |set: &Controls, width: u32| set.iter().any(|mode| mode.width() == Some(width));
        let sets = Controls::subsets(&modes).into_iter();
        let whole =
            sets.filter(|set| !set.is_empty() && widths.iter().all(|width| speaks(set, *width)));
        whole
            .filter_map(|set| recipe.controls.with(set).ok())
            .filter(|set| *set != recipe.controls)
            .collect()
    }

    /// The widths of the results that a rule finds rounded in the wrong direction; nothing where
    /// anything else is wrong.
    fn rounded_widths(
        &self,
        rule: &RuleVerdict,
        recipe: &Recipe,
        absent: &[String],
        observations: &Observations<'_>,
    ) -> Option<Vec<u32>> {
        match rule.verdict {
            Verdict::Deviates => {}
            // What it does not accept other rules speak of.
            Verdict::Depends => return Some(Vec::new()),
            _ => return None,
        }
        let index = self.profile.rules.iter().position(|own| own.id == rule.id)?;
        let mut widths = Vec::new();
        for (part, lowering) in self.places(index, recipe, absent) {
            let place = (index, part, lowering);
            for found in self.findings(place, recipe.controls, observations) {
                if self.failing_by_rounding(place, &found)? > 0 {
                    widths.extend(result_widths(&found.kernel));
                }
                // What fails by comparison with other kernels is no lane's own.
                let whole = found
                    .observation
                    .filter(|_| found.kernel == self.kernel(place, recipe.controls));
                let (of, part) =
                    (&self.profile.rules[index], &self.profile.rules[index].parts[part]);
                let related = whole.map(|whole| relation::judge(of, part, whole, observations));
                if matches!(related, Some(Ok((_, against))) if !against.is_empty()) {
                    return None;
                }
            }
        }
        (!widths.is_empty()).then_some(widths)
    }

    /// The number of failing lanes; nothing if some would fail in whatever direction they were
    /// rounded.
    fn failing_by_rounding(&self, place: PartIndex, found: &VariantFinding<'_>) -> Option<usize> {
        let (PartResult::Judged(KernelJudgement { failing, .. }), Some(observation)) =
            (&*found.finding, found.observation)
        else {
            return None;
        };
        let view = self.view(place, observation);
        let explains = |demand: Demand| {
            failing.iter().all(|index| view.accepts(&view.under(*index, &demand), *index, &demand))
        };
        let mut demands = DIRECTIONS.into_iter().map(|accuracy| rounding(view.demand, accuracy));
        (failing.is_empty() || demands.any(explains)).then_some(failing.len())
    }
}

/// The demand with another rounding; directed ones give the largest finite number in place of
/// infinity.
fn rounding(demand: &Demand, accuracy: Accuracy) -> Demand {
    let mut rounded = Demand { accuracy, ..demand.clone() };
    rounded.results.overflow = Overflow::RoundOrSaturate;
    rounded
}

/// Widths of the floats that a kernel gives, be they packed: what rounding modes speak of
/// (`SPV_KHR_float_controls`).
fn result_widths(kernel: &Kernel) -> impl Iterator<Item = u32> {
    let floats =
        |encoding: &Encoding| matches!(encoding, Encoding::Float(_)).then_some(encoding.bits());
    Encoding::of_result(kernel).into_iter().filter_map(move |encoding| floats(&encoding))
}
