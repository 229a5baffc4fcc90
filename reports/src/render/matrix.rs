//! Products of cooperative matrices in plain words: how a device sums, by its traits, and whether
//! it meets what is required.

use std::io::{self, Write};

use fpprobe_spirv::op::Code;
use fpprobe_spirv::{Kernel, products};

use super::field::{field, some};
use super::paper::{Ink, Paper, Style};
use super::phrase;
use super::subject::title;
use crate::model::{Device, Outcome, Report, StoredObservation, TraitValue};

/// Kernels that are named where not all are.
const MOST: usize = 6;

/// Writes what is known of the products of each device that has some.
pub fn matrix(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let paper = &mut Paper::new(out, style);
    let mut is_empty = true;
    for device in &report.devices {
        let own: Vec<(Kernel, &StoredObservation)> = device
            .observations
            .iter()
            .filter_map(|one| Some((one.kernel.parse::<Kernel>().ok()?, one)))
            .filter(|(kernel, _)| kernel.matrix.is_some())
            .collect();
        if own.is_empty() && device.claims.matrices.is_empty() {
            continue;
        }
        is_empty = false;
        title(paper, report, device)?;
        for (elements, kernels) in by_elements(&own) {
            let (factors, result) = elements.split_once('_').unwrap_or((&elements, ""));
            let sizes: Vec<String> = kernels.iter().map(size).collect();
            let text =
                format!("{factors} times {factors}, summed in {result}: {}", some(&sizes, MOST));
            paper.gap()?;
            paper.line(2, 2, &[(Ink::Strong, &text)])?;
            for (name, parts) in LINES {
                let sentences: Vec<String> =
                    parts.iter().filter_map(|part| sentence(device, &elements, part)).collect();
                field(paper, name, Ink::Plain, &sentences.join("; "))?;
            }
        }
        paper.gap()?;
        required(paper, device, &own)?;
        let other =
            device.claims.matrices.iter().filter(|property| products::product(property).is_none());
        let other: Vec<String> = other.cloned().collect();
        let count = phrase::number(other.len(), "product");
        let text =
            format!("{count} of elements or a scope that no kernel has: {}", some(&other, MOST));
        field(paper, "not run", Ink::Note, if other.is_empty() { "" } else { &text })?;
    }
    if is_empty {
        paper.line(
            0,
            2,
            &[(Ink::Plain, "No device of the report enumerates products of cooperative matrices.")],
        )?;
    }
    Ok(())
}

/// Products of floats that were measured: elements of A and B, and of the result, as traits name
/// them, each with its kernels.
fn by_elements(own: &[(Kernel, &StoredObservation)]) -> Vec<(String, Vec<Kernel>)> {
    let mut found: Vec<(String, Vec<Kernel>)> = Vec::new();
    for (kernel, _) in
        own.iter().filter(|(kernel, one)| is_sum_of_floats(kernel) && one.outcome.answered())
    {
        let Some(unit) = kernel.matrix else { continue };
        let elements = format!("{}_{}", unit.a.name(), kernel.format);
        match found.iter_mut().find(|(known, _)| *known == elements) {
            Some((_, kernels)) => kernels.push(*kernel),
            None => found.push((elements, vec![*kernel])),
        }
    }
    found
}

fn is_sum_of_floats(kernel: &Kernel) -> bool {
    kernel.op.code == Code::MatrixMulAdd && kernel.format.float().is_some()
}

fn size(kernel: &Kernel) -> String {
    kernel.matrix.map(|unit| format!("{}x{}x{}", unit.m, unit.n, unit.k)).unwrap_or_default()
}

/// Each line of a product: its name, and the traits that it is made of.
const LINES: [(&str, &[&str]); 8] = [
    ("model", &["model"]),
    ("order", &["order"]),
    ("products", &["products"]),
    ("rounding", &["rounding", "extra_bits"]),
    ("subnormals", &["subnormal_a", "subnormal_b", "subnormal_c", "subnormal_result"]),
    ("special", &["infinity_times_zero", "nan_a", "nan_c", "negative_zeros"]),
    ("overflow", &["partial_overflow", "overflow"]),
    ("again", &["repeatable"]),
];

