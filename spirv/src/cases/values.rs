//! Values that lists of cases are made of: boundaries of a format, encodings of numbers, random
//! draws.

use std::collections::BTreeSet;

use crate::format::Format;
use crate::layout::FloatLayout;

/// Layout of binary32.
pub(super) const SINGLE: FloatLayout =
    FloatLayout { signed: true, exponent: 8, fraction: 23, infinite: true };

/// A number as `significand / 2^112`.
pub(super) struct Constant(u128);

/// Half of pi.
pub(super) const HALF_PI: Constant = Constant(0x0001_921f_b544_42d1_8469_898c_c517_01b8);
/// The natural logarithm of 2.
pub(super) const LN_2: Constant = Constant(0xb172_17f7_d1cf_79ab_c9e3_b398_03f2);

/// The encoding of `significand * 2^exponent`, positive and normal; what does not fit is cut off.
pub(super) fn truncated(layout: FloatLayout, significand: u128, exponent: i32) -> u64 {
    let top = significand.ilog2();
    let aligned = if top > layout.fraction {
        significand >> (top - layout.fraction)
    } else {
        significand << (layout.fraction - top)
    };
    let biased = (exponent + top.cast_signed() + layout.bias()).clamp(1, 2 * layout.bias());
    u64::from(biased.cast_unsigned()) << layout.fraction
        | aligned as u64 & (layout.min_normal() - 1)
}

/// The encoding of `significand * 2^exponent`, `significand` being an integer that fits; positive,
/// normal.
pub(super) fn scaled(layout: FloatLayout, significand: u64, exponent: i32) -> u64 {
    truncated(layout, significand.into(), exponent)
}

/// The encodings on either side of a quotient of small integers.
pub(super) fn quotient(layout: FloatLayout, dividend: u32, divisor: u32) -> [u64; 2] {
    if dividend == 0 {
        return [0, 1];
    }
    let below = truncated(layout, (u128::from(dividend) << 90) / u128::from(divisor), -90);
    [below, below + 1]
}

/// The encodings on either side of `constant * factor * 2^exponent`.
pub(super) fn multiple(
    layout: FloatLayout,
    constant: &Constant,
    factor: u16,
    exponent: i32,
) -> [u64; 2] {
    let below = truncated(layout, constant.0 * u128::from(factor), exponent - 112);
    [below, below + 1]
}

/// Positive boundary values, sparse enough for all pairs.
pub(super) fn magnitudes(layout: FloatLayout) -> Vec<u64> {
    let normal = layout.min_normal();
    let one = scaled(layout, 1, 0);
    vec![
        0,
        1,
        2,
        normal / 4,
        normal / 2,
        normal - 1,
        normal,
        normal + 1,
        2 * normal - 1,
        scaled(layout, 1, -1),
        one - 1,
        one,
        one + 1,
        scaled(layout, 3, -1),
        scaled(layout, 1, 1),
        scaled(layout, 3, 0),
        scaled(layout, 1, layout.bias() - 14),
        scaled(layout, 1, layout.bias() - 1),
        scaled(layout, 1, layout.bias()),
        layout.max_finite(),
        layout.infinity(),
    ]
}

/// Quiet and signalling NaNs of either sign, with payloads of their first bit, all their bits and
/// some.
pub(super) fn nans(layout: FloatLayout) -> [u64; 7] {
    let (infinity, quiet, sign) = (layout.infinity(), layout.quiet_bit(), layout.sign_bit());
    [
        infinity | quiet,
        infinity | 1,
        infinity | (quiet - 1),
        infinity | (2 * quiet - 1),
        sign | infinity | 1,
        sign | infinity | quiet | (0x12345 & (quiet - 1)),
        sign | infinity | (2 * quiet - 1),
    ]
}

/// Every boundary value of either sign, and NaNs.
pub(super) fn boundaries(layout: FloatLayout) -> Vec<u64> {
    let mut list = signed(layout, &magnitudes(layout));
    list.extend(nans(layout));
    distinct(list)
}

pub(super) fn signed(layout: FloatLayout, magnitudes: &[u64]) -> Vec<u64> {
    magnitudes.iter().flat_map(|value| [*value, *value | layout.sign_bit()]).collect()
}

