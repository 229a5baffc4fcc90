//! Accepted sets against results that are computed another way: in the format itself by
//! `rustc_apfloat`, roots and elementary functions by core-math's correctly rounded function of
//! that format, where the oracle goes through binary128 and enclosures. Where the demand is exact
//! the set is that result and nothing beside it; every tolerance contains it.

use std::sync::LazyLock;

use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::environment::{Contraction, Environment, Ulp};
use fpprobe_profiles::oracle::{Demand, Signature, has_reference};
use fpprobe_profiles::profile;
use fpprobe_spirv::op::{Function, OPS, Op, OperandType, Relation, Team, Width};
use fpprobe_spirv::{FloatLayout, Format, Kernel};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::built_in::profiles;
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// IEEE 754 with nothing left open but the bits of a NaN; a multiply-add is fused.
const IEEE: Environment = Environment::IEEE;

/// The correctly rounded result on operands of format `F`, as bits of the result's format; `None`
/// where there is no reference but the oracle's own (packed formats).
fn reference<F>(kernel: &Kernel, case: &[u64], part: usize) -> Option<u64>
where
    F: Reference,
    Half: FloatConvert<F>,
    F: FloatConvert<Half> + FloatConvert<Single> + FloatConvert<Double>,
{
    let operand = |index: usize| F::from_bits(u128::from(case[index]));
    let (x, y, z) = (|| operand(0), || operand(1), || operand(2));
    let one = || F::from_u128(1).value;
    let bits = |value: F| value.to_bits() as u64;
    let integral = |round| x().round_to_integral(round).value;
    Some(match kernel.op.function {
        Function::Add => bits((x() + y()).value),
        Function::Sub => bits((x() - y()).value),
        Function::Mul => bits((x() * y()).value),
        Function::Div => bits((x() / y()).value),
        Function::Reciprocal => bits((one() / x()).value),
        Function::MulAdd => bits(x().mul_add(y(), z()).value),
        Function::AddMany => bits((0..case[2]).fold(x(), |sum, _| (sum + y()).value)),
        Function::Neg => bits(-x()),
        Function::Abs => bits(x().abs()),
        Function::Sign if x().is_nan() || x().is_zero() => bits(x()),
        Function::Sign => bits(one().copy_sign(x())),
        Function::Floor => bits(integral(Round::TowardNegative)),
        Function::Ceil => bits(integral(Round::TowardPositive)),
        Function::Trunc => bits(integral(Round::TowardZero)),
        Function::RoundEven => bits(integral(Round::NearestTiesToEven)),
        Function::Fract => bits((x() - integral(Round::TowardNegative)).value),
        Function::Min => bits(x().minimum(y())),
        Function::Max => bits(x().maximum(y())),
        Function::Move => case[0],
        Function::Choose => case[if case[0] == 0 { 2 } else { 1 }],
        Function::Compare { relation, unordered } => u64::from(match x().partial_cmp(&y()) {
            None => unordered,
            Some(order) => match relation {
                Relation::Equal => order.is_eq(),
                Relation::NotEqual => order.is_ne(),
                Relation::Less => order.is_lt(),
                Relation::Greater => order.is_gt(),
                Relation::LessEqual => order.is_le(),
                Relation::GreaterEqual => order.is_ge(),
            },
        }),
        Function::ToFloat => converted(x(), kernel.result().format)?,
        Function::ToInteger => match kernel.result().format {
            Format::I32 => {
                x().to_i128_r(32, Round::TowardZero, &mut false).value as i32 as u32 as u64
            }
            _ => x().to_u128_r(32, Round::TowardZero, &mut false).value as u64,
        },
        Function::FromSigned => bits(F::from_i128(i128::from(case[0] as u32 as i32)).value),
        Function::FromUnsigned => bits(F::from_u128(u128::from(case[0])).value),
        Function::Saturate if x().is_nan() => bits(x()),
        Function::Saturate if x().is_negative() => 0,
        Function::Saturate => bits(x().minimum(one())),
        Function::PackHalf => converted(operand(part), Format::F16)?,
        Function::UnpackHalf => {
            let half = Half::from_bits(u128::from(case[0] >> (16 * part) & 0xffff));
            let mut loses = false;
            let wide: F = half.convert(&mut loses).value;
            bits(wide)
        }
        function => F::elementary(function, case[0])?,
    })
}

