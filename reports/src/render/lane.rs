//! Evidence laid out: one line per component, and what would have been accepted.

use std::fmt;

use fpprobe_profiles::encoding::Encoding;
use fpprobe_spirv::{FloatLayout, Format, Function, Kernel, Shape};

use crate::decimal::decimal;
use crate::escape::visible;
use crate::model::{Evidence, Finding, Value};
use crate::render::phrase;
use crate::words::accepts_in_words;

/// Most components of a result that are shown where one of them is not accepted.
const MOST: usize = 8;

/// One component of evidence: which one, its hex, its decimal where the kernel is known.
pub struct EvidenceLine {
    /// `in`, `in 2`, `in y`, `out`, `accepted`, ...
    pub name: String,
    /// Hex, as the report has it; empty for a set that is put into words.
    pub hex: String,
    /// Its value, empty where the format is not known; or the set in words.
    pub value: String,
    /// The floats that it is or holds, for those who draw their fields.
    pub fields: Vec<(FloatLayout, u64)>,
}

impl EvidenceLine {
    /// What the value is: `in`, `out`, `accepted`, ...
    pub fn word(&self) -> &str {
        self.name.split([' ', ',']).next().unwrap_or_default()
    }

    /// Whether it is this component: `y`, `second`, `second y`.
    fn is_of(&self, part: &str) -> bool {
        self.name.strip_suffix(part).is_some_and(|rest| rest.is_empty() || rest.ends_with(' '))
    }
}

/// Evidence as lines, one per component: operands, the answer, and what it stands against, which is
/// called `against`.
pub fn lines(evidence: &Evidence, against: &str) -> Vec<EvidenceLine> {
    let reader = ValueReader::new(&evidence.kernel);
    let mut lines = reader.inputs(&evidence.inputs);
    let failing_part = failing(evidence);
    for (name, answer) in [(RESULTS[0], Some(&evidence.out)), (AGAIN, evidence.second.as_ref())] {
        let Some(answer) = answer else { continue };
        let first = lines.len();
        reader.answer(&mut lines, name, answer);
        if let Some(part) = failing_part.as_deref().filter(|_| lines.len() - first > MOST) {
            alone(&mut lines, first, part, name);
        }
    }
    lines.extend(failing(evidence).map(|value| EvidenceLine {
        name: "not accepted".to_owned(),
        hex: String::new(),
        value,
        fields: Vec::new(),
    }));
    match exactly(&evidence.accepts) {
        Some(list) => {
            for (index, value) in list.iter().enumerate() {
                let name = if index == 0 { against } else { "or" };
                components(&mut lines, name, value, reader.results.first().copied());
            }
        }
        None if evidence.accepts.is_null() => {}
        None => {
            lines.push(EvidenceLine {
                name: against.to_owned(),
                hex: String::new(),
                value: accepted(evidence),
                fields: Vec::new(),
            });
        }
    }
    lines
}

/// A lane in one sentence: what was computed, and what came of it.
pub struct LaneSentence {
    /// `f32.fadd 0, 1e-45 (subnormal)`.
    pub subject: String,
    /// `gives 1e-45 (subnormal); accepted is 0`.
    pub result: String,
}

impl LaneSentence {
    /// On a line with this much room: what came of it is more important than the operands.
    pub fn within(&self, room: usize) -> String {
        let result = visible(&self.result);
        let subject = phrase::shortened(
            &self.subject,
            room.saturating_sub(1 + result.chars().count()).max(room / 3),
        );
        phrase::shortened(&format!("{subject} {result}"), room)
    }
}

impl fmt::Display for LaneSentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.subject, self.result)
    }
}

/// `f32.fadd 0, 1e-45 (subnormal) gives 1e-45 (subnormal); accepted is 0`. Of a result of several
/// components the one that is not accepted.
pub fn sentence(evidence: &Evidence) -> LaneSentence {
    let mut lines = lines(evidence, ACCEPTED);
    let is_result = |line: &EvidenceLine| [RESULTS[0], RESULTS[1], AGAIN].contains(&line.word());
    let part =
        failing(evidence).filter(|_| lines.iter().filter(|line| is_result(line)).count() > 1);
    if let Some(part) = &part {
        lines.retain(|line| !is_result(line) || line.is_of(part));
    }
    let of = part.map(|part| format!(" in {part}")).unwrap_or_default();
    let subject = format!("{} {}", evidence.kernel, values(&lines, "in").join(", "));
    let results = RESULTS.map(|name| values(&lines, name)).concat().join(", ");
    let again = values(&lines, AGAIN).join(", ");
    if !again.is_empty() {
        let result = format!("gives {results} in one run and {again} in another{of}");
        return LaneSentence { subject, result };
    }
    let accepted = ["accepted", "or"].map(|name| values(&lines, name)).concat().join(" or ");
    let result = if accepted.is_empty() {
        format!("gives {results}{of}, which is not accepted")
    } else if accepted == results {
        let [out, other] = [RESULTS[0], "accepted"].map(|name| bits(&lines, name));
        format!("gives {results} as {out}; accepted is {other}")
    } else {
        format!("gives {results}{of}; accepted is {accepted}")
    };
    LaneSentence { subject, result }
}

