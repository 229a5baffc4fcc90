//! From TOML to a [`Profile`], with errors that name file, line and key.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use fpprobe_spirv::op::{Function, OPS, Op};
use fpprobe_spirv::{Control, Controls, Format, Kernel};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use toml::{Spanned, Table};

use super::{Behaviour, Ground, Group, Operation, Part, Profile, Requirement, Rule, function_of, governing};
use crate::accuracy::Accuracy;
use crate::environment::{Environment, Ulp};
use crate::lanes::Lanes;
use crate::oracle::{Demand, Question, has_reference};
use crate::verdict::Level;

/// Largest profile that is read, in bytes.
const LARGEST: usize = 1 << 20;
/// How many profiles may extend one another.
const DEEPEST: usize = 8;
/// How many looks at an operation the rules of a profile may take together: formats and operations multiply.
const MOST_PARTS: usize = 1 << 12;
/// How many kernels may implement an operation.
const MOST_LOWERINGS: usize = 16;
/// How many controls a recipe may choose among: every set of them is tried.
const MOST_MODES: usize = 12;
/// How wide, in ulps, the first step of an operation in two steps may be: the second is judged for each of its results.
const WIDEST_STEP: f64 = 64.0;

/// What is wrong with a profile.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct ProfileError {
    /// File name.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, naming the key.
    pub problem: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProfile {
    id: String,
    title: String,
    version: String,
    extends: Option<Spanned<String>>,
    #[serde(default)]
    without: Vec<Spanned<String>>,
    ulp: Option<Ulp>,
    modes: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    group: Vec<RawGroup>,
    #[serde(default)]
    environment: BTreeMap<String, Spanned<Table>>,
    #[serde(default)]
    operation: BTreeMap<String, Spanned<RawOperation>>,
    #[serde(default)]
    rule: Vec<Spanned<RawRule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGroup {
    id: String,
    title: String,
    format: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOperation {
    lowerings: Vec<Spanned<String>>,
    #[serde(default)]
    accuracy: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    environment: Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    id: String,
    title: String,
    citation: String,
    #[serde(default)]
    note: String,
    #[serde(default = "required")]
    level: Level,
    format: Spanned<OneOrMany<String>>,
    operations: Vec<Spanned<String>>,
    #[serde(default)]
    lanes: OneOrMany<Lanes>,
    #[serde(default)]
    requirement: OneOrMany<Requirement>,
    judges: Option<Behaviour>,
    #[serde(default)]
    environment: Table,
    #[serde(default)]
    accuracy: BTreeMap<String, Spanned<String>>,
}

fn required() -> Level {
    Level::Required
}

/// A value, or a list of them.
struct OneOrMany<T>(Vec<T>);

impl<T: Default> Default for OneOrMany<T> {
    fn default() -> Self {
        OneOrMany(vec![T::default()])
    }
}

/// By hand, because an untagged enum would only say that nothing matches.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Values<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or a list of values")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(text.into_deserializer()).map(|value| OneOrMany(vec![value]))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|value| OneOrMany(vec![value]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(OneOrMany)
            }
        }
        deserializer.deserialize_any(Values(PhantomData))
    }
}

/// A file that is being read: turns byte positions into lines.
struct Source {
    file: String,
    text: String,
}

impl Source {
    fn error(&self, at: usize, problem: impl Into<String>) -> ProfileError {
        let line = self.text.get(..at).unwrap_or(&self.text).matches('\n').count() + 1;
        ProfileError { file: self.file.clone(), line, problem: problem.into() }
    }
}

/// Everything that files have said so far.
struct Draft {
    profile: Profile,
    ground: Ground,
    operations: BTreeMap<String, Operation>,
    /// Rules as they are written. What they demand is known only when the last file has been read: a profile may change
    /// the operations, and what arithmetic is to them, under rules that it takes over from another.
    rules: Vec<Written>,
}

/// A rule as it is written.
struct Written {
    source: Rc<Source>,
    at: usize,
    raw: RawRule,
}

pub(super) fn parse(
    file: &str,
    text: &str,
    base: &dyn Fn(&str) -> Option<(String, String)>,
) -> Result<Profile, ProfileError> {
    let source = Source { file: file.to_owned(), text: text.to_owned() };
    let mut draft = draft(&Rc::new(source), base, 0)?;
    let mut parts = 0;
    for Written { source, at, raw } in std::mem::take(&mut draft.rules) {
        let rule = read_rule(&source, raw, at, &draft)?;
        parts += rule.parts.len();
        if parts > MOST_PARTS {
            let problem = format!("with rule `{}` rules look at operations more than {MOST_PARTS} times", rule.id);
            return Err(source.error(at, problem));
        }
        draft.profile.rules.push(rule);
    }
    Ok(draft.profile)
}

