//! Signals that a service receives, and the one of an abort.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What a service manager or a user requests of a service by a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServiceSignal {
    /// Read the configuration again (SIGHUP).
    Reload,
    /// End (SIGTERM, SIGINT).
    End,
}

/// From now on, in a thread of its own, hands each signal over, until nobody takes one any more.
pub fn serve(mut take: impl FnMut(ServiceSignal) -> bool + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let listen = move || {
        let requested = |signal| match signal {
            SIGHUP => ServiceSignal::Reload,
            _ => ServiceSignal::End,
        };
        // It ends at the first that is not taken.
        let _ = signals.forever().all(|signal| take(requested(signal)));
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
    Ok(())
}

/// Gives an abort, for want of memory or threads, this exit status. The C library's default stays
/// where that cannot be had.
pub fn end_on_abort(status: i32) {
    let _ = signal_hook::flag::register_conditional_shutdown(
        SIGABRT,
        status,
        Arc::new(AtomicBool::new(true)),
    );
}
