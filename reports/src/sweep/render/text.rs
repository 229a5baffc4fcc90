//! A sweep for the terminal.

use std::io::{self, Write};

use fpprobe_profiles::sweep::{FAR, InputRun, SweepStatistics};

use super::RenderSweep;
use crate::change::LaneChange;
use crate::render::paper::{Ink, Paper, Style};
use crate::render::phrase::{grouped, number};
use crate::sweep::judged::domain;
use crate::sweep::{ChangedInput, Changes, Resolution, Several, Sweep, SweptKernel, Unstable};
use crate::values::argument;

/// Changes shown of each kernel.
const SHOWN: usize = 8;
/// Smaller shares are shown as one of N.
const RARE: f64 = 1e-4;

/// For the terminal.
pub(super) struct SweepText;

impl RenderSweep for SweepText {
    fn render(&self, sweep: &Sweep, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let paper = &mut Paper::new(out, style);
        for (place, device) in sweep.devices.iter().enumerate() {
            if place > 0 {
                paper.gap()?;
            }
            let driver = &device.identity.driver;
            let driver = if driver.info.is_empty() { &driver.name } else { &driver.info };
            paper.line(
                0,
                2,
                &[(Ink::Strong, &device.identity.name), (Ink::Faint, &format!(" [{driver}]"))],
            )?;
            for kernel in &device.kernels {
                swept(paper, kernel)?;
            }
        }
        for incident in &sweep.incomplete {
            paper.line(
                0,
                2,
                &[(Ink::Doubt, &format!("{}: {}", incident.subject, incident.detail))],
            )?;
        }
        Ok(())
    }
}

fn swept(paper: &mut Paper<'_>, kernel: &SweptKernel) -> io::Result<()> {
    let asked = coverage(kernel);
    let root =
        kernel.root.as_ref().map_or_else(String::new, |root| format!(", fingerprint {root:.16}"));
    paper.line(
        2,
        4,
        &[(Ink::Strong, &kernel.kernel), (Ink::Plain, &format!("  {asked}{root}"))],
    )?;
    for failure in &kernel.incomplete {
        paper.line(4, 2, &[(Ink::Doubt, failure)])?;
    }
    if let Some(statistics) = &kernel.verified {
        verified(paper, &kernel.kernel, statistics)?;
    }
    if !kernel.unstable.is_empty() {
        paper.line(4, 2, &[(Ink::Doubt, &unstable(kernel))])?;
        for one in kernel.unstable.list.iter().take(SHOWN) {
            paper.whole(6, Ink::Plain, &several(one))?;
        }
    }
    let Some(changes) = &kernel.changes else { return Ok(()) };
    let ink = if changes.blocks.count() == 0 { Ink::Good } else { Ink::Bad };
    paper.line(4, 2, &[(ink, &headline(changes))])?;
    for change in changes.list.iter().take(SHOWN) {
        paper.whole(6, Ink::Plain, &line(change))?;
    }
    let left = changes.inputs.saturating_sub(SHOWN as u64);
    if left > 0 {
        paper.line(
            6,
            2,
            &[(Ink::Faint, &format!("and {} more; by number:", grouped(left as usize)))],
        )?;
        let ranges = changes.ranges();
        for shown in ranges.iter().take(SHOWN) {
            paper.whole(6, Ink::Plain, &range(*shown))?;
        }
        if let Some(more) = more_ranges(changes, ranges.len(), SHOWN) {
            paper.line(6, 2, &[(Ink::Faint, &more)])?;
        }
    }
    Ok(())
}

/// Consecutive inputs that changed.
pub(super) fn range([first, count]: [u64; 2]) -> String {
    if count == 1 {
        format!("{first:x}")
    } else {
        format!("{first:x} to {:x}", first + (count - 1))
    }
}

/// How many ranges are not shown; `None` where all are.
pub(super) fn more_ranges(changes: &Changes, ranges: usize, shown: usize) -> Option<String> {
    let more = ranges.saturating_sub(shown);
    let beyond = match changes.left_out() {
        0 => String::new(),
        count => format!(", and {} beyond these", number(count as usize, "input")),
    };
    (more > 0 || !beyond.is_empty()).then(|| format!("and {}{beyond}", number(more, "more range")))
}

fn verified(paper: &mut Paper<'_>, kernel: &str, statistics: &SweepStatistics) -> io::Result<()> {
    let ink = match statistics.deviating {
        _ if statistics.judged == 0 => Ink::Faint,
        0 => Ink::Good,
        _ => Ink::Bad,
    };
    paper.line(
        4,
        2,
        &[
            (ink, &verdict(statistics)),
            (Ink::Plain, &error(statistics).map_or(String::new(), |error| format!("; {error}"))),
        ],
    )?;
    if statistics.judged > 0 && statistics.vacuous > 0 {
        paper.line(6, 2, &[(Ink::Faint, &format!("judged: {}", domain(kernel, statistics)))])?;
    }
    for (profile, rules) in &statistics.rules {
        for (rule, count) in rules.iter().filter(|(_, count)| count.deviating > 0) {
            let all = count.accepted + count.deviating;
            let text = format!(
                "{profile}/{rule} does not accept {} of {}",
                grouped(count.deviating as usize),
                grouped(all as usize)
            );
            paper.line(6, 2, &[(Ink::Plain, &text)])?;
        }
    }
    for run in statistics.runs.iter().take(SHOWN) {
        paper.whole(6, Ink::Plain, &deviation(run))?;
    }
    if statistics.runs.len() > SHOWN {
        paper.line(
            6,
            2,
            &[(Ink::Faint, &format!("and {} more runs", grouped(statistics.runs.len() - SHOWN)))],
        )?;
    }
    Ok(())
}

