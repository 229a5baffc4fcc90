//! `JUnit` XML: well formed whatever drivers say, with what CI systems show.

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus};

use crate::fixture::{self, render};

fn document() -> (String, Document) {
    let text = render("junit", &fixture::report());
    let document = Document::deserialize_from_str(&text).unwrap();
    (text, document)
}

#[test]
fn a_suite_for_each_device_and_profile_and_a_case_for_each_rule() {
    let (_, document) = document();
    let report = fixture::report();
    for device in &report.devices {
        for profile in &device.profiles {
            let of_profile = |case: &&TestCase| {
                case.classname.as_ref().is_some_and(|name| name.as_str() == profile.id)
            };
            let slot = |property: &quick_junit::Property| {
                property.name.as_str() == "device.slot"
                    && property.value.as_str() == device.identity.slot
            };
            let suites =
                document.test_suites.iter().filter(|suite| suite.properties.iter().any(slot));
            let cases = suites.flat_map(|suite| &suite.test_cases).filter(of_profile).count();
            assert_eq!(cases, profile.rules.len(), "{}", profile.id);
        }
    }
    let first = &document.test_suites[0];
    let case =
        first.test_cases.iter().find(|case| case.name.as_str().starts_with("D32-18 ")).unwrap();
    let TestCaseStatus::NonSuccess {
        kind: NonSuccessKind::Failure, description: Some(text), ..
    } = &case.status
    else {
        panic!("{case:?}");
    };
    assert!(text.as_str().contains("fpprobe eval f32.fmul 00000300 78000000"), "{text:?}");
    let dependent =
        first.test_cases.iter().find(|case| case.name.as_str().starts_with("D32-20 ")).unwrap();
    assert!(matches!(dependent.status, TestCaseStatus::Skipped { .. }));
}

#[test]
fn flaky_answers_are_flaky_and_what_was_lost_is_an_error() {
    let (text, document) = document();
    assert!(text.contains("<flakyFailure "));
    let cases = || document.test_suites.iter().flat_map(|suite| &suite.test_cases);
    let flaky = |case: &&TestCase| matches!(&case.status, TestCaseStatus::Success { flaky_runs } if flaky_runs.len() == 1);
    assert_eq!(cases().filter(flaky).count(), 2);
    let crashed = cases().find(|case| case.name.as_str() == "f32.sin").unwrap();
    assert!(matches!(
        crashed.status,
        TestCaseStatus::NonSuccess { kind: NonSuccessKind::Error, .. }
    ));
}

#[test]
fn hostile_text_leaves_it_well_formed() {
    let (text, _) = document();
    // XML 1.0, 2.2: no other control character may stand there, not even as a reference.
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "control characters");
    assert!(!text.contains("&#x1b;") && !text.contains("&#27;") && !text.contains('\u{202e}'));
    assert!(text.contains("&lt;script&gt;") && !text.contains("<script>"));
}
