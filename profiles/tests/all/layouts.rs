//! Two float layouts of one width: the oracle goes by the layout. bfloat16 is as wide as binary16.

use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::environment::{Environment, Ulp};
use fpprobe_profiles::oracle::{Demand, Operand, accepted_on};
use fpprobe_spirv::cases::random;
use fpprobe_spirv::layout::BINARY16;
use fpprobe_spirv::{FloatLayout, Function};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Half};

const BFLOAT16: FloatLayout =
    FloatLayout { signed: true, exponent: 8, fraction: 7, infinite: true };

/// Draws of operands for each function.
const DRAWS: u64 = 2_000;

fn agrees<F: Float>(layout: FloatLayout, function: Function, computed: impl Fn(F, F) -> F) {
    let demand = Demand {
        function,
        operands: Environment::IEEE,
        results: Environment::IEEE,
        accuracy: Accuracy::NearestEven,
        ulp: Ulp::Binade,
    };
    for draw in 0..DRAWS {
        let operands = [0, 1].map(|place| random(draw << 1 | place) & 0xffff);
        let [x, y] = operands.map(|bits| F::from_bits(bits.into()));
        let expected = computed(x, y);
        let set = accepted_on(
            Encoding::Float(layout),
            &operands.map(|bits| Operand { layout: Some(layout), bits }).into_iter().collect(),
            &demand,
        );
        let bits = expected.to_bits() as u64;
        assert!(set.contains(bits), "{layout:?} {function:?} {operands:x?}: {bits:x} of {set:?}");
        if !expected.is_nan() && !expected.is_zero() {
            assert!(
                [bits - 1, bits + 1].iter().all(|other| !set.contains(*other)),
                "{layout:?} {function:?} {operands:x?}"
            );
        }
    }
}

#[test]
fn results_are_rounded_to_the_layout() {
    agrees::<Half>(BINARY16, Function::Add, |x, y| (x + y).value);
    agrees::<BFloat>(BFLOAT16, Function::Add, |x, y| (x + y).value);
    agrees::<Half>(BINARY16, Function::Mul, |x, y| (x * y).value);
    agrees::<BFloat>(BFLOAT16, Function::Mul, |x, y| (x * y).value);
    agrees::<Half>(BINARY16, Function::Div, |x, y| (x / y).value);
    agrees::<BFloat>(BFLOAT16, Function::Div, |x, y| (x / y).value);
}

#[test]
fn float_controls_name_layouts_of_ieee_754_alone() {
    assert_eq!((BINARY16.bits(), BINARY16.mode_width()), (16, Some(16)));
    assert_eq!((BFLOAT16.bits(), BFLOAT16.mode_width()), (16, None));
}
