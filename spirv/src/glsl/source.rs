//! GLSL text of a plan: one function per kernel, called behind a guard and a switch on the row, as in the module built directly.

use std::fmt::Write as _;

use crate::error::BuildError;
use crate::format::Format;
use crate::kernel::{Kernel, Shape};
use crate::plan::{Buffer, Direction, Element, GROUP, Group, Placed, Plan, Region};

/// GLSL has no operator that compares vectors, or chooses between them, component by component; these functions are its
/// spelling of the same instructions (GLSL 4.60, sections 5.9, 8.3 and 8.7).
const VECTOR_SPELLING: [(&str, &str); 7] = [
    ("$0 == $1", "equal($0, $1)"),
    ("$0 != $1", "notEqual($0, $1)"),
    ("$0 < $1", "lessThan($0, $1)"),
    ("$0 > $1", "greaterThan($0, $1)"),
    ("$0 <= $1", "lessThanEqual($0, $1)"),
    ("$0 >= $1", "greaterThanEqual($0, $1)"),
    ("$0 ? $1 : $2", "mix($2, $1, $0)"),
];

/// The shader of a plan.
pub(super) fn source(plan: &Plan) -> Result<String, BuildError> {
    let mut text = String::from(
        "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n\
         #extension GL_EXT_shader_16bit_storage : require\n",
    );
    let _ = writeln!(text, "layout(local_size_x = {GROUP}) in;");
    for buffer in &plan.buffers {
        text.push_str(&declaration(buffer));
    }
    let mut main = format!(
        "void main() {{\n    uint slot = gl_GlobalInvocationID.x - {}u;\n    uint row = gl_WorkGroupID.y;\n",
        plan.variant.shift * GROUP
    );
    let mut index = 0;
    for group in plan.groups() {
        for placed in group.placed {
            text.push_str(&function(index, placed)?);
            index += 1;
        }
        main.push_str(&call(plan, &group));
    }
    Ok(text + &main + "}\n")
}

/// The guard, load, switch and store of a group.
fn call(plan: &Plan, group: &Group<'_>) -> String {
    let Some(Placed { slots, params, result: Some(result), .. }) = group.placed.first() else { return String::new() };
    let (first, count) = (group.first, group.placed.len());
    let mut text = format!("    if (slot < {slots}u && row - {first}u < {count}u) {{\n");
    for (number, region) in params.iter().enumerate() {
        let parts: Vec<String> = (0..region.shape.width).map(|part| load(plan, region, part)).collect();
        let kind = type_name(region.shape);
        let _ = writeln!(text, "        {kind} p{number} = {kind}({});", parts.join(", "));
    }
    let names: Vec<String> = (0..params.len()).map(|number| format!("p{number}")).collect();
    let _ = writeln!(text, "        {} r;\n        switch (row - {first}u) {{", type_name(result.shape));
    for (case, placed) in group.placed.iter().enumerate() {
        let label = if case + 1 == count { "default".to_owned() } else { format!("case {case}u") };
        let name = function_name(first as usize + case, &placed.kernel);
        let _ = writeln!(text, "            {label}: r = {name}({}); break;", names.join(", "));
    }
    text.push_str("        }\n");
    for part in 0..result.shape.width {
        let value = if result.shape.width == 1 { "r".to_owned() } else { format!("r[{part}]") };
        let further = format!(" + (row - {first}u) * {}u", group.stride());
        let _ = writeln!(text, "        {} = {};", element(plan, result, part, &further), encode(plan, result, &value));
    }
    text + "    }\n"
}

/// Name of a kernel's function. The number keeps apart what differs in width alone.
pub(super) fn function_name(index: usize, kernel: &Kernel) -> String {
    format!("k{index}_{}", kernel.label().replace('.', "_"))
}

fn declaration(buffer: &Buffer) -> String {
    let (name, binding) = (buffer.name(), buffer.binding());
    let element = type_name(Shape { format: buffer.element.format(), width: 1 });
    let access = if buffer.direction == Direction::In { "readonly " } else { "" };
    format!("layout(set = 0, binding = {binding}, std430) {access}buffer block_{name} {{ {element} {name}[]; }};\n")
}

fn function(index: usize, placed: &Placed) -> Result<String, BuildError> {
    let kernel = &placed.kernel;
    let unspoken = || BuildError::Unspoken { kernel: kernel.to_string() };
    let mut expression = kernel.op.glsl.ok_or_else(unspoken)?;
    let result = placed.result.as_ref().ok_or_else(unspoken)?;
    if kernel.width > 1 {
        let spelling = VECTOR_SPELLING.iter().find(|(scalar, _)| *scalar == expression);
        expression = spelling.map_or(expression, |(_, vector)| vector);
    }
    // Operands are variables of their own: a choice between anything else would become a branch.
    let params = placed.params.iter().enumerate();
    let params: Vec<String> = params.map(|(number, region)| format!("{} p{number}", type_name(region.shape))).collect();
    let (kind, name) = (type_name(result.shape), function_name(index, kernel));
    let expression = expression.replace('$', "p");
    Ok(format!("{kind} {name}({}) {{\n    {kind} r = {expression};\n    return r;\n}}\n", params.join(", ")))
}

fn element(plan: &Plan, region: &Region, part: u32, further: &str) -> String {
    format!("{}[slot * {}u + {}u{further}]", plan.buffers[region.buffer].name(), region.shape.width, region.base + part)
}

fn load(plan: &Plan, region: &Region, part: u32) -> String {
    let raw = element(plan, region, part, "");
    match (plan.buffers[region.buffer].element, region.shape.format) {
        (Element::U32, Format::F16) => format!("unpackFloat2x16({raw}).x"),
        (Element::U32, Format::Bool) => format!("({raw} != 0u)"),
        (Element::U32, Format::I32) => format!("int({raw})"),
        _ => raw,
    }
}

fn encode(plan: &Plan, region: &Region, value: &str) -> String {
    match (plan.buffers[region.buffer].element, region.shape.format) {
        (Element::U32, Format::F16) => format!("packFloat2x16(f16vec2({value}, 0.0hf))"),
        (Element::U32, Format::Bool | Format::I32) => format!("uint({value})"),
        _ => value.to_owned(),
    }
}

fn type_name(shape: Shape) -> String {
    let (scalar, vector) = match shape.format {
        Format::F16 => ("float16_t", "f16vec"),
        Format::F32 => ("float", "vec"),
        Format::F64 => ("double", "dvec"),
        Format::I32 => ("int", "ivec"),
        Format::U32 | Format::B10g11r11 => ("uint", "uvec"),
        Format::Bool => ("bool", "bvec"),
    };
    if shape.width == 1 { scalar.to_owned() } else { format!("{vector}{}", shape.width) }
}
