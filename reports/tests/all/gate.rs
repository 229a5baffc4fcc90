//! The gate over every lane: what gets worse behind the lanes that are shown closes it, what gets
//! better does not; and a report that tells of nothing opens nothing.

mod short_lists;

use std::fmt::Write as _;

use fpprobe_profiles::profile::built_in;
use fpprobe_profiles::{Class, Observation, Outcome, Verdict};
use fpprobe_reports::Report;
use fpprobe_reports::baseline::{AcceptError, AcceptFilter, Baseline, Date, accept, read, write};
use fpprobe_reports::change::{ChangeKind, Subject};
use fpprobe_reports::check::{CHECKS, CheckResult, Gate, Terms, check};
use fpprobe_reports::judged::judge;
use fpprobe_reports::record::Recorder;
use fpprobe_reports::render::Style;
use fpprobe_reports::values::argument;
use fpprobe_spirv::Cases;

use crate::fixture;

/// Subnormals that are kept, where D3D flushes them.
const LANES: u64 = 40;

fn today() -> Date {
    "2026-11-22".parse().unwrap()
}

/// A device that adds like IEEE, but for what `change` makes of an answer; the number of the case
/// and the sum.
fn report(change: impl Fn(u64, u64) -> u64) -> Report {
    report_of(&[("f32.fadd", &change)])
}

/// What becomes of an answer.
type Change<'a> = &'a dyn Fn(u64, u64) -> u64;

