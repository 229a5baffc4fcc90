//! The present deviations of a report as acceptances.

use fpprobe_profiles::Verdict;

use super::coverage;
use super::read::key;
use super::{
    Acceptance, Baseline, Date, NoAddress, Prints, TaintedDevice, Version, VersionRange, address,
    lane, seen,
};
use crate::deviations::deviations;
use crate::failed::{DeviceResults, LanesByKernel, ListedLanes, UNSTABLE};
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
    /// Whether only of the driver's present name.
    pub driver: bool,
    /// Versions of the driver.
    pub versions: Option<VersionRange>,
    /// The last day.
    pub expires: Option<Date>,
    /// Whether a device with layers or the like is a reference nonetheless.
    pub allow_tainted: bool,
    /// Whether entries go whose rules the report's devices meet.
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
        missing("rule", &self.rules, found, known)
    }

    fn selects_device(&self, identity: &Identity) -> bool {
        self.devices.is_empty() || self.devices.iter().any(|selection| selects(selection, identity))
    }

    fn selects(&self, profile: &ProfileResult, rule: &RuleResult) -> bool {
        is_selected(&self.profiles, &profile.id) && is_selected(&self.rules, &rule.id)
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

/// Adds the deviations of a report that the baseline does not accept already. One that was accepted
/// with other bits or conditions that do not hold any more is replaced; one of which fewer lanes
/// fail now, or whose lanes the baseline does not know yet, is brought up to date and keeps its
/// reason. An error leaves the baseline as it was.
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
    let mut next = baseline.clone();
    let mut revision = Revision::default();
    for device in devices() {
        let identity = &device.identity;
        let answers = DeviceResults::of(device, report).map_err(|cause| {
            AcceptError::Unreadable { device: identity.name.clone(), cause: Box::new(cause) }
        })?;
        for (profile, rule) in
            deviations(device).into_iter().filter(|(profile, rule)| filter.selects(profile, rule))
        {
            let lanes = answers.lanes(rule).map(|lanes| answers.by_list(lanes));
            // What fails on random operands alone, another run does not have.
            if lanes.as_ref().is_some_and(|lanes| lanes.listed.is_empty()) {
                continue;
            }
            let random = answers.random_count(rule);
            let rule =
                &lanes.as_ref().map_or_else(|| rule.clone(), |lanes| without(rule, lanes, random));
            let lanes = lanes.map(|lanes| lanes.listed);
            let own = (lanes.as_ref(), &answers);
            let holds = |one: &Acceptance| {
                one.is_about(identity, &profile.id, &rule.id)
                    && one.objection(identity, rule, own, today).is_none()
            };
            if let Some(known) = next.accepted.iter_mut().find(|one| holds(one)) {
                let shared = others(report, device).any(|other| known.applies(&other.identity));
                revision.set += usize::from(!shared && update(known, rule, own));
                continue;
            }
            let mut new = Acceptance {
                profile: profile.id.clone(),
                rule: rule.id.clone(),
                title: rule.title.clone(),
                reason: filter.reason.clone(),
                link: filter.link.clone(),
                expires: filter.expires,
                failing: rule.failing,
                seen: unstable(lanes.as_ref()).chain(seen(rule)).collect(),
                lanes: lanes.as_ref().map(Prints::of).unwrap_or_default(),
                ..named(device, report, filter)
            };
            if let Some(problem) = new.other_driver(identity) {
                return Err(AcceptError::OtherDriver { device: identity.name.clone(), problem });
            }
            if let Some(place) = next.accepted.iter().position(|one| key(one) == key(&new)) {
                // What was not measured now is accepted as before.
                let mut known = next.accepted.remove(place);
                if update(&mut known, rule, own) || !known.lanes.is_empty() && lanes.is_some() {
                    (new.failing, new.seen, new.lanes) = (known.failing, known.seen, known.lanes);
                }
            }
            next.accepted.push(new);
            revision.set += 1;
        }
        coverage::record(
            &mut next.measured,
            device,
            report,
            filter,
            &named(device, report, filter),
        );
    }
    next.accepted.sort_by(|one, other| key(one).cmp(&key(other)));
    if filter.prune {
        let before = next.accepted.len();
        let answers = devices()
            .map(|device| DeviceResults::of(device, report).map(|answers| (device, answers)));
        // What cannot be read was refused above.
        let answers: Vec<(&Device, DeviceResults)> = answers.filter_map(Result::ok).collect();
        next.accepted.retain(|one| !is_needless(one, report, filter, &answers));
        revision.removed = before - next.accepted.len();
    }
    *baseline = next;
    Ok(revision)
}

