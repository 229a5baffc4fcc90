//! Modes of float controls as a device shows them, not as its driver claims them.
//!
//! A mode is shown where kernels ran under it, no answer contradicts the claim, and every required
//! rule of the profile `vulkan` that speaks of it is met. A rule judges a mode at all widths
//! together; at which of them it fails, its evidence says, which names every kernel that fails
//! unless it is full.

use fpprobe_profiles::judge::EVIDENCE;
use fpprobe_profiles::{Profile, profile};
use fpprobe_spirv::{Control, Kernel};

use crate::claims::{ClaimStatus, DeviceClaims};
use crate::model::{Device, Level, ProfileResult, RuleResult, Verdict};

/// The profile whose rules say what a mode demands.
pub const PROFILE: &str = "vulkan";

/// What is known of a mode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ModeProof {
    /// The device does what the mode demands; this many kernels ran under it.
    Proven(usize),
    /// It does not, for this reason.
    Disproven(String),
    /// Nobody knows, for this reason.
    Unknown(String),
}

/// The modes of one device.
#[derive(Debug)]
pub struct Modes<'a> {
    claims: DeviceClaims<'a>,
    judged: Option<&'a ProfileResult>,
    profile: Option<Profile>,
}

impl<'a> Modes<'a> {
    /// Looks through a device once.
    pub fn of(device: &'a Device) -> Modes<'a> {
        let judged = device.profiles.iter().find(|profile| profile.id == PROFILE);
        let profile = profile::built_in(PROFILE).and_then(Result::ok);
        Modes { claims: DeviceClaims::of(device), judged, profile }
    }

    /// How the claim of a mode stands.
    pub fn claim(&self, control: Control) -> ClaimStatus<'a> {
        self.claims.control(control)
    }

    /// How the claim of a feature or property stands, by its Vulkan name.
    pub fn flag(&self, name: &str) -> ClaimStatus<'a> {
        self.claims.flag(name)
    }

    /// What is known of a mode.
    pub fn shown(&self, control: Control) -> ModeProof {
        let unknown = |why: &str| ModeProof::Unknown(why.to_owned());
        let kernels = match self.claim(control) {
            ClaimStatus::Confirmed(kernels) => kernels,
            ClaimStatus::Contradicted(finding) => {
                return ModeProof::Disproven(finding.text.clone());
            }
            ClaimStatus::Untried => return unknown("claimed, but no kernel ran under it"),
            ClaimStatus::Absent => return unknown("not claimed, so no kernel may ask for it"),
            ClaimStatus::Unknown => {
                return unknown("the report does not say whether it is claimed");
            }
        };
        let (Some(judged), Some(profile)) = (self.judged, &self.profile) else {
            return unknown("the report was not judged by `vulkan`");
        };
        let (mut met, mut doubt) = (false, None);
        for rule in judged.rules.iter().filter(|rule| speaks_of(profile, rule, control)) {
            match rule.verdict {
                Verdict::Conforms | Verdict::Permitted => met = true,
                Verdict::Unsupported => {}
                Verdict::Incomplete => {
                    doubt = Some(format!("{} is incomplete: {}", rule.id, rule.behaviour));
                }
                Verdict::Deviates | Verdict::Depends => match blamed(rule, control) {
                    Some((Blame::Its, kernel)) => {
                        return ModeProof::Disproven(format!(
                            "{} fails: {} ({kernel})",
                            rule.id, rule.title
                        ));
                    }
                    Some((Blame::Shared, kernel)) => {
                        doubt = Some(format!(
                            "{} fails under this and other modes together ({kernel})",
                            rule.id
                        ));
                    }
                    None if rule.evidence.len() < EVIDENCE => met = true,
                    None => {
                        doubt =
                            Some(format!("{} fails, and not all that fails is on record", rule.id));
                    }
                },
            }
        }
        match (doubt, met) {
            (Some(why), _) => ModeProof::Unknown(why),
            (None, true) => ModeProof::Proven(kernels),
            (None, false) => unknown("no rule of `vulkan` could be judged under it"),
        }
    }
}

/// Whether a required rule requests the mode.
fn speaks_of(profile: &Profile, rule: &RuleResult, control: Control) -> bool {
    let known = profile.rule(&rule.id).filter(|_| rule.level == Level::Required);
    let lowerings = known.into_iter().flat_map(|rule| &rule.parts).flat_map(|part| &part.lowerings);
    lowerings.into_iter().any(|kernel| kernel.controls.contains(control))
}

/// Whose fault a failing kernel may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Blame {
    /// The mode's.
    Its,
    /// The mode's, or that of another which was requested as well.
    Shared,
}

/// What of a rule's evidence speaks against a mode, the plainest of it.
fn blamed(rule: &RuleResult, control: Control) -> Option<(Blame, &str)> {
    let blame = |id: &str| {
        let kernel: Kernel =
            id.parse().ok().filter(|kernel: &Kernel| kernel.controls.contains(control))?;
        let rounds = |control: Control| matches!(control, Control::Rte(_) | Control::Rtz(_));
        // A conversion is asked under the modes of both its widths; it rounds to that of its
        // result.
        let concerns =
            |one: &Control| !rounds(*one) || one.width() == Some(kernel.result().format.bits());
        let modes: Vec<Control> =
            kernel.controls.iter().filter(|one| one.claim().is_some()).filter(concerns).collect();
        match modes[..] {
            [one] if one == control => Some(Blame::Its),
            _ => modes.contains(&control).then_some(Blame::Shared),
        }
    };
    let kernels = rule.evidence.iter().map(|shown| &shown.kernel[..]);
    kernels.filter_map(|id| blame(id).map(|blame| (blame, id))).min_by_key(|(blame, _)| *blame)
}
