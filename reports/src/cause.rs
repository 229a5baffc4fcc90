//! Causes: the failing lanes of a device, gathered across rules and profiles by what is wrong with
//! them.
//!
//! A lane may have several explanations, and other lanes settle some of them (`settled`). Within a
//! format and scope the symptom that explains the most lanes takes all that it explains, then the
//! one that explains the most of the rest: one habit of a device is one cause. How far a result is
//! from what is accepted counts where nothing else explains it.

mod beside;
mod extent;
mod fix;
mod given;
mod headline;
mod joined;
mod place;
mod settled;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use foldhash::HashMap;
use fpprobe_profiles::Observation;
use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::judge::{
    Directions, Judge, Judgement, LaneDiagnosis, Observations, RuleVerdict, Symptom, SymptomRank,
    Symptoms,
};
use fpprobe_profiles::verdict::Level;
use fpprobe_spirv::emit::EmitFormat;
use fpprobe_spirv::op::Code;
use fpprobe_spirv::{Control, Format, Function, Kernel, Stage};
use sha2::{Digest, Sha256};

use self::beside::beside;
use self::extent::{is_most, is_of_subnormals};
use self::fix::{RunTimeFailures, fixes};
use self::given::given;
use self::headline::Headline;
use self::joined::{MERGED, is_of_operations, merge, name_zeros, part_unrelated};
use self::place::{confined, under};
use self::settled::settle;
use crate::evidence::shown;
use crate::model::{Cause, Evidence, Scope, Severity};

/// Stands for the formats of images.
const TEXELS: &str = "texels";

/// Groups of operations that one unit of a device carries out: a fault of it shows in several of
/// them.
const UNITS: [&str; 4] = [ARITHMETIC, MIN_AND_MAX, COMPARISONS, MOVES];
const ARITHMETIC: &str = "arithmetic";
const MIN_AND_MAX: &str = "min and max";
const MOVES: &str = "moves";

/// The group of loads of texels.
const LOADS: &str = "texel loads";

/// The group of what writes texels: what blending and resolving compute is stored.
const STORES: &str = "texel stores";

/// The group of operations whose results are truths.
const COMPARISONS: &str = "comparisons";

/// The causes of a device, the gravest first; those of recommended rules alone, which decide no
/// class, come last. Together they hold every failing lane of every rule that is not informative:
/// beside them which cause each lane belongs to.
pub fn causes<'a>(
    judges: &'a [Judge<'a>],
    judgements: &'a [Judgement],
    index: &Observations<'_>,
) -> (Vec<Cause>, LaneCauses<'a>) {
    let mut places: BTreeMap<(Scope, &str), Vec<&FailingLane<'_>>> = BTreeMap::new();
    let mut failing = failing_lanes(judges, judgements);
    settle(&mut failing);
    let failures = RunTimeFailures::of(&failing);
    for lane in &failing {
        places.entry((lane.scope(), lane.format())).or_default().push(lane);
    }
    // Formats that show the same symptom in the same operations are one cause, and constants that
    // show what shows at run time.
    let mut by_scope: BTreeMap<Scope, BTreeMap<Kind, Vec<&FailingLane<'_>>>> = BTreeMap::new();
    for ((scope, _), lanes) in places {
        for (kind, lanes) in gathered(lanes) {
            by_scope.entry(scope).or_default().entry(kind).or_default().extend(lanes);
        }
    }
    by_scope.values_mut().for_each(merge);
    by_scope.values_mut().for_each(part_unrelated);
    by_scope.values_mut().for_each(name_zeros);
    let mut by_kind: BTreeMap<(Kind, Scope), Vec<&FailingLane<'_>>> = BTreeMap::new();
    for (kind, scope, lanes) in by_scope
        .into_iter()
        .flat_map(|(scope, kinds)| kinds.into_iter().map(move |(kind, lanes)| (kind, scope, lanes)))
    {
        let is_same = by_kind
            .get(&(kind, Scope::RunTime))
            .is_some_and(|known| is_of_operations(kind, &lanes, known));
        by_kind
            .entry((kind, if is_same { Scope::RunTime } else { scope }))
            .or_default()
            .extend(lanes);
    }
    let mut lane_causes = LaneCauses::default();
    let mut causes: Vec<Cause> = Vec::with_capacity(by_kind.len());
    for ((kind, scope), lanes) in by_kind {
        let cause = cause(scope, kind, &lanes, &failures, index);
        for lane in &lanes {
            lane_causes.add(lane, &cause.id);
        }
        causes.push(cause);
    }
    causes.sort_by_key(|cause| {
        let breadth = (Reverse(cause.profiles.len()), Reverse(cause.lanes));
        (cause.recommended, cause.severity, cause.scope, breadth, cause.id.clone())
    });
    (causes, lane_causes)
}