fn converted<F>(value: F, format: Format) -> Option<u64>
where
    F: FloatConvert<Half> + FloatConvert<Single> + FloatConvert<Double>,
{
    let mut loses = false;
    Some(match format {
        Format::F16 => FloatConvert::<Half>::convert(value, &mut loses).value.to_bits() as u64,
        Format::F32 => FloatConvert::<Single>::convert(value, &mut loses).value.to_bits() as u64,
        Format::F64 => FloatConvert::<Double>::convert(value, &mut loses).value.to_bits() as u64,
        _ => return None,
    })
}

/// A format with roots and elementary functions of its own.
trait Reference: Float {
    fn elementary(function: Function, x: u64) -> Option<u64>;
}

impl Reference for Single {
    fn elementary(function: Function, x: u64) -> Option<u64> {
        let x = f32::from_bits(x as u32);
        let result = match function {
            Function::Sqrt => x.sqrt(),
            Function::InverseSqrt => core_math::rsqrtf(x),
            Function::Exp => core_math::expf(x),
            Function::Exp2 => core_math::exp2f(x),
            Function::Log => core_math::logf(x),
            Function::Log2 => core_math::log2f(x),
            Function::Sin => core_math::sinf(x),
            Function::Cos => core_math::cosf(x),
            _ => return None,
        };
        Some(u64::from(result.to_bits()))
    }
}

impl Reference for Double {
    fn elementary(function: Function, x: u64) -> Option<u64> {
        let x = f64::from_bits(x);
        let result = match function {
            Function::Sqrt => x.sqrt(),
            Function::InverseSqrt => core_math::rsqrt(x),
            _ => return None,
        };
        Some(result.to_bits())
    }
}

impl Reference for Half {
    /// Binary32 holds more than twice binary16's digits and two more: its roots round on to
    /// binary16's. No elementary function of a binary16 number lies so near a midpoint that
    /// rounding to binary64 first would cross it.
    fn elementary(function: Function, x: u64) -> Option<u64> {
        let mut loses = false;
        let wide: Double = Half::from_bits(u128::from(x)).convert(&mut loses).value;
        let x = f64::from_bits(wide.to_bits() as u64);
        let result = match function {
            Function::Sqrt => x.sqrt(),
            Function::InverseSqrt => core_math::rsqrt(x),
            Function::Exp => core_math::exp(x),
            Function::Exp2 => core_math::exp2(x),
            Function::Log => core_math::log(x),
            Function::Log2 => core_math::log2(x),
            Function::Sin => core_math::sin(x),
            Function::Cos => core_math::cos(x),
            _ => return None,
        };
        converted(Double::from_bits(u128::from(result.to_bits())), Format::F16)
    }
}

fn correctly_rounded(kernel: &Kernel, case: &[u64], part: usize) -> Option<u64> {
    match kernel.format {
        Format::F16 => reference::<Half>(kernel, case, part),
        Format::F32 => reference::<Single>(kernel, case, part),
        Format::F64 => reference::<Double>(kernel, case, part),
        _ => None,
    }
}

/// Every kernel of a scalar format whose function the oracle knows, but those that mix the
/// components of vectors, or the values of several invocations (`derivatives.rs`).
static KERNELS: LazyLock<Vec<Kernel>> = LazyLock::new(|| {
    let formats = [Format::F16, Format::F32, Format::F64];
    let plain = |op| formats.into_iter().filter_map(move |format| Kernel::plain(format, op).ok());
    let apart = |op: &&Op| {
        let apart = |param: &OperandType| param.width == Width::Kernel || op.params.len() == 1;
        op.code.team() != Some(Team::Quad) && op.params.iter().all(apart)
    };
    let known = OPS.iter().filter(|op| has_reference(op.function)).filter(apart);
    known.flat_map(plain).filter(|kernel| kernel.width == 1).collect()
});

