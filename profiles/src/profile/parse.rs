//! From TOML to a [`Profile`], with errors that name file, line and key.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::str::FromStr;

use fpprobe_spirv::op::Op;
use fpprobe_spirv::{Control, Controls, Format, Kernel, ParseError};
use toml::{Spanned, Table};

use super::bound::{Bound, bound};
use super::operation::{Operation, WidthAndRoute, changed, changes, environment};
use super::raw::{RawGroup, RawProfile, RawRule};
use super::{
    ANY, Ground, Member, OptionalGroup, PACKED, Part, Profile, Requirement, Rule, function_of,
    governing, rule_controls,
};
use crate::accuracy::Accuracy;
use crate::area::Area;
use crate::environment::{Environment, Ulp};
use crate::formula::Inheritance;
use crate::lanes::LaneSelection;
use crate::oracle::{Demand, has_reference};
use crate::source::{LocatedError, SourceError, SourceFile, once, placed};

mod inherit;
mod sense;

use inherit::{AccuracyContext, accuracy_of};
use sense::{fits, suits};

/// Largest profile that is read, in bytes.
const LARGEST: usize = 1 << 20;
/// How many profiles may extend one another.
const DEEPEST: usize = 8;
/// How many looks at an operation the rules of a profile may take together: formats and operations
/// multiply.
const MOST_PARTS: usize = 1 << 12;
/// How many controls a recipe may choose among: every set of them is tried.
const MOST_MODES: usize = 12;

/// Everything that files have said so far.
struct ProfileDraft {
    profile: Profile,
    ground: Ground,
    operations: BTreeMap<String, Operation>,
    /// Rules as they are written. What they demand is known only when the last file has been read:
    /// a profile may change the operations, and what arithmetic is to them, under rules that
    /// it takes over from another.
    rules: Vec<RuleSource>,
    /// Environments of formats with nothing said in their place, as rules have requested them: all
    /// files are read by then.
    plain: RefCell<BTreeMap<Format, Environment>>,
}

/// A rule as it is written.
struct RuleSource {
    source: Rc<SourceFile>,
    at: usize,
    raw: RawRule,
}

pub(super) fn parse(
    file: &str,
    text: &str,
    base: &dyn Fn(&str) -> Option<(String, String)>,
) -> Result<Profile, SourceError> {
    let source = SourceFile { file: file.to_owned(), text: text.to_owned() };
    let mut draft = draft(&Rc::new(source), base, 0)?;
    let mut parts = 0;
    let rules =
        std::mem::take(&mut draft.rules).into_iter().map(|RuleSource { source, at, raw }| {
            // Once there are too many, no more of them are read.
            if parts > MOST_PARTS {
                return Ok(None);
            }
            let rule = read_rule(&source, raw, at, &draft)?;
            parts += rule.parts.len();
            if parts > MOST_PARTS {
                let problem = format!(
                    "with rule `{}` rules look at operations more than {MOST_PARTS} times",
                    rule.id
                );
                return Err(source.error(at, problem));
            }
            Ok(Some(rule))
        });
    draft.profile.rules = SourceError::every(rules)?.into_iter().flatten().collect();
    // A path that a device may lack is a group of its own.
    let Profile { groups, rules, .. } = &mut draft.profile;
    for part in rules.iter().flat_map(|rule| &rule.parts) {
        for id in &part.groups {
            if !groups.iter().any(|group| group.id == *id) {
                let member = Member::Path(part.lowerings[0].with_controls(Controls::NONE));
                groups.push(OptionalGroup { id: id.clone(), title: id.clone(), member });
            }
        }
    }
    Ok(draft.profile)
}

fn draft(
    source: &Rc<SourceFile>,
    base: &dyn Fn(&str) -> Option<(String, String)>,
    depth: usize,
) -> Result<ProfileDraft, SourceError> {
    if source.text.len() > LARGEST {
        return Err(source.error(
            0,
            format!(
                "a profile may have {LARGEST} bytes at most; this one has {}",
                source.text.len()
            ),
        ));
    }
    let raw: RawProfile = source.read()?;
    let mut draft = match &raw.extends {
        None => ProfileDraft {
            profile: Profile {
                id: String::new(),
                title: String::new(),
                version: String::new(),
                modes: Vec::new(),
                rounding_modes: Vec::new(),
                late_modes: Vec::new(),
                compile_time: false,
                groups: Vec::new(),
                rules: Vec::new(),
            },
            ground: Ground {
                ulp: Ulp::Binade,
                inheritance: Inheritance::default(),
                environments: BTreeMap::new(),
            },
            operations: BTreeMap::new(),
            rules: Vec::new(),
            plain: RefCell::default(),
        },
        Some(name) if depth == DEEPEST => {
            let at = name.span().start;
            return Err(source
                .error(at, format!("`extends`: more than {DEEPEST} profiles extend one another")));
        }
        Some(name) => {
            let (file, text) = base(name.get_ref()).ok_or_else(|| {
                let known: Vec<&str> = super::built_in_ids().collect();
                source.error(
                    name.span().start,
                    format!(
                        "`extends`: no profile `{}`; there are {}",
                        name.get_ref(),
                        known.join(", ")
                    ),
                )
            })?;
            self::draft(&Rc::new(SourceFile { file, text }), base, depth + 1)?
        }
    };
    read(source, raw, &mut draft)?;
    Ok(draft)
}

