//! Kernels again, each in a module of its own: whatever deviates must do so without company too, or the company matters.

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::judged::other_answer;
use fpprobe_reports::model::{Evidence, Finding};
use fpprobe_spirv::Kernel;

use crate::journal::Track;
use crate::supervisor::{Ask, Batching, Measured, Site, measure};

/// Lanes shown in a finding.
const SHOWN: usize = 4;

/// Measures these kernels of a device alone, but for those that were alone before. Differences are findings of kind `company`; the observations made alone
/// are returned with what went wrong on the way, for the caller to keep.
pub fn again(
    site: &Site<'_>,
    observations: &[Observation],
    kernels: &[Kernel],
    track: Option<&Track<'_>>,
) -> Result<Measured, String> {
    let before: Vec<&Observation> = observations
        .iter()
        .filter(|observation| observation.outcome == Outcome::Ran && kernels.contains(&observation.kernel))
        .filter(|observation| !Batching::Shared.is_alone(&observation.kernel))
        .collect();
    if before.is_empty() {
        return Ok(Measured::default());
    }
    let asks = before.iter().map(|observation| Ask { kernel: observation.kernel, cases: observation.cases.clone() });
    let asks: Vec<Ask> = asks.collect();
    let mut alone = measure(site, &asks, Batching::Alone, track)?;
    let findings = before.iter().filter_map(|before| {
        let again = alone.observations.iter().find(|alone| alone.kernel == before.kernel);
        company(before, again?)
    });
    let findings: Vec<Finding> = findings.collect();
    alone.findings.extend(findings);
    Ok(alone)
}

fn company(before: &Observation, alone: &Observation) -> Option<Finding> {
    let kernel = &before.kernel;
    let text = if !alone.outcome.answered() {
        format!("{kernel} ran in company of other kernels, but not alone: {}", alone.detail)
    } else if before.out == alone.out {
        return None;
    } else {
        format!("{kernel} answers differently in a module of its own than in company of other kernels")
    };
    Some(Finding { kind: "company".to_owned(), text, evidence: differing(before, &alone.out) })
}

/// The first lanes in which other answers differ.
fn differing(observation: &Observation, other: &[u64]) -> Vec<Evidence> {
    let width = observation.kernel.outputs();
    let pairs = observation.out.chunks(width).zip(other.chunks(width)).zip(observation.cases.iter());
    let differ = pairs.filter(|((a, b), _)| a != b).take(SHOWN);
    differ.map(|((answer, other), case)| other_answer(observation, case, answer, other)).collect()
}