/// Whether the devices of the report that an acceptance is of were all measured by its kernels and
/// judged by its rule, and none deviates; it is of one at least.
fn is_needless(
    one: &Acceptance,
    report: &Report,
    filter: &AcceptFilter,
    answers: &[(&Device, DeviceResults)],
) -> bool {
    let mut devices =
        report.devices.iter().filter(|device| one.applies(&device.identity)).peekable();
    let is_fixed = |device: &Device| {
        let own = answers.iter().find(|(other, _)| std::ptr::eq(*other, device));
        if own.is_none_or(|(_, answers)| one.unmeasured(answers) > 0) {
            return false;
        }
        let profile = device.profiles.iter().find(|profile| profile.id == one.profile);
        let found = profile.and_then(|profile| {
            profile.rules.iter().find(|rule| rule.id == one.rule).zip(Some(profile))
        });
        found.is_some_and(|(rule, profile)| {
            let is_judged = rule.verdict.is_met() || rule.verdict == Verdict::Depends;
            let deviates = deviations(device).iter().any(|(_, other)| std::ptr::eq(*other, rule));
            is_judged && !deviates && filter.selects(profile, rule)
        })
    };
    devices.peek().is_some()
        && devices.all(|device| filter.selects_device(&device.identity) && is_fixed(device))
}

/// Brings an acceptance up to what fails now, of kernels that were measured in full; whether that
/// changed it.
fn update(
    known: &mut Acceptance,
    rule: &RuleResult,
    (lanes, answers): (Option<&LanesByKernel>, &DeviceResults),
) -> bool {
    let updated = lanes.map(|lanes| Prints::updated(&known.lanes, lanes, answers));
    let Some(updated) = updated.filter(|lanes| *lanes != known.lanes) else { return false };
    let is_part = !known.lanes.is_empty() && known.unmeasured(answers) > 0;
    (known.failing, known.seen) = if is_part {
        let mut all = std::mem::take(&mut known.seen);
        let new: Vec<String> =
            unstable(lanes).chain(seen(rule)).filter(|lane| !all.contains(lane)).collect();
        all.extend(new);
        (known.failing.max(rule.failing), all)
    } else {
        (rule.failing, unstable(lanes).chain(seen(rule)).collect())
    };
    known.lanes = updated;
    true
}

/// The kernels that never gave the same twice, in words for whoever reviews the baseline.
fn unstable(lanes: Option<&LanesByKernel>) -> impl Iterator<Item = String> {
    let kernels =
        lanes.into_iter().flatten().filter(|(_, lanes)| lanes.iter().any(|lane| lane == UNSTABLE));
    kernels.map(|(kernel, _)| format!("{kernel} {UNSTABLE}"))
}

/// A rule's result without the lanes of random operands, and their number.
fn without(rule: &RuleResult, lanes: &ListedLanes, random: usize) -> RuleResult {
    let is_random = |one: &Evidence| {
        let seen = lane(one);
        let own = seen.strip_prefix(&one.kernel).map(str::trim_start);
        own.is_some_and(|own| {
            lanes.random.get(&one.kernel).is_some_and(|lanes| lanes.iter().any(|lane| lane == own))
        })
    };
    let mut rule = rule.clone();
    rule.evidence.retain(|one| !is_random(one));
    rule.failing = rule.failing.saturating_sub(random);
    rule
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
        profile: String::new(),
        rule: String::new(),
        title: String::new(),
        reason: String::new(),
        link: None,
        driver,
        versions,
        expires: None,
        failing: 0,
        seen: Vec::new(),
        lanes: Vec::new(),
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
