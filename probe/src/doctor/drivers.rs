//! Which drivers are installed, and what came of each?

use fpprobe_profiles::Outcome;

use super::Diagnosis;
use crate::supervisor::ManifestRow;

/// Looks at every manifest.
pub fn look(rows: &[ManifestRow]) -> Vec<Diagnosis> {
    if rows.is_empty() {
        return vec![Diagnosis::bad(
            "no Vulkan driver is installed: there is no manifest in any vulkan/icd.d folder",
            "install your GPU's driver, or a driver for the processor: package mesa-vulkan-drivers on Debian and Ubuntu",
        )];
    }
    rows.iter().flat_map(row).collect()
}

fn row(row: &ManifestRow) -> Vec<Diagnosis> {
    let path = row.manifest.display();
    let devices = match &row.devices {
        Err(incident) => {
            let remedy = match incident.outcome {
                Some(Outcome::Crashed) => {
                    "the driver crashes while it looks for devices: update or remove it; `-v` shows what it prints"
                }
                Some(Outcome::Hung) => {
                    "the driver does not answer: raise --timeout, or update or remove it"
                }
                _ => "mend or remove the manifest, or install the driver again",
            };
            return vec![Diagnosis::bad(format!("{path}: {}", incident.detail), remedy)];
        }
        Ok(devices) => devices,
    };
    if devices.is_empty() {
        let remedy =
            "nothing, unless its hardware is in this machine: then see the device nodes below";
        let why = row.absent.as_deref().unwrap_or_default();
        return vec![Diagnosis::note(format!("{path}: no device: {why}"), remedy)];
    }
    let mut findings = Vec::new();
    for device in devices {
        let name = &device.identity.name;
        match &device.obstacle {
            None => findings.push(Diagnosis::good(format!("{path}: {name}"))),
            Some(obstacle) => {
                findings.push(Diagnosis::bad(
                    format!("{path}: {name} cannot be measured: {obstacle}"),
                    "",
                ));
            }
        }
    }
    let mut taint: Vec<&String> = devices.iter().flat_map(|device| &device.taint).collect();
    taint.sort();
    taint.dedup();
    findings.extend(taint.into_iter().map(|taint| {
        Diagnosis::note(
            format!("{path}: tainted by {taint}"),
            "reports made this way are no reference; remove it for those",
        )
    }));
    findings
}