fn read(
    source: &Rc<SourceFile>,
    raw: RawProfile,
    draft: &mut ProfileDraft,
) -> Result<(), SourceError> {
    // Ids stand in `--require ID:default`, beside paths of files, and in reports.
    let in_names = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if raw.id.get_ref().is_empty() || !raw.id.get_ref().chars().all(in_names) {
        let problem = format!(
            "`id`: `{}` is no name; write letters, digits, `-`, `_` and `.`",
            raw.id.get_ref()
        );
        return Err(source.error(raw.id.span().start, problem));
    }
    draft.profile.id = raw.id.into_inner();
    draft.profile.title = raw.title;
    draft.profile.version = raw.version;
    draft.profile.compile_time = raw.compile_time;
    if let Some(ulp) = raw.ulp {
        draft.ground.ulp = ulp;
    }
    if let Some(inheritance) = raw.inheritance {
        draft.ground.inheritance = inheritance;
    }
    if let Some(modes) = raw.modes {
        once("modes", placed(&modes), MOST_MODES)
            .map_err(|(at, problem)| source.error(at, problem))?;
        draft.profile.modes =
            modes.iter().map(|mode| named(source, "modes", mode)).collect::<Result<_, _>>()?;
    }
    if let Some(modes) = raw.rounding_modes {
        let left = MOST_MODES.saturating_sub(draft.profile.modes.len());
        once("rounding_modes", placed(&modes), left)
            .map_err(|(at, problem)| source.error(at, problem))?;
        draft.profile.rounding_modes =
            modes.iter().map(|mode| rounding_mode(source, mode)).collect::<Result<_, _>>()?;
    }
    if let Some(modes) = raw.late_modes {
        let left = MOST_MODES
            .saturating_sub(draft.profile.recipe_modes().len() - draft.profile.late_modes.len());
        once("late_modes", placed(&modes), left)
            .map_err(|(at, problem)| source.error(at, problem))?;
        draft.profile.late_modes =
            modes.iter().map(|mode| named(source, "late_modes", mode)).collect::<Result<_, _>>()?;
    }
    for group in raw.group {
        let at = group.span().start;
        let RawGroup { id, title, format, control, need } = group.into_inner();
        draft.profile.groups.retain(|known| known.id != id);
        let member = match (&format, &control, &need) {
            (Some(format), None, None) => named(source, "group.format", format).map(Member::Format),
            (None, Some(control), None) => {
                named(source, "group.control", control).map(Member::Control)
            }
            (None, None, Some(need)) => named(source, "group.need", need).map(Member::Need),
            _ => Err(source.error(
                at,
                format!("group `{id}`: give `format`, `control` or `need`, one of them"),
            )),
        }?;
        draft.profile.groups.push(OptionalGroup { id, title, member });
    }
    for (format, table) in raw.environment {
        let at = table.span().start;
        let known = match format.as_str() {
            ANY | PACKED => None,
            name => {
                let error_in = |error| source.error(at, format!("`environment.{format}`: {error}"));
                Some(name.parse::<Format>().map_err(error_in)?)
            }
        };
        let key = format!("environment.{format}");
        let own =
            changes(&key, table.get_ref()).map_err(|(at, problem)| source.error(at, problem))?;
        draft.ground.environments.entry(format.clone()).or_default().extend(own);
        let whole = match known {
            Some(known) => draft.ground.environment(known),
            None => draft.ground.of([Some(ANY), Some(format.as_str())]),
        };
        environment(&key, &whole).map_err(|problem| source.error(at, problem))?;
    }
    let operations = raw.operation.into_iter().map(|(name, operation)| {
        let at = operation.span().start;
        let read = Operation::read(source, &name, operation.get_ref(), at)?;
        Ok((name, read))
    });
    draft.operations.extend(SourceError::every(operations)?);
    for dropped in raw.without {
        let before = draft.rules.len();
        draft.rules.retain(|rule| rule.raw.id != *dropped.get_ref());
        if draft.rules.len() == before {
            let problem = format!(
                "`without`: the profile that this one extends has no rule `{}`",
                dropped.get_ref()
            );
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
        let written = RuleSource { source: Rc::clone(source), at, raw };
        match draft.rules.iter_mut().find(|known| known.raw.id == written.raw.id) {
            Some(known) => *known = written,
            None => draft.rules.push(written),
        }
    }
    Ok(())
}

/// What a key's name stands for.
fn named<T: FromStr<Err = ParseError>>(
    source: &SourceFile,
    key: &str,
    name: &Spanned<String>,
) -> Result<T, SourceError> {
    name.get_ref()
        .parse()
        .map_err(|error| source.error(name.span().start, format!("`{key}`: {error}")))
}

fn rounding_mode(source: &SourceFile, name: &Spanned<String>) -> Result<Control, SourceError> {
    let mode: Control = named(source, "rounding_modes", name)?;
    if matches!(mode, Control::Rte(_) | Control::Rtz(_)) {
        return Ok(mode);
    }
    Err(source.error(
        name.span().start,
        format!("`rounding_modes`: `{}` does not round; it goes into `modes`", mode.name()),
    ))
}

fn read_rule(
    source: &Rc<SourceFile>,
    raw: RawRule,
    at: usize,
    draft: &ProfileDraft,
) -> Result<Rule, SourceError> {
    let rule_error =
        |at: usize, problem: String| source.error(at, format!("rule `{}`: {problem}", raw.id));
    if let Some((name, text)) = raw
        .accuracy
        .iter()
        .find(|(name, _)| *name != ANY && !raw.operations.iter().any(|op| op.get_ref() == *name))
    {
        return Err(rule_error(
            text.span().start,
            format!("`accuracy.{name}`: the rule does not look at `{name}`"),
        ));
    }
    let empty = [
        ("id", raw.id.is_empty()),
        ("format", raw.format.get_ref().0.is_empty()),
        ("operations", raw.operations.is_empty()),
        ("lanes", raw.lanes.0.is_empty()),
        ("requirement", raw.requirement.0.is_empty()),
    ];
    if let Some((key, _)) = empty.iter().find(|(_, empty)| *empty) {
        return Err(rule_error(at, format!("`{key}` is empty, and a rule without cannot fail")));
    }
    if let Some(problem) = raw.lanes.0.iter().find_map(LaneSelection::contradiction) {
        return Err(rule_error(at, format!("`lanes`: {problem}")));
    }
    let problem = |(at, problem): LocatedError| rule_error(at, problem);
    let within = |key: &str| format!("rule `{}`: `{key}`", raw.id);
    let accuracies: BTreeMap<&str, Bound> = raw
        .accuracy
        .iter()
        .map(|(name, text)| {
            Ok((name.as_str(), bound(source, &within(&format!("accuracy.{name}")), text)?))
        })
        .collect::<Result<_, SourceError>>()?;
    let environment = changes("environment", &raw.environment).map_err(problem)?;
    let here = raw.format.span().start;
    let formats = || raw.format.get_ref().0.iter();
    once("format", formats().map(|format| (here, format)), Format::ALL.len()).map_err(problem)?;
    once("operations", placed(&raw.operations), MOST_PARTS).map_err(problem)?;
    once("controls", placed(&raw.controls), MOST_MODES).map_err(problem)?;
    let accuracy_of = |name: &str| accuracies.get(name).or_else(|| accuracies.get(ANY)).cloned();
    let own = |name: &str| RuleKeys {
        requirements: &raw.requirement.0,
        controls: &raw.controls,
        environment: &environment,
        accuracy: accuracy_of(name),
    };
    let mut parts: Vec<Part> = Vec::new();
    for format in formats() {
        let known = parts.len();
        let format: Format =
            format.parse().map_err(|error| rule_error(here, format!("`format`: {error}")))?;
        for name in &raw.operations {
            let here = name.span().start;
            let name = name.get_ref();
            let operation = draft.operations.get(name).ok_or_else(|| {
                let known = draft.operations.keys().map(String::as_str);
                let nearest = fpprobe_spirv::ParseError::unknown("operation", name, known);
                rule_error(
                    here,
                    format!(
                        "`operations`: {nearest}; no profile here has a table `operation.{name}`"
                    ),
                )
            })?;
            for way in operation.ways() {
                let part = read_part(name, operation, (format, way), own(name), draft);
                parts.extend(part.map_err(|problem| match problem {
                    Problem::Here(problem) => {
                        rule_error(here, format!("operation `{name}`: {problem}"))
                    }
                    Problem::Elsewhere(error) => error,
                })?);
            }
        }
        if parts.len() == known {
            let problem = format!(
                "`format`: none of its `operations` has a kernel of `{format}`: it cannot fail there"
            );
            return Err(rule_error(here, problem));
        }
    }
    if let Some(idle) = raw
        .operations
        .iter()
        .find(|name| parts.iter().all(|part| part.operation != *name.get_ref()))
    {
        let problem = format!(
            "`operations`: `{}` has no kernel of its `format`: it cannot fail there",
            idle.get_ref()
        );
        return Err(rule_error(idle.span().start, problem));
    }
    Ok(Rule {
        id: raw.id,
        title: raw.title,
        area: raw.area.unwrap_or_else(|| Area::of(parts[0].format)),
        citation: raw.citation,
        note: raw.note,
        quote: raw.quote,
        matters: raw.matters,
        level: raw.level,
        judges: raw.judges,
        lanes: raw.lanes.0,
        requirements: raw.requirement.0,
        parts,
    })
}

/// What a rule itself has to say of an operation.
struct RuleKeys<'a> {
    requirements: &'a [Requirement],
    controls: &'a [Spanned<String>],
    environment: &'a Table,
    accuracy: Option<Bound>,
}

