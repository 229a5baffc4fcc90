//! Cases of packed formats and of words that hold several numbers: every code for loads; for stores every code's value, its
//! neighbours, and what lies between.

use super::unary::unary;
use super::values::{SINGLE, boundaries, distinct, midpoint, nans, quotient, random, signed, widened};
use crate::format::{FloatLayout, Format};
use crate::op::Function;

/// Stores: per channel every encoding's value, its neighbours, each midpoint with its neighbours, overflow thresholds,
/// negatives, subnormals, infinities and NaNs; the channels run through their lists side by side, each rotated.
pub(super) fn store_cases(format: Format) -> Vec<u64> {
    let lists: Vec<Vec<u64>> = format.channels().iter().map(|channel| channel_inputs(channel.layout)).collect();
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut cases = Vec::with_capacity(most * lists.len());
    for index in 0..most {
        for (channel, list) in lists.iter().enumerate() {
            cases.push(list[(index + channel * list.len() / 3) % list.len()]);
        }
    }
    cases
}

/// binary32 inputs for a store to one unsigned small float.
fn channel_inputs(layout: FloatLayout) -> Vec<u64> {
    let single = SINGLE;
    let value = |code| widened(single, layout, code);
    let mut list = Vec::new();
    // One code past the largest finite one is where the next power of two, the rounding limit, lies.
    for code in 0..=layout.infinity() {
        let here = value(code);
        list.extend([here.saturating_sub(1), here, here + 1]);
        if code < layout.infinity() {
            let middle = midpoint(single, layout, code);
            list.extend([middle - 1, middle, middle + 1]);
        }
    }
    // 65504, 65519.99, 65520, 65025, 64513, 1e6, powers beyond, the largest binary32.
    list.extend([0x477fe000, 0x477fefff, 0x477ff000, 0x477e0100, 0x477c0100, 0x477effff, 0x477fffff, 0x49742400]);
    list.extend([0x50000000, 0x7f000000, 0x7f7fffff]);
    // Values far below the smallest subnormal, and binary32's own subnormals.
    list.extend([0x34800000, 0x28800000, 0x00800000, 0x007fffff, 0x00400000, 1]);
    list.extend([0x3f810000, 0x3f830000, 0x3f818000, 0x3f81ffff, 0x3f820000, 0x3f860000, 0x3f83ffff, 0x40490fdb]);
    list.push(single.infinity());
    list.extend(nans(single).map(|nan| nan & !single.sign_bit()));
    let negatives: Vec<u64> = list.iter().step_by(29).copied().collect();
    list.extend(negatives.iter().map(|bits| bits | single.sign_bit()));
    list.extend(
        [0, 1, 0x007fffff, 0x3f800000, 0x35800000, 0x7f7fffff, 0x7f800000].map(|bits| bits | single.sign_bit()),
    );
    list.extend(nans(single));
    distinct(list)
}

/// Loads: every code of every channel, the channels running against each other.
pub(super) fn load_cases(format: Format) -> Vec<u64> {
    let most = format.channels().iter().map(|channel| 1u64 << channel.layout.bits()).max().unwrap_or(0);
    (0..most)
        .map(|code| {
            format.channels().iter().enumerate().fold(0, |texel, (index, channel)| {
                let count = 1 << channel.layout.bits();
                let code = (code * [1, 5, 1][index % 3] + index as u64 * 7) % count;
                texel | code << channel.shift
            })
        })
        .collect()
}

/// Every code of 16 bits, two in a word, and what is asked where not every code is.
pub(super) fn halves() -> Vec<u64> {
    (0..1 << 15).map(|i| ((2 * i + 1) << 16) | (2 * i)).chain(some_halves()).collect()
}

/// Boundary codes of 16 bits, as floats and as integers, two in a word.
pub(super) fn some_halves() -> Vec<u64> {
    let mut codes: Vec<u64> = Format::F16.float().map(unary).unwrap_or_default();
    codes.extend((0..16).flat_map(|exponent| [(1 << exponent) - 1, (1 << exponent) + 1, 0x1_0000 - (1 << exponent)]));
    let codes = distinct(codes.into_iter().filter(|code| *code < 0x1_0000).collect());
    let others = codes.iter().cycle().skip(codes.len() / 3);
    codes.iter().zip(others).map(|(low, high)| high << 16 | low).collect()
}

/// Every code of 8 bits in each place of a word.
pub(super) fn bytes() -> Vec<u64> {
    let place = |code: u64, place: u64| (code + 85 * place) % 256 << (8 * place);
    (0..256).map(|code| (0..4).map(|number| place(code, number)).sum()).collect()
}

/// Numbers for the fixed-point codes of a packing: boundary values, the value of each code (of 16 bits: of the first and last, those
/// around powers of two, and random ones) and the ties between two, all with a neighbour.
pub(super) fn fixed(function: Function) -> Vec<u64> {
    let Function::PackNorm { bits, signed: sign } = function else { return Vec::new() };
    let last = (1u32 << (bits - u32::from(sign))) - 1;
    let mut codes: Vec<u32> = (0..=last).collect();
    if bits > 8 {
        codes = (0..32).chain(last - 32..=last).collect();
        codes.extend((5..15).flat_map(|exponent| [(1 << exponent) - 1, 1 << exponent]));
        codes.extend((0..128).map(|seed| random(seed + 9000) as u32 & last));
    }
    let mut list = boundaries(SINGLE);
    for code in codes {
        let points = [quotient(SINGLE, code, last), quotient(SINGLE, 2 * code + 1, 2 * last)].concat();
        list.extend(if sign { signed(SINGLE, &points) } else { points });
    }
    distinct(list)
}
