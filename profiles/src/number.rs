//! Numbers that intervals end in: binary64 where many are composed, binary128 where one result is
//! judged.
//!
//! Both compute with a rounding direction, so that an end never moves inward. Binary64 does so on
//! the host's unit: the error of a sum, a product or a quotient rounded to nearest even is a number
//! whose sign says on which side the exact result lies (Dekker 1971; Knuth, The Art of Computer
//! Programming, 4.2.2). Where that number might itself be rounded, `rustc_apfloat` computes.
//! [`crate::host`] says whether the unit rounds to nearest even and keeps subnormals.

use std::fmt::Debug;
use std::ops::Neg;

use fpprobe_spirv::FloatLayout;
use rustc_apfloat::ieee::{Double, Quad};
use rustc_apfloat::{Float as _, FloatConvert as _, Round};

use crate::quad::{self, Cut};

/// A rounding direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Toward {
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
}

impl Toward {
    fn round(self) -> Round {
        match self {
            Toward::Down => Round::TowardNegative,
            Toward::Up => Round::TowardPositive,
        }
    }
}

/// A number of a binary format that is wide enough for what formats hold.
pub trait Number: Copy + PartialOrd + Neg<Output = Self> + Debug {
    /// Zero.
    const NOUGHT: Self;
    /// Infinity.
    const INFINITE: Self;
    /// `2^exponent`.
    fn power(exponent: i32) -> Self;
    /// A binary64 number.
    fn of(value: f64) -> Self;
    /// The binary64 number next to it in a direction, or itself.
    fn double(self, toward: Toward) -> f64;
    /// A binary128 number rounded in a direction.
    fn of_quad(value: Quad, toward: Toward) -> Self;
    /// The number as binary128.
    fn quad(self) -> Quad;
    /// An encoded number; NaN for a NaN.
    fn decode(layout: FloatLayout, bits: u64) -> Self;
    /// The magnitude cut to a layout's precision towards zero.
    fn cut(self, layout: FloatLayout) -> Cut;
    /// Exponent of the leading bit of a finite number that is not zero.
    fn exponent(self) -> i32;
    /// `self + other`, rounded.
    fn plus(self, other: Self, toward: Toward) -> Self;
    /// `self * other`, rounded.
    fn times(self, other: Self, toward: Toward) -> Self;
    /// `self / other`, rounded.
    fn over(self, other: Self, toward: Toward) -> Self;
    /// The next larger number.
    fn successor(self) -> Self;

    /// `self - other`, rounded.
    fn minus(self, other: Self, toward: Toward) -> Self {
        self.plus(-other, toward)
    }
    /// The magnitude.
    fn magnitude(self) -> Self {
        if self < Self::NOUGHT { -self } else { self }
    }
    /// Whether it is a NaN.
    fn is_invalid(self) -> bool {
        self.partial_cmp(&self).is_none()
    }
    /// Whether its sign bit is set.
    fn is_signed(self) -> bool;
    /// Whether it is neither infinite nor a NaN.
    fn is_number(self) -> bool {
        self.magnitude() < Self::INFINITE
    }
}

impl Number for Quad {
    const NOUGHT: Quad = Quad::ZERO;
    const INFINITE: Quad = Quad::INFINITY;

    fn power(exponent: i32) -> Quad {
        quad::power(exponent)
    }
    fn of(value: f64) -> Quad {
        quad::decode(quad::DOUBLE, value.to_bits())
    }
    fn double(self, toward: Toward) -> f64 {
        let mut loses = false;
        let double: Double = self.convert_r(toward.round(), &mut loses).value;
        f64::from_bits(double.to_bits() as u64)
    }
    fn of_quad(value: Quad, _: Toward) -> Quad {
        value
    }
    fn quad(self) -> Quad {
        self
    }
    fn decode(layout: FloatLayout, bits: u64) -> Quad {
        quad::decode(layout, bits)
    }
    fn cut(self, layout: FloatLayout) -> Cut {
        quad::cut(layout, self)
    }
    fn exponent(self) -> i32 {
        self.ilogb()
    }
    fn plus(self, other: Quad, toward: Toward) -> Quad {
        self.add_r(other, toward.round()).value
    }
    fn times(self, other: Quad, toward: Toward) -> Quad {
        self.mul_r(other, toward.round()).value
    }
    fn over(self, other: Quad, toward: Toward) -> Quad {
        let (cut, exact) = quad::quotient(self, other);
        match toward {
            Toward::Down if !exact && cut.is_negative() => cut.next_down().value,
            Toward::Up if !exact && !cut.is_negative() => cut.next_up().value,
            _ => cut,
        }
    }
    fn is_signed(self) -> bool {
        self.is_negative()
    }
    fn successor(self) -> Quad {
        self.next_up().value
    }
}

