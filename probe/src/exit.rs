//! Exit statuses: what they mean, which one wins, and how errors reach the terminal.

use std::io::ErrorKind::{QuotaExceeded, StorageFull};
use std::io::{self, IsTerminal as _, Write as _};
use std::panic::UnwindSafe;
use std::process::ExitCode;

use fpprobe_system::signals;
use fpprobe_system::usage::{Usage, say};

use crate::output::{self, CLOSED};

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Status {
    /// Done as requested.
    #[default]
    Done = 0,
    /// Internal error.
    Internal = 1,
    /// Usage, configuration or unreadable input.
    Usage = 2,
    /// A requirement or baseline is not met.
    Unmet = 3,
    /// Nothing could be measured.
    Nothing = 4,
    /// A kernel that the device claims to support did not run, or something crashed, hung or was
    /// lost.
    Incomplete = 5,
}

impl Status {
    /// Whichever of the two comes first in the documented precedence.
    #[must_use]
    pub fn and(self, other: Status) -> Status {
        let rank = |status| match status {
            Status::Usage => 0,
            Status::Internal => 1,
            Status::Nothing => 2,
            Status::Unmet => 3,
            Status::Incomplete => 4,
            Status::Done => 5,
        };
        if rank(other) < rank(self) { other } else { self }
    }

    /// This status where the condition holds, else [`Status::Done`].
    pub fn when(self, condition: bool) -> Status {
        self.some_when(condition).unwrap_or_default()
    }

    fn some_when(self, condition: bool) -> Option<Status> {
        condition.then_some(self)
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status as u8)
    }
}

/// An end that another error carries: for example a selection that leaves nothing to measure.
#[derive(Debug, thiserror::Error)]
#[error("{1}")]
pub struct ExitError(pub Status, pub String);

/// Prints an error and gives its status. A reader that has closed standard output is no error.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if error.chain().any(is_broken_pipe) {
        return Status::Done.into();
    }
    say(&format!("fpprobe: {error:#}"));
    let status = error.chain().find_map(|cause| {
        let ended = cause.downcast_ref::<ExitError>().map(|ended| ended.0);
        // A disk that is full, and a standard output that is closed, are the user's to fix.
        let ended = ended.or(Status::Usage
            .some_when(matches!(kind(cause), Some(StorageFull | QuotaExceeded | CLOSED))));
        ended.or_else(|| cause.downcast_ref::<Usage>().map(|_| Status::Usage))
    });
    status.unwrap_or(Status::Internal).into()
}

/// Prints clap's message: help and version to standard output with status 0, anything else to
/// standard error with 2.
pub fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        let _ = error.print();
        return Status::Usage.into();
    }
    let mut out = output::stdout();
    let text = error.render();
    let text = if io::stdout().is_terminal() { text.ansi().to_string() } else { text.to_string() };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Status::Done.into(),
        Err(error) => report(&error.into()),
    }
}

/// The kind of an error of reading or writing, in JSON or not.
fn kind(cause: &(dyn std::error::Error + 'static)) -> Option<io::ErrorKind> {
    let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
    io.or_else(|| {
        cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind)
    })
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    kind(cause) == Some(io::ErrorKind::BrokenPipe)
}

/// Runs `main`. A panic, whose message is on standard error already, and an abort for want of
/// memory or threads are internal errors; what standard libraries do otherwise are statuses that
/// nobody has documented.
pub fn contained(main: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    signals::end_on_abort(Status::Internal as i32);
    std::panic::catch_unwind(main).unwrap_or(Status::Internal.into())
}

#[cfg(test)]
mod tests {
    use super::Status::{Done, Incomplete, Internal, Nothing, Unmet, Usage};

    #[test]
    fn precedence_is_as_documented() {
        let order = [Usage, Internal, Nothing, Unmet, Incomplete, Done];
        for (index, first) in order.iter().enumerate() {
            for second in &order[index..] {
                assert_eq!(first.and(*second), *first);
                assert_eq!(second.and(*first), *first);
            }
        }
    }
}
