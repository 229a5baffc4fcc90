//! Operands that are constants of the module, so that the driver can fold the operation when it
//! compiles.
//!
//! Every slot's operation stands in the code of its kernel, on constants of its own. The words of
//! its results are masked by the invocation's slot, and what all slots leave is put together bit by
//! bit: `(w0 & m0) | (w1 & m1) | ...`, each mask being all ones or zero, and computed from the slot
//! by integer arithmetic that no compiler takes for a condition. So nothing selects among folded
//! results: Mesa 22.3 and 25.0 make `select(c, 0u, 0xbf800000u)` an operation on floats that gives
//! 80000000. In a module of one case the results are stored as they are.
//!
//! A store for each result would need no masks, but llvmpipe takes milliseconds to compile each,
//! and Mesa 22.3 makes selections of reads from an array.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, Word};

use super::buffer_io::ResultElements;
use super::{InvocationPosition, ModuleMemory};
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::{Kernel, Shape};
use crate::op::Code;
use crate::plan::access;
use crate::plan::constants::SpecialisationConstant;
use crate::plan::{PlacedKernel, Plan};
use crate::route::Route;

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

    /// For each slot of the plan all ones in the invocation of that slot, 0 in others; none where
    /// there is one slot.
    pub(super) fn masks(&mut self, plan: &Plan, slot: Word) -> Result<Vec<Word>, BuildError> {
        let uint = self.scalar(Format::U32);
        let most = plan.placed.iter().map(|placed| placed.slots).max().unwrap_or(0);
        let (minus_one, last) = (self.word(u32::MAX), self.word(31));
        let mask = |number: u32| {
            let number = self.word(number);
            // 0 - 1 is negative, and no other difference of slots less 1 is.
            let other = self.value(Op::BitwiseXor, uint, ids([slot, number]))?;
            let less = self.value(Op::IAdd, uint, ids([other, minus_one]))?;
            self.value(Op::ShiftRightArithmetic, uint, ids([less, last]))
        };
        if most < 2 { Ok(Vec::new()) } else { (0..most).map(mask).collect() }
    }

    /// The elements of the results of the invocation's slot.
    pub(super) fn folded(
        &mut self,
        memory: &ModuleMemory,
        row: usize,
        placed: &PlacedKernel,
        masks: &[Word],
        place: InvocationPosition,
    ) -> Result<ResultElements, BuildError> {
        let kernel = &placed.kernel;
        let uint = self.scalar(Format::U32);
        let mut all = ResultElements::new();
        for (slot, case) in placed.values.chunks(kernel.arity()).enumerate() {
            let mut params = self.constant_operands(kernel, case)?;
            if kernel.op.code.has_run_time_condition() {
                params[0] = self.run_time_condition(case[0] != 0, place)?;
            }
            // A value that only moves has an instruction of its own.
            if kernel.op.code == Code::LoadStore {
                let kind = self.shape(kernel.result());
                params[0] = self.value(Op::CopyObject, kind, ids([params[0]]))?;
            }
            let results = self.operation(kernel, &params)?;
            for ((access, shape), value) in access::of_row(&memory.results, row).zip(results) {
                let own = self.elements_of(access.element, shape, value)?;
                for (index, word) in (0..).zip(own) {
                    let key = (access.number, access.buffer, index);
                    let Some(mask) = masks.get(slot) else {
                        all.insert(key, word);
                        continue;
                    };
                    let mut word = self.value(Op::BitwiseAnd, uint, ids([word, *mask]))?;
                    if let Some(before) = all.get(&key) {
                        word = self.value(Op::BitwiseOr, uint, ids([*before, word]))?;
                    }
                    all.insert(key, word);
                }
            }
        }
        Ok(all)
    }

    /// A truth value that no compiler knows.
    fn run_time_condition(
        &mut self,
        condition: bool,
        place: InvocationPosition,
    ) -> Result<Word, BuildError> {
        let (bool, constant) = (self.scalar(Format::Bool), self.word(0));
        let op = if condition { Op::IEqual } else { Op::INotEqual };
        let zero = place.zero.unwrap_or(constant);
        self.value(op, bool, ids([zero, constant]))
    }

    fn constant_operands(
        &mut self,
        kernel: &Kernel,
        values: &[u64],
    ) -> Result<Vec<Word>, BuildError> {
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
    fn specialised(
        &mut self,
        kernel: &Kernel,
        shape: Shape,
        first: usize,
        bits: &[u64],
    ) -> Result<Word, BuildError> {
        let constant = |(index, bits): (usize, &u64)| {
            let constant = SpecialisationConstant {
                component: first + index,
                format: shape.format,
                bits: *bits,
            };
            self.specialised.get(&constant).copied()
        };
        let parts: Option<Vec<Word>> = bits.iter().enumerate().map(constant).collect();
        let parts = parts
            .ok_or_else(|| BuildError::Operands { kernel: kernel.to_string(), given: first })?;
        Ok(self.specialised_composite(shape, &parts))
    }

    fn specialised_composite(&mut self, shape: Shape, components: &[Word]) -> Word {
        let Some((part, _)) = shape.parts() else { return components[0] };
        let parts =
            components.chunks(part.width as usize).map(|own| self.specialised_composite(part, own));
        let parts: Vec<Word> = parts.collect();
        let kind = self.shape(shape);
        self.builder.spec_constant_composite(kind, parts)
    }
}
