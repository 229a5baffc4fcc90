//! Intervals of real numbers, and unions of them: what an intermediate value may be.
//!
//! Ends round outward ([`crate::number`]), so a set of values never loses a member. An end may be
//! infinite where infinities are values.

use smallvec::{SmallVec, smallvec};

use crate::number::{Number, Toward};

/// The numbers from `lo` to `hi`, inclusive; never a NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval<N = f64> {
    /// Lower end.
    pub lo: N,
    /// Upper end.
    pub hi: N,
}

impl<N: Number> Interval<N> {
    /// Both zeros: an interval knows no sign of zero.
    pub const ZERO: Interval<N> = Interval { lo: N::NOUGHT, hi: N::NOUGHT };

    /// Every number, and the infinities.
    pub fn all() -> Interval<N> {
        Interval { lo: -N::INFINITE, hi: N::INFINITE }
    }

    /// One number.
    pub fn point(value: N) -> Interval<N> {
        Interval { lo: value, hi: value }
    }

    /// Whether it is one number.
    pub fn is_point(self) -> bool {
        self.lo == self.hi
    }

    /// Whether a number lies in it.
    pub fn contains(self, value: N) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// Whether zero lies in it.
    pub fn contains_zero(self) -> bool {
        self.contains(N::NOUGHT)
    }

    /// Whether all of it lies in another.
    pub fn is_within(self, other: Interval<N>) -> bool {
        other.lo <= self.lo && self.hi <= other.hi
    }

    /// The smallest interval that holds both.
    #[must_use]
    pub fn hull(self, other: Interval<N>) -> Interval<N> {
        Interval { lo: least(self.lo, other.lo), hi: -least(-self.hi, -other.hi) }
    }

    /// The part that lies in another as well.
    pub fn common(self, other: Interval<N>) -> Option<Interval<N>> {
        let (lo, hi) = (-least(-self.lo, -other.lo), least(self.hi, other.hi));
        (lo <= hi).then_some(Interval { lo, hi })
    }

    /// The magnitudes of its members.
    #[must_use]
    pub fn abs(self) -> Interval<N> {
        let (a, b) = (self.lo.magnitude(), self.hi.magnitude());
        Interval {
            lo: if self.contains_zero() { N::NOUGHT } else { least(a, b) },
            hi: -least(-a, -b),
        }
    }

    /// The numbers of the other sign.
    #[must_use]
    pub fn negated(self) -> Interval<N> {
        Interval { lo: -self.hi, hi: -self.lo }
    }

    /// Moved outward by a distance at either end.
    #[must_use]
    pub fn widened(self, distance: N) -> Interval<N> {
        Interval {
            lo: self.lo.minus(distance, Toward::Down),
            hi: self.hi.plus(distance, Toward::Up),
        }
    }

    /// Sums; NaN at an end where infinities cancel out.
    #[must_use]
    pub fn plus(self, other: Interval<N>) -> Interval<N> {
        Interval {
            lo: self.lo.plus(other.lo, Toward::Down),
            hi: self.hi.plus(other.hi, Toward::Up),
        }
    }

    /// Products; NaN at an end where an infinity meets zero.
    #[must_use]
    pub fn times(self, other: Interval<N>) -> Interval<N> {
        let negative = |interval: Interval<N>| interval.hi <= N::NOUGHT && interval.lo < N::NOUGHT;
        if negative(self) {
            return self.negated().times(other).negated();
        }
        if negative(other) {
            return self.times(other.negated()).negated();
        }
        let product = |(a, b): (N, N), (c, d): (N, N)| Interval {
            lo: a.times(b, Toward::Down),
            hi: c.times(d, Toward::Up),
        };
        match (self.lo >= N::NOUGHT, other.lo >= N::NOUGHT) {
            (true, true) => product((self.lo, other.lo), (self.hi, other.hi)),
            (true, false) => product((self.hi, other.lo), (self.hi, other.hi)),
            (false, true) => product((self.lo, other.hi), (self.hi, other.hi)),
            (false, false) => {
                let ends = product((self.hi, other.lo), (self.hi, other.hi));
                ends.hull(product((self.lo, other.hi), (self.lo, other.lo)))
            }
        }
    }

