//! Rounding anew: the result is compared with the exact value in binary64, and its bits are
//! stepped.
//!
//! All comparisons are exact: a product of two binary32 has 48 bits and fits; a quotient `r` and a
//! root are compared by `r * y` with `x`, `r * r` with `x`; a sum's rounding error is found as in
//! Knuth's two-sum (The Art of Computer Programming, volume 2, section 4.2.2, theorem B) and
//! decides where the sum itself is equal; a number read from fixed point is compared by its product
//! with the greatest code, which has 41 bits, with the integer next to that.

use fpprobe_spirv::op::{Code, Function};
use fpprobe_spirv::{Coding, Format, Op};
use rspirv::dr::Operand;
use rspirv::spirv::{GlslStd450Op, Op as SpvOp, Word};

use super::bits::Bits;
use super::fault::{Direction, Operation};
use super::module::{Rewriter, ids};

/// Whether results of an operation can be rounded here: those that binary64 tells from the exact
/// value. Mesa takes the binary64 of the binary16 of an integer for that integer, which leaves
/// nothing to compare.
pub fn knows(op: &Op, format: Format) -> bool {
    use Function::{
        Add, Div, Fract, FromSigned, FromUnsigned, InverseSqrt, Load, Mul, MulAdd, OuterProduct,
        PackHalf, Sqrt, Sub, ToFloat,
    };
    match op.function {
        // Memory shows no operands.
        _ if matches!(op.code, Code::Atomic(..)) => false,
        Load => format.channels().iter().any(|channel| greatest(channel.coding).is_some()),
        InverseSqrt => format == Format::F16,
        FromSigned | FromUnsigned => format == Format::F32,
        ToFloat => op.result.format != Some(Format::F64),
        Add | Sub | Mul | OuterProduct | Div | MulAdd | Sqrt | Fract => format != Format::F64,
        PackHalf => true,
        _ => false,
    }
}

/// The greatest code of fixed point.
fn greatest(coding: Coding) -> Option<u64> {
    match coding {
        Coding::Norm { bits, signed } => Some((1 << (bits - u32::from(signed))) - 1),
        _ => None,
    }
}

/// What is rounded: an operation, and a component of its result.
#[derive(Clone, Copy)]
pub struct Rounded {
    /// The operation.
    pub operation: Operation,
    /// Number of the component.
    pub component: usize,
}

impl Rounded {
    /// The greatest code, where the component is read from fixed point.
    fn greatest(self) -> Option<u64> {
        let (format, op) = self.operation;
        let channel =
            format.channels().get(self.component).filter(|_| op.function == Function::Load);
        channel.and_then(|channel| greatest(channel.coding))
    }

    /// Whether there is anything to round: components of texels that are no fixed point are left as
    /// they are.
    fn is_known(self) -> bool {
        self.operation.1.function != Function::Load || self.greatest().is_some()
    }
}

/// A comparison of the exact value with another, by magnitude: is the other one above, is it below?
struct Against {
    /// Equal to the exact value up to `error`.
    value: Word,
    /// What `value` lacks, if anything.
    error: Option<Word>,
}

impl Rewriter {
    /// A result rounded anew, from the operands that the instruction had.
    pub fn rounded(
        &mut self,
        direction: Direction,
        of: Rounded,
        operands: &[Bits],
        result: Bits,
    ) -> Result<Bits, String> {
        if !of.is_known() {
            return Ok(result);
        }
        let operands: Vec<Word> = operands.iter().map(|bits| self.wide(*bits)).collect();
        match direction {
            Direction::TowardZero => {
                let value = self.wide(result);
                let above = self.beyond(SpvOp::FOrdGreaterThan, of, value, &operands)?;
                let less = self.with(SpvOp::ISub, result, 1);
                Ok(self.select(above, less, result))
            }
            Direction::Nearest => {
                let once = self.nearer(of, &operands, result)?;
                self.nearer(of, &operands, once)
            }
        }
    }

    /// One step towards the nearest encoding.
    fn nearer(&mut self, of: Rounded, operands: &[Word], result: Bits) -> Result<Bits, String> {
        let (less, more) = (self.with(SpvOp::ISub, result, 1), self.with(SpvOp::IAdd, result, 1));
        let middle = self.middle(less, result);
        let above = self.beyond(SpvOp::FOrdGreaterThan, of, middle, operands)?;
        let middle = self.middle(result, more);
        let below = self.beyond(SpvOp::FOrdLessThan, of, middle, operands)?;
        let stepped = self.select(below, more, result);
        let stepped = self.select(above, less, stepped);
        // Zero, infinity and NaN have no neighbours of their own size.
        let layout = result.format.float().ok_or("no float")?;
        let magnitude = self.with(SpvOp::BitwiseAnd, result, layout.magnitude_mask());
        let from = self.with(SpvOp::ISub, magnitude, 1);
        let length = self.constant(result.format, layout.max_finite() - 1);
        let finite = self.compare(SpvOp::ULessThanEqual, from, length);
        Ok(self.select(finite, stepped, result))
    }

