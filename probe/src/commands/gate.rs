//! `fpprobe gate`: the devices of a host against what is expected of them.

mod blocks;
mod compare;
mod lists;
mod positions;
mod record;

use std::env;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use clap::ValueEnum as _;
use fpprobe_reports::expected::Expected;
use fpprobe_reports::gate::{GateRecord, SCHEMA};
use fpprobe_reports::host;
use fpprobe_reports::save::save;
use fpprobe_system::usage::{OrUsage as _, say};

pub use self::blocks::SWEPT;
use self::compare::{DeviceComparison, GateTimes};
pub use self::lists::{items, items_of, kernels};
use self::positions::GatePositions;
use self::record::record;
use crate::cli::{GateArgs, GateStyle, MeasureArgs};
use crate::event::RunEvent;
use crate::exit::Status;
use crate::progress::Progress;
use crate::remote::{self, Delivery, Destination};
use crate::session::Session;
use crate::supervisor::side_by_side;
use crate::{output, select};

/// Kernels of a module at most: few, so that none takes long.
const BATCH: usize = 4;

/// Longest line of a message for Node Problem Detector.
const NPD: usize = 80;

/// Compares the devices of this host with what is expected of them, or records that.
pub fn main(session: &Session, args: &GateArgs) -> anyhow::Result<Status> {
    let begun = Instant::now();
    if args.record {
        return record(session, args);
    }
    let to = args.output.as_deref();
    // An address that cannot be is refused before anything runs.
    let named = to.map(Destination::named).transpose();
    let answer = match (named.and_then(|_| answer(session, args, begun)), args.style) {
        (Err(error), GateStyle::Own) => return Err(error),
        (Err(error), _) => GateAnswer::unknown(format!("{error:#}")),
        (Ok(answer), _) => answer,
    };
    let mut out = output::stdout();
    writeln!(out, "{}", answer.line(args.style))?;
    out.flush()?;
    // The answer is that of the line, whatever becomes of the file.
    if let Some(to) = to
        && let Err(error) = keep(session, &answer, to, begun + args.budget)
    {
        say(&format!("warning: the answer is in no file: {error:#}"));
    }
    Ok(answer.verdict.status(args.style))
}

/// Writes what a comparison came to; what cannot be sent by the deadline waits.
fn keep(
    session: &Session,
    answer: &GateAnswer,
    to: &Path,
    deadline: Instant,
) -> anyhow::Result<()> {
    let record = GateRecord {
        schema: SCHEMA.to_owned(),
        program: host::program(),
        host: session.host(&MeasureArgs::default()),
        finished: host::now(),
        verdict: answer.verdict.name(GateStyle::Own).to_owned(),
        text: answer.text.clone(),
        kernels: answer.kernels,
        results: answer.results,
        blocks: answer.blocks,
    };
    if let Some(to) = Destination::named(to)? {
        return remote::send(&Delivery::of_gate(&to, &record)?, deadline);
    }
    let text = serde_json::to_string_pretty(&record)? + "\n";
    save(to, |out| out.write_all(text.as_bytes())).or_usage()
}

/// The status of what prevented a comparison, before or after the command was understood, where
/// `--style` names another convention than our own: unknown.
pub fn status_of_error() -> Option<Status> {
    let words: Vec<String> = env::args_os().map(|word| word.to_string_lossy().into()).collect();
    let next = words.iter().zip(words.iter().skip(1));
    let after = next.filter(|(word, _)| *word == "--style").map(|(_, style)| style.as_str());
    let style =
        after.chain(words.iter().filter_map(|word| word.strip_prefix("--style="))).last()?;
    let style = GateStyle::from_str(style, false).ok()?;
    (style != GateStyle::Own && words.iter().any(|word| word == "gate"))
        .then(|| GateVerdict::Unknown.status(style))
}

/// What a comparison came to, the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum GateVerdict {
    Same,
    Unknown,
    Different,
}

