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
use crate::oracle::{Rounding, off, rounding};
use crate::profile::Requirement;

/// A plain lane.
#[derive(Clone, Copy, Debug)]
struct Lane {
    /// How the correctly rounded result comes about.
    how: Rounding,
    /// How many encodings the answer is away from it; of two answers the farther. A byte, for there are many lanes, and farther is
    /// too far for most accuracies.
    off: u8,
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
            let (rounded, how) = rounding(encoding, &sight.operands(spot), sight.demand.function)?;
            let off = sight.answers(spot).try_fold(0, |most, answer| Some(off(layout, rounded, answer)?.max(most)))?;
            Some(Lane { how, off: off.try_into().ok()? })
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

/// What can be said of a look at lanes without looking at them.
pub(super) struct Shortcut<'a> {
    sight: &'a Sight<'a>,
    list: Arc<OnceLock<Plain>>,
    /// For each part of a result, whether the rule looks at plain lanes, if that does not depend on which.
    looks: Vec<Option<bool>>,
    /// Whether plain lanes that the rule looks at are told by its accuracy.
    takes: bool,
    /// Whether the rule looks away wherever all operands are normal numbers, and the cases hold these as they are.
    passes: Option<Vec<FloatLayout>>,
}

impl<'a> Shortcut<'a> {
    /// For a look, if there are lanes of which it can be said.
    pub(super) fn new(sight: &'a Sight<'a>, lists: &Lists) -> Option<Shortcut<'a>> {
        let first = sight.spots().next()?;
        if sight.has_two_results() || !sight.operands(first).stand_alone(sight.demand) {
            return None;
        }
        let parts = || 0..sight.parts();
        let looks: Vec<Option<bool>> = parts().map(|part| selected(sight, part, Clone::clone)).collect();
        // Of coded channels no selection of normal numbers says anything.
        let coded = sight.rule.lanes.iter().any(|lanes| lanes.srgb == Some(true));
        let away = !coded && parts().all(|part| selected(sight, part, Lanes::whatever_the_result) == Some(false));
        let passes = if away { sight.layouts() } else { None };
        let accuracy = &sight.demand.accuracy;
        let stated = accuracy.is_nearest() || matches!(accuracy, Accuracy::Ulp(_) | Accuracy::UlpAndSlope(..));
        // Lanes that are compared with one another are needed.
        let apart = sight.rule.requirements == [Requirement::Result];
        let takes = stated && apart;
        let useful = looks.iter().any(|looks| *looks == Some(false) || takes && *looks == Some(true));
        useful.then(|| Shortcut { sight, list: lists.of(sight), looks, takes, passes })
    }

    /// Whether a place counts, if it is accepted and there is nothing else to be seen there.
    pub(super) fn counts(&self, spot: Spot, judged: &Judged, watch: &Watch<'_>) -> Option<bool> {
        if let Some(layouts) = &self.passes {
            let mut values = layouts.iter().zip(self.sight.observation.cases.case(spot.0));
            return values.all(|(layout, bits)| layout.is_normal(*bits)).then_some(false);
        }
        let Lane { how, off } = self.list.get_or_init(|| Plain::new(self.sight)).at(spot)?;
        if !self.looks[spot.1]? {
            return Some(false);
        }
        let accuracy = &self.sight.demand.accuracy;
        let Encoding::Float(layout) = self.sight.encoding(spot.1) else { return None };
        let first = || self.sight.operands(spot).first().map_or(f64::NAN, |operand| operand.double());
        let one_answer = *accuracy == Accuracy::NearestEven || accuracy.is_nearest() && how == Rounding::Exact;
        let seen = || {
            // After the first failure nothing is watched, and no answer is strict.
            let over = !judged.failing.is_empty();
            judged.choice && (over || watch.has_seen(how, off)) && (off == 0 || !judged.strict)
        };
        (self.takes && (one_answer || seen()) && accuracy.accepts_off(off, layout, first)).then_some(true)
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
