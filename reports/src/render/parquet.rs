//! The results of a report alone, as a table for programs that query in SQL: the file that lies
//! beside a report.

use std::io::{self, Write};

use super::Render;
use crate::model::Report;
use crate::table;

/// Apache Parquet, a row for each lane.
#[derive(Clone, Copy, Debug)]
pub struct Parquet;

impl Render for Parquet {
    fn is_text(&self) -> bool {
        false
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&table::write(report)?.0)
    }
}
