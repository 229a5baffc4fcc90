//! A report of a real graphics processor: NVIDIA H200, driver 580.159.04, measured on 2026-11-20, its 32-bit kernels. It shows
//! what judging and rendering make of such a device, never what another machine must answer.

use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use fpprobe_profiles::profile;
use fpprobe_reports::render::FORMATS;
use fpprobe_reports::{Report, judged, load, record};

use crate::fixture::render;

fn report() -> Report {
    let mut text = Vec::new();
    let packed: &[u8] = include_bytes!("../fixtures/nvidia-h200-580.159.04-2026-11-20.f32.json.gz");
    GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    load::parse(&text, Path::new("nvidia-h200.json")).unwrap()
}

#[test]
fn direct3d_10_on_a_graphics_processor() {
    let report = report();
    let device = &report.devices[0];
    let recorded = record::read_device(&device.observations, &report.inputs).unwrap();
    let profiles = [profile::built_in("d3d10").unwrap().unwrap()];
    let judged = judged::judge(&profiles, &recorded.observations);
    let rules = judged.profiles[0].rules.iter().filter(|rule| !rule.verdict.is_met());
    let unmet: Vec<(&str, usize)> = rules.map(|rule| (rule.id.as_str(), rule.failing)).collect();
    // x - floor(x) of a subnormal below zero is 1: the difference flushes it, the floor does not. PackHalf2x16 is to nearest.
    let ids: Vec<&str> = unmet.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, ["D32-18", "D32-20", "S-01"], "{unmet:?}");
    assert!(unmet.iter().all(|(_, failing)| *failing > 0));
    // Folded or computed, and by whichever route, some operations answer otherwise.
    assert!(judged.findings.iter().any(|finding| finding.kind == "route"));
}

#[test]
fn every_format_shows_it() {
    let report = report();
    for format in FORMATS {
        assert!(render(format.name, &report).contains("D32-18") || format.name == "recipes", "{}", format.name);
    }
}
