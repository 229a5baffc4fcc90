//! Many results at once: spans of consecutive inputs of which the same is known.
//!
//! A span holds binary32 operands of one sign and one kind (NaNs that are quiet, or signalling; subnormals; normal numbers of one
//! exponent, no power of two), of which the exact results are all of one kind as well. Then every rule looks at all of them or at none:
//! it chooses by those kinds alone. What is not of one kind is halved, and what is too short to be halved is judged one by one.

use std::sync::OnceLock;

use fpprobe_spirv::Format;
use fpprobe_spirv::op::Function;
use smallvec::SmallVec;

use super::analytic::{computed, is_monotonic, is_undefined, largest};
use super::lane::Says;
use super::polynomial::Polynomial;
use super::scan::{Scan, count_from, count_normal, run, scan};
use super::sum::Sum;
use super::tally::{PARTS, Worst, bin};
use super::tolerance::{Tolerance, alone, bounds_error, reach, tolerance};
use super::{Class, Tally, Verifier};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::environment::Subnormals;
use crate::interval::Interval;
use crate::oracle::{Demand, accepted_on};

/// Inputs of the longest span.
pub(super) const SPAN: usize = 4096;
/// Spans no longer than this are not halved.
const SHORT: usize = 64;
/// What part of a result the error of a polynomial may be: 2^-10 ulp.
const FINE: f64 = f64::EPSILON * (1_u64 << 18) as f64;
/// The same of results that are tiny: of the least number, 2^-149.
const LEAST_FINE: f64 = 1.0e-48;

const LAYOUT: fpprobe_spirv::FloatLayout = match Format::F32.float() {
    Some(layout) => layout,
    None => panic!("binary32 is a float"),
};
const INFINITY: u32 = LAYOUT.infinity() as u32;
const LEAST_NORMAL: u32 = LAYOUT.min_normal() as u32;
const QUIET: u32 = LAYOUT.quiet_bit() as u32;
const SIGN: u32 = LAYOUT.sign_bit() as u32;

/// What operands and exact results of a span are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
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
enum Size {
    /// Normal numbers.
    Normal,
    /// Below the smallest normal number, and not zero.
    Tiny,
    /// Beyond the largest number.
    Beyond,
}

impl Kind {
    const COUNT: usize = 10;

    fn number(self) -> usize {
        match self {
            Kind::QuietNan => 0,
            Kind::SignallingNan => 1,
            Kind::Undefined => 2,
            Kind::UndefinedSubnormal => 3,
            Kind::Normal(size) => 4 + size as usize,
            Kind::Subnormal(size) => 7 + size as usize,
        }
    }
}

/// What rules say of all inputs of a kind and sign.
#[derive(Debug)]
struct Known {
    /// Demands that look at them: number of the rule, and of its demand.
    demands: Vec<(usize, usize)>,
    /// What the rules say of a result that all accept.
    accepted: SmallVec<[Says; 8]>,
    /// What each demand accepts, where it is the same for all; of subnormals what it accepts where they are read as zero.
    sets: Option<Vec<Set>>,
}

/// Judges binary32 functions of one operand.
#[derive(Debug)]
pub(super) struct Fast {
    function: Function,
    arch: pulp::Arch,
    known: [[OnceLock<Known>; Kind::COUNT]; 2],
}

/// Results that are being judged, and where what is found goes.
pub(super) struct Work<'a> {
    pub(super) sum: &'a mut Sum,
    pub(super) tally: &'a mut Tally,
    distances: Vec<f64>,
}

impl<'a> Work<'a> {
    pub(super) fn new(sum: &'a mut Sum, tally: &'a mut Tally) -> Work<'a> {
        Work { sum, tally, distances: vec![0.0; SPAN] }
    }
}

