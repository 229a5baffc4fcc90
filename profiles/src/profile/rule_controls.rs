//! Under which controls a rule's kernels are run, and which optional groups a kernel belongs to.
//!
//! What a specification demands only of who requests it (`DenormPreserve` and the like) is a rule
//! with `controls`: its kernels are run under these together with the recipe's. A control is named
//! in full (`ftz32`, `nocontract`), or as a mode without a width (`ftz`): then it is requested at
//! every float width that the kernel takes, gives, packs or unpacks. A mode of any other width says
//! nothing of the kernel.

use fpprobe_spirv::needs::{float_formats, needs};
use fpprobe_spirv::{Control, Controls, FloatLayout, Kernel, Need};

use super::{Member, OptionalGroup};
use crate::encoding::Encoding;
use crate::oracle::Signature;

/// A kernel under the controls of these names, which a recipe of any of these modes must be able to
/// carry as well.
pub(super) fn under<'a>(
    kernel: Kernel,
    names: impl IntoIterator<Item = &'a str>,
    modes: &[Control],
) -> Result<Kernel, String> {
    let widths = widths(&kernel);
    let mut controls = Controls::NONE;
    for name in names {
        let selected = Control::at(name, &widths).map_err(|error| error.to_string())?;
        let strange =
            |control: &Control| control.width().is_some_and(|width| !widths.contains(&width));
        if selected.is_empty() || selected.iter().any(strange) {
            return Err(format!(
                "`{name}` means nothing to `{kernel}`, which has no float of that width"
            ));
        }
        controls = Controls::new(selected)
            .and_then(|selected| controls.with(selected))
            .map_err(|error| error.to_string())?;
    }
    for mode in modes {
        let mode = Controls::new([*mode]).map_err(|error| error.to_string())?;
        controls.with(mode).map_err(|error| format!("{error}; a recipe may ask for `{mode}`"))?;
    }
    Ok(kernel.with_controls(controls))
}

/// Widths of the floats that a kernel takes, gives, packs or unpacks.
fn widths(kernel: &Kernel) -> Vec<u32> {
    let signature = Signature::new(kernel);
    let case = vec![0; kernel.arity()];
    let operands = (0..signature.encodings.len()).flat_map(|part| signature.operands(&case, part));
    let operands = operands.filter_map(|operand| operand.layout.and_then(FloatLayout::mode_width));
    let results = signature.encodings.iter().filter_map(|encoding| match encoding {
        Encoding::Float(layout) => layout.mode_width(),
        _ => None,
    });
    let types = float_formats(kernel).into_iter().filter_map(|format| format.float()?.mode_width());
    operands.chain(results).chain(types).collect()
}

/// The groups that a kernel belongs to: a device that lacks one cannot be asked it.
pub(super) fn groups(groups: &[OptionalGroup], kernel: &Kernel) -> Vec<String> {
    let (formats, needs) = (float_formats(kernel), needs(kernel));
    let belongs = |group: &&OptionalGroup| match group.member {
        Member::Format(format) => kernel.format == format || formats.contains(&format),
        Member::Need(need) => needs.contains(&need),
        Member::Path(path) => kernel.with_controls(Controls::NONE) == path,
        Member::Control(control) => {
            kernel.controls.contains(control) || needs.contains(&Need::Control(control))
        }
    };
    groups.iter().filter(belongs).map(|group| group.id.clone()).collect()
}
