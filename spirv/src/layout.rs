//! Layouts of binary floating-point encodings.

/// Bit layout of a binary floating-point encoding: sign (if any) above exponent above fraction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatLayout {
    /// Whether there is a sign bit (the most significant one).
    pub signed: bool,
    /// Number of exponent bits; the bias is `2^(exponent-1) - 1`.
    pub exponent: u32,
    /// Number of fraction bits, without the hidden one.
    pub fraction: u32,
    /// Whether there are infinities, and NaNs beyond them. Without them the one NaN of each sign is
    /// the last encoding, and those before it are numbers.
    pub infinite: bool,
}

/// IEEE 754 binary16.
pub const BINARY16: FloatLayout =
    FloatLayout { signed: true, exponent: 5, fraction: 10, infinite: true };
/// bfloat16, the upper half of a binary32 (`SPV_KHR_bfloat16`).
pub const BFLOAT16: FloatLayout =
    FloatLayout { signed: true, exponent: 8, fraction: 7, infinite: true };
/// IEEE 754 binary32.
pub const BINARY32: FloatLayout =
    FloatLayout { signed: true, exponent: 8, fraction: 23, infinite: true };
/// IEEE 754 binary64.
pub const BINARY64: FloatLayout =
    FloatLayout { signed: true, exponent: 11, fraction: 52, infinite: true };
/// float8 E4M3, which has no infinities (`SPV_EXT_float8`; "FP8 Formats For Deep Learning",
/// arXiv:2209.05433, table 1).
pub const FLOAT8_E4M3: FloatLayout =
    FloatLayout { signed: true, exponent: 4, fraction: 3, infinite: false };
/// float8 E5M2, the upper half of a binary16 (the same).
pub const FLOAT8_E5M2: FloatLayout =
    FloatLayout { signed: true, exponent: 5, fraction: 2, infinite: true };
/// The unsigned 11-bit float of R and G in B10G11R11 (Khronos Data Format Specification, section
/// 10.2).
pub const F11: FloatLayout =
    FloatLayout { signed: false, exponent: 5, fraction: 6, infinite: true };
/// The unsigned 10-bit float of B in B10G11R11 (Khronos Data Format Specification, section 10.3).
pub const F10: FloatLayout =
    FloatLayout { signed: false, exponent: 5, fraction: 5, infinite: true };

