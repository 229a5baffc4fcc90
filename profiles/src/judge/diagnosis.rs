//! Why a lane fails: one changed assumption under which the oracle accepts it, or what the result
//! is beside the accepted set.
//!
//! A lane may show several symptoms: `0 + x` with x subnormal is accepted both with subnormal
//! operands kept and with subnormal results kept. Which of them a device has is decided over all
//! its lanes, see `fpprobe_reports::cause`.

use foldhash::{HashMap, HashSet};
use fpprobe_spirv::Kernel;
use fpprobe_spirv::layout::BINARY32;
use fpprobe_spirv::op::Function;

use super::behaviour::swapped;
use super::lane::LaneIndex;
use super::owner::{FailureCause, LaneGroup};
use super::symptom::{Symptom, Symptoms};
use super::{Judge, LaneEvidence, Observations, PartIndex, PartResult};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::{Encoding, PartReader};
use crate::environment::{Contraction, Integer, Overflow, Sign, Subnormals};
use crate::observation::Observation;
use crate::oracle::{Demand, Operands};
use crate::profile::Behaviour;

/// What is wrong with one failing lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LaneDiagnosis {
    /// Everything that explains it.
    pub symptoms: Symptoms,
    /// Directions of rounding that explain it.
    pub directions: Directions,
    /// Bits of the result.
    pub result: u64,
    /// Encodings between the result and the nearest one that is accepted; 0 where there is no such
    /// distance.
    pub distance: u64,
    /// The rule, part and lowering that refuses it; `None` where lanes are compared with one
    /// another.
    pub place: Option<PartIndex>,
}

/// Some of the directions in which IEEE 754 rounds to a nearest value or toward zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Directions {
    /// `roundTiesToEven`.
    pub nearest_even: bool,
    /// `roundTiesToAway`.
    pub nearest_away: bool,
    /// `roundTowardZero`.
    pub toward_zero: bool,
}

impl Directions {
    /// Those that are among both.
    pub fn and(self, other: Directions) -> Directions {
        Directions {
            nearest_even: self.nearest_even && other.nearest_even,
            nearest_away: self.nearest_away && other.nearest_away,
            toward_zero: self.toward_zero && other.toward_zero,
        }
    }
}

/// The integer of the bits of binary32's -0, which a compiler may take for a number.
const INTEGER_OF_NEGATIVE_ZERO: u64 = BINARY32.sign_bit();

/// A symptom, and the change of a demand that shows it.
type Assumption = (Symptom, fn(&mut Demand));

/// The assumptions that are changed, one at a time. A change that changes nothing of a demand shows
/// nothing.
const ASSUMPTIONS: [Assumption; 12] = [
    (Symptom::SubnormalOperandKept, |d| operands(d, Subnormals::Keep)),
    (Symptom::SubnormalOperandFlushed, |d| operands(d, Subnormals::Flush)),
    (Symptom::SubnormalResultKept, |d| d.results.subnormal_results = Subnormals::Keep),
    (Symptom::SubnormalResultFlushed, |d| {
        d.results.subnormal_results = Subnormals::Flush;
        d.results.flushed_sign = Sign::Either;
    }),
    (Symptom::ZeroSign, |d| {
        for environment in [&mut d.operands, &mut d.results] {
            (environment.zero_sign, environment.flushed_sign) = (Sign::Either, Sign::Either);
        }
    }),
    (Symptom::Fused, |d| d.results.contraction = Contraction::Fused),
    (Symptom::RoundedTwice, |d| d.results.contraction = Contraction::Separate),
    (Symptom::OtherDirection, |d| {
        if d.accuracy.is_rounding() {
            d.accuracy = Accuracy::EitherNeighbour;
        }
    }),
    (Symptom::OtherDirection, |d| {
        if d.accuracy.is_rounding() {
            d.accuracy = Accuracy::NearestAway;
        }
    }),
    (Symptom::OverflowToLargest, |d| d.results.overflow = Overflow::Saturate),
    (Symptom::OverflowToInfinity, |d| d.results.overflow = Overflow::Round),
    (Symptom::IntegerRange, |d| {
        if d.function == Function::ToInteger {
            d.results.integer = Integer::Any;
        }
    }),
];

