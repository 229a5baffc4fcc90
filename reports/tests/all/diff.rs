//! Comparisons of reports: what is found, in which order, and what every form makes of it.

use std::path::Path;

use fpprobe_profiles::profile::built_in;
use fpprobe_profiles::{Observation, Outcome, Profile, Verdict};
use fpprobe_reports::Report;
use fpprobe_reports::change::{Change, ChangeKind, Subject};
use fpprobe_reports::container;
use fpprobe_reports::diff::{DIFFS, DeviceDiff, Diff, DiffResult, compare};
use fpprobe_reports::judged::judge;
use fpprobe_reports::load::{LoadError, LoadedReport, set, to_compare};
use fpprobe_reports::model::{Device, DeviceTrait, MIXED, Scope, TraitShare, TraitValue};
use fpprobe_reports::record::Recorder;
use fpprobe_reports::render::{Detail, Style};
use fpprobe_reports::values::argument;
use serde_json::Value;

use crate::fixture::{self, NASTY, observation, render, without_answers};
use crate::schema_check::check;

fn profiles() -> Vec<Profile> {
    ["d3d11", "vulkan"].map(|id| built_in(id).unwrap().unwrap()).into()
}

fn loaded(file: &str, report: &Report) -> Vec<LoadedReport> {
    vec![LoadedReport { file: file.to_owned(), report: report.clone() }]
}

pub fn compared(old: &Report, new: &Report) -> DiffResult {
    let program = old.program.clone();
    compare(program, &profiles(), &loaded("old.json", old), &loaded("new.json", new)).unwrap()
}

pub fn shown(diff: &Diff, format: &str) -> String {
    let form = DIFFS.iter().find(|form| form.name == format).unwrap();
    let mut out = Vec::new();
    form.renderer.render(diff, Style::PLAIN, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Changes of this kernel of the first device.
fn kernels<'d>(diff: &'d Diff, id: &str) -> Vec<&'d Change> {
    diff.devices[0].of(Subject::Kernel).filter(|change| change.id == id).collect()
}

