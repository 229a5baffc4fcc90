//! What is required of matrices: loads and stores change no bit, and sums of products of integers
//! are exact.
//!
//! `OpCooperativeMatrixMulAddKHR` (`SPV_KHR_cooperative_matrix`): integer products and their sums
//! are computed as by an unbounded integer, of which the result has the low-order bits; with
//! `SaturatingAccumulationKHR` the addition of C saturates.

use fpprobe_spirv::op::Code;
use fpprobe_spirv::{Format, Kernel};

use crate::{Observation, Outcome};

/// Results of a kernel that are not what is required.
#[derive(Debug)]
pub struct MatrixViolation<'a> {
    /// What was observed.
    pub observation: &'a Observation,
    /// Number and required result of each case that has another.
    pub cases: Vec<(usize, Vec<u64>)>,
}

/// The kernels of matrices that do not give what is required.
pub fn violations(observations: &[Observation]) -> Vec<MatrixViolation<'_>> {
    let answered = observations
        .iter()
        .filter(|one| one.kernel.matrix.is_some() && one.outcome == Outcome::Ran);
    let violation = |observation| {
        let cases = wrong(observation);
        (!cases.is_empty()).then_some(MatrixViolation { observation, cases })
    };
    answered.filter_map(violation).collect()
}

fn wrong(observation: &Observation) -> Vec<(usize, Vec<u64>)> {
    let cases = observation.cases.iter().enumerate();
    let required =
        cases.filter_map(|(number, case)| Some((number, required(&observation.kernel, case)?)));
    required.filter(|(number, result)| observation.answer(*number) != result.as_slice()).collect()
}

/// The one result that a kernel may give on a case; `None` for sums of floats.
fn required(kernel: &Kernel, case: &[u64]) -> Option<Vec<u64>> {
    let unit = kernel.matrix?;
    let Code::MatrixMulAdd = kernel.op.code else {
        let Code::MatrixLoadStore(part) = kernel.op.code else { return None };
        // Of integers of 8 bits, these are all there is.
        let component = unit.component(part);
        let moved = |bits: &u64| match kernel.format.float() {
            Some(_) => *bits,
            None => component.integer(*bits) as u64 & kernel.format.mask(),
        };
        return Some(case.iter().map(moved).collect());
    };
    if kernel.format.float().is_some() {
        return None;
    }
    let k = unit.k as usize;
    let products = case[..k].iter().zip(&case[k..2 * k]);
    let sum: i128 = products
        .map(|(a, b)| i128::from(unit.a.integer(*a)) * i128::from(unit.b.integer(*b)))
        .sum();
    let sum = sum + i128::from(unit.c.integer(*case.last()?));
    let (least, most) = if kernel.format == Format::I32 {
        (i32::MIN.into(), i32::MAX.into())
    } else {
        (0, u32::MAX.into())
    };
    let sum = if unit.saturating { sum.clamp(least, most) } else { sum };
    Some(vec![sum as u64 & kernel.format.mask()])
}
