//! A baseline from its file. Mistakes are named with file, line and key.

use fpprobe_profiles::source::{SourceError, SourceFile};
use serde::Deserialize;
use toml::Spanned;
use toml::value::Datetime;

use super::{
    Acceptance, Baseline, Date, MeasuredCoverage, NoDate, Prints, SCHEMA, address, coverage,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineDocument {
    schema: Spanned<String>,
    #[serde(default)]
    accept: Vec<Spanned<AcceptEntry>>,
    #[serde(default)]
    measured: Vec<Spanned<coverage::CoverageEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AcceptEntry {
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

/// Reads a baseline; `file` is named in messages.
pub fn read(file: &str, text: &str) -> Result<Baseline, SourceError> {
    let source = SourceFile::new(file, text);
    let document: BaselineDocument = source.read().map_err(|mut error| {
        error.problem.push_str("; a baseline is what `fpprobe baseline accept` writes");
        error
    })?;
    if document.schema.get_ref() != SCHEMA {
        let problem = format!(
            "`schema` is `{}` and this program knows `{SCHEMA}`; a baseline is what `fpprobe baseline accept` writes",
            document.schema.get_ref()
        );
        return Err(source.error(document.schema.span().start, problem));
    }
    let mut accepted: Vec<Acceptance> = Vec::with_capacity(document.accept.len());
    for entry in document.accept {
        let at = entry.span().start;
        let acceptance = acceptance(&source, entry.into_inner())?;
        if accepted.iter().any(|other| key(other) == key(&acceptance)) {
            let Acceptance { device, profile, rule, .. } = &acceptance;
            let problem = format!(
                "`accept`: {rule} in {profile} is accepted twice for {device} under the same conditions: leave one out"
            );
            return Err(source.error(at, problem));
        }
        accepted.push(acceptance);
    }
    accepted.sort_by(|one, other| key(one).cmp(&key(other)));
    let mut measured = Vec::with_capacity(document.measured.len());
    for entry in document.measured {
        let at = entry.span().start;
        let coverage = MeasuredCoverage::read(entry.into_inner())
            .map_err(|why| source.error(at, format!("`measured`: {why}")))?;
        measured.push(coverage);
    }
    Ok(Baseline { accepted, measured })
}

/// What tells acceptances apart.
pub(super) fn key(one: &Acceptance) -> (&str, &str, &str, Option<&str>, Option<String>) {
    (
        &one.device,
        &one.profile,
        &one.rule,
        one.driver.as_deref(),
        one.versions.as_ref().map(ToString::to_string),
    )
}

fn acceptance(source: &SourceFile, entry: AcceptEntry) -> Result<Acceptance, SourceError> {
    for (key, text) in [
        ("device", &entry.device),
        ("profile", &entry.profile),
        ("rule", &entry.rule),
        ("reason", &entry.reason),
    ] {
        if text.get_ref().trim().is_empty() {
            return Err(source.error(text.span().start, format!("`accept.{key}` is empty")));
        }
    }
    if let Some(link) = &entry.link {
        let problem = |error| source.error(link.span().start, format!("`accept.link`: {error}"));
        address(link.get_ref()).map_err(problem)?;
    }
    let lanes = entry.lanes.iter().map(|text| {
        let prints = text.get_ref().parse::<Prints>();
        prints.map_err(|error| source.error(text.span().start, format!("`accept.lanes`: {error}")))
    });
    let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
    let versions = entry.versions.map(|text| {
        let range = text.get_ref().parse();
        range
            .map_err(|error| source.error(text.span().start, format!("`accept.versions`: {error}")))
    });
    let expires = entry.expires.map(|time| {
        let (at, time) = (time.span().start, time.into_inner());
        Date::of(&time).ok_or_else(|| {
            source.error(at, format!("`accept.expires`: {}", NoDate(time.to_string())))
        })
    });
    Ok(Acceptance {
        device: entry.device.into_inner(),
        profile: entry.profile.into_inner(),
        rule: entry.rule.into_inner(),
        title: entry.title,
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
