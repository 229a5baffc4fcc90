//! The filter in front of the oracle: a result is accepted, or the oracle decides.
//!
//! A result that the filter accepts is one that the oracle accepts: every bound here is proven for
//! all inputs of a span, and narrowed by what its own computation is off. What the filter does not
//! accept is not refused; that is for the oracle to say. The property tests of [`crate::sweep`]
//! compare the two.
//!
//! - [`analytic`] and [`polynomial`] give a function's exact results with a bound on the error,
//!   [`exact`] what they are;
//! - [`tolerance`] says how far from them a demand accepts results, [`reach`] says it of formulas,
//!   with [`identity`] and [`special`];
//! - [`demanding`] says whether a demand could refuse anything there.

use pulp::Arch;

pub(crate) mod analytic;
pub(crate) mod demanding;
pub(crate) mod exact;
mod identity;
pub(crate) mod kind;
pub(crate) mod polynomial;
pub(crate) mod reach;
pub(crate) mod scan;
mod special;
pub(crate) mod tolerance;

use crate::accuracy::Accuracy;
use crate::environment::Subnormals;
use crate::interval::Interval;
use crate::oracle::Demand;
use kind::{INFINITY, InputSpan, LAYOUT, LEAST_NORMAL, Magnitude, SIGN, SpanKind};
use polynomial::{HIGHEST, Polynomial};
use reach::{ROUNDED, is_open, reached, stated};
use scan::{Scan, scan};
use tolerance::{Tolerance, accepts_rounded, bounds_error, farthest, is_all, nearest, tolerance};

/// What the filter says of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// The oracle accepts it.
    Accepted,
    /// Nothing.
    ConsultOracle,
}

impl From<bool> for Decision {
    fn from(accepted: bool) -> Decision {
        if accepted { Decision::Accepted } else { Decision::ConsultOracle }
    }
}

/// The filter of a span: results are compared with the function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter {
    kind: SpanKind,
    /// What they are compared with.
    pub(crate) polynomial: Polynomial,
    /// What is accepted for certain.
    tolerance: Tolerance,
    /// Of normal exact results: what is no farther than that is a normal number of the same sign.
    same: f64,
}

impl Filter {
    /// The filter of inputs by demands; `None` where no bound is known that all accept.
    pub(crate) fn new<'a>(
        mut demands: impl Iterator<Item = &'a Demand>,
        inputs: &InputSpan,
        polynomial: Polynomial,
    ) -> Option<Filter> {
        let InputSpan { kind, operand, results, .. } = *inputs;
        let normal = matches!(
            kind,
            SpanKind::Normal(Magnitude::Normal) | SpanKind::Subnormal(Magnitude::Normal)
        );
        let bound = |demand: &Demand| match stated(&demand.accuracy, operand, LAYOUT)? {
            Accuracy::Inherited(inherited) => {
                let reached = reached(demand, inherited, operand, Some(results.lo));
                let rounded = normal.then(|| nearest(inherited, results)).flatten();
                reached.into_iter().chain(rounded.map(Tolerance::within)).reduce(Tolerance::or)
            }
            one => tolerance(one, operand, results, LAYOUT).filter(|found| is_all(demand, *found)),
        };
        let mut tolerance =
            demands.try_fold(Tolerance::ANYTHING, |all, demand| Some(all.and(bound(demand)?)))?;
        // Differences of results and the polynomial are rounded, and a small error may be lost in
        // this one.
        tolerance.distance = (tolerance.distance - polynomial.error) * ROUNDED;
        let same = if normal {
            (results.lo / 2.0).min(results.lo - 2f64.powi(-126))
        } else {
            f64::INFINITY
        };
        Some(Filter { kind, polynomial, tolerance, same })
    }

    /// Writes down how far results lie from the polynomial. Outside are those that need more than
    /// [`Filter::is_plain`].
    pub(crate) fn scan(&self, arch: Arch, results: &[u32], found: &mut [f64]) -> Scan {
        let Filter { polynomial, tolerance: Tolerance { distance, limit, .. }, same, .. } = self;
        let distance = distance.min(*same);
        if polynomial.cubic {
            scan(arch, |place| polynomial.at::<3>(place), results, found, distance, *limit)
        } else {
            scan(arch, |place| polynomial.at::<HIGHEST>(place), results, found, distance, *limit)
        }
    }

    /// Whether a result at this distance is as near as every demand accepts. A NaN is no distance.
    pub(crate) fn is_near(&self, result: u32, distance: f64) -> bool {
        distance <= self.tolerance.distance
            && f64::from(f32::from_bits(result)).abs() <= self.tolerance.limit
    }

    /// Whether it is, and a normal number of the exact result's sign: then every demand accepts it.
    pub(crate) fn is_plain(&self, result: u32, distance: f64) -> bool {
        distance <= self.same && self.is_near(result, distance)
    }

    /// What a demand says of a result; `near`: whether [`Filter::is_near`] holds.
    pub(crate) fn answer(&self, demand: &Demand, result: u32, near: bool) -> Decision {
        let (magnitude, treated) = (result & !SIGN, demand.results.subnormal_results);
        let same_sign = (result & SIGN != 0) == (self.polynomial.high <= 0.0);
        let normal = (LEAST_NORMAL..INFINITY).contains(&magnitude);
        let inherited = matches!(demand.accuracy, Accuracy::Inherited(_));
        let as_is = matches!(self.kind, SpanKind::Normal(_));
        let tiny = matches!(
            self.kind,
            SpanKind::Normal(Magnitude::Tiny) | SpanKind::Subnormal(Magnitude::Tiny)
        );
        // Of an accuracy of its own what it says of operands that are read as zeros, or of what is
        // flushed, may be less.
        if (inherited || as_is && !tiny)
            && (self.tolerance == Tolerance::ANYTHING || self.is_special(result))
        {
            return Decision::Accepted;
        }
        Decision::from(match tiny {
            true if magnitude == 0 => same_sign && (near || treated != Subnormals::Keep),
            true => near && treated != Subnormals::Flush,
            // What formulas may give is an interval: of either sign, and a zero where zero is in
            // it.
            false if inherited && as_is => near && (normal || self.is_zero(result)),
            // A zero is near where an absolute error reaches so far: GPUs give it for the sine of
            // small numbers.
            false => near && same_sign && (magnitude >= LEAST_NORMAL || as_is && magnitude == 0),
        })
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
}

