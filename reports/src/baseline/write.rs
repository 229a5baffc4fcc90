//! A baseline as a file that reviews well: sorted, an entry a deviation, a line a lane.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::read::key;
use super::{Baseline, MeasuredCoverage, SCHEMA};
use crate::escape::is_hidden;

const HEAD: &str = "\
# What is known and accepted: `fpprobe check --baseline FILE` lets it pass, and nothing else. `fpprobe
# baseline accept REPORT -o FILE --reason TEXT` adds the causes of a report, and writes the file anew:
# what is to be said of an entry belongs into its `reason`.
# Conditions of an entry, each of which may be left out: driver = \"name\", versions = \">=25.0, <25.2\"
# of it, and expires = 2027-03-31, the last day. `seen` are lanes that show the cause. `lanes` are all
# that may fail, by profiles: kernels, number of lanes of each, digest, and up to 256 lanes one by one;
# of more, `short` and the same of the short list of a quick run. Digests of parts add up. Where a
# report showed the first lanes alone, `seen` are those, and `failing` is the number of all.
# An entry of `measured` is what ran on a device, whatever failed: `count` kernels, each row some
# kernels, `:` and what follows their names (`-`: nothing), which of them ran on the short list of a
# quick run alone (`short`), and those that the device claims to support and did not run (`failed`). Of
# a machine that `hosts` names the devices of its entries must be there, of another all.
";

/// Writes a baseline.
pub fn write(baseline: &Baseline, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEAD}schema = {}", quoted(SCHEMA))?;
    let mut accepted: Vec<_> = baseline.accepted.iter().collect();
    accepted.sort_by_cached_key(|one| key(one));
    for one in accepted {
        writeln!(out, "\n[[accept]]")?;
        let mut line = |key: &str, text: &str| writeln!(out, "{key} = {}", quoted(text));
        line("device", &one.device)?;
        line("cause", &one.cause)?;
        line("headline", &one.headline)?;
        if !one.symptom.is_empty() {
            line("symptom", &one.symptom)?;
        }
        line("reason", &one.reason)?;
        one.link.iter().try_for_each(|link| line("link", link))?;
        one.driver.iter().try_for_each(|driver| line("driver", driver))?;
        one.versions.iter().try_for_each(|versions| line("versions", &versions.to_string()))?;
        one.expires.iter().try_for_each(|expires| writeln!(out, "expires = {expires}"))?;
        one.failing.iter().try_for_each(|failing| writeln!(out, "failing = {failing}"))?;
        list("seen", &one.seen, out)?;
        if !one.lanes.is_empty() {
            writeln!(out, "[accept.lanes]")?;
        }
        for (profiles, rows) in one.lanes.rows() {
            list(&quoted(&profiles), &rows, out)?;
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
    for (name, rows) in
        [("kernels", &entry.kernels), ("short", &entry.short), ("failed", &entry.failed)]
    {
        list(name, rows, out)?;
    }
    Ok(())
}

/// A list of texts, a line each; nothing of an empty one.
fn list(key: &str, texts: &[String], out: &mut dyn Write) -> io::Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    writeln!(out, "{key} = [")?;
    texts.iter().try_for_each(|text| writeln!(out, "    {},", quoted(text)))?;
    writeln!(out, "]")
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
