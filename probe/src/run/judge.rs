//! From observations to verdicts: what to judge by, what to require, and what the report says of
//! each device.

use std::path::Path;

use fpprobe_profiles::Profile;
use fpprobe_reports::Report;
use fpprobe_reports::render::OutputFormat;

use crate::cli::JudgingArgs;
use crate::config::Config;
use crate::exit::Status;
use crate::keep::Keep;
use crate::output::Output;
use crate::profiles;
use crate::require::{self, RunRequirement};

/// What to judge by, what to require, and where to write: options over configuration, checked
/// before any work.
pub struct JudgePlan {
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// Where the report goes.
    pub output: Output,
    /// The store that it goes to, if any.
    pub keep: Option<Keep>,
    /// What both came from, ids and files, as a journal keeps it.
    pub named: ProfileNames,
    requirements: Vec<RunRequirement>,
}

/// Profiles as they were named.
pub struct ProfileNames {
    /// To judge by; none for all that are built in.
    pub profiles: Vec<String>,
    /// To be met.
    pub require: Vec<String>,
}

impl JudgePlan {
    /// From options and configuration; `place` is where the configuration would have the report.
    pub fn new(config: &Config, options: &JudgingArgs, place: &Path) -> anyhow::Result<JudgePlan> {
        let either = |given: &Vec<String>, default: &Vec<String>| {
            if given.is_empty() { default.clone() } else { given.clone() }
        };
        let path = options
            .output
            .as_deref()
            .or_else(|| Some(place).filter(|path| !path.as_os_str().is_empty()));
        let output = Output::new(path, options.format.as_deref(), &config.format)?;
        let named = ProfileNames {
            profiles: either(&options.profile, &config.profiles),
            require: either(&options.require, &config.require),
        };
        let mut profiles = profiles::for_devices(&named.profiles)?;
        let requirements = require::parse(&named.require, &mut profiles)?;
        Ok(JudgePlan { profiles, output, keep: None, named, requirements })
    }

    /// For a run that is not judged and shows a part of its report alone.
    pub fn unjudged(shown: &'static OutputFormat) -> JudgePlan {
        let named = ProfileNames { profiles: Vec::new(), require: Vec::new() };
        JudgePlan {
            profiles: Vec::new(),
            output: Output::shown(shown),
            keep: None,
            named,
            requirements: Vec::new(),
        }
    }

    /// The same, with nothing required.
    pub fn without_requirements(self) -> JudgePlan {
        let named = ProfileNames { require: Vec::new(), ..self.named };
        JudgePlan { requirements: Vec::new(), named, ..self }
    }

    /// Whether a report meets what is required.
    pub fn requirements(&self, report: &Report) -> Status {
        require::status(&self.requirements, report)
    }
}
