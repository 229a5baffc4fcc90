//! A Vulkan Profiles file as a requirement: does the device really do what the profile demands?

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{CONTROLS, INDEPENDENCE, INDEPENDENT, control, is_feature};
use crate::claims::ClaimStatus as Claim;
use crate::model::Device;
use crate::verified::{ModeProof, Modes};

/// The key of the version of Vulkan that a profile demands.
const API_VERSION: &str = "api-version";
/// Profiles within profiles are followed to this depth.
const DEPTH: usize = 16;

/// What one profile demands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VulkanDemands {
    /// Its name, `VP_...`.
    pub profile: String,
    /// What can be checked.
    pub demands: Vec<MemberDemand>,
    /// Sets of capabilities of which one is enough.
    pub alternatives: Vec<Vec<Alternative>>,
    /// What cannot: structures, sections.
    pub unchecked: BTreeSet<String>,
}

/// A set of capabilities that is enough where there are several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alternative {
    /// Its name.
    pub name: String,
    /// What of it can be checked.
    pub demands: Vec<MemberDemand>,
}

/// One member that must be as the profile says.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MemberDemand {
    /// Name of the member.
    pub member: String,
    /// For an independence, its least value as reports name it, and for the version of Vulkan the
    /// least; `None` for what must be true.
    pub least: Option<String>,
}

/// Whether a demand is met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DemandOutcome {
    /// Claimed, and done where fpprobe can tell.
    Met,
    /// Not claimed, not done, or nobody knows.
    Unmet,
}

/// A demand beside a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DemandStatus {
    /// The member, or the alternatives.
    pub member: String,
    /// Whether it is met.
    pub standing: DemandOutcome,
    /// What the driver claims.
    pub claim: String,
    /// What the device does.
    pub behaviour: String,
}

/// Why a file is no requirement.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DemandsError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// A key is missing or has another type than it should.
    #[error("`{key}`: {problem}; is it a Vulkan Profiles file?")]
    Key {
        /// Path of the key.
        key: String,
        /// What is wrong.
        problem: String,
    },
    /// Several profiles and no choice, or one that is not there.
    #[error("{problem}; it has {}: name one as FILE.json:NAME", found.join(", "))]
    Profile {
        /// What is wrong.
        problem: String,
        /// Names of the profiles.
        found: Vec<String>,
    },
    /// Nothing in it that is looked at.
    #[error(
        "{profile} demands no float control and no feature that fpprobe looks at: every device would meet it, \
        whatever it does; leave it out, or name a profile that demands some"
    )]
    Nothing {
        /// Name of the profile.
        profile: String,
    },
}

impl VulkanDemands {
    /// Reads the profile of this name, or the only one, from the text of a file.
    pub fn parse(text: &str, name: Option<&str>) -> Result<VulkanDemands, DemandsError> {
        let file: Value =
            serde_json::from_str(text).map_err(|error| DemandsError::Syntax(error.to_string()))?;
        let file = object(&file, "the document")?;
        let file = ProfileFile {
            profiles: member(file, "profiles")?,
            capabilities: member(file, "capabilities")?,
        };
        let found = || file.profiles.keys().cloned().collect::<Vec<_>>();
        let profile = match (name, file.profiles.len()) {
            (Some(name), _) if file.profiles.contains_key(name) => name.to_owned(),
            (Some(name), _) => {
                let problem = format!("there is no profile `{name}`");
                return Err(DemandsError::Profile { problem, found: found() });
            }
            (None, 1) => found().remove(0),
            (None, 0) => return Err(key("profiles", "no profile is there")),
            (None, _) => {
                return Err(DemandsError::Profile {
                    problem: "several profiles are there".into(),
                    found: found(),
                });
            }
        };
        let mut demands = VulkanDemands::none(&profile);
        file.profile(&profile, DEPTH, &mut demands)?;
        if demands.demands.iter().all(|demand| demand.member == API_VERSION)
            && demands.alternatives.is_empty()
        {
            return Err(DemandsError::Nothing { profile });
        }
        demands.demands.sort();
        demands.demands.dedup();
        Ok(demands)
    }

    /// Every demand beside what a device claims and does.
    pub fn judge(&self, device: &Device) -> Vec<DemandStatus> {
        let modes = Modes::of(device);
        let all = self.demands.iter().map(|demand| demand.judge(device, &modes));
        all.chain(self.alternatives.iter().map(|sets| any_of(sets, device, &modes))).collect()
    }

    fn none(profile: &str) -> VulkanDemands {
        VulkanDemands {
            profile: profile.to_owned(),
            demands: Vec::new(),
            alternatives: Vec::new(),
            unchecked: BTreeSet::new(),
        }
    }
}

