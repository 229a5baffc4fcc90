//! A kernel and its inputs as a file that stands alone, for a driver engineer who has no fpprobe.

mod amber;
mod expectation;

pub use self::expectation::Expectation;

use std::fmt::Write as _;
use std::str::FromStr;

use crate::assembly;
use crate::build_error::BuildError;
use crate::capacity::{PUSH_BYTES, UNIFORM_BYTES, vectors};
use crate::cases::Cases;
use crate::error::ParseError;
use crate::format::Format;
use crate::glsl;
use crate::interpolation::VERTICES;
use crate::kernel::{Kernel, Shape};
use crate::load::load;
use crate::module;
use crate::needs::{Need, needs};
use crate::op::{Blend, Code, FixedFunctionState};
use crate::plan::constant_block::UNIFORM_BINDING;
use crate::plan::{
    Buffer, Element, IMAGE_BINDING, IMAGE_WIDTH, Image, LayoutRequest, Plan, Region, Variant,
    buffers,
};
use crate::route::{Route, SAMPLES, Stage, Via};

/// What the file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitFormat {
    /// The module's words, little-endian.
    Spv,
    /// Assembly for `spirv-as`; layout and inputs stand in comments.
    Spvasm,
    /// An `AmberScript`: shader, buffers, a run and, where they are known, the results.
    Amber,
    /// GLSL, where the language has a spelling; execution modes, which it cannot declare, are left
    /// out.
    Glsl,
}

/// A case to be written down.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Its inputs.
    pub cases: &'a Cases,
    /// Whether binary16 lies in 16-bit storage. A probe uses it where the device has it, and a
    /// fault may sit there.
    pub storage16: bool,
    /// What should come out: a list of conditions, all of which hold, for each component of all
    /// results, case by case.
    pub expected: Option<&'a [Vec<Expectation>]>,
    /// What else there is to say of it; stands in the comments at the top.
    pub note: &'a str,
}

impl EmitFormat {
    /// Whether kernels of this kind can be written so, as far as that does not depend on the case.
    pub fn spells(self, kernel: &Kernel) -> bool {
        match self {
            EmitFormat::Spv | EmitFormat::Spvasm => !kernel.route.is_command(),
            EmitFormat::Amber => amber::lacking(kernel).is_none(),
            EmitFormat::Glsl => !kernel.op.code.is_of_texels(),
        }
    }

    const ALL: [(EmitFormat, &'static str); 4] = [
        (EmitFormat::Spv, "spv"),
        (EmitFormat::Spvasm, "spvasm"),
        (EmitFormat::Amber, "amber"),
        (EmitFormat::Glsl, "glsl"),
    ];

    /// Name on the command line, and the file's usual extension.
    pub fn name(self) -> &'static str {
        EmitFormat::ALL.iter().find(|(form, _)| *form == self).map_or("", |(_, name)| name)
    }
}

impl FromStr for EmitFormat {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = EmitFormat::ALL.iter().find(|(_, name)| *name == text).map(|(form, _)| *form);
        found
            .ok_or_else(|| ParseError::unknown("form", text, EmitFormat::ALL.map(|(_, name)| name)))
    }
}

/// Writes a kernel with its inputs, binary16 in 16-bit storage, results unknown; [`Case::emit`] has
/// the choice.
pub fn emit(kernel: &Kernel, cases: &Cases, form: EmitFormat) -> Result<Vec<u8>, BuildError> {
    Case { kernel, cases, storage16: true, expected: None, note: "" }.emit(form)
}

