//! The values that lanes of a scope show, each with its lanes and kernels.

use std::collections::{BTreeMap, BTreeSet};

use fpprobe_profiles::derivative::rows;
use fpprobe_profiles::encoding::{Encoding, PartReader};
use fpprobe_profiles::judge::Observations;
use fpprobe_profiles::matrix::AspectResult;
use fpprobe_profiles::observed_behaviour::{Aspect, BehaviourScan};
use fpprobe_profiles::oracle::{Operand, Signature, distance};
use fpprobe_profiles::subgroup::subgroup_order;
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::{Kernel, Shape};

use super::TraitLook;
use super::split::{Facets, LaneFacets, Magnitudes, OTHERWISE, component, of_kernel, places};
use crate::decimal::{coded, decimal};
use crate::evidence::answered;
use crate::model::{AnswerEvidence, MIXED, NOT_OFFERED, TraitShare, TraitValue};
use crate::values::decimal_case;

/// Kernels named of each value.
const NAMED: usize = 8;
/// Lanes shown of a scope.
const SHOWN: usize = 4;

/// Who has a value.
struct SeenValue {
    lanes: usize,
    kernels: Vec<String>,
    facets: BTreeSet<Facets>,
    extent: Magnitudes,
    /// The first lane with it, also in words.
    example: Option<(AnswerEvidence, String)>,
}

impl Default for SeenValue {
    fn default() -> SeenValue {
        let (lanes, kernels, facets) = (0, Vec::new(), BTreeSet::new());
        SeenValue { lanes, kernels, facets, extent: Magnitudes::NONE, example: None }
    }
}

impl SeenValue {
    /// Adds lanes that have the value too; where they might have another one as well, they do not
    /// say who has it.
    fn add(&mut self, other: SeenValue, is_sure: bool) {
        self.lanes += other.lanes;
        for kernel in other.kernels {
            if self.kernels.len() < NAMED && !self.kernels.contains(&kernel) {
                self.kernels.push(kernel);
            }
        }
        if is_sure || self.facets.is_empty() {
            self.facets.extend(other.facets);
            self.extent = self.extent.with(other.extent);
        }
        self.example = self.example.take().or(other.example);
    }
}

/// What was found in a scope.
#[derive(Default)]
pub(super) struct ScopeValues {
    /// By what a lane may show: one value, or several that give the same on it.
    values: BTreeMap<Vec<String>, SeenValue>,
    lanes: usize,
    evidence: Vec<AnswerEvidence>,
    is_lacking: bool,
}

impl ScopeValues {
    /// Adds what a kernel shows.
    pub(super) fn add(
        &mut self,
        look: &TraitLook,
        kernel: Kernel,
        observations: &Observations<'_>,
    ) {
        let Some(observation) = observations.get(&kernel) else { return };
        self.is_lacking |= observation.outcome == Outcome::Unsupported;
        if !observation.outcome.answered() {
            return;
        }
        match look {
            TraitLook::Aspect(aspect, _) => self.add_aspect(*aspect, observation),
            TraitLook::NanBits(_) => self.add_nan_bits(observation),
            TraitLook::SubgroupOrder(_) => {
                self.add_result(subgroup_order(observation), observation);
            }
            TraitLook::DerivativeRows(_) => self.add_result(rows(observation), observation),
            TraitLook::Bits(_, operands, values) => self.add_lane(observation, operands, &|bits| {
                let known = values.iter().find(|(known, _)| *known == bits);
                known.map_or_else(
                    || kernel.result().format.hex(bits),
                    |(_, value)| (*value).to_owned(),
                )
            }),
            TraitLook::Number(_, operands) => {
                self.add_lane(observation, operands, &|bits| number(&kernel, bits));
            }
            TraitLook::Component(_, operand) => self.add_component(observation, *operand),
            TraitLook::Lanes(_, is_of_interest, value) => {
                for (case, operands) in
                    observation.cases.iter().enumerate().filter(|(_, case)| is_of_interest(case))
                {
                    for results in observation.runs() {
                        self.put_cases(&[value(operands, results[case])], observation, 0, &[case]);
                    }
                    self.counted(1, observation, case);
                }
            }
            TraitLook::Error(_, low, high) => self.add_error(observation, *low, *high),
            TraitLook::Agreement(_) | TraitLook::StrictMath | TraitLook::Matrix(_) => {}
        }
    }

