//! Spans whose results are compared with a polynomial.

use std::ops::Range;

use super::analytic::is_monotonic;
use super::kind::{
    Fast, INFINITY, LAYOUT, LEAST_NORMAL, Magnitude, RuleVerdicts, SIGN, SpanKind, Work, accepts_nearest,
};
use super::polynomial::{HIGHEST, Polynomial};
use super::scan::{Scan, count_from, next_from, run, scan};
use super::statistics::{FAR, PARTS, SweepStatistics, Worst, bin};
use super::sum::CountSum;
use super::tolerance::{Tolerance, alone, bounds_error};
use super::{EncodingClass, Verifier};
use crate::accuracy::Accuracy;
use crate::environment::Subnormals;
use crate::interval::Interval;
use crate::oracle::Demand;

/// How results of a span are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpanComparison {
    pub(super) kind: SpanKind,
    /// What they are compared with.
    pub(super) polynomial: Polynomial,
    /// What is accepted for certain.
    pub(super) tolerance: Tolerance,
    /// Of normal exact results: what is no farther than that is a normal number of the same sign.
    pub(super) same: f64,
}

impl SpanComparison {
    /// Writes down how far results lie from the polynomial.
    fn scan(&self, fast: &Fast, results: &[u32], found: &mut [f64]) -> Scan {
        let SpanComparison { polynomial, tolerance: Tolerance { distance, limit, .. }, same, .. } = self;
        let distance = distance.min(*same);
        if polynomial.cubic {
            scan(fast.arch, |place| polynomial.at::<3>(place), results, found, distance, *limit)
        } else {
            scan(fast.arch, |place| polynomial.at::<HIGHEST>(place), results, found, distance, *limit)
        }
    }

    /// Whether a result that lies no farther from a normal exact one than is accepted for certain is accepted, whatever the environment. What
    /// formulas may give is an interval: of either sign, and a zero where zero is in it.
    fn is_decided(&self, inherited: bool, result: u32) -> bool {
        let (magnitude, negative) = (result & !SIGN, result & SIGN != 0);
        let normal = (LEAST_NORMAL..INFINITY).contains(&magnitude);
        let anything = self.tolerance == Tolerance::ANYTHING;
        anything
            || normal && (inherited || negative == (self.polynomial.high <= 0.0))
            || inherited && self.is_zero(result)
    }

    /// Whether a result is a zero, of a sign that zeros may have.
    fn is_zero(&self, result: u32) -> bool {
        result == 0 || result == SIGN && !self.tolerance.unsigned
    }

    /// Whether a result is a zero or an infinity that is accepted wherever the exact result is.
    fn is_special(&self, result: u32) -> bool {
        let (magnitude, negative) = (result & !SIGN, result & SIGN != 0);
        let infinite = magnitude == INFINITY && negative == (self.polynomial.high <= 0.0);
        self.tolerance.zero && self.is_zero(result) || self.tolerance.infinite && infinite
    }

    /// Whether a demand accepts a result because it is near the exact one, or the zero that a tiny one is flushed to.
    fn fits(&self, demand: &Demand, result: u32, near: bool) -> bool {
        // Of an accuracy of its own what it says of operands that are read as zeros may be less.
        let inherited = matches!(demand.accuracy, Accuracy::Inherited(_));
        if inherited && (self.tolerance == Tolerance::ANYTHING || self.is_special(result)) {
            return true;
        }
        let (magnitude, treated) = (result & !SIGN, demand.results.subnormal_results);
        let same_sign = (result & SIGN != 0) == (self.polynomial.high <= 0.0);
        match self.kind {
            SpanKind::Normal(Magnitude::Tiny) | SpanKind::Subnormal(Magnitude::Tiny) if magnitude == 0 => {
                same_sign && (near || treated != Subnormals::Keep)
            }
            SpanKind::Normal(Magnitude::Tiny) | SpanKind::Subnormal(Magnitude::Tiny) => {
                near && treated != Subnormals::Flush
            }
            _ => near && same_sign && magnitude >= LEAST_NORMAL,
        }
    }
}

impl Verifier {
    /// Results that are compared with the function.
    pub(super) fn compared(
        &self,
        fast: &Fast,
        (comparison, accepted): (&SpanComparison, &RuleVerdicts),
        first: u64,
        results: &[u32],
        work: &mut Work<'_>,
    ) {
        let mut distances = std::mem::take(&mut work.distances);
        let found = &mut distances[..results.len()];
        if comparison.kind == SpanKind::Normal(Magnitude::Normal) {
            self.measured(fast, (comparison, accepted), first, results, found, work);
        } else {
            self.flushable(fast, (comparison, accepted), first, results, found, work);
        }
        work.distances = distances;
    }

