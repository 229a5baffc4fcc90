//! Conversions from and to bfloat16 and float8 under Vulkan's rules, against neighbours looked up
//! in a list of all of their numbers.

use fpprobe_profiles::accepts::KernelDemands;
use fpprobe_profiles::profile;
use fpprobe_spirv::{Kernel, cases};

/// The results that Vulkan's rules accept of a kernel's operand, of those given.
fn accepted(demands: &KernelDemands<'_>, operand: u64, results: &[u64]) -> Vec<u64> {
    let (accepted, _) = demands.accepts(&[operand]);
    results.iter().copied().filter(|result| accepted.contains(&[*result])).collect()
}

fn demands(id: &str, check: impl FnOnce(&KernelDemands<'_>)) {
    let vulkan = profile::built_in("vulkan").unwrap().unwrap();
    let kernel: Kernel = id.parse().unwrap();
    check(&KernelDemands::new([&vulkan], &kernel));
}

/// A bfloat16 is the upper half of a binary32.
fn of_bfloat16(code: u64) -> f64 {
    f64::from(f32::from_bits((code as u32) << 16))
}

fn of_binary16(code: u64) -> f64 {
    let (exponent, fraction) = ((code >> 10 & 31) as i32, (code & 0x3ff) as f64);
    let magnitude = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
    };
    if code >> 15 == 1 { -magnitude } else { magnitude }
}

/// The code that a number cut towards zero has, the next one, and whether that is nearer, or as
/// near and even. Codes of magnitudes are in the order of the numbers.
fn neighbours(number: f64, largest: u64, value: impl Fn(u64) -> f64) -> (u64, u64, bool) {
    let magnitude = number.abs();
    let (mut low, mut high) = (0, largest);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if value(middle) <= magnitude { low = middle } else { high = middle - 1 }
    }
    // Behind the largest one the step is the same.
    let next = if low == largest { 2.0 * value(low) - value(low - 1) } else { value(low + 1) };
    let (below, above) = (magnitude - value(low), next - magnitude);
    (low, low + 1, above < below || above == below && low & 1 == 1)
}

#[test]
fn numbers_become_the_nearest_bfloat16_or_the_one_towards_zero() {
    let narrowed = |id: &str,
                    sign: u32,
                    operands: &mut dyn Iterator<Item = u64>,
                    value: &dyn Fn(u64) -> f64| {
        demands(id, |demands| {
            let mut seen = 0;
            for operand in operands {
                let number = value(operand);
                if !number.is_normal() {
                    continue;
                }
                let (cut, next, up) = neighbours(number, 0x7f7f, of_bfloat16);
                let signed = |code: u64| code | (operand >> sign) << 15;
                let near = [cut.saturating_sub(1), cut, next, next + 1].map(signed);
                let is_exact = of_bfloat16(cut) == number.abs();
                let expected = if up && !is_exact {
                    vec![signed(cut), signed(next)]
                } else {
                    vec![signed(cut)]
                };
                assert_eq!(accepted(demands, operand, &near), expected, "{id} {operand:x}");
                seen += 1;
            }
            assert!(seen > 2000, "{id}: {seen}");
        });
    };
    // Of binary16 every number but subnormals is a normal binary64; so is every bfloat16 near it.
    narrowed(
        "f16.fconvert_bf16",
        15,
        &mut (0..1 << 16).filter(|code| code >> 10 & 31 != 0),
        &of_binary16,
    );
    let kernel: Kernel = "f32.fconvert_bf16".parse().unwrap();
    let list = cases::with_random(&kernel, cases::cases(&kernel), 50_000, 7);
    let is_normal = |bits: &u64| f32::from_bits(*bits as u32).is_normal();
    // What rounds to infinity is not demanded without a control.
    let in_range = |bits: &u64| bits & 0x7fff_ffff < 0x7f7f_8000;
    let operands: Vec<u64> =
        list.iter().map(|case| case[0]).filter(is_normal).filter(in_range).collect();
    narrowed("f32.fconvert_bf16", 31, &mut operands.into_iter(), &|bits| {
        f64::from(f32::from_bits(bits as u32))
    });
}

#[test]
fn a_bfloat16_is_the_same_number_elsewhere() {
    for code in [0x3f80_u64, 0x0080, 0x7f7f, 0xc2f7, 0x3eab] {
        for (id, expected) in
            [("bf16.fconvert_f32", code << 16), ("bf16.fconvert_f64", of_bfloat16(code).to_bits())]
        {
            demands(id, |demands| {
                let results = [expected - 1, expected, expected + 1];
                assert_eq!(accepted(demands, code, &results), [expected], "{id} {code:x}");
            });
        }
    }
    // All of them, but those whose treatment is free.
    demands("bf16.fconvert_f32", |demands| {
        for code in (0..1 << 16).filter(|code| !matches!(code >> 7 & 255, 0 | 255)) {
            let results = [(code << 16) - 1, code << 16, code << 16 | 1];
            assert_eq!(accepted(demands, code, &results), [code << 16], "{code:x}");
        }
        // A subnormal is itself, or flushed.
        assert_eq!(
            accepted(demands, 1, &[0, 1, 0x1_0000, 0x8000_0000]),
            [0, 0x1_0000, 0x8000_0000]
        );
    });
}

