//! What a driver claims, beside what was seen.

use std::collections::BTreeMap;

use fpprobe_profiles::Outcome;
use fpprobe_spirv::{Control, Kernel};

use crate::broken_rules::names;
use crate::model::{Device, Finding};

/// How a claim stands after the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ClaimStatus<'a> {
    /// A finding contradicts it.
    Contradicted(&'a Finding),
    /// Claimed; this many kernels ran under the control and nothing contradicts it.
    Confirmed(usize),
    /// Claimed, but nothing was asked that could show it.
    Untried,
    /// Not claimed.
    Absent,
    /// The report does not say.
    Unknown,
}

/// A mode at a float width.
pub type ControlOfWidth = fn(u32) -> Control;

/// The modes of float controls, each with its name and its control at a float width.
pub const MODES: [(&str, ControlOfWidth); 5] = [
    ("DenormPreserve", Control::Dp),
    ("DenormFlushToZero", Control::Ftz),
    ("SignedZeroInfNanPreserve", Control::Szin),
    ("RoundingModeRTE", Control::Rte),
    ("RoundingModeRTZ", Control::Rtz),
];

/// The widths that modes exist for.
pub const WIDTHS: [u32; 3] = [16, 32, 64];

/// The claims of one device.
#[derive(Debug)]
pub struct DeviceClaims<'a> {
    device: &'a Device,
    /// Number of kernels that ran under each control.
    ran: BTreeMap<Control, usize>,
}

impl<'a> DeviceClaims<'a> {
    /// Looks through the observations of the device once.
    pub fn of(device: &'a Device) -> DeviceClaims<'a> {
        let mut ran = BTreeMap::new();
        let kernels =
            device.observations.iter().filter(|observation| observation.outcome == Outcome::Ran);
        for kernel in kernels.filter_map(|observation| observation.kernel.parse::<Kernel>().ok()) {
            for control in kernel.controls.iter() {
                *ran.entry(control).or_default() += 1;
            }
        }
        DeviceClaims { device, ran }
    }

    /// How a feature or property stands, by its Vulkan name.
    pub fn flag(&self, name: &str) -> ClaimStatus<'a> {
        match self.device.claims.flags.get(name) {
            None => ClaimStatus::Unknown,
            // Also a claim of `false` can be contradicted: the mode works although nobody said so.
            claimed => match (self.contradiction(name), claimed) {
                (Some(finding), _) => ClaimStatus::Contradicted(finding),
                (None, Some(true)) => {
                    let controls = Control::all().filter(|control| control.claim() == Some(name));
                    match controls.filter_map(|control| self.ran.get(&control)).sum() {
                        0 => ClaimStatus::Untried,
                        kernels => ClaimStatus::Confirmed(kernels),
                    }
                }
                (None, _) => ClaimStatus::Absent,
            },
        }
    }

    /// How the claim behind a control stands.
    pub fn control(&self, control: Control) -> ClaimStatus<'a> {
        control.claim().map_or(ClaimStatus::Unknown, |name| self.flag(name))
    }

    /// The finding that contradicts a claim.
    fn contradiction(&self, name: &str) -> Option<&'a Finding> {
        self.device
            .findings
            .iter()
            .find(|finding| finding.kind == "claim" && names(&finding.text, name))
    }
}
