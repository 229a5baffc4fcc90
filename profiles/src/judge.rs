//! Judgement: from observations to verdicts of rules and the class of a device. A pure function of both.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use fpprobe_spirv::{Cases, Controls, Kernel};

use crate::accepted::{Accepted, Set};
use crate::encoding::components;
use crate::observation::{Observation, Outcome};
use crate::oracle::{Demand, Operands, Question, accepted_on};
use crate::profile::{Part, Profile, Requirement, Rule};
use crate::verdict::{Class, Level, Verdict};

mod behaviour;
mod combine;
mod recipe;
mod relation;

pub use recipe::{Judgement, Recipe, Tried};

/// How many failing lanes are kept as evidence of one rule.
const EVIDENCE: usize = 8;

/// One lane that shows something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// The kernel, with its controls.
    pub kernel: Kernel,
    /// The case: the components of all operands.
    pub case: Vec<u64>,
    /// The answer: the components of the result.
    pub answer: Vec<u64>,
    /// What would have been accepted.
    pub accepted: Accepted,
}

/// Verdict of one rule.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleVerdict {
    /// The rule's id.
    pub id: String,
    /// How much it weighs.
    pub level: Level,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether every answer also equals IEEE round-to-nearest-even under the profile's flushing.
    pub strict: bool,
    /// What the device chose; for `depends` the rule it depends on; for `incomplete` and `unsupported` why.
    pub behaviour: String,
    /// Lanes judged, without those that accept everything.
    pub lanes: usize,
    /// Lanes that were not accepted.
    pub failing: usize,
    /// The first of them.
    pub evidence: Vec<Evidence>,
    /// Kernels that gave them, for a run of each alone.
    pub deviating: Vec<Kernel>,
}

/// The observations of one device, by kernel.
#[derive(Clone, Debug, Default)]
pub struct Observations<'a>(HashMap<Kernel, &'a Observation>);

impl<'a> Observations<'a> {
    /// Indexes observations; of two of one kernel the later counts.
    pub fn new(observations: &'a [Observation]) -> Self {
        Observations(observations.iter().map(|observation| (observation.kernel, observation)).collect())
    }

    /// The observation of a kernel.
    pub fn get(&self, kernel: &Kernel) -> Option<&'a Observation> {
        self.0.get(kernel).copied()
    }
}

/// One lane of a rule: a part of the result of one case, and what is accepted there.
#[derive(Clone, Debug)]
struct Lane {
    case: usize,
    part: usize,
    operands: Operands,
    set: Set,
}

impl Lane {
    /// What another demand would accept here.
    fn under(&self, demand: &Demand) -> Set {
        accepted_on(self.set.encoding(), &self.operands, demand)
    }
}

/// What came of judging one part of a rule by one kernel.
#[derive(Clone, Debug)]
enum Finding {
    /// Judged: number of lanes, whether the text left a choice, the lanes that fail, and, where they fail for not
    /// following the one direction that explains most lanes, the demand of that direction.
    Judged { lanes: usize, choice: bool, failing: Vec<usize>, direction: Option<Demand> },
    /// The device lacks something.
    Unsupported(String),
    /// It could not be judged.
    Incomplete(String),
}

/// Key of the caches: rule, part and lowering by number.
type Place = (usize, usize, usize);

/// Lanes by place, for the list of cases they were made of.
type LaneCache = HashMap<Place, (Cases, Rc<Vec<Lane>>)>;

/// What a finding was made of: a report may hold equal answers to other cases.
#[derive(Clone, PartialEq, Debug)]
struct Answers {
    kernel: Kernel,
    cases: Cases,
    first: Arc<[u64]>,
    second: Option<Arc<[u64]>>,
}

impl Answers {
    fn of(kernel: Kernel, observation: &Observation) -> Answers {
        let Observation { cases, out, second, .. } = observation;
        Answers { kernel, cases: cases.clone(), first: Arc::clone(out), second: second.clone() }
    }
}

/// Findings by place, for the answers they were found in.
type FindingCache = HashMap<Place, Vec<(Answers, Rc<Finding>)>>;

/// Label and behaviour by rule, for the answers they were found in.
type DescriptionCache = HashMap<usize, (Vec<Answers>, bool, String)>;

/// Judges devices by one profile; keeps what does not depend on the device.
#[derive(Debug)]
pub struct Judge<'p> {
    profile: &'p Profile,
    lanes: RefCell<LaneCache>,
    findings: RefCell<FindingCache>,
    descriptions: RefCell<DescriptionCache>,
}

impl<'p> Judge<'p> {
    /// A judge by this profile.
    pub fn new(profile: &'p Profile) -> Self {
        Judge { profile, lanes: RefCell::default(), findings: RefCell::default(), descriptions: RefCell::default() }
    }

