//! Profiles: what a specification demands, as data.
//!
//! A profile is a TOML document: environments by format, operations with their lowerings and
//! accuracies, and rules that pick lanes of operations and a kind of requirement. It holds
//! formulas, never tables of inputs and outputs.

use std::collections::{BTreeMap, HashSet};

use fpprobe_spirv::op::{Function, Op};
use fpprobe_spirv::{Cases, Control, Controls, Format, Kernel, Need};

use crate::area::Area;
use crate::encoding::Encoding;
use crate::environment::Ulp;
use crate::formula::Inheritance;
use crate::lanes::LaneSelection;
use crate::oracle::{Demand, Operands, Signature};
use crate::verdict::Level;

mod bound;
mod operation;
mod parse;
mod raw;
mod rule_controls;

pub use crate::source::SourceError;

/// A profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Short name: `d3d11`.
    pub id: String,
    /// Full name.
    pub title: String,
    /// Version of the data.
    pub version: String,
    /// Controls that a recipe may request, in documented order.
    pub modes: Vec<Control>,
    /// Rounding modes that a recipe may request besides, where no other will do and rounding alone
    /// is wrong.
    pub rounding_modes: Vec<Control>,
    /// Modes that are measured only for rules that deviate, and that a recipe may use only where
    /// nothing else is left to fix.
    pub late_modes: Vec<Control>,
    /// Whether it speaks of what compilers fold before any device runs, so that no device is
    /// judged by it.
    pub compile_time: bool,
    /// Groups of rules that a device may lack as a whole.
    pub groups: Vec<OptionalGroup>,
    /// Rules, in the order of the document.
    pub rules: Vec<Rule>,
}

/// A group of rules that the profile makes optional.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionalGroup {
    /// Short name.
    pub id: String,
    /// What a device lacks that lacks it.
    pub title: String,
    /// Which kernels belong to it.
    pub member: Member,
}

/// What kernels of an optional group have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Member {
    /// Values of this format.
    Format(Format),
    /// That they need this control: to be asked under it, or under one that rests on it.
    Control(Control),
    /// That they need this of a device.
    Need(Need),
    /// That they are this kernel, but for its controls: a path that not every device has.
    Path(Kernel),
}

/// One statement of a profile.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The catalogue's id, the same in every profile that uses it.
    pub id: String,
    /// What it says, in a line.
    pub title: String,
    /// What it is about.
    pub area: Area,
    /// Document, section, line.
    pub citation: String,
    /// What else a reader should know.
    pub note: String,
    /// The sentence of the text, verbatim; empty where it is not quoted.
    pub quote: String,
    /// Who is hurt by a device that breaks it, and how, in a sentence; empty where nothing is
    /// said.
    pub matters: String,
    /// How much it weighs.
    pub level: Level,
    /// Behaviour that this rule judges, so that others need not fail for it again.
    pub judges: Option<Behaviour>,
    /// Which lanes it looks at: those of any of these selections.
    pub lanes: Vec<LaneSelection>,
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
    /// Kernels that can implement it, the default first, under the controls that the rule itself
    /// requests. A recipe's come on top.
    pub lowerings: Vec<Kernel>,
    /// The format that the rule speaks of: a conversion's may be neither its operand's nor its
    /// kernel's.
    pub format: Format,
    /// What is demanded of its results.
    pub demand: Demand,
    /// The optional groups that its default lowering belongs to.
    pub groups: Vec<String>,
}

impl Part {
    /// Whether a device that lacks these groups lacks it.
    pub fn is_absent(&self, absent: &[String]) -> bool {
        self.groups.iter().any(|group| absent.contains(group))
    }

    /// One of its lowerings without controls.
    pub fn plain(&self, lowering: usize) -> Kernel {
        self.lowerings[lowering].with_controls(Controls::NONE)
    }

    /// One of its lowerings under a recipe's controls, which commands have none of. A profile whose
    /// recipes and rules exclude each other is refused when it is read.
    pub fn kernel(&self, lowering: usize, recipe: Controls) -> Kernel {
        let kernel = self.lowerings[lowering];
        if kernel.route.is_command() {
            return kernel;
        }
        kernel.with_controls(kernel.controls.with(recipe).unwrap_or(kernel.controls))
    }