/// Encodings of a float, every second one at or next to a boundary.
fn float_bits(layout: FloatLayout) -> BoxedStrategy<u64> {
    let all = layout.sign_bit() | layout.magnitude_mask();
    let exponents = (1u64 << layout.exponent) - 1;
    let boundary = prop_oneof![
        Just(0),
        Just(1),
        Just(layout.min_normal()),
        Just(layout.max_finite()),
        Just(layout.infinity()),
        Just(layout.infinity() | layout.quiet_bit()),
        Just((layout.bias() as u64) << layout.fraction),
        (0..=exponents).prop_map(move |exponent| exponent << layout.fraction),
    ];
    let near = (boundary, -2i64..=2, any::<bool>()).prop_map(move |(bits, step, negative)| {
        let magnitude = bits.saturating_add_signed(step) & layout.magnitude_mask();
        if negative { magnitude | layout.sign_bit() } else { magnitude }
    });
    // Few bits of the fraction: results that are exact or lie half-way.
    let short =
        (0..=exponents, 0u64..8, any::<bool>()).prop_map(move |(exponent, top, negative)| {
            let magnitude = exponent << layout.fraction | top << (layout.fraction - 3);
            if negative { magnitude | layout.sign_bit() } else { magnitude }
        });
    prop_oneof![2 => near, 1 => short, 1 => any::<u64>().prop_map(move |bits| bits & all)].boxed()
}

fn operand_bits(format: Format) -> BoxedStrategy<u64> {
    match (format, format.float()) {
        (_, Some(layout)) => float_bits(layout),
        (Format::U32, _) => {
            let half = || {
                float_bits(FloatLayout { signed: true, exponent: 5, fraction: 10, infinite: true })
            };
            (half(), half()).prop_map(|(low, high)| low | high << 16).boxed()
        }
        _ => (0..=format.mask()).boxed(),
    }
}

/// A kernel and a case of it.
fn signature() -> impl Strategy<Value = (Kernel, Vec<u64>)> {
    prop::sample::select(KERNELS.clone()).prop_flat_map(|kernel| {
        let shapes = kernel.params();
        let components =
            shapes.iter().flat_map(|shape| vec![operand_bits(shape.format); shape.width as usize]);
        (Just(kernel), components.collect::<Vec<_>>())
    })
}

fn demand(kernel: &Kernel, accuracy: Accuracy) -> Demand {
    Demand {
        function: kernel.op.function,
        operands: IEEE,
        results: IEEE,
        accuracy,
        ulp: Ulp::Binade,
    }
}

/// The set of a result that leaves no choice: one encoding, or every NaN where it is one and its
/// bits are free.
fn exactly(kernel: &Kernel, encoding: Encoding, bits: u64) -> Set {
    let moved = matches!(kernel.op.function, Function::Move | Function::Choose);
    let nan = matches!(encoding, Encoding::Float(layout) if layout.is_nan(bits));
    if nan && !moved { Set::nan(encoding) } else { Set::one(encoding, bits) }
}

