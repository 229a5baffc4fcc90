//! Results at the very ends of what the oracle accepts, and one beyond.

use fpprobe_spirv::op::Function;
use rayon::prelude::*;

use super::*;
use crate::filter::polynomial::Polynomial;
use crate::profile::built_in_text;

/// An end of a range that a demand accepts of an input, or a number near it, as `how` says; `None`
/// where none looks there.
fn end(verifier: &Verifier, input: u64, how: u32) -> Option<u32> {
    let (case, encoding) = ([input], verifier.encoding());
    let operands = verifier.signature.operands(&case, 0);
    let demands: Vec<_> =
        verifier.rules.iter().flat_map(|rule| rule.looking(encoding, &operands)).collect();
    let demand = demands.get(how as usize % demands.len().max(1))?;
    let accepted = verifier.signature.accepted_part(&case, 0, demand);
    let ranges = accepted.ranges();
    let (low, high) = ranges.get((how >> 8) as usize % ranges.len().max(1))?;
    let end = if how & 0x10000 == 0 { low } else { high };
    let (least, most) = encoding.limits();
    Some(encoding.at((end + i64::from(how >> 20 & 3) - 1).clamp(least, most)) as u32)
}

#[test]
fn ends_of_what_is_accepted_are_judged_as_others_are() {
    for (name, compute) in NEAR.into_iter().chain(NARROWED) {
        for (by, verifier) in verifiers(name).iter().enumerate() {
            for exponent in (by as u64..512).step_by(23) {
                let first = (exponent << 23) + [0, 0x2a_aaaa, 0x7f_ffb0][(exponent % 3) as usize];
                let mut results: Vec<u32> =
                    (first..first + 80).map(|input| compute(input as u32)).collect();
                for (place, result) in results.iter_mut().enumerate().skip(by).step_by(4) {
                    let how = (place as u32 + exponent as u32).wrapping_mul(2_654_435_761);
                    *result = end(verifier, first + place as u64, how).unwrap_or(*result);
                }
                same(verifier, first, &results);
            }
        }
    }
}

#[test]
fn ends_beyond_which_numbers_lie_closer_are_found() {
    let right = |compute: fn(u32) -> u32, first: u64, count: u64| -> Vec<u32> {
        (first..first + count).map(|input| compute(input as u32)).collect()
    };
    let all = || NEAR.into_iter().chain(EQUAL);
    let compute =
        |name: &str| all().find(|(one, _)| *one == name).map(|(_, compute)| compute).unwrap();
    for (name, by, first, input, result) in [
        // Below a power of two the formula's end lies among numbers of half the distance.
        ("sinh", "wgsl", 0x3b00_0002, 0x3b00_0031, 0x3aff_f768),
        // Three of the least numbers away, and 10^-66.
        ("exp", "gl-arb-shader-precision", 0xc315_ffa0, 0xc315_ffc4, 0x8000_0003),
        ("exp2", "gl-arb-shader-precision", 0xc371_d6a0, 0xc371_d6ce, 0x8000_0003),
    ] {
        let verifier = verifier(&format!("f32.{name}"), &[by]);
        let mut results = right(compute(name), first, 85);
        results[(input - first) as usize] = result;
        assert_eq!(same(&verifier, first, &results).deviating, 1, "{name}");
    }
    // 1 - x has more digits than binary64 holds.
    for (first, count) in
        [(0xafff_ff7a, 134), (0x9000_0000, 64), (0xb27f_ffe0, 64), (0xa4ff_ffe0, 64)]
    {
        same(&verifier("f32.fract", &["vulkan"]), first, &right(compute("fract"), first, count));
    }
}

