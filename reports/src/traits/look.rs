//! From what was observed to the value of a trait.

use std::collections::BTreeMap;

use fpprobe_profiles::encoding::PartReader;
use fpprobe_profiles::judge::Observations;
use fpprobe_profiles::observed_behaviour::{Aspect, observed_behaviours};
use fpprobe_profiles::variants::VariantPair;
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::{Kernel, Op, Route, Shape};

use super::{TraitDefinition, TraitLook, Variation};
use crate::decimal::decimal;
use crate::evidence::answered;
use crate::model::{AnswerEvidence, DeviceTrait, MIXED, NOT_OFFERED, TraitShare, TraitValue};

/// Kernels named of each value.
const NAMED: usize = 8;
/// Lanes shown of a scope.
const SHOWN: usize = 4;

/// The value of a trait on a device.
pub(super) fn value(definition: TraitDefinition, observations: &Observations<'_>) -> DeviceTrait {
    let id = definition.id();
    let look = &definition.row.look;
    if let TraitLook::Agreement(variation) = look {
        let found = agreement(*variation, observations).finish();
        let (run_time, constants) = if *variation == Variation::Constants { (None, found) } else { (found, None) };
        return DeviceTrait { id, run_time, constants };
    }
    let kernels: Vec<Kernel> = kernels(definition).iter().flat_map(|kernel| parsed(kernel)).collect();
    let of_scope = |is_folded: bool| {
        let mut found = ScopeValues::default();
        for kernel in &kernels {
            for kernel in in_scope(*kernel, is_folded, observations) {
                found.add(look, kernel, observations);
            }
        }
        found.finish()
    };
    DeviceTrait { id, run_time: of_scope(false), constants: of_scope(true) }
}

/// Ids of the kernels that a trait looks at; of paths of texels without the path.
pub(super) fn kernels(definition: TraitDefinition) -> Vec<String> {
    definition.row.look.kernels().iter().map(|kernel| definition.named(kernel)).collect()
}

impl TraitLook {
    fn kernels(&'static self) -> &'static [&'static str] {
        match self {
            TraitLook::Aspect(_, kernels) => kernels,
            TraitLook::Bits(kernel, ..) | TraitLook::Number(kernel, _) | TraitLook::NanBits(kernel) => {
                std::slice::from_ref(kernel)
            }
            TraitLook::Agreement(_) => &[],
        }
    }
}

/// The kernels that an id stands for: itself, or, where texels come and go by several paths, that of each.
pub(super) fn parsed(id: &str) -> Vec<Kernel> {
    if let Ok(kernel) = id.parse() {
        return vec![kernel];
    }
    let routes = id.split_once('.').and_then(|(format, op)| {
        let (format, op) = (format.parse().ok()?, Op::find(op)?);
        Some(op.code.routes(format))
    });
    routes.unwrap_or_default().iter().filter_map(|route| format!("{id}:route={route}").parse().ok()).collect()
}

/// The kernel and its variants that do not give the same; or those of its constants.
fn in_scope(kernel: Kernel, is_folded: bool, observations: &Observations<'_>) -> Vec<Kernel> {
    if is_folded {
        let routes = [Route::Spec, Route::Literal];
        return routes.into_iter().filter_map(|route| Kernel { route, ..kernel }.checked().ok()).collect();
    }
    let pairs = observations.pairs().iter();
    let others = pairs.filter(|pair| pair.plain.kernel == kernel && !pair.differing.is_empty());
    let others = others.map(|pair| pair.other.kernel).filter(|other| !other.route.is_folded());
    std::iter::once(kernel).chain(others).collect()
}

/// What was found in a scope.
#[derive(Default)]
struct ScopeValues {
    values: BTreeMap<String, (usize, Vec<String>)>,
    lanes: usize,
    evidence: Vec<AnswerEvidence>,
    is_lacking: bool,
}

impl ScopeValues {
    fn add(&mut self, look: &TraitLook, kernel: Kernel, observations: &Observations<'_>) {
        let Some(observation) = observations.get(&kernel) else { return };
        self.is_lacking |= observation.outcome == Outcome::Unsupported;
        if !observation.outcome.answered() {
            return;
        }
        match look {
            TraitLook::Aspect(aspect, _) => self.add_aspect(*aspect, observation),
            TraitLook::NanBits(_) => self.add_nan_bits(observation),
            TraitLook::Bits(_, operands, values) => self.add_lane(observation, operands, &|bits| {
                let known = values.iter().find(|(known, _)| *known == bits);
                known.map_or_else(|| hex(&kernel, bits), |(_, value)| (*value).to_owned())
            }),
            TraitLook::Number(_, operands) => self.add_lane(observation, operands, &|bits| number(&kernel, bits)),
            TraitLook::Agreement(_) => {}
        }
    }

