//! Which kernels a device is asked, and with which cases.

use std::collections::{BTreeSet, HashSet};

use fpprobe_profiles::Profile;
use fpprobe_reports::answers;
use fpprobe_reports::model::Conditions;
use fpprobe_spirv::cases::with_random;
use fpprobe_spirv::catalogue::Extent;
use fpprobe_spirv::{Control, Controls, Kernel, Need};

use crate::select;
use crate::supervisor::Ask;
use fpprobe_reports::support::Support;

/// The kernels that these filters pick for a device; without filters, all of the extent, whatever a rule looks at under a
/// set of controls that its profile's recipes may ask for and the device supports, and what people ask of every device. A
/// rule's own controls are asked for whether the device supports them or not: that it does not is an answer.
pub fn kernels(
    profiles: &[Profile],
    filters: &[String],
    extent: Extent,
    support: &Support,
) -> anyhow::Result<Vec<Kernel>> {
    let (mut sets, mut looked_at) = (Vec::new(), Vec::new());
    for profile in profiles {
        for set in control_sets(profile, support) {
            // Who names kernels has them asked at once.
            let whole = filters.is_empty();
            looked_at.extend(if whole { profile.kernels_deciding(set) } else { profile.kernels_under(set) });
            sets.push(set);
        }
    }
    let mut seen = BTreeSet::from([Controls::NONE]);
    sets.retain(|set| seen.insert(*set));
    sets.insert(0, Controls::NONE);
    let mut known = extent.kernels(&sets, |kernel| support.lacks(kernel).is_none());
    let mut seen: HashSet<Kernel> = known.iter().copied().collect();
    known.extend(looked_at.into_iter().chain(answers::kernels()).filter(|kernel| seen.insert(*kernel)));
    select::kernels(filters, known)
}

/// Kernels with the cases of the catalogue, and random ones.
pub fn asks(kernels: &[Kernel], extent: Extent, Conditions { seed, random, .. }: Conditions) -> Vec<Ask> {
    let cases = |kernel: &Kernel| with_random(kernel, extent.cases(kernel), random, seed);
    kernels.iter().map(|kernel| Ask { kernel: *kernel, cases: cases(kernel) }).collect()
}

/// The sets of controls that a profile's recipes may ask of a device.
pub fn control_sets(profile: &Profile, support: &Support) -> Vec<Controls> {
    let able = |mode: &Control| mode.claim().is_none() || support.offers.contains(&Need::Control(*mode));
    let modes: Vec<Control> = profile.modes.iter().copied().filter(able).collect();
    Controls::subsets(&modes)
}