/// As a terminal of 100 columns shows it.
fn on_screen(diff: &Diff) -> String {
    let mut out = Vec::new();
    DIFFS[0]
        .renderer
        .render(diff, Style { width: 100, detail: Detail::Screen, ..Style::PLAIN }, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// The first device alone, with these answers.
pub fn answered(observations: &[Observation]) -> Report {
    let mut report = fixture::report();
    let mut recorder = Recorder::new();
    report.devices.truncate(1);
    report.devices[0].observations = recorder.device(observations);
    report.inputs = recorder.inputs_table();
    report
}

/// `f32.inverse_sqrt` of -0, +0, a NaN and 4.
fn roots(answers: [u64; 4]) -> Observation {
    let cases =
        fpprobe_spirv::Cases::new("roots", 1, vec![0x8000_0000, 0, 0x7fc0_0000, 0x4080_0000]);
    Observation { cases, out: answers.as_slice().into(), ..observation("f32.inverse_sqrt", 0) }
}

const ROOTS: [u64; 4] = [0xff80_0000, 0x7f80_0000, 0x7fc0_0000, 0x3f00_0000];

/// An update that does something of everything.
pub fn update() -> (Report, Report) {
    updated([observation("f32.fadd", 3), observation("f32.fadd", 3)])
}

/// With these sums before and after.
fn updated([sum, sum_now]: [Observation; 2]) -> (Report, Report) {
    let removed = observation("f32.fabs", 0);
    let lost = observation("f32.fmul", 0);
    let old = answered(&[
        roots(ROOTS),
        sum,
        lost.clone(),
        removed,
        without_answers("f32.sin", Outcome::Crashed, ""),
    ]);
    let mut new = answered(&[
        roots([0x7f80_0000, 0x7f80_0000, 0x7fc0_0001, 0x3eff_ffff]),
        sum_now,
        without_answers("f32.fmul", Outcome::Hung, "no answer within 10 s"),
        observation("f32.sin", 0),
    ]);
    let device: &mut Device = &mut new.devices[0];
    device.identity.driver.info = "Example 23.0.0".into();
    device.claims.flags.insert("shaderFloat64".into(), true);
    let rule = device.profiles[0].rules.iter_mut().find(|rule| rule.id == "D32-05").unwrap();
    (rule.verdict, rule.failing, rule.label) = (Verdict::Deviates, 1, String::new());
    (old, new)
}

#[test]
fn the_same_twice_is_nothing() {
    let report = fixture::report();
    let diff = compared(&report, &report).diff;
    assert!(
        diff.summary.empty
            && diff.summary.counts.is_empty()
            && diff.devices.iter().all(DeviceDiff::is_empty)
    );
    for form in DIFFS {
        assert!(!shown(&diff, form.name).is_empty());
    }
    assert!(shown(&diff, "text").contains("nothing changed on 2 devices"));
}

#[test]
fn every_lane_is_named_with_what_the_profiles_say() {
    let (old, new) = update();
    let diff = compared(&old, &new).diff;
    let roots: Vec<&Change> = kernels(&diff, "f32.inverse_sqrt");
    let counts = roots
        .iter()
        .map(|change| (change.lanes.as_ref().unwrap().compared, change.changed().len()));
    assert_eq!(counts.collect::<Vec<_>>(), [(4, 1); 3]);
    let described: Vec<(ChangeKind, String)> = roots
        .iter()
        .flat_map(|change| {
            change
                .changed()
                .iter()
                .map(|lane| (change.kind, serde_json::to_string(&lane.inputs).unwrap()))
        })
        .collect();
    let lane = |input: &str| format!("[\"{input}\"]");
    assert_eq!(
        described,
        [
            (ChangeKind::Regressed, lane("80000000")),
            (ChangeKind::Changed, lane("40800000")),
            (ChangeKind::NanBits, lane("7fc00000"))
        ]
    );
    let judged = &roots[0].lanes.as_ref().unwrap().judged[0];
    assert_eq!((judged.profile.as_str(), judged.old, judged.new), ("d3d11", true, false));
    assert!(judged.rules.contains(&"D32-06".to_owned()), "{judged:?}");
    let ended = diff.devices[0].of(Subject::Kernel).filter(|change| change.lanes.is_none());
    let ended: Vec<(ChangeKind, &str, bool)> =
        ended.map(|change| (change.kind, &*change.id, change.is_unmeasurable())).collect();
    assert_eq!(
        ended,
        [
            (ChangeKind::Appeared, "f32.sin", false),
            (ChangeKind::Disappeared, "f32.fmul", true),
            (ChangeKind::Disappeared, "f32.fabs", false),
        ]
    );
}

#[test]
fn what_another_way_of_asking_avoids_is_distinguished() {
    let (old, mut new) = update();
    let kind = |old: &Report, new: &Report| {
        let diff = compared(old, new).diff;
        let root = kernels(&diff, "f32.inverse_sqrt")[0];
        (root.kind, root.avoidable)
    };
    for profile in &mut new.devices[0].profiles {
        profile.rules.iter_mut().for_each(|rule| rule.verdict = Verdict::Conforms);
    }
    assert_eq!(kind(&old, &new), (ChangeKind::Regressed, true));
    // The way back.
    assert_eq!(kind(&new, &old), (ChangeKind::Fixed, true));
    // What a rule of another version says is not what these profiles say.
    new.devices[0].profiles[0].version = "0.0".into();
    assert_eq!(kind(&old, &new), (ChangeKind::Regressed, false));
}

#[test]
fn what_one_kernel_does_in_several_ways_is_told_way_by_way() {
    let (old, new) = update();
    let described = shown(&compared(&old, &new).diff, "text");
    for heading in ["Regressed", "Changed", "NaN bits"] {
        let (_, after) = described.split_once(&format!("\n{heading}\n")).unwrap();
        let (section, _) = after.split_once("\n\n").unwrap_or((after, ""));
        assert!(section.contains("  f32.inverse_sqrt: 1 of 4 inputs"), "{heading}: {described}");
    }
    // Which machine it is, where there may be several.
    let mut other = new.clone();
    other.host.id = "another".into();
    let named = |reports: &[Report]| {
        reports
            .iter()
            .map(|report| LoadedReport { file: String::new(), report: report.clone() })
            .collect::<Vec<_>>()
    };
    let olds = named(&[old.clone(), Report { host: other.host.clone(), ..old.clone() }]);
    let diff = compare(old.program.clone(), &[], &olds, &named(&[new, other])).unwrap().diff;
    for form in ["text", "md", "html"] {
        assert!(shown(&diff, form).contains("another"), "{form}");
    }
    assert!(!described.contains(&old.host.id), "{described}");
}

#[test]
fn what_depended_on_another_rule_and_fails_of_itself_is_newly_deviating() {
    let (mut old, mut new) = update();
    let kind = |old: &Report, new: &Report| {
        let diff = compared(old, new).diff;
        diff.devices[0]
            .of(Subject::Rule)
            .find(|change| change.id == "D32-06")
            .map(|change| change.kind)
    };
    let set = |report: &mut Report, verdict| {
        let rule = report.devices[0].profiles[0]
            .rules
            .iter_mut()
            .find(|rule| rule.id == "D32-06")
            .unwrap();
        rule.verdict = verdict;
    };
    set(&mut old, Verdict::Depends);
    set(&mut new, Verdict::Deviates);
    assert_eq!(kind(&old, &new), Some(ChangeKind::Regressed));
    assert_eq!(kind(&new, &old), Some(ChangeKind::Changed));
    // What could not be judged is no conquest once it is, and is lost where it was.
    set(&mut old, Verdict::Unsupported);
    set(&mut new, Verdict::Conforms);
    assert_eq!(kind(&old, &new), Some(ChangeKind::Appeared));
    assert_eq!(kind(&new, &old), Some(ChangeKind::Disappeared));
}

#[test]
fn what_is_asked_under_other_controls_is_told_with_both() {
    let (mut old, mut new) = update();
    let under = |report: &mut Report, controls: &str| {
        let observations = &mut report.devices[0].observations;
        let mut other =
            observations.iter().find(|one| one.kernel == "f32.inverse_sqrt").unwrap().clone();
        other.kernel = format!("f32.inverse_sqrt:controls={controls}");
        observations.push(other);
    };
    under(&mut old, "szin32");
    under(&mut new, "rte32");
    let diff = compared(&old, &new).diff;
    let instead = |kernel: &str| kernels(&diff, kernel)[0].note.clone();
    assert_eq!(instead("f32.inverse_sqrt:controls=szin32"), "under rte32 in its place");
    assert_eq!(instead("f32.inverse_sqrt:controls=rte32"), "under szin32 in its place");
    // What nothing stands in for.
    assert_eq!(instead("f32.fabs"), "");
    let described = shown(&diff, "text").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        described
            .contains("f32.inverse_sqrt:controls=szin32: ran → not run under rte32 in its place"),
        "{described}"
    );
    assert!(
        described
            .contains("f32.inverse_sqrt:controls=rte32: not run → ran under szin32 in its place"),
        "{described}"
    );
}

#[test]
fn a_rule_that_is_met_no_more_shows_a_lane() {
    let (old, mut new) = update();
    let fixture = fixture::report();
    let evidence =
        fixture.devices.iter().flat_map(|device| &device.profiles).flat_map(|one| &one.rules);
    let evidence = evidence.flat_map(|rule| rule.evidence.clone()).next().unwrap();
    let rules = &mut new.devices[0].profiles[0].rules;
    rules.iter_mut().find(|rule| rule.id == "D32-05").unwrap().evidence = vec![evidence];
    let diff = compared(&old, &new).diff;
    let rule =
        diff.devices[0].of(Subject::Rule).find(|rule| rule.kind == ChangeKind::Regressed).unwrap();
    let input = argument(&rule.evidence[0].inputs[0]);
    let described = shown(&diff, "text");
    let (_, after) = described.split_once("\nRegressed\n").unwrap();
    let (rules, _) = after.split_once("accepted before, not now").unwrap();
    assert!(rules.contains(&input) && rules.contains("accepted  "), "{rules}");
    for form in ["md", "html"] {
        let described = shown(&diff, form);
        let (_, after) = described.split_once(&rule.text[..4]).unwrap();
        assert!(
            after.split_once("f32.inverse").unwrap().0.contains(&input) || after.contains(&input),
            "{described}"
        );
    }
}

#[test]
fn what_people_read_has_the_important_first() {
    let (old, new) = update();
    let diff = compared(&old, &new).diff;
    insta::assert_snapshot!("diff_text", shown(&diff, "text"));
    insta::assert_snapshot!("diff_md", shown(&diff, "md"));
    let json: Value = serde_json::from_str(&shown(&diff, "json")).unwrap();
    let schema =
        fpprobe_reports::DOCUMENTS.iter().find(|document| document.name == "diff").unwrap();
    assert_eq!(check(&(schema.schema)(), &json), Vec::<String>::new());
}

#[test]
fn devices_are_matched_by_slot() {
    let report = fixture::report();
    let mut other = report.clone();
    other.devices[1].identity.slot = "pci:0000:02:00.0".into();
    let presence = |old: &Report, new: &Report| {
        let diff = compared(old, new).diff;
        diff.devices
            .iter()
            .map(|device| (device.presence(), device.slot.clone()))
            .collect::<Vec<_>>()
    };
    let slots = ["cpu:10005:0:13:0", "pci:0000:02:00.0", "pci:0000:01:00.0"].map(str::to_owned);
    let [cpu, second, first] = slots;
    let expected = [
        (None, cpu),
        (Some(ChangeKind::Appeared), second),
        (Some(ChangeKind::Disappeared), first.clone()),
    ];
    assert_eq!(presence(&report, &other), expected);
    // Of two in one slot of one machine the same driver is found again; where both may be it,
    // nobody knows which is which.
    other.devices[0].identity.slot = first.clone();
    other.devices[1].identity.slot = first;
    let found =
        presence(&report, &other).into_iter().map(|(presence, _)| presence).collect::<Vec<_>>();
    assert_eq!(found, [Some(ChangeKind::Appeared), None, Some(ChangeKind::Disappeared)]);
    other.devices[0].identity = other.devices[1].identity.clone();
    assert!(presence(&report, &other).iter().all(|(presence, _)| presence.is_some()));
}

#[test]
fn machines_have_the_same_slots() {
    let (mut here, mut there) = (fixture::report(), fixture::report());
    here.devices.truncate(1);
    there.devices.truncate(1);
    there.host.id = "another".into();
    let all = |reports: [&Report; 2]| {
        reports.iter().flat_map(|report| loaded("x.json", report)).collect::<Vec<_>>()
    };
    let compared =
        compare(here.program.clone(), &[], &all([&here, &there]), &all([&there, &here])).unwrap();
    assert_eq!(compared.diff.summary.compared, 2);
    assert!(compared.diff.summary.empty);
    // A machine that is missing and one that is new are not the same one, although their devices
    // have the same slot.
    let mut third = here.clone();
    third.host.id = "third".into();
    let diff = compare(here.program.clone(), &[], &all([&here, &there]), &all([&there, &third]))
        .unwrap()
        .diff;
    let presence = |needed| {
        diff.devices.iter().filter(move |one| one.presence() == needed).map(|one| one.host.as_str())
    };
    assert_eq!(presence(None).collect::<Vec<_>>(), ["another"]);
    assert_eq!(presence(Some(ChangeKind::Appeared)).collect::<Vec<_>>(), ["third"]);
    assert_eq!(
        presence(Some(ChangeKind::Disappeared)).collect::<Vec<_>>(),
        [here.host.id.as_str()]
    );
}

#[test]
fn of_several_reports_of_one_device_the_latest_counts() {
    let (monday, mut tuesday) = (answered(&[roots(ROOTS)]), answered(&[roots([0; 4])]));
    tuesday.finished =
        format!("{}Z", monday.finished.trim_end_matches('Z').replace("2026", "2027"));
    let week: Vec<LoadedReport> =
        [&tuesday, &monday].iter().flat_map(|report| loaded("x.json", report)).collect();
    let changed = |old: &[LoadedReport], new: &[LoadedReport]| {
        let summary = compare(monday.program.clone(), &profiles(), old, new).unwrap().diff.summary;
        assert_eq!((summary.compared, summary.appeared, summary.disappeared), (1, 0, 0));
        summary.lanes
    };
    assert_eq!(changed(&week, &week), 0);
    assert_eq!(changed(&week, &loaded("t.json", &tuesday)), 0);
    assert_eq!(changed(&week, &loaded("m.json", &monday)), 4);
}

#[test]
fn where_the_loader_found_the_same_driver_is_no_change() {
    let report = answered(&[roots(ROOTS)]);
    let mut moved = report.clone();
    moved.devices[0].identity.driver.manifest = "/elsewhere/driver.json".into();
    assert!(compared(&report, &moved).diff.summary.empty);
    moved.devices[0].identity.key = "another".into();
    assert_eq!(compared(&report, &moved).diff.summary.updated, 1);
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let (old, mut new) = (fixture::report(), fixture::report());
    let device = &mut new.devices[1];
    device.identity.driver.name = format!("{NASTY}{NASTY}");
    device.claims.flags.insert(NASTY.repeat(2), true);
    device.profiles[0].rules[4].behaviour = format!("other {NASTY}");
    device.profiles[0].rules[5].verdict = Verdict::Deviates;
    let diff = compared(&old, &new).diff;
    for form in DIFFS {
        let text = shown(&diff, form.name);
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\r']), "{}", form.name);
        assert!(form.name != "html" || !text.contains("<script>alert"));
    }
}

#[test]
fn a_screen_shows_what_is_new_and_the_rest_by_number() {
    // 1 + 1, which is wrong in the old report.
    let sum = |out: u64| Observation {
        cases: fpprobe_spirv::Cases::new("sum", 2, vec![0x3f80_0000; 2]),
        out: vec![out].into(),
        ..observation("f32.fadd", 0)
    };
    let (mut old, mut new) = updated([sum(0), sum(0x4000_0000)]);
    let d3d11 = fpprobe_profiles::profile::built_in("d3d11").unwrap().unwrap();
    let rules: Vec<String> = d3d11.rules.iter().map(|rule| rule.id.clone()).collect();
    let cause = |id: &str, symptom: &str, headline: &str, kernel: &str| {
        let mut cause = fixture::report().devices[0].causes[0].clone();
        let (format, operation) = kernel.split_once('.').unwrap();
        (cause.id, cause.symptom, cause.headline) =
            (id.to_owned(), symptom.to_owned(), headline.to_owned());
        (cause.kernels, cause.operations) = (vec![kernel.to_owned()], vec![operation.to_owned()]);
        (cause.formats, cause.rules) = (vec![format.to_owned()], rules.clone());
        cause
    };
    let kept = cause("aaaaaa", "subnormal_operand_kept", "keeps f32 subnormals", "f32.fadd");
    let sign = cause(
        "bbbbbb",
        "infinity_sign",
        "f32 inverse_sqrt: infinity has the wrong sign",
        "f32.inverse_sqrt",
    );
    let mut folded = cause("cccccc", "integer_range", "f32 fadd: beyond the range", "f32.fadd");
    old.devices[0].causes = vec![kept, folded.clone()];
    // The compiler alone still does it.
    (folded.id, folded.scope, folded.lanes) = ("dddddd".to_owned(), Scope::Constants, 1);
    folded.headline = "constants only: f32 fadd: beyond the range".to_owned();
    new.devices[0].causes = vec![sign, folded];
    let text = on_screen(&compared(&old, &new).diff);
    insta::assert_snapshot!("diff_screen", text);
}

#[test]
fn a_screen_holds_every_update() {
    let changed = |twist: u64| -> Vec<Observation> {
        let kernels = fpprobe_spirv::catalogue::plain();
        kernels.iter().map(|kernel| observation(&kernel.to_string(), twist)).collect()
    };
    let [mut old, mut new] = [0, 1].map(|twist| answered(&changed(twist)));
    // More causes and traits than there is room for.
    for (side, report) in [&mut old, &mut new].into_iter().enumerate() {
        let device = &mut report.devices[0];
        let cause = device.causes[0].clone();
        let causes = (0..40).map(|number| {
            let mut cause = cause.clone();
            (cause.id, cause.symptom) =
                (format!("{side}{number:05}"), format!("symptom {side} {number}"));
            cause.headline = format!("a device does {number} ").repeat(9);
            cause
        });
        device.causes = causes.collect();
        let traits = (0..60).map(|number| {
            let (value, lanes) = (format!("value {side} {number}"), 9);
            let value = TraitValue { value, lanes, shares: Vec::new(), evidence: Vec::new() };
            DeviceTrait { id: format!("trait.{number}"), run_time: Some(value), constants: None }
        });
        device.traits = traits.collect();
    }
    let text = on_screen(&compared(&old, &new).diff);
    assert!(text.lines().count() <= 40 && text.contains("causes more"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn markdown_fits_a_comment_and_text_a_few_screens() {
    let changed = |twist: u64| -> Vec<Observation> {
        let kernels = fpprobe_spirv::catalogue::plain();
        kernels.iter().map(|kernel| observation(&kernel.to_string(), twist)).collect()
    };
    let diff = compared(&answered(&changed(0)), &answered(&changed(1))).diff;
    assert!(diff.summary.kernels > 100, "{}", diff.summary.kernels);
    let page = shown(&diff, "md");
    assert!(page.len() < 65_536, "{}", page.len());
    assert_eq!(page.matches("<details>").count(), page.matches("</details>").count());
    // What stands outside of every fold.
    let mut depth = 0;
    let is_visible = |line: &&str| {
        let before = depth;
        depth += line.matches("<details>").count();
        depth -= line.matches("</details>").count();
        before == 0 && !line.is_empty()
    };
    let visible = page.lines().filter(is_visible).count();
    assert!(visible <= 60, "{visible} lines\n{page}");
    let text = shown(&diff, "text");
    assert!(
        text.lines().count() < 600 && text.contains(" more; --format json has everything"),
        "{text}"
    );
}

#[test]
fn a_damaged_stored_report_is_compared_with_nothing() {
    // One of version 1 and one of this.
    let fixture =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports/v1-lavapipe-25.fpreport");
    let whole = std::fs::read(&fixture).unwrap();
    let packed = container::pack(&update().0).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (shared, bytes) in packed.entry.shared.iter().zip(&packed.shared) {
        let path = folder.path().join(&shared.file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let path = folder.path().join("report");
    for bytes in [whole, packed.bytes] {
        std::fs::write(&path, &bytes).unwrap();
        let whole = format!("{:?}", to_compare([&path, &path]).unwrap());
        for place in (0..bytes.len()).step_by(53) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x10;
            std::fs::write(&path, &damaged).unwrap();
            match to_compare([&path, &path]) {
                // A frame's header has a bit that decoders ignore (RFC 8878, 3.1.1.1.1.3).
                Ok(read) => assert!(format!("{read:?}") == whole, "byte {place} is not noticed"),
                Err(error) => {
                    assert!(
                        matches!(error, LoadError::Stored { .. } | LoadError::Syntax { .. }),
                        "byte {place}: {error}"
                    );
                }
            }
        }
        for length in (20..bytes.len()).step_by(211) {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let error = to_compare([&path, &path]).unwrap_err();
            assert!(matches!(error, LoadError::Stored { .. }), "{length} bytes: {error}");
        }
        std::fs::write(&path, &bytes).unwrap();
        to_compare([&path, &path]).unwrap();
    }
}

#[test]
fn a_folder_is_its_report_or_every_report_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| {
        std::fs::write(folder.path().join(name), render("json", &fixture::report())).unwrap();
    };
    let message = set(folder.path()).unwrap_err().to_string();
    assert!(message.contains("holds no report.json"), "{message}");
    write("b.json");
    write("a.json");
    let files: Vec<String> = set(folder.path()).unwrap().into_iter().map(|one| one.file).collect();
    let name = |file: &String| Path::new(file).file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(files.iter().map(name).collect::<Vec<_>>(), ["a.json", "b.json"]);
    // A comparison beside them is none.
    std::fs::write(folder.path().join("c.json"), r#"{"schema": "fpprobe-diff/1"}"#).unwrap();
    assert_eq!(set(folder.path()).unwrap().len(), 2);
    std::fs::write(folder.path().join("c.json"), "{}").unwrap();
    set(folder.path()).unwrap_err();
    write("report.json");
    assert_eq!(set(folder.path()).unwrap().len(), 1);
}

#[test]
fn the_page_has_a_matrix_of_devices_and_profiles() {
    let (old, mut new) = update();
    new.devices[0].profiles[0].class = fpprobe_profiles::Class::Incomplete;
    let page = shown(&compared(&old, &new).diff, "html");
    let (_, matrix) = page.split_once("<table class=\"matrix").unwrap();
    let matrix = matrix.split("</table>").next().unwrap();
    assert!(matrix.contains("href=\"#d0\"") && page.contains("id=\"d0\""));
    let described = ["deviates", " → ", "incomplete", "regressed", "1 rule"];
    let places: Vec<usize> = described
        .iter()
        .map(|word| matrix.find(word).unwrap_or_else(|| panic!("{word}")))
        .collect();
    assert!(places.is_sorted(), "{matrix}");
    let same = shown(&compared(&old, &old).diff, "html");
    assert!(!same.contains("<table"));
}

/// Two drivers of one device, which has one slot.
fn two_drivers() -> Report {
    let mut both = answered(&[roots(ROOTS)]);
    let mut newer = both.devices[0].clone();
    newer.identity.driver.info = "newer".into();
    newer.identity.key = "newer".into();
    both.devices.push(newer);
    both
}

#[test]
fn drivers_of_one_slot_are_distinguished() {
    let both = two_drivers();
    let same = compared(&both, &both).diff;
    assert!(same.summary.empty && same.summary.compared == 2, "{same:?}");
    // The one that is updated is the one that is left.
    let mut updated = both.clone();
    updated.devices[1].identity.driver.info = "newest".into();
    updated.devices[1].identity.key = "newest".into();
    updated.devices.swap(0, 1);
    let diff = compared(&both, &updated).diff;
    let changes: Vec<_> = diff
        .devices
        .iter()
        .map(|device| (device.presence(), device.of(Subject::Identity).count()))
        .collect();
    assert_eq!(changes, [(None, 1), (None, 0)]);
    let mut alone = both.clone();
    alone.devices.remove(0);
    let diff = compared(&both, &alone).diff;
    assert_eq!((diff.summary.compared, diff.summary.disappeared), (1, 1));
    assert_eq!(diff.devices[0].of(Subject::Identity).next(), None);
}

#[test]
fn findings_and_what_could_not_be_measured_are_reported_once_they_change() {
    let old = answered(&[roots(ROOTS)]);
    let mut new = old.clone();
    let removed = new.devices[0].findings.remove(0);
    let incident = fpprobe_reports::model::Incident {
        subject: "other_icd.json".into(),
        outcome: Some(Outcome::Rejected),
        detail: "its library is missing".into(),
    };
    new.incomplete.push(incident.clone());
    let diff = compared(&old, &new).diff;
    assert!(!diff.summary.empty);
    assert_eq!((diff.incomplete.len(), &diff.incomplete[0].id), (1, &incident.subject));
    let finding = diff.devices[0].of(Subject::Finding).next().unwrap();
    assert_eq!((finding.kind, &finding.text), (ChangeKind::Disappeared, &removed.text));
    for form in ["text", "md"] {
        assert!(shown(&diff, form).contains("its library is missing"), "{form}");
        assert!(shown(&diff, form).contains("missing: "), "{form}");
    }
}

#[test]
fn what_befell_a_kernel_or_a_device_is_told_with_the_kernels_that_it_cost() {
    let (mut old, mut new) = update();
    let incident =
        |subject: &str, outcome: Outcome, detail: &str| fpprobe_reports::model::Incident {
            subject: subject.into(),
            outcome: Some(outcome),
            detail: detail.into(),
        };
    let in_company =
        |count: u32| format!("signal 11; found by halving a module of {count} kernels");
    let crashed = |count: u32| incident("f32.exp", Outcome::Crashed, &in_company(count));
    old.devices[0].incomplete =
        vec![crashed(35), incident("f32.sin", Outcome::Crashed, "signal 6")];
    let lost = incident("-", Outcome::DeviceLost, "given up with 7 kernels not asked");
    let hung = incident("f32.fmul", Outcome::Hung, "no answer within 10 s");
    new.devices[0].incomplete = vec![crashed(12), hung.clone(), lost.clone()];
    let diff = compared(&old, &new).diff;
    let described: Vec<_> =
        diff.devices[0].of(Subject::Incident).map(|one| (one.kind, one.id.as_str())).collect();
    let [appeared, disappeared] = [ChangeKind::Appeared, ChangeKind::Disappeared];
    assert_eq!(described, [(appeared, "f32.fmul"), (appeared, "-"), (disappeared, "f32.sin")]);
    for form in ["text", "md", "html"] {
        let page = shown(&diff, form);
        for line in [
            "new: f32.fmul: hung: no answer within 10 s",
            "new: the device: device lost: given up with 7 kernels not asked",
            "missing: f32.sin: crashed: signal 6",
        ] {
            assert!(page.contains(line), "{form}: {line}\n{page}");
        }
        assert!(page.to_lowercase().contains("disappeared") && !page.contains("f32.exp"), "{form}");
    }
    // Alone it is a difference, too.
    let mut only = old.clone();
    only.devices[0].incomplete.push(lost);
    let diff = compared(&old, &only).diff;
    assert!(!diff.summary.empty && shown(&diff, "text").contains("new: the device: "));
}

#[test]
fn what_never_was_measurable_is_not_lost() {
    let mut old = answered(&[roots(ROOTS)]);
    let mut new = old.clone();
    for (report, behaviour) in [(&mut old, "one"), (&mut new, "other")] {
        let rule = &mut report.devices[0].profiles[0].rules[0];
        (rule.verdict, rule.behaviour) = (Verdict::Incomplete, behaviour.to_owned());
    }
    let rules = |new: &Report| {
        compared(&old, new).diff.devices[0]
            .of(Subject::Rule)
            .map(|rule| rule.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(rules(&new), []);
    new.devices[0].profiles[0].rules[0].verdict = Verdict::Unsupported;
    assert_eq!(rules(&new), [ChangeKind::Changed]);
}

#[test]
fn a_rule_that_fails_on_other_or_more_inputs_than_before_is_a_regression() {
    // Subnormals that are kept, where D3D flushes them; those that are zero are flushed.
    let of = |flushed: &[u64]| {
        let kept = |bits: u64| if flushed.contains(&bits) { 0 } else { bits };
        let cases = fpprobe_spirv::Cases::new(
            "few",
            2,
            (1..=8).flat_map(|bits| [bits, 0]).collect::<Vec<u64>>(),
        );
        let out: Vec<u64> = (1..=8).map(kept).collect();
        let observations = [Observation { cases, out: out.into(), ..observation("f32.fadd", 0) }];
        let mut report = answered(&observations);
        report.devices[0].profiles = judge(&profiles()[..1], &observations).profiles;
        report
    };
    let kind = |old: &Report, new: &Report| {
        let diff = compared(old, new).diff;
        let rule = diff.devices[0]
            .of(Subject::Rule)
            .find(|rule| rule.id == "D32-18")
            .map(|rule| rule.kind);
        let lanes = diff.devices[0].of(Subject::Kernel).map(|kernel| kernel.kind).min();
        (rule, lanes)
    };
    let (few, many, others) = (of(&[3, 4, 5, 6, 7, 8]), of(&[]), of(&[1, 2, 5, 6, 7, 8]));
    let worse = Some(ChangeKind::Regressed);
    assert_eq!(kind(&few, &many), (worse, worse));
    assert_eq!(kind(&few, &others), (worse, worse), "as many lanes, and others");
    assert_eq!(kind(&many, &few), (Some(ChangeKind::Changed), Some(ChangeKind::Fixed)));
}

#[test]
fn the_first_lane_shown_of_a_regression_is_a_new_one() {
    let of = |wrong: std::ops::Range<u64>| {
        let cases = fpprobe_spirv::Cases::new(
            "few",
            2,
            (1..=30).flat_map(|bits| [bits, 0]).collect::<Vec<u64>>(),
        );
        let out: Vec<u64> =
            (1..=30).map(|bits| if wrong.contains(&bits) { bits } else { 0 }).collect();
        let observations = [Observation { cases, out: out.into(), ..observation("f32.fadd", 0) }];
        let mut report = answered(&observations);
        report.devices[0].profiles = judge(&profiles()[..1], &observations).profiles;
        report
    };
    // Ten lanes failed before, more than are shown; the eleventh is new.
    let diff = compared(&of(1..11), &of(1..12)).diff;
    let rule = diff.devices[0].of(Subject::Rule).find(|rule| rule.id == "D32-18").unwrap();
    assert_eq!(rule.kind, ChangeKind::Regressed);
    assert_eq!(argument(&rule.evidence[0].inputs[0]), "0000000b");
}

#[test]
fn lanes_that_a_nan_beside_them_brings_to_light_are_no_change() {
    // pow(2^-140, 0.5) without flushing in x; what comes of the other component is any NaN.
    let (x, y, nan) = (0x0000_0200_u64, 0x3f00_0000_u64, 0x7fc0_0000_u64);
    let of = |nans: [u64; 2]| {
        let scalars = fpprobe_spirv::Cases::new("few", 2, vec![x, y, nan, y]);
        let vectors = fpprobe_spirv::Cases::new("few.x2", 4, vec![x, nan, y, y]);
        let observations = [
            Observation {
                cases: scalars,
                out: [0x1c80_0000, nan].into(),
                ..observation("f32.pow", 0)
            },
            Observation {
                cases: vectors,
                outcome: if nans[0] == nans[1] { Outcome::Ran } else { Outcome::Flaky },
                out: [0x1c80_0000, nans[0]].into(),
                second: (nans[0] != nans[1]).then(|| [0x1c80_0000, nans[1]].into()),
                ..observation("f32.pow:width=2", 0)
            },
        ];
        let mut report = answered(&observations);
        report.devices[0].profiles = judge(&profiles()[..1], &observations).profiles;
        report
    };
    let (alike, unlike) = (of([nan, nan]), of([nan, nan + 1]));
    let failing = |report: &Report| {
        report.devices[0].profiles[0].rules.iter().map(|rule| rule.failing).sum::<usize>()
    };
    assert_eq!((failing(&alike), failing(&unlike)), (1, 2));
    for (old, new) in [(&alike, &unlike), (&unlike, &alike)] {
        let diff = compared(old, new).diff;
        assert_eq!(diff.devices[0].of(Subject::Rule).next(), None);
    }
}

#[test]
fn another_nan_is_a_regression_where_its_bits_are_demanded() {
    let of = |push: u64| {
        let plain = Observation {
            cases: fpprobe_spirv::Cases::new("few", 1, vec![0x7fc0_0001, 0x7fc0_0002]),
            out: [0x7fc0_0001, 0x7fc0_0009].into(),
            ..observation("f32.bitcast", 0)
        };
        let variant = Observation {
            out: [push, 0x7fc0_0008].into(),
            cases: plain.cases.clone(),
            ..observation("f32.bitcast:route=push", 0)
        };
        let observations = [plain, variant];
        let mut report = answered(&observations);
        report.devices[0].profiles = judge(&profiles()[..1], &observations).profiles;
        report
    };
    let diff = compared(&of(0x7fc0_0001), &of(0x7fc0_0005)).diff;
    assert!(
        diff.devices[0].of(Subject::Rule).any(|rule| rule.kind == ChangeKind::Regressed),
        "{diff:?}"
    );
}

#[test]
fn traits_that_changed_come_first_and_what_was_not_looked_at_alike_is_no_change() {
    let value = |values: &[&str], lanes: usize| {
        let share = |value: &&str| TraitShare {
            value: (*value).to_owned(),
            lanes: 1,
            kernels: vec!["f32.log".into()],
            place: String::new(),
            example: None,
            words: String::new(),
        };
        let shares = if values.len() > 1 { values.iter().map(share).collect() } else { Vec::new() };
        let value = if values.len() > 1 { MIXED } else { values[0] };
        Some(TraitValue { value: value.to_owned(), lanes, shares, evidence: Vec::new() })
    };
    let report = |log: &[&str], lanes: usize, bits: &[&str]| {
        let mut report = fixture::report();
        let one = |id: &str, run_time| DeviceTrait {
            id: id.to_owned(),
            run_time,
            constants: value(&["nan"], 1),
        };
        report.devices[0].traits = vec![
            one("f32.log_of_negative", value(log, lanes)),
            one("f32.nan_bits", value(bits, 1)),
        ];
        report
    };
    let old = report(&["nan"], 1, &["kept", "quieted"]);
    let diff = compared(&old, &report(&["zero"], 1, &["replaced"])).diff;
    let traits: Vec<&Change> = diff.devices[0].of(Subject::Trait).collect();
    let [change] = traits[..] else { panic!("{traits:?}") };
    assert_eq!((&*change.id, change.constants_only), ("f32.log_of_negative", false));
    assert_eq!((change.old.as_deref(), change.new.as_deref()), (Some("nan"), Some("zero")));
    assert!(!diff.summary.empty && compared(&old, &old).diff.summary.empty);
    for form in ["text", "md", "html"] {
        let page = self::shown(&diff, form).replace('\\', "");
        assert!(
            page.contains("Traits changed") && page.contains("f32.log_of_negative"),
            "{form}: {page}"
        );
    }
    // More values on the same lanes are a change; on others they need not be.
    let of = |lanes| {
        compared(&old, &report(&["nan", "zero"], lanes, &["kept"])).diff.devices[0]
            .of(Subject::Trait)
            .count()
    };
    assert_eq!((of(1), of(2)), (1, 0));
    // More lanes lost a value than there are others.
    let most = report(&["nan"], 90, &["kept"]);
    assert_eq!(
        compared(&most, &report(&["nan", "zero"], 2, &["kept"])).diff.devices[0]
            .of(Subject::Trait)
            .count(),
        1
    );
}
