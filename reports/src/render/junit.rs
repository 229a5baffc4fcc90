//! `JUnit` XML for CI systems: a suite for each device and profile, a case for each rule; what was
//! flaky or could not be measured in a suite of the device's own. Failures are the deviations, one
//! per cause: what depends on another rule is skipped.

use std::io::{self, Write};

use quick_junit::{
    NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestRerun, TestSuite,
};

use super::lane;
use super::{Render, phrase};
use crate::deviations::deviations;
use crate::escape::{visible, visible_lines};
use crate::model::{Device, Evidence, Finding, Level, ProfileResult, Report, RuleResult, Verdict};

/// Lanes shown of each rule.
const EVIDENCE: usize = 4;

/// `JUnit` XML.
#[derive(Clone, Copy, Debug)]
pub struct Junit;

impl Render for Junit {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let excuse: &Excuse<'_> =
            &|_, _, rule| Err(JunitFailure { why: String::new(), evidence: rule.evidence.clone() });
        write(report, out, &JunitJudge { excuse, unmeasured: UnmeasuredPolicy::Error, suite: None })
    }
}

/// What excuses a rule's failure, or why nothing does.
pub(crate) type Excuse<'a> =
    dyn Fn(&Device, &ProfileResult, &RuleResult) -> Result<String, JunitFailure> + 'a;

/// A failure that nothing excuses.
#[derive(Clone)]
pub(crate) struct JunitFailure {
    /// Why nothing does, where there is more to say than that the rule is not met.
    pub(crate) why: String,
    /// The lanes that show it.
    pub(crate) evidence: Vec<Evidence>,
}

/// What a required rule is of which too little was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnmeasuredPolicy {
    /// An error.
    Error,
    /// Skipped.
    Skipped,
}

/// What becomes of rules that are not met.
pub(crate) struct JunitJudge<'a> {
    /// An excuse makes it skipped; why there is none goes into the message of the failure.
    pub(crate) excuse: &'a Excuse<'a>,
    /// What is made of what was not measured.
    pub(crate) unmeasured: UnmeasuredPolicy,
    /// What else there is to say.
    pub(crate) suite: Option<TestSuite>,
}

/// Writes the report.
pub(crate) fn write(
    report: &Report,
    out: &mut dyn Write,
    judge: &JunitJudge<'_>,
) -> io::Result<()> {
    let mut document = Document::new("fpprobe");
    document.add_test_suites(judge.suite.clone());
    for device in &report.devices {
        let name = phrase::label(report, device);
        let deviations = deviations(device);
        let is_deviation =
            |rule: &RuleResult| deviations.iter().any(|(_, one)| std::ptr::eq(*one, rule));
        for profile in &device.profiles {
            let mut suite = suite(device, &format!("{name}: {}", profile.id));
            suite.add_property(("profile.version", &*visible(&profile.version)));
            suite.add_property(("profile.class", profile.class.name()));
            suite.add_property(("profile.needs", &*visible(&profile.needs.join(" "))));
            suite.add_test_cases(profile.rules.iter().map(|rule| {
                let deviation = is_deviation(rule).then(|| (judge.excuse)(device, profile, rule));
                case(profile, rule, deviation.as_ref(), judge.unmeasured)
            }));
            document.add_test_suite(suite);
        }
        let mut measuring = suite(device, &format!("{name}: measuring"));
        let flaky = device.findings.iter().filter(|finding| finding.kind == "flaky");
        measuring.add_test_cases(flaky.map(self::flaky));
        for incident in device.incomplete.iter().filter(|incident| incident.is_failure()) {
            measuring.add_test_case(lost(
                &incident.subject,
                phrase::incident(incident.outcome),
                &incident.detail,
            ));
        }
        if !measuring.test_cases.is_empty() {
            document.add_test_suite(measuring);
        }
    }
    let failed = || report.incomplete.iter().filter(|incident| incident.is_failure());
    if failed().next().is_some() {
        let mut suite = TestSuite::new("drivers and devices");
        for incident in failed() {
            suite.add_test_case(lost(
                &incident.subject,
                phrase::incident(incident.outcome),
                &incident.detail,
            ));
        }
        document.add_test_suite(suite);
    }
    let text = document.to_string().map_err(io::Error::other)?;
    out.write_all(visible_lines(&text).as_bytes())
}

