//! Cases of packed formats and of words that hold several numbers: every code for loads; for stores
//! every code's value, its neighbours, and what lies between.

use super::blocks;
use super::unary::unary;
use super::values::{
    SINGLE, boundaries, distinct, midpoint, nans, quotient, random, scaled, signed, truncated,
    widened,
};
use crate::channel::{Channel, Coding, SHARED_EXPONENT};
use crate::format::Format;
use crate::kernel::Kernel;
use crate::layout::FloatLayout;
use crate::op::Function;

/// Stores: per channel every encoding's value, its neighbours, each midpoint with its neighbours,
/// overflow thresholds, negatives, subnormals, infinities and NaNs; the channels run through their
/// lists side by side, each rotated.
pub(super) fn store_cases(format: Format) -> Vec<u64> {
    let lists: Vec<Vec<u64>> = format
        .channels()
        .iter()
        .map(|channel| offered(format, channel_inputs(channel.coding)))
        .collect();
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut cases = Vec::with_capacity(most * lists.len());
    for index in 0..most {
        for (channel, list) in lists.iter().enumerate() {
            cases.push(list[(index + channel * list.len() / 3) % list.len()]);
        }
    }
    cases
}

/// Numbers for a depth that is clamped: those of a store, and boundary numbers of each size.
pub(super) fn clamped(format: Format) -> Vec<u64> {
    let mut list = store_cases(format);
    list.extend(boundaries(SINGLE).into_iter().filter(|bits| !is_depth(*bits)));
    list
}

/// The same for what replaces a texel of ones.
pub(super) fn replaced(format: Format) -> Vec<u64> {
    over_ones(format, &store_cases(format))
}

/// Vectors, each with a texel of ones.
fn over_ones(format: Format, vectors: &[u64]) -> Vec<u64> {
    let channels = format.channels();
    let there =
        channels.iter().fold(0, |texel, channel| texel | unit(channel.coding) << channel.shift);
    vectors.chunks(channels.len()).flat_map(|vector| [vector, &[there]].concat()).collect()
}

/// The code of 1.
fn unit(coding: Coding) -> u64 {
    match coding {
        Coding::Float(layout) => layout.one(),
        other => other.positive() - 1,
    }
}

/// What is added to a texel: to some codes, boundary numbers, quarters of a unit with their
/// neighbours, and the code itself, taken away.
pub(super) fn added(format: Format) -> Vec<u64> {
    let channels = format.channels();
    let sums =
        |channel: &Channel| channel.coding.float().map_or_else(|| fixed_sums(channel.coding), sums);
    let lists: Vec<Vec<(u64, u64)>> = channels.iter().map(sums).collect();
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut cases = Vec::new();
    for index in 0..most {
        let mut texel = 0;
        for ((number, list), channel) in lists.iter().enumerate().zip(channels) {
            let (source, there) = list[(index + number * list.len() / 3) % list.len()];
            cases.push(source);
            texel |= there << channel.shift;
        }
        cases.push(texel);
    }
    cases
}

/// Numbers, each with the code of a small float that it is added to.
fn sums(layout: FloatLayout) -> Vec<(u64, u64)> {
    let one = unit(Coding::Float(layout));
    let there = [
        0,
        1,
        layout.min_normal(),
        one,
        one + 1,
        2 * one - 1,
        layout.max_finite(),
        layout.infinity(),
    ];
    let sums = there.into_iter().flat_map(|code| {
        let itself = if layout == SINGLE { code } else { widened(SINGLE, layout, code) };
        let finest =
            (code >> layout.fraction).max(1) as i32 - layout.bias() - layout.fraction as i32;
        let quarters = (1..=4)
            .filter(|_| layout != SINGLE)
            .map(move |count| scaled(SINGLE, count, finest - 2));
        let near = quarters.flat_map(|bits| [bits - 1, bits, bits + 1]);
        let numbers =
            boundaries(SINGLE).into_iter().chain([itself, itself | SINGLE.sign_bit()]).chain(near);
        numbers.map(move |number| (number, code)).collect::<Vec<_>>()
    });
    sums.collect()
}

