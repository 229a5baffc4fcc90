//! Forms in which a check can be written.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{Checked, Deviation, Gate, Gone, Who};
use crate::escape::visible;
use crate::model::{Device, ProfileResult, Report, RuleResult};
use crate::render::md::{comment, escape, folded, lane_block};
use crate::render::paper::{Ink, Paper, Style};
use crate::render::{Form, json, junit, lane, phrase, text};

/// Lanes shown of each deviation.
const EVIDENCE: usize = 2;

/// A form in which a check can be written.
pub trait RenderCheck {
    /// Writes it; `report` is what was checked, for forms that show more than what came of it, and `style` is of a
    /// terminal, for forms that are for one.
    fn render(&self, checked: &Checked, report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()>;
}

/// An output format of checks.
pub type CheckFormat = Form<dyn RenderCheck + Sync>;

/// Every form, in the order of help texts.
pub static CHECKS: &[CheckFormat] = &[
    CheckFormat { name: "text", extensions: &["txt"], about: "for the terminal", renderer: &Text },
    CheckFormat { name: "json", extensions: &["json"], about: "one document", renderer: &Json },
    CheckFormat { name: "junit", extensions: &["xml"], about: "JUnit XML, a case for each rule", renderer: &Junit },
    CheckFormat {
        name: "md",
        extensions: &["md", "markdown"],
        about: "Markdown that fits a pull request comment",
        renderer: &Markdown,
    },
];

struct Json;

impl RenderCheck for Json {
    fn render(&self, checked: &Checked, _: &Report, _: Style, out: &mut dyn Write) -> io::Result<()> {
        json::document(checked, out)
    }
}

struct Junit;

impl RenderCheck for Junit {
    fn render(&self, checked: &Checked, report: &Report, _: Style, out: &mut dyn Write) -> io::Result<()> {
        let at = |device: &Who, profile: &str, rule: &str| {
            (device.slot.clone(), device.driver.info.clone(), profile.to_owned(), rule.to_owned())
        };
        let accepted = checked
            .accepted
            .iter()
            .map(|one| (at(&one.device, &one.profile, &one.rule), Ok(format!("accepted: {}", one.reason))));
        let new = checked.deviations.iter().map(|one| {
            let failure = junit::Failure { why: one.why.clone(), evidence: one.evidence.clone() };
            (at(&one.device, &one.profile, &one.rule), Err(failure))
        });
        let verdicts: HashMap<_, Result<String, junit::Failure>> = accepted.chain(new).collect();
        let excuse = |device: &Device, profile: &ProfileResult, rule: &RuleResult| {
            let place = at(&super::who(device), &profile.id, &rule.id);
            let unknown = || Err(junit::Failure { why: String::new(), evidence: rule.evidence.clone() });
            verdicts.get(&place).cloned().unwrap_or_else(unknown)
        };
        let suite = suite(checked);
        // What nobody asked for is no error of the device: the gate's own suite tells what is missing.
        junit::write(
            report,
            out,
            &junit::Judge { excuse: &excuse, unmeasured: junit::Unmeasured::Skipped, suite: Some(suite) },
        )
    }
}

/// What the gate says beside the rules.
fn suite(checked: &Checked) -> TestSuite {
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
    for (heading, gone, loss) in goners(checked) {
        for Gone { device, profile, rule, now } in gone {
            let status = match loss {
                Some(kind) => TestCaseStatus::non_success(kind),
                None => TestCaseStatus::skipped(),
            };
            add(&format!("{rule} in {profile} on {device}"), status, &format!("{heading}: {now}"));
        }
    }
    suite
}

struct Text;

impl RenderCheck for Text {
    fn render(&self, checked: &Checked, _: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let paper = &mut Paper::new(out, style);
        paper.line(0, 2, &[(if checked.passed { Ink::Good } else { Ink::Bad }, &headline(checked))])?;
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
        for (heading, gone, _) in goners(checked) {
            paper.gap()?;
            paper.line(0, 2, &[(Ink::Note, heading)])?;
            for Gone { device, profile, rule, now } in gone {
                paper.line(2, 2, &[(Ink::Plain, &format!("{rule} in {profile} on {device}: {now}"))])?;
            }
        }
        Ok(())
    }
}

struct Markdown;

impl RenderCheck for Markdown {
    fn render(&self, checked: &Checked, _: &Report, _: Style, out: &mut dyn Write) -> io::Result<()> {
        let head = format!("## Floating-point gate\n\n**{}**\n", escape(&headline(checked)));
        let gone = goners(checked).into_iter().map(|(heading, gone, _)| {
            let mut block = format!("\n{heading}:\n\n");
            for Gone { device, profile, rule, now } in gone {
                let line = format!("{rule} in {profile} on {device}: {now}");
                // Writing to a string cannot fail.
                let _ = writeln!(block, "- {}", escape(&line));
            }
            block
        });
        let blocks = checked.deviations.iter().map(block).chain(gone);
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

fn headline(checked: &Checked) -> String {
    let accepted = format!("{} accepted", phrase::number(checked.accepted.len(), "deviation"));
    let unmeasured = match checked.unmeasured.len() {
        0 => String::new(),
        count => format!(", {} that {} accepted not measured", count, if count == 1 { "is" } else { "are" }),
    };
    match (checked.gate, checked.deviations.len()) {
        (Gate::NothingMeasured, _) => "nothing was measured, so the gate stays closed".into(),
        (Gate::NotPassed, 0) => {
            format!("not passed: nothing new, {accepted}{unmeasured}, and strictly everything must be as accepted")
        }
        (Gate::NotPassed, new) => {
            format!("not passed: {} not accepted, {accepted}{unmeasured}", phrase::number(new, "deviation"))
        }
        (Gate::Incomplete, _) => {
            format!("incomplete: nothing new, {accepted}{unmeasured}, but something crashed, hung or was lost")
        }
        (Gate::Passed, _) => format!("passed: nothing new, {accepted}{unmeasured}"),
    }
}

/// A heading, what stands under it, and as what it closes the gate.
type Goners<'c> = (&'static str, &'c [Gone], Option<NonSuccessKind>);

/// Lists of acceptances that were not needed as they are, those that there are.
fn goners(checked: &Checked) -> Vec<Goners<'_>> {
    let strict = checked.strict.then_some(NonSuccessKind::Failure);
    let lists: [Goners<'_>; 3] = [
        (
            "Accepted, and better now (`baseline accept --prune` brings the baseline up to date)",
            &checked.improved,
            strict,
        ),
        ("Accepted, and lost while it was measured", &checked.lost, Some(NonSuccessKind::Error)),
        ("Accepted, and not measured", &checked.unmeasured, strict),
    ];
    lists.into_iter().filter(|(_, gone, _)| !gone.is_empty()).collect()
}
