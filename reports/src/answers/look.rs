//! A look at the answers of one device: what is looked at becomes the evidence.

use std::cell::RefCell;

use fpprobe_profiles::encoding::{Encoding, PartReader};
use fpprobe_profiles::judge::{Judge, Judgement, Observations};
use fpprobe_profiles::observed_behaviour::{Aspect, observed_behaviour};
use fpprobe_profiles::variants::VariantPair;
use fpprobe_profiles::{Observation, Outcome, Profile};
use fpprobe_spirv::Kernel;

use crate::decimal::{coded, decimal};
use crate::evidence::answered;
use crate::model::AnswerEvidence;

/// How many lanes one answer shows.
const MOST: usize = 12;

/// How many kernels are named of many.
pub(super) const NAMED: usize = 8;

/// What is said of a kernel that no observation tells of.
pub(super) const UNMEASURED: &str = "not measured";

/// The observations of a device, and what was looked at since the last answer.
pub(super) struct ObservationView<'a> {
    observations: &'a Observations<'a>,
    shown: RefCell<Vec<AnswerEvidence>>,
    required: RefCell<Vec<Kernel>>,
    unknown: RefCell<Vec<String>>,
}

impl<'a> ObservationView<'a> {
    pub(super) fn new(observations: &'a Observations<'a>) -> ObservationView<'a> {
        ObservationView {
            observations,
            shown: RefCell::default(),
            required: RefCell::default(),
            unknown: RefCell::default(),
        }
    }

    /// What was shown since the last call.
    pub(super) fn shown(&self) -> Vec<AnswerEvidence> {
        self.shown.take()
    }

    /// Kernels that were looked for.
    pub(super) fn required(&self) -> Vec<Kernel> {
        self.required.take()
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
        self.want(kernel);
        match self.observations.get(&kernel) {
            None => Err(UNMEASURED),
            Some(observation) => match observation.outcome {
                Outcome::Ran | Outcome::Flaky => Ok(observation),
                Outcome::Unsupported => Err("not offered"),
                _ => Err("failed"),
            },
        }
    }

    /// Asks for a kernel, so that it is measured where nothing else is.
    pub(super) fn want(&self, kernel: Kernel) {
        let mut expected = self.required.borrow_mut();
        if !expected.contains(&kernel) {
            expected.push(kernel);
        }
    }

    /// What these rules say of the device; the lanes that they reject are shown.
    pub(super) fn judgement(&self, rules: &Profile) -> Judgement {
        let judgement = Judge::new(rules).judge(self.observations);
        for lane in judgement.rules.iter().flat_map(|rule| &rule.evidence) {
            if let Some(observation) = self.observations.get(&lane.kernel) {
                self.keep(observation, &lane.case, &lane.answer);
            }
        }
        judgement
    }

    /// Kernels that ask the same in several ways.
    pub(super) fn pairs(&self) -> impl Iterator<Item = &'a VariantPair<'a>> {
        self.observations.pairs().iter()
    }

    /// Keeps a lane as evidence.
    pub(super) fn show(&self, observation: &Observation, case: usize) {
        self.keep(observation, observation.cases.case(case), observation.answer(case));
    }

    fn keep(&self, observation: &Observation, case: &[u64], answer: &[u64]) {
        let mut shown = self.shown.borrow_mut();
        let lane = answered(observation, case, answer);
        if shown.len() < MOST && !shown.contains(&lane) {
            shown.push(lane);
        }
    }

    /// The first component of the answer on these operands.
    pub(super) fn bits(&self, id: &str, case: &[u64]) -> Result<u64, &'static str> {
        let observation = self.ran(id)?;
        let index = observation.cases.iter().position(|matching| matching == case).ok_or(UNMEASURED)?;
        self.show(observation, index);
        observation.answer(index).first().copied().ok_or(UNMEASURED)
    }

    /// What becomes of a component in each part of a result that has one of its own, for people.
    pub(super) fn component(&self, id: &str, bits: u64) -> String {
        let observation = match self.ran(id) {
            Ok(observation) => observation,
            Err(why) => return why.to_owned(),
        };
        let (kernel, reader) = (&observation.kernel, PartReader::new(&observation.kernel));
        let mut shown: Vec<String> = Vec::new();
        by_part(kernel, |part, encoding| {
            let mut answers: Vec<String> = Vec::new();
            let matching = observation.cases.iter().enumerate().filter(|(_, case)| case.get(part) == Some(&bits));
            for (case, _) in matching {
                let code = reader.part(&observation.out, case, part);
                let value = kernel.format.channels().get(part).map(|channel| coded(channel.coding, code));
                let text = encoding.hex(code) + &value.map_or_else(String::new, |value| format!(" ({value})"));
                if !shown.contains(&text) {
                    self.show(observation, case);
                    shown.push(text.clone());
                }
                if !answers.contains(&text) {
                    answers.push(text);
                }
            }
            (!answers.is_empty()).then(|| answers.join(" or "))
        })
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
    pub(super) fn behaviour(&self, id: &str, aspect: Aspect) -> String {
        let observation = match self.ran(id) {
            Ok(observation) => observation,
            Err(why) => return why.to_owned(),
        };
        by_part(&observation.kernel, |part, _| {
            let seen = observed_behaviour(observation, aspect, part)?;
            self.show(observation, seen.case);
            Some(seen.describe(aspect))
        })
    }

    /// Several respects of one kernel. What is not there at all is said once.
    pub(super) fn behaviours(&self, id: &str, aspects: &[Aspect]) -> String {
        if let Err(why) = self.ran(id) {
            return why.to_owned();
        }
        let text: Vec<String> = aspects.iter().map(|aspect| self.behaviour(id, *aspect)).collect();
        text.join(", ")
    }
}

/// What is said of each part of a result; parts of which the same is said share it, and all of them need no name.
fn by_part(kernel: &Kernel, mut of: impl FnMut(usize, Encoding) -> Option<String>) -> String {
    let names = if kernel.op.code.is_of_texels() { ["red", "green", "blue", "alpha"] } else { ["x", "y", "z", "w"] };
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for (part, encoding) in Encoding::of_result(kernel).into_iter().enumerate() {
        let (Some(what), Some(name)) = (of(part, encoding), names.get(part)) else { continue };
        match said.iter_mut().find(|(same, _)| *same == what) {
            Some((_, parts)) => parts.push(name),
            None => said.push((what, vec![name])),
        }
    }
    match said.as_slice() {
        [] => UNMEASURED.to_owned(),
        [(what, _)] => what.clone(),
        several => {
            let text = several.iter().map(|(what, parts)| match parts.as_slice() {
                [first @ .., last] if !first.is_empty() => format!("{what} in {} and {last}", first.join(", ")),
                parts => format!("{what} in {}", parts.join("")),
            });
            text.collect::<Vec<_>>().join(", ")
        }
    }
}

/// The first of these names, and how many more there are.
pub(super) fn first_of(names: &[String]) -> String {
    let mut text = names[..names.len().min(NAMED)].to_vec();
    if names.len() > NAMED {
        text.push(format!("{} more", names.len() - NAMED));
    }
    text.join(", ")
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
