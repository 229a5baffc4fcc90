//! A sweep over one device: blocks in dispatches of a bearable length. While the results of one are
//! looked at, the worker hands over those of the next, and the device is at the one after that.

use std::collections::VecDeque;
use std::time::Duration;

use fpprobe_profiles::Outcome;
use fpprobe_spirv::sweep::{Domain, GROUP, OTHER_GROUP, Sink};

use super::DeviceSession;
pub use super::block_queue::BlockQueue;
use super::failures::is_violent;
use super::process::Worker;
use super::results::Results;
use super::worker_slot::unexpected;
use crate::event::RunEvent;
use fpprobe_system::memory::SharedMemory;
use fpprobe_worker::protocol::{Failure, Request, Response, Span};

/// Of the longest time that a dispatch may take, what is aimed at, in percent.
const AIM: u32 = 60;
/// Most that dispatches grow by from one to the next.
const GROWTH: u64 = 4;
/// Most bytes of results of a dispatch: more would leave the processor's caches between two that
/// look at them.
const CACHED: u64 = 16 << 20;
/// Failures of a single block before it is given up.
const ATTEMPTS: u32 = 2;

/// What runs on a device.
pub struct SweepOrder<'a> {
    /// The kernel and its inputs.
    pub domain: &'a Domain,
    /// What becomes of the results.
    pub sink: Sink,
    /// Numbers of the blocks, in the order in which they are asked.
    pub blocks: BlockQueue,
    /// Longest time of a dispatch.
    pub longest: Duration,
    /// Most bytes of results on the device.
    pub memory: u64,
    /// How the device runs them.
    pub way: SweepStrategy,
}

/// Local size and order in which a device runs the inputs of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepStrategy {
    /// Invocations of a work group.
    pub group: u32,
    /// Which invocations do the work of which lanes.
    pub turn: u32,
}

impl SweepStrategy {
    /// The usual one.
    pub const FIRST: SweepStrategy = SweepStrategy { group: GROUP, turn: 0 };
    /// Other work groups, in which every lane has another place.
    pub const OTHER: SweepStrategy = SweepStrategy { group: OTHER_GROUP, turn: 0xd5 };
    /// And a third one.
    pub const THIRD: SweepStrategy = SweepStrategy { group: OTHER_GROUP / 4, turn: 0x6a };
}

/// The observer of each step, which may end the sweep.
pub trait Ledger {
    /// Blocks are about to run.
    fn intent(&mut self, span: Span);
    /// What they left in the buffer of results. An error gives the kernel up.
    fn take(&mut self, span: Span, results: &Results<'_>) -> Result<(), Failure>;
    /// Whether enough has run.
    fn is_enough(&self) -> bool;
    /// Blocks to run again, with the turns by which they do, because of what was taken since the
    /// last call.
    fn again(&mut self) -> Vec<(u64, u32)> {
        Vec::new()
    }
}

/// How a sweep over a kernel ended.
#[derive(Debug, Default)]
pub struct SweepEnd {
    /// Why it did not go to its end.
    pub failure: Option<Failure>,
    /// What went wrong on the way, in words.
    pub failures: Vec<String>,
}

/// The state of a sweep.
struct SweepState<'a, 'b> {
    site: &'a DeviceSession<'a>,
    order: SweepOrder<'b>,
    /// Blocks that run again, before all others, each with its turn.
    again: VecDeque<(u64, u32)>,
    /// Blocks of the next dispatch.
    count: u64,
    /// Started, the earliest first.
    running: VecDeque<Span>,
    /// Which half of the shared memory the next results go to.
    half: u64,
    /// Failures in a row of a dispatch of one block.
    attempts: u32,
    failures: Vec<String>,
}

/// Runs the blocks of a kernel.
pub fn sweep(site: &DeviceSession<'_>, order: SweepOrder<'_>, ledger: &mut dyn Ledger) -> SweepEnd {
    let (again, running) = (VecDeque::new(), VecDeque::new());
    let mut sweep = SweepState {
        site,
        order,
        again,
        count: 1,
        running,
        half: 0,
        attempts: 0,
        failures: Vec::new(),
    };
    let failure = sweep.run(ledger).err();
    SweepEnd { failure, failures: sweep.failures }
}

impl<'a> SweepState<'a, '_> {
    fn run(&mut self, ledger: &mut dyn Ledger) -> Result<(), Failure> {
        while !(ledger.is_enough()
            || self.site.settings.stop.is_requested()
            || self.order.blocks.first().is_none() && self.again.is_empty())
        {
            if self.site.is_over() {
                return Err(self.site.overtime());
            }
            match self.with_worker(ledger) {
                Ok(()) => {}
                Err(_) if self.site.settings.stop.is_requested() => return Ok(()),
                Err(failure) => self.after(&failure)?,
            }
        }
        Ok(())
    }

