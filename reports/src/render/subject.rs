//! What a report holds of a rule, or of some kernels: below what the catalogue says of them.

use std::io::{self, Write};

use super::field::field;
use super::paper::{Ink, Paper, Style, pad};
use super::{lane, phrase, summary, text};
use crate::model::{
    Cause, Device, DeviceTrait, ProfileResult, Report, RuleResult, StoredObservation, Verdict,
};
use crate::numbered::numbered;

/// Lanes of evidence, and kernels, that are shown where not everything is.
const MOST: usize = 4;
/// Columns of severities.
const SEVERITIES: usize = 12;

/// Writes the values of traits, device by device: of one with the lanes that show it.
pub fn traits(
    report: &Report,
    ids: &[String],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let paper = &mut Paper::new(out, style);
    for device in &report.devices {
        let known: Vec<&DeviceTrait> =
            device.traits.iter().filter(|one| ids.contains(&one.id)).collect();
        if known.is_empty() {
            continue;
        }
        title(paper, report, device)?;
        let width = known.iter().map(|one| one.id.len()).max().unwrap_or_default() + 2;
        for one in &known {
            paper.line(
                2,
                width,
                &[(Ink::Faint, &pad(&one.id, width)), (Ink::Plain, &one.describe())],
            )?;
        }
        let [one] = &known[..] else { continue };
        for (scope, value) in one.scopes() {
            for share in value.iter().flat_map(|value| &value.shares) {
                let kernels = super::field::some(&share.kernels, MOST);
                let share_text =
                    format!("{} in {}", share.value, phrase::number(share.lanes, "lane"));
                field(paper, scope, Ink::Faint, &format!("{share_text}: {kernels}"))?;
                if let Some(lane) = &share.example {
                    let lines = lane::answers(&lane.kernel, &lane.inputs, [("out", &lane.out)]);
                    text::lane(paper, &lane.kernel, &lines, &lane.command)?;
                }
            }
            // Beside several values a lane says nothing that an example of one does not.
            let evidence = value.iter().filter(|value| value.shares.is_empty());
            for (number, lane) in evidence.flat_map(|value| &value.evidence).take(MOST).enumerate()
            {
                if let (0, Some(value)) = (number, &value) {
                    let text =
                        format!("{} in {}", value.value, phrase::number(value.lanes, "lane"));
                    field(paper, scope, Ink::Faint, &text)?;
                }
                let lines = lane::answers(&lane.kernel, &lane.inputs, [("out", &lane.out)]);
                text::lane(paper, &lane.kernel, &lines, &lane.command)?;
            }
        }
    }
    Ok(())
}

/// Writes every cause in one line, or those that break a profile, device by device.
pub fn all_causes(
    report: &Report,
    profile: Option<&str>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let paper = &mut Paper::new(out, style);
    let breaks = |cause: &Cause, id: &str| cause.profiles.iter().any(|broken| broken == id);
    for device in &report.devices {
        title(paper, report, device)?;
        let mut shown = 0;
        for one in numbered(report).filter(|one| {
            std::ptr::eq(one.device, device) && profile.is_none_or(|id| breaks(one.cause, id))
        }) {
            shown += 1;
            let number = format!("{:>2} ", one.number);
            let severity = pad(one.cause.severity.name(), SEVERITIES);
            paper.line(
                0,
                SEVERITIES + 3,
                &[
                    (Ink::Faint, &number),
                    (summary::severity_ink(one.cause.severity), &severity),
                    (Ink::Plain, &one.cause.headline),
                ],
            )?;
        }
        if shown == 0 {
            let of = profile.map_or_else(String::new, |id| format!(" of {id}"));
            paper.line(2, 2, &[(Ink::Faint, &format!("no cause{of}"))])?;
        }
    }
    Ok(())
}

/// Writes the verdicts of a rule, device by device and profile by profile.
pub fn rule(report: &Report, id: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let paper = &mut Paper::new(out, style);
    for device in &report.devices {
        let judged: Vec<(&str, &RuleResult)> =
            device.profiles.iter().filter_map(|profile| found(profile, id)).collect();
        if judged.is_empty() {
            continue;
        }
        title(paper, report, device)?;
        for (profile, rule) in &judged {
            let ink = if rule.verdict == Verdict::Deviates { Ink::Bad } else { Ink::Plain };
            let label =
                if rule.label.is_empty() { String::new() } else { format!(" ({})", rule.label) };
            let verdict = format!("{}{label}; {}", rule.verdict.name(), phrase::lanes(rule));
            field(paper, profile, ink, &verdict)?;
            field(paper, "", Ink::Plain, &rule.behaviour)?;
            field(paper, "", Ink::Note, &phrase::fixed_by(rule).unwrap_or_default())?;
        }
        causes(paper, report, device, |cause| cause.rules.iter().any(|rule| rule == id))?;
        let most = if paper.is_whole() { usize::MAX } else { MOST };
        let mut shown = Vec::new();
        for evidence in judged.iter().flat_map(|(_, rule)| &rule.evidence) {
            if shown.len() < most && !shown.contains(&evidence) {
                shown.push(evidence);
                text::evidence(paper, evidence, lane::ACCEPTED)?;
            }
        }
    }
    Ok(())
}