/// Accuracies that are no finer than half a unit of the result's format, so that rounding cannot
/// fall outside.
fn tolerances(kernel: &Kernel, ulp: Ulp) -> Vec<Accuracy> {
    let mut tolerances =
        vec![Accuracy::EitherNeighbour, Accuracy::TowardZeroOrNearestEven, Accuracy::Ulp(2.5)];
    let single = |format| format == Format::F32;
    if single(kernel.format) && single(kernel.result().format) {
        tolerances.extend([Accuracy::Relative(21), Accuracy::LogRelative(21)]);
    }
    // The smaller ulp at a power of two is half of what rounding from above may be off.
    if ulp == Ulp::Binade {
        tolerances.push(Accuracy::Ulp(0.5));
    }
    match kernel.op.function {
        Function::Div => tolerances.push(Accuracy::TwoStep(1.0)),
        Function::Sqrt => tolerances.push("3 ulp".parse().unwrap()),
        // A sum of two steps is judged for each product: what is too wide for that is refused in a
        // profile.
        Function::MulAdd => tolerances
            .retain(|one| !matches!(one, Accuracy::Relative(_) | Accuracy::LogRelative(_))),
        Function::Sin | Function::Cos => {
            tolerances.extend([
                "absolute 0.0008".parse().unwrap(),
                Accuracy::AbsoluteWithin(0.0008, 314.15928),
            ]);
        }
        _ => {}
    }
    tolerances
}

/// Many cases, for most of them are cheap; the same ones each time, so that a change that breaks
/// nothing never fails.
fn config() -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(0x66_70_70_72_6f_62_65);
    ProptestConfig {
        cases: 40_000,
        rng_seed,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_exact_set_is_the_correctly_rounded_result_without_its_neighbours((kernel, case) in signature()) {
        let signature = Signature::new(&kernel);
        for (part, encoding) in signature.encodings.iter().enumerate() {
            let Some(bits) = correctly_rounded(&kernel, &case, part) else { continue };
            let set = signature.accepted_part(&case, part, &demand(&kernel, Accuracy::NearestEven));
            let exact = exactly(&kernel, *encoding, bits);
            prop_assert!(set == exact, "{kernel} {case:x?} gives {bits:x}: {}", set.to_json());
            let key = encoding.key(bits);
            let neighbours = [key.checked_sub(1), key.checked_add(1)].into_iter().flatten();
            let (first, last) = encoding.limits();
            for neighbour in neighbours.filter(|near| (first..=last).contains(near)) {
                let neighbour = encoding.at(neighbour);
                prop_assert_eq!(set.contains(neighbour), exact.contains(neighbour), "{} {:x?}", kernel, &case);
            }
        }
    }

    #[test]
    fn every_tolerance_contains_the_correctly_rounded_result(
        (kernel, case) in signature(),
        chosen in any::<prop::sample::Index>(),
        ulp in prop::sample::select(vec![Ulp::Binade, Ulp::Vulkan]),
    ) {
        let accuracies = tolerances(&kernel, ulp);
        let accuracy = chosen.get(&accuracies);
        let signature = Signature::new(&kernel);
        for part in 0..signature.encodings.len() {
            let Some(bits) = correctly_rounded(&kernel, &case, part) else { continue };
            let demand = Demand { ulp, ..demand(&kernel, accuracy.clone()) };
            let set = signature.accepted_part(&case, part, &demand);
            prop_assert!(set.contains(bits), "{kernel} {case:x?} within {accuracy} gives {bits:x}, {}", set.to_json());
        }
    }

    #[test]
    fn built_in_profiles_accept_correctly_rounded_results_of_normal_numbers(
        (kernel, case) in signature(),
        id in prop::sample::select(profile::built_in_ids().collect::<Vec<_>>()),
    ) {
        let profile = profiles().iter().find(|profile| profile.id == id).unwrap();
        let signature = Signature::new(&kernel);
        // Flushing, infinities and NaNs are the environment's matter, not rounding's.
        let normal = |layout: FloatLayout, bits: u64| {
            (layout.min_normal()..layout.infinity()).contains(&(bits & layout.magnitude_mask()))
        };
        for (part, encoding) in signature.encodings.iter().enumerate() {
            let operands = signature.operands(&case, part);
            let Some(bits) = correctly_rounded(&kernel, &case, part) else { continue };
            let plain = operands.iter().all(|operand| operand.layout.is_none_or(|layout| normal(layout, operand.bits)));
            let result = !matches!(encoding, Encoding::Float(layout) if !normal(*layout, bits));
            // Conversions to binary16 are not to nearest in Direct3D (S-01).
            let directed = profile.rules_for(&kernel).any(|(_, part)| part.demand.accuracy == Accuracy::TowardZero);
            // What is beyond an integer's range is the environment's matter, too.
            let beyond = matches!(encoding, Encoding::Signed | Encoding::Unsigned) && encoding.key(bits) == encoding.limits().1;
            if plain && result && !directed && !beyond {
                let (accepted, rules) = fpprobe_profiles::accepts::accepts(profile, &kernel, &case);
                let set = &accepted.alternatives()[0][part];
                prop_assert!(set.contains(bits), "{id} {kernel} {case:x?} gives {bits:x}: {} by {rules:?}", set.to_json());
            }
        }
    }
}

