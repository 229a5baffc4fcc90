//! Blocks of whole domains, 2^20 inputs each where a domain has as many, which a gate compares by
//! their digests.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fpprobe_reports::expected::{BlockDigests, ExpectedDevice};
use fpprobe_reports::support::Support;
use fpprobe_reports::sweep::record::hex;
use fpprobe_spirv::Kernel;
use fpprobe_spirv::sweep::{Domain, Sink};

use crate::supervisor::DeviceSession;
use crate::supervisor::results::Results;
use crate::supervisor::sweep::{BlockQueue, Ledger, SweepEnd, SweepOrder, SweepStrategy, sweep};
use crate::sweep::plan::spread;
use crate::sweep::print::digests;
use fpprobe_worker::protocol::{Failure, Span};

/// Kernels of which blocks run where none is named: sums, products, quotients, roots, and functions
/// by tables and series.
pub const SWEPT: [&str; 8] = [
    "f16.fadd",
    "f16.fmul",
    "f16.fdiv",
    "f32.sqrt",
    "f32.exp2",
    "f32.log2",
    "f32.sin",
    "f32.fconvert_f16",
];

/// Blocks of a kernel that are recorded, spread over its domain.
const RECORDED: usize = 64;
/// Longest dispatch.
const DISPATCH: Duration = Duration::from_millis(100);
/// Bytes of results on the device.
const MEMORY: u64 = 64 << 20;

/// Keeps digests as they arrive.
struct DigestLedger {
    digests: BlockDigests,
    /// When it is enough, once there is something.
    until: Option<Instant>,
}

impl Ledger for DigestLedger {
    fn intent(&mut self, _: Span) {}

    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure> {
        let digests = digests(span, results)?.into_iter();
        self.digests.extend(digests.map(|(block, digest)| (block, hex(&[digest.sums]))));
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// The digests of these blocks, and what went wrong.
fn measure(
    site: &DeviceSession<'_>,
    domain: &Domain,
    blocks: Vec<u64>,
    way: SweepStrategy,
    until: Option<Instant>,
) -> (BlockDigests, Option<String>) {
    let mut ledger = DigestLedger { digests: BlockDigests::new(), until };
    let sink = Sink::Digest { normalise: true };
    let (blocks, longest, memory) = (BlockQueue::new(blocks), DISPATCH, MEMORY);
    let order = SweepOrder { domain, sink, blocks, longest, memory, way };
    let SweepEnd { failure, failures } = sweep(site, order, &mut ledger);
    let failure = failure.map(|failure| format!("{}: {failure}", domain.kernel()));
    (ledger.digests, failure.or_else(|| failures.into_iter().next()))
}

/// What is recorded of a device, and what went wrong.
#[derive(Default)]
pub struct RecordedBlocks {
    /// By kernel, the digests that came twice.
    pub expected: BTreeMap<String, BlockDigests>,
    /// Kernels that failed, in words.
    pub failures: Vec<String>,
}

/// Runs blocks of every kernel that the device supports twice, the second time with other local
/// sizes and in another order.
pub fn blocks(site: &DeviceSession<'_>) -> RecordedBlocks {
    let support = Support::new(&site.target.found.claims);
    let mut recorded = RecordedBlocks::default();
    let kernels = SWEPT.iter().filter_map(|id| id.parse::<Kernel>().ok());
    for domain in kernels
        .filter(|kernel| support.lacks(kernel).is_none())
        .filter_map(|kernel| Domain::of(&kernel).ok())
    {
        let mut blocks: Vec<u64> = spread(domain.blocks(), 0).take(RECORDED).collect();
        let (mut first, failure) =
            measure(site, &domain, blocks.clone(), SweepStrategy::FIRST, None);
        recorded.failures.extend(failure);
        blocks.reverse();
        let (second, failure) = measure(site, &domain, blocks, SweepStrategy::OTHER, None);
        recorded.failures.extend(failure);
        first.retain(|block, digest| second.get(block) == Some(digest));
        if !first.is_empty() {
            recorded.expected.insert(domain.kernel().to_string(), first);
        }
    }
    recorded
}

/// What came of the blocks of one kernel.
#[derive(Default)]
pub struct ComparedBlocks {
    /// Blocks that ran.
    pub blocks: usize,
    /// Their inputs.
    pub inputs: u64,
    /// The first block that gave something else.
    pub different: Option<(String, u64)>,
    /// Why not all ran that there was time for.
    pub failure: Option<String>,
}

/// Compares blocks of one kernel, from this one on and as many as there is time for; the place
/// becomes that of the next comparison. Without time nothing runs.
pub fn compare(
    site: &DeviceSession<'_>,
    expected: &ExpectedDevice,
    place: &mut usize,
    until: Instant,
) -> ComparedBlocks {
    let all: usize = expected.blocks.values().map(BTreeMap::len).sum();
    *place %= all.max(1);
    let mut skipped = *place;
    let found = expected.blocks.iter().find(|(_, blocks)| {
        let is_here = skipped < blocks.len();
        skipped -= if is_here { 0 } else { blocks.len() };
        is_here
    });
    let domain = found.and_then(|(id, _)| Domain::of(&id.parse().ok()?).ok());
    let (Some((id, known)), Some(domain)) = (found, domain) else {
        return ComparedBlocks::default();
    };
    let blocks: Vec<u64> = known.keys().copied().skip(skipped).collect();
    let (own, failure) = measure(site, &domain, blocks, SweepStrategy::FIRST, Some(until));
    let other = own.iter().position(|(block, digest)| known.get(block) != Some(digest));
    // What was wrong is the first of the next call.
    *place = (*place + other.unwrap_or(own.len())) % all;
    let different = other.and_then(|number| own.iter().nth(number));
    ComparedBlocks {
        blocks: own.len(),
        inputs: own.len() as u64 * domain.block(),
        different: different.map(|(block, _)| (id.clone(), *block)),
        failure,
    }
}
