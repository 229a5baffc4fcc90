//! One worker process: started, asked with a deadline, and gone when dropped.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use fpprobe_profiles::Outcome;

use super::MeasureSettings;
use crate::event::{Listener, RunEvent};
use fpprobe_system::cancellation::Cancellation;
use fpprobe_system::ending::{self, GRACE};
use fpprobe_system::line::WorkerLine;
use fpprobe_system::memory::SharedMemory;
use fpprobe_system::process::this_program;
use fpprobe_worker::protocol::{Failure, Hello, Request, Response, frame};

/// Longest wait between two looks at whether the process is still there.
const TICK: Duration = Duration::from_millis(200);

/// What is said of a worker that stays.
pub const LEFT_BEHIND: &str = "the worker cannot be ended, not even by SIGKILL: the kernel's driver holds it; it is left behind";

/// A worker.
pub struct Worker<'a> {
    line: WorkerLine,
    /// What of requests is not written yet.
    outgoing: Vec<u8>,
    decoder: frame::Decoder,
    stop: Cancellation,
    /// Most memory of its own, in MiB; 0 is no limit.
    memory: u64,
    listener: Listener<'a>,
}

impl<'a> Worker<'a> {
    /// Starts a worker that sees this manifest's driver alone, and greets it.
    pub fn start(
        manifest: &Path,
        settings: &MeasureSettings,
        timeout: Duration,
        listener: Listener<'a>,
    ) -> Result<Worker<'a>, Failure> {
        Worker::start_with(manifest, settings, timeout, listener, None)
    }

    /// The same with memory for results that are too many for messages.
    pub fn start_with(
        manifest: &Path,
        settings: &MeasureSettings,
        timeout: Duration,
        listener: Listener<'a>,
        shared: Option<&SharedMemory>,
    ) -> Result<Worker<'a>, Failure> {
        let mut worker = Worker::spawn(manifest, settings, listener, shared).map_err(|error| {
            Failure::new(Outcome::Crashed, format!("no worker process could be started: {error}"))
        })?;
        match worker.call(&Request::Hello(Hello::own()), timeout)? {
            Response::Hello(hello) if hello == Hello::own() => Ok(worker),
            other => Err(Failure::new(
                Outcome::Crashed,
                format!("the worker is another program: it greeted with {other:?}"),
            )),
        }
    }

    fn spawn(
        manifest: &Path,
        settings: &MeasureSettings,
        listener: Listener<'a>,
        shared: Option<&SharedMemory>,
    ) -> io::Result<Worker<'a>> {
        let mut command = this_program();
        command.arg("worker");
        command.arg("--application").arg(&settings.environment.application);
        if let Some(folder) = &settings.dump_raw {
            command.arg("--dump-raw").arg(folder);
        }
        if settings.memory > 0 {
            command.arg("--memory").arg(settings.memory.to_string());
        }
        settings.environment.apply(&mut command, manifest);
        Ok(Worker {
            line: WorkerLine::start(command, shared)?,
            outgoing: Vec::new(),
            decoder: frame::Decoder::default(),
            stop: settings.stop.clone(),
            memory: settings.memory,
            listener,
        })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.line.id()
    }

    /// Sends a request and waits for the response, but not past the deadline. After a failure that
    /// is its own the worker is of no more use; drop it.
    pub fn call(&mut self, request: &Request, timeout: Duration) -> Result<Response, Failure> {
        self.request(request)?;
        self.answer(timeout)
    }

    /// Sends a request, and leaves the response to [`Worker::answer`].
    pub fn request(&mut self, request: &Request) -> Result<(), Failure> {
        self.outgoing.extend(frame::encode(request).map_err(lost)?);
        self.send()
    }

    /// Writes as much of the requests as the line takes at once.
    fn send(&mut self) -> Result<(), Failure> {
        let count = self.line.write(&self.outgoing).map_err(|_| self.ended())?;
        self.outgoing.drain(..count);
        Ok(())
    }

    /// Waits for the answer to what was asked, but not past the deadline.
    pub fn answer(&mut self, timeout: Duration) -> Result<Response, Failure> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(response) = self.decoder.message().map_err(lost)? {
                return match response {
                    Response::Failed(failure) => Err(failure),
                    response => Ok(response),
                };
            }
            if let Some(cause) = self.stop.cause() {
                return Err(Failure { outside: true, ..Failure::new(Outcome::Crashed, cause) });
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Failure::new(
                    Outcome::Hung,
                    format!("no answer within {} s", timeout.as_secs_f64()),
                ));
            }
            let [readable, writable] =
                self.line.wait(left.min(TICK), !self.outgoing.is_empty()).map_err(lost)?;
            if writable {
                self.send()?;
            }
            if readable {
                let mut chunk = vec![0; 256 << 10];
                let count = self.line.read(&mut chunk).map_err(|_| self.ended())?;
                self.decoder.feed(&chunk[..count]);
            } else if self.line.has_ended() {
                // What the driver started may hold the pipe open after the worker's end.
                return Err(self.ended());
            }
        }
    }

    /// The failure of a worker that has ended, or is about to: it has closed its end of the line.
    fn ended(&mut self) -> Failure {
        let status = self.line.reap(GRACE);
        let how = status.map_or_else(|| "closed the line".to_owned(), ending::describe);
        let outside = status.is_some_and(ending::is_from_outside);
        let limited = if self.memory > 0 && !outside {
            format!(" (`workers.memory` allows it {} MiB)", self.memory)
        } else {
            String::new()
        };
        Failure { outside, ..Failure::new(Outcome::Crashed, format!("the worker {how}{limited}")) }
    }

    /// Ends the worker. Returns whether it is gone; one that even SIGKILL does not end is left
    /// behind.
    pub fn end(mut self) -> bool {
        self.close()
    }

    /// Closes the line, ends the process, and passes on what it has printed.
    fn close(&mut self) -> bool {
        if !self.line.is_open() {
            return true;
        }
        let ended = self.line.end();
        let worker = self.id();
        if !ended {
            (self.listener)(&RunEvent::Failure {
                subject: &format!("worker {worker}"),
                text: LEFT_BEHIND,
            });
        }
        for (stream, (text, dropped)) in self.line.printed() {
            if !text.is_empty() {
                (self.listener)(&RunEvent::Output { worker, stream, text: &text, dropped });
            }
        }
        ended
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps an error")]
fn lost(error: io::Error) -> Failure {
    Failure::new(Outcome::Crashed, format!("the line to the worker broke: {error}"))
}