/// Which cause each failing lane belongs to.
#[derive(Clone, Debug, Default)]
pub struct LaneCauses<'a> {
    /// Ids of causes by profile and rule, in the order of the rule's lanes.
    ids: HashMap<(&'a str, &'a str), Vec<String>>,
}

impl<'a> LaneCauses<'a> {
    fn add(&mut self, lane: &FailingLane<'a>, id: &str) {
        let rule = (lane.judge.profile().id.as_str(), lane.verdict.id.as_str());
        let ids = self.ids.entry(rule).or_default();
        ids.resize(lane.verdict.failing, String::new());
        id.clone_into(&mut ids[lane.number]);
    }

    /// The ids of the causes of a rule's lanes, in their order; empty where none has any.
    pub fn of<'s>(&'s self, profile: &'s str, rule: &'s str) -> &'s [String] {
        self.ids.get(&(profile, rule)).map_or(&[], Vec::as_slice)
    }
}

/// The failing lanes of every rule that is not informative.
fn failing_lanes<'a>(judges: &'a [Judge<'a>], judgements: &'a [Judgement]) -> Vec<FailingLane<'a>> {
    let counted = |judgement: &'a Judgement| {
        judgement.rules.iter().filter(|rule| rule.level != Level::Informative)
    };
    let failing = judgements.iter().flat_map(counted).map(|verdict| verdict.failing).sum();
    let mut lanes = Vec::with_capacity(failing);
    for (judge, judgement) in judges.iter().zip(judgements) {
        for verdict in counted(judgement) {
            let diagnosed = verdict.failing_lanes().zip(&verdict.diagnoses).enumerate();
            lanes.extend(diagnosed.map(|(number, ((kernel, case, part), diagnosis))| {
                let symptoms = diagnosis.symptoms;
                FailingLane { judge, verdict, number, kernel, case, part, diagnosis, symptoms }
            }));
        }
    }
    lanes
}

/// A failing lane of a rule.
struct FailingLane<'a> {
    judge: &'a Judge<'a>,
    verdict: &'a RuleVerdict,
    /// Its place among the failing lanes of the rule.
    number: usize,
    kernel: &'a Kernel,
    case: &'a [u64],
    part: usize,
    diagnosis: &'a LaneDiagnosis,
    /// What is wrong with it, as far as other lanes have not settled it otherwise.
    symptoms: Symptoms,
}

