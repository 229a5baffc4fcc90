//! Forms in which a check can be written.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{
    CheckResult, CoverageCheck, Deviation, DeviceSummary, Gate, MissingDevice, RandomFailure, UnrunKernel,
    UnusedAcceptance,
};
use crate::escape::visible;
use crate::model::{Device, ProfileResult, Report, RuleResult};
use crate::render::md::{comment, escape, folded, lane_block};
use crate::render::paper::{Ink, Paper, Style};
use crate::render::unrun::by_outcome;
use crate::render::{FormatEntry, json, junit, lane, phrase, text};

/// Kernels listed that fail on random operands alone.
const RANDOM: usize = 10;
/// Lanes shown of each deviation.
const EVIDENCE: usize = 2;
/// Deviations, and lines of every other list, on one screen.
const DEVIATIONS: usize = 5;
const LISTED: usize = 3;

/// A form in which a check can be written.
pub trait RenderCheck {
    /// Writes it; `report` is what was checked, for forms that show more than what came of it, and `style` is of a
    /// terminal, for forms that are for one.
    fn render(&self, checked: &CheckResult, report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()>;
}

/// An output format of checks.
pub type CheckFormat = FormatEntry<dyn RenderCheck + Sync>;

/// Every form, in the order of help texts.
pub static CHECKS: &[CheckFormat] = &[
    CheckFormat { name: "text", extensions: &["txt"], about: "for the terminal", renderer: &CheckText },
    CheckFormat { name: "json", extensions: &["json"], about: "one document", renderer: &CheckJson },
    CheckFormat {
        name: "junit",
        extensions: &["xml"],
        about: "JUnit XML, a case for each rule",
        renderer: &CheckJunit,
    },
    CheckFormat {
        name: "md",
        extensions: &["md", "markdown"],
        about: "Markdown that fits a pull request comment",
        renderer: &CheckMarkdown,
    },
];

struct CheckJson;

impl RenderCheck for CheckJson {
    fn render(&self, checked: &CheckResult, _: &Report, _: Style, out: &mut dyn Write) -> io::Result<()> {
        json::document(checked, out)
    }
}

struct CheckJunit;

impl RenderCheck for CheckJunit {
    fn render(&self, checked: &CheckResult, report: &Report, _: Style, out: &mut dyn Write) -> io::Result<()> {
        let at = |device: &DeviceSummary, profile: &str, rule: &str| {
            (device.slot.clone(), device.driver.info.clone(), profile.to_owned(), rule.to_owned())
        };
        let accepted = checked
            .accepted
            .iter()
            .map(|one| (at(&one.device, &one.profile, &one.rule), Ok(format!("accepted: {}", one.reason))));
        let random = checked
            .random
            .iter()
            .map(|one| (at(&one.device, &one.profile, &one.rule), Ok("fails on random operands alone".to_owned())));
        let new = checked.deviations.iter().map(|one| {
            let failure = junit::JunitFailure { why: one.why.clone(), evidence: one.evidence.clone() };
            (at(&one.device, &one.profile, &one.rule), Err(failure))
        });
        let verdicts: HashMap<_, Result<String, junit::JunitFailure>> = random.chain(accepted).chain(new).collect();
        let excuse = |device: &Device, profile: &ProfileResult, rule: &RuleResult| {
            let place = at(&super::who(device), &profile.id, &rule.id);
            let unknown = || Err(junit::JunitFailure { why: String::new(), evidence: rule.evidence.clone() });
            verdicts.get(&place).cloned().unwrap_or_else(unknown)
        };
        let suite = suite(checked);
        // What nobody requested is no error of the device: the gate's own suite shows what is missing.
        junit::write(
            report,
            out,
            &junit::JunitJudge { excuse: &excuse, unmeasured: junit::UnmeasuredPolicy::Skipped, suite: Some(suite) },
        )
    }
}

/// What the gate says beside the rules.
fn suite(checked: &CheckResult) -> TestSuite {
    let mut suite = TestSuite::new("gate");
    let mut add = |name: &str, mut status: TestCaseStatus, message: &str| {
        if !matches!(status, TestCaseStatus::Success { .. }) {
            status.set_message(&*visible(message));
        }
        let mut case = TestCase::new(&*visible(name), status);
        case.set_classname("gate");
        suite.add_test_case(case);
    };
    let whole = match checked.gate {
        Gate::NothingMeasured | Gate::Incomplete => TestCaseStatus::non_success(NonSuccessKind::Error),
        Gate::Passed | Gate::NotPassed => TestCaseStatus::success(),
    };
    add("measured", whole, &headline(checked));
    for (heading, removed, loss) in goners(checked) {
        for UnusedAcceptance { device, profile, rule, now } in removed {
            let status = match loss {
                Some(kind) => TestCaseStatus::non_success(kind),
                None => TestCaseStatus::skipped(),
            };
            add(&format!("{rule} in {profile} on {device}"), status, &format!("{heading}: {now}"));
        }
    }
    for MissingDevice { device, driver } in &checked.missing {
        add(&format!("{device} with {driver}"), TestCaseStatus::non_success(NonSuccessKind::Failure), MISSING);
    }
    for (covered, before, heading) in unrun(checked) {
        let kind = if before { NonSuccessKind::Failure } else { NonSuccessKind::Error };
        for UnrunKernel { kernel, outcome, detail, .. } in covered.unrun(before) {
            let name = format!("{kernel} on {}", covered.device.name);
            add(
                &name,
                TestCaseStatus::non_success(kind),
                &format!("{heading}: {}, {detail}", phrase::outcome(*outcome)),
            );
        }
    }
    suite
}

struct CheckText;

impl RenderCheck for CheckText {
    fn render(&self, checked: &CheckResult, _: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let paper = &mut Paper::new(out, style);
        paper.line(0, 2, &[(if checked.passed { Ink::Good } else { Ink::Bad }, &headline(checked))])?;
        if !style.whole {
            return brief(paper, checked);
        }
        for deviation in &checked.deviations {
            let Deviation { device, profile, rule, title, citation, why, lanes, failing, evidence } = deviation;
            paper.gap()?;
            paper.line(2, 2, &[(Ink::Bad, rule), (Ink::Plain, " "), (Ink::Strong, title)])?;
            let lanes = format!("{} of {} not accepted", phrase::grouped(*failing), phrase::number(*lanes, "lane"));
            paper.line(4, 2, &[(Ink::Plain, why)])?;
            paper.line(4, 2, &[(Ink::Faint, &format!("{}; {profile}; {lanes}; {citation}", device.name))])?;
            for one in evidence.iter().take(EVIDENCE) {
                text::lane(paper, &one.kernel, &lane::lines(one, lane::ACCEPTED), &one.command)?;
            }
        }
        for (heading, lines) in lists(checked) {
            paper.gap()?;
            paper.line(0, 2, &[(Ink::Note, &heading)])?;
            lines.iter().try_for_each(|line| paper.line(2, 2, &[(Ink::Plain, line)]))?;
        }
        Ok(())
    }
}

/// What came of it on one screen: each deviation in three lines, of other lists the first lines.
fn brief(paper: &mut Paper, checked: &CheckResult) -> io::Result<()> {
    let fitted =
        |paper: &Paper, indent: usize, text: &str| phrase::shortened(text, paper.width().saturating_sub(indent));
    for Deviation { device, profile, rule, title, why, evidence, .. } in checked.deviations.iter().take(DEVIATIONS) {
        let place = format!("{rule} in {profile} on {}: {title}", device.name);
        let text = fitted(paper, 0, &place);
        let (rule, rest) = text.split_at(rule.len().min(text.len()));
        paper.line(0, 2, &[(Ink::Bad, rule), (Ink::Strong, rest)])?;
        paper.line(2, 2, &[(Ink::Plain, &fitted(paper, 2, why))])?;
        let Some(one) = evidence.first() else { continue };
        paper.line(2, 2, &[(Ink::Faint, &fitted(paper, 2, &lane::sentence(one)))])?;
    }
    let mut left = checked.deviations.len().saturating_sub(DEVIATIONS) > 0;
    if left {
        let more = phrase::number(checked.deviations.len() - DEVIATIONS, "deviation");
        paper.line(0, 2, &[(Ink::Bad, &format!("{more} more"))])?;
    }
    for (heading, lines) in lists(checked) {
        paper.line(0, 2, &[(Ink::Note, &heading), (Ink::Plain, &format!(": {}", lines.len()))])?;
        lines.iter().take(LISTED).try_for_each(|line| paper.line(2, 2, &[(Ink::Plain, &fitted(paper, 2, line))]))?;
        left |= lines.len() > LISTED;
    }
    if left || !checked.deviations.is_empty() {
        paper.line(
            0,
            2,
            &[(Ink::Faint, "`--verbose` shows all of it; `fpprobe diff OLD NEW` shows what changed by cause")],
        )?;
    }
    Ok(())
}

struct CheckMarkdown;

impl RenderCheck for CheckMarkdown {
    fn render(&self, checked: &CheckResult, _: &Report, _: Style, out: &mut dyn Write) -> io::Result<()> {
        let head = format!("## Floating-point gate\n\n**{}**\n", escape(&headline(checked)));
        let lists = lists(checked).into_iter().map(|(heading, lines)| {
            let mut block = format!("\n{}:\n\n", escape(&heading));
            for line in lines {
                // Writing to a string cannot fail.
                let _ = writeln!(block, "- {}", escape(&line));
            }
            block
        });
        let blocks = checked.deviations.iter().map(block).chain(lists);
        out.write_all(comment(head, blocks, "the check as JSON").as_bytes())
    }
}

fn block(deviation: &Deviation) -> String {
    let Deviation { device, profile, rule, title, citation, why, lanes, failing, evidence } = deviation;
    let place = format!(
        "{}; {profile}; {} of {} not accepted; {citation}",
        device.name,
        phrase::grouped(*failing),
        phrase::number(*lanes, "lane")
    );
    let mut block = format!("\n{}\n", escape(&place));
    for one in evidence.iter().take(EVIDENCE) {
        block.push_str(&lane_block(&one.kernel, &lane::lines(one, lane::ACCEPTED), &one.command));
    }
    folded(rule, &format!(" {title}: {why}"), &block)
}

fn headline(checked: &CheckResult) -> String {
    let accepted = format!("{} accepted", phrase::number(checked.accepted.len(), "deviation"));
    let unmeasured = match checked.unmeasured.len() {
        0 => String::new(),
        count => format!(", {} that {} accepted not measured", count, if count == 1 { "is" } else { "are" }),
    };
    let count = |before| checked.coverage.iter().flat_map(|covered| covered.unrun(before)).count();
    let new = match checked.deviations.len() {
        0 => "nothing new".to_owned(),
        new => format!("{} not accepted", phrase::number(new, "deviation")),
    };
    let mut parts = vec![new, format!("{accepted}{unmeasured}")];
    parts.extend(some(checked.missing.len(), "device", "missing"));
    parts.extend(some(count(true), "kernel", "not run any more"));
    parts.extend(some(count(false), "kernel", "not run"));
    let known = || checked.coverage.iter().filter(|covered| covered.both < covered.baseline);
    if known().next().is_some() {
        let [both, all] = [known().map(|one| one.both).sum(), known().map(|one| one.baseline).sum()];
        parts.push(format!("{} of {} compared", phrase::grouped(both), phrase::number(all, "kernel")));
    }
    let is_worse = !checked.deviations.is_empty() || !checked.missing.is_empty() || count(true) > 0;
    let parts = parts.join(", ");
    match checked.gate {
        Gate::NothingMeasured => "nothing was measured, so the gate stays closed".into(),
        Gate::NotPassed if is_worse => format!("not passed: {parts}"),
        Gate::NotPassed => format!("not passed (--strict): {parts}, and something differs from the baseline"),
        Gate::Incomplete if count(false) > 0 => format!("incomplete: {parts}"),
        Gate::Incomplete => format!("incomplete: {parts}, but something crashed, hung or was lost"),
        Gate::Passed => format!("passed: {parts}"),
    }
}

/// `2 kernels rejected`, where there are any.
fn some(count: usize, noun: &str, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{} {what}", phrase::number(count, noun)))
}

/// What is said of devices that are missing.
const MISSING: &str = "Devices of the baseline that the report does not hold (`--device` checks some alone)";

/// Kernels that did not run: whose, whether they ran before, and a heading.
fn unrun(checked: &CheckResult) -> impl Iterator<Item = (&CoverageCheck, bool, String)> {
    let kinds =
        [(true, "Measured by the baseline's report, and not run now"), (false, "Claimed by the device, and not run")];
    let all =
        checked.coverage.iter().flat_map(move |covered| kinds.map(|(before, heading)| (covered, before, heading)));
    let some = all.filter(|(covered, before, _)| covered.unrun(*before).next().is_some());
    some.map(|(covered, before, heading)| (covered, before, format!("{heading}: {}", covered.device.name)))
}

/// Headings with what stands under them.
fn lists(checked: &CheckResult) -> Vec<(String, Vec<String>)> {
    let mut lists: Vec<(String, Vec<String>)> = Vec::new();
    if !checked.missing.is_empty() {
        let line = |MissingDevice { device, driver }: &MissingDevice| format!("{device} with {driver}");
        lists.push((MISSING.to_owned(), checked.missing.iter().map(line).collect()));
    }
    lists.extend(unrun(checked).map(|(covered, before, heading)| {
        let kernels = covered.unrun(before).map(|one| (one.outcome, one.detail.as_str(), one.kernel.as_str()));
        (heading, by_outcome(kernels))
    }));
    if !checked.random.is_empty() {
        let line = |RandomFailure { device, profile, rule, kernel, lanes, lane }: &RandomFailure| {
            let lanes = phrase::number(*lanes, "lane");
            format!("{rule} in {profile} on {}: {lanes} of {kernel}, the first {lane}", device.name)
        };
        let mut lines: Vec<String> = checked.random.iter().take(RANDOM).map(line).collect();
        lines.extend(some(checked.random.len().saturating_sub(RANDOM), "kernel", "more"));
        lists.push((
            "Fails on random operands alone, of which a baseline holds none (`--strict` closes the gate)".to_owned(),
            lines,
        ));
    }
    lists.extend(goners(checked).into_iter().map(|(heading, removed, _)| {
        let line = |UnusedAcceptance { device, profile, rule, now }: &UnusedAcceptance| {
            format!("{rule} in {profile} on {device}: {now}")
        };
        (heading.to_owned(), removed.iter().map(line).collect())
    }));
    lists
}

/// A heading, what stands under it, and as what it closes the gate.
type UnusedSection<'c> = (&'static str, &'c [UnusedAcceptance], Option<NonSuccessKind>);

/// Lists of acceptances that were not needed as they are, those that there are.
fn goners(checked: &CheckResult) -> Vec<UnusedSection<'_>> {
    let strict = checked.strict.then_some(NonSuccessKind::Failure);
    let lists: [UnusedSection<'_>; 3] = [
        (
            "Accepted, and better now (`baseline accept --prune` brings the baseline up to date)",
            &checked.improved,
            strict,
        ),
        ("Accepted, and lost while it was measured", &checked.lost, Some(NonSuccessKind::Error)),
        ("Accepted, and not measured", &checked.unmeasured, strict),
    ];
    lists.into_iter().filter(|(_, removed, _)| !removed.is_empty()).collect()
}