#[test]
fn without_fast_math_a_nan_stays_one() {
    demands("f32.fconvert_bf16:controls=fastmath0", |demands| {
        // Cut, this NaN is an infinity; with half a unit added, a zero.
        for nan in [0x7f80_0001, 0x7fff_ffff] {
            assert_eq!(
                accepted(demands, nan, &[0x7f80, 0x8000, 0, 0x7fc0, 0xffc1]),
                [0x7fc0, 0xffc1]
            );
        }
        assert_eq!(accepted(demands, 0xff80_0000, &[0xff80, 0x7f80, 0xff7f]), [0xff80]);
        assert_eq!(accepted(demands, 0x8000_0000, &[0x8000, 0]), [0x8000]);
        // Beyond the range, to nearest and towards zero.
        assert_eq!(accepted(demands, 0x7f7f_ffff, &[0x7f7f, 0x7f80, 0x7fc0]), [0x7f7f, 0x7f80]);
        assert_eq!(accepted(demands, 0x7f7f_7fff, &[0x7f7e, 0x7f7f, 0x7f80]), [0x7f7f]);
    });
}

/// The numbers of a float8: E4M3 as its paper has it, E5M2 as the upper half of a binary16.
fn of_float8(name: &str, code: u64) -> f64 {
    if name == "e5m2" {
        return of_binary16(code << 8);
    }
    let (exponent, fraction) = ((code >> 3 & 15) as i32, (code & 7) as f64);
    let magnitude = match (exponent, code & 7) {
        (15, 7) => f64::NAN,
        (0, _) => fraction * 2_f64.powi(-9),
        _ => (1.0 + fraction / 8.0) * 2_f64.powi(exponent - 7),
    };
    if code >> 7 == 1 { -magnitude } else { magnitude }
}

/// Names, and the codes of the least normal number, of the largest one, and of what is behind it.
const FLOAT8: [(&str, u64, u64, &[u64]); 2] =
    [("e4m3", 0x08, 0x7e, &[0x7f, 0xff]), ("e5m2", 0x04, 0x7b, &[0x7c])];

#[test]
fn a_float8_is_the_same_number_elsewhere() {
    let halves: Vec<f64> = (0..1 << 16).map(of_binary16).collect();
    for (name, normal, ..) in FLOAT8 {
        let code_of = |number: f64| match halves.iter().position(|half| *half == number) {
            Some(code) => code as u64,
            None => panic!("{name}: {number} is no binary16"),
        };
        for (wide, sign) in [("f32", 31), ("f16", 15)] {
            demands(&format!("{name}.fconvert_{wide}"), |demands| {
                let mut seen = 0;
                for code in 0..256_u64 {
                    let number = of_float8(name, code);
                    if !number.is_finite() || number == 0.0 {
                        continue;
                    }
                    let bits = if wide == "f32" {
                        (number as f32).to_bits().into()
                    } else {
                        code_of(number)
                    };
                    let zeros = [0, 1 << sign];
                    let near = [bits - 1, bits, bits + 1, zeros[0], zeros[1]];
                    // In binary16 a subnormal must be kept.
                    let is_free = wide == "f32" && code & 0x7f < normal;
                    let expected =
                        if is_free { vec![bits, zeros[0], zeros[1]] } else { vec![bits] };
                    assert_eq!(accepted(demands, code, &near), expected, "{name} {code:x}");
                    seen += 1;
                }
                assert!(seen >= 2 * 123, "{name}: {seen}");
            });
        }
    }
}

