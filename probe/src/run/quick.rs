//! A quick run: what tells within seconds whether a driver still does what it did.
//!
//! It asks what the rules of five families look at, plainly and under the strictest controls,
//! though by no list of thousands of cases, and kernels that deviated in the last stored report of
//! the same device, whatever version its driver had: those first that stand for most rules, until
//! the time is up. What is left out is named, and comes early the next time. What deviated then was
//! run isolated then, and is not run isolated again.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet};
use std::time::Duration;

use fpprobe_profiles::Profile;
use fpprobe_reports::journal::Quick;
use fpprobe_reports::model::{Conditions, Identity, LEFT_OUT};
use fpprobe_reports::store::{Listing, Store, StoredDevice, StoredReport};
use fpprobe_spirv::catalogue::{Extent, strictest};
use fpprobe_spirv::{Cases, Controls, Format, Kernel, Route, cases};
use serde::Deserialize;

use crate::supervisor::WorkItem;
use fpprobe_reports::host;
use fpprobe_reports::support::Support;
use fpprobe_system::usage::{OrUsage as _, say};

/// A report of fewer kernels was of a few that somebody named: what deviated in the report before
/// it counts as well.
const FEW: usize = 100;
/// Reports that are read for a device at most.
const REPORTS: usize = 8;

/// The families, by the catalogue's ids of their rules.
const FAMILIES: [&[&str]; 5] = [
    // What becomes of 32-bit subnormals: operands, results, the sign of the zero, comparisons,
    // moves.
    &["D32-18", "D32-19", "D32-20", "D32-21"],
    // NaN and signed zeros in minimum and maximum.
    &["D32-27", "D32-28", "D32-29", "D32-30", "D32-31"],
    // Square roots and their reciprocals of zeros, negatives and subnormals.
    &["D32-04", "D32-05", "D32-06"],
    // 16-bit subnormals.
    &["D16-04", "D16-07", "D16-07-move", "D16-07-min-max", "D16-07-compare"],
    // Packing to 11 and 10 bits.
    &[
        "D11-01", "D11-02", "D11-03", "D11-04", "D11-05", "D11-06", "D11-07", "D11-08", "D11-09",
        "D11-10",
    ],
];

/// Cases of the longest list that is asked whole; of texels, whose codes are what a family is
/// about, all are.
const LONGEST: usize = 1 << 12;

/// Time of a device from its begin until nothing but the families is asked,
pub const TIME: Duration = Duration::from_secs(2);
/// and what there is in any case for what deviated last time, however long the families took.
pub const LEAST: Duration = Duration::from_millis(700);
/// Time until nothing more is run again, alone.
pub const TIME_ALONE: Duration = Duration::from_millis(2500);

/// The kernels of the families for a device, and those that deviated last time; and how many of
/// them are the families'.
pub fn kernels(profiles: &[Profile], again: &[String], support: &Support) -> (Vec<Kernel>, usize) {
    let of_families = |id: &str| FAMILIES.iter().any(|family| family.contains(&id));
    let mut kernels = Vec::new();
    for profile in profiles {
        let parts =
            profile.rules.iter().filter(|rule| of_families(&rule.id)).flat_map(|rule| &rule.parts);
        let parts: Vec<_> = parts.collect();
        let sets = support.control_sets(&profile.modes);
        for set in BTreeSet::from([Controls::NONE, strictest(&sets)]) {
            kernels.extend(
                parts
                    .iter()
                    .flat_map(|part| (0..part.lowerings.len()).map(move |l| part.kernel(l, set))),
            );
        }
    }
    // Every path of every format is a default run's matter.
    let direct = |kernel: &Kernel| {
        !kernel.format.is_packed()
            || (kernel.format == Format::B10g11r11 && kernel.route == Route::StorageImage)
    };
    kernels.retain(direct);
    let mut seen = HashSet::new();
    kernels.retain(|kernel| seen.insert(*kernel));
    let families = kernels.len();
    // A report of another version may know kernels that this one does not.
    let again = again.iter().filter_map(|id| id.parse::<Kernel>().ok());
    kernels.extend(again.filter(|kernel| seen.insert(*kernel)));
    (kernels, families)
}

/// Whether a list of cases takes longer than a quick run has time for.
fn is_long(kernel: &Kernel, cases: &Cases) -> bool {
    cases.len() > LONGEST && !kernel.format.is_packed()
}

