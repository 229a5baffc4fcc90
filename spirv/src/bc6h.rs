//! BC6H: which bits of a block are which number (Khronos Data Format Specification, "BPTC
//! Compressed Texture Image Formats", BC6H; D3D11.3 §19.5.13).
//!
//! A block is 128 bits. Its lowest ones say the mode: how many subsets its texels fall into, how
//! wide the endpoints of each subset are, and where their bits lie. Behind them come which texel is
//! of which subset, and for each texel how far it lies from one endpoint to the other.

use std::sync::LazyLock;

/// Texels of a block in each direction.
pub const SIDE: u32 = 4;
/// Bits of a block.
pub const BITS: u32 = 128;
/// Texels of a block, row by row.
pub const TEXELS: u32 = SIDE * SIDE;
/// Values of five mode bits that are no mode: every channel of such a block is 0.
pub const RESERVED: [u32; 4] = [0b1_0011, 0b1_0111, 0b1_1011, 0b1_1111];

/// Where the partition of a block of two subsets lies, and its width.
const PARTITION: (u32, u32) = (77, 5);
/// Where the indices of a block of one subset, and of one of two, begin.
const INDICES: [u32; 2] = [65, 82];

/// Which texels are of the second subset, the first texel in the highest bit (table "Partition
/// table for 2-subset BPTC").
pub const SUBSETS: [u16; 32] = [
    0b0011_0011_0011_0011,
    0b0001_0001_0001_0001,
    0b0111_0111_0111_0111,
    0b0001_0011_0011_0111,
    0b0000_0001_0001_0011,
    0b0011_0111_0111_1111,
    0b0001_0011_0111_1111,
    0b0000_0001_0011_0111,
    0b0000_0000_0001_0011,
    0b0011_0111_1111_1111,
    0b0000_0001_0111_1111,
    0b0000_0000_0001_0111,
    0b0001_0111_1111_1111,
    0b0000_0000_1111_1111,
    0b0000_1111_1111_1111,
    0b0000_0000_0000_1111,
    0b0000_1000_1110_1111,
    0b0111_0001_0000_0000,
    0b0000_0000_1000_1110,
    0b0111_0011_0001_0000,
    0b0011_0001_0000_0000,
    0b0000_1000_1100_1110,
    0b0000_0000_1000_1100,
    0b0111_0011_0011_0001,
    0b0011_0001_0001_0000,
    0b0000_1000_1000_1100,
    0b0110_0110_0110_0110,
    0b0011_0110_0110_1100,
    0b0001_0111_1110_1000,
    0b0000_1111_1111_0000,
    0b0111_0001_1000_1110,
    0b0011_1001_1001_1100,
];

/// The texel of the second subset whose index lacks its highest bit (table "BPTC anchor index
/// values for the second subset of two-subset partitioning").
const ANCHORS: [u32; 32] = [
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, //
    15, 2, 8, 2, 2, 8, 8, 15, 2, 8, 2, 2, 8, 8, 2, 2,
];

/// A mode of blocks.
#[derive(Debug)]
pub struct BlockMode {
    /// Its mode bits: two where they are 0 or 1, else five.
    pub number: u32,
    /// Whether the endpoints but the first are differences from it.
    pub transformed: bool,
    /// Bits of the first endpoint, and of all when differences have been added.
    pub bits: u32,
    /// Bits of red, green and blue of the other endpoints.
    pub others: [u32; 3],
    /// Channel, endpoint and bit of each bit behind the mode's.
    places: Vec<(usize, usize, u32)>,
}

/// The numbers of a block. An endpoint that its mode lacks is 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fields {
    /// Red, green and blue of the endpoints, two for each subset, as their bits are.
    pub endpoints: [[u32; 3]; 4],
    /// Which texels are of which subset, see [`SUBSETS`]; 0 in a mode of one subset.
    pub partition: u32,
    /// For each texel the number of its weight.
    pub indices: [u32; TEXELS as usize],
}

