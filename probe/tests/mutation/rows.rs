//! The table of faults.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use fpprobe_profiles::{Level, Profile, profile};
use serde::Deserialize;

/// All rows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// One a fault.
    pub row: Vec<Row>,
}

/// A fault just outside what some rules accept, and the last one inside.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The rules it is about; none where the text leaves a choice.
    #[serde(default)]
    pub rule: Vec<String>,
    /// After which they deviate.
    pub outside: Fault,
    /// After which they do not.
    pub inside: Option<Fault>,
}

/// Statements, and every verdict that they change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// For the fault layer.
    pub faults: String,
    /// `PROFILE/RULE` of these verdicts.
    #[serde(default)]
    deviates: Vec<String>,
    #[serde(default)]
    depends: Vec<String>,
    /// Profiles that are met by another lowering.
    #[serde(default)]
    with: Vec<String>,
    /// Symptoms of the causes that lanes fail for; `SYMPTOM of KERNEL` in a kernel beside the
    /// fault.
    #[serde(default)]
    causes: Vec<String>,
}

/// A cause that a fault adds to, or makes.
#[derive(Debug)]
pub struct ExpectedCause {
    /// Its symptom.
    pub symptom: String,
    /// The kernel that shows it beside the fault, whatever its route and controls.
    pub stem: Option<String>,
}

/// Verdicts by `PROFILE/RULE`, classes by `PROFILE`.
pub type Verdicts = BTreeMap<String, String>;

impl Table {
    /// Reads the table.
    pub fn read() -> Table {
        toml::from_str(include_str!("rows.toml"))
            .unwrap_or_else(|error| panic!("rows.toml: {error}"))
    }
}

impl Fault {
    /// Whether it is of every second module: where each is compiled again, that shows.
    pub fn is_of_second(&self) -> bool {
        self.faults.contains(" second")
    }

    /// The causes of the lanes that fail by it.
    pub fn causes(&self) -> Vec<ExpectedCause> {
        let cause = |text: &String| match text.split_once(" of ") {
            Some((symptom, stem)) => {
                ExpectedCause { symptom: symptom.to_owned(), stem: Some(stem.to_owned()) }
            }
            None => ExpectedCause { symptom: text.clone(), stem: None },
        };
        self.causes.iter().map(cause).collect()
    }

    /// What differs from the device without the fault: a profile with a required rule that deviates
    /// deviates.
    pub fn changes(&self) -> Verdicts {
        let with = [
            (&self.deviates, "deviates"),
            (&self.depends, "depends"),
            (&self.with, "conforms with"),
        ];
        let named = with
            .into_iter()
            .flat_map(|(names, verdict)| names.iter().map(move |name| (name, verdict)));
        let changes = named.flat_map(|(name, verdict)| {
            expanded(name).into_iter().map(move |name| (name, verdict))
        });
        let mut all = Verdicts::new();
        for (name, verdict) in changes {
            if let (Some((profile, id)), "deviates") = (name.split_once('/'), verdict)
                && level(profile, id) == Level::Required
            {
                all.insert(profile.to_owned(), verdict.to_owned());
            }
            all.insert(name, verdict.to_owned());
        }
        all
    }
}

/// The level of a rule.
pub fn level(profile: &str, id: &str) -> Level {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    let profiles = PROFILES.get_or_init(crate::profiles);
    let rule =
        profiles.iter().find(|known| known.id == profile).and_then(|profile| profile.rule(id));
    rule.unwrap_or_else(|| panic!("rows.toml: there is no {profile}/{id}")).level
}

/// The names that one with `*` in its profile stands for.
fn expanded(name: &str) -> Vec<String> {
    match name.split_once('*') {
        None => vec![name.to_owned()],
        Some((head, rule)) => profile::built_in_ids()
            .filter(|id| id.starts_with(head))
            .map(|id| format!("{id}{rule}"))
            .collect(),
    }
}
