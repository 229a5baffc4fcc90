//! One worker process: started, asked with a deadline, and gone when dropped.

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt as _, FdMapping};
use fpprobe_profiles::Outcome;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};

use super::MeasureSettings;
use super::capture::Capture;
use super::ending::{self, GRACE, Mortal};
use crate::event::{Listener, RunEvent};
use fpprobe_system::cancellation::Cancellation;
use fpprobe_worker::protocol::{
    Failure, Hello, REQUESTS, RESPONSES, RESULTS, Request, Response, frame,
};

/// Longest wait between two looks at whether the process is still there.
const TICK: Duration = Duration::from_millis(200);

/// What is said of a worker that stays.
pub const LEFT_BEHIND: &str = "the worker cannot be ended, not even by SIGKILL: the kernel's driver holds it; it is left behind";

/// A worker.
pub struct Worker<'a> {
    child: Child,
    requests: Option<PipeWriter>,
    /// What of requests is not written yet.
    outgoing: Vec<u8>,
    responses: PipeReader,
    decoder: frame::Decoder,
    stdout: Capture<ChildStdout>,
    stderr: Capture<ChildStderr>,
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

    /// The same with a file for results that are too many for messages.
    pub fn start_with(
        manifest: &Path,
        settings: &MeasureSettings,
        timeout: Duration,
        listener: Listener<'a>,
        results: Option<OwnedFd>,
    ) -> Result<Worker<'a>, Failure> {
        let mut worker = Worker::spawn(manifest, settings, listener, results).map_err(|error| {
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
        results: Option<OwnedFd>,
    ) -> io::Result<Worker<'a>> {
        let (their_requests, requests) = io::pipe()?;
        let (responses, their_responses) = io::pipe()?;
        // A worker that has stopped reading must not stop its supervisor.
        fcntl_setfl(&requests, OFlags::NONBLOCK)?;
        // The link names this very program even where its file has been replaced since.
        let mut command = Command::new("/proc/self/exe");
        command.arg("worker");
        command.arg("--application").arg(&settings.environment.application);
        if let Some(folder) = &settings.dump_raw {
            command.arg("--dump-raw").arg(folder);
        }
        if settings.memory > 0 {
            command.arg("--memory").arg(settings.memory.to_string());
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // What a terminal sends to the supervisor's group is the supervisor's to act on.
        command.process_group(0);
        settings.environment.apply(&mut command, manifest);
        let mut mappings = vec![
            FdMapping { parent_fd: their_requests.into(), child_fd: REQUESTS },
            FdMapping { parent_fd: their_responses.into(), child_fd: RESPONSES },
        ];
        mappings.extend(results.map(|parent_fd| FdMapping { parent_fd, child_fd: RESULTS }));
        command.fd_mappings(mappings).map_err(io::Error::other)?;
        let mut child = command.spawn()?;
        let (stdout, stderr) =
            (Capture::new(child.stdout.take()), Capture::new(child.stderr.take()));
        let decoder = frame::Decoder::default();
        let stop = settings.stop.clone();
        Ok(Worker {
            child,
            requests: Some(requests),
            outgoing: Vec::new(),
            responses,
            decoder,
            stdout,
            stderr,
            stop,
            memory: settings.memory,
            listener,
        })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
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
        let Some(requests) = &mut self.requests else { return Ok(()) };
        match requests.write(&self.outgoing) {
            Ok(count) => {
                self.outgoing.drain(..count);
                Ok(())
            }
            Err(error) if is_transient(&error) => Ok(()),
            Err(_) => Err(self.ended()),
        }
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
                self.wait(left.min(TICK), !self.outgoing.is_empty()).map_err(lost)?;
            if writable {
                self.send()?;
            }
            if readable {
                let mut chunk = vec![0; 256 << 10];
                match self.responses.read(&mut chunk) {
                    Ok(0) => return Err(self.ended()),
                    Ok(count) => self.decoder.feed(&chunk[..count]),
                    Err(error) if is_transient(&error) => {}
                    Err(_) => return Err(self.ended()),
                }
            } else if matches!(self.child.try_wait(), Ok(Some(_))) {
                // What the driver started may hold the pipe open after the worker's end.
                return Err(self.ended());
            }
        }
    }

    /// Waits until something can be read or written, keeping what the worker prints from filling
    /// its pipes.
    fn wait(&mut self, timeout: Duration, sending: bool) -> io::Result<[bool; 2]> {
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        let ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let mut fds = vec![PollFd::new(&self.responses, PollFlags::IN)];
        let others = [
            (self.requests.as_ref().filter(|_| sending).map(AsFd::as_fd), PollFlags::OUT),
            (self.stdout.stream().map(AsFd::as_fd), PollFlags::IN),
            (self.stderr.stream().map(AsFd::as_fd), PollFlags::IN),
        ];
        let mut places = [None; 3];
        for (place, (fd, flags)) in places.iter_mut().zip(others) {
            if let Some(fd) = fd {
                *place = Some(fds.len());
                fds.push(PollFd::from_borrowed_fd(fd, flags));
            }
        }
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok([false, false]),
            Err(error) => return Err(error.into()),
        }
        let readable = ready(&fds[0]);
        let [writable, stdout, stderr] =
            places.map(|place| place.is_some_and(|place| ready(&fds[place])));
        drop(fds);
        if stdout {
            self.stdout.pump();
        }
        if stderr {
            self.stderr.pump();
        }
        Ok([readable, writable])
    }

    /// The failure of a worker that has ended, or is about to: it has closed its end of the line.
    fn ended(&mut self) -> Failure {
        let status = self.reap(GRACE);
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
        if self.requests.take().is_none() {
            return true;
        }
        let ended = ending::end(self);
        let worker = self.id();
        if !ended {
            (self.listener)(&RunEvent::Failure {
                subject: &format!("worker {worker}"),
                text: LEFT_BEHIND,
            });
        }
        while self.stdout.stream().is_some() || self.stderr.stream().is_some() {
            let before = (self.stdout.stream().is_some(), self.stderr.stream().is_some());
            match self.wait(Duration::ZERO, false) {
                Ok(_)
                    if before
                        == (self.stdout.stream().is_some(), self.stderr.stream().is_some()) =>
                {
                    break;
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        for (stream, (text, dropped)) in
            [("stdout", self.stdout.take()), ("stderr", self.stderr.take())]
        {
            if !text.is_empty() {
                (self.listener)(&RunEvent::Output { worker, stream, text: &text, dropped });
            }
        }
        ended
    }
}

impl Mortal for Worker<'_> {
    fn reap(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                _ => return None,
            }
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
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

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
