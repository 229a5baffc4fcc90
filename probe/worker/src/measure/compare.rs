//! What two runs of a kernel amount to.

use fpprobe_profiles::Outcome;
use fpprobe_spirv::Format;

use super::KernelCases;
use super::in_place::watched;
use super::run::Lanes;
use crate::protocol::KernelResult;

/// Two runs of a kernel, in modules of their own.
pub const RUNS: &str = "two runs";

/// Compares the lanes of two dispatches, which are called `what`. Of a kernel that is `watched`,
/// the last lane is the extra case.
pub fn compare(work: &KernelCases, first: &Lanes, second: &Lanes, what: &str) -> KernelResult {
    let formats: Vec<Format> = work.kernel.output_formats().collect();
    let format = |lane: usize| formats[lane % formats.len()];
    let watched = watched(&work.kernel);
    let lanes = first.found.len() - usize::from(watched);
    let poisoned = |lane: usize| {
        (first.found[lane] == first.poison[lane], second.found[lane] == second.poison[lane])
    };
    // An honest answer may be the poison of one run by chance, but then the other run has it too.
    let missing = |lane: &usize| first.found[*lane] != second.found[*lane];
    let both = (0..lanes).filter(|lane| poisoned(*lane) == (true, true)).count();
    let once = (0..lanes)
        .filter(|lane| matches!(poisoned(*lane), (true, false) | (false, true)))
        .filter(missing)
        .count();
    let which = if both > 0 { "both of" } else { "one of" };
    // What was there may be the answer, but not the extra case's.
    if watched && poisoned(lanes) != (false, false) {
        return KernelResult::none(Outcome::NotWritten, "a texel that was to change is as it was");
    }
    if both + once > 0 && !watched {
        let detail =
            format!("{} of {lanes} results still hold their poison in {which} {what}", both + once);
        return KernelResult::none(Outcome::NotWritten, detail);
    }
    // Results narrower than their memory were stored as whole words: anything above the result is
    // not the kernel's.
    let wide = |lane: &usize| {
        [first, second].iter().all(|run| run.found[*lane] & !format(*lane).mask() != 0)
    };
    let stray = (0..lanes).find(|lane| wide(lane) && poisoned(*lane) == (false, false));
    if let Some(lane) = stray {
        let count = (0..lanes).filter(wide).count();
        let (a, bits) = (first.found[lane], format(lane).bits());
        return KernelResult::none(
            Outcome::NotWritten,
            format!(
                "{count} of {lanes} results hold bits above their {bits}: result {lane} is {a:x}, so it was written in part only"
            ),
        );
    }
    let masked = |values: &[u64]| -> Vec<u64> {
        values[..lanes]
            .iter()
            .enumerate()
            .map(|(lane, value)| value & format(lane).mask())
            .collect()
    };
    of_runs(masked(&first.found), masked(&second.found), what)
}

/// The results of two runs.
fn of_runs(first: Vec<u64>, second: Vec<u64>, what: &str) -> KernelResult {
    let differing = first.iter().zip(&second).filter(|(a, b)| a != b).count();
    if differing == 0 {
        return KernelResult {
            outcome: Outcome::Ran,
            detail: String::new(),
            out: first.into(),
            second: None,
        };
    }
    let detail = format!("{differing} of {} results differ between {what}", first.len());
    KernelResult { outcome: Outcome::Flaky, detail, out: first.into(), second: Some(second.into()) }
}

/// One answer of those to the cases of a kernel, which ran one by one. One that has no results
/// stands for all.
pub fn joined(answers: Vec<KernelResult>) -> KernelResult {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for answer in answers {
        if !answer.outcome.answered() {
            return answer;
        }
        second.extend_from_slice(answer.second.as_ref().unwrap_or(&answer.out));
        first.extend_from_slice(&answer.out);
    }
    of_runs(first, second, RUNS)
}
