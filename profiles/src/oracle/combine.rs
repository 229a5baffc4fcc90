//! Operations that may be carried out in several roundings: multiply-add and division in two steps.

use fpprobe_spirv::op::Function;

use super::{Demand, Operand, accepted_on, exact, finish};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::Contraction;
use crate::real::bracket;
use rustc_apfloat::Float;

/// `x*y + z` fused, or as a multiplication and an addition that each round and flush.
pub(super) fn multiply_add(encoding: Encoding, operands: &[Operand], demand: &Demand) -> Set {
    let [x, y, z] = [0, 1, 2].map(|index: usize| operands[index]);
    let fused = bracket(|round| x.value().mul_add_r(y.value(), z.value(), round));
    let mut set = finish(encoding, fused, operands, demand);
    match demand.results.contraction {
        Contraction::Fused => return set,
        Contraction::Separate => set = Set::nothing(encoding),
        Contraction::Either => {}
    }
    let product = accepted_on(encoding, &[x, y], &Demand { function: Function::Mul, ..*demand });
    if product.is_everything() {
        return product;
    }
    for bits in representatives(&product) {
        let sum = [Operand { layout: x.layout, bits }, z];
        set = set.or(&accepted_on(encoding, &sum, &Demand { function: Function::Add, ..*demand }));
    }
    set
}

/// Every member of a small set, one NaN for all of them.
fn representatives(set: &Set) -> Vec<u64> {
    let nan = Set::nan(set.encoding());
    let mut members = set.minus(&nan).members(256);
    members.extend(set.and(&nan).members(1));
    members
}

/// `x * (1/y)`: the reciprocal within `ulps`, flushed where subnormal, then a multiplication; or `x/y` directly, to
/// nearest (D3D11.3 functional specification, 3.1.3.2 and 22.10.2).
pub(super) fn two_step_division(encoding: Encoding, operands: &[Operand], ulps: f64, demand: &Demand) -> Set {
    let nearest = Demand { accuracy: Accuracy::NearestEven, ..*demand };
    let mut set = match exact(Function::Div, operands) {
        Some(quotient) => finish(encoding, quotient, operands, &nearest),
        None => Set::everything(encoding),
    };
    let reciprocal = Demand { function: Function::Reciprocal, accuracy: Accuracy::Ulp(ulps), ..*demand };
    let reciprocals = accepted_on(encoding, &operands[1..], &reciprocal);
    for bits in representatives(&reciprocals) {
        let factors = [operands[0], Operand { layout: operands[1].layout, bits }];
        set = set.or(&accepted_on(encoding, &factors, &Demand { function: Function::Mul, ..nearest }));
    }
    set
}
