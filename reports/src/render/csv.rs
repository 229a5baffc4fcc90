//! One row per device, profile and rule, RFC 4180, safe to open in a spreadsheet.

use std::io::{self, Write};

use super::{Render, lane};
use crate::escape::visible;
use crate::model::{Report, Value};

/// CSV with a header line.
#[derive(Clone, Copy, Debug)]
pub struct Csv;

const HEADER: [&str; 22] = [
    "device",
    "slot",
    "key",
    "driver",
    "driver_version",
    "driver_info",
    "profile",
    "class",
    "needs",
    "rule",
    "title",
    "level",
    "verdict",
    "label",
    "behaviour",
    "lanes",
    "failing",
    "kernel",
    "in",
    "out",
    "accepts",
    "command",
];

impl Render for Csv {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        row(out, &HEADER)?;
        for device in &report.devices {
            let (identity, driver) = (&device.identity, &device.identity.driver);
            for profile in &device.profiles {
                let needs = profile.needs.join(" ");
                for rule in &profile.rules {
                    let first = rule.evidence.first();
                    let inputs = first
                        .map(|lane| lane.inputs.iter().map(bits).collect::<Vec<_>>().join(" "));
                    row(
                        out,
                        &[
                            identity.name.as_str(),
                            &identity.slot,
                            &identity.key,
                            &driver.name,
                            &driver.version,
                            &driver.info,
                            &profile.id,
                            profile.class.name(),
                            &needs,
                            &rule.id,
                            &rule.title,
                            rule.level.name(),
                            rule.verdict.name(),
                            &rule.label,
                            &rule.behaviour,
                            &rule.lanes.to_string(),
                            &rule.failing.to_string(),
                            first.map_or("", |lane| &lane.kernel),
                            &inputs.unwrap_or_default(),
                            &first.map(|lane| bits(&lane.out)).unwrap_or_default(),
                            &first.map(lane::accepted).unwrap_or_default(),
                            first.map_or("", |lane| &lane.command),
                        ],
                    )?;
                }
            }
        }
        Ok(())
    }
}

/// Hex with `0x`: a spreadsheet would read `00000001` as 1 and `7e50` as a power of ten.
fn bits(value: &Value) -> String {
    match value {
        Value::Bits(bits) => format!("0x{bits}"),
        Value::List(list) => list.iter().map(bits).collect::<Vec<_>>().join(","),
    }
}

/// Writes a row.
pub(crate) fn row(out: &mut dyn Write, fields: &[&str]) -> io::Result<()> {
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(self::field(field).as_bytes())?;
    }
    out.write_all(b"\r\n")
}

/// A field, quoted where needed. What a spreadsheet would take for a formula gets an apostrophe in
/// front, which it does not show; leading spaces do not save a formula from being one. Where the
/// comma is the decimal sign, spreadsheets cut at semicolons whatever the quotes say.
fn field(text: &str) -> String {
    let text = visible(text);
    let safe = |(index, part): (usize, &str)| {
        // A sentence that goes on with a number after its semicolon has a space there.
        let begin = part.trim_start_matches(|c: char| c == '"' || index == 0 && c.is_whitespace());
        let formula = begin.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
        if formula { format!("'{part}") } else { part.to_owned() }
    };
    let text = text.split(';').enumerate().map(safe).collect::<Vec<_>>().join(";");
    if text.contains([',', '"', ';']) || text.starts_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_are_quoted_and_formulas_are_text() {
        assert_eq!(field("plain"), "plain");
        assert_eq!(field("a,b"), "\"a,b\"");
        assert_eq!(field("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(field("=cmd()"), "'=cmd()");
        assert_eq!(field("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(field("  =1+1"), "'  =1+1");
        assert_eq!(field("two;=1+1;-2"), "\"two;'=1+1;'-2\"");
        assert_eq!(field("flushed; -0 is kept"), "\"flushed; -0 is kept\"");
        assert_eq!(field("\"=1+1"), "\"'\"\"=1+1\"");
        assert_eq!(field("two\r\nlines\t"), r"two\u{d}\u{a}lines\u{9}");
    }
}
