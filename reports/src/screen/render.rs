//! Forms in which a screening can be written.

use std::io::{self, Write};

use super::{FailureClass, Screen, ScreenFailure, ScreenFinding, ScreenedDevice, Sensors};
use crate::render::paper::{Ink, Paper, Style};
use crate::render::phrase::number;
use crate::render::{FormatEntry, json};
use crate::values::argument;

/// Failures of a kernel that are shown.
const SHOWN: usize = 3;

/// A form in which a screening can be written.
pub trait RenderScreen {
    /// Writes it; `style` is of a terminal, for forms that are for one.
    fn render(&self, screen: &Screen, style: Style, out: &mut dyn Write) -> io::Result<()>;
}

/// Every form, in the order of help texts.
pub static SCREENS: &[FormatEntry<dyn RenderScreen + Sync>] = &[
    FormatEntry {
        name: "text",
        extensions: &["txt"],
        about: "for the terminal",
        renderer: &ScreenText,
    },
    FormatEntry {
        name: "json",
        extensions: &["json"],
        about: "one document",
        renderer: &ScreenJson,
    },
];

struct ScreenJson;

impl RenderScreen for ScreenJson {
    fn render(&self, screen: &Screen, _: Style, out: &mut dyn Write) -> io::Result<()> {
        json::document(screen, out)
    }
}

struct ScreenText;

impl RenderScreen for ScreenText {
    fn render(&self, screen: &Screen, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let paper = &mut Paper::new(out, style);
        for device in &screen.devices {
            shown(paper, device)?;
        }
        for incident in &screen.incomplete {
            paper.line(
                0,
                2,
                &[(Ink::Doubt, &format!("{}: {}", incident.subject, incident.detail))],
            )?;
        }
        Ok(())
    }
}

fn shown(paper: &mut Paper<'_>, device: &ScreenedDevice) -> io::Result<()> {
    let driver = &device.identity.driver;
    let driver = if driver.info.is_empty() { &driver.name } else { &driver.info };
    paper.line(
        0,
        2,
        &[(Ink::Strong, &device.identity.name), (Ink::Faint, &format!(" [{driver}]"))],
    )?;
    let all = device.rounds.iter().map(|round| round.sensors);
    let highest = all.clone().fold(Sensors::default(), Sensors::max);
    let lowest = all.filter_map(|one| one.temperature_c).reduce(f64::min);
    let temperature =
        lowest.zip(highest.temperature_c).map(|(low, high)| format!(", {low:.0} to {high:.0} °C"));
    let clock = highest.clock_mhz.map(|clock| format!(", up to {clock:.0} MHz"));
    let kernels = device.kernels.swept + device.kernels.listed;
    let (differing, ink) = match device.findings.len() {
        0 if device.results == 0 => ("nothing was run".to_owned(), Ink::Doubt),
        0 => ("nothing differs".to_owned(), Ink::Good),
        1 => ("1 kernel differs".to_owned(), Ink::Bad),
        count => (format!("{} differ", number(count, "kernel")), Ink::Bad),
    };
    let extent = format!(
        ": {} of {}, {}{}{}",
        number(device.results as usize, "result"),
        number(kernels as usize, "kernel"),
        number(device.rounds.len(), "round"),
        temperature.unwrap_or_default(),
        clock.unwrap_or_default()
    );
    paper.line(2, 2, &[(ink, &differing), (Ink::Plain, &extent)])?;
    for finding in &device.findings {
        paper.line(2, 4, &[(Ink::Bad, &finding.kernel), (Ink::Plain, &headline(finding))])?;
        let located: Vec<String> =
            finding.list.iter().filter_map(|one| case(&finding.kernel, one)).collect();
        for line in located.iter().take(SHOWN) {
            paper.whole(6, Ink::Plain, line)?;
        }
    }
    for line in &device.incomplete {
        paper.line(2, 4, &[(Ink::Doubt, line)])?;
    }
    Ok(())
}

fn headline(finding: &ScreenFinding) -> String {
    let class = match finding.class {
        FailureClass::Persistent => "persistent",
        FailureClass::Intermittent => "intermittent",
        FailureClass::NotReproduced => "not reproduced",
    };
    let reproduced = finding.reproduction_rate.map(|rate| format!(", reproduction rate {rate:.3}"));
    let temperature =
        finding.temperature_c.map(|[low, high]| format!(", at {low:.0} to {high:.0} °C"));
    let lane = finding.lane.map(|[lane, lanes]| format!(", in lane {lane} of {lanes}"));
    format!(
        "  {class}: {} of {} differ, {:.1e} of results, first after {:.1} s{}{}{}",
        finding.failed,
        number(finding.runs as usize, "run"),
        finding.rate,
        finding.time_to_failure_s,
        reproduced.unwrap_or_default(),
        temperature.unwrap_or_default(),
        lane.unwrap_or_default()
    )
}

/// The command that runs a failing input, and what came.
fn case(kernel: &str, failure: &ScreenFailure) -> Option<String> {
    let (out, expected) = (failure.out.as_ref()?, failure.expected.as_ref());
    let inputs: Vec<String> = failure.inputs.iter().map(argument).collect();
    let expected =
        expected.map_or_else(String::new, |expected| format!(", else {}", argument(expected)));
    let times = format!("{} of {} times", failure.times, failure.of);
    Some(format!(
        "fpprobe eval {kernel} {}: {}{expected}, {times}",
        inputs.join(" "),
        argument(out)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_a_line_and_its_inputs_are_commands() {
        let failure = ScreenFailure {
            inputs: vec![crate::model::Value::Bits("3f800000".into())],
            expected: Some(crate::model::Value::Bits("40000000".into())),
            out: Some(crate::model::Value::Bits("40000001".into())),
            times: 1,
            of: 9,
            ..ScreenFailure::default()
        };
        let finding = ScreenFinding {
            kernel: "f32.sqrt".to_owned(),
            class: FailureClass::NotReproduced,
            runs: 1000,
            failed: 2,
            results_per_run: 1 << 20,
            rate: 2e-9,
            time_to_failure_s: 3.25,
            last_failure_s: 4.0,
            reproduction_rate: Some(0.0),
            temperature_c: Some([71.0, 74.5]),
            lane: Some([7, 32]),
            list: vec![failure.clone()],
        };
        assert_eq!(
            headline(&finding),
            "  not reproduced: 2 of 1,000 runs differ, 2.0e-9 of results, first after 3.2 s, reproduction rate 0.000, at 71 to 74 °C, \
             in lane 7 of 32"
        );
        let line = case("f32.sqrt", &failure).unwrap();
        assert_eq!(line, "fpprobe eval f32.sqrt 3f800000: 40000001, else 40000000, 1 of 9 times");
    }
}
