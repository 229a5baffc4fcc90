//! The worker process: one driver, one device, requests in, results out, until the supervisor
//! closes the line.
//!
//! - [`main`]: the process, which the binary enters as `fpprobe worker`.
//! - [`protocol`]: the messages that it understands.
//!
//! Invariant: nothing else of the workspace loads Vulkan. Only this crate depends on `ash`, and it
//! hands out nothing that could load a driver but [`main`], which runs until its process ends.
//! Whatever goes wrong in here stays in here: the supervisor sees a failure, a silence or a signal.
#![deny(unsafe_code)]

mod device;
mod dump;
mod measure;
pub mod protocol;
#[allow(unsafe_code, reason = "the only module that talks to drivers")]
mod vulkan;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use fpprobe_profiles::Outcome;
use fpprobe_system::{line, process};

use crate::protocol::{Failure, Hello, Request, Response, frame};

/// Runs a worker on the descriptors that the supervisor left open; the driver receives this name of
/// the application. Of `dump_raw`, see `dump`; `memory` is in MiB.
pub fn main(application: String, dump_raw: Option<PathBuf>, memory: Option<u64>) -> ExitCode {
    match serve(application, dump_raw, memory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fpprobe worker: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve(
    application: String,
    dump_raw: Option<PathBuf>,
    memory: Option<u64>,
) -> anyhow::Result<()> {
    // A worker must not outlive its supervisor, wherever the driver may have it stuck.
    process::tie_to_parent().context("failed to tie the worker to its supervisor")?;
    process::become_worker(memory.and_then(|memory| memory.checked_mul(1 << 20)));
    let mut requests = line::requests()
        .context("a worker is started by fpprobe itself, with descriptors 3 and 4 open")?;
    let mut responses = line::responses().context("failed to open descriptor 4")?;
    match frame::read(&mut requests).context("failed to read the supervisor's greeting")? {
        Some(Request::Hello(hello)) if hello == Hello::own() => {}
        Some(Request::Hello(hello)) => {
            bail!("the supervisor is {hello:?}, this worker is {:?}", Hello::own())
        }
        _ => bail!("the supervisor did not greet"),
    }
    frame::write(&mut responses, &Response::Hello(Hello::own()))?;
    let mut state = device::WorkerState::new(application, dump_raw);
    while let Some(request) = frame::read(&mut requests).context("failed to read a request")? {
        let response = match request {
            Request::Hello(_) => Err(Failure::new(Outcome::Rejected, "greeted twice")),
            Request::Enumerate => state.enumerate(),
            Request::Matrices => state.matrices(),
            Request::Open { index, key, conditions } => state.open(index, &key, conditions),
            Request::Measure { jobs, runs, timeout } => state.measure(&jobs, runs, timeout),
            Request::Sweep { kernel, sink, group } => state.sweep(&kernel, sink, group),
            Request::Start(span) => state.start(span),
            Request::Finish { timeout, shared } => state.finish(timeout, shared),
        };
        frame::write(&mut responses, &response.unwrap_or_else(Response::Failed))
            .context("failed to answer")?;
    }
    // Drivers have been seen to crash while they clean up; there is nothing left here that needs
    // cleaning.
    std::process::exit(0)
}
