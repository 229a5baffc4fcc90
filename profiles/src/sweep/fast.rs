//! Many results at once: spans of consecutive inputs of which the same is known.
//!
//! A span holds binary32 operands of one sign and one kind (NaNs that are quiet, or signalling; subnormals; normal numbers of one
//! exponent, no power of two), of which the exact results are all of one kind as well. Then every rule looks at all of them or at none:
//! it chooses by those kinds alone. What is not of one kind is halved, and what is too short to be halved is judged one by one.

use fpprobe_spirv::op::Function;

use super::analytic::{computed, is_monotonic, is_undefined, largest, limits};
use super::cells::CELL;
use super::compare::{SpanComparison, exponent};
use super::demanding::InputSpan;
use super::kind::{
    CheckMethod, Fast, INFINITY, LAYOUT, LEAST_NORMAL, Magnitude, QUIET, RuleVerdicts, SIGN, SpanKind, Work,
};
use super::native::Native;
use super::polynomial::Polynomial;
use super::reach::{self, ROUNDED, Reach, ValueBounds};
use super::scan::count_normal;
use super::tolerance::{Tolerance, alone, bounds_error, farthest, nearest, tolerance};
use super::{EncodingClass, Verifier};
use crate::accuracy::{Accuracy, InheritedAccuracy};
use crate::environment::{Overflow, Subnormals};
use crate::interval::Interval;
use crate::oracle::Demand;

/// Inputs of the longest span.
pub(super) const SPAN: usize = 4096;
/// Spans no longer than this are not halved.
const SHORT: usize = 64;
/// What part of a result the error of a polynomial may be: 2^-10 ulp.
const FINE: f64 = f64::EPSILON * (1_u64 << 18) as f64;
/// The same of results that are tiny: of the least number, 2^-149.
const LEAST_FINE: f64 = 1.0e-48;

/// What is to be done with a span.
pub(super) enum SpanPlan {
    /// What is accepted is the same for all, or nearly: what is known of their kind tells.
    Constant(SpanKind, RuleVerdicts),
    /// Nothing but a largest magnitude is demanded.
    Free(f32, RuleVerdicts),
    /// Results are compared with the function.
    Compared(SpanComparison, RuleVerdicts),
    /// Results are compared with the host's.
    Equal(SpanKind, Native, RuleVerdicts),
    /// The same, but that results are of several kinds.
    Each(Native),
    /// What is accepted is the same for all.
    Cell,
    /// Half of it may be of one kind.
    Halve,
}

impl Verifier {
    /// Judges results of consecutive inputs.
    pub(super) fn spans(&self, fast: &Fast, first: u64, results: &[u32], work: &mut Work<'_>) {
        let (mut input, mut rest) = (first, results);
        while !rest.is_empty() {
            // Powers of two, zeros and infinities are kinds of their own; and so is where a rounding turns.
            let single =
                input & u64::from(LEAST_NORMAL - 1) == 0 || matches!(fast.way, CheckMethod::Cells) && input % CELL == 0;
            let aligned = SPAN - input as usize % SPAN;
            let (own, after) = rest.split_at(if single { 1 } else { aligned.min(rest.len()) });
            if single {
                self.one(input, own[0], work);
            } else {
                self.span(fast, input, own, work);
            }
            input += own.len() as u64;
            rest = after;
        }
    }

    fn span(&self, fast: &Fast, first: u64, results: &[u32], work: &mut Work<'_>) {
        match self.plan(fast, first as u32, results.len()) {
            SpanPlan::Constant(kind, accepted) => self.constant(fast, (kind, &accepted), first, results, work),
            SpanPlan::Free(limit, accepted) => self.free((fast, limit, &accepted), first, results, work),
            SpanPlan::Compared(comparison, accepted) => {
                self.compared(fast, (&comparison, &accepted), first, results, work);
            }
            SpanPlan::Equal(kind, native, accepted) => {
                self.equal(fast, &native, (kind, &accepted), first, results, work);
            }
            SpanPlan::Each(native) => self.one_by_one(fast, &native, first, results, work),
            SpanPlan::Cell => self.cell(fast, first, results, work),
            SpanPlan::Halve if results.len() <= SHORT => {
                for (input, result) in (first..).zip(results) {
                    self.one(input, *result, work);
                }
            }
            SpanPlan::Halve => {
                let (left, right) = results.split_at(results.len() / 2);
                self.span(fast, first, left, work);
                self.span(fast, first + left.len() as u64, right, work);
            }
        }
    }

