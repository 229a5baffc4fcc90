//! Values and conditions of a statement, in instructions on integer bits.

use fpprobe_spirv::{FloatLayout, Format};
use rspirv::spirv::{Op, Word};

use super::bits::Bits;
use super::fault::{Class, Condition, Set, Sign, Source, Step, Value};
use super::module::{Rewriter, ids};

/// What a statement can speak of: one component of each operand, and of the result if there is one
/// already.
pub struct Scene {
    pub operands: Vec<Bits>,
    pub result: Option<Bits>,
}

/// The encodings of a class: whether the sign counts, the first and the last.
fn range(class: Class, layout: FloatLayout) -> (bool, u64, u64) {
    let (sign, normal, infinity) = (layout.sign_bit(), layout.min_normal(), layout.infinity());
    let (magnitude, quiet) = (layout.magnitude_mask(), layout.infinity() | layout.quiet_bit());
    match class {
        Class::Nan => (false, layout.first_nan(), magnitude),
        Class::Quiet => (false, quiet, magnitude),
        Class::Signalling => (false, infinity + 1, quiet - 1),
        Class::Infinite => (false, infinity, infinity),
        Class::Zero => (false, 0, 0),
        Class::Subnormal => (false, 1, normal - 1),
        Class::Normal => (false, normal, infinity - 1),
        Class::Finite => (false, 0, infinity - 1),
        Class::Negative => (true, sign, sign | magnitude),
        Class::Positive => (true, 0, magnitude),
    }
}

fn layout(format: Format) -> Result<FloatLayout, String> {
    format.float().ok_or_else(|| format!("{format} has neither sign nor class"))
}

impl Rewriter {
    /// `new` where the conditions hold, else `old`.
    pub fn replaced(
        &mut self,
        old: Bits,
        new: &Value,
        conditions: &[Condition],
        scene: &Scene,
    ) -> Result<Bits, String> {
        let new = self.evaluated(new, old.format, scene)?;
        if new.format.bits() != old.format.bits() {
            return Err(format!(
                "a value of {} cannot stand for one of {}",
                new.format, old.format
            ));
        }
        let mut all: Option<Word> = None;
        for condition in conditions {
            let holds = self.holds(condition, scene)?;
            let bool = self.scalar(Format::Bool);
            all = Some(all.map_or(holds, |all| self.emit(Op::LogicalAnd, bool, ids([all, holds]))));
        }
        Ok(all.map_or(Bits { id: new.id, ..old }, |all| self.select(all, new, old)))
    }

    /// A value; one given in bits is of this format.
    fn evaluated(&mut self, value: &Value, format: Format, scene: &Scene) -> Result<Bits, String> {
        let mut bits = match value.source {
            Source::Bits(bits) if bits & !format.mask() != 0 => {
                return Err(format!("{bits:x} is no {format}"));
            }
            Source::Bits(bits) => self.constant(format, bits),
            Source::Operand(place) => {
                *scene.operands.get(place).ok_or("there is no such operand")?
            }
            Source::Result => scene.result.ok_or("there is no result yet")?,
        };
        for step in &value.steps {
            bits = match step {
                Step::Zero => self.with(Op::BitwiseAnd, bits, layout(bits.format)?.sign_bit()),
                Step::Magnitude => {
                    self.with(Op::BitwiseAnd, bits, layout(bits.format)?.magnitude_mask())
                }
                Step::Negated => self.with(Op::BitwiseXor, bits, layout(bits.format)?.sign_bit()),
                Step::Noisy => self.with(Op::BitwiseXor, bits, self.call & 15),
                Step::Wrapped => self.wrapped(bits)?,
                Step::Plus(distance) => {
                    let sum = self.with(Op::IAdd, bits, distance.cast_unsigned());
                    // A narrow format's bits lie in a wider word, which the sum must not reach
                    // into.
                    if bits.format.bits() < 32 {
                        self.with(Op::BitwiseAnd, sum, bits.format.mask())
                    } else {
                        sum
                    }
                }
            };
        }
        Ok(bits)
    }

    fn holds(&mut self, condition: &Condition, scene: &Scene) -> Result<Word, String> {
        let value = self.evaluated(&condition.value, Format::U32, scene)?;
        let holds = match &condition.set {
            Set::Value(other) => {
                let other = self.evaluated(other, value.format, scene)?;
                if other.format.bits() != value.format.bits() {
                    return Err(format!("{} is never {}", value.format, other.format));
                }
                self.compare(Op::IEqual, value, other)
            }
            Set::Range(low, high) => self.within(value, *low, *high),
            Set::Class(class) => {
                let layout = layout(value.format)?;
                let (signed, low, high) = range(*class, layout);
                let value = if signed {
                    value
                } else {
                    self.with(Op::BitwiseAnd, value, layout.magnitude_mask())
                };
                self.within(value, low, high)
            }
        };
        let bool = self.scalar(Format::Bool);
        Ok(if condition.negated { self.emit(Op::LogicalNot, bool, ids([holds])) } else { holds })
    }

    /// Whether bits lie in a range: one comparison, since what is below it wraps around.
    fn within(&mut self, value: Bits, low: u64, high: u64) -> Word {
        let above = self.with(Op::ISub, value, low);
        let length = self.constant(value.format, high - low);
        self.compare(Op::ULessThanEqual, above, length)
    }

    /// Subnormals replaced by zeros.
    pub fn flushed(&mut self, value: Bits, sign: Sign) -> Result<Bits, String> {
        let layout = layout(value.format)?;
        let mask = if sign == Sign::Kept { layout.sign_bit() } else { 0 };
        let zero = self.with(Op::BitwiseAnd, value, mask);
        let magnitude = self.with(Op::BitwiseAnd, value, layout.magnitude_mask());
        let tiny = self.within(magnitude, 1, layout.min_normal() - 1);
        Ok(self.select(tiny, zero, value))
    }

    /// The low 32 bits of a binary32 without fraction: `±significand << (exponent - 150)`.
    fn wrapped(&mut self, value: Bits) -> Result<Bits, String> {
        if value.format != Format::F32 {
            return Err(format!("{} is not wrapped", value.format));
        }
        let value = Bits { format: Format::U32, ..value };
        let significand = self.with(Op::BitwiseAnd, value, 0x007f_ffff);
        let significand = self.with(Op::BitwiseOr, significand, 0x0080_0000);
        let exponent = self.with(Op::ShiftRightLogical, value, 23);
        let exponent = self.with(Op::BitwiseAnd, exponent, 0xff);
        let shift = self.with(Op::ISub, exponent, 150);
        let zero = self.constant(Format::U32, 0);
        let few = self.within(shift, 0, 31);
        // A shift by 32 or more is undefined (SPIR-V, OpShiftLeftLogical).
        let safe = self.with(Op::BitwiseAnd, shift, 31);
        let shifted = self.combine(Op::ShiftLeftLogical, significand, safe);
        let magnitude = self.select(few, shifted, zero);
        let negative = self.within(value, 0x8000_0000, 0xffff_ffff);
        let negated = self.combine(Op::ISub, zero, magnitude);
        Ok(self.select(negative, negated, magnitude))
    }
}
