//! GLSL text of a plan: one function per kernel, called behind a guard and a switch on the row,
//! between loads and stores that all rows share, as in the module built directly.

use std::fmt::Write as _;

use crate::build_error::BuildError;
use crate::format::Format;
use crate::kernel::{Kernel, Shape};
use crate::plan::access::{self, BufferAccess};
use crate::plan::piecewise::{Piece, pieces};
use crate::plan::{Buffer, Direction, Element, PlacedKernel, Plan};

/// GLSL has no operator that compares vectors, or chooses between them, component by component;
/// these functions are its spelling of the same instructions (GLSL 4.60, sections 5.9, 8.3 and
/// 8.7).
const VECTOR_SPELLING: [(&str, &str); 13] = [
    ("$0 == $1", "equal($0, $1)"),
    ("$0 != $1", "notEqual($0, $1)"),
    ("$0 < $1", "lessThan($0, $1)"),
    ("$0 > $1", "greaterThan($0, $1)"),
    ("$0 <= $1", "lessThanEqual($0, $1)"),
    ("$0 >= $1", "greaterThanEqual($0, $1)"),
    ("$0 != $0", "notEqual($0, $0)"),
    ("!($0 == $1)", "not(equal($0, $1))"),
    ("!($0 < $1)", "not(lessThan($0, $1))"),
    ("!($0 > $1)", "not(greaterThan($0, $1))"),
    ("!($0 <= $1)", "not(lessThanEqual($0, $1))"),
    ("!($0 >= $1)", "not(greaterThanEqual($0, $1))"),
    ("$0 ? $1 : $2", "mix($2, $1, $0)"),
];

/// Names of a kernel's results: a function returns the first and writes the second to a parameter.
const RESULTS: [&str; 2] = ["first", "second"];

/// The shader of a plan.
pub(super) fn source(plan: &Plan) -> Result<String, BuildError> {
    let mut text = String::from(
        "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n\
         #extension GL_EXT_shader_16bit_storage : require\n#extension GL_EXT_control_flow_attributes : require\n",
    );
    let _ = writeln!(text, "layout(local_size_x = {}) in;", plan.group());
    for buffer in &plan.buffers {
        text.push_str(&declaration(buffer));
    }
    for (index, placed) in plan.placed.iter().enumerate() {
        text.push_str(&function(index, placed)?);
    }
    Ok(text + &main(plan))
}

/// Loads, switch and stores behind a guard.
fn main(plan: &Plan) -> String {
    let (operands, results) = (access::operands(plan), access::results(plan));
    let slots: Vec<Option<u32>> = plan.placed.iter().map(|placed| Some(placed.slots)).collect();
    let mut text = format!(
        "void main() {{\n    uint slot = gl_GlobalInvocationID.x - {}u;\n    uint row = gl_WorkGroupID.y;\n    \
         if (slot < {}) {{\n",
        plan.idle(),
        of_row(&slots)
    );
    for access in operands.iter().chain(&results) {
        text.push_str(&variables(access));
    }
    for access in &operands {
        text.push_str(&moves(plan, access));
    }
    text.push_str("        switch (row) {\n");
    for (row, placed) in plan.placed.iter().enumerate() {
        text.push_str(&case(plan, row, placed, &operands, &results));
    }
    text.push_str("        }\n");
    for access in &results {
        text.push_str(&moves(plan, access));
    }
    text + "    }\n}\n"
}

/// A number that depends on the row.
fn of_row(numbers: &[Option<u32>]) -> String {
    let pieces = pieces(numbers);
    let of_piece = |of: fn(&Piece) -> u32| {
        let mut number = format!("{}u", pieces.first().map_or(0, of));
        for pair in pieces.windows(2).filter(|pair| of(&pair[0]) != of(&pair[1])) {
            number = format!("(row >= {}u ? {}u : {number})", pair[1].from, of(&pair[1]));
        }
        number
    };
    match (of_piece(|piece| piece.offset), of_piece(|piece| piece.stride)) {
        (offset, stride) if stride == "0u" => offset,
        (offset, stride) => format!("({offset} + row * {stride})"),
    }
}