/// Judges results near binades, the edges of domains and the ends of what is accepted, by the
/// filter and by the oracle. Of every function and profile it takes each `step`th exponent, and
/// there four spans of `length` lanes. Gives their number.
fn dense(step: usize, length: u64) -> u64 {
    let all: Vec<Named> =
        NEAR.into_iter().chain(EQUAL).chain(BY_FORMULAS).chain(NARROWED).collect();
    let lanes = |(turn, (name, compute)): (usize, &Named)| {
        let mut lanes = 0;
        for (by, verifier) in verifiers(name).iter().enumerate() {
            for exponent in ((turn + by) % step..512).step_by(step) {
                // At both ends of a binade; where 1, pi/2 and pi lie in it; and anywhere.
                let anywhere =
                    fpprobe_spirv::cases::random((turn * 512 + exponent) as u64) & 0x7f_ffff;
                for start in [0, 0x80_0000 - length / 2, 0x49_0fdb - length / 2, anywhere] {
                    let first = ((exponent as u64) << 23) + start;
                    let last = (first + length).min(1 << 32);
                    let mut results: Vec<u32> =
                        (first..last).map(|input| compute(input as u32)).collect();
                    for (place, result) in
                        results.iter_mut().enumerate().skip(exponent % 3).step_by(3)
                    {
                        let how = ((place + exponent * 7) as u32).wrapping_mul(2_654_435_761);
                        *result = match place % 4 {
                            0 => wronged(*result, how >> 12),
                            _ => end(verifier, first + place as u64, how).unwrap_or(*result),
                        };
                    }
                    same(verifier, first, &results);
                    lanes += results.len() as u64;
                }
            }
        }
        lanes
    };
    all.par_iter().enumerate().map(lanes).sum()
}

#[test]
fn zeros_within_an_absolute_error_are_accepted() {
    let verifier = verifier("f32.sin", &["vulkan"]);
    for exponent in [1, 40, 102, 115, 116, 117] {
        for sign in [0, 1 << 31] {
            let (first, zero) = (sign | exponent << 23 | 0x1234, sign as u32);
            let deviating = same(&verifier, first, &[zero; 256]).deviating;
            // 2^-11 is the bound.
            assert_eq!(deviating, if exponent >= 116 { 256 } else { 0 }, "{first:08x}");
            same(&verifier, first, &[zero ^ 1 << 31; 256]);
        }
    }
}

#[test]
fn what_the_filter_accepts_the_oracle_accepts() {
    assert!(dense(61, 24) > 100_000);
}

#[test]
#[ignore = "takes many minutes"]
fn of_100_million_lanes_the_filter_accepts_none_that_the_oracle_refuses() {
    let lanes = dense(1, 200);
    assert!(lanes > 100_000_000, "{lanes}");
}

#[test]
fn a_subnormal_that_is_handed_on_is_no_result_of_its_neighbours() {
    let verifier = verifier("f32.saturate", &["wgsl"]);
    assert!(same(&verifier, 1, &[1; 200]).deviating > 0);
}

/// Settings of environments, and what they may be.
const SETTINGS: [(&str, &[&str]); 9] = [
    ("subnormal_inputs", &["keep", "flush", "either"]),
    ("subnormal_results", &["either", "keep", "flush"]),
    ("flushed_sign", &["exact", "either"]),
    ("zero_sign", &["either", "exact"]),
    ("overflow", &["saturate", "round", "either", "round_or_saturate"]),
    ("non_finite", &["ieee", "any"]),
    ("invalid", &["nan", "nan_or_infinite", "any"]),
    ("nan_operand", &["any", "nan"]),
    ("ulp", &["binade", "vulkan"]),
];

/// Operations whose accuracy is stated, and not inherited.
const STATED: [&str; 8] = ["exp", "exp2", "log", "log2", "sin", "cos", "inverse_sqrt", "rcp"];

/// Accuracies that they may have.
const ACCURACIES: [&str; 10] = [
    "3 ulp",
    "undefined",
    "either neighbour",
    "0.5 ulp in [0.5, 2], else 3 ulp",
    "absolute 2^-21 in [0.5, 2], else relative",
    "relative 2^-21",
    "undefined for |first| in [2^-126, 2^126]",
    "absolute 2^-140",
    "3 + 2 |x| ulp",
    "4096 ulp",
];

