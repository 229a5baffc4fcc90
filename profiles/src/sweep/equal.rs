//! Spans whose results are compared with the host's.
//!
//! Of a normal operand, or an integer, a result that is the correctly rounded one is accepted by every accuracy that
//! [`super::kind`] lets in; of a subnormal one where no demand flushes it, operand or result, and otherwise where all accept what zero
//! gives.

use super::compare::{Errors, exponent};
use super::demanding::InputSpan;
use super::kind::{Fast, LAYOUT, LEAST_NORMAL, Magnitude, RuleVerdicts, SIGN, SpanKind, Work};
use super::native::Native;
use super::scan::Scan;
use super::statistics::{PARTS, Worst, parts};
use super::{EncodingClass, Verifier};
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::Subnormals;
use crate::interval::Interval;
use crate::oracle::Demand;

impl Verifier {
    /// Judges results of a kind by the host's.
    pub(super) fn equal(
        &self,
        fast: &Fast,
        native: &Native,
        (kind, verdicts): (SpanKind, &RuleVerdicts),
        first: u64,
        results: &[u32],
        work: &mut Work<'_>,
    ) {
        let known = self.known(fast, kind, first as u32);
        let subnormal = matches!(kind, SpanKind::Subnormal(_));
        if subnormal && known.is_exact() {
            return self.constant(fast, (kind, verdicts), first, results, work);
        }
        let keeps = |demand: &Demand| {
            demand.operands.subnormal_inputs != Subnormals::Flush
                && demand.results.subnormal_results != Subnormals::Flush
        };
        let kept = !subnormal || self.demands(known).all(keeps);
        let mut distances = std::mem::take(&mut work.distances);
        let found = &mut distances[..results.len()];
        let mut accepted = results.len() as u64;
        if kept
            && (work.own || (native.own.others)(fast.arch, first as u32, results) == 0)
            && self.is_one_class(kind, results)
        {
            work.sum.classify(
                [self.class(first), EncodingClass::Other],
                self.class_of_result(first, results[0]),
                accepted,
            );
            work.says(self.exponent(&[first]), [first, first + accepted - 1], verdicts, accepted);
            found.fill(0.0);
        } else {
            accepted = 0;
            for ((input, result), found) in (first..).zip(results).zip(found.iter_mut()) {
                let same = (native.compute)(input as u32) == *result;
                let says =
                    known.decide(verdicts, *result, |looking| same && (!subnormal || keeps(self.demand(looking))));
                accepted += u64::from(says.is_some());
                *found = if says.is_some() { 0.0 } else { f64::NAN };
                self.alike([input, 1], *result, says, work);
            }
        }
        let bounds = |demand: &Demand| demand.accuracy != Accuracy::Undefined;
        let float = matches!(self.encoding(), Encoding::Float(_));
        let measured = float
            && native.has_errors
            && kind == SpanKind::Normal(Magnitude::Normal)
            && self.demands(known).any(bounds);
        if measured && native.exact && accepted == results.len() as u64 {
            work.sum.errors(0, accepted);
            let exponent = work.statistics.exponents.entry(self.exponent(&[first])).or_default();
            exponent.see(Some(Worst { input: first, result: results[0], parts: 0 }));
        } else if measured && accepted > 0 {
            let seen = if accepted == results.len() as u64 {
                (native.scan)(fast.arch, first as u32, results, found)
            } else {
                let rounded = (first..).zip(results).zip(found.iter_mut()).filter(|_| !native.exact);
                for ((input, result), found) in rounded {
                    *found += ((native.value)(input as u32) - f64::from(f32::from_bits(*result))).abs();
                }
                Scan {
                    least: found.iter().copied().fold(f64::INFINITY, f64::min),
                    most: found.iter().copied().fold(0.0, f64::max),
                    outside: 0,
                }
            };
            let magnitude = (native.value)(first as u32).abs();
            let unit = 2f64.powi(exponent(magnitude) - LAYOUT.fraction.cast_signed()) / PARTS as f64;
            let errors = Errors { first, results, distances: found, unit, error: 0.0, spread: f64::INFINITY };
            self.count(fast, &errors, seen, accepted, work);
        }
        work.distances = distances;
    }

    /// Judges results of normal operands that may be of any kind, one by one.
    pub(super) fn one_by_one(&self, fast: &Fast, native: &Native, first: u64, results: &[u32], work: &mut Work<'_>) {
        // Fractions are below 1, of operands of one sign and exponent.
        let operand = native
            .inputs(
                SpanKind::Normal(Magnitude::Normal),
                [first, first + results.len() as u64 - 1].map(|end| end as u32),
                true,
            )
            .operand;
        let mut accepted: [Option<Option<RuleVerdicts>>; 2] = [None, None];
        for (input, result) in (first..).zip(results.iter().copied()) {
            let size = match result & !SIGN {
                0 => Magnitude::Zero,
                1..LEAST_NORMAL => Magnitude::Tiny,
                _ => Magnitude::Normal,
            };
            if (native.compute)(input as u32) != result || size == Magnitude::Tiny {
                self.one(input, result, work);
                continue;
            }
            let verdicts = accepted[usize::from(size == Magnitude::Zero)].get_or_insert_with(|| {
                let (kind, results) = (SpanKind::Normal(size), Interval { lo: 0.0, hi: 1.0 });
                let inputs = InputSpan { kind, first: input as u32, operand, results };
                self.accepted_on(self.known(fast, kind, input as u32), &inputs)
            });
            self.alike([input, 1], result, verdicts.clone(), work);
            if verdicts.is_none() {
                continue;
            }
            if size == Magnitude::Normal && native.has_errors {
                let exact = (native.value)(input as u32);
                let distance = (exact - f64::from(f32::from_bits(result))).abs();
                let parts = parts(distance * 2f64.powi(LAYOUT.fraction.cast_signed() - exponent(exact.abs())));
                work.sum.errors(parts, 1);
                work.statistics.exponents.entry(self.exponent(&[input])).or_default().see(Some(Worst {
                    input,
                    result,
                    parts,
                }));
            }
        }
    }

    /// Whether results of a kind that are the host's are all of one class: integers and numbers of one size are.
    fn is_one_class(&self, kind: SpanKind, results: &[u32]) -> bool {
        let [first, last] = [results[0], results[results.len() - 1]].map(|result| self.class_of_result(0, result));
        first == last && kind != SpanKind::Normal(Magnitude::Beyond)
    }
}
