//! `fpprobe rules --coverage`: what each rule can distinguish, and what becomes of every id of the
//! catalogue.

use std::collections::BTreeMap;
use std::io::{self, Write};

use fpprobe_profiles::Profile;
use fpprobe_profiles::catalogue::{Catalogue, CatalogueEntry, IdStatus};
use fpprobe_profiles::coverage::{
    Coverage, LaneStatistics, RuleCoverage, Tries, WrongResult, survey,
};
use fpprobe_reports::render::{Ink, Paper, Style};
use serde::Serialize;

use crate::exit::Status;
use crate::output;

/// The document of `--json`.
#[derive(Serialize)]
struct CoverageDocument<'a> {
    schema: &'static str,
    profiles: Vec<ProfileRow<'a>>,
    /// Only where all profiles are looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    catalogue: Option<Vec<IdRow>>,
}

#[derive(Serialize)]
struct ProfileRow<'a> {
    id: &'a str,
    title: &'a str,
    version: &'a str,
    rules: Vec<RuleRow<'a>>,
    total: StatisticsRow,
}

#[derive(Serialize)]
struct RuleRow<'a> {
    id: &'a str,
    title: &'a str,
    citation: &'a str,
    level: &'static str,
    total: StatisticsRow,
    kernels: Vec<KernelRow<'a>>,
}

#[derive(Serialize)]
struct KernelRow<'a> {
    operation: &'a str,
    kernel: String,
    inputs: usize,
    #[serde(flatten)]
    #[serde(rename = "tally")]
    statistics: StatisticsRow,
}

/// Lanes without those that accept everything, which stand by themselves.
#[derive(Serialize)]
struct StatisticsRow {
    judged: usize,
    single: usize,
    vacuous: usize,
    rejected: usize,
    wrong: BTreeMap<&'static str, TriesRow>,
}

#[derive(Serialize)]
struct TriesRow {
    tried: usize,
    rejected: usize,
}

#[derive(Serialize)]
struct IdRow {
    section: String,
    id: String,
    standing: &'static str,
    /// Rules by profile.
    rules: BTreeMap<String, Vec<String>>,
    /// Which paths, or why it cannot be tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    citation: Option<String>,
}

/// Shows the coverage of these profiles; `all` says that they are all that are built in.
pub fn main(profiles: &[Profile], all: bool, json: bool, style: Style) -> anyhow::Result<Status> {
    let coverages = survey(profiles);
    let catalogue = if all { Some(ids(&Catalogue::built_in()?, profiles)) } else { None };
    let mut out = output::stdout();
    if json {
        let profiles = coverages.iter().map(profile_row).collect();
        let document = CoverageDocument { schema: "fpprobe-coverage/1", profiles, catalogue };
        serde_json::to_writer_pretty(&mut out, &document)?;
        writeln!(out)?;
    } else {
        let paper = &mut Paper::new(&mut out, style);
        coverages.iter().try_for_each(|coverage| show(coverage, paper))?;
        catalogue.iter().try_for_each(|ids| show_ids(ids, paper))?;
    }
    out.flush()?;
    Ok(Status::Done)
}

fn profile_row<'a>(coverage: &'a Coverage<'_>) -> ProfileRow<'a> {
    let Profile { id, title, version, .. } = coverage.profile;
    let rules = coverage.rules.iter().map(rule_row).collect();
    ProfileRow { id, title, version, rules, total: statistics_row(&coverage.statistics()) }
}

fn rule_row<'a>(coverage: &'a RuleCoverage<'_>) -> RuleRow<'a> {
    let rule = coverage.rule;
    let kernels = coverage.kernels.iter().map(|kernel| KernelRow {
        operation: kernel.operation,
        kernel: kernel.kernel.to_string(),
        inputs: kernel.inputs,
        statistics: statistics_row(&kernel.statistics),
    });
    RuleRow {
        id: &rule.id,
        title: &rule.title,
        citation: &rule.citation,
        level: rule.level.name(),
        total: statistics_row(&coverage.statistics()),
        kernels: kernels.collect(),
    }
}