    pub(super) fn plan(&self, fast: &Fast, first: u32, count: usize) -> SpanPlan {
        let last = first + (count - 1) as u32;
        let magnitude = first & !SIGN;
        let float = self.fields[0].0.float().is_some();
        if float && magnitude > INFINITY {
            let kind = if first & QUIET == 0 { SpanKind::SignallingNan } else { SpanKind::QuietNan };
            return self.constant_plan(fast, kind, first);
        }
        let function = match fast.way {
            CheckMethod::Near(function) => function,
            CheckMethod::Cells => return SpanPlan::Cell,
            CheckMethod::Equal(native) if !native.uniform && magnitude >= LEAST_NORMAL => {
                return SpanPlan::Each(native);
            }
            CheckMethod::Equal(native) => {
                return native.kind([first, last], float).map_or(SpanPlan::Halve, |kind| {
                    if matches!(kind, SpanKind::Normal(Magnitude::Beyond)) {
                        return self.constant_plan(fast, kind, first);
                    }
                    let inputs = native.inputs(kind, [first, last], float);
                    let accepted = self.accepted_on(self.known(fast, kind, first), &inputs);
                    accepted.map_or(SpanPlan::Halve, |accepted| SpanPlan::Equal(kind, native, accepted))
                });
            }
        };
        let [x, step, end] =
            [f32::from_bits(first), f32::from_bits(first + 1) - f32::from_bits(first), f32::from_bits(last)]
                .map(f64::from);
        let operand = Interval { lo: x.min(end), hi: x.max(end) };
        let normal = magnitude >= LEAST_NORMAL;
        if is_undefined(function, operand.lo, operand.hi) {
            let kind = if normal { SpanKind::Undefined } else { SpanKind::UndefinedSubnormal };
            let same = self.is_same_where_undefined(operand);
            return if same { self.constant_plan(fast, kind, first) } else { SpanPlan::Halve };
        }
        // The numbers next to zero differ by as much as themselves.
        if count < 2 || !normal && (magnitude as usize) < SHORT {
            return SpanPlan::Halve;
        }
        if normal
            && operand.abs().lo > 1.0
            && is_wave(function)
            && let Some(limit) = self.free_limit(fast, first, operand)
        {
            let kind = SpanKind::Normal(Magnitude::Normal);
            let inputs = InputSpan { kind, first, operand, results: Interval { lo: 0.0, hi: 1.0 } };
            let accepted = self.accepted_on(self.known(fast, kind, first), &inputs);
            return accepted.map_or(SpanPlan::Halve, |accepted| SpanPlan::Free(limit, accepted));
        }
        let polynomial = Polynomial::new(function, x, step, count);
        let ends = ends(function, x, end);
        let Some((low, high)) = polynomial.map(|one| (one.low, one.high)).or(ends) else {
            return SpanPlan::Halve;
        };
        let Some((size, results)) = size(low, high) else { return SpanPlan::Halve };
        // An error that is not far below the results' last place decides little.
        let flat = ends.map(|(low, high)| Polynomial::flat(low, high));
        let polynomial =
            polynomial.into_iter().chain(flat).find(|one| one.error <= (results.lo * FINE).max(LEAST_FINE));
        let kind = if normal { SpanKind::Normal(size) } else { SpanKind::Subnormal(size) };
        let known = self.known(fast, kind, first);
        let Some(accepted) = self.accepted_on(known, &InputSpan { kind, first, operand, results }) else {
            return SpanPlan::Halve;
        };
        match size {
            // What is known of one counts for all.
            Magnitude::Beyond if normal => {
                let within = |demand: &Demand| match alone(&demand.accuracy, operand, LAYOUT) {
                    Some(Accuracy::Inherited(inherited)) => is_open(demand, inherited, operand),
                    one => one
                        .and_then(|one| farthest(one, operand, results.lo, LAYOUT))
                        .is_some_and(|farthest| results.lo - farthest > 2f64.powi(129)),
                };
                let all = self.is_plain() && self.rules.iter().flat_map(|rule| &rule.demands).all(within);
                if all { SpanPlan::Constant(kind, accepted) } else { SpanPlan::Halve }
            }
            Magnitude::Beyond => SpanPlan::Constant(kind, accepted),
            Magnitude::Normal | Magnitude::Tiny | Magnitude::Zero if !normal && known.is_exact() => {
                SpanPlan::Constant(kind, accepted)
            }
            Magnitude::Normal | Magnitude::Tiny | Magnitude::Zero => {
                let bound = |demand: &Demand| match alone(&demand.accuracy, operand, LAYOUT)? {
                    Accuracy::Inherited(inherited) => {
                        let reached = reached(demand, inherited, operand, Some(results.lo));
                        let rounded = (size == Magnitude::Normal).then(|| nearest(inherited, results)).flatten();
                        reached.into_iter().chain(rounded.map(Tolerance::within)).reduce(Tolerance::or)
                    }
                    one => tolerance(one, operand, results, LAYOUT).filter(|found| is_all(demand, *found)),
                };
                // Of the others what they accept tells.
                let mut open = known.demands.iter().filter(|looking| !looking.exact);
                let all =
                    open.try_fold(Tolerance::ANYTHING, |all, looking| Some(all.and(bound(self.demand(looking))?)));
                match (polynomial, all) {
                    (Some(polynomial), Some(mut tolerance)) => {
                        // Differences of results and the polynomial are rounded, and a small error may be lost in this one.
                        tolerance.distance = (tolerance.distance - polynomial.error) * ROUNDED;
                        let same = match size {
                            Magnitude::Normal => (results.lo / 2.0).min(results.lo - 2f64.powi(-126)),
                            _ => f64::INFINITY,
                        };
                        SpanPlan::Compared(SpanComparison { kind, polynomial, tolerance, same }, accepted)
                    }
                    _ if !normal && known.has_sets() => SpanPlan::Constant(kind, accepted),
                    _ => SpanPlan::Halve,
                }
            }
        }
    }

