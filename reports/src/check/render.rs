//! Forms in which a check can be written.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Checked, Deviation, Gone};
use crate::baseline::{Baseline, Date};
use crate::model::Report;
use crate::render::md::{comment, escape, lane_block};
use crate::render::paper::{Ink, Paper, Style};
use crate::render::{Form, json, junit, lane, phrase, text};

/// Lanes shown of each deviation.
const EVIDENCE: usize = 2;

/// What was checked, for forms that show more than what came of it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The report.
    pub report: &'a Report,
    /// The baseline.
    pub baseline: &'a Baseline,
    /// The day of the check.
    pub today: Date,
}

/// A form in which a check can be written.
pub trait RenderCheck {
    /// Writes it; `style` is of a terminal, for forms that are for one.
    fn render(&self, checked: &Checked, subject: Subject<'_>, style: Style, out: &mut dyn Write) -> io::Result<()>;
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
    fn render(&self, checked: &Checked, _: Subject<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        json::document(checked, out)
    }
}

struct Junit;

impl RenderCheck for Junit {
    fn render(&self, _: &Checked, subject: Subject<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        let Subject { report, baseline, today } = subject;
        junit::write(report, out, |device, profile, rule| {
            let verdict = super::verdict(baseline, device, profile, rule, today);
            verdict.map(|acceptance| format!("accepted: {}", acceptance.reason))
        })
    }
}

struct Text;

impl RenderCheck for Text {
    fn render(&self, checked: &Checked, _: Subject<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
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
        for (heading, gone) in goners(checked) {
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
    fn render(&self, checked: &Checked, _: Subject<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        let head = format!("## Floating-point gate\n\n**{}**\n", escape(&headline(checked)));
        let gone = goners(checked).into_iter().map(|(heading, gone)| {
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
    let place = format!("{}; {profile}; {failing} of {lanes} lanes not accepted; {citation}", device.name);
    let mut block = format!(
        "\n<details><summary><b>{}</b> {}: {}</summary>\n\n{}\n",
        escape(rule),
        escape(title),
        escape(why),
        escape(&place)
    );
    for one in evidence.iter().take(EVIDENCE) {
        block.push_str(&lane_block(&one.kernel, &lane::lines(one, lane::ACCEPTED), &one.command));
    }
    block.push_str("\n</details>\n");
    block
}

fn headline(checked: &Checked) -> String {
    let accepted = phrase::number(checked.accepted.len(), "deviation");
    match checked.deviations.len() {
        0 if checked.passed => format!("passed: nothing new, {accepted} accepted"),
        0 => format!("not passed: nothing new, {accepted} accepted, and some that are accepted are none any more"),
        new => format!("not passed: {} not accepted, {accepted} accepted", phrase::number(new, "deviation")),
    }
}

/// Lists of acceptances that nothing needed, those that there are.
fn goners(checked: &Checked) -> Vec<(&'static str, &[Gone])> {
    let improved = "Accepted, and no deviation any more: take it out of the baseline";
    let lists = [(improved, &*checked.improved), ("Accepted, and not measured", &*checked.unmeasured)];
    lists.into_iter().filter(|(_, gone)| !gone.is_empty()).collect()
}
