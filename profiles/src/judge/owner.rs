//! Which rule a failing lane counts for. A lane is a part of the result of one kernel on one case;
//! it counts once in a profile, however many rules do not accept it:
//!
//! 1. for the rule that judges a behaviour, if that behaviour deviates and nothing else is wrong
//!    with the lane: the lane would be accepted with the behaviour swapped. Of several such rules
//!    the first of the profile;
//! 2. else for the first rule of the profile that does not accept it, required rules before
//!    recommended, these before informative ones.
//!
//! Behaviours come first because they explain lanes whose own rules say nothing of them.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use fpprobe_spirv::Kernel;

use super::lane::LaneIndex;
use super::recipe::Recipe;
use super::{Judge, KernelJudgement, LaneEvidence, Observation, PartIndex, PartResult, behaviour};
use crate::accepted::Accepted;
use crate::accuracy::Accuracy;
use crate::profile::Behaviour;

/// What tells a lane from others: number of the kernel, operands, part of the result.
pub(super) type LaneKey<'a> = (usize, &'a [u64], usize);

/// Lanes of one kernel's results that a rule does not accept.
pub(super) struct LaneGroup<'a> {
    pub(super) observation: &'a Observation,
    /// Number of the kernel among those of all groups.
    pub(super) kernel: usize,
    pub(super) lanes: Vec<LaneIndex>,
    pub(super) cause: FailureCause,
}

/// Why lanes are not accepted.
pub(super) enum FailureCause {
    /// Each by itself.
    Result(PartIndex, Arc<PartResult>),
    /// By comparison with others; what would have been accepted, lane by lane.
    Relation(Vec<Accepted>),
}

impl<'a> LaneGroup<'a> {
    fn key(&self, (case, part): LaneIndex) -> LaneKey<'a> {
        (self.kernel, self.observation.cases.case(case), part)
    }
}