/// What is to be done with a span.
enum Plan {
    /// What is accepted is the same for all, or nearly: what is known of their kind tells.
    Constant(Kind),
    /// Nothing but a largest magnitude is demanded.
    Free(f32),
    /// Results are compared with the function.
    Compared(Kind, Polynomial, Tolerance),
    /// Half of it may be of one kind.
    Halve,
}

impl Fast {
    /// For functions that it knows.
    pub(super) fn new(kernel: &fpprobe_spirv::Kernel) -> Option<Fast> {
        let single = kernel.params().iter().chain(&kernel.results()).all(|shape| shape.format == Format::F32);
        let known = single && kernel.arity() == 1 && computed(kernel.op.function).is_some();
        known.then(|| Fast { function: kernel.op.function, arch: pulp::Arch::new(), known: Default::default() })
    }
}

impl Verifier {
    /// Judges results of consecutive inputs.
    pub(super) fn spans(&self, fast: &Fast, first: u64, results: &[u32], work: &mut Work<'_>) {
        let (mut input, mut rest) = (first, results);
        while !rest.is_empty() {
            // Powers of two, zeros and infinities are kinds of their own.
            let single = input & u64::from(LEAST_NORMAL - 1) == 0;
            let aligned = SPAN - input as usize % SPAN;
            let (own, after) = rest.split_at(if single { 1 } else { aligned.min(rest.len()) });
            if single {
                self.one(input, own[0], work)
            } else {
                self.span(fast, input, own, work)
            }
            input += own.len() as u64;
            rest = after;
        }
    }

    fn span(&self, fast: &Fast, first: u64, results: &[u32], work: &mut Work<'_>) {
        match self.plan(fast, first as u32, results.len()) {
            Plan::Constant(kind) => self.constant(fast, kind, first, results, work),
            Plan::Free(limit) => self.free(fast, limit, first, results, work),
            Plan::Compared(kind, polynomial, tolerance) => {
                self.compared(fast, kind, &polynomial, tolerance, first, results, work);
            }
            Plan::Halve if results.len() <= SHORT => {
                for (input, result) in (first..).zip(results) {
                    self.one(input, *result, work);
                }
            }
            Plan::Halve => {
                let (left, right) = results.split_at(results.len() / 2);
                self.span(fast, first, left, work);
                self.span(fast, first + left.len() as u64, right, work);
            }
        }
    }