/// Every mode, in the order of the table "Endpoint and partition parameters for BC6H block modes".
pub static MODES: LazyLock<[BlockMode; 14]> = LazyLock::new(|| {
    let mode = |number, transformed, bits, others, layout| {
        BlockMode::new(number, transformed, bits, others, layout)
    };
    [
        mode(
            0,
            true,
            10,
            [5, 5, 5],
            "g2.4 b2.4 b3.4 r0.9-0 g0.9-0 b0.9-0 r1.4-0 g3.4 g2.3-0 g1.4-0 b3.0 g3.3-0 b1.4-0 b3.1 b2.3-0 r2.4-0 b3.2 r3.4-0 b3.3",
        ),
        mode(
            1,
            true,
            7,
            [6, 6, 6],
            "g2.5 g3.4 g3.5 r0.6-0 b3.0 b3.1 b2.4 g0.6-0 b2.5 b3.2 g2.4 b0.6-0 b3.3 b3.5 b3.4 r1.5-0 g2.3-0 g1.5-0 g3.3-0 b1.5-0 b2.3-0 r2.5-0 r3.5-0",
        ),
        mode(
            2,
            true,
            11,
            [5, 4, 4],
            "r0.9-0 g0.9-0 b0.9-0 r1.4-0 r0.10 g2.3-0 g1.3-0 g0.10 b3.0 g3.3-0 b1.3-0 b0.10 b3.1 b2.3-0 r2.4-0 b3.2 r3.4-0 b3.3",
        ),
        mode(
            6,
            true,
            11,
            [4, 5, 4],
            "r0.9-0 g0.9-0 b0.9-0 r1.3-0 r0.10 g3.4 g2.3-0 g1.4-0 g0.10 g3.3-0 b1.3-0 b0.10 b3.1 b2.3-0 r2.3-0 b3.0 b3.2 r3.3-0 g2.4 b3.3",
        ),
        mode(
            10,
            true,
            11,
            [4, 4, 5],
            "r0.9-0 g0.9-0 b0.9-0 r1.3-0 r0.10 b2.4 g2.3-0 g1.3-0 g0.10 b3.0 g3.3-0 b1.4-0 b0.10 b2.3-0 r2.3-0 b3.1 b3.2 r3.3-0 b3.4 b3.3",
        ),
        mode(
            14,
            true,
            9,
            [5, 5, 5],
            "r0.8-0 b2.4 g0.8-0 g2.4 b0.8-0 b3.4 r1.4-0 g3.4 g2.3-0 g1.4-0 b3.0 g3.3-0 b1.4-0 b3.1 b2.3-0 r2.4-0 b3.2 r3.4-0 b3.3",
        ),
        mode(
            18,
            true,
            8,
            [6, 5, 5],
            "r0.7-0 g3.4 b2.4 g0.7-0 b3.2 g2.4 b0.7-0 b3.3 b3.4 r1.5-0 g2.3-0 g1.4-0 b3.0 g3.3-0 b1.4-0 b3.1 b2.3-0 r2.5-0 r3.5-0",
        ),
        mode(
            22,
            true,
            8,
            [5, 6, 5],
            "r0.7-0 b3.0 b2.4 g0.7-0 g2.5 g2.4 b0.7-0 g3.5 b3.4 r1.4-0 g3.4 g2.3-0 g1.5-0 g3.3-0 b1.4-0 b3.1 b2.3-0 r2.4-0 b3.2 r3.4-0 b3.3",
        ),
        mode(
            26,
            true,
            8,
            [5, 5, 6],
            "r0.7-0 b3.1 b2.4 g0.7-0 b2.5 g2.4 b0.7-0 b3.5 b3.4 r1.4-0 g3.4 g2.3-0 g1.4-0 b3.0 g3.3-0 b1.5-0 b2.3-0 r2.4-0 b3.2 r3.4-0 b3.3",
        ),
        mode(
            30,
            false,
            6,
            [6, 6, 6],
            "r0.5-0 g3.4 b3.0 b3.1 b2.4 g0.5-0 g2.5 b2.5 b3.2 g2.4 b0.5-0 g3.5 b3.3 b3.5 b3.4 r1.5-0 g2.3-0 g1.5-0 g3.3-0 b1.5-0 b2.3-0 r2.5-0 r3.5-0",
        ),
        mode(3, false, 10, [10, 10, 10], "r0.9-0 g0.9-0 b0.9-0 r1.9-0 g1.9-0 b1.9-0"),
        mode(7, true, 11, [9, 9, 9], "r0.9-0 g0.9-0 b0.9-0 r1.8-0 r0.10 g1.8-0 g0.10 b1.8-0 b0.10"),
        mode(
            11,
            true,
            12,
            [8, 8, 8],
            "r0.9-0 g0.9-0 b0.9-0 r1.7-0 r0.10-11 g1.7-0 g0.10-11 b1.7-0 b0.10-11",
        ),
        mode(
            15,
            true,
            16,
            [4, 4, 4],
            "r0.9-0 g0.9-0 b0.9-0 r1.3-0 r0.10-15 g1.3-0 g0.10-15 b1.3-0 b0.10-15",
        ),
    ]
});