    /// Quotients by an interval without zero; NaN at an end where infinities meet.
    #[must_use]
    pub fn over(self, other: Interval<N>) -> Interval<N> {
        if other.hi < N::NOUGHT {
            return self.negated().over(other.negated());
        }
        let lowest = if self.lo < N::NOUGHT { other.lo } else { other.hi };
        let highest = if self.hi < N::NOUGHT { other.hi } else { other.lo };
        Interval { lo: self.lo.over(lowest, Toward::Down), hi: self.hi.over(highest, Toward::Up) }
    }
}

/// The smaller of two numbers.
pub fn least<N: Number>(a: N, b: N) -> N {
    if b < a { b } else { a }
}

/// What an intermediate value may be.
#[derive(PartialEq, Debug)]
pub enum RealSet {
    /// Any value of the format, a NaN among them: nothing is known.
    Anything,
    /// A number of one of these intervals: ascending, disjoint, at least one.
    Within(Parts),
}

/// Intervals of a union. Most are one interval, or one and a zero that a subnormal was flushed to.
pub type Parts = SmallVec<[Interval; 1]>;

/// How many intervals a union has at most; the nearest two become one where there would be more.
const MOST: usize = 12;

impl Clone for RealSet {
    /// The derived one would go interval by interval.
    fn clone(&self) -> RealSet {
        match self {
            RealSet::Anything => RealSet::Anything,
            RealSet::Within(parts) => RealSet::Within(Parts::from_slice(parts)),
        }
    }
}

impl RealSet {
    /// One number.
    pub fn point(value: f64) -> RealSet {
        RealSet::from(Interval::point(value))
    }

    /// Union.
    #[must_use]
    pub fn or(self, other: RealSet) -> RealSet {
        match (self, other) {
            (RealSet::Within(mut parts), RealSet::Within(more)) => {
                for part in more {
                    insert(&mut parts, part);
                }
                RealSet::Within(parts)
            }
            _ => RealSet::Anything,
        }
    }

    /// The union and a zero.
    #[must_use]
    pub fn or_zero(self) -> RealSet {
        self.or(RealSet::from(Interval::ZERO))
    }

    /// The intervals; `None` where nothing is known.
    pub fn parts(&self) -> Option<&[Interval]> {
        match self {
            RealSet::Anything => None,
            RealSet::Within(parts) => Some(parts),
        }
    }

    /// Whether it is one number.
    pub fn is_point(&self) -> bool {
        matches!(self.parts(), Some([part]) if part.is_point())
    }

    /// The smallest interval that holds all of it.
    pub fn hull(&self) -> Option<Interval> {
        let parts = self.parts()?;
        Some(Interval { lo: parts.first()?.lo, hi: parts.last()?.hi })
    }
}

impl From<Interval> for RealSet {
    fn from(interval: Interval) -> RealSet {
        RealSet::Within(smallvec![interval])
    }
}

/// Adds an interval to a union: what it meets becomes one with it.
fn insert(parts: &mut Parts, mut new: Interval) {
    let first = parts.iter().position(|part| part.hi >= new.lo).unwrap_or(parts.len());
    let met = parts[first..].iter().take_while(|part| part.lo <= new.hi).count();
    for part in parts.drain(first..first + met) {
        new = new.hull(part);
    }
    parts.insert(first, new);
    if parts.len() > MOST {
        let gap = |index: usize| parts[index + 1].lo - parts[index].hi;
        let narrowest =
            (0..parts.len() - 1).reduce(|a, b| if gap(b) < gap(a) { b } else { a }).unwrap_or(0);
        parts[narrowest] = parts[narrowest].hull(parts[narrowest + 1]);
        parts.remove(narrowest + 1);
    }
}

#[cfg(test)]
mod tests {
    use rustc_apfloat::ieee::Quad;

