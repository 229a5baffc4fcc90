//! Blocks of BC6H decoded, bit by bit as both texts have it (Khronos Data Format Specification,
//! "BPTC Compressed Texture Image Formats", BC6H; D3D11.3 §19.5.13).

use fpprobe_spirv::bc6h::{BlockMode, block};

/// Shares of 64 of the second endpoint, by indices of three and of four bits.
const WEIGHTS_3: [i32; 8] = [0, 9, 18, 27, 37, 46, 55, 64];
const WEIGHTS_4: [i32; 16] = [0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64];
/// The sign of binary16.
const SIGN: u64 = 0x8000;

/// The binary16 that a channel of a texel of a block is.
pub(super) fn decoded(words: &[u64], signed: bool, texel: u32, channel: usize) -> u64 {
    let block = block(words);
    // Reserved modes are black.
    let Some(mode) = BlockMode::of(block) else { return 0 };
    let fields = mode.read(block);
    let first = 2 * mode.subset(fields.partition, texel);
    let [low, high] = [first, first + 1].map(|endpoint| {
        let base = extended(fields.endpoints[0][channel], mode.bits, signed);
        let own = fields.endpoints[endpoint][channel];
        let value = if endpoint == 0 {
            base
        } else {
            let own = extended(own, mode.width(endpoint, channel), signed || mode.transformed);
            let sum = if mode.transformed { base + own } else { own };
            extended(sum.cast_unsigned(), mode.bits, signed)
        };
        if signed { unquantized_signed(value, mode.bits) } else { unquantized(value, mode.bits) }
    });
    let index = fields.indices[texel as usize] as usize;
    let weight = if mode.is_parted() { WEIGHTS_3[index] } else { WEIGHTS_4[index] };
    let between = (low * (64 - weight) + high * weight + 32) >> 6;
    match (signed, between) {
        (false, _) => scaled(between, 6),
        (true, ..0) => SIGN | scaled(-between, 5),
        (true, _) => scaled(between, 5),
    }
}

/// The lowest bits of a number, in two's complement where they have a sign.
fn extended(number: u32, bits: u32, signed: bool) -> i32 {
    let unused = 32 - bits;
    if signed {
        (number << unused).cast_signed() >> unused
    } else {
        (number << unused >> unused).cast_signed()
    }
}

/// An endpoint without a sign, stretched to 16 bits.
fn unquantized(value: i32, bits: u32) -> i32 {
    match value {
        value if bits >= 15 => value,
        0 => 0,
        value if value == (1 << bits) - 1 => 0xffff,
        value => ((value << 15) + 0x4000) >> (bits - 1),
    }
}

/// An endpoint with a sign, its magnitude stretched to 15 bits.
fn unquantized_signed(value: i32, bits: u32) -> i32 {
    if bits >= 16 {
        return value;
    }
    let magnitude = match value.abs() {
        0 => 0,
        magnitude if magnitude >= (1 << (bits - 1)) - 1 => 0x7fff,
        magnitude => ((magnitude << 15) + 0x4000) >> (bits - 1),
    };
    value.signum() * magnitude
}

/// 31 times a magnitude, over a power of two: the greatest becomes the greatest finite binary16.
fn scaled(magnitude: i32, shift: u32) -> u64 {
    u64::from(((magnitude * 31) >> shift).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::bc6h::{Fields, MODES, RESERVED, words};

    use super::*;

    fn mode(number: u32) -> &'static BlockMode {
        MODES.iter().find(|mode| mode.number == number).unwrap()
    }

    /// The first endpoint and the last one, by a mode of one subset whose endpoints are no
    /// differences.
    fn ends(signed: bool, low: u32, high: u32) -> [u64; 2] {
        let mut fields =
            Fields { endpoints: [[low; 3], [high; 3], [0; 3], [0; 3]], ..Fields::default() };
        fields.indices[1] = 15;
        let words = words(mode(3).write(&fields));
        [0, 1].map(|texel| decoded(&words, signed, texel, 1))
    }

    #[test]
    fn endpoints_are_stretched_to_the_range_of_binary16() {
        // Ten bits: the least and the greatest, and the numbers next to them.
        assert_eq!(ends(false, 0, 0x3ff), [0, 0x7bff]);
        assert_eq!(
            ends(false, 1, 0x3fe),
            [(((1 << 15) + 0x4000) >> 9) * 31 >> 6, (((0x3fe << 15) + 0x4000) >> 9) * 31 >> 6]
        );
        assert_eq!(ends(true, 0x1ff, 0x200), [0x7bff, 0xfbff]);
        assert_eq!(
            ends(true, 0x1fe, 0x201),
            [(((0x1fe_u64 << 15) + 0x4000) >> 9) * 31 >> 5, 0xfbff]
        );
        assert_eq!(ends(true, 0, 0x3ff), [0, 0x8000 | (((1 << 15) + 0x4000) >> 9) * 31 >> 5]);
    }

    #[test]
    fn sixteen_bits_reach_minus_infinity_and_minus_zero() {
        let fields = |base: u32| Fields {
            endpoints: [[base; 3], [0; 3], [0; 3], [0; 3]],
            ..Fields::default()
        };
        let of = |base, signed| decoded(&words(mode(15).write(&fields(base))), signed, 5, 2);
        assert_eq!(
            (of(0x8000, true), of(0x8001, true), of(0x7fff, true)),
            (0xfc00, 0xfbff, 0x7bff)
        );
        assert_eq!(
            (of(0xffff, true), of(0xffff, false), of(0x8000, false)),
            (0x8000, 0x7bff, 0x3e00)
        );
    }

    #[test]
    fn differences_wrap_at_the_width_of_the_first_endpoint() {
        // 2^11 - 1 and 1 more is 0; 0 and 1 less is 2^11 - 1.
        for (base, other, expected) in [(0x7ff, 1, 0), (0, 0x1ff, 0x7bff)] {
            let mut fields =
                Fields { endpoints: [[base; 3], [other; 3], [0; 3], [0; 3]], ..Fields::default() };
            fields.indices[15] = 15;
            assert_eq!(decoded(&words(mode(7).write(&fields)), false, 15, 0), expected);
        }
    }

    #[test]
    fn subsets_have_endpoints_of_their_own_and_weights_are_of_64() {
        let endpoints = [[0; 3], [63; 3], [63; 3], [0; 3]];
        let mut fields = Fields { endpoints, partition: 13, indices: [0; 16] };
        for (texel, index) in fields.indices.iter_mut().enumerate() {
            *index = texel as u32 % 8;
        }
        let words = words(mode(30).write(&fields));
        let share = |weight: u64| ((0xffff * weight + 32) >> 6) * 31 >> 6;
        // Partition 13: the lower half is of the second subset; the last texel is its anchor, of
        // two bits.
        let values: Vec<u64> = (0..16).map(|texel| decoded(&words, false, texel, 0)).collect();
        let rising = [0, 9, 18, 27, 37, 46, 55, 64].map(share);
        let falling = [64, 55, 46, 37, 27, 18, 9, 37].map(share);
        assert_eq!(values, [rising, falling].concat());
    }

    #[test]
    fn what_is_no_mode_is_black() {
        for bits in RESERVED {
            assert_eq!(decoded(&words(u128::MAX << 5 | u128::from(bits)), true, 7, 1), 0);
        }
    }
}
