//! Which kernels may have taken the machine down: an intent without a result, from before the
//! machine last started.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{BatchRecord, BatchResults, FailureRecord, Pass, QuarantineRecord, Record};

/// What identifies an intent: device, pass, kernels.
type IntentKey<'a> = (&'a str, Pass, Vec<&'a str>);

/// What is in quarantine, for a leg that is about to begin: kernels by device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Custody {
    /// To be put there now.
    pub hold: BTreeMap<String, BTreeSet<String>>,
    /// There already.
    pub quarantined: BTreeMap<String, BTreeSet<String>>,
}

impl Custody {
    /// Draws the consequences of these records. `boot` shows whether the machine was started anew
    /// since; where it is not known no start can be noticed.
    pub fn new<'a>(records: impl IntoIterator<Item = &'a Record>, boot: &str) -> Custody {
        let mut leg = "";
        let mut open: HashMap<IntentKey<'_>, &str> = HashMap::new();
        let mut custody = Custody::default();
        for record in records {
            match record {
                Record::Leg(next) => leg = &next.boot,
                Record::Intent(BatchRecord { device, pass, kernels }) => {
                    open.insert((device, *pass, kernels.iter().map(String::as_str).collect()), leg);
                }
                Record::Answers(BatchResults { device, pass, answers }) => {
                    open.remove(&(
                        device,
                        *pass,
                        answers.iter().map(|answer| answer.kernel.as_str()).collect(),
                    ));
                }
                Record::Failure(FailureRecord { device, pass, kernels, .. }) => {
                    open.remove(&(device, *pass, kernels.iter().map(String::as_str).collect()));
                }
                // What the program itself has broken off took nothing down.
                Record::Ended { .. } => open.clear(),
                Record::Quarantined(QuarantineRecord { device, kernels }) => {
                    custody
                        .quarantined
                        .entry(device.clone())
                        .or_default()
                        .extend(kernels.iter().cloned());
                }
                Record::Released(QuarantineRecord { device, kernels }) => {
                    if let Some(quarantined) = custody.quarantined.get_mut(device) {
                        quarantined.retain(|kernel| !kernels.contains(kernel));
                    }
                    // Whatever is open then was held for it.
                    let free = |intent: &[&str]| {
                        intent.iter().any(|one| kernels.iter().any(|kernel| kernel == one))
                    };
                    open.retain(|(other, _, intent), _| other != device || !free(intent));
                }
                Record::Run(_) | Record::Device(_) => {}
            }
        }
        custody.quarantined.retain(|_, kernels| !kernels.is_empty());
        for ((device, _, kernels), then) in open {
            if then.is_empty() || boot.is_empty() || then == boot {
                continue;
            }
            let quarantined = custody.quarantined.get(device);
            let fresh = kernels.iter().filter(|kernel| {
                quarantined.is_none_or(|quarantined| !quarantined.contains(**kernel))
            });
            let fresh: BTreeSet<String> = fresh.map(ToString::to_string).collect();
            if !fresh.is_empty() {
                custody.hold.entry(device.to_owned()).or_default().extend(fresh);
            }
        }
        custody
    }

    /// Everything in quarantine, what is to be put there included.
    pub fn all(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut all = self.quarantined.clone();
        for (device, kernels) in &self.hold {
            all.entry(device.clone()).or_default().extend(kernels.iter().cloned());
        }
        all
    }
}
