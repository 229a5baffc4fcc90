//! The inputs that changed: blocks whose digests differ are run again, and their results stored.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use fpprobe_profiles::Outcome;
use fpprobe_reports::save::{PendingFile, SaveError};
use fpprobe_reports::sweep::{Blocks, Changes, Every, Print, Resolution};
use fpprobe_spirv::sweep::{Digest, Domain, LANES, mix, unmix};

use crate::supervisor::DeviceSession;
use crate::supervisor::results::Results;
use crate::supervisor::sweep::{Ledger, SweepEnd, SweepOrder, sweep};
use fpprobe_worker::protocol::{Failure, Span};

/// Results that are compared at once: most are the same, and so are most pieces of them.
const PIECE: usize = 1 << 10;
/// Blocks that the older device may be ahead.
const AHEAD: usize = 4;

/// An older and a newer fingerprint of one kernel.
pub struct PrintPair<'a> {
    /// The older one.
    pub old: &'a Print,
    /// The newer one.
    pub new: &'a Print,
    /// Whether NaNs count as the same in both.
    pub normalise: bool,
}

/// What changed; where `older` is at hand it is asked, too. `order` makes the order of storing
/// these blocks. Every input goes to the file at `list`.
pub fn resolve<'d>(
    pair: &PrintPair<'d>,
    newer: &DeviceSession<'_>,
    older: Option<&DeviceSession<'_>>,
    list: Option<&Path>,
    order: impl Fn(&Blocks) -> SweepOrder<'d>,
) -> (Changes, SweepEnd) {
    let bundle = pair.new.domain.bundle();
    let (compared, bundles) = pair.new.compare(pair.old);
    let (compared, blocks) = (compared * bundle, bundles.of_bundles(bundle));
    let resolution = if older.is_some() { Resolution::Measured } else { Resolution::Digests };
    let changes = Changes::new(pair.old.device.clone(), resolution, compared, blocks.clone());
    // The digest of several blocks shows no input.
    let is_open = older.is_none() && bundle > 1;
    if blocks.count() == 0 || is_open {
        return (changes, SweepEnd::default());
    }
    let (domain, normalise) = (&pair.new.domain, pair.normalise);
    let mut found = ChangeCollector::new(changes, domain, list);
    let mut ended = match older {
        None => {
            let mut ledger = ByDigests { pair, found: &mut found };
            sweep(newer, order(&blocks), &mut ledger)
        }
        Some(older) => thread::scope(|scope| {
            let (sender, receiver) = sync_channel(AHEAD);
            let orders = (order(&blocks), order(&blocks));
            let behind =
                scope.spawn(move || sweep(older, orders.0, &mut BlockSender { domain, sender }));
            let mut ledger = BlockComparer { domain, normalise, receiver, found: &mut found };
            let mut ended = sweep(newer, orders.1, &mut ledger);
            drop(ledger);
            let theirs = behind.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause));
            let name = |problem: String| format!("{problem} (the older device)");
            let failure = theirs.failure.map(|failure| failure.detail);
            ended.failures.extend(theirs.failures.into_iter().chain(failure).map(name));
            ended
        }),
    };
    let (changes, problem) = found.end();
    ended.failures.extend(problem);
    (changes, ended)
}

/// What is found: in the report, and in the file of every input.
struct ChangeCollector<'a> {
    domain: &'a Domain,
    changes: Changes,
    /// The blocks of which all is found.
    done: Vec<u64>,
    list: Option<(Every, &'a Path)>,
    /// Why there is no such file, although one is required.
    failure: Option<String>,
}

impl<'a> ChangeCollector<'a> {
    fn new(changes: Changes, domain: &'a Domain, list: Option<&'a Path>) -> ChangeCollector<'a> {
        let mut found =
            ChangeCollector { domain, changes, done: Vec::new(), list: None, failure: None };
        if let Some(path) = list {
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            match folder.and_then(|()| Every::new(PendingFile::begin(path)?, domain.inputs())) {
                Ok(every) => found.list = Some((every, path)),
                Err(cause) => found.unlisted(path, cause),
            }
        }
        found
    }

    /// Adds an input with the words of its results.
    fn add(&mut self, input: u64, before: Option<&[u32]>, after: &[u32]) {
        self.changes.add(self.domain, input, before, after);
        let failed = self
            .list
            .as_mut()
            .and_then(|(every, path)| every.add(input).err().map(|cause| (*path, cause)));
        if let Some((path, cause)) = failed {
            self.unlisted(path, cause);
        }
    }

    /// Goes on without the file.
    fn unlisted(&mut self, path: &Path, cause: std::io::Error) {
        let error = SaveError { path: path.to_owned(), cause };
        (self.list, self.failure) =
            (None, Some(format!("the inputs that changed are not all listed: {error}")));
    }

    /// What is in the report, and what went wrong with the file. Where no input is found there is
    /// none.
    fn end(mut self) -> (Changes, Option<String>) {
        self.changes.resolved(&self.done.drain(..).collect());
        if let Some((every, path)) = self.list.take().filter(|_| self.changes.inputs > 0)
            && let Err(cause) = every.commit()
        {
            self.unlisted(path, cause);
        }
        (self.changes, self.failure)
    }
}

