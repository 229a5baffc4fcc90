//! Metrics: those of the newest report of each device, and the daemon's own, as one exposition.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::order::RunExtent;

/// What is counted and shown.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// Expositions of reports by key of the device, and how much each report holds.
    reports: BTreeMap<String, (RunExtent, String)>,
    /// The daemon's own: series with their values, by name.
    own: BTreeMap<&'static str, BTreeMap<String, f64>>,
}

/// Name, type and help of the daemon's own metrics.
const OWN: [(&str, &str, &str); 12] = [
    (
        "fpprobe_daemon_start_timestamp_seconds",
        "gauge",
        "When the daemon began, in seconds since 1970.",
    ),
    ("fpprobe_daemon_paused", "gauge", "Whether it measures nothing until it is told to."),
    ("fpprobe_daemon_waiting", "gauge", "Devices that wait to be measured."),
    (
        "fpprobe_daemon_notices_waiting",
        "gauge",
        "Notices that could not be delivered to hook or webhook yet.",
    ),
    (
        "fpprobe_daemon_troubles",
        "gauge",
        "Drivers that cannot be used, and places that cannot be watched.",
    ),
    ("fpprobe_daemon_triggers_total", "counter", "What made it look, by trigger."),
    ("fpprobe_daemon_rounds_total", "counter", "Devices measured, by extent and result."),
    ("fpprobe_daemon_round_timestamp_seconds", "gauge", "When the device was last measured."),
    (
        "fpprobe_daemon_newly_deviating_rules",
        "gauge",
        "Rules that were met once and have not been since.",
    ),
    (
        "fpprobe_daemon_changed_kernels",
        "gauge",
        "Kernels that answered otherwise in the last report than in the one before.",
    ),
    (
        "fpprobe_daemon_unaccepted_deviations",
        "gauge",
        "Deviations that the baseline does not accept.",
    ),
    ("fpprobe_daemon_quarantined", "gauge", "1 for a device that is left alone because it hung."),
];

/// `name="value",...`
pub fn labels(labels: &[(&str, &str)]) -> String {
    let written = |value: &str| {
        let plain: String = value.chars().filter(|c| !c.is_control()).collect();
        plain.replace('\\', "\\\\").replace('"', "\\\"")
    };
    labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", written(value)))
        .collect::<Vec<_>>()
        .join(",")
}

impl Metrics {
    /// Sets one of the daemon's own.
    pub fn set(&mut self, name: &'static str, labels: &[(&str, &str)], value: f64) {
        self.own.entry(name).or_default().insert(self::labels(labels), value);
    }

    /// Counts one of the daemon's own.
    pub fn count(&mut self, name: &'static str, labels: &[(&str, &str)]) {
        *self.own.entry(name).or_default().entry(self::labels(labels)).or_default() += 1.0;
    }

    /// Forgets every series of one of the daemon's own.
    pub fn forget(&mut self, name: &'static str) {
        self.own.remove(name);
    }

    /// The newest report of a device. Where it has a default run's, a quick run's, of which most
    /// rules are incomplete, does not replace it.
    pub fn report(&mut self, key: &str, extent: RunExtent, text: String) {
        if self.reports.get(key).is_none_or(|(known, _)| *known <= extent) {
            self.reports.insert(key.to_owned(), (extent, text));
        }
    }

    /// The report of a device, with its key.
    pub fn of(&self, key: &str) -> Option<(String, (RunExtent, String))> {
        self.reports.get_key_value(key).map(|(key, report)| (key.clone(), report.clone()))
    }

    /// Forgets devices that are missing, or have another driver; `places` are the labels of those
    /// that are there.
    pub fn retain(&mut self, keys: impl Fn(&str) -> bool, places: &[Vec<(&str, &str)>]) {
        self.reports.retain(|key, _| keys(key));
        let there: Vec<String> = places.iter().map(|place| labels(place)).collect();
        // What was counted stays counted.
        let counters =
            |name: &str| OWN.iter().any(|(own, kind, _)| *own == name && *kind == "counter");
        for (_, series) in self.own.iter_mut().filter(|(name, _)| !counters(name)) {
            series.retain(|own, _| {
                !own.contains("manifest=") || there.iter().any(|place| own.starts_with(place))
            });
        }
    }

    /// Everything: each metric once, with the series of all reports.
    pub fn text(&self) -> String {
        let mut families: BTreeMap<&str, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
        for (_, text) in self.reports.values() {
            for line in text.lines().filter(|line| !line.is_empty()) {
                let comment = line.strip_prefix("# HELP ").or_else(|| line.strip_prefix("# TYPE "));
                let name = comment.unwrap_or(line).split([' ', '{']).next().unwrap_or_default();
                let (comments, series) = families.entry(name).or_default();
                let lines = if comment.is_some() { comments } else { series };
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        let mut out = String::new();
        for (comments, mut series) in families.into_values() {
            // Of the host there is one series, of several runs the last one's.
            series.sort_unstable();
            series.reverse();
            series.dedup_by_key(|line| line.rsplit_once(' ').map(|(name, _)| name));
            series.reverse();
            comments.iter().chain(&series).for_each(|line| {
                let _ = writeln!(out, "{line}");
            });
        }
        for (name, kind, help) in OWN {
            let Some(series) = self.own.get(name) else { continue };
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in series {
                let labels =
                    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
                let _ = writeln!(out, "{name}{labels} {value}");
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_comes_once_with_the_series_of_all_reports() {
        let mut metrics = Metrics::default();
        let report = |key: &str, when: u64| {
            format!(
                "# HELP a When.\n# TYPE a gauge\na{{host=\"h\"}} {when}\n# HELP b What.\n# TYPE b gauge\nb{{key=\"{key}\"}} 1\n"
            )
        };
        metrics.report("k1", RunExtent::Full, report("k1", 10));
        metrics.report("k1", RunExtent::Quick, report("gone", 11));
        metrics.report("k2", RunExtent::Quick, report("k2", 12));
        metrics.count("fpprobe_daemon_triggers_total", &[("trigger", "a\"b")]);
        metrics.count("fpprobe_daemon_triggers_total", &[("trigger", "a\"b")]);
        let expected = "# HELP a When.\n# TYPE a gauge\na{host=\"h\"} 12\n# HELP b What.\n# TYPE b gauge\nb{key=\"k1\"} 1\n\
            b{key=\"k2\"} 1\n# HELP fpprobe_daemon_triggers_total What made it look, by trigger.\n\
            # TYPE fpprobe_daemon_triggers_total counter\nfpprobe_daemon_triggers_total{trigger=\"a\\\"b\"} 2\n";
        assert_eq!(metrics.text(), expected);
        metrics.retain(|key| key == "k2", &[]);
        assert!(!metrics.text().contains("k1"));
    }
}
