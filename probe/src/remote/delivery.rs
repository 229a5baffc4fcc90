//! What a command leaves at a destination: documents, what they name, and rows of tables.

use std::io;
use std::path::Path;

use anyhow::Context as _;
use fpprobe_reports::fleet_rows::{self, FleetRows};
use fpprobe_reports::gate::GateRecord;
use fpprobe_reports::model::{Host, SIZE_LIMIT};
use fpprobe_reports::screen::Screen;
use fpprobe_reports::sweep::{Fingerprint, Sweep};
use fpprobe_reports::{Report, container, limited, sum};
use serde::{Deserialize, Serialize};

use super::address::Destination;

/// Longest part of a name that is the host's.
const HOST: usize = 64;
/// Digits of the digest in a name.
const DIGITS: usize = 12;
/// Folders of documents that are no reports.
const SCREENS: &str = "screens";
const GATES: &str = "gates";
/// Longest first line of a file.
const HEAD: usize = 1 << 20;

/// Objects for a place, in the order in which they are put: what others name comes first, the rows
/// of tables last, so that whoever sees a part finds all that it names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Where.
    pub to: Destination,
    /// Name of the document without its ending: when, of which host, and a digest. In the order of
    /// these names deliveries were made.
    pub id: String,
    /// Names, and bytes.
    pub objects: Vec<(String, Vec<u8>)>,
}

/// The first line of a delivery that is kept as a file; the bytes of all objects follow.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeliveryHead {
    delivery: u32,
    to: String,
    id: String,
    objects: Vec<(String, u64)>,
}

/// The version of the file.
const VERSION: u32 = 1;

impl Delivery {
    /// Folder of the documents of sweeps.
    pub const SWEEPS: &str = "sweeps";

    /// A report, its results and the rows of its devices.
    pub fn of_report(to: &Destination, report: &Report) -> io::Result<Delivery> {
        let (name, results, document) = container::with_shared_table(report)?;
        let folder = "reports";
        let before = vec![(format!("{folder}/{name}"), results)];
        let rows = fleet_rows::devices(report)?;
        Ok(Delivery::new(to, folder, (&report.host, &report.finished), before, document, rows))
    }

    /// A sweep that ended then, its fingerprints and the rows of its roots.
    pub fn of_sweep(
        to: &Destination,
        sweep: &Sweep,
        fingerprint: &Fingerprint,
        ended: &str,
    ) -> io::Result<Delivery> {
        let rows = fleet_rows::roots(sweep)?;
        let whose = (&sweep.host, ended);
        let mut delivery =
            Delivery::new(to, Delivery::SWEEPS, whose, Vec::new(), pretty(sweep)?, rows);
        if !fingerprint.prints.is_empty() {
            let name = format!("{}/{}.fingerprint", Delivery::SWEEPS, delivery.id);
            delivery.objects.insert(0, (name, fingerprint.pack()?));
        }
        Ok(delivery)
    }

    /// A screening that ended then.
    pub fn of_screen(to: &Destination, screen: &Screen, ended: &str) -> io::Result<Delivery> {
        let whose = (&screen.host, ended);
        Ok(Delivery::new(to, SCREENS, whose, Vec::new(), pretty(screen)?, Vec::new()))
    }

    /// A comparison with expected results.
    pub fn of_gate(to: &Destination, gate: &GateRecord) -> io::Result<Delivery> {
        let whose = (&gate.host, &*gate.finished);
        Ok(Delivery::new(to, GATES, whose, Vec::new(), pretty(gate)?, Vec::new()))
    }

    fn new(
        to: &Destination,
        folder: &str,
        (host, ended): (&Host, &str),
        before: Vec<(String, Vec<u8>)>,
        document: Vec<u8>,
        rows: Vec<FleetRows>,
    ) -> Delivery {
        let host = if host.label.is_empty() { &host.id } else { &host.label };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let host: String =
            host.chars().take(HOST).map(|c| if is_plain(c) { c } else { '_' }).collect();
        let time = ended.replace(':', "");
        let id = format!("{time}-{host}-{:.DIGITS$}", sum::digest(&document));
        let day = ended.get(..10).unwrap_or_default();
        let mut objects = before;
        objects.push((format!("{folder}/{id}.json"), document));
        let row =
            |rows: FleetRows| (format!("tables/{}/{id}.parquet", rows.folder(day)), rows.bytes);
        objects.extend(rows.into_iter().map(row));
        Delivery { to: to.clone(), id, objects }
    }

    /// Whether this is the name of a document of a delivery that is no report.
    #[cfg(feature = "object-store")]
    pub fn is_other_document(path: &Path) -> bool {
        [Delivery::SWEEPS, SCREENS, GATES].iter().any(|folder| Delivery::is_in(folder, path))
    }

    /// Whether this is the name of a sweep's report.
    pub fn is_sweep(path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending == "json")
            && Delivery::is_in(Delivery::SWEEPS, path)
    }

    /// Whether this is the name of a delivery's document in such a folder.
    fn is_in(folder: &str, path: &Path) -> bool {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let digest = stem.rsplit_once('-').map_or("", |(_, digest)| digest);
        let is_digest =
            digest.len() == DIGITS && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest && path.parent().and_then(Path::file_name).is_some_and(|own| own == folder)
    }

    /// As the bytes of a file.
    pub fn pack(&self) -> io::Result<Vec<u8>> {
        let sizes = self.objects.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64));
        let head = DeliveryHead {
            delivery: VERSION,
            to: self.to.to_string(),
            id: self.id.clone(),
            objects: sizes.collect(),
        };
        let mut packed = serde_json::to_vec(&head)?;
        packed.push(b'\n');
        packed.extend(self.objects.iter().flat_map(|(_, bytes)| bytes));
        Ok(packed)
    }

    /// Reads such a file.
    pub fn read(file: &Path) -> anyhow::Result<Delivery> {
        let bytes = limited::bytes(file, 2 * SIZE_LIMIT)?;
        let line = bytes.iter().take(HEAD).position(|byte| *byte == b'\n');
        let (head, mut rest) = bytes.split_at(line.context("it has no first line")?);
        let head: DeliveryHead = serde_json::from_slice(head)?;
        anyhow::ensure!(head.delivery == VERSION, "it is of another version");
        rest = &rest[1..];
        let mut objects = Vec::new();
        for (name, size) in head.objects {
            let (own, others) =
                rest.split_at_checked(usize::try_from(size)?).context("it ends too early")?;
            objects.push((name, own.to_vec()));
            rest = others;
        }
        anyhow::ensure!(rest.is_empty(), "it has more bytes than it says");
        let to = Destination::parse(&head.to).context("it names no address")?;
        Ok(Delivery { to: to.map_err(anyhow::Error::msg)?, id: head.id, objects })
    }
}

fn pretty(document: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(document)?;
    text.push(b'\n');
    Ok(text)
}