    fn add_result(&mut self, result: Option<AspectResult>, observation: &Observation) {
        if let Some(result) = result {
            self.put(&result.value, result.lanes, observation);
            self.counted(result.lanes, observation, result.case);
        }
    }

    fn add_aspect(&mut self, aspect: Aspect, observation: &Observation) {
        for (part, seen) in
            BehaviourScan::new(observation).behaviours(aspect).into_iter().enumerate()
        {
            let Some(seen) = seen else { continue };
            for (ways, cases) in &seen.groups {
                let mut values: Vec<&str> =
                    ways.iter().map(|way| Aspect::value(way).unwrap_or(way)).collect();
                if values.is_empty() {
                    values.push("other");
                }
                self.put_cases(&values, observation, part, cases);
            }
            self.counted(seen.lanes, observation, seen.case);
        }
    }

    fn add_lane(
        &mut self,
        observation: &Observation,
        operands: &[u64],
        name: &dyn Fn(u64) -> String,
    ) {
        let matching = |case: &&[u64]| in_every_component(&observation.kernel, case, operands);
        let Some(case) = observation.cases.iter().position(|case| matching(&case)) else { return };
        let width = observation.kernel.outputs();
        for results in observation.runs() {
            for bits in &results[case * width..(case + 1) * width] {
                self.put(&name(*bits), 1, observation);
            }
        }
        self.counted(1, observation, case);
    }

    /// What became of a component, by each part of the result that has one of its own.
    fn add_component(&mut self, observation: &Observation, operand: u64) {
        let (kernel, reader) = (&observation.kernel, PartReader::new(&observation.kernel));
        for (part, encoding) in Encoding::of_result(kernel).into_iter().enumerate() {
            let channel = kernel.format.channels().get(part);
            let of_operand = |(_, case): &(usize, &[u64])| case.get(part) == Some(&operand);
            for (case, _) in observation.cases.iter().enumerate().filter(of_operand) {
                for results in observation.runs() {
                    let code = reader.part(results, case, part);
                    let value = channel
                        .map_or_else(|| encoding.hex(code), |channel| coded(channel.coding, code));
                    self.put(&value, 1, observation);
                }
                self.counted(1, observation, case);
            }
        }
    }

    /// The least power of two that no error exceeds. A result that is no number is as wrong as can
    /// be.
    fn add_error(&mut self, observation: &Observation, low: u64, high: u64) {
        let signature = Signature::new(&observation.kernel);
        let Some(Encoding::Float(layout)) = signature.encodings.first().copied() else { return };
        let mut worst: Option<(f64, usize)> = None;
        let mut lanes = 0;
        let is_of_interest =
            |case: &[u64]| (low..=high).contains(&(case[0] & layout.magnitude_mask()));
        for (case, operands) in
            observation.cases.iter().enumerate().filter(|(_, case)| is_of_interest(case))
        {
            let result = Operand { layout: Some(layout), bits: observation.answer(case)[0] };
            let error =
                distance(observation.kernel.op.function, &signature.operands(operands, 0), result);
            let error = error.unwrap_or(f64::INFINITY);
            lanes += 1;
            if worst.is_none_or(|(most, _)| error > most) {
                worst = Some((error, case));
            }
        }
        let Some((error, case)) = worst else { return };
        let value = match error {
            0.0 => "zero".to_owned(),
            error if error.is_finite() => format!("2^{}", error.log2().ceil()),
            _ => "no_number".to_owned(),
        };
        self.put(&value, lanes, observation);
        self.counted(lanes, observation, case);
    }