/// Writes how these kernels ran, which rules do not accept their results, and in which causes these
/// are. `ids` selects kernels by their ids.
pub fn kernels(
    report: &Report,
    ids: &dyn Fn(&str) -> bool,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let paper = &mut Paper::new(out, style);
    let most = if paper.is_whole() { usize::MAX } else { MOST };
    for device in &report.devices {
        let own: Vec<&StoredObservation> =
            device.observations.iter().filter(|one| ids(&one.kernel)).collect();
        if own.is_empty() {
            continue;
        }
        title(paper, report, device)?;
        let failing = |kernel: &str| -> Vec<String> {
            let mut rules: Vec<String> = Vec::new();
            for rule in device.profiles.iter().flat_map(|profile| &profile.rules) {
                let fails = rule.failed.iter().any(|failed| failed.kernel == kernel);
                if fails && !rules.contains(&rule.id) {
                    rules.push(rule.id.clone());
                }
            }
            rules
        };
        let mut rows: Vec<(&StoredObservation, Vec<String>)> =
            own.iter().map(|one| (*one, failing(&one.kernel))).collect();
        // What fails stands first.
        rows.sort_by_key(|(_, rules)| rules.is_empty());
        for (one, rules) in rows.iter().take(most) {
            let detail =
                if one.detail.is_empty() { String::new() } else { format!(": {}", one.detail) };
            let fails = if rules.is_empty() {
                String::new()
            } else {
                format!("; not accepted by {}", rules.join(", "))
            };
            let ink = if rules.is_empty() { Ink::Plain } else { Ink::Bad };
            let outcome = format!(": {}{detail}", phrase::outcome(one.outcome));
            paper.line(
                2,
                2,
                &[(Ink::Plain, &one.kernel), (Ink::Plain, &outcome), (ink, &fails)],
            )?;
        }
        if rows.len() > most {
            let text = format!(
                "{} more; `--verbose` shows all",
                phrase::number(rows.len() - most, "kernel")
            );
            paper.line(2, 2, &[(Ink::Faint, &text)])?;
        }
        causes(paper, report, device, |cause| cause.kernels.iter().any(|kernel| ids(kernel)))?;
        let mut shown = Vec::new();
        let rules = device
            .profiles
            .iter()
            .flat_map(|profile| &profile.rules)
            .flat_map(|rule| &rule.evidence);
        let lanes = device.causes.iter().flat_map(|cause| &cause.evidence).chain(rules);
        for evidence in lanes.filter(|evidence| ids(&evidence.kernel)) {
            if shown.len() < most && !shown.contains(&evidence) {
                shown.push(evidence);
                text::evidence(paper, evidence, lane::ACCEPTED)?;
            }
        }
    }
    Ok(())
}

/// The rule of this id in a profile, with the profile's id.
fn found<'a>(profile: &'a ProfileResult, id: &str) -> Option<(&'a str, &'a RuleResult)> {
    Some((&profile.id, profile.rules.iter().find(|rule| rule.id == id)?))
}

/// The device, and when it was measured.
pub(super) fn title(paper: &mut Paper, report: &Report, device: &Device) -> io::Result<()> {
    paper.gap()?;
    let about = format!(" · {} · {}", phrase::driver(&device.identity), report.finished);
    paper.line(0, 2, &[(Ink::Strong, &phrase::label(report, device)), (Ink::Faint, &about)])
}

/// The causes of a device that these are part of.
fn causes(
    paper: &mut Paper,
    report: &Report,
    device: &Device,
    is_part: impl Fn(&Cause) -> bool,
) -> io::Result<()> {
    for one in numbered(report).filter(|one| std::ptr::eq(one.device, device) && is_part(one.cause))
    {
        field(paper, &format!("cause {}", one.number), Ink::Strong, &one.cause.headline)?;
    }
    Ok(())
}
