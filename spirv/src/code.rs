//! What an operation's row says in instructions.

use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Decoration, Op, SelectionControl, Word};

use crate::build_error::BuildError;
use crate::derivative;
use crate::emitter::{Emitter, ids};
use crate::format::Format;
use crate::kernel::{Kernel, Shape};
use crate::layout::FloatLayout;
use crate::modes;
use crate::op::{Arg, Code, Inst, Step};

impl Emitter {
    /// Emits the operation on its operands. Gives the results.
    pub(crate) fn operation(
        &mut self,
        kernel: &Kernel,
        params: &[Word],
    ) -> Result<Vec<Word>, BuildError> {
        let results = kernel.results();
        let value = match (kernel.op.code, params) {
            (Code::Inst(inst), _) => {
                if kernel.is_bfloat16_dot() {
                    let capability = Capability::BFloat16DotProductKHR;
                    modes::require(&mut self.builder, capability, "SPV_KHR_bfloat16");
                }
                let kind = self.structure(&results);
                self.instruction(inst, kind, params)
            }
            (Code::Steps(steps), _) => self.steps(kernel, steps, params),
            (Code::Derivative(op), [_]) => {
                if let Some(capability) = derivative::capability(op) {
                    modes::require(&mut self.builder, capability, "");
                }
                // Each invocation has its own part.
                let kind = self.scalar(kernel.format);
                self.value(op, kind, ids(params.iter().copied()))
            }
            (Code::LoadStore, [value]) => Ok(*value),
            (Code::SelectConstants, [_, _, _]) => {
                let kind = self.shape(kernel.result());
                self.value(Op::Select, kind, ids(params.iter().copied()))
            }
            (Code::Phi | Code::PhiConstants, [condition, yes, no]) => {
                self.phi(kernel.result(), *condition, *yes, *no)
            }
            (Code::Shuffle, [value]) => self.shuffle(kernel.result(), *value),
            (
                Code::LoadStore
                | Code::Phi
                | Code::SelectConstants
                | Code::PhiConstants
                | Code::Shuffle
                | Code::ImageWrite
                | Code::DepthClamp
                | Code::ImageRead
                | Code::ImageSample
                | Code::TexelCopy
                | Code::TexelConvert
                | Code::Blend(_)
                | Code::State(_)
                | Code::MatrixMulAdd
                | Code::MatrixLoadStore(_)
                | Code::Subgroup(..)
                | Code::Atomic(..)
                | Code::Derivative(_)
                | Code::Interpolated(_),
                _,
            ) => Err(BuildError::Operands { kernel: kernel.to_string(), given: params.len() }),
        };
        self.members(&results, value?)
    }

    fn instruction(&mut self, inst: Inst, kind: Word, args: &[Word]) -> Result<Word, BuildError> {
        match inst {
            Inst::Core(op) => {
                if op == Op::FmaKHR {
                    modes::require(&mut self.builder, Capability::FMAKHR, "SPV_KHR_fma");
                }
                self.value(op, kind, ids(args.iter().copied()))
            }
            Inst::Saturated(op) => {
                let value = self.value(op, kind, ids(args.iter().copied()))?;
                let decoration = Decoration::SaturatedToLargestFloat8NormalConversionEXT;
                self.builder.decorate(value, decoration, []);
                Ok(value)
            }
            Inst::Ext(op) => {
                let mut operands =
                    vec![Operand::IdRef(self.glsl()), Operand::LiteralExtInstInteger(op as Word)];
                operands.extend(ids(args.iter().copied()));
                self.value(Op::ExtInst, kind, operands)
            }
        }
    }

    fn steps(
        &mut self,
        kernel: &Kernel,
        steps: &[Step],
        params: &[Word],
    ) -> Result<Word, BuildError> {
        let mut results: Vec<Word> = Vec::new();
        for step in steps {
            let shape = kernel.shape(step.result);
            let args: Option<Vec<Word>> = step
                .args
                .iter()
                .map(|arg| match arg {
                    Arg::Param(index) => params.get(*index).copied(),
                    Arg::Step(index) => results.get(*index).copied(),
                    Arg::Zero => Some(self.constant(shape, 0)),
                    Arg::One => {
                        shape.format.float().map(|layout| self.constant(shape, layout.one()))
                    }
                    Arg::Least(integer) => shape.format.float().map(|layout| {
                        self.constant(shape, layout.least_integer(*integer == Format::I32))
                    }),
                    Arg::Most(integer) => shape.format.float().map(|layout| {
                        self.constant(shape, layout.greatest_integer(*integer == Format::I32))
                    }),
                })
                .collect();
            let args = args.ok_or_else(|| BuildError::Operands {
                kernel: kernel.to_string(),
                given: params.len(),
            })?;
            let kind = self.shape(shape);
            results.push(self.instruction(step.inst, kind, &args)?);
        }
        results
            .pop()
            .ok_or_else(|| BuildError::Operands { kernel: kernel.to_string(), given: params.len() })
    }

    /// The blocks are empty: all that distinguishes the two ways is the edge by which the phi is
    /// reached.
    fn phi(
        &mut self,
        shape: Shape,
        condition: Word,
        yes: Word,
        no: Word,
    ) -> Result<Word, BuildError> {
        let kind = self.shape(shape);
        let (taken, other, merge) = (self.builder.id(), self.builder.id(), self.builder.id());
        self.builder.selection_merge(merge, SelectionControl::NONE)?;
        self.builder.branch_conditional(condition, taken, other, [])?;
        for label in [taken, other] {
            self.builder.begin_block(Some(label))?;
            self.builder.branch(merge)?;
        }
        self.builder.begin_block(Some(merge))?;
        self.value(Op::Phi, kind, ids([yes, taken, no, other]))
    }

    /// The value moves from the second component of (1.0, value) to the first of the shuffled
    /// vector.
    fn shuffle(&mut self, shape: Shape, value: Word) -> Result<Word, BuildError> {
        let pair = Shape::vector(shape.format, 2);
        let kind = self.shape(pair);
        let companion = self.constant(shape, shape.format.float().map_or(1, FloatLayout::one));
        let vector = self.compose(pair, &[companion, value])?;
        let mut operands = ids([vector, vector]);
        operands.extend([1, 0].map(Operand::LiteralBit32));
        let swapped = self.value(Op::VectorShuffle, kind, operands)?;
        self.component(pair, swapped, 0)
    }
}
