//! Blocks whose results deviate run twice more, their lanes in other places: what does not come again is no deviation.

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
    tally: SweepStatistics,
    results: Vec<u32>,
    /// Of each further run the results that differ from the first, by their places.
    others: Vec<BTreeMap<usize, u32>>,
}

/// Blocks that are running again.
#[derive(Default)]
pub struct Repeating {
    held: BTreeMap<u64, DeviatingBlock>,
    again: Vec<(u64, u32)>,
    /// What did not come again.
    pub unstable: Unstable,
}

impl Repeating {
    /// Goes on from what is known.
    pub fn new(unstable: Unstable) -> Repeating {
        Repeating { unstable, ..Repeating::default() }
    }

    /// Whether a span is of blocks that run again.
    pub fn is_repeat(span: &Span) -> bool {
        TURNS.contains(&span.turn)
    }

    /// Holds a block until it has run again.
    pub fn hold(&mut self, block: u64, tally: SweepStatistics, results: Vec<u32>) {
        self.held.insert(block, DeviatingBlock { tally, results, others: Vec::new() });
        self.again.extend(TURNS.map(|turn| (block, turn)));
    }

    /// The blocks to run again since the last call.
    pub fn again(&mut self) -> Vec<(u64, u32)> {
        std::mem::take(&mut self.again)
    }

    /// Takes the results of a further run of a block. Gives what it amounts to after the last of them: where results did not come
    /// again, those that most runs gave are judged.
    pub fn take(
        &mut self,
        domain: &Domain,
        verifier: &Verifier,
        block: u64,
        results: &[u32],
    ) -> Option<SweepStatistics> {
        let held = self.held.get_mut(&block)?;
        let pairs = held.results.iter().zip(results).enumerate();
        held.others.push(
            pairs.filter(|(_, (first, again))| first != again).map(|(place, (_, again))| (place, *again)).collect(),
        );
        if held.others.len() < TURNS.len() {
            return None;
        }
        let DeviatingBlock { tally, mut results, others } = self.held.remove(&block)?;
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
            return Some(tally);
        }
        let mut tally = SweepStatistics::default();
        verifier.block(first, &results, &mut tally);
        Some(tally)
    }
}
