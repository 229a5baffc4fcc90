use rustc_apfloat::Float as _;
use rustc_apfloat::ieee::Half;

use fpprobe_spirv::sweep::Digest;

use super::*;
use crate::profile::{Profile, built_in};
use crate::sweep::SweepStatistics;
use crate::sweep::guess::Guess;
use crate::sweep::half::NanChoice;
use crate::sweep::sum::CountSum;

const KERNELS: [&str; 16] = [
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "mul_rcp",
    "fmin",
    "nmax",
    "step",
    "ford_equal",
    "ford_less_than",
    "funord_greater_than_equal",
    "not_less_than",
    "fadd:controls=ftz16",
    "fmul:controls=dp16,szin16",
    "fdiv:controls=rtz16",
    "fsub:controls=szin16,rte16",
];

/// Operands of every class, at the ends of binades and in between.
const OPERANDS: [u32; 38] = [
    0, 1, 2, 7, 0x1ff, 0x200, 0x3fe, 0x3ff, 0x400, 0x401, 0x403, 0x7ff, 0x800, 0x1c00, 0x2955,
    0x37ff, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00, 0x4000, 0x4248, 0x5bff, 0x6400, 0x6bff, 0x73ff,
    0x7400, 0x7401, 0x7800, 0x7bfe, 0x7bff, 0x7c00, 0x7c01, 0x7d55, 0x7dff, 0x7e00, 0x7fff,
];

fn verifiers(kernel: &str) -> Vec<Verifier> {
    let of = |ids: &&[&str]| {
        let profiles: Vec<Profile> = ids.iter().map(|id| built_in(id).unwrap().unwrap()).collect();
        Verifier::new(&format!("f16.{kernel}").parse().unwrap(), &profiles).ok()
    };
    [
        &["d3d11", "vulkan", "wgsl", "gl-arb-shader-precision"][..],
        &["d3d11"],
        &["vulkan"],
        &["wgsl"],
    ]
    .iter()
    .filter_map(of)
    .collect()
}

/// Judges both ways.
#[track_caller]
fn same(verifier: &Verifier, first: u32, results: &[u32]) -> SweepStatistics {
    let (mut fast, mut exact) = (SweepStatistics::default(), SweepStatistics::default());
    verifier.block(first.into(), results, &mut fast);
    let mut sum = CountSum::new(verifier.rules.len(), verifier.fields.len());
    verifier.exactly(first.into(), results, &mut Work::new(&mut sum, &mut exact));
    sum.add_to(&verifier.rules, &mut exact);
    let kernel = verifier.signature.kernel;
    assert!(
        fast == exact,
        "{kernel} from {first:08x} by {:?}: {fast:#?}\nexactly {exact:#?}",
        profiles(verifier)
    );
    fast
}

fn profiles(verifier: &Verifier) -> Vec<&str> {
    verifier.rules.iter().map(|rule| rule.profile.as_str()).collect()
}

/// What devices answer that are wrong in some way.
fn wronged(result: u32, place: u32, how: u32, encoding: Encoding) -> u32 {
    let random = fpprobe_spirv::cases::random(u64::from(place) << 32 | u64::from(result)) as u32;
    if encoding == Encoding::Truth {
        return if how == 0 { result } else { random & 1 };
    }
    match how {
        0 => result,
        1 => result.wrapping_add(1) & 0xffff,
        2 => result.wrapping_sub(1) & 0xffff,
        3 => {
            if random.is_multiple_of(7) {
                result.wrapping_add(random >> 8 & 31).wrapping_sub(15) & 0xffff
            } else {
                result
            }
        }
        4 => result ^ 0x8000,
        5 => {
            if random.is_multiple_of(16) {
                0x7bff
            } else if random % 16 == 1 {
                result & 0x8000
            } else {
                result
            }
        }
        _ => random & 0xffff,
    }
}

