//! Files whose change may mean another driver or device: manifest folders, driver libraries and
//! what they load, links on the way to any of them, device nodes, and what else the configuration
//! names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use fpprobe_system::gpu;
use notify::event::EventKind;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::device_table::{DeviceTable, links};
use crate::event::DaemonEvent;
use crate::trigger::Trigger;

/// What matters of what is seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct WatchPaths {
    /// Everything in them.
    folders: BTreeSet<PathBuf>,
    /// Alone among what lies beside them.
    files: BTreeSet<PathBuf>,
}

/// The watches.
pub struct Watch {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    /// Where the names of watched folders lead.
    leads: BTreeMap<PathBuf, PathBuf>,
    paths_of_interest: Arc<Mutex<WatchPaths>>,
}

impl Watch {
    /// Watches nothing yet; what happens is sent there.
    pub fn new(sender: Sender<DaemonEvent>) -> notify::Result<Watch> {
        let paths_of_interest = Arc::new(Mutex::new(WatchPaths::default()));
        let filter = Arc::clone(&paths_of_interest);
        let watcher = notify::recommended_watcher(move |seen: notify::Result<notify::Event>| {
            let paths_of_interest = filter.lock().unwrap_or_else(PoisonError::into_inner);
            let trigger = match seen {
                Ok(event) if event.need_rescan() => {
                    Some(Trigger::File(PathBuf::from("a watched folder")))
                }
                Ok(event) => paths_of_interest.trigger(&event),
                Err(error) => Some(Trigger::File(error.paths.first().cloned().unwrap_or_default())),
            };
            if let Some(trigger) = trigger {
                // Nobody listens any more when the daemon ends.
                let _ = sender.send(DaemonEvent::Changed(trigger));
            }
        })?;
        Ok(Watch { watcher, watched: BTreeSet::new(), leads: BTreeMap::new(), paths_of_interest })
    }

    /// Watches what this table and configuration need, and nothing else. What cannot be watched is
    /// returned with the reason.
    pub fn update(
        &mut self,
        manifest_places: &[PathBuf],
        extra: &[PathBuf],
        table: &DeviceTable,
    ) -> Vec<String> {
        let mut paths_of_interest = WatchPaths::default();
        for place in manifest_places.iter().chain(extra) {
            paths_of_interest.files.extend(links(place));
            if place.is_file() {
                &mut paths_of_interest.files
            } else {
                &mut paths_of_interest.folders
            }
            .insert(place.clone());
        }
        for device in &table.devices {
            let loaded = device.libraries.iter().map(|library| &library.path);
            for file in loaded.chain([&device.library, &device.manifest]) {
                // Links that are turned to another file, and the file.
                paths_of_interest.files.extend(links(file));
                paths_of_interest.files.insert(file.clone());
            }
        }
        paths_of_interest.files.retain(|file| file.is_absolute());
        let places = paths_of_interest.places();
        *self.paths_of_interest.lock().unwrap_or_else(PoisonError::into_inner) = paths_of_interest;
        for removed in self.watched.difference(&places) {
            // The folder may not be there any more.
            let _ = self.watcher.unwatch(removed);
        }
        let mut failures = Vec::new();
        let lead = |place: &Path| place.canonicalize().unwrap_or_default();
        for (turned, _) in self.leads.iter().filter(|(place, before)| lead(place) != **before) {
            // A watch stays with the folder that a link led to.
            let _ = self.watcher.unwatch(turned);
        }
        self.leads = places.iter().map(|place| (place.clone(), lead(place))).collect();
        // What was removed and made again has lost its watch: each is set anew.
        self.watched = places
            .into_iter()
            .filter(|place| match self.watcher.watch(place, RecursiveMode::NonRecursive) {
                Ok(()) => true,
                Err(error) => {
                    failures.push(format!("{} cannot be watched: {error}", place.display()));
                    false
                }
            })
            .collect();
        failures
    }
}

impl WatchPaths {
    /// Folders to watch for that: of what does not exist the nearest folder above that does.
    fn places(&self) -> BTreeSet<PathBuf> {
        let parents = self.files.iter().filter_map(|file| file.parent().map(Path::to_owned));
        let nodes = gpu::NODE_FOLDERS.map(PathBuf::from);
        let all = self.folders.iter().cloned().chain(parents).chain(nodes);
        all.filter_map(|place| place.ancestors().find(|above| above.is_dir()).map(Path::to_owned))
            .collect()
    }

    fn trigger(&self, event: &notify::Event) -> Option<Trigger> {
        event.paths.iter().find_map(|path| self.of_path(path, event.kind))
    }

    fn of_path(&self, path: &Path, kind: EventKind) -> Option<Trigger> {
        let parent = path.parent()?;
        if gpu::NODE_FOLDERS.iter().any(|folder| parent == Path::new(folder)) {
            let came_or_went = matches!(kind, EventKind::Create(_) | EventKind::Remove(_));
            return (gpu::is_node(path) && came_or_went).then(|| Trigger::Node(path.to_owned()));
        }
        let changes = matches!(
            kind,
            EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(_) | EventKind::Any
        );
        let within = self.folders.contains(parent)
            || self.folders.contains(path)
            || self.files.contains(path);
        let above = || self.folders.iter().any(|folder| folder.starts_with(path));
        (changes && (within || above())).then(|| Trigger::File(path.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, CreateKind, ModifyKind};

    use super::*;

    #[test]
    fn only_what_may_mean_another_driver_or_device_counts() {
        let set = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        let paths_of_interest = WatchPaths {
            folders: set(&["/etc/vulkan/icd.d"]),
            files: set(&["/usr/lib/libvulkan_a.so"]),
        };
        let create = EventKind::Create(CreateKind::Any);
        let modify = EventKind::Modify(ModifyKind::Any);
        for (path, kind, expected) in [
            ("/etc/vulkan/icd.d/a.json", create, true),
            ("/etc/vulkan", create, true),
            ("/etc/passwd", modify, false),
            ("/usr/lib/libvulkan_a.so", modify, true),
            ("/usr/lib/libvulkan_a.so", EventKind::Access(AccessKind::Any), false),
            ("/usr/lib/libother.so", modify, false),
            ("/dev/nvidia0", create, true),
            ("/dev/nvidia0", modify, false),
            ("/dev/dri/renderD128", create, true),
            ("/dev/null", create, false),
        ] {
            assert_eq!(
                paths_of_interest.of_path(Path::new(path), kind).is_some(),
                expected,
                "{path} {kind:?}"
            );
        }
    }
}