    fn plan(&self, fast: &Fast, first: u32, count: usize) -> Plan {
        let last = first + (count - 1) as u32;
        let magnitude = first & !SIGN;
        if magnitude > INFINITY {
            let kind = if first & QUIET == 0 { Kind::SignallingNan } else { Kind::QuietNan };
            return Plan::Constant(kind);
        }
        let [x, step, end] =
            [f32::from_bits(first), f32::from_bits(first + 1) - f32::from_bits(first), f32::from_bits(last)]
                .map(f64::from);
        let operand = Interval { lo: x.min(end), hi: x.max(end) };
        let normal = magnitude >= LEAST_NORMAL;
        let function = fast.function;
        if is_undefined(function, operand.lo, operand.hi) {
            let kind = if normal { Kind::Undefined } else { Kind::UndefinedSubnormal };
            return if self.is_plain() { Plan::Constant(kind) } else { Plan::Halve };
        }
        // The numbers next to zero differ by as much as themselves.
        if count < 2 || !normal && (magnitude as usize) < SHORT {
            return Plan::Halve;
        }
        if normal
            && operand.abs().lo > 1.0
            && is_wave(function)
            && let Some(limit) = self.free_limit(fast, first, operand)
        {
            return Plan::Free(limit);
        }
        let polynomial = Polynomial::new(function, x, step, count);
        let Some((low, high)) = polynomial.map(|one| (one.low, one.high)).or_else(|| ends(function, x, end)) else {
            return Plan::Halve;
        };
        let Some((size, results)) = size(low, high) else { return Plan::Halve };
        // An error that is not far below the results' last place decides little.
        let polynomial = polynomial.filter(|one| one.error <= (results.lo * FINE).max(LEAST_FINE));
        let kind = if normal { Kind::Normal(size) } else { Kind::Subnormal(size) };
        let known = self.known(fast, kind, first);
        match size {
            Size::Beyond if normal => {
                let within = |demand: &Demand| {
                    let reach = alone(&demand.accuracy, operand, LAYOUT)
                        .and_then(|one| reach(one, operand, results.lo, LAYOUT));
                    reach.is_some_and(|reach| results.lo - reach > 2f64.powi(129))
                };
                let all = self.is_plain() && self.demands(known).all(within);
                if all { Plan::Constant(kind) } else { Plan::Halve }
            }
            Size::Beyond => Plan::Constant(kind),
            Size::Normal | Size::Tiny => {
                let bound = |demand: &Demand| {
                    let inherits = matches!(demand.accuracy, Accuracy::Inherited(_));
                    let reads = normal || inherits || demand.operands.subnormal_inputs != Subnormals::Flush;
                    let keeps = size == Size::Normal || !inherits;
                    (reads && keeps)
                        .then(|| tolerance(alone(&demand.accuracy, operand, LAYOUT)?, operand, results, LAYOUT))
                        .flatten()
                };
                let all =
                    self.demands(known).try_fold(Tolerance::ANYTHING, |all, demand| Some(all.and(bound(demand)?)));
                match (polynomial, all) {
                    (Some(polynomial), Some(mut tolerance)) => {
                        tolerance.distance -= polynomial.error;
                        if size == Size::Normal {
                            // What is no farther than that is a normal number of the same sign.
                            tolerance.distance =
                                tolerance.distance.min(results.lo / 2.0).min(results.lo - 2f64.powi(-126));
                        }
                        Plan::Compared(kind, polynomial, tolerance)
                    }
                    _ if !normal && known.sets.is_some() => Plan::Constant(kind),
                    _ => Plan::Halve,
                }
            }
        }
    }

    /// Whether every accuracy is one for all operands, and none follows from formulas.
    fn is_plain(&self) -> bool {
        let plain = |demand: &Demand| {
            !matches!(
                demand.accuracy,
                Accuracy::Stated(_) | Accuracy::Split(_) | Accuracy::Inherited(_) | Accuracy::Steps(_)
            )
        };
        self.rules.iter().flat_map(|rule| &rule.demands).all(plain)
    }

    /// The largest magnitude demanded of numbers far from zero where no rule bounds the error.
    fn free_limit(&self, fast: &Fast, first: u32, operand: Interval) -> Option<f32> {
        let known = self.known(fast, Kind::Normal(Size::Normal), first);
        let bound = |demand: &Demand| {
            let one = alone(&demand.accuracy, operand, LAYOUT)?;
            (!bounds_error(one, operand.abs().lo))
                .then(|| tolerance(one, operand, Interval::point(1.0), LAYOUT))
                .flatten()
        };
        let all = self.demands(known).try_fold(Tolerance::ANYTHING, |all, demand| Some(all.and(bound(demand)?)))?;
        Some(all.limit as f32)
    }

