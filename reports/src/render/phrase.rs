//! Wording that several renderers share.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use fpprobe_spirv::Control;

use crate::broken_rules::BrokenRule;
use crate::escape::visible;
use crate::model::{
    Cause, Class, Conditions, Counts, Device, Driver, Elsewhere, Identity, Incident, Level, MEMORY,
    Outcome, ProfileResult, Report, RuleResult, Verdict,
};
use crate::scoreboard::{CauseCount, NearestRecipe, ScopedCauses};

/// Every verdict, the gravest first.
pub const VERDICTS: [Verdict; 6] = [
    Verdict::Deviates,
    Verdict::Depends,
    Verdict::Incomplete,
    Verdict::Unsupported,
    Verdict::Permitted,
    Verdict::Conforms,
];

/// How many of the counted rules have this verdict.
pub fn count_of(counts: &Counts, verdict: Verdict) -> usize {
    match verdict {
        Verdict::Conforms => counts.conforms,
        Verdict::Permitted => counts.permitted,
        Verdict::Depends => counts.depends,
        Verdict::Deviates => counts.deviates,
        Verdict::Unsupported => counts.unsupported,
        Verdict::Incomplete => counts.incomplete,
    }
}

/// `2 deviates`, `18 conforms`: verdicts that occur, the gravest first.
pub fn count_list(counts: &Counts) -> Vec<String> {
    let occurring = VERDICTS.iter().filter(|verdict| count_of(counts, **verdict) > 0);
    let list: Vec<String> = occurring
        .map(|verdict| format!("{} {}", count_of(counts, *verdict), verdict.name()))
        .collect();
    if list.is_empty() { vec!["no required rules".to_owned()] } else { list }
}

/// [`count_list`] in one phrase.
pub fn counts(counts: &Counts) -> String {
    count_list(counts).join(", ")
}

/// `1 device`, `2 devices`, `12,345 lanes`.
pub fn number(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// The conditions of a run that are not the default ones: `, seed 5, 16 random cases of each
/// kernel`.
pub fn measured(conditions: Option<Conditions>) -> String {
    let Conditions { seed, random, stress, recompiled: _ } = conditions.unwrap_or_default();
    let all = [
        (seed != 0).then(|| format!(", seed {seed}")),
        (random != 0)
            .then(|| format!(", {} of each kernel", number(random as usize, "random case"))),
        stress.then(|| ", under stress".to_owned()),
    ];
    all.into_iter().flatten().collect()
}

/// Digits in groups of three: `12,345`.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The device's name; with its driver where another device has the same name, with its place where
/// that does not help.
pub fn label(report: &Report, device: &Device) -> String {
    let driver = |device: &Device| {
        let Driver { info, version, .. } = &device.identity.driver;
        format!("{}, {}", device.identity.name, if info.is_empty() { version } else { info })
    };
    let shared = |name: &dyn Fn(&Device) -> String| {
        report.devices.iter().filter(|other| name(other) == name(device)).count() > 1
    };
    if !shared(&|device| device.identity.name.clone()) {
        device.identity.name.clone()
    } else if !shared(&driver) {
        driver(device)
    } else {
        format!("{}, {}", driver(device), device.identity.slot)
    }
}

/// The recipe and the missing groups of a profile; empty where there is nothing to say.
pub fn conditions(profile: &ProfileResult) -> String {
    let mut parts = Vec::new();
    // A recipe under which rules still fail is no recipe: only where it makes the device conform is
    // it worth a word.
    if profile.class == Class::ConformsWith {
        parts.push(format!("needs {}", needs(profile.needs.iter().map(String::as_str))));
    }
    if !profile.without.is_empty() {
        parts.push(format!("without {}", needs(profile.without.iter().map(String::as_str))));
    }
    parts.join("; ")
}

/// Controls in SPIR-V's terms, with those of one name together, and other needs as they are:
/// `DenormPreserve 16, 32; NoContraction; fdiv=f32.fdiv:...`.
pub fn needs<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<(String, Vec<String>)> = Vec::new();
    for id in ids {
        let control = id.parse::<Control>().ok();
        let name = control.map_or_else(|| id.to_owned(), Control::spirv_name);
        let width = control.and_then(Control::width).map(|width| width.to_string());
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, widths)) => widths.extend(width),
            None => names.push((name, width.into_iter().collect())),
        }
    }
    let one = |(name, widths): (String, Vec<String>)| {
        format!("{name} {}", widths.join(", ")).trim_end().to_owned()
    };
    names.into_iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The driver in one line.