/// The bits of the first line whose name begins with this word, in hex.
fn bits<'a>(lines: &'a [EvidenceLine], name: &str) -> &'a str {
    lines.iter().find(|line| line.word() == name).map_or("", |line| &line.hex)
}

/// The values of the lines whose name begins with this word.
pub fn values(lines: &[EvidenceLine], name: &str) -> Vec<String> {
    lines.iter().filter(|line| line.word() == name).map(value).collect()
}

/// Its value, or its bits where the format is not known.
pub fn value(line: &EvidenceLine) -> String {
    if line.value.is_empty() { line.hex.clone() } else { line.value.clone() }
}

/// Leaves of the components from the first on the one that is not accepted, and says how many there
/// are more.
fn alone(lines: &mut Vec<EvidenceLine>, first: usize, part: &str, name: &str) {
    let all = lines.split_off(first);
    let count = all.len() - 1;
    lines.extend(all.into_iter().filter(|line| line.name.ends_with(&format!(" {part}"))));
    let value = format!("{count} more components");
    lines.push(EvidenceLine {
        name: name.to_owned(),
        hex: String::new(),
        value,
        fields: Vec::new(),
    });
}

/// The component of the answer that is not accepted, by its name.
pub fn failing(evidence: &Evidence) -> Option<String> {
    let (kernel, part) =
        (evidence.kernel.parse::<Kernel>().ok()?, usize::try_from(evidence.component?).ok()?);
    let names = parts(&kernel);
    // The numbers that lie side by side in one word have no names of their own.
    let own = names.get(part).filter(|_| names.len() == Encoding::of_result(&kernel).len());
    Some(own.map_or_else(|| component(part), |(name, _)| name.clone()))
}

/// Operands and several answers to them, each by its name.
pub fn answers<'a>(
    kernel: &str,
    inputs: &[Value],
    answers: impl IntoIterator<Item = (&'a str, &'a Value)>,
) -> Vec<EvidenceLine> {
    let reader = ValueReader::new(kernel);
    let mut lines = reader.inputs(inputs);
    answers.into_iter().for_each(|(name, answer)| reader.answer(&mut lines, name, answer));
    lines
}

/// How the values of a kernel are to be understood; nothing is known of those of an unknown one.
struct ValueReader {
    params: Vec<BitsReading>,
    results: Vec<BitsReading>,
}

impl ValueReader {
    fn new(kernel: &str) -> ValueReader {
        let Ok(kernel) = kernel.parse::<Kernel>() else {
            return ValueReader { params: Vec::new(), results: Vec::new() };
        };
        let readings = |shapes: Vec<Shape>, are_halves: bool| {
            shapes.into_iter().map(|shape| BitsReading::of(shape.format, are_halves)).collect()
        };
        let function = kernel.op.function;
        ValueReader {
            params: readings(kernel.params(), function == Function::UnpackHalf),
            results: readings(kernel.results(), function.packs_halves()),
        }
    }

    fn inputs(&self, inputs: &[Value]) -> Vec<EvidenceLine> {
        let mut lines = Vec::new();
        for (index, value) in inputs.iter().enumerate() {
            let name = if inputs.len() > 1 { format!("in {}", index + 1) } else { "in".to_owned() };
            components(&mut lines, &name, value, self.params.get(index).copied());
        }
        lines
    }

    fn answer(&self, lines: &mut Vec<EvidenceLine>, name: &str, answer: &Value) {
        match (answer, self.results.as_slice()) {
            (Value::List(values), [_, _]) => {
                let second = if name == RESULTS[0] {
                    RESULTS[1].to_owned()
                } else {
                    format!("{name}, {}", RESULTS[1])
                };
                for ((name, value), reading) in
                    [name, &second].into_iter().zip(values).zip(&self.results)
                {
                    components(lines, name, value, Some(*reading));
                }
            }
            (value, results) => components(lines, name, value, results.first().copied()),
        }
    }
}

/// The encodings of a set that is nothing but a few of them.
fn exactly(accepts: &serde_json::Value) -> Option<Vec<Value>> {
    let set = accepts.as_object().filter(|set| set.len() == 1)?;
    let value = |json: &serde_json::Value| serde_json::from_value::<Value>(json.clone()).ok();
    match set.get("bits") {
        Some(serde_json::Value::Array(list)) if (1..=3).contains(&list.len()) => {
            list.iter().map(value).collect()
        }
        _ => None,
    }
}

