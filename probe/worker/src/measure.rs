//! Running kernels more than once, so that no result rests on where or when it was computed.
//!
//! The second run dispatches the first run's pipeline again, with other poison, the cases in other
//! slots and another number of work groups. Modules that are to be compiled again have a third run,
//! with a module and pipeline of its own: other local and subgroup sizes, the kernels in reverse
//! order, after work groups that compute nothing. What all agree on is the result; what none wrote
//! is `not_written`; anything else is `flaky`. Where the result is known, and one run gives it,
//! there is no other. All that differs follows from the seed.

mod compare;
mod in_place;
mod poison;
mod result_dump;
mod run;
mod vary;

use std::time::Duration;

use fpprobe_profiles::Outcome;
use fpprobe_reports::model::Conditions;
use fpprobe_reports::support::Support;
use fpprobe_spirv::plan::{Plan, Variant};
use fpprobe_spirv::{Cases, Kernel};

use compare::{RUNS, compare};
use run::{Lanes, PreparedDispatch};
use vary::Turn;

pub use result_dump::ResultDump;
pub use vary::Limits;

use crate::protocol::{Failure, KernelResult, MODULES, Runs};

/// Two dispatches of one pipeline.
const AGAIN: &str = "two dispatches of one pipeline";
/// Pairs of dispatches that run at the same time under stress.
const PAIRS: u32 = 4;

/// What runs a module: a device, or in tests a stand-in.
pub trait Executor {
    /// Runs a module once. `buffers` hold the plan's buffers in order, `texels` those of its
    /// images; both are updated.
    fn dispatch(
        &mut self,
        words: &[u32],
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), Failure>;

    /// Dispatches the pipeline of the last [`Executor::dispatch`] again; the plan differs in
    /// operands and size alone.
    fn again(
        &mut self,
        plan: &Plan,
        buffers: &mut [Vec<u8>],
        texels: &mut [Vec<u8>],
        timeout: Duration,
    ) -> Result<(), Failure>;

    /// Dispatches that pipeline over both of these at the same time; says what the two were, `None`
    /// where it cannot.
    fn at_once(
        &mut self,
        _dispatches: [(&Plan, &mut [Vec<u8>]); 2],
        _timeout: Duration,
    ) -> Result<Option<&'static str>, Failure> {
        Ok(None)
    }

    /// What it can run.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Is shown what a dispatch left of each kernel.
    fn left(&mut self, _left: &ResultDump<'_>) -> Result<(), Failure> {
        Ok(())
    }
}

/// What turns a plan into SPIR-V.
pub type Builder = fn(&Plan) -> Result<Vec<u32>, String>;

/// One kernel with its cases.
#[derive(Clone, Debug)]
pub struct KernelCases {
    /// The kernel.
    pub kernel: Kernel,
    /// Its inputs.
    pub cases: Cases,
}

/// Runs these kernels, all in one module, so often, under these conditions. A failure is that of
/// the module, not of one kernel. Of a kernel by itself whose operands are constants each case has
/// a module of its own, where they are few: a compiler sees all constants of a module at once.
pub fn measure(
    executor: &mut dyn Executor,
    build: Builder,
    support: &Support,
    work: &[KernelCases],
    (runs, conditions): (Runs, Conditions),
    timeout: Duration,
) -> Result<Vec<KernelResult>, Failure> {
    let [KernelCases { kernel, cases }] = work else {
        return together(executor, build, support, work, (runs, conditions), timeout);
    };
    if !kernel.route.is_folded() || !(2..=MODULES).contains(&cases.len()) {
        return together(executor, build, support, work, (runs, conditions), timeout);
    }
    let mut answers = Vec::with_capacity(cases.len());
    for case in cases.iter() {
        let one = KernelCases { kernel: *kernel, cases: Cases::new("", kernel.arity(), case) };
        answers.extend(together(executor, build, support, &[one], (runs, conditions), timeout)?);
    }
    Ok(vec![compare::joined(answers)])
}

