//! Verdicts of rules and classes of devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Verdict of a rule.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every lane accepted, and the text leaves no choice.
    Conforms,
    /// Every lane accepted; the text left a choice.
    Permitted,
    /// Fails only because of a behaviour that another rule judges.
    Depends,
    /// Some lane is not accepted.
    Deviates,
    /// The device lacks what the rule is about.
    Unsupported,
    /// Could not be judged.
    Incomplete,
}

impl Verdict {
    /// Whether the rule is met.
    pub fn is_met(self) -> bool {
        matches!(self, Verdict::Conforms | Verdict::Permitted)
    }

    /// Whether the rule could be judged, or the device lacks what it is about.
    pub fn is_decided(self) -> bool {
        self != Verdict::Incomplete
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Conforms => "conforms",
            Verdict::Permitted => "permitted",
            Verdict::Depends => "depends",
            Verdict::Deviates => "deviates",
            Verdict::Unsupported => "unsupported",
            Verdict::Incomplete => "incomplete",
        }
    }
}

/// Class of a device under a profile.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
pub enum Class {
    /// Every required rule is met with no controls and default lowerings.
    #[serde(rename = "conforms")]
    Conforms,
    /// Every required rule is met under a recipe of controls and lowerings.
    #[serde(rename = "conforms with")]
    ConformsWith,
    /// No recipe meets every required rule.
    #[serde(rename = "deviates")]
    Deviates,
    /// Something required could not be measured.
    #[serde(rename = "incomplete")]
    Incomplete,
}

impl Class {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Class::Conforms => "conforms",
            Class::ConformsWith => "conforms with",
            Class::Deviates => "deviates",
            Class::Incomplete => "incomplete",
        }
    }
}

/// How much a rule weighs.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Decides class and exit status.
    Required,
    /// The text recommends it.
    Recommended,
    /// Behaviour to report.
    Informative,
}

impl Level {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Required => "required",
            Level::Recommended => "recommended",
            Level::Informative => "informative",
        }
    }
}