    /// Results of subnormal operands, or near tiny exact ones: runs of equal bits are one.
    fn flushable(
        &self,
        fast: &Fast,
        (comparison, accepted): (&SpanComparison, &RuleVerdicts),
        first: u64,
        results: &[u32],
        found: &mut [f64],
        work: &mut Work<'_>,
    ) {
        let known = self.known(fast, comparison.kind, first as u32);
        let Tolerance { distance, limit, .. } = comparison.tolerance;
        let mut outside = None;
        let mut at = 0;
        while at < results.len() {
            let (result, length) = (results[at], run(&results[at..]));
            let fits =
                |near| known.decide(accepted, result, |looking| comparison.fits(self.demand(looking), result, near));
            let says = fits(false).or_else(|| {
                let outside = *outside.get_or_insert_with(|| comparison.scan(fast, results, found).outside);
                let near = |found: &f64| *found <= distance;
                let all = outside == 0 || limit == f64::INFINITY && found[at..at + length].iter().all(near);
                if all { fits(true) } else { None }
            });
            self.alike([first + at as u64, length as u64], result, says, work);
            at += length;
        }
    }

    /// Results near normal exact ones, whose errors are counted.
    fn measured(
        &self,
        fast: &Fast,
        (comparison, accepted): (&SpanComparison, &RuleVerdicts),
        first: u64,
        results: &[u32],
        found: &mut [f64],
        work: &mut Work<'_>,
    ) {
        let SpanComparison { polynomial, tolerance, same, .. } = comparison;
        if self.rounded(fast, (comparison, accepted), first, results, work) {
            return;
        }
        let mut seen = comparison.scan(fast, results, found);
        let known = self.known(fast, SpanKind::Normal(Magnitude::Normal), first as u32);
        let class = self.class(first);
        let near = results.len() as u64 - seen.outside;
        // What is demanded of one is demanded of all, those that are judged by themselves among them.
        let whole = [first, first + results.len() as u64 - 1];
        // Of other classes; and of those the ones that have errors.
        let (mut others, mut finite) = (0, 0);
        if seen.outside > 0 {
            (seen.least, seen.most) = (f64::INFINITY, 0.0);
            let inherited = self.demands(known).all(|demand| matches!(demand.accuracy, Accuracy::Inherited(_)));
            for ((input, result), found) in (first..).zip(results).zip(found.iter_mut()) {
                let value = f64::from(f32::from_bits(*result));
                // A NaN is no distance from anything.
                let beyond = *found > tolerance.distance || value.abs() > tolerance.limit;
                if *found <= *same && !beyond {
                    (seen.least, seen.most) = (seen.least.min(*found), seen.most.max(*found));
                } else if !beyond && comparison.is_decided(inherited, *result) || comparison.is_special(*result) {
                    work.sum.classify([class, EncodingClass::Other], self.class_of_result(input, *result), 1);
                    others += 1;
                    if value.is_finite() {
                        finite += 1;
                        (seen.least, seen.most) = (seen.least.min(*found), seen.most.max(*found));
                    } else {
                        *found = f64::NAN;
                    }
                } else {
                    *found = f64::NAN;
                    self.one(input, *result, work);
                }
            }
        }
        work.says(self.exponent(&[first]), whole, accepted, near + others);
        if near + finite == 0 {
            return;
        }
        let of = if polynomial.low >= 0.0 { EncodingClass::PositiveNormal } else { EncodingClass::NegativeNormal };
        work.sum.classify([class, EncodingClass::Other], of, near);
        let near = near + finite;
        let operand = Interval::point(f64::from(f32::from_bits(first as u32)));
        let bounds =
            |demand: &Demand| alone(&demand.accuracy, operand, LAYOUT).is_some_and(|one| bounds_error(one, operand.lo));
        if !self.demands(known).any(bounds) {
            return;
        }
        let magnitude = polynomial.low.abs().min(polynomial.high.abs());
        let unit = 2f64.powi(exponent(magnitude) - LAYOUT.fraction.cast_signed()) / PARTS as f64;
        let spread =
            fast.function().filter(|function| is_monotonic(*function)).map(|_| polynomial.high - polynomial.low);
        let spread = spread.unwrap_or(f64::INFINITY);
        // Differences are rounded, too; how far those lie that are beyond what is counted does not matter.
        let error = polynomial.error + f64::EPSILON * seen.most.min(2.0 * FAR as f64 * unit);
        let errors = Errors { first, results, distances: found, unit, error, spread };
        self.count(fast, &errors, seen, near, work);
    }

    /// Whether results near normal exact ones are correctly rounded, and accepted for that, and no error of theirs can be the largest:
    /// then they are counted.
    fn rounded(
        &self,
        fast: &Fast,
        (comparison, accepted): (&SpanComparison, &RuleVerdicts),
        first: u64,
        results: &[u32],
        work: &mut Work<'_>,
    ) -> bool {
        // No square root or reciprocal lies half-way between two numbers: of what is rounded, errors are below half an ulp.
        const MOST: u64 = PARTS / 2 - 1;
        let Some(own) = fast.own else { return false };
        let known = self.known(fast, SpanKind::Normal(Magnitude::Normal), first as u32);
        let worst = work.statistics.exponents.get(&self.exponent(&[first])).and_then(|exponent| exponent.worst);
        let is_seen = worst.is_some_and(|worst| worst.parts >= MOST && worst.input < first);
        if !is_seen
            || !self.demands(known).all(|demand| accepts_nearest(&demand.accuracy))
            || !work.own && (own.others)(fast.arch, first as u32, results) > 0
        {
            return false;
        }
        let class = EncodingClass::of(self.encoding(), first);
        let of = if comparison.polynomial.low >= 0.0 {
            EncodingClass::PositiveNormal
        } else {
            EncodingClass::NegativeNormal
        };
        let count = results.len() as u64;
        work.sum.classify([class, EncodingClass::Other], of, count);
        work.says(self.exponent(&[first]), [first, first + count - 1], accepted, count);
        if self.demands(known).any(|demand| demand.accuracy != Accuracy::Undefined) {
            work.sum.errors(0, count);
        }
        true
    }

