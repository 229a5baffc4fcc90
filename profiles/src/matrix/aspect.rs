//! What a measured unit does in one respect, by the probes among its cases.

use std::cmp::Reverse;
use std::collections::HashMap;

use fpprobe_spirv::cases::matrix::{MOST_BITS, MatrixProbe, ProductLayouts};
use fpprobe_spirv::{FloatLayout, Kernel};

use super::tree::SumTree;
use super::unit_model::UnitModel;
use crate::Observation;

/// A respect in which units differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatrixAspect {
    /// In which order summands are added, and how many at once.
    Order,
    /// Which way a sum is rounded.
    Rounding,
    /// How many bits below the last one of the result a sum keeps.
    Bits,
    /// What the result of one probe is.
    Probe(MatrixProbe),
    /// Whether equal products are the same when they run again, in other places of a matrix.
    Repeatable,
    /// Which model gives the same.
    Model,
}

/// The value of an aspect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AspectResult {
    /// The value.
    pub value: String,
    /// Lanes that were looked at.
    pub lanes: usize,
    /// Number of the case that shows it.
    pub case: usize,
}

/// No model gives what was measured.
const NONE: &str = "none_of_these";

impl MatrixAspect {
    /// What a kernel of matrices of floats shows; `None` where it shows nothing of it.
    pub fn of(self, observation: &Observation) -> Option<AspectResult> {
        let kernel = &observation.kernel;
        let layouts = ProductLayouts::of(kernel)?;
        match self {
            MatrixAspect::Repeatable => {
                let differing =
                    (0..observation.cases.len()).find(|case| observation.steady(*case).is_none());
                let value = if differing.is_some() { "no" } else { "yes" }.to_owned();
                Some(AspectResult {
                    value,
                    lanes: observation.cases.len(),
                    case: differing.unwrap_or(0),
                })
            }
            MatrixAspect::Model => model(observation, None),
            MatrixAspect::Order => ProbeResults::new(observation, layouts)?.order(),
            MatrixAspect::Rounding => ProbeResults::new(observation, layouts)?.rounding(),
            MatrixAspect::Bits => ProbeResults::new(observation, layouts)?.bits(),
            MatrixAspect::Probe(probe) => ProbeResults::new(observation, layouts)?.one(probe),
        }
    }

    /// What several kernels show. They may be of one unit: a small product fits several models, and
    /// of these the one counts that gives the results of most kernels.
    pub fn of_each<'o>(
        self,
        observations: &[&'o Observation],
    ) -> Vec<(&'o Observation, AspectResult)> {
        let preferred = if self == MatrixAspect::Model { common(observations) } else { None };
        let of = |one: &Observation| {
            if preferred.is_some() { model(one, preferred) } else { self.of(one) }
        };
        observations.iter().filter_map(|one| Some((*one, of(one)?))).collect()
    }
}

/// The probes of an observation, with their results.
struct ProbeResults<'a> {
    kernel: &'a Kernel,
    layouts: ProductLayouts,
    observation: &'a Observation,
    cases: HashMap<&'a [u64], usize>,
    k: u32,
}

