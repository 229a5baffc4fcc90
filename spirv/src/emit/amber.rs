//! `AmberScript` (google/amber, `docs/amber_script.md`). Every buffer is declared as unsigned
//! integers, so that the bits are exact on the way in and compared as bits on the way out.

use std::fmt::Write as _;

use crate::build_error::BuildError;
use crate::controls::Control;
use crate::emit::{Case, Expectation, comment, expectation, hex};
use crate::kernel::Kernel;
use crate::needs::Need;
use crate::op::Code;
use crate::plan::constant_block::UNIFORM_BINDING;
use crate::plan::{self, Buffer, Direction, Element, Plan, Region};
use crate::route::{Route, Stage};

/// What the results hold before the run, so that an answer that was never written shows: 0xa5a5.
const POISON: u32 = 42405;

/// The script of a case, `assembly` being its shader.
pub(super) fn script(case: &Case, plan: &Plan, assembly: &str) -> Result<String, BuildError> {
    if let Some(why) = lacking(case.kernel) {
        return Err(BuildError::NoScript { kernel: case.kernel.to_string(), why });
    }
    let attached = attached(plan);
    let dispatches = plan.dispatches();
    let mut text = format!("#!amber\n{}", comment(&case.heading(), "#"));
    for line in requirements(case) {
        text.push_str(&line);
        text.push('\n');
    }
    let _ = write!(text, "\nSHADER compute kernel SPIRV-ASM TARGET_ENV spv1.3\n{assembly}END\n\n");
    for (index, buffer) in plan.buffers.iter().enumerate() {
        let declared = match buffer.direction {
            Direction::In => input(case, plan, index),
            Direction::Out => {
                let integer = result_type(plan, index);
                let length = buffer.bytes() / integer.bytes();
                format!(
                    "BUFFER {} DATA_TYPE {} SIZE {length} FILL {POISON}\n",
                    buffer.name(),
                    integer.integer()
                )
            }
        };
        text.push_str(&declared);
    }
    for (number, dispatch) in
        dispatches.iter().enumerate().filter(|(_, dispatch)| !dispatch.constant_block.is_empty())
    {
        let words = dispatch
            .constant_block
            .iter()
            .fold(String::new(), |words, word| words + &format!("0x{word:08x}\n"));
        let _ = write!(text, "BUFFER constants{number} DATA_TYPE uint32 DATA\n{words}END\n");
    }
    for number in 0..dispatches.len() {
        let _ = write!(text, "\nPIPELINE compute pipeline{number}\n  {attached}\n");
        for buffer in &plan.buffers {
            let (name, binding) = (buffer.name(), buffer.binding());
            let _ = writeln!(
                text,
                "  BIND BUFFER {name} AS storage DESCRIPTOR_SET 0 BINDING {binding}"
            );
        }
        let _ = match case.kernel.route {
            Route::Uniform => {
                writeln!(
                    text,
                    "  BIND BUFFER constants{number} AS uniform DESCRIPTOR_SET 0 BINDING {UNIFORM_BINDING}"
                )
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

/// What Amber lacks for kernels of this kind.
pub(super) fn lacking(kernel: &Kernel) -> Option<&'static str> {
    let is_word = |bits: u32| matches!(bits, 1 | 32);
    if kernel.op.code.is_of_texels() {
        Some("which holds texels of packed formats as rounded values")
    } else if matches!(kernel.op.code, Code::Atomic(..)) {
        Some("which enables no feature of atomic operations on floats")
    } else if kernel.shader() != Stage::Compute {
        Some("which draws no point for each slot")
    } else if kernel.route == Route::Spec
        && !kernel.params().iter().all(|shape| is_word(shape.format.bits()))
    {
        Some("which has specialisation constants of 32 bits only")
    } else {
        None
    }
}

/// The shader with the values of its specialisation constants. A truth value is a `VkBool32`.
fn attached(plan: &Plan) -> String {
    let mut text = "ATTACH kernel".to_owned();
    for (number, constant) in plan.specialised().iter().enumerate() {
        let _ = write!(text, " \\\n      SPECIALIZE {number} AS uint32 {}", constant.bits);
    }
    text
}

/// Features, extensions and properties in Amber's names. Vulkan 1.2 has the extensions in its core,
/// and drivers list them still.
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
            Need::Control(Control::FastMath0) => {
                lines.push("DEVICE_EXTENSION VK_KHR_shader_float_controls2".into());
            }
            Need::Control(control) => {
                lines.push("DEVICE_EXTENSION VK_KHR_shader_float_controls".into());
                lines.extend(
                    control
                        .claim()
                        .map(|claim| format!("DEVICE_PROPERTY FloatControlsProperties.{claim}")),
                );
            }
            Need::ExtendedFormats
            | Need::CooperativeMatrix
            | Need::Int8
            | Need::Int16
            | Need::Bfloat16
            | Need::Bfloat16Dot
            | Need::Bfloat16Matrix
            | Need::Float8
            | Need::Float8Matrix
            | Need::Fma(_)
            | Need::SubgroupArithmetic
            | Need::SubgroupClustered
            | Need::SubgroupExtendedTypes
            | Need::Atomic(_)
            | Need::Use(..)
            | Need::Graphics
            | Need::FragmentStores
            | Need::VertexStores
            | Need::GeometryShader
            | Need::DepthClamp
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

/// How the elements of a result's buffer are declared: binary64 in words as a whole, so that all of
/// it is compared.
fn result_type(plan: &Plan, index: usize) -> Element {
    let mut regions = plan.placed[0].results.iter().filter(|region| region.buffer == index);
    match plan.buffers[index].element {
        Element::Words if regions.all(|region| region.shape.format.bits() == 64) => Element::F64,
        element => element,
    }
}

/// The conditions of each case where the result is known; a comment to fill in where it is not.
fn expectations(case: &Case, plan: &Plan) -> String {
    let mut text = String::new();
    for index in 0..case.cases.len() {
        let _ = writeln!(text, "# {}", case.line(index));
        let mut expected = case.expected_of(index);
        for region in &plan.placed[0].results {
            let Some((own, rest)) = expected.map(|all| all.split_at(region.shape.width as usize))
            else {
                let _ = writeln!(text, "# observed: {} EQ ...", place(plan, region, index, 0));
                continue;
            };
            text.push_str(&of_region(plan, region, index, own));
            expected = Some(rest);
        }
    }
    text
}

/// The conditions of one result: one line where each component is one value, else a line for each
/// condition.
fn of_region(plan: &Plan, region: &Region, case: usize, expected: &[Vec<Expectation>]) -> String {
    let format = region.shape.format;
    // A binary64 in words beside results of another width is compared half by half.
    let is_halved = format.bits() == 64 && result_type(plan, region.buffer).bytes() == 4;
    let value = |bits: u64| {
        if is_halved {
            format!("0x{:08x} 0x{:08x}", bits & 0xffff_ffff, bits >> 32)
        } else {
            format!("0x{}", hex(format, &[bits]))
        }
    };
    if let Some(exact) = expectation::exact(expected) {
        let values: Vec<String> = exact.into_iter().map(value).collect();
        return format!("{} EQ {}\n", place(plan, region, case, 0), values.join(" "));
    }
    let mut text = String::new();
    for (component, conditions) in (0..).zip(expected) {
        for condition in conditions {
            let (place, comparator) =
                (place(plan, region, case, component), condition.comparator());
            let _ = match (is_halved, condition) {
                (
                    true,
                    Expectation::AtLeast(_) | Expectation::AtMost(_) | Expectation::Differs(_),
                ) => {
                    writeln!(
                        text,
                        "# not expressible of a value in two words: {place} {comparator} {}",
                        value(condition.bits())
                    )
                }
                _ => writeln!(text, "{place} {comparator} {}", value(condition.bits())),
            };
        }
    }
    text
}

/// Where a component of a case's result is to be looked for.
fn place(plan: &Plan, region: &Region, case: usize, component: u32) -> String {
    let buffer = &plan.buffers[region.buffer];
    let element = region.base as usize + case * buffer.element.count(region.shape) as usize;
    let size = buffer.element.bits(region.shape.format) as usize / 8;
    format!(
        "EXPECT {} IDX {}",
        buffer.name(),
        element * buffer.element.bytes() + component as usize * size
    )
}
