//! Prometheus' text format (version 0.0.4), for the textfile collector of `node_exporter`: gauges
//! alone, no timestamps.
//!
//! Series are named by `slot` and `key` of the device: a driver update changes the key. Two devices
//! that share both are distinguished by a number after the key, so that no series appears twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use super::Render;
use crate::escape::visible;
use crate::model::{Class, Device, Level, Outcome, Report, Verdict};
use crate::time;

/// Metrics.
#[derive(Clone, Copy, Debug)]
pub struct Prometheus;

/// Name and help of each metric, in the order in which they are written.
const METRICS: [(&str, &str); 10] = [
    ("fpprobe_run_started_timestamp_seconds", "When the run began, in seconds since 1970."),
    ("fpprobe_run_finished_timestamp_seconds", "When the run ended, in seconds since 1970."),
    ("fpprobe_build_info", "Version of the program that measured; always 1."),
    ("fpprobe_device_info", "What a device and its driver are; always 1."),
    ("fpprobe_device_tainted", "Whether a layer or the like may have changed the answers."),
    (
        "fpprobe_profile_class",
        "1 for the class that the device has under the profile, 0 for the others.",
    ),
    ("fpprobe_profile_rules", "Required rules of the profile by verdict."),
    ("fpprobe_rule_deviations", "Answers that the rule does not accept."),
    ("fpprobe_kernels", "Kernels that were asked, by outcome."),
    ("fpprobe_findings", "Findings beside the rules, by kind."),
];

/// Outcomes as reports name them.
const OUTCOMES: [(Outcome, &str); 9] = [
    (Outcome::Ran, "ran"),
    (Outcome::Unsupported, "unsupported"),
    (Outcome::Rejected, "rejected"),
    (Outcome::NotWritten, "not_written"),
    (Outcome::Flaky, "flaky"),
    (Outcome::Crashed, "crashed"),
    (Outcome::Hung, "hung"),
    (Outcome::DeviceLost, "device_lost"),
    (Outcome::OutOfMemory, "out_of_memory"),
];

/// The series of each metric, by labels: one that comes twice stands once.
type Series = BTreeMap<&'static str, BTreeMap<String, u64>>;

impl Render for Prometheus {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut series = Series::new();
        let mut add = |metric, labels: &[(&str, &str)], value: u64| {
            series.entry(metric).or_default().insert(self::labels(labels), value);
        };
        let host = ("host", &report.host.id[..]);
        for (metric, when) in [(METRICS[0].0, &report.started), (METRICS[1].0, &report.finished)] {
            if let Some(seconds) = time::seconds(when) {
                add(metric, &[host], seconds);
            }
        }
        add("fpprobe_build_info", &[host, ("version", &report.program.version)], 1);
        let mut seen = BTreeMap::new();
        for device in &report.devices {
            let (slot, key) = (&device.identity.slot, &device.identity.key);
            let count = seen.entry((slot, key)).or_insert(0);
            *count += 1;
            let key = if *count == 1 { key.clone() } else { format!("{key} {count}") };
            self::device(device, &[host, ("slot", slot), ("key", &key)], &mut add);
        }
        for (metric, help) in METRICS {
            let Some(series) = series.get(metric) else { continue };
            writeln!(out, "# HELP {metric} {help}\n# TYPE {metric} gauge")?;
            series
                .iter()
                .try_for_each(|(labels, value)| writeln!(out, "{metric}{{{labels}}} {value}"))?;
        }
        Ok(())
    }
}

fn device(
    device: &Device,
    who: &[(&str, &str); 3],
    add: &mut impl FnMut(&'static str, &[(&str, &str)], u64),
) {
    let mut add =
        |metric, labels: &[(&str, &str)], value| add(metric, &[&who[..], labels].concat(), value);
    let (identity, driver) = (&device.identity, &device.identity.driver);
    let [vendor, model] = [identity.vendor_id, identity.device_id].map(|id| format!("{id:04x}"));
    let info = [
        ("name", &identity.name[..]),
        ("type", &identity.kind),
        ("vendor_id", &vendor),
        ("device_id", &model),
        ("driver", &driver.name),
        ("driver_info", &driver.info),
        ("driver_version", &driver.version),
        ("api_version", &driver.api_version),
    ];
    add("fpprobe_device_info", &info, 1);
    add("fpprobe_device_tainted", &[], u64::from(!device.taint.is_empty()));
    for (outcome, name) in OUTCOMES {
        let count =
            device.observations.iter().filter(|observation| observation.outcome == outcome).count();
        add("fpprobe_kernels", &[("outcome", name)], count as u64);
    }
    let kinds: BTreeSet<&str> = device.findings.iter().map(|finding| &finding.kind[..]).collect();
    for kind in kinds {
        let count = device.findings.iter().filter(|finding| finding.kind == kind).count();
        add("fpprobe_findings", &[("kind", kind)], count as u64);
    }
    for profile in &device.profiles {
        let id = ("profile", &profile.id[..]);
        for class in [Class::Conforms, Class::ConformsWith, Class::Deviates, Class::Incomplete] {
            add(
                "fpprobe_profile_class",
                &[id, ("class", class.name())],
                u64::from(class == profile.class),
            );
        }
        let counts = &profile.counts;
        for (verdict, count) in [
            (Verdict::Conforms, counts.conforms),
            (Verdict::Permitted, counts.permitted),
            (Verdict::Depends, counts.depends),
            (Verdict::Deviates, counts.deviates),
            (Verdict::Unsupported, counts.unsupported),
            (Verdict::Incomplete, counts.incomplete),
        ] {
            add("fpprobe_profile_rules", &[id, ("verdict", verdict.name())], count as u64);
        }
        for rule in profile.rules.iter().filter(|rule| rule.level != Level::Informative) {
            let labels = [id, ("rule", &rule.id), ("level", rule.level.name())];
            add("fpprobe_rule_deviations", &labels, rule.failing as u64);
        }
    }
}

/// `name="value",...`, with what the format and a terminal would obey written out.
fn labels(labels: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (index, (name, value)) in labels.iter().enumerate() {
        let value = visible(value).replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{name}=\"{value}\"", if index == 0 { "" } else { "," });
    }
    text
}