    /// The lanes that a rule's part looks at in a list of cases; those that accept everything are left out.
    fn lanes(&self, place: Place, cases: &Cases) -> Rc<Vec<Lane>> {
        if let Some((known, lanes)) = self.lanes.borrow().get(&place)
            && known == cases
        {
            return Rc::clone(lanes);
        }
        let rule = &self.profile.rules[place.0];
        let part = &rule.parts[place.1];
        let kernel = &part.lowerings[place.2];
        let lanes = Rc::new(lanes_of(rule, kernel, &part.demand, cases));
        self.lanes.borrow_mut().insert(place, (cases.clone(), Rc::clone(&lanes)));
        lanes
    }

    /// Judges one part of a rule by one lowering under these controls.
    fn find(&self, place: Place, controls: Controls, observations: &Observations<'_>) -> Rc<Finding> {
        let kernel = self.profile.rules[place.0].parts[place.1].lowerings[place.2].with_controls(controls);
        let Some(observation) = observations.get(&kernel) else {
            return Rc::new(Finding::Incomplete(format!("{kernel} was not measured")));
        };
        match observation.outcome {
            Outcome::Ran | Outcome::Flaky => {}
            Outcome::Unsupported => return Rc::new(Finding::Unsupported(observation.detail.clone())),
            other => {
                return Rc::new(Finding::Incomplete(format!("{kernel}: {}", describe(other, &observation.detail))));
            }
        }
        // The same answers under other controls are the same finding.
        let answers = Answers::of(kernel.with_controls(Controls::NONE), observation);
        if let Some(known) = self
            .findings
            .borrow()
            .get(&place)
            .and_then(|list| list.iter().find(|(of, _)| *of == answers).map(|(_, finding)| Rc::clone(finding)))
        {
            return known;
        }
        let lanes = self.lanes(place, &observation.cases);
        let rule = &self.profile.rules[place.0];
        let finding = Rc::new(judge_lanes(rule, &rule.parts[place.1], &lanes, observation));
        self.findings.borrow_mut().entry(place).or_default().push((answers, Rc::clone(&finding)));
        finding
    }
}

fn describe(outcome: Outcome, detail: &str) -> String {
    let name = serde_json::to_value(outcome).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
    if detail.is_empty() { name } else { format!("{name} ({detail})") }
}

fn lanes_of(rule: &Rule, kernel: &Kernel, demand: &Demand, cases: &Cases) -> Vec<Lane> {
    let question = Question::new(kernel);
    let mut lanes = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        for (part, encoding) in question.encodings.iter().enumerate() {
            let operands = question.operands(case, part);
            if rule.selects(*encoding, &operands, demand) {
                let set = accepted_on(*encoding, &operands, demand);
                // Where everything is accepted there is nothing to judge, but for informative rules something to tell.
                if !set.is_everything() || rule.level == Level::Informative {
                    lanes.push(Lane { case: index, part, operands, set });
                }
            }
        }
    }
    lanes
}

/// Whether both answers of an observation (one, unless it is flaky) are in a set.
fn accepts(set: &Set, observation: &Observation, case: usize, part: usize) -> bool {
    let kernel = &observation.kernel;
    let width = kernel.result().width as usize;
    let at = |values: &[u64]| components(kernel, &values[case * width..(case + 1) * width])[part];
    set.contains(at(&observation.out)) && observation.second.as_ref().is_none_or(|second| set.contains(at(second)))
}

fn judge_lanes(rule: &Rule, part: &Part, lanes: &[Lane], observation: &Observation) -> Finding {
    let mut failing: Vec<usize> = if rule.requirements.contains(&Requirement::Result) {
        (0..lanes.len())
            .filter(|index| !accepts(&lanes[*index].set, observation, lanes[*index].case, lanes[*index].part))
            .collect()
    } else {
        Vec::new()
    };
    let mut direction = None;
    if failing.is_empty() && rule.requirements.contains(&Requirement::OneDirection) {
        let (demand, against) = relation::against_one_direction(&part.demand, lanes, observation);
        (direction, failing) = (Some(demand).filter(|_| !against.is_empty()), against);
    }
    if failing.is_empty() && rule.requirements.contains(&Requirement::Monotonic) {
        failing = relation::against_monotony(lanes, observation);
    }
    Finding::Judged {
        lanes: lanes.iter().filter(|lane| !lane.set.is_everything()).count(),
        choice: lanes.iter().any(|lane| !lane.set.is_single()),
        failing,
        direction,
    }
}

/// One lane as evidence; parts of the result that the rule does not look at accept anything.
fn evidence(rule: &Rule, observation: &Observation, lane: &Lane, demand: &Demand) -> Evidence {
    let question = Question::new(&observation.kernel);
    let case = observation.cases.case(lane.case);
    let sets = question.encodings.iter().enumerate().map(|(part, encoding)| {
        let operands = question.operands(case, part);
        let looked = part == lane.part || rule.selects(*encoding, &operands, demand);
        if looked { accepted_on(*encoding, &operands, demand) } else { Set::everything(*encoding) }
    });
    Evidence {
        kernel: observation.kernel,
        case: case.to_vec(),
        answer: observation.answer(lane.case).to_vec(),
        accepted: Accepted::new(sets.collect()),
    }
}
