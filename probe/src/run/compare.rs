//! A run that compares itself with a report of before: what it has judged it need not judge again,
//! and what was before is read while it measures.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use fpprobe_profiles::Profile;
use fpprobe_profiles::judge::Judge;
use fpprobe_reports::Report;
use fpprobe_reports::common::common_by;
use fpprobe_reports::diff::{DIFFS, compare};
use fpprobe_reports::load::{self, LoadError, LoadedReport};
use fpprobe_reports::render::Style;

use crate::cli::ReferenceArgs;
use crate::output::Page;
use crate::profiles;
use fpprobe_reports::host;

/// A report of before on its way, and where the difference goes.
pub struct Comparison {
    old: PathBuf,
    difference: PathBuf,
    loading: JoinHandle<Result<Report, LoadError>>,
}

impl Comparison {
    /// Begins to read it, where there is one.
    pub fn begin(against: &ReferenceArgs) -> Option<Comparison> {
        let (old, difference) = (against.against.clone()?, against.difference.clone()?);
        let path = old.clone();
        Some(Comparison { old, difference, loading: std::thread::spawn(move || load::one(&path)) })
    }

    /// Writes what `diff --common` would find in both; `file` is the new report's.
    pub fn compare(self, judges: &[Judge<'_>], new: Report, file: &Path) -> anyhow::Result<()> {
        let old = self.loading.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause))?;
        let loaded =
            |file: &Path, report| [LoadedReport { file: file.display().to_string(), report }];
        let (mut old, mut new) = (loaded(&self.old, old), loaded(file, new));
        let profiles = profiles::that_judged(old.iter().chain(&new).map(|loaded| &loaded.report))?;
        let named = |profile: &Profile| (profile.id.clone(), profile.version.clone());
        let same = judges.iter().map(|judge| named(judge.profile())).eq(profiles.iter().map(named));
        let fresh = if same { Vec::new() } else { Judge::together(&profiles) };
        let judges = if same { judges } else { &fresh };
        common_by(judges, &mut old[0].report, &mut new[0].report)?;
        let compared = compare(host::program(), &profiles, &old, &new)?;
        let page = Page::new(DIFFS, Some(&self.difference), Some("json"))?;
        page.write(Style::PLAIN, |form, style, out| form.render(&compared.diff, style, out))?;
        // The process is about to end.
        std::mem::forget((old, new, compared));
        Ok(())
    }
}
