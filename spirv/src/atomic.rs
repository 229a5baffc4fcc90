//! Atomic operations on floats (SPIR-V, "Atomic Instructions"; `SPV_EXT_shader_atomic_float_add`,
//! `SPV_EXT_shader_atomic_float16_add`, `SPV_EXT_shader_atomic_float_min_max`): which value is the
//! result, how far they are atomic, and what of Vulkan's features each needs.

use std::fmt;
use std::str::FromStr;

use rspirv::spirv::{Capability, Op as SpvOp, Scope};

use crate::error::ParseError;
use crate::format::Format;
use crate::route::Route;

/// Which value is the result of a kernel. Its memory holds a value before: the first operand, or 1
/// where the operation does not look at it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AtomicForm {
    /// What the memory holds afterwards; what the instruction returns is not used, for which
    /// devices have instructions of their own.
    Stored,
    /// What the instruction returns: the original value.
    Original,
    /// What the memory holds after many such operations by all invocations of a work group.
    Many,
}

/// The invocations among which an operation is atomic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum MemoryScope {
    /// All invocations of the device, as GLSL has it.
    #[default]
    Device,
    /// Those of the work group.
    Workgroup,
}

impl MemoryScope {
    /// Every scope.
    pub const ALL: [MemoryScope; 2] = [MemoryScope::Device, MemoryScope::Workgroup];

    /// Name in kernel ids.
    pub const fn name(self) -> &'static str {
        match self {
            MemoryScope::Device => "device",
            MemoryScope::Workgroup => "workgroup",
        }
    }

    /// The operand of the instruction.
    pub(crate) const fn scope(self) -> Scope {
        match self {
            MemoryScope::Device => Scope::Device,
            MemoryScope::Workgroup => Scope::Workgroup,
        }
    }
}

impl FromStr for MemoryScope {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        MemoryScope::ALL
            .into_iter()
            .find(|scope| scope.name() == text)
            .ok_or_else(|| ParseError::unknown("scope", text, MemoryScope::ALL.map(Self::name)))
    }
}

/// Groups of operations that a feature covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AtomicGroup {
    /// Load, store and exchange.
    Move,
    /// Addition.
    Add,
    /// Minimum and maximum.
    MinMax,
}

impl AtomicGroup {
    const ALL: [AtomicGroup; 3] = [AtomicGroup::Move, AtomicGroup::Add, AtomicGroup::MinMax];

    /// The group of an instruction.
    pub const fn of(op: SpvOp) -> AtomicGroup {
        match op {
            SpvOp::AtomicFAddEXT => AtomicGroup::Add,
            SpvOp::AtomicFMinEXT | SpvOp::AtomicFMaxEXT => AtomicGroup::MinMax,
            _ => AtomicGroup::Move,
        }
    }

    /// What a module declares for operations of this group on floats of this many bits: capability
    /// and extension.
    pub(crate) const fn declared(self, bits: u32) -> Option<(Capability, &'static str)> {
        const ADD: &str = "SPV_EXT_shader_atomic_float_add";
        const ADD16: &str = "SPV_EXT_shader_atomic_float16_add";
        const MIN_MAX: &str = "SPV_EXT_shader_atomic_float_min_max";
        match (self, bits) {
            (AtomicGroup::Add, 16) => Some((Capability::AtomicFloat16AddEXT, ADD16)),
            (AtomicGroup::Add, 32) => Some((Capability::AtomicFloat32AddEXT, ADD)),
            (AtomicGroup::Add, _) => Some((Capability::AtomicFloat64AddEXT, ADD)),
            (AtomicGroup::MinMax, 16) => Some((Capability::AtomicFloat16MinMaxEXT, MIN_MAX)),
            (AtomicGroup::MinMax, 32) => Some((Capability::AtomicFloat32MinMaxEXT, MIN_MAX)),
            (AtomicGroup::MinMax, _) => Some((Capability::AtomicFloat64MinMaxEXT, MIN_MAX)),
            (AtomicGroup::Move, _) => None,
        }
    }
}

/// A feature of `VK_EXT_shader_atomic_float` or `VK_EXT_shader_atomic_float2`: operations of a
/// group on floats of a format in one kind of memory. It prints as Vulkan's name of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AtomicFeature {
    /// Where the float lies: [`Route::Buffer`], [`Route::Shared`] or [`Route::StorageImage`].
    pub memory: Route,
    /// The float.
    pub format: Format,
    /// The operations.
    pub group: AtomicGroup,
}

impl AtomicFeature {
    /// Every feature: images have 32 bits alone.
    pub fn all() -> impl Iterator<Item = AtomicFeature> {
        [Route::Buffer, Route::Shared, Route::StorageImage].into_iter().flat_map(|memory| {
            let formats = Format::FLOATS.iter().copied();
            formats
                .filter(move |format| memory != Route::StorageImage || *format == Format::F32)
                .flat_map(move |format| {
                    AtomicGroup::ALL.map(|group| AtomicFeature { memory, format, group })
                })
        })
    }

    /// The features that an instruction needs: its own, and that of the loads and stores around
    /// it.
    pub(crate) fn of(op: SpvOp, format: Format, memory: Route) -> [AtomicFeature; 2] {
        [AtomicGroup::of(op), AtomicGroup::Move].map(|group| Self { memory, format, group })
    }
}

impl fmt::Display for AtomicFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = match self.memory {
            Route::Shared => "Shared",
            Route::StorageImage => "Image",
            _ => "Buffer",
        };
        let group = match self.group {
            AtomicGroup::Move => "Atomics",
            AtomicGroup::Add => "AtomicAdd",
            AtomicGroup::MinMax => "AtomicMinMax",
        };
        write!(f, "shader{memory}Float{}{group}", self.format.bits())
    }
}

/// The cases of many additions: a first value, a value that is added, and how often. Every sum in
/// between is exact in whatever order, for all of them are multiples of one power of two that are
/// not too large.
pub(crate) fn additions(format: Format) -> Vec<u64> {
    let Some(layout) = format.float() else { return Vec::new() };
    let power = |exponent: i32| ((exponent + layout.bias()) as u64) << layout.fraction;
    // Sums of 11 bits.
    let many = if format == Format::F16 { 2_000 } else { 10_000 };
    // Of few, an addition that is lost shows as well. A first value of 0 is that number, others
    // are exponents.
    let list = [(0, 0, many, 0), (0, -3, many, 1), (8, 4, many, 0), (0, 0, 1, 1), (3, -1, 63, 0)];
    let case = |(first, each, count, sign): (i32, i32, u64, u64)| {
        let sign = sign * layout.sign_bit();
        let first = if first == 0 { 0 } else { power(first) | sign };
        [first, power(each) | sign, count]
    };
    list.into_iter().flat_map(case).collect()
}
