//! Numbers of binary128, which holds every operand and every result of f16, f32, f64 and the small
//! unsigned floats exactly. The host's FPU and its mathematical library take no part.

use std::cmp::Ordering;

use fpprobe_spirv::FloatLayout;
use rustc_apfloat::ieee::{Double, Quad};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

const QUAD_FRACTION: u32 = 112;
const QUAD_BIAS: i32 = 16383;
/// Layout of binary64.
pub const DOUBLE: FloatLayout =
    FloatLayout { signed: true, exponent: 11, fraction: 52, infinite: true };

/// The encoded value as binary128: exact; NaNs lose their payload.
pub fn decode(layout: FloatLayout, bits: u64) -> Quad {
    let magnitude = bits & layout.magnitude_mask();
    let sign = u128::from(layout.is_negative(bits)) << 127;
    let encoded = if layout.is_nan(bits) {
        return Quad::NAN;
    } else if layout.is_infinite(bits) {
        0x7fff << QUAD_FRACTION
    } else if magnitude == 0 {
        0
    } else {
        // The hidden bit of a subnormal is wherever its leading bit is.
        let subnormal = layout.is_subnormal(bits);
        let leading = if subnormal { magnitude.ilog2() } else { layout.fraction };
        let field = if subnormal { 1 } else { (magnitude >> layout.fraction) as i32 };
        let fraction = u128::from(magnitude & ((1 << leading) - 1)) << (QUAD_FRACTION - leading);
        let exponent = field - layout.bias() - (layout.fraction - leading) as i32;
        ((exponent + QUAD_BIAS) as u128) << QUAD_FRACTION | fraction
    };
    Quad::from_bits(sign | encoded)
}

/// The encoded value as binary64 bits, for interval ends in JSON; exact for every format.
pub fn to_double_bits(layout: FloatLayout, bits: u64) -> u64 {
    let mut loses = false;
    let double: Double = decode(layout, bits).convert(&mut loses).value;
    double.to_bits() as u64
}

/// Power of two.
pub fn power(exponent: i32) -> Quad {
    match exponent {
        -16382..=16383 => Quad::from_bits(((exponent + QUAD_BIAS) as u128) << QUAD_FRACTION),
        _ => Quad::from_u128(1).value.scalbn(exponent),
    }
}

/// An integer, which binary128 holds exactly.
pub fn integer(value: i64) -> Quad {
    let magnitude = value.unsigned_abs();
    let Some(leading) = magnitude.checked_ilog2() else { return Quad::ZERO };
    let fraction =
        (u128::from(magnitude) << (QUAD_FRACTION - leading)) & ((1 << QUAD_FRACTION) - 1);
    let sign = u128::from(value < 0) << 127;
    Quad::from_bits(sign | ((leading as i32 + QUAD_BIAS) as u128) << QUAD_FRACTION | fraction)
}

/// The integer that is left of a number when its fraction is cut off; of one beyond 64 bits the
/// nearest of these, of a NaN 0.
pub fn whole(value: Quad) -> i64 {
    if value.is_nan() {
        return 0;
    }
    let bits = value.to_bits();
    let exponent = ((bits >> QUAD_FRACTION) & 0x7fff) as i32 - QUAD_BIAS;
    let significand = bits & ((1 << QUAD_FRACTION) - 1) | 1 << QUAD_FRACTION;
    let magnitude = match exponent {
        ..0 => 0,
        0..64 => (significand >> (QUAD_FRACTION as i32 - exponent)) as i128,
        _ => i128::from(i64::MAX) + 1,
    };
    let signed = if value.is_negative() { -magnitude } else { magnitude };
    signed.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// A number rounded to an integer; what is no number stays what it is, and zeros keep their sign.
pub fn integral(value: Quad, round: Round) -> Quad {
    let bits = value.to_bits();
    let sign = bits & 1 << 127;
    let (magnitude, exponent) =
        (bits ^ sign, ((bits >> QUAD_FRACTION) & 0x7fff) as i32 - QUAD_BIAS);
    if magnitude == 0 || exponent >= QUAD_FRACTION as i32 {
        return value;
    }
    // Magnitudes are in the order of their bits, and so are the integers to either side and what
    // lies half-way.
    let (below, half, above) = if exponent < 0 {
        let one = (QUAD_BIAS as u128) << QUAD_FRACTION;
        (0, one - (1 << QUAD_FRACTION), one)
    } else {
        let unit = 1u128 << (QUAD_FRACTION as i32 - exponent);
        let below = magnitude & !(unit - 1);
        (below, below + unit / 2, below + unit)
    };
    let odd = exponent >= 0 && below & (above - below) != 0;
    let away = match round {
        _ if below == magnitude => false,
        Round::TowardZero => false,
        Round::TowardNegative => sign != 0,
        Round::TowardPositive => sign == 0,
        Round::NearestTiesToEven => magnitude > half || magnitude == half && odd,
        Round::NearestTiesToAway => magnitude >= half,
    };
    Quad::from_bits(sign | if away { above } else { below })
}

/// Exponent of the leading bit of a finite non-zero value.
pub fn exponent(value: Quad) -> i32 {
    value.ilogb()
}

/// A magnitude cut to a layout's precision towards zero, and how much was cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Encoding of the magnitude, at most the largest finite one.
    pub magnitude: u64,
    /// Whether nothing was cut off.
    pub exact: bool,
    /// The cut-off part compared with half a unit of the last place.
    pub half: Ordering,
}

