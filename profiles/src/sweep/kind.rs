//! What is known of inputs of one kind, whichever they are.

use std::sync::OnceLock;

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{FloatLayout, Format, Kernel};
use smallvec::SmallVec;

use super::analytic::computed;
use super::cells;
use super::fast::SPAN;
use super::guess::own;
use super::lane::{RuleDecision, SweepRule, is_judged};
use super::native::{Native, NativeResults};
use super::reach;
use super::scan::run;
use super::sum::CountSum;
use super::{EncodingClass, SweepStatistics, Verifier};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::Subnormals;
use crate::formula::Inheritance;
use crate::oracle::{Demand, accepted_on};

pub(super) const LAYOUT: FloatLayout = match Format::F32.float() {
    Some(layout) => layout,
    None => panic!("binary32 is a float"),
};
pub(super) const INFINITY: u32 = LAYOUT.infinity() as u32;
pub(super) const LEAST_NORMAL: u32 = LAYOUT.min_normal() as u32;
pub(super) const QUIET: u32 = LAYOUT.quiet_bit() as u32;
pub(super) const SIGN: u32 = LAYOUT.sign_bit() as u32;

/// What operands and exact results of a span are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SpanKind {
    /// Quiet NaNs.
    QuietNan,
    /// Signalling NaNs.
    SignallingNan,
    /// Normal numbers that the function is not defined on.
    Undefined,
    /// Subnormals that it is not defined on, read as they are.
    UndefinedSubnormal,
    /// Normal numbers with results of a kind.
    Normal(Magnitude),
    /// Subnormals with results of a kind, read as they are.
    Subnormal(Magnitude),
}

/// What exact results are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Magnitude {
    /// Normal numbers.
    Normal,
    /// Below the smallest normal number, and not zero.
    Tiny,
    /// Beyond the largest number, or what the integer format holds.
    Beyond,
    /// Zero.
    Zero,
}

impl SpanKind {
    const COUNT: usize = 12;

    fn number(self) -> usize {
        match self {
            SpanKind::QuietNan => 0,
            SpanKind::SignallingNan => 1,
            SpanKind::Undefined => 2,
            SpanKind::UndefinedSubnormal => 3,
            SpanKind::Normal(size) => 4 + size as usize,
            SpanKind::Subnormal(size) => 8 + size as usize,
        }
    }
}

/// What rules say of all inputs of a kind and sign.
#[derive(Debug)]
pub(super) struct KindRules {
    /// Demands that look at them.
    pub(super) demands: Vec<KindDemand>,
    /// What they say of NaNs, where it is the same for all.
    nan: Option<RuleVerdicts>,
}

/// What the rules say.
pub(super) type RuleVerdicts = SmallVec<[RuleDecision; 8]>;

/// A demand that looks at inputs of a kind.
#[derive(Debug)]
pub(super) struct KindDemand {
    /// Number of its rule.
    rule: usize,
    /// Its number among the rule's.
    demand: usize,
    /// What it accepts, where it is the same for all; of subnormals what it accepts where they are read as zero.
    set: Option<Set>,
    /// Whether that is all that it accepts.
    pub(super) exact: bool,
    /// Whether it demands anything, where it is known to be the same for all.
    pub(super) demands: Option<bool>,
    /// Whether what formulas may give is bounded, by the binade of the inputs: see [`super::demanding`].
    pub(super) binades: [OnceLock<bool>; 255],
}

/// How results are told to be right.
#[derive(Clone, Copy, Debug)]
pub(super) enum CheckMethod {
    /// They are near the function's.
    Near(Function),
    /// They are the host's.
    Equal(Native),
    /// By what is accepted of neighbours.
    Cells,
}

/// Judges functions of one operand.
#[derive(Debug)]
pub(super) struct Fast {
    pub(super) way: CheckMethod,
    /// What devices are expected to answer.
    pub(super) own: Option<NativeResults>,
    pub(super) arch: pulp::Arch,
    known: [[OnceLock<KindRules>; SpanKind::COUNT]; 2],
}

/// Results that are being judged, and where what is found goes.
pub(super) struct Work<'a> {
    pub(super) sum: &'a mut CountSum,
    pub(super) statistics: &'a mut SweepStatistics,
    pub(super) distances: Vec<f64>,
    /// Whether the results are the host's own.
    pub(super) own: bool,
}

impl Work<'_> {
    /// Takes what the rules say of N results of inputs from the first to the last, all of one exponent.
    pub(super) fn says(&mut self, exponent: u64, inputs: [u64; 2], says: &[RuleDecision], results: u64) {
        self.sum.says(says, results);
        if is_judged(says) {
            self.statistics.exponents.entry(exponent).or_default().judge(Some(inputs), results);
        }
    }
}

impl<'a> Work<'a> {
    pub(super) fn new(sum: &'a mut CountSum, statistics: &'a mut SweepStatistics) -> Work<'a> {
        Work { sum, statistics, distances: vec![0.0; SPAN], own: false }
    }
}

