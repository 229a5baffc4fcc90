//! Reports of a real graphics processor: NVIDIA H200, driver 580.159.04, its 32-bit kernels
//! measured on 2026-11-20 and its matrices on 2026-11-28. They show what judging and rendering make
//! of such a device, never what another machine must answer.

use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use fpprobe_profiles::profile;
use fpprobe_reports::model::{Evidence, RuleResult};
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
    let fails = |rule: &&RuleResult| rule.failing > 0 || !rule.elsewhere.is_empty();
    let failing: Vec<_> = judged.profiles[0].rules.iter().filter(fails).collect();
    let ids: Vec<&str> = failing.iter().map(|rule| rule.id.as_str()).collect();
    let all = [
        "D32-01",
        "D32-01-rcp",
        "D32-05",
        "D32-09",
        "D32-12",
        "D32-18",
        "D32-19",
        "D32-20",
        "D32-26",
        "D32-37",
        "D32-40",
        "D32-41",
        "S-01",
        "S-02",
        "S-06",
        "S-07",
        "S-08-special",
    ];
    assert_eq!(ids, all);
    // At run time x - floor(x) of a subnormal below zero is 1: the difference flushes it, the floor
    // does not. PackHalf2x16 is to nearest. All else is what the compiler folds: subnormals
    // that count, and +0 that becomes -0.
    let at_run_time = ["D32-18", "D32-20", "S-01"];
    for rule in failing.iter().filter(|rule| !at_run_time.contains(&rule.id.as_str())) {
        let folded = |evidence: &Evidence| {
            evidence.kernel.contains("route=literal") || evidence.kernel.contains("route=spec")
        };
        assert_eq!(rule.evidence.is_empty(), rule.failing == 0, "{}", rule.id);
        assert!(rule.evidence.iter().all(folded), "{}", rule.id);
    }
    // Folded or computed, and by whichever route, some operations answer otherwise.
    assert!(judged.findings.iter().any(|finding| finding.kind == "route"));
}

#[test]
fn every_format_shows_it() {
    let report = report();
    for format in FORMATS.iter().filter(|format| format.renderer.is_text()) {
        // Two of them speak of modes and instructions, not of rules.
        let sought = if ["recipes", "vulkan-profile"].contains(&format.name) {
            "NVIDIA H200"
        } else {
            "D32-18"
        };
        assert!(render(format.name, &report).contains(sought), "{}", format.name);
    }
}

#[test]
fn matrix_units_follow_the_published_model_of_the_h100() {
    let folder = "tests/fixtures/nvidia-h200-580.159.04-2026-11-28.matrices";
    let report = load::one(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let device = &report.devices[0];
    let recorded = record::read_device(&device.observations, &report.inputs).unwrap();
    let judged = judged::judge(&[], &recorded.observations);
    let value = |id: &str| {
        let found = judged
            .traits
            .iter()
            .find(|one| one.id == id)
            .unwrap_or_else(|| panic!("{id} is missing"));
        found.run_time.as_ref().unwrap().value.clone()
    };
    for (elements, rounding, bits) in [
        ("f16_f16", "nearest_even", "8_or_more"),
        ("f16_f32", "toward_zero", "2"),
        ("bf16_f32", "toward_zero", "2"),
    ] {
        let of = |name: &str| value(&format!("matrix.{elements}.{name}"));
        assert_eq!(
            [of("model"), of("order"), of("rounding"), of("extra_bits")],
            ["h100", "one_group", rounding, bits]
        );
        assert_eq!(
            [of("subnormal_a"), of("subnormal_b"), of("subnormal_c"), of("repeatable")],
            ["kept", "kept", "kept", "yes"]
        );
    }
    // Of integers and moves every bit is demanded.
    assert_eq!(judged.findings, []);
}
