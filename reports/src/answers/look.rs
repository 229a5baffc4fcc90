//! A look at the answers of one device: what is looked at becomes the evidence.

use std::cell::RefCell;
use std::collections::HashMap;

use fpprobe_profiles::encoding::{Encoding, components};
use fpprobe_profiles::manner::{Aspect, manner};
use fpprobe_profiles::ways::Pair;
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::Kernel;

use crate::decimal::{coded, decimal};
use crate::model::Shown;
use crate::values::{encode_answer, encode_case, eval_command};

/// How many lanes one answer shows.
const MOST: usize = 12;

/// What is said of a kernel that no observation tells of.
pub(super) const UNMEASURED: &str = "not measured";

/// The observations of a device, and what was looked at since the last answer.
pub(super) struct Look<'a> {
    observations: HashMap<Kernel, &'a Observation>,
    pairs: &'a [Pair<'a>],
    shown: RefCell<Vec<Shown>>,
    wanted: RefCell<Vec<Kernel>>,
    unknown: RefCell<Vec<String>>,
}

impl<'a> Look<'a> {
    pub(super) fn new(observations: &'a [Observation], pairs: &'a [Pair<'a>]) -> Look<'a> {
        Look {
            observations: observations.iter().map(|observation| (observation.kernel, observation)).collect(),
            pairs,
            shown: RefCell::default(),
            wanted: RefCell::default(),
            unknown: RefCell::default(),
        }
    }

    /// What was shown since the last call.
    pub(super) fn shown(&self) -> Vec<Shown> {
        self.shown.take()
    }

    /// Kernels that were looked for.
    pub(super) fn wanted(&self) -> Vec<Kernel> {
        self.wanted.take()
    }

    /// Ids that name no kernel: a mistake in a question.
    #[cfg(test)]
    pub(super) fn unknown(&self) -> Vec<String> {
        self.unknown.take()
    }

    /// The observation of a kernel that ran; else what is to be said of it.
    pub(super) fn ran(&self, id: &str) -> Result<&'a Observation, &'static str> {
        let kernel: Kernel = if let Ok(kernel) = id.parse() {
            kernel
        } else {
            self.unknown.borrow_mut().push(id.to_owned());
            return Err(UNMEASURED);
        };
        let mut wanted = self.wanted.borrow_mut();
        if !wanted.contains(&kernel) {
            wanted.push(kernel);
        }
        match self.observations.get(&kernel) {
            None => Err(UNMEASURED),
            Some(observation) => match observation.outcome {
                Outcome::Ran | Outcome::Flaky => Ok(observation),
                Outcome::Unsupported => Err("not offered"),
                _ => Err("failed"),
            },
        }
    }

    /// Every observation that ran.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Observation> {
        let mut all: Vec<&Observation> = self.observations.values().copied().collect();
        all.sort_by_cached_key(|observation| observation.kernel.to_string());
        all.into_iter().filter(|observation| matches!(observation.outcome, Outcome::Ran | Outcome::Flaky))
    }

    /// Kernels that ask the same in several ways.
    pub(super) fn pairs(&self) -> impl Iterator<Item = &'a Pair<'a>> {
        self.pairs.iter()
    }

    /// Keeps a lane as evidence.
    pub(super) fn show(&self, observation: &Observation, case: usize) {
        let (kernel, inputs) = (&observation.kernel, encode_case(&observation.kernel, observation.cases.case(case)));
        let mut shown = self.shown.borrow_mut();
        let lane = Shown {
            command: eval_command(&kernel.to_string(), &inputs),
            kernel: kernel.to_string(),
            inputs,
            out: encode_answer(kernel, observation.answer(case)),
        };
        if shown.len() < MOST && !shown.contains(&lane) {
            shown.push(lane);
        }
    }

    /// The first component of the answer on these operands.
    pub(super) fn bits(&self, id: &str, case: &[u64]) -> Result<u64, &'static str> {
        let observation = self.ran(id)?;
        let index = observation.cases.iter().position(|asked| asked == case).ok_or(UNMEASURED)?;
        self.show(observation, index);
        observation.answer(index).first().copied().ok_or(UNMEASURED)
    }

    /// The first answer to a case that begins with this component.
    fn starting(&self, id: &str, first: u64) -> Result<(&'a Observation, &'a [u64]), &'static str> {
        let observation = self.ran(id)?;
        let index = observation.cases.iter().position(|case| case.first() == Some(&first)).ok_or(UNMEASURED)?;
        self.show(observation, index);
        Ok((observation, observation.answer(index)))
    }

    /// The lowest byte of that answer.
    pub(super) fn byte(&self, id: &str, first: u64) -> String {
        match self.starting(id, first) {
            Ok((_, answer)) => answer.first().map_or_else(String::new, |word| format!("{:02x}", word & 0xff)),
            Err(why) => why.to_owned(),
        }
    }

    /// The first channel of that answer, a texel, for people.
    pub(super) fn channel(&self, id: &str, first: u64) -> String {
        let (observation, answer) = match self.starting(id, first) {
            Ok(found) => found,
            Err(why) => return why.to_owned(),
        };
        let kernel = &observation.kernel;
        match (Encoding::of_result(kernel).first(), components(kernel, answer).first()) {
            (Some(encoding), Some(bits)) => {
                let coding = kernel.format.channels().first().map(|channel| channel.coding);
                let value = coding.map_or_else(String::new, |coding| coded(coding, *bits));
                format!("{} ({value})", encoding.hex(*bits))
            }
            _ => UNMEASURED.to_owned(),
        }
    }

    /// The answer on these operands, for people.
    pub(super) fn value(&self, id: &str, case: &[u64]) -> String {
        match (self.bits(id, case), id.parse::<Kernel>()) {
            (Ok(bits), Ok(kernel)) => {
                let format = kernel.result().format;
                format!("{} ({})", format.hex(bits), decimal(format, bits))
            }
            (Err(why), _) => why.to_owned(),
            _ => UNMEASURED.to_owned(),
        }
    }

    /// Which way a kernel goes in one respect, in words.
    pub(super) fn manner(&self, id: &str, aspect: Aspect) -> String {
        let observation = match self.ran(id) {
            Ok(observation) => observation,
            Err(why) => return why.to_owned(),
        };
        let Some(manner) = manner(observation, aspect) else { return UNMEASURED.to_owned() };
        self.show(observation, manner.case);
        if let Some(way) = manner.way {
            way.to_owned()
        } else {
            let counts: Vec<String> =
                manner.ways.iter().map(|(way, count)| format!("{way} in {count} of {}", manner.lanes)).collect();
            counts.join(", ")
        }
    }

    /// Several respects of one kernel. What is not there at all is said once.
    pub(super) fn manners(&self, id: &str, aspects: &[Aspect]) -> String {
        if let Err(why) = self.ran(id) {
            return why.to_owned();
        }
        let told: Vec<String> = aspects.iter().map(|aspect| self.manner(id, *aspect)).collect();
        told.join(", ")
    }
}

/// Parts of a sentence, each with its subject; those of which the same is said share it.
pub(super) fn sentence(parts: impl IntoIterator<Item = (String, String)>) -> String {
    let mut said: Vec<(Vec<String>, String)> = Vec::new();
    for (subject, what) in parts {
        match said.iter_mut().find(|(_, same)| *same == what) {
            Some((subjects, _)) => subjects.push(subject),
            None => said.push((vec![subject], what)),
        }
    }
    let clauses: Vec<String> =
        said.into_iter().map(|(subjects, what)| format!("{}: {what}", subjects.join(", "))).collect();
    clauses.join("; ")
}
