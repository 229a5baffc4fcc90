//! How operations are spelled in SPIR-V, and the routes that each spelling can take.

use std::fmt;

use rspirv::spirv::{GlslStd450Op as GLOp, Op as SpvOp};

use super::OperandType;
use crate::atomic::AtomicForm;
use crate::format::Format;
use crate::interpolation::Interpolation;
use crate::matrix::MatrixUse;
use crate::route::Route;
use crate::subgroup::SubgroupForm;

/// A SPIR-V instruction: core or GLSL.std.450.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inst {
    /// A core instruction.
    Core(SpvOp),
    /// A core instruction that is decorated `SaturatedToLargestFloat8NormalConversionEXT`.
    Saturated(SpvOp),
    /// An instruction of the GLSL.std.450 set.
    Ext(GLOp),
}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inst::Core(op) | Inst::Saturated(op) => write!(f, "Op{op:?}"),
            Inst::Ext(op) => write!(f, "GLSL.std.450 {op:?}"),
        }
    }
}

/// An argument of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// The operation's operand of this number.
    Param(usize),
    /// The result of an earlier step.
    Step(usize),
    /// The constant 0.0 of the step's format.
    Zero,
    /// The constant 1.0 of the step's format.
    One,
    /// The least value that the step's format and this integer format have in common.
    Least(Format),
    /// The greatest value that the step's format and this integer format have in common.
    Most(Format),
}

/// One instruction of a composite operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What is executed.
    pub inst: Inst,
    /// On what.
    pub args: &'static [Arg],
    /// Type of its result.
    pub result: OperandType,
}

/// How an operation is spelled in SPIR-V.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// One instruction on all operands in order.
    Inst(Inst),
    /// Several instructions; the last one's result is the operation's.
    Steps(&'static [Step]),
    /// The operand as loaded is stored.
    LoadStore,
    /// `OpPhi` of operands 1 and 2, chosen by a branch on operand 0.
    Phi,
    /// `OpSelect` of operands 1 and 2, constants of the module, by operand 0, which no compiler
    /// knows.
    SelectConstants,
    /// `OpPhi` of such constants behind a branch on such a condition.
    PhiConstants,
    /// The operand goes through `OpCompositeConstruct`, `OpVectorShuffle` and `OpCompositeExtract`.
    Shuffle,
    /// A texel from a vector: `OpImageWrite`, or what a command does in its place.
    ImageWrite,
    /// A depth that a fragment shader puts out, where the pipeline clamps it to the viewport's
    /// range (`depthClampEnable`).
    DepthClamp,
    /// A vector from a texel: `OpImageRead`, `OpImageFetch`, or what a command does in their place.
    ImageRead,
    /// The same through a sampler, nearest: `OpImageSampleExplicitLod`.
    ImageSample,
    /// A texel from a texel.
    TexelCopy,
    /// A texel from one of another format, the operand's.
    TexelConvert,
    /// A texel from a vector and the texel that was there before: what a fragment shader puts out,
    /// blended.
    Blend(Blend),
    /// Numbers that are state of the pipeline or of a sampler, seen in a texel or vector.
    State(FixedFunctionState),
    /// An element of the product of two cooperative matrices plus a third
    /// (`OpCooperativeMatrixMulAddKHR`).
    MatrixMulAdd,
    /// A line of a cooperative matrix, loaded in one layout and stored in the other.
    MatrixLoadStore(MatrixUse),
    /// An instruction over the invocations of a subgroup, which hold the operands.
    Subgroup(SpvOp, SubgroupForm),
    /// An atomic instruction on memory.
    Atomic(SpvOp, AtomicForm),
    /// A difference between invocations of a quad of fragments, each of which holds one operand.
    Derivative(SpvOp),
    /// An input of a fragment shader, of the values that the vertices of a triangle hold.
    Interpolated(Interpolation),
}

/// Invocations that compute a result together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Team {
    /// Those of a subgroup.
    Subgroup,
    /// Those of a work group.
    WorkGroup,
    /// Those of a quad of fragments.
    Quad,
    /// Those of the vertices of a triangle, and of a fragment of it.
    Triangle,
}

/// Routes of stores; formats that no storage image has go without the first.
const STORES: [Route; 5] =
    [Route::StorageImage, Route::Clear, Route::Blit, Route::Attachment, Route::Resolve];
/// Routes of loads, likewise.
const LOADS: [Route; 6] = [
    Route::StorageImage,
    Route::Sampled,
    Route::TexelBuffer,
    Route::Blit,
    Route::Vertex,
    Route::View,
];