#[test]
fn rows_are_judged_as_their_pairs_are() {
    for kernel in KERNELS {
        let verifiers = verifiers(kernel);
        for (turn, verifier) in verifiers.iter().enumerate() {
            let pairs = verifier
                .pairs
                .as_ref()
                .unwrap_or_else(|| panic!("{kernel} {:?}", profiles(verifier)));
            for (number, x) in (0..).zip(OPERANDS.into_iter().flat_map(|x| [x, x | 0x8000])) {
                // Each class has several operands, so that all profiles see it.
                for (other, y) in (0..).zip(OPERANDS.into_iter().flat_map(|y| [y, y | 0x8000])) {
                    if (number + other) as usize % verifiers.len() != turn {
                        continue;
                    }
                    // From a few pairs before it to a few behind it.
                    let y = y.clamp(4, 0xffff - 8) - 4;
                    let flushes = (number + other) % 5 == 0;
                    let behaviour = HalfBehaviour { flushes, ..HalfBehaviour::HOST };
                    let mut results = [0; 12];
                    pairs.fill(behaviour, x << 16 | y, &mut results);
                    for (place, result) in (0..).zip(&mut results) {
                        *result = wronged(
                            *result,
                            x ^ y << 7 ^ place,
                            (number * 3 + other) % 7,
                            pairs.encoding,
                        );
                    }
                    same(verifier, x << 16 | y, &results);
                }
            }
        }
    }
}

#[test]
fn long_rows_are_judged_as_their_pairs_are() {
    // More than what is compared at once.
    const LONG: usize = SPAN as usize + 256;
    for kernel in KERNELS {
        for (verifier, x) in verifiers(kernel).iter().zip([0x3c55, 0x83f0, 0x0123, 0xfbf0]) {
            let pairs = verifier.pairs.as_ref().unwrap();
            for how in 0..4 {
                let mut results = vec![0; LONG];
                for y in [0x0000, 0x6fff, 0x7800, 0x8000, 0xb000, 0xf800] {
                    pairs.fill(
                        HalfBehaviour { flushes: how == 2, ..HalfBehaviour::HOST },
                        x << 16 | y & 0xf000,
                        &mut results,
                    );
                    if how == 1 {
                        results[1234] ^= 1;
                    }
                    if how == 3 {
                        // Towards zero, where what is right is not.
                        for result in &mut results {
                            *result = result.saturating_sub(u32::from(*result & 3 == 2));
                        }
                    }
                    let statistics = same(verifier, x << 16 | y & 0xf000, &results);
                    assert_eq!(statistics.inputs, LONG as u64);
                }
            }
        }
    }
}

#[test]
fn the_host_rounds_once() {
    let half = |bits: u32| Half::from_bits(bits.into());
    for (kernel, compute) in [
        ("fadd", (|x: Half, y| x + y) as fn(Half, Half) -> rustc_apfloat::StatusAnd<Half>),
        ("fsub", |x, y| x - y),
        ("fmul", |x, y| x * y),
        ("fdiv", |x, y| x / y),
    ] {
        let operation = HalfOperation::new(&format!("f16.{kernel}").parse().unwrap()).unwrap();
        for x in (0..1 << 16).step_by(37).chain(OPERANDS) {
            let start = (x * 7919) & 0xff;
            let mut results = vec![0; 1 << 16];
            (operation.fill)(Arch::new(), HalfBehaviour::HOST, x << 16, &mut results);
            for y in (start..1 << 16).step_by(211).chain(OPERANDS) {
                let expected = compute(half(x), half(y)).value;
                let result = results[y as usize];
                assert!(
                    expected.is_nan() && is_nan(result) || expected.to_bits() == u128::from(result),
                    "{kernel} {x:04x} {y:04x}: {result:04x}"
                );
            }
        }
    }
}

#[test]
fn devices_have_behaviours() {
    let operation = HalfOperation::new(&"f16.fadd".parse().unwrap()).unwrap();
    let of = |nan, flushes, x: u32, y| {
        let mut result = [0];
        (operation.fill)(Arch::new(), HalfBehaviour { nan, flushes }, x << 16 | y, &mut result);
        result[0]
    };
    assert_eq!(of(NanChoice::First, false, 0x7d01, 0xfe23), 0x7f01);
    assert_eq!(of(NanChoice::Second, false, 0x7d01, 0xfe23), 0xfe23);
    assert_eq!(of(NanChoice::Second, false, 0x7d01, 0x3c00), 0x7f01);
    assert_eq!(of(NanChoice::First, false, 0x3c00, 0xfd23), 0xff23);
    assert_eq!(of(NanChoice::First, false, 0x7c00, 0xfc00), 0xfe00);
    assert_eq!(of(NanChoice::Always(0x7fff), false, 0x7d01, 0xfe23), 0x7fff);
    assert_eq!(
        [of(NanChoice::First, false, 1, 0x8003), of(NanChoice::First, true, 1, 0x8003)],
        [0x8002, 0]
    );
    assert_eq!(of(NanChoice::First, true, 0x8401, 0x400), 0x8000);
}

