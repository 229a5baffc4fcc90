//! Running kernels twice, honestly (design, invariant 2).
//!
//! The second run has other poison, the cases in other slots, the kernels in reverse order behind idle work groups, and
//! a module and pipeline of its own. What both runs agree on is the answer; what neither run wrote is `not_written`;
//! anything else is `flaky`. Where the answer is known, and one run gives it, there is no second.

mod compare;
mod left;
mod poison;
mod run;
pub mod support;
mod witness;

use std::time::Duration;

use fpprobe_profiles::Outcome;
use fpprobe_spirv::plan::{Plan, Variant};
use fpprobe_spirv::{Cases, Kernel};

pub use left::Left;

use crate::protocol::{Answer, Failure, Runs};

/// What runs a module: a device, or in tests a stand-in.
pub trait Executor {
    /// Runs a module once. `buffers` hold the plan's buffers in order, `texels` those of its images; both are updated.
    fn dispatch(
        &mut self,
        words: &[u32],
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), Failure>;

    /// Is shown what a dispatch left of each kernel.
    fn left(&mut self, _left: &Left<'_>) -> Result<(), Failure> {
        Ok(())
    }
}

/// What turns a plan into SPIR-V.
pub type Builder = fn(&Plan) -> Result<Vec<u32>, String>;

/// One kernel with its cases.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The kernel.
    pub kernel: Kernel,
    /// What it is asked.
    pub cases: Cases,
}

/// Runs these kernels, all in one module, so often. A failure is that of the module, not of one kernel.
pub fn measure(
    executor: &mut dyn Executor,
    build: Builder,
    support: &support::Support,
    asked: &[Asked],
    runs: Runs,
    timeout: Duration,
) -> Result<Vec<Answer>, Failure> {
    let mut answers: Vec<Option<Answer>> = asked.iter().map(|asked| refused(support, asked)).collect();
    let able = asked.iter().zip(&answers).filter(|pair| pair.1.is_none()).map(|pair| witness::with_witness(pair.0));
    let able: Vec<Asked> = able.collect();
    if !able.is_empty() {
        let storage16 = support.storage16();
        let mut once = |number: u32| {
            let shift = if number == 0 { 0 } else { 1 + (poison::seed(&able[0].kernel) % 3) as u32 };
            let variant = Variant { shift, reversed: number > 0 };
            run::run(executor, build, &able, storage16, variant, number, timeout)
        };
        let first = once(0)?;
        // A run agrees with itself, but what may be poison says nothing until another has it.
        let wrote = |(asked, lanes)| compare::compare(asked, lanes, lanes).outcome == Outcome::Ran;
        let enough = runs == Runs::One && able.iter().zip(&first).all(wrote);
        let second = if enough { None } else { Some(once(1)?) };
        let mut ran = able.iter().zip(first.iter().zip(second.as_ref().unwrap_or(&first)));
        for answer in answers.iter_mut().filter(|answer| answer.is_none()) {
            *answer = ran.next().map(|(asked, (first, second))| compare::compare(asked, first, second));
        }
    }
    Ok(answers.into_iter().map(|answer| answer.unwrap_or_else(|| Answer::none(Outcome::Rejected, "not run"))).collect())
}

fn refused(support: &support::Support, asked: &Asked) -> Option<Answer> {
    if asked.cases.is_empty() {
        return Some(Answer::none(Outcome::Rejected, "there are no cases to run"));
    }
    support.lacks(&asked.kernel).map(|reason| Answer::none(Outcome::Unsupported, reason))
}

#[cfg(test)]
mod tests;
