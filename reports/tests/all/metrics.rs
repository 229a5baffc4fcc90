//! Metrics, read as Prometheus reads them.

use std::collections::{BTreeMap, BTreeSet};

use fpprobe_reports::model::Outcome;

use crate::fixture::{self, render};

/// One series: name, labels, value.
type Series = (String, BTreeMap<String, String>, f64);

/// The text exposition format, version 0.0.4, as its documentation gives it. What it does not allow
/// is a failure.
fn parse(text: &str) -> Vec<Series> {
    assert!(text.ends_with('\n'), "the last line must end, too");
    let (mut series, mut seen) = (Vec::new(), BTreeSet::new());
    let (mut helped, mut typed, mut current) = (BTreeSet::new(), BTreeSet::new(), String::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(!help.is_empty() && helped.insert(name.to_owned()), "one HELP each: {line}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(
                ["counter", "gauge", "histogram", "summary", "untyped"].contains(&kind),
                "{line}"
            );
            assert!(
                typed.insert(name.to_owned()),
                "one TYPE each, and all series of a metric together: {line}"
            );
            name.clone_into(&mut current);
        } else {
            let one = sample(line);
            assert!(one.0 == current, "a series follows its own TYPE: {line}");
            assert!(
                seen.insert(line.rsplit_once(' ').unwrap().0.to_owned()),
                "a series stands once: {line}"
            );
            series.push(one);
        }
    }
    assert_eq!(helped, typed);
    series
}

fn sample(line: &str) -> Series {
    let is_name = |name: &str| {
        let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == ':');
        first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':')
    };
    let (name, mut rest) = line.split_once('{').unwrap_or_else(|| panic!("labels: {line}"));
    assert!(is_name(name), "{line}");
    let mut labels = BTreeMap::new();
    loop {
        let (label, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("a label: {line}"));
        assert!(is_name(label) && !label.starts_with("__") && !label.contains(':'), "{line}");
        let (mut value, mut chars) = (String::new(), after.char_indices());
        let end = loop {
            match chars.next().unwrap_or_else(|| panic!("the value ends: {line}")) {
                (at, '"') => break at,
                (_, '\\') => match chars.next() {
                    Some((_, '\\')) => value.push('\\'),
                    Some((_, '"')) => value.push('"'),
                    Some((_, 'n')) => value.push('\n'),
                    other => panic!("escape {other:?}: {line}"),
                },
                (_, c) => value.push(c),
            }
        };
        assert!(labels.insert(label.to_owned(), value).is_none(), "a label stands once: {line}");
        rest = &after[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => break,
        }
    }
    let value =
        rest.strip_prefix("} ").unwrap_or_else(|| panic!("a value and no timestamp: {line}"));
    (name.to_owned(), labels, value.parse().unwrap())
}

#[test]
fn metrics_are_what_the_collector_reads() {
    let report = fixture::report();
    let text = render("prometheus", &report);
    let series = parse(&text);
    let of = |metric: &str, labels: &[(&str, &str)]| -> Vec<f64> {
        let named = |own: &BTreeMap<String, String>| {
            labels.iter().all(|(name, value)| own.get(*name).map(String::as_str) == Some(value))
        };
        series
            .iter()
            .filter(|(name, own, _)| name == metric && named(own))
            .map(|(_, _, value)| *value)
            .collect()
    };
    let slot = ("slot", "cpu:10005:0:13:0");
    assert_eq!(of("fpprobe_run_finished_timestamp_seconds", &[]), [1_795_168_803.0]);
    assert_eq!(
        of("fpprobe_profile_class", &[slot, ("profile", "d3d11"), ("class", "deviates")]),
        [1.0]
    );
    assert_eq!(
        of("fpprobe_profile_class", &[slot, ("profile", "d3d11"), ("class", "conforms")]),
        [0.0]
    );
    assert_eq!(of("fpprobe_profile_class", &[slot, ("profile", "d3d11")]).len(), 4);
    assert_eq!(
        of("fpprobe_rule_deviations", &[slot, ("profile", "d3d11"), ("rule", "D32-18")]),
        [2.0]
    );
    assert_eq!(
        of("fpprobe_rule_deviations", &[slot, ("profile", "d3d11"), ("rule", "D32-01")]),
        [0.0]
    );
    assert_eq!(of("fpprobe_kernels", &[slot, ("outcome", "unsupported")]), [4.0]);
    assert_eq!(of("fpprobe_device_tainted", &[]), [0.0, 1.0]);
    assert_eq!(of("fpprobe_findings", &[slot, ("kind", "claim")]), [1.0]);
    let info = of("fpprobe_device_info", &[("driver", "examplepipe"), ("type", "cpu")]);
    assert_eq!(info, [1.0]);
    let hostile = series
        .iter()
        .any(|(_, labels, _)| labels.values().any(|value| value.contains(char::is_control)));
    assert!(!hostile && !text.contains('\r'));
    insta::assert_snapshot!(
        text.lines().filter(|line| !line.contains("rule=")).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn devices_and_rules_that_stand_twice_do_not_make_a_file_that_is_refused() {
    let mut report = fixture::report();
    let device = report.devices[0].clone();
    report.devices.push(device.clone());
    report.devices[0].profiles.extend(device.profiles);
    let first = parse(&render("prometheus", &fixture::report())).len();
    assert!(parse(&render("prometheus", &report)).len() > first);
}

#[test]
fn every_outcome_is_counted_under_the_name_that_reports_use() {
    let mut report = fixture::report();
    report.devices.truncate(1);
    let schema = fpprobe_reports::schema();
    let names = schema.pointer("/$defs/Outcome/oneOf").and_then(|list| list.as_array()).unwrap();
    let names: BTreeSet<&str> = names.iter().filter_map(|one| one["const"].as_str()).collect();
    assert!(names.contains(serde_json::to_value(Outcome::DeviceLost).unwrap().as_str().unwrap()));
    let series = parse(&render("prometheus", &report));
    let counted: BTreeSet<&str> = series
        .iter()
        .filter(|one| one.0 == "fpprobe_kernels")
        .map(|one| &one.1["outcome"][..])
        .collect();
    assert_eq!(counted, names);
}
