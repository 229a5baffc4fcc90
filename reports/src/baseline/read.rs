//! A baseline from its file. Mistakes are named with file, line and key.

use std::collections::BTreeMap;
use std::fmt::Display;

use fpprobe_profiles::source::{SourceError, SourceFile};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use toml::Spanned;
use toml::value::Datetime;

use super::{
    Acceptance, AcceptedLanes, Baseline, Date, MeasuredCoverage, NoDate, RangeError, SCHEMA,
    address, coverage, rule_cause,
};

/// The value of `schema` of the version before, whose entries are rules.
const RULES: &str = "fpprobe-baseline/1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineDocument<E> {
    #[serde(rename = "schema")]
    _schema: IgnoredAny,
    #[serde(default = "Vec::new")]
    accept: Vec<Spanned<E>>,
    #[serde(default)]
    measured: Vec<Spanned<coverage::CoverageEntry>>,
}

/// An entry of this version.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CauseEntry {
    device: Spanned<String>,
    cause: Spanned<String>,
    #[serde(default)]
    headline: String,
    #[serde(default)]
    symptom: String,
    reason: Spanned<String>,
    link: Option<Spanned<String>>,
    driver: Option<String>,
    versions: Option<Spanned<String>>,
    expires: Option<Spanned<Datetime>>,
    failing: Option<usize>,
    #[serde(default)]
    seen: Vec<String>,
    /// Rows by profiles.
    #[serde(default)]
    lanes: BTreeMap<String, Vec<Spanned<String>>>,
}

/// An entry of the version before.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    device: Spanned<String>,
    profile: Spanned<String>,
    rule: Spanned<String>,
    #[serde(default)]
    title: String,
    reason: Spanned<String>,
    link: Option<Spanned<String>>,
    driver: Option<String>,
    versions: Option<Spanned<String>>,
    expires: Option<Spanned<Datetime>>,
    failing: usize,
    seen: Vec<String>,
    #[serde(default)]
    lanes: Vec<Spanned<String>>,
}

/// A mistake: its place in the text, and what is wrong.
type EntryMistake = (usize, String);

/// An entry of any version.
trait EntryVersion: DeserializeOwned {
    /// As one of this version.
    fn of_cause(self) -> Result<CauseEntry, EntryMistake>;
}

impl EntryVersion for CauseEntry {
    fn of_cause(self) -> Result<CauseEntry, EntryMistake> {
        Ok(self)
    }
}

impl EntryVersion for RuleEntry {
    fn of_cause(self) -> Result<CauseEntry, EntryMistake> {
        let entry = self;
        for (key, text) in [("profile", &entry.profile), ("rule", &entry.rule)] {
            if text.get_ref().trim().is_empty() {
                return Err((text.span().start, format!("`accept.{key}` is empty")));
            }
        }
        let cause = rule_cause(entry.profile.get_ref(), entry.rule.get_ref());
        let is_known = !entry.lanes.is_empty();
        let rows = std::iter::once((entry.profile.into_inner(), entry.lanes)).filter(|_| is_known);
        Ok(CauseEntry {
            device: entry.device,
            cause: Spanned::new(entry.rule.span(), cause),
            headline: entry.title,
            symptom: String::new(),
            reason: entry.reason,
            link: entry.link,
            driver: entry.driver,
            versions: entry.versions,
            expires: entry.expires,
            failing: (!is_known).then_some(entry.failing),
            seen: entry.seen,
            lanes: rows.collect(),
        })
    }
}

