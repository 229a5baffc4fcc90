//! Every case that a rule does not accept: in a report by number, since inputs and answers are
//! there already; beside other reports as lanes on one line each, which tell the same failure from
//! another.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt as _, HashSet};
use fpprobe_profiles::Observation;
use fpprobe_profiles::encoding::{Encoding, PartReader};
use fpprobe_profiles::judge::{Observations, RuleVerdict};
use fpprobe_profiles::variants;
use fpprobe_spirv::catalogue::Extent;
use fpprobe_spirv::{Cases, Kernel, cases};

use crate::model::{Device, Failed, Report};
use crate::record::{RecordError, read_device};
use crate::values::{argument, encode_case};

/// Lanes by kernel: each once and sorted, `00000000 00000001 = 00000001`, with a second answer
/// behind the first where two runs differ. Of a result with several parts a lane holds one, by its
/// number: `00000000,00000001 [1] = 80000001`.
pub type LanesByKernel = BTreeMap<String, Vec<String>>;

/// Stands for the lanes of a kernel whose results differ from run to run: nothing tells one run's
/// from another's.
pub const UNSTABLE: &str = "unstable: results differ from run to run";

/// Case and part of the result.
pub type FailedLane = (usize, usize);

/// Failing lanes by the cases that they are of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ListedLanes {
    /// Cases of the kernels' lists, which every run has.
    pub listed: LanesByKernel,
    /// Random cases, which depend on the run's seed.
    pub random: LanesByKernel,
}

/// Cases by the part of the result that fails, and why it does.
type ByPart<'a> = BTreeMap<(usize, &'a str), Vec<&'a [u64]>>;

/// Failing lanes of a rule as the report has them. Of an input that a list holds several times the
/// first stands for all. `causes` are the ids of the lanes' causes.
pub fn written(verdict: &RuleVerdict, causes: &[String], index: &Observations<'_>) -> Vec<Failed> {
    let mut by_kernel: Vec<(Kernel, ByPart<'_>)> = Vec::new();
    let mut places: HashMap<Kernel, usize> = HashMap::default();
    let causes = causes.iter().map(String::as_str).chain(std::iter::repeat(""));
    for ((kernel, case, part), cause) in verdict.failing_lanes().zip(causes) {
        let place = *places.entry(*kernel).or_insert(by_kernel.len());
        if place == by_kernel.len() {
            by_kernel.push((*kernel, ByPart::new()));
        }
        by_kernel[place].1.entry((part, cause)).or_default().push(case);
    }
    let mut failed: Vec<Failed> = Vec::new();
    for (kernel, parts) in by_kernel {
        let Some(observation) = index.get(&kernel) else { continue };
        let mut numbers: HashMap<&[u64], usize> = HashMap::with_capacity(observation.cases.len());
        for (number, case) in observation.cases.iter().enumerate() {
            numbers.entry(case).or_insert(number);
        }
        let (kernel, first) = (kernel.to_string(), failed.len());
        for ((part, cause), cases) in parts {
            let mut cases: Vec<usize> =
                cases.into_iter().filter_map(|case| numbers.get(case).copied()).collect();
            cases.sort_unstable();
            cases.dedup();
            let (cases, part) = (ranges(&cases), component(&observation.kernel, part));
            let is_same = |other: &&mut Failed| other.cases == cases && other.cause == cause;
            match failed[first..].iter_mut().find(is_same) {
                Some(other) => other.components.extend(part),
                None => failed.push(Failed {
                    kernel: kernel.clone(),
                    cases,
                    components: part.into_iter().collect(),
                    cause: cause.to_owned(),
                }),
            }
        }
    }
    failed
}

/// The number of a part of a kernel's result, where it has several.
pub(crate) fn component(kernel: &Kernel, part: usize) -> Option<u32> {
    (Encoding::of_result(kernel).len() > 1).then(|| u32::try_from(part).ok()).flatten()
}

/// Which of its lists of cases a kernel was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaseList {
    /// That of a default run, or another.
    Whole,
    /// The short one of a quick run.
    Short,
}

/// What a device answered, for the lanes of its rules.
#[derive(Clone, Debug)]
pub struct DeviceResults {
    observations: Vec<Observation>,
    by_kernel: HashMap<Kernel, usize>,
    /// By the kernel that they should answer like, those that do, each with its cases of which
    /// that is not known.
    beside: HashMap<Kernel, Vec<(Kernel, Vec<usize>)>>,
}

