//! Findings by what they rest on. Profiles share rules, and paths of texels share answers: equal looks at equal answers are
//! one finding.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use fpprobe_spirv::{Cases, Format, Kernel};

use super::Finding;
use super::plain::Lists;
use crate::lanes::Lanes;
use crate::observation::Observation;
use crate::oracle::Demand;
use crate::profile::{Part, Profile, Requirement, Rule};
use crate::verdict::Level;

/// All that judging answers takes of a rule and one of its parts.
#[derive(PartialEq, Debug)]
struct Look<'p> {
    lanes: &'p [Lanes],
    requirements: &'p [Requirement],
    informative: bool,
    demand: &'p Demand,
}

/// Numbers of looks, by the ids of their rules.
#[derive(Default)]
pub(super) struct Looks<'p> {
    by_rule: HashMap<&'p str, Vec<(usize, Look<'p>)>>,
    count: usize,
}

impl<'p> Looks<'p> {
    /// The numbers of a profile's looks, rule by rule and part by part: equal ones have one.
    pub(super) fn of(&mut self, profile: &'p Profile) -> Vec<Vec<usize>> {
        profile.rules.iter().map(|rule| rule.parts.iter().map(|part| self.number(rule, part)).collect()).collect()
    }

    fn number(&mut self, rule: &'p Rule, part: &'p Part) -> usize {
        let informative = rule.level == Level::Informative;
        let look = Look { lanes: &rule.lanes, requirements: &rule.requirements, informative, demand: &part.demand };
        let known = self.by_rule.entry(&rule.id).or_default();
        if let Some((number, _)) = known.iter().find(|(_, other)| *other == look) {
            return *number;
        }
        known.push((self.count, look));
        self.count += 1;
        self.count - 1
    }
}

/// What the oracle takes of a kernel: how it is asked is no part of the question.
pub(super) type Asked = (Format, &'static str, u32);

/// The question that a kernel asks.
pub(super) fn asked(kernel: &Kernel) -> Asked {
    (kernel.format, kernel.op.name, kernel.width)
}

/// Answers and what they answer: a report may hold equal answers to other cases.
#[derive(PartialEq, Debug)]
pub(super) struct Answers {
    cases: Cases,
    first: Arc<[u64]>,
    second: Option<Arc<[u64]>>,
}

impl Answers {
    /// Those of an observation.
    pub(super) fn of(observation: &Observation) -> Answers {
        let Observation { cases, out, second, .. } = observation;
        Answers { cases: cases.clone(), first: Arc::clone(out), second: second.clone() }
    }
}

/// Findings with the answers that they were found in, by the number of a look and the question.
type Findings = HashMap<(usize, Asked), Vec<(Answers, Arc<Finding>)>>;

/// What was found so far.
#[derive(Default, Debug)]
pub(super) struct Known {
    findings: Mutex<Findings>,
    /// What their lists hold.
    pub(super) lists: Lists,
}

impl Known {
    /// The finding of a look at an observation, made if there is none yet.
    pub(super) fn finding(
        &self,
        look: usize,
        observation: &Observation,
        make: impl FnOnce() -> Finding,
    ) -> Arc<Finding> {
        let (place, answers) = ((look, asked(&observation.kernel)), Answers::of(observation));
        let all = || self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all()
            .get(&place)
            .and_then(|list| list.iter().find(|(of, _)| *of == answers).map(|(_, finding)| Arc::clone(finding)));
        known.unwrap_or_else(|| {
            let finding = Arc::new(make());
            all().entry(place).or_default().push((answers, Arc::clone(&finding)));
            finding
        })
    }
}