fn draft(
    source: &Rc<Source>,
    base: &dyn Fn(&str) -> Option<(String, String)>,
    depth: usize,
) -> Result<Draft, ProfileError> {
    if source.text.len() > LARGEST {
        return Err(
            source.error(0, format!("a profile may have {LARGEST} bytes at most; this one has {}", source.text.len()))
        );
    }
    let raw: RawProfile = toml::from_str(&source.text)
        .map_err(|error| source.error(error.span().map_or(0, |span| span.start), error.message()))?;
    let mut draft = match &raw.extends {
        None => Draft {
            profile: Profile {
                id: String::new(),
                title: String::new(),
                version: String::new(),
                modes: Vec::new(),
                groups: Vec::new(),
                rules: Vec::new(),
            },
            ground: Ground { ulp: Ulp::Binade, environments: BTreeMap::new() },
            operations: BTreeMap::new(),
            rules: Vec::new(),
        },
        Some(name) if depth == DEEPEST => {
            let at = name.span().start;
            return Err(source.error(at, format!("`extends`: more than {DEEPEST} profiles extend one another")));
        }
        Some(name) => {
            let (file, text) = base(name.get_ref()).ok_or_else(|| {
                let known: Vec<&str> = super::built_in_ids().collect();
                source.error(
                    name.span().start,
                    format!("`extends`: no profile `{}`; there are {}", name.get_ref(), known.join(", ")),
                )
            })?;
            self::draft(&Rc::new(Source { file, text }), base, depth + 1)?
        }
    };
    read(source, raw, &mut draft)?;
    Ok(draft)
}

fn read(source: &Rc<Source>, raw: RawProfile, draft: &mut Draft) -> Result<(), ProfileError> {
    draft.profile.id = raw.id;
    draft.profile.title = raw.title;
    draft.profile.version = raw.version;
    if let Some(ulp) = raw.ulp {
        draft.ground.ulp = ulp;
    }
    if let Some(modes) = raw.modes {
        once(placed(&modes), MOST_MODES).map_err(|(at, problem)| source.error(at, format!("`modes`: {problem}")))?;
        draft.profile.modes = modes
            .into_iter()
            .map(|mode| {
                let at = mode.span().start;
                mode.get_ref().parse::<Control>().map_err(|error| source.error(at, format!("`modes`: {error}")))
            })
            .collect::<Result<_, _>>()?;
    }
    for group in raw.group {
        draft.profile.groups.retain(|known| known.id != group.id);
        let format = group
            .format
            .get_ref()
            .parse()
            .map_err(|error| source.error(group.format.span().start, format!("`group.format`: {error}")))?;
        draft.profile.groups.push(Group { id: group.id, title: group.title, format });
    }
    for (format, table) in raw.environment {
        let at = table.span().start;
        format.parse::<Format>().map_err(|error| source.error(at, format!("`environment.{format}`: {error}")))?;
        let known = draft.ground.environments.entry(format.clone()).or_default();
        known.extend(table.into_inner());
        environment(known).map_err(|problem| source.error(at, format!("`environment.{format}`: {problem}")))?;
    }
    for (name, operation) in raw.operation {
        let at = operation.span().start;
        let operation = read_operation(source, &name, operation.into_inner(), at)?;
        draft.operations.insert(name, operation);
    }
    for dropped in raw.without {
        let before = draft.rules.len();
        draft.rules.retain(|rule| rule.raw.id != *dropped.get_ref());
        if draft.rules.len() == before {
            let problem = format!("`without`: the profile that this one extends has no rule `{}`", dropped.get_ref());
            return Err(source.error(dropped.span().start, problem));
        }
    }
    let mut own: BTreeSet<String> = BTreeSet::new();
    for rule in raw.rule {
        let at = rule.span().start;
        let raw = rule.into_inner();
        if !own.insert(raw.id.clone()) {
            return Err(source.error(at, format!("rule `{}` is written twice", raw.id)));
        }
        let written = Written { source: Rc::clone(source), at, raw };
        match draft.rules.iter_mut().find(|known| known.raw.id == written.raw.id) {
            Some(known) => *known = written,
            None => draft.rules.push(written),
        }
    }
    Ok(())
}

/// Refuses a list that names something twice or has more than `most` members: where, and what is wrong.
fn once<'a>(names: impl Iterator<Item = (usize, &'a String)>, most: usize) -> Result<(), (usize, String)> {
    let mut seen = BTreeSet::new();
    for (at, name) in names {
        if !seen.insert(name) {
            return Err((at, format!("`{name}` is named twice")));
        }
        if seen.len() > most {
            return Err((at, format!("more than {most} are named")));
        }
    }
    Ok(())
}

