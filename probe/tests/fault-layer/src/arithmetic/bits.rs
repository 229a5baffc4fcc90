//! Values taken apart into integer bits, and put together again.

use fpprobe_spirv::Format;
use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

use super::module::{Rewriter, ids};

/// One component of a value: an unsigned integer of 64 bits for binary64, of 32 for everything
/// else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits {
    pub id: Word,
    pub format: Format,
}

/// How a value is made of components.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    pub format: Format,
    /// Of all columns together.
    pub count: u32,
    /// Vectors that a matrix is made of; 1 for everything else.
    pub columns: u32,
    /// Bits of each component where all of them lie in one word, the first lowest.
    pub packed: Option<u32>,
}

impl Rewriter {
    /// Type of the integer that holds a component's bits.
    pub fn carrier(&mut self, format: Format) -> Word {
        self.int(if format == Format::F64 { 64 } else { 32 }, 0)
    }

    /// A constant of these bits in the carrier of a format.
    pub fn constant(&mut self, format: Format, bits: u64) -> Bits {
        let kind = self.carrier(format);
        Bits { id: self.literal(kind, format, bits), format }
    }

    /// Appends an instruction that combines bits of one format.
    pub fn combine(&mut self, op: Op, first: Bits, second: Bits) -> Bits {
        let kind = self.carrier(first.format);
        Bits { id: self.emit(op, kind, ids([first.id, second.id])), ..first }
    }

    /// As [`Rewriter::combine`], with a constant.
    pub fn with(&mut self, op: Op, first: Bits, second: u64) -> Bits {
        let second = self.constant(first.format, second);
        self.combine(op, first, second)
    }

    /// Appends an instruction that compares bits.
    pub fn compare(&mut self, op: Op, first: Bits, second: Bits) -> Word {
        let bool = self.scalar(Format::Bool);
        self.emit(op, bool, ids([first.id, second.id]))
    }

    /// `condition ? yes : no`.
    pub fn select(&mut self, condition: Word, yes: Bits, no: Bits) -> Bits {
        let kind = self.carrier(no.format);
        Bits { id: self.emit(Op::Select, kind, ids([condition, yes.id, no.id])), ..no }
    }

    /// A value's components.
    pub fn split(&mut self, value: Word, view: View) -> Vec<Bits> {
        let View { format, count, columns, packed } = view;
        if let Some(bits) = packed {
            let word = Bits { id: value, format };
            let mask = (1 << bits) - 1;
            let parts = (0..count).map(|part| {
                let shifted = self.with(Op::ShiftRightLogical, word, u64::from(part * bits));
                self.with(Op::BitwiseAnd, shifted, mask)
            });
            return parts.collect();
        }
        let scalar = self.scalar(format);
        let parts: Vec<Word> = if count == 1 {
            vec![value]
        } else {
            let rows = count / columns;
            let part = |index| {
                let place =
                    if columns == 1 { vec![index] } else { vec![index / rows, index % rows] };
                let place = place.into_iter().map(Operand::LiteralBit32);
                [Operand::IdRef(value)].into_iter().chain(place).collect()
            };
            (0..count).map(|index| self.emit(Op::CompositeExtract, scalar, part(index))).collect()
        };
        parts.into_iter().map(|part| Bits { id: self.bits(part, format), format }).collect()
    }

    /// The bits of a component. Binary16 goes through a pair, so that no 16-bit integers are
    /// needed.
    fn bits(&mut self, part: Word, format: Format) -> Word {
        let carrier = self.carrier(format);
        match format {
            Format::Bool => {
                let (yes, no) = (self.constant(format, 1), self.constant(format, 0));
                self.emit(Op::Select, carrier, ids([part, yes.id, no.id]))
            }
            Format::F16 => {
                let zero = self.float_constant(format, 1, 0);
                let pair = self.vector(format, 2);
                let pair = self.emit(Op::CompositeConstruct, pair, ids([part, zero]));
                self.emit(Op::Bitcast, carrier, ids([pair]))
            }
            Format::I32 | Format::F32 | Format::F64 => self.emit(Op::Bitcast, carrier, ids([part])),
            _ if format.float_encoding().is_some() => {
                let narrow = self.int(format.bits(), 0);
                let own = self.emit(Op::Bitcast, narrow, ids([part]));
                self.emit(Op::UConvert, carrier, ids([own]))
            }
            _ => part,
        }
    }

    /// The component of its own type that has these bits.
    pub fn part(&mut self, bits: Bits) -> Word {
        let scalar = self.scalar(bits.format);
        match bits.format {
            Format::Bool => {
                let zero = self.constant(bits.format, 0);
                self.compare(Op::INotEqual, bits, zero)
            }
            Format::F16 => {
                let pair = self.vector(bits.format, 2);
                let pair = self.emit(Op::Bitcast, pair, ids([bits.id]));
                self.emit(
                    Op::CompositeExtract,
                    scalar,
                    vec![Operand::IdRef(pair), Operand::LiteralBit32(0)],
                )
            }
            Format::I32 | Format::F32 | Format::F64 => {
                self.emit(Op::Bitcast, scalar, ids([bits.id]))
            }
            format if format.float_encoding().is_some() => {
                let narrow = self.int(format.bits(), 0);
                let own = self.emit(Op::UConvert, narrow, ids([bits.id]));
                self.emit(Op::Bitcast, scalar, ids([own]))
            }
            _ => bits.id,
        }
    }

    /// The value of these components.
    pub fn join(&mut self, parts: &[Bits], view: View) -> Word {
        if let Some(bits) = view.packed {
            let mut word = self.constant(view.format, 0);
            for (part, shift) in parts.iter().zip((0..).step_by(bits as usize)) {
                let part = self.with(Op::BitwiseAnd, *part, (1 << bits) - 1);
                let part = self.with(Op::ShiftLeftLogical, part, shift);
                word = self.combine(Op::BitwiseOr, word, part);
            }
            return word.id;
        }
        let parts: Vec<Word> = parts.iter().map(|bits| self.part(*bits)).collect();
        if let [part] = parts[..] {
            return part;
        }
        let column = self.vector(view.format, view.count / view.columns);
        let columns = parts.chunks((view.count / view.columns) as usize);
        let columns: Vec<Word> = columns
            .map(|parts| self.emit(Op::CompositeConstruct, column, ids(parts.to_vec())))
            .collect();
        if let [vector] = columns[..] {
            return vector;
        }
        let kind = self.matrix(column, view.columns);
        self.emit(Op::CompositeConstruct, kind, ids(columns))
    }
}