/// What is wrong with a rule's look at an operation: something about the name, or about another
/// place.
enum Problem {
    Here(String),
    Elsewhere(SourceError),
}

impl From<String> for Problem {
    fn from(problem: String) -> Problem {
        Problem::Here(problem)
    }
}

impl From<SourceError> for Problem {
    fn from(error: SourceError) -> Problem {
        Problem::Elsewhere(error)
    }
}

fn read_part(
    name: &str,
    operation: &Operation,
    (format, way): (Format, WidthAndRoute),
    own: RuleKeys<'_>,
    draft: &ProfileDraft,
) -> Result<Option<Part>, Problem> {
    let lowerings = operation.kernels(format, way).map_err(|error| error.to_string())?;
    let ops: Vec<&'static Op> = lowerings.iter().map(|kernel| kernel.op).collect();
    // An operation without a kernel of this format is no part of a rule that speaks of several
    // formats.
    let Some(function) = function_of(&ops) else { return Ok(None) };
    let kernel = lowerings[0];
    fits(function, &lowerings, own.requirements)?;
    let operand =
        match kernel.params().iter().map(|shape| shape.format).find(|f| f.float().is_some()) {
            Some(operand) => operand,
            None => governing(kernel.params()[0].format, format),
        };
    let result = match kernel.result().format {
        Format::U32 if function.packs_halves() => Format::F16,
        other => governing(other, format),
    };
    let place =
        AccuracyContext { draft, format: result, changes: own.environment, within: vec![name] };
    let accuracy = accuracy_of(&place, operation, own.accuracy)?;
    if !has_reference(function) && !matches!(accuracy, Accuracy::Inherited(_)) {
        return Err(format!("{function:?} has no reference to judge by").into());
    }
    suits(&accuracy, function)?;
    let environment_of =
        |format| environment_of(draft, format, &[&operation.environment, own.environment]);
    let demand = Demand {
        function,
        operands: environment_of(operand)?,
        results: environment_of(result)?,
        accuracy,
        ulp: draft.ground.ulp,
    };
    let controls = || own.controls.iter().map(|name| name.get_ref().as_str());
    let lowerings: Vec<Kernel> = lowerings
        .into_iter()
        .map(|kernel| rule_controls::under(kernel, controls(), &draft.profile.recipe_modes()))
        .collect::<Result<_, _>>()
        .map_err(|problem| format!("`controls`: {problem}"))?;
    let mut groups = rule_controls::groups(&draft.profile.groups, &lowerings[0]);
    if way.1.is_some() {
        groups.push(lowerings[0].with_controls(Controls::NONE).to_string());
    }
    Ok(Some(Part { operation: name.to_owned(), lowerings, format, demand, groups }))
}

/// What a profile says of a format, with what is said of an operation, or in a rule, in its place.
fn environment_of(
    draft: &ProfileDraft,
    format: Format,
    others: &[&Table],
) -> Result<Environment, String> {
    let is_plain = others.iter().all(|other| other.is_empty());
    if let (true, Some(known)) = (is_plain, draft.plain.borrow().get(&format)) {
        return Ok(*known);
    }
    let mut table = draft.ground.environment(format);
    if table.is_empty() {
        return Err(format!("there is no `environment.{format}`, which it needs"));
    }
    for other in others {
        table.extend(changed(format, other));
    }
    let environment = environment("environment", &table)?;
    if is_plain {
        draft.plain.borrow_mut().insert(format, environment);
    }
    Ok(environment)
}
