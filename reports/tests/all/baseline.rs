//! Accepted deviations: the file, its mistakes, its conditions, and the gate.

use fpprobe_profiles::{Outcome, Verdict};
use fpprobe_reports::Report;
use fpprobe_reports::baseline::{AcceptFilter, Baseline, Date, Revision, accept, read, write};
use fpprobe_reports::change::{ChangeKind, Subject};
use fpprobe_reports::check::{CHECKS, CheckResult, Gate, Terms, check};
use fpprobe_reports::render::Style;
use quick_junit::{TestCaseStatus, TestSuite};

use crate::fixture::{self, NASTY};
use crate::schema_check;

fn today() -> Date {
    "2026-11-22".parse().unwrap()
}

fn realistic() -> Report {
    let mut report = fixture::report();
    report.devices.truncate(1);
    report.devices[0].incomplete.clear();
    report.devices[0]
        .observations
        .retain(|one| matches!(one.outcome, Outcome::Ran | Outcome::Flaky | Outcome::Unsupported));
    report.incomplete.clear();
    report
}

fn because(reason: &str) -> AcceptFilter {
    AcceptFilter { reason: reason.to_owned(), ..AcceptFilter::default() }
}

fn text(baseline: &Baseline) -> String {
    let mut out = Vec::new();
    write(baseline, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn accepted(report: &Report, filter: &AcceptFilter) -> Baseline {
    let mut baseline = Baseline::default();
    accept(&mut baseline, report, filter, today()).unwrap();
    read("b.toml", &text(&baseline)).unwrap()
}

fn checked(report: &Report, baseline: &Baseline) -> CheckResult {
    check(report.program.clone(), &[], report, baseline, terms()).unwrap()
}

fn terms() -> Terms {
    Terms { today: today(), strict: false, allow_tainted: true, selected: false }
}

fn strictly(report: &Report, baseline: &Baseline) -> CheckResult {
    check(report.program.clone(), &[], report, baseline, Terms { strict: true, ..terms() }).unwrap()
}

fn shown(format: &str, report: &Report, baseline: &Baseline) -> String {
    let form = CHECKS.iter().find(|form| form.name == format).unwrap();
    let mut out = Vec::new();
    form.renderer.render(&checked(report, baseline), report, Style::PLAIN, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn what_is_accepted_passes_and_what_is_not_is_named() {
    let report = realistic();
    let nothing = checked(&report, &Baseline::default());
    assert!(!nothing.passed);
    assert!(
        nothing.regressed().all(|one| one.note == "not in the baseline" && !one.text.is_empty())
    );
    // What depends on another rule is no deviation of its own.
    assert!(nothing.regressed().all(|one| one.id != "D32-20"));
    let all = accepted(&report, &because("known"));
    assert_eq!(all.accepted.len(), nothing.regressed().count());
    let passed = checked(&report, &all);
    assert!(passed.passed && passed.changes.is_empty());
    assert_eq!(passed.accepted.len(), nothing.regressed().count());
    let one = AcceptFilter {
        rules: vec!["D32-18".into()],
        profiles: vec!["d3d11".into()],
        ..because("known")
    };
    let one = accepted(&report, &one);
    assert_eq!(one.accepted.len(), 1);
    assert_eq!(checked(&report, &one).regressed().count(), nothing.regressed().count() - 1);
}

#[test]
fn the_file_reviews_well_and_changes_little() {
    let report = realistic();
    let filter = AcceptFilter {
        link: Some("https://example.org/7".into()),
        ..because("Keeps subnormals; \"by design\"\u{1b}")
    };
    let mut baseline = accepted(&report, &filter);
    let before = text(&baseline);
    insta::assert_snapshot!("baseline", before);
    assert_eq!(
        accept(&mut baseline, &report, &because("another reason"), today()).unwrap(),
        Revision::default()
    );
    assert_eq!(text(&baseline), before);
}

#[test]
fn other_bits_or_more_lanes_are_another_deviation() {
    let mut report = realistic();
    let mut baseline = accepted(&report, &because("known"));
    let rule =
        report.devices[0].profiles[0].rules.iter_mut().find(|rule| rule.id == "D32-18").unwrap();
    rule.failing += 1;
    assert!(
        checked(&report, &baseline)
            .regressed()
            .next()
            .unwrap()
            .note
            .contains("3 lanes fail, where 2 were accepted")
    );
    let rule =
        report.devices[0].profiles[0].rules.iter_mut().find(|rule| rule.id == "D32-18").unwrap();
    rule.failing -= 1;
    rule.evidence[0].out = fpprobe_reports::model::Value::Bits("32400001".into());
    let why = checked(&report, &baseline).regressed().next().unwrap().note.clone();
    assert_eq!(why, "other bits than those accepted: f32.fmul 00000300 78000000 = 32400001");
    let count = baseline.accepted.len();
    assert_eq!(accept(&mut baseline, &report, &because("seen again"), today()).unwrap().set, 1);
    assert_eq!(baseline.accepted.len(), count);
    assert!(checked(&report, &baseline).passed);
}

#[test]
fn conditions_hold_or_are_reported() {
    let report = realistic();
    let why = |change: &dyn Fn(&mut AcceptFilter)| {
        let mut filter = because("known");
        change(&mut filter);
        checked(&report, &accepted(&report, &filter)).regressed().next().map(|one| one.note.clone())
    };
    assert_eq!(why(&|filter| filter.driver = true), None);
    assert_eq!(why(&|filter| filter.versions = Some(">=22.3, <22.4".parse().unwrap())), None);
    assert_eq!(why(&|filter| filter.expires = Some(today())), None);
    let mut expired =
        accepted(&report, &AcceptFilter { expires: Some(today()), ..because("known") });
    expired.accepted.iter_mut().for_each(|one| one.expires = Some("2026-11-21".parse().unwrap()));
    assert_eq!(
        checked(&report, &expired).regressed().next().unwrap().note,
        "its acceptance expired on 2026-11-21"
    );
    let mut newer = accepted(&report, &because("known"));
    newer.accepted.iter_mut().for_each(|one| one.versions = Some(">=25.0".parse().unwrap()));
    let message = "accepted for versions >=25.0 alone, and this is 22.3.6";
    assert_eq!(checked(&report, &newer).regressed().next().unwrap().note, message);
    // Nor is anything accepted that does not hold.
    let filter = AcceptFilter { versions: Some(">=25.0".parse().unwrap()), ..because("known") };
    let error =
        accept(&mut Baseline::default(), &report, &filter, today()).unwrap_err().to_string();
    assert!(error.ends_with(message), "{error}");
    let mut other = report.clone();
    let baseline = accepted(&report, &AcceptFilter { driver: true, ..because("known") });
    other.devices[0].identity.driver.name = "another".into();
    assert_eq!(
        checked(&other, &baseline).regressed().next().unwrap().note,
        "accepted of the driver examplepipe alone"
    );
    assert!("2026-02-30".parse::<Date>().is_err() && "soon".parse::<Date>().is_err());
}

#[test]
fn improvements_are_told_and_fail_when_strict() {
    let mut report = realistic();
    let baseline = accepted(&report, &because("known"));
    let rule =
        report.devices[0].profiles[0].rules.iter_mut().find(|rule| rule.id == "D32-18").unwrap();
    (rule.verdict, rule.failing) = (Verdict::Conforms, 0);
    for dependent in report.devices[0].profiles[0]
        .rules
        .iter_mut()
        .filter(|rule| rule.verdict == Verdict::Depends)
    {
        (dependent.verdict, dependent.failing) = (Verdict::Conforms, 0);
    }
    let loose = checked(&report, &baseline);
    assert!(loose.passed);
    let better: Vec<&str> =
        loose.of(ChangeKind::Fixed, Subject::Cause).map(|one| &*one.id).collect();
    assert_eq!(better, ["d3d11 D32-18"]);
    assert_eq!(strictly(&report, &baseline).gate, Gate::NotPassed);
    // What is better now goes on demand, what other rules, profiles or devices need stays.
    let pruned = |filter: &dyn Fn(&mut AcceptFilter)| {
        let (mut next, mut pruning) =
            (baseline.clone(), AcceptFilter { prune: true, ..because("known") });
        filter(&mut pruning);
        let revision = accept(&mut next, &report, &pruning, today()).unwrap();
        (next, revision)
    };
    let (next, revision) = pruned(&|_| {});
    assert_eq!(revision, Revision { set: 0, removed: 1 });
    assert_eq!(strictly(&report, &next).gate, Gate::Passed);
    assert_eq!(pruned(&|filter| filter.prune = false).1, Revision::default());
    assert_eq!(pruned(&|filter| filter.rules = vec!["D32-06".into()]).1.removed, 0);
    let mut unjudged = report.clone();
    unjudged.devices.iter_mut().for_each(|device| device.profiles.clear());
    assert_eq!(checked(&unjudged, &Baseline::default()).gate, Gate::NothingMeasured);
    report.devices.clear();
    let nobody = checked(&report, &baseline);
    let unmeasured = || nobody.of(ChangeKind::Disappeared, Subject::Cause);
    assert_eq!(unmeasured().count(), baseline.accepted.len());
    assert_eq!(unmeasured().next().unwrap().note, "no such device in the report");
    assert_eq!((nobody.gate, nobody.passed), (Gate::NothingMeasured, false));
    assert!(!shown("text", &report, &baseline).contains("passed"));
    assert!(shown("junit", &report, &baseline).contains("errors=\"1\""));
}

#[test]
fn tainted_reports_are_no_reference() {
    let report = fixture::report();
    let error = accept(&mut Baseline::default(), &report, &because("known"), today())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("VK_LAYER_EXAMPLE_overlay") && error.contains("--allow-tainted"),
        "{error}"
    );
    let allowed = AcceptFilter { allow_tainted: true, ..because("known") };
    assert!(accept(&mut Baseline::default(), &report, &allowed, today()).unwrap().set > 0);
}

#[test]
fn mistakes_are_named_with_file_line_and_key() {
    let head = "schema = \"fpprobe-baseline/1\"\n\n[[accept]]\ndevice = \"10005:0000\"\nprofile = \"d3d11\"\nrule = \"D32-18\"\n";
    let tail = "failing = 2\nseen = []\n";
    let mistake =
        |middle: &str| read("b.toml", &format!("{head}{middle}\n{tail}")).unwrap_err().to_string();
    let misspelt = mistake("resaon = \"x\"");
    assert!(
        misspelt.starts_with("b.toml:7: ") && misspelt.contains("unknown key `resaon`"),
        "{misspelt}"
    );
    assert!(misspelt.contains("did you mean `reason`?"), "{misspelt}");
    assert!(mistake("").contains("missing key `reason`"));
    assert_eq!(mistake("reason = \" \""), "b.toml:7: `accept.reason` is empty");
    let versions = mistake("reason = \"x\"\nversions = \"25\"");
    assert!(
        versions.starts_with("b.toml:8: `accept.versions`: `25` is no comparison"),
        "{versions}"
    );
    let expires = mistake("reason = \"x\"\nexpires = 2027-03-31T10:00:00Z");
    assert!(
        expires.starts_with("b.toml:8: `accept.expires`: ") && expires.contains("2027-03-31"),
        "{expires}"
    );
    assert!(mistake("reason = \"x\"\nexpires = 2027-02-30").starts_with("b.toml:8:"));
    assert!(mistake("reason = \"x\"\nlink = \"ticket 7\"").contains("is no address"));
    let body = format!("{head}reason = \"x\"\n{tail}");
    let twice = format!("{body}{}", body.split_once("\n\n").unwrap().1);
    assert!(read("b.toml", &twice).unwrap_err().to_string().contains("accepted twice"));
    let newer = read("b.toml", "schema = \"fpprobe-baseline/9\"\n").unwrap_err().to_string();
    assert!(newer.starts_with("b.toml:1: ") && newer.contains("fpprobe-baseline/2"), "{newer}");
}

#[test]
fn checks_are_told_in_every_form() {
    let report = realistic();
    let one = AcceptFilter { rules: vec!["D32-18".into()], ..because("known") };
    let baseline = accepted(&report, &one);
    insta::assert_snapshot!("check_text", shown("text", &report, &baseline));
    insta::assert_snapshot!("check_md", shown("md", &report, &baseline));
    let json = serde_json::from_str(&shown("json", &report, &baseline)).unwrap();
    let schema =
        fpprobe_reports::DOCUMENTS.iter().find(|document| document.name == "check").unwrap();
    assert_eq!(schema_check::check(&(schema.schema)(), &json), Vec::<String>::new());
    let junit =
        quick_junit::Report::deserialize_from_str(&shown("junit", &report, &baseline)).unwrap();
    let failing = |suite: &TestSuite| {
        suite
            .test_cases
            .iter()
            .filter(|case| matches!(case.status, TestCaseStatus::NonSuccess { .. }))
            .count()
    };
    let failures = junit.test_suites.iter().map(failing).sum::<usize>();
    assert_eq!(failures, checked(&report, &baseline).regressed().count());
}

#[test]
fn reading_and_writing_change_nothing() {
    let mut baseline =
        accepted(&realistic(), &because("\u{feff}tab\t\\ \"quotes\"\nline \u{e0041}\u{7f}"));
    baseline.accepted[0].versions = Some(">=25.0,\t<25.2\t".parse().unwrap());
    assert_eq!(read("b.toml", &text(&baseline)).unwrap(), baseline);
    for seed in ["one", "tabs", "cause"] {
        let file = format!("{}/fuzz/seeds/baseline/{seed}.toml", env!("CARGO_MANIFEST_DIR"));
        let baseline = read(seed, &std::fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(read(seed, &text(&baseline)).unwrap(), baseline);
    }
    let written = text(&baseline);
    let entries: Vec<&str> =
        written.split("\n[[").filter(|entry| entry.starts_with("accept")).collect();
    assert!(entries.len() > 1);
    let mut reversed = "schema = \"fpprobe-baseline/2\"\n".to_owned();
    for entry in entries.iter().rev() {
        reversed.extend(["\n[[", entry, "\n"]);
    }
    assert_eq!(read("b.toml", &reversed).unwrap().accepted, baseline.accepted);
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let report = fixture::report();
    let filter = AcceptFilter { allow_tainted: true, ..because(NASTY) };
    let mut baseline = Baseline::default();
    accept(&mut baseline, &report, &filter, today()).unwrap();
    let written = text(&baseline);
    assert!(!written.contains(['\u{1b}', '\u{202e}', '\r']));
    assert_eq!(read("b.toml", &written).unwrap(), baseline);
    for form in CHECKS {
        for baseline in [&baseline, &Baseline::default()] {
            let text = shown(form.name, &report, baseline);
            assert!(!text.contains(['\u{1b}', '\u{202e}', '\r']), "{}", form.name);
        }
    }
}
