//! Judges the results of one kernel lane by lane, by every rule view at once: they share the
//! operands, and equal demands share what is accepted.

use std::cell::{Cell, OnceCell, RefCell};

use smallvec::SmallVec;

use super::behaviour::{self, ChoiceIndex, NarrowingSearch};
use super::lane::{Lane, LaneIndex, LaneView};
use super::{KernelJudgement, relation};
use crate::accepted::Set;
use crate::lanes::ResultClasses;
use crate::oracle::{Demand, Operands, Sets};
use crate::profile::Requirement;
use crate::verdict::Level;

/// What one demand accepts in a lane, or in all lanes of a case where they depend on the same
/// operands, as soon as a rule view needs it.
#[derive(Default)]
struct LaneSets {
    is_used: Cell<bool>,
    classes: ResultClasses,
    own: OnceCell<Sets>,
    /// By the demand narrowed to what a device may have chosen.
    narrowed: RefCell<SmallVec<[(ChoiceIndex, Sets); 1]>>,
}

/// The same by each of several demands.
struct SetsByDemand {
    all: Vec<LaneSets>,
    /// Those that a rule view needed: mostly few.
    used: RefCell<Vec<usize>>,
}

impl SetsByDemand {
    fn by(&self, demand: usize) -> &LaneSets {
        if !self.all[demand].is_used.replace(true) {
            self.used.borrow_mut().push(demand);
        }
        &self.all[demand]
    }

    fn clear(&mut self) {
        for demand in self.used.get_mut().drain(..) {
            self.all[demand] = LaneSets::default();
        }
    }
}

/// Judges every lane by these views of one kernel's results.
pub(super) fn judge(views: &[LaneView<'_>]) -> Vec<KernelJudgement> {
    let Some(any) = views.first() else { return Vec::new() };
    let mut demands: Vec<Demand> = Vec::new();
    let mut all_statistics: Vec<RuleLanes<'_>> =
        views.iter().map(|view| RuleLanes::new(view, &mut demands)).collect();
    let all = demands.iter().map(|_| LaneSets::default()).collect();
    let mut accepted = SetsByDemand { all, used: RefCell::default() };
    for index in any.indices() {
        let operands = any.operands(index);
        if index.1 == 0 || !any.is_whole() {
            accepted.clear();
        }
        for statistics in &mut all_statistics {
            statistics.add(index, &operands, &demands, &accepted);
        }
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
    fn new(view: &'a LaneView<'a>, demands: &mut Vec<Demand>) -> Self {
        let requirements = &view.rule.requirements;
        let mut number = |demand: Demand| {
            demands.iter().position(|other| *other == demand).unwrap_or_else(|| {
                demands.push(demand);
                demands.len() - 1
            })
        };
        RuleLanes {
            view,
            every: requirements.contains(&Requirement::Result),
            together: requirements.iter().any(|requirement| *requirement != Requirement::Result),
            own: number(view.demand.clone()),
            nearest: number(behaviour::strict(view.demand)),
            narrows: behaviour::only_narrows(view.demand),
            watch: NarrowingSearch::new(view),
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
        demands: &[Demand],
        accepted: &SetsByDemand,
    ) {
        let (view, judged) = (self.view, &mut self.judged);
        let is_selected = if view.is_whole() {
            view.selects(index, operands)
        } else {
            let classes = &accepted.by(self.own).classes;
            classes.select(&view.rule.lanes, view.encoding(index), operands, view.demand)
        };
        if !is_selected {
            return;
        }
        let part = if view.is_whole() { index.1 } else { 0 };
        let by = |demand: usize| -> &Set {
            &accepted
                .by(demand)
                .own
                .get_or_init(|| view.accepted(index, operands, &demands[demand]))[part]
        };
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
            let nearest = judged.strict.then(|| {
                // Where one result is accepted, less of it is that one.
                if self.narrows && set.is_single() { set } else { by(self.nearest) }
            });
            judged.strict =
                nearest.is_some_and(|nearest| view.accepts(nearest, index, &demands[self.nearest]));
            let mut narrowed = accepted.by(self.own).narrowed.borrow_mut();
            self.watch.see(Lane { index, operands, set }, nearest, |choice, demand| {
                let known =
                    narrowed.iter().position(|(other, _)| *other == choice).unwrap_or_else(|| {
                        narrowed.push((choice, view.accepted(index, operands, demand)));
                        narrowed.len() - 1
                    });
                narrowed[known].1[part].clone()
            });
        }
        if self.together {
            self.kept.push(index);
        }
    }

    fn finish(self) -> KernelJudgement {
        let RuleLanes { view, watch, kept, mut judged, .. } = self;
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