/// Several sets of which one must be met, and where none is, what each lacks.
fn any_of(sets: &[Alternative], device: &Device, modes: &Modes<'_>) -> DemandStatus {
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    let judged = sets.iter().map(|set| {
        let judged = set.demands.iter().map(|demand| demand.judge(device, modes));
        (
            set,
            judged
                .filter(|one| one.standing == DemandOutcome::Unmet)
                .map(|one| one.member)
                .collect::<Vec<_>>(),
        )
    });
    let judged: Vec<(&Alternative, Vec<String>)> = judged.collect();
    let met = judged.iter().find(|(_, unmet)| unmet.is_empty());
    let lacks = |(set, unmet): &(&Alternative, Vec<String>)| {
        format!("{} lacks {}", set.name, unmet.join(", "))
    };
    DemandStatus {
        member: format!("any of {}", names.join(", ")),
        standing: if met.is_some() { DemandOutcome::Met } else { DemandOutcome::Unmet },
        claim: met
            .map_or_else(|| "none is met".to_owned(), |(set, _)| format!("{} is met", set.name)),
        behaviour: match met {
            Some(_) => "one is enough".to_owned(),
            None => judged.iter().map(lacks).collect::<Vec<_>>().join("; "),
        },
    }
}

/// The parts of a file.
struct ProfileFile<'a> {
    profiles: &'a Map<String, Value>,
    capabilities: &'a Map<String, Value>,
}

impl ProfileFile<'_> {
    fn profile(
        &self,
        name: &str,
        depth: usize,
        demands: &mut VulkanDemands,
    ) -> Result<(), DemandsError> {
        let at = format!("profiles.{name}");
        let profile = object(&self.profiles[name], &at)?;
        if let Some(least) = profile.get(API_VERSION) {
            let least = least.as_str().filter(|least| version(least).is_some());
            let expected = "expected a version of Vulkan, as \"1.3.204\"";
            let least =
                least.ok_or_else(|| key(&format!("{at}.{API_VERSION}"), expected))?.to_owned();
            demands
                .demands
                .push(MemberDemand { member: API_VERSION.to_owned(), least: Some(least) });
        }
        for (index, named) in list(profile, "capabilities", &at)?.iter().enumerate() {
            let at = format!("{at}.capabilities[{index}]");
            match named {
                Value::String(name) => self.set(name, &at, demands)?,
                Value::Array(names) => self.any_of(names, &at, demands)?,
                _ => return Err(key(&at, "expected the name of a set of capabilities")),
            }
        }
        for (index, named) in list(profile, "profiles", &at)?.iter().enumerate() {
            let at = format!("{at}.profiles[{index}]");
            let Value::String(name) = named else {
                return Err(key(&at, "expected the name of a profile"));
            };
            match depth.checked_sub(1) {
                Some(depth) if self.profiles.contains_key(name) => {
                    self.profile(name, depth, demands)?;
                }
                Some(_) => {
                    let problem = format!(
                        "the profile `{name}`, which is required, is not in the file: add it"
                    );
                    return Err(key(&at, &problem));
                }
                None => {
                    let problem = format!(
                        "`{name}` is required within more than {DEPTH} others: is it a circle?"
                    );
                    return Err(key(&at, &problem));
                }
            }
        }
        Ok(())
    }

    /// A list of names: one of them is enough.
    fn any_of(
        &self,
        names: &[Value],
        at: &str,
        demands: &mut VulkanDemands,
    ) -> Result<(), DemandsError> {
        let mut sets = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let at = format!("{at}[{index}]");
            let Value::String(name) = name else {
                return Err(key(&at, "expected the name of a set of capabilities"));
            };
            let mut own = VulkanDemands::none(&demands.profile);
            self.set(name, &at, &mut own)?;
            demands.unchecked.extend(own.unchecked);
            sets.push(Alternative { name: name.clone(), demands: own.demands });
        }
        if sets.is_empty() {
            return Err(key(
                at,
                "expected the names of sets of capabilities, of which one is enough",
            ));
        }
        demands.alternatives.push(sets);
        Ok(())
    }

    /// One set of capabilities.
    fn set(&self, name: &str, at: &str, demands: &mut VulkanDemands) -> Result<(), DemandsError> {
        let Some(set) = self.capabilities.get(name) else {
            return Err(key(at, &format!("`{name}` is not among the `capabilities`")));
        };
        let at = format!("capabilities.{name}");
        for (section, content) in object(set, &at)? {
            let at = format!("{at}.{section}");
            if section != "features" && section != "properties" {
                demands.unchecked.insert(section.clone());
                continue;
            }
            for (structure, members) in object(content, &at)? {
                let at = format!("{at}.{structure}");
                demands.structure(structure, object(members, &at)?, &at)?;
            }
        }
        Ok(())
    }
}