/// Names with the places where they stand.
fn placed(names: &[Spanned<String>]) -> impl Iterator<Item = (usize, &String)> {
    names.iter().map(|name| (name.span().start, name.get_ref()))
}

fn environment(table: &Table) -> Result<Environment, String> {
    // The full text ends in the key.
    Environment::deserialize(table.clone()).map_err(|error| error.to_string().trim().replace('\n', " "))
}

fn accuracy(source: &Source, key: &str, text: &Spanned<String>) -> Result<Accuracy, ProfileError> {
    text.get_ref().parse().map_err(|problem| source.error(text.span().start, format!("`{key}`: {problem}")))
}

fn read_operation(source: &Source, name: &str, raw: RawOperation, at: usize) -> Result<Operation, ProfileError> {
    if raw.lowerings.is_empty() {
        return Err(
            source.error(at, format!("`operation.{name}.lowerings` is empty: name at least one kernel operation"))
        );
    }
    once(placed(&raw.lowerings), MOST_LOWERINGS)
        .map_err(|(at, problem)| source.error(at, format!("`operation.{name}.lowerings`: {problem}")))?;
    for lowering in &raw.lowerings {
        let op = lowering.get_ref().rsplit_once('.').map_or(lowering.get_ref().as_str(), |(_, op)| op);
        if Op::find(op).is_none() {
            let error = fpprobe_spirv::ParseError::unknown("operation", op, OPS.iter().map(|op| op.name));
            return Err(source.error(lowering.span().start, format!("`operation.{name}.lowerings`: {error}")));
        }
    }
    let accuracy = raw
        .accuracy
        .iter()
        .map(|(format, text)| Ok((format.clone(), accuracy(source, &format!("operation.{name}.accuracy"), text)?)))
        .collect::<Result<_, ProfileError>>()?;
    let lowerings = raw.lowerings.into_iter().map(Spanned::into_inner).collect();
    Ok(Operation { lowerings, accuracy, environment: raw.environment })
}

fn read_rule(source: &Source, raw: RawRule, at: usize, draft: &Draft) -> Result<Rule, ProfileError> {
    let rule_error = |at: usize, problem: String| source.error(at, format!("rule `{}`: {problem}", raw.id));
    if let Some((name, text)) =
        raw.accuracy.iter().find(|(name, _)| !raw.operations.iter().any(|op| op.get_ref() == *name))
    {
        return Err(rule_error(text.span().start, format!("`accuracy.{name}`: the rule does not look at `{name}`")));
    }
    let here = raw.format.span().start;
    let formats = || raw.format.get_ref().0.iter();
    once(formats().map(|format| (here, format)), Format::ALL.len())
        .map_err(|(at, problem)| rule_error(at, format!("`format`: {problem}")))?;
    once(placed(&raw.operations), MOST_PARTS)
        .map_err(|(at, problem)| rule_error(at, format!("`operations`: {problem}")))?;
    let mut parts = Vec::new();
    for format in formats() {
        let format: Format = format.parse().map_err(|error| rule_error(here, format!("`format`: {error}")))?;
        for name in &raw.operations {
            let here = name.span().start;
            let name = name.get_ref();
            let operation = draft.operations.get(name).ok_or_else(|| {
                let known = draft.operations.keys().map(String::as_str);
                let nearest = fpprobe_spirv::ParseError::unknown("operation", name, known);
                rule_error(here, format!("`operations`: {nearest}"))
            })?;
            let part =
                read_part(name, operation, format, &raw, source, draft).map_err(|problem| rule_error(here, problem))?;
            parts.extend(part);
        }
    }
    if parts.is_empty() {
        return Err(rule_error(at, "`operations` names nothing that exists for its format: it cannot fail".into()));
    }
    Ok(Rule {
        id: raw.id,
        title: raw.title,
        citation: raw.citation,
        note: raw.note,
        level: raw.level,
        judges: raw.judges,
        lanes: raw.lanes.0,
        requirements: raw.requirement.0,
        parts,
    })
}