#[test]
fn numbers_become_a_float8_next_to_them_or_the_largest() {
    type Value<'a> = &'a dyn Fn(u64) -> f64;
    let sources: [(&str, Value<'_>); 2] = [("f16", &of_binary16), ("bf16", &of_bfloat16)];
    for ((name, normal, largest, _), (source, value)) in
        FLOAT8.into_iter().flat_map(|own| sources.map(|source| (own, source)))
    {
        let [plain, saturated] = ["", "_saturated"];
        let most = of_float8(name, largest);
        for end in [plain, saturated] {
            demands(&format!("{source}.fconvert_{name}{end}"), |demands| {
                for operand in 0..1 << 16 {
                    let number = value(operand);
                    let least = if source == "f16" { 2_f64.powi(-14) } else { 2_f64.powi(-126) };
                    let beyond = number.abs() > most;
                    if !number.is_finite() || number.abs() < least || beyond && end == plain {
                        continue;
                    }
                    let negative = operand >> 15 << 7;
                    let (cut, next, _) = neighbours(number, largest, |code| of_float8(name, code));
                    let mut expected = if beyond || of_float8(name, cut) == number.abs() {
                        vec![cut | negative]
                    } else {
                        vec![cut | negative, next | negative]
                    };
                    // Flushed, of any sign.
                    if number.abs() < of_float8(name, normal) {
                        expected.extend([0, 0x80]);
                    }
                    expected.sort_unstable();
                    expected.dedup();
                    let all: Vec<u64> = (0..256).collect();
                    assert_eq!(
                        accepted(demands, operand, &all),
                        expected,
                        "{source} {operand:x} to {name}{end}"
                    );
                }
            });
        }
    }
}

#[test]
fn without_fast_math_what_is_beyond_float8_is_no_number_unless_it_saturates() {
    let all: Vec<u64> = (0..256).collect();
    for (name, _, largest, behind) in FLOAT8 {
        let (most, last) = (of_float8(name, largest), of_float8(name, largest - 1));
        let bits = |number: f64| u64::from((number as f32).to_bits());
        let unit = most - last;
        for (number, rounds) in [
            (most + unit / 8.0, true),
            (most + unit * 0.75, true),
            (most + unit, false),
            (1e30, false),
            (f64::INFINITY, false),
        ] {
            let case = |end: &str, expected: &[u64]| {
                demands(&format!("f32.fconvert_{name}{end}:controls=fastmath0"), |demands| {
                    let found = accepted(demands, bits(number), &all);
                    assert_eq!(found, expected, "{name}{end} {number}");
                });
            };
            let kept: &[u64] = if rounds { &[largest] } else { &[] };
            case("", &[kept, behind].concat());
            case("_saturated", &[largest]);
        }
        for end in ["", "_saturated"] {
            demands(&format!("f32.fconvert_{name}{end}:controls=fastmath0"), |demands| {
                let nan = |code: &u64| of_float8(name, *code).is_nan();
                let expected: Vec<u64> = all.iter().copied().filter(nan).collect();
                assert_eq!(accepted(demands, 0x7f80_0001, &all), expected, "{name}{end}");
                assert_eq!(accepted(demands, 0x8000_0000, &all), [0x80], "{name}{end}");
            });
        }
    }
}

/// Roundings of a number to bfloat16: none, towards zero, to nearest even.
fn narrowed_to_bfloat16(number: f64) -> [f64; 3] {
    let bits = (number as f32).to_bits();
    let nearest = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000;
    let single = |bits: u32| f64::from(f32::from_bits(bits));
    // Of numbers that are no binary32 the direction towards zero is that of the whole.
    let cut = (bits & 0xffff_0000, f32::from_bits(bits));
    let beyond = f64::from(cut.1).abs() > number.abs() && cut.0 == bits;
    [number, single(if beyond { bits - 0x1_0000 } else { cut.0 }), single(nearest)]
}

#[test]
fn dot_products_of_bfloat16_are_rounded_in_every_step_or_at_the_end() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        // Exponents near 1, so that binary64 holds every sum.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = seed >> 40;
        (bits & 0x807f) | (0x3c + (bits >> 8 & 7)) << 7 << 1
    };
    let key = |number: f64| {
        let code = i64::from((number as f32).to_bits() >> 16);
        if code & 0x8000 == 0 { code } else { 0x7fff - code }
    };
    let code = |key: i64| (if key < 0 { 0x7fff - key } else { key }) as u64;
    demands("bf16.dot:width=2", |demands| {
        let (mut exact, mut strict) = (0, 0);
        for _ in 0..3000 {
            let case = [draw(), draw(), draw(), draw()];
            let [a, b, c, d] = case.map(of_bfloat16);
            let mut legal: Vec<i64> = Vec::new();
            for product in narrowed_to_bfloat16(a * c) {
                for other in narrowed_to_bfloat16(b * d) {
                    // In binary32 as it is: nearest.
                    let sum = f64::from((product + other) as f32);
                    legal.extend(narrowed_to_bfloat16(sum)[1..].iter().map(|sum| key(*sum)));
                }
            }
            let (accepted, _) = demands.accepts(&case);
            let takes = |key: i64| accepted.contains(&[code(key)]);
            let (least, most) = (*legal.iter().min().unwrap(), *legal.iter().max().unwrap());
            assert!(legal.iter().all(|key| takes(*key)), "{case:x?} {legal:x?}");
            assert!(!takes(least - 2) && !takes(most + 2), "{case:x?} {legal:x?}");
            strict += usize::from(!takes(least - 1) && !takes(most + 1));
            exact += usize::from(least == most);
        }
        assert!(exact > 30 && strict > 2900, "{exact} {strict}");
    });
}

#[test]
fn a_binary64_may_become_a_binary32_before_a_bfloat16() {
    for (number, expected) in [
        (1.5, &[0x3fc0_u64][..]),
        // The nearest binary32 is a tie, or a bfloat16; the one towards zero is below.
        (1.0 + 2_f64.powi(-8) + 2_f64.powi(-7) - 2_f64.powi(-52), &[0x3f81, 0x3f82]),
        (2.0 - 2_f64.powi(-52), &[0x3fff, 0x4000]),
        // Below a tie by more than binary32 takes away.
        (1.0 + 2_f64.powi(-8) - 2_f64.powi(-20), &[0x3f80]),
    ] {
        demands("f64.fconvert_bf16", |demands| {
            let near: Vec<u64> = (0x3f7f..0x4003).collect();
            assert_eq!(accepted(demands, number.to_bits(), &near), expected, "{number}");
        });
    }
}
