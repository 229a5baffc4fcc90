//! One JSON document a line, each naming what it is (`record`) and the device it belongs to.
//!
//! Observations keep their references, `in` to a line with record `inputs`, `same_as` to an earlier
//! observation of the same device: the lines hold what the report holds and no more.

use std::io::{self, Write};

use serde::Serialize;

use super::Render;
use crate::escape::visible_json;
use crate::model::{Device, Report};

/// JSON lines.
#[derive(Clone, Copy, Debug)]
pub struct JsonLines;

#[derive(Serialize)]
struct JsonLine<'a, T> {
    record: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a str>,
    #[serde(flatten)]
    body: T,
}

#[derive(Serialize)]
struct ReportHead<'a> {
    schema: &'a str,
    program: &'a crate::model::Program,
    host: &'a crate::model::Host,
    started: &'a str,
    finished: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a crate::model::Conditions>,
}

#[derive(Serialize)]
struct InputList<'a> {
    name: &'a str,
    cases: &'a crate::model::Values,
}

#[derive(Serialize)]
struct DeviceLine<'a> {
    #[serde(flatten)]
    identity: &'a crate::model::Identity,
    claims: &'a crate::model::Claims,
    taint: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    application: &'a str,
}

#[derive(Serialize)]
struct ProfileLine<'a> {
    version: &'a str,
    class: crate::model::Class,
    needs: &'a [String],
    without: &'a [String],
    counts: crate::model::Counts,
}

impl Render for JsonLines {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let Report { schema, program, host, started, finished, run, .. } = report;
        write(
            out,
            "report",
            None,
            None,
            ReportHead { schema, program, host, started, finished, run: run.as_ref() },
        )?;
        for (name, cases) in &report.inputs {
            write(out, "inputs", None, None, InputList { name, cases })?;
        }
        for device in &report.devices {
            self::device(device, out)?;
        }
        report
            .incomplete
            .iter()
            .try_for_each(|incident| write(out, "incomplete", None, None, incident))
    }
}

fn device(device: &Device, out: &mut dyn Write) -> io::Result<()> {
    let Device { identity, claims, taint, application, .. } = device;
    let key = Some(identity.key.as_str());
    write(out, "device", key, None, DeviceLine { identity, claims, taint, application })?;
    for observation in &device.observations {
        write(out, "observation", key, None, observation)?;
    }
    for profile in &device.profiles {
        let (id, counts, class) = (Some(profile.id.as_str()), profile.counts, profile.class);
        let line = ProfileLine {
            version: &profile.version,
            class,
            needs: &profile.needs,
            without: &profile.without,
            counts,
        };
        write(out, "profile", key, id, line)?;
        for rule in &profile.rules {
            write(out, "rule", key, id, rule)?;
        }
    }
    device.findings.iter().try_for_each(|finding| write(out, "finding", key, None, finding))?;
    device.incomplete.iter().try_for_each(|incident| write(out, "incomplete", key, None, incident))
}

fn write(
    out: &mut dyn Write,
    record: &'static str,
    device: Option<&str>,
    profile: Option<&str>,
    body: impl Serialize,
) -> io::Result<()> {
    let line = serde_json::to_string(&JsonLine { record, device, profile, body })?;
    writeln!(out, "{}", visible_json(&line))
}
