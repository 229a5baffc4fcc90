//! The commands that speak to a daemon.

use std::io::{self, Write};

use fpprobe_daemon::control;
use fpprobe_daemon::request::{ControlRequest, Reply};
use fpprobe_reports::escape::{visible, visible_json};
use serde_json::Value;

use crate::cli::{DaemonCommand, QuarantineCommand};
use crate::door::ConfigSource;
use crate::exit::Status;
use crate::output;
use fpprobe_system::usage::usage_error;

/// Sends a request to a daemon.
pub fn request(source: &ConfigSource, command: &DaemonCommand) -> anyhow::Result<Status> {
    let request = match command {
        DaemonCommand::Status { .. } => ControlRequest::Status,
        DaemonCommand::RunNow { full, device } => {
            ControlRequest::RunNow { full: *full, device: device.clone() }
        }
        DaemonCommand::Pause => ControlRequest::Pause,
        DaemonCommand::Resume => ControlRequest::Resume,
        DaemonCommand::Reload => ControlRequest::Reload,
        DaemonCommand::Quarantine { command: QuarantineCommand::Clear { slot } } => {
            ControlRequest::QuarantineClear { slot: slot.clone() }
        }
    };
    let Reply { done, text } = control::call(&source.sockets()?, &request)?;
    if !done {
        return Err(usage_error(format!("the daemon refused: {text}")));
    }
    let mut out = output::stdout();
    match command {
        DaemonCommand::Status { json: false } => status(&serde_json::from_str(&text)?, &mut out)?,
        DaemonCommand::Status { json: true } => writeln!(out, "{}", visible_json(&text))?,
        _ => writeln!(out, "{}", visible(&text))?,
    }
    out.flush()?;
    Ok(Status::Done)
}

/// The state in words.
fn status(status: &Value, out: &mut impl Write) -> io::Result<()> {
    let text =
        |value: &Value, name: &str| visible(value[name].as_str().unwrap_or_default()).into_owned();
    let list = |name: &str| status[name].as_array().cloned().unwrap_or_default();
    writeln!(
        out,
        "{}, version {}, since {}",
        text(status, "state"),
        text(status, "version"),
        text(status, "started")
    )?;
    for device in list("devices") {
        writeln!(out, "{}", text(&device, "name"))?;
        writeln!(out, "   driver  {} {}", text(&device, "driver"), text(&device, "driver_info"))?;
        writeln!(out, "   slot    {}", text(&device, "slot"))?;
        let last = &device["last"];
        let measuring = device["measuring"] == true;
        if measuring || !last.is_null() {
            writeln!(
                out,
                "   state   {}",
                if measuring { "being measured".to_owned() } else { text(last, "text") }
            )?;
        }
        for (title, name) in [("class ", "classes"), ("cause ", "causes")] {
            for line in last[name].as_array().into_iter().flatten().filter_map(Value::as_str) {
                writeln!(out, "   {title}  {}", visible(line))?;
            }
        }
    }
    for one in list("waiting") {
        let reason = text(&one, "reason");
        let reason = if reason.is_empty() { String::new() } else { format!("; {reason}") };
        writeln!(
            out,
            "waits: {} ({}): {}{reason}",
            text(&one, "slot"),
            text(&one, "extent"),
            text(&one, "trigger")
        )?;
    }
    for (slot, stored) in status["quarantine"].as_object().into_iter().flatten() {
        writeln!(
            out,
            "in quarantine: {} since {}: {}",
            visible(slot),
            text(stored, "since"),
            text(stored, "reason")
        )?;
    }
    for failure in list("troubles") {
        writeln!(out, "trouble: {}", visible(failure.as_str().unwrap_or_default()))?;
    }
    if let Some(next) = status["next"].as_str() {
        writeln!(out, "next by the clock: {}", visible(next))?;
    }
    Ok(())
}
