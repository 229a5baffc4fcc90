//! Of a vector that component counts which is not accepted, and no other.

use std::sync::Arc;

use fpprobe_profiles::Observation;
use fpprobe_profiles::profile::built_in;
use fpprobe_reports::Report;
use fpprobe_reports::baseline::{AcceptFilter, Baseline, accept, read, write};
use fpprobe_reports::change::ChangeKind;
use fpprobe_reports::check::{CheckResult, Terms, check};
use fpprobe_reports::judged::judge;
use fpprobe_reports::model::RuleResult;
use fpprobe_reports::record::Recorder;
use fpprobe_spirv::Cases;

use crate::diff::compared;
use crate::fixture::{self, kernel, render};

const INFINITY: u64 = 0x7f80_0000;
const ONE: u64 = 0x3f80_0000;
const NAN: u64 = 0x7fc0_0000;
/// sin(1), and its neighbour, which is within 0.0008 as well.
const SINE: [u64; 2] = [0x3f57_6aa4, 0x3f57_6aa5];

fn observed(id: &str, cases: &[u64], out: &[u64]) -> Observation {
    let kernel = kernel(id);
    let cases = Cases::new(format!("{id}.few"), kernel.arity(), cases);
    Observation::ran(kernel, cases, Arc::from(out))
}

/// Sines of infinity and of 1, right of scalars, and these of a vector.
fn report(vector: [u64; 2]) -> Report {
    let observations = [
        observed("f32.sin", &[INFINITY, ONE], &[NAN, SINE[0]]),
        observed("f32.sin:width=2", &[INFINITY, ONE], &vector),
    ];
    let mut report = fixture::report();
    let mut recorder = Recorder::new();
    report.devices.truncate(1);
    report.devices[0].observations = recorder.device(&observations);
    report.devices[0].profiles =
        judge(&[built_in("d3d11").unwrap().unwrap()], &observations).profiles;
    report.inputs = recorder.inputs_table();
    report
}

fn special(report: &Report) -> &RuleResult {
    report.devices[0].profiles[0].rules.iter().find(|rule| rule.id == "S-08-special").unwrap()
}

fn accepted(report: &Report) -> Baseline {
    let (mut baseline, mut text) = (Baseline::default(), Vec::new());
    let filter =
        AcceptFilter { reason: "known".to_owned(), allow_tainted: true, ..AcceptFilter::default() };
    accept(&mut baseline, report, &filter, "2026-11-22".parse().unwrap()).unwrap();
    write(&baseline, &mut text).unwrap();
    read("b.toml", &String::from_utf8(text).unwrap()).unwrap()
}

fn checked(report: &Report, baseline: &Baseline) -> CheckResult {
    let terms = Terms {
        today: "2026-11-22".parse().unwrap(),
        strict: false,
        allow_tainted: true,
        selected: false,
    };
    check(report.program.clone(), &[], report, baseline, terms).unwrap()
}

#[test]
fn the_component_that_fails_is_marked() {
    let report = report([0, SINE[0]]);
    let rule = special(&report);
    assert_eq!((rule.failing, rule.failed.len(), rule.evidence.len()), (1, 1, 1));
    assert_eq!((rule.failed[0].cases.as_str(), &rule.failed[0].components[..]), ("0", &[0][..]));
    assert_eq!(rule.evidence[0].component, Some(0));
    for form in ["text", "md", "html"] {
        let shown = render(form, &report);
        assert!(shown.contains("not accepted"), "{form}");
    }
    let text = render("text", &report);
    assert!(
        text.lines().any(|line| line.split_whitespace().eq(["not", "accepted", "x"])),
        "{text}"
    );
}

#[test]
fn a_component_that_is_accepted_changes_no_baseline() {
    let (old, new) = (report([0, SINE[0]]), report([0, SINE[1]]));
    let baseline = accepted(&old);
    assert!(
        baseline
            .accepted
            .iter()
            .any(|one| one.seen == ["f32.sin:width=2 7f800000,3f800000 [0] = 00000000"])
    );
    let objections: Vec<String> =
        checked(&new, &baseline).regressed().map(|one| one.note.clone()).collect();
    assert!(objections.is_empty(), "{objections:?}");
    // Another value of the one that fails does.
    let checked = checked(&report([1, SINE[0]]), &baseline);
    let objections: Vec<_> = checked.regressed().collect();
    assert_eq!(
        objections[0].note,
        "not among the accepted lanes and bits: f32.sin:width=2 7f800000,3f800000 [0] = 00000001"
    );
    assert_eq!(objections[0].evidence[0].component, Some(0));
}

#[test]
fn a_component_that_is_accepted_changes_no_lane() {
    let kinds = |now: [u64; 2]| {
        let diff = compared(&report([0, SINE[0]]), &report(now)).diff;
        let lanes = diff.changes().filter(|change| !change.changed().is_empty());
        lanes.map(|change| (change.kind, change.is_deviating())).collect::<Vec<_>>()
    };
    assert_eq!(kinds([0, SINE[1]]), [(ChangeKind::Changed, false)]);
    assert_eq!(kinds([1, SINE[0]]), [(ChangeKind::Changed, true)]);
    assert_eq!(kinds([NAN, SINE[1]]), [(ChangeKind::Fixed, false)]);
}

/// A report of an earlier program names no components: all of them were accepted, those that fail
/// among them.
#[test]
fn what_an_earlier_report_accepts_holds() {
    let mut old = report([0, SINE[0]]);
    for rule in &mut old.devices[0].profiles[0].rules {
        rule.failed.iter_mut().for_each(|failed| failed.components.clear());
        rule.evidence.iter_mut().for_each(|evidence| evidence.component = None);
    }
    let baseline = accepted(&old);
    assert!(checked(&report([0, SINE[0]]), &baseline).regressed().next().is_none());
    let mut beyond = report([0, SINE[0]]);
    let rules = beyond.devices[0].profiles[0].rules.iter_mut();
    rules.flat_map(|rule| &mut rule.failed).for_each(|failed| failed.components = vec![7]);
    // A component that the result does not have: the number of lanes and the first of them decide.
    assert!(checked(&beyond, &accepted(&report([0, SINE[0]]))).regressed().next().is_none());
}