    /// In binary64, exactly. The decoration, which SPIR-V has for arithmetic, keeps Mesa from
    /// taking a conversion and the reverse of it for nothing.
    fn wide(&mut self, bits: Bits) -> Word {
        let part = self.part(bits);
        let wide = self.scalar(Format::F64);
        let convert = match bits.format {
            Format::F64 => return part,
            Format::I32 => SpvOp::ConvertSToF,
            Format::U32 => SpvOp::ConvertUToF,
            _ => SpvOp::FConvert,
        };
        let id = self.emit(convert, wide, ids([part]));
        self.exact(id)
    }

    fn in_binary64(&mut self, op: SpvOp, first: Word, second: Word) -> Word {
        let wide = self.scalar(Format::F64);
        let id = self.emit(op, wide, ids([first, second]));
        self.exact(id)
    }

    fn magnitude(&mut self, value: Word) -> Word {
        self.of_binary64(GlslStd450Op::FAbs, value)
    }

    fn of_binary64(&mut self, op: GlslStd450Op, value: Word) -> Word {
        let (wide, glsl) = (self.scalar(Format::F64), self.glsl());
        let op = Operand::LiteralExtInstInteger(op as Word);
        self.emit(SpvOp::ExtInst, wide, vec![Operand::IdRef(glsl), op, Operand::IdRef(value)])
    }

    fn middle(&mut self, first: Bits, second: Bits) -> Word {
        let (first, second) = (self.wide(first), self.wide(second));
        let sum = self.in_binary64(SpvOp::FAdd, first, second);
        let half = self.float_constant(Format::F64, 1, 0x3fe0_0000_0000_0000);
        self.in_binary64(SpvOp::FMul, sum, half)
    }

    /// Whether `value` is beyond the exact result, by magnitude: above or below it as `op`
    /// compares.
    fn beyond(
        &mut self,
        compare: SpvOp,
        of: Rounded,
        value: Word,
        operands: &[Word],
    ) -> Result<Word, String> {
        let op = of.operation.1;
        let product = |this: &mut Self, first, second| this.in_binary64(SpvOp::FMul, first, second);
        let mut value = value;
        let against = match (op.function, operands) {
            (Function::Load, _) => {
                let greatest = of.greatest().ok_or("no fixed point")?;
                let greatest = self.float_constant(Format::F64, 1, (greatest as f64).to_bits());
                value = product(self, value, greatest);
                Against { value: self.of_binary64(GlslStd450Op::RoundEven, value), error: None }
            }
            (Function::Add, [x, y]) => self.sum(SpvOp::FAdd, *x, *y),
            (Function::Sub, [x, y]) => self.sum(SpvOp::FSub, *x, *y),
            (Function::MulAdd, [x, y, z]) => {
                let first = product(self, *x, *y);
                self.sum(SpvOp::FAdd, first, *z)
            }
            (Function::Mul | Function::OuterProduct, [x, y]) => {
                Against { value: product(self, *x, *y), error: None }
            }
            (Function::Div, [x, y]) => {
                value = product(self, value, *y);
                Against { value: *x, error: None }
            }
            (Function::Sqrt, [x]) => {
                value = product(self, value, value);
                Against { value: *x, error: None }
            }
            (Function::InverseSqrt, [x]) => {
                let square = product(self, value, value);
                value = product(self, square, *x);
                Against {
                    value: self.float_constant(Format::F64, 1, 0x3ff0_0000_0000_0000),
                    error: None,
                }
            }
            (Function::Fract, [x]) => {
                let whole = self.of_binary64(GlslStd450Op::Floor, *x);
                self.sum(SpvOp::FSub, *x, whole)
            }
            (
                Function::ToFloat
                | Function::PackHalf
                | Function::FromSigned
                | Function::FromUnsigned,
                [x],
            ) => Against { value: *x, error: None },
            _ => return Err(format!("{} is not rounded here", op.name)),
        };
        let bool = self.scalar(Format::Bool);
        let (size, exact) = (self.magnitude(value), self.magnitude(against.value));
        let beyond = self.emit(compare, bool, ids([size, exact]));
        let Some(error) = against.error else { return Ok(beyond) };
        // Of the value's sign, an error makes the exact result larger.
        let equal = self.emit(SpvOp::FOrdEqual, bool, ids([value, against.value]));
        let direction = self.in_binary64(SpvOp::FMul, error, value);
        let zero = self.float_constant(Format::F64, 1, 0);
        let further = self.emit(compare, bool, ids([zero, direction]));
        let tipped = self.emit(SpvOp::LogicalAnd, bool, ids([equal, further]));
        Ok(self.emit(SpvOp::LogicalOr, bool, ids([beyond, tipped])))
    }

    /// Sum or difference, and what its rounding left out.
    fn sum(&mut self, op: SpvOp, x: Word, y: Word) -> Against {
        let mut exactly = |op, first, second| self.in_binary64(op, first, second);
        let sum = exactly(op, x, y);
        // For x - y the part that came from y is -(s - x).
        let part = exactly(SpvOp::FSub, sum, x);
        let rest = exactly(SpvOp::FSub, sum, part);
        let first = exactly(SpvOp::FSub, x, rest);
        let error = if op == SpvOp::FAdd {
            let second = exactly(SpvOp::FSub, y, part);
            exactly(SpvOp::FAdd, first, second)
        } else {
            let second = exactly(SpvOp::FAdd, y, part);
            exactly(SpvOp::FSub, first, second)
        };
        Against { value: sum, error: Some(error) }
    }
}
