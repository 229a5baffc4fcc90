//! Causes that are new, worse, better or missing, and what is coverage.

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::Report;
use fpprobe_reports::change::Subject;
use fpprobe_reports::diff::DeviceDiff;
use fpprobe_reports::model::Cause;
use fpprobe_spirv::Cases;

use crate::diff::{answered, compared, shown};
use crate::fixture::{self, observation, without_answers};

/// A report with these answers and causes: id, first kernel, lanes.
fn report(observations: &[Observation], causes: &[(&str, &str, usize)]) -> Report {
    let mut report = answered(observations);
    let sample = fixture::report().devices[0].causes[0].clone();
    let d3d11 = fpprobe_profiles::profile::built_in("d3d11").unwrap().unwrap();
    let rules: Vec<String> = d3d11.rules.iter().map(|rule| rule.id.clone()).collect();
    let cause = |(id, kernel, lanes): &(&str, &str, usize)| Cause {
        id: (*id).to_owned(),
        headline: format!("headline of {id}"),
        symptom: format!("symptom of {}", &id[..1]),
        kernels: vec![(*kernel).to_owned()],
        profiles: vec!["d3d11".to_owned()],
        rules: rules.clone(),
        lanes: *lanes,
        ..sample.clone()
    };
    report.devices[0].causes = causes.iter().map(cause).collect();
    report
}

fn device(old: &Report, new: &Report) -> DeviceDiff {
    compared(old, new).diff.devices.swap_remove(0)
}

fn words(old: &Report, new: &Report) -> Vec<String> {
    device(old, new)
        .of(Subject::Cause)
        .map(|change| change.in_words().replace("headline of ", ""))
        .collect()
}

#[test]
fn causes_are_compared_by_id_and_habit() {
    // 1 and 1, 2 and 2: one lane of each kernel is wrong now, and one of the product no more.
    let of = |kernel: &str, out: [u64; 2]| {
        let cases = vec![0x3f80_0000, 0x3f80_0000, 0x4000_0000, 0x4000_0000];
        let cases = Cases::new("pairs", 2, cases);
        Observation { cases, out: out.to_vec().into(), ..observation(kernel, 0) }
    };
    let old = report(
        &[of("f32.fadd", [0x4000_0000, 0x4080_0000]), of("f32.fmul", [0x3f80_0000, 0])],
        &[
            ("a1", "f32.fadd", 5),
            ("b1", "f32.fadd", 5),
            ("c1", "f32.fmul", 9),
            ("d1", "f32.fmul", 2),
        ],
    );
    // The habit of b has spread to another format, and so has another id.
    let new = report(
        &[of("f32.fadd", [0, 0x4080_0000]), of("f32.fmul", [0, 0x4080_0000])],
        &[
            ("c1", "f32.fmul", 8),
            ("b2", "f32.fadd", 6),
            ("e1", "f32.fmul", 3),
            ("a1", "f32.fadd", 5),
        ],
    );
    assert_eq!(words(&old, &old), Vec::<String>::new());
    let expected =
        ["e1: new", "b2: worse (6 lanes, was 5)", "c1: better (8 lanes, was 9)", "d1: fixed"];
    assert_eq!(words(&old, &new), expected);
    let headlines = device(&old, &new).headlines;
    assert_eq!(
        headlines,
        [expected[0], expected[1], expected[3]].map(|words| format!("headline of {words}"))
    );
    let diff = compared(&old, &new).diff;
    assert!(!diff.summary.empty);
    for form in ["text", "md", "html"] {
        let text = shown(&diff, form);
        assert!(
            text.contains("Causes changed") && text.contains("headline of d1"),
            "{form}: {text}"
        );
    }
}

#[test]
fn what_one_report_did_not_measure_or_judge_is_coverage() {
    let causes = [("a1", "f32.fadd", 5), ("b1", "f32.fmul", 5)];
    let whole = report(&[observation("f32.fadd", 0), observation("f32.fmul", 0)], &causes);
    let none: &[(&str, &str, usize)] = &[];
    for part in [
        report(&[observation("f32.fadd", 0)], &causes[..1]),
        report(
            &[observation("f32.fadd", 0), without_answers("f32.fmul", Outcome::Hung, "")],
            &causes[..1],
        ),
    ] {
        assert_eq!(
            [words(&whole, &part), words(&part, &whole)],
            [none, none].map(|_| Vec::<String>::new())
        );
    }
    // Other inputs of the same kernel.
    let sums = |cases: Vec<u64>| {
        let out: Vec<u64> = cases.chunks(2).map(|case| case[0]).collect();
        Observation {
            cases: Cases::new("sums", 2, cases),
            out: out.into(),
            ..observation("f32.fadd", 0)
        }
    };
    let few = report(&[sums(vec![0, 0])], &[("a1", "f32.fadd", 1)]);
    let more =
        report(&[sums(vec![0, 0, 1, 0, 2, 0])], &[("a1", "f32.fadd", 3), ("c1", "f32.fadd", 1)]);
    assert_eq!(
        [words(&few, &more), words(&more, &few)],
        [none, none].map(|_| Vec::<String>::new())
    );
    // Another version of the profile.
    let mut later = whole.clone();
    later.devices[0].profiles[0].version = "later".into();
    later.devices[0].causes.truncate(1);
    assert_eq!(words(&whole, &later), Vec::<String>::new());
    // A program that knew no causes.
    let mut earlier = whole.clone();
    earlier.devices[0].causes.clear();
    earlier.devices[0].profiles[0].rules[0].failing = 1;
    assert_eq!(words(&earlier, &whole), Vec::<String>::new());
}