/// Reads a baseline of this version or the one before; `file` is named in messages.
pub fn read(file: &str, text: &str) -> Result<Baseline, SourceError> {
    /// The line that says which version it is.
    #[derive(Deserialize)]
    struct Head {
        schema: Option<Spanned<String>>,
    }
    let source = SourceFile::new(file, text);
    let head: Head = source.read().map_err(of_baseline)?;
    match head.schema.as_ref().map(|schema| schema.get_ref().as_str()) {
        Some(SCHEMA) | None => baseline::<CauseEntry>(&source),
        Some(RULES) => baseline::<RuleEntry>(&source),
        Some(other) => {
            let problem = format!(
                "`schema` is `{other}` and this program knows `{SCHEMA}` and `{RULES}`; a baseline is what `fpprobe baseline accept` writes"
            );
            Err(source.error(head.schema.map_or(0, |schema| schema.span().start), problem))
        }
    }
}

fn of_baseline(mut error: SourceError) -> SourceError {
    error.problem.push_str("; a baseline is what `fpprobe baseline accept` writes");
    error
}

fn baseline<E: EntryVersion>(source: &SourceFile) -> Result<Baseline, SourceError> {
    let document: BaselineDocument<E> = source.read().map_err(of_baseline)?;
    let mut accepted: BTreeMap<Key, Acceptance> = BTreeMap::new();
    for entry in document.accept {
        let at = entry.span().start;
        let entry = entry.into_inner().of_cause().and_then(acceptance);
        let acceptance = entry.map_err(|(at, problem)| source.error(at, problem))?;
        let Acceptance { device, cause, .. } = &acceptance;
        let problem = format!(
            "`accept`: {cause} is accepted twice for {device} under the same conditions: leave one out"
        );
        if accepted.insert(key(&acceptance), acceptance).is_some() {
            return Err(source.error(at, problem));
        }
    }
    let mut measured = Vec::with_capacity(document.measured.len());
    for entry in document.measured {
        let at = entry.span().start;
        let coverage = MeasuredCoverage::read(entry.into_inner())
            .map_err(|why| source.error(at, format!("`measured`: {why}")))?;
        measured.push(coverage);
    }
    Ok(Baseline { accepted: accepted.into_values().collect(), measured })
}

/// What distinguishes entries: device, cause, driver and versions.
pub(super) type Key = (String, String, Option<String>, Option<String>);

pub(super) fn key(one: &Acceptance) -> Key {
    let versions = one.versions.as_ref().map(ToString::to_string);
    (one.device.clone(), one.cause.clone(), one.driver.clone(), versions)
}

fn acceptance(entry: CauseEntry) -> Result<Acceptance, EntryMistake> {
    fn wrong<T>(of: &Spanned<T>, key: &str, problem: impl Display) -> EntryMistake {
        (of.span().start, format!("`accept.{key}`: {problem}"))
    }
    for (key, text) in
        [("device", &entry.device), ("cause", &entry.cause), ("reason", &entry.reason)]
    {
        if text.get_ref().trim().is_empty() {
            return Err((text.span().start, format!("`accept.{key}` is empty")));
        }
    }
    if let Some(link) = &entry.link {
        address(link.get_ref()).map_err(|error| wrong(link, "link", error))?;
    }
    let mut lanes = AcceptedLanes::default();
    for (profiles, rows) in &entry.lanes {
        for row in rows {
            let added = lanes.add(profiles, row.get_ref());
            added.map_err(|error| wrong(row, "lanes", error))?;
        }
    }
    let versions = entry.versions.map(|text| {
        text.get_ref().parse().map_err(|error: RangeError| wrong(&text, "versions", error))
    });
    let expires = entry.expires.map(|time| {
        Date::of(time.get_ref())
            .ok_or_else(|| wrong(&time, "expires", NoDate(time.get_ref().to_string())))
    });
    Ok(Acceptance {
        device: entry.device.into_inner(),
        cause: entry.cause.into_inner(),
        headline: entry.headline,
        symptom: entry.symptom,
        reason: entry.reason.into_inner(),
        link: entry.link.map(Spanned::into_inner),
        driver: entry.driver,
        versions: versions.transpose()?,
        expires: expires.transpose()?,
        failing: entry.failing,
        seen: entry.seen,
        lanes,
    })
}