/// Numbers, each with the code of fixed point that it is added to: boundary numbers, and codes with
/// the ties between them.
fn fixed_sums(coding: Coding) -> Vec<(u64, u64)> {
    let (last, all) = (coding.positive() - 1, (1 << coding.bits()) - 1);
    let there: std::collections::BTreeSet<u64> =
        [0, 1, last / 2, last - 1, last, last + 1, all].map(|code| code & all).into();
    let near = [0, 1, last / 2, last].into_iter().flat_map(|code| {
        [0, 50]
            .into_iter()
            .flat_map(move |part| quotient(SINGLE, 100 * code as u32 + part, 100 * last as u32))
    });
    let numbers: Vec<u64> =
        boundaries(SINGLE).into_iter().chain(signed(SINGLE, &near.collect::<Vec<u64>>())).collect();
    there.into_iter().flat_map(|code| numbers.iter().map(move |number| (*number, code))).collect()
}

/// Texels of a format that become texels of another one.
pub(super) fn converted(kernel: &Kernel) -> Vec<u64> {
    kernel.params().first().map(|shape| load_cases(shape.format)).unwrap_or_default()
}

/// Numbers for state: boundary numbers, each component's list rotated by another part of it.
pub(super) fn states(kernel: &Kernel) -> Vec<u64> {
    let list = offered(kernel.format, boundaries(SINGLE));
    if kernel.op.params.len() == 1 {
        return super::widen(&list, 1, kernel.arity());
    }
    over_ones(kernel.format, &super::widen(&list, 1, kernel.arity() - 1))
}

/// What may be offered of a list: depths lie between 0 and 1.
fn offered(format: Format, mut list: Vec<u64>) -> Vec<u64> {
    list.retain(|bits| !format.is_depth() || is_depth(*bits));
    list
}

/// Whether a binary32 is a depth.
pub(super) fn is_depth(bits: u64) -> bool {
    bits <= unit(Coding::Float(SINGLE)) || bits == SINGLE.sign_bit()
}

/// Most bits of a channel of which every code is asked in a store.
const EVERY: u32 = 11;

/// Codes of a channel whose values are stored, without the sign: all of a small float, of others
/// the boundaries and random draws. One code past the largest finite one is where the next power of
/// two, the rounding limit, lies.
fn codes(layout: FloatLayout) -> Vec<u64> {
    if layout.bits() <= EVERY {
        return (0..=layout.infinity()).collect();
    }
    unary(layout).into_iter().filter(|code| *code <= layout.infinity()).collect()
}

/// binary32 inputs for a store to one channel.
fn channel_inputs(coding: Coding) -> Vec<u64> {
    match coding {
        Coding::Float(layout) => float_inputs(layout),
        Coding::Norm { bits, signed } if bits <= 8 => {
            points(bits, signed, &[0, 39, 40, 45, 50, 55, 60, 61])
        }
        Coding::Norm { bits, signed } => points(bits, signed, &[0, 39, 50, 61]),
        Coding::Srgb => srgb_inputs(),
        Coding::Shared => shared_inputs(),
    }
}

/// Numbers for a channel of sRGB: boundary values, 256 of each binade from 2^-13 to 1, which is
/// more than one for each code, those around the end of the straight part, 0.0031308, and around
/// what each code means and each threshold between codes.
fn srgb_inputs() -> Vec<u64> {
    let mut list = boundaries(SINGLE);
    list.extend(
        (-13..0)
            .flat_map(|exponent| (256..512).map(move |part| scaled(SINGLE, part, exponent - 8))),
    );
    list.extend(0x3b4d_2e18..0x3b4d_2e20);
    list.extend((1..510).flat_map(|half| {
        let point = u64::from((linear(f64::from(half) / 510.0) as f32).to_bits());
        [point - 1, point, point + 1]
    }));
    distinct(list)
}

/// What a share of sRGB's greatest code means (Khronos Data Format Specification, "sRGB EOTF").
fn linear(coded: f64) -> f64 {
    if coded <= 0.04045 { coded / 12.92 } else { ((coded + 0.055) / 1.055).powf(2.4) }
}

/// Numbers whose significand is rounded to 9 bits, under every exponent: the least and the greatest
/// significands, the ties between them, and the one that carries into the next exponent.
fn shared_inputs() -> Vec<u64> {
    let mut list = boundaries(SINGLE);
    for exponent in -26..=16 {
        for half in [511, 512, 513, 514, 515, 767, 769, 1020, 1021, 1022, 1023] {
            let point = scaled(SINGLE, half, exponent - 10);
            list.extend([point - 1, point, point + 1]);
        }
    }
    list.extend((0..256).map(|seed| {
        truncated(SINGLE, u128::from(random(seed + 700) | 1), (seed % 40) as i32 - 88)
    }));
    distinct(list)
}