/// Name of an access; its elements have numbers after that, or lie in an array of that name.
fn name(access: &BufferAccess) -> String {
    let kind = if access.direction == Direction::In { "operand" } else { "result" };
    format!("{kind}{}_{}", access.number, access.buffer)
}

/// Declares the elements of an access, 0 where the row has none.
fn variables(access: &BufferAccess) -> String {
    let (kind, name) = (type_name(access.element.shape()), name(access));
    if access.is_long() {
        return format!("        {kind} {name}[{}];\n", access.most());
    }
    let elements = 0..access.most();
    elements.fold(String::new(), |text, index| {
        text + &format!("        {kind} {name}_{index} = {kind}(0);\n")
    })
}

/// Loads or stores the elements of an access, where the row has them.
fn moves(plan: &Plan, access: &BufferAccess) -> String {
    let (name, buffer) = (name(access), plan.buffers[access.buffer].name());
    let at = format!("{name}_at");
    let assigned = |variable: String, element: String| match access.direction {
        Direction::In => format!("{variable} = {element};"),
        Direction::Out => format!("{element} = {variable};"),
    };
    let mut text = format!(
        "        uint {at} = slot * {} + {};\n",
        of_row(&access.strides()),
        of_row(&access.bases())
    );
    if access.is_long() {
        let assigned = assigned(format!("{name}[i]"), format!("{buffer}[{at} + i]"));
        let count = of_row(&access.counts());
        let _ = writeln!(
            text,
            "        [[dont_unroll]] for (uint i = 0; i < {count}; ++i) {{ {assigned} }}"
        );
        return text;
    }
    for run in access.runs() {
        let having = access.having(run[0]);
        let guard = if having.iter().all(|has| *has) {
            String::new()
        } else {
            let having: Vec<Option<u32>> = having.iter().map(|has| Some(u32::from(*has))).collect();
            format!("if ({} != 0u) ", of_row(&having))
        };
        let moves = run.iter().fold(String::new(), |moves, index| {
            moves + " " + &assigned(format!("{name}_{index}"), format!("{buffer}[{at} + {index}u]"))
        });
        let _ = writeln!(text, "        {guard}{{{moves} }}");
    }
    text
}

/// A kernel's call, between its values and the elements that carry them.
fn case(
    plan: &Plan,
    row: usize,
    placed: &PlacedKernel,
    operands: &[BufferAccess],
    results: &[BufferAccess],
) -> String {
    let label =
        if row + 1 == plan.placed.len() { "default".to_owned() } else { format!("case {row}u") };
    let mut text = format!("        {label}: {{\n");
    let mut arguments = Vec::new();
    for (access, shape) in access::of_row(operands, row) {
        let kind = type_name(shape);
        let parts: Vec<String> =
            (0..shape.width).map(|part| decoded(access, shape, part)).collect();
        let _ = writeln!(
            text,
            "            {kind} p{} = {kind}({});",
            arguments.len(),
            parts.join(", ")
        );
        arguments.push(format!("p{}", arguments.len()));
    }
    let results: Vec<(&BufferAccess, Shape)> = access::of_row(results, row).collect();
    for (name, (_, shape)) in RESULTS.iter().zip(&results) {
        let _ = writeln!(text, "            {} {name};", type_name(*shape));
    }
    arguments.extend(RESULTS[1..].iter().zip(&results[1..]).map(|(name, _)| (*name).to_owned()));
    let _ = writeln!(
        text,
        "            first = {}({});",
        function_name(row, &placed.kernel),
        arguments.join(", ")
    );
    for (name, (access, shape)) in RESULTS.iter().zip(&results) {
        for part in 0..shape.width {
            text.push_str(&encoded(access, *shape, part, &component(*shape, name, part)));
        }
    }
    text + "        } break;\n"
}

/// A component, from the elements that carry it.
fn decoded(access: &BufferAccess, shape: Shape, part: u32) -> String {
    match (access.element, shape.format) {
        (Element::Words, Format::F64) => {
            format!(
                "packDouble2x32(uvec2({}, {}))",
                word(access, 2 * part),
                word(access, 2 * part + 1)
            )
        }
        (Element::Words, Format::F32) => format!("uintBitsToFloat({})", word(access, part)),
        (Element::U32 | Element::Words, Format::F16) => {
            format!("unpackFloat2x16({}).x", word(access, part))
        }
        (Element::U32 | Element::Words, Format::Bool) => format!("({} != 0u)", word(access, part)),
        (Element::U32 | Element::Words, Format::I32) => format!("int({})", word(access, part)),
        _ => word(access, part),
    }
}