impl FailingLane<'_> {
    /// Whether the compiler knows its operands.
    fn is_constant(&self) -> bool {
        self.kernel.route.is_folded()
    }

    fn scope(&self) -> Scope {
        if self.is_constant() { Scope::Constants } else { Scope::RunTime }
    }

    fn format(&self) -> &'static str {
        if self.kernel.op.code.is_of_texels() { TEXELS } else { self.kernel.format.name() }
    }

    /// Whether the result is the number zero.
    fn is_zero(&self) -> bool {
        let bits = self.diagnosis.result;
        match Encoding::of_result(self.kernel).get(self.part) {
            Some(Encoding::Float(layout)) => bits & layout.magnitude_mask() == 0,
            Some(Encoding::Truth) | None => false,
            Some(Encoding::Signed | Encoding::Unsigned | Encoding::Fixed { .. }) => bits == 0,
        }
    }

    /// How hard the lane is to show to somebody: the forms that it cannot be written in; whether
    /// another cause explains it as well; how hard it is to read: few operands, scalars by a
    /// buffer come first.
    fn complexity(&self) -> (usize, usize, (usize, usize), u32) {
        const FORMS: [EmitFormat; 3] = [EmitFormat::Amber, EmitFormat::Spvasm, EmitFormat::Glsl];
        let lacking = FORMS.iter().filter(|form| !form.spells(self.kernel)).count();
        let whole = |symptom: Symptom| {
            MERGED.iter().find(|(part, _)| *part == symptom).map_or(symptom, |merged| merged.1)
        };
        let explanations: BTreeSet<Symptom> =
            self.diagnosis.symptoms.strongest().map(whole).collect();
        let ones = self.case.iter().map(|bits| bits.count_ones()).sum();
        let length = (self.kernel.arity(), self.kernel.to_string().len());
        (lacking, explanations.len(), length, ones)
    }

    fn evidence(&self, index: &Observations<'_>) -> Option<Evidence> {
        let observation: &Observation = index.get(self.kernel)?;
        let lane = match self.diagnosis.place {
            Some(place) => {
                let case = observation.cases.iter().position(|case| case == self.case)?;
                self.judge.lane_evidence(place, observation, (case, self.part))
            }
            None => {
                self.verdict.evidence.iter().find(|shown| shown.kernel == *self.kernel)?.clone()
            }
        };
        Some(shown(&lane, Some(observation)))
    }
}

/// Symptom and operation group of a cause; habits that concern every operation have no group.
type Kind = (Symptom, &'static str);

/// The lanes of one format and scope by what is wrong with them.
fn gathered<'l, 'a>(
    mut lanes: Vec<&'l FailingLane<'a>>,
) -> BTreeMap<Kind, Vec<&'l FailingLane<'a>>> {
    let mut by_kind: BTreeMap<Kind, Vec<&FailingLane<'_>>> = BTreeMap::new();
    for rank in [SymptomRank::Assumption, SymptomRank::Value] {
        while let Some(kind) = widest(&lanes, rank) {
            let shows = |lane: &FailingLane<'_>| kinds(lane, rank).any(|one| one == kind);
            // Where nothing else explains lanes in some stages alone, it is of those stages; lanes
            // in others that something else explains are not.
            let alone = lanes.iter().filter(|lane| shows(lane) && kinds(lane, rank).count() == 1);
            let stages: BTreeSet<Stage> = alone.map(|lane| lane.kernel.stage).collect();
            let is_own = |lane: &&FailingLane<'_>| {
                let is_there = stages.is_empty() || stages.contains(&lane.kernel.stage);
                shows(lane) && (is_there || kinds(lane, rank).count() == 1)
            };
            let (own, rest): (Vec<_>, Vec<_>) = lanes.into_iter().partition(is_own);
            // Lanes that were left to others may come back to it.
            by_kind.entry(kind).or_default().extend(own);
            lanes = rest;
        }
    }
    for lane in lanes {
        let symptom = lane.symptoms.iter().next().unwrap_or(Symptom::Unrelated);
        by_kind.entry((symptom, group(lane.kernel))).or_default().push(lane);
    }
    by_kind
}

