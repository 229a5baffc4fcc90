//! Exact values and tight enclosures of real numbers.
//!
//! An operation on two numbers of binary128 is computed by `rustc_apfloat` rounded down and rounded
//! up: the pair encloses the exact result with a relative width of at most 2^-112, far below any
//! distance that a rule can distinguish.

use rustc_apfloat::ieee::{Double, Quad};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

use crate::number::{Number, Toward};
use crate::quad::{self, DOUBLE, decode, exponent, power};

/// A real number known exactly (`lo == hi`) or enclosed; finite, non-zero, one sign.
#[derive(Clone, Copy, Debug)]
pub struct Real<N = Quad> {
    /// Not above the number.
    pub lo: N,
    /// Not below it.
    pub hi: N,
}

/// An exact mathematical result.
#[derive(Clone, Copy, Debug)]
pub enum Exact<N = Quad> {
    /// Not a number: an invalid operation or a NaN operand.
    Nan,
    /// An infinity that is exact: from an infinite operand or a pole. `true` is negative.
    Infinite(bool),
    /// A zero that is exact. `true` is negative.
    Zero(bool),
    /// A finite, non-zero number.
    Number(Real<N>),
}

impl<N: Number> Real<N> {
    /// An exactly known number.
    pub fn exact(value: N) -> Real<N> {
        Real { lo: value, hi: value }
    }
}

impl Real {
    /// Whether it is negative.
    pub fn is_negative(self) -> bool {
        self.lo.is_negative()
    }

    /// The ends by magnitude: nearer to zero first.
    pub fn magnitudes(self) -> (Quad, Quad) {
        if self.is_negative() { (-self.hi, -self.lo) } else { (self.lo, self.hi) }
    }

    /// `self` moved by `distance` (not negative) outward in both directions: lower end, upper end.
    pub fn widened(self, distance: Quad) -> (Quad, Quad) {
        (
            self.lo.sub_r(distance, Round::TowardNegative).value,
            self.hi.add_r(distance, Round::TowardPositive).value,
        )
    }
}

/// Classifies the result of one operation, given by rounding direction.
pub fn bracket(operation: impl Fn(Round) -> rustc_apfloat::StatusAnd<Quad>) -> Exact {
    let cut = operation(Round::TowardZero);
    enclosed(cut.value, cut.status & Status::INEXACT == Status::OK)
}

/// A number of which this is what lies next to it towards zero, or all.
fn enclosed(cut: Quad, exact: bool) -> Exact {
    if exact {
        return Exact::of(cut);
    }
    // What was cut off is less than the step to the next value away from zero.
    Exact::Number(if cut.is_negative() {
        Real { lo: cut.next_down().value, hi: cut }
    } else {
        Real { lo: cut, hi: cut.next_up().value }
    })
}

/// `a / b`.
pub fn quotient(a: Quad, b: Quad) -> Exact {
    let (cut, exact) = quad::quotient(a, b);
    enclosed(cut, exact)
}

impl<N: Number> Exact<N> {
    /// An exactly known value.
    pub fn of(value: N) -> Exact<N> {
        let negative = value.is_signed();
        if value.is_invalid() {
            Exact::Nan
        } else if value == N::NOUGHT {
            Exact::Zero(negative)
        } else if value.is_number() {
            Exact::Number(Real::exact(value))
        } else {
            Exact::Infinite(negative)
        }
    }
}

impl Exact {
    /// Square root: sqrt(-0) = -0, NaN below (IEEE 754-2019, 5.4.1).
    pub fn sqrt(x: Quad) -> Exact {
        if x.is_nan() || (x.is_negative() && !x.is_zero()) {
            return Exact::Nan;
        }
        if x.is_zero() || x.is_infinite() {
            return Exact::of(x);
        }
        let lo = sqrt_down(x);
        // The sign of r*r - x is exact in a fused multiply-add, whatever its rounding.
        let residue = lo.mul_add_r(lo, -x, Round::NearestTiesToEven).value;
        Exact::Number(Real { lo, hi: if residue.is_zero() { lo } else { lo.next_up().value } })
    }

