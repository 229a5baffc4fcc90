//! Which failing lanes a baseline accepts.
//!
//! Lanes are compared by profile and kernel, whatever rule they count for and whatever cause
//! explains them now: both depend on what else was measured, and a lane that was accepted is no new
//! one because it is explained otherwise. The cause of an entry says what was accepted, and is no
//! condition.

use std::collections::{HashMap, HashSet};

use super::failing::{FailingProfile, FailingRule};
use super::prints::LanePrint;
use super::{Acceptance, Date, Prints, lane, rule_cause};
use crate::failed::{CaseList, DeviceResults, UNSTABLE};
use crate::model::{Identity, RuleResult};

/// What a baseline accepts of one profile on one device.
pub(crate) struct AcceptedRows<'b> {
    profile: &'b str,
    /// Entries that hold, by kernel.
    by_kernel: HashMap<&'b str, Vec<(&'b Acceptance, &'b Prints)>>,
    /// Entries of which the first lanes alone are known.
    samples: Vec<&'b Acceptance>,
    /// Entries that do not hold, and why.
    refused: Vec<(&'b Acceptance, String)>,
}

/// Why failing lanes are not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Objection {
    /// In words.
    pub(crate) why: String,
    /// Kernel and lane of the first that it is about, where that is known.
    pub(crate) lane: Option<(String, String)>,
}

impl Objection {
    fn new(why: String) -> Objection {
        Objection { why, lane: None }
    }

    fn to(lane: &str, kernel: &str, why: String) -> Objection {
        Objection { why, lane: Some((kernel.to_owned(), lane.to_owned())) }
    }
}