impl Fast {
    /// The function that results are near to.
    pub(super) fn function(&self) -> Option<Function> {
        match self.way {
            CheckMethod::Near(function) => Some(function),
            CheckMethod::Equal(_) | CheckMethod::Cells => None,
        }
    }

    /// For kernels that there is a way for.
    pub(super) fn new(kernel: &Kernel, rules: &[SweepRule]) -> Option<Fast> {
        let single = kernel.params().iter().chain(&kernel.results()).all(|shape| shape.format == Format::F32);
        let function = kernel.op.function;
        let near =
            || (single && kernel.arity() == 1 && computed(function).is_some()).then_some(CheckMethod::Near(function));
        let accepts = |native: &Native| {
            rules.iter().flat_map(|rule| &rule.demands).all(|demand| match &demand.accuracy {
                Accuracy::Inherited(inherited) => reach::is_rounded(demand.function, inherited),
                accuracy => accepts_rounded(accuracy, native.exact),
            })
        };
        let narrows = || cells::are_of(kernel, rules).then_some(CheckMethod::Cells);
        let way = Native::new(kernel).filter(accepts).map(CheckMethod::Equal).or_else(near).or_else(narrows)?;
        Some(Fast { way, own: own(&way), arch: pulp::Arch::new(), known: Default::default() })
    }
}

/// Whether an accuracy accepts the nearest number to an exact result where both are normal numbers.
pub(super) fn accepts_nearest(accuracy: &Accuracy) -> bool {
    match accuracy {
        // If what the formulas give holds any number, then the nearest: it is widened to lie symmetrically about the exact result.
        Accuracy::Inherited(inherited) => inherited.inheritance == Inheritance::Symmetric,
        accuracy => accepts_rounded(accuracy, false),
    }
}

/// Whether an accuracy accepts every correctly rounded result that is a normal number, or every exact one.
pub(super) fn accepts_rounded(accuracy: &Accuracy, exact: bool) -> bool {
    match accuracy {
        Accuracy::NearestEven | Accuracy::TowardZeroOrNearestEven | Accuracy::EitherNeighbour | Accuracy::Undefined => {
            true
        }
        Accuracy::Ulp(ulps) => exact || *ulps >= 1.0,
        Accuracy::NearestAway | Accuracy::TowardZero => exact,
        _ => false,
    }
}