/// The smallest normal and the largest finite number of a format.
pub fn limits(layout: FloatLayout) -> [f64; 2] {
    let at = |exponent: i32| ((exponent + 1023) as u64) << 52;
    let fraction = layout.max_finite() & (layout.min_normal() - 1);
    [at(1 - layout.bias()), at(layout.greatest_exponent()) | fraction << (52 - layout.fraction)]
        .map(f64::from_bits)
}

/// Magnitudes between these are multiplied and divided on the host: no part of the error underflows
/// or overflows.
const SMALL: f64 = f64::from_bits((1023 - 400) << 52);
const LARGE: f64 = f64::from_bits((1023 + 400) << 52);

fn moderate(value: f64) -> bool {
    (SMALL..LARGE).contains(&value.abs())
}

/// A rounded result and its error (exact less rounded) to a result rounded in a direction.
fn directed(rounded: f64, error: f64, toward: Toward) -> f64 {
    match toward {
        Toward::Down if error < 0.0 => rounded.next_down(),
        Toward::Up if error > 0.0 => rounded.next_up(),
        _ => rounded,
    }
}

/// A product and its error.
fn product(a: f64, b: f64) -> (f64, f64) {
    // Each factor in two halves of 26 bits, whose products are exact.
    let split = |x: f64| {
        let scaled = x * 134_217_729.0;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    let rounded = a * b;
    (rounded, a_low * b_low - (((rounded - a_high * b_high) - a_low * b_high) - a_high * b_low))
}

fn by_apfloat(a: f64, b: f64, operation: impl Fn(Double, Double) -> Double) -> f64 {
    let double = |value: f64| Double::from_bits(u128::from(value.to_bits()));
    f64::from_bits(operation(double(a), double(b)).to_bits() as u64)
}

impl Number for f64 {
    const NOUGHT: f64 = 0.0;
    const INFINITE: f64 = f64::INFINITY;

    fn power(exponent: i32) -> f64 {
        match exponent {
            -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
            -1074..-1022 => f64::from_bits(1 << (exponent + 1074)),
            1024.. => f64::INFINITY,
            _ => 0.0,
        }
    }
    fn of(value: f64) -> f64 {
        value
    }
    fn double(self, _: Toward) -> f64 {
        self
    }
    fn of_quad(value: Quad, toward: Toward) -> f64 {
        value.double(toward)
    }
    fn quad(self) -> Quad {
        Quad::of(self)
    }
    fn decode(layout: FloatLayout, bits: u64) -> f64 {
        if layout == quad::DOUBLE {
            return f64::from_bits(bits);
        }
        let sign = u64::from(layout.is_negative(bits)) << 63;
        let magnitude = bits & layout.magnitude_mask();
        let value = if layout.is_nan(bits) {
            f64::NAN
        } else if layout.is_infinite(bits) {
            f64::INFINITY
        } else {
            let (field, fraction) =
                (magnitude >> layout.fraction, magnitude & (layout.min_normal() - 1));
            let hidden = if field == 0 { 0 } else { layout.min_normal() };
            // Both factors are exact, and so is their product: binary64 is wider in either field.
            (fraction | hidden) as f64
                * f64::power((field.max(1) as i32) - layout.bias() - layout.fraction as i32)
        };
        f64::from_bits(value.to_bits() | sign)
    }
    fn cut(self, layout: FloatLayout) -> Cut {
        let bits = self.to_bits();
        let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
        match field {
            0 if fraction == 0 => Cut { magnitude: 0, exact: true, half: std::cmp::Ordering::Less },
            0 => {
                let leading = fraction.ilog2();
                quad::cut_number(
                    layout,
                    leading as i32 - 1074,
                    u128::from(fraction) << (112 - leading),
                )
            }
            0x7ff => quad::cut_number(layout, i32::MAX, 1 << 112),
            _ => quad::cut_number(layout, field - 1023, u128::from(fraction | 1 << 52) << 60),
        }
    }
    fn exponent(self) -> i32 {
        let (bits, field) = (self.to_bits(), (self.to_bits() >> 52 & 0x7ff) as i32);
        if field == 0 {
            (bits & ((1 << 52) - 1)).max(1).ilog2() as i32 - 1074
        } else {
            field - 1023
        }
    }
    fn plus(self, other: f64, toward: Toward) -> f64 {
        let sum = self + other;
        // What comes back of the second operand may overflow where the sum does not.
        let part = sum - self;
        if sum.is_finite() && part.is_finite() {
            let error = (self - (sum - part)) + (other - part);
            return directed(sum, error, toward);
        }
        by_apfloat(self, other, |a, b| a.add_r(b, toward.round()).value)
    }
    fn times(self, other: f64, toward: Toward) -> f64 {
        if moderate(self) && moderate(other) {
            let (rounded, error) = product(self, other);
            return directed(rounded, error, toward);
        }
        by_apfloat(self, other, |a, b| a.mul_r(b, toward.round()).value)
    }
    fn over(self, other: f64, toward: Toward) -> f64 {
        if moderate(self) && moderate(other) {
            let quotient = self / other;
            let (back, error) = product(quotient, other);
            // The rest has the sign of the error where the divisor is positive.
            let rest = (self - back) - error;
            return directed(quotient, if other > 0.0 { rest } else { -rest }, toward);
        }
        by_apfloat(self, other, |a, b| a.div_r(b, toward.round()).value)
    }
    fn is_signed(self) -> bool {
        self.is_sign_negative()
    }
    fn successor(self) -> f64 {
        self.next_up()
    }
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::Format;
    use proptest::prelude::*;

    use super::*;

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() || a == 0.0 && b == 0.0
    }

    /// Numbers of every size, many of few bits, so that results are exact or nearly so.
    fn numbers() -> impl Strategy<Value = f64> {
        let short = (any::<i16>(), -60i32..60).prop_map(|(a, e)| f64::from(a) * f64::power(e));
        let special = prop::sample::select(vec![
            0.0,
            -0.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            f64::INFINITY,
            1e-300,
        ]);
        prop_oneof![2 => any::<u64>().prop_map(f64::from_bits), 2 => short, 1 => special, 2 => any::<f32>().prop_map(f64::from)]
    }

    #[test]
    fn sums_next_to_the_largest_number_are_rounded_in_their_direction() {
        let (a, below) = (-5.246_332_721_248_981e307_f64, 1.273_059_862_737_417_5e308_f64);
        assert_eq!(
            [Toward::Down, Toward::Up].map(|toward| a.plus(f64::MAX, toward)),
            [below, below.next_up()]
        );
        assert_eq!(
            [Toward::Down, Toward::Up].map(|toward| f64::MAX.plus(a, toward)),
            [below, below.next_up()]
        );
    }

    #[test]
    fn limits_are_those_of_the_encoding() {
        for format in [Format::F16, Format::F32, Format::F64] {
            let layout = format.float().unwrap();
            let decoded =
                [layout.min_normal(), layout.max_finite()].map(|bits| f64::decode(layout, bits));
            assert_eq!(limits(layout), decoded, "{format}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn directed_results_are_those_of_apfloat(a in numbers(), b in numbers()) {
            for toward in [Toward::Down, Toward::Up] {
                let round = toward.round();
                let sum = by_apfloat(a, b, |a, b| a.add_r(b, round).value);
                prop_assert!(same(a.plus(b, toward), sum), "{a:e} + {b:e} {toward:?}: {:e} {sum:e}", a.plus(b, toward));
                let product = by_apfloat(a, b, |a, b| a.mul_r(b, round).value);
                prop_assert!(same(a.times(b, toward), product), "{a:e} * {b:e} {toward:?}");
                let quotient = by_apfloat(a, b, |a, b| a.div_r(b, round).value);
                prop_assert!(same(a.over(b, toward), quotient), "{a:e} / {b:e} {toward:?}");
            }
        }

        #[test]
        fn both_kinds_of_number_cut_and_decode_alike(a in numbers()) {
            for format in [Format::F16, Format::F32, Format::F64] {
                let layout = format.float().unwrap();
                if a.is_finite() {
                    prop_assert_eq!(Number::cut(a, layout), Quad::of(a).cut(layout), "{:e} {}", a, format);
                }
                let bits = a.to_bits() & (layout.sign_bit() | layout.magnitude_mask());
                prop_assert!(same(f64::decode(layout, bits), Quad::decode(layout, bits).double(Toward::Up)));
            }
            if a.is_finite() && a != 0.0 {
                prop_assert_eq!(Number::exponent(a), Number::exponent(Quad::of(a)));
            }
        }
    }
}
