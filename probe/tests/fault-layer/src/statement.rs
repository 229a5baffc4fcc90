//! Statements: what is to go wrong, where, and when.

mod parse;

use std::path::PathBuf;

use ash::vk;
use fpprobe_profiles::matrix::UnitModel;
use fpprobe_spirv::Control;

use crate::action::Action;
use crate::arithmetic::{Arithmetic, Emulation};
use crate::call::Call;
use crate::kernels::Patterns;
use crate::property::Field;

pub use parse::parse;

/// One statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// As it was written.
    pub text: String,
    /// What it does.
    pub kind: Kind,
    /// Text that the path of the driver's manifest must contain.
    pub on: String,
    /// Kernels of which one must be in the module.
    pub at: Patterns,
    /// How many kernels the module must hold.
    pub size: Size,
    /// Whether it takes only every second module of the same kernels.
    pub second: bool,
    /// Percentage of kernels that it takes, always the same ones, whatever module holds them; 100
    /// for all.
    pub share: u8,
    /// Which of the occasions that are left it takes.
    pub count: Count,
    /// Whether occasions are counted across processes.
    pub ever: bool,
    /// File whose number must be larger than this.
    pub above: Option<(u64, PathBuf)>,
}

/// What a statement does.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A module is rewritten.
    Arithmetic(Arithmetic),
    /// A mode is claimed, and honoured or not.
    Claim {
        /// The mode.
        control: Control,
        /// Whether the layer does what it says.
        honoured: bool,
    },
    /// A claim is withdrawn.
    Deny(Control),
    /// A format is claimed, and done in integers.
    Emulate(Emulation),
    /// `VkShaderFloatControlsIndependence` of denormal and rounding modes.
    Independence(i32),
    /// A feature ([`crate::property::FEATURES`]) has this value.
    Feature(&'static str, u32),
    /// A format lacks some features with optimal tiling, and of buffers.
    Withhold(vk::Format, vk::FormatFeatureFlags),
    /// A device extension is listed or not.
    Extension(String, bool),
    /// A limit ([`crate::property::LIMITS`]) has this value.
    Limit(&'static str, u64),
    /// A property ([`crate::property::PROPERTIES`]) has this value.
    Property(&'static str, u32),
    /// A string has these bytes; `endless`: over and over, without NUL.
    Text {
        /// Which.
        field: Field,
        /// The bytes.
        bytes: Vec<u8>,
        /// Whether they fill the array.
        endless: bool,
    },
    /// A field changes from call to call, or from process to process.
    Changing {
        /// Which.
        field: Field,
        /// Whether it stays the same within a process.
        process: bool,
    },
    /// A list ([`crate::property::COUNTS`]) announces this length.
    Length(&'static str, u32),
    /// Something happens in a call.
    Act(Action, &'static Call),
    /// A command ([`crate::call::CONVERSIONS`]) gets at the wrong texels: mirrored, or with the
    /// components of a clear exchanged.
    Garble(&'static str),
    /// A dispatch is harmed.
    Damage(Damage),
    /// What `VK_EXT_device_fault` tells.
    Report(Report),
    /// Each family has that many queues.
    Queues(u32),
}

/// How a dispatch is harmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// Not executed.
    Skip,
    /// Half of the columns (work groups in x).
    HalfColumns,
    /// Half of the rows (work groups in y).
    HalfRows,
    /// Bytes behind each result buffer's bound range are overwritten.
    Overrun(u64),
    /// Bytes within a binding are overwritten.
    Scribble {
        /// The binding, in descriptor set 0.
        binding: u32,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// A bit of each word of results flips with this probability, in units of 2^-32.
    Flip {
        /// The probability.
        threshold: u32,
        /// Whether every fourth word is spared, which counts invocations in digests.
        sums: bool,
    },
    /// Results become others, each with this probability, in units of 2^-32: also those that a
    /// digest is of.
    Strike {
        /// The probability.
        threshold: u32,
        /// The lane of 32 whose results alone are struck.
        lane: Option<u32>,
    },
    /// Results are wrong where the pipeline was dispatched before.
    WrongAgain,
    /// Results are wrong on another queue than the device's first.
    WrongElsewhere,
    /// Where the pipeline was dispatched before, its results of then come back.
    Stale,
    /// Products of matrices are those of this model, where it says something.
    Unit(UnitModel),
}

/// What `VK_EXT_device_fault` tells of a lost device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// `VkDeviceFaultInfoEXT::description`.
    pub description: Vec<u8>,
    /// Addresses, each an invalid read.
    pub addresses: Vec<u64>,
    /// Description, code and data of each vendor entry.
    pub vendor: Vec<(Vec<u8>, u64, u64)>,
    /// Bytes of vendor binary.
    pub binary: u64,
}

/// How many kernels a module must hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Size {
    /// Any number.
    #[default]
    Any,
    /// One.
    Alone,
    /// More.
    Company,
}

/// Which occasions a statement takes, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Count {
    /// All of them.
    #[default]
    All,
    /// This one.
    Nth(u64),
    /// This one and all after it.
    From(u64),
    /// Each multiple of this.
    Every(u64),
}
