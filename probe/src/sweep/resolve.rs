//! The inputs that changed: blocks whose digests differ are asked again, and their results stored.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use fpprobe_profiles::Outcome;
use fpprobe_reports::sweep::{Blocks, Changes, Print, Resolution};
use fpprobe_spirv::sweep::{Digest, Domain, LANES, unmix};

use crate::protocol::{Failure, Span};
use crate::supervisor::Site;
use crate::supervisor::results::Results;
use crate::supervisor::sweep::{Ended, Ledger, Order, sweep};

/// Results that are compared at once: most are the same, and so are most pieces of them.
const PIECE: usize = 1 << 10;
/// Blocks that the older device may be ahead.
const AHEAD: usize = 4;

/// An older and a newer fingerprint of one kernel.
pub struct Pair<'a> {
    /// The older one.
    pub old: &'a Print,
    /// The newer one.
    pub new: &'a Print,
    /// Whether NaNs count as the same in both.
    pub normalise: bool,
}

/// What changed; where `older` is at hand it is asked, too. `order` makes the order of storing these blocks.
pub fn resolve<'d>(
    pair: &Pair<'d>,
    newer: &Site<'_>,
    older: Option<&Site<'_>>,
    order: impl Fn(&Blocks) -> Order<'d>,
) -> (Changes, Ended) {
    let (compared, blocks) = pair.new.compare(pair.old);
    let resolution = if older.is_some() { Resolution::Asked } else { Resolution::Digests };
    let mut changes = Changes::new(pair.old.device.clone(), resolution, compared, blocks.clone());
    if blocks.count() == 0 {
        return (changes, Ended::default());
    }
    let (domain, normalise) = (&pair.new.domain, pair.normalise);
    let mut done = Vec::new();
    let ended = match older {
        None => {
            let mut ledger = ByDigests { pair, changes: &mut changes, done: &mut done };
            sweep(newer, order(&blocks), &mut ledger)
        }
        Some(older) => thread::scope(|scope| {
            let (sender, receiver) = sync_channel(AHEAD);
            let orders = (order(&blocks), order(&blocks));
            let behind = scope.spawn(move || sweep(older, orders.0, &mut Sending { domain, sender }));
            let mut ledger = Comparing { domain, normalise, receiver, changes: &mut changes, done: &mut done };
            let mut ended = sweep(newer, orders.1, &mut ledger);
            drop(ledger);
            let theirs = behind.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause));
            let name = |trouble: String| format!("{trouble} (the older device)");
            let failure = theirs.failure.map(|failure| failure.detail);
            ended.troubles.extend(theirs.troubles.into_iter().chain(failure).map(name));
            ended
        }),
    };
    changes.resolved(&done.into_iter().collect());
    (changes, ended)
}

/// The blocks of a span, each with its number and its results.
fn blocks<'w>(domain: &Domain, span: Span, words: &'w [u32]) -> impl Iterator<Item = (u64, &'w [u32])> {
    let first = span.first / span.inputs;
    (first..).zip(words.chunks_exact((span.inputs * u64::from(domain.words())) as usize))
}

/// The older device's side: hands its results over.
struct Sending<'a> {
    domain: &'a Domain,
    sender: SyncSender<Vec<u32>>,
}

impl Ledger for Sending<'_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let gone = |_| Failure::new(Outcome::Rejected, "the other device was given up");
        blocks(self.domain, span, &results.words()?)
            .try_for_each(|(_, block)| self.sender.send(block.to_vec()).map_err(gone))
    }

    fn is_enough(&self) -> bool {
        false
    }
}

/// The newer device's side: compares.
struct Comparing<'a> {
    domain: &'a Domain,
    normalise: bool,
    receiver: Receiver<Vec<u32>>,
    changes: &'a mut Changes,
    done: &'a mut Vec<u64>,
}

impl Ledger for Comparing<'_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let width = self.domain.words() as usize;
        for (block, new) in blocks(self.domain, span, &results.words()?) {
            let gone = |_| Failure::new(Outcome::Rejected, "the older device was given up");
            let (mut old, mut new) = (self.receiver.recv().map_err(gone)?, new.to_vec());
            if self.normalise {
                self.domain.normalise(&mut old);
                self.domain.normalise(&mut new);
            }
            let first = block * span.inputs;
            let pieces = old.chunks(PIECE * width).zip(new.chunks(PIECE * width));
            for (piece, (old, new)) in (0..).zip(pieces).filter(|(_, (old, new))| old != new) {
                let pairs = old.chunks_exact(width).zip(new.chunks_exact(width));
                for (place, (old, new)) in (0..).zip(pairs).filter(|(_, (old, new))| old != new) {
                    self.changes.add(self.domain, first + piece * PIECE as u64 + place, Some(old), new);
                }
            }
            self.done.push(block);
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        false
    }
}

/// Without the older device: its digests, and what the newer device answers.
struct ByDigests<'a, 'p> {
    pair: &'a Pair<'p>,
    changes: &'a mut Changes,
    done: &'a mut Vec<u64>,
}

impl Ledger for ByDigests<'_, '_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let Pair { old, new, normalise } = self.pair;
        let (domain, width) = (&new.domain, new.domain.words());
        for (block, results) in blocks(domain, span, &results.words()?) {
            let mut results = results.to_vec();
            if *normalise {
                domain.normalise(&mut results);
            }
            let first = block * span.inputs;
            let now = Digest::of(first as u32, &results, width);
            let digest = |print: &Print| print.blocks[block as usize].map(|sums| Digest { sums, lanes: LANES });
            if digest(new) != Some(now) {
                let detail = format!("block {block} was answered differently when it was asked again");
                return Err(Failure::new(Outcome::Flaky, detail));
            }
            let steps = (span.inputs / u64::from(LANES)) as u32;
            let Some((place, change)) = digest(old).and_then(|old| now.single(old, steps)) else { continue };
            let (input, own) = (first + u64::from(place), &results[(place * width) as usize..][..width as usize]);
            // Of a result of one word the digest tells what it was.
            let before = match own {
                [word] => {
                    let hash = fpprobe_spirv::sweep::mix(input as u32, 0, *word).wrapping_sub(change);
                    Some(unmix(input as u32, 0, hash))
                }
                _ => None,
            };
            self.changes.add(domain, input, before.as_ref().map(std::slice::from_ref), own);
            self.done.push(block);
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        false
    }
}
