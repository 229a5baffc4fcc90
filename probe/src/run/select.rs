//! Which kernels run on a device, and on which cases.

use std::collections::{BTreeSet, HashMap, HashSet};

use fpprobe_profiles::Profile;
use fpprobe_reports::model::Conditions;
use fpprobe_reports::traits;
use fpprobe_spirv::cases::with_random;
use fpprobe_spirv::catalogue::Extent;
use fpprobe_spirv::{Controls, Kernel, products};

use super::quick;
use crate::journal::RunJournal;
use crate::select::{self, glob};
use crate::supervisor::{ManifestRow, Target, WorkItem};
use fpprobe_reports::journal::{DeviceRecord as Journaled, RunStart};
use fpprobe_reports::support::Support;
use fpprobe_system::usage::usage_error;

/// The kernels that these filters pick for a device; without filters, all of the extent, whatever a
/// rule looks at under a set of controls that its profile's recipes may request and the device
/// supports, what traits look at, and the products of matrices that it enumerates. A
/// rule's own controls are requested whether the device supports them or not: that it does not is
/// an answer.
pub fn kernels(
    profiles: &[Profile],
    filters: &[String],
    extent: Extent,
    (support, enumerated): (&Support, &[String]),
) -> anyhow::Result<Vec<Kernel>> {
    let (mut sets, mut looked_at) = (Vec::new(), Vec::new());
    for profile in profiles {
        for set in support.control_sets(&profile.modes) {
            // Who names kernels has them asked at once.
            let whole = filters.is_empty();
            looked_at.extend(if whole {
                profile.kernels_deciding(set)
            } else {
                profile.kernels_under(set)
            });
            sets.push(set);
        }
    }
    let mut seen = BTreeSet::from([Controls::NONE]);
    sets.retain(|set| seen.insert(*set));
    sets.insert(0, Controls::NONE);
    let mut known = extent.kernels(&sets, |kernel| support.lacks(kernel).is_none());
    let mut seen: HashSet<Kernel> = known.iter().copied().collect();
    let matrices = products::kernels(enumerated);
    known.extend(
        looked_at
            .into_iter()
            .chain(traits::kernels())
            .chain(matrices)
            .filter(|kernel| seen.insert(*kernel)),
    );
    // A filter may be about products that this device does not enumerate.
    let may_be_none = |filter: &&String| {
        filter.contains('*')
            && filter.contains("matrix")
            && !known.iter().any(|one| glob(filter, &one.to_string()))
    };
    let own: Vec<String> = filters.iter().filter(|filter| !may_be_none(filter)).cloned().collect();
    if own.is_empty() && !filters.is_empty() {
        Ok(Vec::new())
    } else {
        select::kernels(&own, known)
    }
}

/// Kernels with the cases of the catalogue, and random ones.
pub fn work(
    kernels: &[Kernel],
    extent: Extent,
    Conditions { seed, random, .. }: Conditions,
) -> Vec<WorkItem> {
    let cases = |kernel: &Kernel| with_random(kernel, extent.cases(kernel), random, seed);
    kernels.iter().map(|kernel| WorkItem { kernel: *kernel, cases: cases(kernel) }).collect()
}

/// A device and what runs on it.
pub struct Selection {
    /// The device.
    pub target: Target,
    /// What the journal calls it.
    pub name: String,
    /// The kernels with their cases.
    pub items: Vec<WorkItem>,
    /// Kernels, from the first on, that a quick run never leaves out.
    pub families: usize,
    /// Those of the families in a run of everything, for the first verdicts.
    pub early: HashSet<Kernel>,
}

/// What runs on each of these devices.
pub fn selections(
    targets: Vec<Target>,
    names: Vec<String>,
    run: &RunStart,
    profiles: &[Profile],
) -> anyhow::Result<Vec<Selection>> {
    let extent = run.extent();
    let selection = |(target, name): (Target, String)| {
        let support = Support::new(&target.found.claims);
        let (items, families, early) = if let Some(quick) = &run.quick {
            let again = quick::known(quick, &target.found.identity);
            let (kernels, families) = quick::kernels(profiles, again, &support);
            (quick::work(&kernels, again, run.conditions), families, HashSet::new())
        } else {
            let enumerated = &target.found.claims.matrices;
            let kernels = kernels(profiles, &run.filter, extent, (&support, enumerated))?;
            let items = work(&kernels, extent, run.conditions);
            let early = run.filter.is_empty().then(|| quick::early(profiles, &support, &items));
            (items, kernels.len(), early.unwrap_or_default())
        };
        Ok(Selection { target, name, items, families, early })
    };
    targets.into_iter().zip(names).map(selection).collect()
}

/// What the journal calls each device: its key, and a number where two have the same.
pub fn names(targets: &[Target]) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let keys = targets.iter().map(|target| target.found.identity.key.as_str());
    keys.map(|key| {
        let count = seen.entry(key).or_default();
        *count += 1;
        if *count == 1 { key.to_owned() } else { format!("{key} {count}") }
    })
    .collect()
}

/// A device that was begun must still be there, with the same driver: answers of two drivers do not
/// mix.
pub fn check(
    journal: Option<&RunJournal>,
    names: &[String],
    rows: &[ManifestRow],
) -> anyhow::Result<()> {
    let removed =
        journal.and_then(|journal| journal.devices().find(|begun| !names.contains(&begun.device)));
    let Some(removed) = removed else { return Ok(()) };
    let failed: Vec<String> = rows
        .iter()
        .filter_map(|row| row.devices.as_ref().err())
        .map(|i| i.detail.clone())
        .collect();
    let Journaled { name, device, .. } = removed;
    let message = if failed.is_empty() {
        format!(
            "{name} ({device}) is not there any more, or its driver was changed since; start anew with `fpprobe run -o`"
        )
    } else {
        format!("{name} ({device}) was not found now ({}); try again", failed.join("; "))
    };
    Err(usage_error(format!("failed to resume: {message}")))
}
