//! What a profile's rules can distinguish: for every rule the lanes that it looks at, and on how
//! many of them a plausible wrong answer is not accepted.
//!
//! A lane on which everything is accepted is **vacuous**: it is counted by itself and left out of
//! every other number. A rule that accepts every plausible wrong answer on every lane cannot fail
//! where it matters.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use foldhash::HashMap;
use fpprobe_spirv::{Cases, Kernel, cases};

use crate::encoding::Encoding;
use crate::oracle::{Demand, Signature};
use crate::parallel;
use crate::profile::{Part, Profile, Requirement, Rule};

mod lane;
mod mistake;
mod relation;
mod wrong;

pub use lane::right;
use mistake::Probe;
pub use mistake::{Mistake, mistakes};
pub use wrong::WrongResult;

/// Coverage of a profile.
#[derive(Clone, Debug)]
pub struct Coverage<'p> {
    /// The profile.
    pub profile: &'p Profile,
    /// Its rules, in its order.
    pub rules: Vec<RuleCoverage<'p>>,
}

/// Coverage of one rule.
#[derive(Clone, Debug)]
pub struct RuleCoverage<'p> {
    /// The rule.
    pub rule: &'p Rule,
    /// Every kernel that it looks at: each lowering of each of its operations.
    pub kernels: Vec<KernelCoverage<'p>>,
}

/// One kernel as a rule looks at it.
#[derive(Clone, Debug)]
pub struct KernelCoverage<'p> {
    /// The profile's name of the operation that it implements.
    pub operation: &'p str,
    /// The kernel.
    pub kernel: Kernel,
    /// Cases that it is asked by default.
    pub inputs: usize,
    /// What the rule makes of them.
    pub statistics: LaneStatistics,
}

/// How often a wrong answer was tried, and how often it was not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tries {
    /// Lanes on which it is not the right answer.
    pub tried: usize,
    /// Those on which it is not accepted.
    pub rejected: usize,
}

/// Lanes, counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LaneStatistics {
    /// Lanes that are judged: a part of the result of a case each.
    pub judged: usize,
    /// Lanes on which one answer is accepted, or any NaN.
    pub single: usize,
    /// Lanes on which everything is accepted: not judged, and in no other number.
    pub vacuous: usize,
    /// Wrong answers by kind, of kinds that were tried.
    pub wrong: BTreeMap<WrongResult, Tries>,
}

impl LaneStatistics {
    /// Plausible wrong answers that are not accepted. The answer just outside of what is accepted
    /// is wrong by definition and not among them.
    pub fn rejected(&self) -> usize {
        self.wrong
            .iter()
            .filter(|(kind, _)| **kind != WrongResult::JustOutside)
            .map(|(_, tries)| tries.rejected)
            .sum()
    }

    /// Whether nothing is judged.
    pub fn is_vacuous(&self) -> bool {
        self.judged == 0
    }

    fn add(&mut self, probe: Probe) {
        if probe.vacuous {
            self.vacuous += 1;
            return;
        }
        self.judged += 1;
        self.single += usize::from(probe.single);
        for (index, kind) in WrongResult::ALL
            .into_iter()
            .enumerate()
            .filter(|(index, _)| probe.tried >> index & 1 == 1)
        {
            let tries = self.wrong.entry(kind).or_default();
            tries.tried += 1;
            tries.rejected += (probe.rejected >> index & 1) as usize;
        }
    }
}

impl AddAssign<&LaneStatistics> for LaneStatistics {
    fn add_assign(&mut self, other: &LaneStatistics) {
        self.judged += other.judged;
        self.single += other.single;
        self.vacuous += other.vacuous;
        for (kind, tries) in &other.wrong {
            let sum = self.wrong.entry(*kind).or_default();
            sum.tried += tries.tried;
            sum.rejected += tries.rejected;
        }
    }
}

impl RuleCoverage<'_> {
    /// The statistics of all its kernels.
    pub fn statistics(&self) -> LaneStatistics {
        sum(self.kernels.iter().map(|kernel| &kernel.statistics))
    }
}

impl Coverage<'_> {
    /// The statistics of all its rules.
    pub fn statistics(&self) -> LaneStatistics {
        sum(self.rules.iter().flat_map(|rule| &rule.kernels).map(|kernel| &kernel.statistics))
    }
}

