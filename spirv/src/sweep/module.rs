//! The module of a sweep: SPIR-V 1.3 (Vulkan 1.1), entry point `main`.

use rspirv::binary::Assemble;
use rspirv::dr::Operand;
use rspirv::spirv::{
    BuiltIn, Decoration, ExecutionMode, ExecutionModel, LoopControl, Op, StorageClass, Word,
};

use super::sink::{SinkInput, Stand};
use super::{Domain, LANES, Sink, TURN};
use crate::build_error::BuildError;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::Shape;
use crate::modes;
use crate::needs::float_formats;
use crate::plan::{Buffer, Direction, Element};

/// The buffer of results, in descriptor set 0: its only binding.
pub const BINDING: u32 = RESULTS.binding();

const RESULTS: Buffer = Buffer { direction: Direction::Out, element: Element::U32, length: 0 };
const COORDINATES: Shape = Shape::vector(Format::U32, 3);

/// What the loop of an invocation starts from.
struct Start {
    stand: Stand,
    /// Number of its first input.
    input: Word,
    /// That of the dispatch's first.
    first: Word,
    /// What every input of the dispatch has above 32 bits.
    high: Word,
    steps: Word,
}

/// Builds the module that asks a kernel the inputs of blocks, with work groups of N invocations, a
/// part of [`LANES`]. Gives its words, header included.
pub fn build(domain: &Domain, sink: Sink, group: u32) -> Result<Vec<u32>, BuildError> {
    let kernel = domain.kernel();
    let mut emitter = Emitter::new();
    emitter.preamble(&float_formats(kernel), false);
    let start = emitter.begin_sweep(group)?;
    emitter.swept(domain, sink, &start)?;
    Ok(modes::apply(emitter.end_entry()?, kernel.controls)?.assemble())
}

impl Emitter {
    /// Declares and opens `main`.
    fn begin_sweep(&mut self, size: u32) -> Result<Start, BuildError> {
        let (uint, vector) = (self.scalar(Format::U32), self.shape(COORDINATES));
        let buffer = self.declare_buffer(&RESULTS);
        let push = self.declare_push();
        let [invocation, group] =
            [(BuiltIn::GlobalInvocationId, "invocation"), (BuiltIn::WorkgroupId, "work_group")]
                .map(|(built_in, name)| {
                    self.built_in_of(StorageClass::Input, vector, built_in, name)
                });
        let main = self.begin_entry(ExecutionModel::GLCompute, &[invocation, group])?;
        self.builder.execution_mode(main, ExecutionMode::LocalSize, [size, 1, 1]);
        let own = self.coordinate(invocation, 0)?;
        let block = self.coordinate(group, 1)?;
        let [first, steps, turn, high] = [
            self.pushed(push, 0)?,
            self.pushed(push, 1)?,
            self.pushed(push, 2)?,
            self.pushed(push, 3)?,
        ];
        let lane = self.value(Op::BitwiseXor, uint, ids([own, turn]))?;
        let lanes = self.word(LANES);
        let inputs = self.value(Op::IMul, uint, ids([steps, lanes]))?;
        let before = self.value(Op::IMul, uint, ids([block, inputs]))?;
        let input = self.value(Op::IAdd, uint, ids([first, before]))?;
        let input = self.value(Op::IAdd, uint, ids([input, lane]))?;
        Ok(Start { stand: Stand { block, lane, buffer }, input, first, high, steps })
    }

    fn declare_push(&mut self) -> Word {
        let uint = self.scalar(Format::U32);
        let block = self.builder.type_struct([uint; 4]);
        let pointer = self.builder.type_pointer(None, StorageClass::PushConstant, block);
        let variable = self.builder.variable(pointer, None, StorageClass::PushConstant, None);
        self.builder.decorate(block, Decoration::Block, []);
        for member in 0..4 {
            self.builder.member_decorate(
                block,
                member,
                Decoration::Offset,
                [Operand::LiteralBit32(4 * member)],
            );
        }
        self.builder.name(variable, "push");
        variable
    }

    fn pushed(&mut self, push: Word, member: u32) -> Result<Word, BuildError> {
        let (uint, member) = (self.scalar(Format::U32), self.word(member));
        let pointer = self.builder.type_pointer(None, StorageClass::PushConstant, uint);
        let at = self.value(Op::AccessChain, pointer, ids([push, member]))?;
        self.value(Op::Load, uint, ids([at]))
    }

