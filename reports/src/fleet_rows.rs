//! What a report or a sweep adds to the tables of a fleet, `devices` and `roots`: a row for each
//! device, and for each kernel whose whole domain was swept, in a file for each vendor. Day and
//! vendor are the names of the folders above the file, as Hive has them; `docs/fleet.md` lists the
//! columns.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::model::{Host, Identity, Report};
use crate::small_table::{SmallColumn, written};
use crate::sweep::Sweep;
use crate::time;

/// The rows of one vendor's devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FleetRows {
    /// The table, `devices` or `roots`.
    pub table: &'static str,
    /// PCI vendor id or Khronos vendor id.
    pub vendor: u32,
    /// The Parquet file.
    pub bytes: Vec<u8>,
}

impl FleetRows {
    /// The folder of the file within the table's: `devices/day=2026-11-28/vendor=0x10de`.
    pub fn folder(&self, day: &str) -> String {
        format!("{}/day={day}/vendor=0x{:04x}", self.table, self.vendor)
    }
}

/// The rows of `devices`.
pub fn devices(report: &Report) -> io::Result<Vec<FleetRows>> {
    let measured = time::seconds(&report.finished).unwrap_or_default() as i64 * 1_000_000;
    by_vendor(
        "devices",
        &report.devices,
        |device| device.identity.vendor_id,
        |own| {
            let identities: Vec<&Identity> = own.iter().map(|device| &device.identity).collect();
            let classes = own.iter().map(|device| {
                object(device.profiles.iter().map(|one| (&one.id, serde_json::to_value(one.class))))
            });
            let traits = own.iter().map(|device| {
                let at_run_time = device.traits.iter().filter_map(|one| {
                    Some((&one.id, Ok(Value::from(&*one.run_time.as_ref()?.value))))
                });
                object(at_run_time)
            });
            let causes = own.iter().map(|device| {
                json(&device.causes.iter().map(|cause| &cause.id).collect::<Vec<_>>())
            });
            let columns = [
                (
                    "device_id",
                    SmallColumn::Numbers(identities.iter().map(|one| one.device_id).collect()),
                ),
                ("program", repeated(&report.program.version, own.len())),
                ("measured", SmallColumn::Times(vec![measured; own.len()])),
                (
                    "tainted",
                    SmallColumn::Truths(own.iter().map(|one| !one.taint.is_empty()).collect()),
                ),
                ("classes", SmallColumn::Texts(classes.collect::<io::Result<_>>()?)),
                ("traits", SmallColumn::Texts(traits.collect::<io::Result<_>>()?)),
                ("causes", SmallColumn::Texts(causes.collect::<io::Result<_>>()?)),
            ];
            Ok(whose(&report.host, &identities).into_iter().chain(columns).collect())
        },
    )
}

/// The rows of `roots`; none where no whole domain was swept.
pub fn roots(sweep: &Sweep) -> io::Result<Vec<FleetRows>> {
    let rows: Vec<(&Identity, &str, &String)> = sweep
        .devices
        .iter()
        .flat_map(|device| device.kernels.iter().map(move |kernel| (device, kernel)))
        .filter_map(|(device, kernel)| {
            Some((&device.identity, &*kernel.kernel, kernel.root.as_ref()?))
        })
        .collect();
    by_vendor(
        "roots",
        &rows,
        |(identity, ..)| identity.vendor_id,
        |own| {
            let identities: Vec<&Identity> = own.iter().map(|(identity, ..)| *identity).collect();
            let columns = [
                ("kernel", texts(own.iter().map(|(_, kernel, _)| *kernel))),
                ("root", texts(own.iter().map(|(.., root)| &***root))),
            ];
            Ok(whose(&sweep.host, &identities).into_iter().chain(columns).collect())
        },
    )
}

type NamedColumns = Vec<(&'static str, SmallColumn)>;

/// A file for each vendor.
fn by_vendor<T>(
    table: &'static str,
    rows: &[T],
    vendor: impl Fn(&T) -> u32,
    columns: impl Fn(&[&T]) -> io::Result<NamedColumns>,
) -> io::Result<Vec<FleetRows>> {
    let mut vendors: BTreeMap<u32, Vec<&T>> = BTreeMap::new();
    for row in rows {
        vendors.entry(vendor(row)).or_default().push(row);
    }
    let file = |(vendor, own): (u32, Vec<&T>)| {
        Ok(FleetRows { table, vendor, bytes: written(table, columns(&own)?)? })
    };
    vendors.into_iter().map(file).collect()
}

/// The columns that say which device a row is of.
fn whose(host: &Host, identities: &[&Identity]) -> NamedColumns {
    let of = |text: fn(&Identity) -> &str| texts(identities.iter().map(|one| text(one)));
    let host = if host.label.is_empty() { &host.id } else { &host.label };
    vec![
        ("host", repeated(host, identities.len())),
        ("slot", of(|one| &one.slot)),
        ("model", of(|one| &one.name)),
        ("driver", of(|one| &one.driver.name)),
        (
            "version",
            of(|one| match &*one.driver.info {
                "" => &one.driver.version,
                info => info,
            }),
        ),
    ]
}

fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> SmallColumn {
    SmallColumn::Texts(texts.map(str::to_owned).collect())
}

fn repeated(text: &str, rows: usize) -> SmallColumn {
    SmallColumn::Texts(vec![text.to_owned(); rows])
}

fn object<'a>(
    members: impl Iterator<Item = (&'a String, serde_json::Result<Value>)>,
) -> io::Result<String> {
    let members = members.map(|(id, value)| Ok((id.clone(), value?)));
    json(&members.collect::<serde_json::Result<Map<String, Value>>>()?)
}

fn json(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)?)
}