fn read_part(
    name: &str,
    operation: &Operation,
    format: Format,
    rule: &RawRule,
    source: &Source,
    draft: &Draft,
) -> Result<Option<Part>, String> {
    let mut lowerings = Vec::new();
    for lowering in &operation.lowerings {
        let (format, op) = match lowering.rsplit_once('.') {
            Some((format, op)) => (format.parse::<Format>().map_err(|error| error.to_string())?, op),
            None => (format, lowering.as_str()),
        };
        let op = Op::find(op).ok_or_else(|| format!("no kernel operation `{op}`"))?;
        if lowering.contains('.') || op.formats.contains(&format) {
            lowerings.push(Kernel::plain(format, op).map_err(|error| error.to_string())?);
        }
    }
    let ops: Vec<&'static Op> = lowerings.iter().map(|kernel| kernel.op).collect();
    // An operation without a kernel of this format is no part of a rule that speaks of several formats.
    let Some(function) = function_of(&ops) else { return Ok(None) };
    if !has_reference(function) {
        return Err(format!("operation `{name}`: {function:?} has no reference to judge by"));
    }
    let kernel = lowerings[0];
    fits(function, &lowerings, &rule.requirement.0).map_err(|problem| format!("operation `{name}`: {problem}"))?;
    let operand = match kernel.params().iter().map(|shape| shape.format).find(|f| f.float().is_some()) {
        Some(operand) => operand,
        None => governing(kernel.params()[0].format, format),
    };
    let result = match kernel.result().format {
        Format::U32 if function == Function::PackHalf => Format::F16,
        other => governing(other, format),
    };
    let environment_of = |format: Format| -> Result<Environment, String> {
        let mut table = draft.ground.environments.get(format.name()).cloned().unwrap_or_default();
        if table.is_empty() {
            return Err(format!("there is no `environment.{format}`, which operation `{name}` needs"));
        }
        table.extend(operation.environment.clone());
        table.extend(rule.environment.clone());
        environment(&table).map_err(|problem| format!("`environment`: {problem}"))
    };
    let accuracy = if let Some(text) = rule.accuracy.get(name) {
        accuracy(source, "accuracy", text).map_err(|error| error.problem)?
    } else {
        let own = operation.accuracy.get(result.name()).or_else(|| operation.accuracy.get("any"));
        // Operations that choose, move or are exact need none.
        own.copied().unwrap_or(Accuracy::NearestEven)
    };
    suits(accuracy, function).map_err(|problem| format!("operation `{name}`: {problem}"))?;
    let demand = Demand {
        function,
        operands: environment_of(operand)?,
        results: environment_of(result)?,
        accuracy,
        ulp: draft.ground.ulp,
    };
    let group = draft.profile.groups.iter().find(|group| group.format == kernel.format).map(|group| group.id.clone());
    let lowerings = lowerings.into_iter().map(|kernel| kernel.with_controls(Controls::NONE)).collect();
    Ok(Some(Part { operation: name.to_owned(), lowerings, format, demand, group }))
}

/// Refuses lowerings that cannot stand for one another, and relations that their kernels have no answers for.
fn fits(function: Function, lowerings: &[Kernel], requirements: &[Requirement]) -> Result<(), String> {
    let operands = |kernel: &Kernel| Question::new(kernel).operands(&vec![0; kernel.arity()], 0).len();
    let first = &lowerings[0];
    if let Some(other) = lowerings.iter().find(|other| operands(other) != operands(first)) {
        return Err(format!("`{first}` and `{other}` do not take the same operands: one cannot stand for the other"));
    }
    let about_stores =
        |requirement: &Requirement| matches!(requirement, Requirement::RoundTrip | Requirement::EveryCode);
    let stores = function == Function::Store && lowerings.iter().all(|kernel| kernel.op.function == function);
    match requirements.iter().find(|requirement| about_stores(requirement)) {
        Some(requirement) if !stores => {
            Err(format!("`requirement`: {requirement:?} is about stores of packed formats, which it is not"))
        }
        _ => Ok(()),
    }
}

/// Refuses accuracies that say nothing of an operation, and those too wide for one that is judged in two steps.
fn suits(accuracy: Accuracy, function: Function) -> Result<(), String> {
    let step = match (accuracy, function) {
        (Accuracy::TwoStep(ulps), Function::Div) | (Accuracy::Ulp(ulps), Function::MulAdd) => ulps,
        (Accuracy::ByInverseRoot(..), Function::Sqrt) => 0.0,
        (Accuracy::TwoStep(_) | Accuracy::ByInverseRoot(..), _) => {
            return Err(format!("`{accuracy}` is the accuracy of another operation"));
        }
        (Accuracy::Relative(_) | Accuracy::LogRelative(_) | Accuracy::Absolute(_), Function::MulAdd) => f64::INFINITY,
        _ => 0.0,
    };
    if step <= WIDEST_STEP {
        return Ok(());
    }
    Err(format!("`{accuracy}` is too wide for an operation in two steps, which may take {WIDEST_STEP} ulp at most"))
}
