//! The queries of a document, as `DuckDB` answers them.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::scene::ends;

/// What a query gave.
#[derive(Debug, Deserialize)]
pub struct Queried {
    /// The values of each row.
    pub rows: Vec<Vec<Value>>,
    /// The time that it took, in seconds.
    pub seconds: f64,
}

/// A script of `probe/tests/sql`, with the packages of its list of requirements, in this folder.
pub fn python(script: &str, folder: &Path) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut python = Command::new("python3");
    python.arg(root.join("probe/tests/sql").join(script));
    python.current_dir(folder).env("PYTHONPATH", root.join("target/python"));
    python
}

/// What the queries of a document give in this folder, from one on; the first is 1.
pub fn documented(folder: &Path, document: &str, first: usize) -> Vec<Queried> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(document);
    let lines = ends(python("documented.py", folder).arg(path).arg(first.to_string())).lines(0);
    lines.into_iter().map(|line| serde_json::from_value(line).expect("rows and seconds")).collect()
}
