//! The present deviations of a report as acceptances.

use super::read::key;
use super::{Acceptance, Baseline, Date, Range, seen};
use crate::check::deviations;
use crate::model::{Identity, Report};
use crate::selection::selects;

/// Which deviations are accepted, why, and under which conditions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
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
    pub versions: Option<Range>,
    /// The last day.
    pub expires: Option<Date>,
    /// Whether a device with layers or the like is a reference nonetheless.
    pub allow_tainted: bool,
}

/// A report that is no reference.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "failed to accept deviations of `{device}`: its report is tainted ({}), so they may not be the driver's own; measure without that, or say --allow-tainted",
    taint.join("; ")
)]
pub struct Tainted {
    /// The device.
    pub device: String,
    /// What taints it.
    pub taint: Vec<String>,
}

/// Adds the deviations of a report that the baseline does not accept already. One that was accepted with other bits or
/// conditions that do not hold any more is replaced. Returns how many were added or replaced.
pub fn accept(baseline: &mut Baseline, report: &Report, filter: &Filter, today: Date) -> Result<usize, Tainted> {
    let mut count = 0;
    let asked = |list: &[String], name: &str| list.is_empty() || list.iter().any(|one| one == name);
    for device in &report.devices {
        let identity = &device.identity;
        if !(filter.devices.is_empty() || filter.devices.iter().any(|selection| selects(selection, identity))) {
            continue;
        }
        if !device.taint.is_empty() && !filter.allow_tainted {
            return Err(Tainted { device: identity.name.clone(), taint: device.taint.clone() });
        }
        for (profile, rule) in deviations(device) {
            if !asked(&filter.profiles, &profile.id) || !asked(&filter.rules, &rule.id) {
                continue;
            }
            let about = |one: &Acceptance| one.is_about(identity, &profile.id, &rule.id);
            let holds = |one: &Acceptance| about(one) && one.objection(identity, rule, today).is_none();
            if baseline.accepted.iter().any(holds) {
                continue;
            }
            let new = Acceptance {
                device: named(identity),
                profile: profile.id.clone(),
                rule: rule.id.clone(),
                title: rule.title.clone(),
                reason: filter.reason.clone(),
                link: filter.link.clone(),
                driver: filter.driver.then(|| identity.driver.name.clone()),
                versions: filter.versions.clone(),
                expires: filter.expires,
                failing: rule.failing,
                seen: seen(rule),
            };
            baseline.accepted.retain(|one| key(one) != key(&new));
            baseline.accepted.push(new);
            count += 1;
        }
    }
    baseline.accepted.sort_by(|one, other| key(one).cmp(&key(other)));
    Ok(count)
}

/// How a device is called that keeps its ids when its driver changes.
fn named(identity: &Identity) -> String {
    format!("{:04x}:{:04x}", identity.vendor_id, identity.device_id)
}