/// What a demand says of correctly rounded results of operands and results of a kind.
pub(crate) fn of_rounded(demand: &Demand, kind: SpanKind) -> Decision {
    let kept = demand.operands.subnormal_inputs != Subnormals::Flush
        && demand.results.subnormal_results != Subnormals::Flush;
    Decision::from(kept || !matches!(kind, SpanKind::Subnormal(_)))
}

/// Whether demands accept every correctly rounded result that is a normal number, or every exact
/// one.
pub(crate) fn accept_rounded<'a>(
    mut demands: impl Iterator<Item = &'a Demand>,
    exact: bool,
) -> bool {
    demands.all(|demand| match &demand.accuracy {
        Accuracy::Inherited(inherited) => reach::is_rounded(demand.function, inherited),
        accuracy => accepts_rounded(accuracy, exact),
    })
}

/// The largest magnitude demanded of numbers far from zero where no demand bounds the error.
pub(crate) fn limit<'a>(
    mut demands: impl Iterator<Item = &'a Demand>,
    operand: Interval,
) -> Option<f32> {
    let bound = |demand: &Demand| {
        let one = stated(&demand.accuracy, operand, LAYOUT)?;
        (!bounds_error(one, operand.abs().lo))
            .then(|| {
                tolerance(one, operand, Interval::point(1.0), LAYOUT)
                    .filter(|found| is_all(demand, *found))
            })
            .flatten()
    };
    let all = demands.try_fold(Tolerance::ANYTHING, |all, demand| Some(all.and(bound(demand)?)))?;
    Some(all.limit as f32)
}

/// Whether what demands accept is the same for all exact results so far beyond the largest number.
pub(crate) fn is_same_beyond<'a>(
    mut demands: impl Iterator<Item = &'a Demand>,
    operand: Interval,
    results: Interval,
) -> bool {
    demands.all(|demand| {
        let accuracy = &demand.accuracy;
        let plain =
            accuracy.is_bound() || matches!(accuracy, Accuracy::Undefined | Accuracy::Inherited(_));
        plain
            && match stated(accuracy, operand, LAYOUT) {
                Some(Accuracy::Inherited(inherited)) => is_open(demand, inherited, operand),
                one => one
                    .and_then(|one| farthest(one, operand, results.lo, LAYOUT))
                    .is_some_and(|farthest| results.lo - farthest > 2f64.powi(129)),
            }
    })
}

/// Whether what demands accept is the same for all these operands, on which the function is not
/// defined.
pub(crate) fn is_same_where_undefined<'a>(
    mut demands: impl Iterator<Item = &'a Demand>,
    operand: Interval,
) -> bool {
    demands.all(|demand| match &demand.accuracy {
        Accuracy::Inherited(inherited) => is_open(demand, inherited, operand),
        // An error bounds results alone.
        Accuracy::Split(split) => {
            [&split.inside, &split.outside].into_iter().all(Accuracy::is_bound)
        }
        accuracy => !matches!(accuracy, Accuracy::Stated(_) | Accuracy::Steps(_)),
    })
}
