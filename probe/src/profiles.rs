//! Profiles to judge by: built in, or read from files.

use std::collections::HashSet;
use std::path::Path;

use fpprobe_profiles::profile::built_in_ids;
use fpprobe_profiles::{Profile, parallel};
use fpprobe_reports::Report;
use fpprobe_spirv::error::nearest;

use crate::document::DocumentKind;
use crate::select;
use fpprobe_system::usage::{OrUsage as _, usage_error};

/// A profile of one's own.
const PROFILE: DocumentKind = DocumentKind {
    name: "profile",
    limit: 4 << 20,
    missing: "what is built in has an id without `.toml` (`fpprobe profiles` lists it)",
};

/// Refuses to judge where the reference functions could not be trusted.
fn sound() -> anyhow::Result<()> {
    anyhow::ensure!(
        fpprobe_profiles::host::is_sound(),
        "this process's floating-point unit flushes subnormals or does not round to nearest even, so its reference \
         functions cannot be trusted; is something preloaded (LD_PRELOAD) that changes it?"
    );
    Ok(())
}

/// The profiles of these names: ids of built-in ones, or TOML files. All built-in ones where none
/// is named.
pub fn profiles(names: &[String]) -> anyhow::Result<Vec<Profile>> {
    sound()?;
    if names.is_empty() {
        let ids: Vec<&str> = built_in_ids().collect();
        return parallel::map(&ids, |id| built_in(id)).into_iter().collect();
    }
    let mut profiles: Vec<Profile> = Vec::new();
    for (name, profile) in names.iter().zip(parallel::map(names, |name| profile(name))) {
        let profile = profile?;
        if profiles.iter().any(|known| known.id == profile.id) {
            let problem = format!(
                "`{name}` has the id `{}`, which another profile has: give it an id of its own",
                profile.id
            );
            return Err(usage_error(problem));
        }
        profiles.push(profile);
    }
    Ok(profiles)
}

/// Those built in that some device of the reports was judged by.
pub fn that_judged<'r>(reports: impl Iterator<Item = &'r Report>) -> anyhow::Result<Vec<Profile>> {
    let judged = reports.flat_map(|report| &report.devices).flat_map(|device| &device.profiles);
    let judged: HashSet<&str> = judged.map(|profile| profile.id.as_str()).collect();
    let ids: Vec<String> =
        built_in_ids().filter(|id| judged.contains(id)).map(str::to_owned).collect();
    if ids.is_empty() { Ok(Vec::new()) } else { for_devices(&ids) }
}

/// Those of them that devices can be judged by; to name another is an error.
pub fn for_devices(names: &[String]) -> anyhow::Result<Vec<Profile>> {
    let mut profiles = profiles(names)?;
    let folded = profiles.iter().find(|profile| profile.compile_time);
    if let Some(folded) = folded.filter(|_| !names.is_empty()) {
        let id = &folded.id;
        let problem = format!(
            "`{id}` speaks of what compilers fold: no device is judged by it; `fpprobe accepts {id}` asks it"
        );
        return Err(usage_error(problem));
    }
    profiles.retain(|profile| !profile.compile_time);
    Ok(profiles)
}

/// One profile by id or path.
pub fn profile(name: &str) -> anyhow::Result<Profile> {
    sound()?;
    if select::is_path(name) { read(name) } else { built_in(name) }
}

fn built_in(id: &str) -> anyhow::Result<Profile> {
    let Some(profile) = fpprobe_profiles::profile::built_in(id) else {
        let near = nearest(id, fpprobe_profiles::profile::built_in_ids());
        let hint = if near.is_empty() {
            String::new()
        } else {
            format!("; did you mean `{}`?", near.join("`, `"))
        };
        return Err(usage_error(format!(
            "unknown profile `{id}`{hint} (`fpprobe profiles` lists them; a file ends in .toml)"
        )));
    };
    Ok(profile?)
}

fn read(path: &str) -> anyhow::Result<Profile> {
    let text = PROFILE.read(Path::new(path))?;
    let profile =
        Profile::parse(path, &text, &fpprobe_profiles::profile::built_in_text).or_usage()?;
    // Who reads `--require d3d11`, or a report, takes the id for the profile that is built in.
    match fpprobe_profiles::profile::built_in_text(&profile.id) {
        Some((_, own)) if own != text => {
            let id = &profile.id;
            let problem = format!(
                "{path}: `id`: `{id}` is a built-in profile's: give this one an id of its own"
            );
            Err(usage_error(problem))
        }
        _ => Ok(profile),
    }
}
