//! Judgement: from observations to verdicts of rules and the class of a device. A pure function of
//! both.

use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashSet};
use fpprobe_spirv::{Controls, Kernel};

use crate::accepted::Accepted;
use crate::observation::{Observation, Outcome};
use crate::oracle::Demand;
use crate::parallel;
use crate::profile::Profile;
use crate::variants::{self, VariantPair};
use crate::verdict::{Class, Level, Verdict};

mod behaviour;
mod combine;
mod diagnosis;
mod failing;
mod lane;
mod lane_sets;
mod late;
mod memo;
mod owner;
mod prefetch;
mod recipe;
mod relation;
mod remedy;
mod results;
mod rounding;
mod symptom;

use behaviour::Choices;
pub(crate) use behaviour::strict;
use lane::{LaneIndex, LaneView};
use memo::{Memo, RuleViews};

pub use diagnosis::{Directions, LaneDiagnosis};
pub use failing::FailingLanes;
pub use prefetch::Prefetch;
pub use recipe::{Judgement, Recipe, RecipeTrial};
pub use symptom::{Symptom, SymptomRank, Symptoms};

/// How many failing lanes are kept as evidence of one rule.
pub const EVIDENCE: usize = 8;

/// One lane that shows something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneEvidence {
    /// The kernel, with its controls.
    pub kernel: Kernel,
    /// The case: the components of all operands.
    pub case: Vec<u64>,
    /// The answer: the components of the result.
    pub answer: Vec<u64>,
    /// The part of the result that shows it, of those of
    /// [`Encoding::of_result`](crate::encoding::Encoding::of_result).
    pub part: usize,
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
    /// What the device chose; for `depends` the rule it depends on; for `incomplete` and
    /// `unsupported` why.
    pub behaviour: String,
    /// Lanes judged, without those that accept everything.
    pub lanes: usize,
    /// Lanes that were not accepted and count for this rule: each lane counts for one rule of its
    /// profile.
    pub failing: usize,
    /// Lanes that it does not accept either and that count for other rules: how many for which.
    pub elsewhere: Vec<(String, usize)>,
    /// The first lanes that count.
    pub evidence: Vec<LaneEvidence>,
    /// Kernels that gave them, for a run of each alone.
    pub deviating: Vec<Kernel>,
    /// Every lane that counts, of which some are the evidence.
    pub failing_lists: Vec<FailingLanes>,
    /// What is wrong with each of them; empty in a judgement without diagnoses.
    pub diagnoses: Vec<LaneDiagnosis>,
    /// Where it deviates without modes, the smallest sets of modes under which that goes away, as
    /// far as measured.
    pub fixed_by: Vec<Controls>,
    /// Every set of modes under which some of its lanes, or all, were measured and are accepted,
    /// with the places of these among the lanes that count, ascending.
    pub eased_by: Vec<(Controls, Vec<usize>)>,
}

/// The observations of one device, by kernel.
#[derive(Clone, Debug, Default)]
pub struct Observations<'a> {
    all: &'a [Observation],
    by_kernel: HashMap<Kernel, &'a Observation>,
    pairs: Vec<VariantPair<'a>>,
    /// Kernels that should answer like this one.
    beside: HashMap<Kernel, Vec<Kernel>>,
    /// What kernels that should answer like this one answer otherwise, in the order of the
    /// observations.
    otherwise: HashMap<Kernel, Vec<Observation>>,
}

impl<'a> Observations<'a> {
    /// Indexes observations; of two of one kernel the later counts.
    pub fn new(observations: &'a [Observation]) -> Self {
        let by_kernel =
            observations.iter().map(|observation| (observation.kernel, observation)).collect();
        let pairs = variants::pairs(observations);
        let mut otherwise: HashMap<Kernel, Vec<Observation>> = HashMap::default();
        let mut beside: HashMap<Kernel, Vec<Kernel>> = HashMap::default();
        for VariantPair { plain, other, .. } in &pairs {
            beside.entry(plain.kernel).or_default().push(other.kernel);
        }
        for pair in pairs.iter().filter(|pair| !pair.unlike.is_empty()) {
            otherwise.entry(pair.plain.kernel).or_default().push(pair.own_answers());
        }
        Observations { all: observations, by_kernel, pairs, beside, otherwise }
    }