impl BlockMode {
    /// `layout`: the fields from the lowest bit on, `r0.9-0` being bits 0 to 9 of red of the first
    /// endpoint, `r0.10-11` bit 11 and then bit 10: as the specification's table "Block
    /// descriptions for BC6H block modes" has them.
    fn new(number: u32, transformed: bool, bits: u32, others: [u32; 3], layout: &str) -> BlockMode {
        let places = layout.split(' ').flat_map(|field| {
            let (name, range) = field.split_once('.').unwrap_or((field, "0"));
            let (high, low) = range.split_once('-').unwrap_or((range, range));
            let [high, low] = [high, low].map(|number| number.parse::<u32>().unwrap_or_default());
            let channel =
                usize::from(name.starts_with('g')) + 2 * usize::from(name.starts_with('b'));
            let endpoint = name[1..].parse().unwrap_or_default();
            let ascending: Vec<u32> =
                if low <= high { (low..=high).collect() } else { (high..=low).rev().collect() };
            ascending.into_iter().map(move |bit| (channel, endpoint, bit))
        });
        BlockMode { number, transformed, bits, others, places: places.collect() }
    }

    /// The mode of a block; `None` where its bits are [`RESERVED`].
    pub fn of(block: u128) -> Option<&'static BlockMode> {
        let number = if block & 0b10 == 0 { part(block, 0, 2) } else { part(block, 0, 5) };
        MODES.iter().find(|mode| mode.number == number)
    }

    /// Whether the texels fall into two subsets.
    pub fn is_parted(&self) -> bool {
        self.places.iter().any(|(_, endpoint, _)| *endpoint > 1)
    }

    /// Bits of a channel of an endpoint.
    pub fn width(&self, endpoint: usize, channel: usize) -> u32 {
        if endpoint == 0 { self.bits } else { self.others[channel] }
    }

    /// Which subset a texel is of.
    pub fn subset(&self, partition: u32, texel: u32) -> usize {
        let second =
            self.is_parted() && SUBSETS[partition as usize] >> (TEXELS - 1 - texel) & 1 == 1;
        usize::from(second)
    }

    /// Bits of a texel's index, of which one that is an anchor lacks the highest.
    pub fn index_bits(&self) -> u32 {
        if self.is_parted() { 3 } else { 4 }
    }

    /// Where the index of a texel lies, and its width.
    fn index(&self, partition: u32, texel: u32) -> (u32, u32) {
        let anchors = [0, ANCHORS[partition as usize]];
        let anchors = if self.is_parted() { &anchors[..] } else { &anchors[..1] };
        let before = anchors.iter().filter(|anchor| **anchor < texel).count() as u32;
        let width = self.index_bits() - u32::from(anchors.contains(&texel));
        (INDICES[usize::from(self.is_parted())] + self.index_bits() * texel - before, width)
    }

    /// Position of each bit of the endpoints, with what it is of.
    fn places(&self) -> impl Iterator<Item = (u32, (usize, usize, u32))> {
        let first = if self.number < 2 { 2 } else { 5 };
        (first..).zip(self.places.iter().copied())
    }

    /// The numbers of a block of this mode.
    pub fn read(&self, block: u128) -> Fields {
        let mut fields = Fields::default();
        for (at, (channel, endpoint, bit)) in self.places() {
            fields.endpoints[endpoint][channel] |= part(block, at, 1) << bit;
        }
        if self.is_parted() {
            fields.partition = part(block, PARTITION.0, PARTITION.1);
        }
        for (texel, index) in (0..).zip(&mut fields.indices) {
            let (at, width) = self.index(fields.partition, texel);
            *index = part(block, at, width);
        }
        fields
    }

    /// The block of these numbers; of each the bits that it has in this mode.
    pub fn write(&self, fields: &Fields) -> u128 {
        let mut block = u128::from(self.number);
        for (at, (channel, endpoint, bit)) in self.places() {
            block |= u128::from(fields.endpoints[endpoint][channel] >> bit & 1) << at;
        }
        if self.is_parted() {
            block |= u128::from(fields.partition) << PARTITION.0;
        }
        for (texel, index) in (0..).zip(fields.indices) {
            let (at, width) = self.index(fields.partition, texel);
            block |= u128::from(index & ((1 << width) - 1)) << at;
        }
        block
    }
}

