//! Evidence laid out: one line per component, and what would have been accepted.

use fpprobe_spirv::{FloatLayout, Format, Function, Kernel};

use crate::decimal::decimal;
use crate::model::{Evidence, Finding, Value};
use crate::words::accepts_in_words;

/// One component of evidence: which one, its hex, its decimal where the kernel is known.
pub struct Line {
    /// `in`, `in 2`, `in y`, `out`, `accepted`, ...
    pub name: String,
    /// Hex, as the report has it; empty for a set that is put into words.
    pub hex: String,
    /// Its value, empty where the format is not known; or the set in words.
    pub value: String,
    /// The floats that it is or holds, for those who draw their fields.
    pub fields: Vec<(FloatLayout, u64)>,
}

/// Evidence as lines, one per component: operands, the answer, and what it stands against, which is called `against`.
pub fn lines(evidence: &Evidence, against: &str) -> Vec<Line> {
    let kernel: Option<Kernel> = evidence.kernel.parse().ok();
    let function = kernel.map(|kernel| kernel.op.function);
    let params: Vec<Reading> = kernel
        .iter()
        .flat_map(Kernel::params)
        .map(|shape| Reading::of(shape.format, function == Some(Function::UnpackHalf)))
        .collect();
    let mut lines = Vec::new();
    for (index, value) in evidence.inputs.iter().enumerate() {
        let name = if evidence.inputs.len() > 1 { format!("in {}", index + 1) } else { "in".to_owned() };
        components(&mut lines, &name, value, params.get(index).copied());
    }
    let result = kernel.map(|kernel| Reading::of(kernel.result().format, function == Some(Function::PackHalf)));
    components(&mut lines, "out", &evidence.out, result);
    match exactly(&evidence.accepts) {
        Some(list) => {
            for (index, value) in list.iter().enumerate() {
                components(&mut lines, if index == 0 { against } else { "or" }, value, result);
            }
        }
        None => {
            lines.push(Line {
                name: against.to_owned(),
                hex: String::new(),
                value: accepted(evidence),
                fields: Vec::new(),
            });
        }
    }
    lines
}

/// The encodings of a set that is nothing but a few of them.
fn exactly(accepts: &serde_json::Value) -> Option<Vec<Value>> {
    let set = accepts.as_object().filter(|set| set.len() == 1)?;
    let value = |json: &serde_json::Value| serde_json::from_value::<Value>(json.clone()).ok();
    match set.get("bits") {
        Some(serde_json::Value::Array(list)) if (1..=3).contains(&list.len()) => list.iter().map(value).collect(),
        _ => None,
    }
}

/// What the evidence of a finding stands against: the accepted set for claims, else the other answer.
pub fn against(finding: &Finding) -> &'static str {
    match finding.kind.as_str() {
        "claim" => ACCEPTED,
        "flaky" => "second run",
        "company" => "alone",
        _ => "other",
    }
}

/// What the evidence of a rule stands against.
pub const ACCEPTED: &str = "accepted";

fn components(lines: &mut Vec<Line>, name: &str, value: &Value, reading: Option<Reading>) {
    match value {
        Value::List(list) => {
            for (value, letter) in list.iter().zip(["x", "y", "z", "w"]) {
                components(lines, &format!("{name} {letter}"), value, reading);
            }
        }
        Value::Bits(hex) => {
            let read = reading.and_then(|reading| Some((reading, reading.format().parse_bits(hex).ok()?)));
            let (value, fields) = read.map(|(reading, bits)| reading.read(bits)).unwrap_or_default();
            lines.push(Line { name: name.to_owned(), hex: hex.clone(), value, fields });
        }
    }
}

/// How the bits of a line are to be understood.
#[derive(Clone, Copy)]
enum Reading {
    /// As a value of this format.
    Plain(Format),
    /// As two binary16 encodings in a word, the first in the low half.
    Halves,
}

impl Reading {
    fn of(format: Format, halves: bool) -> Reading {
        if halves && format == Format::U32 { Reading::Halves } else { Reading::Plain(format) }
    }

    fn format(self) -> Format {
        match self {
            Reading::Plain(format) => format,
            Reading::Halves => Format::U32,
        }
    }

    /// The value, and the floats in it.
    fn read(self, bits: u64) -> (String, Vec<(FloatLayout, u64)>) {
        let fields: Vec<(FloatLayout, u64)> = match self {
            Reading::Plain(format) => match format.float() {
                Some(layout) => vec![(layout, bits)],
                None => format.channels().iter().map(|channel| (channel.layout, bits >> channel.shift)).collect(),
            },
            Reading::Halves => {
                Format::F16.float().map(|layout| vec![(layout, bits), (layout, bits >> 16)]).unwrap_or_default()
            }
        };
        let value = match self {
            Reading::Plain(format) => decimal(format, bits),
            Reading::Halves => {
                format!("({}, {})", decimal(Format::F16, bits & 0xffff), decimal(Format::F16, bits >> 16))
            }
        };
        (value, fields)
    }
}

/// What the evidence's rule accepts, in words.
pub fn accepted(evidence: &Evidence) -> String {
    let kernel = evidence.kernel.parse::<Kernel>().ok();
    // A rule about packed halves accepts each half by itself.
    let format = kernel.map(|kernel| match kernel.op.function {
        Function::PackHalf if evidence.accepts.is_array() => Format::F16,
        _ => kernel.result().format,
    });
    accepts_in_words(&evidence.accepts, format)
}
