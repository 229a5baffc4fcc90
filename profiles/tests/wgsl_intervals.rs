//! The `wgsl` profile against acceptance intervals computed by the WebGPU CTS, where they lie beside the repository.
//!
//! The reference holds one interval a case; ours holds what may be inside it (a flushed subnormal and the number itself,
//! not what lies between). So the ends are compared, and that both leave a case open or neither. The sign of zero counts
//! for nothing.

use std::io::Read as _;
use std::path::PathBuf;

use fpprobe_profiles::accepts::accepts;
use fpprobe_profiles::profile;
use fpprobe_spirv::{Format, Kernel};
use serde_json::Value;

/// Files, and the kernels that their expressions become.
const FILES: [(&str, &str); 24] = [
    ("f32_addition.scalar", "f32.fadd"),
    ("f16_addition.scalar", "f16.fadd"),
    ("f32_subtraction.scalar", "f32.fsub"),
    ("f16_subtraction.scalar", "f16.fsub"),
    ("f32_multiplication.scalar", "f32.fmul"),
    ("f16_multiplication.scalar", "f16.fmul"),
    ("f32_arithmetic.negation", "f32.fnegate"),
    ("f16_arithmetic.negation", "f16.fnegate"),
    ("abs.f32", "f32.fabs"),
    ("abs.f16", "f16.fabs"),
    ("floor.f32", "f32.floor"),
    ("floor.f16", "f16.floor"),
    ("min.f32", "f32.fmin"),
    ("min.f16", "f16.fmin"),
    ("f32_comparison.equals", "f32.ford_equal"),
    ("f16_comparison.equals", "f16.ford_equal"),
    ("f32_comparison.not_equals", "f32.funord_not_equal"),
    ("f32_comparison.less_than", "f32.ford_less_than"),
    ("f32_comparison.less_equals", "f32.ford_less_than_equal"),
    ("f32_comparison.greater_than", "f32.ford_greater_than"),
    ("f32_comparison.greater_equals", "f32.ford_greater_than_equal"),
    ("f16_comparison.less_than", "f16.ford_less_than"),
    ("sqrt.f32", "f32.sqrt"),
    ("sqrt.f16", "f16.sqrt"),
];

fn bits(text: &Value) -> u64 {
    u64::from_str_radix(text.as_str().unwrap(), 16).unwrap()
}

/// Ends of what is accepted, as numbers; `None` where anything is.
fn ours(a: &Value, format: Format) -> Option<(f64, f64)> {
    if a["any"] == true {
        return None;
    }
    let value = |text: &Value| match format {
        Format::F32 => f64::from(f32::from_bits(bits(text) as u32)),
        Format::F16 => half(bits(text)),
        _ => f64::from(bits(text) as u32),
    };
    let listed = a["bits"].as_array().into_iter().flatten().map(value);
    let ends = a["intervals"].as_array().into_iter().flatten().flat_map(|one| [&one["lo"], &one["hi"]]);
    let all: Vec<f64> = listed.chain(ends.map(|end| f64::from_bits(bits(end)))).collect();
    Some((all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(f64::NEG_INFINITY, f64::max)))
}

fn half(bits: u64) -> f64 {
    let (exponent, fraction) = ((bits >> 10 & 31) as i32, f64::from(bits as u32 & 1023));
    let magnitude = if exponent == 0 { fraction } else { fraction + 1024.0 };
    let value = magnitude * 2f64.powi(exponent.max(1) - 25);
    if bits & 0x8000 == 0 { value } else { -value }
}

/// Ends of what the reference accepts.
fn theirs(expected: &Value) -> Option<(f64, f64)> {
    if let Some(alternatives) = expected["alts"].as_array() {
        let ends: Option<Vec<(f64, f64)>> = alternatives.iter().map(theirs).collect();
        return ends.map(|ends| ends.into_iter().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap());
    }
    if expected["any"] == true {
        return None;
    }
    if expected.get("bits").is_some() {
        let value = f64::from(bits(&expected["bits"]) as u32);
        return Some((value, value));
    }
    Some((f64::from_bits(bits(&expected["lo"])), f64::from_bits(bits(&expected["hi"]))))
}

#[test]
fn accepted_sets_have_the_ends_that_the_reference_has() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/wgsl-intervals");
    if !folder.exists() {
        println!("{} is not there: nothing to compare with", folder.display());
        return;
    }
    let profile = profile::built_in("wgsl").unwrap().unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for (file, id) in FILES {
        let kernel: Kernel = id.parse().unwrap();
        let packed = std::fs::File::open(folder.join(format!("{file}.jsonl.gz"))).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
        for line in text.lines() {
            let expected: Value = serde_json::from_str(line).unwrap();
            let case: Vec<u64> = expected["in"].as_array().unwrap().iter().map(bits).collect();
            let (accepted, _) = accepts(&profile, &kernel, &case);
            let (ours, theirs) = (ours(&accepted.to_json(), kernel.result().format), theirs(&expected));
            compared += 1;
            let same = match (ours, theirs) {
                (None, None) => true,
                // The reference rounds the reciprocal root outward before it divides: a unit more at either end.
                (Some(a), Some(b)) if id.ends_with("sqrt") => b.0 <= a.0 && a.1 <= b.1,
                (Some(a), Some(b)) => a == b,
                _ => false,
            };
            if !same {
                wrong.push(format!("{id} {case:x?}: ours {ours:?}, reference {theirs:?}"));
            }
        }
    }
    println!("{compared} cases");
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}