    /// All of them, in their order.
    pub fn all(&self) -> &'a [Observation] {
        self.all
    }

    /// The observation of a kernel.
    pub fn get(&self, kernel: &Kernel) -> Option<&'a Observation> {
        self.by_kernel.get(kernel).copied()
    }

    /// What was observed of matrices, in the order of the kernels' ids.
    pub fn matrices(&self) -> Vec<&'a Observation> {
        let mut found: Vec<&Observation> =
            self.by_kernel.values().copied().filter(|one| one.kernel.matrix.is_some()).collect();
        found.sort_by_cached_key(|one| one.kernel.to_string());
        found
    }

    /// The same questions asked in several ways.
    pub fn pairs(&self) -> &[VariantPair<'a>] {
        &self.pairs
    }

    /// Kernels with answers that should answer like this one.
    fn beside(&self, kernel: &Kernel) -> &[Kernel] {
        self.beside.get(kernel).map_or(&[], Vec::as_slice)
    }

    /// What kernels answer that should answer like this one, and do not.
    fn otherwise(&self, kernel: &Kernel) -> &[Observation] {
        self.otherwise.get(kernel).map_or(&[], Vec::as_slice)
    }
}

/// What came of judging one part of a rule by one kernel.
#[derive(Clone, Debug)]
enum PartResult {
    /// It could be.
    Judged(KernelJudgement),
    /// The device lacks something.
    Unsupported(String),
    /// It could not be judged.
    Incomplete(String),
}

impl PartResult {
    fn unmeasured(kernel: &Kernel) -> PartResult {
        PartResult::Incomplete(format!("{kernel} was not measured"))
    }

    fn passes(&self) -> bool {
        matches!(self, PartResult::Judged(judged) if judged.failing.is_empty())
    }
}

/// What came of judging one part of a rule in one of the ways that it was asked.
struct VariantFinding<'a> {
    kernel: Kernel,
    /// The answers, if there are any.
    observation: Option<&'a Observation>,
    finding: Arc<PartResult>,
}

/// What the lanes of one kernel say.
#[derive(Clone, Debug)]
struct KernelJudgement {
    /// Number of lanes, without those that accept everything.
    lanes: usize,
    /// Whether the text left a choice.
    choice: bool,
    /// Whether no lane fails and every answer also equals IEEE round-to-nearest-even under the
    /// profile's flushing.
    strict: bool,
    /// Where it fails.
    failing: Vec<LaneIndex>,
    /// What the device chose, where nothing fails.
    choices: Choices,
    /// Of each place where it fails, whether it is accepted with a behaviour swapped; by
    /// behaviour, as soon as that is asked.
    swapped: [OnceLock<Vec<bool>>; 3],
    /// Where it fails for not following the one behaviour that explains most lanes, the demand of
    /// that behaviour.
    explanation: Option<Demand>,
}

/// Rule, part and lowering by number.
pub type PartIndex = (usize, usize, usize);

/// Judges devices by one profile; keeps what does not depend on the device.
#[derive(Debug)]
pub struct Judge<'p> {
    profile: &'p Profile,
    /// The number of each rule's view of each part among those of all judges that share findings.
    views: Vec<Vec<usize>>,
    memo: Arc<Memo>,
}

impl<'p> Judge<'p> {
    /// A judge by this profile.
    pub fn new(profile: &'p Profile) -> Self {
        Judge { profile, views: RuleViews::default().of(profile), memo: Arc::default() }
    }

    /// Judges by these profiles that find once what rules of several look at alike.
    pub fn together(profiles: impl IntoIterator<Item = &'p Profile>) -> Vec<Self> {
        let (mut views, memo) = (RuleViews::default(), Arc::<Memo>::default());
        let judge = |profile| Judge { profile, views: views.of(profile), memo: Arc::clone(&memo) };
        profiles.into_iter().map(judge).collect()
    }

    /// Judges a device.
    pub fn judge(&self, observations: &Observations<'_>) -> Judgement {
        judge(std::slice::from_ref(self), observations).swap_remove(0)
    }