/// binary32 inputs for a store to one float.
fn float_inputs(layout: FloatLayout) -> Vec<u64> {
    let single = SINGLE;
    if layout == single {
        return unary(single);
    }
    let value = |code| widened(single, layout, code);
    let mut list = Vec::new();
    for code in codes(layout) {
        let here = value(code);
        list.extend([here.saturating_sub(1), here, here + 1]);
        if code < layout.infinity() {
            let middle = midpoint(single, layout, code);
            list.extend([middle - 1, middle, middle + 1]);
        }
    }
    if layout.signed {
        list.extend(list.clone().iter().map(|bits| bits | single.sign_bit()));
    }
    // 65504, 65519.99, 65520, 65025, 64513, 1e6, powers beyond, the largest binary32.
    list.extend([
        0x477fe000, 0x477fefff, 0x477ff000, 0x477e0100, 0x477c0100, 0x477effff, 0x477fffff,
        0x49742400,
    ]);
    list.extend([0x50000000, 0x7f000000, 0x7f7fffff]);
    // Values far below the smallest subnormal, and binary32's own subnormals.
    list.extend([0x34800000, 0x28800000, 0x00800000, 0x007fffff, 0x00400000, 1]);
    list.extend([
        0x3f810000, 0x3f830000, 0x3f818000, 0x3f81ffff, 0x3f820000, 0x3f860000, 0x3f83ffff,
        0x40490fdb,
    ]);
    list.push(single.infinity());
    list.extend(nans(single).map(|nan| nan & !single.sign_bit()));
    let negatives: Vec<u64> = list.iter().step_by(29).copied().collect();
    list.extend(negatives.iter().map(|bits| bits | single.sign_bit()));
    list.extend(
        [0, 1, 0x007fffff, 0x3f800000, 0x35800000, 0x7f7fffff, 0x7f800000]
            .map(|bits| bits | single.sign_bit()),
    );
    list.extend(nans(single));
    distinct(list)
}

/// Most bits of a channel of which every code is asked in a plain load.
const EVERY_LOADED: u32 = 16;

/// Loads: of channels of 11 bits and less every code, of wider ones boundaries and random draws,
/// the channels running against each other. Under every shared exponent some significands.
pub(super) fn load_cases(format: Format) -> Vec<u64> {
    if format.is_block() {
        return blocks::cases();
    }
    let channels = format.channels();
    let (first, widest) = (channels[0].coding, widest(format));
    if first == Coding::Shared {
        return shared_texels();
    }
    if widest > EVERY {
        let list = codes_of(first);
        let list = first.float().map_or(list.clone(), |_| offered(format, list));
        let wide = super::widen(&list, 1, channels.len());
        return wide.chunks(channels.len()).map(|codes| texel(format, codes)).collect();
    }
    let of_channel = |code: u64, index: usize| code * [1, 5, 1][index % 3] + index as u64 * 7;
    every(widest)
        .map(|code| texel(format, &[0, 1, 2, 3].map(|index| of_channel(code, index))))
        .collect()
}

/// Whether every code of every channel is asked in a plain load alone: others are asked the
/// boundaries.
pub(super) fn has_wide_codes(format: Format) -> bool {
    !format.is_block() && (EVERY + 1..=EVERY_LOADED).contains(&widest(format))
}

/// Every code of each of the channels, which are as wide as one another: side by side each is a
/// part of all codes ahead of the one before.
pub(super) fn every_texel(format: Format) -> Vec<u64> {
    let (codes, count) = (every(widest(format)), format.channels().len() as u64);
    let ahead = codes.end / count;
    codes.map(|code| texel(format, &[0, 1, 2, 3].map(|index| code + index * ahead))).collect()
}

/// Bits of the widest channel.
fn widest(format: Format) -> u32 {
    format.channels().iter().map(|channel| channel.coding.bits()).max().unwrap_or(0)
}

/// Every code of N bits.
fn every(bits: u32) -> std::ops::Range<u64> {
    0..1 << bits
}