    /// What is done with inputs of a kind of which all that is accepted is known.
    fn constant_plan(&self, fast: &Fast, kind: SpanKind, first: u32) -> SpanPlan {
        let accepted = self.accepted(self.known(fast, kind, first), |_| None);
        accepted.map_or(SpanPlan::Halve, |accepted| SpanPlan::Constant(kind, accepted))
    }

    /// Whether what is accepted is the same of all these operands, on which the function is not defined.
    fn is_same_where_undefined(&self, operand: Interval) -> bool {
        self.rules.iter().flat_map(|rule| &rule.demands).all(|demand| match &demand.accuracy {
            Accuracy::Inherited(inherited) => is_open(demand, inherited, operand),
            // An error bounds results alone.
            Accuracy::Split(split) => [&split.inside, &split.outside].into_iter().all(Accuracy::is_bound),
            accuracy => !matches!(accuracy, Accuracy::Stated(_) | Accuracy::Steps(_)),
        })
    }

    /// Whether every accuracy is one for all operands, or follows from formulas.
    fn is_plain(&self) -> bool {
        let plain = |demand: &Demand| {
            demand.accuracy.is_bound() || matches!(demand.accuracy, Accuracy::Undefined | Accuracy::Inherited(_))
        };
        self.rules.iter().flat_map(|rule| &rule.demands).all(plain)
    }

