//! One kernel's results before and now, input by input, and what each profile says of the two.

use std::collections::{BTreeMap, HashMap, HashSet};

use fpprobe_profiles::accepted::{Accepted, Set};
use fpprobe_profiles::accepts::{DemandingRule, KernelDemands};
use fpprobe_profiles::encoding::{Encoding, components};
use fpprobe_profiles::oracle::Signature;
use fpprobe_profiles::{Observation, Profile};
use fpprobe_spirv::Kernel;

use crate::change::{ChangeKind, LaneChange, LaneVerdict};
use crate::values::{encode_answer, encode_case};

/// What two observations of one kernel have in common, and where they differ.
#[derive(Debug)]
pub(super) struct ObservationDiff {
    /// Inputs that were asked and answered both times.
    pub(super) lanes: usize,
    /// Inputs that were asked in one of the two alone.
    pub(super) apart: usize,
    /// Where the results differ: case of the old observation, case of the new one.
    pub(super) changed: Vec<(usize, usize)>,
}

/// Compares two observations that have answers. An input that a list holds several times is
/// compared as often as both lists hold it.
pub(super) fn compare(old: &Observation, new: &Observation) -> ObservationDiff {
    let same_inputs = old.cases.len() == new.cases.len() && old.cases.iter().eq(new.cases.iter());
    if same_inputs && old.out == new.out && old.second == new.second {
        return ObservationDiff { lanes: old.cases.len(), apart: 0, changed: Vec::new() };
    }
    let pairs: Vec<(usize, usize)> = if same_inputs {
        (0..old.cases.len()).map(|case| (case, case)).collect()
    } else {
        by_input(old, new)
    };
    let differs = |(before, now): &(usize, usize)| {
        old.answer(*before) != new.answer(*now) || again(old, *before) != again(new, *now)
    };
    let apart = old.cases.len() + new.cases.len() - 2 * pairs.len();
    let lanes = pairs.len();
    ObservationDiff { lanes, apart, changed: pairs.into_iter().filter(differs).collect() }
}

fn by_input(old: &Observation, new: &Observation) -> Vec<(usize, usize)> {
    let mut places: HashMap<&[u64], Vec<usize>> = HashMap::new();
    // The last first, since they are taken from the end.
    for (case, inputs) in old.cases.iter().enumerate().collect::<Vec<_>>().into_iter().rev() {
        places.entry(inputs).or_default().push(case);
    }
    let found = new
        .cases
        .iter()
        .enumerate()
        .map(|(now, inputs)| Some((places.get_mut(inputs)?.pop()?, now)));
    found.flatten().collect()
}

/// What the second run gave, where that is something else than the first.
fn again(observation: &Observation, case: usize) -> Option<&[u64]> {
    let answer = observation.answer(case);
    let width = answer.len();
    let second = &observation.second.as_ref()?[case * width..(case + 1) * width];
    (second != answer).then_some(second)
}

/// What changed inputs mean, and what each profile says of them: the most important first.
/// Kind, whether it is avoidable, and what the profiles say.
pub(super) type Groups<'p> = BTreeMap<(ChangeKind, bool, Vec<ProfileVerdict<'p>>), Vec<LaneChange>>;

/// Changed inputs by what they mean.
pub(super) fn groups<'p>(
    court: &Court<'_, 'p>,
    old: &Observation,
    new: &Observation,
    changed: &[(usize, usize)],
) -> Groups<'p> {
    let mut groups = Groups::new();
    for (before, now) in changed {
        let said = court.say((old, *before), (new, *now));
        let (kind, avoidable) = court.kind(&said, (old, *before), (new, *now));
        groups.entry((kind, avoidable, said)).or_default().push(lane((old, *before), (new, *now)));
    }
    groups
}

/// What the profiles say, as it is written.
pub(super) fn written(said: Vec<ProfileVerdict<'_>>, profiles: &[Profile]) -> Vec<LaneVerdict> {
    said.into_iter().map(|said| said.written(profiles)).collect()
}

/// An observation and a case of it.
type CaseRef<'a> = (&'a Observation, usize);

fn lane((old, before): CaseRef<'_>, (new, now): CaseRef<'_>) -> LaneChange {
    let kernel = &new.kernel;
    let value = |answer: &[u64]| encode_answer(kernel, answer);
    LaneChange {
        inputs: encode_case(kernel, new.cases.case(now)),
        old: Some(value(old.answer(before))),
        new: value(new.answer(now)),
        old_second: again(old, before).map(value),
        new_second: again(new, now).map(value),
    }
}

/// What one profile says of a lane: [`LaneVerdict`] with the profile by number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ProfileVerdict<'p> {
    profile: usize,
    old: bool,
    new: bool,
    rules: Vec<&'p str>,
    /// Of these the ones that accepted the old result and do not accept the new one.
    lost: Vec<&'p str>,
}

