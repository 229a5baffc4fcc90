use fpprobe_spirv::cases::random;
use fpprobe_spirv::{Format, Kernel};

use super::*;
use crate::environment::{Environment, NonFinite, Overflow, Subnormals, Ulp};
use crate::oracle::{Demand, Signature, accepted_on};

const KERNELS: [&str; 22] = [
    "f16.fadd",
    "f16.fmul",
    "f16.fdiv",
    "f16.sqrt",
    "f16.exp2",
    "f16.log",
    "f16.floor",
    "f16.fabs",
    "f16.fract",
    "f16.pow",
    "f16.inverse_sqrt",
    "f16.ldexp",
    "f32.fsub",
    "f32.rcp",
    "f32.sin",
    "f32.fconvert_f16",
    "f32.convert_u_to_f",
    "f64.fmul",
    "f32.radians",
    "rgba16f.store:route=storage_image",
    "rgba16f.load:route=storage_image",
    "b10g11r11.store:route=storage_image",
];

fn environments() -> Vec<Environment> {
    let flush = Environment {
        subnormal_inputs: Subnormals::Flush,
        subnormal_results: Subnormals::Flush,
        overflow: Overflow::Saturate,
        ..Environment::IEEE
    };
    vec![Environment::IEEE, Environment::OPEN, flush]
}

/// For operands of each kernel on which nothing but the rounding counts, the first of them, what is
/// rounded, and how.
fn plain(each: impl Fn(&Demand, Encoding, &Operands, &RoundedResult)) {
    for (seed, id) in (0..).zip(KERNELS) {
        let kernel: Kernel = id.parse().unwrap();
        let signature = Signature::new(&kernel);
        let mut count = 0;
        for draw in 0..600_u64 {
            let values = kernel.params().into_iter().enumerate().flat_map(|(place, shape)| {
                // Narrow exponents, so that sums and products of halves come about; and few bits,
                // so that ties do.
                let word =
                    move |index: u64| random(seed << 40 ^ draw << 16 ^ (place as u64) << 8 ^ index);
                let bits = move |index: u64| match (shape.format, word(index)) {
                    (Format::F16, word) if draw % 2 == 0 => word & 0x83ff | 0x3c00,
                    (Format::F16, word) => word & 0xffc0,
                    (Format::F32, word) if draw % 2 == 0 => word & 0x807f_ffff | 0x3f80_0000,
                    (Format::F64, word) if draw % 2 == 0 => {
                        word & 0x800f_ffff_ffff_ffff | 0x3ff0 << 48
                    }
                    (Format::I32, word) => word & 7,
                    (format, word) => word & format.mask(),
                };
                (0..u64::from(shape.width)).map(bits)
            });
            let case: Vec<u64> = values.collect();
            for (part, encoding) in signature.encodings.iter().enumerate() {
                let operands = signature.operands(&case, part);
                let function = kernel.op.function;
                let Some(found) = rounding(*encoding, &operands, function) else { continue };
                count += 1;
                for environment in environments() {
                    let [operands_of, results] = [environment; 2];
                    let accuracy = Accuracy::NearestEven;
                    let demand = Demand {
                        function,
                        operands: operands_of,
                        results,
                        accuracy,
                        ulp: Ulp::Vulkan,
                    };
                    // An indeterminate part makes all of them so.
                    if operands.beside.is_empty() || demand.operands.non_finite != NonFinite::Any {
                        each(&demand, *encoding, &operands, &found);
                    }
                }
            }
        }
        assert!(count > 50, "{id}: {count}");
    }
}

#[test]
fn what_is_rounded_is_all_that_any_environment_accepts() {
    plain(|demand, encoding, operands, rounded| {
        let under =
            |accuracy| accepted_on(encoding, operands, &Demand { accuracy, ..demand.clone() });
        let one = crate::accepted::Set::one(encoding, rounded.nearest);
        for direction in [Accuracy::NearestEven, Accuracy::NearestAway, Accuracy::TowardZero] {
            let only = crate::accepted::Set::one(encoding, rounded.toward(&direction).unwrap());
            assert_eq!(under(direction), only, "{demand:?} {operands:?}");
        }
        let exact = rounded.how == Rounding::Exact;
        assert_eq!(under(Accuracy::EitherNeighbour).is_single(), exact, "{demand:?} {operands:?}");
        // At every other tie they agree.
        assert!(
            under(Accuracy::NearestAway) == one || rounded.how == Rounding::Tie,
            "{demand:?} {operands:?}"
        );
        assert_eq!(rounded.toward(&Accuracy::EitherNeighbour), None);
    });
}

#[test]
fn what_else_counts_is_left_alone() {
    let none = |id: &str, case: &[u64]| {
        let kernel: Kernel = id.parse().unwrap();
        let signature = Signature::new(&kernel);
        rounding(signature.encodings[0], &signature.operands(case, 0), kernel.op.function).is_none()
    };
    assert!(!none("f16.fadd", &[0x3c00, 0x3c00]));
    // Zeros, subnormals, infinities and NaNs as operands; results that are none, or next to an end
    // of the normal numbers.
    for case in [
        [0, 0x3c00],
        [1, 0x3c00],
        [0x7c00, 0x3c00],
        [0x7e00, 0x3c00],
        [0x3c00, 0xbc00],
        [0x7bff, 0x7bff],
        [0x0400, 0x0400],
    ] {
        assert!(none("f16.fadd", &case), "{case:x?}");
    }
    assert!(
        none("f16.fma", &[0x3c00, 0x3c00, 0x3c00])
            && none("f16.sqrt", &[0xbc00])
            && none("f16.nmin", &[0x3c00, 0x3c00])
    );
    assert!(none("f32.ford_equal", &[0x3f80_0000, 0x3f80_0000]));
}
