//! The present deviations of a report as acceptances.

use std::collections::{BTreeMap, BTreeSet};

use super::read::{Key, key};
use super::rows::{fixed, lanes_shown};
use super::standing::{ShownExtent, of_rule};
use super::{
    Acceptance, AcceptedLanes, AcceptedRows, Baseline, Date, FailingDevice, NoAddress, Prints,
    TaintedDevice, Version, VersionRange, address, coverage, lane, rule_cause,
};
use crate::change::ChangeKind;
use crate::deviations::deviations;
use crate::failed::{CaseList, UNSTABLE};
use crate::model::{Device, Evidence, Identity, ProfileResult, Report, RuleResult};
use crate::record::RecordError;
use crate::selection::selects;

/// Which deviations are accepted, why, and under which conditions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AcceptFilter {
    /// Why.
    pub reason: String,
    /// Where more is written.
    pub link: Option<String>,
    /// Devices; all where none is named.
    pub devices: Vec<String>,
    /// Profiles; all where none is named.
    pub profiles: Vec<String>,
    /// Rules; all where none is named.
    pub rules: Vec<String>,
    /// Ids of causes; all where none is named.
    pub causes: Vec<String>,
    /// Whether only of the driver's present name.
    pub driver: bool,
    /// Versions of the driver.
    pub versions: Option<VersionRange>,
    /// The last day.
    pub expires: Option<Date>,
    /// Whether a device with layers or the like is a reference nonetheless.
    pub allow_tainted: bool,
    /// Whether entries go of which the report's devices show nothing any more.
    pub prune: bool,
}

/// What became of a baseline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Revision {
    /// Entries that were added or changed.
    pub set: usize,
    /// Entries that went.
    pub removed: usize,
}

/// Why nothing is accepted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AcceptError {
    /// The report is no reference.
    #[error("failed to accept deviations: {0}")]
    Tainted(TaintedDevice),
    /// No reason, so that nobody could review it.
    #[error("the reason is empty: say why these deviations are accepted")]
    Reason,
    /// A link that cannot be followed.
    #[error("failed to accept deviations: link {0}")]
    Link(NoAddress),
    /// A day that is over.
    #[error("failed to accept deviations until {0}: that day is over, and today is {1}")]
    Expired(Date, Date),
    /// Versions that the driver does not have.
    #[error("failed to accept deviations of `{device}`: {problem}")]
    OtherDriver {
        /// The device.
        device: String,
        /// In words.
        problem: String,
    },
    /// A selection that selects nothing.
    #[error(
        "failed to accept deviations: no {what} `{name}` in the report; {}",
        there_are(what, known)
    )]
    Nothing {
        /// Device, profile or rule.
        what: &'static str,
        /// What was requested.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Observations that contradict themselves.
    #[error("failed to accept deviations of `{device}`: {cause}; was the report edited by hand?")]
    Unreadable {
        /// The device.
        device: String,
        /// What is wrong.
        cause: Box<RecordError>,
    },
}

fn there_are(what: &str, known: &[String]) -> String {
    if known.is_empty() {
        format!("there is no {what} at all")
    } else {
        format!("there are: {}", known.join(", "))
    }
}

