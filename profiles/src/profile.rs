//! Profiles: what a specification demands, as data.
//!
//! A profile is a TOML document: environments by format, operations with their lowerings and accuracies, and rules that
//! pick lanes of operations and a kind of requirement. It holds formulas, never tables of inputs and outputs.

use std::collections::BTreeMap;

use fpprobe_spirv::op::{Function, Op};
use fpprobe_spirv::{Control, Format, Kernel};

use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::Ulp;
use crate::lanes::Lanes;
use crate::oracle::{Demand, Operand};
use crate::verdict::Level;

mod parse;

pub use parse::ProfileError;

/// A profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Short name: `d3d11`.
    pub id: String,
    /// Full name.
    pub title: String,
    /// Version of the data.
    pub version: String,
    /// Controls that a recipe may ask for, in documented order.
    pub modes: Vec<Control>,
    /// Groups of rules that a device may lack as a whole.
    pub groups: Vec<Group>,
    /// Rules, in the order of the document.
    pub rules: Vec<Rule>,
}

/// A group of rules that the profile makes optional.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Short name.
    pub id: String,
    /// What a device lacks that lacks it.
    pub title: String,
    /// Format of the kernels that belong to it.
    pub format: Format,
}

/// One statement of a profile.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The catalogue's id, the same in every profile that uses it.
    pub id: String,
    /// What it says, in a line.
    pub title: String,
    /// Document, section, line.
    pub citation: String,
    /// What else a reader should know.
    pub note: String,
    /// How much it weighs.
    pub level: Level,
    /// Behaviour that this rule judges, so that others need not fail for it again.
    pub judges: Option<Behaviour>,
    /// Which lanes it looks at: those of any of these selections.
    pub lanes: Vec<Lanes>,
    /// What it demands.
    pub requirements: Vec<Requirement>,
    /// The operations it looks at.
    pub parts: Vec<Part>,
}

/// A rule's look at one operation.
#[derive(Clone, Debug)]
pub struct Part {
    /// Name of the profile's operation.
    pub operation: String,
    /// Kernels that can implement it, the default first, without controls.
    pub lowerings: Vec<Kernel>,
    /// The format that the rule speaks of: a conversion's may be neither its operand's nor its kernel's.
    pub format: Format,
    /// What is demanded of its results.
    pub demand: Demand,
    /// The optional group that its default lowering belongs to.
    pub group: Option<String>,
}

/// A behaviour that one rule judges for all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// Whether subnormals, as operands and as results, count as numbers.
    Subnormals,
    /// Whether subnormal results are kept.
    SubnormalResults,
}

/// Kinds of requirement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requirement {
    /// Every lane's result is accepted.
    #[default]
    Result,
    /// One rounding direction explains every lane's result.
    OneDirection,
    /// Storing what a load of a code gave gives the code again.
    RoundTrip,
    /// A larger input never gives a smaller result.
    Monotonic,
    /// Every finite code is the result of some input.
    EveryCode,
}

impl Rule {
    /// Whether the rule looks at a part of a result on these operands.
    pub fn selects(&self, encoding: Encoding, operands: &[Operand], demand: &Demand) -> bool {
        self.lanes.iter().any(|lanes| lanes.select(encoding, operands, demand))
    }
}

impl Profile {
    /// Parses a profile. `name` is the file's, for messages; `base` finds the profile that it extends.
    pub fn parse(
        name: &str,
        text: &str,
        base: &dyn Fn(&str) -> Option<(String, String)>,
    ) -> Result<Profile, ProfileError> {
        parse::parse(name, text, base)
    }

    /// The rule of this id.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// Rules that look at a kernel, whatever its controls, with the part that does.
    pub fn rules_for<'a>(&'a self, kernel: &Kernel) -> impl Iterator<Item = (&'a Rule, &'a Part)> {
        let plain = kernel.with_controls(fpprobe_spirv::Controls::NONE);
        self.rules.iter().flat_map(move |rule| {
            rule.parts
                .iter()
                .filter(move |part| part.lowerings.iter().any(|l| same_question(l, &plain)))
                .map(move |part| (rule, part))
        })
    }

    /// Every kernel that some rule looks at, without controls, in catalogue order of first mention.
    pub fn kernels(&self) -> Vec<Kernel> {
        let mut kernels = Vec::new();
        for kernel in self.rules.iter().flat_map(|rule| &rule.parts).flat_map(|part| &part.lowerings) {
            if !kernels.contains(kernel) {
                kernels.push(*kernel);
            }
        }
        kernels
    }
}

/// Whether two kernels ask the same of a device but for width and front end.
fn same_question(a: &Kernel, b: &Kernel) -> bool {
    a.format == b.format && a.op == b.op && a.route == b.route
}

/// Documents of the built-in profiles, by id.
const BUILT_IN: [(&str, &str); 4] = [
    ("d3d11", include_str!("../data/d3d11.toml")),
    ("d3d10", include_str!("../data/d3d10.toml")),
    ("gl-arb-shader-precision", include_str!("../data/gl-arb-shader-precision.toml")),
    ("wgsl", include_str!("../data/wgsl.toml")),
];

/// Ids of the built-in profiles.
pub fn built_in_ids() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(id, _)| *id)
}

/// File name and text of a built-in profile.
pub fn built_in_text(id: &str) -> Option<(String, String)> {
    BUILT_IN.iter().find(|(name, _)| *name == id).map(|(name, text)| (format!("{name}.toml"), (*text).to_owned()))
}

/// A built-in profile.
pub fn built_in(id: &str) -> Option<Result<Profile, ProfileError>> {
    built_in_text(id).map(|(name, text)| Profile::parse(&name, &text, &built_in_text))
}

/// The function that an operation computes: its first lowering's.
fn function_of(lowerings: &[&'static Op]) -> Option<Function> {
    lowerings.first().map(|op| op.function)
}

/// What a profile says of one operation.
#[derive(Clone, Debug)]
struct Operation {
    lowerings: Vec<String>,
    accuracy: BTreeMap<String, Accuracy>,
    environment: toml::Table,
}

/// The format whose environment governs an operand or result.
fn governing(format: Format, rule: Format) -> Format {
    match format {
        Format::I32 | Format::U32 | Format::Bool => rule,
        format => format,
    }
}

/// Which ulp a profile speaks of, and its environments.
#[derive(Clone, Debug)]
struct Ground {
    ulp: Ulp,
    environments: BTreeMap<String, toml::Table>,
}
