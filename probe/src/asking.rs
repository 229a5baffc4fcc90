//! Which kernels a device is asked, and with which cases.

use std::collections::{BTreeSet, HashMap};

use fpprobe_profiles::Profile;
use fpprobe_spirv::{Cases, Control, Controls, Kernel, Need, cases, catalogue};

use crate::protocol::Found;
use crate::select;
use crate::supervisor::Ask;

/// The kernels that these filters pick for a device; without filters, the default run: every plain kernel under every
/// set of controls that some profile's recipe may ask for and the device supports.
pub fn kernels(
    profiles: &[Profile],
    filters: &[String],
    supported: impl Fn(Control) -> bool,
) -> anyhow::Result<Vec<Kernel>> {
    select::kernels(filters, catalogue::default_run(&control_sets(profiles, supported)))
}

/// Whether a device can be asked for a control.
pub fn supports(found: &Found, control: Control) -> bool {
    let need = Need::Control(control).to_string();
    control.claim().is_none() || found.offers.contains(&need)
}

/// Kernels with the cases of the catalogue. Equal lists are one list in memory.
pub fn asks(kernels: &[Kernel], known: &mut Lists) -> Vec<Ask> {
    kernels.iter().map(|kernel| Ask { kernel: *kernel, cases: known.of(kernel) }).collect()
}

/// Lists of cases already made.
#[derive(Default)]
pub struct Lists {
    by_kernel: HashMap<(String, u32), Cases>,
    by_name: HashMap<String, Cases>,
}

impl Lists {
    fn of(&mut self, kernel: &Kernel) -> Cases {
        let Lists { by_kernel, by_name } = self;
        let cases = by_kernel.entry((kernel.stem(), kernel.width)).or_insert_with(|| {
            let made = cases::cases(kernel);
            let same = by_name.entry(made.name.clone()).or_insert_with(|| made.clone());
            if *same == made { same.clone() } else { made }
        });
        cases.clone()
    }
}

fn control_sets(profiles: &[Profile], supported: impl Fn(Control) -> bool) -> Vec<Controls> {
    let mut seen = BTreeSet::new();
    let mut sets = Vec::new();
    for profile in profiles {
        let modes: Vec<Control> = profile.modes.iter().copied().filter(|mode| supported(*mode)).collect();
        sets.extend(Controls::subsets(&modes).into_iter().filter(|set| seen.insert(*set)));
    }
    if sets.is_empty() { vec![Controls::NONE] } else { sets }
}