/// A code for each channel, or more than that, in a texel; of a code the bits that the channel has.
fn texel(format: Format, codes: &[u64]) -> u64 {
    let place =
        |channel: &Channel, code: &u64| code % (1 << channel.coding.bits()) << channel.shift;
    format
        .channels()
        .iter()
        .zip(codes)
        .fold(0, |texel, (channel, code)| texel | place(channel, code))
}

/// Boundary codes of a wide channel and random ones.
fn codes_of(coding: Coding) -> Vec<u64> {
    match coding {
        Coding::Float(layout) => unary(layout),
        other => fixed_codes(other.bits()),
    }
}

/// Codes of a fixed-point number of many bits: the first, the last, those in the middle and around
/// powers of two, random ones.
fn fixed_codes(bits: u32) -> Vec<u64> {
    let (last, middle) = ((1 << bits) - 1, 1u64 << (bits - 1));
    let mut codes: Vec<u64> =
        (0..32).chain(middle - 16..middle + 16).chain(last - 32..=last).collect();
    codes.extend((5..bits - 1).flat_map(|exponent| [(1 << exponent) - 1, 1 << exponent]));
    codes.extend((0..512).map(|seed| random(seed + 9000) & last));
    distinct(codes)
}

/// Texels of every shared exponent, with boundary significands and random ones.
fn shared_texels() -> Vec<u64> {
    let (place, width) = SHARED_EXPONENT;
    let significands = [0, 1, 2, 3, 127, 128, 254, 255, 256, 257, 383, 384, 510, 511];
    let exponents = 0..1u64 << width;
    let texels = exponents.flat_map(|exponent| {
        (0..32u64).map(move |index| {
            let pick = |at: usize| {
                significands
                    .get(at)
                    .copied()
                    .unwrap_or_else(|| random(exponent * 97 + at as u64) & 511)
            };
            let at = index as usize;
            exponent << place | pick((at + 9) % 32) << 18 | pick((at + 4) % 32) << 9 | pick(at)
        })
    });
    texels.collect()
}

/// Every code of 16 bits, two in a word, and what is asked where not every code is.
pub(super) fn halves() -> Vec<u64> {
    (0..1 << 15).map(|i| ((2 * i + 1) << 16) | (2 * i)).chain(some_halves()).collect()
}

/// Boundary codes of 16 bits, as floats and as integers, two in a word.
pub(super) fn some_halves() -> Vec<u64> {
    let mut codes: Vec<u64> = Format::F16.float().map(unary).unwrap_or_default();
    codes.extend((0..16).flat_map(|exponent| {
        [(1 << exponent) - 1, (1 << exponent) + 1, 0x1_0000 - (1 << exponent)]
    }));
    let codes = distinct(codes.into_iter().filter(|code| *code < 0x1_0000).collect());
    let others = codes.iter().cycle().skip(codes.len() / 3);
    codes.iter().zip(others).map(|(low, high)| high << 16 | low).collect()
}

/// Every code of 8 bits in each place of a word.
pub(super) fn bytes() -> Vec<u64> {
    let place = |code: u64, place: u64| (code + 85 * place) % 256 << (8 * place);
    (0..256).map(|code| (0..4).map(|number| place(code, number)).sum()).collect()
}

/// Numbers for the fixed-point codes of a packing: see [`points`], with the ties alone.
pub(super) fn fixed(function: Function) -> Vec<u64> {
    let Function::PackNorm { bits, signed } = function else { return Vec::new() };
    points(bits, signed, &[0, 50])
}

/// Numbers at hundredths of the way from each fixed-point code to the next (of 16 bits: from the
/// first and last, those around powers of two, and random ones), all with a neighbour; boundary
/// values.
fn points(bits: u32, sign: bool, hundredths: &[u32]) -> Vec<u64> {
    let last = (1u32 << (bits - u32::from(sign))) - 1;
    let mut codes: Vec<u32> = (0..=last).collect();
    if bits > EVERY {
        codes = (0..32).chain(last - 32..=last).collect();
        codes.extend((5..15).flat_map(|exponent| [(1 << exponent) - 1, 1 << exponent]));
        codes.extend((0..128).map(|seed| random(seed + 9000) as u32 & last));
    }
    let mut list = boundaries(SINGLE);
    for code in codes {
        let point = |part: &u32| quotient(SINGLE, 100 * code + part, 100 * last);
        let points: Vec<u64> = hundredths.iter().flat_map(point).collect();
        list.extend(if sign { signed(SINGLE, &points) } else { points });
    }
    distinct(list)
}
