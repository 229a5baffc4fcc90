//! Blocks of a kernel's domain that run again and again, each time in another order.

use std::time::{Duration, Instant};

use fpprobe_reports::screen::{ScreenFinding, ScreenRound, ScreenRuns, WorkRuns};
use fpprobe_reports::sweep::Print;
use fpprobe_reports::values;
use fpprobe_spirv::sweep::{Digest, Domain, GROUP, LANES, Sink};

use super::plan::spread;
use super::print::digests;
use super::resolve::{blocks, single};
use crate::supervisor::DeviceSession;
use crate::supervisor::results::Results;
use crate::supervisor::sweep::{BlockQueue, Ledger, SweepEnd, SweepOrder, SweepStrategy, sweep};
use fpprobe_worker::protocol::{Failure, Span};

/// Local sizes and orders of rounds, in turns: every size that every device offers and a block can
/// be made of.
pub const STRATEGIES: [SweepStrategy; 5] = [
    SweepStrategy::FIRST,
    SweepStrategy::OTHER,
    SweepStrategy::THIRD,
    SweepStrategy { group: GROUP / 4, turn: 0x3b },
    SweepStrategy { group: GROUP / 8, turn: 0xa6 },
];

/// Blocks that stay in order, so that dispatches can hold several.
const TOGETHER: u64 = 64;
/// Runs of blocks in a pass at most.
const MOST: usize = 1 << 16;
/// A pass takes at least as long, over and over the same blocks: else starting a worker would be
/// most of it.
const LEAST: Duration = Duration::from_secs(1);
/// Longest dispatch.
const DISPATCH: Duration = Duration::from_millis(250);
/// Bytes of results on the device and on the host.
const MEMORY: u64 = 64 << 20;
/// How often a block that differs runs at most to find the input.
const ATTEMPTS: usize = 3;
/// Failures located that must be in one lane to name it.
const LOCATED: usize = 4;
/// Numbers of lanes, of which the largest that fits is named.
const WIDTHS: [u32; 6] = [256, 128, 64, 32, 16, 8];

/// The blocks of a kernel, and what their runs gave.
pub struct ScreenedBlocks {
    domain: Domain,
    sink: Sink,
    work: Vec<(Option<u64>, WorkRuns<[u32; 3]>)>,
    /// Blocks to run: all, spread over the domain, in the first round; those that there was time
    /// for in later ones.
    blocks: Vec<u64>,
    /// Runs of a block so far.
    runs: u64,
}

/// When and how a pass over the blocks runs.
#[derive(Clone, Copy)]
pub struct ScreenPass {
    /// Number of the round.
    pub round: usize,
    /// When the screening began.
    pub begun: Instant,
    /// How long the pass takes at most, from its first result on.
    pub slice: Duration,
    /// When the screening ends.
    pub end: Instant,
}

impl ScreenedBlocks {
    /// Of a kernel; `reference` has what is right, `normalise` is whether a NaN is one whatever its
    /// bits.
    pub fn new(domain: Domain, reference: Option<&Print>, normalise: bool) -> ScreenedBlocks {
        let sums = |block: u64| reference.and_then(|print| print.bundles.get(&block).copied());
        let work =
            (0..domain.blocks()).map(|block| (Some(block), WorkRuns::new(sums(block)))).collect();
        let pieces = domain.blocks().div_ceil(TOGETHER);
        let piece = |piece: u64| piece * TOGETHER..((piece + 1) * TOGETHER).min(domain.blocks());
        let mut blocks: Vec<u64> = spread(pieces, 0).flat_map(piece).collect();
        // Where there is no time for all, those of which something is known come first.
        blocks.sort_by_key(|block| sums(*block).is_none());
        ScreenedBlocks { domain, sink: Sink::Digest { normalise }, work, blocks, runs: 0 }
    }

    /// Runs the blocks for a moment, or as many of them as there is time for. Gives how it ended,
    /// the number of results, and whether one differs and none did before.
    pub fn pass(&mut self, site: &DeviceSession<'_>, pass: ScreenPass) -> (SweepEnd, u64, bool) {
        let before = (self.runs, self.differs());
        let mut blocks = self.blocks.clone();
        if pass.round % 2 == 1 {
            blocks = blocks.chunks(TOGETHER as usize).rev().flatten().copied().collect();
        }
        let once = blocks.len();
        let blocks = std::iter::repeat_n(blocks, (MOST / once.max(1)).max(1)).flatten().collect();
        let domain = self.domain.clone();
        let order = order(&domain, self.sink, blocks, STRATEGIES[pass.round % STRATEGIES.len()]);
        let least = before.0 + once as u64;
        let ended =
            sweep(site, order, &mut ScreenLedger { screened: self, pass, least, first: None });
        if before.0 == 0 && self.runs > 0 {
            let work = &self.work;
            self.blocks.retain(|block| work[*block as usize].1.has_run());
        }
        (ended, (self.runs - before.0) * self.domain.block(), self.differs() && !before.1)
    }

    /// Whether something differs.
    fn differs(&self) -> bool {
        self.work.iter().any(|(_, runs)| runs.differs())
    }

