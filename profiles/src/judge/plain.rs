//! Plain lanes: those where nothing but the rounding counts, with the correctly rounded answer or one near to it. Long lists
//! hold little else, and several rules look at each of them: what these lanes are is found once, and says of most what looking at
//! them would.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;

use super::Judged;
use super::behaviour::Watch;
use super::known::{Answers, Asked, asked};
use super::sight::{Sight, Spot};
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::lanes::Lanes;
use crate::oracle::{Rounding, is_single_step, off, rounding};
use crate::profile::Requirement;

/// A plain lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    /// How the correctly rounded result comes about.
    how: Rounding,
    /// How many encodings the answer is away from it; of two answers the farther. A byte, for there are many lanes, and farther is
    /// too far for most accuracies.
    off: u8,
    /// Whether every answer is the exact result, cut to the format's precision.
    cut: bool,
}

impl Lane {
    /// Whether the answer is what this accuracy leaves as the only one, if it is known to do so.
    pub(super) fn follows(self, accuracy: &Accuracy) -> Option<bool> {
        match accuracy {
            Accuracy::NearestEven => Some(self.off == 0),
            Accuracy::NearestAway => (self.how != Rounding::Tie).then_some(self.off == 0),
            Accuracy::TowardZero => Some(self.cut),
            other => (other.is_nearest() && self.how == Rounding::Exact).then_some(self.off == 0),
        }
    }
}

/// Of each part of each case, whether it is plain.
#[derive(Debug)]
pub(super) struct Plain {
    lanes: Vec<Option<Lane>>,
    parts: usize,
}

impl Plain {
    fn new(sight: &Sight<'_>) -> Plain {
        let lane = |spot: Spot| {
            let encoding = sight.encoding(spot.1);
            let Encoding::Float(layout) = encoding else { return None };
            let rounded = rounding(encoding, &sight.operands(spot), sight.demand.function)?;
            let away = |answer| off(layout, rounded.nearest, answer);
            let off = sight.answers(spot).try_fold(0, |most, answer| Some(away(answer)?.max(most)))?;
            let cut = sight.answers(spot).all(|answer| rounded.toward(&Accuracy::TowardZero) == Some(answer));
            Some(Lane { how: rounded.how, off: off.try_into().ok()?, cut })
        };
        Plain { lanes: sight.spots().map(lane).collect(), parts: sight.parts() }
    }

    fn at(&self, (case, part): Spot) -> Option<Lane> {
        self.lanes[case * self.parts + part]
    }
}

/// Lists that answer one question, with what is known of each as soon as it is looked at.
type Answered = Vec<(Answers, Arc<OnceLock<Plain>>)>;

/// What is known of lists so far, by what they were asked, and of which function.
#[derive(Default, Debug)]
pub(super) struct Lists(Mutex<HashMap<(Asked, Function), Answered>>);

impl Lists {
    fn of(&self, sight: &Sight<'_>) -> Arc<OnceLock<Plain>> {
        let place = (asked(&sight.observation.kernel), sight.demand.function);
        let answers = Answers::of(sight.observation);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lists = all.entry(place).or_default();
        if let Some((_, list)) = lists.iter().find(|(of, _)| *of == answers) {
            return Arc::clone(list);
        }
        let list = Arc::default();
        lists.push((answers, Arc::clone(&list)));
        list
    }
}

/// What can be said of a look at lanes without looking at them, or with less.
pub(super) struct Shortcut<'a> {
    sight: &'a Sight<'a>,
    /// What is known of lanes, where it is of use.
    list: Option<Arc<OnceLock<Plain>>>,
    /// For each part of a result, whether the rule looks at plain lanes, if that does not depend on which.
    looks: Vec<Option<bool>>,
    /// Whether plain lanes that the rule looks at are told by its accuracy.
    takes: bool,
    /// Whether the rule looks away wherever all operands are normal numbers, and the cases hold these as they are.
    passes: Option<Vec<FloatLayout>>,
}