/// Numbers the kernels of groups, each of which is hashed once, and not with every lane.
pub(super) fn number(groups: &mut [Vec<LaneGroup<'_>>]) {
    let mut known: HashMap<Kernel, usize> = HashMap::default();
    for group in groups.iter_mut().flatten() {
        let next = known.len();
        group.kernel = *known.entry(group.observation.kernel).or_insert(next);
    }
}

/// The lanes of a rule: numbers of rule, group and lane within the group.
type RuleLane = (usize, usize, usize);

/// The failing lanes of each rule of a profile, each lane once.
pub(super) struct Assignment {
    /// By the number of the rule, the lanes that count for it: its own first.
    pub(super) lanes: Vec<Vec<RuleLane>>,
    /// How many of them the rule does not look at.
    pub(super) foreign: Vec<usize>,
    /// By the number of the rule, how many of the lanes that it does not accept count for which
    /// other one.
    pub(super) elsewhere: Vec<Vec<(usize, usize)>>,
}

impl Judge<'_> {
    /// Assigns every failing lane to one rule; `groups` are those of each rule.
    pub(super) fn assigned<'a>(
        &self,
        groups: &[Vec<LaneGroup<'a>>],
        recipe: &Recipe,
        absent: &[String],
    ) -> Assignment {
        let rules = &self.profile.rules;
        let mut owners = self.explained(groups, recipe, absent);
        let mut order: Vec<usize> = (0..rules.len()).collect();
        order.sort_by_key(|rule| rules[*rule].level);
        for rule in order {
            for key in keys(&groups[rule]) {
                owners.entry(key).or_insert(rule);
            }
        }
        let mut owned = Assignment {
            lanes: vec![Vec::new(); rules.len()],
            foreign: vec![0; rules.len()],
            elsewhere: vec![Vec::new(); rules.len()],
        };
        let mut counted: HashSet<LaneKey<'a>> = HashSet::default();
        for own in [true, false] {
            for (rule, groups) in groups.iter().enumerate() {
                let mut moved: HashSet<LaneKey<'a>> = HashSet::default();
                for (member, key) in members(rule, groups) {
                    let owner = owners[&key];
                    if (owner == rule) != own {
                        continue;
                    }
                    if counted.insert(key) {
                        owned.lanes[owner].push(member);
                        owned.foreign[owner] += usize::from(!own);
                    }
                    if !own && moved.insert(key) {
                        let elsewhere = &mut owned.elsewhere[rule];
                        match elsewhere.iter_mut().find(|(other, _)| *other == owner) {
                            Some((_, count)) => *count += 1,
                            None => elsewhere.push((owner, 1)),
                        }
                    }
                }
            }
        }
        owned.elsewhere.iter_mut().for_each(|elsewhere| elsewhere.sort_unstable());
        owned
    }

    /// Lanes that fail for a behaviour that deviates, with the rule that judges it.
    fn explained<'a>(
        &self,
        groups: &[Vec<LaneGroup<'a>>],
        recipe: &Recipe,
        absent: &[String],
    ) -> HashMap<LaneKey<'a>, usize> {
        let rules = &self.profile.rules;
        let mut owners: HashMap<LaneKey<'a>, usize> = HashMap::default();
        let judges: Vec<(usize, Behaviour)> = rules
            .iter()
            .enumerate()
            .filter_map(|(index, rule)| rule.judges.map(|b| (index, b)))
            .collect();
        for (number, (judge, behaviour)) in judges.iter().enumerate() {
            // One whose lanes others explain has no deviation of its own to explain others by.
            if keys(&groups[*judge]).all(|key| owners.contains_key(&key)) {
                continue;
            }
            let formats: Vec<_> = rules[*judge].parts.iter().map(|part| part.format).collect();
            for (rule, groups) in groups.iter().enumerate() {
                let before = judges[..=number].iter().any(|(judge, _)| *judge == rule);
                if before || rules[rule].level < rules[*judge].level {
                    continue;
                }
                for group in groups {
                    let FailureCause::Result(place, finding) = &group.cause else { continue };
                    let PartResult::Judged(judged) = &**finding else { continue };
                    if !formats.contains(&rules[place.0].parts[place.1].format) {
                        continue;
                    }
                    if self.acquitted(
                        (*judge, *behaviour),
                        *place,
                        group.observation,
                        recipe,
                        absent,
                    ) {
                        continue;
                    }
                    let explained =
                        self.passes_swapped(*place, group.observation, judged, *behaviour);
                    for (index, _) in
                        group.lanes.iter().zip(explained).filter(|(_, explained)| **explained)
                    {
                        owners.entry(group.key(*index)).or_insert(*judge);
                    }
                }
            }
        }
        owners
    }

    /// Of each lane that fails, whether it is accepted with a behaviour swapped.
    fn passes_swapped<'j>(
        &self,
        place: PartIndex,
        observation: &Observation,
        judged: &'j KernelJudgement,
        behaviour: Behaviour,
    ) -> &'j [bool] {
        judged.swapped[behaviour as usize].get_or_init(|| {
            let view = self.view(place, observation);
            let swapped = behaviour::swapped(view.demand, behaviour);
            let passes =
                |index: &LaneIndex| view.accepts(&view.under(*index, &swapped), *index, &swapped);
            judged.failing.iter().map(passes).collect()
        })
    }

    /// Whether the rule that judges a behaviour passes on the same kernel, and not for want of
    /// telling the two apart: then the behaviour is not the cause.
    fn acquitted(
        &self,
        (judge, behaviour): (usize, Behaviour),
        place: PartIndex,
        observation: &Observation,
        recipe: &Recipe,
        absent: &[String],
    ) -> bool {
        let own = self.kernel(place, recipe.controls);
        self.places(judge, recipe, absent).into_iter().any(|(part, lowering)| {
            let place = (judge, part, lowering);
            self.kernel(place, recipe.controls) == own
                && self.judged(place, observation).passes()
                && self.contradicts(place, behaviour, observation)
        })
    }

    /// Whether some answer that a judging rule looks at is not what the opposite behaviour, rounded
    /// to nearest, would give.
    fn contradicts(
        &self,
        place: PartIndex,
        behaviour: Behaviour,
        observation: &Observation,
    ) -> bool {
        let mut demand =
            behaviour::swapped(&self.profile.rules[place.0].parts[place.1].demand, behaviour);
        demand.accuracy = Accuracy::NearestEven;
        let view = self.view(place, observation);
        view.indices().any(|index| {
            view.judges(index) && !view.accepts(&view.under(index, &demand), index, &demand)
        })
    }

    /// A lane as evidence.
    pub(super) fn evidence(&self, group: &LaneGroup<'_>, lane: usize) -> LaneEvidence {
        let (observation, index) = (group.observation, group.lanes[lane]);
        match &group.cause {
            FailureCause::Result(place, finding) => {
                let view = self.view(*place, observation);
                let explanation = match &**finding {
                    PartResult::Judged(judged) => judged.explanation.as_ref(),
                    _ => None,
                };
                view.evidence(index, explanation.unwrap_or(view.demand))
            }
            FailureCause::Relation(accepted) => LaneEvidence {
                kernel: observation.kernel,
                case: observation.cases.case(index.0).to_vec(),
                answer: observation.answer(index.0).to_vec(),
                part: index.1,
                accepted: accepted[lane].clone(),
            },
        }
    }
}

/// The lanes of a rule.
pub(super) fn keys<'g, 'a: 'g>(
    groups: &'g [LaneGroup<'a>],
) -> impl Iterator<Item = LaneKey<'a>> + 'g {
    members(0, groups).map(|(_, key)| key)
}

fn members<'g, 'a: 'g>(
    rule: usize,
    groups: &'g [LaneGroup<'a>],
) -> impl Iterator<Item = (RuleLane, LaneKey<'a>)> + 'g {
    groups.iter().enumerate().flat_map(move |(number, group)| {
        group
            .lanes
            .iter()
            .enumerate()
            .map(move |(lane, index)| ((rule, number, lane), group.key(*index)))
    })
}