impl VulkanDemands {
    /// The members of one structure, and of those within it: `VkPhysicalDeviceFeatures2.features`.
    fn structure(
        &mut self,
        name: &str,
        members: &Map<String, Value>,
        at: &str,
    ) -> Result<(), DemandsError> {
        for (member, value) in members {
            let at = format!("{at}.{member}");
            match value {
                Value::Object(inner) => self.structure(&format!("{name}.{member}"), inner, &at)?,
                value => self.add(name, member, value, &at)?,
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        structure: &str,
        member: &str,
        value: &Value,
        at: &str,
    ) -> Result<(), DemandsError> {
        let least = if INDEPENDENCE.contains(&member) {
            let named = INDEPENDENT.iter().find(|(_, name)| value.as_str() == Some(name));
            let Some((least, _)) = named else {
                let known = INDEPENDENT.map(|(_, name)| name).join(", ");
                return Err(key(at, &format!("expected one of {known}, found {value:.80}")));
            };
            Some((*least).to_owned())
        } else if control(member).is_some() || is_feature(member) {
            match value {
                Value::Bool(true) => None,
                // To be allowed not to have something is no demand.
                Value::Bool(false) => return Ok(()),
                other => {
                    return Err(key(at, &format!("expected true or false, found {other:.80}")));
                }
            }
        } else if structure.trim_end_matches("KHR") == CONTROLS {
            return Err(key(at, &format!("`{CONTROLS}` has no such member")));
        } else {
            self.unchecked.insert(format!("{structure}.{member}"));
            return Ok(());
        };
        self.demands.push(MemberDemand { member: member.to_owned(), least });
        Ok(())
    }
}

impl MemberDemand {
    fn judge(&self, device: &Device, modes: &Modes<'_>) -> DemandStatus {
        let (met, claim, behaviour) = if let (API_VERSION, Some(least)) =
            (&*self.member, &self.least)
        {
            let claimed = &device.identity.driver.api_version;
            let met = version(claimed).is_some_and(|claimed| Some(claimed) >= version(least));
            (met, format!("{claimed}, demanded is {least}"), "not measured".to_owned())
        } else if let Some(least) = &self.least {
            let claims = &device.claims;
            let denorm = self.member == INDEPENDENCE[0];
            let claimed = if denorm {
                &claims.denorm_behavior_independence
            } else {
                &claims.rounding_mode_independence
            };
            let rank = |name: &str| INDEPENDENT.iter().position(|(known, _)| *known == name);
            let met = rank(claimed).is_some_and(|claimed| Some(claimed) >= rank(least));
            (met, format!("`{claimed}`, demanded is `{least}`"), "not measured".to_owned())
        } else if let Some(control) = control(&self.member) {
            let claim = match modes.claim(control) {
                Claim::Absent => "not claimed",
                Claim::Unknown => "the report does not say",
                Claim::Contradicted(_) if device.claims.flags.get(&self.member) != Some(&true) => {
                    "not claimed"
                }
                _ => "claimed",
            };
            let (met, behaviour) = match modes.shown(control) {
                ModeProof::Proven(kernels) => {
                    (true, format!("proven: {kernels} kernels ran under it"))
                }
                ModeProof::Disproven(why) => (false, format!("disproven: {why}")),
                ModeProof::Unknown(why) => (false, format!("unknown: {why}")),
            };
            (met, claim.to_owned(), behaviour)
        } else {
            let (met, claim) = match device.claims.flags.get(&self.member) {
                Some(true) => (true, "claimed"),
                Some(false) => (false, "not claimed"),
                None => (false, "the report does not say"),
            };
            (met, claim.to_owned(), "not measured by itself".to_owned())
        };
        let standing = if met { DemandOutcome::Met } else { DemandOutcome::Unmet };
        DemandStatus { member: self.member.clone(), standing, claim, behaviour }
    }
}

/// Major, minor and patch version of Vulkan.
fn version(text: &str) -> Option<[u32; 3]> {
    let parts: Vec<u32> = text.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    parts.try_into().ok()
}

fn key(key: &str, problem: &str) -> DemandsError {
    DemandsError::Key { key: key.to_owned(), problem: problem.to_owned() }
}

fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, DemandsError> {
    value.as_object().ok_or_else(|| key(at, "expected an object"))
}

fn member<'a>(
    file: &'a Map<String, Value>,
    name: &str,
) -> Result<&'a Map<String, Value>, DemandsError> {
    object(file.get(name).ok_or_else(|| key(name, "it is missing"))?, name)
}

/// A list of a profile, which may lack it.
fn list<'a>(
    profile: &'a Map<String, Value>,
    name: &str,
    at: &str,
) -> Result<&'a [Value], DemandsError> {
    match profile.get(name) {
        None => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(key(&format!("{at}.{name}"), "expected a list")),
    }
}