impl AcceptFilter {
    /// Makes sure that what was said can be meant, before anything is accepted.
    fn validate(&self, report: &Report, today: Date) -> Result<(), AcceptError> {
        if self.reason.trim().is_empty() {
            return Err(AcceptError::Reason);
        }
        self.link.as_deref().map_or(Ok(()), address).map_err(AcceptError::Link)?;
        if let Some(expires) = self.expires.filter(|expires| *expires < today) {
            return Err(AcceptError::Expired(expires, today));
        }
        let known = report.devices.iter().map(|device| device.identity.name.clone()).collect();
        let found =
            |name: &str| report.devices.iter().any(|device| selects(name, &device.identity));
        missing("device", &self.devices, found, known)?;
        let devices =
            || report.devices.iter().filter(|device| self.selects_device(&device.identity));
        let mut known: Vec<String> =
            devices().flat_map(|device| &device.profiles).map(|one| one.id.clone()).collect();
        known.sort();
        known.dedup();
        missing(
            "profile",
            &self.profiles,
            |name| known.iter().any(|id| id == name),
            known.clone(),
        )?;
        let profiles = || {
            devices()
                .flat_map(|device| &device.profiles)
                .filter(|one| is_selected(&self.profiles, &one.id))
        };
        let found =
            |name: &str| profiles().flat_map(|profile| &profile.rules).any(|rule| rule.id == name);
        let mut known: Vec<String> = devices()
            .flat_map(deviations)
            .filter(|(profile, _)| is_selected(&self.profiles, &profile.id))
            .map(|(_, rule)| rule.id.clone())
            .collect();
        known.sort();
        known.dedup();
        missing("rule", &self.rules, found, known)?;
        let known: Vec<String> =
            devices().flat_map(|device| &device.causes).map(|cause| cause.id.clone()).collect();
        missing("cause", &self.causes, |name| known.iter().any(|id| id == name), known.clone())
    }

    fn selects_device(&self, identity: &Identity) -> bool {
        self.devices.is_empty() || self.devices.iter().any(|selection| selects(selection, identity))
    }

    fn selects(&self, profile: &ProfileResult, rule: &RuleResult) -> bool {
        is_selected(&self.profiles, &profile.id) && is_selected(&self.rules, &rule.id)
    }

    /// Whether every lane of a profile is meant.
    fn is_whole(&self) -> bool {
        self.rules.is_empty() && self.causes.is_empty()
    }
}

fn is_selected(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|one| one == name)
}

/// The first name of a list that stands for nothing.
fn missing(
    what: &'static str,
    names: &[String],
    found: impl Fn(&str) -> bool,
    known: Vec<String>,
) -> Result<(), AcceptError> {
    match names.iter().find(|name| !found(name)) {
        Some(name) => Err(AcceptError::Nothing { what, name: name.clone(), known }),
        None => Ok(()),
    }
}

/// Adds the causes of a report's deviations that the baseline does not accept already. What a
/// kernel fails on is accepted anew where some of it was not accepted; where less fails now, the
/// entry is brought up to date and keeps its reason. An error leaves the baseline as it was.
pub fn accept(
    baseline: &mut Baseline,
    report: &Report,
    filter: &AcceptFilter,
    today: Date,
) -> Result<Revision, AcceptError> {
    filter.validate(report, today)?;
    let devices = || report.devices.iter().filter(|device| filter.selects_device(&device.identity));
    if !filter.allow_tainted {
        devices().try_for_each(TaintedDevice::refuse).map_err(AcceptError::Tainted)?;
    }
    let failing = devices().map(|device| {
        FailingDevice::of(device, report).map_err(|cause| AcceptError::Unreadable {
            device: device.identity.name.clone(),
            cause: Box::new(cause),
        })
    });
    let failing = failing.collect::<Result<Vec<_>, _>>()?;
    let mut next = baseline.clone();
    let mut revision = Revision::default();
    for device in &failing {
        let scope = named(device.device, report, filter);
        let (new, learnt) = unaccepted(&next.accepted, device, filter, &scope, today);
        let identity = &device.device.identity;
        if let Some(problem) = new.iter().find_map(|one| one.other_driver(identity)) {
            return Err(AcceptError::OtherDriver { device: identity.name.clone(), problem });
        }
        let mut changed: BTreeSet<Key> = BTreeSet::new();
        let is_own = |one: &Acceptance| {
            one.applies(identity)
                && others(report, device.device).all(|other| !one.applies(&other.identity))
        };
        for one in next.accepted.iter_mut().filter(|one| is_own(one)) {
            if filter.is_whole() && update(one, device, filter) {
                changed.insert(key(one));
            }
        }
        next.accepted
            .retain(|one| !(one.failing.is_some() && learnt.contains(&one.cause) && is_own(one)));
        clear(&mut next.accepted, &new, |kernel| {
            filter.is_whole() && device.results.list(kernel) == Some(CaseList::Whole)
        });
        for one in new {
            changed.insert(key(&one));
            insert(&mut next.accepted, one);
        }
        revision.set += changed.len();
        coverage::record(&mut next.measured, device, report, filter, &scope);
    }
    next.accepted.sort_by_cached_key(key);
    if filter.prune {
        let before = next.accepted.len();
        next.accepted.retain(|one| !is_needless(one, report, filter, &failing));
        revision.removed = before - next.accepted.len();
    }
    *baseline = next;
    Ok(revision)
}