impl FloatLayout {
    /// Width of an encoding in bits. It does not identify the layout: bfloat16 is as wide as
    /// binary16, and two floats have 8 bits.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.signed as u32 + self.exponent + self.fraction
    }
    /// Mask of all bits but the sign.
    #[inline]
    pub const fn magnitude_mask(self) -> u64 {
        (1 << (self.exponent + self.fraction)) - 1
    }
    /// The sign bit, or 0 for unsigned formats.
    #[inline]
    pub const fn sign_bit(self) -> u64 {
        if self.signed { 1 << (self.exponent + self.fraction) } else { 0 }
    }
    /// Encoding of +infinity, or of the NaN that a layout without infinities has in its place: the
    /// one after the largest finite value. Larger magnitudes are NaN.
    #[inline]
    pub const fn infinity(self) -> u64 {
        if self.infinite {
            ((1 << self.exponent) - 1) << self.fraction
        } else {
            self.magnitude_mask()
        }
    }
    /// Encoding of the least NaN.
    #[inline]
    pub const fn first_nan(self) -> u64 {
        self.infinity() + self.infinite as u64
    }
    /// Encoding of the largest finite value.
    #[inline]
    pub const fn max_finite(self) -> u64 {
        self.infinity() - 1
    }
    /// Encoding of the least value that a 32-bit integer has, too: 0 for those without a sign.
    #[inline]
    pub const fn least_integer(self, signed: bool) -> u64 {
        // -2^31 is a power of two, or beyond the range.
        if signed { self.sign_bit() | self.power(31) } else { 0 }
    }
    /// Encoding of the greatest value that a 32-bit integer has, too.
    #[inline]
    pub const fn greatest_integer(self, signed: bool) -> u64 {
        let bits = if signed { 31 } else { 32 };
        let power = self.power(bits);
        if power == self.max_finite() {
            power
        } else {
            // The binade below has 2^fraction values; of those, the last that is an integer.
            power - (1 << self.fraction.saturating_sub(bits - 1))
        }
    }
    /// Encoding of 2^exponent, or of the largest finite value where that is beyond the range.
    const fn power(self, exponent: u32) -> u64 {
        if exponent as i32 > self.greatest_exponent() {
            self.max_finite()
        } else {
            ((exponent as i32 + self.bias()) as u64) << self.fraction
        }
    }
    /// Encoding of the smallest positive normal value.
    #[inline]
    pub const fn min_normal(self) -> u64 {
        1 << self.fraction
    }
    /// The quiet bit of a NaN.
    #[inline]
    pub const fn quiet_bit(self) -> u64 {
        1 << (self.fraction - 1)
    }
    /// Exponent bias.
    #[inline]
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }
    /// Exponent of the largest finite value.
    #[inline]
    pub const fn greatest_exponent(self) -> i32 {
        self.bias() + !self.infinite as i32
    }
    /// Encoding of 1.
    #[inline]
    pub const fn one(self) -> u64 {
        (self.bias() as u64) << self.fraction
    }
    /// Whether the encoding is a normal number.
    #[inline]
    pub const fn is_normal(self, bits: u64) -> bool {
        let magnitude = bits & self.magnitude_mask();
        magnitude >= self.min_normal() && magnitude < self.infinity()
    }
    /// Whether the encoding is a NaN.
    #[inline]
    pub const fn is_nan(self, bits: u64) -> bool {
        bits & self.magnitude_mask() >= self.first_nan()
    }
    /// Whether the encoding is an infinity.
    #[inline]
    pub const fn is_infinite(self, bits: u64) -> bool {
        self.infinite && bits & self.magnitude_mask() == self.infinity()
    }
    /// Whether the encoding is a zero of either sign.
    #[inline]
    pub const fn is_zero(self, bits: u64) -> bool {
        bits & self.magnitude_mask() == 0
    }
    /// Whether the encoding is subnormal (non-zero, exponent field zero).
    #[inline]
    pub const fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & self.magnitude_mask();
        magnitude != 0 && magnitude < self.min_normal()
    }
    /// Whether the sign bit is set.
    #[inline]
    pub const fn is_negative(self, bits: u64) -> bool {
        bits & self.sign_bit() != 0
    }
    /// Width by which execution modes and features of float controls name this layout (SPIR-V,
    /// `DenormPreserve` and its like); `None` for layouts that they say nothing of: bfloat16,
    /// small floats of texels.
    pub const fn mode_width(self) -> Option<u32> {
        match (self.signed, self.exponent, self.fraction) {
            (true, 5, 10) | (true, 8, 23) | (true, 11, 52) => Some(self.bits()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_integers_and_floats_have_in_common() {
        let ends = |layout: FloatLayout, signed| {
            (layout.least_integer(signed), layout.greatest_integer(signed))
        };
        assert_eq!(ends(BINARY16, true), (0xfbff, 0x7bff));
        assert_eq!(ends(BINARY16, false), (0, 0x7bff));
        assert_eq!(ends(BINARY32, true), (0xcf00_0000, 0x4eff_ffff));
        assert_eq!(ends(BINARY32, false), (0, 0x4f7f_ffff));
        let [least, most] = [f64::from(i32::MIN), f64::from(i32::MAX)].map(f64::to_bits);
        assert_eq!(ends(BINARY64, true), (least, most));
        assert_eq!(ends(BINARY64, false), (0, f64::from(u32::MAX).to_bits()));
    }
}
