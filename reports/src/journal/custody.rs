//! Which kernels may have taken the machine down: an intent without a result, from before the machine last started.

use super::{Batch, Pass, Record};

/// What is in quarantine, for a leg that is about to begin.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Custody {
    /// Kernels to put there now.
    pub hold: Vec<Batch>,
    /// Kernels that are there already.
    pub held: Vec<Batch>,
}

/// Draws the consequences of these records. `boot` tells whether the machine was started anew since; where it is not
/// known no start can be noticed.
pub fn custody<'a>(records: impl IntoIterator<Item = &'a Record>, boot: &str) -> Custody {
    let (mut leg, mut open, mut held) = ("", Vec::<(&str, &Batch)>::new(), Vec::<Batch>::new());
    for record in records {
        match record {
            Record::Leg(next) => leg = &next.boot,
            Record::Intent(batch) => open.push((leg, batch)),
            Record::Answers(answers) => {
                let kernels: Vec<String> = answers.answers.iter().map(|answer| answer.kernel.clone()).collect();
                close(&mut open, &answers.device, answers.pass, &kernels);
            }
            Record::Failure(failure) => close(&mut open, &failure.device, failure.pass, &failure.kernels),
            Record::Quarantined(batch) => {
                // What is held is accounted for.
                open.retain(|(_, intent)| !(same_pass(intent, batch) && within(intent, batch)));
                held.push(batch.clone());
            }
            Record::Released(free) => {
                for batch in held.iter_mut().filter(|batch| same_pass(batch, free)) {
                    batch.kernels.retain(|kernel| !free.kernels.contains(kernel));
                }
                held.retain(|batch| !batch.kernels.is_empty());
            }
            Record::Run(_) | Record::Device(_) => {}
        }
    }
    let before = |then: &str| !then.is_empty() && !boot.is_empty() && then != boot;
    let hold = open.into_iter().filter(|(then, _)| before(then)).map(|(_, batch)| batch.clone()).collect();
    Custody { hold, held }
}

fn same_pass(one: &Batch, other: &Batch) -> bool {
    (&one.device, one.pass) == (&other.device, other.pass)
}

fn within(inner: &Batch, outer: &Batch) -> bool {
    inner.kernels.iter().all(|kernel| outer.kernels.contains(kernel))
}

fn close(open: &mut Vec<(&str, &Batch)>, device: &str, pass: Pass, kernels: &[String]) {
    open.retain(|(_, batch)| !(batch.device == device && batch.pass == pass && batch.kernels == kernels));
}
