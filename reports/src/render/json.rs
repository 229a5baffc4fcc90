//! The report itself: one JSON document, one line per observation, rule and other small thing.
//! Other documents are written alike.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use super::Render;
use crate::escape::visible_json;
use crate::model::Report;

/// JSON, version 1 of the schema.
#[derive(Clone, Copy, Debug)]
pub struct Json;

impl Render for Json {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        document(report, out)
    }
}

/// Writes one document and a line break; what no terminal should meet is escaped.
pub(crate) fn document(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    document.serialize(&mut Serializer::with_formatter(&mut *out, LineFormatter::default()))?;
    out.write_all(b"\n")
}

/// Keys whose values stand on one line; the members of their values do where the key is in
/// [`MEMBERS`].
const ONE_LINE: [&str; 17] = [
    "run",
    "recompiled",
    "program",
    "host",
    "driver",
    "taint",
    "caches_off",
    "needs",
    "operations",
    "without",
    "counts",
    "old",
    "new",
    "asked",
    "blocks",
    "unresolved",
    "histogram",
];
const MEMBERS: [&str; 15] = [
    "inputs",
    "observations",
    "evidence",
    "failed",
    "findings",
    "incomplete",
    "recipes",
    "lanes",
    "judged",
    "kinds",
    "texels",
    "list",
    "runs",
    "exponents",
    "classes",
];

/// Indents the outer parts and writes what comes in great numbers compactly, so that a report can
/// be read, searched line by line and compared with `diff`, and is hardly larger than without any
/// space.
#[derive(Default)]
struct LineFormatter {
    /// Containers around the present place that are spread over lines.
    depth: usize,
    /// Containers around the present place that are on one line.
    compact: usize,
    /// Names of the members around the present place, innermost last; empty for members of lists.
    path: Vec<String>,
    in_key: bool,
    /// Whether the innermost spread container has a member yet.
    filled: bool,
}

impl LineFormatter {
    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let key = self.path.last().map_or("", String::as_str);
        let around = self
            .path
            .len()
            .checked_sub(2)
            .and_then(|index| self.path.get(index))
            .map_or("", String::as_str);
        if self.compact > 0 || ONE_LINE.contains(&key) || MEMBERS.contains(&around) {
            self.compact += 1;
        } else {
            self.depth += 1;
        }
        self.filled = false;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        if self.compact > 0 {
            self.compact -= 1;
        } else {
            self.depth -= 1;
            if self.filled {
                self.line(writer)?;
            }
        }
        self.filled = true;
        writer.write_all(bracket)
    }

    fn member<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.path.push(String::new());
        if !first {
            writer.write_all(b",")?;
        }
        if self.compact > 0 { Ok(()) } else { self.line(writer) }
    }

    fn end(&mut self) {
        self.path.pop();
        self.filled = true;
    }

    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        write!(writer, "\n{:width$}", "", width = self.depth)
    }
}

impl Formatter for LineFormatter {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }
    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }
    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.member(writer, first)
    }
    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.end();
        Ok(())
    }
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }
    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }
    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.in_key = true;
        self.member(writer, first)
    }
    fn end_object_key<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.in_key = false;
        Ok(())
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.compact > 0 { b":" } else { b": " })
    }
    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.end();
        Ok(())
    }
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if let (true, Some(name)) = (self.in_key, self.path.last_mut()) {
            name.push_str(fragment);
        }
        CompactFormatter.write_string_fragment(writer, &visible_json(fragment))
    }
}
