//! Why lanes fail, across rules and profiles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Evidence;

/// One habit or fault of a device: the failing lanes of all rules that one symptom explains.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// A digest of symptom, format, operation group and scope: the same whenever the device does
    /// the same.
    pub id: String,
    /// What the device does, in one line.
    pub headline: String,
    /// What is wrong with the lanes, see `docs/verdicts.md`.
    pub symptom: String,
    /// How grave it is.
    pub severity: Severity,
    /// Where it was seen: `constants` where nothing of it shows at run time.
    pub scope: Scope,
    /// Formats of the kernels; `texels` for those of images.
    pub formats: Vec<String>,
    /// Operations that show it, those with the most lanes first.
    pub operations: Vec<String>,
    /// Kernels that show it, those with the most lanes first; reports of earlier programs do not
    /// say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<String>,
    /// Profiles that it breaks.
    pub profiles: Vec<String>,
    /// Rules that it breaks.
    pub rules: Vec<String>,
    /// Whether no rule is among them that a profile requires: it decides no class.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recommended: bool,
    /// Failing lanes of these rules, each once for each profile.
    pub lanes: usize,
    /// How many of them are of constants.
    pub constants: usize,
    /// Encodings between the worst result and what is accepted there; 0 where there is no such
    /// distance.
    pub distance: u64,
    /// Under which modes all of it goes away, as far as measured; `memory` where constants fail
    /// that operands from memory do not.
    pub fix: Vec<String>,
    /// Where nothing was measured that does: what some of the lanes are accepted under, those of
    /// the most lanes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub eases: Vec<PartialFix>,
    /// The simplest lane; behind it the worst one, where that is another.
    pub evidence: Vec<Evidence>,
    /// What else is wrong with lanes of the same operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<OtherSymptom>,
}

/// The fix of a cause of constants: the same operations with operands from memory.
pub const MEMORY: &str = "memory";

/// What helps some lanes of a cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PartialFix {
    /// Modes, or `memory`.
    pub needs: String,
    /// Lanes that are accepted under it.
    pub lanes: usize,
}

/// Lanes of a cause that are wrong in another way than most.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OtherSymptom {
    /// What is wrong with them, see `docs/verdicts.md`.
    pub symptom: String,
    /// Their operations, those with the most lanes first.
    pub operations: Vec<String>,
    /// How many they are.
    pub lanes: usize,
    /// The simplest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simplest: Option<Evidence>,
}

/// How grave a cause is.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Unrelated or unstable values, or most lanes of an operation beyond the last bit.
    Broken,
    /// A NaN, an infinity, a zero or a subnormal is treated otherwise.
    Special,
    /// Finite, and beyond the bound by more than one encoding.
    Inaccurate,
    /// The neighbour of what is accepted.
    LastBit,
    /// Another encoding of the same value.
    SameValue,
}

impl Severity {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Broken => "broken",
            Severity::Special => "special",
            Severity::Inaccurate => "inaccurate",
            Severity::LastBit => "last bit",
            Severity::SameValue => "same value",
        }
    }
}

/// Where a behaviour was seen.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Operands from memory: buffers, uniforms, push constants, images.
    RunTime,
    /// Literals and specialisation constants, which the compiler folds.
    Constants,
}