/// The kernels of a run of everything that first verdicts rest on: those of the families whose
/// lists of cases are short.
pub fn early(profiles: &[Profile], support: &Support, items: &[WorkItem]) -> HashSet<Kernel> {
    let families: HashSet<Kernel> = kernels(profiles, &[], support).0.into_iter().collect();
    let is_early =
        |item: &&WorkItem| families.contains(&item.kernel) && !is_long(&item.kernel, &item.cases);
    items.iter().filter(is_early).map(|item| item.kernel).collect()
}

/// The inputs of these kernels. Every encoding, and triples by the thousand, are a default run's
/// matter, but for what deviated.
pub fn work(
    kernels: &[Kernel],
    again: &[String],
    Conditions { seed, random, .. }: Conditions,
) -> Vec<WorkItem> {
    let again: HashSet<&str> = again.iter().map(String::as_str).collect();
    let item = |kernel: &Kernel| {
        let cases = Extent::Default.cases(kernel);
        let short = is_long(kernel, &cases) && !again.contains(&*kernel.to_string());
        let cases = if short { cases::boundary(kernel) } else { cases };
        WorkItem { kernel: *kernel, cases: cases::with_random(kernel, cases, random, seed) }
    };
    kernels.iter().map(item).collect()
}

/// What deviated, device by device, in the newest report that the store holds of each of these, and
/// in those before it while these are of a few kernels.
pub fn again<'a>(
    store: &Store,
    devices: impl IntoIterator<Item = &'a Identity>,
) -> anyhow::Result<Quick> {
    let listing = store.list().or_usage()?;
    let host = host::host().id;
    let mut quick = Quick::default();
    for device in devices {
        let mut failed: Option<Vec<Vec<String>>> = None;
        for stored in all(&listing, &host, device).take(REPORTS) {
            // What was damaged since is no reason to measure nothing.
            match deviating(store, stored, device) {
                Ok(more) => failed.get_or_insert_default().extend(more),
                Err(error) => say(&format!("warning: {error:#}; older reports show what deviated")),
            }
            let own = stored.entry.devices.iter().filter(|own| own.slot == device.slot);
            if failed.is_some() && own.map(|own| own.kernels).sum::<usize>() >= FEW {
                break;
            }
        }
        quick.again.extend(failed.map(|failed| (device.key.clone(), by_coverage(&failed))));
    }
    Ok(quick)
}

/// The reports, newest first, of this host with this device and a driver of this name: stores hold
/// reports of other machines, which have the same slots, and a slot may have several drivers.
fn all<'a>(
    listing: &'a Listing,
    host: &'a str,
    device: &'a Identity,
) -> impl Iterator<Item = &'a StoredReport> {
    let is_it =
        |stored: &StoredDevice| stored.slot == device.slot && stored.driver == device.driver.name;
    let of_host = listing.reports.iter().rev().filter(move |stored| stored.entry.host == host);
    of_host.filter(move |stored| stored.entry.devices.iter().any(is_it))
}

/// The kernels of each rule that deviated in a report, and those that it left out.
fn deviating(
    store: &Store,
    stored: &StoredReport,
    device: &Identity,
) -> anyhow::Result<Vec<Vec<String>>> {
    let last: LastReport = serde_json::from_str(&store.text(stored).or_usage()?)?;
    let is_it =
        |last: &LastDevice| last.slot == device.slot && last.driver.name == device.driver.name;
    let mut failed: Vec<Vec<String>> = Vec::new();
    for device in last.devices.into_iter().filter(is_it) {
        let rules = device.profiles.into_iter().flat_map(|profile| profile.rules);
        failed.extend(
            rules.map(|rule| rule.failed.into_iter().map(|failed| failed.kernel).collect()),
        );
        let left_out = device.incomplete.into_iter().filter(|incident| incident.detail == LEFT_OUT);
        failed.extend(left_out.map(|incident| vec![incident.subject]));
    }
    Ok(failed)
}

/// What it is worth to cover a rule of which no kernel was taken before; each kernel before makes
/// it worth less than all other rules together.
const WHOLE: u64 = 1 << 48;
/// Bits of that less.
const LESS: u32 = 12;

