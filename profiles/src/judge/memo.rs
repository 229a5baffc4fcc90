//! The memo of findings, by what they rest on. Profiles share rules, and paths of texels share
//! results: equal views of equal results are one finding.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use fpprobe_spirv::{Cases, Format};

use super::PartResult;
use crate::lanes::LaneSelection;
use crate::observation::Observation;
use crate::oracle::Demand;
use crate::profile::{Part, Profile, Requirement, Rule};
use crate::verdict::Level;

/// All that judging results takes of a rule and one of its parts.
#[derive(PartialEq, Debug)]
struct RuleView<'p> {
    lanes: &'p [LaneSelection],
    requirements: &'p [Requirement],
    informative: bool,
    demand: &'p Demand,
}

/// Numbers of rule views, by the ids of their rules.
#[derive(Default)]
pub(super) struct RuleViews<'p> {
    by_rule: HashMap<&'p str, Vec<(usize, RuleView<'p>)>>,
    count: usize,
}

impl<'p> RuleViews<'p> {
    /// The numbers of a profile's views, rule by rule and part by part: equal ones have one.
    pub(super) fn of(&mut self, profile: &'p Profile) -> Vec<Vec<usize>> {
        profile
            .rules
            .iter()
            .map(|rule| rule.parts.iter().map(|part| self.number(rule, part)).collect())
            .collect()
    }

    fn number(&mut self, rule: &'p Rule, part: &'p Part) -> usize {
        let informative = rule.level == Level::Informative;
        let view = RuleView {
            lanes: &rule.lanes,
            requirements: &rule.requirements,
            informative,
            demand: &part.demand,
        };
        let known = self.by_rule.entry(&rule.id).or_default();
        if let Some((number, _)) = known.iter().find(|(_, other)| *other == view) {
            return *number;
        }
        known.push((self.count, view));
        self.count += 1;
        self.count - 1
    }
}

/// What the oracle takes of a kernel: routes, stages and controls are no part of it.
type OperationKey = (Format, &'static str, u32);

/// Results and their operands: a report may hold equal results of other cases.
#[derive(Debug)]
struct ResultList {
    cases: Cases,
    first: Arc<[u64]>,
    second: Option<Arc<[u64]>>,
}

impl ResultList {
    fn of(observation: &Observation) -> ResultList {
        let Observation { cases, out, second, .. } = observation;
        ResultList { cases: cases.clone(), first: Arc::clone(out), second: second.clone() }
    }

    fn is_of(&self, observation: &Observation) -> bool {
        let Observation { cases, out, second, .. } = observation;
        self.first == *out && self.second == *second && self.cases == *cases
    }
}

/// What a finding rests on but for the results: the number of a rule view, and the operation.
type MemoKey = (usize, OperationKey);

/// Findings, with the results that they were found in.
type FindingsByKey = HashMap<MemoKey, Vec<(ResultList, Arc<PartResult>)>>;

/// The findings so far.
#[derive(Default, Debug)]
pub(super) struct Memo(Mutex<FindingsByKey>);

impl Memo {
    fn all(&self) -> MutexGuard<'_, FindingsByKey> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The finding of a rule view in an observation, if it is known.
    pub(super) fn get(&self, view: usize, observation: &Observation) -> Option<Arc<PartResult>> {
        let all = self.all();
        let list = all.get(&key(view, observation))?;
        list.iter().find(|(of, _)| of.is_of(observation)).map(|(_, finding)| Arc::clone(finding))
    }

    /// Remembers a finding.
    pub(super) fn put(
        &self,
        view: usize,
        observation: &Observation,
        finding: PartResult,
    ) -> Arc<PartResult> {
        let finding = Arc::new(finding);
        let list = (ResultList::of(observation), Arc::clone(&finding));
        self.all().entry(key(view, observation)).or_default().push(list);
        finding
    }
}

fn key(view: usize, observation: &Observation) -> MemoKey {
    let kernel = &observation.kernel;
    (view, (kernel.format, kernel.op.name, kernel.width))
}
