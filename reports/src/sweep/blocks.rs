//! Sets of blocks, as ranges.

use fpprobe_spirv::sweep::BLOCK;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Blocks of the largest domain, three operands of 16 bits.
const MOST: u64 = (1 << 48) / BLOCK;

/// Numbers of blocks: ranges in order, none touching the next, each as its first block and how many
/// there are.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Blocks(#[serde(deserialize_with = "ranges")] Vec<[u64; 2]>);

impl Blocks {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, [_, count]| sum.saturating_add(*count))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().flat_map(|[first, count]| *first..first.saturating_add(*count))
    }

    /// The ranges: first block and number.
    pub fn ranges(&self) -> &[[u64; 2]] {
        &self.0
    }

    /// Whether this block is among them.
    pub fn contains(&self, block: u64) -> bool {
        let after = self.0.partition_point(|[first, _]| *first <= block);
        self.0[..after].last().is_some_and(|[first, count]| block - first < *count)
    }

    /// Adds a block.
    pub fn insert(&mut self, block: u64) {
        let after = self.0.partition_point(|[first, _]| *first <= block);
        let joins = |[first, count]: [u64; 2]| first + count == block;
        let begins = self.0.get(after).is_some_and(|[first, _]| block + 1 == *first);
        match after.checked_sub(1).map(|before| (before, self.0[before])) {
            Some((_, [first, count])) if block - first < count => {}
            Some((before, own)) if joins(own) => {
                self.0[before][1] += 1;
                if begins {
                    self.0[before][1] += self.0.remove(after)[1];
                }
            }
            _ if begins => self.0[after] = [block, self.0[after][1] + 1],
            _ => self.0.insert(after, [block, 1]),
        }
    }

    /// These blocks and those.
    pub fn union(&self, other: &Blocks) -> Blocks {
        let mut all: Vec<[u64; 2]> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_unstable();
        let mut ranges: Vec<[u64; 2]> = Vec::with_capacity(all.len());
        for [first, count] in all {
            match ranges.last_mut() {
                Some([known, length]) if first - *known <= *length => {
                    *length = (*length).max(first - *known + count);
                }
                _ => ranges.push([first, count]),
            }
        }
        Blocks(ranges)
    }

    /// The lowest block that is among both.
    pub fn common(&self, other: &Blocks) -> Option<u64> {
        let (mut own, mut others) = (self.0.as_slice(), other.0.as_slice());
        while let ([[a, m], more_own @ ..], [[b, n], more_others @ ..]) = (own, others) {
            if a + m <= *b {
                own = more_own;
            } else if b + n <= *a {
                others = more_others;
            } else {
                return Some(*a.max(b));
            }
        }
        None
    }

    /// The blocks of bundles of N with these numbers.
    pub fn of_bundles(&self, bundle: u64) -> Blocks {
        Blocks(self.0.iter().map(|[first, count]| [first * bundle, count * bundle]).collect())
    }
}

impl FromIterator<u64> for Blocks {
    fn from_iter<I: IntoIterator<Item = u64>>(blocks: I) -> Blocks {
        let mut blocks: Vec<u64> = blocks.into_iter().collect();
        blocks.sort_unstable();
        blocks.dedup();
        let mut ranges: Vec<[u64; 2]> = Vec::new();
        for block in blocks {
            match ranges.last_mut() {
                Some([first, count]) if *first + *count == block => *count += 1,
                _ => ranges.push([block, 1]),
            }
        }
        Blocks(ranges)
    }
}

/// Reads ranges, and refuses those that are out of order, empty or of more blocks than any kernel
/// has: what counts blocks one by one may rely on it.
fn ranges<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<[u64; 2]>, D::Error> {
    let ranges = Vec::<[u64; 2]>::deserialize(from)?;
    let mut free = 0;
    for [first, count] in &ranges {
        let fits = *first < MOST && (1..=MOST - *first).contains(count);
        if !fits || *first < free {
            let problem = format!(
                "[{first}, {count}] is no range of blocks, or not in order: there are {MOST} at most"
            );
            return Err(D::Error::custom(problem));
        }
        free = first + count + 1;
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_are_none_are_refused() {
        let read = |text: &str| serde_json::from_str::<Blocks>(text);
        assert_eq!(read("[[0,3],[5,2],[4095,1]]").unwrap().count(), 6);
        for text in [
            "[[0,0]]",
            "[[0,3],[3,1]]",
            "[[5,1],[2,1]]",
            "[[268435455,2]]",
            "[[0,18446744073709551615]]",
            "[[9e9,1]]",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_are_as_long_as_they_can_be() {
        let blocks: Blocks = [5, 1, 2, 9, 0, 6, 5].into_iter().collect();
        assert_eq!(blocks.ranges(), [[0, 3], [5, 2], [9, 1]]);
        assert_eq!(
            (blocks.count(), blocks.iter().collect::<Vec<_>>()),
            (6, vec![0, 1, 2, 5, 6, 9])
        );
        assert!(blocks.contains(6) && !blocks.contains(7) && !blocks.contains(10));
        assert_eq!(blocks.of_bundles(4).ranges(), [[0, 12], [20, 8], [36, 4]]);
    }

    #[test]
    fn ranges_are_those_of_single_blocks() {
        let sets = |seed: u64| {
            let drawn = |place| fpprobe_spirv::cases::random(seed << 8 | place) % 40;
            (0..seed % 30).map(drawn).collect::<std::collections::BTreeSet<u64>>()
        };
        for seed in 0..200 {
            let (one, two) = (sets(2 * seed), sets(2 * seed + 1));
            let blocks =
                |set: &std::collections::BTreeSet<u64>| -> Blocks { set.iter().copied().collect() };
            assert_eq!(blocks(&one).union(&blocks(&two)), blocks(&(&one | &two)), "{seed}");
            assert_eq!(blocks(&one).common(&blocks(&two)), (&one & &two).first().copied());
            let mut grown = blocks(&one);
            two.iter().rev().for_each(|block| grown.insert(*block));
            assert_eq!(grown, blocks(&(&one | &two)), "{seed}");
            assert!((0..40).all(|block| blocks(&one).contains(block) == one.contains(&block)));
        }
    }
}
