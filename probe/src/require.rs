//! `--require`: profiles that every device must meet.

use std::path::Path;

use fpprobe_profiles::{Class, Profile};
use fpprobe_reports::escape::visible;
use fpprobe_reports::model::{Device, ProfileResult};
use fpprobe_reports::vulkan_profile::{DemandOutcome, VulkanDemands};
use fpprobe_reports::{Report, verified};

use crate::document::DocumentKind;
use crate::exit::Status;
use crate::profiles;
use fpprobe_system::usage::{say, usage_error};

/// A Vulkan Profiles file.
const VULKAN: DocumentKind = DocumentKind {
    name: "Vulkan profile",
    limit: 16 << 20,
    missing: "`fpprobe run --format vulkan-profile -o FILE.json` writes one of what a device claims and does",
};
/// How many members that are not checked are named.
const SHOWN: usize = 12;

/// Under which conditions a profile must be met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProfileCondition {
    /// Under any recipe.
    Recipe,
    /// Without any control.
    Default,
    /// At run time, under any recipe: constants, which the compiler folds, are left out.
    RunTime,
}

/// How conditions are written behind a profile.
const CONDITIONS: [(&str, ProfileCondition); 2] =
    [(":default", ProfileCondition::Default), (":run-time", ProfileCondition::RunTime)];

/// One requirement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunRequirement {
    /// A profile of fpprobe's.
    Profile {
        /// Its id.
        id: String,
        /// Under which conditions.
        condition: ProfileCondition,
    },
    /// A Vulkan Profiles file: the device must do what its driver has to claim.
    Vulkan(VulkanDemands),
}

/// Reads requirements; their profiles are added to those judged by.
pub fn parse(texts: &[String], judged: &mut Vec<Profile>) -> anyhow::Result<Vec<RunRequirement>> {
    texts
        .iter()
        .map(|text| {
            if let Some((file, name)) = vulkan(text) {
                add(verified::PROFILE, judged)?;
                return demands(file, name).map(RunRequirement::Vulkan);
            }
            let conditional = CONDITIONS
                .iter()
                .find_map(|(suffix, condition)| Some((text.strip_suffix(suffix)?, *condition)));
            let (name, condition) = conditional.unwrap_or((text, ProfileCondition::Recipe));
            Ok(RunRequirement::Profile { id: add(name, judged)?, condition })
        })
        .collect()
}

/// The id of a profile, which is judged by from here on.
fn add(name: &str, judged: &mut Vec<Profile>) -> anyhow::Result<String> {
    if let Some(known) = judged.iter().find(|profile| profile.id == name) {
        return Ok(known.id.clone());
    }
    let profile = profiles::profile(name)?;
    let id = profile.id.clone();
    if !judged.iter().any(|profile| profile.id == id) {
        judged.push(profile);
    }
    Ok(id)
}

/// File and profile of `FILE.json` and `FILE.json:NAME`.
fn vulkan(text: &str) -> Option<(&str, Option<&str>)> {
    let is_json =
        |path: &str| Path::new(path).extension().is_some_and(|extension| extension == "json");
    if is_json(text) {
        return Some((text, None));
    }
    let (file, name) = text.rsplit_once(':')?;
    is_json(file).then_some((file, Some(name)))
}

fn demands(file: &str, name: Option<&str>) -> anyhow::Result<VulkanDemands> {
    let text = VULKAN.read(Path::new(file))?;
    VulkanDemands::parse(&text, name)
        .map_err(|error| usage_error(format!("Vulkan profile {file}: {error}")))
}

/// Whether every device of the report meets every requirement; says which does not.
pub fn status(requirements: &[RunRequirement], report: &Report) -> Status {
    let mut status = Status::Done;
    for requirement in requirements {
        if let RunRequirement::Vulkan(demands) = requirement {
            say(&unchecked(demands));
        }
        for device in &report.devices {
            let name = visible(&device.identity.name);
            let met = match requirement {
                RunRequirement::Profile { id, condition } => own(device, &name, id, *condition),
                RunRequirement::Vulkan(demands) => bears_out(device, &name, demands),
            };
            status = status.and(Status::Unmet.when(!met));
        }
    }
    status
}

fn own(device: &Device, name: &str, id: &str, condition: ProfileCondition) -> bool {
    let class_of = |result: &ProfileResult| match condition {
        ProfileCondition::RunTime => result.class_run_time(),
        ProfileCondition::Recipe | ProfileCondition::Default => result.class,
    };
    let class = device.profiles.iter().find(|result| result.id == id).map(class_of);
    let met = match class {
        Some(Class::Conforms) => true,
        Some(Class::ConformsWith) => condition != ProfileCondition::Default,
        Some(Class::Deviates | Class::Incomplete) | None => false,
    };
    if !met {
        let how = match condition {
            ProfileCondition::Recipe => "",
            ProfileCondition::Default => " without controls",
            ProfileCondition::RunTime => " at run time",
        };
        say(&format!(
            "{name} does not meet {id}{how}: {}",
            class.map_or("not judged", Class::name)
        ));
    }
    met
}

/// Claim beside behaviour, member by member.
fn bears_out(device: &Device, name: &str, demands: &VulkanDemands) -> bool {
    let judged = demands.judge(device);
    let unmet = judged.iter().filter(|one| one.standing == DemandOutcome::Unmet).count();
    let how = if unmet == 0 { "meets" } else { "does not meet" };
    say(&format!(
        "{name} {how} {}: {} of {} demands are met",
        demands.profile,
        judged.len() - unmet,
        judged.len()
    ));
    for one in &judged {
        let mark = if one.standing == DemandOutcome::Met { "  met  " } else { "  unmet" };
        say(&format!(
            "{mark}  {}: {}; {}",
            one.member,
            visible(&one.claim),
            visible(&one.behaviour)
        ));
    }
    unmet == 0
}

/// What of a profile is not looked at.
fn unchecked(demands: &VulkanDemands) -> String {
    let shown: Vec<&str> = demands.unchecked.iter().take(SHOWN).map(String::as_str).collect();
    let more = demands.unchecked.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let what = if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") };
    format!("{}: not checked: {what}{more}", demands.profile)
}
