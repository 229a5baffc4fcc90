//! Deviations that are known and accepted, as a file that people review: `fpprobe-baseline/1`, in
//! TOML.
//!
//! An acceptance names a device, a profile and a rule, says why, and holds what was seen: a
//! deviation with other bits, or on more lanes, is another one; fewer of the same lanes are an
//! improvement. It may be limited to a driver, to a range of its versions, and in time.

mod accept;
mod coverage;
mod prints;
mod read;
mod versions;
mod write;

use std::fmt;
use std::str::FromStr;

use fpprobe_profiles::encoding::components;
use fpprobe_spirv::Kernel;
use toml::value::Datetime;

pub use self::accept::{AcceptError, AcceptFilter, Revision, accept};
pub use self::coverage::MeasuredCoverage;
pub(crate) use self::coverage::is_plain;
pub use self::prints::{NoPrints, Objection, Prints};
pub(crate) use self::prints::{fixed, objection};
pub use self::read::read;
pub use self::versions::{RangeError, Version, VersionRange};
pub use self::write::write;
use crate::failed::{CaseList, DeviceResults, LanesByKernel, written_lane};
use crate::model::{Device, Evidence, Identity, RuleResult};
use crate::selection::selects;
use crate::values::{argument, decode_answer};

/// The value of `schema` that this program writes.
pub const SCHEMA: &str = "fpprobe-baseline/1";

/// Everything that is accepted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Baseline {
    /// Sorted by device, profile and rule.
    pub accepted: Vec<Acceptance>,
    /// What was measured when they were accepted, device by device; none in baselines of earlier
    /// versions.
    pub measured: Vec<MeasuredCoverage>,
}

/// One accepted deviation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acceptance {
    /// The device: `vendor:device` in hex, a part of its name, or a UUID.
    pub device: String,
    /// Profile id.
    pub profile: String,
    /// Rule id.
    pub rule: String,
    /// The rule's title, for readers.
    pub title: String,
    /// Why it is accepted.
    pub reason: String,
    /// Where more is written of it.
    pub link: Option<String>,
    /// `driverName` of the driver that it is accepted of; any where none.
    pub driver: Option<String>,
    /// Versions of the driver; any where none.
    pub versions: Option<VersionRange>,
    /// The last day on which it is accepted.
    pub expires: Option<Date>,
    /// Most lanes that may fail.
    pub failing: usize,
    /// Lanes that were shown when it was accepted: kernel, inputs, `=` and the answer.
    pub seen: Vec<String>,
    /// Every lane that may fail, kernel by kernel; none where the report that was accepted did not
    /// tell.
    pub lanes: Vec<Prints>,
}

/// A device with active layers or the like: its answers may not be the driver's own.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the report of `{device}` is tainted ({}), so its answers may not be the driver's own; measure without that, or say --allow-tainted",
    taint.join("; ")
)]
pub struct TaintedDevice {
    /// The device.
    pub device: String,
    /// What taints it.
    pub taint: Vec<String>,
}

impl TaintedDevice {
    /// Refuses a tainted device.
    pub fn refuse(device: &Device) -> Result<(), TaintedDevice> {
        let Device { identity, taint, .. } = device;
        if taint.is_empty() {
            return Ok(());
        }
        Err(TaintedDevice { device: identity.name.clone(), taint: taint.clone() })
    }
}

/// No address of the web.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no address: write one with https://")]
pub struct NoAddress(String);

/// Makes sure that a link can be followed.
pub fn address(link: &str) -> Result<(), NoAddress> {
    let follows =
        link.split_once("://").is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
    let whole = !link.contains(|c: char| c.is_whitespace() || c.is_control());
    if follows && whole { Ok(()) } else { Err(NoAddress(link.to_owned())) }
}

/// A day, as TOML and RFC 3339 have it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Date {
    /// Year.
    pub year: u16,
    /// Month, from 1.
    pub month: u8,
    /// Day, from 1.
    pub day: u8,
}

/// No day.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no day: write for example 2027-03-31")]
pub struct NoDate(String);

impl FromStr for Date {
    type Err = NoDate;

    fn from_str(text: &str) -> Result<Date, NoDate> {
        let time: Option<Datetime> = text.parse().ok();
        time.as_ref().and_then(Date::of).ok_or_else(|| NoDate(text.to_owned()))
    }
}