/// A built-in profile with other settings in every environment, and other accuracies.
fn altered(id: &str, turn: usize) -> Profile {
    let (_, text) = built_in_text(id).unwrap();
    let mut operation = "";
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        operation =
            line.strip_prefix("[operation.").map_or(operation, |rest| rest.trim_end_matches(']'));
        let setting = SETTINGS
            .iter()
            .enumerate()
            .find(|(_, (key, _))| line.starts_with(&format!("{key} = ")));
        lines.push(match setting {
            Some((place, (key, values))) => {
                format!("{key} = \"{}\"", values[(turn * (place + 1) + turn / 3) % values.len()])
            }
            None if line.starts_with("accuracy.f32 = ") && STATED.contains(&operation) => {
                format!("accuracy.f32 = \"{}\"", ACCURACIES[(turn + number) % ACCURACIES.len()])
            }
            // Of operations by themselves.
            None if line == format!("[operation.{operation}]") && turn % 2 == 1 => {
                format!(
                    "{line}\nenvironment = {{ subnormal_results = \"{}\" }}",
                    SETTINGS[1].1[number % 3]
                )
            }
            None if line.starts_with("environment = ") && turn % 2 == 1 => String::new(),
            None => line.to_owned(),
        });
    }
    Profile::parse(id, &lines.join("\n"), &built_in_text).unwrap()
}

#[test]
fn profiles_of_other_settings_are_judged_as_others_are() {
    for turn in 0..20 {
        for id in ALL {
            let profile = [altered(id, turn)];
            for (number, (name, compute)) in NEAR.into_iter().chain(EQUAL).enumerate() {
                let Ok(verifier) = Verifier::new(&format!("f32.{name}").parse().unwrap(), &profile)
                else {
                    continue;
                };
                for exponent in ((turn + number) % 37..512).step_by(37) {
                    let first = ((exponent as u64) << 23)
                        + [0, 0x31_7218, 0x7f_ffd0][(turn + exponent) % 3];
                    let mut results: Vec<u32> =
                        (first..first + 48).map(|input| compute(input as u32)).collect();
                    for (place, result) in results.iter_mut().enumerate().skip(turn % 5).step_by(5)
                    {
                        let how = ((place + exponent) as u32).wrapping_mul(2_654_435_761);
                        *result = if place % 2 == 0 {
                            end(&verifier, first + place as u64, how).unwrap_or(*result)
                        } else {
                            wronged(*result, how >> 12)
                        };
                    }
                    same(&verifier, first, &results);
                }
            }
        }
    }
}

#[test]
fn no_function_is_smooth_at_zero_that_turns_there() {
    let least = 2f64.powi(-149);
    for function in [Function::Length, Function::Normalize] {
        assert!(Polynomial::new(function, 64.0 * least, least, 2049).is_none());
        assert!(Polynomial::new(function, 2f64.powi(-126), least, 2049).is_some());
    }
}

#[test]
fn an_operation_that_inherits_may_flush_by_itself() {
    let (_, text) = built_in_text("wgsl").unwrap();
    let keep = text.replace("subnormal_results = \"either\"", "subnormal_results = \"keep\"");
    let radians = "[operation.radians]\nenvironment = { subnormal_results = \"either\" }";
    for (text, deviating) in [(keep.replace("[operation.radians]", radians), 0), (keep, 64)] {
        let profile = Profile::parse("wgsl", &text, &built_in_text).unwrap();
        let verifier = Verifier::new(&"f32.radians".parse().unwrap(), &[profile]).unwrap();
        // Normal numbers, of which the results are subnormal.
        assert_eq!(same(&verifier, 0x0100_0000, &[0; 64]).deviating, deviating);
    }
}