    /// `1 / sqrt(x)`: the pole keeps the sign of zero (IEEE 754-2019, 9.2.1).
    pub fn inverse_sqrt(x: Quad) -> Exact {
        let one = power(0);
        match Exact::sqrt(x) {
            Exact::Nan => Exact::Nan,
            Exact::Zero(negative) => Exact::Infinite(negative),
            Exact::Infinite(_) => Exact::Zero(false),
            Exact::Number(root) => Exact::Number(Real {
                lo: one.over(root.hi, Toward::Down),
                hi: one.over(root.lo, Toward::Up),
            }),
        }
    }
}

/// The largest binary128 value whose square is not above `x`; `x` positive and finite.
fn sqrt_down(x: Quad) -> Quad {
    // From 1 to 4, where the host's root is near.
    let half = exponent(x).div_euclid(2);
    let x = x.scalbn(-2 * half);
    // The host's root is a first guess; two steps of Newton's iteration bring 53 bits past 113, and
    // what follows makes the result exact whatever the guess was.
    let mut loses = false;
    let near: Double = x.convert(&mut loses).value;
    let guess = f64::from_bits(near.to_bits() as u64).sqrt();
    let mut root = decode(DOUBLE, guess.to_bits());
    let slope = decode(DOUBLE, (0.5 / guess).to_bits());
    for _ in 0..2 {
        let residue = (-root).mul_add_r(root, x, Round::NearestTiesToEven).value;
        root = residue.mul_add_r(slope, root, Round::NearestTiesToEven).value;
    }
    let above = |root: Quad| {
        let residue = root.mul_add_r(root, -x, Round::NearestTiesToEven).value;
        !residue.is_negative() && !residue.is_zero()
    };
    while above(root) {
        root = root.next_down().value;
    }
    while !above(root.next_up().value) {
        root = root.next_up().value;
    }
    root.scalbn(half)
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::{FloatLayout, Format};

    use super::*;
    use crate::quad::integer;
    use crate::quad::tests::quads;

    fn single() -> FloatLayout {
        Format::F32.float().unwrap()
    }

    #[test]
    fn quotients_are_those_of_apfloat() {
        let agree = |a: Quad, b: Quad| {
            let theirs = bracket(|round| a.div_r(b, round));
            let same = match (quotient(a, b), theirs) {
                (Exact::Number(ours), Exact::Number(theirs)) => {
                    ours.lo.bitwise_eq(theirs.lo) && ours.hi.bitwise_eq(theirs.hi)
                }
                (ours, theirs) => format!("{ours:?}") == format!("{theirs:?}"),
            };
            assert!(same, "{a} / {b}: {:?}, {theirs:?}", quotient(a, b));
        };
        let all: Vec<Quad> = quads().collect();
        for (number, a) in all.iter().enumerate() {
            for step in [0, 1, 3, 29_999, 30_010] {
                agree(*a, all[(number + step) % all.len()]);
            }
            agree(power(0), *a);
            // Products are divided without a rest where they are exact.
            agree((*a * integer(number as i64 + 1)).value, integer(number as i64 + 1));
        }
        for exponent in (-16500..=16383).step_by(7) {
            agree(power(exponent), integer(3));
            agree(integer(3), power(exponent));
        }
    }

    #[test]
    fn roots_are_enclosed_tightly() {
        let singles = [1u64, 2, 0x00800000, 0x3f800000, 0x40000000, 0x40800000, 0x7f7fffff];
        // Squares of what binary64 has, as lengths of vectors pass through them.
        let squares =
            [1, 3, 0x7fef_ffff_ffff_ffff].map(|bits| decode(DOUBLE, bits)).map(|x| (x * x).value);
        for x in singles.iter().map(|bits| decode(single(), *bits)).chain(squares) {
            let Exact::Number(root) = Exact::sqrt(x) else { panic!("{x}") };
            let square = |r: Quad, round| r.mul_r(r, round).value;
            assert!(
                square(root.lo, Round::TowardNegative) <= x
                    && x <= square(root.hi, Round::TowardPositive)
            );
        }
        let Exact::Number(two) = Exact::sqrt(decode(single(), 0x40800000)) else { panic!() };
        assert!(two.lo == two.hi && two.lo == power(1));
    }
}
