//! Kernels again, each isolated: in a module of its own, and where its operands are constants case
//! by case.
//!
//! A result that an isolated run does not give is the batch's, not the kernel's, so the isolated
//! one is judged. Kernels have run twice batched, so one isolated run is enough to agree; what does
//! not agree runs isolated in full, compiled twice.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use fpprobe_profiles::judge::Judgement;
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::common::BATCH_DEPENDENT;
use fpprobe_reports::evidence::other_answer;
use fpprobe_reports::journal::{Pass, Quick};
use fpprobe_reports::model::{Evidence, Finding};
use fpprobe_spirv::{Cases, Kernel};

use super::quick;
use crate::supervisor::{Batching, Deadline, DeviceSession, Measurement, Track, WorkItem, measure};
use fpprobe_worker::protocol::Runs;

/// Lanes shown in a finding.
const SHOWN: usize = 4;

/// Cases of kernels that are not accepted.
type UnacceptedCases = HashMap<Kernel, HashSet<Vec<u64>>>;

/// Measures these kernels of a device isolated, but for those that were isolated before: all their
/// cases, or where the operands are constants those that fail. Differences are findings of kind
/// `batch_dependent`, or `flaky` where they do not come again. The observations returned hold the
/// isolated results, to stand in the place of the batched ones.
pub fn again<'t>(
    site: &DeviceSession<'_>,
    observations: &[Observation],
    (deviating, failing): (&HashSet<Kernel>, &UnacceptedCases),
    track: impl Fn(Pass) -> Option<Track<'t>>,
) -> Result<Measurement, String> {
    let whole: Vec<&Observation> = observations
        .iter()
        .filter(|observation| {
            observation.outcome == Outcome::Ran && deviating.contains(&observation.kernel)
        })
        .filter(|observation| !Batching::Shared.is_alone(&observation.kernel))
        .collect();
    let batched: Vec<Observation> = whole.iter().map(|whole| part(whole, failing)).collect();
    let batched: Vec<&Observation> = batched.iter().collect();
    let run = |batched: &[&Observation], runs, pass| {
        let item = |batched: &&Observation| WorkItem {
            kernel: batched.kernel,
            cases: batched.cases.clone(),
        };
        let work: Vec<WorkItem> = batched.iter().map(item).collect();
        if work.is_empty() {
            Ok(Measurement::default())
        } else {
            measure(site, &work, Batching::Alone(runs), track(pass).as_ref())
        }
    };
    let mut isolated = run(&batched, Runs::One, Pass::Alone)?;
    let once = std::mem::take(&mut isolated.observations);
    let doubted: Vec<&Observation> =
        batched.iter().copied().filter(|batched| is_doubtful(batched, &once)).collect();
    isolated.absorb(run(&doubted, Runs::Recompiled, Pass::Doubted)?);
    let full = std::mem::take(&mut isolated.observations);
    for (batched, whole) in batched.iter().zip(whole) {
        let Some(once) = of(&once, &batched.kernel) else { continue };
        let own = of(&full, &batched.kernel).unwrap_or(once);
        isolated.findings.extend(finding(batched, once, own));
        isolated.observations.extend(own.outcome.answered().then(|| in_place(whole, own)));
    }
    Ok(isolated)
}

/// What of an observation is to run isolated.
fn part(whole: &Observation, failing: &UnacceptedCases) -> Observation {
    let failing = failing.get(&whole.kernel).filter(|_| whole.kernel.route.is_folded());
    let Some(failing) = failing else { return whole.clone() };
    let cases: Vec<usize> =
        (0..whole.cases.len()).filter(|case| failing.contains(whole.cases.case(*case))).collect();
    let values: Vec<u64> = cases.iter().flat_map(|case| whole.cases.case(*case)).copied().collect();
    let out: Vec<u64> = cases.iter().flat_map(|case| whole.answer(*case)).copied().collect();
    Observation {
        cases: Cases::new("", whole.kernel.arity(), values),
        out: out.into(),
        ..whole.clone()
    }
}

