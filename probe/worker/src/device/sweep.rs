//! A sweep in a worker: one pipeline, and blocks that are started and finished.

use std::time::Duration;

use fpprobe_profiles::Outcome;
use fpprobe_spirv::Kernel;
use fpprobe_spirv::sweep::{self, Domain, Push, Sink};
use fpprobe_system::memory::SharedMemory;

use super::WorkerState;
use crate::protocol::{Failure, Response, Span};
use crate::vulkan::SweepPipeline;

/// What results hold before: of sums nothing, of results bits that few operations give.
const UNWRITTEN: u8 = 0xa9;

/// Bytes that are handed over at once: they stay in a core's cache.
const PIECE: usize = 256 << 10;

/// Words of results with those bits that may be answers. No operation gives one of these to N
/// inputs.
const FEW: usize = 64;

/// The sweep under way.
pub struct ActiveSweep {
    sweep: SweepPipeline,
    domain: Domain,
    sink: Sink,
    results: Option<SharedMemory>,
}

impl WorkerState {
    /// Compiles the module of a sweep, with work groups of this size.
    pub fn sweep(&mut self, kernel: &str, sink: Sink, group: u32) -> Result<Response, Failure> {
        let refused = |error: String| Failure::new(Outcome::Rejected, error);
        self.sweep = None;
        let Some((device, support)) = &mut self.device else {
            return Err(refused("no device is open".to_owned()));
        };
        let kernel: Kernel = kernel.parse().map_err(|error| refused(format!("{error}")))?;
        if let Some(lacks) = support.lacks(&kernel) {
            return Err(Failure::new(Outcome::Unsupported, lacks));
        }
        let domain = Domain::vast(&kernel).map_err(|error| refused(error.to_string()))?;
        let words = sweep::build(&domain, sink, group)
            .map_err(|error| refused(format!("no module could be built: {error}")))?;
        let sweep = device.sweep(&words, group).map_err(|error| device.explain(error))?;
        self.sweep = Some(ActiveSweep { sweep, domain, sink, results: None });
        Ok(Response::Opened)
    }

    /// Starts blocks.
    pub fn start(&mut self, span: Span) -> Result<Response, Failure> {
        let (device, sweeping) = (self.device.as_ref(), self.sweep.as_mut());
        let Some((sweeping, (device, _))) = sweeping.zip(device) else { return Err(none()) };
        let ActiveSweep { sweep, domain, sink, .. } = sweeping;
        let words = sink.room(domain, u64::from(span.blocks), span.inputs);
        let fill = if matches!(sink, Sink::Store) { UNWRITTEN } else { 0 };
        let push = Push::new(span.first, span.inputs, span.turn);
        sweep.start(push, span.blocks, words, fill).map_err(|error| device.explain(error))?;
        Ok(Response::Opened)
    }

    /// Waits for the blocks that were started first.
    pub fn finish(&mut self, timeout: Duration, shared: Option<u64>) -> Result<Response, Failure> {
        let (device, sweeping) = (self.device.as_ref(), self.sweep.as_mut());
        let Some((sweeping, (device, _))) = sweeping.zip(device) else { return Err(none()) };
        let taken = sweeping.sweep.finish(timeout).map_err(|error| device.explain(error))?;
        let (mut words, mut left) = (Vec::new(), 0);
        if let Some(offset) = shared {
            let memory = match &mut sweeping.results {
                Some(memory) => memory,
                none => none.insert(SharedMemory::received().map_err(unshared)?),
            };
            for (at, piece) in (0..).step_by(PIECE).zip(taken.bytes.chunks(PIECE)) {
                left += unwritten(piece);
                memory.write(piece, offset + at).map_err(unshared)?;
            }
        } else {
            left = unwritten(taken.bytes);
            let word = |bytes: &[u8]| {
                bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
            };
            words = taken.bytes.chunks_exact(4).map(word).collect();
        }
        if matches!(sweeping.sink, Sink::Store) {
            written(&sweeping.domain, left, taken.bytes.len() / 4)?;
        }
        Ok(Response::Swept { words, took: taken.took, exact: taken.exact })
    }
}

/// How many words are as they were before.
fn unwritten(bytes: &[u8]) -> usize {
    let before = u32::from_ne_bytes([UNWRITTEN; 4]);
    bytes.as_chunks().0.iter().filter(|word| u32::from_ne_bytes(**word) == before).count()
}

/// Whether every result was written, of which N words are as they were before. Those of 16 bits and
/// less have zeros above; of larger ones a few may be what was there before, but an invocation that
/// does nothing leaves thousands, since it has a 256th of a block to give.
fn written(domain: &Domain, left: usize, words: usize) -> Result<(), Failure> {
    let narrow = domain.outputs().iter().all(|format| format.bits() < 32);
    if left == 0 || !narrow && left < FEW {
        return Ok(());
    }
    let detail = format!("{left} of {words} words of results hold what was there before");
    Err(Failure::new(Outcome::NotWritten, detail))
}

fn none() -> Failure {
    Failure::new(Outcome::Rejected, "no sweep is under way")
}

#[expect(clippy::needless_pass_by_value, reason = "it maps an error")]
fn unshared(error: std::io::Error) -> Failure {
    Failure::new(Outcome::Rejected, format!("results could not be handed over: {error}"))
}
