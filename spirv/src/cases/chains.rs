//! Operations in a row: operands on which it shows whether a result between them is rounded, a few
//! on which it does not.

use super::values::scaled;
use crate::format::Format;
use crate::kernel::Kernel;
use crate::layout::FloatLayout;
use crate::op::{Chain, Function};

/// The name of a chain's list.
pub(super) fn name(chain: Chain) -> String {
    let first = if chain.multiplies { "products" } else { "sums" };
    let narrow = chain.narrowest().map(|format| format.to_string()).unwrap_or_default();
    let (pairs, adds) = (
        if chain.is_packed() { "pairs_of_" } else { "" },
        if chain.adds() { "_and_more" } else { "" },
    );
    format!("{pairs}{first}_in_{narrow}{adds}")
}

/// The cases of a chain; the operands of a case lie side by side, scalars each.
pub(super) fn cases(kernel: &Kernel) -> Vec<u64> {
    let Function::Chain(chain) = kernel.op.function else { return Vec::new() };
    let narrow = chain.narrowest().and_then(Format::float);
    let (Some(own), Some(narrow)) = (kernel.format.float(), narrow) else { return Vec::new() };
    let third = kernel.op.params.get(2).map(|operand| operand.format.unwrap_or(kernel.format));
    match (chain.multiplies, third.and_then(Format::float)) {
        (false, None) => sums_beside_midpoints(own, narrow),
        (true, None) => products_beside_midpoints(own, narrow),
        (false, Some(more)) => sums_and_more(own, narrow, more),
        (true, Some(more)) => products_and_more(own, narrow, more),
    }
}

/// A few of them, for where each is paid for in the code of a module.
pub(super) fn corners(cases: &[u64], arity: usize) -> Vec<u64> {
    cases.chunks_exact(arity).skip(1).step_by(2).take(8).flatten().copied().collect()
}

/// `1 + m * 2^-(narrow + 1)` is a midpoint of the narrow format for odd m. Of these the even
/// neighbour is above it where `m mod 4` is 3: a tie goes there, and a number below it does not.
const MIDPOINTS: [(u64, bool); 4] = [(1, false), (3, true), (5, false), (7, true)];

/// A number and one so small beside it that the sum is rounded to the first, a midpoint; unrounded
/// it lies on the side of the odd neighbour.
fn sums_beside_midpoints(own: FloatLayout, narrow: FloatLayout) -> Vec<u64> {
    let (p, q) = (own.fraction.cast_signed(), narrow.fraction.cast_signed());
    let one = 1 << (q + 1);
    let mut cases =
        vec![scaled(own, 1, 0), scaled(own, 1, 0), scaled(own, 3, -1), scaled(own, 1, -2)];
    for (exponent, sign) in [(0, 0), (4, 0), (0, own.sign_bit()), (4, own.sign_bit())] {
        for (odd, below) in MIDPOINTS {
            let midpoint = scaled(own, one + odd, exponent - q - 1);
            let beside = if below { own.sign_bit() } else { 0 };
            cases.extend([midpoint ^ sign, scaled(own, 1, exponent - p - 3) ^ beside ^ sign]);
        }
        // The same where the sum is a number of the format.
        cases.extend([
            scaled(own, one + 1, exponent - q - 1) ^ sign,
            scaled(own, 1, exponent - p) ^ sign,
        ]);
    }
    cases
}

/// Factors whose product is rounded to a midpoint, as above: `(1 + d) (1 + n - d)` lies by about
/// `n * d` above `1 + n`, and with d negative below it.
fn products_beside_midpoints(own: FloatLayout, narrow: FloatLayout) -> Vec<u64> {
    let (p, q) = (own.fraction.cast_signed(), narrow.fraction.cast_signed());
    let last = p - 5;
    let (one, unit) = (1_u64 << last, 1_u64 << (last - q - 1));
    let mut cases =
        vec![scaled(own, 1, 0), scaled(own, 1, 0), scaled(own, 3, -1), scaled(own, 1, -2)];
    for (exponent, sign) in [(0, 0), (4, 0), (0, own.sign_bit()), (4, own.sign_bit())] {
        for (odd, below) in MIDPOINTS {
            let (x, y) = if below {
                (one - 1, one + odd * unit + 1)
            } else {
                (one + 1, one + odd * unit - 1)
            };
            cases.extend([scaled(own, x, exponent - last) ^ sign, scaled(own, y, -last)]);
        }
    }
    cases
}

fn signed(layout: FloatLayout, bits: u64, is_negative: bool) -> u64 {
    if is_negative { bits ^ layout.sign_bit() } else { bits }
}

/// Sums that the narrow format does not hold, exact in every wider one, and what nearly cancels
/// them.
fn sums_and_more(own: FloatLayout, narrow: FloatLayout, more: FloatLayout) -> Vec<u64> {
    let q = narrow.fraction.cast_signed();
    let mut cases = vec![scaled(own, 1, 0), scaled(own, 1, 0), scaled(more, 1, 0)];
    for (exponent, sign) in [(0, false), (3, false), (0, true), (3, true)] {
        for (part, rest) in [(1, 16), (3, 16), (1, 15), (3, 15)] {
            cases.extend([
                signed(own, scaled(own, 1, exponent), sign),
                signed(own, scaled(own, part, exponent - q - 2), sign),
                signed(more, scaled(more, rest, exponent - 4), !sign),
            ]);
        }
    }
    cases
}

/// Products that the format does not hold, exact in the wider one, and what nearly cancels them.
fn products_and_more(own: FloatLayout, narrow: FloatLayout, more: FloatLayout) -> Vec<u64> {
    let q = narrow.fraction.cast_signed();
    let one = 1_u64 << q;
    let mut cases = vec![scaled(own, 3, 0), scaled(own, 5, 0), scaled(more, 1, 0)];
    for sign in [false, true] {
        for (a, b) in [(1, 1), (1, 3), (3, 5)] {
            for rest in [one + a + b, one] {
                cases.extend([
                    signed(own, scaled(own, one + a, -q), sign),
                    scaled(own, one + b, -q),
                    signed(more, scaled(more, rest, -q), !sign),
                ]);
            }
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::OPS;
    use crate::route::Route;

    #[test]
    fn lists_are_short_and_of_normal_numbers() {
        let chains = OPS.iter().filter(|op| matches!(op.function, Function::Chain(_)));
        let kernels = chains.flat_map(|op| {
            op.formats.iter().map(move |format| Kernel::plain(*format, op).unwrap())
        });
        let mut names = std::collections::BTreeSet::new();
        for kernel in kernels {
            let list = crate::cases::cases(&kernel);
            assert!((10..=24).contains(&list.len()), "{kernel}: {}", list.len());
            assert_eq!(list, crate::cases::boundary(&kernel));
            names.insert(list.name.clone());
            let folded = Kernel { route: Route::Literal, ..kernel };
            let few = crate::cases::boundary(&folded);
            assert!(few.iter().all(|case| list.iter().any(|own| own == case)), "{folded}");
            assert!((6..=8).contains(&few.len()), "{folded}: {}", few.len());
            assert_eq!(crate::cases::named(&folded, &few.name), Some(few));
            let formats = crate::cases::formats(&kernel, 1);
            for case in list.iter() {
                for (format, bits) in formats.iter().zip(case) {
                    assert!(format.float().unwrap().is_normal(*bits), "{kernel} {case:x?}");
                }
            }
        }
        // Conversions to one format and quantization have one list.
        assert!(names.contains("f32.sums_in_f16") && names.len() == 11, "{names:?}");
    }
}