/// What the rules say of all inputs, in a sentence.
pub(super) fn verdict(statistics: &SweepStatistics) -> String {
    let judged = number(statistics.judged as usize, "judged input");
    let verdict = match statistics.deviating {
        _ if statistics.inputs == 0 => return "no result was examined".to_owned(),
        _ if statistics.judged == 0 => "no input is judged".to_owned(),
        0 => format!("every rule accepts every result of {judged}"),
        count => format!("{} of {judged} deviate", grouped(count as usize)),
    };
    let vacuous = number(statistics.vacuous as usize, "input");
    if statistics.vacuous == 0 {
        verdict
    } else {
        format!("{verdict}; any result is accepted of {vacuous} (vacuous)")
    }
}

/// The largest error, in words; `None` where none was measured.
pub(super) fn error(statistics: &SweepStatistics) -> Option<String> {
    let worst = statistics.worst()?;
    let off = if worst.parts < FAR {
        format!("at most {:.3} ulp", worst.ulps())
    } else {
        "2^24 ulp and more".to_owned()
    };
    Some(format!("{off} off, first at {:x} -> {:x}", worst.input, worst.result))
}

/// Consecutive inputs that deviate.
pub(super) fn deviation(run: &InputRun) -> String {
    let more = if run.length > 1 {
        format!(" and the {} after it", grouped(run.length as usize - 1))
    } else {
        String::new()
    };
    format!(
        "{:x}{more}: {:x}, accepted {} ({})",
        run.first,
        run.result,
        run.accepted,
        run.rules.join(", ")
    )
}

/// Most ranges of blocks that are named.
const NAMED: usize = 8;

/// What did not come again, in a sentence.
pub(super) fn unstable(kernel: &SweptKernel) -> String {
    let Unstable { blocks, compared, inputs, rate, .. } = &kernel.unstable;
    let mut names: Vec<String> =
        blocks.ranges().iter().take(NAMED).map(|shown| range(*shown)).collect();
    names.extend((blocks.ranges().len() > NAMED).then(|| "...".to_owned()));
    let names = format!("{} ({})", number(blocks.count() as usize, "block"), names.join(", "));
    if *compared == 0 {
        return format!(
            "unstable: {names} of {} had other digests when they ran again",
            grouped(kernel.measured.count() as usize)
        );
    }
    format!(
        "unstable: {} of {} that ran three times gave several results, in {names}; rate {rate:.1e}",
        number(*inputs as usize, "input"),
        grouped(*compared as usize)
    )
}

/// An input with several results.
pub(super) fn several(several: &Several) -> String {
    let [inputs, out] = [&several.inputs, &several.out]
        .map(|values| values.iter().map(argument).collect::<Vec<_>>());
    format!("{}: {}", inputs.join(" "), out.join(", "))
}

/// How much of a kernel was asked.
pub(super) fn coverage(kernel: &SweptKernel) -> String {
    let inputs = (kernel.measured.count() * kernel.block) as usize;
    if kernel.measured.count() * kernel.block == kernel.inputs {
        return format!("all {} inputs", grouped(inputs));
    }
    if inputs > 0 && kernel.share() < RARE {
        let each = (kernel.inputs / inputs as u64) as usize;
        return format!("{} inputs, one of {}", grouped(inputs), grouped(each));
    }
    format!("{} inputs, {:.4} % of all", grouped(inputs), 100.0 * kernel.share())
}

/// What changed, in a sentence.
pub(super) fn headline(changes: &Changes) -> String {
    let since = format!("{} [{}]", changes.since.name, changes.since.driver);
    let blocks = changes.blocks.count();
    if blocks == 0 {
        return format!(
            "as {since} answered, in {} compared",
            number(changes.compared as usize, "block")
        );
    }
    let unresolved = changes.unresolved.count();
    let found = format!("{} found to have changed", number(changes.inputs as usize, "input"));
    let how = match changes.resolution {
        Resolution::Measured => "both devices were asked",
        Resolution::Digests => {
            "by the digests, which show an input where only one of its block changed"
        }
    };
    let rest = match unresolved {
        0 => String::new(),
        count => format!("; those of {} were not found", number(count as usize, "block")),
    };
    let differ = format!(
        "{} of {} differ from {since}",
        grouped(blocks as usize),
        number(changes.compared as usize, "block")
    );
    format!("{differ}: {found} ({how}){rest}")
}

/// One change.
pub(super) fn line(change: &ChangedInput) -> String {
    let LaneChange { inputs, old, new, .. } = &change.lane;
    let inputs: Vec<String> = inputs.iter().map(argument).collect();
    let old = old.as_ref().map_or_else(|| "unknown".to_owned(), argument);
    format!("{}: {old} -> {}", inputs.join(" "), argument(new))
}
