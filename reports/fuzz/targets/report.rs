//! `fpprobe judge REPORT` on any bytes: load, judge by one small profile, render in every format.
//! What is printed for people holds no character that could act on a terminal, and the report as
//! JSON reads back.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use fpprobe_profiles::Profile;
use fpprobe_profiles::profile::built_in_text;
use fpprobe_reports::render::FORMATS;
use fpprobe_reports::{Report, judged, load, record};
use libfuzzer_sys::fuzz_target;

static PROFILES: LazyLock<[Profile; 1]> = LazyLock::new(|| {
    let text = include_str!("../seeds/profile/small.toml");
    [Profile::parse("small.toml", text, &built_in_text).expect("the seed is a profile")]
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut report) = load::parse(bytes, Path::new("fuzz.json")) else { return };
    render(&report);
    for device in &mut report.devices {
        let Ok(recorded) = record::read_device(&device.observations, &report.inputs) else {
            return;
        };
        let judged = judged::judge(&*PROFILES, &recorded.observations);
        (device.profiles, device.findings) = (judged.profiles, judged.findings);
    }
    render(&report);
});

fn render(report: &Report) {
    for format in FORMATS {
        let mut out = Vec::new();
        let rendered = format.renderer.render(report, &mut out);
        if !format.renderer.is_text() {
            continue;
        }
        rendered.expect("memory takes everything");
        let text = String::from_utf8(out).expect("every format is text");
        let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\r');
        assert!(!text.contains(acts), "a control character as {}", format.name);
        if format.name == "json" {
            let again = load::parse(text.as_bytes(), Path::new("again.json"))
                .expect("what is written can be read");
            assert_eq!(again, *report);
        }
    }
}
