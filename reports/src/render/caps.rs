//! Capabilities for programs that choose code paths when they start: per device what may be relied
//! on, what may not, and what is unknown. One JSON document of ids alone, whose members keep their
//! meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use fpprobe_spirv::Control;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;

use super::key::DeviceKey;
use super::{Render, json};
use crate::model::{Class, Device, Level, ProfileResult, Report, TraitValue, Verdict};
use crate::scoreboard::NearestRecipe;
use crate::verified::{ModeProof, Modes};

/// The value of `schema`.
pub const SCHEMA: &str = "fpprobe-caps/1";

/// Capabilities, one document.
#[derive(Clone, Copy, Debug)]
pub struct Caps;

/// What `fpprobe run --format caps` writes. Members keep their meaning; later versions may add
/// some.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Capabilities")]
struct CapsDocument<'a> {
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// When the devices were measured, RFC 3339, UTC.
    measured: &'a str,
    devices: Vec<Capable<'a>>,
}

/// One device.
#[derive(Serialize, JsonSchema)]
struct Capable<'a> {
    device: DeviceKey<'a>,
    /// Whether a layer or the like may have changed the answers.
    tainted: bool,
    /// Modes of float controls: members of `VkPhysicalDeviceFloatControlsProperties`, and
    /// `shaderFloatControls2`.
    modes: ProofLists<'a>,
    /// What the device does, by the id of the trait.
    traits: BTreeMap<&'a str, ScopedValue<'a>>,
    /// By profile.
    profiles: BTreeMap<&'a str, Under<'a>>,
}

/// The value of a trait in each scope; a scope of which nothing was measured is left out.
#[derive(Serialize, JsonSchema)]
struct ScopedValue<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    run_time: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constants: Option<&'a str>,
}

/// Ids of what is known, each in one of three lists.
#[derive(Default, Serialize, JsonSchema)]
struct ProofLists<'a> {
    /// What may be relied on.
    proven: BTreeSet<&'a str>,
    /// What may not.
    disproven: BTreeSet<&'a str>,
    /// What the device lacks, or what could not be measured.
    unknown: BTreeSet<&'a str>,
}

/// One profile.
#[derive(Serialize, JsonSchema)]
struct Under<'a> {
    version: &'a str,
    class: Class,
    /// The class with constants, which the compiler folds, left out.
    class_run_time: Class,
    /// Controls and lowerings under which the rules were judged; empty for none.
    recipe: &'a [String],
    /// Optional groups that the device lacks.
    without: &'a [String],
    /// Where the class is `deviates`, the recipe that leaves the fewest causes, if any leaves
    /// fewer than none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<Nearest<'a>>,
    /// Rules that demand something.
    rules: ProofLists<'a>,
}

/// A recipe under which causes remain.
#[derive(Serialize, JsonSchema)]
struct Nearest<'a> {
    recipe: &'a [String],
    /// Ids of the causes that remain.
    causes: Vec<&'a str>,
    /// Rules that fail under the recipe alone.
    new: Vec<&'a str>,
    /// Number of causes without it.
    of: usize,
}

/// The document's JSON schema.
pub fn schema() -> Value {
    schema_for!(CapsDocument).to_value()
}

impl Render for Caps {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let devices = report.devices.iter().map(capable).collect();
        json::document(&CapsDocument { schema: SCHEMA, measured: &report.finished, devices }, out)
    }
}

fn capable(device: &Device) -> Capable<'_> {
    let seen = Modes::of(device);
    let mut modes = ProofLists::default();
    for control in Control::all() {
        let Some(name) = control.claim() else { continue };
        let list = match seen.shown(control) {
            ModeProof::Proven(_) => &mut modes.proven,
            ModeProof::Disproven(_) => &mut modes.disproven,
            ModeProof::Unknown(_) => &mut modes.unknown,
        };
        list.insert(name);
    }
    let profiles = device.profiles.iter().map(|profile| (&profile.id[..], under(device, profile)));
    let traits = device.traits.iter().map(|one| {
        (
            one.id.as_str(),
            ScopedValue {
                run_time: named(one.run_time.as_ref()),
                constants: named(one.constants.as_ref()),
            },
        )
    });
    Capable {
        device: DeviceKey::of(device),
        tainted: !device.taint.is_empty(),
        modes,
        traits: traits.collect(),
        profiles: profiles.collect(),
    }
}

fn named(value: Option<&TraitValue>) -> Option<&str> {
    value.map(|value| value.value.as_str())
}

fn under<'a>(device: &'a Device, profile: &'a ProfileResult) -> Under<'a> {
    let mut rules = ProofLists::default();
    for rule in profile.rules.iter().filter(|rule| rule.level != Level::Informative) {
        let list = match rule.verdict {
            Verdict::Conforms | Verdict::Permitted => &mut rules.proven,
            Verdict::Deviates | Verdict::Depends => &mut rules.disproven,
            Verdict::Unsupported | Verdict::Incomplete => &mut rules.unknown,
        };
        list.insert(&rule.id[..]);
    }
    let nearest = NearestRecipe::of(device, profile).map(|nearest| Nearest {
        recipe: nearest.needs,
        causes: nearest.remaining.iter().map(|place| &device.causes[*place].id[..]).collect(),
        new: nearest.new,
        of: nearest.of,
    });
    Under {
        version: &profile.version,
        class: profile.class,
        class_run_time: profile.class_run_time(),
        recipe: &profile.needs,
        without: &profile.without,
        nearest,
        rules,
    }
}
