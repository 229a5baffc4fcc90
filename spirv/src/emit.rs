//! A kernel and its inputs as a file that stands alone, for a driver engineer who has no fpprobe.

mod amber;

use std::fmt::Write as _;
use std::str::FromStr;

use crate::assembly;
use crate::cases::Cases;
use crate::error::{BuildError, ParseError};
use crate::format::Format;
use crate::kernel::Kernel;
use crate::load::load;
use crate::module;
use crate::needs::{Need, needs};
use crate::plan::{Buffer, Element, GROUP, IMAGE_BINDING, IMAGE_WIDTH, Plan, Variant};
use crate::route::Route;

/// What the file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The module's words, little-endian.
    Spv,
    /// Assembly for `spirv-as`; layout and inputs stand in comments.
    Spvasm,
    /// An `AmberScript`: shader, buffers, a run and, where they are known, the results.
    Amber,
}

/// A case to be written down.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Its inputs.
    pub cases: &'a Cases,
    /// Whether binary16 lies in 16-bit storage. A probe uses it where the device has it, and a fault may sit there.
    pub storage16: bool,
    /// What should come out: the components of all results, case by case, as raw bits.
    pub expected: Option<&'a [u64]>,
}

impl Form {
    const ALL: [(Form, &'static str); 3] = [(Form::Spv, "spv"), (Form::Spvasm, "spvasm"), (Form::Amber, "amber")];

    /// Name on the command line, and the file's usual extension.
    pub fn name(self) -> &'static str {
        Form::ALL.iter().find(|(form, _)| *form == self).map_or("", |(_, name)| name)
    }
}

impl FromStr for Form {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = Form::ALL.iter().find(|(_, name)| *name == text).map(|(form, _)| *form);
        found.ok_or_else(|| ParseError::unknown("form", text, Form::ALL.map(|(_, name)| name)))
    }
}

/// Writes a kernel with its inputs, binary16 in 16-bit storage, results unknown; [`Case::emit`] has the choice.
pub fn emit(kernel: &Kernel, cases: &Cases, form: Form) -> Result<Vec<u8>, BuildError> {
    Case { kernel, cases, storage16: true, expected: None }.emit(form)
}

impl Case<'_> {
    /// Writes the case down.
    pub fn emit(&self, form: Form) -> Result<Vec<u8>, BuildError> {
        let (case, results) = (self.kernel.arity(), self.kernel.result().width as usize);
        let fits = self.cases.iter().all(|values| values.len() == case)
            && self.expected.is_none_or(|expected| expected.len() == self.cases.len() * results);
        if !fits {
            return Err(BuildError::Cases { kernel: self.kernel.to_string(), operands: case, results });
        }
        let plan = Plan::new(&[(*self.kernel, self.cases.len() as u32)], self.storage16, Variant::default());
        let words = module::build(&plan)?;
        match form {
            Form::Spv => Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect()),
            Form::Spvasm => {
                let intro = format!("{}{}{}", self.heading(), self.layout(&plan), self.listing());
                Ok((comment(&intro, ';') + &assembly::text(&load(&words)?)).into_bytes())
            }
            Form::Amber => amber::script(self, &plan, &assembly::text(&load(&words)?)).map(String::into_bytes),
        }
    }

    /// The question in words.
    fn heading(&self) -> String {
        let (kernel, op) = (self.kernel, self.kernel.op);
        let needed: Vec<String> = self.needs().iter().map(ToString::to_string).collect();
        let needed = if needed.is_empty() { "nothing beyond Vulkan 1.1".to_owned() } else { needed.join(", ") };
        format!("{kernel}\n{} ({}): {}\nneeds: {needed}\n", op.name, kernel.format, op.about)
    }

    fn needs(&self) -> Vec<Need> {
        let mut needed: Vec<Need> = needs(self.kernel).into_iter().collect();
        let has16 = self.kernel.params().iter().chain([&self.kernel.result()]).any(|shape| shape.format.bits() == 16);
        if self.storage16 && has16 {
            needed.push(Need::Storage16);
        }
        needed
    }

    /// How to assemble and run it, and what lies where.
    fn layout(&self, plan: &Plan) -> String {
        let mut text = format!(
            "assemble: spirv-as --target-env spv1.3 FILE -o FILE.spv\n\
             dispatch: entry point main, work group {GROUP}x1x1, {}x1x1 groups; invocation i answers case i\n",
            plan.columns
        );
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
            let name = format!("operand {number}");
            text.push_str(&place(&name, &plan.buffers[region.buffer], region.base, region.shape.width));
        }
        if let Some(result) = &placed.result {
            text.push_str(&place("result", &plan.buffers[result.buffer], result.base, result.shape.width));
        }
        if let (Route::StorageImage, Some(image)) = (self.kernel.route, plan.image) {
            let role = if image.written { "result" } else { "operand 0" };
            let [width, height] = image.extent;
            let _ = writeln!(
                text,
                "set 0 binding {IMAGE_BINDING}: storage image {}, {width}x{height} texels; {role} of case i: texel \
                 (i % {IMAGE_WIDTH}, i / {IMAGE_WIDTH})",
                image.format
            );
        }
        text
    }

    /// Every case on a line: operands, and the result where it is known.
    fn listing(&self) -> String {
        (0..self.cases.len()).fold(String::new(), |text, index| text + &self.line(index) + "\n")
    }

    fn line(&self, index: usize) -> String {
        let mut values = self.cases.case(index);
        let mut operands = Vec::new();
        for shape in self.kernel.params() {
            let (operand, rest) = values.split_at(shape.width as usize);
            operands.push(hex(shape.format, operand));
            values = rest;
        }
        let mut line = format!("case {index}: {}", operands.join(" "));
        if let Some(expected) = self.expected_of(index) {
            let _ = write!(line, " -> {}", hex(self.kernel.result().format, expected));
        }
        line
    }

    fn expected_of(&self, index: usize) -> Option<&[u64]> {
        let width = self.kernel.result().width as usize;
        self.expected.map(|expected| &expected[index * width..(index + 1) * width])
    }
}

fn place(role: &str, buffer: &Buffer, base: u32, width: u32) -> String {
    let last = if width == 1 { String::new() } else { format!(" and the {} after it", width - 1) };
    let base = if base == 0 { String::new() } else { format!("{base} + ") };
    let times = if width == 1 { String::new() } else { format!("{width} * ") };
    format!("{role} of case i: {}[{base}{times}i]{last}\n", buffer.name())
}

fn hex(format: Format, values: &[u64]) -> String {
    values.iter().map(|bits| format.hex(*bits)).collect::<Vec<_>>().join(",")
}

/// Puts the text into comment lines.
fn comment(text: &str, mark: char) -> String {
    text.lines().fold(String::new(), |all, line| all + &format!("{mark} {line}\n"))
}

impl Element {
    /// Unsigned integer type that carries the element's bits in scripts.
    fn integer(self) -> &'static str {
        match self {
            Element::F16 => "uint16",
            Element::F32 | Element::U32 => "uint32",
            Element::F64 => "uint64",
        }
    }
}

#[cfg(test)]
mod tests;
