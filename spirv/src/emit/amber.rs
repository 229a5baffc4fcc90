//! `AmberScript` (google/amber, `docs/amber_script.md`). Every buffer is declared as unsigned integers, so that the bits
//! are exact on the way in and compared as bits on the way out.

use std::fmt::Write as _;

use crate::controls::Control;
use crate::emit::{Case, comment, hex};
use crate::error::BuildError;
use crate::needs::Need;
use crate::plan::{self, Buffer, Direction, Plan, Region};
use crate::route::Route;

/// What the results hold before the run, so that an answer that was never written shows: 0xa5a5.
const POISON: u32 = 42405;

/// The script of a case, `assembly` being its shader.
pub(super) fn script(case: &Case, plan: &Plan, assembly: &str) -> Result<String, BuildError> {
    if case.kernel.route == Route::StorageImage {
        return Err(BuildError::NoScript { kernel: case.kernel.to_string() });
    }
    let mut text = format!("#!amber\n{}", comment(&case.heading(), '#'));
    for line in requirements(case) {
        text.push_str(&line);
        text.push('\n');
    }
    let _ = write!(text, "\nSHADER compute kernel SPIRV-ASM TARGET_ENV spv1.3\n{assembly}END\n\n");
    for (index, buffer) in plan.buffers.iter().enumerate() {
        let declared = match buffer.direction {
            Direction::In => input(case, plan, index),
            Direction::Out => format!("{} SIZE {} FILL {POISON}\n", declaration(buffer), buffer.length),
        };
        text.push_str(&declared);
    }
    text.push_str("\nPIPELINE compute pipeline\n  ATTACH kernel\n");
    for buffer in &plan.buffers {
        let _ =
            writeln!(text, "  BIND BUFFER {} AS storage DESCRIPTOR_SET 0 BINDING {}", buffer.name(), buffer.binding());
    }
    let _ = write!(text, "END\n\nRUN pipeline {} 1 1\n\n", plan.columns);
    if let Some(result) = &plan.placed[0].result {
        text.push_str(&expectations(case, plan, result));
    }
    Ok(text)
}

/// Features, extensions and properties in Amber's names. Vulkan 1.2 has the extensions in its core, and drivers list
/// them still.
fn requirements(case: &Case) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for need in case.needs() {
        match need {
            Need::Float16 => {
                lines.push("DEVICE_EXTENSION VK_KHR_shader_float16_int8".into());
                lines.push("DEVICE_FEATURE Float16Int8Features.shaderFloat16".into());
            }
            Need::Float64 => lines.push("DEVICE_FEATURE shaderFloat64".into()),
            Need::Storage16 => {
                lines.push("DEVICE_EXTENSION VK_KHR_16bit_storage".into());
                lines.push("DEVICE_FEATURE Storage16BitFeatures.storageBuffer16BitAccess".into());
            }
            Need::Control(Control::FastMath0) => lines.push("DEVICE_EXTENSION VK_KHR_shader_float_controls2".into()),
            Need::Control(control) => {
                lines.push("DEVICE_EXTENSION VK_KHR_shader_float_controls".into());
                lines.extend(control.claim().map(|claim| format!("DEVICE_PROPERTY FloatControlsProperties.{claim}")));
            }
            Need::ExtendedFormats | Need::StorageImage(_) => {}
        }
    }
    let mut seen = Vec::new();
    lines.retain(|line| {
        !seen.contains(line) && {
            seen.push(line.clone());
            true
        }
    });
    lines
}

/// A buffer with the operands in it.
fn input(case: &Case, plan: &Plan, index: usize) -> String {
    let buffer = &plan.buffers[index];
    let mut bytes = vec![0; buffer.bytes()];
    for (slot, values) in case.cases.iter().enumerate() {
        let mut values = values.iter();
        for region in &plan.placed[0].params {
            for (component, bits) in (0..region.shape.width).zip(&mut values) {
                if region.buffer == index {
                    plan::write(plan, &mut bytes, region, slot as u32, component, *bits);
                }
            }
        }
    }
    let mut text = declaration(buffer) + " DATA\n";
    for element in bytes.chunks_exact(buffer.element.bytes()) {
        text.push_str("0x");
        for byte in element.iter().rev() {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
    }
    text + "END\n"
}

fn declaration(buffer: &Buffer) -> String {
    format!("BUFFER {} DATA_TYPE {}", buffer.name(), buffer.element.integer())
}

/// One `EXPECT` a case where the result is known; a comment to fill in where it is not.
fn expectations(case: &Case, plan: &Plan, result: &Region) -> String {
    let buffer = &plan.buffers[result.buffer];
    let mut text = String::new();
    for index in 0..case.cases.len() {
        let _ = writeln!(text, "# {}", case.line(index));
        let element = result.base as usize + index * result.shape.width as usize;
        let at = format!("EXPECT {} IDX {} EQ", buffer.name(), element * buffer.element.bytes());
        match case.expected_of(index) {
            Some(expected) => {
                let values: Vec<String> = expected.iter().map(|bits| hex(result.shape.format, &[*bits])).collect();
                let _ = writeln!(text, "{at} 0x{}", values.join(" 0x"));
            }
            None => {
                let _ = writeln!(text, "# observed: {at} ...");
            }
        }
    }
    text
}
