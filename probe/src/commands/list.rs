//! `fpprobe list`

use std::collections::BTreeMap;
use std::io::{self, Write};

use fpprobe_reports::escape::{visible, visible_json};
use fpprobe_reports::model::{Claims, Identity, Incident};
use fpprobe_spirv::Control;
use serde::Serialize;

use crate::cli::{ListArgs, MeasureArgs};
use crate::exit::Status;
use crate::output;
use crate::progress::Progress;
use crate::select;
use crate::session::Session;
use crate::supervisor::ManifestRow;
use fpprobe_worker::protocol::EnumeratedDevice;

/// Before what continues an entry.
const INDENT: &str = "             ";

/// Columns of a line.
const WIDTH: usize = 100;

/// The document of `list --json`.
#[derive(Serialize)]
struct ListDocument {
    schema: &'static str,
    devices: Vec<DeviceEntry>,
    /// Drivers that failed.
    incomplete: Vec<Incident>,
    /// Manifests of drivers without a device.
    idle: Vec<String>,
    /// Of each of them, the call that says so and its result.
    idle_reasons: Vec<String>,
}

#[derive(Serialize)]
struct DeviceEntry {
    index: usize,
    #[serde(flatten)]
    identity: Identity,
    claims: Claims,
    taint: Vec<String>,
    /// Why nothing can be measured on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    obstacle: Option<String>,
    /// Why it is not known which products of matrices it offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    unlisted: Option<String>,
}

/// Lists every device of every driver.
pub fn main(session: &Session, args: &ListArgs) -> anyhow::Result<Status> {
    let progress = Progress::new(session.verbose);
    // Failures are rows of the list itself.
    let listener = |event: &crate::event::RunEvent<'_>| {
        if !matches!(event, crate::event::RunEvent::Failure { .. }) {
            progress.show(event);
        }
    };
    let rows = session.survey(&session.settings(&MeasureArgs::default())?, &listener)?;
    let document = document(&rows);
    let mut out = output::stdout();
    if args.json {
        writeln!(out, "{}", visible_json(&serde_json::to_string_pretty(&document)?))?;
    } else {
        text(&document, session.verbose, &mut out)?;
    }
    out.flush()?;
    let nothing = Status::Nothing.when(document.devices.is_empty());
    Ok(nothing.and(Status::Incomplete.when(!document.incomplete.is_empty())))
}

fn document(rows: &[ManifestRow]) -> ListDocument {
    let entry = |(index, found): (usize, EnumeratedDevice)| {
        let EnumeratedDevice { identity, claims, taint, obstacle, libraries: _, matrices } = found;
        DeviceEntry {
            index,
            identity,
            claims,
            taint,
            obstacle,
            unlisted: matrices.map(|failure| failure.to_string()),
        }
    };
    let idle = rows.iter().filter(|row| row.absent.is_some());
    let (idle, idle_reasons) = idle
        .map(|row| (row.manifest.display().to_string(), row.absent.clone().unwrap_or_default()))
        .unzip();
    ListDocument {
        schema: "fpprobe-list/1",
        devices: select::targets(rows)
            .into_iter()
            .map(|target| target.found)
            .enumerate()
            .map(entry)
            .collect(),
        incomplete: rows.iter().filter_map(|row| row.devices.as_ref().err().cloned()).collect(),
        idle,
        idle_reasons,
    }
}

fn text(document: &ListDocument, verbose: bool, out: &mut impl Write) -> io::Result<()> {
    for device in &document.devices {
        entry(device, verbose, out)?;
    }
    for incident in &document.incomplete {
        writeln!(out, "-  {}: {}", visible(&incident.subject), visible(&incident.detail))?;
    }
    if !document.idle.is_empty() {
        writeln!(out, "Drivers without a device in this machine:")?;
        for (path, reason) in document.idle.iter().zip(&document.idle_reasons) {
            writeln!(out, "   {}: {}", visible(path), visible(reason))?;
        }
    }
    if document.devices.is_empty() {
        writeln!(out, "No device. `fpprobe doctor` says what to do.")?;
    }
    Ok(())
}