/// What the evidence of a finding stands against: the accepted set for claims, else the other
/// answer.
pub fn against(finding: &Finding) -> &'static str {
    match finding.kind.as_str() {
        "claim" => ACCEPTED,
        "flaky" => "second run",
        "batch_dependent" => "batched",
        "company" => "alone",
        "route" => "plain",
        "path" => "other path",
        _ => "other",
    }
}

/// What the results of an operation are called.
const RESULTS: [&str; 2] = ["out", "second"];

/// What the results of the second run are called, where they are others.
const AGAIN: &str = "again";

/// What the evidence of a rule stands against.
pub const ACCEPTED: &str = "accepted";

fn components(
    lines: &mut Vec<EvidenceLine>,
    name: &str,
    value: &Value,
    reading: Option<BitsReading>,
) {
    match value {
        Value::List(list) => {
            for (index, value) in list.iter().enumerate() {
                let part = match value {
                    Value::Bits(_) => component(index),
                    Value::List(_) => format!("column {}", index + 1),
                };
                components(lines, &format!("{name} {part}"), value, reading);
            }
        }
        Value::Bits(hex) => {
            let read =
                reading.and_then(|reading| Some((reading, reading.format().parse_bits(hex).ok()?)));
            let (value, fields) =
                read.map(|(reading, bits)| reading.read(bits)).unwrap_or_default();
            lines.push(EvidenceLine { name: name.to_owned(), hex: hex.to_string(), value, fields });
        }
    }
}

/// `x`, `y`, `z`, `w`.
fn component(index: usize) -> String {
    ["x", "y", "z", "w"].get(index).map_or_else(|| index.to_string(), |letter| (*letter).to_owned())
}

/// Names and formats of the values of a kernel's answer.
fn parts(kernel: &Kernel) -> Vec<(String, Format)> {
    let results = kernel.results();
    let two = results.len() > 1;
    let named = RESULTS.iter().zip(results).flat_map(|(result, shape)| {
        (0..shape.width).map(move |index| {
            let rows = shape.width / shape.columns;
            let mut words = Vec::new();
            words.extend(two.then(|| (*result).to_owned()));
            words.extend((shape.columns > 1).then(|| format!("column {}", index / rows + 1)));
            words.extend((rows > 1).then(|| component((index % rows) as usize)));
            (words.join(" "), shape.format)
        })
    });
    named.collect()
}

/// How the bits of a line are to be understood.
#[derive(Clone, Copy)]
enum BitsReading {
    /// As a value of this format.
    Plain(Format),
    /// As two binary16 encodings in a word, the first in the low half.
    Halves,
}

impl BitsReading {
    fn of(format: Format, halves: bool) -> BitsReading {
        if halves && format == Format::U32 {
            BitsReading::Halves
        } else {
            BitsReading::Plain(format)
        }
    }

    fn format(self) -> Format {
        match self {
            BitsReading::Plain(format) => format,
            BitsReading::Halves => Format::U32,
        }
    }

    /// The value, and the floats in it.
    fn read(self, bits: u64) -> (String, Vec<(FloatLayout, u64)>) {
        let fields: Vec<(FloatLayout, u64)> = match self {
            BitsReading::Plain(format) => {
                let channels = format.channels().iter();
                let channels =
                    channels.filter_map(|one| Some((one.coding.float()?, bits >> one.shift)));
                format.float().map(|layout| (layout, bits)).into_iter().chain(channels).collect()
            }
            BitsReading::Halves => Format::F16
                .float()
                .map(|layout| vec![(layout, bits), (layout, bits >> 16)])
                .unwrap_or_default(),
        };
        let value = match self {
            BitsReading::Plain(format) => decimal(format, bits),
            BitsReading::Halves => {
                format!(
                    "({}, {})",
                    decimal(Format::F16, bits & 0xffff),
                    decimal(Format::F16, bits >> 16)
                )
            }
        };
        (value, fields)
    }
}

/// What the evidence's rule accepts, in words; of a result of many components what it accepts of
/// the one that is not accepted.
pub fn accepted(evidence: &Evidence) -> String {
    let parts = evidence.kernel.parse::<Kernel>().map(|kernel| match kernel.op.function {
        // A rule about packed halves accepts each half by itself.
        function if function.packs_halves() && evidence.accepts.is_array() => {
            vec![(String::new(), Format::F16)]
        }
        _ => parts(&kernel),
    });
    let parts = parts.unwrap_or_default();
    let words = accepts_in_words(&evidence.accepts, &parts);
    let of_part = |part: String| {
        let own = format!("{part}: ");
        words.split("; ").find(|words| words.starts_with(&own)).map(str::to_owned)
    };
    failing(evidence).filter(|_| parts.len() > MOST).and_then(of_part).unwrap_or(words)
}
