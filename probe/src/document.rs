//! Texts that people hand over: baselines, configuration, profiles.

use std::path::Path;

use fpprobe_reports::limited;

use fpprobe_system::usage::usage_error;

/// A kind of text.
pub struct DocumentKind {
    /// What it is called.
    pub name: &'static str,
    /// Most bytes that are read.
    pub limit: u64,
    /// What to do where there is none.
    pub missing: &'static str,
}

impl DocumentKind {
    /// Reads one; an error names the file and says what to do.
    pub fn read(&self, path: &Path) -> anyhow::Result<String> {
        limited::text(path, self.limit).map_err(|error| {
            let advice = limited::advice(&error, self.missing);
            usage_error(format!("cannot read {} {}: {error}{advice}", self.name, path.display()))
        })
    }
}