/// An observation with isolated results of some of its cases in the place of its own.
fn in_place(whole: &Observation, isolated: &Observation) -> Observation {
    if isolated.cases == whole.cases {
        return isolated.clone();
    }
    let width = whole.kernel.outputs();
    let places: HashMap<&[u64], usize> = isolated.cases.iter().zip(0..).collect();
    let with = |values: &[u64]| -> Arc<[u64]> {
        let cases = whole.cases.iter().enumerate();
        let of_case = |(index, case)| match places.get(case) {
            Some(place) => &values[place * width..(place + 1) * width],
            None => whole.answer(index),
        };
        cases.flat_map(of_case).copied().collect()
    };
    Observation {
        outcome: isolated.outcome,
        detail: isolated.detail.clone(),
        out: with(&isolated.out),
        second: isolated.second.as_deref().map(with),
        ..whole.clone()
    }
}

/// The observation of this kernel.
fn of<'a>(observations: &'a [Observation], kernel: &Kernel) -> Option<&'a Observation> {
    observations.iter().find(|observation| observation.kernel == *kernel)
}

/// Whether the isolated results are others. Of what gave none, or not the same twice, nothing is
/// left to run.
fn is_doubtful(batched: &Observation, once: &[Observation]) -> bool {
    of(once, &batched.kernel)
        .is_some_and(|once| once.outcome == Outcome::Ran && once.out != batched.out)
}

/// What the isolated results say of the batched ones: those of the first run, and where they were
/// doubted those in full.
fn finding(batched: &Observation, once: &Observation, full: &Observation) -> Option<Finding> {
    let kernel = &batched.kernel;
    if !full.outcome.answered() {
        let (then, evidence) = if once.outcome.answered() {
            (", where it gave other results once", differing(batched, once, &once.out))
        } else {
            ("", Vec::new())
        };
        let text = format!(
            "{kernel} ran batched with other kernels, but not isolated{then}: {}",
            full.detail
        );
        return Some(Finding { kind: BATCH_DEPENDENT.to_owned(), text, evidence });
    }
    let lists = [Some(&full.out), full.second.as_ref(), Some(&once.out)];
    let other = lists.into_iter().flatten().find(|out| **out != batched.out)?;
    let (kind, text) = if full.out == batched.out {
        ("flaky", "gave other results once, isolated, though not when it ran again")
    } else {
        (
            BATCH_DEPENDENT,
            "gives other results isolated than batched with other kernels; the isolated ones are judged",
        )
    };
    Some(Finding {
        kind: kind.to_owned(),
        text: format!("{kernel} {text}"),
        evidence: differing(batched, full, other),
    })
}

/// The first lanes in which isolated results differ from batched ones.
fn differing(batched: &Observation, isolated: &Observation, out: &Arc<[u64]>) -> Vec<Evidence> {
    let width = batched.kernel.outputs();
    let pairs = out.chunks(width).zip(batched.out.chunks(width)).zip(batched.cases.iter());
    let differ = pairs.filter(|((one, other), _)| one != other).take(SHOWN);
    differ.map(|((one, other), case)| other_answer(isolated, case, one, other)).collect()
}

/// Measures kernels that deviate again, isolated, until none is left that deviates and did not run
/// isolated: which kernels deviate is not known before all have run, and what is judged by its
/// isolated result may show that another deviates. Returns what came of the isolated runs, and the
/// kernels whose results are theirs.
pub fn deviating<'t>(
    site: &DeviceSession<'_>,
    quick: Option<&Quick>,
    measured: &mut Measurement,
    judgements: &mut Vec<Judgement>,
    judge: impl Fn(&[Observation]) -> Vec<Judgement>,
    track: impl Fn(Pass) -> Option<Track<'t>>,
) -> Result<(Measurement, BTreeSet<String>), String> {
    let mut site = *site;
    let (mut tried, mut isolated) = (BTreeSet::new(), BTreeSet::new());
    if let Some(quick) = quick {
        site.deadline = Some(Deadline {
            from: 0,
            until: site.begun() + quick::TIME_ALONE,
            least: Duration::ZERO,
        });
        tried.extend(quick::known(quick, &site.target.found.identity).iter().cloned());
    }
    let mut alone = Measurement::default();
    while measured.skipped + alone.skipped == 0 {
        let rules = || judgements.iter().flat_map(|judgement| &judgement.rules);
        let all: HashSet<Kernel> = rules().flat_map(|rule| &rule.deviating).copied().collect();
        let next: HashSet<Kernel> =
            all.into_iter().filter(|kernel| tried.insert(kernel.to_string())).collect();
        if next.is_empty() {
            break;
        }
        let mut failing = UnacceptedCases::new();
        let lists = rules().flat_map(|rule| &rule.failing_lists);
        for list in lists.filter(|list| next.contains(&list.kernel)) {
            let cases = list.iter().map(|(case, _)| case.to_vec());
            failing.entry(list.kernel).or_default().extend(cases);
        }
        let mut again = again(&site, &measured.observations, (&next, &failing), &track)?;
        let own = std::mem::take(&mut again.observations);
        alone.absorb(again);
        isolated.extend(own.iter().map(|own| own.kernel.to_string()));
        if !put_in_place(&mut measured.observations, own) {
            break;
        }
        *judgements = judge(&measured.observations);
    }
    Ok((alone, isolated))
}