impl<'b> AcceptedRows<'b> {
    pub(crate) fn of(
        accepted: &'b [Acceptance],
        identity: &Identity,
        profile: &'b str,
        today: Date,
    ) -> AcceptedRows<'b> {
        let mut rows = AcceptedRows {
            profile,
            by_kernel: HashMap::new(),
            samples: Vec::new(),
            refused: Vec::new(),
        };
        for one in accepted.iter().filter(|one| one.is_about(identity)) {
            if let Some(why) = one.refuses(identity, today) {
                rows.refused.push((one, why));
                continue;
            }
            if one.failing.is_some() {
                rows.samples.push(one);
            }
            for ((_, kernel), prints) in one.lanes.iter().filter(|((of, _), _)| of == profile) {
                let own = rows.by_kernel.entry(kernel).or_default();
                own.extend(prints.iter().map(|prints| (one, prints)));
            }
        }
        rows
    }

    fn of_kernel(&self, kernel: &str) -> &[(&'b Acceptance, &'b Prints)] {
        self.by_kernel.get(kernel).map_or(&[], Vec::as_slice)
    }

    /// The entry that accepts a rule's deviation, of several the first, or why none does.
    pub(crate) fn accepts(
        &self,
        rule: &FailingRule<'_>,
        of: &FailingProfile<'_>,
        results: &DeviceResults,
    ) -> Result<&'b Acceptance, Objection> {
        let sample = self.sample(rule.rule);
        if let Some(Ok(one)) = sample {
            return Ok(one);
        }
        let objection = if rule.is_known {
            self.objection(rule, of, results)
        } else {
            self.objection_to_evidence(rule.rule)
        };
        if let Some(objection) = objection {
            return sample.unwrap_or(Err(objection));
        }
        let mut entries = rule.kernels().flat_map(|kernel| self.of_kernel(kernel));
        entries.next().map(|(one, _)| *one).ok_or_else(|| self.unknown(rule))
    }

    /// The first of the rule's lanes that is not accepted.
    fn objection(
        &self,
        rule: &FailingRule<'_>,
        of: &FailingProfile<'_>,
        results: &DeviceResults,
    ) -> Option<Objection> {
        if rule.kernels().all(|kernel| self.of_kernel(kernel).is_empty()) {
            return Some(self.unknown(rule));
        }
        rule.listed.iter().find_map(|(kernel, lanes)| {
            let list = results.list(kernel).unwrap_or(CaseList::Whole);
            let unaccepted = self.unaccepted(kernel, lanes, of, list);
            let first = unaccepted.first()?;
            let own = || self.of_kernel(kernel).iter().map(|(_, prints)| prints.of_list(list));
            if own().next().is_none() {
                let refused = self.refused.iter().find(|(one, _)| one.has(self.profile, kernel));
                let why = refused.map_or_else(
                    || format!("{kernel} fails, too, of which nothing was accepted"),
                    |(_, why)| why.clone(),
                );
                return Some(Objection::to(first, kernel, why));
            }
            let many: Vec<usize> =
                own().filter(|print| print.is_too_many()).map(|print| print.count).collect();
            if many.is_empty() {
                let why = format!("not among the accepted lanes and bits: {kernel} {first}");
                return Some(Objection::to(first, kernel, why));
            }
            let (now, count) = (of.of_kernel(kernel).len(), many.iter().sum::<usize>());
            let difference = if now < count {
                "fewer lanes, and not known which"
            } else {
                "other lanes or bits"
            };
            Some(Objection::new(format!(
                "{kernel} fails on {now} lanes where {count} were accepted: {difference}; look, and accept them anew"
            )))
        })
    }

    /// Those of a kernel's lanes that are not accepted.
    pub(crate) fn unaccepted<'l>(
        &self,
        kernel: &str,
        lanes: &'l [String],
        of: &FailingProfile<'_>,
        list: CaseList,
    ) -> Vec<&'l String> {
        let prints: Vec<&LanePrint> =
            self.of_kernel(kernel).iter().map(|(_, prints)| prints.of_list(list)).collect();
        if prints.is_empty() {
            return lanes.iter().collect();
        }
        if prints.iter().any(|print| print.is_unstable()) {
            return Vec::new();
        }
        let unknown = |lanes: &'l [String]| -> Vec<&'l String> {
            lanes.iter().filter(|lane| !prints.iter().any(|print| print.holds(lane))).collect()
        };
        let unaccepted = unknown(lanes);
        if unaccepted.is_empty() || !prints.iter().any(|print| print.is_too_many()) {
            return unaccepted;
        }
        let mut held: HashSet<&str> = HashSet::new();
        for set in of.sets(kernel) {
            if is_held(&prints, set) {
                held.extend(set.iter().map(String::as_str));
            }
        }
        unaccepted.into_iter().filter(|lane| !held.contains(lane.as_str())).collect()
    }

    /// What an entry of which the first lanes alone are known says of a rule.
    fn sample(&self, rule: &RuleResult) -> Option<Result<&'b Acceptance, Objection>> {
        let cause = rule_cause(self.profile, &rule.id);
        let refused = self.refused.iter().find(|(one, _)| one.cause == cause);
        let refused = refused.map(|(_, why)| Err(Objection::new(why.clone())));
        let samples = self.samples.iter().filter(|one| one.cause == cause);
        let checked = samples.map(|one| self.objection_of_sample(one, rule).map_or(Ok(*one), Err));
        let (accepted, others): (Vec<_>, Vec<_>) = checked.partition(Result::is_ok);
        accepted.into_iter().chain(others).next().or(refused)
    }

    /// The entry of which the first lanes alone are known that accepts a rule's deviation.
    pub(crate) fn accepting_sample(&self, rule: &RuleResult) -> Option<&'b Acceptance> {
        self.sample(rule)?.ok()
    }

    fn objection_of_sample(&self, sample: &Acceptance, rule: &RuleResult) -> Option<Objection> {
        let most = sample.failing.unwrap_or_default();
        let shown = lanes_shown(rule);
        let other = shown
            .iter()
            .find(|(kernel, lane)| !sample.has_seen(kernel, lane) && !self.holds(kernel, lane));
        let more = (rule.failing > most)
            .then(|| format!("{} lanes fail, where {most} were accepted", rule.failing));
        let Some((kernel, lane)) = other else { return more.map(Objection::new) };
        let inputs_of = |lane: &str| lane.split_once(" = ").map(|(inputs, _)| inputs.to_owned());
        let whole = format!("{kernel} {lane}");
        let is_present = sample.seen.iter().any(|seen| inputs_of(seen) == inputs_of(&whole));
        let why = if is_present {
            format!("other bits than those accepted: {whole}")
        } else {
            format!(
                "this lane is not among the first that were accepted, and no others are known: {whole}"
            )
        };
        let why = more.map_or_else(|| why.clone(), |more| format!("{more}; {why}"));
        Some(Objection::to(lane, kernel, why))
    }

    /// Of a rule whose lanes the report does not name: whether those that it shows are accepted,
    /// and no more fail than are accepted of all rules.
    fn objection_to_evidence(&self, rule: &RuleResult) -> Option<Objection> {
        let shown = lanes_shown(rule);
        let other = shown.iter().find(|(kernel, lane)| !self.holds(kernel, lane));
        let known = self.by_kernel.values().flatten();
        let most: usize = known.map(|(_, prints)| prints.count()).sum();
        if let Some((kernel, lane)) = other {
            let why = if self.of_kernel(kernel).is_empty() {
                "not in the baseline".to_owned()
            } else {
                format!("not among the accepted lanes and bits: {kernel} {lane}")
            };
            return Some(Objection::to(lane, kernel, why));
        }
        let more = format!("{} lanes fail, where {most} were accepted", rule.failing);
        (rule.failing > most).then(|| Objection::new(more))
    }

    fn holds(&self, kernel: &str, lane: &str) -> bool {
        self.of_kernel(kernel).iter().any(|(_, prints)| prints.of_list(CaseList::Whole).holds(lane))
    }

    /// Nothing is accepted of any of the rule's kernels.
    fn unknown(&self, rule: &FailingRule<'_>) -> Objection {
        let about = |one: &Acceptance| rule.kernels().any(|kernel| one.has(self.profile, kernel));
        let refused = self.refused.iter().find(|(one, _)| about(one));
        let why = refused.map_or_else(|| "not in the baseline".to_owned(), |(_, why)| why.clone());
        let first = rule.listed.iter().find_map(|(kernel, lanes)| Some((kernel, lanes.first()?)));
        Objection { why, lane: first.map(|(kernel, lane)| (kernel.clone(), lane.clone())) }
    }
}