    fn demands<'a>(&'a self, known: &'a Known) -> impl Iterator<Item = &'a Demand> + 'a {
        known.demands.iter().map(|(rule, demand)| &self.rules[*rule].demands[*demand])
    }

    /// What is known of a kind, of which this input is one.
    fn known<'a>(&self, fast: &'a Fast, kind: Kind, input: u32) -> &'a Known {
        fast.known[usize::from(input & SIGN != 0)][kind.number()].get_or_init(|| {
            let case = [u64::from(input)];
            let (operands, encoding) = (self.question.operands(&case, 0), self.encoding());
            let looks = |(rule, demand): &(usize, usize)| {
                self.rules[*rule].rule.selects(encoding, &operands, &self.rules[*rule].demands[*demand])
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
                    Kind::Normal(Size::Normal | Size::Tiny) => None,
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
            let sets = demands.iter().map(set).collect();
            Known { demands, accepted, sets }
        })
    }

    /// Results of which what is accepted is known: runs of equal bits are one.
    fn constant(&self, fast: &Fast, kind: Kind, first: u64, results: &[u32], work: &mut Work<'_>) {
        let known = self.known(fast, kind, first as u32);
        let nan = matches!(kind, Kind::QuietNan | Kind::SignallingNan);
        let class = Class::of(self.encoding(), first);
        let (mut input, mut rest) = (first, results);
        while let Some(result) = rest.first() {
            let length = if nan { 1 } else { run(rest) };
            let accepted = known.sets.iter().flatten().all(|set| set.contains(u64::from(*result)));
            if known.sets.is_some() && accepted {
                let operand = Some((LAYOUT, input));
                let of = Class::of_result(self.encoding(), u64::from(*result), operand);
                work.sum.classify([class, Class::Other], of, length as u64);
                work.sum.says(&known.accepted, length as u64);
            } else {
                for input in input..input + length as u64 {
                    self.one(input, *result, work);
                }
            }
            input += length as u64;
            rest = &rest[length..];
        }
    }

    /// Results of which only a magnitude is demanded, if anything.
    fn free(&self, fast: &Fast, limit: f32, first: u64, results: &[u32], work: &mut Work<'_>) {
        let known = self.known(fast, Kind::Normal(Size::Normal), first as u32);
        let class = Class::of(self.encoding(), first);
        let (normal, negative) = count_normal(fast.arch, results, limit);
        if normal == results.len() as u64 {
            for (of, count) in [(Class::NegativeNormal, negative), (Class::PositiveNormal, normal - negative)] {
                work.sum.classify([class, Class::Other], of, count);
            }
            work.sum.says(&known.accepted, normal);
            return;
        }
        for (input, result) in (first..).zip(results) {
            let of = Class::of(self.encoding(), u64::from(*result));
            let is_normal = matches!(of, Class::NegativeNormal | Class::PositiveNormal);
            if limit == f32::INFINITY || is_normal && f32::from_bits(*result).abs() <= limit {
                work.sum.classify([class, Class::Other], of, 1);
                work.sum.says(&known.accepted, 1);
            } else {
                self.one(input, *result, work);
            }
        }
    }

    /// Results that are compared with the function.
    #[expect(clippy::too_many_arguments, reason = "a plan's parts")]
    fn compared(
        &self,
        fast: &Fast,
        kind: Kind,
        polynomial: &Polynomial,
        tolerance: Tolerance,
        first: u64,
        results: &[u32],
        work: &mut Work<'_>,
    ) {
        let known = self.known(fast, kind, first as u32);
        let mut distances = std::mem::take(&mut work.distances);
        let found = &mut distances[..results.len()];
        let Tolerance { distance, limit } = tolerance;
        let seen = scan(fast.arch, polynomial, results, found, distance, limit);
        if kind == Kind::Normal(Size::Normal) {
            self.measured(fast, polynomial, tolerance, seen, first, results, found, work);
        } else {
            for ((input, result), found) in (first..).zip(results).zip(found) {
                let near = *found <= distance && f64::from(f32::from_bits(*result)).abs() <= limit;
                if self.is_flushed(known, kind, *result) || self.fits(known, kind, *result, near, polynomial) {
                    let class = Class::of(self.encoding(), input);
                    work.sum.classify([class, Class::Other], Class::of(self.encoding(), u64::from(*result)), 1);
                    work.sum.says(&known.accepted, 1);
                } else {
                    self.one(input, *result, work);
                }
            }
        }
        work.distances = distances;
    }

    /// Whether a result is accepted because it is what a zero gives, as which subnormals may be read.
    fn is_flushed(&self, known: &Known, kind: Kind, result: u32) -> bool {
        let accepts = |sets: &Vec<Set>| sets.iter().all(|set| set.contains(u64::from(result)));
        matches!(kind, Kind::Subnormal(_)) && known.sets.as_ref().is_some_and(accepts)
    }

    /// Whether a result is accepted because it is near the exact one, or the zero that a tiny one is flushed to.
    fn fits(&self, known: &Known, kind: Kind, result: u32, near: bool, polynomial: &Polynomial) -> bool {
        let (magnitude, treated) = (result & !SIGN, |demand: &Demand| demand.results.subnormal_results);
        let same_sign = (result & SIGN != 0) == (polynomial.high <= 0.0);
        match kind {
            Kind::Normal(Size::Tiny) | Kind::Subnormal(Size::Tiny) if magnitude == 0 => {
                same_sign && (near || self.demands(known).all(|demand| treated(demand) != Subnormals::Keep))
            }
            Kind::Normal(Size::Tiny) | Kind::Subnormal(Size::Tiny) => {
                near && self.demands(known).all(|demand| treated(demand) != Subnormals::Flush)
            }
            _ => near && same_sign && magnitude >= LEAST_NORMAL,
        }
    }

    /// Results near normal exact ones, whose errors are counted.
    #[expect(clippy::too_many_arguments, reason = "a plan's parts and what a scan found")]
    fn measured(
        &self,
        fast: &Fast,
        polynomial: &Polynomial,
        tolerance: Tolerance,
        mut seen: Scan,
        first: u64,
        results: &[u32],
        found: &mut [f64],
        work: &mut Work<'_>,
    ) {
        let known = self.known(fast, Kind::Normal(Size::Normal), first as u32);
        let near = results.len() as u64 - seen.outside;
        if seen.outside > 0 {
            (seen.least, seen.most) = (f64::INFINITY, 0.0);
            for ((input, result), found) in (first..).zip(results).zip(found.iter_mut()) {
                let value = f64::from(f32::from_bits(*result));
                if *found <= tolerance.distance && value.abs() <= tolerance.limit {
                    (seen.least, seen.most) = (seen.least.min(*found), seen.most.max(*found));
                } else {
                    *found = f64::NAN;
                    self.one(input, *result, work);
                }
            }
        }
        if near == 0 {
            return;
        }
        let class = Class::of(self.encoding(), first);
        let of = if polynomial.low >= 0.0 { Class::PositiveNormal } else { Class::NegativeNormal };
        work.sum.classify([class, Class::Other], of, near);
        work.sum.says(&known.accepted, near);
        let operand = Interval::point(f64::from(f32::from_bits(first as u32)));
        let bounds =
            |demand: &Demand| alone(&demand.accuracy, operand, LAYOUT).is_some_and(|one| bounds_error(one, operand.lo));
        if !self.demands(known).any(bounds) {
            return;
        }
        let magnitude = polynomial.low.abs().min(polynomial.high.abs());
        let unit = 2f64.powi(exponent(magnitude) - LAYOUT.fraction.cast_signed()) / PARTS as f64;
        let errors = Errors { first, results, distances: found, unit, error: polynomial.error };
        self.bins(fast, &errors, seen, near, work.sum);
        self.see(&errors, seen, work.tally);
    }

    /// Counts errors by the bins of [`Tally::histogram`].
    fn bins(&self, fast: &Fast, errors: &Errors<'_>, seen: Scan, near: u64, sum: &mut Sum) {
        let Errors { distances, unit, error, .. } = *errors;
        let lowest = bin(errors.parts(seen.least - error));
        let mut edge = bin(errors.parts(seen.most + error));
        let mut above = 0;
        while edge > lowest {
            let at = edge as f64 * unit;
            let mut from = count_from(fast.arch, distances, at + error);
            if count_from(fast.arch, distances, at - error) != from {
                let doubtful = |distance: f64| distance >= at - error && distance < at + error;
                let places = (0..distances.len()).filter(|place| doubtful(distances[*place]));
                from += places.filter(|place| self.parts_at(errors, *place) >= edge).count() as u64;
            }
            sum.errors(edge, from - above);
            above = from;
            edge = if edge == PARTS / 2 { 0 } else { edge / 2 };
        }
        sum.errors(lowest, near - above);
    }

    /// Looks for an error that is larger than what is known of the exponent.
    fn see(&self, errors: &Errors<'_>, seen: Scan, tally: &mut Tally) {
        let exponent = tally.exponents.entry(self.exponent(&[errors.first])).or_default();
        let mut worst = exponent.worst;
        let beats = |most: u64, worst: Option<Worst>, input: u64| {
            worst.is_none_or(|worst| most > worst.parts || most == worst.parts && input < worst.input)
        };
        if !beats(errors.parts(seen.most + errors.error), worst, errors.first) {
            return;
        }
        for (place, distance) in errors.distances.iter().enumerate().filter(|(_, distance)| !distance.is_nan()) {
            let input = errors.first + place as u64;
            let most = errors.parts(distance + errors.error);
            if beats(most, worst, input) {
                let least = errors.parts(distance - errors.error);
                let parts = if least == most { most } else { self.parts_at(errors, place) };
                exponent.see(Some(Worst { input, result: errors.results[place], parts }));
                worst = exponent.worst;
            }
        }
    }

    /// The error of a result, computed exactly.
    fn parts_at(&self, errors: &Errors<'_>, place: usize) -> u64 {
        let operands = self.question.operands(&[errors.first + place as u64], 0);
        self.error(&operands, errors.results[place]).unwrap_or_default()
    }
}

