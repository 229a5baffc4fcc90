//! Sets of blocks, as ranges.

use fpprobe_spirv::sweep::BLOCK;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Blocks of the largest domain, all pairs of 16 bits or all 32.
const MOST: u64 = (1 << 32) / BLOCK;

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
        self.0.iter().any(|[first, count]| block >= *first && block - first < *count)
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
            "[[4095,2]]",
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
        assert!(blocks.contains(6) && !blocks.contains(7));
    }
}
