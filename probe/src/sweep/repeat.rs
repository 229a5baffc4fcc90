//! Blocks whose results deviate run twice more, their lanes in other places: what does not come
//! again is no deviation.

use std::collections::{BTreeMap, BTreeSet};

use fpprobe_profiles::sweep::{SweepStatistics, Verifier};
use fpprobe_reports::sweep::{TIMES, Unstable, most};
use fpprobe_spirv::sweep::Domain;

use crate::supervisor::sweep::SweepStrategy;
use fpprobe_worker::protocol::Span;

/// The turns by which they do.
const TURNS: [u32; TIMES - 1] = [SweepStrategy::OTHER.turn, SweepStrategy::THIRD.turn];

/// A block that deviates.
struct DeviatingBlock {
    statistics: SweepStatistics,
    results: Vec<u32>,
    /// Of each further run the results that differ from the first, by their places.
    others: Vec<BTreeMap<usize, u32>>,
}

/// Blocks that are running again.
#[derive(Default)]
pub struct RepeatQueue {
    deviating: BTreeMap<u64, DeviatingBlock>,
    again: Vec<(u64, u32)>,
    /// What did not come again.
    pub unstable: Unstable,
}

impl RepeatQueue {
    /// Goes on from what is known.
    pub fn new(unstable: Unstable) -> RepeatQueue {
        RepeatQueue { unstable, ..RepeatQueue::default() }
    }

    /// Whether a span is of blocks that run again.
    pub fn is_repeat(span: &Span) -> bool {
        TURNS.contains(&span.turn)
    }

    /// Holds a block until it has run again.
    pub fn hold(&mut self, block: u64, sweep_statistics: SweepStatistics, results: Vec<u32>) {
        self.deviating.insert(
            block,
            DeviatingBlock { statistics: sweep_statistics, results, others: Vec::new() },
        );
        self.again.extend(TURNS.map(|turn| (block, turn)));
    }

    /// The blocks to run again since the last call.
    pub fn again(&mut self) -> Vec<(u64, u32)> {
        std::mem::take(&mut self.again)
    }

    /// Takes the results of a further run of a block. Gives what it amounts to after the last of
    /// them: where results did not come again, those that most runs gave are judged.
    pub fn take(
        &mut self,
        domain: &Domain,
        verifier: &Verifier,
        block: u64,
        results: &[u32],
    ) -> Option<SweepStatistics> {
        let block_results = self.deviating.get_mut(&block)?;
        let pairs = block_results.results.iter().zip(results).enumerate();
        block_results.others.push(
            pairs
                .filter(|(_, (first, again))| first != again)
                .map(|(place, (_, again))| (place, *again))
                .collect(),
        );
        if block_results.others.len() < TURNS.len() {
            return None;
        }
        let DeviatingBlock { statistics: sweep_statistics, mut results, others } =
            self.deviating.remove(&block)?;
        let first = block * domain.block();
        let places: BTreeSet<usize> = others.iter().flat_map(BTreeMap::keys).copied().collect();
        let mut differing = Vec::with_capacity(places.len());
        for place in places {
            let mut all = [results[place]; TIMES];
            for (own, other) in all[1..].iter_mut().zip(&others) {
                *own = other.get(&place).copied().unwrap_or(*own);
            }
            results[place] = most(all).unwrap_or(all[0]);
            differing.push((first + place as u64, all));
        }
        self.unstable.add(domain, block, &differing);
        if differing.is_empty() {
            return Some(sweep_statistics);
        }
        let mut sweep_statistics = SweepStatistics::default();
        verifier.block(first, &results, &mut sweep_statistics);
        Some(sweep_statistics)
    }
}