/// The blocks of a span, each with its number and its results.
pub fn blocks<'w>(
    domain: &Domain,
    span: Span,
    words: &'w [u32],
) -> impl Iterator<Item = (u64, &'w [u32])> {
    let first = span.first / span.inputs;
    (first..).zip(words.chunks_exact((span.inputs * u64::from(domain.words())) as usize))
}

/// The older device's side: hands its results over.
struct BlockSender<'a> {
    domain: &'a Domain,
    sender: SyncSender<Vec<u32>>,
}

impl Ledger for BlockSender<'_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let given_up = |_| Failure::new(Outcome::Rejected, "the other device was given up");
        blocks(self.domain, span, &results.words()?)
            .try_for_each(|(_, block)| self.sender.send(block.to_vec()).map_err(given_up))
    }

    fn is_enough(&self) -> bool {
        false
    }
}

/// The newer device's side: compares.
struct BlockComparer<'a, 'b> {
    domain: &'a Domain,
    normalise: bool,
    receiver: Receiver<Vec<u32>>,
    found: &'a mut ChangeCollector<'b>,
}

impl Ledger for BlockComparer<'_, '_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let width = self.domain.words() as usize;
        for (block, new) in blocks(self.domain, span, &results.words()?) {
            let given_up = |_| Failure::new(Outcome::Rejected, "the older device was given up");
            let (mut old, mut new) = (self.receiver.recv().map_err(given_up)?, new.to_vec());
            if self.normalise {
                self.domain.normalise(&mut old);
                self.domain.normalise(&mut new);
            }
            let first = block * span.inputs;
            let pieces = old.chunks(PIECE * width).zip(new.chunks(PIECE * width));
            for (piece, (old, new)) in (0..).zip(pieces).filter(|(_, (old, new))| old != new) {
                let pairs = old.chunks_exact(width).zip(new.chunks_exact(width));
                for (place, (old, new)) in (0..).zip(pairs).filter(|(_, (old, new))| old != new) {
                    self.found.add(first + piece * PIECE as u64 + place, Some(old), new);
                }
            }
            self.found.done.push(block);
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        false
    }
}

/// Where one result of a block alone differs between these results, whose digest is `now`, and the
/// block of digest `other`: the input, its result, and, of a result of one word, the other one.
pub fn single<'r>(
    domain: &Domain,
    block: u64,
    results: &'r [u32],
    now: Digest,
    other: Digest,
) -> Option<(u64, &'r [u32], Option<u32>)> {
    let (place, change) = now.single(other, (domain.block() / u64::from(LANES)) as u32)?;
    let (input, width) = (block * domain.block() + u64::from(place), domain.words() as usize);
    let own = &results[place as usize * width..][..width];
    let other = match own {
        [word] => Some(unmix(input as u32, 0, mix(input as u32, 0, *word).wrapping_sub(change))),
        _ => None,
    };
    Some((input, own, other))
}

/// Without the older device: its digests, and what the newer device answers.
struct ByDigests<'a, 'p> {
    pair: &'a PrintPair<'p>,
    found: &'a mut ChangeCollector<'p>,
}

impl Ledger for ByDigests<'_, '_> {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let PrintPair { old, new, normalise } = self.pair;
        let (domain, width) = (&new.domain, new.domain.words());
        for (block, results) in blocks(domain, span, &results.words()?) {
            let mut results = results.to_vec();
            if *normalise {
                domain.normalise(&mut results);
            }
            let first = block * span.inputs;
            let now = Digest::of(first as u32, &results, width);
            let digest = |print: &Print| {
                print.bundles.get(&block).map(|sums| Digest { sums: *sums, lanes: LANES })
            };
            if digest(new) != Some(now) {
                let detail =
                    format!("block {block} was answered differently when it was asked again");
                return Err(Failure::new(Outcome::Flaky, detail));
            }
            let Some((input, own, before)) =
                digest(old).and_then(|old| single(domain, block, &results, now, old))
            else {
                continue;
            };
            self.found.add(input, before.as_ref().map(std::slice::from_ref), own);
            self.found.done.push(block);
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        false
    }
}