    /// What it judges by.
    pub fn profile(&self) -> &'p Profile {
        self.profile
    }

    /// A place's look at an observation.
    fn view<'a>(
        &'a self,
        (rule, part, _): PartIndex,
        observation: &'a Observation,
    ) -> LaneView<'a> {
        let rule = &self.profile.rules[rule];
        LaneView::new(rule, &rule.parts[part].demand, observation)
    }

    /// The kernel of a place under a recipe's controls.
    fn kernel(&self, (rule, part, lowering): PartIndex, controls: Controls) -> Kernel {
        self.profile.rules[rule].parts[part].kernel(lowering, controls)
    }

    /// A place's operation under a recipe's controls in every way that it is asked: by its own
    /// kernel first, then by those that should answer like it, which must meet the rule with
    /// what they answer otherwise. One that fails without the controls must have been asked
    /// under them.
    fn findings<'a>(
        &self,
        place: PartIndex,
        controls: Controls,
        observations: &'a Observations<'_>,
    ) -> Vec<VariantFinding<'a>> {
        let (kernel, plain) = (self.kernel(place, controls), self.kernel(place, Controls::NONE));
        let own = VariantFinding {
            kernel,
            observation: observations.get(&kernel),
            finding: self.find(place, controls, observations),
        };
        let mut found = vec![own];
        found.extend(observations.otherwise(&kernel).iter().map(|observation| VariantFinding {
            kernel: observation.kernel,
            observation: Some(observation),
            finding: self.judged(place, observation),
        }));
        if kernel != plain {
            let unasked = observations.otherwise(&plain).iter().filter_map(|without| {
                let kernel = without.kernel.with_controls(kernel.controls).checked().ok()?;
                let unhelped =
                    observations.get(&kernel).is_none() && !self.judged(place, without).passes();
                unhelped.then(|| VariantFinding {
                    kernel,
                    observation: None,
                    finding: Arc::new(PartResult::unmeasured(&kernel)),
                })
            });
            found.extend(unasked);
        }
        found
    }

    /// Judges one part of a rule by its own kernel under a recipe's controls. Of what fails without
    /// them something must have been asked under them, too: a shorter list of inputs that
    /// leaves all of it out shows no remedy.
    fn find(
        &self,
        place: PartIndex,
        controls: Controls,
        observations: &Observations<'_>,
    ) -> Arc<PartResult> {
        let finding = self.find_alone(place, controls, observations);
        let kernel = self.kernel(place, controls);
        let Some(observation) =
            observations.get(&kernel).filter(|_| finding.passes() && !controls.is_empty())
        else {
            return finding;
        };
        let plain = self.find_alone(place, Controls::NONE, observations);
        let without = observations.get(&self.kernel(place, Controls::NONE));
        let (PartResult::Judged(KernelJudgement { failing, .. }), Some(without)) =
            (&*plain, without)
        else {
            return finding;
        };
        if failing.is_empty() || without.cases == observation.cases {
            return finding;
        }
        let case_set: HashSet<&[u64]> = observation.cases.iter().collect();
        if failing.iter().any(|(case, _)| case_set.contains(without.cases.case(*case))) {
            return finding;
        }
        Arc::new(PartResult::Incomplete(format!(
            "{kernel} was asked nothing of what fails without {controls}"
        )))
    }

    /// The same, whatever the answers are without controls.
    fn find_alone(
        &self,
        place: PartIndex,
        controls: Controls,
        observations: &Observations<'_>,
    ) -> Arc<PartResult> {
        let kernel = self.kernel(place, controls);
        let Some(observation) = observations.get(&kernel) else {
            return Arc::new(PartResult::unmeasured(&kernel));
        };
        match observation.outcome {
            Outcome::Ran | Outcome::Flaky => self.judged(place, observation),
            Outcome::Unsupported => Arc::new(PartResult::Unsupported(observation.detail.clone())),
            other => Arc::new(PartResult::Incomplete(format!(
                "{kernel}: {}",
                describe(other, &observation.detail)
            ))),
        }
    }

    /// Judges answers. The same ones to the same question are the same finding, however it was
    /// asked.
    fn judged(&self, place: PartIndex, observation: &Observation) -> Arc<PartResult> {
        let view = self.views[place.0][place.1];
        self.memo.get(view, observation).unwrap_or_else(|| {
            let judged = results::judge(&[self.view(place, observation)]).swap_remove(0);
            self.memo.put(view, observation, PartResult::Judged(judged))
        })
    }

    /// Every rule's look at each operation by its first lowering. They need nothing of one another.
    fn first_places(&self) -> impl Iterator<Item = PartIndex> {
        let rules = self.profile.rules.iter().enumerate();
        rules.flat_map(|(rule, of)| (0..of.parts.len()).map(move |part| (rule, part, 0)))
    }
}

/// Has these judge a device, as much at a time as there are cores.
pub fn judge(judges: &[Judge<'_>], observations: &Observations<'_>) -> Vec<Judgement> {
    judge_with(judges, observations, true)
}

/// The same without diagnoses of lanes: what else is to be measured depends on no diagnosis.
pub fn undiagnosed(judges: &[Judge<'_>], observations: &Observations<'_>) -> Vec<Judgement> {
    judge_with(judges, observations, false)
}

fn judge_with(
    judges: &[Judge<'_>],
    observations: &Observations<'_>,
    diagnose: bool,
) -> Vec<Judgement> {
    // What is found without any control comes first, since it is requested of every device; recipes
    // then look for the rest.
    let prefetch = Prefetch::new(judges);
    let lists = prefetch.lists(observations);
    parallel::map(&lists, |(kernel, observation)| prefetch.judge(kernel, observation, |_, _| true));
    parallel::map(judges, |judge| judge.judgement(observations, diagnose))
}

fn describe(outcome: Outcome, detail: &str) -> String {
    if detail.is_empty() { outcome.to_string() } else { format!("{outcome} ({detail})") }
}
