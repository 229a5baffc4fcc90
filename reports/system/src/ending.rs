//! How a process ends: by request, by force, and in words.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use crate::process::pid;

/// Time to end of its own accord.
const OWN: Duration = Duration::from_millis(100);
/// Time to die after a polite signal.
pub const GRACE: Duration = Duration::from_millis(300);
/// Time to be reaped after SIGKILL; only a process stuck in the kernel takes longer.
const REAP: Duration = Duration::from_secs(5);

/// Between two looks at whether a process has ended.
const TICK: Duration = Duration::from_millis(2);

/// A signal to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndSignal {
    /// The process may finish what it does, or ignore it.
    Request,
    /// The process ends, unless the kernel holds it.
    Force,
}

/// A process that is to end.
pub trait Mortal {
    /// Waits for its end, at most this long.
    fn reap(&mut self, timeout: Duration) -> Option<ExitStatus>;
    /// Sends it a signal.
    fn signal(&self, signal: EndSignal);
}

impl Mortal for Child {
    fn reap(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        loop {
            match self.try_wait() {
                Ok(None) if Instant::now() < deadline => std::thread::sleep(TICK),
                status => return status.ok().flatten(),
            }
        }
    }

    fn signal(&self, signal: EndSignal) {
        if let Some(pid) = pid(self) {
            let _ = kill_process(pid, signal.number());
        }
    }
}

impl EndSignal {
    fn number(self) -> Signal {
        match self {
            EndSignal::Request => Signal::TERM,
            EndSignal::Force => Signal::KILL,
        }
    }
}

/// Ends a process: by waiting, by asking, by force. Returns whether it has ended.
pub fn end(process: &mut impl Mortal) -> bool {
    if process.reap(OWN).is_some() {
        return true;
    }
    process.signal(EndSignal::Request);
    if process.reap(GRACE).is_some() {
        return true;
    }
    process.signal(EndSignal::Force);
    process.reap(REAP).is_some()
}

/// Whether it was killed by what no driver does to itself: by a person, a service manager, or a
/// system out of memory.
pub fn is_from_outside(status: ExitStatus) -> bool {
    [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP]
        .iter()
        .any(|signal| status.signal() == Some(signal.as_raw()))
}

/// `was killed by SIGSEGV`, or `ended with status 3`.
pub fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by {}", name(signal)),
        (None, Some(code)) => format!("ended with status {code}"),
        (None, None) => "ended".to_owned(),
    }
}

fn name(signal: i32) -> String {
    let known = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        31 => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::EndSignal::{Force, Request};
    use super::*;
    use std::cell::RefCell;

    /// Ends at the first signal that it cannot resist.
    struct Stubborn {
        resists: Vec<EndSignal>,
        sent: RefCell<Vec<EndSignal>>,
    }

    impl Mortal for Stubborn {
        fn reap(&mut self, _: Duration) -> Option<ExitStatus> {
            let sent = self.sent.borrow();
            sent.iter()
                .find(|signal| !self.resists.contains(signal))
                .map(|signal| ExitStatus::from_raw(signal.number().as_raw()))
        }

        fn signal(&self, signal: EndSignal) {
            self.sent.borrow_mut().push(signal);
        }
    }

    fn ends(resists: &[EndSignal]) -> (bool, Vec<EndSignal>) {
        let mut process = Stubborn { resists: resists.to_vec(), sent: RefCell::default() };
        (end(&mut process), process.sent.into_inner())
    }

    #[test]
    fn force_comes_after_asking_and_its_failure_is_reported() {
        assert_eq!(ends(&[]), (true, vec![Request]));
        assert_eq!(ends(&[Request]), (true, vec![Request, Force]));
        assert_eq!(ends(&[Request, Force]), (false, vec![Request, Force]));
    }

    #[test]
    fn only_others_kill_with_sigkill() {
        assert!(is_from_outside(ExitStatus::from_raw(9)));
        assert!(!is_from_outside(ExitStatus::from_raw(11)));
        assert!(!is_from_outside(ExitStatus::from_raw(6)));
        assert!(!is_from_outside(ExitStatus::from_raw(9 << 8)), "a status of 9 is no signal");
    }
}
