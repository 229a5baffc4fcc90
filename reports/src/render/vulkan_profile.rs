//! Vulkan Profiles JSON: per device one profile of what its driver claims of floats, and one of
//! what it was seen to do.

use std::io::{self, Write};

use fpprobe_spirv::Control;
use serde_json::{Map, Value, json};

use super::{Render, json};
use crate::escape::visible;
use crate::model::{Device, Report};
use crate::verified::{ModeProof, Modes};
use crate::vulkan_profile::{
    CONTROLS, FEATURES, INDEPENDENCE, INDEPENDENT, SCHEMA, control, is_feature,
};

/// Vulkan Profiles, one document.
#[derive(Clone, Copy, Debug)]
pub struct VulkanProfile;

impl Render for VulkanProfile {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let (mut capabilities, mut profiles) = (Map::new(), Map::new());
        for (index, device) in report.devices.iter().enumerate() {
            let modes = Modes::of(device);
            let claimed = |member: &str| device.claims.flags.get(member) == Some(&true);
            let verified = |member: &str| match control(member) {
                Some(control) => matches!(modes.shown(control), ModeProof::Proven(_)),
                None => claimed(member),
            };
            let said =
                ("claimed", "what the driver claims of floats", content(device, claimed, true));
            let seen = (
                "verified",
                "the part of it that its answers bear out",
                content(device, verified, false),
            );
            for (kind, what, content) in [said, seen] {
                let name = format!("{}_{index}_{kind}", plain(&device.identity.name));
                profiles.insert(
                    format!("VP_FPPROBE_{name}"),
                    profile(report, device, kind, what, &name),
                );
                capabilities.insert(name, content);
            }
        }
        json::document(
            &json!({ "$schema": SCHEMA, "capabilities": capabilities, "profiles": profiles }),
            out,
        )
    }
}

/// One set of capabilities.
fn content(device: &Device, has: impl Fn(&str) -> bool, independence: bool) -> Value {
    let mut features: Map<String, Value> = Map::new();
    for (structure, member) in FEATURES.into_iter().filter(|(_, member)| has(member)) {
        let members = features.entry(structure).or_insert_with(|| json!({}));
        members[member] = true.into();
    }
    let mut properties: Map<String, Value> = Map::new();
    let known = |member: &&str| device.claims.flags.contains_key(*member) && !is_feature(member);
    for member in Control::all().filter_map(Control::claim).filter(known) {
        properties.insert(member.to_owned(), has(member).into());
    }
    let claims = &device.claims;
    let claimed = [&claims.denorm_behavior_independence, &claims.rounding_mode_independence];
    for (member, claimed) in INDEPENDENCE.into_iter().zip(claimed).filter(|_| independence) {
        if let Some((_, value)) = INDEPENDENT.iter().find(|(name, _)| name == claimed) {
            properties.insert(member.to_owned(), (*value).into());
        }
    }
    json!({ "features": features, "properties": { CONTROLS: properties } })
}

fn profile(report: &Report, device: &Device, kind: &str, what: &str, capabilities: &str) -> Value {
    let (name, driver) = (visible(&device.identity.name), &device.identity.driver);
    let (maker, info) = (visible(&driver.name), visible(&driver.info));
    let tainted = if device.taint.is_empty() { "" } else { " Measured with active layers." };
    let date = report
        .finished
        .get(..10)
        .filter(|date| date.bytes().all(|b| b.is_ascii_digit() || b == b'-'));
    json!({
        "version": 1,
        "label": format!("{name}, {kind}"),
        "description": format!("{name}, {maker} {info}: {what}, by fpprobe {}.{tainted}", visible(&report.program.version)),
        "api-version": version(&driver.api_version),
        "contributors": { "fpprobe": { "company": "fpprobe" } },
        "history": [{
            "revision": 1,
            "date": date.unwrap_or("1970-01-01"),
            "author": "fpprobe",
            "comment": "Measured"
        }],
        "capabilities": [capabilities]
    })
}

/// Three numbers; a driver may say anything.
fn version(text: &str) -> &str {
    let numbers = text
        .split('.')
        .filter(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        .count();
    if numbers == 3 && text.split('.').count() == 3 { text } else { "1.0.0" }
}

/// Letters and digits of a name, at most forty.
fn plain(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_").chars().take(40).collect()
}
