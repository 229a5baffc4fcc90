//! Wording that several renderers share.

use fpprobe_spirv::{Format, Kernel};

use crate::causes::Cause;
use crate::decimal::decimal;
use crate::model::{Class, Counts, Evidence, Identity, Level, Outcome, ProfileResult, Report, Value, Verdict};
use crate::words::accepts_in_words;

/// Every verdict, the gravest first.
pub const VERDICTS: [Verdict; 6] = [
    Verdict::Deviates,
    Verdict::Depends,
    Verdict::Incomplete,
    Verdict::Unsupported,
    Verdict::Permitted,
    Verdict::Conforms,
];

/// How many of the counted rules have this verdict.
pub fn count_of(counts: &Counts, verdict: Verdict) -> usize {
    match verdict {
        Verdict::Conforms => counts.conforms,
        Verdict::Permitted => counts.permitted,
        Verdict::Depends => counts.depends,
        Verdict::Deviates => counts.deviates,
        Verdict::Unsupported => counts.unsupported,
        Verdict::Incomplete => counts.incomplete,
    }
}

/// `2 deviates`, `18 conforms`: verdicts that occur, the gravest first.
pub fn count_list(counts: &Counts) -> Vec<String> {
    let occurring = VERDICTS.iter().filter(|verdict| count_of(counts, **verdict) > 0);
    let list: Vec<String> =
        occurring.map(|verdict| format!("{} {}", count_of(counts, *verdict), verdict.name())).collect();
    if list.is_empty() { vec!["no required rules".to_owned()] } else { list }
}

/// [`count_list`] in one phrase.
pub fn counts(counts: &Counts) -> String {
    count_list(counts).join(", ")
}

/// `1 device`, `2 devices`, `12,345 lanes`.
pub fn number(count: usize, noun: &str) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The recipe and the missing groups of a profile; empty where there is nothing to say.
pub fn conditions(profile: &ProfileResult) -> String {
    let mut parts = Vec::new();
    // A recipe under which rules still fail is no recipe: only where it makes the device conform is it worth a word.
    if profile.class == Class::ConformsWith {
        parts.push(format!("needs {}", profile.needs.join(", ")));
    }
    if !profile.without.is_empty() {
        parts.push(format!("without {}", profile.without.join(", ")));
    }
    parts.join("; ")
}

/// The driver in one line.
pub fn driver(identity: &Identity) -> String {
    let driver = &identity.driver;
    let info = if driver.info.is_empty() { String::new() } else { format!(", {}", driver.info) };
    format!("{} {}{info}, Vulkan {}", driver.name, driver.version, driver.api_version)
}

/// Number of causes that decide a class.
pub fn required(causes: &[Cause]) -> usize {
    causes.iter().filter(|cause| cause.rule.level == Level::Required).count()
}

/// The ids of the profiles of a cause.
pub fn profile_ids(profiles: &[&ProfileResult]) -> String {
    profiles.iter().map(|profile| profile.id.as_str()).collect::<Vec<_>>().join(", ")
}

/// Ids of every profile that some device was judged by, in the order in which they first appear.
pub fn all_profiles(report: &Report) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for profile in report.devices.iter().flat_map(|device| &device.profiles) {
        if !ids.contains(&profile.id.as_str()) {
            ids.push(&profile.id);
        }
    }
    ids
}

/// `2 of 41 lanes not accepted`.
pub fn lanes(cause: &Cause) -> String {
    format!("{} of {} not accepted", cause.rule.failing, number(cause.rule.lanes, "lane"))
}

/// One component of evidence: which one, its hex, its decimal where the kernel is known.
pub struct Line {
    /// `in`, `in 2`, `in y`, `out`, ...
    pub name: String,
    /// Hex, as the report has it.
    pub hex: String,
    /// Its value; empty where the format is not known.
    pub decimal: String,
    /// Format and bits, for those who draw them.
    pub bits: Option<(Format, u64)>,
}

/// Evidence as lines, one per component: operands, then the answer.
pub fn evidence_lines(evidence: &Evidence) -> Vec<Line> {
    let kernel: Option<Kernel> = evidence.kernel.parse().ok();
    let params = kernel.map(|kernel| kernel.params()).unwrap_or_default();
    let mut lines = Vec::new();
    for (index, value) in evidence.inputs.iter().enumerate() {
        let name = if evidence.inputs.len() > 1 { format!("in {}", index + 1) } else { "in".to_owned() };
        components(&mut lines, &name, value, params.get(index).map(|shape| shape.format));
    }
    components(&mut lines, "out", &evidence.out, kernel.map(|kernel| kernel.result().format));
    lines
}

fn components(lines: &mut Vec<Line>, name: &str, value: &Value, format: Option<Format>) {
    match value {
        Value::List(list) => {
            for (value, letter) in list.iter().zip(["x", "y", "z", "w"]) {
                components(lines, &format!("{name} {letter}"), value, format);
            }
        }
        Value::Bits(hex) => {
            let bits = format.and_then(|format| Some((format, format.parse_bits(hex).ok()?)));
            let decimal = bits.map(|(format, bits)| decimal(format, bits)).unwrap_or_default();
            lines.push(Line { name: name.to_owned(), hex: hex.clone(), decimal, bits });
        }
    }
}

/// The accepted encodings as lines like those of the evidence, where these are all and few; else none.
pub fn accepted_exactly(evidence: &Evidence) -> Vec<Line> {
    let list = match evidence.accepts.as_object() {
        Some(set) if set.len() == 1 => set.get("bits").and_then(serde_json::Value::as_array),
        _ => None,
    };
    let format = evidence.kernel.parse::<Kernel>().ok().map(|kernel| kernel.result().format);
    let mut lines = Vec::new();
    for bits in list.filter(|list| list.len() <= 3).into_iter().flatten().filter_map(serde_json::Value::as_str) {
        let name = if lines.is_empty() { "accepted" } else { "or" };
        components(&mut lines, name, &Value::Bits(bits.to_owned()), format);
    }
    lines
}

/// What the evidence's rule accepts, in words.
pub fn accepted(evidence: &Evidence) -> String {
    let format = evidence.kernel.parse::<Kernel>().ok().map(|kernel| kernel.result().format);
    accepts_in_words(&evidence.accepts, format)
}

/// An outcome, for people.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ran => "ran",
        Outcome::Unsupported => "unsupported",
        Outcome::Rejected => "rejected",
        Outcome::NotWritten => "not written",
        Outcome::Flaky => "flaky",
        Outcome::Crashed => "crashed",
        Outcome::Hung => "hung",
        Outcome::DeviceLost => "device lost",
        Outcome::OutOfMemory => "out of memory",
    }
}