    /// Puts back what was under way, to be asked in smaller pieces; gives up where they are as
    /// small as they get.
    fn after(&mut self, failure: &Failure) -> Result<(), Failure> {
        let lost = self.running.front().copied();
        let inputs = self.order.domain.block();
        for span in self.running.drain(..).rev() {
            let first = span.first / inputs;
            for block in (first..first + u64::from(span.blocks)).rev() {
                if span.turn == self.order.way.turn {
                    self.order.blocks.put_back(block);
                } else {
                    self.again.push_front((block, span.turn));
                }
            }
        }
        let place = lost.map_or_else(
            || "before its first block".to_owned(),
            |span| format!("at input {:x}", span.first),
        );
        let text = format!("{}: {failure}, {place}", self.order.domain.kernel());
        let alone = lost.is_none_or(|span| span.blocks == 1);
        self.attempts = if alone && !failure.outside { self.attempts + 1 } else { 0 };
        if !is_violent(failure.outcome) || self.attempts >= ATTEMPTS {
            return Err(Failure { detail: format!("{}, {place}", failure.detail), ..*failure });
        }
        (self.site.listener)(&RunEvent::Failure {
            subject: &self.site.target.label(),
            text: &format!("{text}; a new worker goes on"),
        });
        self.failures.push(text);
        self.count = (self.count / 4).max(1);
        Ok(())
    }

    /// Runs block after block on one worker until it fails or nothing is left.
    fn with_worker(&mut self, ledger: &mut dyn Ledger) -> Result<(), Failure> {
        let (mut worker, memory) = self.open()?;
        self.start(&mut worker, ledger)?;
        self.request(&mut worker, memory.is_some())?;
        while let Some(span) = self.running.front().copied() {
            let results = self.finish(&mut worker, span, memory.as_ref())?;
            self.running.pop_front();
            // Device and worker go on while what they gave is looked at; where they do not, that is
            // kept all the same.
            let goes_on = self
                .start(&mut worker, ledger)
                .and_then(|()| self.request(&mut worker, memory.is_some()));
            if let Err(failure) = ledger.take(span, &results) {
                self.running.push_front(span);
                return Err(failure);
            }
            self.attempts = 0;
            goes_on?;
            self.again.extend(ledger.again());
            if self.running.is_empty() {
                self.start(&mut worker, ledger)?;
                self.request(&mut worker, memory.is_some())?;
            }
        }
        Ok(())
    }

    /// Asks for the results of the earliest dispatch, if there is one.
    fn request(&self, worker: &mut Worker<'_>, shared: bool) -> Result<(), Failure> {
        if self.running.is_empty() {
            return Ok(());
        }
        let shared = shared.then_some(self.half * self.room());
        worker.request(&Request::Finish { timeout: self.site.timeout().mul_f64(0.9), shared })
    }

