//! From observations to verdicts: what to judge by, what to require, and what the report says of each device.

use std::path::Path;

use fpprobe_profiles::Profile;
use fpprobe_reports::Report;

use crate::cli::Judging;
use crate::config::Config;
use crate::exit::Status;
use crate::output::Output;
use crate::profiles;
use crate::require::{self, Requirement};

pub use fpprobe_reports::judged::judge;

/// What to judge by, what to require, and where to write: options over configuration, checked before any work.
pub struct Plan {
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// Where the report goes.
    pub output: Output,
    requirements: Vec<Requirement>,
}

impl Plan {
    /// From options and configuration; `place` is where the configuration would have the report.
    pub fn new(config: &Config, options: &Judging, place: &Path) -> anyhow::Result<Plan> {
        let either =
            |given: &Vec<String>, default: &Vec<String>| if given.is_empty() { default.clone() } else { given.clone() };
        let path = options.output.as_deref().or_else(|| Some(place).filter(|path| !path.as_os_str().is_empty()));
        let output = Output::new(path, options.format.as_deref(), &config.format)?;
        let mut profiles = profiles::profiles(&either(&options.profile, &config.profiles))?;
        let requirements = require::parse(&either(&options.require, &config.require), &mut profiles)?;
        Ok(Plan { profiles, output, requirements })
    }

    /// Whether a report meets what is required.
    pub fn requirements(&self, report: &Report) -> Status {
        require::status(&self.requirements, report)
    }
}
