//! Plain lanes: those where nothing but the rounding counts, with the correctly rounded answer or one near to it. Long lists
//! hold little else, and several rules look at each of them: what these lanes are is found once, and says of most what looking at
//! them would.

use std::cell::RefCell;
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
use crate::interval::Interval;
use crate::lanes::Lanes;
use crate::number::Number as _;
use crate::oracle::{Operand, Rounding, is_single_step, off, rounding};
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
    /// How plain lanes that the rule looks at are told, if they are.
    told: Option<Told>,
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
        let told = Told::of(sight).filter(|_| sight.rule.requirements == [Requirement::Result]);
        // Channels have few values: what one lane showed is remembered, and costs less than what is known of each.
        let useful = |looks: &Option<bool>| *looks == Some(false) || *looks == Some(true) && told.is_some();
        let list = (!sight.is_of_channels() || looks.iter().any(useful)).then(|| lists.of(sight));
        Some(Shortcut { sight, list, looks, told, passes })
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
        let told = self.told.as_ref()?;
        let accuracy = &self.sight.demand.accuracy;
        let seen = || {
            // After the first failure nothing is watched, and no answer is strict.
            let over = !judged.failing.is_empty();
            judged.choice && (over || watch.has_seen(lane)) && (lane.off == 0 || !judged.strict)
        };
        ((lane.follows(accuracy) == Some(true) || seen()) && told.accepts(self.sight, spot, lane)).then_some(true)
    }
}

/// How an accuracy tells of plain lanes.
enum Told {
    /// By how far the answer is away from the correctly rounded one.
    ByDistance,
    /// By that and by what its formulas give on the operand and those next to it, as far as it was asked for, block by block.
    ByFormulas(RefCell<HashMap<u64, bool>>),
}

/// Operands in a block, a power of two as an exponent: no block holds numbers of two classes or signs.
const BLOCK: u32 = 6;

impl Told {
    fn of(sight: &Sight<'_>) -> Option<Told> {
        match &sight.demand.accuracy {
            // Of longer formats there are no lists that hold more than a few operands of a block.
            Accuracy::Inherited(inherited) => {
                let layouts = sight.layouts()?;
                let short = matches!(layouts[..], [layout] if layout.bits() <= 16 && layout.fraction >= BLOCK);
                (short && inherited.encloses()).then(|| Told::ByFormulas(RefCell::default()))
            }
            Accuracy::Ulp(_) | Accuracy::UlpAndSlope(..) => Some(Told::ByDistance),
            accuracy => accuracy.is_nearest().then_some(Told::ByDistance),
        }
    }

    /// Whether the answer is accepted for certain, and not everything is.
    fn accepts(&self, sight: &Sight<'_>, spot: Spot, lane: Lane) -> bool {
        let Encoding::Float(layout) = sight.encoding(spot.1) else { return false };
        let accuracy = &sight.demand.accuracy;
        let operand = || sight.operands(spot).first().copied();
        match (self, accuracy) {
            (Told::ByFormulas(blocks), Accuracy::Inherited(inherited)) => {
                let Some(Operand { layout: Some(of), bits }) = operand() else { return false };
                let field = (sight.answer(spot) & layout.magnitude_mask()) >> layout.fraction;
                let unit = f64::power(field as i32 - layout.bias() - layout.fraction as i32);
                let defined = || {
                    let ends = [bits >> BLOCK << BLOCK, bits | ((1 << BLOCK) - 1)].map(|bits| f64::decode(of, bits));
                    let block = Interval::point(ends[0]).hull(Interval::point(ends[1]));
                    inherited.is_defined_on(sight.demand, layout, block)
                };
                inherited.gives(lane.off, unit) && *blocks.borrow_mut().entry(bits >> BLOCK).or_insert_with(defined)
            }
            (Told::ByFormulas(_), _) => false,
            (Told::ByDistance, _) => {
                accuracy.accepts_off(lane.off, layout, || operand().map_or(f64::NAN, Operand::double))
            }
        }
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
