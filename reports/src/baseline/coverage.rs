//! What was measured of a device when its deviations were accepted: every kernel that ran, and
//! those that the device claims to support and that did not. A later report that lacks one of them
//! has lost something.

use std::collections::{BTreeMap, BTreeSet};

use fpprobe_profiles::Outcome;
use fpprobe_spirv::Kernel;
use serde::Deserialize;

use super::{AcceptFilter, Acceptance, FailingDevice, Version, VersionRange};
use crate::failed::CaseList;
use crate::model::{Identity, Report};
use crate::selection::selects;

/// Most kernels of one device: an exhaustive run has some hundred thousand.
const MOST: usize = 1 << 20;
/// What stands for a kernel with nothing behind its name.
const PLAIN: &str = "-";

/// What was measured of one device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeasuredCoverage {
    /// The device, as acceptances name it.
    pub device: String,
    /// `driverName` of its driver.
    pub driver: String,
    /// Versions of the driver, where they alone tell it from another one of the device.
    pub versions: Option<VersionRange>,
    /// Ids of the machines that it was measured on.
    pub hosts: BTreeSet<String>,
    /// Ids of the kernels that ran.
    pub kernels: BTreeSet<String>,
    /// Those of them that ran on the short list of a quick run alone.
    pub short: BTreeSet<String>,
    /// Those that the device claims to support and that did not run, and how they ended.
    pub failed: BTreeMap<String, Outcome>,
}

/// The same as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CoverageEntry {
    pub(super) device: String,
    pub(super) driver: String,
    pub(super) versions: Option<String>,
    #[serde(default)]
    pub(super) hosts: BTreeSet<String>,
    pub(super) count: usize,
    #[serde(default)]
    pub(super) kernels: Vec<String>,
    #[serde(default)]
    pub(super) short: Vec<String>,
    #[serde(default)]
    pub(super) failed: Vec<String>,
}

impl MeasuredCoverage {
    /// Whether it is of this device with this driver, whatever its version.
    pub fn is_of(&self, identity: &Identity) -> bool {
        selects(&self.device, identity) && self.driver == identity.driver.name
    }

    /// Whether it is of this device with the driver that it has.
    pub fn applies(&self, identity: &Identity) -> bool {
        let holds = |range: &VersionRange| {
            Version::of(&identity.driver).is_some_and(|version| range.holds(&version))
        };
        self.is_of(identity) && self.versions.as_ref().is_none_or(holds)
    }

    pub(super) fn written(&self) -> CoverageEntry {
        let failed = self
            .failed
            .iter()
            .filter_map(|(kernel, outcome)| Some(format!("{} {kernel}", name(*outcome)?)));
        CoverageEntry {
            device: self.device.clone(),
            driver: self.driver.clone(),
            versions: self.versions.as_ref().map(ToString::to_string),
            hosts: self.hosts.clone(),
            count: self.kernels.len(),
            kernels: rows(&self.kernels),
            short: rows(&self.short),
            failed: failed.collect(),
        }
    }

    /// What is wrong with an entry, in words.
    pub(super) fn read(entry: CoverageEntry) -> Result<MeasuredCoverage, String> {
        let (kernels, short) = (set(&entry.kernels)?, set(&entry.short)?);
        if kernels.len() != entry.count {
            return Err(format!(
                "`count` is {} and there are {} kernels",
                entry.count,
                kernels.len()
            ));
        }
        if let Some(kernel) = short.difference(&kernels).next() {
            return Err(format!("`short` has {kernel}, and `kernels` does not"));
        }
        let failed = entry.failed.iter().map(|text| {
            let (outcome, kernel) = text.split_once(' ')?;
            Some((kernel.to_owned(), FAILURES.into_iter().find(|one| name(*one) == Some(outcome))?))
        });
        let failed = failed
            .collect::<Option<_>>()
            .ok_or("`failed` lists `rejected KERNEL` and `not_written KERNEL`")?;
        let versions = entry
            .versions
            .map(|text| text.parse::<VersionRange>().map_err(|error| error.to_string()));
        Ok(MeasuredCoverage {
            device: entry.device,
            driver: entry.driver,
            versions: versions.transpose()?,
            hosts: entry.hosts,
            kernels,
            short,
            failed,
        })
    }
}

/// The kernels of some rows; what is wrong with one, in words.
fn set(rows: &[String]) -> Result<BTreeSet<String>, String> {
    let mut kernels = BTreeSet::new();
    for row in rows {
        let number = extend(&mut kernels, row).ok_or_else(|| {
            format!("`{row}` is no row of kernels: names, `:`, and what follows them, `{PLAIN}` for nothing")
        })?;
        if number > MOST || kernels.len() > MOST {
            return Err(format!("there are more than {MOST} kernels"));
        }
    }
    Ok(kernels)
}

/// How kernels end that can be accepted not to run: what crashes, hangs or is lost cannot.
const FAILURES: [Outcome; 2] = [Outcome::Rejected, Outcome::NotWritten];

fn name(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Rejected => Some("rejected"),
        Outcome::NotWritten => Some("not_written"),
        _ => None,
    }
}