impl<'a> Shortcut<'a> {
    /// For a look, if there may be lanes of which something can be said.
    pub(super) fn new(sight: &'a Sight<'a>, lists: &Lists) -> Option<Shortcut<'a>> {
        let first = sight.spots().next()?;
        let stands_alone = !sight.has_two_results() && sight.operands(first).stand_alone(sight.demand);
        if !stands_alone || !is_single_step(sight.demand.function) {
            return None;
        }
        let parts = || 0..sight.parts();
        let looks: Vec<Option<bool>> = parts().map(|part| selected(sight, part, Clone::clone)).collect();
        // Of coded channels no selection of normal numbers says anything.
        let coded = sight.rule.lanes.iter().any(|lanes| lanes.srgb == Some(true));
        let away = !coded && parts().all(|part| selected(sight, part, Lanes::whatever_the_result) == Some(false));
        let passes = if away { sight.layouts() } else { None };
        // Lanes that are compared with one another are needed.
        let apart = sight.rule.requirements == [Requirement::Result];
        let accuracy = &sight.demand.accuracy;
        let stated = accuracy.is_nearest() || matches!(accuracy, Accuracy::Ulp(_) | Accuracy::UlpAndSlope(..));
        let takes = stated && apart;
        // Channels have few values: what one lane showed is remembered, and costs less than what is known of each.
        let useful = |looks: &Option<bool>| *looks == Some(false) || *looks == Some(true) && takes;
        let list = (!sight.is_of_channels() || looks.iter().any(useful)).then(|| lists.of(sight));
        Some(Shortcut { sight, list, looks, takes, passes })
    }

    /// Whether the rule looks away from a place for its operands.
    pub(super) fn passes(&self, (case, _): Spot) -> bool {
        let normal = |layouts: &Vec<FloatLayout>| {
            let mut values = layouts.iter().zip(self.sight.observation.cases.case(case));
            values.all(|(layout, bits)| layout.is_normal(*bits))
        };
        self.passes.as_ref().is_some_and(normal)
    }

    /// What is known of a place, if it is plain.
    pub(super) fn plain(&self, spot: Spot) -> Option<Lane> {
        if self.passes.is_some() {
            return None;
        }
        self.list.as_ref()?.get_or_init(|| Plain::new(self.sight)).at(spot)
    }

    /// Whether the rule looks at plain lanes of a part of the result, if that does not depend on which.
    pub(super) fn looks(&self, part: usize) -> Option<bool> {
        self.looks[part]
    }

    /// Whether a plain place counts, if it is accepted and there is nothing else to be seen there.
    pub(super) fn counts(&self, spot: Spot, lane: Lane, judged: &Judged, watch: &Watch<'_>) -> Option<bool> {
        if !self.looks[spot.1]? {
            return Some(false);
        }
        if !self.takes {
            return None;
        }
        let accuracy = &self.sight.demand.accuracy;
        let Encoding::Float(layout) = self.sight.encoding(spot.1) else { return None };
        let first = || self.sight.operands(spot).first().map_or(f64::NAN, |operand| operand.double());
        let seen = || {
            // After the first failure nothing is watched, and no answer is strict.
            let over = !judged.failing.is_empty();
            judged.choice && (over || watch.has_seen(lane)) && (lane.off == 0 || !judged.strict)
        };
        ((lane.follows(accuracy) == Some(true) || seen()) && accuracy.accepts_off(lane.off, layout, first))
            .then_some(true)
    }
}

/// Whether a rule looks at plain lanes of a part of the result, as far as what is left of its selections says.
fn selected(sight: &Sight<'_>, part: usize, left: impl Fn(&Lanes) -> Lanes) -> Option<bool> {
    let floats = sight.operands((0, part)).iter().filter(|operand| operand.layout.is_some()).count();
    let each: Vec<Option<bool>> = sight.rule.lanes.iter().map(|lanes| left(lanes).select_normal(floats)).collect();
    if each.contains(&Some(true)) { Some(true) } else { each.iter().all(Option::is_some).then_some(false) }
}

#[cfg(test)]
mod tests;
