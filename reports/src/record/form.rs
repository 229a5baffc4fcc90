//! The forms of cases and answers in a report.

use fpprobe_spirv::Shape;

use crate::model::Pattern;

/// The form of what [`encode`](crate::values::encode) gives.
fn pattern(shape: Shape) -> Pattern {
    match shape.parts() {
        None => Pattern::Digits(shape.format.digits()),
        Some((part, count)) => Pattern::List(vec![pattern(part); count as usize]),
    }
}

/// The form of a case with operands of these shapes.
pub(crate) fn of_params(params: &[Shape]) -> Pattern {
    Pattern::List(params.iter().copied().map(pattern).collect())
}

/// The form of an answer with results of these shapes.
pub(crate) fn of_results(results: &[Shape]) -> Pattern {
    match results {
        [only] => pattern(*only),
        several => of_params(several),
    }
}

/// Whether each of the numbers, those of values of these shapes one after the other, is one of its
/// format.
pub(crate) fn are_of(shapes: &[Shape], bits: &[u64]) -> bool {
    let masks: Vec<u64> =
        shapes.iter().flat_map(|shape| (0..shape.width).map(|_| shape.format.mask())).collect();
    bits.chunks(masks.len().max(1))
        .all(|value| value.iter().zip(&masks).all(|(bits, mask)| bits & !mask == 0))
}
