//! Two operands, three operands, and one of several chosen by a condition.

use super::values::{boundaries, quotient, random, scaled};
use crate::layout::FloatLayout;

/// All pairs of boundary values, pairs on which rounding shows, quotients that are almost integers,
/// random draws.
pub(super) fn binary(layout: FloatLayout) -> Vec<u64> {
    let list = boundaries(layout);
    let mut pairs: Vec<u64> =
        list.iter().flat_map(|a| list.iter().flat_map(move |b| [*a, *b])).collect();
    // 0x300 * 2^(bias-14): the product of a subnormal and a power of two that no flushed result can
    // hide.
    let tiny = 0x300 & (layout.min_normal() - 1);
    let large = scaled(layout, 1, layout.bias() - 14);
    pairs.extend([tiny, large, tiny | layout.sign_bit(), large]);
    pairs.extend(roundings(layout).concat());
    pairs.extend(powers(layout).concat());
    pairs.extend(remainders(layout).concat());
    let mask = layout.magnitude_mask() | layout.sign_bit();
    for seed in 0..256u64 {
        let first = random(seed * 2) & mask;
        // Half of the draws stay within a few binades of the first, where rounding and cancellation
        // happen.
        let near = (first & !(layout.min_normal() - 1))
            | random(seed * 2 + 1) & (layout.min_normal() * 8 - 1);
        pairs
            .extend([first, if seed % 2 == 0 { near & mask } else { random(seed * 2 + 1) & mask }]);
    }
    pairs
}

/// Sums, differences and products that lie on a midpoint between two encodings or just beside it,
/// reciprocals and quotients that do not come out even.
pub(super) fn roundings(layout: FloatLayout) -> Vec<[u64; 2]> {
    let (one, sign, last) =
        (scaled(layout, 1, 0), layout.sign_bit(), layout.fraction.cast_signed());
    // Half an ulp of 1, of what lies below 1, and of the largest finite value.
    let [half, quarter, top] =
        [-last - 1, -last - 2, layout.bias() - last - 1].map(|e| scaled(layout, 1, e));
    let mut pairs = vec![
        [one, half],
        [one + 1, half],
        [one, half + 1],
        [one, scaled(layout, 1, -last) - 1],
        [one, quarter],
        [one, quarter + 1],
        [one | sign, half + 1],
        [one | sign, scaled(layout, 1, -last) - 1],
        [one, half | sign],
        [one + layout.min_normal() - 1; 2],
        [one + 3, scaled(layout, 3, -1)],
        [layout.max_finite(), top],
        [layout.max_finite(), top - 1],
        [layout.max_finite(), top | sign],
        [scaled(layout, 1, last + 1) + 1, scaled(layout, 1, last + 1)],
    ];
    pairs.extend([7, 10, 11, 13, 49, 103].map(|n| [one, scaled(layout, n, 0)]));
    pairs
        .extend([[7, 10], [5, 7], [9, 11], [22, 7]].map(|pair| pair.map(|n| scaled(layout, n, 0))));
    // 1/x for x of every size whose reciprocal is a normal number.
    let exponents = (2 * layout.bias() - 2).cast_unsigned();
    pairs.extend((0..64u32).map(|draw| {
        let exponent = u64::from(1 + draw * exponents / 64);
        [
            one,
            exponent << layout.fraction
                | random(u64::from(draw) + 5000) & (layout.min_normal() - 1),
        ]
    }));
    pairs
}

/// Bases and exponents whose power is neither too large nor too small.
fn powers(layout: FloatLayout) -> Vec<[u64; 2]> {
    let (one, sign) = (scaled(layout, 1, 0), layout.sign_bit());
    let mut pairs = vec![[one - 1, scaled(layout, 1, layout.fraction.cast_signed())]];
    for base in [
        scaled(layout, 5, -3),
        scaled(layout, 5, -2),
        scaled(layout, 201, -6),
        scaled(layout, 5, 1),
    ] {
        for exponent in [
            scaled(layout, 7, -1),
            scaled(layout, 11, -2),
            scaled(layout, 9, 0),
            scaled(layout, 37, 0),
        ] {
            pairs.extend([[base, exponent], [base, exponent | sign]]);
        }
    }
    pairs
}