/// Subnormal operands are treated so.
fn operands(demand: &mut Demand, treated: Subnormals) {
    demand.operands.subnormal_inputs = treated;
    demand.results.subnormal_inputs = treated;
}

/// A demand under each assumption that changes it.
struct Assumptions {
    unchanged: Demand,
    changed: Vec<(Symptom, Demand)>,
    /// Subnormal operands and results treated otherwise at once, where neither alone explains a
    /// lane.
    both: Option<(Symptom, Demand)>,
}

impl Assumptions {
    fn new(demand: &Demand) -> Assumptions {
        let changed = |(symptom, change): &Assumption| {
            let mut changed = demand.clone();
            change(&mut changed);
            (changed != *demand).then_some((*symptom, changed))
        };
        let changed: Vec<(Symptom, Demand)> = ASSUMPTIONS.iter().filter_map(changed).collect();
        let operand = match demand.operands.subnormal_inputs {
            Subnormals::Flush => Some(Symptom::SubnormalOperandKept),
            Subnormals::Keep => Some(Symptom::SubnormalOperandFlushed),
            Subnormals::Either => None,
        };
        let both = operand.map(|symptom| (symptom, swapped(demand, Behaviour::Subnormals)));
        Assumptions { unchanged: demand.clone(), changed, both }
    }
}

/// Finds what is wrong with failing lanes.
pub(super) struct SymptomFinder<'j, 'a> {
    judge: &'j Judge<'j>,
    groups: &'j [Vec<LaneGroup<'a>>],
    /// Of each group of each rule.
    assumptions: Vec<Vec<Option<Assumptions>>>,
    /// Kernels most of whose results differ from run to run: what they give is no lane's own.
    unstable: HashSet<Kernel>,
    /// What kernels of constants should give: results at run time, by case.
    run_time: HashMap<Kernel, HashMap<&'a [u64], &'a [u64]>>,
}

impl<'j, 'a> SymptomFinder<'j, 'a> {
    pub(super) fn new(
        judge: &'j Judge<'j>,
        groups: &'j [Vec<LaneGroup<'a>>],
        observations: &'a Observations<'_>,
    ) -> SymptomFinder<'j, 'a> {
        let assumptions = groups
            .iter()
            .map(|groups| groups.iter().map(|group| assumptions(judge, group)).collect());
        let folded = groups.iter().flatten().map(|group| group.observation.kernel);
        let mut run_time = HashMap::default();
        for kernel in folded.filter(|kernel| kernel.route.is_folded()) {
            let Some(plain) = kernel.counterpart().and_then(|plain| observations.get(&plain))
            else {
                continue;
            };
            let results = |plain: &'a Observation| {
                (0..plain.cases.len())
                    .map(|case| (plain.cases.case(case), plain.answer(case)))
                    .collect()
            };
            run_time.entry(kernel).or_insert_with(|| {
                if plain.outcome.answered() { results(plain) } else { HashMap::default() }
            });
        }
        // A group may hold a few cases of a kernel.
        let all =
            groups.iter().flatten().filter_map(|group| observations.get(&group.observation.kernel));
        let unstable = all.filter(|one| is_unstable(one)).map(|one| one.kernel).collect();
        SymptomFinder { judge, groups, assumptions: assumptions.collect(), unstable, run_time }
    }

    /// What is wrong with one lane of a group, given by rule and number.
    pub(super) fn diagnosis(&self, (rule, number): (usize, usize), lane: usize) -> LaneDiagnosis {
        let group = &self.groups[rule][number];
        let (observation, index) = (group.observation, group.lanes[lane]);
        let result = PartReader::new(&observation.kernel).part(&observation.out, index.0, index.1);
        let mut symptoms = Symptoms::default();
        let (mut place, mut directions) = (None, Directions::default());
        let distance = match &group.cause {
            _ if self.unstable.contains(&observation.kernel) || differs(observation, index) => {
                symptoms.add(Symptom::Unstable);
                0
            }
            FailureCause::Relation(accepted) => {
                beside(&accepted[lane].alternatives()[0][index.1], result, &mut symptoms)
            }
            FailureCause::Result(part, _) => {
                place = Some(*part);
                let view = self.judge.view(*part, observation);
                let Some(assumptions) = &self.assumptions[rule][number] else {
                    return LaneDiagnosis::default();
                };
                let demand = &assumptions.unchanged;
                let accepted = view.under(index, demand);
                let explains =
                    |demand: &Demand| view.accepts(&view.under(index, demand), index, demand);
                for (symptom, demand) in &assumptions.changed {
                    if !symptoms.contains(*symptom) && explains(demand) {
                        symptoms.add(*symptom);
                    }
                }
                if let Some((symptom, demand)) = &assumptions.both
                    && !symptoms.iter().any(Symptom::is_of_subnormals)
                    && explains(demand)
                {
                    symptoms.add(*symptom);
                }
                if symptoms.contains(Symptom::OtherDirection) {
                    let rounds = |accuracy| explains(&Demand { accuracy, ..demand.clone() });
                    directions = Directions {
                        nearest_even: rounds(Accuracy::NearestEven),
                        nearest_away: rounds(Accuracy::NearestAway),
                        toward_zero: rounds(Accuracy::TowardZero),
                    };
                }
                let operands = view.operands(index);
                if is_identity(demand.function, &operands, result) {
                    symptoms.add(Symptom::IdentityFolded);
                }
                if matches!(demand.function, Function::Move | Function::Choose)
                    && is_other_zero(&accepted, result)
                {
                    symptoms.add(Symptom::ZeroSign);
                }
                let of_nan = operands
                    .iter()
                    .any(|one| one.layout.is_some_and(|layout| layout.is_nan(one.bits)));
                if of_nan && matches!(accepted.encoding(), Encoding::Fixed { .. }) {
                    symptoms.add(Symptom::NanStored);
                }
                let run_time = self.run_time.get(&observation.kernel);
                let run_time =
                    run_time.and_then(|results| results.get(observation.cases.case(index.0)));
                if run_time.is_some_and(|other| accepted.contains(view.part(other, index.1))) {
                    symptoms.add(Symptom::FoldedOtherwise);
                }
                let distance = beside(&accepted, result, &mut symptoms);
                if symptoms.contains(Symptom::Unrelated)
                    && is_next_integer(demand.function, &accepted, result)
                {
                    symptoms = symptoms.iter().filter(|one| *one != Symptom::Unrelated).collect();
                    symptoms.add(Symptom::Inaccurate);
                }
                distance
            }
        };
        LaneDiagnosis { symptoms, directions, result, distance, place }
    }
}

