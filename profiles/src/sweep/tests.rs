mod ends;

use fpprobe_spirv::sweep::Digest;

use super::*;

use crate::profile::built_in;

/// A verifier of a kernel by built-in profiles.
fn verifier(kernel: &str, profiles: &[&str]) -> Verifier {
    let profiles: Vec<Profile> = profiles.iter().map(|id| built_in(id).unwrap().unwrap()).collect();
    Verifier::new(&kernel.parse().unwrap(), &profiles).unwrap()
}

/// Base-2 exponentials of inputs, correctly rounded.
fn exp2(first: u64, count: u64) -> Vec<u32> {
    (first..first + count)
        .map(|input| core_math::exp2f(f32::from_bits(input as u32)).to_bits())
        .collect()
}

const ALL: [&str; 4] = ["d3d11", "vulkan", "wgsl", "gl-arb-shader-precision"];

#[test]
fn one_wrong_result_is_found() {
    let verifier = verifier("f32.exp2", &["d3d11"]);
    let (first, count) = (0x3f80_0000 + 3 * CHUNK, 5000);
    let mut results = exp2(first, count);
    let mut statistics = SweepStatistics::default();
    verifier.block(first, &results, &mut statistics);
    assert_eq!((statistics.inputs, statistics.deviating, statistics.measured()), (count, 0, count));
    assert!(statistics.worst().unwrap().parts <= PARTS / 2 && statistics.runs.is_empty());
    results[4321] ^= 16;
    let mut statistics = SweepStatistics::default();
    verifier.block(first, &results, &mut statistics);
    let [run] = &statistics.runs[..] else { panic!("{:?}", statistics.runs) };
    assert_eq!(
        (statistics.deviating, run.first, run.length, run.result),
        (1, first + 4321, 1, results[4321])
    );
    assert_eq!(statistics.worst().map(|worst| worst.input), Some(first + 4321));
    assert_eq!(statistics.exponents[&0x7f].first, Some(first + 4321));
}

#[test]
fn statistics_add_up_in_any_order() {
    let verifier = verifier("f16.fabs", &ALL);
    // Some are magnitudes, and runs of some are not.
    let magnitude =
        |input: u32| if input % 7 < 3 || input % 4096 < 100 { 0x3555 } else { input & 0x7fff };
    let results: Vec<u32> = (0..1 << 16).map(magnitude).collect();
    let part = |from: usize, to: usize| {
        let mut statistics = SweepStatistics::default();
        verifier.block(from as u64, &results[from..to], &mut statistics);
        statistics
    };
    let parts = [part(0, 20000), part(20000, 20007), part(20007, 65536)];
    let merged = |order: [usize; 3]| {
        let mut statistics = SweepStatistics::default();
        for number in order {
            statistics.merge(&parts[number]);
        }
        serde_json::to_string(&statistics).unwrap()
    };
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    assert!(orders.iter().all(|order| merged(*order) == merged([0, 1, 2])));
    let statistics: SweepStatistics = serde_json::from_str(&merged([0, 1, 2])).unwrap();
    assert!(
        statistics.runs.len() == RUNS && statistics.left_out() > 0 && statistics.inputs == 1 << 16
    );
}

#[test]
fn what_has_no_domain_or_no_rule_is_refused() {
    let profile = built_in("d3d11").unwrap().unwrap();
    for (kernel, reason) in [
        ("f32.fadd", "its inputs have 64 bits"),
        ("f16.fnegate:width=2", "vectors"),
        ("b10g11r11.load:route=storage_image", "texels"),
        ("f32.frexp", "several results"),
        ("f32.tan", "no required rule of d3d11 looks at f32.tan"),
    ] {
        let refused = Verifier::new(&kernel.parse().unwrap(), std::slice::from_ref(&profile))
            .unwrap_err()
            .to_string();
        assert!(refused.contains(reason), "{refused}");
    }
}

