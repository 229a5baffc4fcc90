//! Cases of packed formats: every code for loads; for stores every code's value, its neighbours, and what lies between.

use super::{distinct, nans, scaled};
use crate::format::{FloatLayout, Format};

/// Layout of binary32.
pub(super) const SINGLE: FloatLayout = FloatLayout { signed: true, exponent: 8, fraction: 23 };

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

/// The binary32 encoding of the value of a small float's non-negative code, infinity standing for the power of two after
/// the largest finite value.
pub(super) fn in_single(layout: FloatLayout, code: u64) -> u64 {
    let (exponent, fraction) = ((code >> layout.fraction) as i32, code & (layout.min_normal() - 1));
    let last = layout.fraction as i32;
    match (exponent, fraction) {
        (0, 0) => 0,
        (0, _) => scaled(SINGLE, fraction, 1 - layout.bias() - last),
        _ => scaled(SINGLE, fraction | layout.min_normal(), exponent - layout.bias() - last),
    }
}

/// binary32 inputs for a store to one unsigned small float.
fn channel_inputs(layout: FloatLayout) -> Vec<u64> {
    let single = SINGLE;
    let value = |code| in_single(layout, code);
    let mut list = Vec::new();
    // One code past the largest finite one is where the next power of two, the rounding limit, lies.
    for code in 0..=layout.infinity() {
        let here = value(code);
        list.extend([here.saturating_sub(1), here, here + 1]);
        if code < layout.infinity() {
            let next = value(code + 1);
            let middle = if code == 0 { next - (1 << 23) } else { here.midpoint(next) };
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
