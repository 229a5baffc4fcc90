//! What is done: the `fpprobe` binary, whose `main` this library holds; [`hostile`] is what its
//! tests reach beside that.
//!
//! The **supervisor** (this process) finds drivers, starts workers, collects observations, has them
//! judged and shows the report; it never loads a driver. A **worker** is the same binary started
//! again (`fpprobe worker`) with one driver visible; it may crash, hang or lose its device, and
//! costs the kernel it was at, nothing else.
//!
//! Architecture invariant: what loads Vulkan is the crate `fpprobe-worker`; this one calls nothing
//! of it but its `main`, and speaks its protocol.
#![forbid(unsafe_code)]

mod absent;
mod baseline;
mod cli;
mod colour;
mod commands;
mod config;
mod discover;
mod doctor;
mod document;
mod door;
mod event;
mod exit;
pub mod hostile;
mod journal;
mod keep;
mod lines;
mod named_report;
mod output;
mod profiles;
mod progress;
mod remote;
mod require;
mod run;
mod select;
mod session;
mod supervisor;
mod sweep;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use fpprobe_system::process::{is_parent, return_large_blocks, tie_to_parent};

use cli::{Cli, Command, DaemonArgs};
use exit::Status;

/// The program.
pub fn main() -> ExitCode {
    let cli = match Cli::from_args() {
        Ok(Some(cli)) => cli,
        Ok(None) => {
            fpprobe_system::usage::say(cli::FIRST.trim_end());
            return Status::Usage.into();
        }
        Err(error) => {
            let status = exit::usage(&error);
            return of_error(status, error.use_stderr());
        }
    };
    if let Command::Worker { application, dump_raw, memory } = cli.command {
        // What a driver does to its process is for the supervisor to see.
        return fpprobe_worker::main(application, dump_raw, memory);
    }
    return_large_blocks();
    exit::contained(|| match dispatch(cli) {
        Ok(status) => status.into(),
        Err(error) => of_error(exit::report(&error), true),
    })
}

/// The status of an error, which is another where a gate answers by a convention.
fn of_error(status: ExitCode, is_error: bool) -> ExitCode {
    let unknown = is_error.then(commands::gate::status_of_error).flatten();
    unknown.map_or(status, ExitCode::from)
}

fn dispatch(cli: Cli) -> anyhow::Result<Status> {
    cli.global.tied.map_or(Ok(()), tie)?;
    if let Command::Utilisation { address } = &cli.command {
        return fpprobe_daemon::utilisation(address).map(|()| Status::Done);
    }
    let source =
        door::ConfigSource { file: cli.global.config.clone(), sets: cli.global.set.clone() };
    // A daemon receives requests whatever has become of its file since it was read.
    if let Command::Daemon(DaemonArgs { command: Some(command) }) = &cli.command {
        return commands::daemon::request(&source, command);
    }
    let layers = config::load(cli.global.config.as_deref(), &cli.global.set)?;
    let session = session::Session::new(
        layers.config().map_err(fpprobe_system::usage::usage_error)?,
        &cli.global,
    );
    match cli.command {
        Command::List(args) => commands::list::main(&session, &args),
        Command::Run(args) => commands::run::main(&session, &args),
        Command::Eval(args) => commands::eval::main(&session, &args),
        Command::Accepts(args) => commands::accepts::main(&args),
        Command::Judge(args) => commands::judge::main(&session, &args),
        Command::History(args) => commands::history::main(&session, &args),
        Command::Diff(args) => commands::diff::main(&session, &args),
        Command::Inventory(args) => commands::inventory::main(&session, &args),
        Command::Gate(args) => commands::gate::main(&session, &args),
        Command::Screen(args) => commands::screen::main(&session, &args),
        Command::Baseline { command } => commands::baseline::main(&command),
        Command::Check(args) => commands::check::main(&session, &args),
        Command::Sweep(args) => commands::sweep::main(&session, &args),
        Command::Merge(args) => commands::merge::main(&session, &args),
        Command::Answers(args) => commands::answers::main(&session, &args),
        Command::Kernels(args) => commands::kernels::main(&args),
        Command::Rules(args) => commands::rules::main(&session, &args),
        Command::Show(args) => commands::show::main(&session, &args),
        Command::Repro(args) => commands::repro::main(&session, &args),
        Command::Daemon(_) => fpprobe_daemon::run(Arc::new(source)).map(|()| Status::Done),
        Command::Config { command } => commands::config::main(&layers, &command),
        Command::Profiles => commands::profiles::main(),
        Command::Doctor => commands::doctor::main(&session),
        Command::Schema { document } => commands::schema::main(&document),
        Command::Completions { shell } => commands::completions::main(shell),
        Command::Man => commands::man::main(),
        Command::Utilisation { .. } | Command::Worker { .. } => Ok(Status::Internal),
    }
}

/// Ends with the process that has started this one, however that ends: a daemon leaves nothing
/// behind.
fn tie(parent: i32) -> anyhow::Result<()> {
    tie_to_parent().context("failed to tie this process to the one that started it")?;
    anyhow::ensure!(is_parent(parent), "the process that started this one, {parent}, has ended");
    Ok(())
}