impl Case<'_> {
    /// Writes the case down.
    pub fn emit(&self, form: EmitFormat) -> Result<Vec<u8>, BuildError> {
        let (case, results) = (self.kernel.arity(), self.kernel.outputs());
        let fits = self.cases.iter().all(|values| values.len() == case)
            && self.expected.is_none_or(|expected| expected.len() == self.cases.len() * results);
        if !fits {
            return Err(BuildError::Cases {
                kernel: self.kernel.to_string(),
                operands: case,
                results,
            });
        }
        let kernel = if form == EmitFormat::Glsl {
            glsl::spelled_kernel(self.kernel)?
        } else {
            *self.kernel
        };
        let values = self.cases.iter().flatten().copied().collect();
        let request = LayoutRequest { kernel, slots: self.cases.len() as u32, operands: 0, values };
        let plan = Plan::sharing(&[request], self.storage16, Variant::default());
        if form == EmitFormat::Glsl {
            let intro = format!("{}{}{}", self.heading(), self.layout(&plan), self.listing());
            return Ok(glsl::text(&plan, &comment(&intro, "//"))?.into_bytes());
        }
        let words = module::build(&plan)?;
        match form {
            EmitFormat::Spv => Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect()),
            EmitFormat::Spvasm => {
                let intro = format!("{}{}{}", self.heading(), self.layout(&plan), self.listing());
                Ok((comment(&intro, ";") + &assembly::text(&load(&words)?)).into_bytes())
            }
            EmitFormat::Glsl | EmitFormat::Amber => {
                amber::script(self, &plan, &assembly::text(&load(&words)?)).map(String::into_bytes)
            }
        }
    }

    /// The question in words.
    fn heading(&self) -> String {
        let (kernel, op) = (self.kernel, self.kernel.op);
        let needed: Vec<String> = self.needs().iter().map(ToString::to_string).collect();
        let needed = if needed.is_empty() {
            "nothing beyond Vulkan 1.1".to_owned()
        } else {
            needed.join(", ")
        };
        let note = self.note.trim_end();
        let note = if note.is_empty() { String::new() } else { format!("{note}\n") };
        format!("{kernel}\n{} ({}): {}\nneeds: {needed}\n{note}", op.name, kernel.format, op.about)
    }

    fn needs(&self) -> Vec<Need> {
        let mut needed: Vec<Need> = needs(self.kernel).into_iter().collect();
        if self.storage16
            && buffers(self.kernel).iter().any(|(_, element)| *element == Element::F16)
        {
            needed.push(Need::Storage16);
        }
        needed
    }

    /// How to assemble and run it, and what lies where.
    fn layout(&self, plan: &Plan) -> String {
        let groups = match vectors(self.kernel.route) {
            None if plan.placed[0].invocations() > 1 => {
                format!(
                    "{}x1x1 groups; {} invocations in a row answer a case",
                    plan.columns,
                    plan.placed[0].invocations()
                )
            }
            None => format!("{}x1x1 groups; invocation i answers case i", plan.columns),
            Some(_) => {
                "once for each constant block; group i of a block answers case FIRST + i, FIRST being its first word"
                    .to_owned()
            }
        };
        let points = plan.vertices();
        let run = match plan.shader() {
            Stage::Compute => format!("dispatch: entry point main, work group {}x1x1, {groups}", plan.group()),
            Stage::Vertex => format!("draw: {points} points, no rasterisation; vertex i answers case i"),
            Stage::Geometry => format!(
                "draw: {points} points, no rasterisation, from a vertex shader that hands on i at location 0 and 0 at location 1"
            ),
            Stage::Fragment if plan.has_quads() => {
                let [width, height] = plan.extent();
                format!(
                    "draw: a triangle that covers {width}x{height} fragments, without attachment; the quad of case i lies at \
                     (2 * (i % {IMAGE_WIDTH}), 2 * (i / {IMAGE_WIDTH}))"
                )
            }
            Stage::Fragment if plan.has_triangles() => format!(
                "draw: {} triangles from (0, 0) to (2, 0) and (0, 2) on one fragment, without attachment, from a vertex shader \
                 that hands on i at location 0, 0 at location 1, and operands 0, 1 and 2 of case i at location 2",
                points / VERTICES
            ),
            Stage::Fragment if plan.covers() => {
                "draw: a triangle that covers the attachment; the fragment of case i is that on its texel".to_owned()
            }
            Stage::Fragment => format!(
                "draw: {points} points, that of case i on its own texel (on one, without attachment), from a vertex shader that \
                 hands on i at location 0 and 0 at location 1"
            ),
        };
        let mut text = match plan.placed[0].kernel.via {
            Via::Glsl => format!(
                "compile: glslang -V --target-env vulkan1.1 -S comp FILE -o FILE.spv\n{run}\n"
            ),
            Via::Spirv => {
                format!("assemble: spirv-as --target-env spv1.3 FILE -o FILE.spv\n{run}\n")
            }
        };
        for buffer in &plan.buffers {
            let _ = writeln!(
                text,
                "set 0 binding {}: storage buffer {}, {} elements of {} bits",
                buffer.binding(),
                buffer.name(),
                buffer.length,
                8 * buffer.element.bytes()
            );
        }
        let placed = &plan.placed[0];
        for (number, region) in placed.params.iter().enumerate() {
            text.push_str(&place(
                &format!("operand {number}"),
                &plan.buffers[region.buffer],
                region,
            ));
        }
        for (number, region) in placed.results.iter().enumerate() {
            let name = if number == 0 { "result" } else { "second result" };
            text.push_str(&place(name, &plan.buffers[region.buffer], region));
        }
        text.push_str(&brought(plan));
        if let Some(image) = plan.image() {
            let role = if image.is_written() { "result" } else { "operand 0" };
            let side = image.format.side();
            let [width, height] = image.extent.map(|slots| slots * side);
            let (route, format) = (image.route.name().replace('_', " "), image.format);
            let place = match image.route {
                _ if image.route.is_drawn() && image.format.is_depth() => {
                    format!("depth attachment{}", drawn(&image))
                }
                _ if image.route.is_drawn() => format!("colour attachment 0{}", drawn(&image)),
                Route::Vertex => "attribute 0".to_owned(),
                _ => format!("set 0 binding {IMAGE_BINDING}: {route}"),
            };
            let texel = match image.route {
                Route::Vertex | Route::TexelBuffer => "texel i".to_owned(),
                _ if image.format.is_block() => {
                    format!(
                        "the block of {side}x{side} texels from ({side} * (i % {IMAGE_WIDTH}), {side} * (i / {IMAGE_WIDTH})) on"
                    )
                }
                _ => format!("texel (i % {IMAGE_WIDTH}, i / {IMAGE_WIDTH})"),
            };
            let _ = writeln!(
                text,
                "{place} {format}, {width}x{height} texels; {role} of case i: {texel}"
            );
        }
        text
    }

    /// Every case on a line: operands, and the result where it is known.
    fn listing(&self) -> String {
        (0..self.cases.len()).fold(String::new(), |text, index| text + &self.line(index) + "\n")
    }

    fn line(&self, index: usize) -> String {
        let listed = |shapes: &[Shape], values: &[u64]| {
            let values =
                Shape::split(shapes, values).map(|(shape, values)| hex(shape.format, values));
            values.collect::<Vec<_>>().join(" ")
        };
        let mut line =
            format!("case {index}: {}", listed(&self.kernel.params(), self.cases.case(index)));
        if let Some(exact) = self.expected_of(index).and_then(expectation::exact) {
            let _ = write!(line, " -> {}", listed(&self.kernel.results(), &exact));
        }
        line
    }

    fn expected_of(&self, index: usize) -> Option<&[Vec<Expectation>]> {
        let count = self.kernel.outputs();
        self.expected.map(|expected| &expected[index * count..(index + 1) * count])
    }
}

