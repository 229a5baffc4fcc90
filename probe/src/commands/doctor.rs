//! `fpprobe doctor`

use std::io::Write;

use fpprobe_reports::escape::visible;

use crate::cli::MeasureArgs;
use crate::exit::Status;
use crate::session::Session;
use crate::supervisor::{self, MeasureSettings};
use crate::{doctor, output};

/// Looks for what keeps devices from being measured.
pub fn main(session: &Session) -> anyhow::Result<Status> {
    let settings: MeasureSettings = session.settings(&MeasureArgs::default())?;
    let silent = |_: &crate::event::RunEvent<'_>| {};
    let drivers = session.drivers();
    let rows = supervisor::enumerate(&drivers, &settings, &silent);
    let mut findings = doctor::loader::look(&settings, &silent);
    findings.extend(doctor::drivers::look(&rows));
    findings.extend(doctor::nodes::look());
    findings.extend(doctor::surroundings::look(&settings));
    let mut out = output::stdout();
    for finding in &findings {
        writeln!(out, "{}  {}", finding.mark(), visible(&finding.text))?;
        if !finding.remedy.is_empty() {
            writeln!(out, "       {}", visible(&finding.remedy))?;
        }
    }
    let usable = rows
        .iter()
        .flat_map(|row| row.devices.iter().flatten())
        .any(|found| found.obstacle.is_none());
    let broken = rows.iter().any(|row| row.devices.is_err());
    writeln!(
        out,
        "{}",
        if usable { "Devices can be measured." } else { "Nothing can be measured." }
    )?;
    out.flush()?;
    Ok(Status::Nothing.when(!usable).and(Status::Incomplete.when(broken)))
}
