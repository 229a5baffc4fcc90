//! A baseline as a file that reviews well: sorted, an entry a deviation, a line a lane.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::read::key;
use super::{Baseline, MeasuredCoverage, SCHEMA};
use crate::escape::is_hidden;

const HEAD: &str = "\
# Deviations that are known and accepted: `fpprobe check --baseline FILE` lets them pass, and nothing else.
# `fpprobe baseline accept REPORT -o FILE --reason TEXT` adds those of a report, and writes the file anew: what is to be
# said of an entry belongs into its `reason`.
# Conditions of an entry, each of which may be left out: driver = \"name\", versions = \">=25.0, <25.2\" of it, and
# expires = 2027-03-31, the last day. `failing` is the number of lanes that may fail as the report counts them, part by
# part of a result, and a way of asking that answers like the plain kernel not at all; `seen` are the first of them. `lanes`
# tells all of them from others, each case once, ways of asking that answer alike with them: kernels, number of cases of
# each, digest, and up to 256 cases one by one; of more, `short` and the same of the short list of a quick run.
# An entry of `measured` is what ran on a device, whatever it deviated in: `count` kernels, each row some kernels, `:` and what
# follows their names (`-`: nothing), and those that the device claims to support and did not run (`failed`). Of a machine that
# `hosts` names the devices of its entries must be there, of another all.
";

/// Writes a baseline.
pub fn write(baseline: &Baseline, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEAD}schema = {}", quoted(SCHEMA))?;
    let mut accepted: Vec<_> = baseline.accepted.iter().collect();
    accepted.sort_by_key(|one| key(one));
    for one in accepted {
        writeln!(out, "\n[[accept]]")?;
        let mut line = |key: &str, text: &str| writeln!(out, "{key} = {}", quoted(text));
        line("device", &one.device)?;
        line("profile", &one.profile)?;
        line("rule", &one.rule)?;
        line("title", &one.title)?;
        line("reason", &one.reason)?;
        one.link.iter().try_for_each(|link| line("link", link))?;
        one.driver.iter().try_for_each(|driver| line("driver", driver))?;
        one.versions.iter().try_for_each(|versions| line("versions", &versions.to_string()))?;
        one.expires.iter().try_for_each(|expires| writeln!(out, "expires = {expires}"))?;
        writeln!(out, "failing = {}\nseen = [", one.failing)?;
        one.seen.iter().try_for_each(|lane| writeln!(out, "    {},", quoted(lane)))?;
        writeln!(out, "]")?;
        if !one.lanes.is_empty() {
            writeln!(out, "lanes = [")?;
            one.lanes
                .iter()
                .try_for_each(|lanes| writeln!(out, "    {},", quoted(&lanes.to_string())))?;
            writeln!(out, "]")?;
        }
    }
    baseline.measured.iter().try_for_each(|coverage| measured(coverage, out))
}

fn measured(coverage: &MeasuredCoverage, out: &mut dyn Write) -> io::Result<()> {
    let entry = coverage.written();
    writeln!(
        out,
        "\n[[measured]]\ndevice = {}\ndriver = {}",
        quoted(&entry.device),
        quoted(&entry.driver)
    )?;
    entry
        .versions
        .iter()
        .try_for_each(|versions| writeln!(out, "versions = {}", quoted(versions)))?;
    let hosts: Vec<String> = entry.hosts.iter().map(|host| quoted(host)).collect();
    writeln!(out, "hosts = [{}]\ncount = {}", hosts.join(", "), entry.count)?;
    for (name, rows) in [("kernels", &entry.kernels), ("failed", &entry.failed)] {
        if !rows.is_empty() {
            writeln!(out, "{name} = [")?;
            rows.iter().try_for_each(|row| writeln!(out, "    {},", quoted(row)))?;
            writeln!(out, "]")?;
        }
    }
    Ok(())
}

/// A basic string of TOML (v1.0.0, section String) that reads as the same text and hides nothing
/// from people.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if is_hidden(c) => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\U{:08X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
