//! `AmberScript` (google/amber, `docs/amber_script.md`). Every buffer is declared as unsigned integers, so that the bits
//! are exact on the way in and compared as bits on the way out.

use std::fmt::Write as _;

use crate::controls::Control;
use crate::emit::{Case, comment, hex};
use crate::error::BuildError;
use crate::kernel::Shape;
use crate::needs::Need;
use crate::plan::constant_block::UNIFORM_BINDING;
use crate::plan::{self, Buffer, Direction, Element, Plan, Region};
use crate::route::{Route, Stage};

/// What the results hold before the run, so that an answer that was never written shows: 0xa5a5.
const POISON: u32 = 42405;

/// The script of a case, `assembly` being its shader.
pub(super) fn script(case: &Case, plan: &Plan, assembly: &str) -> Result<String, BuildError> {
    if case.kernel.op.code.is_of_texels() {
        let why = "which holds texels of packed formats as rounded values";
        return Err(BuildError::NoScript { kernel: case.kernel.to_string(), why });
    }
    if case.kernel.shader() != Stage::Compute {
        let why = "which draws no point for each slot";
        return Err(BuildError::NoScript { kernel: case.kernel.to_string(), why });
    }
    let attached = attached(case, plan)?;
    let dispatches = plan.dispatches();
    let mut text = format!("#!amber\n{}", comment(&case.heading(), '#'));
    for line in requirements(case) {
        text.push_str(&line);
        text.push('\n');
    }
    let _ = write!(text, "\nSHADER compute kernel SPIRV-ASM TARGET_ENV spv1.3\n{assembly}END\n\n");
    for (index, buffer) in plan.buffers.iter().enumerate() {
        let declared = match buffer.direction {
            Direction::In => input(case, plan, index),
            Direction::Out => {
                let length = buffer.bytes() / buffer.element.bytes();
                format!("{} SIZE {length} FILL {POISON}\n", declaration(buffer))
            }
        };
        text.push_str(&declared);
    }
    for (number, dispatch) in dispatches.iter().enumerate().filter(|(_, dispatch)| !dispatch.constant_block.is_empty())
    {
        let words =
            dispatch.constant_block.iter().fold(String::new(), |words, word| words + &format!("0x{word:08x}\n"));
        let _ = write!(text, "BUFFER constants{number} DATA_TYPE uint32 DATA\n{words}END\n");
    }
    for number in 0..dispatches.len() {
        let _ = write!(text, "\nPIPELINE compute pipeline{number}\n  {attached}\n");
        for buffer in &plan.buffers {
            let (name, binding) = (buffer.name(), buffer.binding());
            let _ = writeln!(text, "  BIND BUFFER {name} AS storage DESCRIPTOR_SET 0 BINDING {binding}");
        }
        let _ = match case.kernel.route {
            Route::Uniform => {
                writeln!(text, "  BIND BUFFER constants{number} AS uniform DESCRIPTOR_SET 0 BINDING {UNIFORM_BINDING}")
            }
            Route::Push => writeln!(text, "  BIND BUFFER constants{number} AS push_constant"),
            _ => Ok(()),
        };
        text.push_str("END\n");
    }
    text.push('\n');
    for (number, dispatch) in dispatches.iter().enumerate() {
        let _ = writeln!(text, "RUN pipeline{number} {} {} 1", dispatch.columns, dispatch.rows);
    }
    text.push('\n');
    text.push_str(&expectations(case, plan));
    Ok(text)
}

/// The shader with the values of its specialisation constants.
fn attached(case: &Case, plan: &Plan) -> Result<String, BuildError> {
    let mut text = "ATTACH kernel".to_owned();
    for (number, constant) in plan.specialised().iter().enumerate() {
        // A truth value is a VkBool32.
        if !matches!(constant.format.bits(), 1 | 32) {
            let why = "which has specialisation constants of 32 bits only";
            return Err(BuildError::NoScript { kernel: case.kernel.to_string(), why });
        }
        let _ = write!(text, " \\\n      SPECIALIZE {number} AS uint32 {}", constant.bits);
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
            Need::ExtendedFormats
            | Need::Use(..)
            | Need::Graphics
            | Need::FragmentStores
            | Need::VertexStores
            | Need::CustomBorderColors
            | Need::CompressionBc => {}
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
fn expectations(case: &Case, plan: &Plan) -> String {
    let results = &plan.placed[0].results;
    let shapes = case.kernel.results();
    let in_words = results.iter().any(|result| plan.buffers[result.buffer].element == Element::Words);
    let mut text = String::new();
    for index in 0..case.cases.len() {
        let _ = writeln!(text, "# {}", case.line(index));
        let at = results.iter().map(|result| expectation(plan, result, index));
        let _ = match case.expected_of(index) {
            Some(expected) => at.zip(Shape::split(&shapes, expected)).try_for_each(|(at, (shape, expected))| {
                let words = |bits: &u64| match (shape.format.bits(), in_words) {
                    (64, true) => format!("{:08x} 0x{:08x}", bits & 0xffff_ffff, bits >> 32),
                    _ => hex(shape.format, &[*bits]),
                };
                let values: Vec<String> = expected.iter().map(words).collect();
                writeln!(text, "{at} 0x{}", values.join(" 0x"))
            }),
            None => at.into_iter().try_for_each(|at| writeln!(text, "# observed: {at} ...")),
        };
    }
    text
}

/// Where the result of a case is to be looked for.
fn expectation(plan: &Plan, result: &Region, case: usize) -> String {
    let buffer = &plan.buffers[result.buffer];
    let element = result.base as usize + case * buffer.element.count(result.shape) as usize;
    format!("EXPECT {} IDX {} EQ", buffer.name(), element * buffer.element.bytes())
}