impl DeviceResults {
    /// Those of a device of the report.
    pub fn of(device: &Device, report: &Report) -> Result<DeviceResults, RecordError> {
        let observations = read_device(&device.observations, &report.inputs)?.observations;
        let by_kernel =
            observations.iter().enumerate().map(|(place, observation)| (observation.kernel, place));
        let mut beside: HashMap<Kernel, Vec<(Kernel, Vec<usize>)>> = HashMap::default();
        for pair in variants::pairs(&observations) {
            beside.entry(pair.plain.kernel).or_default().push((pair.other.kernel, pair.unlike));
        }
        Ok(DeviceResults { by_kernel: by_kernel.collect(), beside, observations })
    }

    /// These failing lanes, case and part of the result, each once and sorted, by the place
    /// of the observation; `None` where the report does not say, or names cases that it does
    /// not hold. Of kernels that should answer like another a report has the lanes where they
    /// do not; here they have the lanes, too, that they share with it.
    fn failing<'f>(
        &self,
        failed: impl Iterator<Item = &'f Failed>,
    ) -> Option<BTreeMap<usize, Vec<FailedLane>>> {
        let mut lanes: BTreeMap<usize, Vec<FailedLane>> = BTreeMap::new();
        for Failed { kernel, cases, components, .. } in failed {
            let place = self.place(kernel)?;
            let observation = &self.observations[place];
            let cases = numbers(cases, observation.cases.len())?;
            let count = Encoding::of_result(&observation.kernel).len();
            // Reports of earlier programs do not name them.
            let all = || (0..count).collect::<Vec<usize>>();
            let parts = if components.is_empty() {
                all()
            } else {
                components.iter().map(|part| *part as usize).collect()
            };
            if parts.iter().any(|part| *part >= count) {
                return None;
            }
            let own = cases.iter().flat_map(|case| parts.iter().map(|part| (*case, *part)));
            lanes.entry(place).or_default().extend(own);
            let failing: HashSet<&[u64]> =
                cases.iter().map(|case| observation.cases.case(*case)).collect();
            for (other, unlike) in self.beside.get(&observation.kernel).into_iter().flatten() {
                let Some(place) = self.by_kernel.get(other) else { continue };
                let fails =
                    |case: &[u64], part: usize| parts.contains(&part) && failing.contains(case);
                let shared = variants::sharing(
                    &self.observations[*place],
                    &observation.kernel,
                    unlike,
                    fails,
                );
                lanes.entry(*place).or_default().extend(shared);
            }
        }
        for list in lanes.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        lanes.retain(|_, list| !list.is_empty());
        Some(lanes)
    }

    /// The same in words, of an unstable kernel [`UNSTABLE`] alone; `None`, too, where no lane
    /// fails.
    pub fn lanes<'f>(&self, failed: impl Iterator<Item = &'f Failed>) -> Option<LanesByKernel> {
        let mut lanes = LanesByKernel::new();
        for (place, failing) in self.failing(failed)? {
            let observation = &self.observations[place];
            let reader = PartReader::new(&observation.kernel);
            let list = lanes.entry(observation.kernel.to_string()).or_default();
            if is_unstable(observation) {
                list.push(UNSTABLE.to_owned());
                continue;
            }
            list.extend(
                failing.into_iter().map(|(case, part)| lane(observation, &reader, case, part)),
            );
            list.sort_unstable();
            list.dedup();
        }
        (!lanes.is_empty()).then_some(lanes)
    }

    /// Which list of cases a kernel with answers was asked.
    pub fn list(&self, kernel: &str) -> Option<CaseList> {
        self.named(kernel).map(|observation| begins(observation).0)
    }

    /// The lanes of the kernels' lists, and those of random cases: another run has others.
    pub fn by_list(&self, lanes: LanesByKernel) -> ListedLanes {
        let mut apart = ListedLanes::default();
        for (kernel, lanes) in lanes {
            let inputs = self.named(&kernel).and_then(|observation| {
                let (_, listed) = begins(observation);
                let cases = observation.cases.iter().take(listed);
                let inputs = || {
                    cases.map(|case| inputs(&observation.kernel, case)).collect::<HashSet<String>>()
                };
                (listed < observation.cases.len()).then(inputs)
            });
            let is_listed = |lane: &String| {
                lane == UNSTABLE
                    || inputs.as_ref().is_none_or(|inputs| inputs.contains(of_lane(lane)))
            };
            let (listed, random): (Vec<String>, Vec<String>) =
                lanes.into_iter().partition(is_listed);
            for (lanes, of) in [(listed, &mut apart.listed), (random, &mut apart.random)] {
                if !lanes.is_empty() {
                    of.insert(kernel.clone(), lanes);
                }
            }
        }
        apart
    }

    /// The observation, the case and the part of the result of a lane as [`DeviceResults::lanes`]
    /// has it.
    pub fn find(&self, kernel: &str, wanted: &str) -> Option<(&Observation, usize, usize)> {
        let observation = self.named(kernel)?;
        let reader = PartReader::new(&observation.kernel);
        let parts = Encoding::of_result(&observation.kernel).len();
        let mut places =
            (0..observation.cases.len()).flat_map(|case| (0..parts).map(move |part| (case, part)));
        let found = places.find(|(case, part)| lane(observation, &reader, *case, *part) == wanted);
        found.map(|(case, part)| (observation, case, part))
    }

    fn named(&self, kernel: &str) -> Option<&Observation> {
        self.place(kernel).map(|place| &self.observations[place])
    }

    /// The place of a kernel's observation, if that has results.
    fn place(&self, kernel: &str) -> Option<usize> {
        let place = *self.by_kernel.get(&kernel.parse().ok()?)?;
        self.observations.get(place)?.outcome.answered().then_some(place)
    }
}

