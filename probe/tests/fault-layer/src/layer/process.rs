//! What is done to the process.

use std::io::Write as _;
use std::time::Duration;

use crate::action::Action;

/// Ends the process: a fault that cannot be had must not pass for a driver without faults.
pub(super) fn fail(message: &str) -> ! {
    eprintln!("fpprobe fault layer: {message}");
    std::process::abort();
}

/// Does it. [`Action::Return`] is the caller's to do.
pub(super) fn act(action: &Action) {
    match action {
        Action::Crash(signal) => crash(*signal),
        Action::Exit(status) => std::process::exit(*status),
        Action::Hang { deaf } => hang(*deaf),
        Action::Sleep(milliseconds) => std::thread::sleep(Duration::from_millis(*milliseconds)),
        Action::Flood { stream, bytes } => flood(*stream, *bytes),
        Action::Eat(bytes) => eat(*bytes),
        Action::Return(_) => {}
    }
}

fn crash(signal: i32) -> ! {
    // The Rust runtime handles SIGSEGV and SIGBUS itself, to tell overflows of the stack; a
    // driver's crash must not end in its handler, which returns from a signal that was only
    // raised. SAFETY: the default disposition is no function, and raising a signal has no
    // precondition.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    fail("the process survived its crash")
}

fn hang(deaf: bool) -> ! {
    if deaf {
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            // SAFETY: ignoring is a disposition and no function.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    }
    loop {
        std::thread::sleep(Duration::from_hours(1));
    }
}

/// Lines of text, straight to the descriptor.
fn flood(stream: i32, bytes: u64) {
    let line = b"All work and no play makes the driver a dull boy.\n";
    let chunk: Vec<u8> = line.iter().copied().cycle().take(line.len() * 1000).collect();
    let mut left = bytes;
    while left > 0 {
        let piece = &chunk[..chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
        let written = if stream == 1 {
            std::io::stdout().write(piece)
        } else {
            std::io::stderr().write(piece)
        };
        match written {
            Ok(count) => left = left.saturating_sub(count as u64),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // Nobody reads any more.
            Err(_) => return,
        }
    }
}

/// Takes memory and touches every page, so that it counts.
fn eat(bytes: u64) {
    let mut memory = Vec::new();
    if memory.try_reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX)).is_err() {
        fail(&format!("{bytes} bytes of memory are not to be had"));
    }
    memory.resize(bytes as usize, 0x55u8);
    std::mem::forget(memory);
}