    /// Lanes with one NaN among the operands that is not the usual one, by what became of its bits.
    fn add_nan_bits(&mut self, observation: &Observation) {
        let kernel = &observation.kernel;
        let Some(layout) = kernel.format.float().filter(|_| kernel.width == 1) else { return };
        let (quieting, sign) = (layout.quiet_bit(), layout.sign_bit());
        let quiet = layout.infinity() | quieting;
        let reader = PartReader::new(kernel);
        for (case, operands) in observation.cases.iter().enumerate() {
            let nans: Vec<u64> =
                operands.iter().copied().filter(|bits| layout.is_nan(*bits)).collect();
            let [nan] = nans[..] else { continue };
            if nan & layout.magnitude_mask() == quiet {
                continue;
            }
            for results in observation.runs() {
                let result = reader.part(results, case, 0);
                let value = match result {
                    _ if result == nan => "kept",
                    _ if result == nan | quieting => "quieted",
                    _ if result & !sign == quiet => "replaced",
                    _ if layout.is_nan(result) => "changed",
                    _ => "number",
                };
                self.put_cases(&[value], observation, 0, &[case]);
            }
            self.counted(1, observation, case);
        }
    }

    /// Adds lanes that have a value.
    pub(super) fn put(&mut self, value: &str, lanes: usize, observation: &Observation) {
        let facets = BTreeSet::from([of_kernel(&observation.kernel, None)]);
        self.put_of(&[value], lanes, observation, LaneFacets { facets, extent: Magnitudes::ANY });
    }

    /// Adds the lanes of a part of the result in these cases, which show one of these values.
    fn put_cases(
        &mut self,
        values: &[&str],
        observation: &Observation,
        part: usize,
        cases: &[usize],
    ) {
        let operands = cases.iter().map(|case| observation.cases.case(*case));
        let facets = LaneFacets::of(&observation.kernel, part, operands);
        self.put_of(values, cases.len(), observation, facets);
        if let Some(case) = cases.first() {
            self.exemplify(values, observation, part, *case);
        }
    }

    /// Shows a value by this case, where no earlier one does.
    pub(super) fn exemplify(
        &mut self,
        values: &[&str],
        observation: &Observation,
        part: usize,
        case: usize,
    ) {
        let seen = self.values.get_mut(&key(values));
        let Some(seen) = seen.filter(|seen| seen.example.is_none()) else {
            return;
        };
        let (kernel, operands) = (&observation.kernel, observation.cases.case(case));
        let of = component(kernel, part).map_or_else(String::new, |name| format!("{name} of "));
        let words = format!("{of}{kernel} {}", decimal_case(kernel, operands));
        seen.example = Some((answered(observation, operands, observation.answer(case)), words));
    }

    fn put_of(
        &mut self,
        values: &[&str],
        lanes: usize,
        observation: &Observation,
        LaneFacets { facets, extent }: LaneFacets,
    ) {
        let seen = self.values.entry(key(values)).or_default();
        seen.lanes += lanes;
        seen.facets.extend(facets);
        seen.extent = seen.extent.with(extent);
        let kernel = observation.kernel.to_string();
        if seen.kernels.len() < NAMED && seen.kernels.last() != Some(&kernel) {
            seen.kernels.push(kernel);
        }
    }

    /// Counts lanes that were looked at, of which this case shows one.
    pub(super) fn counted(&mut self, lanes: usize, observation: &Observation, case: usize) {
        self.count(lanes);
        self.show(observation, observation.cases.case(case), observation.answer(case));
    }

    /// Counts lanes that were looked at.
    pub(super) fn count(&mut self, lanes: usize) {
        self.lanes += lanes;
    }

    /// Keeps a lane as evidence.
    pub(super) fn show(&mut self, observation: &Observation, case: &[u64], answer: &[u64]) {
        if self.evidence.len() >= SHOWN {
            return;
        }
        let lane = answered(observation, case, answer);
        if !self.evidence.contains(&lane) {
            self.evidence.push(lane);
        }
    }