/// Cuts the magnitude of a finite value to the layout's precision (subnormals kept).
pub fn cut(layout: FloatLayout, value: Quad) -> Cut {
    let bits = value.to_bits();
    let biased = ((bits >> QUAD_FRACTION) & 0x7fff) as i32;
    let fraction = bits & ((1 << QUAD_FRACTION) - 1);
    if biased == 0 {
        // Zero, or a binary128 subnormal: below half of any layout's smallest value.
        return Cut { magnitude: 0, exact: fraction == 0, half: Ordering::Less };
    }
    cut_number(layout, biased - QUAD_BIAS, fraction | 1 << QUAD_FRACTION)
}

/// Cuts a number that is not zero, `significand * 2^(leading - 112)`, the significand's leading bit
/// being bit 112.
pub(crate) fn cut_number(layout: FloatLayout, leading: i32, significand: u128) -> Cut {
    if leading > layout.greatest_exponent() {
        // At least twice the largest power of two: above the rounding limit too.
        return Cut { magnitude: layout.max_finite(), exact: false, half: Ordering::Greater };
    }
    let field = (leading + layout.bias()).max(1);
    let quantum = field - layout.bias() - layout.fraction as i32;
    let shift = quantum - (leading - QUAD_FRACTION as i32);
    if shift > 126 {
        return Cut { magnitude: 0, exact: false, half: Ordering::Less };
    }
    let kept = (significand >> shift) as u64;
    let rest = significand & ((1 << shift) - 1);
    let magnitude = ((field as u64 - 1) << layout.fraction) + kept;
    if magnitude > layout.max_finite() {
        return Cut { magnitude: layout.max_finite(), exact: false, half: Ordering::Greater };
    }
    Cut { magnitude, exact: rest == 0, half: rest.cmp(&(1 << (shift - 1))) }
}

/// `a / b` cut towards zero, and whether that is all of it; by long division in steps as wide as
/// the host's integers allow: `rustc_apfloat` divides bit by bit.
pub fn quotient(a: Quad, b: Quad) -> (Quad, bool) {
    let parts = |x: Quad| {
        let bits = x.to_bits();
        let significand = bits & ((1 << QUAD_FRACTION) - 1) | 1 << QUAD_FRACTION;
        ((bits >> QUAD_FRACTION & 0x7fff) as i32, significand, bits & 1 << 127)
    };
    let ((field, dividend, sign), (other_field, divisor, other_sign)) = (parts(a), parts(b));
    let is_normal = |field: i32| (1..0x7fff).contains(&field);
    // A quotient that is a normal number in any case.
    if !is_normal(field) || !is_normal(other_field) || (field - other_field).abs() >= QUAD_BIAS - 2
    {
        let cut = a.div_r(b, Round::TowardZero);
        return (cut.value, cut.status & Status::INEXACT == Status::OK);
    }
    // Of the quotient of the significands, from 1/2 to 2, 114 bits behind the point; the divisor
    // without its trailing zeros.
    let mut left = 114 - divisor.trailing_zeros();
    let divisor = divisor >> divisor.trailing_zeros();
    let (mut quotient, mut rest) = (dividend / divisor, dividend % divisor);
    while left > 0 {
        let step = left.min(divisor.leading_zeros());
        let shifted = rest << step;
        (quotient, rest) = (quotient << step | shifted / divisor, shifted % divisor);
        left -= step;
    }
    let beyond = u128::BITS - quotient.leading_zeros() - (QUAD_FRACTION + 1);
    let exact = rest == 0 && quotient.trailing_zeros() >= beyond;
    let field = (field - other_field + beyond as i32 - 2 + QUAD_BIAS) as u128;
    let fraction = quotient >> beyond & ((1 << QUAD_FRACTION) - 1);
    (Quad::from_bits(sign ^ other_sign | field << QUAD_FRACTION | fraction), exact)
}