fn sum<'a>(all_statistics: impl Iterator<Item = &'a LaneStatistics>) -> LaneStatistics {
    let mut sum = LaneStatistics::default();
    all_statistics.for_each(|statistics| sum += statistics);
    sum
}

/// The coverage of each profile; what one lane shows is found once for all of them.
pub fn survey(profiles: &[Profile]) -> Vec<Coverage<'_>> {
    let mut surveyor = Surveyor::default();
    profiles.iter().map(|profile| surveyor.survey(profile)).collect()
}

/// What a probe depends on beside the case: rules and lowerings share most of it.
#[derive(PartialEq)]
struct Setting {
    cases: String,
    encodings: Vec<Encoding>,
    demand: Demand,
}

/// Surveys rules; keeps what they share.
#[derive(Default)]
pub struct Surveyor {
    known: Vec<(Setting, Probes)>,
    /// Lanes of each kernel that are looked at; all where there is no number.
    most: Option<usize>,
}

/// Probes by lane: a part of the result of a case.
type Probes = Vec<Option<Probe>>;

impl Surveyor {
    /// Looks at this many lanes of each kernel, evenly spread, and not at all of them. A wrong
    /// answer that is rejected on one of them is rejected; how often is not known then.
    pub fn of_samples(most: usize) -> Surveyor {
        Surveyor { most: Some(most), ..Surveyor::default() }
    }

    /// The coverage of a profile over the cases that its kernels are run by default.
    pub fn survey<'p>(&mut self, profile: &'p Profile) -> Coverage<'p> {
        Coverage { profile, rules: profile.rules.iter().map(|rule| self.rule(rule)).collect() }
    }

    /// The coverage of one rule.
    pub fn rule<'p>(&mut self, rule: &'p Rule) -> RuleCoverage<'p> {
        let lowerings = |part: &'p Part| part.lowerings.iter().map(move |kernel| (part, *kernel));
        let mut all_statistics: HashMap<usize, LaneStatistics> = HashMap::default();
        let kernels = rule.parts.iter().flat_map(lowerings).map(|(part, kernel)| {
            let (signature, cases) = (Signature::new(&kernel), cases::cases(&kernel));
            let setting = self.setting(&signature, &cases, part);
            // A rule looks at kernels of one setting in one way.
            let statistics = all_statistics
                .entry(setting)
                .or_insert_with(|| self.statistics(rule, part, &signature, &cases, setting));
            let (operation, inputs, statistics) =
                (part.operation.as_str(), cases.len(), statistics.clone());
            KernelCoverage { operation, kernel, inputs, statistics }
        });
        RuleCoverage { rule, kernels: kernels.collect() }
    }

    /// The number of a kernel's setting.
    fn setting(&mut self, signature: &Signature, cases: &Cases, part: &Part) -> usize {
        let setting = Setting {
            cases: cases.name.clone(),
            encodings: signature.encodings.clone(),
            demand: part.demand.clone(),
        };
        self.known.iter().position(|(known, _)| *known == setting).unwrap_or_else(|| {
            let lanes = cases.len() * signature.encodings.len();
            self.known.push((setting, vec![None; lanes]));
            self.known.len() - 1
        })
    }

    fn statistics(
        &mut self,
        rule: &Rule,
        part: &Part,
        signature: &Signature,
        cases: &Cases,
        setting: usize,
    ) -> LaneStatistics {
        let probes = &mut self.known[setting].1;
        let results = rule.requirements.contains(&Requirement::Result);
        let mut statistics = LaneStatistics::default();
        let mut lanes: Vec<(usize, usize)> = rule
            .looks_at(signature, cases, &part.demand)
            .map(|(case, index, _)| (case, index))
            .collect();
        if let Some(most) = self.most.filter(|most| lanes.len() > *most) {
            // Odd, so that every part of results of two and four is met.
            lanes = lanes.iter().copied().step_by(lanes.len() / most | 1).collect();
        }
        let found = parallel::map(&lanes, |(case, index)| {
            let known = probes[case * signature.encodings.len() + index];
            known.unwrap_or_else(|| {
                mistake::probe(signature, cases.case(*case), *index, &part.demand)
            })
        });
        for ((case, index), probe) in lanes.into_iter().zip(found) {
            probes[case * signature.encodings.len() + index] = Some(probe);
            statistics.add(if results { probe } else { probe.unmeasured() });
        }
        for requirement in &rule.requirements {
            statistics += &relation::statistics(rule, part, &signature.kernel, *requirement);
        }
        statistics
    }
}
