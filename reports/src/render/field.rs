//! Names with their values, one under the other.

use std::io;

use super::paper::{Ink, Paper, pad};

/// Columns of the names, where they are not longer.
const NAMES: usize = 12;

/// Writes a name and its value; nothing where there is no value.
pub fn field(paper: &mut Paper, name: &str, ink: Ink, value: &str) -> io::Result<()> {
    if value.is_empty() {
        return Ok(());
    }
    let columns = NAMES.max(name.chars().count() + 2);
    paper.line(2, columns, &[(Ink::Faint, &pad(name, columns)), (ink, value)])
}

/// The first of many, and how many more there are.
pub fn some(names: &[String], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let shown = names.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
