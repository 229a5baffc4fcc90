//! Who the devices are, asked of fresh workers: a process that has loaded a driver keeps it, whatever becomes of its file.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use super::happening::Happening;
use super::policy::Policy;
use super::roster::Roster;
use super::trigger::Trigger;
use crate::config::Config;
use crate::stop::Stop;
use crate::supervisor::{Settings, enumerate};
use crate::{absent, discover, select};

/// Looks, in a thread, for these reasons.
pub fn begin(policy: &Policy, triggers: Vec<Trigger>, stop: Stop, sender: Sender<Happening>) {
    let (config, store) = (policy.config.clone(), policy.store.clone());
    std::thread::spawn(move || {
        let drivers = discover::drivers(&config.drivers.manifests);
        let rows = enumerate(&drivers, &Settings::new(&config, stop), &|_| {});
        let mut roster = match select::devices(&rows, &config.devices) {
            Ok(chosen) => Roster::new(&rows, &chosen.into_iter().map(|(_, target)| target).collect::<Vec<_>>()),
            Err(error) => Roster { devices: Vec::new(), troubles: vec![error.to_string()] },
        };
        let absent = absent::incidents(&rows, Some(&store));
        roster.troubles.extend(absent.iter().filter(|one| one.outcome.is_some()).map(absent::remedy));
        let _ = sender.send(Happening::Looked(triggers, roster));
    });
}

/// Folders and files whose change may mean another driver.
pub fn places(config: &Config) -> Vec<PathBuf> {
    discover::places(&config.drivers.manifests)
}