    fn coordinate(&mut self, variable: Word, index: u32) -> Result<Word, BuildError> {
        let kind = self.shape(COORDINATES);
        let vector = self.value(Op::Load, kind, ids([variable]))?;
        self.component(COORDINATES, vector, index)
    }

    /// `do { TURN inputs } while (the steps are not done);` and what comes after. The block of the
    /// operations bears the kernel's name.
    fn swept(&mut self, domain: &Domain, sink: Sink, start: &Start) -> Result<(), BuildError> {
        let (uint, bool, zero) =
            (self.scalar(Format::U32), self.scalar(Format::Bool), self.word(0));
        let before = self.block()?;
        let [header, body, again, merge] = [(); 4].map(|()| self.builder.id());
        // What the loop carries: the input, the steps done, and what the sink has. What the next
        // turn has of it gets its id before it is known.
        let own = std::iter::repeat_n(zero, sink.carried());
        let mut carry = |from: Word| (from, self.builder.id(), self.builder.id());
        let carried: Vec<_> = [start.input, zero].into_iter().chain(own).map(&mut carry).collect();
        self.builder.branch(header)?;
        self.builder.begin_block(Some(header))?;
        for (from, now, next) in &carried {
            self.define(*now, Op::Phi, uint, ids([*from, before, *next, again]))?;
        }
        self.builder.loop_merge(merge, again, LoopControl::NONE, [])?;
        self.builder.branch(body)?;

        self.builder.begin_block(Some(body))?;
        self.builder.name(body, domain.kernel().label());
        let now: Vec<Word> = carried.iter().map(|(_, now, _)| *now).collect();
        let [input, done, own @ ..] = &now[..] else { return Err(BuildError::NoEntryPoint) };
        let mut own = own.to_vec();
        for turn in 0..TURN {
            let further = self.word(turn * LANES);
            let input = self.value(Op::IAdd, uint, ids([*input, further]))?;
            own = self.request(domain, sink, start, input, &own)?;
        }
        self.builder.branch(again)?;

        self.builder.begin_block(Some(again))?;
        let steps = [(*input, TURN * LANES), (*done, TURN)];
        for ((value, further), (.., next)) in steps.into_iter().zip(&carried) {
            let further = self.word(further);
            self.define(*next, Op::IAdd, uint, ids([value, further]))?;
        }
        for (value, (.., next)) in own.iter().zip(&carried[2..]) {
            self.define(*next, Op::CopyObject, uint, ids([*value]))?;
        }
        let more = self.value(Op::ULessThan, bool, ids([carried[1].2, start.steps]))?;
        self.builder.branch_conditional(more, header, merge, [])?;

        self.builder.begin_block(Some(merge))?;
        self.hand_over(sink, start.stand, &own)
    }

    /// One input, from its number to the sink.
    fn request(
        &mut self,
        domain: &Domain,
        sink: Sink,
        start: &Start,
        input: Word,
        carried: &[Word],
    ) -> Result<Vec<Word>, BuildError> {
        let uint = self.scalar(Format::U32);
        let operands = self.operands_of(domain, input, start.high)?;
        let results = self.operation(domain.kernel(), &operands)?;
        let mut words = Vec::new();
        for (shape, value) in domain.results().into_iter().zip(results) {
            words.extend(self.to_words(shape, value)?);
        }
        let place = self.value(Op::ISub, uint, ids([input, start.first]))?;
        self.take(sink, domain, start.stand, SinkInput { input, place, words: &words }, carried)
    }

    /// The operands of an input, whose number has these two words.
    fn operands_of(
        &mut self,
        domain: &Domain,
        input: Word,
        high: Word,
    ) -> Result<Vec<Word>, BuildError> {
        let uint = self.scalar(Format::U32);
        let mut parts = Vec::new();
        for (format, shift) in domain.fields() {
            let mut raw = if shift < 32 { input } else { high };
            if shift % 32 > 0 {
                let shift = self.word(shift % 32);
                raw = self.value(Op::ShiftRightLogical, uint, ids([raw, shift]))?;
            }
            // Binary16 is taken from the low half of a word, whatever the other half is.
            if format == Format::Bool {
                let one = self.word(1);
                raw = self.value(Op::BitwiseAnd, uint, ids([raw, one]))?;
            }
            parts.push(self.decode(format, Element::U32, raw)?);
        }
        let mut parts = parts.as_slice();
        let mut operands = Vec::new();
        for shape in domain.kernel().params() {
            let (own, after) = parts.split_at(shape.width as usize);
            parts = after;
            operands.push(self.compose(shape, own)?);
        }
        Ok(operands)
    }
}
