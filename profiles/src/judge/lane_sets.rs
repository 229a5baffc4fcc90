//! What several demands accept in one lane, each computed once. Where nothing but normal numbers
//! come in and go out, no environment has a say, and demands of one accuracy share what they
//! accept.

use std::cell::{Cell, OnceCell, RefCell};

use smallvec::smallvec;

use super::lane::{LaneIndex, LaneView};
use crate::lanes::ResultClasses;
use crate::oracle::{Demand, Operands, Sets, is_rounded_once};

/// The demands of rule views of one kernel, by number.
#[derive(Default)]
pub(super) struct NumberedDemands {
    all: Vec<Demand>,
    /// Of each the first that differs from it in its environments alone, where these say nothing
    /// of normal numbers.
    first_alike: Vec<Option<usize>>,
}

impl NumberedDemands {
    /// The number of a demand: equal ones have one.
    pub(super) fn number(&mut self, demand: Demand) -> usize {
        if let Some(known) = self.all.iter().position(|other| *other == demand) {
            return known;
        }
        let alike = |other: &Demand| {
            (other.function, &other.accuracy, other.ulp)
                == (demand.function, &demand.accuracy, demand.ulp)
        };
        let first = self.all.iter().position(alike).unwrap_or(self.all.len());
        self.first_alike.push(is_rounded_once(&demand).then_some(first));
        self.all.push(demand);
        self.all.len() - 1
    }

    /// All of them, in the order of their numbers.
    pub(super) fn all(&self) -> &[Demand] {
        &self.all
    }
}

/// What one demand accepts in a lane, or in all lanes of a case where they depend on the same
/// operands, as soon as a rule view needs it.
#[derive(Default)]
struct LaneSets {
    is_used: Cell<bool>,
    classes: ResultClasses,
    accepted: OnceCell<Sets>,
}

/// What each of several demands accepts in a lane.
pub(super) struct SetsByDemand<'a> {
    demands: &'a NumberedDemands,
    all: Vec<LaneSets>,
    /// Those that a rule view needed: mostly few.
    used: RefCell<Vec<usize>>,
}

impl<'a> SetsByDemand<'a> {
    /// Of no lane yet.
    pub(super) fn new(demands: &'a NumberedDemands) -> Self {
        let all = demands.all.iter().map(|_| LaneSets::default()).collect();
        SetsByDemand { demands, all, used: RefCell::default() }
    }

    /// Forgets the lane, for the next one.
    pub(super) fn clear(&mut self) {
        for demand in self.used.get_mut().drain(..) {
            self.all[demand] = LaneSets::default();
        }
    }

    fn of(&self, demand: usize) -> &LaneSets {
        let sets = &self.all[demand];
        if !sets.is_used.replace(true) {
            self.used.borrow_mut().push(demand);
        }
        sets
    }

    /// What a demand, given by its number, accepts in a lane.
    pub(super) fn accepted(
        &self,
        demand: usize,
        view: &LaneView<'_>,
        index: LaneIndex,
        operands: &Operands,
    ) -> &Sets {
        self.of(demand).accepted.get_or_init(|| {
            let compute = |demand: usize| view.accepted(index, operands, &self.demands.all[demand]);
            match self.demands.first_alike[demand] {
                Some(first) if first != demand && operands.are_normal() => {
                    let shared = self.of(first).accepted.get_or_init(|| compute(first));
                    match &shared[..] {
                        [set] if set.is_amid_normals() => smallvec![set.clone()],
                        _ => compute(demand),
                    }
                }
                _ => compute(demand),
            }
        })
    }

    /// Whether a view selects a lane, by the number of the view's demand.
    pub(super) fn selects(
        &self,
        demand: usize,
        view: &LaneView<'_>,
        index: LaneIndex,
        operands: &Operands,
    ) -> bool {
        if view.is_whole() {
            return view.selects(index, operands);
        }
        let lanes = &view.rule.lanes;
        let is_normal = || {
            self.demands.first_alike[demand].is_some()
                && operands.are_normal()
                && self.accepted(demand, view, index, operands)[0].is_amid_normals()
        };
        let (encoding, classes) = (view.encoding(index), &self.of(demand).classes);
        classes.select(lanes, encoding, operands, view.demand, is_normal)
    }
}