#[test]
fn blocks_that_agree_in_some_behaviour_are_judged_as_their_results_are() {
    const INPUTS: u64 = 1 << 16;
    let likely = Guess::Own16(HalfBehaviour { nan: NanChoice::Always(0x7e00), flushes: false });
    let mut places = [0, 1, 4321, 65535].into_iter().cycle();
    for kernel in ["fadd", "fdiv", "fmin", "step", "ford_less_than"] {
        for verifier in verifiers(kernel) {
            let pairs = verifier.pairs.as_ref().unwrap();
            assert!(verifier.guesses(), "{kernel}");
            for x in [0_u32, 0x0101, 0x3c00, 0x7bff, 0x7d01, 0xfc00] {
                let first = u64::from(x) << 16;
                for behaviour in [HalfBehaviour::HOST].into_iter().chain(HalfBehaviour::all()) {
                    let mut results = vec![0; INPUTS as usize];
                    pairs.fill(behaviour, first as u32, &mut results);
                    let agreed = |results: &[u32], try_behaviours| {
                        let (mut statistics, digest) =
                            (SweepStatistics::default(), Digest::of(first as u32, results, 1));
                        let guess = verifier.agreed(
                            first,
                            INPUTS,
                            digest,
                            likely,
                            try_behaviours,
                            &mut statistics,
                        )?;
                        Some((guess, statistics))
                    };
                    let (guess, statistics) =
                        agreed(&results, false).expect("real devices do this");
                    let mut judged = SweepStatistics::default();
                    verifier.block(first, &results, &mut judged);
                    assert!(
                        statistics == judged && statistics.inputs == INPUTS,
                        "{kernel} {x:04x} {guess:?}"
                    );
                    let place = places.next().unwrap();
                    results[place] ^= 1;
                    assert_eq!(agreed(&results, false), None, "{kernel} {x:04x} {place}");
                }
            }
        }
    }
}

#[test]
fn one_wrong_pair_is_found() {
    let [verifier, ..] = &verifiers("fadd")[..] else { panic!("it is judged") };
    let pairs = verifier.pairs.as_ref().unwrap();
    let mut results = vec![0; 1 << 16];
    pairs.fill(HalfBehaviour::HOST, 0x3c01 << 16, &mut results);
    results[0xbc02] -= 1;
    let mut statistics = SweepStatistics::default();
    verifier.block(0x3c01 << 16, &results, &mut statistics);
    let [run] = &statistics.runs[..] else { panic!("{:?}", statistics.runs) };
    assert_eq!(
        (statistics.deviating, run.first, run.length, run.result),
        (1, 0x3c01_bc02, 1, 0x93ff)
    );
}

#[test]
fn operations_without_rows_are_judged_by_the_oracle() {
    for kernel in ["f16.frem", "f16.pow", "f16.atan2", "f32.sqrt", "f16.sqrt"] {
        for id in ["vulkan", "wgsl"] {
            let profile = built_in(id).unwrap().unwrap();
            if let Ok(verifier) = Verifier::new(&kernel.parse().unwrap(), &[profile]) {
                assert!(verifier.pairs.is_none(), "{kernel}");
            }
        }
    }
}

#[test]
fn words_that_are_no_results_tell_nothing_of_others() {
    let profile = built_in("d3d11").unwrap().unwrap();
    let verifier = Verifier::new(&"f16.fadd".parse().unwrap(), &[profile]).unwrap();
    let mut statistics = SweepStatistics::default();
    for (result, deviating) in [(0x1_7e00, 1), (0x7e00, 1), (0x1_0000, 2)] {
        // 1 and a NaN.
        verifier.block(0x3c00_7e00, &[result], &mut statistics);
        assert_eq!(statistics.deviating, deviating, "{result:x}");
    }
}
