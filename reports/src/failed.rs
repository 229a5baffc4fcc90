//! Every case that a rule does not accept: in a report by number, since inputs and answers are there already; beside other
//! reports as lanes on one line each, which tell the same failure from another.

use std::collections::{BTreeMap, HashMap, HashSet};

use fpprobe_profiles::judge::Observations;
use fpprobe_profiles::ways;
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::Kernel;

use crate::model::{Device, Failed, Report, RuleResult};
use crate::record::{RecordError, read_device};
use crate::values::{argument, encode_answer, encode_case};

/// Lanes by kernel: each once and sorted, `00000000 00000001 = 00000001`, with a second answer behind the first where two
/// runs differ.
pub type Lanes = BTreeMap<String, Vec<String>>;

/// Cases as the report has them. Of an input that a list holds several times the first stands for all.
pub fn written(cases: &[(Kernel, Vec<u64>)], index: &Observations<'_>) -> Vec<Failed> {
    let mut by_kernel: Vec<(Kernel, Vec<&[u64]>)> = Vec::new();
    let mut places: HashMap<Kernel, usize> = HashMap::new();
    for (kernel, case) in cases {
        let place = *places.entry(*kernel).or_insert(by_kernel.len());
        if place == by_kernel.len() {
            by_kernel.push((*kernel, Vec::new()));
        }
        by_kernel[place].1.push(case);
    }
    let failed = by_kernel.into_iter().filter_map(|(kernel, cases)| {
        let observation = index.get(&kernel)?;
        let mut numbers: HashMap<&[u64], usize> = HashMap::with_capacity(observation.cases.len());
        for (number, case) in observation.cases.iter().enumerate() {
            numbers.entry(case).or_insert(number);
        }
        let mut numbers: Vec<usize> = cases.into_iter().filter_map(|case| numbers.get(case).copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Some(Failed { kernel: kernel.to_string(), cases: ranges(&numbers) })
    });
    failed.collect()
}

/// What a device answered, for the lanes of its rules.
#[derive(Clone, Debug)]
pub struct Answers {
    observations: Vec<Observation>,
    by_kernel: HashMap<Kernel, usize>,
    /// By the kernel that they should answer like, those that do, each with its cases of which that is not known.
    beside: HashMap<Kernel, Vec<(Kernel, Vec<usize>)>>,
}

impl Answers {
    /// Those of a device of the report; none are read where no rule tells which cases fail.
    pub fn of(device: &Device, report: &Report) -> Result<Answers, RecordError> {
        let told = device.profiles.iter().flat_map(|profile| &profile.rules).any(|rule| !rule.failed.is_empty());
        let recorded: &[_] = if told { &device.observations } else { &[] };
        let observations = read_device(recorded, &report.inputs)?.observations;
        let by_kernel = observations.iter().enumerate().map(|(place, observation)| (observation.kernel, place));
        let mut beside: HashMap<Kernel, Vec<(Kernel, Vec<usize>)>> = HashMap::new();
        for pair in ways::pairs(&observations) {
            beside.entry(pair.plain.kernel).or_default().push((pair.other.kernel, pair.unlike));
        }
        Ok(Answers { by_kernel: by_kernel.collect(), beside, observations })
    }

    /// The failing lanes of a rule; `None` where the report does not tell, or tells of cases that it does not hold. Of kernels
    /// that should answer like another a report tells where they do not; here they have the lanes, too, that they share
    /// with it.
    pub fn lanes(&self, rule: &RuleResult) -> Option<Lanes> {
        let mut lanes = Lanes::new();
        let mut add = |observation: &Observation, cases: &mut dyn Iterator<Item = usize>| {
            let mut cases = cases.map(|case| lane(observation, case)).peekable();
            if cases.peek().is_some() {
                lanes.entry(observation.kernel.to_string()).or_default().extend(cases);
            }
        };
        for Failed { kernel, cases } in &rule.failed {
            let observation = self.get(kernel)?;
            let cases = numbers(cases, observation.cases.len())?;
            add(observation, &mut cases.iter().copied());
            let failing: HashSet<&[u64]> = cases.iter().map(|case| observation.cases.case(*case)).collect();
            for (other, unlike) in self.beside.get(&observation.kernel).into_iter().flatten() {
                let Some(place) = self.by_kernel.get(other) else { continue };
                let other = &self.observations[*place];
                add(other, &mut ways::sharing(other, &observation.kernel, unlike, |case| failing.contains(case)));
            }
        }
        for list in lanes.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        (!lanes.is_empty()).then_some(lanes)
    }

    /// Whether a kernel has answers.
    pub fn has(&self, kernel: &str) -> bool {
        self.get(kernel).is_some()
    }

    /// The observation and the case of a lane as [`Answers::lanes`] has it.
    pub fn find(&self, kernel: &str, wanted: &str) -> Option<(&Observation, usize)> {
        let observation = self.get(kernel)?;
        (0..observation.cases.len()).find(|case| lane(observation, *case) == wanted).map(|case| (observation, case))
    }

    fn get(&self, kernel: &str) -> Option<&Observation> {
        let observation = self.observations.get(*self.by_kernel.get(&kernel.parse().ok()?)?)?;
        matches!(observation.outcome, Outcome::Ran | Outcome::Flaky).then_some(observation)
    }
}

fn lane(observation: &Observation, case: usize) -> String {
    let kernel = &observation.kernel;
    let inputs: Vec<String> = encode_case(kernel, observation.cases.case(case)).iter().map(argument).collect();
    let width = kernel.outputs();
    let mut answers: Vec<String> = observation
        .runs()
        .filter_map(|answers| answers.get(case * width..(case + 1) * width))
        .map(|answer| argument(&encode_answer(kernel, answer)))
        .collect();
    answers.dedup();
    format!("{} = {}", inputs.join(" "), answers.join(" or "))
}

/// Ascending numbers with ranges.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let runs = runs.filter_map(|run| match run {
        [] => None,
        [only] => Some(only.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// The numbers of [`ranges`], all of them below `end`.
fn numbers(text: &str, end: usize) -> Option<Vec<usize>> {
    let mut numbers: Vec<usize> = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        let ascends = numbers.last().is_none_or(|previous| *previous < first);
        if !ascends || first > last || last >= end {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_others_are_refused() {
        for list in [vec![0], vec![0, 1, 2, 3, 17, 20, 21], vec![5, 7, 9]] {
            assert_eq!(numbers(&ranges(&list), 22), Some(list));
        }
        assert_eq!(ranges(&[0, 1, 2, 3, 17, 20, 21]), "0-3,17,20-21");
        for wrong in ["", "3-2", "4,4", "0-2,2", "22", "0-99999999999999999999", "-1", "x"] {
            assert_eq!(numbers(wrong, 22), None, "{wrong}");
        }
    }
}