/// An empty suite that tells of which device it is.
fn suite(device: &Device, name: &str) -> TestSuite {
    let (identity, driver) = (&device.identity, &device.identity.driver);
    let mut suite = TestSuite::new(&*visible(name));
    for (name, text) in [
        ("device.name", &identity.name),
        ("device.slot", &identity.slot),
        ("device.key", &identity.key),
        ("device.type", &identity.kind),
        ("driver.name", &driver.name),
        ("driver.info", &driver.info),
        ("driver.version", &driver.version),
        ("driver.api_version", &driver.api_version),
        ("driver.build_id", &driver.build_id),
    ] {
        suite.add_property((name, &*visible(text)));
    }
    if !device.taint.is_empty() {
        suite.add_property(("device.taint", &*visible(&device.taint.join("; "))));
    }
    suite
}

/// One rule. A deviation comes with what excuses it, or with why nothing does.
fn case(
    profile: &ProfileResult,
    rule: &RuleResult,
    deviation: Option<&Result<String, JunitFailure>>,
    unmeasured: UnmeasuredPolicy,
) -> TestCase {
    let mut status = match (deviation, rule.verdict) {
        (Some(Err(_)), _) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        (Some(Ok(_)), _) => TestCaseStatus::skipped(),
        _ if rule.level == Level::Informative => TestCaseStatus::skipped(),
        (None, Verdict::Conforms | Verdict::Permitted) => TestCaseStatus::success(),
        (None, Verdict::Incomplete)
            if rule.level == Level::Required && unmeasured == UnmeasuredPolicy::Error =>
        {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
        (None, _) => TestCaseStatus::skipped(),
    };
    let met = matches!(status, TestCaseStatus::Success { .. });
    if !met {
        status.set_message(&*visible(&message(rule, deviation)));
    }
    if let Some(Err(failure)) = deviation {
        status.set_type(rule.verdict.name());
        status.set_description(visible_lines(&evidence(
            &rule.citation,
            &failure.evidence,
            lane::ACCEPTED,
        )));
    }
    let mut case = TestCase::new(&*visible(&format!("{} {}", rule.id, rule.title)), status);
    case.set_classname(&*visible(&profile.id));
    if met && !rule.behaviour.is_empty() {
        case.set_system_out(&*visible(&rule.behaviour));
    }
    case
}

/// What is said of a rule that is not simply met.
fn message(rule: &RuleResult, deviation: Option<&Result<String, JunitFailure>>) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend((rule.level != Level::Required).then(|| rule.level.name().to_owned()));
    parts.extend(
        deviation
            .map(|(Ok(why) | Err(JunitFailure { why, .. }))| why.clone())
            .filter(|why| !why.is_empty()),
    );
    parts.push(match rule.failing {
        0 => rule.verdict.name().to_owned(),
        _ => phrase::lanes(rule),
    });
    let on = if rule.verdict == Verdict::Depends { "depends on " } else { "" };
    parts.extend((!rule.behaviour.is_empty()).then(|| format!("{on}{}", rule.behaviour)));
    parts.join("; ")
}

/// A kernel that answered, though not twice the same.
fn flaky(finding: &Finding) -> TestCase {
    let mut run = TestRerun::new(NonSuccessKind::Failure);
    run.set_type("flaky").set_message(&*visible(&finding.text));
    run.set_description(visible_lines(&evidence("", &finding.evidence, lane::against(finding))));
    let mut status = TestCaseStatus::success();
    status.add_rerun(run);
    let kernel =
        finding.evidence.first().map_or(finding.text.as_str(), |evidence| &evidence.kernel);
    let mut case = TestCase::new(&*visible(kernel), status);
    case.set_classname("flaky");
    case
}

/// What could not be measured.
fn lost(subject: &str, what: &str, detail: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(what).set_message(&*visible(&format!("{what}: {detail}")));
    let mut case =
        TestCase::new(&*visible(if subject == "-" { "the device" } else { subject }), status);
    case.set_classname("measuring");
    case
}

/// The citation, then lanes and the commands that show them.
fn evidence(citation: &str, lanes: &[Evidence], against: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend((!citation.is_empty()).then(|| visible(citation).into_owned()));
    for one in lanes.iter().take(EVIDENCE) {
        lines.push(visible(&one.kernel).into_owned());
        for lane in lane::lines(one, against) {
            lines.push(
                visible(&format!("  {} {} {}", lane.name, lane.hex, lane.value))
                    .trim_end()
                    .to_owned(),
            );
        }
        lines.extend((!one.command.is_empty()).then(|| format!("  {}", visible(&one.command))));
    }
    lines.join("\n")
}
