//! One operand: its value, and the ways it may be read.

use fpprobe_spirv::{FloatLayout, Format};
use rustc_apfloat::ieee::Quad;
use smallvec::{SmallVec, smallvec};

use crate::encoding::Encoding;
use crate::environment::{Environment, Sign, Subnormals};
use crate::number::Number;
use crate::quad::{decode, integer};

/// One operand of one part of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Layout of a float; `None` for integers and bool.
    pub layout: Option<FloatLayout>,
    /// Its encoding.
    pub bits: u64,
}

impl Operand {
    /// A value of a format; integers as numbers of 64 bits.
    pub(super) fn of(format: Format, bits: u64) -> Operand {
        match format {
            Format::I32 => Operand::integer(Encoding::Signed.key(bits)),
            _ => Operand { layout: format.float(), bits },
        }
    }

    /// An integer.
    pub(super) fn integer(value: i64) -> Operand {
        Operand { layout: None, bits: value.cast_unsigned() }
    }

    pub(super) fn is_nan(self) -> bool {
        self.layout.is_some_and(|layout| layout.is_nan(self.bits))
    }

    pub(super) fn is_finite(self) -> bool {
        self.layout.is_none_or(|layout| self.bits & layout.magnitude_mask() < layout.infinity())
    }

    pub(crate) fn value(self) -> Quad {
        self.layout
            .map_or_else(|| integer(self.bits.cast_signed()), |layout| decode(layout, self.bits))
    }

    /// The value as binary64, which holds that of every format.
    pub fn double(self) -> f64 {
        self.layout
            .map_or(self.bits.cast_signed() as f64, |layout| Number::decode(layout, self.bits))
    }

    /// Whether this operand may be read as zero, or as a zero of the other sign.
    pub(super) fn is_open(self, environment: &Environment) -> bool {
        self.layout.is_some_and(|layout| {
            layout.is_subnormal(self.bits) && environment.subnormal_inputs != Subnormals::Keep
                || layout.signed
                    && self.bits == layout.sign_bit()
                    && environment.zero_sign == Sign::Either
        })
    }

    /// The ways this operand may be read.
    pub(super) fn readings(self, environment: &Environment) -> SmallVec<[Operand; 3]> {
        let Some(layout) = self.layout else { return smallvec![self] };
        let with = |bits| Operand { bits, ..self };
        if layout.is_subnormal(self.bits) && environment.subnormal_inputs != Subnormals::Keep {
            let zero = self.bits & layout.sign_bit();
            let mut readings: SmallVec<[Operand; 3]> = smallvec![with(zero)];
            if environment.flushed_sign == Sign::Either {
                readings.push(with(zero ^ layout.sign_bit()));
            }
            if environment.subnormal_inputs == Subnormals::Either {
                readings.push(self);
            }
            readings
        } else if layout.signed
            && self.bits == layout.sign_bit()
            && environment.zero_sign == Sign::Either
        {
            smallvec![self, with(0)]
        } else {
            smallvec![self]
        }
    }
}
