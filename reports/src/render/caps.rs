//! Capabilities for programs that choose code paths when they start: per device what may be relied on, what may not, and
//! what is unknown. One JSON document of ids alone, whose members keep their meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use fpprobe_spirv::Control;
use serde::Serialize;

use super::key::Key;
use super::{Render, json};
use crate::model::{Class, Device, Level, ProfileResult, Report, Verdict};
use crate::verified::{Modes, Shown};

/// The value of `schema`.
const SCHEMA: &str = "fpprobe-caps/1";

/// Capabilities, one document.
#[derive(Clone, Copy, Debug)]
pub struct Caps;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// When the devices were measured, RFC 3339.
    measured: &'a str,
    devices: Vec<Capable<'a>>,
}

/// One device.
#[derive(Serialize)]
struct Capable<'a> {
    device: Key<'a>,
    /// Whether a layer or the like may have changed the answers.
    tainted: bool,
    /// Modes of float controls, by their Vulkan names.
    modes: Known<'a>,
    /// By profile.
    profiles: BTreeMap<&'a str, Under<'a>>,
}

/// Ids of what is known, each in one of three lists.
#[derive(Default, Serialize)]
struct Known<'a> {
    proven: BTreeSet<&'a str>,
    disproven: BTreeSet<&'a str>,
    unknown: BTreeSet<&'a str>,
}

/// One profile.
#[derive(Serialize)]
struct Under<'a> {
    version: &'a str,
    class: Class,
    /// Controls and lowerings under which the rules were judged; empty for none.
    recipe: &'a [String],
    /// Optional groups that the device lacks.
    without: &'a [String],
    /// Rules that demand something.
    rules: Known<'a>,
}

impl Render for Caps {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let devices = report.devices.iter().map(capable).collect();
        json::document(&Document { schema: SCHEMA, measured: &report.finished, devices }, out)
    }
}

fn capable(device: &Device) -> Capable<'_> {
    let seen = Modes::of(device);
    let mut modes = Known::default();
    for control in Control::all() {
        let Some(name) = control.claim() else { continue };
        let list = match seen.shown(control) {
            Shown::Proven(_) => &mut modes.proven,
            Shown::Disproven(_) => &mut modes.disproven,
            Shown::Unknown(_) => &mut modes.unknown,
        };
        list.insert(name);
    }
    let profiles = device.profiles.iter().map(|profile| (&profile.id[..], under(profile)));
    Capable { device: Key::of(device), tainted: !device.taint.is_empty(), modes, profiles: profiles.collect() }
}

fn under(profile: &ProfileResult) -> Under<'_> {
    let mut rules = Known::default();
    for rule in profile.rules.iter().filter(|rule| rule.level != Level::Informative) {
        let list = match rule.verdict {
            Verdict::Conforms | Verdict::Permitted => &mut rules.proven,
            Verdict::Deviates | Verdict::Depends => &mut rules.disproven,
            Verdict::Unsupported | Verdict::Incomplete => &mut rules.unknown,
        };
        list.insert(&rule.id[..]);
    }
    Under { version: &profile.version, class: profile.class, recipe: &profile.needs, without: &profile.without, rules }
}
