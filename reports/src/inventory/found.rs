//! The devices in files, folders and stores. Of a report nothing stays in memory but digests.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use fpprobe_profiles::parallel;

use super::UnreadableFile;
use super::device::FoundDevice;
use super::reader::ReportReader;
use super::report_file::{FoundError, ReportFile};

/// Every device of every report that was found.
#[derive(Debug, Default)]
pub struct Found {
    pub(super) devices: Vec<FoundDevice>,
    /// Kernel ids by [`question`](super::results::ResultDigest::question).
    pub(super) kernels: HashMap<u64, String>,
    pub(super) reports: usize,
    pub(super) unreadable: Vec<UnreadableFile>,
}

impl Found {
    /// Reads what lies in these places. Files that are no report this program can read are listed,
    /// and hide no other.
    pub fn in_places(places: &[PathBuf]) -> Result<Found, FoundError> {
        let files = places.iter().map(|place| ReportFile::in_place(place));
        let found = Found::of(files.collect::<Result<Vec<_>, _>>()?.concat());
        found.ok_or_else(|| FoundError::nothing(places))
    }

    /// Reads these files; `None` where none of them is a report or may be one.
    pub fn of(mut files: Vec<ReportFile>) -> Option<Found> {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files.dedup_by(|one, other| one.path == other.path);
        let reader = ReportReader::default();
        let read = parallel::map(&files, |file| reader.devices(file));
        let mut found = Found { kernels: reader.into_kernels(), ..Found::default() };
        for (file, devices) in files.iter().zip(read) {
            match devices {
                Ok(Some(devices)) => {
                    found.reports += 1;
                    found.devices.extend(devices);
                }
                Ok(None) => {}
                Err(error) => found
                    .unreadable
                    .push(UnreadableFile { file: file.path.display().to_string(), error }),
            }
        }
        (found.reports > 0 || !found.unreadable.is_empty()).then_some(found)
    }

    /// The reports of each device of each host, the newest last.
    pub(super) fn places(&self) -> BTreeMap<impl Ord + '_, Vec<&FoundDevice>> {
        let mut places: BTreeMap<_, Vec<&FoundDevice>> = BTreeMap::new();
        for device in &self.devices {
            let place = (&device.host_key, &device.slot, &device.behaviour.model);
            places.entry(place).or_default().push(device);
        }
        for reports in places.values_mut() {
            reports.sort_by_key(|device| device.time());
        }
        places
    }

    /// Whether some file could not be read.
    pub fn is_whole(&self) -> bool {
        self.unreadable.is_empty()
    }
}
