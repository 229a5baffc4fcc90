//! A worker process and the line to it: a pipe for requests and one for responses, beside the
//! streams that it prints to.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};

use crate::capture::Capture;
use crate::ending::{Mortal as _, end};
use crate::memory::{self, SharedMemory};
use crate::process::inherited;

/// The worker's descriptor for requests.
const REQUESTS: i32 = 3;
/// The worker's descriptor for responses.
const RESPONSES: i32 = 4;

/// The supervisor's end of the line, and the process at the other.
pub struct WorkerLine {
    child: Child,
    /// None once the line is closed.
    requests: Option<PipeWriter>,
    responses: PipeReader,
    stdout: Capture<ChildStdout>,
    stderr: Capture<ChildStderr>,
}

impl WorkerLine {
    /// Starts a worker by this command, with what both may share.
    pub fn start(mut command: Command, shared: Option<&SharedMemory>) -> io::Result<WorkerLine> {
        let (their_requests, requests) = io::pipe()?;
        let (responses, their_responses) = io::pipe()?;
        // A worker that has stopped reading must not stop its supervisor.
        fcntl_setfl(&requests, OFlags::NONBLOCK)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // What a terminal sends to the supervisor's group is the supervisor's to act on.
        command.process_group(0);
        let mut mappings = vec![
            FdMapping { parent_fd: their_requests.into(), child_fd: REQUESTS },
            FdMapping { parent_fd: their_responses.into(), child_fd: RESPONSES },
        ];
        if let Some(shared) = shared {
            let (parent_fd, child_fd) = (shared.handle()?, memory::DESCRIPTOR);
            mappings.push(FdMapping { parent_fd, child_fd });
        }
        command.fd_mappings(mappings).map_err(io::Error::other)?;
        let mut child = command.spawn()?;
        let (stdout, stderr) =
            (Capture::new(child.stdout.take()), Capture::new(child.stderr.take()));
        Ok(WorkerLine { child, requests: Some(requests), responses, stdout, stderr })
    }

    /// The worker's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether requests can still be sent.
    pub fn is_open(&self) -> bool {
        self.requests.is_some()
    }

    /// Writes as much as the line takes at once; the number of bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(requests) = &mut self.requests else { return Ok(0) };
        unless_transient(requests.write(bytes)).map(Option::unwrap_or_default)
    }

    /// Reads what has arrived; the number of bytes, or an error where the worker has closed the
    /// line.
    pub fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        match unless_transient(self.responses.read(chunk))? {
            Some(0) => Err(ErrorKind::UnexpectedEof.into()),
            count => Ok(count.unwrap_or_default()),
        }
    }

    /// Waits until something can be read or, where that matters, written; which of the two. What
    /// the worker prints meanwhile is taken, so that its pipes do not fill.
    pub fn wait(&mut self, timeout: Duration, sending: bool) -> io::Result<[bool; 2]> {
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

    /// Whether the process has ended. What it started may hold the line open after that.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Waits for the process's end, at most this long.
    pub fn reap(&mut self, timeout: Duration) -> Option<ExitStatus> {
        self.child.reap(timeout)
    }

    /// Closes the line and ends the process; whether it has ended.
    pub fn end(&mut self) -> bool {
        self.requests = None;
        end(&mut self.child)
    }

    /// The last of what the worker has printed, by stream, and how many bytes came before it.
    pub fn printed(&mut self) -> [(&'static str, (String, u64)); 2] {
        let open =
            |line: &WorkerLine| [line.stdout.stream().is_some(), line.stderr.stream().is_some()];
        // Nothing closes any more where what the worker started holds a stream open.
        while open(self) != [false; 2] {
            let before = open(self);
            if self.wait(Duration::ZERO, false).is_err() || open(self) == before {
                break;
            }
        }
        [("stdout", self.stdout.take()), ("stderr", self.stderr.take())]
    }
}

/// Nothing where an operation is to be tried again.
fn unless_transient(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        result => result.map(Some),
    }
}

/// Where this worker receives requests.
pub fn requests() -> io::Result<File> {
    File::open(inherited(REQUESTS))
}

/// Where this worker sends responses.
pub fn responses() -> io::Result<File> {
    OpenOptions::new().write(true).open(inherited(RESPONSES))
}
