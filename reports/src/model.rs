//! The report: one self-contained record of what was asked, what was answered, and what it means.
//!
//! Version 2 is two files: this document without inputs and results, and the table that
//! [`ResultFile`] names. Version 1 is one, which holds all; that is what is in memory. Values are
//! lower-case hex of their format's width; see `docs/formats.md`.

mod cause;
mod pattern;
mod read;
mod recompiled;
mod run_time;
mod traits;
mod values;

use std::collections::BTreeMap;

pub use fpprobe_profiles::{Area, Class, Level, Outcome, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

pub use self::cause::{Cause, MEMORY, OtherSymptom, PartialFix, Scope, Severity};
pub use self::pattern::Pattern;
pub use self::recompiled::Recompiled;
pub(crate) use self::traits::ALONE;
pub use self::traits::{DeviceTrait, MIXED, NOT_OFFERED, TraitShare, TraitValue};
pub use self::values::Values;

/// The value of [`Report::schema`] of a file whose results are in another one beside it.
pub const SCHEMA: &str = "fpprobe-report/2";
/// The same of a document that holds them itself, as on standard output.
pub const SELF_CONTAINED: &str = "fpprobe-report/1";

/// Reports larger than this are refused: an exhaustive run of lavapipe writes 230 MB, and devices
/// with more controls write more. One takes up to sixteen times its size in memory.
pub const SIZE_LIMIT: u64 = 1 << 30;

/// The application name that drivers receive unless a setting says otherwise.
pub const APPLICATION: &str = "fpprobe";

/// A whole report.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `fpprobe-report/2`; `fpprobe-report/1` where inputs and results are in the document itself.
    #[schemars(extend("enum" = [SCHEMA, SELF_CONTAINED]))]
    pub schema: String,
    /// The program that wrote it.
    pub program: Program,
    /// The machine it ran on.
    pub host: Host,
    /// Start, RFC 3339, UTC.
    #[serde(deserialize_with = "crate::time::text")]
    #[schemars(extend("format" = "date-time"))]
    pub started: String,
    /// End, RFC 3339, UTC.
    #[serde(deserialize_with = "crate::time::text")]
    #[schemars(extend("format" = "date-time"))]
    pub finished: String,
    /// How it was measured; reports of earlier programs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Conditions>,
    /// The file of the results; absent where they are in this document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observations: Option<ResultFile>,
    /// Input lists, by name; observations refer to them. Absent where the results are in a file of
    /// their own.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<Vec<Value>>>")]
    pub inputs: Tables,
    /// Every device that was found, in the order of `fpprobe list`.
    pub devices: Vec<Device>,
    /// Drivers and devices that could not be measured at all, and what went wrong elsewhere.
    #[serde(default)]
    pub incomplete: Vec<Incident>,
}

/// How a report was measured: the same conditions give the same observations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// Poison, orders, places and sizes of all dispatches follow from it.
    pub seed: u64,
    /// Random cases of each kernel, which follow from the seed.
    pub random: u32,
    /// Whether pipelines were dispatched twice at the same time as well.
    pub stress: bool,
    /// Which modules were compiled a second time; earlier programs compiled all twice, and do not
    /// say so.
    #[serde(default)]
    pub recompiled: Recompiled,
}

/// The file that holds the inputs and results of a report, beside it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResultFile {
    /// Its name; it is an Apache Parquet file.
    pub file: String,
    /// SHA-256 of its bytes, lower-case hex.
    #[schemars(extend("pattern" = "^[0-9a-f]{64}$"))]
    pub sha256: String,
    /// Rows of its table.
    pub rows: u64,
}

/// Input lists, by name. Each case is a list of operands.
pub type Tables = BTreeMap<String, Values>;

/// Name and version of the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// `fpprobe`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// A stable id of the machine that reveals nothing about it.
    pub id: String,
    /// What its owner calls it (`host.label`); empty where no name was given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// What else its owner says of it (`host.tags`), such as `rack` and `a12`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// Kernel name and release.
    pub kernel: String,
    /// Operating system, from os-release.
    pub os: String,
}

impl Host {
    /// Several hosts that have measured the parts of one thing.
    pub fn of_several() -> Host {
        let [id, kernel, os] = [(); 3].map(|()| String::new());
        Host { id, label: "several hosts".to_owned(), tags: BTreeMap::new(), kernel, os }
    }
}