impl ProfileVerdict<'_> {
    fn written(self, profiles: &[Profile]) -> LaneVerdict {
        LaneVerdict {
            profile: profiles[self.profile].id.clone(),
            old: self.old,
            new: self.new,
            rules: self.rules.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Who judges, whatever the kernel.
#[derive(Debug)]
pub(super) struct LaneJudge<'p> {
    pub(super) profiles: &'p [Profile],
    /// Rules that the old and the new report have as met, by these very profiles: place of the
    /// profile, rule id.
    pub(super) met: [HashSet<(usize, &'p str)>; 2],
}

/// Everything that judges lanes of one kernel.
pub(super) struct Court<'b, 'p> {
    bench: &'b LaneJudge<'p>,
    demands: KernelDemands<'p>,
    nan: Vec<Set>,
}

impl<'b, 'p> Court<'b, 'p> {
    pub(super) fn new(bench: &'b LaneJudge<'p>, kernel: &Kernel) -> Court<'b, 'p> {
        let nan = Encoding::of_result(kernel).into_iter().map(Set::nan).collect();
        Court { bench, demands: KernelDemands::new(bench.profiles, kernel), nan }
    }

    /// What each profile says of the components that changed, but for those that say nothing.
    fn say(&self, (old, before): CaseRef<'_>, (new, now): CaseRef<'_>) -> Vec<ProfileVerdict<'p>> {
        let answers = |(observation, case): CaseRef<'_>| -> Vec<Vec<u64>> {
            let all = [Some(observation.answer(case)), again(observation, case)];
            all.into_iter().flatten().map(|answer| components(&new.kernel, answer)).collect()
        };
        let (olds, news) = (answers((old, before)), answers((new, now)));
        let signature = Signature::new(&new.kernel);
        let parts: Vec<usize> = (0..self.nan.len()).collect();
        let of = |answers: &[Vec<u64>], part: usize| {
            answers.iter().map(|parts| parts[part]).collect::<Vec<_>>()
        };
        let differs = |part: &usize| of(&olds, *part) != of(&news, *part);
        // Two results go together.
        let changed: Vec<bool> = parts
            .iter()
            .map(|part| differs(part) || signature.partner(*part).as_ref().is_some_and(differs))
            .collect();
        // Whether a look accepts what was answered before, and now; those that accept everything
        // say nothing.
        let met = |accepted: Option<Accepted>| {
            let accepted = accepted?.of_components(|part| changed[part]);
            let is_everything = |sets: &[Set]| sets.iter().all(Set::is_everything);
            let all = |answers: &[Vec<u64>]| answers.iter().all(|parts| accepted.contains(parts));
            (!accepted.alternatives().iter().any(|sets| is_everything(sets)))
                .then(|| (all(&olds), all(&news)))
        };
        let met: Vec<Option<(bool, bool)>> =
            self.demands.of(new.cases.case(now)).into_iter().map(met).collect();
        let mut all: Vec<ProfileVerdict<'p>> = Vec::new();
        for DemandingRule { profile, rule, look } in self.demands.rules() {
            let Some((old, new)) = met[*look] else { continue };
            if all.last().is_none_or(|said| said.profile != *profile) {
                all.push(ProfileVerdict {
                    profile: *profile,
                    old: true,
                    new: true,
                    rules: Vec::new(),
                    lost: Vec::new(),
                });
            }
            let Some(said) = all.last_mut() else { continue };
            (said.old, said.new) = (said.old && old, said.new && new);
            let is_reported = !old || !new;
            if is_reported && !said.rules.contains(&rule.id.as_str()) {
                said.rules.push(&rule.id);
            }
            if old && !new && !said.lost.contains(&rule.id.as_str()) {
                said.lost.push(&rule.id);
            }
        }
        all
    }

    /// What a change means, and whether other variants meet the rules all the same. A rule that
    /// accepts the result no more is a regression, whatever other rules of its profile say.
    fn kind(
        &self,
        said: &[ProfileVerdict<'_>],
        old: CaseRef<'_>,
        new: CaseRef<'_>,
    ) -> (ChangeKind, bool) {
        let met = |side: usize, said: &ProfileVerdict<'_>, rules: &[&str]| {
            rules.iter().all(|rule| self.bench.met[side].contains(&(said.profile, *rule)))
        };
        let conforming = |said: &&ProfileVerdict<'_>| !said.old && said.new;
        if said.iter().any(|said| !said.lost.is_empty()) {
            (ChangeKind::Regressed, said.iter().all(|said| met(1, said, &said.lost)))
        } else if said.iter().any(|said| conforming(&said)) {
            (
                ChangeKind::Fixed,
                said.iter().filter(conforming).all(|said| met(0, said, &said.rules)),
            )
        } else if self.is_of_nan_bits(old, new) {
            (ChangeKind::NanBits, false)
        } else {
            (ChangeKind::Changed, false)
        }
    }

    /// Whether whatever differs is a NaN before and now.
    fn is_of_nan_bits(&self, (old, before): CaseRef<'_>, (new, now): CaseRef<'_>) -> bool {
        let parts = |answer: &[u64]| components(&new.kernel, answer);
        let first = (parts(old.answer(before)), parts(new.answer(now)));
        let second = |observation, case, first: &[u64]| {
            again(observation, case).map_or_else(|| first.to_vec(), parts)
        };
        let again = (second(old, before, &first.0), second(new, now, &first.1));
        [first, again].iter().all(|(old, new)| {
            let mut parts = self.nan.iter().zip(old.iter().zip(new));
            parts.all(|(nan, (old, new))| old == new || nan.contains(*old) && nan.contains(*new))
        })
    }
}
