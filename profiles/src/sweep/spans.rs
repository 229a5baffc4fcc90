//! Many results at once: spans of consecutive inputs of which the same is known.
//!
//! A span holds binary32 operands of one sign and one kind (NaNs that are quiet, or signalling;
//! subnormals; normal numbers of one exponent, no power of two), of which the exact results are all
//! of one kind as well. Then every rule looks at all of them or at none: it chooses by those kinds
//! alone. What is not of one kind is halved, and what is too short to be halved is judged one by
//! one.

use super::Verifier;
use super::cells::CELL;
use super::kind::{CheckMethod, Fast};
use super::lane::RuleVerdicts;
use super::native::Native;
use super::work::{SPAN, Work};
use crate::filter::analytic::is_undefined;
use crate::filter::exact::{ends, is_wave, size};
use crate::filter::kind::{
    INFINITY, InputSpan, LEAST_NORMAL, Magnitude, QUIET, SIGN, SpanKind, exponent,
};
use crate::filter::polynomial::Polynomial;
use crate::filter::{self, Filter};
use crate::interval::Interval;

/// Spans no longer than this are not halved.
const SHORT: usize = 64;
/// What part of a result the error of a polynomial may be: 2^-10 ulp.
const FINE: f64 = f64::EPSILON * (1_u64 << 18) as f64;
/// The same of results that are tiny: of the least number, 2^-149.
const LEAST_FINE: f64 = 1.0e-48;

/// What is to be done with a span.
pub(super) enum SpanPlan {
    /// What is accepted is the same for all, or nearly: what is known of their kind decides.
    Constant(SpanKind, RuleVerdicts),
    /// Nothing but a largest magnitude is demanded.
    Free(f32, RuleVerdicts),
    /// Results are compared with the function.
    Compared(SpanKind, Filter, RuleVerdicts),
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
            // Powers of two, zeros and infinities are kinds of their own; and so is where a
            // rounding turns.
            let single = input & u64::from(LEAST_NORMAL - 1) == 0
                || matches!(fast.way, CheckMethod::Cells) && input % CELL == 0;
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
            SpanPlan::Constant(kind, accepted) => {
                self.constant(fast, (kind, &accepted, first), results, work);
            }
            SpanPlan::Free(limit, accepted) => {
                let kind = SpanKind::Normal(Magnitude::Normal);
                self.free(fast, limit, (kind, &accepted, first), results, work);
            }
            SpanPlan::Compared(kind, filter, accepted) => {
                self.compared(fast, &filter, (kind, &accepted, first), results, work);
            }
            SpanPlan::Equal(kind, native, accepted) => {
                self.equal(fast, &native, (kind, &accepted, first), results, work);
            }
            SpanPlan::Each(native) => self.each(fast, &native, first, results, work),
            SpanPlan::Cell => self.cell(fast, first, results, work),
            SpanPlan::Halve if results.len() <= SHORT => self.exactly(first, results, work),
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
            let kind =
                if first & QUIET == 0 { SpanKind::SignallingNan } else { SpanKind::QuietNan };
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
                    accepted
                        .map_or(SpanPlan::Halve, |accepted| SpanPlan::Equal(kind, native, accepted))
                });
            }
        };
        let [x, step, end] = [
            f32::from_bits(first),
            f32::from_bits(first + 1) - f32::from_bits(first),
            f32::from_bits(last),
        ]
        .map(f64::from);
        let operand = Interval { lo: x.min(end), hi: x.max(end) };
        let normal = magnitude >= LEAST_NORMAL;
        if is_undefined(function, operand.lo, operand.hi) {
            let kind = if normal { SpanKind::Undefined } else { SpanKind::UndefinedSubnormal };
            return if filter::is_same_where_undefined(self.all_demands(), operand) {
                self.constant_plan(fast, kind, first)
            } else {
                SpanPlan::Halve
            };
        }
        // The numbers next to zero differ by as much as themselves.
        if count < 2 || !normal && (magnitude as usize) < SHORT {
            return SpanPlan::Halve;
        }
        if normal
            && operand.abs().lo > 1.0
            && is_wave(function)
            && let Some(limit) = filter::limit(
                self.demands(self.known(fast, SpanKind::Normal(Magnitude::Normal), first)),
                operand,
            )
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
        let polynomial = polynomial
            .into_iter()
            .chain(flat)
            .find(|one| one.error <= (results.lo * FINE).max(LEAST_FINE));
        let kind = if normal { SpanKind::Normal(size) } else { SpanKind::Subnormal(size) };
        let known = self.known(fast, kind, first);
        let inputs = InputSpan { kind, first, operand, results };
        let Some(accepted) = self.accepted_on(known, &inputs) else { return SpanPlan::Halve };
        match size {
            // What is known of one counts for all.
            Magnitude::Beyond
                if normal && !filter::is_same_beyond(self.all_demands(), operand, results) =>
            {
                SpanPlan::Halve
            }
            Magnitude::Beyond => SpanPlan::Constant(kind, accepted),
            _ if !normal && known.is_exact() => SpanPlan::Constant(kind, accepted),
            _ => {
                // What the others accept is known.
                let open = known.open().map(|looking| self.demand(looking));
                match polynomial.and_then(|polynomial| Filter::new(open, &inputs, polynomial)) {
                    Some(filter) => SpanPlan::Compared(kind, filter, accepted),
                    None if !normal && known.has_sets() => SpanPlan::Constant(kind, accepted),
                    None => SpanPlan::Halve,
                }
            }
        }
    }

    /// What is done with inputs of a kind of which all that is accepted is known.
    fn constant_plan(&self, fast: &Fast, kind: SpanKind, first: u32) -> SpanPlan {
        let accepted = self.accepted(self.known(fast, kind, first), |_| None);
        accepted.map_or(SpanPlan::Halve, |accepted| SpanPlan::Constant(kind, accepted))
    }

    /// Results of normal operands that may be of any kind, or exponent: each run of one is a span.
    /// Fractions are below 1.
    fn each(&self, fast: &Fast, native: &Native, first: u64, results: &[u32], work: &mut Work<'_>) {
        let ends = [first, first + results.len() as u64 - 1].map(|end| end as u32);
        let of = |place: usize| {
            let input = (first + place as u64) as u32;
            (native.size(input), exponent((native.value)(input).abs()))
        };
        let mut accepted: [Option<Option<RuleVerdicts>>; 2] = [None, None];
        let mut at = 0;
        while at < results.len() {
            let (size, start) = (of(at), first + at as u64);
            let end =
                (at + 1..results.len()).find(|place| of(*place) != size).unwrap_or(results.len());
            let verdicts = size.0.filter(|size| *size != Magnitude::Tiny).and_then(|size| {
                let of = accepted[usize::from(size == Magnitude::Zero)].get_or_insert_with(|| {
                    let kind = SpanKind::Normal(size);
                    let results = Interval { lo: 0.0, hi: 1.0 };
                    let inputs = InputSpan { results, ..native.inputs(kind, ends, true) };
                    self.accepted_on(self.known(fast, kind, first as u32), &inputs)
                });
                of.as_ref().map(|verdicts| (SpanKind::Normal(size), verdicts, start))
            });
            match verdicts {
                Some(span) => self.equal(fast, native, span, &results[at..end], work),
                None => self.exactly(start, &results[at..end], work),
            }
            at = end;
        }
    }
}
