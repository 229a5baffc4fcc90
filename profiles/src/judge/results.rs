//! Judges the results of one kernel lane by lane, by every rule view at once: they share the
//! operands, and equal demands share what is accepted.

use super::behaviour::{self, NarrowingSearch};
use super::lane::{Lane, LaneIndex, LaneView};
use super::lane_sets::{NumberedDemands, SetsByDemand};
use super::{KernelJudgement, relation};
use crate::accepted::Set;
use crate::oracle::Operands;
use crate::profile::Requirement;
use crate::verdict::Level;

/// Judges every lane by these views of one kernel's results.
pub(super) fn judge(views: &[LaneView<'_>]) -> Vec<KernelJudgement> {
    let Some(any) = views.first() else { return Vec::new() };
    let mut demands = NumberedDemands::default();
    let mut all_statistics: Vec<RuleLanes<'_>> =
        views.iter().map(|view| RuleLanes::new(view, &mut demands)).collect();
    let mut accepted = SetsByDemand::new(&demands);
    let mut last = None;
    for index in any.by_operands() {
        let question = (any.encoding(index), any.operands(index));
        let is_same = if any.is_whole() { index.1 != 0 } else { last.as_ref() == Some(&question) };
        if !is_same {
            accepted.clear();
        }
        for statistics in &mut all_statistics {
            statistics.add(index, &question.1, &demands, &accepted);
        }
        last = Some(question);
    }
    all_statistics.into_iter().map(RuleLanes::finish).collect()
}

/// What the lanes so far come to by one rule view.
struct RuleLanes<'a> {
    view: &'a LaneView<'a>,
    /// Whether each result counts by itself.
    every: bool,
    /// Whether lanes are compared with one another; of such there are no long lists.
    together: bool,
    /// The view's demand by number, and IEEE 754 round-to-nearest-even under the profile's
    /// flushing.
    own: usize,
    nearest: usize,
    narrows: bool,
    watch: NarrowingSearch<'a>,
    kept: Vec<LaneIndex>,
    judged: KernelJudgement,
}

impl<'a> RuleLanes<'a> {
    /// Of a view whose demands are among these, or become so.
    fn new(view: &'a LaneView<'a>, demands: &mut NumberedDemands) -> Self {
        let requirements = &view.rule.requirements;
        RuleLanes {
            view,
            every: requirements.contains(&Requirement::Result),
            together: requirements.iter().any(|requirement| *requirement != Requirement::Result),
            own: demands.number(view.demand.clone()),
            nearest: demands.number(behaviour::strict(view.demand)),
            narrows: behaviour::only_narrows(view.demand),
            watch: NarrowingSearch::new(view, |demand| demands.number(demand)),
            kept: Vec::new(),
            judged: KernelJudgement {
                lanes: 0,
                choice: false,
                strict: true,
                failing: Vec::new(),
                choices: behaviour::Choices::new(),
                swapped: Default::default(),
                explanation: None,
            },
        }
    }

    fn add(
        &mut self,
        index: LaneIndex,
        operands: &Operands,
        demands: &NumberedDemands,
        accepted: &SetsByDemand<'_>,
    ) {
        let (view, judged) = (self.view, &mut self.judged);
        if !accepted.selects(self.own, view, index, operands) {
            return;
        }
        let part = if view.is_whole() { index.1 } else { 0 };
        let by =
            |demand: usize| -> &Set { &accepted.accepted(demand, view, index, operands)[part] };
        let set = by(self.own);
        if set.is_everything() {
            // There is nothing to judge, but for informative rules something to report.
            if view.rule.level != Level::Informative {
                return;
            }
        } else {
            judged.lanes += 1;
        }
        judged.choice |= !set.is_single();
        if self.every && !view.accepts(set, index, view.demand) {
            judged.failing.push(index);
        }
        // After the first failure no choice is reported.
        if judged.failing.is_empty() {
            judged.strict = judged.strict && {
                // Where one result is accepted, less of it is that one.
                let nearest = if self.narrows && set.is_single() { set } else { by(self.nearest) };
                view.accepts(nearest, index, &demands.all()[self.nearest])
            };
            self.watch.see(Lane { index, operands, set }, demands.all(), by);
        }
        if self.together {
            self.kept.push(index);
        }
    }

    fn finish(self) -> KernelJudgement {
        let RuleLanes { view, watch, mut kept, mut judged, .. } = self;
        kept.sort_unstable();
        judged.failing.sort_unstable();
        judged.strict &= judged.failing.is_empty();
        for requirement in &view.rule.requirements {
            let demands = relation::explanations(*requirement, view.demand);
            if judged.failing.is_empty()
                && let Some((demand, against)) = relation::against_one(&demands, &kept, view)
            {
                (judged.explanation, judged.failing) =
                    (Some(demand).filter(|_| !against.is_empty()), against);
            }
            if judged.failing.is_empty() && *requirement == Requirement::Monotonic {
                judged.failing = relation::against_monotony(&kept, view);
            }
        }
        judged.choices = watch.choices();
        judged
    }
}

#[cfg(test)]
mod tests;
