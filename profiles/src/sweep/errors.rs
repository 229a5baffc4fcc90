//! Errors of a span's results: how many are how large, and which is the largest.

use std::ops::Range;

use fpprobe_spirv::FloatLayout;

use super::Verifier;
use super::kind::Fast;
use super::scan::{count_from, next_from, run};
use super::statistics::{FAR, PARTS, SweepStatistics, Worst, bin};
use super::sum::CountSum;
use super::work::Work;
use crate::filter::kind::exponent;
use crate::filter::scan::Scan;

impl Verifier {
    /// Counts errors, of which the smallest, the largest and the number are known, and looks for
    /// the largest.
    pub(super) fn count(
        &self,
        fast: &Fast,
        errors: &Errors<'_>,
        (seen, near): (Scan, u64),
        work: &mut Work<'_>,
    ) {
        if near == 0 {
            return;
        }
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
                from += places
                    .filter(|place| self.parts_at(errors, *place, settled) >= edge)
                    .count() as u64;
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
        // Least parts that an error must have at an input to be of account: what is known comes
        // first where it is of a lower input.
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
            && let Some(place) = next_from(
                fast.arch,
                errors.distances,
                from,
                errors.error,
                least as f64 * errors.unit,
            )
        {
            let (input, distance) = (errors.first + place as u64, errors.distances[place]);
            let [low, high] =
                [distance - errors.error, distance + errors.error].map(|end| errors.parts(end));
            let parts = if low == high { high } else { self.parts_at(errors, place, settled) };
            exponent.see(Some(Worst { input, result: errors.results[place], parts }));
            least = least.max(needed(exponent.worst, input + 1));
            // Neighbours with the same error come after it.
            from = if settled.places.contains(&place) { settled.places.end } else { place + 1 };
        }
    }

    /// The error of a result, computed exactly.
    ///
    /// Where the function grows or falls, and is farther from a result than all that it does in the
    /// span, the errors of inputs that have this result grow or fall, too: between two that are
    /// the same all are.
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
    /// Distances from exact results; NaN where a result was judged by itself, or is no number.
    pub(super) distances: &'a [f64],
    /// A part of an ulp.
    pub(super) unit: f64,
    /// How much a distance may be off.
    pub(super) error: f64,
    /// No less than how far apart the function's values are, which grow or fall; infinite where
    /// they do not.
    pub(super) spread: f64,
}

impl<'a> Errors<'a> {
    /// Errors of exact results of the exponent of this one, which are known exactly.
    pub(super) fn new(
        layout: FloatLayout,
        first: u64,
        results: &'a [u32],
        distances: &'a [f64],
        exact: f64,
    ) -> Errors<'a> {
        let unit = 2f64.powi(exponent(exact.abs()) - layout.fraction.cast_signed()) / PARTS as f64;
        Errors { first, results, distances, unit, error: 0.0, spread: f64::INFINITY }
    }

    /// The smallest and the largest distance, and how many there are.
    pub(super) fn seen(&self) -> (Scan, u64) {
        let mut seen = Scan { least: f64::INFINITY, most: 0.0, outside: 0 };
        for distance in self.distances {
            seen.least = if *distance < seen.least { *distance } else { seen.least };
            seen.most = if *distance > seen.most { *distance } else { seen.most };
            seen.outside += u64::from(distance.is_nan());
        }
        (seen, self.distances.len() as u64 - seen.outside)
    }

    /// Whole parts of an ulp.
    fn parts(&self, distance: f64) -> u64 {
        ((distance / self.unit) as u64).min(FAR)
    }
}