impl Date {
    /// The day that a time of TOML is, if it is nothing else.
    fn of(time: &Datetime) -> Option<Date> {
        let date = time.date.filter(|_| time.time.is_none() && time.offset.is_none())?;
        Some(Date { year: date.year, month: date.month, day: date.day })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Acceptance {
    /// Whether it speaks of this rule on this device, whatever its conditions.
    pub fn is_about(&self, identity: &Identity, profile: &str, rule: &str) -> bool {
        self.profile == profile && self.rule == rule && selects(&self.device, identity)
    }

    /// Why it is not of this driver, or `None` where it is.
    fn other_driver(&self, identity: &Identity) -> Option<String> {
        if let Some(name) = self.driver.as_ref().filter(|name| **name != identity.driver.name) {
            return Some(format!("accepted of the driver {name} alone"));
        }
        let range = self.versions.as_ref()?;
        match Version::of(&identity.driver) {
            None => Some(format!("accepted for versions {range} alone, and the driver tells none")),
            Some(version) if !range.holds(&version) => {
                Some(format!("accepted for versions {range} alone, and this is {version}"))
            }
            Some(_) => None,
        }
    }

    /// Whether it speaks of this device with the driver that it has.
    pub fn applies(&self, identity: &Identity) -> bool {
        selects(&self.device, identity) && self.other_driver(identity).is_none()
    }

    /// Kernels that it is of.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        let all = self.lanes.iter().flat_map(|prints| &prints.kernels).map(String::as_str);
        let seen = self.seen.iter().filter_map(|lane| Some(lane.split_once(' ')?.0));
        all.chain(seen.filter(|_| self.lanes.is_empty()))
    }

    /// How many of these kernels a device was not measured by, or by a shorter list of cases.
    pub fn unmeasured(&self, answers: &DeviceResults) -> usize {
        self.kernels().filter(|kernel| answers.list(kernel) != Some(CaseList::Whole)).count()
    }

    /// Why it does not hold on this device today, whatever fails, or `None` where it does.
    pub fn refuses(&self, identity: &Identity, today: Date) -> Option<String> {
        let expired = |expires: Date| {
            (expires < today).then(|| format!("its acceptance expired on {expires}"))
        };
        self.other_driver(identity).or_else(|| self.expires.and_then(expired))
    }

    /// Why it does not hold for this deviation today, or `None` where it does. `lanes` are all of
    /// the kernels' lists that fail, where the report names them; where it or the baseline does
    /// not, their number and the first of them decide.
    pub fn objection(
        &self,
        identity: &Identity,
        rule: &RuleResult,
        (lanes, answers): (Option<&LanesByKernel>, &DeviceResults),
        today: Date,
    ) -> Option<Objection> {
        if let Some(refused) = self.refuses(identity, today) {
            return Some(Objection::to_all(refused));
        }
        let known = lanes.filter(|_| !self.lanes.is_empty());
        let list = |kernel: &str| answers.list(kernel).unwrap_or(CaseList::Whole);
        let other = match known {
            Some(lanes) => prints::objection(self.lanes.iter().map(|one| (one, true)), lanes, list),
            None => self.unseen(rule),
        };
        // Where every lane is known, their number says no more.
        if rule.failing <= self.failing || known.is_some() && other.is_none() {
            return other;
        }
        let more = format!("{} lanes fail, where {} were accepted", rule.failing, self.failing);
        let lane = other.as_ref().and_then(|other| other.lane.clone());
        let why = other.map_or_else(|| more.clone(), |other| format!("{more}; {}", other.why));
        Some(Objection { why, lane })
    }

    /// An objection to the first lane that is shown and was not when it was accepted.
    fn unseen(&self, rule: &RuleResult) -> Option<Objection> {
        let other = seen(rule).into_iter().find(|lane| !self.seen.contains(lane))?;
        let inputs_of =
            |lane: &str| lane.split_once(" = ").map(|(inputs_of, _)| inputs_of.to_owned());
        let is_present = self.seen.iter().any(|lane| inputs_of(lane) == inputs_of(&other));
        let why = if is_present {
            format!("other bits than those accepted: {other}")
        } else {
            format!(
                "this lane is not among the first that were accepted, and no others are known: {other}"
            )
        };
        let (kernel, lane) = other.split_once(' ')?;
        Some(Objection::to_one(why, kernel, lane))
    }
}

/// The lanes that show a rule's deviation, each once.
pub fn seen(rule: &RuleResult) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for lane in rule.evidence.iter().map(lane) {
        if !seen.contains(&lane) {
            seen.push(lane);
        }
    }
    seen
}

/// A lane of evidence on one line: `f32.fadd 807fffff 80000001 = 80800000`; of an answer with
/// several components the one that fails: `f32.fadd:width=2 00000000,80000000 00000000,80000000 [1]
/// = 00000000`.
fn lane(evidence: &Evidence) -> String {
    let Evidence { kernel: id, inputs, out, component, .. } = evidence;
    let inputs: Vec<String> = inputs.iter().map(argument).collect();
    let of_component = || {
        let (kernel, part) = (id.parse::<Kernel>().ok()?, usize::try_from((*component)?).ok()?);
        let bits = *components(&kernel, &decode_answer(&kernel, out).ok()?).get(part)?;
        Some(written_lane(&kernel, &inputs, part, std::iter::once(bits)))
    };
    let lane =
        of_component().unwrap_or_else(|| format!("{} = {}", inputs.join(" "), argument(out)));
    format!("{id} {lane}")
}