/// Puts isolated results in the place of batched ones; whether any is another.
fn put_in_place(observations: &mut [Observation], isolated: Vec<Observation>) -> bool {
    let mut others = false;
    for own in isolated {
        if let Some(place) = observations.iter_mut().find(|batched| batched.kernel == own.kernel) {
            others |= *place != own;
            *place = own;
        }
    }
    others
}

#[cfg(test)]
mod tests {
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
    fn one_isolated_run_with_the_same_results_is_enough() {
        let (batched, same) =
            (observation(Outcome::Ran, &[3, 4], None), observation(Outcome::Ran, &[3, 4], None));
        assert_eq!(finding(&batched, &same, &same), None);
        assert!(!is_doubtful(&batched, &[same]) && !is_doubtful(&batched, &[]));
    }

    #[test]
    fn other_results_are_doubted_and_the_full_ones_say_what_they_are() {
        let (batched, once) =
            (observation(Outcome::Ran, &[3, 4], None), observation(Outcome::Ran, &[3, 5], None));
        assert!(is_doubtful(&batched, std::slice::from_ref(&once)));
        for (full, kind, lanes) in [
            (observation(Outcome::Ran, &[3, 5], None), BATCH_DEPENDENT, 1),
            (observation(Outcome::Flaky, &[6, 5], Some(&[3, 4])), BATCH_DEPENDENT, 2),
            (observation(Outcome::Crashed, &[], None), BATCH_DEPENDENT, 1),
            (observation(Outcome::Flaky, &[3, 4], Some(&[3, 5])), "flaky", 1),
            (observation(Outcome::Ran, &[3, 4], None), "flaky", 1),
        ] {
            let finding = finding(&batched, &once, &full).unwrap();
            assert_eq!((&*finding.kind, finding.evidence.len()), (kind, lanes), "{}", finding.text);
        }
    }

    #[test]
    fn evidence_is_the_isolated_result_against_the_batched_one() {
        let (batched, full) =
            (observation(Outcome::Ran, &[3, 4], None), observation(Outcome::Ran, &[3, 5], None));
        let finding = finding(&batched, &full, &full).unwrap();
        let lane = &finding.evidence[0];
        assert_eq!(serde_json::to_value(&lane.out).unwrap(), "00000005");
        assert_eq!(lane.accepts, serde_json::json!({"bits": ["00000004"]}));
    }

    #[test]
    fn of_constants_the_cases_that_fail_run_isolated_and_stand_in_place() {
        let (kernel, cases) =
            ("f32.sqrt:route=literal".parse().unwrap(), Cases::new("list", 1, vec![1, 2, 3]));
        let whole = Observation { kernel, cases, ..observation(Outcome::Ran, &[7, 8, 9], None) };
        let failing = HashMap::from([(kernel, [vec![2]].into())]);
        let batched = part(&whole, &failing);
        assert_eq!((batched.cases.values().to_vec(), &batched.out[..]), (vec![2], &[8][..]));
        let own = Observation { out: [5].into(), ..batched };
        assert_eq!(&in_place(&whole, &own).out[..], [7, 5, 9]);
        let flaky = Observation { outcome: Outcome::Flaky, second: Some([6].into()), ..own };
        assert_eq!(in_place(&whole, &flaky).second.as_deref(), Some(&[7, 6, 9][..]));
    }

    #[test]
    fn what_failed_isolated_ran_twice_already() {
        let (batched, crashed) =
            (observation(Outcome::Ran, &[3, 4], None), observation(Outcome::Crashed, &[], None));
        assert!(!is_doubtful(&batched, std::slice::from_ref(&crashed)));
        let finding = finding(&batched, &crashed, &crashed).unwrap();
        assert!(
            finding.kind == BATCH_DEPENDENT && finding.text.ends_with("not isolated: why"),
            "{}",
            finding.text
        );
    }
}