/// One physical device: what it is, what it claims, what it answered, what that means.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// Who it is.
    #[serde(flatten)]
    pub identity: Identity,
    /// What the driver claims.
    pub claims: Claims,
    /// Active layers and the like, which make a report unfit as reference.
    pub taint: Vec<String>,
    /// Disk caches of drivers that were switched off for the run, as `NAME=VALUE` of the
    /// environment.
    #[serde(default)]
    pub caches_off: Vec<String>,
    /// Name of the application that the driver was told (`VkApplicationInfo`); reports of earlier
    /// programs do not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub application: String,
    /// Kernels whose module was compiled again, by another module and pipeline or isolated; not
    /// listed where all were, see [`Conditions::recompiled`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recompiled: Vec<String>,
    /// What it does, whether or not a profile cares; reports of earlier programs do not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traits: Vec<DeviceTrait>,
    /// Why lanes fail, across rules and profiles, the gravest cause first; reports of earlier
    /// programs do not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// What it answered; absent where the results are in a file of their own.
    #[serde(default)]
    pub observations: Vec<StoredObservation>,
    /// What that means, profile by profile.
    pub profiles: Vec<ProfileResult>,
    /// Claims contradicted, flaky answers, kernels whose results depend on what they are batched
    /// with.
    pub findings: Vec<Finding>,
    /// Answers to what people want to know of every device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// What becomes of numbers and texels, format by format and path by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texels: Vec<TexelPath>,
    /// What could not be measured, and why.
    pub incomplete: Vec<Incident>,
}

/// Identity of a device and its driver.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Printable digest of slot and driver.
    pub key: String,
    /// Its place: `pci:DDDD:BB:DD.F`, or `TYPE:vendor:device:driver:ordinal`.
    pub slot: String,
    /// Device name as the driver gives it.
    pub name: String,
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    #[serde(rename = "type")]
    pub kind: String,
    /// PCI vendor id or Khronos vendor id.
    pub vendor_id: u32,
    /// Device id.
    pub device_id: u32,
    /// `VkPhysicalDeviceIDProperties::deviceUUID`, hex.
    pub device_uuid: String,
    /// The driver.
    pub driver: Driver,
    /// For CPU devices: model and instruction-set flags of the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
}

/// Identity of a driver.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Driver {
    /// `VkDriverId`, its number.
    pub id: u32,
    /// `driverName`.
    pub name: String,
    /// `driverInfo`.
    pub info: String,
    /// `driverVersion`, decoded where the vendor's scheme is known, else as a number.
    pub version: String,
    /// Vulkan version of the device, `1.3.289`.
    pub api_version: String,
    /// `driverUUID`, hex.
    pub uuid: String,
    /// `pipelineCacheUUID`, hex.
    pub pipeline_cache_uuid: String,
    /// Manifest it was found by.
    pub manifest: String,
    /// Path of the driver library.
    pub library: String,
    /// Build id of that library, hex; empty where it has none.
    pub build_id: String,
}

/// What the driver claims: float controls properties and features, by their Vulkan names.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Claims {
    /// `denormBehaviorIndependence`: `32-bit-only`, `all` or `none`.
    pub denorm_behavior_independence: String,
    /// `roundingModeIndependence`, likewise.
    pub rounding_mode_independence: String,
    /// Features, properties and format features, by name (`shaderFloat16`,
    /// `shaderDenormPreserveFloat32`, ...).
    pub flags: BTreeMap<String, bool>,
    /// Products of cooperative matrices, as `MxNxK-A-B-C-RESULT`, in the driver's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrices: Vec<String>,
}

/// A value of one parameter or component: hex, or a list for vectors.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A scalar.
    Bits(#[schemars(with = "String", extend("pattern" = "^[0-9a-f]{1,16}$"))] SmolStr),
    /// A vector: its components; a matrix: its columns.
    List(Vec<Value>),
}

/// The answers of one kernel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StoredObservation {
    /// Kernel id.
    pub kernel: String,
    /// Name of the entry of [`Report::inputs`] that was asked.
    #[serde(rename = "in")]
    pub inputs: Inputs,
    /// The answers, one per case; none unless the outcome is `ran` or `flaky`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<Outputs>,
    /// How it ended.
    pub outcome: Outcome,
    /// What else there is to say: the missing feature, the call and its `VkResult`, the signal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Whether the results are those of a run of the kernel by itself, of constants those that
    /// deviated, each by itself, in the place of a batched run's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolated: bool,
    /// The second run's answers where they differ: case number and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub second: Vec<(usize, Value)>,
}

