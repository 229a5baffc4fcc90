//! A small real report with each of its parts taken away or replaced: it is refused with a message
//! or judged and shown, never a crash. What no list of mutations holds is the matter of the fuzz
//! target `report`.

use std::path::Path;

use fpprobe_profiles::Profile;
use fpprobe_profiles::profile::built_in_text;
use fpprobe_reports::render::{FORMATS, OutputFormat};
use fpprobe_reports::{judged, load, record};
use serde_json::{Value, json};

use crate::fixture::render;

const REPORT: &str = include_str!("../../fuzz/seeds/report/lavapipe.json");
const PROFILE: &str = include_str!("../../fuzz/seeds/profile/small.toml");

/// Places in a document; of a list the first and the last only.
fn places(value: &Value, at: &str, places: &mut Vec<String>) {
    places.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                self::places(value, &format!("{at}/{name}"), places);
            }
        }
        // Observations are what judging reads.
        Value::Array(list) if at.ends_with("/observations") => {
            list.iter()
                .enumerate()
                .for_each(|(index, value)| self::places(value, &format!("{at}/{index}"), places));
        }
        Value::Array(list) => {
            let ends = [0, list.len().saturating_sub(1)];
            for index in ends.into_iter().take(list.len()) {
                self::places(&list[index], &format!("{at}/{index}"), places);
            }
        }
        _ => {}
    }
}

/// What may stand in place of a part: of another type, empty, too long, out of range, or another
/// kernel.
fn replacements(value: &Value) -> Vec<Value> {
    let mut all = vec![
        Value::Null,
        json!(""),
        json!([]),
        json!({}),
        json!(u64::MAX),
        json!("f32.sqrt"),
        json!("b10g11r11.store:route=storage_image"),
        json!("flaky"),
        json!("unsupported"),
        json!([["00000000", "00000000"], ["7fc00000", "ffffffff"]]),
        json!([[usize::MAX, "00000000"]]),
    ];
    if let Value::Array(list) = value {
        all.push(list.iter().skip(1).cloned().collect());
        all.push(list.iter().chain(list).cloned().collect());
        all.push(list.iter().rev().cloned().collect());
    }
    all
}

/// Whether the report could be judged; these formats must show it where it can be loaded.
fn judges<'a>(
    text: &str,
    profiles: &[Profile],
    formats: impl IntoIterator<Item = &'a OutputFormat>,
) -> bool {
    let Ok(mut report) = load::parse(text.as_bytes(), Path::new("mutated.json")) else {
        return false;
    };
    for device in &mut report.devices {
        let Ok(recorded) = record::read_device(&device.observations, &report.inputs) else {
            return false;
        };
        let judged = judged::judge(profiles, &recorded.observations);
        (device.profiles, device.findings) = (judged.profiles, judged.findings);
    }
    for format in formats {
        assert!(!render(format.name, &report).is_empty());
    }
    true
}

#[test]
fn a_report_with_any_part_replaced_is_refused_or_judged() {
    let profiles = [Profile::parse("small.toml", PROFILE, &built_in_text).unwrap()];
    assert!(judges(REPORT, &profiles, FORMATS));
    let whole: Value = serde_json::from_str(REPORT).unwrap();
    let mut all = Vec::new();
    places(&whole, "", &mut all);
    let (mut judged, mut refused) = (0, 0);
    // Formats take turns, over all places: each meets replacements of every kind.
    let mut formats = FORMATS.iter().cycle();
    for place in &all {
        for replacement in replacements(whole.pointer(place).unwrap()) {
            let mut mutated = whole.clone();
            *mutated.pointer_mut(place).unwrap() = replacement;
            let is_judged = judges(&mutated.to_string(), &profiles, formats.next());
            *if is_judged { &mut judged } else { &mut refused } += 1;
        }
    }
    println!("{judged} judged, {refused} refused");
    assert!(judged > 500 && refused > 500, "{judged} judged, {refused} refused");
}
