//! The lane that shows best what a rule is about, and what devices do that break the rule.

use std::collections::BTreeSet;

use fpprobe_profiles::coverage::{Mistake, WrongResult, mistakes};
use fpprobe_profiles::oracle::Signature;
use fpprobe_profiles::profile::{Part, Requirement, Rule};
use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Format, Kernel, cases};

use fpprobe_reports::decimal::decimal;
use fpprobe_reports::values::{encode_case, eval_command};
use fpprobe_reports::words::accepts_in_words;

/// Lanes that are tried of each operation, spread over all that the rule looks at.
const LANES: usize = 48;

/// A lane of a rule, as text.
pub struct Example {
    pub kernel: Kernel,
    /// The arguments of `fpprobe accepts` and `fpprobe eval`: kernel and operands.
    pub arguments: String,
    pub operands: String,
    pub accepted: String,
    /// Results that are not accepted, and what a device does that gives them.
    pub rejected: Vec<(String, WrongResult)>,
}

/// What was found of a rule.
pub struct Findings {
    pub example: Option<Example>,
    /// Behaviours that the rule rejects on some lane.
    pub broken_by: BTreeSet<WrongResult>,
}

struct Best<'r> {
    score: (bool, usize, usize),
    part: &'r Part,
    case: Vec<u64>,
    component: usize,
    mistakes: Vec<Mistake>,
}

/// Looks for a lane that a behaviour breaks, then for plain operands and many wrong results: the
/// first of those.
pub fn find(rule: &Rule) -> Findings {
    let against =
        rule.requirements.iter().filter_map(|requirement| WrongResult::against(*requirement));
    let mut broken_by: BTreeSet<WrongResult> = against.collect();
    let mut best: Option<Best<'_>> = None;
    for part in &rule.parts {
        let kernel = part.lowerings[0];
        let (signature, cases) = (Signature::new(&kernel), cases::cases(&kernel));
        let lanes: Vec<(usize, usize)> = rule
            .looks_at(&signature, &cases, &part.demand)
            .map(|(case, component, _)| (case, component))
            .collect();
        for (case, component) in lanes.iter().step_by(lanes.len().div_ceil(LANES).max(1)) {
            let mut mistakes = mistakes(&signature, cases.case(*case), *component, &part.demand);
            mistakes.retain(|mistake| mistake.rejected);
            mistakes.sort_by_key(|mistake| rank(mistake.kind));
            if rule.requirements.contains(&Requirement::Result) {
                broken_by.extend(mistakes.iter().map(|mistake| mistake.kind));
            }
            if mistakes.is_empty() {
                continue;
            }
            let plain = operands(&kernel, cases.case(*case))
                .iter()
                .filter(|operand| is_plain(operand))
                .count();
            let informative =
                mistakes.iter().any(|mistake| rank(mistake.kind) < rank(WrongResult::JustOutside));
            let score = (informative, plain, mistakes.len());
            if best.as_ref().is_none_or(|best| score > best.score) {
                best = Some(Best {
                    score,
                    part,
                    case: cases.case(*case).to_vec(),
                    component: *component,
                    mistakes,
                });
            }
        }
    }
    if broken_by.contains(&WrongResult::NextUp) || broken_by.contains(&WrongResult::NextDown) {
        broken_by.remove(&WrongResult::JustOutside);
    }
    let example = best.filter(|_| rule.requirements.contains(&Requirement::Result));
    Findings { example: example.map(|best| shown(&best)), broken_by }
}

fn shown(best: &Best<'_>) -> Example {
    let Best { part, case, component, mistakes, .. } = best;
    let kernel = part.lowerings[0];
    let signature = Signature::new(&kernel);
    let set = signature.accepted_part(case, *component, &part.demand);
    let format = format_of(&kernel, signature.encodings.len());
    let parts = format.map(|format| vec![(String::new(), format)]).unwrap_or_default();
    let value = |bits: u64| match format {
        Some(format) => format!("`{}` ({})", format.hex(bits), decimal(format, bits)),
        None => format!("`{}`", set.encoding().hex(bits)),
    };
    let mut rejected: Vec<(String, WrongResult)> = Vec::new();
    for Mistake { kind, result, .. } in mistakes {
        let text = value(*result);
        let is_odd =
            *kind == WrongResult::JustOutside && (text.contains("NaN") || text.contains("inf"));
        if !is_odd && rejected.iter().all(|(known, _)| *known != text) {
            rejected.push((text, *kind));
        }
    }
    let arguments = eval_command(&kernel.to_string(), &encode_case(&kernel, case));
    let of = if signature.encodings.len() > 1 {
        format!("part {} of the result: ", component + 1)
    } else {
        String::new()
    };
    Example {
        kernel,
        arguments: arguments.trim_start_matches("fpprobe eval ").to_owned(),
        operands: operands(&kernel, case).join("; "),
        accepted: format!("{of}{}", accepts_in_words(&set.to_json(), &parts)),
        rejected,
    }
}

/// Operands as decimal numbers.
fn operands(kernel: &Kernel, case: &[u64]) -> Vec<String> {
    let operands = kernel.params().into_iter().scan(0, |at, shape| {
        let bits = &case[*at..*at + shape.width as usize];
        *at += shape.width as usize;
        let values: Vec<String> = bits.iter().map(|bits| decimal(shape.format, *bits)).collect();
        Some(if values.len() == 1 { values[0].clone() } else { format!("({})", values.join(", ")) })
    });
    operands.collect()
}

/// The place of a behaviour that devices choose, rather than an error of any size; these come
/// first.
fn rank(kind: WrongResult) -> usize {
    use WrongResult::{
        Flushed, NumberForNan, OtherContraction, OtherDirection, OtherNan, OtherOperand,
        OtherTruth, Unflushed,
    };
    let informative = [
        Flushed,
        Unflushed,
        OtherContraction,
        OtherOperand,
        OtherTruth,
        OtherNan,
        NumberForNan,
        OtherDirection,
    ];
    informative.iter().take_while(|known| **known != kind).count()
}

/// Whether every number is of a size that readers grasp.
fn is_plain(operand: &str) -> bool {
    let mut numbers = operand.trim_matches(['(', ')']).split(", ");
    numbers.all(|number| {
        number.parse::<f64>().is_ok_and(|value| (0.01..=100.0).contains(&value.abs()))
    })
}

/// The format of each part of a result, where it is the same as that of the result's components.
fn format_of(kernel: &Kernel, parts: usize) -> Option<Format> {
    let results = kernel.results();
    match (&results[..], kernel.op.function) {
        (_, Function::PackHalf) => Some(Format::F16),
        ([only], _) if !only.format.is_packed() && parts == only.width as usize => {
            Some(only.format)
        }
        _ => None,
    }
}
