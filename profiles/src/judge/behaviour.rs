//! What a device chose where the text leaves a choice, and what would have to be different for a lane to pass.

use fpprobe_spirv::Function;

use super::{Lane, accepts};
use crate::accuracy::Accuracy;
use crate::environment::{Contraction, Environment, Nan, NonFinite, Overflow, Sign, Subnormals, ZeroOrder};
use crate::observation::Observation;
use crate::oracle::Demand;
use crate::profile::Behaviour;

/// One way to narrow a demand, and what it is called.
type Choice = (fn(&mut Demand), &'static str);

/// Choices by question, in order; the first that explains every lane is what the device does.
fn questions(demand: &Demand) -> Vec<Vec<Choice>> {
    let (inputs, results) = (&demand.operands, &demand.results);
    let mut questions: Vec<Vec<Choice>> = Vec::new();
    if inputs.subnormal_inputs == Subnormals::Either {
        questions.push(vec![
            (|d| d.operands.subnormal_inputs = Subnormals::Keep, "subnormal operands count"),
            (|d| d.operands.subnormal_inputs = Subnormals::Flush, "subnormal operands are flushed"),
            (|_| {}, "subnormal operands count in part"),
        ]);
    }
    if results.subnormal_results == Subnormals::Either {
        questions.push(vec![
            (|d| d.results.subnormal_results = Subnormals::Keep, "subnormal results are kept"),
            (|d| d.results.subnormal_results = Subnormals::Flush, "subnormal results are flushed"),
            (|_| {}, "subnormal results are kept in part"),
        ]);
    }
    let loose = !matches!(demand.accuracy, Accuracy::NearestEven | Accuracy::TowardZero);
    if loose {
        questions.push(vec![
            (|d| d.accuracy = Accuracy::NearestEven, "rounds to nearest even"),
            (|d| d.accuracy = Accuracy::TowardZero, "rounds towards zero"),
            (|_| {}, "within the tolerance, in no one direction"),
        ]);
    }
    if demand.function == Function::MulAdd && results.contraction == Contraction::Either {
        questions.push(vec![
            (|d| d.results.contraction = Contraction::Separate, "multiplies and adds, each rounded"),
            (|d| d.results.contraction = Contraction::Fused, "fused, rounded once"),
            (|_| {}, "fused in part"),
        ]);
    }
    if inputs.zero_order == ZeroOrder::Any {
        questions.push(vec![
            (|d| d.operands.zero_order = ZeroOrder::Ieee, "-0 counts as smaller than +0"),
            (|d| d.operands.zero_order = ZeroOrder::First, "of two zeros the first operand"),
            (|d| d.operands.zero_order = ZeroOrder::Second, "of two zeros the second operand"),
            (|_| {}, "of two zeros either operand"),
        ]);
    }
    if inputs.nan_operand == Nan::Any {
        questions.push(vec![
            (|d| d.operands.nan_operand = Nan::Other, "the number is returned, not the NaN"),
            (|d| d.operands.nan_operand = Nan::Nan, "a NaN operand gives a NaN"),
            (|_| {}, "a NaN operand gives a NaN or not"),
        ]);
    }
    if results.zero_sign == Sign::Either {
        questions.push(vec![(exact_signs, "signs of zeros are kept"), (|_| {}, "signs of zeros are not always kept")]);
    }
    if results.overflow == Overflow::Either {
        questions.push(vec![
            (|d| d.results.overflow = Overflow::Round, "overflow gives infinity"),
            (|d| d.results.overflow = Overflow::Saturate, "overflow gives the largest finite value"),
            (|_| {}, "overflow gives either"),
        ]);
    }
    questions
}

fn exact_signs(demand: &mut Demand) {
    for environment in [&mut demand.operands, &mut demand.results] {
        environment.zero_sign = Sign::Exact;
        environment.flushed_sign = Sign::Exact;
    }
}

/// Lanes of one part of a rule, with the answers.
pub(super) struct Looked<'a> {
    pub(super) demand: &'a Demand,
    pub(super) lanes: &'a [Lane],
    pub(super) observation: &'a Observation,
}

impl Looked<'_> {
    /// Whether every lane passes under a changed demand, and whether the change changes any lane.
    fn under(&self, change: fn(&mut Demand)) -> (bool, bool) {
        let mut demand = *self.demand;
        change(&mut demand);
        if demand == *self.demand {
            return (true, false);
        }
        let mut matters = false;
        for lane in self.lanes {
            let set = lane.under(&demand);
            matters |= set != lane.set;
            if !accepts(&set, self.observation, lane.case, lane.part) {
                return (false, true);
            }
        }
        (true, matters)
    }
}

/// Names what the device chose.
pub(super) fn name(parts: &[Looked<'_>]) -> String {
    let mut names: Vec<&'static str> = Vec::new();
    let Some(most) = parts.iter().map(|part| questions(part.demand)).max_by_key(Vec::len) else { return String::new() };
    for choices in most {
        let mut asked = false;
        for (change, name) in choices {
            let results: Vec<(bool, bool)> = parts.iter().map(|part| part.under(change)).collect();
            asked |= results.iter().any(|(_, matters)| *matters);
            if asked && results.iter().all(|(passes, _)| *passes) {
                names.push(name);
                break;
            }
        }
    }
    names.join("; ")
}

/// The demand of IEEE 754 round-to-nearest-even under the profile's flushing.
fn strict(demand: &Demand) -> Demand {
    let mut strict = *demand;
    strict.accuracy = Accuracy::NearestEven;
    for environment in [&mut strict.operands, &mut strict.results] {
        ieee(environment);
    }
    strict
}

fn ieee(environment: &mut Environment) {
    environment.zero_sign = Sign::Exact;
    environment.flushed_sign = Sign::Exact;
    environment.pole_nan = false;
    environment.non_finite = NonFinite::Ieee;
    environment.invalid = Nan::Nan;
    environment.zero_order = ZeroOrder::Ieee;
    if environment.overflow == Overflow::Either {
        environment.overflow = Overflow::Round;
    }
    if environment.nan_operand == Nan::Any {
        environment.nan_operand = Nan::Nan;
    }
}

/// Whether every answer equals IEEE round-to-nearest-even under the profile's flushing.
pub(super) fn is_strict(part: &Looked<'_>) -> bool {
    let demand = strict(part.demand);
    part.lanes.iter().all(|lane| accepts(&lane.under(&demand), part.observation, lane.case, lane.part))
}

/// The demand with a behaviour swapped for its opposite.
pub(super) fn swapped(demand: &Demand, behaviour: Behaviour) -> Demand {
    let mut swapped = *demand;
    for environment in [&mut swapped.operands, &mut swapped.results] {
        let opposite = |subnormals: Subnormals| match subnormals {
            Subnormals::Flush => Subnormals::Keep,
            Subnormals::Keep => Subnormals::Flush,
            Subnormals::Either => Subnormals::Either,
        };
        if behaviour == Behaviour::Subnormals {
            environment.subnormal_inputs = opposite(environment.subnormal_inputs);
        }
        environment.subnormal_results = opposite(environment.subnormal_results);
        if environment.subnormal_results == Subnormals::Flush {
            environment.flushed_sign = Sign::Either;
        }
    }
    swapped
}