/// Dividends that are multiples of a divisor, or beside one, with quotients from one to beyond the
/// significand.
fn remainders(layout: FloatLayout) -> Vec<[u64; 2]> {
    let last = layout.fraction.cast_signed();
    let (three, seven) = (scaled(layout, 3, 0), scaled(layout, 7, -1));
    let mut pairs = Vec::new();
    for factor in [1, 2, 5, 100] {
        let multiple = scaled(layout, 3 * factor, 0);
        pairs.extend([multiple - 1, multiple, multiple + 1].map(|dividend| [dividend, three]));
    }
    for exponent in [4, last - 1, last, last + 1, layout.bias() - 2] {
        let dividend = scaled(layout, 7, exponent);
        pairs.extend([
            [dividend, three],
            [dividend + 1, seven],
            [dividend | layout.sign_bit(), three],
        ]);
        pairs.push([dividend, seven | layout.sign_bit()]);
    }
    // 0.3 by 0.1: the nearest encodings do not divide evenly.
    pairs.push([quotient(layout, 3, 10)[0], quotient(layout, 1, 10)[0]]);
    pairs
}

/// All triples of special values, all triples of ordinary ones between and beside 0 and 1, and
/// those on which fusion shows.
pub(super) fn ternary(layout: FloatLayout) -> Vec<u64> {
    let (normal, one, sign) = (layout.min_normal(), scaled(layout, 1, 0), layout.sign_bit());
    let special = [
        0,
        sign,
        1,
        sign | 1,
        normal / 2,
        normal - 1,
        normal,
        sign | normal,
        scaled(layout, 1, -1),
        one,
        one + 1,
        sign | one,
        scaled(layout, 1, 1),
        layout.max_finite(),
        layout.infinity(),
        sign | layout.infinity(),
        layout.infinity() | layout.quiet_bit(),
        layout.infinity() | 1,
    ];
    // Bounds in order and out of it, weights, edges and what lies between, at and beyond them.
    let ordinary = [
        0,
        scaled(layout, 1, -2),
        quotient(layout, 1, 3)[0],
        scaled(layout, 1, -1),
        one - 1,
        one,
        scaled(layout, 3, -1),
        scaled(layout, 5, 1),
        sign | one,
        sign | quotient(layout, 7, 3)[0],
    ];
    let all = |list: &[u64]| -> Vec<u64> {
        list.iter()
            .flat_map(|a| list.iter().flat_map(move |b| list.iter().flat_map(|c| [*a, *b, *c])))
            .collect()
    };
    let mut triples = all(&special);
    triples.extend(all(&ordinary));
    let half_ulp = scaled(layout, 1, -layout.fraction.cast_signed() - 1);
    // Contraction shows: (1+u)(1+u) - (1+2u); ties of the final addition; a product that is
    // subnormal.
    triples.extend([
        one + 1,
        one + 1,
        sign | (one + 2),
        one,
        one,
        half_ulp,
        one,
        one + 1,
        half_ulp,
    ]);
    triples.extend([
        sign | (normal - normal / 16),
        scaled(layout, 1, 1),
        normal,
        normal,
        scaled(layout, 1, -1),
        normal,
    ]);
    triples.extend([layout.max_finite(), scaled(layout, 1, 1), sign | layout.max_finite()]);
    let mask = layout.magnitude_mask() | sign;
    for seed in 0..128u64 {
        let [a, b] = [random(seed * 3 + 1000), random(seed * 3 + 1001)]
            .map(|r| (one - normal) | (r & (2 * normal - 1)));
        let c = (a ^ sign) & !(normal - 1) | random(seed * 3 + 1002) & (normal - 1);
        triples.extend([a & mask, b & mask, c & mask]);
    }
    triples
}

/// Each boundary value chosen by either truth value, beside a value that is none.
pub(super) fn choose(layout: FloatLayout) -> Vec<u64> {
    let other = scaled(layout, 5, 3);
    boundaries(layout).into_iter().flat_map(|value| [1, value, other, 0, other, value]).collect()
}

/// Each pair of patterns that compilers look for in selections, chosen from by either truth value.
/// As integers all of them are as good as any other.
pub(super) fn patterns(layout: FloatLayout) -> Vec<u64> {
    let (one, sign, infinity) = (scaled(layout, 1, 0), layout.sign_bit(), layout.infinity());
    let list = [0, sign, 1, one, sign | one, infinity, sign | layout.magnitude_mask()];
    let pairs =
        list.iter().flat_map(|a| list.iter().filter(move |b| a != *b).map(move |b| [*a, *b]));
    pairs.flat_map(|[a, b]| [1, a, b, 0, a, b]).collect()
}
