//! What a device must offer before a kernel may be put to it.

use std::collections::BTreeSet;
use std::fmt;

use crate::controls::Control;
use crate::format::Format;
use crate::kernel::Kernel;
use crate::op::Code;

/// One thing a device may or may not offer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Need {
    /// Feature `shaderFloat16`.
    Float16,
    /// Feature `shaderFloat64`.
    Float64,
    /// Feature `storageBuffer16BitAccess`; never needed, used where it is there.
    Storage16,
    /// Feature `shaderStorageImageExtendedFormats`.
    ExtendedFormats,
    /// Storage image use of a packed format with optimal tiling.
    StorageImage(Format),
    /// A control, by the property or feature that claims it.
    Control(Control),
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Float16 => f.write_str("shaderFloat16"),
            Need::Float64 => f.write_str("shaderFloat64"),
            Need::Storage16 => f.write_str("storageBuffer16BitAccess"),
            Need::ExtendedFormats => f.write_str("shaderStorageImageExtendedFormats"),
            Need::StorageImage(format) => write!(f, "VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT for {format}"),
            Need::Control(control) => f.write_str(control.claim().unwrap_or("core")),
        }
    }
}

/// Everything a kernel needs; [`Need::Storage16`] is not among it.
pub fn needs(kernel: &Kernel) -> BTreeSet<Need> {
    let mut needs: BTreeSet<Need> =
        kernel.controls.iter().filter(|control| control.claim().is_some()).map(Need::Control).collect();
    for format in kernel.formats() {
        match format {
            Format::F16 => needs.insert(Need::Float16),
            Format::F64 => needs.insert(Need::Float64),
            _ => false,
        };
    }
    if matches!(kernel.op.code, Code::ImageRead | Code::ImageWrite) {
        needs.insert(Need::ExtendedFormats);
        needs.insert(Need::StorageImage(kernel.format));
    }
    if kernel.controls.contains(Control::FastMath0) {
        // FPFastMathDefault names every float type of the module; each needs its preserve property (VUID 09559 ff.).
        let floats: Vec<u32> = float_formats(kernel).iter().map(|format| format.bits()).collect();
        needs.extend(floats.into_iter().map(|width| Need::Control(Control::Szin(width))));
    }
    needs
}

/// Float formats whose types appear in a kernel's module.
pub fn float_formats(kernel: &Kernel) -> BTreeSet<Format> {
    let mut formats: BTreeSet<Format> =
        kernel.formats().into_iter().filter(|format| format.float().is_some()).collect();
    if matches!(kernel.op.code, Code::ImageRead | Code::ImageWrite) {
        formats.insert(Format::F32);
    }
    formats
}
