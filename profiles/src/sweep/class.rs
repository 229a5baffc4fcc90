//! What kind of number an operand or a result is.

use std::fmt;

use fpprobe_spirv::FloatLayout;
use serde::{Deserialize, Serialize};

use crate::encoding::Encoding;

/// A class of encodings. A NaN that comes of one operand that is a NaN is told by what became of
/// its bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum EncodingClass {
    NegativeInfinite,
    NegativeNormal,
    NegativeSubnormal,
    NegativeZero,
    PositiveZero,
    PositiveSubnormal,
    PositiveNormal,
    PositiveInfinite,
    QuietNan,
    SignallingNan,
    /// The operand's bits.
    SameNan,
    /// The operand's bits but for the quiet bit, which is set.
    QuietenedNan,
    /// An integer, a truth value, or several numbers in one word.
    Other,
}

impl EncodingClass {
    /// Every class, in order.
    pub const ALL: [EncodingClass; 13] = [
        EncodingClass::NegativeInfinite,
        EncodingClass::NegativeNormal,
        EncodingClass::NegativeSubnormal,
        EncodingClass::NegativeZero,
        EncodingClass::PositiveZero,
        EncodingClass::PositiveSubnormal,
        EncodingClass::PositiveNormal,
        EncodingClass::PositiveInfinite,
        EncodingClass::QuietNan,
        EncodingClass::SignallingNan,
        EncodingClass::SameNan,
        EncodingClass::QuietenedNan,
        EncodingClass::Other,
    ];

    /// The class of an encoding.
    pub fn of(encoding: Encoding, bits: u64) -> EncodingClass {
        let Encoding::Float(layout) = encoding else { return EncodingClass::Other };
        let magnitude = bits & layout.magnitude_mask();
        let signed =
            |negative, positive| if layout.is_negative(bits) { negative } else { positive };
        if layout.is_nan(bits) {
            if bits & layout.quiet_bit() == 0 {
                EncodingClass::SignallingNan
            } else {
                EncodingClass::QuietNan
            }
        } else if magnitude == layout.infinity() {
            signed(EncodingClass::NegativeInfinite, EncodingClass::PositiveInfinite)
        } else if magnitude >= layout.min_normal() {
            signed(EncodingClass::NegativeNormal, EncodingClass::PositiveNormal)
        } else if magnitude > 0 {
            signed(EncodingClass::NegativeSubnormal, EncodingClass::PositiveSubnormal)
        } else {
            signed(EncodingClass::NegativeZero, EncodingClass::PositiveZero)
        }
    }

    /// The class of a result, of one operand of the same layout or of others.
    pub fn of_result(
        encoding: Encoding,
        bits: u64,
        operand: Option<(FloatLayout, u64)>,
    ) -> EncodingClass {
        let class = EncodingClass::of(encoding, bits);
        let Some((layout, operand)) = operand.filter(|(layout, operand)| {
            class.is_nan() && encoding == Encoding::Float(*layout) && layout.is_nan(*operand)
        }) else {
            return class;
        };
        match bits ^ operand {
            0 => EncodingClass::SameNan,
            difference if difference == layout.quiet_bit() && class == EncodingClass::QuietNan => {
                EncodingClass::QuietenedNan
            }
            _ => class,
        }
    }

    /// Whether it is a NaN.
    pub fn is_nan(self) -> bool {
        matches!(
            self,
            EncodingClass::QuietNan
                | EncodingClass::SignallingNan
                | EncodingClass::SameNan
                | EncodingClass::QuietenedNan
        )
    }
}

/// Its name in statistics.
impl fmt::Display for EncodingClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