fn statistics_row(statistics: &LaneStatistics) -> StatisticsRow {
    let wrong = statistics.wrong.iter().map(|(kind, Tries { tried, rejected })| {
        (kind.name(), TriesRow { tried: *tried, rejected: *rejected })
    });
    let LaneStatistics { judged, single, vacuous, .. } = *statistics;
    StatisticsRow {
        judged,
        single,
        vacuous,
        rejected: statistics.rejected(),
        wrong: wrong.collect(),
    }
}

/// Names in a list; the others are counted.
const NAMES: usize = 20;

fn show(coverage: &Coverage<'_>, paper: &mut Paper<'_>) -> io::Result<()> {
    let Profile { id, title, .. } = coverage.profile;
    let names = coverage.rules.iter().map(|rule| rule.rule.id.chars().count());
    let width = names.max().unwrap_or(0).max("total".len());
    paper.line(0, 2, &[(Ink::Strong, id), (Ink::Plain, "  "), (Ink::Plain, title)])?;
    let heads = ["level", "inputs", "lanes", "single", "vacuous"];
    let [level, inputs, lanes, single, vacuous] = heads;
    let head = format!(
        "{:<width$}  {level:<11}  {inputs:>8}  {lanes:>8}  {single:>8}  {vacuous:>8}",
        "rule"
    );
    paper.whole(2, Ink::Faint, &head)?;
    paper.line(4, 0, &[(Ink::Faint, "wrong answers rejected/of those tried [kernels]")])?;
    for rule in &coverage.rules {
        let statistics = rule.statistics();
        let inputs: usize = rule.kernels.iter().map(|kernel| kernel.inputs).sum();
        let LaneStatistics { judged, single, vacuous, .. } = statistics;
        let row = format!(
            "{:<width$}  {:<11}  {inputs:>8}  {judged:>8}  {single:>8}  {vacuous:>8}",
            rule.rule.id,
            rule.rule.level.name()
        );
        paper.whole(2, Ink::Plain, &row)?;
        let text = format!("{} [{}]", described(&statistics), kernels(rule));
        paper.line(4, 0, &[(Ink::Plain, &text)])?;
    }
    let statistics = coverage.statistics();
    let LaneStatistics { judged, single, vacuous, .. } = statistics;
    let row = format!(
        "{:<width$}  {:<11}  {:>8}  {judged:>8}  {single:>8}  {vacuous:>8}",
        "total", "", ""
    );
    paper.whole(2, Ink::Strong, &row)?;
    paper.line(4, 0, &[(Ink::Plain, &described(&statistics))])?;
    let kernels =
        coverage.rules.iter().flat_map(|rule| rule.kernels.iter().map(move |one| (rule, one)));
    let vacuous: Vec<String> = kernels
        .filter(|(_, kernel)| kernel.statistics.vacuous > 0)
        .map(|(rule, kernel)| {
            format!("{} {} {}", rule.rule.id, kernel.kernel, kernel.statistics.vacuous)
        })
        .collect();
    if !vacuous.is_empty() {
        let text = format!("accept everything, and are in no total: {}", few(&vacuous));
        paper.line(2, 2, &[(Ink::Plain, &text)])?;
    }
    paper.gap()
}

/// The first of many, and how many more.
fn few(names: &[String]) -> String {
    let (first, more) = names.split_at(names.len().min(NAMES));
    let more = (!more.is_empty()).then(|| format!("{} more (`--json` has all)", more.len()));
    first.iter().cloned().chain(more).collect::<Vec<_>>().join(", ")
}

/// Wrong answers that are rejected, by kind.
fn described(statistics: &LaneStatistics) -> String {
    if statistics.is_vacuous() {
        return "nothing: everything is accepted".to_owned();
    }
    let kinds =
        WrongResult::ALL.iter().filter_map(|kind| Some((kind.name(), statistics.wrong.get(kind)?)));
    let rejected = kinds.filter(|(_, tries)| tries.rejected > 0);
    let text: Vec<String> =
        rejected.map(|(name, tries)| format!("{name} {}", rejected_of(*tries))).collect();
    if text.is_empty() { "none".to_owned() } else { text.join(", ") }
}

/// How many are rejected, and of how many where it is not all.
fn rejected_of(Tries { tried, rejected }: Tries) -> String {
    if tried == rejected { rejected.to_string() } else { format!("{rejected}/{tried}") }
}