/// Runs these kernels in one module.
fn together(
    executor: &mut dyn Executor,
    build: Builder,
    support: &Support,
    work: &[KernelCases],
    (runs, conditions): (Runs, Conditions),
    timeout: Duration,
) -> Result<Vec<KernelResult>, Failure> {
    let mut answers: Vec<Option<KernelResult>> =
        work.iter().map(|work| refused(support, work)).collect();
    let able = work
        .iter()
        .zip(&answers)
        .filter(|pair| pair.1.is_none())
        .map(|pair| in_place::with_witness(pair.0));
    let able: Vec<KernelCases> = able.collect();
    if !able.is_empty() {
        let mut bench = Bench {
            executor,
            build,
            work: &able,
            storage16: support.storage16(),
            conditions,
            timeout,
        };
        let (first, others) = bench.runs(runs)?;
        let mut ran = able.iter().enumerate();
        for answer in answers.iter_mut().filter(|answer| answer.is_none()) {
            *answer = ran.next().map(|(place, work)| {
                let first = &first[place];
                let compared =
                    others.iter().map(|(what, lanes)| compare(work, first, &lanes[place], what));
                let mut compared: Vec<KernelResult> = compared.collect();
                match compared.iter().position(|answer| answer.outcome != Outcome::Ran) {
                    Some(differs) => compared.swap_remove(differs),
                    None => compared.pop().unwrap_or_else(|| compare(work, first, first, RUNS)),
                }
            });
        }
    }
    Ok(answers.into_iter().map(|answer| answer.unwrap_or_else(not_run)).collect())
}

fn not_run() -> KernelResult {
    KernelResult::none(Outcome::Rejected, "not run")
}

/// Kernels that one module holds, and what runs them.
struct Bench<'a> {
    executor: &'a mut dyn Executor,
    build: Builder,
    work: &'a [KernelCases],
    storage16: bool,
    conditions: Conditions,
    timeout: Duration,
}

/// What dispatches left, and what each is called beside the first run.
type Others = Vec<(&'static str, Vec<Lanes>)>;

impl<'a> Bench<'a> {
    /// Runs them, once or more often.
    fn runs(&mut self, runs: Runs) -> Result<(Vec<Lanes>, Others), Failure> {
        let seed = self.conditions.seed;
        let (kernel, limits) = (&self.work[0].kernel, self.executor.limits());
        let mut variants = vary::variants(seed, poison::seed(kernel, seed), limits);
        if kernel.op.code.is_of_subgroups() {
            variants = vary::of_subgroups(variants, limits);
        }
        let first = self.run(self.ready(variants[0], Turn::new(seed, 0)))?;
        // A run agrees with itself, but what may be poison says nothing until another has it.
        let wrote = |(work, lanes)| compare(work, lanes, lanes, RUNS).outcome == Outcome::Ran;
        if runs == Runs::One && self.work.iter().zip(&first).all(wrote) {
            return Ok((first, Vec::new()));
        }
        let mut others = self.further(variants[0])?;
        // A command has no pipeline to dispatch again.
        if runs == Runs::Recompiled || others.is_empty() {
            let compiled_again = self.run(self.ready(variants[1], Turn::new(seed, 1)))?;
            others.insert(0, (RUNS, compiled_again));
        }
        Ok((first, others))
    }

    /// Runs the module of a layout.
    fn run(&mut self, mut ready: PreparedDispatch<'_>) -> Result<Vec<Lanes>, Failure> {
        let words = ready.module(self.build)?;
        let (plan, buffers, texels) = ready.parts();
        self.executor.dispatch(&words, plan, buffers, texels, self.timeout)?;
        ready.lanes(self.executor)
    }

    /// Further dispatches of the pipeline that the first run had.
    fn further(&mut self, variant: Variant) -> Result<Others, Failure> {
        let mut others = Vec::new();
        let (seed, route) = (self.conditions.seed, self.work[0].kernel.route);
        let mut ready = self.ready(variant, Turn::again(seed, 2, route));
        if ready.plan.is_command() {
            return Ok(others);
        }
        ready.plan.columns += 1;
        let (plan, buffers, texels) = ready.parts();
        self.executor.again(plan, buffers, texels, self.timeout)?;
        others.push((AGAIN, ready.lanes(self.executor)?));
        for pair in 0..if self.conditions.stress { PAIRS } else { 0 } {
            let mut ready = [3, 4]
                .map(|number| self.ready(variant, Turn::again(seed, number + 2 * pair, route)));
            let dispatches = ready.each_mut().map(|one| {
                let (plan, buffers, _) = one.parts();
                (plan, buffers)
            });
            let Some(what) = self.executor.at_once(dispatches, self.timeout)? else { break };
            for one in ready {
                others.push((what, one.lanes(self.executor)?));
            }
        }
        Ok(others)
    }

    fn ready(&self, variant: Variant, turn: Turn) -> PreparedDispatch<'a> {
        PreparedDispatch::new(self.work, self.storage16, variant, turn)
    }
}

fn refused(support: &Support, work: &KernelCases) -> Option<KernelResult> {
    if work.cases.is_empty() {
        return Some(KernelResult::none(Outcome::Rejected, "there are no cases to run"));
    }
    support.lacks(&work.kernel).map(|reason| KernelResult::none(Outcome::Unsupported, reason))
}

#[cfg(test)]
mod tests;
