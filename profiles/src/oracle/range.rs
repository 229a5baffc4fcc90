//! The exact results of functions over intervals of operands.

use fpprobe_spirv::op::Function;
use rustc_apfloat::ieee::Quad;
use smallvec::SmallVec;

use super::elementary::{self, angle, is_elementary, power_of};
use super::exact::exact;
use crate::accuracy::domain::{doubles, pi};
use crate::interval::{Interval, RealSet, least};
use crate::number::{Number, Toward};
use crate::real::Exact;

/// Results over intervals of operands: all that lie between the least and the largest of them, but
/// that whole numbers stay whole where they are few. Nothing is known where the function is not
/// defined on some of the operands. With `quick` a reciprocal root may be enclosed as loosely as
/// elementary functions are.
pub(crate) fn range(function: Function, operands: &[Interval], quick: bool) -> RealSet {
    let x = operands[0];
    let y = || operands[1];
    match function {
        Function::Add => total(x, y()),
        Function::Sub => total(x, y().negated()),
        Function::Neg => RealSet::from(x.negated()),
        Function::Mul | Function::OuterProduct => product(x, y()),
        Function::Div => quotient(x, y()),
        Function::Reciprocal => quotient(Interval::point(1.0), x),
        Function::Abs => RealSet::from(x.abs()),
        Function::InverseSqrt if quick && x.lo > 0.0 => inverse_root(x),
        Function::Cosh => corners(function, &[x.abs()]),
        Function::Sin => wave(function, x, half_pi()),
        Function::Cos => wave(function, x, Interval::ZERO),
        Function::Tan if !x.is_point() && crosses(x, half_pi()) => RealSet::Anything,
        Function::Atan2 if x.contains_zero() && y().lo <= 0.0 => angle_of_zero(x, y()),
        Function::Fract if x.lo.floor() != x.hi.floor() => {
            RealSet::from(Interval { lo: 0.0, hi: 1.0 })
        }
        Function::Floor => whole(x.lo.floor(), x.hi.floor()),
        Function::Ceil => whole(x.lo.ceil(), x.hi.ceil()),
        Function::Trunc => whole(x.lo.trunc(), x.hi.trunc()),
        Function::RoundEven => whole(x.lo.round_ties_even(), x.hi.round_ties_even()),
        // Half-way between two integers either is one of the results.
        Function::Round => {
            whole(x.lo.minus(0.5, Toward::Up).ceil(), x.hi.plus(0.5, Toward::Down).floor())
        }
        Function::Sign => whole(sign(x.lo), sign(x.hi)),
        Function::Step => {
            let step = |edge: f64, x: f64| if x < edge { 0.0 } else { 1.0 };
            whole(step(x.hi, y().lo), step(x.lo, y().hi))
        }
        Function::Rem | Function::Mod if !operands.iter().all(|operand| operand.is_point()) => {
            RealSet::Anything
        }
        Function::Min | Function::Max | Function::Clamp | Function::Saturate => {
            chosen(function, operands)
        }
        _ => corners(function, operands),
    }
}

/// What is known, unless infinities cancel out.
fn known(result: Interval) -> RealSet {
    if result.lo.is_nan() || result.hi.is_nan() { RealSet::Anything } else { RealSet::from(result) }
}

/// A sum; nothing is known where infinities may cancel out.
fn total(x: Interval, y: Interval) -> RealSet {
    let cancel = |x: Interval, y: Interval| x.hi == f64::INFINITY && y.lo == f64::NEG_INFINITY;
    if cancel(x, y) || cancel(y, x) { RealSet::Anything } else { known(x.plus(y)) }
}

/// A product; nothing is known where an infinity may meet a zero.
fn product(x: Interval, y: Interval) -> RealSet {
    let undefined = |x: Interval, y: Interval| is_infinite(x) && y.contains_zero();
    if undefined(x, y) || undefined(y, x) { RealSet::Anything } else { known(x.times(y)) }
}

/// Whether an infinity is among the values.
fn is_infinite(x: Interval) -> bool {
    x.lo == f64::NEG_INFINITY || x.hi == f64::INFINITY
}

/// A quotient. Where the divisor is zero, of whichever sign, it is an infinity; where it may be
/// zero, anything.
fn quotient(x: Interval, y: Interval) -> RealSet {
    if is_infinite(x) && is_infinite(y) {
        return RealSet::Anything;
    }
    if !y.contains_zero() {
        return known(x.over(y));
    }
    if y != Interval::ZERO || x.contains_zero() {
        return RealSet::Anything;
    }
    RealSet::point(f64::NEG_INFINITY).or(RealSet::point(f64::INFINITY))
}

/// `1 / sqrt(x)`, x above zero. A power of four has an exact one; else core-math's is within half
/// an ulp of binary64.
fn inverse_root(x: Interval) -> RealSet {
    let at = |x: f64| {
        let root = core_math::rsqrt(x);
        let exponent = Number::exponent(x);
        let exact = exponent % 2 == 0 && x == f64::power(exponent) || root == 0.0;
        if exact {
            Interval::point(root)
        } else {
            Interval { lo: root.next_down(), hi: root.next_up() }
        }
    };
    RealSet::from(Interval { lo: at(x.hi).lo, hi: at(x.lo).hi })
}

/// The angle of points that lie on the negative half of the axis where it jumps, or may do so.
fn angle_of_zero(y: Interval, x: Interval) -> RealSet {
    if x.hi >= 0.0 {
        return RealSet::Anything;
    }
    let above = doubles(pi());
    let below = above.negated();
    if y == Interval::ZERO {
        RealSet::from(below).or(RealSet::from(above))
    } else {
        RealSet::from(below.hull(above))
    }
}

fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { 1f64.copysign(x) }
}

fn half_pi() -> Interval {
    let pi = doubles(pi());
    Interval { lo: pi.lo / 2.0, hi: pi.hi / 2.0 }
}

/// Whether `start + n pi` lies in an interval for some integer n, or may do so.
fn crosses(x: Interval, start: Interval) -> bool {
    phase(x.lo, start, Toward::Down) < phase(x.hi, start, Toward::Up)
}

/// `floor((x - start) / pi)`, at most or at least.
fn phase(x: f64, start: Interval, toward: Toward) -> f64 {
    let down = toward == Toward::Down;
    let distance = x.minus(if down { start.hi } else { start.lo }, toward);
    let pi = doubles(pi());
    distance.over(if down == (distance < 0.0) { pi.lo } else { pi.hi }, toward).floor()
}

/// Sine or cosine, whose greatest and least values lie at `start + n pi`, the greatest at even n.
fn wave(function: Function, x: Interval, start: Interval) -> RealSet {
    if !x.lo.is_finite() || !x.hi.is_finite() {
        return RealSet::Anything;
    }
    let ends = corners(function, &[x]);
    if x.is_point() {
        return ends;
    }
    let all = Interval { lo: -1.0, hi: 1.0 };
    let Some(mut result) = ends.hull() else { return ends };
    // Beyond, binary64 cannot show where in a period a number lies.
    if x.abs().hi > f64::power(40) {
        return RealSet::from(all);
    }
    let (first, last) = (phase(x.lo, start, Toward::Down), phase(x.hi, start, Toward::Up));
    let mut n = first + 1.0;
    // Of two neighbours one is the greatest and one the least value.
    while n <= last && n <= first + 2.0 {
        result = result.hull(Interval::point(if n % 2.0 == 0.0 { 1.0 } else { -1.0 }));
        n += 1.0;
    }
    RealSet::from(result)
}

/// Minimum, maximum and what is made of them: monotonic in each operand.
fn chosen(function: Function, operands: &[Interval]) -> RealSet {
    let min = |a: Interval, b: Interval| Interval { lo: least(a.lo, b.lo), hi: least(a.hi, b.hi) };
    let max =
        |a: Interval, b: Interval| Interval { lo: -least(-a.lo, -b.lo), hi: -least(-a.hi, -b.hi) };
    RealSet::from(match (function, operands) {
        (Function::Min, [x, y]) => min(*x, *y),
        (Function::Max, [x, y]) => max(*x, *y),
        (Function::Saturate, [x]) => min(max(*x, Interval::ZERO), Interval::point(1.0)),
        (Function::Clamp, [x, low, high]) => {
            // min(max(x, low), high), or the median of the three: they differ where low is above
            // high.
            let median = max(min(*x, *low), min(max(*x, *low), *high));
            return RealSet::from(min(max(*x, *low), *high)).or(RealSet::from(median));
        }
        _ => return RealSet::Anything,
    })
}

/// The whole numbers between two; where they are many, all that lies between.
fn whole(lo: f64, hi: f64) -> RealSet {
    const FEW: f64 = 4.0;
    if lo < hi && hi - lo < FEW {
        return RealSet::point(lo).or(whole(lo + 1.0, hi));
    }
    RealSet::from(Interval { lo, hi })
}

/// What lies at a point: an interval, or nothing known.
fn at(function: Function, point: &[f64]) -> Option<Interval> {
    let exact = match function {
        Function::Pow => power_of(point[0], point[1])?,
        Function::Atan2 => angle(point[0], point[1])?,
        _ if is_elementary(function) => elementary::exact(function, point[0]),
        _ => {
            let wide: SmallVec<[Quad; 3]> = point.iter().map(|value| value.quad()).collect();
            return match exact(function, &wide)? {
                Exact::Number(real) => Some(doubles(Interval { lo: real.lo, hi: real.hi })),
                other => end(other),
            };
        }
    };
    match exact {
        Exact::Number(real) => Some(Interval { lo: real.lo, hi: real.hi }),
        other => end(other),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `exact` gives")]
fn end<N>(exact: Exact<N>) -> Option<Interval> {
    match exact {
        Exact::Zero(_) => Some(Interval::ZERO),
        Exact::Infinite(negative) => {
            Some(Interval::point(if negative { f64::NEG_INFINITY } else { f64::INFINITY }))
        }
        Exact::Nan | Exact::Number(_) => None,
    }
}

/// From the least to the largest result at the corners: all there is where the function is
/// monotonic in each operand.
fn corners(function: Function, operands: &[Interval]) -> RealSet {
    if let [x] = operands {
        let ends = if x.is_point() { &[x.lo][..] } else { &[x.lo, x.hi] };
        let results = ends.iter().map(|end| at(function, &[*end]));
        return results
            .reduce(|a, b| Some(a?.hull(b?)))
            .flatten()
            .map_or(RealSet::Anything, RealSet::from);
    }
    let mut hull: Option<Interval> = None;
    for corner in 0..1_usize << operands.len() {
        let upper = |index: usize| corner >> index & 1 == 1;
        // The upper end of a point is the lower one again.
        if operands.iter().enumerate().any(|(index, operand)| upper(index) && operand.is_point()) {
            continue;
        }
        let end = |(index, operand): (usize, &Interval)| {
            if upper(index) { operand.hi } else { operand.lo }
        };
        let point: SmallVec<[f64; 3]> = operands.iter().enumerate().map(end).collect();
        match at(function, &point) {
            Some(result) => hull = Some(hull.map_or(result, |hull| hull.hull(result))),
            None => return RealSet::Anything,
        }
    }
    hull.map_or(RealSet::Anything, RealSet::from)
}