fn place(role: &str, buffer: &Buffer, region: &Region) -> String {
    let count = buffer.element.count(region.shape);
    let last = if count == 1 { String::new() } else { format!(" and the {} after it", count - 1) };
    let base = if region.base == 0 { String::new() } else { format!("{} + ", region.base) };
    let times = if count == 1 { String::new() } else { format!("{count} * ") };
    let words = if buffer.element == Element::Words {
        ", a word a component (64 bits: two, the lower first)"
    } else {
        ""
    };
    format!("{role} of case i: {}[{base}{times}i]{last}{words}\n", buffer.name())
}

/// How a colour attachment is drawn on.
fn drawn(image: &Image) -> String {
    let samples = format!(", {SAMPLES} samples resolved at the end of the render pass,");
    match (image.route, image.code) {
        (Route::Resolve, _) => samples,
        (_, Code::Blend(Blend::Replace)) => " (blended: source factor ONE, destination factor ZERO)".to_owned(),
        (_, Code::Blend(Blend::Add)) => " (blended: source factor ONE, destination factor ONE)".to_owned(),
        (_, Code::State(FixedFunctionState::BlendConstants)) => {
            " (blended: source factor CONSTANT_COLOR and CONSTANT_ALPHA, the operand of case i; destination factor ZERO)".to_owned()
        }
        (_, Code::DepthClamp) => " (depthClampEnable; minDepth of the viewport 0, maxDepth 1)".to_owned(),
        (_, Code::State(FixedFunctionState::MinDepth)) => " (minDepth of the viewport: the operand of case i; the point's depth is 0)".to_owned(),
        (_, Code::State(FixedFunctionState::MaxDepth)) => " (maxDepth of the viewport: the operand of case i; the point's depth is 1)".to_owned(),
        _ => String::new(),
    }
}

/// The operands that the plan brings: windows and specialisation constants.
fn brought(plan: &Plan) -> String {
    let mut text = String::new();
    for (number, constant) in plan.specialised().iter().enumerate() {
        let bits = constant.format.hex(constant.bits);
        let _ = writeln!(
            text,
            "SpecId {number}: {} {bits} (the module itself has another value)",
            constant.format
        );
    }
    let place = match plan.route() {
        Some(Route::Uniform) => {
            format!("set 0 binding {UNIFORM_BINDING}: uniform buffer of {UNIFORM_BYTES} bytes")
        }
        _ => format!("{PUSH_BYTES} bytes of push constants"),
    };
    for (number, dispatch) in plan
        .dispatches()
        .iter()
        .enumerate()
        .filter(|(_, dispatch)| !dispatch.constant_block.is_empty())
    {
        let used =
            dispatch.constant_block.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let words: Vec<String> =
            dispatch.constant_block[..used].iter().map(|word| format!("{word:08x}")).collect();
        let (columns, rows) = (dispatch.columns, dispatch.rows);
        let _ = writeln!(
            text,
            "constant block {number}: {place}, {columns}x{rows}x1 groups: {} and 0",
            words.join(" ")
        );
    }
    text
}

fn hex(format: Format, values: &[u64]) -> String {
    values.iter().map(|bits| format.hex(*bits)).collect::<Vec<_>>().join(",")
}

/// Puts the text into comment lines.
fn comment(text: &str, mark: &str) -> String {
    text.lines().fold(String::new(), |all, line| all + &format!("{mark} {line}\n"))
}

impl Element {
    /// Unsigned integer type that carries the element's bits in scripts.
    fn integer(self) -> &'static str {
        match self {
            Element::F16 => "uint16",
            Element::F32 | Element::U32 | Element::Words => "uint32",
            Element::F64 => "uint64",
        }
    }
}

#[cfg(test)]
mod tests;