/// Puts a component into the elements that carry it.
fn encoded(access: &BufferAccess, shape: Shape, part: u32, value: &str) -> String {
    let value = match (access.element, shape.format) {
        (Element::Words, Format::F64) => {
            let (low, high) = (word(access, 2 * part), word(access, 2 * part + 1));
            return format!(
                "            {low} = unpackDouble2x32({value}).x;\n            {high} = unpackDouble2x32({value}).y;\n"
            );
        }
        (Element::Words, Format::F32) => format!("floatBitsToUint({value})"),
        (Element::U32 | Element::Words, Format::F16) => {
            format!("packFloat2x16(f16vec2({value}, 0.0hf))")
        }
        (Element::U32 | Element::Words, Format::Bool | Format::I32) => format!("uint({value})"),
        _ => value.to_owned(),
    };
    format!("            {} = {value};\n", word(access, part))
}

/// An element of a value.
fn word(access: &BufferAccess, index: u32) -> String {
    let name = name(access);
    if access.is_long() { format!("{name}[{index}]") } else { format!("{name}_{index}") }
}

/// Name of a kernel's function. The number keeps apart what differs in width alone.
pub(super) fn function_name(index: usize, kernel: &Kernel) -> String {
    format!("k{index}_{}", kernel.label().replace('.', "_"))
}

fn declaration(buffer: &Buffer) -> String {
    let (name, binding) = (buffer.name(), buffer.binding());
    let element = type_name(buffer.element.shape());
    let access = if buffer.direction == Direction::In { "readonly " } else { "" };
    format!(
        "layout(set = 0, binding = {binding}, std430) {access}buffer block_{name} {{ {element} {name}[]; }};\n"
    )
}

fn function(index: usize, placed: &PlacedKernel) -> Result<String, BuildError> {
    let kernel = &placed.kernel;
    let unspoken = || BuildError::Unspoken { kernel: kernel.to_string() };
    let mut expression = kernel.op.glsl.ok_or_else(unspoken)?;
    let (first, others) = placed.results.split_first().ok_or_else(unspoken)?;
    if kernel.width > 1 {
        let spelling = VECTOR_SPELLING.iter().find(|(scalar, _)| *scalar == expression);
        expression = spelling.map_or(expression, |(_, vector)| vector);
    }
    // Operands are variables of their own: a choice between anything else would become a branch.
    let params = placed.params.iter().enumerate();
    let params = params.map(|(number, region)| format!("{} p{number}", type_name(region.shape)));
    let others = RESULTS[1..]
        .iter()
        .zip(others)
        .map(|(name, region)| format!("out {} {name}", type_name(region.shape)));
    let params: Vec<String> = params.chain(others).collect();
    let (kind, name) = (type_name(first.shape), function_name(index, kernel));
    let expression = expression.replace('$', "p");
    Ok(format!(
        "{kind} {name}({}) {{\n    {kind} r = {expression};\n    return r;\n}}\n",
        params.join(", ")
    ))
}

/// A component of a variable: of a matrix by column and row.
fn component(shape: Shape, name: &str, part: u32) -> String {
    match shape.parts() {
        None => name.to_owned(),
        Some((Shape { width: 1, .. }, _)) => format!("{name}[{part}]"),
        Some((column, _)) => format!("{name}[{}][{}]", part / column.width, part % column.width),
    }
}

fn type_name(shape: Shape) -> String {
    let (scalar, prefix) = match shape.format {
        Format::F16 => ("float16_t", "f16"),
        Format::F32 => ("float", ""),
        Format::F64 => ("double", "d"),
        Format::I32 => ("int", "i"),
        Format::Bool => ("bool", "b"),
        // Texels come in words.
        _ => ("uint", "u"),
    };
    match (shape.columns, shape.width) {
        (1, 1) => scalar.to_owned(),
        (1, width) => format!("{prefix}vec{width}"),
        (columns, _) => format!("{prefix}mat{columns}"),
    }
}