/// Whether most cases have other results in the second run.
fn is_unstable(observation: &Observation) -> bool {
    let cases = observation.cases.len();
    observation.second.is_some()
        && (0..cases).filter(|case| observation.steady(*case).is_none()).count() * 2 > cases
}

/// Whether a lane's own result differs from run to run, other than in the bits of a NaN.
fn differs(observation: &Observation, (case, part): LaneIndex) -> bool {
    let reader = PartReader::new(&observation.kernel);
    let results: Vec<u64> =
        observation.runs().map(|results| reader.part(results, case, part)).collect();
    let nan = Encoding::of_result(&observation.kernel).get(part).copied().map(Set::nan);
    results.windows(2).any(|pair| pair[0] != pair[1])
        && !nan.is_some_and(|nan| results.iter().all(|result| nan.contains(*result)))
}

/// The assumptions that the lanes of a group are tried under.
fn assumptions(judge: &Judge<'_>, group: &LaneGroup<'_>) -> Option<Assumptions> {
    let FailureCause::Result((rule, part, _), finding) = &group.cause else { return None };
    let PartResult::Judged(judged) = &**finding else { return None };
    let demand = &judge.profile().rules[*rule].parts[*part].demand;
    Some(Assumptions::new(judged.explanation.as_ref().unwrap_or(demand)))
}

/// Whether the result is an integer of the bits of one of binary32's zeros, and the other one is
/// accepted.
fn is_other_zero(accepted: &Set, result: u64) -> bool {
    let zeros = [0, INTEGER_OF_NEGATIVE_ZERO];
    accepted.encoding() == Encoding::Unsigned
        && zeros.contains(&result)
        && zeros.iter().any(|zero| accepted.contains(*zero))
}