/// Kernels that fail these rules, each rule a list: those first that cover most rules of which the
/// fewest kernels came before.
fn by_coverage(rules: &[Vec<String>]) -> Vec<String> {
    let mut rules_of: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (number, kernels) in rules.iter().enumerate() {
        for kernel in kernels {
            rules_of.entry(kernel).or_default().insert(number);
        }
    }
    let mut taken = vec![0_u32; rules.len()];
    let gain = |kernel: &str, taken: &[u32]| -> u64 {
        rules_of[kernel].iter().map(|rule| WHOLE >> (LESS * taken[*rule]).min(WHOLE.ilog2())).sum()
    };
    // Of two that cover as much the first by name. What a kernel covers only ever becomes less.
    let mut left: BinaryHeap<(u64, std::cmp::Reverse<&str>)> =
        rules_of.keys().map(|kernel| (gain(kernel, &taken), std::cmp::Reverse(*kernel))).collect();
    let mut order = Vec::with_capacity(left.len());
    while let Some((promised, kernel)) = left.pop() {
        let now = gain(kernel.0, &taken);
        if now < promised {
            left.push((now, kernel));
            continue;
        }
        rules_of[kernel.0].iter().for_each(|rule| taken[*rule] += 1);
        order.push(kernel.0.to_owned());
    }
    order
}

/// What a report tells of failures; the rest, most of it, is not kept in memory.
#[derive(Deserialize)]
struct LastReport {
    devices: Vec<LastDevice>,
}

#[derive(Deserialize)]
struct LastDevice {
    slot: String,
    driver: LastDriver,
    profiles: Vec<LastProfile>,
    #[serde(default)]
    incomplete: Vec<LastIncident>,
}

#[derive(Deserialize)]
struct LastIncident {
    subject: String,
    detail: String,
}

#[derive(Deserialize)]
struct LastDriver {
    name: String,
}

#[derive(Deserialize)]
struct LastProfile {
    rules: Vec<LastRule>,
}

#[derive(Deserialize)]
struct LastRule {
    #[serde(default)]
    failed: Vec<LastFailed>,
}

#[derive(Deserialize)]
struct LastFailed {
    kernel: String,
}

/// What deviated before on this device.
pub fn known<'a>(quick: &'a Quick, device: &Identity) -> &'a [String] {
    quick.again.get(&device.key).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::profiles;

    #[test]
    fn every_id_of_the_families_is_a_rule_of_some_profile() {
        let profiles = profiles::for_devices(&[]).unwrap();
        for id in FAMILIES.iter().copied().flatten() {
            assert!(profiles.iter().any(|profile| profile.rule(id).is_some()), "{id}");
        }
    }

    #[test]
    fn the_families_and_what_deviated_are_asked_and_no_other_path_of_texels() {
        let profiles = profiles::for_devices(&[]).unwrap();
        let again = ["f32.sin:route=push".to_owned(), "f99.gone".to_owned()];
        let (kernels, families) = kernels(&profiles, &again, &Support::everything());
        assert_eq!(
            kernels.iter().position(|kernel| kernel.to_string() == again[0]),
            Some(families)
        );
        let ids: BTreeMap<String, Kernel> =
            kernels.iter().map(|kernel| (kernel.to_string(), *kernel)).collect();
        for id in [
            "f32.fmul",
            "f32.nmin",
            "f32.inverse_sqrt",
            "f16.fmul",
            "b10g11r11.store:route=storage_image",
        ] {
            assert!(ids.contains_key(id), "{id}");
        }
        assert!(ids.contains_key("f32.sin:route=push") && !ids.contains_key("f32.asin"));
        assert!(!ids.keys().any(|id| id.contains("route=blit")));
        assert_eq!(ids.len(), kernels.len());
        let items = work(&kernels, &["f16.sqrt".to_owned()], Conditions::default());
        let count =
            |id: &str| items.iter().find(|item| item.kernel.to_string() == id).unwrap().cases.len();
        assert!(
            count("f16.sqrt") == 1 << 16
                && count("f16.inverse_sqrt") < 100
                && count("f32.sqrt") > 1000
                && count("f32.fma") < 200
        );
    }

    #[test]
    fn each_rule_has_its_kernel_before_any_has_a_second() {
        let rules = |lists: &[&[&str]]| -> Vec<Vec<String>> {
            lists.iter().map(|list| list.iter().map(ToString::to_string).collect()).collect()
        };
        let order = by_coverage(&rules(&[&["a", "b", "c"], &["a", "b", "c"], &["d", "c"], &["e"]]));
        assert_eq!(order, ["c", "e", "a", "d", "b"]);
        assert!(by_coverage(&[]).is_empty());
    }
}