/// The encoding that a non-negative encoding of a smaller format has in a wider one, infinity
/// standing for the power of two after the largest finite value.
pub(super) fn widened(wide: FloatLayout, small: FloatLayout, code: u64) -> u64 {
    // The upper part of a wider one, subnormals as well.
    if small.exponent == wide.exponent {
        return code << (wide.fraction - small.fraction);
    }
    let (exponent, fraction) = ((code >> small.fraction) as i32, code & (small.min_normal() - 1));
    let last = small.fraction as i32;
    match (exponent, fraction) {
        (0, 0) => 0,
        (0, _) => scaled(wide, fraction, 1 - small.bias() - last),
        _ => scaled(wide, fraction | small.min_normal(), exponent - small.bias() - last),
    }
}

/// The point half-way between an encoding of a smaller format and the next one.
pub(super) fn midpoint(wide: FloatLayout, small: FloatLayout, code: u64) -> u64 {
    let (here, next) = (widened(wide, small, code), widened(wide, small, code + 1));
    if code == 0 && small.exponent < wide.exponent {
        next - wide.min_normal()
    } else {
        here.midpoint(next)
    }
}

/// Values at the boundaries of a smaller format, as [`around`] has them.
pub(super) fn at_boundaries(wide: FloatLayout, small: Format) -> Vec<u64> {
    let Some(layout) = small.float() else { return Vec::new() };
    let (normal, one, largest) = (layout.min_normal(), scaled(layout, 1, 0), layout.max_finite());
    let codes = [
        0,
        1,
        2,
        normal / 2,
        normal - 2,
        normal - 1,
        normal,
        normal + 1,
        one,
        one + 1,
        largest - 1,
        largest,
    ];
    around(wide, small, codes)
}

/// Values of a smaller format, their neighbours, and the midpoints to the next one with theirs;
/// none where it is not smaller.
pub(super) fn around(
    wide: FloatLayout,
    small: Format,
    codes: impl IntoIterator<Item = u64>,
) -> Vec<u64> {
    let Some(small) = small.float().filter(|small| small.bits() < wide.bits()) else {
        return Vec::new();
    };
    let points = codes
        .into_iter()
        .flat_map(|code| [widened(wide, small, code), midpoint(wide, small, code)]);
    points.flat_map(|point| [point.saturating_sub(1), point, point + 1]).collect()
}

pub(super) fn distinct(list: Vec<u64>) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    list.into_iter().filter(|bits| seen.insert(*bits)).collect()
}

/// `SplitMix64` of the seed: the draw is the same on every machine.
pub fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_encodings() {
        let [half, double] = [Format::F16, Format::F64].map(|format| format.float().unwrap());
        assert_eq!(scaled(SINGLE, 3, -1), 0x3fc0_0000);
        assert_eq!(quotient(SINGLE, 1, 3)[0], 0x3eaa_aaaa);
        assert_eq!(quotient(SINGLE, 1, 2)[0], 0x3f00_0000);
        // The nearest encodings, from libm: pi and 100 pi (up, up), ln 2 (down in binary32, down in
        // binary64).
        assert_eq!(multiple(SINGLE, &HALF_PI, 2, 0)[1], std::f32::consts::PI.to_bits().into());
        assert_eq!(multiple(SINGLE, &HALF_PI, 200, 0)[1], 0x439d_1463);
        assert_eq!(multiple(SINGLE, &LN_2, 1, 0)[1], std::f32::consts::LN_2.to_bits().into());
        assert_eq!(multiple(double, &LN_2, 1, 0)[0], std::f64::consts::LN_2.to_bits());
        assert_eq!(multiple(double, &HALF_PI, 1, 0)[0], std::f64::consts::FRAC_PI_2.to_bits());
        assert_eq!(widened(SINGLE, half, 1), 0x3380_0000);
        assert_eq!(widened(SINGLE, half, half.infinity()), 0x4780_0000);
        assert_eq!(midpoint(SINGLE, half, 0), 0x3300_0000);
        assert_eq!(midpoint(double, SINGLE, 0x3f80_0000), 0x3ff0_0000_1000_0000);
        // Subnormal in both.
        let brain = Format::Bf16.float().unwrap();
        assert_eq!([0, 1].map(|code| midpoint(SINGLE, brain, code)), [0x8000, 0x1_8000]);
        assert_eq!(widened(SINGLE, brain, brain.infinity()), 0x7f80_0000);
    }
}