impl Code {
    /// The instructions that compute on floats, where the operation is nothing else.
    pub fn instructions(self) -> impl Iterator<Item = Inst> {
        let (one, steps) = match self {
            Code::Inst(inst) => (Some(inst), &[][..]),
            Code::Steps(steps) => (None, steps),
            _ => (None, &[][..]),
        };
        one.into_iter().chain(steps.iter().map(|step| step.inst))
    }

    /// The routes it can take in a format, the natural one first.
    pub const fn routes(self, format: Format) -> &'static [Route] {
        match self {
            Code::ImageWrite if format.is_depth() => &[Route::Clear, Route::Attachment],
            Code::ImageRead if format.is_depth() => &[Route::Sampled],
            Code::ImageRead if format.is_block() => &[Route::Sampled, Route::Blit],
            Code::ImageWrite if format.image_format().is_some() => &STORES,
            Code::ImageWrite => STORES.split_at(1).1,
            Code::ImageRead if format.image_format().is_some() => &LOADS,
            Code::ImageRead => LOADS.split_at(1).1,
            Code::ImageSample | Code::State(FixedFunctionState::BorderColor) => &[Route::Sampled],
            Code::TexelCopy => &[Route::Copy],
            Code::TexelConvert => &[Route::Blit],
            Code::Blend(_)
            | Code::DepthClamp
            | Code::State(
                FixedFunctionState::MinDepth
                | FixedFunctionState::MaxDepth
                | FixedFunctionState::BlendConstants,
            ) => &[Route::Attachment],
            Code::SelectConstants | Code::PhiConstants => &[Route::Literal, Route::Spec],
            Code::MatrixMulAdd
            | Code::MatrixLoadStore(_)
            | Code::Subgroup(..)
            | Code::Derivative(_)
            | Code::Interpolated(_) => &[Route::Buffer],
            // In an image a load or a store of its own would be a conversion as well.
            Code::Atomic(op, _)
                if matches!(format, Format::F32) && !matches!(op, SpvOp::AtomicLoad) =>
            {
                &[Route::Buffer, Route::Shared, Route::StorageImage]
            }
            Code::Atomic(..) => &[Route::Buffer, Route::Shared],
            _ => &[Route::Buffer, Route::Uniform, Route::Push, Route::Spec, Route::Literal],
        }
    }

    /// Whether the texel that is written is an operand before.
    pub const fn is_blended(self) -> bool {
        matches!(self, Code::Blend(_) | Code::State(FixedFunctionState::BlendConstants))
    }

    /// Whether operand 0, a condition, is known at run time only, though the others are constants.
    pub const fn has_run_time_condition(self) -> bool {
        matches!(self, Code::SelectConstants | Code::PhiConstants)
    }

    /// Whether it is about cooperative matrices.
    pub const fn is_of_matrices(self) -> bool {
        matches!(self, Code::MatrixMulAdd | Code::MatrixLoadStore(_))
    }

    /// Whether the invocations of a subgroup do it together.
    pub const fn is_of_subgroups(self) -> bool {
        self.is_of_matrices() || matches!(self, Code::Subgroup(..))
    }

    /// Who computes a result, where more than one invocation does.
    pub const fn team(self) -> Option<Team> {
        match self {
            Code::Atomic(_, AtomicForm::Many) => Some(Team::WorkGroup),
            Code::Derivative(_) => Some(Team::Quad),
            Code::Interpolated(_) => Some(Team::Triangle),
            _ if self.is_of_subgroups() => Some(Team::Subgroup),
            _ => None,
        }
    }

    /// Whether every route of it is a question of its own, and not another way to the same
    /// arithmetic.
    pub const fn has_own_routes(self) -> bool {
        self.is_of_texels() || matches!(self, Code::Atomic(..))
    }

    /// Whether it is about texels of packed formats.
    pub const fn is_of_texels(self) -> bool {
        matches!(
            self,
            Code::ImageWrite
                | Code::DepthClamp
                | Code::ImageRead
                | Code::ImageSample
                | Code::TexelCopy
                | Code::TexelConvert
                | Code::Blend(_)
                | Code::State(_)
        )
    }
}

/// State that carries floats; no shader computes with them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FixedFunctionState {
    /// `minDepth` of a viewport, which a depth of 0 becomes.
    MinDepth,
    /// `maxDepth` of a viewport whose `minDepth` is 0; a depth of 1 becomes it.
    MaxDepth,
    /// Blend constants, the factor of a source of ones; what was there has the factor zero.
    BlendConstants,
    /// The custom border colour of a sampler, looked up outside the image
    /// (`VK_EXT_custom_border_color`).
    BorderColor,
}

/// How an attachment blends what is put out, the source, with what is there, the destination
/// (`VkBlendOp` ADD).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Blend {
    /// Factors one and zero: the source.
    Replace,
    /// Factors one and one: the sum.
    Add,
}