    /// Whether its kernel is run under further controls only where nothing else decides. Drivers
    /// take long to compile code for texels. Not so where the part has several lowerings, of which
    /// a recipe chooses one, or where its kernel is a command, which controls do not change.
    pub fn waits(&self) -> bool {
        matches!(self.lowerings[..], [only] if only.op.code.is_of_texels() && !only.route.is_command())
    }

    /// Whether it looks at the same operation by the same lowerings, whatever their controls.
    pub fn is_like(&self, other: &Part) -> bool {
        self.operation == other.operation
            && self.lowerings.len() == other.lowerings.len()
            && (0..self.lowerings.len())
                .all(|lowering| self.plain(lowering) == other.plain(lowering))
    }
}

/// A behaviour that one rule judges for all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// Whether subnormals, as operands and as results, count as numbers.
    Subnormals,
    /// Whether subnormal results are kept.
    SubnormalResults,
    /// Whether a multiply-add is rounded once.
    Contraction,
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
    /// Subnormals are kept on every lane, or flushed on every lane.
    OneTreatment,
    /// Storing what a load of a code gave gives the code again.
    RoundTrip,
    /// A larger input never gives a smaller result.
    Monotonic,
    /// Every finite code is the result of some input.
    EveryCode,
}

impl Requirement {
    /// Its name in profiles.
    pub fn name(self) -> &'static str {
        match self {
            Requirement::Result => "result",
            Requirement::OneDirection => "one_direction",
            Requirement::OneTreatment => "one_treatment",
            Requirement::RoundTrip => "round_trip",
            Requirement::Monotonic => "monotonic",
            Requirement::EveryCode => "every_code",
        }
    }
}

impl Rule {
    /// Whether the rule looks at a part of a result on these operands.
    pub fn selects(&self, encoding: Encoding, operands: &Operands, demand: &Demand) -> bool {
        self.lanes.iter().any(|lanes| lanes.select(encoding, operands, demand))
    }

    /// The lanes that the rule looks at in a list of cases: case, part of the result, operands.
    pub fn looks_at<'a>(
        &'a self,
        signature: &'a Signature,
        cases: &'a Cases,
        demand: &'a Demand,
    ) -> impl Iterator<Item = (usize, usize, Operands)> + 'a {
        let parts = move |index| (0..signature.encodings.len()).map(move |part| (index, part));
        (0..cases.len()).flat_map(parts).filter_map(move |(index, part)| {
            let operands = signature.operands(cases.case(index), part);
            self.selects(signature.encodings[part], &operands, demand)
                .then_some((index, part, operands))
        })
    }
}

impl Profile {
    /// Parses a profile. `name` is the file's, for messages; `base` finds the profile that it
    /// extends.
    pub fn parse(
        name: &str,
        text: &str,
        base: &dyn Fn(&str) -> Option<(String, String)>,
    ) -> Result<Profile, SourceError> {
        parse::parse(name, text, base)
    }

    /// Every control that a recipe may request, in documented order.
    pub fn recipe_modes(&self) -> Vec<Control> {
        [&self.modes[..], &self.rounding_modes, &self.late_modes].concat()
    }

    /// The rule of this id.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// Rules that look at a kernel, with the part that does: those that request no control beyond
    /// the kernel's, of it or of the kernel that it should answer like.
    pub fn rules_for<'a>(&'a self, kernel: &Kernel) -> impl Iterator<Item = (&'a Rule, &'a Part)> {
        let kernel = *kernel;
        self.rules.iter().flat_map(move |rule| {
            rule.parts
                .iter()
                .filter(move |part| part.lowerings.iter().any(|l| is_governed(l, &kernel)))
                .map(move |part| (rule, part))
        })
    }

    /// Every kernel that some rule looks at, under the controls that the rule requests, in order of
    /// first mention.
    pub fn kernels(&self) -> Vec<Kernel> {
        self.kernels_under(Controls::NONE)
    }

    /// The same under a recipe's controls as well.
    pub fn kernels_under(&self, recipe: Controls) -> Vec<Kernel> {
        self.kernels_of(recipe, |_| true)
    }

    /// Those of them that show whether the recipe can do, before anything [waits](Part::waits) for
    /// that: all, where nothing else is.
    pub fn kernels_deciding(&self, recipe: Controls) -> Vec<Kernel> {
        let all =
            recipe.is_empty() || self.rules.iter().flat_map(|rule| &rule.parts).all(Part::waits);
        self.kernels_of(recipe, |part| all || !part.waits())
    }

    fn kernels_of(&self, recipe: Controls, counts: impl Fn(&Part) -> bool) -> Vec<Kernel> {
        let mut seen = HashSet::new();
        let parts = self.rules.iter().flat_map(|rule| &rule.parts).filter(|part| counts(part));
        let kernels = parts.flat_map(|part| {
            (0..part.lowerings.len()).map(move |lowering| part.kernel(lowering, recipe))
        });
        kernels.filter(|kernel| seen.insert(*kernel)).collect()
    }
}