#[test]
fn a_sum_just_beside_a_midpoint_is_rounded_to_its_side() {
    // The product lies on a midpoint between two f32, and the smallest subnormal draws the sum off
    // it: by less than binary128 can tell from the midpoint itself.
    let kernel: Kernel = "f32.fma".parse().unwrap();
    for sign in [0, 0x8000_0000] {
        let case = [0xa7e0_0000, 0x50d7_7d0c, sign | 1];
        let set = Signature::new(&kernel).accepted_part(
            &case,
            0,
            &demand(&kernel, Accuracy::NearestEven),
        );
        assert_eq!(set.count(), 1, "{}", set.to_json());
    }
}

#[test]
fn two_results_of_one_operand_are_accepted_together() {
    // The least subnormal is 0.5 * 2^-148, or it is read as zero, of which both parts are zero.
    let vulkan = profile::built_in("vulkan").unwrap().unwrap();
    let (half, exponent) = (0x3f00_0000, 0xffff_ff6c);
    let (accepted, rules) =
        fpprobe_profiles::accepts::accepts(&vulkan, &"f32.frexp".parse().unwrap(), &[1]);
    assert_eq!(rules, ["V-subnormals"]);
    for (answer, whole) in [
        ([half, exponent], true),
        ([0, 0], true),
        ([0x8000_0000, 0], true),
        ([half, 0], false),
        ([0, exponent], false),
        ([0x8000_0000, exponent], false),
    ] {
        assert_eq!(accepted.contains(&answer), whole, "{answer:x?}");
    }
    let zeros = serde_json::json!([{ "bits": ["80000000", "00000000"] }, { "bits": ["00000000"] }]);
    let number = serde_json::json!([{ "bits": ["3f000000"] }, { "bits": ["ffffff6c"] }]);
    assert_eq!(accepted.to_json(), serde_json::json!({ "alts": [zeros, number] }));
    // Of vectors component by component: 1 beside it leaves no choice.
    let (one, first) = (0x3f80_0000, 1);
    let wide = "f32.frexp:width=2".parse().unwrap();
    let (accepted, _) = fpprobe_profiles::accepts::accepts(&vulkan, &wide, &[first, one]);
    assert!(accepted.contains(&[half, half, exponent, 1]) && accepted.contains(&[0, half, 0, 1]));
    assert!(!accepted.contains(&[half, half, 0, 1]) && !accepted.contains(&[0, half, exponent, 1]));
    // Both parts of modf are zero where its operand is read as one: no choice of pairs is left.
    let (accepted, _) =
        fpprobe_profiles::accepts::accepts(&vulkan, &"f32.modf".parse().unwrap(), &[0x8000_0001]);
    assert_eq!(accepted.alternatives().len(), 1);
}

/// What is accepted as the one result of a kernel, with this accuracy as profiles write it.
fn accepted(kernel: &str, case: &[u64], accuracy: &str) -> Set {
    let kernel: Kernel = kernel.parse().unwrap();
    Signature::new(&kernel).accepted_part(case, 0, &demand(&kernel, accuracy.parse().unwrap()))
}

