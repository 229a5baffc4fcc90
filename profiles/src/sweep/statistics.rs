//! What a sweep found, as numbers that add up: two statistics of different inputs make one, in
//! either order.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Inputs of a chunk: a run of deviating inputs ends where one does. Shares of a sweep that are
/// merged are cut between chunks, and statistics take the blocks of one chunk in order.
pub const CHUNK: u64 = 1 << 20;
/// How many runs the statistics keep: those of the lowest inputs.
pub const RUNS: usize = 1024;
/// Errors are counted in whole parts of an ulp, so many of them to one; what is more than a part is
/// cut off.
pub const PARTS: u64 = 1024;

/// Errors of N parts and more are not distinguished: 2^24 ulps are as much as the exact result
/// itself, and more.
pub const FAR: u64 = PARTS << 24;

/// An error in parts of an ulp.
pub(super) fn parts(ulps: f64) -> u64 {
    ((ulps * PARTS as f64) as u64).min(FAR)
}

/// What a sweep found.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SweepStatistics {
    /// Inputs whose results were examined: those judged and those that are vacuous.
    pub inputs: u64,
    /// Inputs of which some rule demands something, so that it could refuse a result: those
    /// accepted and those deviating.
    pub judged: u64,
    /// Inputs judged whose result every rule accepts.
    pub accepted: u64,
    /// Inputs judged whose result some rule does not accept.
    pub deviating: u64,
    /// Inputs of which no rule demands anything: whatever their result is, it is right.
    pub vacuous: u64,
    /// By profile and rule.
    pub rules: BTreeMap<String, BTreeMap<String, RuleCount>>,
    /// Of results of normal operands, where the exact result is normal and the result finite and
    /// some rule bounds its error: how many have an error of this many ulps or more, up to the
    /// next entry. Keys are parts of an ulp: 0, 512, 1024, 2048, 4096 ...
    pub histogram: BTreeMap<u64, u64>,
    /// By the operand's sign and exponent (of several, the first's): its highest bits, down to the
    /// fraction's; of an integer its number of bits.
    pub exponents: BTreeMap<u64, Exponent>,
    /// By the classes of the operands, and then of the result.
    pub classes: BTreeMap<String, BTreeMap<String, u64>>,
    /// Runs of consecutive deviating inputs, in order; those of the lowest inputs. See
    /// [`SweepStatistics::left_out`].
    pub runs: Vec<InputRun>,
    /// Whether runs are of no account, for enough of lower inputs are known.
    #[serde(skip)]
    pub sated: bool,
}

/// What a rule says of the inputs that it demands something of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RuleCount {
    /// Inputs whose result it accepts.
    pub accepted: u64,
    /// Inputs whose result it does not accept.
    pub deviating: u64,
}

/// Inputs of one exponent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Exponent {
    /// Inputs judged.
    pub judged: u64,
    /// The lowest and the highest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<[u64; 2]>,
    /// Inputs whose result some rule does not accept.
    pub deviating: u64,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// The largest error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Worst>,
}

/// A largest error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Worst {
    /// The input: the first that has it.
    pub input: u64,
    /// Bits of its result.
    pub result: u32,
    /// The error in parts of an ulp of the exact result's binade, see [`PARTS`]; [`FAR`] is that
    /// or more.
    pub parts: u64,
}

impl Worst {
    /// The error in ulps.
    pub fn ulps(&self) -> f64 {
        self.parts as f64 / PARTS as f64
    }

    /// Whether it comes before another: it is larger, or the same of a lower input.
    pub(super) fn exceeds(&self, other: &Worst) -> bool {
        self.parts > other.parts || self.parts == other.parts && self.input < other.input
    }
}

/// Consecutive inputs whose results some rule does not accept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InputRun {
    /// The first input.
    pub first: u64,
    /// How many there are.
    pub length: u64,
    /// Bits of the result of the first.
    pub result: u32,
    /// What would have been accepted there, as `accepts` prints it.
    pub accepted: Value,
    /// The rules that do not accept it: `profile/rule`.
    pub rules: Vec<String>,
}

/// The sum; `None` where it has more than 64 bits.
fn sum(mut numbers: impl Iterator<Item = u64>) -> Option<u64> {
    numbers.try_fold(0_u64, u64::checked_add)
}

impl SweepStatistics {
    /// Statistics of a chunk that begins with this input, to be merged with this one: where enough
    /// runs of lower inputs are known it keeps none, and of the exponent it begins with it
    /// knows the largest error, so that lesser ones are not looked for.
    pub(super) fn beside(&self, first: u64, exponent: u64) -> SweepStatistics {
        let sated =
            self.runs.len() >= RUNS && self.runs.last().is_some_and(|last| last.first < first);
        let worst = self.exponents.get(&exponent).and_then(|known| known.worst);
        let known =
            worst.map(|worst| (exponent, Exponent { worst: Some(worst), ..Exponent::default() }));
        SweepStatistics {
            sated,
            exponents: known.into_iter().collect(),
            ..SweepStatistics::default()
        }
    }

    /// The largest error, with its input.
    pub fn worst(&self) -> Option<Worst> {
        let worst = self.exponents.values().filter_map(|exponent| exponent.worst);
        worst.reduce(|a, b| if b.exceeds(&a) { b } else { a })
    }

    /// Results whose error was measured.
    pub fn measured(&self) -> u64 {
        self.histogram.values().sum()
    }

