//! What is known of inputs of one kind, whichever they are.

use std::sync::OnceLock;

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{FloatLayout, Format, Kernel};
use smallvec::SmallVec;

use super::analytic::computed;
use super::fast::SPAN;
use super::lane::{Rule, Says};
use super::native::Native;
use super::scan::run;
use super::sum::Sum;
use super::{Class, Tally, Verifier};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::Subnormals;
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
pub(super) enum Kind {
    /// Quiet NaNs.
    QuietNan,
    /// Signalling NaNs.
    SignallingNan,
    /// Normal numbers that the function is not defined on.
    Undefined,
    /// Subnormals that it is not defined on, read as they are.
    UndefinedSubnormal,
    /// Normal numbers with results of a kind.
    Normal(Size),
    /// Subnormals with results of a kind, read as they are.
    Subnormal(Size),
}

/// What exact results are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Size {
    /// Normal numbers.
    Normal,
    /// Below the smallest normal number, and not zero.
    Tiny,
    /// Beyond the largest number, or what the integer format holds.
    Beyond,
    /// Zero.
    Zero,
}

impl Kind {
    const COUNT: usize = 12;

    fn number(self) -> usize {
        match self {
            Kind::QuietNan => 0,
            Kind::SignallingNan => 1,
            Kind::Undefined => 2,
            Kind::UndefinedSubnormal => 3,
            Kind::Normal(size) => 4 + size as usize,
            Kind::Subnormal(size) => 8 + size as usize,
        }
    }
}

/// What rules say of all inputs of a kind and sign.
#[derive(Debug)]
pub(super) struct Known {
    /// Demands that look at them: number of the rule, and of its demand.
    pub(super) demands: Vec<(usize, usize)>,
    /// What the rules say of a result that all accept.
    pub(super) accepted: SmallVec<[Says; 8]>,
    /// What each demand accepts, where it is the same for all; of subnormals what it accepts where they are read as zero.
    pub(super) sets: Option<Vec<Set>>,
    /// Whether that is all that it accepts.
    pub(super) exact: bool,
}

/// How results are told to be right.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// They are near the function's.
    Near(Function),
    /// They are the host's.
    Equal(Native),
}

/// Judges functions of one operand.
#[derive(Debug)]
pub(super) struct Fast {
    pub(super) way: Way,
    pub(super) arch: pulp::Arch,
    known: [[OnceLock<Known>; Kind::COUNT]; 2],
}

/// Results that are being judged, and where what is found goes.
pub(super) struct Work<'a> {
    pub(super) sum: &'a mut Sum,
    pub(super) tally: &'a mut Tally,
    pub(super) distances: Vec<f64>,
}

impl<'a> Work<'a> {
    pub(super) fn new(sum: &'a mut Sum, tally: &'a mut Tally) -> Work<'a> {
        Work { sum, tally, distances: vec![0.0; SPAN] }
    }
}

impl Fast {
    /// For kernels that there is a way for.
    pub(super) fn new(kernel: &Kernel, rules: &[Rule]) -> Option<Fast> {
        let single = kernel.params().iter().chain(&kernel.results()).all(|shape| shape.format == Format::F32);
        let function = kernel.op.function;
        let near = || (single && kernel.arity() == 1 && computed(function).is_some()).then_some(Way::Near(function));
        let accepts = |native: &Native| {
            rules.iter().flat_map(|rule| &rule.demands).all(|demand| accepts_rounded(&demand.accuracy, native.exact))
        };
        let way = Native::new(kernel).filter(accepts).map(Way::Equal).or_else(near)?;
        Some(Fast { way, arch: pulp::Arch::new(), known: Default::default() })
    }
}