/// Kernels by format: `f32: fadd fsub; f16: fadd`.
fn kernels(rule: &RuleCoverage<'_>) -> String {
    let mut formats: Vec<(&str, Vec<String>)> = Vec::new();
    for kernel in rule.kernels.iter().map(|kernel| kernel.kernel) {
        let id = kernel.to_string();
        let name = id.split_once('.').map_or(id.as_str(), |(_, name)| name).to_owned();
        match formats.iter_mut().find(|(format, _)| *format == kernel.format.name()) {
            Some((_, names)) if !names.contains(&name) => names.push(name),
            Some(_) => {}
            None => formats.push((kernel.format.name(), vec![name])),
        }
    }
    let formats = formats.iter().map(|(format, names)| format!("{format}: {}", names.join(" ")));
    formats.collect::<Vec<String>>().join("; ")
}

fn ids(catalogue: &Catalogue, profiles: &[Profile]) -> Vec<IdRow> {
    let sections = catalogue.sections.iter();
    sections
        .flat_map(|section| {
            section.ids(profiles).into_iter().map(|id| id_row(&section.name, &id, profiles))
        })
        .collect()
}

fn id_row(section: &str, entry: &CatalogueEntry, profiles: &[Profile]) -> IdRow {
    let looked = entry.looked_at(profiles).into_iter();
    let rules: BTreeMap<String, Vec<String>> = looked
        .map(|(profile, rules)| {
            (profile.to_owned(), rules.into_iter().map(str::to_owned).collect())
        })
        .collect();
    let (standing, why, citation) = match &entry.standing {
        IdStatus::Rules { .. } if rules.is_empty() => ("missing", None, None),
        IdStatus::Rules { .. } => ("rules", None, None),
        IdStatus::OtherPaths(paths) => ("other paths", Some(paths.clone()), None),
        IdStatus::NotTestable { reason, citation } => {
            ("not testable", Some(reason.clone()), Some(citation.clone()))
        }
    };
    IdRow { section: section.to_owned(), id: entry.id.clone(), standing, rules, why, citation }
}

fn show_ids(ids: &[IdRow], paper: &mut Paper<'_>) -> io::Result<()> {
    let width = ids.iter().map(|row| row.id.chars().count()).max().unwrap_or(0);
    paper.line(0, 0, &[(Ink::Strong, "catalogue")])?;
    for IdRow { id, standing, rules, why, citation, .. } in ids {
        let profiles = rules.iter().map(|(profile, rules)| {
            let others: Vec<&str> =
                rules.iter().filter(|rule| *rule != id).map(String::as_str).collect();
            if others.is_empty() {
                profile.clone()
            } else {
                format!("{profile} ({})", rules.join(" "))
            }
        });
        let profiles = Some(profiles.collect::<Vec<String>>().join(" "))
            .filter(|profiles| !profiles.is_empty());
        let text: Vec<String> =
            [profiles, why.clone(), citation.clone()].into_iter().flatten().collect();
        let row = format!("{id:<width$}  {standing:<12}  ");
        let hang = row.len();
        paper.line(2, hang, &[(Ink::Plain, &row), (Ink::Plain, &text.join(" -- "))])?;
    }
    let count = |standing: &str| ids.iter().filter(|row| row.standing == standing).count();
    let text = format!(
        "{} ids: {} by rules, {} by other paths, {} not testable, {} missing",
        ids.len(),
        count("rules"),
        count("other paths"),
        count("not testable"),
        count("missing")
    );
    paper.line(2, 2, &[(Ink::Plain, &text)])
}

#[cfg(test)]
mod tests {
    use fpprobe_profiles::profile::{built_in, built_in_ids};

    use super::*;

    #[test]
    fn every_id_of_the_catalogue_says_where_it_is_judged() {
        let profiles: Vec<Profile> =
            built_in_ids().map(|id| built_in(id).unwrap().unwrap()).collect();
        let all = ids(&Catalogue::built_in().unwrap(), &profiles);
        let standing = |id: &str| all.iter().find(|row| row.id == id).unwrap().standing;
        assert_eq!((standing("D32-06"), standing("G-00")), ("rules", "not testable"));
        assert!(all.iter().all(|row| row.standing != "missing"));
    }
}
