//! Forms in which a check can be written.

use std::collections::HashMap;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{CheckResult, Gate};
use crate::change::{Change, ChangeKind, ChangeSection, DeviceName, Subject, fold, ink};
use crate::escape::visible;
use crate::model::{Device, ProfileResult, Report, RuleResult};
use crate::render::md::{comment, escape};
use crate::render::paper::{Ink, Paper, Style};
use crate::render::{FormatEntry, json, junit, phrase};

/// A form in which a check can be written.
pub trait RenderCheck {
    /// Writes it; `report` is what was checked, for forms that show more than what came of it, and
    /// `style` is of a terminal, for forms that are for one.
    fn render(
        &self,
        checked: &CheckResult,
        report: &Report,
        style: Style,
        out: &mut dyn Write,
    ) -> io::Result<()>;
}

/// An output format of checks.
pub type CheckFormat = FormatEntry<dyn RenderCheck + Sync>;

/// Every form, in the order of help texts.
pub static CHECKS: &[CheckFormat] = &[
    CheckFormat {
        name: "text",
        extensions: &["txt"],
        about: "for the terminal",
        renderer: &CheckText,
    },
    CheckFormat {
        name: "json",
        extensions: &["json"],
        about: "one document",
        renderer: &CheckJson,
    },
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
    fn render(
        &self,
        checked: &CheckResult,
        _: &Report,
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        json::document(checked, out)
    }
}

/// What is otherwise in one way, and as what it closes the gate.
struct GateRow {
    kind: ChangeKind,
    subject: Subject,
    heading: &'static str,
    /// `None` where it does so strictly only.
    closes: Option<NonSuccessKind>,
}

const fn row(
    kind: ChangeKind,
    subject: Subject,
    heading: &'static str,
    closes: Option<NonSuccessKind>,
) -> GateRow {
    GateRow { kind, subject, heading, closes }
}

/// All ways, the gravest first.
const ROWS: [GateRow; 8] = [
    row(ChangeKind::Regressed, Subject::Rule, "Not accepted", Some(NonSuccessKind::Failure)),
    row(
        ChangeKind::Appeared,
        Subject::Rule,
        "Deviating in kernels alone that the baseline's report did not measure",
        Some(NonSuccessKind::Error),
    ),
    row(
        ChangeKind::Disappeared,
        Subject::Device,
        "Devices of the baseline that the report does not hold (`--device` checks some alone)",
        Some(NonSuccessKind::Failure),
    ),
    row(
        ChangeKind::Disappeared,
        Subject::Kernel,
        "Measured by the baseline's report, and not run now",
        Some(NonSuccessKind::Failure),
    ),
    row(
        ChangeKind::Disappeared,
        Subject::Incident,
        "Lost, or claimed by the device and not run",
        Some(NonSuccessKind::Error),
    ),
    row(
        ChangeKind::Changed,
        Subject::Kernel,
        "Fails on random operands alone, of which a baseline holds none (`--strict` closes the gate)",
        None,
    ),
    row(
        ChangeKind::Fixed,
        Subject::Cause,
        "Accepted, and better now (`baseline accept --prune` brings the baseline up to date)",
        None,
    ),
    row(ChangeKind::Disappeared, Subject::Cause, "Accepted, and not measured", None),
];

fn sections(checked: &CheckResult) -> Vec<ChangeSection> {
    let single = single(checked);
    let is_said = |device: &DeviceName| Some(device) == single;
    let named = |change: &Change| Change {
        device: change
            .device
            .clone()
            .filter(|device| change.subject == Subject::Incident || !is_said(device)),
        ..change.clone()
    };
    let section = |row: &GateRow| {
        let changes: Vec<Change> = checked.of(row.kind, row.subject).map(named).collect();
        ChangeSection::of(row.heading, row.kind, changes.iter())
    };
    ROWS.iter().filter_map(section).collect()
}

/// The device, where everything is of one: it is named once.
fn single(checked: &CheckResult) -> Option<&DeviceName> {
    let [covered] = &checked.coverage[..] else { return None };
    // A baseline's entry names it otherwise.
    let is_other = |device: &DeviceName| !device.key.is_empty() && device.key != covered.device.key;
    let mut devices = checked.changes.iter().filter_map(|change| change.device.as_ref());
    (!devices.any(is_other)).then_some(&covered.device)
}

struct CheckJunit;