impl GateVerdict {
    fn name(self, style: GateStyle) -> &'static str {
        match (self, style) {
            (GateVerdict::Same, GateStyle::Nagios) => "FPPROBE OK",
            (GateVerdict::Unknown, GateStyle::Nagios) => "FPPROBE UNKNOWN",
            (GateVerdict::Different, GateStyle::Nagios) => "FPPROBE CRITICAL",
            (GateVerdict::Same, _) => "same",
            (GateVerdict::Unknown, _) => "unknown",
            (GateVerdict::Different, _) => "different",
        }
    }

    /// The number that a convention has for it; here it has another name.
    fn status(self, style: GateStyle) -> Status {
        match (self, style) {
            (GateVerdict::Same, _) => Status::Done,
            (GateVerdict::Different, GateStyle::Own)
            | (GateVerdict::Unknown, GateStyle::Nagios) => Status::Unmet,
            (GateVerdict::Unknown, GateStyle::Own) => Status::Nothing,
            (GateVerdict::Different, GateStyle::Npd) => Status::Internal,
            (GateVerdict::Unknown, GateStyle::Npd)
            | (GateVerdict::Different, GateStyle::Nagios) => Status::Usage,
        }
    }
}

/// What was found, of one device or of all.
struct GateAnswer {
    verdict: GateVerdict,
    /// In words, of a device without its name.
    text: String,
    /// What the first [`NPD`] characters say.
    short: String,
    kernels: usize,
    results: usize,
    /// Blocks of whole domains.
    blocks: usize,
}

impl GateAnswer {
    fn unknown(text: impl Into<String>) -> GateAnswer {
        let text = text.into();
        let short = text.clone();
        GateAnswer { verdict: GateVerdict::Unknown, text, short, kernels: 0, results: 0, blocks: 0 }
    }

    /// With the name of its device: before what is said, and after it where only its first
    /// characters are shown.
    fn of_device(self, label: &str) -> GateAnswer {
        let GateAnswer { text, .. } = &self;
        let (text, short) = if text.is_empty() {
            (label.to_owned(), label.to_owned())
        } else {
            (format!("{label}: {text}"), format!("{text} ({label})"))
        };
        GateAnswer { text, short, ..self }
    }

    /// Of several, the worst of which speak.
    fn of(all: &[GateAnswer], expected: usize) -> GateAnswer {
        let Some(verdict) = all.iter().map(|one| one.verdict).max() else {
            return GateAnswer::unknown("no device was found".to_owned());
        };
        let kernels = all.iter().map(|one| one.kernels).sum();
        let results = all.iter().map(|one| one.results).sum();
        let blocks = all.iter().map(|one| one.blocks).sum();
        let speaking = |words: fn(&GateAnswer) -> &str, between: &str| {
            let speaking = all.iter().filter(|one| one.verdict == verdict).map(words);
            speaking.collect::<Vec<_>>().join(between)
        };
        let (text, short) = match verdict {
            GateVerdict::Same => {
                let of_blocks = match blocks {
                    0 => String::new(),
                    blocks => format!(" and {blocks} blocks"),
                };
                let devices = speaking(|one| &one.text, ", ");
                let text = format!(
                    "{results} results of {kernels} kernels (of {expected}){of_blocks}, devices: \
                     {devices}"
                );
                (text.clone(), text)
            }
            _ => (speaking(|one| &one.text, "; "), speaking(|one| &one.short, "; ")),
        };
        GateAnswer { verdict, text, short, kernels, results, blocks }
    }

    fn line(&self, style: GateStyle) -> String {
        let text = if style == GateStyle::Npd { &self.short } else { &self.text };
        let text = text.replace(['\n', '|'], " ");
        let line = format!("{}: {text}", self.verdict.name(style));
        match style {
            GateStyle::Own => line,
            GateStyle::Npd => line.chars().take(NPD).collect(),
            GateStyle::Nagios => {
                format!(
                    "{line} | kernels={} results={} blocks={}",
                    self.kernels, self.results, self.blocks
                )
            }
        }
    }
}