    /// The largest magnitude demanded of numbers far from zero where no rule bounds the error.
    fn free_limit(&self, fast: &Fast, first: u32, operand: Interval) -> Option<f32> {
        let known = self.known(fast, SpanKind::Normal(Magnitude::Normal), first);
        let bound = |demand: &Demand| {
            let one = alone(&demand.accuracy, operand, LAYOUT)?;
            (!bounds_error(one, operand.abs().lo))
                .then(|| tolerance(one, operand, Interval::point(1.0), LAYOUT).filter(|found| is_all(demand, *found)))
                .flatten()
        };
        let all = self.demands(known).try_fold(Tolerance::ANYTHING, |all, demand| Some(all.and(bound(demand)?)))?;
        Some(all.limit as f32)
    }

    /// Results of which only a magnitude is demanded, if anything.
    fn free(
        &self,
        (fast, limit, accepted): (&Fast, f32, &RuleVerdicts),
        first: u64,
        results: &[u32],
        work: &mut Work<'_>,
    ) {
        let (class, exponent) = (self.class(first), self.exponent(&[first]));
        let (normal, negative) = count_normal(fast.arch, results, limit);
        if normal == results.len() as u64 {
            for (of, count) in
                [(EncodingClass::NegativeNormal, negative), (EncodingClass::PositiveNormal, normal - negative)]
            {
                work.sum.classify([class, EncodingClass::Other], of, count);
            }
            work.says(exponent, [first, first + normal - 1], accepted, normal);
            return;
        }
        for (input, result) in (first..).zip(results) {
            let of = EncodingClass::of(self.encoding(), u64::from(*result));
            let is_normal = matches!(of, EncodingClass::NegativeNormal | EncodingClass::PositiveNormal);
            if limit == f32::INFINITY || is_normal && f32::from_bits(*result).abs() <= limit {
                work.sum.classify([class, EncodingClass::Other], of, 1);
                work.says(exponent, [input, input], accepted, 1);
            } else {
                self.one(input, *result, work);
            }
        }
    }
}

/// What is accepted of each of these operands, whose exact results are no smaller than `least` where only numbers count; `None` where that
/// is not known.
fn reached(demand: &Demand, inherited: &InheritedAccuracy, operand: Interval, least: Option<f64>) -> Option<Tolerance> {
    let operand = Reach::read(operand, &demand.operands, LAYOUT);
    Some(match reach::inherited(demand.function, inherited, &[operand], LAYOUT, least)? {
        Reach::Open => Tolerance::ANYTHING,
        Reach::Given(ValueBounds { radius, zero, infinite, .. }) => {
            Tolerance { zero, infinite, unsigned: demand.has_no_sign(), ..Tolerance::within(radius) }
        }
    })
}

/// Whether a tolerance is all that there is to what a demand accepts: where it accepts anything, what is flushed or saturates may be left
/// out all the same.
fn is_all(demand: &Demand, tolerance: Tolerance) -> bool {
    tolerance != Tolerance::ANYTHING || !reduces(demand)
}

/// Whether results are left out of what a demand accepts where its accuracy accepts anything.
pub(super) fn reduces(demand: &Demand) -> bool {
    demand.results.subnormal_results == Subnormals::Flush || demand.results.overflow == Overflow::Saturate
}

/// Whether nothing is known of what is given on any of these operands.
pub(super) fn is_open(demand: &Demand, inherited: &InheritedAccuracy, operand: Interval) -> bool {
    reached(demand, inherited, operand, None) == Some(Tolerance::ANYTHING)
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
    let (least, greatest) = limits(function, first < 0.0);
    let between = || (a.min(b).next_down().max(least), a.max(b).next_up().min(greatest));
    (defined && !a.is_nan() && !b.is_nan()).then(between)
}

/// What results between two numbers are, with the interval of their magnitudes; `None` where they are of several kinds, of two signs, or
/// normal numbers of several exponents.
fn size(low: f64, high: f64) -> Option<(Magnitude, Interval)> {
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
        Some((Magnitude::Tiny, magnitudes))
    } else if least > 2f64.powi(130) {
        Some((Magnitude::Beyond, magnitudes))
    } else {
        // Results lie below the upper end.
        let one = least >= smallest && most <= largest && exponent(least) == exponent(most.next_down());
        one.then_some((Magnitude::Normal, magnitudes))
    }
}
