//! One operand.

use super::values::{
    HALF_PI, LN_2, around, at_boundaries, distinct, magnitudes, multiple, nans, quotient, random,
    scaled, signed,
};
use crate::format::Format;
use crate::kernel::Kernel;
use crate::layout::FloatLayout;

/// Exponents of which a random draw is taken, at most.
const EXPONENTS: u64 = 512;

/// Every encoding.
pub(super) fn every(layout: FloatLayout) -> Vec<u64> {
    (0..=layout.magnitude_mask() | layout.sign_bit()).collect()
}

/// Boundaries, the edges of every function's domain, and random draws by exponent.
pub(super) fn unary(layout: FloatLayout) -> Vec<u64> {
    let normal = layout.min_normal();
    let one = scaled(layout, 1, 0);
    let mut list = magnitudes(layout);
    list.extend([
        3,
        8,
        0x300 & (normal - 1),
        normal - 2,
        normal + 2,
        one + 2,
        one + 3,
        layout.max_finite() - 1,
    ]);
    list.extend([
        scaled(layout, 7, 0),
        scaled(layout, 5, 1),
        scaled(layout, 201, -6),
        scaled(layout, 5, -1),
    ]);
    // The ends of the range in which a logarithm has an absolute bound, and of that in which a half
    // is rounded away.
    list.extend(
        [-1, 1]
            .map(|exponent| scaled(layout, 1, exponent))
            .map(|end| [end - 1, end, end + 1])
            .concat(),
    );
    list.extend(integral(layout));
    list.extend(exponential(layout));
    list.extend(angles(layout));
    list.extend([Format::F16, Format::F32].map(|small| at_boundaries(layout, small)).concat());
    list.extend(quotient(layout, 1, 3));
    let exponents = (1u64 << layout.exponent) - 1;
    let draws = 1 + 256 / exponents;
    for exponent in (0..exponents).step_by(exponents.div_ceil(EXPONENTS) as usize) {
        for draw in 0..draws {
            let random = random(u64::from(layout.fraction) << 32 | exponent << 8 | draw);
            list.push(exponent << layout.fraction | (random & (normal - 1)));
        }
    }
    let mut list = signed(layout, &list);
    list.extend(nans(layout));
    distinct(list)
}

/// The same, and what lies around encodings of the format that it is converted to: all of 8 bits;
/// of others its boundaries, and one for each exponent.
pub(super) fn narrowed(layout: FloatLayout, kernel: &Kernel) -> Vec<u64> {
    let target = kernel.result().format;
    let own = target.float().map_or_else(Vec::new, |small| {
        let fractions = 0..small.min_normal();
        let drawn = |exponent: u64| {
            let start = exponent << small.fraction;
            match fractions.end {
                ..=8 => (start..start + fractions.end).collect::<Vec<_>>(),
                end => vec![start | random(exponent) & (end - 1)],
            }
        };
        let codes =
            (0..1 << small.exponent).flat_map(drawn).filter(|code| *code <= small.max_finite());
        [around(layout, target, codes), at_boundaries(layout, target)].concat()
    });
    let own =
        own.into_iter().filter(|magnitude| *magnitude < layout.infinity()).collect::<Vec<_>>();
    distinct([unary(layout), signed(layout, &own)].concat())
}

/// Integers, halves, where fractions end, and the limits of integer types.
fn integral(layout: FloatLayout) -> Vec<u64> {
    let last = layout.fraction.cast_signed();
    let mut list = Vec::new();
    list.extend([-2, -1, 0, 1].map(|step| scaled(layout, 1, last + step)));
    list.extend([scaled(layout, 1, last) + 1, scaled(layout, 1, last - 1) + 1]);
    list.extend(
        (1..=160).map(|n| scaled(layout, n, 0)).filter(|integer| *integer < layout.infinity()),
    );
    list.extend((1..40).map(|n| scaled(layout, 2 * n + 1, -1)));
    list.extend([30, 31, 32].iter().filter(|exponent| **exponent <= layout.bias()).flat_map(
        |exponent| {
            let power = scaled(layout, 1, *exponent);
            [power - 1, power, power + 1]
        },
    ));
    list
}

/// Where 2^x and e^x, of either sign, leave the numbers, the normal ones, and all but zero; so do
/// the hyperbolic functions, a binade later.
fn exponential(layout: FloatLayout) -> Vec<u64> {
    let (bias, last) = (layout.bias().cast_unsigned() as u16, layout.fraction as u16);
    let ends = [bias - 1, bias, bias + 1, bias + 2, bias + last - 1, bias + last, bias + last + 1];
    let binary = ends.iter().flat_map(|end| {
        let here = scaled(layout, u64::from(*end), 0);
        [here - 1, here, here + 1]
    });
    binary.chain(ends.iter().flat_map(|end| multiple(layout, &LN_2, *end, 0))).collect()
}

/// On either side of multiples of pi/4, small ones and large ones, and those that lie nearest to a
/// multiple of pi/2.
fn angles(layout: FloatLayout) -> Vec<u64> {
    let mut list: Vec<u64> =
        (1..=24).flat_map(|factor| multiple(layout, &HALF_PI, factor, -1)).collect();
    list.extend(multiple(layout, &HALF_PI, 200, 0));
    let large = (4..layout.bias()).step_by(layout.bias().cast_unsigned() as usize / 12);
    list.extend(large.flat_map(|exponent| {
        [1, 3].map(|factor| multiple(layout, &HALF_PI, factor, exponent)).concat()
    }));
    // Muller, Elementary Functions, section 11.2: the worst cases of argument reduction in binary32
    // and binary64.
    list.extend(match layout.fraction {
        23 => Some(scaled(layout, 16_367_173, 72)),
        52 => Some(scaled(layout, 6_381_956_970_095_103, 797)),
        _ => None,
    });
    list
}