/// Judges by spans and one by one: the statistics are the same.
fn same(verifier: &Verifier, first: u64, results: &[u32]) -> SweepStatistics {
    let (mut fast, mut slow) = (SweepStatistics::default(), SweepStatistics::default());
    verifier.block(first, results, &mut fast);
    let mut sum = CountSum::new(verifier.rules.len(), 1);
    verifier.exactly(first, results, &mut Work::new(&mut sum, &mut slow));
    sum.add_to(&verifier.rules, &mut slow);
    assert_eq!(
        serde_json::to_value(&fast).unwrap(),
        serde_json::to_value(&slow).unwrap(),
        "{} {first:08x}",
        verifier.signature.kernel
    );
    fast
}

/// The result of a device that computes correctly rounded.
fn rounded(compute: fn(f64) -> f64, input: u32) -> u32 {
    (compute(f64::from(f32::from_bits(input))) as f32).to_bits()
}

macro_rules! functions {
    ($($name:literal $compute:expr),*) => { [$(($name, |x| rounded($compute, x))),*] };
}

/// A kernel's operation, and what a device gives that computes it correctly rounded.
type Named = (&'static str, fn(u32) -> u32);

/// Functions that are compared with polynomials.
const NEAR: [Named; 23] = functions! {
    "radians" |x| x * f64::from(core::f32::consts::PI / 180.0), "degrees" |x| x * f64::from(180.0 / core::f32::consts::PI),
    "exp" core_math::exp, "exp2" core_math::exp2, "log" core_math::log, "log2" core_math::log2, "sin" core_math::sin,
    "cos" core_math::cos, "tan" core_math::tan, "asin" core_math::asin, "acos" core_math::acos, "atan" core_math::atan,
    "sinh" core_math::sinh, "cosh" core_math::cosh, "tanh" core_math::tanh, "asinh" core_math::asinh,
    "acosh" core_math::acosh, "atanh" core_math::atanh, "sqrt" f64::sqrt, "inverse_sqrt" core_math::rsqrt,
    "rcp" f64::recip, "length" f64::abs, "normalize" f64::signum
};

macro_rules! formulas {
    ($($name:literal $compute:expr),*) => { [$(($name, |x| computed(f32::from_bits(x), $compute))),*] };
}

/// The result of a device that carries out a formula in binary32.
fn computed(x: f32, compute: fn(f32) -> f32) -> u32 {
    compute(x).to_bits()
}

/// Functions that are carried out by formulas of others, which are off by far for small operands
/// and overflow for large ones.
const BY_FORMULAS: [Named; 12] = formulas! {
    "sqrt" |x| 1.0 / core_math::rsqrtf(x), "tan" |x| core_math::sinf(x) / core_math::cosf(x),
    "asin" |x| core_math::atan2f(x, (1.0 - x * x).sqrt()), "acos" |x| core_math::atan2f((1.0 - x * x).sqrt(), x),
    "sinh" |x| (core_math::expf(x) - core_math::expf(-x)) * 0.5,
    "cosh" |x| (core_math::expf(x) + core_math::expf(-x)) * 0.5,
    "tanh" |x| (core_math::expf(x) - core_math::expf(-x)) / (core_math::expf(x) + core_math::expf(-x)),
    "asinh" |x| core_math::logf(x + (x * x + 1.0).sqrt()), "acosh" |x| core_math::logf(x + (x * x - 1.0).sqrt()),
    "atanh" |x| core_math::logf((1.0 + x) / (1.0 - x)) * 0.5, "length" |x| (x * x).sqrt(),
    "normalize" |x| x * core_math::rsqrtf(x * x)
};

/// Operations that are compared with the host's.
const EQUAL: [Named; 17] = [
    ("is_nan", |x| u32::from(f32::from_bits(x).is_nan())),
    ("is_inf", |x| u32::from(f32::from_bits(x).is_infinite())),
    ("ne_self", |x| u32::from(f32::from_bits(x).is_nan())),
    ("round", |x| f32::from_bits(x).round().to_bits()),
    ("saturate", |x| f32::from_bits(x).clamp(0.0, 1.0).to_bits()),
    ("fract", |x| (f32::from_bits(x) - f32::from_bits(x).floor()).to_bits()),
    ("floor", |x| f32::from_bits(x).floor().to_bits()),
    ("ceil", |x| f32::from_bits(x).ceil().to_bits()),
    ("trunc", |x| f32::from_bits(x).trunc().to_bits()),
    ("round_even", |x| f32::from_bits(x).round_ties_even().to_bits()),
    ("fabs", |x| x & 0x7fff_ffff),
    ("fnegate", |x| x ^ 0x8000_0000),
    ("fsign", |x| if f32::from_bits(x) == 0.0 { x } else { f32::from_bits(x).signum().to_bits() }),
    ("convert_f_to_s", |x| (f32::from_bits(x) as i32).cast_unsigned()),
    ("convert_f_to_u", |x| f32::from_bits(x) as u32),
    ("convert_s_to_f", |x| (x.cast_signed() as f32).to_bits()),
    ("convert_u_to_f", |x| (x as f32).to_bits()),
];

/// What may be wrong with a result: off by ulps, flushed, another kind of number.
fn wronged(result: u32, how: u32) -> u32 {
    match how % 8 {
        0..2 => result.wrapping_add(how / 8 % 9).wrapping_sub(4),
        // By a few units, or by many, as formulas may be off.
        2 => result.wrapping_add((how / 8 % 9).wrapping_sub(4) << (how / 72 % 16)),
        3 => result & 0x8000_0000,
        4 => 0,
        5 => 0x7f80_0000 | (how / 8) << 31,
        6 => 0x7fc0_0000 + how / 8,
        _ => result ^ 1 << (how / 8 % 32),
    }
}

/// Verifiers of a kernel by all profiles, and by some of them.
fn verifiers(name: &str) -> Vec<Verifier> {
    let of = |ids: &&[&str]| {
        let profiles: Vec<Profile> = ids.iter().map(|id| built_in(id).unwrap().unwrap()).collect();
        Verifier::new(&format!("f32.{name}").parse().unwrap(), &profiles).ok()
    };
    [&ALL[..], &ALL[..1], &ALL[1..2], &ALL[2..3], &ALL[3..]].iter().filter_map(of).collect()
}

#[test]
fn spans_are_judged_as_their_inputs_are() {
    for (name, compute) in NEAR.into_iter().chain(EQUAL).chain(BY_FORMULAS).chain(NARROWED) {
        for verifier in verifiers(name) {
            assert!(verifier.fast.is_some(), "{name}");
            // Of every fifth exponent, inputs from its first on, from its middle and at its end.
            for exponent in (0..512_u64).step_by(5) {
                let first = (exponent << 23) + [0, 0x3f_f800, 0x7f_ff40][exponent as usize % 3];
                let mut results: Vec<u32> =
                    (first..first + 192).map(|input| compute(input as u32)).collect();
                if exponent % 2 == 0 {
                    for (place, result) in
                        results.iter_mut().enumerate().filter(|(place, _)| place % 5 == 0)
                    {
                        *result =
                            wronged(*result, (place as u32).wrapping_mul(2_654_435_761) >> 12);
                    }
                }
                same(&verifier, first, &results);
            }
        }
    }
}

#[test]
fn correctly_rounded_results_are_judged_as_others_are() {
    const LONG: u64 = 3 << 12;
    for (name, first) in [("sqrt", 0x3fa5_1000), ("rcp", 0xc0a5_1000)] {
        let (_, compute) = NEAR.into_iter().find(|(one, _)| *one == name).unwrap();
        let right: Vec<u32> = (first..first + LONG).map(|input| compute(input as u32)).collect();
        for verifier in verifiers(name) {
            let all = same(&verifier, first, &right);
            assert_eq!((all.deviating, all.worst().unwrap().parts), (0, PARTS / 2 - 1), "{name}");
            let mut results = right.clone();
            results[0x2abc] += 1;
            let one = same(&verifier, first, &results);
            assert_eq!(one.worst().unwrap().input, first + 0x2abc, "{name}");
        }
    }
}

#[test]
fn the_first_of_errors_beyond_what_is_counted_is_the_largest() {
    for (name, first, right) in
        [("exp2", 0x3e07_0000, 0x3f80_0000), ("convert_s_to_f", 0x0080_0001, 0x4b00_0001)]
    {
        for verifier in verifiers(name) {
            let mut results = vec![right; 192];
            (results[17], results[99]) = (0x7f00_0000, 0x7f7f_ffff);
            let statistics = same(&verifier, first, &results);
            assert_eq!(
                statistics.worst().map(|worst| (worst.input, worst.parts)),
                Some((first + 17, FAR)),
                "{name}"
            );
        }
    }
}

#[test]
fn what_is_known_of_other_chunks_is_found_no_more_but_adds_up_to_the_same() {
    let verifier = verifier("f32.exp2", &ALL);
    // Errors are larger the farther from the middle, so that either chunk may have the largest.
    for middle in [0x3f90_8000, 0x3f90_0000, 0x3fa0_0000] {
        let results = |first: u64| {
            let off = |input: u64| (input.abs_diff(middle) >> 14) as u32 % 5;
            let results = exp2(first, 1 << 14).into_iter().zip(first..);
            results.map(|(result, input)| result + off(input)).collect::<Vec<u32>>()
        };
        let judged = |known: &SweepStatistics, first: u64| {
            let mut statistics = verifier.beside(known, first);
            verifier.block(first, &results(first), &mut statistics);
            statistics
        };
        for [one, other] in [[0x3f80_0000 + CHUNK, 0x3f80_0000], [0x3f80_0000, 0x3f80_0000 + CHUNK]]
        {
            let (mut known, mut apart) = (
                judged(&SweepStatistics::default(), one),
                judged(&SweepStatistics::default(), one),
            );
            known.merge(&judged(&known, other));
            apart.merge(&judged(&SweepStatistics::default(), other));
            assert!(known == apart && known.inputs == 2 << 14, "{known:?} {apart:?}");
        }
    }
}

#[test]
fn devices_that_keep_what_one_profile_flushes_are_judged_by_each() {
    // Results of subnormals as they are, and as those of zero; the number below one for all that
    // are hardly less.
    let below = |_| 0x3f7f_ffff;
    let flushed = |compute: fn(u32) -> u32| move |input: u32| compute(input & 0x8000_0000);
    for (name, compute) in NEAR.into_iter().chain(EQUAL) {
        let verifiers = verifiers(name);
        for first in [
            0x3000,
            0x0040_0000,
            0x8000_2f00,
            0x8060_0000,
            0x8070_0000,
            0xa000_2345,
            0xb380_0001,
            0xb300_0001,
        ] {
            for verifier in &verifiers {
                let judge = |compute: &dyn Fn(u32) -> u32| {
                    same(
                        verifier,
                        first,
                        &(first..first + 300)
                            .map(|input| compute(input as u32))
                            .collect::<Vec<_>>(),
                    )
                };
                let all_statistics = [judge(&compute), judge(&flushed(compute)), judge(&below)];
                assert!(all_statistics.iter().all(|statistics| statistics.inputs == 300));
            }
        }
    }
}

/// A kernel's operation that narrows, and what a device gives that rounds to nearest even.
const NARROWED: [Named; 3] =
    [("fconvert_f16", half::narrowed), ("quantize_to_f16", widened), ("narrow_widen", widened)];

/// To binary16 and back.
fn widened(x: u32) -> u32 {
    half::widened(half::narrowed(x)).to_bits()
}

#[test]
fn conversions_to_integers_are_those_of_the_language() {
    for name in ["convert_f_to_s", "convert_f_to_u"] {
        let native = native::Native::new(&format!("f32.{name}").parse().unwrap()).unwrap();
        let (_, compute) = EQUAL.into_iter().find(|(one, _)| *one == name).unwrap();
        for high in 0..=0xffff_u32 {
            for low in [0, 1, 0x7fff, 0x8000, 0xffff, high.wrapping_mul(40503) & 0xffff] {
                let input = high << 16 | low;
                assert_eq!((native.compute)(input), compute(input), "{name} {input:08x}");
            }
        }
    }
}

/// What `agreed` finds of a block that a device answers so.
fn agreed(verifier: &Verifier, first: u64, results: &[u32]) -> Option<(Guess, SweepStatistics)> {
    let mut statistics = SweepStatistics::default();
    let digest = Digest::of(first as u32, results, 1);
    let guess = verifier.agreed(
        first,
        results.len() as u64,
        digest,
        Guess::Constant(0),
        false,
        &mut statistics,
    )?;
    Some((guess, statistics))
}

#[test]
fn blocks_that_agree_are_judged_as_their_results_are() {
    const INPUTS: u64 = 1 << 16;
    let own: [Named; 2] = [
        ("sqrt", |x| f32::from_bits(x).sqrt().to_bits()),
        ("rcp", |x| (1.0 / f32::from_bits(x)).to_bits()),
    ];
    let mut places = [0, 1, 4321, 65535].into_iter().cycle();
    for (name, compute) in EQUAL.into_iter().chain(own) {
        for verifier in verifiers(name) {
            assert!(verifier.guesses(), "{name}");
            for first in [
                0,
                0x0040_0000,
                0x3f80_0000,
                0x4b00_0000,
                0x7f7f_0000,
                0x8000_0000,
                0xbf80_0000,
                0xff7f_0000,
            ] {
                let mut results: Vec<u32> =
                    (first..first + INPUTS).map(|input| compute(input as u32)).collect();
                let (guess, statistics) =
                    agreed(&verifier, first, &results).expect("it is what the host computes");
                let mut judged = SweepStatistics::default();
                verifier.block(first, &results, &mut judged);
                assert!(
                    statistics == judged && statistics.inputs == INPUTS,
                    "{name} {first:08x} {guess:?}"
                );
                let place = places.next().unwrap();
                results[place] ^= 1;
                assert_eq!(agreed(&verifier, first, &results), None, "{name} {first:08x} {place}");
            }
        }
    }
}

#[test]
fn a_device_may_have_its_own_answer_where_there_is_no_result() {
    // A NaN that no processor makes of a number, and so is not what the host computes.
    for (name, first, result) in [
        ("sqrt", 0xbf80_0000, 0x7fff_ffff),
        ("convert_f_to_s", 0x6000_0000, 0x8000_0000),
        ("floor", 0x7fa0_0000, 0xffc0_0000),
    ] {
        let results = vec![result; 1 << 16];
        for verifier in verifiers(name) {
            let (guess, statistics) = agreed(&verifier, first, &results)
                .expect("it is one of the answers that devices have");
            let mut judged = SweepStatistics::default();
            verifier.block(first, &results, &mut judged);
            assert_eq!((guess, statistics), (Guess::Constant(result), judged), "{name}");
        }
    }
    let [exp2, ..] = &verifiers("exp2")[..] else { panic!("exp2 is judged") };
    assert!(!exp2.guesses());
}

#[test]
fn the_number_nearest_to_a_multiple_of_half_pi_is_far_enough() {
    // Muller, Elementary Functions, table 11.1
    let nearest = f64::from(16_367_173_f32) * 2f64.powi(72);
    assert!(core_math::sin(nearest).abs().min(core_math::cos(nearest).abs()) > 2f64.powi(-31));
    assert!(core_math::sin(nearest).abs().min(core_math::cos(nearest).abs()) < 2f64.powi(-28));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(150))]

    #[test]
    fn long_spans_are_judged_as_their_inputs_are(
        function in 0..NEAR.len() + EQUAL.len() + BY_FORMULAS.len() + NARROWED.len(),
        by in 0..5_usize,
        near_one in proptest::bool::ANY,
        input in proptest::num::u32::ANY,
        length in 1..6000_u64,
        wrong in proptest::collection::vec((0..6000_usize, proptest::num::u32::ANY), 0..12),
    ) {
        let (name, compute) = NEAR.into_iter().chain(EQUAL).chain(BY_FORMULAS).chain(NARROWED).nth(function).unwrap();
        // Most of what functions do they do near 1.
        let input = if near_one { 0x3a00_0000 + input % 0x0b00_0000 | input & 0x8000_0000 } else { input };
        let first = u64::from(input).min((1 << 32) - length);
        let mut results: Vec<u32> = (first..first + length).map(|input| compute(input as u32)).collect();
        for (place, how) in wrong {
            if let Some(result) = results.get_mut(place) {
                *result = wronged(*result, how);
            }
        }
        if let Some(verifier) = verifiers(name).get(by) {
            same(verifier, first, &results);
        }
    }
}
