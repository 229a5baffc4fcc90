//! Blocks of BC6H: every mode, partition and index; the least and the greatest endpoints, those
//! around the middle, where signs change, and random ones; bits that are no mode; random blocks.

use super::values::random;
use crate::bc6h::{BlockMode, Fields, MODES, RESERVED, SUBSETS, words};

/// Blocks of each mode.
const OF_MODE: u32 = 16;
/// Of those, blocks of random endpoints.
const RANDOM_OF_MODE: u32 = 4;
/// Blocks of random bits, of which each is of some mode or of none.
const RANDOM: u64 = 24;
/// How far the index of a texel lies from the next one's: odd, so that a block has them all.
const STEP: u32 = 5;

/// Every block, word by word.
pub(super) fn cases() -> Vec<u64> {
    let of_modes =
        MODES.iter().flat_map(|mode| (0..OF_MODE).map(|number| mode.write(&fields(mode, number))));
    let reserved = RESERVED.into_iter().flat_map(|bits| {
        [0, noise(u64::from(bits)) & !0b1_1111].map(|block| block | u128::from(bits))
    });
    let random = (0..RANDOM).map(|seed| noise(seed + 100));
    of_modes.chain(reserved).chain(random).flat_map(words).collect()
}

/// 128 random bits.
fn noise(seed: u64) -> u128 {
    let [low, high] = [2 * seed, 2 * seed + 1].map(|seed| u128::from(random(seed + 60_000)));
    high << 64 | low
}

/// The numbers of a block of a mode.
fn fields(mode: &BlockMode, number: u32) -> Fields {
    let mut fields = Fields::default();
    let seed = u64::from(mode.number * OF_MODE + number);
    for (endpoint, channels) in fields.endpoints.iter_mut().enumerate() {
        for (channel, bits) in channels.iter_mut().enumerate() {
            let width = mode.width(endpoint, channel);
            let draw = random(seed << 8 | (endpoint * 3 + channel) as u64) as u32;
            *bits = if number < OF_MODE - RANDOM_OF_MODE {
                let extremes = extremes(width);
                // The first blocks have one extreme throughout.
                let place = if (number as usize) < extremes.len() { number } else { draw };
                extremes[place as usize % extremes.len()]
            } else {
                draw & ((1 << width) - 1)
            };
        }
    }
    // One mode has the even partitions, the next the odd ones.
    let odd = MODES.iter().position(|one| one.number == mode.number).unwrap_or_default() as u32 % 2;
    fields.partition = if mode.is_parted() { (2 * number + odd) % SUBSETS.len() as u32 } else { 0 };
    for (texel, index) in (0..).zip(&mut fields.indices) {
        *index = (texel * STEP + number) % (1 << mode.index_bits());
    }
    fields
}

/// The least and the greatest numbers of N bits, without and with a sign, and their neighbours.
fn extremes(bits: u32) -> [u32; 6] {
    let (middle, last) = (1 << (bits - 1), (1 << bits) - 1);
    [0, 1, middle - 1, middle, last - 1, last]
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::bc6h::block;

    #[test]
    fn every_mode_partition_index_and_extreme_is_asked() {
        let list = cases();
        let blocks: Vec<u128> = list.chunks_exact(4).map(block).collect();
        let (mut partitions, mut reserved, mut indices) =
            (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        for mode in MODES.iter() {
            let own: Vec<Fields> = blocks
                .iter()
                .filter(|block| BlockMode::of(**block).is_some_and(|of| of.number == mode.number))
                .map(|block| mode.read(*block))
                .collect();
            for (texel, index) in own.iter().flat_map(|fields| (0..).zip(fields.indices)) {
                indices
                    .entry((mode.index_bits(), texel))
                    .or_insert_with(BTreeSet::new)
                    .insert(index);
            }
            for endpoint in 0..if mode.is_parted() { 4 } else { 2 } {
                for channel in 0..3 {
                    let values: BTreeSet<u32> =
                        own.iter().map(|fields| fields.endpoints[endpoint][channel]).collect();
                    let extremes = extremes(mode.width(endpoint, channel));
                    assert!(
                        extremes.iter().all(|bits| values.contains(bits)),
                        "mode {} {values:?}",
                        mode.number
                    );
                }
            }
            partitions
                .extend(own.iter().filter(|_| mode.is_parted()).map(|fields| fields.partition));
        }
        reserved.extend(
            blocks
                .iter()
                .filter(|block| BlockMode::of(**block).is_none())
                .map(|block| *block as u32 & 0b1_1111),
        );
        for ((bits, texel), indices) in indices {
            // The first texel's index lacks its highest bit.
            assert_eq!(
                indices.len(),
                1 << (bits - u32::from(texel == 0)),
                "texel {texel}, {bits} bits"
            );
        }
        assert_eq!((partitions.len(), reserved.len()), (SUBSETS.len(), RESERVED.len()));
    }
}