fn entry(device: &DeviceEntry, verbose: bool, out: &mut impl Write) -> io::Result<()> {
    let Identity { name, kind, vendor_id, device_id, driver, .. } = &device.identity;
    let info = if driver.info.is_empty() { &driver.version } else { &driver.info };
    writeln!(out, "{:<2} {}", device.index, visible(name))?;
    let (kind, uuid) = (visible(kind), visible(&device.identity.device_uuid));
    writeln!(out, "   type      {kind}, {vendor_id:04x}:{device_id:04x}, uuid {uuid}")?;
    writeln!(
        out,
        "   driver    {} {}, Vulkan {}",
        visible(&driver.name),
        visible(info),
        visible(&driver.api_version)
    )?;
    writeln!(out, "   manifest  {}", visible(&driver.manifest))?;
    let flag = |name: &str| device.claims.flags.get(name).copied().unwrap_or(false);
    // A use of a format is its name and the feature: `R8_UNORM storageImage`.
    let offered = device
        .claims
        .flags
        .keys()
        .map(String::as_str)
        .filter(|name| is_feature(name) && flag(name));
    let (uses, features): (Vec<&str>, Vec<&str>) = offered.partition(|name| name.contains(' '));
    writeln!(out, "   features  {}", list(&features))?;
    let matrices: Vec<&str> = device.claims.matrices.iter().map(String::as_str).collect();
    let products = format!("matrix products: {}", matrices.len());
    let mut formats: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (format, feature) in uses.iter().filter_map(|one| one.split_once(' ')) {
        formats.entry(format).or_default().push(feature);
    }
    if verbose {
        let mut head = "formats";
        for (format, features) in &formats {
            writeln!(out, "   {head:<8}  {}: {}", visible(format), list(features))?;
            head = "";
        }
    }
    let counts = [
        (formats.len(), format!("{} in {} uses", formats.len(), uses.len())),
        (matrices.len(), products),
    ];
    let counts: Vec<String> =
        counts.into_iter().filter_map(|(count, text)| (count > 0).then_some(text)).collect();
    if !verbose && !counts.is_empty() {
        writeln!(out, "   formats   {} (`fpprobe list -v` lists them)", counts.join("; "))?;
    }
    match &device.unlisted {
        Some(why) => writeln!(out, "   matrices  not known: {}", visible(why))?,
        None if verbose && !matrices.is_empty() => {
            writeln!(out, "   matrices  {}", list(&matrices))?;
        }
        None => {}
    }
    let controls: Vec<&str> = Control::all()
        .filter(|control| control.claim().is_some_and(flag))
        .map(Control::name)
        .collect();
    writeln!(out, "   controls  {}", list(&controls))?;
    let Claims {
        denorm_behavior_independence: denorm, rounding_mode_independence: rounding, ..
    } = &device.claims;
    writeln!(
        out,
        "   widths    denormal modes independent: {}; rounding modes: {}",
        visible(denorm),
        visible(rounding)
    )?;
    writeln!(out, "   key       {}", visible(&device.identity.key))?;
    if !device.taint.is_empty() {
        let taint: Vec<_> = device.taint.iter().map(|text| visible(text)).collect();
        writeln!(out, "   tainted   {}", taint.join("; "))?;
    }
    if let Some(obstacle) = &device.obstacle {
        writeln!(out, "   cannot be measured: {}", visible(obstacle))?;
    }
    Ok(())
}

/// Claims that are no float control.
fn is_feature(name: &str) -> bool {
    !Control::all().any(|control| control.claim() == Some(name))
}

/// The names, over as many lines as they need.
fn list(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let (mut text, mut column) = (String::new(), INDENT.len());
    for name in names.iter().map(|name| visible(name)) {
        let width = name.chars().count() + 1;
        if column + width > WIDTH && column > INDENT.len() {
            text = format!("{}\n{INDENT}", text.trim_end());
            column = INDENT.len();
        }
        text.push_str(&name);
        text.push(' ');
        column += width;
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use fpprobe_reports::escape::is_hidden;
    use fpprobe_reports::model::{Driver, Outcome};

    use super::*;

    #[test]
    fn nothing_that_a_driver_says_is_obeyed() {
        let hostile = || "\u{1b}[2J\u{202e}\r\nx\u{9b}\u{200b}".to_owned();
        let driver = Driver {
            id: 0,
            name: hostile(),
            info: hostile(),
            version: hostile(),
            api_version: hostile(),
            uuid: hostile(),
            pipeline_cache_uuid: hostile(),
            manifest: hostile(),
            library: hostile(),
            build_id: hostile(),
        };
        let identity = Identity {
            key: hostile(),
            slot: hostile(),
            name: hostile(),
            kind: hostile(),
            vendor_id: 0,
            device_id: 0,
            device_uuid: hostile(),
            driver,
            cpu: None,
        };
        let claims = Claims {
            denorm_behavior_independence: hostile(),
            rounding_mode_independence: hostile(),
            flags: [(hostile(), true)].into(),
            matrices: vec![hostile()],
        };
        let entry = DeviceEntry {
            index: 0,
            identity,
            claims,
            taint: vec![hostile()],
            obstacle: Some(hostile()),
            unlisted: Some(hostile()),
        };
        let incident =
            Incident { subject: hostile(), outcome: Some(Outcome::Crashed), detail: hostile() };
        let document = ListDocument {
            schema: "",
            devices: vec![entry],
            incomplete: vec![incident],
            idle: vec![hostile()],
            idle_reasons: vec![hostile()],
        };
        let mut out = Vec::new();
        text(&document, true, &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(!page.contains(|c| c != '\n' && is_hidden(c)), "{page:?}");
        assert_eq!(page.lines().count(), 14, "{page}");
    }

    #[test]
    fn long_lists_are_wrapped() {
        let names: Vec<String> = (0..30).map(|number| format!("feature{number}")).collect();
        let text = list(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), names);
        assert!(text.lines().count() > 2 && text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(list(&[]), "none");
    }
}