/// Records what was measured of a device. What a run did not ask, since it was a quick one or of
/// some kernels, stays as it is known; where it differs in controls alone, which another version of
/// the driver may offer, it goes.
pub(super) fn record(
    measured: &mut Vec<MeasuredCoverage>,
    FailingDevice { device, results, .. }: &FailingDevice<'_>,
    report: &Report,
    filter: &AcceptFilter,
    named: &Acceptance,
) {
    let driver = device.identity.driver.name.clone();
    let is_it = |one: &MeasuredCoverage| {
        (&one.device, &one.driver, &one.versions) == (&named.device, &driver, &named.versions)
    };
    let asked: BTreeSet<&str> = device.observations.iter().map(|one| one.kernel.as_str()).collect();
    // What is no kernel of this program has no place in a row.
    let known = || device.observations.iter().filter(|one| one.kernel.parse::<Kernel>().is_ok());
    let ran = known().filter(|one| one.outcome.answered()).map(|one| one.kernel.clone());
    let failed = known().filter(|one| FAILURES.contains(&one.outcome));
    let failed = failed.map(|one| (one.kernel.clone(), one.outcome));
    let place = measured.iter().position(is_it).unwrap_or_else(|| {
        measured.push(MeasuredCoverage {
            device: named.device.clone(),
            driver: driver.clone(),
            versions: named.versions.clone(),
            hosts: BTreeSet::new(),
            kernels: BTreeSet::new(),
            short: BTreeSet::new(),
            failed: BTreeMap::new(),
        });
        measured.len() - 1
    });
    let one = &mut measured[place];
    let is_whole = one
        .kernels
        .iter()
        .filter(|kernel| is_plain(kernel))
        .all(|kernel| asked.contains(kernel.as_str()));
    let stays = |kernel: &str| !is_whole && !asked.contains(kernel);
    one.hosts.insert(report.host.id.clone());
    let whole: BTreeSet<String> = one.kernels.difference(&one.short).cloned().collect();
    one.kernels.retain(|kernel| stays(kernel));
    one.kernels.extend(ran);
    // What this run did not select is as it was.
    let is_short =
        |kernel: &&String| results.list(kernel).is_none_or(|list| list == CaseList::Short);
    one.short = one.kernels.difference(&whole).filter(is_short).cloned().collect();
    // Who accepts single rules does not mean what did not run.
    if filter.profiles.is_empty() && filter.rules.is_empty() {
        one.failed.retain(|kernel, _| stays(kernel));
        one.failed.extend(failed);
    }
    measured.sort_by(|one, other| (&one.device, &one.driver).cmp(&(&other.device, &other.driver)));
}

/// Whether a kernel is asked under no controls.
pub(crate) fn is_plain(id: &str) -> bool {
    id.parse::<Kernel>().is_ok_and(|kernel| kernel.controls.is_empty())
}

/// Kernels in few words: what has the same behind its name stands in one row,
/// `f32.acos f32.acosh : - route=literal`.
fn rows(kernels: &BTreeSet<String>) -> Vec<String> {
    let mut behind: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for kernel in kernels {
        let (name, rest) = kernel.split_once(':').unwrap_or((kernel, PLAIN));
        behind.entry(name).or_default().push(rest);
    }
    let mut names: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
    for (name, rest) in behind {
        names.entry(rest).or_default().push(name);
    }
    let mut rows: Vec<String> = names
        .into_iter()
        .map(|(rest, names)| format!("{} : {}", names.join(" "), rest.join(" ")))
        .collect();
    rows.sort_unstable();
    rows
}

/// Adds the kernels of a row, unless they are too many; their number.
fn extend(kernels: &mut BTreeSet<String>, row: &str) -> Option<usize> {
    let (names, rest) = row.split_once(" : ")?;
    let (names, rest): (Vec<&str>, Vec<&str>) =
        (names.split(' ').collect(), rest.split(' ').collect());
    if names.iter().chain(&rest).any(|word| word.is_empty()) {
        return None;
    }
    let number = names.len().saturating_mul(rest.len());
    if number <= MOST {
        let kernel = |name: &str, rest: &str| {
            if rest == PLAIN { name.to_owned() } else { format!("{name}:{rest}") }
        };
        kernels
            .extend(names.iter().flat_map(|name| rest.iter().map(move |rest| kernel(name, rest))));
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn rows_hold_every_kernel_and_no_other() {
        let kernels = set(&[
            "f32.acos",
            "f32.acos:controls=szin16,szin32;route=literal",
            "f32.acosh",
            "f32.acosh:controls=szin16,szin32;route=literal",
            "f32.fadd:width=2",
        ]);
        let written = rows(&kernels);
        assert_eq!(
            written,
            ["f32.acos f32.acosh : - controls=szin16,szin32;route=literal", "f32.fadd : width=2"]
        );
        let mut back = BTreeSet::new();
        let numbers: Vec<Option<usize>> =
            written.iter().map(|row| extend(&mut back, row)).collect();
        assert_eq!((numbers, back), (vec![Some(4), Some(1)], kernels));
        for wrong in ["", "f32.acos", "f32.acos :", " : -", "f32.acos : - "] {
            assert_eq!(extend(&mut BTreeSet::new(), wrong), None, "{wrong}");
        }
        let many = vec!["x"; 2000].join(" ");
        let mut none = BTreeSet::new();
        assert!(extend(&mut none, &format!("{many} : {many}")).unwrap() > MOST && none.is_empty());
    }
}