/// Whether a kernel gave another result on at least half of all its lanes when it ran again; NaNs
/// count as one value.
pub fn is_unstable(observation: &Observation) -> bool {
    let Some(second) = &observation.second else { return false };
    let (reader, encodings) =
        (PartReader::new(&observation.kernel), Encoding::of_result(&observation.kernel));
    let differs = |(case, part): &FailedLane| {
        let [one, other] =
            [&observation.out, second].map(|results| reader.part(results, *case, *part));
        let is_nan =
            |bits| matches!(encodings[*part], Encoding::Float(layout) if layout.is_nan(bits));
        one != other && !(is_nan(one) && is_nan(other))
    };
    let cases = observation.cases.len();
    let lanes = (0..cases).flat_map(|case| (0..encodings.len()).map(move |part| (case, part)));
    2 * lanes.filter(differs).count() >= cases * encodings.len()
}

/// Which list the cases of an observation begin with, and how long that is: random cases come
/// behind.
fn begins(observation: &Observation) -> (CaseList, usize) {
    let (whole, short) =
        (Extent::Default.cases(&observation.kernel), cases::boundary(&observation.kernel));
    let begins = |list: &Cases| observation.cases.values().starts_with(&list.values());
    if begins(&whole) {
        (CaseList::Whole, whole.len())
    } else if short.len() < whole.len() && begins(&short) {
        (CaseList::Short, short.len())
    } else {
        (CaseList::Whole, observation.cases.len())
    }
}

/// Those of a kernel's failing lanes that are on its short list; `None` where it has no shorter
/// one.
pub fn on_short_list(kernel: &str, lanes: &[String]) -> Option<Vec<String>> {
    let kernel: Kernel = kernel.parse().ok()?;
    let short = cases::boundary(&kernel);
    if short.len() >= Extent::Default.cases(&kernel).len() {
        return None;
    }
    let short: HashSet<String> = short.iter().map(|case| inputs(&kernel, case)).collect();
    let is_short = |lane: &&String| short.contains(of_lane(lane));
    Some(lanes.iter().filter(is_short).cloned().collect())
}

/// The operands of a case as lanes have them.
pub fn inputs(kernel: &Kernel, case: &[u64]) -> String {
    encode_case(kernel, case).iter().map(argument).collect::<Vec<_>>().join(" ")
}

/// The operands of a lane, without the component and the result.
fn of_lane(lane: &str) -> &str {
    let inputs = lane.split_once(" = ").map_or(lane, |(inputs, _)| inputs);
    inputs.split_once(" [").map_or(inputs, |(inputs, _)| inputs)
}

fn lane(observation: &Observation, reader: &PartReader, case: usize, part: usize) -> String {
    let kernel = &observation.kernel;
    let inputs: Vec<String> =
        encode_case(kernel, observation.cases.case(case)).iter().map(argument).collect();
    let answers = observation.runs().map(|answers| reader.part(answers, case, part));
    written_lane(kernel, &inputs, part, answers)
}

/// A lane on one line, with what its part of the result was in each run.
pub(crate) fn written_lane(
    kernel: &Kernel,
    inputs: &[String],
    part: usize,
    answers: impl Iterator<Item = u64>,
) -> String {
    let encodings = Encoding::of_result(kernel);
    let mut answers: Vec<String> =
        answers.filter_map(|bits| Some(encodings.get(part)?.hex(bits))).collect();
    answers.sort_unstable();
    answers.dedup();
    let component = component(kernel, part).map(|part| format!(" [{part}]")).unwrap_or_default();
    format!("{}{component} = {}", inputs.join(" "), answers.join(" or "))
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
pub(crate) fn numbers(text: &str, end: usize) -> Option<Vec<usize>> {
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