/// Whether an accuracy accepts every correctly rounded result that is a normal number, or every exact one.
fn accepts_rounded(accuracy: &Accuracy, exact: bool) -> bool {
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
    pub(super) fn demands<'a>(&'a self, known: &'a Known) -> impl Iterator<Item = &'a Demand> + 'a {
        known.demands.iter().map(|(rule, demand)| &self.rules[*rule].demands[*demand])
    }

    /// What is known of a kind, of which this input is one.
    pub(super) fn known<'a>(&self, fast: &'a Fast, kind: Kind, input: u32) -> &'a Known {
        fast.known[usize::from(input & SIGN != 0)][kind.number()].get_or_init(|| {
            let case = [u64::from(input)];
            let (operands, encoding) = (self.question.operands(&case, 0), self.encoding());
            let looks = |(rule, demand): &(usize, usize)| {
                self.rules[*rule].of.selects(encoding, &operands, &self.rules[*rule].demands[*demand])
            };
            let all = self
                .rules
                .iter()
                .enumerate()
                .flat_map(|(rule, of)| (0..of.demands.len()).map(move |demand| (rule, demand)));
            let demands: Vec<(usize, usize)> = all.filter(looks).collect();
            let mut accepted: SmallVec<[Says; 8]> = smallvec::smallvec![None; self.rules.len()];
            for (rule, _) in &demands {
                accepted[*rule] = Some(true);
            }
            let set = |(rule, demand): &(usize, usize)| {
                let demand = &self.rules[*rule].demands[*demand];
                match kind {
                    Kind::Normal(Size::Normal | Size::Tiny | Size::Zero) => None,
                    Kind::Subnormal(_) => {
                        let reads = demand.operands.subnormal_inputs != Subnormals::Keep;
                        let plain = reads && !matches!(demand.accuracy, Accuracy::Inherited(_));
                        let mut flushed = demand.clone();
                        flushed.operands.subnormal_inputs = Subnormals::Flush;
                        plain.then(|| accepted_on(encoding, &operands, &flushed))
                    }
                    _ => Some(accepted_on(encoding, &operands, demand)),
                }
            };
            let sets: Option<Vec<Set>> = demands.iter().map(set).collect();
            let flushes = |(rule, demand): &(usize, usize)| {
                self.rules[*rule].demands[*demand].operands.subnormal_inputs == Subnormals::Flush
            };
            let exact = sets.is_some() && (!matches!(kind, Kind::Subnormal(_)) || demands.iter().all(flushes));
            Known { demands, accepted, sets, exact }
        })
    }

    /// Results of which what is accepted is known: runs of equal bits are one.
    pub(super) fn constant(&self, fast: &Fast, kind: Kind, first: u64, results: &[u32], work: &mut Work<'_>) {
        let known = self.known(fast, kind, first as u32);
        let nan = matches!(kind, Kind::QuietNan | Kind::SignallingNan);
        let class = self.class(first);
        let (mut input, mut rest) = (first, results);
        while let Some(result) = rest.first() {
            let length = if nan { 1 } else { run(rest) };
            if known.accepts(*result) {
                let of = self.class_of_result(input, *result);
                work.sum.classify([class, Class::Other], of, length as u64);
                work.sum.says(&known.accepted, length as u64);
            } else if known.exact {
                let says = known.says(*result);
                work.sum.classify([class, Class::Other], self.class_of_result(input, *result), length as u64);
                work.sum.says(&says, length as u64);
                self.deviation([input, length as u64], &[input], *result, &says, work.tally);
            } else {
                (input..input + length as u64).for_each(|input| self.one(input, *result, work));
            }
            input += length as u64;
            rest = &rest[length..];
        }
    }

    /// Class of a single operand.
    pub(super) fn class(&self, input: u64) -> Class {
        Class::of(Encoding::of(self.fields[0].0), input)
    }

    /// Class of a result of a single operand.
    pub(super) fn class_of_result(&self, input: u64, result: u32) -> Class {
        let operand = self.fields[0].0.float().map(|layout| (layout, input));
        Class::of_result(self.encoding(), u64::from(result), operand)
    }
}

impl Known {
    /// What the rules say of a result, where that is known.
    fn says(&self, result: u32) -> SmallVec<[Says; 8]> {
        let mut says = self.accepted.clone();
        for ((rule, _), _) in
            self.demands.iter().zip(self.sets.iter().flatten()).filter(|(_, set)| !set.contains(u64::from(result)))
        {
            says[*rule] = Some(false);
        }
        says
    }

    /// Whether all accept a result, whichever the operand: of subnormals because they may be read as zero.
    pub(super) fn accepts(&self, result: u32) -> bool {
        self.sets.as_ref().is_some_and(|sets| sets.iter().all(|set| set.contains(u64::from(result))))
    }
}