    /// The device lacks something that this takes.
    pub(super) fn lack(&mut self) {
        self.is_lacking = true;
    }

    /// The value of the scope; `None` where nothing was measured.
    pub(super) fn finish(self) -> Option<TraitValue> {
        let ScopeValues { values, lanes, evidence, is_lacking } = self;
        let values = settled(values);
        let places =
            places(&values.values().map(|seen| (&seen.facets, seen.extent)).collect::<Vec<_>>());
        let share = |((value, seen), place): ((String, SeenValue), String)| {
            let SeenValue { lanes, kernels, example, .. } = seen;
            let (example, words) = example.unzip();
            let words = words.unwrap_or_default();
            TraitShare { value, lanes, kernels, place, example, words }
        };
        let mut shares: Vec<TraitShare> = values.into_iter().zip(places).map(share).collect();
        shares.sort_by_key(|share| (share.place == OTHERWISE, std::cmp::Reverse(share.lanes)));
        let value = match &shares[..] {
            [] if is_lacking => NOT_OFFERED.to_owned(),
            [] => return None,
            [only] => only.value.clone(),
            _ => MIXED.to_owned(),
        };
        if shares.len() < 2 {
            shares.clear();
        }
        Some(TraitValue { value, lanes, shares, evidence })
    }
}

fn key(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

/// One value for each lane: the one that most lanes may show takes all of these, then the one that
/// most of the rest may show.
fn settled(mut open: BTreeMap<Vec<String>, SeenValue>) -> BTreeMap<String, SeenValue> {
    let mut groups: Vec<(String, Vec<String>, SeenValue)> = Vec::new();
    while let Some(most) = widest(&open) {
        let (own, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
            open.into_iter().partition(|(values, _)| values.contains(&most));
        groups.extend(own.into_iter().map(|(values, seen)| (most.clone(), values, seen)));
        open = rest;
    }
    let found: BTreeSet<String> = groups.iter().map(|(value, ..)| value.clone()).collect();
    // Those that say most come first.
    groups.sort_by_key(|(_, values, _)| values.len());
    let mut settled: BTreeMap<String, SeenValue> = BTreeMap::new();
    for (value, values, seen) in groups {
        let is_sure = values.iter().filter(|other| found.contains(*other)).count() == 1;
        settled.entry(value).or_default().add(seen, is_sure);
    }
    settled
}

/// The value that most lanes may show, of several the first.
fn widest(open: &BTreeMap<Vec<String>, SeenValue>) -> Option<String> {
    let mut counts: Vec<(&String, usize)> = Vec::new();
    for (value, lanes) in
        open.iter().flat_map(|(values, seen)| values.iter().map(|value| (value, seen.lanes)))
    {
        match counts.iter_mut().find(|(known, _)| *known == value) {
            Some((_, count)) => *count += lanes,
            None => counts.push((value, lanes)),
        }
    }
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    most.map(|(value, _)| (*value).clone())
}

/// Whether a case has these operands in every component.
fn in_every_component(kernel: &Kernel, case: &[u64], operands: &[u64]) -> bool {
    if kernel.width == 1 {
        return case == operands;
    }
    let params = kernel.params();
    let parts = Shape::split(&params, case);
    let mut matching = parts
        .zip(operands)
        .map(|((_, values), operand)| values.iter().all(|value| value == operand));
    matching.all(|matches| matches)
}

/// A result as a value: what is no finite number by name.
fn number(kernel: &Kernel, bits: u64) -> String {
    let format = kernel.result().format;
    let Some(layout) = format.float() else { return decimal(format, bits) };
    let (magnitude, infinity) = (bits & layout.magnitude_mask(), layout.infinity());
    let sign = if bits > layout.magnitude_mask() { "negative_" } else { "" };
    match magnitude {
        0 => format!("{sign}zero"),
        _ if magnitude == infinity => format!("{sign}infinity"),
        _ if magnitude > infinity => "nan".to_owned(),
        _ => decimal(format, bits),
    }
}
