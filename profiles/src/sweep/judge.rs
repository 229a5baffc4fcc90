//! Results of a span, judged at once where the filter accepts all of them, else in runs.

use std::cell::OnceCell;
use std::ops::Range;

use super::errors::Errors;
use super::kind::{Fast, KindRules};
use super::lane::RuleVerdicts;
use super::native::Native;
use super::scan::{count_normal, run};
use super::statistics::{FAR, PARTS};
use super::work::Work;
use super::{EncodingClass, Verifier};
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::filter::analytic::is_monotonic;
use crate::filter::kind::{LAYOUT, Magnitude, SpanKind};
use crate::filter::reach::stated;
use crate::filter::scan::Scan;
use crate::filter::tolerance::{accepts_nearest, bounds_error};
use crate::filter::{Decision, Filter, of_rounded};
use crate::interval::Interval;
use crate::oracle::Demand;

/// A span: the kind of its inputs, what the rules say of results that all accept, and the first
/// input.
pub(super) type KnownSpan<'a> = (SpanKind, &'a RuleVerdicts, u64);

impl Verifier {
    /// Judges runs of equal results by what is known of their kind, or by the filter's answer on
    /// the places of a run, else by the oracle: those places are handed to `others`.
    pub(super) fn runs(
        &self,
        fast: &Fast,
        (kind, accepted, first): KnownSpan<'_>,
        results: &[u32],
        work: &mut Work<'_>,
        answer: impl Fn(&Demand, Range<usize>) -> Decision,
        mut others: impl FnMut(Range<usize>),
    ) {
        let known = self.known(fast, kind, first as u32);
        let nan = matches!(kind, SpanKind::QuietNan | SpanKind::SignallingNan);
        let mut at = 0;
        while at < results.len() {
            let (input, result, rest) = (first + at as u64, results[at], &results[at..]);
            // What becomes of a NaN's bits is a class.
            let class =
                nan.then(|| self.class_of_result(input, result)).filter(|class| class.is_nan());
            let same = |(input, result): &(u64, &u32)| {
                Some(self.class_of_result(*input, **result)) == class
            };
            let (places, says) = if let (Some(_), Some(says)) = (class, &known.nan) {
                (at..at + (input..).zip(rest).take_while(same).count(), Some(says.clone()))
            } else {
                let places = at..at + if nan { 1 } else { run(rest) };
                (
                    places.clone(),
                    self.decide(known, accepted, result, |demand| answer(demand, places.clone())),
                )
            };
            if says.is_none() {
                others(places.clone());
            }
            self.alike([input, places.len() as u64], result, says, work);
            at = places.end;
        }
    }

    /// Results of which nothing is known but what is accepted of their kind.
    pub(super) fn constant(
        &self,
        fast: &Fast,
        span: KnownSpan<'_>,
        results: &[u32],
        work: &mut Work<'_>,
    ) {
        self.runs(fast, span, results, work, |_, _| Decision::ConsultOracle, |_| {});
    }

    /// Results of which only a magnitude is demanded, if anything.
    pub(super) fn free(
        &self,
        fast: &Fast,
        limit: f32,
        span: KnownSpan<'_>,
        results: &[u32],
        work: &mut Work<'_>,
    ) {
        let (_, accepted, first) = span;
        let (normal, negative) = count_normal(fast.arch, results, limit);
        if normal < results.len() as u64 {
            let free = |result: u32| {
                limit == f32::INFINITY || count_normal(fast.arch, &[result], limit).0 == 1
            };
            let answer =
                |_: &Demand, places: Range<usize>| Decision::from(free(results[places.start]));
            return self.runs(fast, span, results, work, answer, |_| {});
        }
        let class = self.class(first);
        for (of, count) in [
            (EncodingClass::NegativeNormal, negative),
            (EncodingClass::PositiveNormal, normal - negative),
        ] {
            work.sum.classify([class, EncodingClass::Other], of, count);
        }
        work.says(self.exponent(&[first]), [first, first + normal - 1], accepted, normal);
    }