    /// A worker with the kernel's pipeline, and the memory that it writes results to.
    fn open(&self) -> Result<(Worker<'a>, Option<SharedMemory>), Failure> {
        let DeviceSession { target, settings, listener, .. } = *self.site;
        let shared = matches!(self.order.sink, Sink::Store)
            .then(|| SharedMemory::new(2 * self.room()))
            .transpose();
        let shared = shared.map_err(|error| {
            Failure::new(
                Outcome::OutOfMemory,
                format!("no memory could be shared with a worker: {error}"),
            )
        })?;
        let timeout = self.site.timeout();
        let mut worker =
            Worker::start_with(&target.manifest, settings, timeout, listener, shared.as_ref())?;
        let kernel = self.order.domain.kernel().to_string();
        for request in [
            super::open_request(target, settings),
            Request::Sweep { kernel, sink: self.order.sink, group: self.order.way.group },
        ] {
            opened(worker.call(&request, self.site.timeout())?)?;
        }
        Ok((worker, shared))
    }

    /// Starts dispatches until two are under way, as long as there are blocks and it is not enough.
    fn start(&mut self, worker: &mut Worker<'_>, ledger: &mut dyn Ledger) -> Result<(), Failure> {
        while self.running.len() < 2
            && !ledger.is_enough()
            && !self.site.settings.stop.is_requested()
        {
            let Some(span) = self.next() else { break };
            // What fails is put back with everything else that is under way.
            self.running.push_back(span);
            ledger.intent(span);
            opened(worker.call(&Request::Start(span), self.site.timeout())?)?;
        }
        Ok(())
    }

    /// Bytes of the results of a block.
    fn block(&self) -> u64 {
        let SweepOrder { domain, sink, .. } = &self.order;
        4 * sink.room(domain, 1, domain.block())
    }

    /// Most bytes of the results of a dispatch, of which two are under way.
    fn room(&self) -> u64 {
        (self.order.memory / 2).min(CACHED).max(self.block())
    }

    /// The next blocks that follow one another, as many as a dispatch may have.
    fn next(&mut self) -> Option<Span> {
        let most = self.room() / self.block();
        let SweepOrder { domain, blocks, way, .. } = &mut self.order;
        let inputs = domain.block();
        if let Some((block, turn)) = self.again.pop_front() {
            return Some(Span { first: block * inputs, blocks: 1, inputs, turn });
        }
        let block = blocks.pop()?;
        let mut count = 1;
        // All inputs of a dispatch have the same high word.
        let high = |block: u64| block * inputs >> 32;
        while count < self.count.min(most)
            && blocks.first() == Some(block + count)
            && high(block + count) == high(block)
        {
            blocks.pop();
            count += 1;
        }
        Some(Span { first: block * inputs, blocks: count as u32, inputs, turn: way.turn })
    }

    /// Waits for the results of the earliest dispatch, which were requested. The next one is as
    /// long as this one lets hope.
    fn finish<'f>(
        &mut self,
        worker: &mut Worker<'_>,
        span: Span,
        memory: Option<&'f SharedMemory>,
    ) -> Result<Results<'f>, Failure> {
        let (words, took, exact) = match worker.answer(self.site.timeout())? {
            Response::Swept { words, took, exact } => (words, took, exact),
            other => return Err(unexpected(&other)),
        };
        let count =
            self.order.sink.room(self.order.domain, u64::from(span.blocks), span.inputs) as usize;
        let results = match memory {
            Some(memory) => Results::Shared { memory, offset: self.half * self.room(), count },
            None if words.len() == count => Results::Here(words),
            None => return Err(Failure::new(Outcome::Crashed, "the worker left results out")),
        };
        self.half = 1 - self.half;
        let each = took.as_nanos().max(1) as u64 / u64::from(span.blocks);
        let aim = self.order.longest.as_nanos() as u64 / 100 * u64::from(AIM) / each.max(1);
        if exact || aim > self.count {
            self.count = aim.clamp(1, u64::from(span.blocks) * GROWTH);
        }
        Ok(results)
    }
}

fn opened(response: Response) -> Result<(), Failure> {
    match response {
        Response::Opened => Ok(()),
        other => Err(unexpected(&other)),
    }
}