    /// Counts errors of N results, and looks for the largest.
    pub(super) fn count(&self, fast: &Fast, errors: &Errors<'_>, seen: Scan, near: u64, work: &mut Work<'_>) {
        let mut settled = SettledRange::default();
        self.bins(fast, errors, seen, near, &mut settled, work.sum);
        self.see(fast, errors, seen, &mut settled, work.statistics);
    }

    /// Counts errors by the bins of [`SweepStatistics::histogram`].
    fn bins(
        &self,
        fast: &Fast,
        errors: &Errors<'_>,
        seen: Scan,
        near: u64,
        settled: &mut SettledRange,
        sum: &mut CountSum,
    ) {
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
                from += places.filter(|place| self.parts_at(errors, *place, settled) >= edge).count() as u64;
            }
            sum.errors(edge, from - above);
            above = from;
            edge = if edge == PARTS / 2 { 0 } else { edge / 2 };
        }
        sum.errors(lowest, near - above);
    }

    /// Looks for an error that is larger than what is known of the exponent.
    fn see(
        &self,
        fast: &Fast,
        errors: &Errors<'_>,
        seen: Scan,
        settled: &mut SettledRange,
        statistics: &mut SweepStatistics,
    ) {
        let exponent = statistics.exponents.entry(self.exponent(&[errors.first])).or_default();
        // Least parts that an error must have at an input to be of account: what is known comes first where it is of a lower input.
        let needed = |worst: Option<Worst>, input: u64| {
            worst.map_or(0, |worst| worst.parts.saturating_add((worst.input < input).into()))
        };
        let mut least = needed(exponent.worst, errors.first);
        if errors.parts(seen.most + errors.error) < least {
            return;
        }
        // The largest distance's error has these.
        least = least.max(errors.parts(seen.most - errors.error));
        let mut from = 0;
        while least <= FAR
            && let Some(place) = next_from(fast.arch, errors.distances, from, errors.error, least as f64 * errors.unit)
        {
            let (input, distance) = (errors.first + place as u64, errors.distances[place]);
            let [low, high] = [distance - errors.error, distance + errors.error].map(|end| errors.parts(end));
            let parts = if low == high { high } else { self.parts_at(errors, place, settled) };
            exponent.see(Some(Worst { input, result: errors.results[place], parts }));
            least = least.max(needed(exponent.worst, input + 1));
            // Neighbours with the same error come after it.
            from = if settled.places.contains(&place) { settled.places.end } else { place + 1 };
        }
    }

    /// The error of a result, computed exactly.
    ///
    /// Where the function grows or falls, and is farther from a result than all that it does in the span, the errors of inputs that
    /// have this result grow or fall, too: between two that are the same all are.
    fn parts_at(&self, errors: &Errors<'_>, place: usize, settled: &mut SettledRange) -> u64 {
        if settled.places.contains(&place) {
            return settled.parts;
        }
        let exactly = |place: usize| {
            let operands = self.signature.operands(&[errors.first + place as u64], 0);
            self.error(&operands, errors.results[place]).unwrap_or_default()
        };
        let parts = exactly(place);
        let mut last = place;
        if errors.distances[place] - errors.error > errors.spread {
            let end = place + run(&errors.results[place..]);
            // Mostly all are the same.
            let mut checked = end - 1;
            let mut other = end;
            while other - last > 1 {
                if exactly(checked) == parts {
                    last = checked;
                } else {
                    other = checked;
                }
                checked = last.midpoint(other);
            }
        }
        *settled = SettledRange { places: place..last + 1, parts };
        parts
    }
}

/// Neighbours whose error is known.
#[derive(Default)]
struct SettledRange {
    places: Range<usize>,
    parts: u64,
}

/// Errors of a span.
#[derive(Clone, Copy)]
pub(super) struct Errors<'a> {
    pub(super) first: u64,
    pub(super) results: &'a [u32],
    /// Distances from the polynomial; NaN where a result was judged by itself.
    pub(super) distances: &'a [f64],
    /// A part of an ulp.
    pub(super) unit: f64,
    /// How much a distance may be off.
    pub(super) error: f64,
    /// No less than how far apart the function's values are, which grow or fall; infinite where they do not.
    pub(super) spread: f64,
}

impl Errors<'_> {
    /// Whole parts of an ulp.
    fn parts(&self, distance: f64) -> u64 {
        ((distance / self.unit) as u64).min(FAR)
    }
}

/// Exponent of a positive normal number.
pub(super) fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52) as i32 - 1023
}