/// Of the kinds of this rank the one that explains the most of these lanes, of several the first.
fn widest(lanes: &[&FailingLane<'_>], rank: SymptomRank) -> Option<Kind> {
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for kind in lanes.iter().flat_map(|lane| kinds(lane, rank)) {
        *counts.entry(kind).or_default() += 1;
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(kind, _)| kind)
}

/// What may be wrong with a lane.
fn kinds(lane: &FailingLane<'_>, rank: SymptomRank) -> impl Iterator<Item = Kind> {
    let group = group(lane.kernel);
    let symptoms = lane.symptoms.iter().filter(move |symptom| symptom.rank() == rank);
    symptoms.map(move |symptom| (symptom, if is_habit(symptom, lane) { "" } else { group }))
}

/// Whether a symptom of a lane is one of the whole device, whatever the operation.
fn is_habit(symptom: Symptom, lane: &FailingLane<'_>) -> bool {
    match symptom {
        // Units of texels are not those of arithmetic.
        Symptom::SubnormalOperandKept
        | Symptom::SubnormalOperandFlushed
        | Symptom::SubnormalResultKept
        | Symptom::SubnormalResultFlushed => !lane.kernel.op.code.is_of_texels(),
        Symptom::Unstable | Symptom::IdentityFolded => true,
        // A compiler's notion of zero is that of its constants.
        Symptom::ZeroSign => lane.scope() == Scope::Constants,
        // The mode is not honoured.
        Symptom::OtherDirection => {
            lane.kernel.controls.iter().any(|control| matches!(control, Control::Rtz(_)))
        }
        _ => false,
    }
}

/// The operations that a device is likely to treat alike.
fn group(kernel: &Kernel) -> &'static str {
    match kernel.op.function {
        Function::Load if kernel.op.code.is_of_texels() => LOADS,
        _ if kernel.op.code.is_of_texels() => STORES,
        _ if matches!(kernel.op.code, Code::Atomic(..)) => "atomic operations",
        Function::Move | Function::Choose | Function::Transpose => MOVES,
        Function::Min | Function::Max | Function::Clamp | Function::Saturate => MIN_AND_MAX,
        Function::Compare { .. } | Function::IsNan | Function::IsInf => COMPARISONS,
        Function::ToFloat
        | Function::ToInteger
        | Function::FromSigned
        | Function::FromUnsigned
        | Function::QuantizeToF16
        | Function::Chain(_)
        | Function::NarrowWiden => "conversions",
        Function::PackHalf
        | Function::UnpackHalf
        | Function::PackNorm { .. }
        | Function::UnpackNorm { .. }
        | Function::PackDouble
        | Function::UnpackDouble => "packing",
        Function::Add
        | Function::Sub
        | Function::Mul
        | Function::Div
        | Function::Neg
        | Function::Abs
        | Function::MulAdd
        | Function::AddMany
        | Function::Interpolate
        | Function::SelfSub
        | Function::SelfDiv
        | Function::AddSub
        | Function::Reciprocal
        | Function::Rem
        | Function::Mod => ARITHMETIC,
        Function::Floor
        | Function::Ceil
        | Function::Trunc
        | Function::Round
        | Function::RoundEven
        | Function::Fract => "rounding to integers",
        Function::Frexp | Function::Modf | Function::Ldexp => "parts of numbers",
        _ => "functions",
    }
}