#[cfg(test)]
pub(crate) mod tests {
    use fpprobe_spirv::Format;

    use super::*;

    fn single() -> FloatLayout {
        Format::F32.float().unwrap()
    }

    #[test]
    fn decoding_and_cutting_are_inverse_for_every_half() {
        let half = Format::F16.float().unwrap();
        for bits in 0..half.infinity() {
            let cut = cut(half, decode(half, bits));
            assert_eq!((cut.magnitude, cut.exact), (bits, true), "{bits:04x}");
        }
    }

    #[test]
    fn decoding_agrees_with_apfloat() {
        use rustc_apfloat::ieee::Single;
        for seed in 0..20_000 {
            let bits = fpprobe_spirv::cases::random(seed) & 0xffff_ffff;
            let mut loses = false;
            let theirs: Quad = Single::from_bits(u128::from(bits)).convert(&mut loses).value;
            let ours = decode(single(), bits);
            assert!(ours.bitwise_eq(theirs) || ours.is_nan() && theirs.is_nan(), "{bits:08x}");
        }
    }

    /// Numbers of every size, integers and halves and what lies next to them among them.
    pub(crate) fn quads() -> impl Iterator<Item = Quad> {
        let shapes = (0..30_000u64).map(|seed| {
            let [high, low] = [2 * seed, 2 * seed + 1].map(fpprobe_spirv::cases::random);
            let exponent = (QUAD_BIAS + (high >> 40) as i32 % 140 - 8) as u128;
            let fraction = u128::from(high) << 48 ^ u128::from(low);
            let kept = if seed % 3 == 0 { QUAD_FRACTION } else { (low >> 7) as u32 % 70 };
            let fraction = fraction & ((1 << QUAD_FRACTION) - 1) & !(u128::MAX >> 16 >> kept);
            Quad::from_bits(u128::from(low & 1) << 127 | exponent << QUAD_FRACTION | fraction)
        });
        let halves = (-9..=9).flat_map(|half| {
            let half = (integer(half) * power(-1)).value;
            [half, half.next_up().value, half.next_down().value]
        });
        let rest = [
            Quad::ZERO,
            -Quad::ZERO,
            Quad::INFINITY,
            -Quad::INFINITY,
            Quad::NAN,
            Quad::SMALLEST,
            Quad::largest(),
        ];
        shapes.chain(halves).chain(rest)
    }

    #[test]
    fn integers_of_numbers_are_those_of_apfloat() {
        let [zero, down, up] = [Round::TowardZero, Round::TowardNegative, Round::TowardPositive];
        let rounds = [zero, down, up, Round::NearestTiesToEven, Round::NearestTiesToAway];
        for x in quads() {
            for round in rounds {
                let theirs = x.round_to_integral(round).value;
                assert!(
                    integral(x, round).bitwise_eq(theirs) || x.is_nan(),
                    "{x} {round:?}: {theirs}"
                );
            }
            let mut exact = false;
            assert_eq!(
                i128::from(whole(x)),
                x.to_i128_r(64, Round::TowardZero, &mut exact).value,
                "{x}"
            );
        }
    }

    #[test]
    fn powers_and_integers_are_those_of_apfloat() {
        for exponent in -16600..=16400 {
            assert!(
                power(exponent).bitwise_eq(Quad::from_u128(1).value.scalbn(exponent)),
                "{exponent}"
            );
        }
        // Below the normal numbers lie others, and what is beyond either end is no number.
        assert!(!power(-16494).is_zero() && power(-16495).is_zero() && power(16384).is_infinite());
        let integers = (0..10_000).map(|seed| {
            let word = fpprobe_spirv::cases::random(seed).cast_signed();
            word >> (word & 63)
        });
        for n in integers.chain([0, 1, -1, i64::MIN, i64::MAX]) {
            assert!(integer(n).bitwise_eq(Quad::from_i128(n.into()).value), "{n}");
        }
    }

    #[test]
    fn cuts_know_their_remainder() {
        // 1 + 2^-24 lies half-way between 1 and its successor.
        let value = (power(0) + power(-24)).value;
        assert_eq!(
            cut(single(), value),
            Cut { magnitude: 0x3f800000, exact: false, half: Ordering::Equal }
        );
        let above = (value + power(-60)).value;
        assert_eq!(cut(single(), above).half, Ordering::Greater);
        // 2^-150 is half of the smallest subnormal.
        assert_eq!(
            cut(single(), power(-150)),
            Cut { magnitude: 0, exact: false, half: Ordering::Equal }
        );
        assert_eq!(cut(single(), power(128)).magnitude, 0x7f7fffff);
    }
}