    /// Results that are compared with the function.
    pub(super) fn compared(
        &self,
        fast: &Fast,
        filter: &Filter,
        span: KnownSpan<'_>,
        results: &[u32],
        work: &mut Work<'_>,
    ) {
        if span.0 == SpanKind::Normal(Magnitude::Normal) {
            let mut distances = std::mem::take(&mut work.distances);
            self.measured(fast, filter, span, results, &mut distances[..results.len()], work);
            work.distances = distances;
            return;
        }
        // Of subnormal operands, or near tiny exact results, the kind mostly decides.
        let found = OnceCell::new();
        let is_near = |place: usize| {
            let found = found.get_or_init(|| {
                let mut found = vec![0.0; results.len()];
                filter.scan(fast.arch, results, &mut found);
                found
            });
            filter.is_near(results[place], found[place])
        };
        let answer = |demand: &Demand, mut places: Range<usize>| {
            let result = results[places.start];
            let of = |near| filter.answer(demand, result, near);
            if of(false) == Decision::Accepted {
                Decision::Accepted
            } else {
                of(places.all(is_near))
            }
        };
        self.runs(fast, span, results, work, answer, |_| {});
    }

    /// Results near normal exact ones, whose errors are counted.
    fn measured(
        &self,
        fast: &Fast,
        filter: &Filter,
        span: KnownSpan<'_>,
        results: &[u32],
        found: &mut [f64],
        work: &mut Work<'_>,
    ) {
        let (kind, accepted, first) = span;
        let known = self.known(fast, kind, first as u32);
        let (class, exponent, count) =
            (self.class(first), self.exponent(&[first]), results.len() as u64);
        // What is demanded of one is demanded of all, those that are judged by themselves among
        // them.
        let whole = [first, first + count - 1];
        let positive = filter.polynomial.low >= 0.0;
        let of =
            if positive { EncodingClass::PositiveNormal } else { EncodingClass::NegativeNormal };
        if self.is_rounded(fast, known, first, results, work) {
            work.sum.classify([class, EncodingClass::Other], of, count);
            work.says(exponent, whole, accepted, count);
            if self.demands(known).any(|demand| demand.accuracy != Accuracy::Undefined) {
                work.sum.errors(0, count);
            }
            return;
        }
        let seen = filter.scan(fast.arch, results, found);
        let mut plain = count - seen.outside;
        if seen.outside > 0 {
            plain = 0;
            let mut at = 0;
            while at < results.len() {
                if filter.is_plain(results[at], found[at]) {
                    (plain, at) = (plain + 1, at + 1);
                    continue;
                }
                let is_other = |place: &usize| !filter.is_plain(results[*place], found[*place]);
                let others =
                    at..(at..results.len()).take_while(is_other).last().map_or(at, |last| last + 1);
                let (results, found) = (&results[others.clone()], &mut found[others.clone()]);
                let mut consulted: Vec<Range<usize>> = Vec::new();
                let answer = |demand: &Demand, mut places: Range<usize>| {
                    let result = results[places.start];
                    filter.answer(
                        demand,
                        result,
                        places.all(|place| filter.is_near(result, found[place])),
                    )
                };
                let of = (kind, accepted, first + at as u64);
                self.runs(fast, of, results, work, answer, |places| consulted.push(places));
                for places in consulted {
                    found[places].fill(f64::NAN);
                }
                for distance in found.iter_mut().filter(|distance| distance.is_infinite()) {
                    *distance = f64::NAN;
                }
                at = others.end;
            }
        }
        work.sum.classify([class, EncodingClass::Other], of, plain);
        work.says(exponent, whole, accepted, plain);
        let operand = Interval::point(f64::from(f32::from_bits(first as u32)));
        let bounds = |demand: &Demand| {
            stated(&demand.accuracy, operand, LAYOUT)
                .is_some_and(|one| bounds_error(one, operand.lo))
        };
        if !self.demands(known).any(bounds) {
            return;
        }
        let polynomial = &filter.polynomial;
        let mut errors = Errors::new(
            LAYOUT,
            first,
            results,
            found,
            polynomial.low.abs().min(polynomial.high.abs()),
        );
        if fast.function().is_some_and(is_monotonic) {
            errors.spread = polynomial.high - polynomial.low;
        }
        let (seen, near) = if seen.outside > 0 { errors.seen() } else { (seen, count) };
        // Differences are rounded, too; how far those lie that are beyond what is counted does not
        // matter.
        errors.error =
            polynomial.error + f64::EPSILON * seen.most.min(2.0 * FAR as f64 * errors.unit);
        self.count(fast, &errors, (seen, near), work);
    }