    fn add_aspect(&mut self, aspect: Aspect, observation: &Observation) {
        for seen in observed_behaviours(observation, aspect).into_iter().flatten() {
            let ways = seen.ways.iter().filter(|(_, lanes)| *lanes > 0);
            let ways: Vec<(&str, usize)> = match seen.way {
                Some(way) => vec![(way, seen.lanes)],
                None => ways.copied().collect(),
            };
            for (way, lanes) in &ways {
                self.put(Aspect::value(way).unwrap_or(way), *lanes, observation);
            }
            // Lanes that went no way.
            let explained: usize = ways.iter().map(|(_, lanes)| lanes).sum();
            if explained < seen.lanes {
                self.put("other", seen.lanes - explained, observation);
            }
            self.lanes += seen.lanes;
            self.show(observation, seen.case);
        }
    }

    fn add_lane(&mut self, observation: &Observation, operands: &[u64], name: &dyn Fn(u64) -> String) {
        let matching = |case: &&[u64]| in_every_component(&observation.kernel, case, operands);
        let Some(case) = observation.cases.iter().position(|case| matching(&case)) else { return };
        let width = observation.kernel.outputs();
        for results in observation.runs() {
            for bits in &results[case * width..(case + 1) * width] {
                self.put(&name(*bits), 1, observation);
            }
        }
        self.lanes += 1;
        self.show(observation, case);
    }

    /// Lanes with one NaN among the operands that is not the usual one, by what became of its bits.
    fn add_nan_bits(&mut self, observation: &Observation) {
        let kernel = &observation.kernel;
        let Some(layout) = kernel.format.float().filter(|_| kernel.width == 1) else { return };
        let (quieting, sign) = (layout.quiet_bit(), layout.sign_bit());
        let quiet = layout.infinity() | quieting;
        let reader = PartReader::new(kernel);
        for (case, operands) in observation.cases.iter().enumerate() {
            let nans: Vec<u64> = operands.iter().copied().filter(|bits| layout.is_nan(*bits)).collect();
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
                self.put(value, 1, observation);
            }
            self.lanes += 1;
            self.show(observation, case);
        }
    }

    fn put(&mut self, value: &str, lanes: usize, observation: &Observation) {
        let (all, kernels) = self.values.entry(value.to_owned()).or_default();
        *all += lanes;
        let kernel = observation.kernel.to_string();
        if kernels.len() < NAMED && kernels.last() != Some(&kernel) {
            kernels.push(kernel);
        }
    }

    fn show(&mut self, observation: &Observation, case: usize) {
        let lane = answered(observation, observation.cases.case(case), observation.answer(case));
        if self.evidence.len() < SHOWN && !self.evidence.contains(&lane) {
            self.evidence.push(lane);
        }
    }

    fn finish(self) -> Option<TraitValue> {
        let ScopeValues { values, lanes, evidence, is_lacking } = self;
        let mut shares: Vec<TraitShare> =
            values.into_iter().map(|(value, (lanes, kernels))| TraitShare { value, lanes, kernels }).collect();
        shares.sort_by_key(|share| std::cmp::Reverse(share.lanes));
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

/// Whether a case has these operands in every component.
fn in_every_component(kernel: &Kernel, case: &[u64], operands: &[u64]) -> bool {
    if kernel.width == 1 {
        return case == operands;
    }
    let params = kernel.params();
    let parts = Shape::split(&params, case);
    let mut matching = parts.zip(operands).map(|((_, values), operand)| values.iter().all(|value| value == operand));
    matching.all(|matches| matches)
}

fn hex(kernel: &Kernel, bits: u64) -> String {
    kernel.result().format.hex(bits)
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

/// Whether variants give what the kernels give that they are compared with; NaNs are alike.
fn agreement(variation: Variation, observations: &Observations<'_>) -> ScopeValues {
    let is_alike = |pair: &&VariantPair<'_>| {
        let [other, plain] = [pair.other.kernel, pair.plain.kernel];
        match variation {
            Variation::Constants => other.route.is_folded() && other.width == plain.width,
            Variation::Width => other.width != plain.width && other.route == plain.route,
            Variation::Stage => other.stage != plain.stage && other.route == plain.route,
        }
    };
    let mut found = ScopeValues::default();
    for pair in observations.pairs().iter().filter(is_alike).filter(|pair| pair.compared > 0) {
        found.lanes += pair.compared;
        if pair.compared > pair.differing.len() {
            found.put("yes", pair.compared - pair.differing.len(), pair.other);
        }
        if let Some((case, _)) = pair.differing.first() {
            found.put("no", pair.differing.len(), pair.other);
            found.show(pair.other, *case);
        }
    }
    found
}
