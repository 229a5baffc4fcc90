//! Operands that are integers.

use std::collections::BTreeSet;

use super::values::{boundaries, distinct, random};
use crate::layout::FloatLayout;

/// A number and an exponent to scale it by: every boundary value with the exponents that take it to
/// the ends of the format and across them, and integers that overflow whatever adds them to an
/// exponent.
pub(super) fn scales(layout: FloatLayout) -> Vec<u64> {
    let range = 2 * layout.bias() + layout.fraction.cast_signed();
    let mut exponents = vec![0, 1, 2, range, range + 1, 1000, 0x1_0000, i32::MAX - 1, i32::MAX];
    exponents.extend(
        [layout.bias(), 2 * layout.bias(), layout.fraction.cast_signed()]
            .map(|e| [e - 1, e, e + 1])
            .concat(),
    );
    let values = boundaries(layout);
    let exponents = exponents.into_iter().flat_map(|e| [e, -e, -e - 1]).collect::<BTreeSet<i32>>();
    let pairs = values
        .iter()
        .flat_map(|value| exponents.iter().map(move |e| [*value, u64::from(e.cast_unsigned())]));
    pairs.flatten().collect()
}

/// 32-bit integers: small ones, those around powers of two, and those that lie on a midpoint
/// between two floats or beside it, of either sign.
pub(super) fn integers(layout: FloatLayout) -> Vec<u64> {
    let mask = u64::from(u32::MAX);
    let mut list = vec![0, 1, 2, 3, 5, 10, 100, 1000];
    for exponent in 2..32 {
        let power = 1u64 << exponent;
        list.extend([power - 1, power, power + 1]);
        // One and a half units of the last place above a power of two, a unit less and more; and
        // half a unit.
        if exponent > layout.fraction {
            let unit = 1u64 << (exponent - layout.fraction);
            let middles = [power + unit / 2, power + unit + unit / 2, 2 * power - unit / 2];
            list.extend(middles.iter().flat_map(|middle| [middle - 1, *middle, middle + 1]));
        }
    }
    list.extend((0..128).map(|seed| random(seed + 7000) & mask >> (seed % 24)));
    list.extend([mask, mask - 1, mask >> 1, mask - 127, mask - 128, mask - 129]);
    let negative: Vec<u64> = list.iter().map(|value| value.wrapping_neg() & mask).collect();
    list.extend(negative);
    distinct(list.into_iter().map(|value| value & mask).collect())
}
