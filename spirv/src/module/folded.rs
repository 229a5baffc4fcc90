//! Operands that are constants of the module, so that the driver can fold the operation when it compiles.
//!
//! Every slot's operation stands in the code of its kernel, on constants of its own, and the bits of the slot choose the
//! result that the invocation is to store. That works on integers: it moves the bits of floats, and nothing that a device
//! does to floats can get at them.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, Word};

use crate::emitter::{Emitter, ids};
use crate::error::BuildError;
use crate::format::Format;
use crate::kernel::{Kernel, Shape};
use crate::plan::constants::Specialised;
use crate::plan::{Placed, Plan};
use crate::route::Route;
use crate::words::words_of;

/// How an invocation chooses among the results of all slots.
pub(super) struct Choice {
    slot: Word,
    /// Whether each bit of the slot is set.
    bits: Vec<Word>,
}

/// How many results lie in a word: 2^places, of so many bits each.
#[derive(Clone, Copy)]
struct Packing {
    places: usize,
    bits: u32,
}

impl Packing {
    /// That of a kernel: its widest result decides.
    fn of(kernel: &Kernel) -> Packing {
        let bits = kernel.output_formats().map(Format::bits).max().unwrap_or(32).min(32);
        Packing { places: (32 / bits).ilog2() as usize, bits }
    }
}

impl Emitter {
    /// Declares the plan's specialisation constants.
    pub(super) fn declare_specialised(&mut self, plan: &Plan) {
        for (number, constant) in (0..).zip(plan.specialised()) {
            let kind = self.scalar(constant.format);
            let (builder, bits) = (&mut self.builder, constant.default_bits());
            let id = match constant.format {
                Format::Bool if bits == 0 => builder.spec_constant_false(kind),
                Format::Bool => builder.spec_constant_true(kind),
                _ if constant.format.bits() > 32 => builder.spec_constant_bit64(kind, bits),
                _ => builder.spec_constant_bit32(kind, bits as u32),
            };
            builder.decorate(id, Decoration::SpecId, [Operand::LiteralBit32(number)]);
            self.specialised.insert(constant, id);
        }
    }

    /// The bits of the slot that tell slots of the plan apart.
    pub(super) fn choice(&mut self, plan: &Plan, slot: Word) -> Result<Choice, BuildError> {
        let (uint, bool) = (self.scalar(Format::U32), self.scalar(Format::Bool));
        let most = plan.placed.iter().map(|placed| placed.slots).max().unwrap_or(0);
        let bit = |bit: u32| {
            let (mask, zero) = (self.word(1 << bit), self.word(0));
            let masked = self.value(Op::BitwiseAnd, uint, ids([slot, mask]))?;
            self.value(Op::INotEqual, bool, ids([masked, zero]))
        };
        let bits = (0..u32::BITS - most.saturating_sub(1).leading_zeros()).map(bit).collect::<Result<_, _>>()?;
        Ok(Choice { slot, bits })
    }

    /// The results of the operation on the constants of the chosen slot.
    pub(super) fn folded(&mut self, placed: &Placed, choice: &Choice) -> Result<Vec<Word>, BuildError> {
        let kernel = &placed.kernel;
        let packing = Packing::of(kernel);
        let cases: Vec<&[u64]> = placed.values.chunks(kernel.arity()).collect();
        let packs: Vec<&[&[u64]]> = cases.chunks(1 << packing.places).collect();
        let bits = choice.bits.get(packing.places..).unwrap_or_default();
        let mut words = self.one_of(kernel, packing, &packs, bits)?;
        if packing.places > 0 {
            for word in &mut words {
                *word = self.unpacked(packing, *word, choice.slot)?;
            }
        }
        let mut rest = words.as_slice();
        let mut value = |shape| {
            let (own, after) = rest.split_at(words_of(shape) as usize);
            rest = after;
            self.from_words(shape, own)
        };
        kernel.results().into_iter().map(&mut value).collect()
    }