#[test]
fn a_logarithm_may_be_off_by_its_bound_and_no_further() {
    // D3D11.3 §22.10.8: 2^-21 absolute where the operand is from 0.5 to 2, elsewhere 2^-21 of the
    // logarithm.
    let bound = 2f64.powi(-21);
    for x in
        [0.5f32, 0.6, 0.75, 0.999, 1.001, 1.25, 1.5, 2.0, 1e-30, 0.01, 0.25, 0.3, 3.0, 4.0, 1e10]
    {
        let log = f64::from(x).log2();
        let off = if (0.5..=2.0).contains(&x) { bound } else { bound * log.abs() };
        let set = accepted(
            "f32.log2",
            &[x.to_bits().into()],
            "absolute 2^-21 in [0.5, 2], else relative",
        );
        let holds = |answer: f32| set.contains(answer.to_bits().into());
        // The last answers within the bound, and the ones beyond them.
        let (mut low, mut high) = ((log - off) as f32, (log + off) as f32);
        low = if f64::from(low) < log - off { low.next_up() } else { low };
        high = if f64::from(high) > log + off { high.next_down() } else { high };
        assert!(holds(low) && holds(high), "{x}: {low} to {high}, {}", set.to_json());
        assert!(
            !holds(low.next_down()) && !holds(high.next_up()),
            "{x}: {low} to {high}, {}",
            set.to_json()
        );
    }
}

#[test]
fn a_division_in_two_steps_has_a_reciprocal_off_by_its_bound_and_no_further() {
    // 1/3 lies two thirds of a unit above 3eaaaaaa, 1/10 four fifths above 3dcccccc: within a unit
    // there are two of each.
    let (one, two, three, ten) = (0x3f80_0000, 0x4000_0000, 0x4040_0000, 0x4120_0000);
    for (x, y, results) in [
        (one, three, [0x3eaa_aaaa, 0x3eaa_aaab]),
        (one, ten, [0x3dcc_cccc, 0x3dcc_cccd]),
        (two, three, [0x3f2a_aaaa, 0x3f2a_aaab]),
        // Three times the lower third is 1 - 2^-24, three times the upper one rounds to 1.
        (three, three, [0x3f7f_ffff, 0x3f80_0000]),
    ] {
        assert_eq!(
            accepted("f32.fdiv", &[x, y], "x * (1/y), reciprocal 1 ulp").members(16),
            results,
            "{x:x} / {y:x}"
        );
    }
}

#[test]
fn a_multiply_add_is_fused_separate_or_either_as_the_environment_says() {
    // (1 + 2^-12)^2 - 1 is 2^-11 + 2^-24; the product by itself is a tie, which rounds to 1 +
    // 2^-11.
    let case = [0x3f80_0800, 0x3f80_0800, 0xbf80_0000];
    let (separate, fused) = (0x3a00_0000, 0x3a00_0400);
    for (contraction, results) in [
        (Contraction::Separate, vec![separate]),
        (Contraction::Fused, vec![fused]),
        (Contraction::Either, vec![separate, fused]),
    ] {
        for kernel in ["f32.fma", "f32.mul_then_add"] {
            let kernel: Kernel = kernel.parse().unwrap();
            let mut demand = demand(&kernel, Accuracy::NearestEven);
            (demand.operands.contraction, demand.results.contraction) = (contraction, contraction);
            let set = Signature::new(&kernel).accepted_part(&case, 0, &demand);
            assert_eq!(set.members(16), results, "{kernel} {contraction:?}");
        }
    }
}

/// What a built-in profile accepts as the first part of a kernel's result.
fn by(profile: &str, kernel: &str, case: &[u64]) -> Set {
    let profile = profile::built_in(profile).unwrap().unwrap();
    fpprobe_profiles::accepts::accepts(&profile, &kernel.parse().unwrap(), case).0.alternatives()[0]
        [0]
    .clone()
}

