//! Operations in a row: accepted sets against the same steps carried out one by one in their own
//! formats, and lists on which it shows whether the steps between are rounded.

use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::environment::{Contraction, Environment, Ulp};
use fpprobe_profiles::oracle::{Demand, Signature};
use fpprobe_spirv::op::{Arg, Code, Function, Link, OPS, Step};
use fpprobe_spirv::{Format, Kernel, Route, cases};
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

fn kernels() -> Vec<Kernel> {
    let chains = OPS.iter().filter(|op| matches!(op.function, Function::Chain(_)));
    let plain = |op: &'static fpprobe_spirv::Op| {
        op.formats.iter().map(move |format| Kernel::plain(*format, op).unwrap())
    };
    chains.flat_map(plain).collect()
}

/// What is accepted of a part of a result to nearest even, with results between rounded or not.
fn accepted(kernel: &Kernel, case: &[u64], part: usize, contraction: Contraction) -> Set {
    let environment = Environment { contraction, ..Environment::IEEE };
    let demand = Demand {
        function: kernel.op.function,
        operands: environment,
        results: environment,
        accuracy: Accuracy::NearestEven,
        ulp: Ulp::Vulkan,
    };
    Signature::new(kernel).accepted_part(case, part, &demand)
}

fn bits_of<F: Float>(value: F) -> u64 {
    value.to_bits() as u64
}

fn convert(from: Format, to: Format, bits: u64) -> u64 {
    let bits = u128::from(bits);
    let mut loses = false;
    let wide: Double = match from {
        Format::F16 => Half::from_bits(bits).convert(&mut loses).value,
        Format::F32 => Single::from_bits(bits).convert(&mut loses).value,
        _ => Double::from_bits(bits),
    };
    match to {
        Format::F16 => bits_of::<Half>(wide.convert(&mut loses).value),
        Format::F32 => bits_of::<Single>(wide.convert(&mut loses).value),
        _ => bits_of(wide),
    }
}

fn combine<F: Float>(multiplies: bool, [x, y]: [u64; 2]) -> u64 {
    let [x, y] = [x, y].map(|bits| F::from_bits(u128::from(bits)));
    bits_of(if multiplies { (x * y).value } else { (x + y).value })
}

/// To binary16 and back, its subnormals flushed.
fn quantized(bits: u64) -> u64 {
    let half = convert(Format::F32, Format::F16, bits);
    let is_tiny = Format::F16.float().unwrap().is_subnormal(half);
    convert(Format::F16, Format::F32, if is_tiny { half & 0x8000 } else { half })
}

/// The steps of a kernel one by one, on the operands of one part of its result.
fn in_steps(kernel: &Kernel, case: &[u64], part: usize) -> u64 {
    let Code::Steps(steps) = kernel.op.code else { panic!("{kernel}") };
    let own = |format: Option<Format>| format.unwrap_or(kernel.format);
    let mut results: Vec<(Format, u64)> = Vec::new();
    let width = kernel.params()[0].width as usize;
    for step in steps {
        let args: Vec<(Format, u64)> = step
            .args
            .iter()
            .map(|arg| match arg {
                Arg::Param(index) => {
                    (own(kernel.op.params[*index].format), case[index * width + part])
                }
                Arg::Step(index) => results[*index],
                other => panic!("{other:?}"),
            })
            .collect();
        results.push(carried_out(step, &args, own(step.result.format)));
    }
    results.last().unwrap().1
}

fn carried_out(step: &Step, args: &[(Format, u64)], result: Format) -> (Format, u64) {
    let (from, x) = args[0];
    match &*step.inst.to_string() {
        name @ ("OpFAdd" | "OpFMul") => {
            let (multiplies, operands) = (name == "OpFMul", [x, args[1].1]);
            assert!(args.iter().all(|(format, _)| *format == result));
            (
                result,
                match result {
                    Format::F16 => combine::<Half>(multiplies, operands),
                    Format::F32 => combine::<Single>(multiplies, operands),
                    _ => combine::<Double>(multiplies, operands),
                },
            )
        }
        "OpFConvert" => (result, convert(from, result, x)),
        "OpQuantizeToF16" => (result, quantized(x)),
        // Half of the word.
        "GLSL.std.450 PackHalf2x16" => (Format::F16, convert(from, Format::F16, x)),
        name => panic!("{name}"),
    }
}