impl RenderCheck for CheckJunit {
    fn render(
        &self,
        checked: &CheckResult,
        report: &Report,
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        type Place = (String, String, String);
        let at = |key: &str, profile: &str, rule: &str| -> Place {
            (key.to_owned(), profile.to_owned(), rule.to_owned())
        };
        let place = |change: &Change, rule: &str| {
            let key = change.device.as_ref().map_or("", |device| &device.key);
            at(key, change.profiles.first().map_or("", String::as_str), rule)
        };
        let accepted = checked.accepted.iter().map(|one| {
            (at(&one.device.key, &one.profile, &one.rule), Ok(format!("accepted: {}", one.reason)))
        });
        let random = checked.of(ChangeKind::Changed, Subject::Kernel);
        let random = random
            .map(|one| (place(one, &one.text), Ok("fails on random operands alone".to_owned())));
        let appeared = checked.appeared();
        let appeared = appeared.map(|one| (place(one, &one.id), Ok(one.note.clone())));
        let new = checked.regressed().map(|one| {
            let failure =
                junit::JunitFailure { why: one.note.clone(), evidence: one.evidence.clone() };
            (place(one, &one.id), Err(failure))
        });
        let verdicts: HashMap<Place, Result<String, junit::JunitFailure>> =
            random.chain(accepted).chain(appeared).chain(new).collect();
        let excuse = |device: &Device, profile: &ProfileResult, rule: &RuleResult| {
            let unknown =
                || Err(junit::JunitFailure { why: String::new(), evidence: rule.evidence.clone() });
            verdicts
                .get(&at(&device.identity.key, &profile.id, &rule.id))
                .cloned()
                .unwrap_or_else(unknown)
        };
        let suite = suite(checked);
        // What nobody requested is no error of the device: the gate's own suite shows what is
        // missing.
        junit::write(
            report,
            out,
            &junit::JunitJudge {
                excuse: &excuse,
                unmeasured: junit::UnmeasuredPolicy::Skipped,
                suite: Some(suite),
            },
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
        Gate::NothingMeasured | Gate::Incomplete => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
        Gate::Passed | Gate::NotPassed => TestCaseStatus::success(),
    };
    add("measured", whole, &headline(checked));
    // Rules of the report are cases of their own.
    for row in
        ROWS.iter().filter(|row| !matches!(row.kind, ChangeKind::Regressed | ChangeKind::Changed))
    {
        for change in checked.of(row.kind, row.subject) {
            let strict = checked.strict.then_some(NonSuccessKind::Failure);
            let status = row
                .closes
                .or(strict)
                .map_or_else(TestCaseStatus::skipped, TestCaseStatus::non_success);
            add(&change.in_words(), status, &format!("{}: {}", row.heading, change.note));
        }
    }
    suite
}

struct CheckText;

impl RenderCheck for CheckText {
    fn render(
        &self,
        checked: &CheckResult,
        _: &Report,
        style: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let paper = &mut Paper::new(out, style);
        paper.line(
            0,
            2,
            &[(
                if checked.passed { Ink::Good } else { ink(ChangeKind::Regressed) },
                &headline(checked),
            )],
        )?;
        if let Some(device) = single(checked).filter(|_| !checked.changes.is_empty()) {
            paper.line(2, 2, &[(Ink::Faint, &device.name)])?;
        }
        crate::change::text(paper, &sections(checked))?;
        if style.is_whole() || checked.changes.is_empty() {
            return Ok(());
        }
        let more =
            "`--verbose` shows all of it; `fpprobe diff OLD NEW` shows what changed by cause";
        paper.line(0, 2, &[(Ink::Faint, more)])
    }
}

struct CheckMarkdown;

impl RenderCheck for CheckMarkdown {
    fn render(
        &self,
        checked: &CheckResult,
        _: &Report,
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let device =
            single(checked).map_or(String::new(), |device| format!("\n{}\n", escape(&device.name)));
        let head =
            format!("## Floating-point gate\n\n**{}**\n{device}", escape(&headline(checked)));
        out.write_all(
            comment(head, sections(checked).iter().map(fold), "the check as JSON").as_bytes(),
        )
    }
}

fn headline(checked: &CheckResult) -> String {
    let count = |kind, subject| checked.of(kind, subject).count();
    let accepted = format!("{} accepted", phrase::number(checked.accepted.len(), "deviation"));
    let unmeasured = match count(ChangeKind::Disappeared, Subject::Cause) {
        0 => String::new(),
        count => format!(
            ", {} that {} accepted not measured",
            count,
            if count == 1 { "is" } else { "are" }
        ),
    };
    let new = match checked.regressed().count() {
        0 => "nothing new".to_owned(),
        new => format!("{} not accepted", phrase::number(new, "deviation")),
    };
    let unrun = checked
        .of(ChangeKind::Disappeared, Subject::Incident)
        .filter(|one| one.is_of_kernel())
        .count();
    let mut parts = vec![new, format!("{accepted}{unmeasured}")];
    let appeared = checked.appeared().count();
    parts.extend(some(appeared, "deviation", "of kernels not measured before"));
    parts.extend(some(count(ChangeKind::Disappeared, Subject::Device), "device", "missing"));
    parts.extend(some(
        count(ChangeKind::Disappeared, Subject::Kernel),
        "kernel",
        "not run any more",
    ));
    parts.extend(some(unrun, "kernel", "not run"));
    let known = || checked.coverage.iter().filter(|covered| covered.both < covered.baseline);
    if known().next().is_some() {
        let [both, all] =
            [known().map(|one| one.both).sum(), known().map(|one| one.baseline).sum()];
        parts.push(format!(
            "{} of {} compared",
            phrase::grouped(both),
            phrase::number(all, "kernel")
        ));
    }
    let parts = parts.join(", ");
    match checked.gate {
        Gate::NothingMeasured => "nothing was measured, so the gate stays closed".into(),
        Gate::NotPassed if checked.is_worse() => format!("not passed: {parts}"),
        Gate::NotPassed => {
            format!("not passed (--strict): {parts}, and something differs from the baseline")
        }
        Gate::Incomplete if unrun > 0 => format!("incomplete: {parts}"),
        Gate::Incomplete => format!("incomplete: {parts}, but something crashed, hung or was lost"),
        Gate::Passed => format!("passed: {parts}"),
    }
}

/// `2 kernels rejected`, where there are any.
fn some(count: usize, noun: &str, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{} {what}", phrase::number(count, noun)))
}