#[test]
fn direct3d_preserves_subnormals_of_16_and_64_bits_through_modifiers() {
    for (kernel, case, result) in [
        ("f16.fabs", 0x8008, 0x0008),
        ("f16.fnegate", 0x0008, 0x8008),
        ("f16.saturate", 0x0008, 0x0008),
        ("f16.saturate_fclamp", 0x03ff, 0x03ff),
        ("f64.fabs", 0x8000_0000_0000_0001, 1),
        ("f64.fnegate", 1, 0x8000_0000_0000_0001),
        ("f64.saturate", 0x000f_ffff_ffff_ffff, 0x000f_ffff_ffff_ffff),
    ] {
        assert_eq!(by("d3d11", kernel, &[case]).members(9), [result], "{kernel}");
    }
    // Below zero saturate gives zero, and nothing flushed or kept; 32-bit subnormals may be
    // flushed.
    assert_eq!(by("d3d11", "f16.saturate", &[0x8008]).members(9), [0]);
    assert_eq!(by("d3d11", "f32.fabs", &[0x8000_0008]).members(9), [0, 8]);
    assert_eq!(by("d3d11", "f32.saturate", &[0x8000_0008]).members(9), [0x8000_0000, 0]);
}

#[test]
fn direct3d_reads_subnormals_of_dot_products_as_zero() {
    let (sub, one) = (0x0040_0000, 0x3f80_0000);
    assert_eq!(by("d3d11", "f32.dot:width=2", &[sub, sub, one, one]).members(9), [0]);
    assert_eq!(by("d3d11", "f32.dot:width=2", &[sub, one, one, one]).members(9), [one]);
    // An infinity times a subnormal is no number.
    assert_eq!(
        by("d3d11", "f32.dot:width=2", &[sub, one, 0x7f80_0000, one]),
        Set::nan(Encoding::of(Format::F32))
    );
}

#[test]
fn powers_of_zero_are_zero_or_infinite_in_direct3d() {
    for y in [0x0080_0000, 0x3f80_0000, 0x7f7f_ffff] {
        for x in [0, 0x8000_0000] {
            assert_eq!(by("d3d11", "f32.pow", &[x, y]).members(9), [0], "{x:x} {y:x}");
            assert_eq!(
                by("d3d11", "f32.pow", &[x, y | 0x8000_0000]).members(9),
                [0x7f80_0000],
                "{x:x} -{y:x}"
            );
        }
    }
    // 0 times -inf is no number.
    assert!(by("d3d11", "f32.pow", &[0, 0]).is_everything());
    // Beside the pole the bound is what it was.
    assert!(by("d3d11", "f32.pow", &[0x0080_0000, 0x3f80_0000]).contains(0x0080_0000));
}

#[test]
fn powers_and_lengths_of_what_is_special_are_exact_in_direct3d() {
    let [sub, half, one, inf] = [0x0040_0000, 0x3f00_0000, 0x3f80_0000, 0x7f80_0000];
    let minus = |bits: u64| bits | 0x8000_0000;
    for (kernel, operands, accepted) in [
        // A subnormal is read as zero, whose logarithm is -inf.
        ("f32.pow", &[1, one][..], 0),
        ("f32.pow", &[minus(sub), one], 0),
        ("f32.pow", &[sub, minus(one)], inf),
        ("f32.pow", &[inf, one], inf),
        ("f32.pow", &[inf, minus(one)], 0),
        ("f32.pow", &[0x4000_0000, inf], inf),
        ("f32.pow", &[0x4000_0000, minus(inf)], 0),
        ("f32.pow", &[half, inf], 0),
        ("f32.length", &[sub], 0),
        ("f32.length", &[minus(sub)], 0),
        ("f32.length", &[minus(inf)], inf),
        ("f32.length:width=2", &[minus(sub), sub], 0),
        ("f32.length:width=2", &[sub, minus(inf)], inf),
        ("f32.distance", &[sub, 0], 0),
        ("f32.distance", &[one, inf], inf),
        ("f32.distance:width=2", &[sub, one, minus(sub), one], 0),
    ] {
        assert_eq!(by("d3d11", kernel, operands).members(9), [accepted], "{kernel} {operands:x?}");
    }
    // An exponent that is read as zero: 1, within 2^-21.
    let set = by("d3d11", "f32.pow", &[0x4000_0000, sub]);
    assert!(
        set.contains(one) && !set.contains(0) && set.members(99).len() < 20,
        "{}",
        set.to_json()
    );
    // A step gives a NaN: zero times an infinity, the logarithm of a negative number, a difference
    // of infinities.
    for (kernel, operands) in [
        ("f32.pow", &[sub, sub][..]),
        ("f32.pow", &[one, inf]),
        ("f32.pow", &[minus(one), 0x4000_0000]),
        ("f32.distance", &[inf, inf]),
    ] {
        assert!(by("d3d11", kernel, operands).is_everything(), "{kernel} {operands:x?}");
    }
    // Other profiles leave the sign of zero open.
    assert!(by("gl-arb-shader-precision", "f32.length", &[0]).contains(minus(0)));
}