#[test]
fn separate_operations_give_what_the_steps_give_one_by_one() {
    for kernel in kernels() {
        let list = cases::with_random(&kernel, cases::cases(&kernel), 3000, 7);
        let encodings = Signature::new(&kernel).encodings;
        let Function::Chain(chain) = kernel.op.function else { unreachable!() };
        for (case, (part, encoding)) in
            list.iter().flat_map(|case| encodings.iter().enumerate().map(move |part| (case, part)))
        {
            let bits = in_steps(&kernel, case, part);
            let nan = matches!(encoding, Encoding::Float(layout) if layout.is_nan(bits));
            let expected = if nan { Set::nan(*encoding) } else { Set::one(*encoding, bits) };
            let set = accepted(&kernel, case, part, Contraction::Separate);
            // What is flushed to zero is so in either sign, and may be judged before it is rounded.
            let is_quantized = chain.links.contains(&Link::Quantize);
            let set = if is_quantized && set.contains(bits) {
                set.minus(&Set::zeros(*encoding)).or(&expected)
            } else {
                set
            };
            assert_eq!(set, expected, "{kernel} {case:x?} gives {bits:x}: {}", set.to_json());
        }
    }
}

#[test]
fn rounding_shows_on_most_lanes_of_a_list() {
    for kernel in kernels() {
        let list = cases::cases(&kernel);
        let shows = |case: &&[u64]| {
            let of = |contraction| accepted(&kernel, case, 0, contraction);
            let (separate, fused) = (of(Contraction::Separate), of(Contraction::Fused));
            let either = of(Contraction::Either);
            assert!(separate.minus(&either).is_empty(), "{kernel} {case:x?}");
            assert!(separate.is_single() && fused.is_single(), "{kernel} {case:x?}");
            separate != fused
        };
        let folded = cases::boundary(&Kernel { route: Route::Literal, ..kernel });
        let shown = folded.iter().filter(shows).count();
        assert!(shown > 3, "{kernel}: {shown} of {}", folded.len());
        let count = list.iter().filter(shows).count();
        assert!(count * 3 >= list.len() * 2, "{kernel}: {count} of {}", list.len());
    }
}

#[test]
fn a_sum_beside_a_midpoint_of_binary16() {
    // 1 + 2^-11, a midpoint, and 2^-26, which binary32 does not hold beside it.
    let kernel: Kernel = "f32.fadd_fconvert_f16".parse().unwrap();
    let of = |contraction| accepted(&kernel, &[0x3f80_1000, 0x3280_0000], 0, contraction);
    let encoding = Encoding::of(Format::F16);
    assert_eq!(of(Contraction::Separate), Set::one(encoding, 0x3c00));
    assert_eq!(of(Contraction::Fused), Set::one(encoding, 0x3c01));
    assert_eq!(of(Contraction::Either).count(), 2);
}

#[test]
fn only_a_rule_that_allows_everything_lets_quantization_go() {
    // (1 + 2^-12) - 1: quantized the sum is 1.
    let case = [0x3f80_0000, 0x3980_0000, 0xbf80_0000];
    for (kernel, may_be_dropped) in
        [("f32.fadd_quantize_fadd", false), ("f32.fadd_narrow_f16_fadd", true)]
    {
        let kernel: Kernel = kernel.parse().unwrap();
        let of = |contraction| accepted(&kernel, &case, 0, contraction);
        assert!(of(Contraction::Fused).contains(0x3980_0000), "{kernel}");
        assert!(!of(Contraction::Separate).contains(0x3980_0000), "{kernel}");
        assert_eq!(of(Contraction::Either).contains(0x3980_0000), may_be_dropped, "{kernel}");
    }
}
