//! Kernels again, each in a module of its own: whatever deviates must do so without company too, or the company matters.
//!
//! They have run twice in company, so alone one run is enough to agree. One that does not is asked alone in full.

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::journal::Pass;
use fpprobe_reports::judged::other_answer;
use fpprobe_reports::model::{Evidence, Finding};
use fpprobe_spirv::Kernel;

use crate::journal::Track;
use crate::protocol::Runs;
use crate::supervisor::{Ask, Batching, Measured, Site, measure};

/// Lanes shown in a finding.
const SHOWN: usize = 4;

/// Measures these kernels of a device alone, but for those that were alone before. Differences are findings of kind `company`, or
/// `flaky` where they do not come again; the observations made alone are returned with what went wrong on the way, for the caller
/// to keep.
pub fn again<'t>(
    site: &Site<'_>,
    observations: &[Observation],
    kernels: &[Kernel],
    track: impl Fn(Pass) -> Option<Track<'t>>,
) -> Result<Measured, String> {
    let before: Vec<&Observation> = observations
        .iter()
        .filter(|observation| observation.outcome == Outcome::Ran && kernels.contains(&observation.kernel))
        .filter(|observation| !Batching::Shared.is_alone(&observation.kernel))
        .collect();
    let ask = |before: &[&Observation], runs, pass| {
        let ask = |before: &&Observation| Ask { kernel: before.kernel, cases: before.cases.clone() };
        let asks: Vec<Ask> = before.iter().map(ask).collect();
        if asks.is_empty() {
            Ok(Measured::default())
        } else {
            measure(site, &asks, Batching::Alone(runs), track(pass).as_ref())
        }
    };
    let mut alone = ask(&before, Runs::One, Pass::Alone)?;
    let once = std::mem::take(&mut alone.observations);
    let doubted: Vec<&Observation> = before.iter().copied().filter(|before| is_doubtful(before, &once)).collect();
    alone.absorb(ask(&doubted, Runs::Two, Pass::Doubted)?);
    let findings = before.iter().filter_map(|before| {
        let once = of(&once, &before.kernel)?;
        company(before, once, of(&alone.observations, &before.kernel).unwrap_or(once))
    });
    let findings: Vec<Finding> = findings.collect();
    alone.findings.extend(findings);
    alone.observations.extend(once);
    Ok(alone)
}

/// The observation of this kernel.
fn of<'a>(observations: &'a [Observation], kernel: &Kernel) -> Option<&'a Observation> {
    observations.iter().find(|observation| observation.kernel == *kernel)
}

/// Whether the answer alone is another. Of what gave none, or not the same twice, nothing is left to ask.
fn is_doubtful(before: &Observation, once: &[Observation]) -> bool {
    of(once, &before.kernel).is_some_and(|once| once.outcome == Outcome::Ran && once.out != before.out)
}

/// What the answers alone say of that in company: the first one, and where it was doubted the one in full.
fn company(before: &Observation, once: &Observation, full: &Observation) -> Option<Finding> {
    let kernel = &before.kernel;
    let answers = [Some(&full.out), full.second.as_ref(), Some(&once.out)];
    // What failed has no answers.
    let mut answers = answers.into_iter().flatten().filter(|out| out.len() == before.out.len());
    let other = answers.find(|out| **out != before.out);
    let (kind, text) = if !full.outcome.answered() {
        let once = if once.outcome.answered() { ", where it answered otherwise once" } else { "" };
        ("company", format!("{kernel} ran in company of other kernels, but not alone{once}: {}", full.detail))
    } else if full.out != before.out {
        ("company", format!("{kernel} answers differently in a module of its own than in company of other kernels"))
    } else {
        other?;
        (
            "flaky",
            format!("{kernel} answered differently once in a module of its own, though not when it was asked again"),
        )
    };
    let evidence = other.map_or_else(Vec::new, |other| differing(before, other));
    Some(Finding { kind: kind.to_owned(), text, evidence })
}

/// The first lanes in which other answers differ.
fn differing(observation: &Observation, other: &[u64]) -> Vec<Evidence> {
    let width = observation.kernel.outputs();
    let pairs = observation.out.chunks(width).zip(other.chunks(width)).zip(observation.cases.iter());
    let differ = pairs.filter(|((a, b), _)| a != b).take(SHOWN);
    differ.map(|((answer, other), case)| other_answer(observation, case, answer, other)).collect()
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::Cases;

    use super::*;

    fn observation(outcome: Outcome, out: &[u64], second: Option<&[u64]>) -> Observation {
        let (kernel, cases) = ("f32.sqrt".parse().unwrap(), Cases::new("", 1, vec![1, 2]));
        Observation {
            kernel,
            cases,
            outcome,
            detail: "why".to_owned(),
            out: out.into(),
            second: second.map(Into::into),
        }
    }

    #[test]
    fn one_answer_alone_that_is_the_same_is_enough() {
        let (before, same) = (observation(Outcome::Ran, &[3, 4], None), observation(Outcome::Ran, &[3, 4], None));
        assert_eq!(company(&before, &same, &same), None);
        assert!(!is_doubtful(&before, &[same]) && !is_doubtful(&before, &[]));
    }

    #[test]
    fn another_answer_is_doubted_and_the_full_one_says_what_it_is() {
        let (before, once) = (observation(Outcome::Ran, &[3, 4], None), observation(Outcome::Ran, &[3, 5], None));
        assert!(is_doubtful(&before, std::slice::from_ref(&once)));
        for (full, kind, lanes) in [
            (observation(Outcome::Ran, &[3, 5], None), "company", 1),
            (observation(Outcome::Flaky, &[6, 5], Some(&[3, 4])), "company", 2),
            (observation(Outcome::Crashed, &[], None), "company", 1),
            (observation(Outcome::Flaky, &[3, 4], Some(&[3, 5])), "flaky", 1),
            (observation(Outcome::Ran, &[3, 4], None), "flaky", 1),
        ] {
            let finding = company(&before, &once, &full).unwrap();
            assert_eq!((&*finding.kind, finding.evidence.len()), (kind, lanes), "{}", finding.text);
        }
    }

    #[test]
    fn what_failed_alone_was_asked_twice_already() {
        let (before, crashed) = (observation(Outcome::Ran, &[3, 4], None), observation(Outcome::Crashed, &[], None));
        assert!(!is_doubtful(&before, std::slice::from_ref(&crashed)));
        let finding = company(&before, &crashed, &crashed).unwrap();
        assert!(finding.kind == "company" && finding.text.ends_with("not alone: why"), "{}", finding.text);
    }
}