pub fn driver(identity: &Identity) -> String {
    let driver = &identity.driver;
    let info = if driver.info.is_empty() { String::new() } else { format!(", {}", driver.info) };
    format!("{} {}{info}, Vulkan {}", driver.name, driver.version, driver.api_version)
}

/// `deviates: 5 causes at run time (1 broken), 3 of constants alone`, of the causes of a device.
pub fn class_in_words(causes: &[Cause], profile: &ProfileResult) -> String {
    let ScopedCauses { run_time, constants } = ScopedCauses::of(causes, profile);
    let mut counts = Vec::new();
    let causes = number(run_time.all, "cause");
    counts.extend((run_time.all > 0).then(|| format!("{causes} at run time{}", broken(run_time))));
    let causes = constants.all;
    counts
        .extend((causes > 0).then(|| format!("{causes} of constants alone{}", broken(constants))));
    let open = profile
        .rules
        .iter()
        .filter(|rule| rule.level == Level::Required && !rule.verdict.is_decided())
        .count();
    counts.extend((open > 0).then(|| format!("{} not judged", number(open, "rule"))));
    if counts.is_empty() {
        profile.class.name().to_owned()
    } else {
        format!("{}: {}", profile.class.name(), counts.join(", "))
    }
}

/// The profiles that a cause breaks: those with required rules among its own, unless all of these
/// are recommended.
pub fn broken_profiles<'a>(device: &'a Device, cause: &'a Cause) -> Vec<&'a str> {
    let counts = |rule: &&RuleResult| {
        rule.failing > 0 && (cause.recommended || rule.level == Level::Required)
    };
    let is_broken = |profile: &&ProfileResult| {
        let mut counted = profile.rules.iter().filter(counts);
        cause.profiles.contains(&profile.id) && counted.any(|rule| cause.rules.contains(&rule.id))
    };
    let names = short_names(device);
    let broken = device.profiles.iter().filter(is_broken);
    broken.map(|profile| names[profile.id.as_str()]).collect()
}

/// ` (2 broken)`, of causes; nothing where none is.
pub fn broken(causes: CauseCount) -> String {
    if causes.broken > 0 { format!(" ({} broken)", causes.broken) } else { String::new() }
}

/// `2 of 12 causes remain, besides D32-18`.
pub fn remaining(recipe: &NearestRecipe<'_>) -> String {
    let new = if recipe.new.is_empty() {
        String::new()
    } else {
        format!(", besides {}", recipe.new.join(", "))
    };
    let verb = if recipe.remaining.len() == 1 { "remains" } else { "remain" };
    format!("{} of {} {verb}{new}", recipe.remaining.len(), number(recipe.of, "cause"))
}

/// The first characters of a text, as they are shown: at most `room`.
pub fn shortened(text: &str, room: usize) -> String {
    let text = &*visible(text);
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The driver in few words: without its name where the device's says it.
pub fn short_driver(identity: &Identity) -> String {
    let Driver { name, version, info, api_version, .. } = &identity.driver;
    let is_named = identity.name.to_lowercase().contains(&name.to_lowercase());
    let driver = match (info.is_empty(), is_named) {
        (true, _) => format!("{name} {version}"),
        (false, true) => info.clone(),
        (false, false) => format!("{name} {info}"),
    };
    format!("{driver} · Vulkan {api_version}")
}

/// Number of causes that decide a class.
pub fn required(causes: &[BrokenRule]) -> usize {
    causes.iter().filter(|cause| cause.rule.level == Level::Required).count()
}

/// The ids of the profiles of a cause.
pub fn profile_ids(profiles: &[&ProfileResult]) -> String {
    profiles.iter().map(|profile| profile.id.as_str()).collect::<Vec<_>>().join(", ")
}

/// Ids of every profile that some of these devices was judged by, in the order in which they first
/// appear.
pub fn all_profiles<'a>(devices: impl IntoIterator<Item = &'a Device>) -> Vec<&'a str> {
    let mut ids: Vec<&str> = Vec::new();
    for profile in devices.into_iter().flat_map(|device| &device.profiles) {
        if !ids.contains(&profile.id.as_str()) {
            ids.push(&profile.id);
        }
    }
    ids
}

/// [`short_ids`] of a device's profiles.
pub fn short_names(device: &Device) -> BTreeMap<&str, &str> {
    short_ids(&device.profiles.iter().map(|profile| profile.id.as_str()).collect::<Vec<_>>())
}

/// Ids of profiles up to their first hyphen, where no other one begins so.
pub fn short_ids<'a>(ids: &[&'a str]) -> BTreeMap<&'a str, &'a str> {
    fn short(id: &str) -> &str {
        id.split('-').next().unwrap_or(id)
    }
    let is_unique = |id: &str| ids.iter().filter(|other| short(other) == short(id)).count() == 1;
    ids.iter().map(|id| (*id, if is_unique(id) { short(id) } else { id })).collect()
}