/// Whether a kernel asks of a device what a lowering does, under further controls or not: it is the
/// lowering, or should answer like it. Judgement looks at both, see [`crate::ways`].
fn is_governed(lowering: &Kernel, kernel: &Kernel) -> bool {
    // Of nearly all pairs this alone tells, and of all of them it is asked.
    if kernel.format != lowering.format
        || kernel.op != lowering.op
        || !kernel.controls.holds(lowering.controls)
    {
        return false;
    }
    let plain = lowering.with_controls(Controls::NONE);
    let same = [Some(*kernel), kernel.counterpart()].into_iter().flatten();
    same.map(|one| one.with_controls(Controls::NONE)).any(|one| one == plain)
}

/// In place of a format's or an operation's name: what holds of those that are not named.
const ANY: &str = "any";
/// Every format of texels, as a key of environments.
const PACKED: &str = "packed";

/// Documents of the built-in profiles, by id.
const BUILT_IN: [(&str, &str); 6] = [
    ("d3d11", include_str!("../data/d3d11.toml")),
    ("d3d10", include_str!("../data/d3d10.toml")),
    ("gl-arb-shader-precision", include_str!("../data/gl-arb-shader-precision.toml")),
    ("wgsl", include_str!("../data/wgsl.toml")),
    ("wgsl-abstract", include_str!("../data/wgsl-abstract.toml")),
    ("vulkan", include_str!("../data/vulkan.toml")),
];

/// Ids of the built-in profiles.
pub fn built_in_ids() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(id, _)| *id)
}

/// File name and text of a built-in profile.
pub fn built_in_text(id: &str) -> Option<(String, String)> {
    BUILT_IN
        .iter()
        .find(|(name, _)| *name == id)
        .map(|(name, text)| (format!("{name}.toml"), (*text).to_owned()))
}

/// A built-in profile.
pub fn built_in(id: &str) -> Option<Result<Profile, SourceError>> {
    built_in_text(id).map(|(name, text)| Profile::parse(&name, &text, &built_in_text))
}

/// The function that an operation computes: its first lowering's.
fn function_of(lowerings: &[&'static Op]) -> Option<Function> {
    lowerings.first().map(|op| op.function)
}

/// The format whose environment governs an operand or result.
fn governing(format: Format, rule: Format) -> Format {
    match format {
        Format::I32 | Format::U32 | Format::Bool => rule,
        format => format,
    }
}

/// Which ulp a profile speaks of, how accuracies are inherited, and its environments.
#[derive(Clone, Debug)]
struct Ground {
    ulp: Ulp,
    inheritance: Inheritance,
    environments: BTreeMap<String, toml::Table>,
}

impl Ground {
    /// The environment of a format: what `any` says, for texels `packed`, and what the format
    /// itself says in its place.
    fn environment(&self, format: Format) -> toml::Table {
        let packed = format.is_packed().then_some(PACKED);
        self.of([Some(ANY), packed, Some(format.name())])
    }

    /// What the tables of these names say together, a later one in the place of an earlier one.
    fn of<const N: usize>(&self, names: [Option<&str>; N]) -> toml::Table {
        let tables = names.into_iter().flatten().filter_map(|name| self.environments.get(name));
        tables.flat_map(toml::Table::clone).collect()
    }
}