/// The same of kernels of one operation.
fn report_of(kernels: &[(&str, Change<'_>)]) -> Report {
    let operands: Vec<u64> = (1..=LANES).flat_map(|bits| [bits, 0]).collect();
    let observed = |(id, change): &(&str, Change<'_>)| {
        Observation::ran(
            id.parse().unwrap(),
            Cases::new("f32.few", 2, operands.clone()),
            (1..=LANES).map(|bits| change(bits - 1, bits)).collect::<Vec<_>>().into(),
        )
    };
    let observations: Vec<Observation> = kernels.iter().map(observed).collect();
    let mut report = fixture::report();
    report.devices.truncate(1);
    report.incomplete.clear();
    let mut recorder = Recorder::new();
    let device = &mut report.devices[0];
    device.incomplete.clear();
    device.observations = recorder.device(&observations);
    let judged = judge(&[built_in("d3d11").unwrap().unwrap()], &observations);
    (device.profiles, device.causes) = (judged.profiles, judged.causes);
    report.inputs = recorder.inputs_table();
    report
}

fn accepted(report: &Report) -> Baseline {
    let mut baseline = Baseline::default();
    take(&mut baseline, report);
    baseline
}

/// Accepts, and reads what was written.
fn take(baseline: &mut Baseline, report: &Report) -> usize {
    let filter = AcceptFilter { reason: "known".into(), ..AcceptFilter::default() };
    let count = accept(baseline, report, &filter, today()).unwrap().set;
    let mut text = Vec::new();
    write(baseline, &mut text).unwrap();
    *baseline = read("b.toml", std::str::from_utf8(&text).unwrap()).unwrap();
    count
}

fn checked(report: &Report, baseline: &Baseline, strict: bool) -> CheckResult {
    let terms = Terms { today: today(), strict, allow_tainted: false, selected: false };
    check(report.program.clone(), &[built_in("d3d11").unwrap().unwrap()], report, baseline, terms)
        .unwrap()
}

fn of(
    checked: &CheckResult,
    kind: ChangeKind,
    subject: Subject,
) -> Vec<fpprobe_reports::change::Change> {
    checked.of(kind, subject).cloned().collect()
}

#[test]
fn other_bits_of_any_accepted_lane_close_it() {
    let baseline = accepted(&report(|_, sum| sum));
    assert!(checked(&report(|_, sum| sum), &baseline, true).passed);
    // Far behind the lanes that are shown.
    let worse =
        checked(&report(|case, sum| if case == 33 { 0x0055_5555 } else { sum }), &baseline, false);
    let of_rule = worse.regressed().find(|one| one.id == "D32-18").unwrap();
    assert_eq!(
        of_rule.note,
        "not among the accepted lanes and bits: f32.fadd 00000022 00000000 = 00555555"
    );
    assert_eq!(worse.gate, Gate::NotPassed);
    // It is shown, though the report shows others, with what is accepted where the profile is
    // known.
    let shown = &of_rule.evidence[0];
    assert_eq!(
        (argument(&shown.inputs[0]), argument(&shown.out)),
        ("00000022".to_owned(), "00555555".to_owned())
    );
    assert!(shown.command.contains("00000022"), "{}", shown.command);
    assert!(of_rule.evidence.len() > 1 && argument(&of_rule.evidence[1].inputs[0]) == "00000001");
    assert_eq!(shown.accepts, of_rule.evidence[1].accepts);
    for name in ["text", "md", "junit"] {
        let mut text = Vec::new();
        let form = CHECKS.iter().find(|form| form.name == name).unwrap();
        form.renderer.render(&worse, &report(|_, sum| sum), Style::PLAIN, &mut text).unwrap();
        let text =
            String::from_utf8(text).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, shown) = text.split_once("00000022 00000000 = 00555555").unwrap();
        let places = ["00000022", "00000001"]
            .map(|lane| shown.find(lane).unwrap_or_else(|| panic!("{lane}: {text}")));
        assert!(places.is_sorted(), "{text}");
    }
}

#[test]
fn fewer_of_the_same_lanes_pass_and_are_reported() {
    let mut baseline = accepted(&report(|_, sum| sum));
    let better = report(|case, sum| if case < 3 { 0 } else { sum });
    let loose = checked(&better, &baseline, false);
    assert!(loose.passed, "{:?}", loose.changes);
    assert_eq!(
        of(&loose, ChangeKind::Fixed, Subject::Cause)[0].note,
        "shows, though not on 3 of the 40 accepted lanes of all kernels"
    );
    assert_eq!(checked(&better, &baseline, true).gate, Gate::NotPassed);
    // Accepted anew, they may not come back.
    assert!(take(&mut baseline, &better) > 0);
    assert!(baseline.accepted.iter().all(|one| one.reason == "known"));
    assert!(checked(&better, &baseline, true).passed);
    assert!(!checked(&report(|_, sum| sum), &baseline, false).passed);
}

#[test]
fn reports_and_baselines_that_know_few_lanes_fall_back_on_them() {
    let mut old = report(|_, sum| sum);
    old.devices[0].profiles[0].rules.iter_mut().for_each(|rule| rule.failed.clear());
    let mut baseline = accepted(&old);
    assert!(baseline.accepted.iter().all(|one| one.lanes.is_empty()));
    assert!(
        checked(&old, &baseline, true).passed
            && checked(&report(|_, sum| sum), &baseline, true).passed
    );
    // The lanes are learnt when they are reported.
    assert!(take(&mut baseline, &report(|_, sum| sum)) > 0);
    assert!(checked(&old, &baseline, true).passed);
    // Lanes that the report does not hold are none.
    let mut forged = report(|_, sum| sum);
    for rule in &mut forged.devices[0].profiles[0].rules {
        rule.failed.iter_mut().for_each(|failed| failed.cases = "0-4000000000".into());
    }
    assert!(checked(&forged, &baseline, false).passed);
}

#[test]
fn what_was_lost_or_not_asked_opens_no_gate_as_if_it_were_met() {
    let good = report(|_, sum| sum);
    let baseline = accepted(&good);
    let without = |outcome: Outcome| {
        let mut report = good.clone();
        let device = &mut report.devices[0];
        let mut other = device.observations[0].clone();
        other.kernel = "f32.fsub".into();
        device.observations[0].outcome = outcome;
        device.observations[0].out = None;
        device.observations.push(other);
        let recorded =
            fpprobe_reports::record::read_device(&device.observations, &report.inputs).unwrap();
        device.profiles =
            judge(&[built_in("d3d11").unwrap().unwrap()], &recorded.observations).profiles;
        report
    };
    let crashed = checked(&without(Outcome::Crashed), &Baseline::default(), false);
    assert!(!crashed.passed);
    let mut only_other = without(Outcome::Crashed);
    only_other.devices[0].profiles[0].rules.retain(|rule| rule.id == "D32-18");
    for rule in &mut only_other.devices[0].profiles[0].rules {
        (rule.verdict, rule.behaviour, rule.failing) =
            (Verdict::Incomplete, "f32.fadd: crashed".into(), 0);
    }
    let lost = checked(&only_other, &baseline, false);
    assert_eq!(
        (lost.gate, of(&lost, ChangeKind::Disappeared, Subject::Incident).is_empty()),
        (Gate::Incomplete, false)
    );
    let mut unselected = only_other.clone();
    unselected.devices[0].observations.remove(0);
    unselected.devices[0].profiles[0].rules[0].behaviour = "f32.fadd was not measured".into();
    let loose = checked(&unselected, &baseline, false);
    assert_eq!(loose.gate, Gate::Passed);
    assert!(
        of(&loose, ChangeKind::Disappeared, Subject::Cause)
            .iter()
            .any(|one| one.note.contains("1 of the 1 kernels that showed it were not measured"))
    );
    assert_eq!(checked(&unselected, &baseline, true).gate, Gate::NotPassed);
    unselected.devices[0].observations.clear();
    assert_eq!(checked(&unselected, &baseline, false).gate, Gate::NothingMeasured);
}

#[test]
fn deviations_of_kernels_that_the_baseline_never_ran_are_coverage() {
    let keep = |_: u64, sum: u64| sum;
    let baseline = accepted(&report_of(&[("f32.fadd", &keep)]));
    let more = report_of(&[("f32.fadd", &keep), ("f32.fsub", &keep)]);
    let now = checked(&more, &baseline, false);
    assert_eq!(now.regressed().count(), 0);
    assert!(now.appeared().count() > 0 && now.gate == Gate::NotPassed);
    let shown = |format: &str| {
        let form = CHECKS.iter().find(|form| form.name == format).unwrap();
        let mut out = Vec::new();
        form.renderer.render(&now, &more, Style::PLAIN, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let text = shown("text").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("1 deviation of kernels not measured before"), "{text}");
    let junit = shown("junit");
    assert!(junit.contains("<error") && !junit.contains("<failure"), "{junit}");
    // What was measured and is otherwise now is a regression all the same.
    let other = |case: u64, sum: u64| if case == 3 { sum + 1 } else { sum };
    let worse = report_of(&[("f32.fadd", &other), ("f32.fsub", &keep)]);
    assert!(checked(&worse, &baseline, false).regressed().count() > 0);
}

#[test]
fn tainted_reports_are_checked_only_when_that_is_said() {
    let mut report = report(|_, sum| sum);
    report.devices[0].taint.push("VK_LAYER_x".into());
    let terms = Terms { today: today(), strict: false, allow_tainted: false, selected: false };
    let error = check(report.program.clone(), &[], &report, &Baseline::default(), terms)
        .unwrap_err()
        .to_string();
    assert!(error.contains("VK_LAYER_x") && error.contains("--allow-tainted"), "{error}");
}

#[test]
fn two_drivers_of_one_device_have_entries_of_their_own() {
    let mut both = report(|_, sum| sum);
    let mut other = both.devices[0].clone();
    other.identity.driver.info = "Mesa 25.0.7".into();
    other.identity.key = "another".into();
    both.devices.push(other);
    let worse = report(|case, sum| if case == 33 { 0x0055_5555 } else { sum });
    both.devices[0].observations = worse.devices[0].observations.clone();
    both.devices[0].profiles = worse.devices[0].profiles.clone();
    let baseline = accepted(&both);
    assert!(
        checked(&both, &baseline, true).passed,
        "{:?}",
        checked(&both, &baseline, true).changes
    );
    both.devices.swap(0, 1);
    assert!(checked(&both, &baseline, true).passed);
}

#[test]
fn what_cannot_be_meant_is_not_accepted() {
    let report = report(|_, sum| sum);
    let error = |change: &dyn Fn(&mut AcceptFilter)| {
        let mut filter = AcceptFilter { reason: "known".into(), ..AcceptFilter::default() };
        change(&mut filter);
        let mut baseline = Baseline::default();
        let error = accept(&mut baseline, &report, &filter, today()).unwrap_err();
        assert_eq!(baseline, Baseline::default());
        error
    };
    assert!(matches!(error(&|filter| filter.link = Some("#12".into())), AcceptError::Link(_)));
    assert!(matches!(error(&|filter| filter.reason = " ".into()), AcceptError::Reason));
    assert!(matches!(
        error(&|filter| filter.expires = "2026-11-21".parse().ok()),
        AcceptError::Expired(..)
    ));
    for change in [
        |filter: &mut AcceptFilter| filter.rules.push("D32-99".into()),
        |filter: &mut AcceptFilter| filter.profiles.push("d3d12".into()),
        |filter: &mut AcceptFilter| filter.devices.push("nobody".into()),
    ] {
        assert!(matches!(error(&change), AcceptError::Nothing { .. }));
    }
}

#[test]
fn ways_of_asking_are_accepted_each_by_itself() {
    const PLAIN: &str = "f32.fadd";
    const LITERAL: &str = "f32.fadd:route=literal";
    let keeps: Change<'_> = &|_, sum| sum;
    let flushes: Change<'_> = &|_, _| 0;
    let requested = |before: [Change<'_>; 2], now: [Change<'_>; 2]| {
        let [before, now] =
            [before, now].map(|[plain, literal]| report_of(&[(PLAIN, plain), (LITERAL, literal)]));
        checked(&now, &accepted(&before), false)
    };
    assert!(requested([keeps, keeps], [keeps, keeps]).passed);
    // It takes over wrong answers that were accepted of another.
    let worse = requested([keeps, flushes], [keeps, keeps]);
    assert!(
        worse.regressed().any(|one| one.note.contains("f32.fadd:route=literal fails, too")),
        "{worse:?}"
    );
    // The other is fixed; this one answers as ever.
    let better = requested([keeps, keeps], [flushes, keeps]);
    assert!(
        better.passed && !of(&better, ChangeKind::Fixed, Subject::Cause).is_empty(),
        "{better:?}"
    );
    assert!(requested([keeps, flushes], [flushes, flushes]).passed);
}

#[test]
fn what_ran_for_the_baseline_and_runs_no_more_closes_it_by_name() {
    let flushes: Change<'_> = &|_, _| 0;
    let both = report_of(&[("f32.fadd", flushes), ("f32.fadd:route=push", flushes)]);
    let baseline = accepted(&both);
    let known = &baseline.measured[0];
    assert_eq!((known.kernels.len(), known.failed.len()), (2, 0));
    assert!(checked(&both, &baseline, true).passed);
    let ended = |outcome: Outcome| {
        let mut report = both.clone();
        let lost = &mut report.devices[0].observations[1];
        (lost.outcome, lost.out, lost.detail) = (outcome, None, "why".to_owned());
        report
    };
    for (outcome, gate) in [
        (Outcome::Rejected, Gate::NotPassed),
        (Outcome::NotWritten, Gate::NotPassed),
        (Outcome::Unsupported, Gate::NotPassed),
        (Outcome::Crashed, Gate::Incomplete),
    ] {
        let checked = self::checked(&ended(outcome), &baseline, false);
        assert_eq!(checked.gate, gate, "{outcome:?}");
        let subject = if outcome == Outcome::Crashed { Subject::Incident } else { Subject::Kernel };
        let unrun = of(&checked, ChangeKind::Disappeared, subject);
        assert_eq!((unrun.len(), unrun[0].old.as_deref()), (1, Some("ran")));
        assert_eq!(unrun[0].id, "f32.fadd:route=push");
        for form in CHECKS {
            let mut out = Vec::new();
            form.renderer.render(&checked, &both, Style::PLAIN, &mut out).unwrap();
            assert!(
                String::from_utf8(out).unwrap().contains("f32.fadd:route=push"),
                "{} {outcome:?}",
                form.name
            );
        }
    }
    // What was not selected is not compared, and strictly it is missing.
    let mut part = both.clone();
    part.devices[0].observations.truncate(1);
    let loose = checked(&part, &baseline, false);
    assert_eq!(
        (loose.gate, loose.coverage[0].both, loose.coverage[0].baseline),
        (Gate::Passed, 1, 2)
    );
    assert_eq!(checked(&part, &baseline, true).gate, Gate::NotPassed);
    // Accepting a part forgets nothing; a device that is missing is missed.
    let mut next = baseline.clone();
    take(&mut next, &part);
    assert_eq!(next.measured, baseline.measured);
    part.devices[0].identity.device_id ^= 1;
    let other = checked(&part, &baseline, false);
    assert_eq!(
        (other.gate, of(&other, ChangeKind::Disappeared, Subject::Device).len()),
        (Gate::NotPassed, 1)
    );
    // Where no baseline knows that it ran, it is still a kernel that does not run.
    let unknown = checked(&ended(Outcome::Rejected), &Baseline::default(), true);
    let unrun = of(&unknown, ChangeKind::Disappeared, Subject::Incident);
    assert_eq!((unknown.gate, unrun[0].old.as_deref()), (Gate::Incomplete, None));
}

/// `0 + x` of a subnormal `x`, kept, and `pow` of subnormals with a result that only keeping them
/// explains.
fn kept(with_addition: bool, pow: u64) -> Report {
    let of = |id: &str, operands: Vec<u64>, out: u64| {
        Observation::ran(id.parse().unwrap(), Cases::new("few", 2, operands), [out].into())
    };
    // 2^-140 to the power of 0.5 is 2^-70; a flushed operand gives 0.
    let mut observations = vec![of("f32.pow", vec![0x0000_0200, 0x3f00_0000], pow)];
    observations.extend(with_addition.then(|| of("f32.fadd", vec![1, 0], 1)));
    judged(&observations)
}

fn judged(observations: &[Observation]) -> Report {
    let mut report = fixture::report();
    report.devices.truncate(1);
    report.incomplete.clear();
    let mut recorder = Recorder::new();
    let device = &mut report.devices[0];
    device.incomplete.clear();
    device.observations = recorder.device(observations);
    let judged = judge(&[built_in("d3d11").unwrap().unwrap()], observations);
    (device.profiles, device.causes) = (judged.profiles, judged.causes);
    report.inputs = recorder.inputs_table();
    report
}

#[test]
fn a_lane_that_counts_for_another_rule_since_less_was_measured_is_accepted() {
    let rule = |report: &Report, id: &str| {
        report.devices[0].profiles[0].rules.iter().find(|rule| rule.id == id).unwrap().failing
    };
    let kept_result = 0x1c80_0000;
    let (both, alone) = (kept(true, kept_result), kept(false, kept_result));
    assert_eq!(
        (rule(&both, "D32-36"), rule(&alone, "D32-36")),
        (0, 1),
        "the rule depends on what was measured"
    );
    assert!(rule(&both, "D32-18") > rule(&alone, "D32-18"));
    for (baseline, now) in [(&both, &alone), (&alone, &alone), (&both, &both)] {
        let checked = checked(now, &accepted(baseline), false);
        assert!(checked.passed && !checked.accepted.is_empty(), "{:?}", checked.changes);
    }
    // Whatever else was accepted of it, another result is none of it.
    let worse = checked(&kept(false, 0x1c80_0001), &accepted(&both), false);
    assert_eq!((worse.passed, worse.regressed().next().unwrap().id.as_str()), (false, "D32-36"));
    // What was accepted of another profile is not accepted.
    let mut other = accepted(&both);
    for one in &mut other.accepted {
        let lanes = std::mem::take(&mut *one.lanes).into_iter();
        one.lanes.extend(lanes.map(|((_, kernel), prints)| (("gl".to_owned(), kernel), prints)));
    }
    assert!(!checked(&alone, &other, false).passed);
    // A lane that counts for another rule is not fixed.
    assert!(checked(&both, &accepted(&both), true).passed);
}

#[test]
fn what_fails_on_random_operands_alone_is_listed_and_closes_no_gate() {
    let kernel: fpprobe_spirv::Kernel = "f32.fadd".parse().unwrap();
    let listed = fpprobe_spirv::catalogue::Extent::Default.cases(&kernel);
    // A device that adds as D3D wants it, but for what comes behind the list.
    let report = |random: &[[u64; 2]], id: &str| {
        let mut operands = listed.values().to_vec();
        operands.extend(random.iter().flatten());
        let cases = Cases::new("random", 2, operands);
        let sums = cases.iter().map(|case| {
            let flush = |bits: u64| {
                f32::from_bits(
                    bits as u32 & if bits & 0x7f80_0000 == 0 { 1 << 31 } else { u32::MAX },
                )
            };
            let sum = flush(case[0]) + flush(case[1]);
            flush(u64::from(sum.to_bits())).to_bits().into()
        });
        let mut out: Vec<u64> = sums.collect();
        out.truncate(listed.len());
        out.resize(cases.len(), 0x3f80_0000);
        judged(&[Observation::ran(id.parse().unwrap(), cases, out.into())])
    };
    let baseline = accepted(&report(&[], "f32.fadd"));
    assert!(baseline.accepted.is_empty(), "{:?}", baseline.accepted);
    let (x, y) = (0x4123_4567, 0x4234_5678);
    let wrong = report(&[[x, y]], "f32.fadd");
    assert!(wrong.devices[0].profiles[0].rules.iter().any(|rule| rule.failing > 0));
    let listed = checked(&wrong, &baseline, false);
    assert!(listed.passed, "{:?}", listed.changes);
    assert_eq!(checked(&wrong, &baseline, true).gate, Gate::NotPassed);
    // Nor does a baseline of that report accept them, or anything instead of them.
    assert!(accepted(&wrong).accepted.is_empty(), "{:?}", accepted(&wrong).accepted);
    let random = of(&listed, ChangeKind::Changed, Subject::Kernel);
    assert!(
        random[0].id == "f32.fadd" && random[0].note.contains(" on 1 lane of random operands"),
        "{random:?}"
    );
    for name in ["text", "md", "json"] {
        let mut text = Vec::new();
        let form = CHECKS.iter().find(|form| form.name == name).unwrap();
        form.renderer.render(&listed, &wrong, Style::PLAIN, &mut text).unwrap();
        assert!(String::from_utf8(text).unwrap().contains("41234567"), "{name}");
    }
    let mut junit = Vec::new();
    let form = CHECKS.iter().find(|form| form.name == "junit").unwrap();
    form.renderer.render(&listed, &wrong, Style::PLAIN, &mut junit).unwrap();
    let junit = String::from_utf8(junit).unwrap();
    assert!(
        !junit.contains("<failure") && junit.contains("fails on random operands alone"),
        "{junit}"
    );
}

#[test]
fn a_kernel_that_never_gives_the_same_twice_is_accepted_as_that() {
    let unstable = |first: u64| {
        let operands: Vec<u64> = (1..=300).flat_map(|bits| [bits, 0]).collect();
        let results = |from: u64| (0..300).map(|case| from + case).collect::<Vec<u64>>();
        judged(&[Observation {
            kernel: "f32.fadd".parse().unwrap(),
            cases: Cases::new("few", 2, operands),
            outcome: Outcome::Flaky,
            detail: String::new(),
            out: results(first).into(),
            second: Some(results(first + 1000).into()),
        }])
    };
    let baseline = accepted(&unstable(0x0001_0000));
    assert!(!baseline.accepted.is_empty() && baseline.accepted.len() < 5);
    let other = checked(&unstable(0x0002_0000), &baseline, true);
    assert!(other.passed, "{:?}", other.changes);
    // By chance it gives the same twice.
    assert!(checked(&report(|_, sum| sum), &baseline, false).passed);
    assert!(
        baseline.accepted[0].seen[0].contains("differ from run to run"),
        "{:?}",
        baseline.accepted[0].seen
    );
    // One lane that differs makes no kernel unstable: every other is compared.
    let flaky = |wrong: u64| {
        let operands: Vec<u64> = (1..=40).flat_map(|bits| [bits, 0]).collect();
        let out: Vec<u64> = (1..=40).map(|bits| bits + wrong).collect();
        let mut second = out.clone();
        second[7] = 0x0012_3456;
        judged(&[Observation {
            kernel: "f32.fadd".parse().unwrap(),
            cases: Cases::new("few", 2, operands),
            outcome: Outcome::Flaky,
            detail: String::new(),
            out: out.into(),
            second: Some(second.into()),
        }])
    };
    assert!(checked(&flaky(0), &accepted(&flaky(0)), true).passed);
    assert!(!checked(&flaky(1), &accepted(&flaky(0)), false).passed);
    // One that gave the same twice is not accepted to do so no more.
    let steady = accepted(&report(|_, sum| sum));
    assert!(!checked(&unstable(0x0001_0000), &steady, false).passed);
}

#[test]
fn what_constants_alone_show_leaves_the_class_at_run_time() {
    let flushes: Change<'_> = &|_, _| 0;
    let keeps: Change<'_> = &|_, sum| sum;
    let class = |plain: Change<'_>, literal: Change<'_>| {
        let mut report = report_of(&[("f32.fadd", plain), ("f32.fadd:route=literal", literal)]);
        let mut profile = report.devices[0].profiles.remove(0);
        // What nobody measured here would leave it open.
        profile.rules.retain(|rule| rule.verdict != Verdict::Incomplete);
        profile.class = Class::Deviates;
        profile.class_run_time()
    };
    assert_eq!(class(flushes, keeps), Class::Conforms);
    assert_eq!(class(keeps, keeps), Class::Deviates);
}

#[test]
fn one_of_two_drivers_of_a_device_is_missed() {
    let mut both = report(|_, sum| sum);
    let mut other = both.devices[0].clone();
    other.identity.driver.info = "Mesa 25.0.7".into();
    other.identity.key = "another".into();
    both.devices.push(other);
    let baseline = accepted(&both);
    assert!(checked(&both, &baseline, true).passed);
    let mut alone = both.clone();
    alone.devices.pop();
    let missed = checked(&alone, &baseline, false);
    assert_eq!(
        (missed.gate, of(&missed, ChangeKind::Disappeared, Subject::Device).len()),
        (Gate::NotPassed, 1),
        "{missed:?}"
    );
    // An update of the one driver that was there is no loss.
    let before = accepted(&alone);
    let mut updated = both;
    updated.devices.remove(0);
    assert!(
        of(&checked(&updated, &before, false), ChangeKind::Disappeared, Subject::Device).is_empty()
    );
}

/// What the version before wrote of these lanes, rule by rule, for the rules of a report.
fn version_1(report: &Report, baseline: &Baseline) -> Baseline {
    let mut text = Vec::new();
    write(baseline, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("    \"f32.") && line.contains(" +"));
    let rows: Vec<String> = rows.map(|row| row.replace(" +", " ")).collect();
    let mut old = "schema = \"fpprobe-baseline/1\"\n".to_owned();
    let deviating = |verdict| matches!(verdict, Verdict::Deviates | Verdict::Depends);
    let rules = report.devices[0].profiles[0].rules.iter();
    for rule in rules.filter(|rule| deviating(rule.verdict)) {
        let _ = write!(
            old,
            "\n[[accept]]\ndevice = \"10005:0000\"\nprofile = \"d3d11\"\nrule = \"{}\"\n\
             title = \"a title\"\nreason = \"known\"\nfailing = {}\nseen = []\nlanes = [\n{}\n]\n",
            rule.id,
            rule.failing,
            rows.join("\n")
        );
    }
    let (_, measured) = text.split_once("\n[[measured]]").unwrap();
    read("v1.toml", &format!("{old}\n[[measured]]{measured}")).unwrap()
}

#[test]
fn a_baseline_of_version_1_gives_the_same_verdicts() {
    let same = report(|_, sum| sum);
    let current = accepted(&same);
    let old = version_1(&same, &current);
    assert!(old.accepted.iter().all(|one| one.cause.starts_with("d3d11 D32-")), "{old:?}");
    let bits = report(|case, sum| if case == 33 { 0x0055_5555 } else { sum });
    let fewer = report(|case, sum| if case < 3 { 0 } else { sum });
    let fixed = report(|_, _| 0);
    let more = report_of(&[("f32.fadd", &|_, sum| sum), ("f32.fsub", &|_, sum| sum)]);
    for (now, strict, passes) in [
        (&same, true, true),
        (&bits, false, false),
        (&fewer, false, true),
        (&fewer, true, false),
        (&fixed, false, true),
        (&fixed, true, false),
        (&more, false, false),
    ] {
        for baseline in [&current, &old] {
            let checked = checked(now, baseline, strict);
            assert_eq!(checked.passed, passes, "{:?}", checked.changes);
        }
    }
    // What is accepted anew stands under its cause, and a reason is kept where less fails.
    let mut next = old.clone();
    assert!(take(&mut next, &fewer) > 0);
    assert!(checked(&fewer, &next, true).passed && !checked(&same, &next, false).passed);
    take(&mut next, &bits);
    assert!(checked(&bits, &next, true).passed, "{next:?}");
    assert!(next.accepted.iter().any(|one| !one.symptom.is_empty()), "{next:?}");
}

#[test]
fn a_lane_is_accepted_whatever_explains_it_now() {
    let before = report(|_, sum| sum);
    let baseline = accepted(&before);
    assert_eq!(baseline.accepted.len(), 1, "{baseline:?}");
    let one = &baseline.accepted[0];
    let cause = &before.devices[0].causes[0];
    assert_eq!((&one.cause, &one.headline), (&cause.id, &cause.headline));
    assert!(one.seen[0].starts_with("f32.fadd 0000"), "{one:?}");
    let mut other = before.clone();
    for rule in &mut other.devices[0].profiles[0].rules {
        rule.failed.iter_mut().for_each(|failed| failed.cause = "123456".to_owned());
    }
    assert!(checked(&other, &baseline, true).passed);
    // Nor is it accepted anew.
    assert_eq!(take(&mut baseline.clone(), &other), 0);
}

#[test]
fn a_cause_is_accepted_by_itself() {
    // Subnormals are kept, and one sum is another number.
    let report = report_of(&[
        ("f32.fadd", &|_, sum| sum),
        ("f32.fsub", &|_, sum| if sum == 7 { 0x3f80_0000 } else { 0 }),
    ]);
    let causes = &report.devices[0].causes;
    assert_eq!(causes.len(), 2, "{causes:?}");
    for cause in causes {
        let filter = AcceptFilter {
            reason: "known".into(),
            causes: vec![cause.id.clone()],
            ..AcceptFilter::default()
        };
        let mut baseline = Baseline::default();
        accept(&mut baseline, &report, &filter, today()).unwrap();
        assert_eq!(baseline.accepted.len(), 1);
        assert!(!checked(&report, &baseline, false).passed);
        accept(&mut baseline, &report, &AcceptFilter { causes: Vec::new(), ..filter }, today())
            .unwrap();
        assert_eq!(baseline.accepted.len(), 2);
        assert!(checked(&report, &baseline, true).passed);
    }
}
