//! Deviations that are known and accepted, as a file that people review: `fpprobe-baseline/2`, in
//! TOML.
//!
//! An entry names a device and a cause, says why that is accepted, and holds which lanes showed it,
//! profile by profile and kernel by kernel: another result, or more lanes, is another deviation;
//! fewer of the same lanes are an improvement. It may be limited to a driver, to a range of its
//! versions, and in time. `fpprobe-baseline/1` accepts rule by rule: its entries are read as those
//! of causes that nobody named.

mod accept;
mod coverage;
mod failing;
mod lanes;
mod prints;
mod read;
mod rows;
mod standing;
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
pub(crate) use self::failing::{FailingDevice, FailingProfile, FailingRule};
pub use self::lanes::AcceptedLanes;
pub use self::prints::{NoPrints, Prints};
pub use self::read::read;
pub(crate) use self::rows::{AcceptedRows, Objection};
pub(crate) use self::standing::standing;
pub use self::versions::{RangeError, Version, VersionRange};
pub use self::write::write;
use crate::failed::written_lane;
use crate::model::{Device, Evidence, Identity};
use crate::selection::selects;
use crate::values::{argument, decode_answer};

/// The value of `schema` that this program writes.
pub const SCHEMA: &str = "fpprobe-baseline/2";

/// Everything that is accepted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Baseline {
    /// Sorted by device and cause.
    pub accepted: Vec<Acceptance>,
    /// What was measured when they were accepted, device by device; none in baselines of earlier
    /// versions.
    pub measured: Vec<MeasuredCoverage>,
}

impl Baseline {
    /// Leaves the entries of these profiles.
    pub fn keep_profiles(&mut self, is_kept: impl Fn(&String) -> bool) {
        self.accepted.retain_mut(|one| {
            if let Some((profile, _)) = one.rule() {
                return is_kept(&profile.to_owned());
            }
            one.lanes.retain(|(profile, _), _| is_kept(profile));
            !one.lanes.is_empty()
        });
    }
}

/// One accepted cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acceptance {
    /// The device: `vendor:device` in hex, a part of its name, or a UUID.
    pub device: String,
    /// Id of the cause; profile and rule, `d3d11 D32-18`, where no report named one.
    pub cause: String,
    /// What the device does, for readers; the rule's title where no report named a cause.
    pub headline: String,
    /// Name of the cause's symptom; empty where no report named one.
    pub symptom: String,
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
    /// Most lanes of a rule that may fail, where the first of them alone are known.
    pub failing: Option<usize>,
    /// Lanes that show it: kernel, inputs, `=` and the result.
    pub seen: Vec<String>,
    /// Every lane that may fail.
    pub lanes: AcceptedLanes,
}

/// The cause of lanes of which only a rule is known.
pub(crate) fn rule_cause(profile: &str, rule: &str) -> String {
    format!("{profile} {rule}")
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
    /// Whether it is of this device, whatever its conditions.
    pub fn is_about(&self, identity: &Identity) -> bool {
        selects(&self.device, identity)
    }

    /// Profile and rule, where no report named a cause.
    pub(crate) fn rule(&self) -> Option<(&str, &str)> {
        self.cause.split_once(' ')
    }

    /// Whether it accepts nothing.
    fn is_empty(&self) -> bool {
        self.lanes.is_empty() && self.failing.is_none()
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
        self.is_about(identity) && self.other_driver(identity).is_none()
    }

    /// Why it does not hold on this device today, whatever fails, or `None` where it does.
    pub fn refuses(&self, identity: &Identity, today: Date) -> Option<String> {
        let expired = |expires: Date| {
            (expires < today).then(|| format!("its acceptance expired on {expires}"))
        };
        self.other_driver(identity).or_else(|| self.expires.and_then(expired))
    }
}

/// A lane of evidence on one line, without its kernel: `807fffff 80000001 = 80800000`; of a result
/// with several components the one that fails: `00000000,80000000 00000000,80000000 [1] =
/// 00000000`.
fn lane(evidence: &Evidence) -> String {
    let Evidence { kernel: id, inputs, out, component, .. } = evidence;
    let inputs: Vec<String> = inputs.iter().map(argument).collect();
    let of_component = || {
        let (kernel, part) = (id.parse::<Kernel>().ok()?, usize::try_from((*component)?).ok()?);
        let bits = *components(&kernel, &decode_answer(&kernel, out).ok()?).get(part)?;
        Some(written_lane(&kernel, &inputs, part, std::iter::once(bits)))
    };
    of_component().unwrap_or_else(|| format!("{} = {}", inputs.join(" "), argument(out)))
}