/// What a trait says, in words.
fn sentence(device: &Device, elements: &str, part: &str) -> Option<String> {
    let id = format!("matrix.{elements}.{part}");
    let value: &TraitValue = device.traits.iter().find(|one| one.id == id)?.run_time.as_ref()?;
    let text = value.describe();
    if !value.shares.is_empty() {
        return Some(format!("{}: {text}", part.replace('_', " ")));
    }
    let place = if value.value.ends_with("c_first") { "C with the first" } else { "C last" };
    Some(match (part, value.value.as_str()) {
        ("model", "none_of_these") => {
            let lane = value
                .evidence
                .first()
                .map(|lane| format!(": {}", lane.command))
                .unwrap_or_default();
            format!(
                "none of those known; a product on which the nearest gives another result{lane}"
            )
        }
        ("model", _) => {
            format!("{text} (the same on all of {})", phrase::number(value.lanes, "product"))
        }
        ("order", "irregular") => "the order of the sum is that of no tree".to_owned(),
        ("order", "one_group") => "all products and C are added at once".to_owned(),
        ("order", known) if known.starts_with("sequential") => {
            format!("products are added one after the other, {place}")
        }
        ("order", known) if known.starts_with("groups") => {
            let number = known.split('_').nth(2).unwrap_or_default();
            format!("products are added in groups of {number}, {place}")
        }
        ("products", "exact") => "not rounded before they are added".to_owned(),
        ("products", _) => "rounded before they are added".to_owned(),
        ("rounding", "nearest_even") => "sums are rounded to nearest, ties to even".to_owned(),
        ("rounding", "nearest_away") => {
            "sums are rounded to nearest, ties away from zero".to_owned()
        }
        ("rounding", "toward_zero") => "sums are cut toward zero".to_owned(),
        ("rounding", _) => format!("sums are rounded {text}"),
        ("extra_bits", "0") => "a sum keeps no bit below the last one of the result".to_owned(),
        ("extra_bits", "fewer") => "a sum keeps fewer bits than the result has".to_owned(),
        ("extra_bits", "1") => "a sum keeps 1 bit below the last one of the result".to_owned(),
        ("extra_bits", _) => format!("a sum keeps {text} bits below the last one of the result"),
        ("subnormal_a", _) => format!("of A {text}"),
        ("subnormal_b", _) => format!("of B {text}"),
        ("subnormal_c", _) => format!("of C {text}"),
        ("subnormal_result", _) => format!("results {text}"),
        ("infinity_times_zero", _) => format!("infinity times 0 gives {}", bits(&text)),
        ("nan_a", _) => format!("a NaN in A gives {}", bits(&text)),
        ("nan_c", _) => format!("a NaN in C gives {}", bits(&text)),
        ("negative_zeros", _) => format!("a sum of -0 gives {text}"),
        ("partial_overflow", "kept") => "a sum may pass the largest number on its way".to_owned(),
        ("partial_overflow", _) => {
            format!("a sum that passes the largest number on its way is {text}")
        }
        ("overflow", _) => format!("a sum beyond the largest number is {text}"),
        ("repeatable", "yes") => {
            "equal products give equal bits, in every place of a matrix that was tried".to_owned()
        }
        ("repeatable", _) => "equal products do not always give equal bits".to_owned(),
        _ => format!("{}: {text}", part.replace('_', " ")),
    })
}

/// A NaN with its bits behind it.
fn bits(text: &str) -> String {
    text.strip_prefix("nan ").map_or_else(|| text.to_owned(), |bits| format!("the NaN {bits}"))
}

/// Whether integers are exact and moves change no bit, and what did not run.
fn required(
    paper: &mut Paper,
    device: &Device,
    own: &[(Kernel, &StoredObservation)],
) -> io::Result<()> {
    let is_wrong = |kernel: &Kernel| {
        let id = kernel.to_string();
        device.findings.iter().any(|finding| finding.kind == "claim" && finding.text.contains(&id))
    };
    let line = |paper: &mut Paper,
                name: &str,
                fine: &str,
                wrong: &str,
                is_own: &dyn Fn(&Kernel) -> bool| {
        let ran: Vec<&Kernel> = own
            .iter()
            .filter(|(kernel, one)| is_own(kernel) && one.outcome == Outcome::Ran)
            .map(|one| &one.0)
            .collect();
        let failed: Vec<String> =
            ran.iter().filter(|kernel| is_wrong(kernel)).map(ToString::to_string).collect();
        match (ran.len(), failed.is_empty()) {
            (0, _) => Ok(()),
            (count, true) => field(
                paper,
                name,
                Ink::Good,
                &format!("{fine} ({})", phrase::number(count, "kernel")),
            ),
            (_, false) => {
                field(paper, name, Ink::Bad, &format!("{wrong}: {}", some(&failed, MOST)))
            }
        }
    };
    let is_move = |kernel: &Kernel| matches!(kernel.op.code, Code::MatrixLoadStore(_));
    line(
        paper,
        "integers",
        "sums of products are exact",
        "sums of products are not exact",
        &|kernel| !is_move(kernel) && kernel.format.float().is_none(),
    )?;
    line(
        paper,
        "memory",
        "loads and stores in both layouts change no bit",
        "loads and stores change bits",
        &is_move,
    )?;
    for (_, one) in own.iter().filter(|(_, one)| !one.outcome.answered()) {
        let text = format!("{}: {} {}", one.kernel, phrase::outcome(one.outcome), one.detail);
        field(paper, "not run", Ink::Doubt, text.trim_end())?;
    }
    Ok(())
}