#[test]
fn face_forward_is_its_operand_or_the_opposite_where_the_sum_overflows() {
    let (x, large) = (0x4040_0000, 0x7f7f_ffff);
    let case = [x, x, large, large, large, large];
    assert_eq!(by("wgsl", "f32.face_forward:width=2", &case).members(9), [x | 0x8000_0000, x]);
    // OpenGL has infinities: the sum is one, and not negative.
    assert_eq!(
        by("gl-arb-shader-precision", "f32.face_forward:width=2", &case).members(9),
        [x | 0x8000_0000]
    );
    // Where there is no doubt it is one of them.
    assert_eq!(
        by("wgsl", "f32.face_forward:width=2", &[x, x, x, x, x, x]).members(9),
        [x | 0x8000_0000]
    );
    // What is computed with the overflow is indeterminate still.
    assert!(by("wgsl", "f32.reflect:width=2", &[large, large, large, large]).is_everything());
}

#[test]
fn lenient_readings_decide() {
    // rsq of 16 bits: the nearest number, 63c3, or one next to it, no further; sqrt to nearest
    // even.
    assert_eq!(by("d3d11", "f16.inverse_sqrt", &[0x0011]).members(9), [0x63c2, 0x63c3, 0x63c4]);
    // What is more than a unit off may be next to the nearest number still.
    assert_eq!(by("d3d11", "f16.inverse_sqrt", &[0x010e]).members(9), [0x5bc9, 0x5bca, 0x5bcb]);
    assert_eq!(by("d3d11", "f16.sqrt", &[0x4000]).members(9), [0x3da8]);
    // mix either way: 0.5 + (2^-126 - 0.5) * 1 loses all of 2^-126.
    let set = by("wgsl", "f32.fmix", &[0x3f00_0000, 0x0080_0000, 0x3f80_0000]);
    assert!(
        set.contains(0) && set.contains(0x0080_0000) && !set.contains(0x3f00_0000),
        "{}",
        set.to_json()
    );
    // saturate of a negative subnormal: a zero, or the operand.
    assert_eq!(
        by("wgsl", "f32.saturate", &[0x8000_0008]).members(9),
        [0x8000_0008, 0x8000_0000, 0]
    );
    assert_eq!(by("wgsl", "f32.saturate", &[0x8080_0000]).members(9), [0x8000_0000, 0]);
    // reflect of a scalar: x - y * y * (2 * x) overflows, the product from the left does not.
    let set = by("gl-arb-shader-precision", "f32.reflect", &[0x7f7f_ffff, 0x3e71_0c1d]);
    assert!(
        set.contains(0xff80_0000) && set.contains(0x7f63_a105) && !set.contains(0x7f80_0000),
        "{}",
        set.to_json()
    );
}