/// A cause that is not accepted, or not with all these lanes.
#[derive(Default)]
struct NewCause {
    headline: String,
    symptom: String,
    /// Lanes by profile and kernel.
    lanes: BTreeMap<(String, String), Vec<String>>,
    /// Number of lanes of a rule, where the report shows the first of them alone.
    failing: Option<usize>,
    seen: Vec<String>,
    /// Whether all of it is accepted by the first lanes of each rule.
    sample: Option<Acceptance>,
}

/// Entries of what a device fails on and a baseline does not accept: of a kernel with a lane that
/// is not accepted all lanes, cause by cause. Also the names of the rules whose lanes the report
/// names.
fn unaccepted(
    accepted: &[Acceptance],
    device: &FailingDevice<'_>,
    filter: &AcceptFilter,
    scope: &Acceptance,
    today: Date,
) -> (Vec<Acceptance>, BTreeSet<String>) {
    let (mut new, mut learnt) = (BTreeMap::<String, NewCause>::new(), BTreeSet::new());
    for of in &device.profiles {
        let profile = &of.profile.id;
        let rows = AcceptedRows::of(accepted, &device.device.identity, profile, today);
        let selected = of.rules.iter().filter(|rule| filter.selects(of.profile, rule.rule));
        for rule in selected.filter(|rule| !rule.is_random()) {
            let name = rule_cause(profile, &rule.rule.id);
            if !rule.is_known {
                if filter.causes.is_empty() && rows.accepts(rule, of, &device.results).is_err() {
                    let shown = lanes_shown(rule.rule).into_iter();
                    let one = new.entry(name).or_default();
                    one.headline.clone_from(&rule.rule.title);
                    one.failing = Some(rule.rule.failing);
                    one.seen = shown.map(|(kernel, lane)| format!("{kernel} {lane}")).collect();
                }
                continue;
            }
            let sample = rows.accepting_sample(rule.rule);
            for (id, lanes) in &rule.by_cause {
                let is_selected = is_selected(&filter.causes, id);
                for (kernel, lanes) in lanes.iter().filter(|_| is_selected) {
                    let list = device.results.list(kernel).unwrap_or(CaseList::Whole);
                    if rows.unaccepted(kernel, of.of_kernel(kernel), of, list).is_empty() {
                        continue;
                    }
                    let cause = device.device.causes.iter().find(|cause| cause.id == **id);
                    let known = cause.map_or(&name, |cause| &cause.id).clone();
                    let one = new.entry(known).or_insert_with(|| NewCause {
                        headline: cause.map_or(&rule.rule.title, |cause| &cause.headline).clone(),
                        symptom: cause.map(|cause| cause.symptom.clone()).unwrap_or_default(),
                        seen: cause.map_or_else(Vec::new, |cause| seen(&cause.evidence)),
                        sample: sample.cloned(),
                        ..NewCause::default()
                    });
                    one.sample = one.sample.take().filter(|_| sample.is_some());
                    let all = one.lanes.entry((profile.clone(), kernel.clone())).or_default();
                    all.extend_from_slice(lanes);
                }
            }
            learnt.insert(name);
        }
    }
    let entries = new.into_iter().map(|(cause, one)| one.entry(cause, scope)).collect();
    (entries, learnt)
}