impl<'a> ProbeResults<'a> {
    fn new(observation: &'a Observation, layouts: ProductLayouts) -> Option<ProbeResults<'a>> {
        let cases = observation.cases.iter().zip(0..).collect();
        let k = observation.kernel.matrix?.k;
        Some(ProbeResults { kernel: &observation.kernel, layouts, observation, cases, k })
    }

    /// Number and result of a probe that was run.
    fn run(&self, probe: MatrixProbe) -> Option<(usize, u64)> {
        let case = *self.cases.get(&*probe.case(self.kernel)?)?;
        Some((case, *self.observation.answer(case).first()?))
    }

    /// The result of a probe, in words.
    fn one(&self, probe: MatrixProbe) -> Option<AspectResult> {
        let (case, bits) = self.run(probe)?;
        let result = self.layouts.result;
        let value = match probe {
            MatrixProbe::Product if result.is_zero(bits) => "rounded".to_owned(),
            MatrixProbe::Product => "exact".to_owned(),
            MatrixProbe::SubnormalA
            | MatrixProbe::SubnormalB
            | MatrixProbe::SubnormalC
            | MatrixProbe::SubnormalResult => flushed(result, bits).to_owned(),
            MatrixProbe::PartialOverflow if bits == result.max_finite() => "kept".to_owned(),
            MatrixProbe::Overflow if bits == result.max_finite() => "largest".to_owned(),
            _ => special(result, bits),
        };
        Some(AspectResult { value, lanes: 1, case })
    }

    fn order(&self) -> Option<AspectResult> {
        let (tree, lanes, case) = self.tree()?;
        let value = tree.map_or_else(|| "irregular".to_owned(), |tree| tree.name(self.k));
        Some(AspectResult { value, lanes, case })
    }

    /// The tree of the sum, if it is one; how many probes it is from, and the case of the first.
    fn tree(&self) -> Option<(Option<SumTree>, usize, usize)> {
        let (small, _) = self.layouts.order();
        let summands: Vec<u32> = (0..=self.k).collect();
        let mut below = HashMap::new();
        let (mut shown, mut is_regular) = (None, true);
        for (i, j) in summands.iter().flat_map(|i| (i + 1..=self.k).map(move |j| (*i, j))) {
            let (case, bits) = self.run(MatrixProbe::Order(i, j))?;
            shown = shown.or(Some(case));
            let count =
                units(self.layouts.result, bits, small).filter(|count| *count < summands.len());
            is_regular &= count.is_some();
            below.insert((i, j), summands.len() - count.unwrap_or(0));
        }
        let met = |i: u32, j: u32| below.get(&(i.min(j), i.max(j))).copied().unwrap_or(0);
        Some((SumTree::new(&summands, &met).filter(|_| is_regular), below.len(), shown?))
    }

    /// Of one and a bit less than the next number, of both signs, and of a tie.
    fn rounding(&self) -> Option<AspectResult> {
        let result = self.layouts.result;
        let (case, positive) = self.run(MatrixProbe::Rounding(false))?;
        let (_, negative) = self.run(MatrixProbe::Rounding(true))?;
        let (_, tie) = self.run(MatrixProbe::Tie)?;
        let away = |bits: u64| match (bits & result.magnitude_mask()).checked_sub(result.one()) {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        };
        let value = match (away(positive), away(negative), away(tie)) {
            (Some(true), Some(true), Some(false)) => "nearest_even",
            (Some(true), Some(true), Some(true)) => "nearest_away",
            (Some(false), Some(false), _) => "toward_zero",
            (Some(true), Some(false), _) => "up",
            (Some(false), Some(true), _) => "down",
            _ => "other",
        };
        Some(AspectResult { value: value.to_owned(), lanes: 3, case })
    }

    fn bits(&self) -> Option<AspectResult> {
        let runs: Option<Vec<(usize, u64)>> =
            (0..=MOST_BITS).map(|bits| self.run(MatrixProbe::Bits(bits))).collect();
        let runs = runs?;
        let kept = runs.iter().take_while(|(_, bits)| !self.layouts.result.is_zero(*bits)).count();
        let value = match kept.checked_sub(1) {
            None => "fewer".to_owned(),
            Some(most) if most == MOST_BITS as usize => format!("{most}_or_more"),
            Some(bits) => bits.to_string(),
        };
        // The first that is lost, or the last that is not.
        Some(AspectResult { value, lanes: runs.len(), case: runs[kept.min(runs.len() - 1)].0 })
    }
}

impl SumTree {
    /// The tree by which a unit adds, summands 0 to K - 1 its products and K the element of C;
    /// `None` where an observation shows none.
    pub fn of(observation: &Observation) -> Option<SumTree> {
        ProbeResults::new(observation, ProductLayouts::of(&observation.kernel)?)?.tree()?.0
    }
}

/// How many units of `2^exponent` a result is, if it is some.
pub(crate) fn units(layout: FloatLayout, bits: u64, exponent: i32) -> Option<usize> {
    if layout.is_zero(bits) {
        return Some(0);
    }
    if layout.is_negative(bits) || !layout.is_normal(bits) {
        return None;
    }
    let shift =
        (bits >> layout.fraction) as i32 - layout.bias() - exponent - layout.fraction as i32;
    let significand = bits & ((1 << layout.fraction) - 1) | 1 << layout.fraction;
    match shift {
        0..=16 => usize::try_from(significand << shift).ok(),
        -63..0 if significand.trailing_zeros() as i32 >= -shift => {
            usize::try_from(significand >> -shift).ok()
        }
        _ => None,
    }
}

fn flushed(layout: FloatLayout, bits: u64) -> &'static str {
    match bits {
        bits if layout.is_zero(bits) => "flushed",
        bits if layout.is_nan(bits) => "nan",
        _ => "kept",
    }
}

/// Zeros, infinities and NaNs by name, NaNs with their bits.
fn special(layout: FloatLayout, bits: u64) -> String {
    let digits = layout.bits() as usize / 4;
    let name = match bits {
        bits if layout.is_nan(bits) => return format!("nan_{bits:0digits$x}"),
        bits if layout.is_zero(bits) => "zero",
        bits if layout.is_infinite(bits) => "infinity",
        _ => return format!("{bits:0digits$x}"),
    };
    if layout.is_negative(bits) { format!("negative_{name}") } else { name.to_owned() }
}

/// The first model that gives the results of the most kernels.
fn common(observations: &[&Observation]) -> Option<UnitModel> {
    let gives = |one: &UnitModel| {
        let is_given = |observation: &&&Observation| {
            model(observation, Some(*one)).is_some_and(|result| result.value == one.id())
        };
        Reverse(observations.iter().filter(is_given).count())
    };
    let mut models: Vec<UnitModel> =
        observations.iter().flat_map(|one| UnitModel::all(&one.kernel)).collect();
    models.dedup();
    models.into_iter().min_by_key(gives)
}

/// The model that gives every result on normal numbers, this one if it does; if no model does, a
/// case on which the nearest does not.
fn model(observation: &Observation, preferred: Option<UnitModel>) -> Option<AspectResult> {
    let kernel = &observation.kernel;
    let layout = ProductLayouts::of(kernel)?.result;
    let mut nearest: Option<(usize, usize, usize)> = None;
    for model in preferred.into_iter().chain(UnitModel::all(kernel)) {
        let cases = observation.cases.iter().enumerate();
        let expected: Vec<(usize, u64)> = cases
            .filter_map(|(case, operands)| Some((case, model.element(kernel, operands)?)))
            .collect();
        let differs = |(case, bits): &&(usize, u64)| {
            let found = observation.steady(*case).map(|answer| answer[0]);
            !found.is_some_and(|found| {
                found == *bits || layout.is_zero(found) && layout.is_zero(*bits)
            })
        };
        let differing: Vec<usize> =
            expected.iter().filter(differs).map(|(case, _)| *case).collect();
        let (first, lanes) = (expected.first()?.0, expected.len());
        let Some(case) = differing.first() else {
            return Some(AspectResult { value: model.id(), lanes, case: first });
        };
        if nearest.is_none_or(|(fewest, ..)| differing.len() < fewest) {
            nearest = Some((differing.len(), lanes, *case));
        }
    }
    nearest.map(|(_, lanes, case)| AspectResult { value: NONE.to_owned(), lanes, case })
}
