//! Spans whose results are compared with a polynomial.

use super::kind::{Fast, Kind, Known, LAYOUT, LEAST_NORMAL, SIGN, Size, Work};
use super::polynomial::Polynomial;
use super::scan::{Scan, count_from, run, scan};
use super::sum::Sum;
use super::tally::{PARTS, Tally, Worst, bin};
use super::tolerance::{Tolerance, alone, bounds_error};
use super::{Class, Verifier};
use crate::environment::Subnormals;
use crate::interval::Interval;
use crate::oracle::Demand;

impl Verifier {
    /// Results that are compared with the function.
    #[expect(clippy::too_many_arguments, reason = "a plan's parts")]
    pub(super) fn compared(
        &self,
        fast: &Fast,
        kind: Kind,
        polynomial: &Polynomial,
        tolerance: Tolerance,
        first: u64,
        results: &[u32],
        work: &mut Work<'_>,
    ) {
        let mut distances = std::mem::take(&mut work.distances);
        let found = &mut distances[..results.len()];
        if kind == Kind::Normal(Size::Normal) {
            let seen = scan(fast.arch, polynomial, results, found, tolerance.distance, tolerance.limit);
            self.measured(fast, polynomial, tolerance, seen, first, results, found, work);
        } else {
            self.flushable(fast, kind, polynomial, tolerance, first, results, found, work);
        }
        work.distances = distances;
    }

    /// Results of subnormal operands, or near tiny exact ones: runs of equal bits are one.
    #[expect(clippy::too_many_arguments, reason = "a plan's parts")]
    fn flushable(
        &self,
        fast: &Fast,
        kind: Kind,
        polynomial: &Polynomial,
        tolerance: Tolerance,
        first: u64,
        results: &[u32],
        found: &mut [f64],
        work: &mut Work<'_>,
    ) {
        let known = self.known(fast, kind, first as u32);
        let mut outside = None;
        let mut at = 0;
        while at < results.len() {
            let (input, result, length) = (first + at as u64, results[at], run(&results[at..]));
            let flushed = matches!(kind, Kind::Subnormal(_)) && known.accepts(result);
            let mut all = flushed || self.fits(known, kind, result, false, polynomial);
            if !all && self.fits(known, kind, result, true, polynomial) {
                let outside = *outside.get_or_insert_with(|| {
                    scan(fast.arch, polynomial, results, found, tolerance.distance, tolerance.limit).outside
                });
                let near = |distance: &f64| *distance <= tolerance.distance;
                all = outside == 0 || tolerance.limit == f64::INFINITY && found[at..at + length].iter().all(near);
            }
            if all {
                let classes = [self.class(input), Class::Other];
                work.sum.classify(classes, self.class_of_result(input, result), length as u64);
                work.sum.says(&known.accepted, length as u64);
            } else {
                for input in input..input + length as u64 {
                    self.one(input, result, work);
                }
            }
            at += length;
        }
    }

    /// Whether a result is accepted because it is near the exact one, or the zero that a tiny one is flushed to.
    pub(super) fn fits(&self, known: &Known, kind: Kind, result: u32, near: bool, polynomial: &Polynomial) -> bool {
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
    pub(super) fn measured(
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
    pub(super) fn bins(&self, fast: &Fast, errors: &Errors<'_>, seen: Scan, near: u64, sum: &mut Sum) {
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
    pub(super) fn see(&self, errors: &Errors<'_>, seen: Scan, tally: &mut Tally) {
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
    pub(super) fn parts_at(&self, errors: &Errors<'_>, place: usize) -> u64 {
        let operands = self.question.operands(&[errors.first + place as u64], 0);
        self.error(&operands, errors.results[place]).unwrap_or_default()
    }
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
}

impl Errors<'_> {
    /// Whole parts of an ulp.
    fn parts(&self, distance: f64) -> u64 {
        (distance / self.unit) as u64
    }
}

/// Exponent of a positive normal number.
pub(super) fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52) as i32 - 1023
}