    /// What came of it; the blocks that differ run again to find the inputs.
    pub fn finding(
        &self,
        site: &DeviceSession<'_>,
        rounds: &[ScreenRound],
    ) -> Option<ScreenFinding> {
        let kernel = self.domain.kernel().to_string();
        let runs = ScreenRuns {
            kernel: &kernel,
            results_per_run: self.domain.block(),
            work: &self.work,
            rounds,
        };
        let mut finding = runs.finding()?;
        let mut known = Vec::new();
        for (failure, right, wrong) in runs.listed() {
            known.push((failure.block.unwrap_or_default(), *right.unwrap_or(wrong), *wrong));
        }
        let blocks: Vec<u64> = known.iter().map(|(block, ..)| *block).collect();
        let again = std::iter::repeat_n(blocks, ATTEMPTS).flatten();
        let normalise = matches!(self.sink, Sink::Digest { normalise: true });
        let mut locator =
            Locator { domain: &self.domain, normalise, located: vec![None; known.len()], known };
        let order = order(&self.domain, Sink::Store, again.collect(), SweepStrategy::THIRD);
        // Where that fails, the failures stay, without their inputs.
        sweep(site, order, &mut locator);
        let (domain, kernel) = (&self.domain, self.domain.kernel());
        let mut lanes = Vec::new();
        for (failure, located) in finding.list.iter_mut().zip(&locator.located) {
            let Some(LocatedInput { input, right, wrong }) = located else { continue };
            let shown = |word: u32| values::encode_answer(kernel, &domain.answer(&[word]));
            failure.inputs = values::encode_case(kernel, &domain.case(*input));
            (failure.expected, failure.out) = (Some(shown(*right)), Some(shown(*wrong)));
            let turn =
                STRATEGIES.iter().find(|way| way.group == failure.group).map_or(0, |way| way.turn);
            lanes.push((*input % u64::from(LANES)) as u32 ^ turn);
        }
        finding.lane = (lanes.len() >= LOCATED).then(|| common_lane(&lanes)).flatten();
        Some(finding)
    }
}

/// The lane that all of these are in, of the most lanes.
fn common_lane(lanes: &[u32]) -> Option<[u32; 2]> {
    let is_one = |width: &u32| lanes.iter().all(|lane| lane % width == lanes[0] % width);
    WIDTHS.into_iter().find(is_one).map(|width| [lanes[0] % width, width])
}

fn order(domain: &Domain, sink: Sink, blocks: Vec<u64>, way: SweepStrategy) -> SweepOrder<'_> {
    let blocks = BlockQueue::new(blocks);
    SweepOrder { domain, sink, blocks, longest: DISPATCH, memory: MEMORY, way }
}

/// Compares digests as they arrive.
struct ScreenLedger<'a> {
    screened: &'a mut ScreenedBlocks,
    pass: ScreenPass,
    /// Runs of blocks that a pass takes at least, and the time from its first result on.
    least: u64,
    /// When its first result came: starting a worker takes nothing of its time.
    first: Option<Instant>,
}

impl Ledger for ScreenLedger<'_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let at_s = self.pass.begun.elapsed().as_secs_f64();
        self.first.get_or_insert_with(Instant::now);
        for (block, digest) in digests(span, results)? {
            let ScreenedBlocks { work, runs, .. } = &mut *self.screened;
            work[block as usize].1.add(&digest.sums, self.pass.round, at_s, *runs);
            *runs += 1;
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        let now = Instant::now();
        // However short its time is, a pass runs something.
        self.first.is_some_and(|first| {
            let is_done = self.screened.runs >= self.least && now >= first + LEAST;
            is_done || now >= first + self.pass.slice || now >= self.pass.end
        })
    }
}

/// An input whose result differs, with both results.
#[derive(Clone, Copy)]
struct LocatedInput {
    input: u64,
    right: u32,
    wrong: u32,
}

/// Finds the inputs of blocks by their results and the digests that are known.
struct Locator<'a> {
    domain: &'a Domain,
    normalise: bool,
    /// Blocks, each with the sums that are right and wrong.
    known: Vec<(u64, [u32; 3], [u32; 3])>,
    located: Vec<Option<LocatedInput>>,
}

impl Ledger for Locator<'_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let domain = self.domain;
        for (block, results) in blocks(domain, span, &results.words()?) {
            let mut results = results.to_vec();
            if self.normalise {
                domain.normalise(&mut results);
            }
            let now = Digest::of((block * span.inputs) as u32, &results, domain.words());
            for ((_, right, wrong), located) in self
                .known
                .iter()
                .zip(&mut self.located)
                .filter(|((of, ..), located)| *of == block && located.is_none())
            {
                let digest = |sums: &[u32; 3]| Digest { sums: *sums, lanes: LANES };
                // This run may have given either.
                let (is_wrong, other) =
                    (now.sums == *wrong, if now.sums == *wrong { right } else { wrong });
                if !is_wrong && now.sums != *right {
                    continue;
                }
                if let Some((input, [own], Some(other))) =
                    single(domain, block, &results, now, digest(other))
                {
                    let (right, wrong) = if is_wrong { (other, *own) } else { (*own, other) };
                    *located = Some(LocatedInput { input, right, wrong });
                }
            }
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.located.iter().all(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_runs_first_everywhere_and_in_pieces() {
        let screened =
            ScreenedBlocks::new(Domain::of(&"f32.sqrt".parse().unwrap()).unwrap(), None, true);
        assert!(screened.blocks[..64].is_sorted_by(|one, next| one + 1 == *next));
        let mut eighths: Vec<u64> =
            screened.blocks[..512].iter().map(|block| block / 512).collect();
        eighths.sort_unstable();
        eighths.dedup();
        assert_eq!(eighths.len(), 8);
        let mut sorted = screened.blocks.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..4096));
        let small =
            ScreenedBlocks::new(Domain::of(&"f16.sqrt".parse().unwrap()).unwrap(), None, true);
        assert_eq!(small.blocks, [0]);
    }

    #[test]
    fn a_lane_is_named_with_the_most_lanes_that_it_is_one_of() {
        assert_eq!(common_lane(&[7, 39, 71, 7]), Some([7, 32]));
        assert_eq!(common_lane(&[7, 7, 7, 7]), Some([7, 256]));
        assert_eq!(common_lane(&[7, 8, 9, 10]), None);
    }
}