/// Lanes of evidence with their kernels, each once.
fn seen(evidence: &[Evidence]) -> Vec<String> {
    let mut seen: Vec<String> =
        evidence.iter().map(|one| format!("{} {}", one.kernel, lane(one))).collect();
    seen.dedup();
    seen
}

impl NewCause {
    /// As an entry: with the reason of the entries that accepted it by its first lanes, else that
    /// of `scope`. Lanes of random operands are not shown.
    fn entry(mut self, cause: String, scope: &Acceptance) -> Acceptance {
        let mut accepted = AcceptedLanes::default();
        let mut all: BTreeSet<String> = BTreeSet::new();
        for ((profile, kernel), mut lanes) in self.lanes {
            lanes.sort_unstable();
            lanes.dedup();
            all.extend(lanes.iter().map(|lane| format!("{kernel} {lane}")));
            let prints = Prints::of(&kernel, &lanes);
            accepted.insert((profile, kernel), vec![prints]);
        }
        if self.failing.is_none() {
            self.seen.retain(|lane| all.contains(lane));
            let unstable = all.iter().filter(|lane| lane.ends_with(UNSTABLE));
            self.seen.extend(unstable.cloned());
            let first = all.into_iter().next().filter(|_| self.seen.is_empty());
            self.seen.extend(first);
        }
        let terms = self.sample.as_ref().unwrap_or(scope);
        Acceptance {
            cause,
            headline: self.headline,
            symptom: self.symptom,
            failing: self.failing,
            seen: self.seen,
            lanes: accepted,
            ..terms.clone()
        }
    }
}

/// Makes room for new entries: what they have of a kernel that ran in full is all that is accepted
/// of that, whichever entry of the same device and conditions had some of it.
fn clear(accepted: &mut Vec<Acceptance>, new: &[Acceptance], is_whole: impl Fn(&str) -> bool) {
    for known in &mut *accepted {
        let of_scope = |one: &&Acceptance| {
            (&one.device, &one.driver, &one.versions)
                == (&known.device, &known.driver, &known.versions)
        };
        let new: Vec<&Acceptance> = new.iter().filter(of_scope).collect();
        let is_new = |place: &(String, String)| new.iter().any(|one| one.lanes.contains_key(place));
        known.lanes.retain(|place, _| !(is_whole(&place.1) && is_new(place)));
    }
    accepted.retain(|one| !one.is_empty());
}

/// Adds an entry, to one of the same device, cause and conditions where there is one.
fn insert(accepted: &mut Vec<Acceptance>, mut new: Acceptance) {
    if let Some(place) = accepted.iter().position(|one| key(one) == key(&new)) {
        let known = accepted.remove(place);
        for (place, prints) in known.lanes.iter() {
            new.lanes.merge(place.clone(), prints);
        }
        if new.failing.is_none() {
            let is_known = |lane: &String| {
                let kernel = lane.split_once(' ').map_or(lane.as_str(), |(kernel, _)| kernel);
                known.lanes.keys().any(|(_, other)| other == kernel) && !new.seen.contains(lane)
            };
            new.seen.extend(
                known.seen.iter().filter(|lane| is_known(lane)).cloned().collect::<Vec<_>>(),
            );
        }
    }
    accepted.push(new);
}