/// Inputs of an observation.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Inputs {
    /// Name of an entry of the report's `inputs`.
    Table(String),
    /// The cases themselves, each a list of parameters.
    Cases(#[schemars(with = "Vec<Vec<Value>>")] Values),
}

/// Outputs of an observation.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Outputs {
    /// The same answers as another kernel of this device, earlier in the list.
    SameAs {
        /// Its id.
        same_as: String,
    },
    /// One value per case.
    Values(#[schemars(with = "Vec<Value>")] Values),
}

/// Something that went wrong with a driver, device or kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Incident {
    /// What it happened to: a manifest, a kernel id, or `-` for the device as a whole.
    pub subject: String,
    /// What happened; absent where nothing did, because the run ended before it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// In words.
    pub detail: String,
}

/// How the detail of an incident begins that shows what a quick run had no time for.
pub const LEFT_OUT: &str = "left out of a quick run, whose time was up";

/// How the detail of an incident begins that tells of a driver whose hardware is not in this
/// machine.
pub const NO_DEVICE: &str = "no device in this machine";

/// How the detail of an incident begins that cost nothing: a second try succeeded.
pub const RECOVERED: &str = "recovered";

/// How the detail of an incident ends that cost no result: a later try of the same kernels
/// succeeded.
pub const RESOLVED: &str = "asked again, nothing of it failed, and nothing is missing";

impl Incident {
    /// Whether something went wrong: not what a quick run leaves out, a driver without hardware, or
    /// a second try that succeeded.
    pub fn is_failure(&self) -> bool {
        let harmless = [LEFT_OUT, NO_DEVICE, RECOVERED];
        self.outcome.is_some()
            || !harmless.iter().any(|beginning| self.detail.starts_with(beginning))
    }
}

/// A finding beside the rules.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// `claim`, `flaky`, `batch_dependent` (a kernel gives other results isolated, which are
    /// judged; earlier `company`) or `route` (it answers otherwise by another route,
    /// of another width, or through another front end).
    pub kind: String,
    /// One sentence.
    pub text: String,
    /// What shows it.
    pub evidence: Vec<Evidence>,
}

/// The answer to one question that people ask of every device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// `Q01` and so on.
    pub id: String,
    /// The question, in short.
    pub question: String,
    /// One sentence; `not measured` stands for each part that no observation tells of.
    pub answer: String,
    /// Lanes that show it.
    pub evidence: Vec<AnswerEvidence>,
}

/// One lane that shows something.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AnswerEvidence {
    /// Kernel id.
    pub kernel: String,
    /// Inputs.
    #[serde(rename = "in")]
    pub inputs: Vec<Value>,
    /// Answer.
    pub out: Value,
    /// The command that shows it.
    pub command: String,
}

/// Verdicts of one profile on one device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProfileResult {
    /// Profile id.
    pub id: String,
    /// Profile title.
    #[serde(default)]
    pub title: String,
    /// Profile version.
    pub version: String,
    /// The class.
    pub class: Class,
    /// The class with the lanes of constants left out; absent in reports of earlier programs, as
    /// the next two are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_run_time: Option<Class>,
    /// By area: `ok`, the number of causes at run time, `constants` where only constants fail, `-`
    /// where the device does not offer it, `?` where it was not measured.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub areas: BTreeMap<Area, String>,
    /// The recipe that leaves the fewest causes, where none makes it conform and one is better
    /// than none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestResult>,
    /// The recipe: controls, then lowerings as `operation=kernel`, that make it conform.
    pub needs: Vec<String>,
    /// What every operation of the profile is under the recipe: kernels without controls, one for
    /// each format.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub operations: BTreeMap<String, Vec<String>>,
    /// Optional groups that the device lacks.
    pub without: Vec<String>,
    /// Number of rules by verdict, required ones.
    pub counts: Counts,
    /// Every rule, judged under the recipe in `needs`, or under no controls where none makes it
    /// conform.
    pub rules: Vec<RuleResult>,
    /// Recipes that were tried, in order, with the required rules that fail under each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recipes: Vec<RecipeResult>,
    /// Rules of clears, blits and copies, in which no shader runs: modes do not reach these, and
    /// what was measured of them counts under every recipe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_shaders: Vec<String>,
}

