//! Areas: what rules are about, in the rows of a scoreboard.

use fpprobe_spirv::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a rule is about.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Sums, products, quotients, comparisons and moves of numbers.
    Arithmetic,
    /// Subnormal operands and results.
    Subnormals,
    /// NaN and infinities, divisions by zero among them.
    NanAndInfinity,
    /// Minimum, maximum, clamp and saturate.
    MinAndMax,
    /// Square roots, exponentials, logarithms, trigonometry, roundings to integers, lengths.
    Functions,
    /// Between formats of numbers.
    Conversions,
    /// Several numbers in one word.
    Packing,
    /// Loads and stores of images, clears, blits and copies.
    Texels,
    /// Blending and resolve.
    BlendingAndResolve,
    /// Viewports, border colours and blend constants.
    State,
    /// What holds of 16-bit numbers alone.
    #[serde(rename = "16_bits")]
    Bits16,
    /// What holds of 64-bit numbers alone.
    #[serde(rename = "64_bits")]
    Bits64,
    /// What execution modes and decorations demand.
    Controls,
    /// What the invocations of a subgroup compute together.
    Subgroups,
    /// Atomic operations on memory.
    Atomics,
}

impl Area {
    /// Every area, in the order of a scoreboard.
    pub const ALL: [Area; 15] = [
        Area::Arithmetic,
        Area::Subnormals,
        Area::NanAndInfinity,
        Area::MinAndMax,
        Area::Functions,
        Area::Conversions,
        Area::Packing,
        Area::Texels,
        Area::BlendingAndResolve,
        Area::State,
        Area::Bits16,
        Area::Bits64,
        Area::Controls,
        Area::Subgroups,
        Area::Atomics,
    ];

    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Area::Arithmetic => "arithmetic",
            Area::Subnormals => "subnormals",
            Area::NanAndInfinity => "NaN and infinity",
            Area::MinAndMax => "min and max",
            Area::Functions => "functions",
            Area::Conversions => "conversions",
            Area::Packing => "packing",
            Area::Texels => "texels",
            Area::BlendingAndResolve => "blending and resolve",
            Area::State => "state",
            Area::Bits16 => "16 bits",
            Area::Bits64 => "64 bits",
            Area::Controls => "controls",
            Area::Subgroups => "subgroups",
            Area::Atomics => "atomics",
        }
    }

    /// The area of a rule that names none, by its first format.
    pub fn of(format: Format) -> Area {
        match format {
            _ if format.is_packed() => Area::Texels,
            Format::F16 => Area::Bits16,
            Format::F64 => Area::Bits64,
            _ => Area::Arithmetic,
        }
    }
}