/// Leaves an entry the lanes that still fail, of kernels that ran in full; one that shows no more
/// stays as it is. Whether that changed it.
fn update(one: &mut Acceptance, device: &FailingDevice<'_>, filter: &AcceptFilter) -> bool {
    if ShownExtent::of(one, device).is_fixed() {
        return false;
    }
    let mut lanes = one.lanes.clone();
    lanes.retain(|(profile, kernel), prints| {
        let of = device.of_profile(profile).filter(|_| is_selected(&filter.profiles, profile));
        let (Some(of), Some(list @ CaseList::Whole)) = (of, device.results.list(kernel)) else {
            return true;
        };
        prints.retain_mut(|prints| {
            if fixed(prints, of, (kernel, list)) == 0 {
                return true;
            }
            let left = prints.held(of.of_kernel(kernel));
            let is_left = !left.is_empty();
            *prints = Prints::of(kernel, &left);
            is_left
        });
        prints.sort_unstable();
        !prints.is_empty()
    });
    let is_changed = lanes != one.lanes && !lanes.is_empty();
    if is_changed {
        one.lanes = lanes;
    }
    is_changed
}

/// Whether the devices of the report that an entry is of were all measured by its kernels and
/// judged by its profiles, and nothing of it fails; it is of one at least.
fn is_needless(
    one: &Acceptance,
    report: &Report,
    filter: &AcceptFilter,
    failing: &[FailingDevice<'_>],
) -> bool {
    let mut devices =
        report.devices.iter().filter(|device| one.applies(&device.identity)).peekable();
    let is_fixed = |device: &Device| {
        let own = failing.iter().find(|other| std::ptr::eq(other.device, device));
        own.is_some_and(|own| match one.rule() {
            Some((profile, id)) if one.failing.is_some() => {
                is_selected(&filter.profiles, profile)
                    && is_selected(&filter.rules, id)
                    && of_rule(one, own).is_some_and(|(kind, _)| kind == ChangeKind::Fixed)
            }
            _ => {
                let mut profiles = one.lanes.profiles().into_iter();
                filter.rules.is_empty()
                    && is_selected(&filter.causes, &one.cause)
                    && profiles.all(|id| is_selected(&filter.profiles, id))
                    && ShownExtent::of(one, own).is_fixed()
            }
        })
    };
    devices.peek().is_some()
        && devices.all(|device| filter.selects_device(&device.identity) && is_fixed(device))
}

/// The other devices of a report.
fn others<'r>(report: &'r Report, device: &'r Device) -> impl Iterator<Item = &'r Device> {
    report.devices.iter().filter(move |other| !std::ptr::eq(*other, device))
}

/// Device, driver and versions of an acceptance that is of this device of the report alone. A
/// device is called by what keeps when its driver changes; conditions on the driver are added where
/// they alone tell it from another device, and where they do not, its UUID or its key stands for
/// it.
fn named(device: &Device, report: &Report, filter: &AcceptFilter) -> Acceptance {
    let identity = &device.identity;
    let ids = format!("{:04x}:{:04x}", identity.vendor_id, identity.device_id);
    let driver = filter.driver.then(|| identity.driver.name.clone());
    let of = |device: &str, driver: Option<String>, versions: Option<VersionRange>| Acceptance {
        device: device.to_owned(),
        cause: String::new(),
        headline: String::new(),
        symptom: String::new(),
        reason: filter.reason.clone(),
        link: filter.link.clone(),
        driver,
        versions,
        expires: filter.expires,
        failing: None,
        seen: Vec::new(),
        lanes: AcceptedLanes::default(),
    };
    let present = || {
        filter.versions.clone().or_else(|| Version::of(&identity.driver).map(VersionRange::only))
    };
    let names = [
        of(&ids, driver.clone(), filter.versions.clone()),
        of(&ids, Some(identity.driver.name.clone()), filter.versions.clone()),
        of(&ids, driver.clone(), present()),
        of(&identity.device_uuid, driver.clone(), filter.versions.clone()),
    ];
    let alone = |name: &Acceptance| {
        selects(&name.device, identity)
            && others(report, device).all(|other| !name.applies(&other.identity))
    };
    let names = names.into_iter().find(alone);
    names.unwrap_or_else(|| of(&identity.key, driver, filter.versions.clone()))
}
