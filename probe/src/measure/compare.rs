//! What two runs of a kernel amount to.

use fpprobe_profiles::Outcome;
use fpprobe_spirv::Format;

use super::Asked;
use super::run::Lanes;
use crate::protocol::Answer;

/// Results that cannot all be what was there before by chance.
const FEW: usize = 8;

/// Compares the lanes of two runs.
pub fn compare(asked: &Asked, first: &Lanes, second: &Lanes) -> Answer {
    let formats: Vec<Format> = asked.kernel.output_formats().collect();
    let format = |lane: usize| formats[lane % formats.len()];
    let lanes = first.found.len();
    let pairs = || first.found.iter().zip(&second.found).enumerate();
    let poisoned = |lane: usize| (first.found[lane] == first.poison[lane], second.found[lane] == second.poison[lane]);
    // An honest answer may be the poison of one run by chance, but then the other run has it too.
    let missing = |lane: &usize| first.found[*lane] != second.found[*lane];
    let both = (0..lanes).filter(|lane| poisoned(*lane) == (true, true)).count();
    let once =
        (0..lanes).filter(|lane| matches!(poisoned(*lane), (true, false) | (false, true))).filter(missing).count();
    // What was there may be the answer of some lanes, but not of all; of few it may.
    let blended = asked.kernel.op.code.is_blended();
    if blended && both == lanes && lanes >= FEW {
        return Answer::none(Outcome::NotWritten, format!("all {lanes} texels are as they were"));
    }
    let which = if both > 0 { "both runs" } else { "one of two runs" };
    if both + once > 0 && !blended {
        let detail = format!("{} of {lanes} results still hold their poison in {which}", both + once);
        return Answer::none(Outcome::NotWritten, detail);
    }
    // Results narrower than their memory were stored as whole words: anything above the result is not the kernel's.
    let wide = |lane: &usize| [first, second].iter().all(|run| run.found[*lane] & !format(*lane).mask() != 0);
    let stray = (0..lanes).find(|lane| wide(lane) && poisoned(*lane) == (false, false));
    if let Some(lane) = stray {
        let count = (0..lanes).filter(wide).count();
        let (a, bits) = (first.found[lane], format(lane).bits());
        return Answer::none(
            Outcome::NotWritten,
            format!(
                "{count} of {lanes} results hold bits above their {bits}: result {lane} is {a:x}, so it was written in part only"
            ),
        );
    }
    let masked = |values: &[u64]| -> Vec<u64> {
        values.iter().enumerate().map(|(lane, value)| value & format(lane).mask()).collect()
    };
    let differing = pairs().filter(|(_, (a, b))| a != b).count();
    if differing == 0 {
        return Answer { outcome: Outcome::Ran, detail: String::new(), out: masked(&first.found), second: None };
    }
    let detail = format!("{differing} of {lanes} results differ between two runs");
    Answer { outcome: Outcome::Flaky, detail, out: masked(&first.found), second: Some(masked(&second.found)) }
}