    /// Deviating inputs that are in none of the runs kept.
    pub fn left_out(&self) -> u64 {
        self.deviating - self.runs.iter().map(|run| run.length).sum::<u64>()
    }

    /// What of its numbers no sweep gives: parts that are more than the whole, or less.
    pub fn contradiction(&self) -> Option<String> {
        let parts = [
            [self.inputs, self.judged, self.vacuous],
            [self.judged, self.accepted, self.deviating],
        ];
        if parts.iter().any(|[whole, one, other]| one.checked_add(*other) != Some(*whole)) {
            return Some(format!(
                "{} inputs are not {} judged ({} accepted, {} deviating) and {} vacuous",
                self.inputs, self.judged, self.accepted, self.deviating, self.vacuous
            ));
        }
        let holds = |exponent: &Exponent| match exponent.domain {
            Some([first, last]) => {
                last.checked_sub(first).is_some_and(|more| exponent.judged.wrapping_sub(1) <= more)
            }
            None => exponent.judged == 0,
        };
        let judged = sum(self.exponents.values().map(|exponent| exponent.judged));
        if judged != Some(self.judged) || !self.exponents.values().all(holds) {
            return Some(format!("exponents of other inputs than the {} judged", self.judged));
        }
        let counts = self
            .rules
            .values()
            .flat_map(BTreeMap::values)
            .map(|count| count.accepted.checked_add(count.deviating));
        let classes = self.classes.values().map(|results| sum(results.values().copied()));
        let exponents =
            std::iter::once(sum(self.exponents.values().map(|exponent| exponent.deviating)));
        let histogram = std::iter::once(sum(self.histogram.values().copied()));
        let all =
            counts.chain(classes).chain(exponents).chain(histogram).chain([Some(self.deviating)]);
        if all.into_iter().any(|count| count.is_none_or(|count| count > self.inputs)) {
            return Some(format!("counts of more than the {} inputs judged", self.inputs));
        }
        let runs = sum(self.runs.iter().map(|run| run.length));
        runs.is_none_or(|length| length > self.deviating)
            .then(|| "runs of more inputs than deviate".to_owned())
    }

    /// Adds what was found of other inputs. The order of merging is of no account.
    pub fn merge(&mut self, other: &SweepStatistics) {
        self.inputs += other.inputs;
        self.judged += other.judged;
        self.accepted += other.accepted;
        self.deviating += other.deviating;
        self.vacuous += other.vacuous;
        for (profile, rules) in &other.rules {
            for (rule, count) in rules {
                self.count(profile, rule, *count);
            }
        }
        for (from, count) in &other.histogram {
            *self.histogram.entry(*from).or_default() += count;
        }
        for (key, exponent) in &other.exponents {
            let own = self.exponents.entry(*key).or_default();
            own.judge(exponent.domain, exponent.judged);
            own.deviating += exponent.deviating;
            own.first = own.first.into_iter().chain(exponent.first).min();
            own.see(exponent.worst);
        }
        for (operands, results) in &other.classes {
            let own = self.classes.entry(operands.clone()).or_default();
            for (class, count) in results {
                *own.entry(class.clone()).or_default() += count;
            }
        }
        self.runs.extend_from_slice(&other.runs);
        self.runs.sort_by_key(|run| run.first);
        self.runs.truncate(RUNS);
    }

    pub(super) fn count(&mut self, profile: &str, rule: &str, count: RuleCount) {
        let own =
            self.rules.entry(profile.to_owned()).or_default().entry(rule.to_owned()).or_default();
        own.accepted += count.accepted;
        own.deviating += count.deviating;
    }

    /// Takes deviating inputs of one chunk and exponent; `evidence` shows what a run begins with
    /// that has their length.
    pub(super) fn deviates(
        &mut self,
        exponent: u64,
        input: u64,
        length: u64,
        evidence: impl FnOnce() -> InputRun,
    ) {
        self.deviating += length;
        let exponent = self.exponents.entry(exponent).or_default();
        exponent.deviating += length;
        exponent.first = Some(exponent.first.map_or(input, |first| first.min(input)));
        if self.sated {
            return;
        }
        let place = self.runs.partition_point(|run| run.first <= input);
        if let Some(last) = place.checked_sub(1).map(|before| &mut self.runs[before])
            && last.first + last.length == input
            && !input.is_multiple_of(CHUNK)
        {
            last.length += length;
        } else if place < RUNS {
            self.runs.insert(place, evidence());
            self.runs.truncate(RUNS);
        }
    }
}

impl Exponent {
    /// Takes N inputs that are judged, all of them from the lowest to the highest of the domain.
    pub(super) fn judge(&mut self, domain: Option<[u64; 2]>, count: u64) {
        self.judged += count;
        let both = self
            .domain
            .zip(domain)
            .map(|(own, other)| [own[0].min(other[0]), own[1].max(other[1])]);
        self.domain = both.or(self.domain).or(domain);
    }

    /// Takes an error.
    pub(super) fn see(&mut self, found: Option<Worst>) {
        if let Some(found) = found
            && self.worst.is_none_or(|worst| found.exceeds(&worst))
        {
            self.worst = Some(found);
        }
    }
}

/// Where the entry of [`SweepStatistics::histogram`] begins that an error of N parts belongs to.
pub fn bin(parts: u64) -> u64 {
    const HALF: u64 = PARTS / 2;
    if parts < HALF { 0 } else { HALF << (parts / HALF).ilog2() }
}