fn answer(session: &Session, args: &GateArgs, begun: Instant) -> anyhow::Result<GateAnswer> {
    let expected = Expected::read(&args.expect).or_usage()?;
    let version = host::program().version;
    if expected.program != version {
        return Ok(GateAnswer::unknown(format!(
            "{} is of fpprobe {}, and this is {version}: record it again",
            args.expect.display(),
            expected.program
        )));
    }
    let mut settings = session.settings(&MeasureArgs::default())?;
    (settings.batch, settings.timeout) = (BATCH, args.budget / 2);
    let progress = Progress::new(session.verbose);
    // The line says what went wrong.
    let quiet = |event: &RunEvent<'_>| {
        if session.verbose {
            progress.show_failures(event);
        }
    };
    let rows = session.survey(&settings, &quiet)?;
    let targets = select::devices(&rows, session.selections(&args.devices.device))?;
    let times = GateTimes::new(begun, args.budget);
    let mut places = GatePositions::read();
    let compared = side_by_side(&targets, |number, (_, target)| {
        let expected = expected.of(&target.found.identity)?;
        let (settings, listener) = (&settings, &quiet);
        let comparison = DeviceComparison { number, target, expected, settings, listener, times };
        Some((expected, comparison.run(places.of(target))))
    });
    let mut answers = Vec::new();
    let mut all = 0;
    for ((_, target), compared) in targets.iter().zip(compared) {
        let Some((expected, (answer, next))) = compared else {
            let why = format!("it is not in {}", args.expect.display());
            answers.push(GateAnswer::unknown(why).of_device(&target.label()));
            continue;
        };
        all += expected.kernels.len();
        places.put(target, next);
        answers.push(answer);
    }
    places.save();
    if let Some(cause) = session.stop.cause() {
        answers.push(GateAnswer::unknown(format!("{cause} before it ended")));
    }
    if args.devices.device.is_empty() {
        let failed = rows.iter().filter_map(|row| row.devices.as_ref().err().map(|why| (row, why)));
        answers.extend(failed.map(|(row, why)| {
            GateAnswer::unknown(&*why.detail).of_device(&row.manifest.display().to_string())
        }));
    }
    Ok(GateAnswer::of(&answers, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(verdict: GateVerdict, text: &str) -> GateAnswer {
        let answer = GateAnswer { verdict, kernels: 2, results: 8, ..GateAnswer::unknown(text) };
        answer.of_device("a")
    }

    #[test]
    fn the_worst_device_speaks() {
        let all = GateAnswer::of(
            &[of(GateVerdict::Same, ""), of(GateVerdict::Different, "other results by f32.fma")],
            9,
        );
        assert_eq!(all.line(GateStyle::Own), "different: a: other results by f32.fma");
        // Where few characters are shown, what is wrong is among them.
        assert_eq!(all.line(GateStyle::Npd), "different: other results by f32.fma (a)");
        let all = GateAnswer::of(&[of(GateVerdict::Same, ""), of(GateVerdict::Unknown, "hung")], 9);
        assert_eq!(all.line(GateStyle::Own), "unknown: a: hung");
        let all = GateAnswer::of(&[of(GateVerdict::Same, ""), of(GateVerdict::Same, "")], 9);
        assert_eq!(all.line(GateStyle::Own), "same: 16 results of 4 kernels (of 9), devices: a, a");
        // What is of no device has its reason by every convention, too.
        for style in [GateStyle::Own, GateStyle::Npd] {
            assert_eq!(GateAnswer::of(&[], 0).line(style), "unknown: no device was found");
        }
    }

    #[test]
    fn lines_and_statuses_follow_their_conventions() {
        let numbers = |style| {
            [GateVerdict::Same, GateVerdict::Different, GateVerdict::Unknown]
                .map(|one| one.status(style) as u8)
        };
        assert_eq!(numbers(GateStyle::Own), [0, 3, 4]);
        assert_eq!(numbers(GateStyle::Npd), [0, 1, 2]);
        assert_eq!(numbers(GateStyle::Nagios), [0, 2, 3]);
        let long = of(GateVerdict::Different, &"x".repeat(200));
        assert_eq!(long.line(GateStyle::Npd).chars().count(), NPD);
        let nagios = of(GateVerdict::Same, "b|c\nd").line(GateStyle::Nagios);
        assert_eq!(nagios, "FPPROBE OK: a: b c d | kernels=2 results=8 blocks=0");
    }
}