/// A recipe under which causes remain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NearestResult {
    /// Controls and lowerings.
    pub needs: Vec<String>,
    /// Ids of the causes that remain.
    pub causes: Vec<String>,
    /// Rules that fail under the recipe alone.
    pub new: Vec<String>,
    /// How many causes there are without it.
    pub of: usize,
}

/// One recipe that was tried.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecipeResult {
    /// Controls and lowerings; empty for the defaults.
    pub needs: Vec<String>,
    /// Required rules that fail under it, by what was measured under its modes. A rule that
    /// depends on another one is not listed, the other one is; reports of earlier programs
    /// list both.
    pub failing: Vec<String>,
    /// Required rules that do not fail under it as far as they were measured under its modes,
    /// which is not all that it takes. Reports of earlier programs list them as failing, or
    /// not at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<String>,
}

/// Number of required rules by verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the verdicts")]
pub struct Counts {
    pub conforms: usize,
    pub permitted: usize,
    pub depends: usize,
    pub deviates: usize,
    pub unsupported: usize,
    pub incomplete: usize,
}

/// Verdict of one rule on one device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RuleResult {
    /// Catalogue id.
    pub id: String,
    /// Title.
    pub title: String,
    /// What it is about; reports of earlier programs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// Document, section, line.
    pub citation: String,
    /// How much it weighs.
    pub level: Level,
    /// The verdict.
    pub verdict: Verdict,
    /// `strict` where every answer also equals IEEE round-to-nearest-even under the profile's
    /// flushing, else `text`; empty where the rule is not met.
    #[serde(default)]
    pub label: String,
    /// What the device chose where the text leaves a choice; for `depends` the rule it depends on;
    /// for `incomplete` why.
    #[serde(default)]
    pub behaviour: String,
    /// Lanes judged (those that accept everything are not counted).
    pub lanes: usize,
    /// Lanes that were not accepted and count for this rule; each counts for one rule of its
    /// profile.
    pub failing: usize,
    /// Lanes that were not accepted either, and count for other rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Elsewhere>,
    /// For a deviation without modes, the smallest sets of modes under which it goes away, as
    /// `controls=` of kernels has them: every lane that fails was measured under them and is
    /// accepted. None where that was seen of none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed_by: Vec<String>,
    /// The first failing lanes that count for this rule.
    pub evidence: Vec<Evidence>,
    /// Every case that fails, kernel by kernel, for required rules; reports of earlier programs do
    /// not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
}

/// Lanes that one rule does not accept and that count for another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Elsewhere {
    /// The other rule's id.
    pub rule: String,
    /// How many lanes.
    pub lanes: usize,
}

/// Cases of one kernel that a rule does not accept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// Kernel id, of an observation of the device.
    pub kernel: String,
    /// Numbers of cases of that observation, from 0, ascending, with ranges: `0-3,17,20-21`.
    #[schemars(extend("pattern" = "^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$"))]
    pub cases: String,
    /// The components of these results that are not accepted, by number from 0; absent where a
    /// result has one, and in reports of earlier programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<u32>,
    /// Id of the cause that they belong to; absent in reports of earlier programs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
}

/// One way by which a device makes texels of numbers, or numbers of texels.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TexelPath {
    /// Kernel id, which names format, operation and route.
    pub kernel: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Number of vectors or texels that it was asked.
    pub values: usize,
    /// Rounding, overflow, subnormal codes and NaN, as a store has them; empty for other
    /// operations.
    #[serde(default)]
    pub behaviour: String,
    /// Rules that it does not meet, as `profile/rule`.
    #[serde(default)]
    pub deviates: Vec<String>,
}

/// One lane as evidence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Kernel id.
    pub kernel: String,
    /// Inputs.
    #[serde(rename = "in")]
    pub inputs: Vec<Value>,
    /// Answer.
    pub out: Value,
    /// The answer of the second run, where it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<Value>,
    /// The component of the answer that is not accepted, by number from 0; absent where an answer
    /// has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<u32>,
    /// What would have been accepted, as `fpprobe accepts` prints it.
    pub accepts: serde_json::Value,
    /// The command that shows it.
    pub command: String,
}