/// Whether a set of lanes is accepted as a whole: it is that of one print or of several together,
/// but for lanes that are accepted one by one.
fn is_held(prints: &[&LanePrint], set: &[String]) -> bool {
    let whole: Vec<&String> = set.iter().collect();
    let rest: Vec<&String> =
        set.iter().filter(|lane| !prints.iter().any(|print| print.holds(lane))).collect();
    prints.iter().any(|print| print.is(&whole) || print.is(&rest)) || LanePrint::are(prints, &rest)
}

/// How many lanes of a kernel that an entry accepts of a profile fail no more.
pub(crate) fn fixed(
    prints: &Prints,
    of: &FailingProfile<'_>,
    (kernel, list): (&str, CaseList),
) -> usize {
    // Of lanes that the report does not name nobody knows.
    if !of.is_known() {
        return 0;
    }
    let is_known =
        |print: &LanePrint| of.sets(kernel).any(|set| print.is(&set.iter().collect::<Vec<_>>()));
    prints.fixed(of.of_kernel(kernel), list, is_known)
}

/// The lanes that show a rule's deviation, kernel and lane, each once.
pub(super) fn lanes_shown(rule: &RuleResult) -> Vec<(String, String)> {
    let mut shown: Vec<(String, String)> = Vec::new();
    for one in &rule.evidence {
        let lane = (one.kernel.clone(), lane(one));
        if !shown.contains(&lane) {
            shown.push(lane);
        }
    }
    shown
}

impl FailingRule<'_> {
    fn kernels(&self) -> impl Iterator<Item = &str> {
        let evidence = self.rule.evidence.iter().filter(|_| !self.is_known);
        self.listed.keys().map(String::as_str).chain(evidence.map(|one| one.kernel.as_str()))
    }
}

impl Acceptance {
    /// Whether it accepts lanes of a kernel of a profile.
    fn has(&self, profile: &str, kernel: &str) -> bool {
        self.lanes.contains_key(&(profile.to_owned(), kernel.to_owned()))
    }

    /// Whether it shows a lane, or a kernel as unstable.
    fn has_seen(&self, kernel: &str, lane: &str) -> bool {
        [lane, UNSTABLE].iter().any(|lane| self.seen.contains(&format!("{kernel} {lane}")))
    }
}
