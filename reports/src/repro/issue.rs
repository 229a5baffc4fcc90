//! The text of an issue, as Markdown.

use std::fmt::Write as _;

use fpprobe_spirv::BuildError;

use super::{BrokenSentence, FORMS, FailingCase, LANE, ReproFile};
use crate::escape::visible;
use crate::model::{Identity, Report, Scope};
use crate::numbered::NumberedCause;
use crate::render::md::{code, escape, lane_block};
use crate::render::{cause_fix, lane, phrase};

/// Rules that are quoted; a report names all of them.
const QUOTED: usize = 6;
/// Id of the profile of Vulkan itself.
const VULKAN: &str = "vulkan";

/// What happens, on which device, what is required, and how to reproduce it.
pub(super) fn text(
    report: &Report,
    NumberedCause { device, cause, .. }: NumberedCause<'_>,
    lane: &FailingCase<'_>,
    sentences: &[BrokenSentence<'_>],
    (files, missing): (&[ReproFile], &[(&'static str, BuildError)]),
) -> String {
    let identity = &device.identity;
    let mut text = format!("# {}: {}\n", escape(&identity.name), visible(&cause.headline));
    text.push_str(&self::device(report, identity));
    let op = lane.kernel.op;
    let _ = write!(text, "\n## Result\n\nOperation {}: {}.\n", code(op.name), escape(op.about));
    text.push_str(&lane_block(
        &lane.evidence.kernel,
        &lane::lines(lane.evidence, lane::ACCEPTED),
        &lane.evidence.command,
    ));
    text.push_str(&required(sentences));
    if !cause.profiles.iter().any(|profile| profile == VULKAN) {
        text.push_str(
            "\nNo rule of Vulkan itself is broken. The result matters to implementations of these specifications on \
             Vulkan.\n",
        );
    }
    let run_time = cause.lanes.saturating_sub(cause.constants);
    let constants = match cause.constants {
        0 => String::new(),
        some => format!(", {} of constants", phrase::grouped(some)),
    };
    let _ = write!(
        text,
        "\n## Extent\n\n- {} at run time{constants}, by the rules of {}\n- operations: {}\n- fix: {}\n",
        phrase::number(run_time, "failing lane"),
        escape(&cause.profiles.join(", ")),
        escape(&cause.operations.join(", ")),
        escape(&cause_fix(device, cause))
    );
    if cause.scope == Scope::Constants {
        text.push_str(
            "- constants only: the compiler folds them; operands from memory do not show it\n",
        );
    }
    text + &reproduce(lane, files, missing)
}

fn device(report: &Report, identity: &Identity) -> String {
    let driver = &identity.driver;
    let rows = [
        (
            "device",
            format!(
                "{} ({:04x}:{:04x}, {})",
                identity.name, identity.vendor_id, identity.device_id, identity.kind
            ),
        ),
        ("driver", phrase::driver(identity)),
        (
            "library",
            format!(
                "{} {}",
                driver.library.rsplit('/').next().unwrap_or_default(),
                driver.build_id
            ),
        ),
        // The model; its flags follow.
        ("processor", identity.cpu.iter().filter_map(|cpu| cpu.split(':').next()).collect()),
        ("system", format!("{}, {}", report.host.os, report.host.kernel)),
        (
            "measured",
            format!("{} by {} {}", report.finished, report.program.name, report.program.version),
        ),
    ];
    let rows = rows.iter().filter(|(_, value)| !value.trim().is_empty());
    rows.fold("\n| | |\n|---|---|\n".to_owned(), |text, (name, value)| {
        text + &format!("| {name} | {} |\n", code(value))
    })
}

/// What the specifications say, sentence by sentence.
fn required(sentences: &[BrokenSentence<'_>]) -> String {
    let mut text = "\n## Required\n".to_owned();
    let mut shown: Vec<&str> = Vec::new();
    for BrokenSentence { profile, rule, quote } in sentences {
        if shown.contains(&rule.id.as_str()) {
            continue;
        }
        shown.push(&rule.id);
        if shown.len() > QUOTED {
            continue;
        }
        let title = if profile.title.is_empty() { &profile.id } else { &profile.title };
        let _ = write!(
            text,
            "\n{} {} ({}, {}). {}.\n",
            code(&rule.id),
            escape(&rule.title),
            escape(title),
            rule.level.name(),
            escape(&rule.citation)
        );
        if !quote.is_empty() {
            let _ = write!(text, "\n> {}\n", escape(quote));
        }
    }
    let more = shown.len().saturating_sub(QUOTED);
    if more > 0 {
        let _ = write!(text, "\nLikewise: {}.\n", escape(&shown[QUOTED..].join(", ")));
    }
    text
}

/// The files, those that there are not, and the command.
fn reproduce(
    lane: &FailingCase<'_>,
    files: &[ReproFile],
    missing: &[(&'static str, BuildError)],
) -> String {
    let mut text = "\n## Reproduce\n\n".to_owned();
    for file in files {
        let about =
            FORMS.iter().find(|(_, name, _)| *name == file.name).map_or("", |(_, _, about)| about);
        let _ = writeln!(text, "- {}: {about}", code(file.name));
    }
    let _ = writeln!(text, "- {}: inputs, result and accepted set as data", code(LANE));
    for (name, why) in missing {
        let _ = writeln!(text, "- no {}: {}", code(name), visible(&why.to_string()));
    }
    if let Some(why) =
        lane.expected.weaker.filter(|_| files.iter().any(|file| file.name == FORMS[0].1))
    {
        let _ = writeln!(text, "- the script passes more than is accepted: {why}");
    }
    if !lane.kernel.controls.is_empty() && files.iter().any(|file| file.name == FORMS[3].1) {
        let _ = writeln!(
            text,
            "- GLSL declares no execution modes: add {} to its module",
            code(&lane.kernel.controls.to_string())
        );
    }
    text
}
