//! Snapshots of the formats for people and tables, and what JSON must hold.

use fpprobe_reports::model::{Class, Report};
use fpprobe_reports::render::{Detail, Render, Style, Text};
use serde_json::Value;

use crate::fixture::{self, render};
use crate::schema_check::check;

/// The fixture with its first device only, which is the realistic one.
fn realistic() -> Report {
    let mut report = fixture::report();
    report.devices.truncate(1);
    report
}

#[test]
fn text_for_a_realistic_device() {
    insta::assert_snapshot!(render("text", &realistic()));
}

#[test]
fn text_escapes_what_drivers_say() {
    let text = render("text", &fixture::report());
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains('\r'));
    insta::assert_snapshot!(text.split_once("\n\n=cmd").map(|(_, rest)| rest).unwrap_or_default());
}

#[test]
fn text_fits_a_narrow_terminal() {
    let mut out = Vec::new();
    Text { style: Style { colour: false, width: 44, detail: Detail::All } }
        .render(&realistic(), &mut out)
        .unwrap();
    let text = String::from_utf8(out).unwrap();
    let unbroken = |line: &&str| line.trim_start().contains(' ') && !line.contains("fpprobe eval");
    for line in text.lines().filter(unbroken) {
        assert!(line.chars().count() <= 44, "{line}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn text_in_colour_says_the_same() {
    let mut out = Vec::new();
    Text { style: Style { colour: true, width: 80, detail: Detail::All } }
        .render(&realistic(), &mut out)
        .unwrap();
    let text = String::from_utf8(out).unwrap();
    let mut plain = String::new();
    for (index, part) in text.split("\u{1b}[").enumerate() {
        plain.push_str(if index == 0 {
            part
        } else {
            part.split_once('m').map_or("", |(_, rest)| rest)
        });
    }
    assert_eq!(plain, render("text", &realistic()));
}

#[test]
fn a_device_fits_a_screen() {
    let one_screen = |report: &Report, width: usize| {
        let mut out = Vec::new();
        Text { style: Style { colour: false, width, detail: Detail::Screen } }
            .render(report, &mut out)
            .unwrap();
        String::from_utf8(out).unwrap()
    };
    let mut report = realistic();
    insta::assert_snapshot!(one_screen(&report, 100));
    // However many causes there are and groups are missing.
    let device = &mut report.devices[0];
    device.causes = vec![device.causes[0].clone(); 100];
    for profile in &mut device.profiles {
        profile.without =
            (0..100).map(|number| format!("b10g11r11.store:route={number}")).collect();
    }
    let text = one_screen(&report, 100);
    assert!(text.lines().count() <= 40, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("92 causes more"), "{text}");
    let narrow = one_screen(&report, 44);
    assert!(!narrow.contains('\u{1b}') && !narrow.contains('\u{202e}'), "{narrow}");
}

#[test]
fn markdown() {
    insta::assert_snapshot!(render("md", &fixture::report()));
}

#[test]
fn markdown_fits_a_comment() {
    let mut report = fixture::report();
    let device = report.devices[0].clone();
    report.devices.extend(std::iter::repeat_n(device, 40));
    let page = render("md", &report);
    assert!(page.len() < 65_536, "{}", page.len());
    assert!(page.contains("did not fit here"));
    assert_eq!(page.matches("<details>").count(), page.matches("</details>").count());
}

#[test]
fn recipes_are_spelled_in_spirv() {
    let text = render("recipes", &realistic());
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn what_programs_read_follows_its_schema() {
    for name in ["caps", "recipes"] {
        let document = fpprobe_reports::DOCUMENTS.iter().find(|one| one.name == name).unwrap();
        let schema = (document.schema)();
        for report in [realistic(), fixture::report()] {
            let mut written: Value = serde_json::from_str(&render(name, &report)).unwrap();
            assert_eq!(check(&schema, &written), Vec::<String>::new(), "{name}");
            written["measured"] = Value::Null;
            assert!(!check(&schema, &written).is_empty(), "{name}");
        }
    }
}

#[test]
fn capabilities_are_ids_in_three_lists() {
    let text = render("caps", &realistic());
    let document: Value = serde_json::from_str(&text).unwrap();
    let rules = &document["devices"][0]["profiles"]["d3d11"]["rules"];
    let has = |list: &str, id: &str| rules[list].as_array().unwrap().contains(&id.into());
    assert!(has("proven", "D32-01") && has("disproven", "D32-18") && has("disproven", "D32-20"));
    assert!(has("unknown", "D64-03"));
    insta::assert_snapshot!(text);
}

#[test]
fn csv() {
    let table = render("csv", &fixture::report());
    assert!(table.lines().all(|line| !line.starts_with(['=', '+', '-', '@'])));
    insta::assert_snapshot!(table.replace("\r\n", "\n"));
}

#[test]
fn json_is_the_report_and_reads_back() {
    let report = fixture::report();
    let text = render("json", &report);
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    insta::assert_snapshot!(text.lines().take(60).collect::<Vec<_>>().join("\n"));
    for line in text.lines().filter(|line| line.contains("\"outcome\"")) {
        let document = line.trim().trim_end_matches(',');
        assert!(serde_json::from_str::<Value>(document).is_ok(), "one line each: {line}");
    }
}

#[test]
fn json_lines_hold_one_document_each() {
    let report = fixture::report();
    let text = render("jsonl", &report);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |record: &str| lines.iter().filter(|line| line["record"] == record).count();
    let rules: usize = report
        .devices
        .iter()
        .flat_map(|device| &device.profiles)
        .map(|profile| profile.rules.len())
        .sum();
    let observations: usize = report.devices.iter().map(|device| device.observations.len()).sum();
    assert_eq!(
        (count("report"), count("device"), count("rule"), count("observation")),
        (1, 2, rules, observations)
    );
    assert_eq!(count("inputs"), report.inputs.len());
    assert_eq!((count("profile"), count("finding"), count("incomplete")), (6, 4, 5));
    let rule = lines.iter().find(|line| line["record"] == "rule").unwrap();
    assert_eq!(
        (&rule["device"], &rule["profile"]),
        (&report.devices[0].identity.key.clone().into(), &"d3d11".into())
    );
}

#[test]
fn an_empty_report_can_be_shown() {
    let report = Report {
        devices: Vec::new(),
        inputs: std::collections::BTreeMap::new(),
        ..fixture::report()
    };
    for format in fpprobe_reports::render::FORMATS {
        assert!(!render(format.name, &report).is_empty());
    }
    assert!(render("md", &report).contains("No device could be measured."));
    let mut bare = realistic();
    bare.devices[0].profiles.clear();
    bare.devices[0].observations.clear();
    bare.devices[0].claims = fpprobe_reports::model::Claims::default();
    for format in fpprobe_reports::render::FORMATS {
        render(format.name, &bare);
    }
    assert_eq!(Class::Conforms.name(), "conforms");
}