    /// Whether results near normal exact ones are correctly rounded, and accepted for that, and no
    /// error of theirs can be the largest.
    fn is_rounded(
        &self,
        fast: &Fast,
        known: &KindRules,
        first: u64,
        results: &[u32],
        work: &mut Work<'_>,
    ) -> bool {
        // No square root or reciprocal lies half-way between two numbers: of what is rounded,
        // errors are below half an ulp.
        const MOST: u64 = PARTS / 2 - 1;
        let Some(own) = fast.own else { return false };
        let worst = work
            .statistics
            .exponents
            .get(&self.exponent(&[first]))
            .and_then(|exponent| exponent.worst);
        worst.is_some_and(|worst| worst.parts >= MOST && worst.input < first)
            && self.demands(known).all(|demand| accepts_nearest(&demand.accuracy))
            && work.are_own(fast.arch, own, first, results)
    }

    /// Results of a kind that are compared with the host's.
    ///
    /// Of a normal operand, or an integer, a result that is the correctly rounded one is accepted
    /// by every accuracy that [`super::kind`] lets in; of a subnormal one where no demand
    /// flushes it, operand or result, and otherwise where all accept what zero gives.
    pub(super) fn equal(
        &self,
        fast: &Fast,
        native: &Native,
        span: KnownSpan<'_>,
        results: &[u32],
        work: &mut Work<'_>,
    ) {
        let (kind, accepted, first) = span;
        let known = self.known(fast, kind, first as u32);
        if matches!(kind, SpanKind::Subnormal(_)) && known.is_exact() {
            return self.constant(fast, span, results, work);
        }
        let measured = matches!(self.encoding(), Encoding::Float(_))
            && native.has_errors
            && kind == SpanKind::Normal(Magnitude::Normal)
            && self.demands(known).any(|demand| demand.accuracy != Accuracy::Undefined);
        let mut distances = std::mem::take(&mut work.distances);
        let found = &mut distances[..results.len()];
        let mut seen = Some(Scan { least: 0.0, most: 0.0, outside: 0 });
        if measured && native.exact {
            found.fill(0.0);
        } else if measured {
            seen = Some((native.scan)(fast.arch, first as u32, results, found));
        }
        if self.demands(known).all(|demand| of_rounded(demand, kind) == Decision::Accepted)
            && work.are_own(fast.arch, native.own, first, results)
            && self.is_one_class(kind, results)
        {
            let (count, of) = (results.len() as u64, self.class_of_result(first, results[0]));
            work.sum.classify([self.class(first), EncodingClass::Other], of, count);
            work.says(self.exponent(&[first]), [first, first + count - 1], accepted, count);
        } else {
            let is_own =
                |place: usize| (native.compute)((first + place as u64) as u32) == results[place];
            let answer = |demand: &Demand, mut places: Range<usize>| {
                if places.all(is_own) { of_rounded(demand, kind) } else { Decision::ConsultOracle }
            };
            self.runs(fast, span, results, work, answer, |places| {
                found[places].fill(f64::NAN);
                seen = None;
            });
        }
        if measured {
            let errors = Errors::new(LAYOUT, first, results, found, (native.value)(first as u32));
            let seen = seen.map_or_else(|| errors.seen(), |seen| (seen, results.len() as u64));
            self.count(fast, &errors, seen, work);
        }
        work.distances = distances;
    }

    /// Whether results of a kind that are the host's are all of one class: integers and numbers of
    /// one size are.
    fn is_one_class(&self, kind: SpanKind, results: &[u32]) -> bool {
        let [first, last] =
            [results[0], results[results.len() - 1]].map(|result| self.class_of_result(0, result));
        first == last && kind != SpanKind::Normal(Magnitude::Beyond)
    }
}