    use super::*;

    fn interval(lo: i32, hi: i32) -> Interval {
        Interval { lo: f64::from(lo), hi: f64::from(hi) }
    }

    fn union(intervals: &[(i32, i32)]) -> RealSet {
        intervals
            .iter()
            .map(|(lo, hi)| RealSet::from(interval(*lo, *hi)))
            .reduce(RealSet::or)
            .unwrap()
    }

    #[test]
    fn unions_are_ordered_and_what_meets_is_one() {
        assert_eq!(union(&[(5, 6), (1, 2), (3, 4)]), union(&[(1, 2), (3, 4), (5, 6)]));
        assert_eq!(union(&[(5, 6), (1, 2), (2, 5)]), RealSet::from(interval(1, 6)));
        assert_eq!(union(&[(1, 1), (3, 3), (0, 9)]), RealSet::from(interval(0, 9)));
        assert_eq!(union(&[(3, 4)]).or_zero().parts().unwrap().len(), 2);
        assert_eq!(union(&[(-3, 4)]).or_zero(), union(&[(-3, 4)]));
        assert_eq!(union(&[(1, 2)]).or(RealSet::Anything), RealSet::Anything);
        assert_eq!(union(&[(5, 6), (1, 2)]).hull(), Some(interval(1, 6)));
    }

    #[test]
    fn what_would_be_too_many_intervals_loses_the_narrowest_gap_only() {
        let points: Vec<(i32, i32)> = (0..=MOST as i32).map(|n| (n * n, n * n)).collect();
        let parts = union(&points);
        assert_eq!(parts.parts().unwrap().len(), MOST);
        assert_eq!(parts.parts().unwrap()[..2], [interval(0, 1), interval(4, 4)]);
    }

    #[test]
    fn ends_round_outward() {
        let tiny = Interval::point(1.0).widened(f64::power(-200));
        assert_eq!(tiny, Interval { lo: 1f64.next_down(), hi: 1f64.next_up() });
        let tiny = Interval::point(Quad::power(0)).widened(Quad::power(-200));
        assert!(tiny.lo < Quad::power(0) && tiny.hi > Quad::power(0));
        let third = interval(1, 1).over(interval(3, 3));
        assert_eq!(third, Interval { lo: 1.0 / 3.0, hi: (1.0f64 / 3.0).next_up() });
    }

    #[test]
    fn every_member_is_where_arithmetic_says() {
        assert_eq!(interval(-3, 2).abs(), interval(0, 3));
        assert_eq!(interval(-3, -2).abs(), interval(2, 3));
        assert_eq!(interval(1, 4).common(interval(3, 9)), Some(interval(3, 4)));
        assert_eq!(interval(1, 2).common(interval(3, 9)), None);
        let spans = [-4, -1, 0, 2, 3];
        let intervals = || {
            spans
                .iter()
                .flat_map(|lo| spans.iter().filter(move |hi| lo <= *hi).map(move |hi| (*lo, *hi)))
        };
        for (a, b) in intervals().flat_map(|a| intervals().map(move |b| (a, b))) {
            let members =
                || (a.0..=a.1).flat_map(|x| (b.0..=b.1).map(move |y| (f64::from(x), f64::from(y))));
            let (left, right) = (interval(a.0, a.1), interval(b.0, b.1));
            let hull = |operation: fn(f64, f64) -> f64| {
                members()
                    .map(|(x, y)| Interval::point(operation(x, y)))
                    .reduce(Interval::hull)
                    .unwrap()
            };
            assert_eq!(left.plus(right), hull(|x, y| x + y));
            assert_eq!(left.times(right), hull(|x, y| x * y), "{a:?} {b:?}");
            if !right.contains_zero() {
                let (quotient, inner) = (left.over(right), hull(|x, y| x / y));
                assert!(
                    inner.is_within(quotient) && quotient.is_within(inner.widened(1e-15)),
                    "{a:?} {b:?}"
                );
            }
        }
    }
}