/// Errors of a span.
#[derive(Clone, Copy)]
struct Errors<'a> {
    first: u64,
    results: &'a [u32],
    /// Distances from the polynomial; NaN where a result was judged by itself.
    distances: &'a [f64],
    /// A part of an ulp.
    unit: f64,
    /// How much a distance may be off.
    error: f64,
}

impl Errors<'_> {
    /// Whole parts of an ulp.
    fn parts(&self, distance: f64) -> u64 {
        (distance / self.unit) as u64
    }
}

/// Sine, cosine and tangent of binary32 numbers beyond 1 are normal numbers: no such number is nearer than 2^-31 to a multiple of pi/2
/// (Muller, Elementary Functions, 11.3.2).
fn is_wave(function: Function) -> bool {
    matches!(function, Function::Sin | Function::Cos | Function::Tan)
}

/// Between what a function's results lie that grows or falls.
fn ends(function: Function, first: f64, last: f64) -> Option<(f64, f64)> {
    let compute = computed(function).filter(|_| is_monotonic(function))?;
    let defined = largest(function, first, 0.0).is_finite()
        || matches!(function, Function::Exp | Function::Exp2 | Function::Sinh | Function::Cosh);
    let (a, b) = (compute(first), compute(last));
    (defined && !a.is_nan() && !b.is_nan()).then(|| (a.min(b).next_down(), a.max(b).next_up()))
}

/// What results between two numbers are, with the interval of their magnitudes; `None` where they are of several kinds, of two signs, or
/// normal numbers of several exponents.
fn size(low: f64, high: f64) -> Option<(Size, Interval)> {
    let (least, most) = if low >= 0.0 {
        (low, high)
    } else if high <= 0.0 {
        (-high, -low)
    } else {
        return None;
    };
    let magnitudes = Interval { lo: least, hi: most };
    let (smallest, largest) = (2f64.powi(-126), f64::from(f32::MAX));
    if most < smallest {
        Some((Size::Tiny, magnitudes))
    } else if least > 2f64.powi(130) {
        Some((Size::Beyond, magnitudes))
    } else {
        // Results lie below the upper end.
        let one = least >= smallest && most <= largest && exponent(least) == exponent(most.next_down());
        one.then_some((Size::Normal, magnitudes))
    }
}

/// Exponent of a positive normal number.
fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52) as i32 - 1023
}