fn cause(
    scope: Scope,
    (symptom, group): Kind,
    lanes: &[&FailingLane<'_>],
    failures: &RunTimeFailures<'_>,
    index: &Observations<'_>,
) -> Cause {
    let formats: BTreeSet<&str> = lanes.iter().map(|lane| lane.format()).collect();
    let formats: Vec<String> = formats.into_iter().map(str::to_owned).collect();
    let operations = most_first(lanes.iter().map(|lane| lane.kernel.op.name));
    let kernels = most_first(lanes.iter().map(|lane| lane.kernel));
    let distance = lanes.iter().map(|lane| lane.diagnosis.distance).max().unwrap_or(0);
    let simplest = lanes.iter().min_by_key(|lane| {
        (!lane.symptoms.contains(symptom), lane.scope() != scope, lane.complexity())
    });
    let worst = lanes
        .iter()
        .max_by_key(|lane| lane.diagnosis.distance)
        .filter(|_| symptom.rank() == SymptomRank::Distance);
    // Where those are of no shader, one that is.
    let is_of_shader = |lane: &&&FailingLane<'_>| EmitFormat::Spvasm.spells(lane.kernel);
    let of_shader = lanes
        .iter()
        .min_by_key(|lane| lane.complexity())
        .filter(|lane| is_of_shader(lane) && !simplest.iter().any(is_of_shader));
    let mut evidence: Vec<Evidence> = Vec::new();
    let shown = simplest.into_iter().chain(worst).chain(of_shader);
    for lane in shown.filter_map(|lane| lane.evidence(index)) {
        if !evidence.contains(&lane) {
            evidence.push(lane);
        }
    }
    let (mut profiles, mut rules): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for lane in lanes {
        let profile = &lane.judge.profile().id;
        if !profiles.contains(profile) {
            profiles.push(profile.clone());
        }
        if !rules.contains(&lane.verdict.id) {
            rules.push(lane.verdict.id.clone());
        }
    }
    let shows = |symptom: Symptom| lanes.iter().any(|lane| lane.symptoms.contains(symptom));
    let texels: BTreeSet<Format> = lanes.iter().map(|lane| lane.kernel.format).collect();
    let directions = lanes.iter().map(|lane| lane.diagnosis.directions).reduce(Directions::and);
    let given = given(lanes, symptom);
    let of_lanes: Vec<&Kernel> = lanes.iter().map(|lane| lane.kernel).collect();
    let headline = Headline {
        symptom,
        directions: directions.unwrap_or_default(),
        group,
        scope,
        place: confined(&of_lanes)
            .or_else(|| is_of_subnormals(symptom, lanes).then_some("of subnormals")),
        under: under(&of_lanes),
        formats: &formats,
        texels: &texels,
        operations: &operations,
        distance,
        far: (lanes.iter().filter(|lane| lane.diagnosis.distance > 1).count(), lanes.len()),
        of_infinities: shows(Symptom::InfinityLost)
            || shows(Symptom::InfinityMade)
            || shows(Symptom::OverflowToInfinity),
        given: given.as_deref(),
    };
    let (fix, eases) = fixes(lanes, failures, index);
    let definition = format!("{} {} {group} {scope:?}", symptom.name(), formats.join(" "));
    let digest = Sha256::digest(definition);
    let id = format!("{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2]);
    Cause {
        id,
        headline: headline.to_string(),
        symptom: symptom.name().to_owned(),
        severity: severity(symptom, lanes, index),
        scope,
        formats,
        operations,
        kernels,
        profiles,
        rules,
        recommended: lanes.iter().all(|lane| lane.verdict.level != Level::Required),
        lanes: lanes.len(),
        constants: lanes.iter().filter(|lane| lane.scope() == Scope::Constants).count(),
        distance,
        fix,
        eases,
        evidence,
        beside: beside(lanes, symptom, index),
    }
}

/// The names of these, those that occur most often first.
fn most_first<N: Eq + Hash + ToString>(names: impl Iterator<Item = N>) -> Vec<String> {
    let mut counts: HashMap<N, usize> = HashMap::default();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<(Reverse<usize>, String)> =
        counts.into_iter().map(|(name, count)| (Reverse(count), name.to_string())).collect();
    counts.sort_unstable();
    counts.into_iter().map(|(_, name)| name).collect()
}

/// Whether nothing but this symptom explains some of these lanes.
fn shows_alone(lanes: &[&FailingLane<'_>], symptom: Symptom) -> bool {
    lanes.iter().any(|lane| lane.symptoms.strongest().eq([symptom]))
}

fn severity(symptom: Symptom, lanes: &[&FailingLane<'_>], index: &Observations<'_>) -> Severity {
    let nearest_is_last_bit = lanes.iter().all(|lane| lane.diagnosis.distance <= 1);
    let has_infinity =
        lanes.iter().any(|lane| lane.diagnosis.symptoms.contains(Symptom::InfinityMade));
    match symptom {
        _ if symptom.rank() != SymptomRank::Assumption
            && !nearest_is_last_bit
            && is_most(lanes, index) =>
        {
            Severity::Broken
        }
        Symptom::Unstable | Symptom::Unrelated => Severity::Broken,
        Symptom::Inaccurate if is_of_subnormals(symptom, lanes) => Severity::Special,
        // As grave as what it explains in passing.
        _ if symptom.rank() == SymptomRank::Value && shows_alone(lanes, Symptom::Unrelated) => {
            Severity::Broken
        }
        Symptom::SameValue => Severity::SameValue,
        Symptom::Neighbour => Severity::LastBit,
        Symptom::OtherDirection
        | Symptom::Fused
        | Symptom::RoundedTwice
        | Symptom::FoldedOtherwise
            if nearest_is_last_bit || has_infinity =>
        {
            // Between the largest number and infinity lies one encoding, and all numbers beyond.
            if has_infinity { Severity::Special } else { Severity::LastBit }
        }
        Symptom::OtherDirection
        | Symptom::Fused
        | Symptom::RoundedTwice
        | Symptom::FoldedOtherwise
        | Symptom::Inaccurate => Severity::Inaccurate,
        _ => Severity::Special,
    }
}
