//! What changed since an older fingerprint: blocks, and inputs where they could be found.

use fpprobe_spirv::sweep::{BLOCK, Domain};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Blocks, FingerprintDevice};
use crate::change::LaneChange;
use crate::values;

/// Most changes that are listed: those of the lowest inputs.
const LISTED: usize = 1000;
/// Most runs: so many, and those of every block of the largest domain beside, so that whole blocks
/// leave room for others.
const RUNS: usize = LISTED + ((1 << 32) / BLOCK) as usize;

/// How the inputs that changed were found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// The older device was at hand: both were asked the blocks again, and their results compared.
    #[serde(rename = "asked")]
    Measured,
    /// From the digests and what the newer device answers: they name the input of a block where
    /// only one changed.
    Digests,
}

/// What changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// Whose answers it is compared with.
    pub since: FingerprintDevice,
    /// How inputs were found.
    pub resolution: Resolution,
    /// Blocks that both have asked.
    pub compared: u64,
    /// Those that differ.
    pub blocks: Blocks,
    /// Of these, those whose inputs could not be found.
    pub unresolved: Blocks,
    /// Inputs found that changed.
    pub inputs: u64,
    /// Consecutive inputs that changed, by number: the first, and how many. A run ends with its
    /// block; those of the lowest inputs, which are all unless thousands are scattered.
    pub runs: Vec<[u64; 2]>,
    /// Those of the lowest numbers.
    pub list: Vec<ChangedInput>,
}

/// An input that changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChangedInput {
    /// Its number: the bits of the operands side by side, the first operand's highest.
    pub number: u64,
    /// Operands and results.
    #[serde(flatten)]
    pub lane: LaneChange,
}

impl Changes {
    /// Nothing is known yet but which blocks differ.
    pub fn new(
        since: FingerprintDevice,
        resolution: Resolution,
        compared: u64,
        blocks: Blocks,
    ) -> Changes {
        let unresolved = blocks.clone();
        Changes {
            since,
            resolution,
            compared,
            blocks,
            unresolved,
            inputs: 0,
            runs: Vec::new(),
            list: Vec::new(),
        }
    }

    /// Adds an input with the words of its results. Inputs come in order.
    pub fn add(&mut self, domain: &Domain, number: u64, before: Option<&[u32]>, after: &[u32]) {
        self.inputs += 1;
        let last = self
            .runs
            .last_mut()
            .filter(|[first, count]| *first + *count == number && !number.is_multiple_of(BLOCK));
        if let Some([_, count]) = last {
            *count += 1;
        } else if self.runs.len() < RUNS {
            self.runs.push([number, 1]);
        }
        if self.list.len() < LISTED {
            let (kernel, case) = (domain.kernel(), domain.case(number));
            let shown = |words: &[u32]| values::encode_answer(kernel, &domain.answer(words));
            let inputs = values::encode_case(kernel, &case);
            let (old, new) = (before.map(shown), shown(after));
            let lane = LaneChange { inputs, old, new, old_second: None, new_second: None };
            self.list.push(ChangedInput { number, lane });
        }
    }

    /// The runs, those that follow one another as one: the first input, and how many.
    pub fn ranges(&self) -> Vec<[u64; 2]> {
        let mut ranges: Vec<[u64; 2]> = Vec::new();
        for [first, count] in &self.runs {
            match ranges.last_mut() {
                Some([before, known]) if *before + *known == *first => *known += count,
                _ => ranges.push([*first, *count]),
            }
        }
        ranges
    }

    /// Changes that are in none of the runs kept.
    pub fn left_out(&self) -> u64 {
        self.inputs.saturating_sub(self.runs.iter().map(|[_, count]| count).sum())
    }

    /// Notes that the inputs of these blocks that changed are all found.
    pub fn resolved(&mut self, blocks: &Blocks) {
        self.unresolved = self.unresolved.iter().filter(|block| !blocks.contains(*block)).collect();
    }

    /// Adds what was found of other blocks of the same kernel.
    pub(super) fn merge(&mut self, other: Changes) {
        self.compared += other.compared;
        self.blocks = self.blocks.union(&other.blocks);
        self.unresolved = self.unresolved.union(&other.unresolved);
        self.inputs += other.inputs;
        self.runs.extend(other.runs);
        self.runs.sort_unstable();
        self.runs.truncate(RUNS);
        self.list.extend(other.list);
        self.list.sort_by_key(|change| change.number);
        self.list.truncate(LISTED);
    }
}
