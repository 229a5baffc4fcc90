//! `--require`: profiles that every device must meet.

use fpprobe_profiles::{Class, Profile};
use fpprobe_reports::Report;

use crate::exit::{Status, say};
use crate::profiles;

/// One requirement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Requirement {
    /// Profile id.
    profile: String,
    /// Whether it must be met without any control.
    default: bool,
}

/// Reads requirements; their profiles are added to those judged by.
pub fn parse(texts: &[String], judged: &mut Vec<Profile>) -> anyhow::Result<Vec<Requirement>> {
    let mut requirements = Vec::new();
    for text in texts {
        let (name, default) = text.strip_suffix(":default").map_or((text.as_str(), false), |name| (name, true));
        let known = judged.iter().find(|profile| profile.id == name).map(|profile| profile.id.clone());
        let profile = if let Some(id) = known {
            id
        } else {
            let profile = profiles::profile(name)?;
            let id = profile.id.clone();
            if !judged.iter().any(|profile| profile.id == id) {
                judged.push(profile);
            }
            id
        };
        requirements.push(Requirement { profile, default });
    }
    Ok(requirements)
}

/// Whether every device of the report meets every requirement; says which does not.
pub fn status(requirements: &[Requirement], report: &Report) -> Status {
    let mut status = Status::Done;
    for requirement in requirements {
        for device in &report.devices {
            let class =
                device.profiles.iter().find(|result| result.id == requirement.profile).map(|result| result.class);
            let met = match class {
                Some(Class::Conforms) => true,
                Some(Class::ConformsWith) => !requirement.default,
                Some(Class::Deviates | Class::Incomplete) | None => false,
            };
            if !met {
                let name = fpprobe_reports::escape::visible(&device.identity.name).into_owned();
                let how = if requirement.default { " without controls" } else { "" };
                let class = class.map_or("not judged", Class::name);
                say(&format!("{name} does not meet {}{how}: {class}", requirement.profile));
                status = Status::Unmet;
            }
        }
    }
    status
}