    /// The words of one of these packs: the last bit chooses the half, the others the pack. Few results wait at any time for
    /// being chosen.
    fn one_of(
        &mut self,
        kernel: &Kernel,
        packing: Packing,
        packs: &[&[&[u64]]],
        bits: &[Word],
    ) -> Result<Vec<Word>, BuildError> {
        if let ([pack], _) | ([pack, ..], []) = (packs, bits) {
            return self.pack(kernel, packing, pack);
        }
        let Some((bit, lower)) = bits.split_last() else { return Ok(Vec::new()) };
        let (first, second) = packs.split_at(packs.len().min(1 << lower.len()));
        let first = self.one_of(kernel, packing, first, lower)?;
        if second.is_empty() {
            return Ok(first);
        }
        let second = self.one_of(kernel, packing, second, lower)?;
        let uint = self.scalar(Format::U32);
        let pairs = first.into_iter().zip(second);
        pairs.map(|(first, second)| self.value(Op::Select, uint, ids([*bit, second, first]))).collect()
    }

    /// The results of these cases, component by component, side by side in words.
    fn pack(&mut self, kernel: &Kernel, packing: Packing, cases: &[&[u64]]) -> Result<Vec<Word>, BuildError> {
        let uint = self.scalar(Format::U32);
        let mut packed: Vec<Word> = Vec::new();
        for (place, case) in (0..).zip(cases) {
            let params = self.constant_operands(kernel, case)?;
            let results = self.operation(kernel, &params)?;
            let mut words = Vec::new();
            for (shape, result) in kernel.results().into_iter().zip(results) {
                words.extend(self.to_words(shape, result)?);
            }
            if place == 0 {
                packed = words;
                continue;
            }
            let shift = self.word(place * packing.bits);
            for (packed, word) in packed.iter_mut().zip(words) {
                let shifted = self.value(Op::ShiftLeftLogical, uint, ids([word, shift]))?;
                *packed = self.value(Op::BitwiseOr, uint, ids([*packed, shifted]))?;
            }
        }
        Ok(packed)
    }

    /// What a word of a pack holds for this slot.
    fn unpacked(&mut self, packing: Packing, word: Word, slot: Word) -> Result<Word, BuildError> {
        let uint = self.scalar(Format::U32);
        let [last, bits, mask] =
            [(1 << packing.places) - 1, packing.bits, (1 << packing.bits) - 1].map(|n| self.word(n));
        let place = self.value(Op::BitwiseAnd, uint, ids([slot, last]))?;
        let shift = self.value(Op::IMul, uint, ids([place, bits]))?;
        let shifted = self.value(Op::ShiftRightLogical, uint, ids([word, shift]))?;
        self.value(Op::BitwiseAnd, uint, ids([shifted, mask]))
    }

    fn constant_operands(&mut self, kernel: &Kernel, values: &[u64]) -> Result<Vec<Word>, BuildError> {
        let mut params = Vec::new();
        let mut component = 0;
        for shape in kernel.params() {
            let bits = &values[component..component + shape.width as usize];
            params.push(match kernel.route {
                Route::Spec => self.specialised(kernel, shape, component, bits)?,
                _ => self.constants(shape, bits),
            });
            component += shape.width as usize;
        }
        Ok(params)
    }

    /// An operand of specialisation constants.
    fn specialised(&mut self, kernel: &Kernel, shape: Shape, first: usize, bits: &[u64]) -> Result<Word, BuildError> {
        let constant = |(index, bits): (usize, &u64)| {
            let constant = Specialised { component: first + index, format: shape.format, bits: *bits };
            self.specialised.get(&constant).copied()
        };
        let parts: Option<Vec<Word>> = bits.iter().enumerate().map(constant).collect();
        let parts = parts.ok_or_else(|| BuildError::Operands { kernel: kernel.to_string(), given: first })?;
        Ok(self.specialised_composite(shape, &parts))
    }

    fn specialised_composite(&mut self, shape: Shape, components: &[Word]) -> Word {
        let Some((part, _)) = shape.parts() else { return components[0] };
        let parts = components.chunks(part.width as usize).map(|own| self.specialised_composite(part, own));
        let parts: Vec<Word> = parts.collect();
        let kind = self.shape(shape);
        self.builder.spec_constant_composite(kind, parts)
    }
}