/// Whether the result is what an operand is, zero or one, as simplifying `x + 0`, `x * 1`, `x * 0`,
/// `x - x` or `x / x` gives it. A fraction is `x - floor(x)`.
fn is_identity(function: Function, operands: &Operands, result: u64) -> bool {
    let (x, y, z) = match operands[..] {
        [x] if function == Function::Fract => {
            return x.layout.is_some_and(|layout| {
                x.bits & layout.magnitude_mask() >= layout.infinity()
                    && result & layout.magnitude_mask() == 0
            });
        }
        [x, y] => (x, y, None),
        [x, y, z] => (x, y, Some(z)),
        _ => return false,
    };
    let Some(layout) = x.layout.filter(|_| x.layout == y.layout) else { return false };
    let magnitude = |bits: u64| bits & layout.magnitude_mask();
    let same = |bits: u64| magnitude(bits) == magnitude(result);
    if let Some(z) = z {
        let product_is_zero = magnitude(x.bits) == 0 || magnitude(y.bits) == 0;
        return function == Function::MulAdd && product_is_zero && same(z.bits);
    }
    let one = layout.one();
    match function {
        Function::Add | Function::Sub if magnitude(y.bits) == 0 => same(x.bits),
        Function::Add | Function::Sub if magnitude(x.bits) == 0 => same(y.bits),
        Function::Sub if x.bits == y.bits => same(0),
        Function::Mul if magnitude(x.bits) == 0 || magnitude(y.bits) == 0 => same(0),
        Function::Mul | Function::Div if magnitude(y.bits) == one => same(x.bits),
        Function::Mul if magnitude(x.bits) == one => same(y.bits),
        Function::Div if x.bits == y.bits => same(one),
        _ => false,
    }
}

/// What a result is beside an accepted set that does not contain it; also how many encodings lie
/// between.
fn beside(accepted: &Set, result: u64, symptoms: &mut Symptoms) -> u64 {
    let encoding = accepted.encoding();
    let within = |set: &Set| !accepted.is_empty() && accepted.minus(set).is_empty();
    let (nan, finite) = (Set::nan(encoding), Set::finite(encoding));
    let infinite = Set::everything(encoding).minus(&nan).minus(&finite);
    let apart = if nan.contains(result) {
        if accepted.meets(&nan) { Symptom::SameValue } else { Symptom::NumberToNan }
    } else if within(&nan) {
        Symptom::NanToNumber
    } else if within(&infinite.or(&nan)) {
        Symptom::InfinityLost
    } else if infinite.contains(result) {
        Symptom::InfinityMade
    } else {
        let distance = accepted.distance(result);
        symptoms.add(match (encoding, distance) {
            // The two most negative codes are one number (Vulkan, "Conversion From Normalized
            // Fixed-Point").
            (Encoding::Fixed { signed: true, .. }, 1)
                if encoding.key(result) == encoding.limits().0 =>
            {
                Symptom::SameValue
            }
            // Of a truth there is no neighbour.
            (Encoding::Truth, _) => Symptom::Unrelated,
            (_, 1) => Symptom::Neighbour,
            _ if (1..=near(encoding)).contains(&distance) => Symptom::Inaccurate,
            _ => Symptom::Unrelated,
        });
        return distance;
    };
    symptoms.add(apart);
    0
}

/// Whether a number was rounded to the integer beside what is accepted: 0 and 1 have nearly all
/// encodings between them.
fn is_next_integer(function: Function, accepted: &Set, result: u64) -> bool {
    let rounds = matches!(
        function,
        Function::Floor | Function::Ceil | Function::Trunc | Function::Round | Function::RoundEven
    );
    let Encoding::Float(layout) = accepted.encoding() else { return false };
    let zero = result & layout.magnitude_mask() == 0;
    let one = [layout.one(), layout.one() | layout.sign_bit()];
    rounds
        && (zero && one.iter().any(|bits| accepted.contains(*bits))
            || one.contains(&result) && accepted.contains(0))
}

/// How many encodings away a result is still an approximation: a binade, or an eighth of the range.
fn near(encoding: Encoding) -> u64 {
    match encoding {
        Encoding::Float(layout) => layout.min_normal(),
        other => other.limits().1.unsigned_abs() / 8,
    }
}

impl Judge<'_> {
    /// A failing lane as evidence: the place that its diagnosis names, and its case among those of
    /// the observation.
    pub fn lane_evidence(
        &self,
        place: PartIndex,
        observation: &Observation,
        (case, part): LaneIndex,
    ) -> LaneEvidence {
        let view = self.view(place, observation);
        view.evidence((case, part), view.demand)
    }
}