impl Verifier {
    pub(super) fn demands<'a>(&'a self, known: &'a KindRules) -> impl Iterator<Item = &'a Demand> + 'a {
        known.demands.iter().map(|looking| self.demand(looking))
    }

    pub(super) fn demand(&self, looking: &KindDemand) -> &Demand {
        &self.rules[looking.rule].demands[looking.demand]
    }

    /// What is known of a kind, of which this input is one.
    pub(super) fn known<'a>(&self, fast: &'a Fast, kind: SpanKind, input: u32) -> &'a KindRules {
        fast.known[usize::from(input & SIGN != 0)][kind.number()].get_or_init(|| {
            let case = [u64::from(input)];
            let (operands, encoding) = (self.signature.operands(&case, 0), self.encoding());
            let looks = |(rule, demand): &(usize, usize)| {
                self.rules[*rule].of.selects(encoding, &operands, &self.rules[*rule].demands[*demand])
            };
            let all = self
                .rules
                .iter()
                .enumerate()
                .flat_map(|(rule, of)| (0..of.demands.len()).map(move |demand| (rule, demand)));
            let set = |demand: &Demand| match kind {
                SpanKind::Normal(Magnitude::Normal | Magnitude::Tiny | Magnitude::Zero) => None,
                SpanKind::Subnormal(_) => {
                    let plain = match demand.operands.subnormal_inputs {
                        Subnormals::Keep => false,
                        Subnormals::Flush => true,
                        Subnormals::Either => !matches!(demand.accuracy, Accuracy::Inherited(_)),
                    };
                    let mut flushed = demand.clone();
                    flushed.operands.subnormal_inputs = Subnormals::Flush;
                    plain.then(|| accepted_on(encoding, &operands, &flushed))
                }
                _ => Some(accepted_on(encoding, &operands, demand)),
            };
            let looking = |(rule, demand): (usize, usize)| {
                let of = &self.rules[rule].demands[demand];
                let set = set(of);
                let flushes = of.operands.subnormal_inputs == Subnormals::Flush;
                let exact = set.is_some() && (!matches!(kind, SpanKind::Subnormal(_)) || flushes);
                // More readings accept no less.
                let open = set.as_ref().is_some_and(Set::is_everything);
                let demands = (exact || open).then_some(!open);
                KindDemand { rule, demand, set, exact, demands, binades: [const { OnceLock::new() }; 255] }
            };
            let mut known = KindRules { demands: all.filter(looks).map(looking).collect(), nan: None };
            known.nan = self.accepted(&known, |_| None).and_then(|accepted| known.of_nans(encoding, &accepted));
            known
        })
    }

    /// What the rules say of a result that all accept; `None` where it is not known whether they demand anything. Of inputs of which
    /// that is not the same for all of the kind, `demands` tells.
    pub(super) fn accepted(
        &self,
        known: &KindRules,
        demands: impl Fn(&KindDemand) -> Option<bool>,
    ) -> Option<RuleVerdicts> {
        let mut accepted: RuleVerdicts = smallvec::smallvec![None; self.rules.len()];
        for looking in &known.demands {
            if looking.demands.or_else(|| demands(looking))? {
                accepted[looking.rule] = Some(true);
            }
        }
        Some(accepted)
    }

    /// Results of which what is accepted is known: runs of equal bits are one.
    pub(super) fn constant(
        &self,
        fast: &Fast,
        (kind, accepted): (SpanKind, &RuleVerdicts),
        first: u64,
        results: &[u32],
        work: &mut Work<'_>,
    ) {
        let known = self.known(fast, kind, first as u32);
        let nan = matches!(kind, SpanKind::QuietNan | SpanKind::SignallingNan);
        let (mut input, mut rest) = (first, results);
        while let Some(result) = rest.first() {
            // What becomes of a NaN's bits is a class.
            let class = nan.then(|| self.class_of_result(input, *result)).filter(|class| class.is_nan());
            let same = |(input, result): &(u64, &u32)| Some(self.class_of_result(*input, **result)) == class;
            let (length, says) = match (class, &known.nan) {
                (Some(_), Some(says)) => ((input..).zip(rest).take_while(same).count(), Some(says.clone())),
                _ => (if nan { 1 } else { run(rest) }, known.decide(accepted, *result, |_| false)),
            };
            self.alike([input, length as u64], *result, says, work);
            input += length as u64;
            rest = &rest[length..];
        }
    }

    /// Takes a result that consecutive inputs of a kind have, the first of them and how many: what is said of it counts for all. Where
    /// that is not known each is judged by itself.
    pub(super) fn alike(
        &self,
        [input, length]: [u64; 2],
        result: u32,
        says: Option<RuleVerdicts>,
        work: &mut Work<'_>,
    ) {
        let Some(says) = says else {
            return (input..input + length).for_each(|input| self.one(input, result, work));
        };
        work.sum.classify([self.class(input), EncodingClass::Other], self.class_of_result(input, result), length);
        work.says(self.exponent(&[input]), [input, input + length - 1], &says, length);
        if says.contains(&Some(false)) {
            self.deviation([input, length], &[input], result, &says, work.statistics);
        }
    }

    /// Class of a single operand.
    pub(super) fn class(&self, input: u64) -> EncodingClass {
        EncodingClass::of(Encoding::of(self.fields[0].0), input)
    }

    /// Class of a result of a single operand.
    pub(super) fn class_of_result(&self, input: u64, result: u32) -> EncodingClass {
        let operand = self.fields[0].0.float().map(|layout| (layout, input));
        EncodingClass::of_result(self.encoding(), u64::from(result), operand)
    }
}

impl KindRules {
    /// What the rules say of NaNs; `None` where it is not known, or not the same for all.
    fn of_nans(&self, encoding: Encoding, accepted: &RuleVerdicts) -> Option<RuleVerdicts> {
        let all = Set::nan(encoding);
        let one_for_all = |looking: &KindDemand| {
            let Some(set) = &looking.set else { return false };
            let common = set.and(&all);
            common == all || common.is_empty() && looking.exact
        };
        let first = *all.members(1).first()? as u32;
        self.demands.iter().all(one_for_all).then(|| self.decide(accepted, first, |_| false)).flatten()
    }

    /// What the rules say of a result, `accepted` being what they say of one that all accept; `None` where it is not known of one of
    /// the demands. Where what a demand accepts does not tell, `fits` shows whether it is known to accept the result all the same.
    pub(super) fn decide(
        &self,
        accepted: &RuleVerdicts,
        result: u32,
        fits: impl Fn(&KindDemand) -> bool,
    ) -> Option<RuleVerdicts> {
        let mut says = accepted.clone();
        for looking in &self.demands {
            let accepted = looking.set.as_ref().is_some_and(|set| set.contains(u64::from(result)));
            if !accepted && looking.exact {
                says[looking.rule] = Some(false);
            } else if !accepted && !fits(looking) {
                return None;
            }
        }
        Some(says)
    }

    /// Whether what all demands accept is known: of subnormals at least what they accept where they are read as zero.
    pub(super) fn has_sets(&self) -> bool {
        self.demands.iter().all(|looking| looking.set.is_some())
    }

    /// Whether all that each demand accepts is known.
    pub(super) fn is_exact(&self) -> bool {
        self.demands.iter().all(|looking| looking.exact)
    }
}