/// So many bits of a block.
fn part(block: u128, at: u32, bits: u32) -> u32 {
    (block >> at) as u32 & ((1 << bits) - 1)
}

/// The block of these words, the lowest first.
pub fn block(words: &[u64]) -> u128 {
    words.iter().rev().fold(0, |block, word| block << 32 | u128::from(*word))
}

/// The words of a block, the lowest first.
pub fn words(block: u128) -> [u64; 4] {
    [0, 32, 64, 96].map(|at| (block >> at) as u64 & u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_block_is_one_of_one_number() {
        for mode in MODES.iter() {
            for partition in 0..if mode.is_parted() { 32 } else { 1 } {
                // Each number with all its bits, and no other.
                let mut seen = u128::from(mode.number) | u128::from(partition) << PARTITION.0;
                let mut add = |fields: &Fields, bits: u32| {
                    let own =
                        mode.write(fields) ^ mode.write(&Fields { partition, ..Fields::default() });
                    assert_eq!(
                        (own.count_ones(), own & seen),
                        (bits, 0),
                        "mode {} {fields:?}",
                        mode.number
                    );
                    assert_eq!(&mode.read(mode.write(fields)), fields);
                    seen |= own;
                };
                for endpoint in 0..if mode.is_parted() { 4 } else { 2 } {
                    for channel in 0..3 {
                        let mut fields = Fields { partition, ..Fields::default() };
                        let bits = mode.width(endpoint, channel);
                        fields.endpoints[endpoint][channel] = (1 << bits) - 1;
                        add(&fields, bits);
                    }
                }
                for texel in 0..TEXELS {
                    let mut fields = Fields { partition, ..Fields::default() };
                    let bits = mode.index(partition, texel).1;
                    fields.indices[texel as usize] = (1 << bits) - 1;
                    add(&fields, bits);
                }
                let own = if mode.number < 2 { 2 } else { 5 };
                let free = u128::MAX << own
                    & !seen
                    & !(u128::from(mode.is_parted()) * 0x1f << PARTITION.0);
                assert_eq!(free, 0, "mode {} leaves bits out", mode.number);
            }
        }
    }

    #[test]
    fn anchors_are_of_the_second_subset_and_modes_are_distinguished() {
        for (subsets, anchor) in SUBSETS.iter().zip(ANCHORS) {
            assert_eq!((subsets >> 15, subsets >> (15 - anchor) & 1), (0, 1));
        }
        for bits in 0..32_u128 {
            let reserved = RESERVED.contains(&(bits as u32));
            assert_eq!(BlockMode::of(bits).is_none(), reserved, "{bits:05b}");
        }
        let given = [0x0123_4567, 0x89ab_cdef, 0xffff_ffff, 1];
        assert_eq!(words(block(&given)), given);
    }
}