/// `2 of 41 lanes not accepted, 3 more count for D32-18`.
pub fn lanes(rule: &RuleResult) -> String {
    let mut parts = Vec::new();
    if rule.failing > 0 || rule.elsewhere.is_empty() {
        parts.push(format!(
            "{} of {} not accepted",
            grouped(rule.failing),
            number(rule.lanes, "lane")
        ));
    }
    let more = if rule.failing > 0 { " more" } else { "" };
    let elsewhere = |one: &Elsewhere| {
        let count = if one.lanes == 1 { "counts" } else { "count" };
        format!("{}{more} {count} for {}", grouped(one.lanes), one.rule)
    };
    parts.extend(rule.elsewhere.iter().map(elsewhere));
    parts.join(", ")
}

/// `goes away under SignedZeroInfNanPreserve 32 or FPFastMathDefault`, where some modes do that.
pub fn fixed_by(rule: &RuleResult) -> Option<String> {
    (!rule.fixed_by.is_empty()).then(|| format!("goes away under {}", any_of(&rule.fixed_by)))
}

/// Sets of controls of which each will do, or operands from memory.
pub fn any_of(sets: &[String]) -> String {
    let one = |set: &String| {
        if set == MEMORY { "operands from memory".to_owned() } else { needs(set.split(',')) }
    };
    sets.iter().map(one).collect::<Vec<_>>().join(" or ")
}

/// What an incident is, for people.
pub fn incident(outcome: Option<Outcome>) -> &'static str {
    outcome.map_or("not asked", self::outcome)
}

/// Incidents for people: many kernels that were not run, all for one reason, are one.
pub fn gathered(incidents: &[Incident]) -> Vec<Cow<'_, Incident>> {
    /// Of at most this many each is listed; of more, N are named.
    const FEW: usize = 4;
    let mut by_reason: HashMap<&str, Vec<&str>> = HashMap::new();
    for Incident { subject, detail, .. } in
        incidents.iter().filter(|incident| incident.outcome.is_none())
    {
        by_reason.entry(detail).or_default().push(subject);
    }
    let text = incidents.iter().filter_map(|incident| {
        let alike = by_reason
            .get(&*incident.detail)
            .filter(|all| incident.outcome.is_none() && all.len() > FEW);
        let Some(all) = alike else { return Some(Cow::Borrowed(incident)) };
        let subject =
            format!("{} kernels, {} and so on", grouped(all.len()), all[..FEW].join(", "));
        (all[0] == incident.subject).then(|| Cow::Owned(Incident { subject, ..incident.clone() }))
    });
    text.collect()
}

/// An outcome, for people.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ran => "ran",
        Outcome::Unsupported => "unsupported",
        Outcome::Rejected => "rejected",
        Outcome::NotWritten => "not written",
        Outcome::Flaky => "flaky",
        Outcome::Crashed => "crashed",
        Outcome::Hung => "hung",
        Outcome::DeviceLost => "device lost",
        Outcome::OutOfMemory => "out of memory",
    }
}

/// Rules that fail because of a cause, by the profiles in which they do: `D32-05, D32-06 (d3d11)`.
pub fn dependents(cause: &BrokenRule) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for dependent in &cause.dependents {
        let profiles = profile_ids(&dependent.profiles);
        match groups.iter_mut().find(|group| group.0 == profiles) {
            Some(group) => group.1.push(&dependent.rule.id),
            None => groups.push((profiles, vec![&dependent.rule.id])),
        }
    }
    let own = profile_ids(&cause.profiles);
    let groups = groups.into_iter().map(|(profiles, ids)| {
        let ids = ids.join(", ");
        if profiles == own { ids } else { format!("{ids} ({profiles})") }
    });
    groups.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_kernels_have_in_common_is_reported_once() {
        let incident = |subject: &str, outcome, detail: &str| Incident {
            subject: subject.to_owned(),
            outcome,
            detail: detail.to_owned(),
        };
        let mut incidents: Vec<Incident> =
            ["a", "b", "c", "d", "e"].map(|kernel| incident(kernel, None, "no time")).into();
        incidents.insert(2, incident("f", Some(Outcome::Crashed), "no time"));
        incidents.push(incident("g", None, "set aside"));
        let text: Vec<String> =
            gathered(&incidents).iter().map(|incident| incident.subject.clone()).collect();
        assert_eq!(text, ["5 kernels, a, b, c, d and so on", "f", "g"]);
        assert_eq!(gathered(&incidents[..5]).len(), 5);
    }
}
