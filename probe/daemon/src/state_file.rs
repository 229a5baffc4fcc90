//! What the last rounds found: a file, so that a daemon that is started again shows and counts it
//! still.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use fpprobe_reports::change::Change;
use fpprobe_reports::limited;
use fpprobe_reports::save::save;
use serde::{Deserialize, Serialize};

use crate::budget::DailyUsage;
use crate::changes::{RoundChanges, rules};
use crate::order::RunExtent;
use crate::shared_status::Last;

/// Bytes that the file may have.
const LIMIT: u64 = 256 << 20;

/// Rounds of a driver of a slot that are remembered.
const ROUNDS: usize = 10;

/// A rule of a profile.
type RuleOf = (String, String);

/// What is known of devices and slots.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StateFile {
    /// Of each device, by key, what its last round found.
    pub last: BTreeMap<String, Last>,
    /// What the last rounds of each driver of a slot came to, the newest first.
    #[serde(default)]
    history: BTreeMap<String, Vec<Last>>,
    /// Of each device, by key, the metrics of a report and how much that asked.
    pub metrics: BTreeMap<String, (RunExtent, String)>,
    /// Of each driver of a slot the rules that were met once and have not been since.
    standing: BTreeMap<String, BTreeSet<RuleOf>>,
    /// Of each device, by key, what hooks were notified of and has not been fixed since: rules and
    /// kernels. Another driver is another device.
    #[serde(default)]
    #[serde(rename = "told")]
    notified: BTreeMap<String, BTreeSet<String>>,
    /// What the baseline did not accept last, by driver of a slot and extent: a quick run asks
    /// other things than a default run.
    #[serde(default)]
    unaccepted: BTreeMap<String, BTreeSet<RuleOf>>,
    /// What measuring has cost of late.
    #[serde(default)]
    pub spent: DailyUsage,
    /// Whether an operator wants nothing measured.
    #[serde(default)]
    pub paused: bool,
    #[serde(skip)]
    path: PathBuf,
}

impl StateFile {
    /// What the file holds, or nothing and why.
    pub fn open(path: &Path) -> (StateFile, Option<String>) {
        let read = match limited::text(path, LIMIT) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| error.to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(StateFile::default()),
            Err(error) => Err(error.to_string()),
        };
        let (state, failure) = match read {
            Ok(state) => (state, None),
            Err(error) => (
                StateFile::default(),
                Some(format!("{}: {error}; it is begun anew", path.display())),
            ),
        };
        (StateFile { path: path.to_owned(), ..state }, failure)
    }

    /// Takes over what the last round of a driver of a slot came to.
    pub fn note(&mut self, place: &str, last: Last) {
        let rounds = self.history.entry(place.to_owned()).or_default();
        rounds.insert(0, last);
        rounds.truncate(ROUNDS);
    }

    /// What the last rounds of a driver of a slot came to, the newest first.
    pub fn history(&self, place: &str) -> &[Last] {
        self.history.get(place).map_or(&[], Vec::as_slice)
    }

    /// Adds what a round found to what stands; how many rules are met no more by this driver of a
    /// slot.
    pub fn stands(&mut self, place: &str, changes: &RoundChanges) -> usize {
        let standing = self.standing.entry(place.to_owned()).or_default();
        for rule in changes.conforming().flat_map(rules) {
            standing.remove(&rule);
        }
        standing.extend(changes.regressions().flat_map(rules));
        standing.len()
    }

    /// How many rules are met no more by this driver of a slot.
    pub fn standing(&self, place: &str) -> usize {
        self.standing.get(place).map_or(0, BTreeSet::len)
    }

    /// Whether something is accepted no more that hooks have not been notified of: a default run
    /// finds what the quick run before it found, and more.
    pub fn is_news(&self, key: &str, changes: &RoundChanges) -> bool {
        let message = self.notified.get(key);
        changes.regressed().any(|one| !message.is_some_and(|message| message.contains(&one)))
    }

    /// Hooks know it.
    pub fn set_notified(&mut self, key: &str, changes: &RoundChanges) {
        let message = self.notified.entry(key.to_owned()).or_default();
        for one in changes.fixed() {
            message.remove(&one);
        }
        message.extend(changes.regressed());
    }

    /// Whether the baseline does not accept something that was not there before.
    pub fn is_unaccepted_news(&self, order: &str, deviations: &[Change]) -> bool {
        let before = self.unaccepted.get(order);
        deviations
            .iter()
            .flat_map(rules)
            .any(|rule| !before.is_some_and(|before| before.contains(&rule)))
    }

    /// How many deviations of these orders the baseline does not accept, each once: a quick run
    /// measures less than a default run, and what it leaves out stands. None where nothing was
    /// checked.
    pub fn standing_unaccepted(&self, orders: [&str; 2]) -> Option<usize> {
        let known: Vec<&BTreeSet<RuleOf>> =
            orders.iter().filter_map(|order| self.unaccepted.get(*order)).collect();
        (!known.is_empty()).then(|| known.into_iter().flatten().collect::<BTreeSet<_>>().len())
    }

    /// Takes over what the baseline does not accept.
    pub fn unaccepted(&mut self, order: &str, deviations: &[Change]) {
        self.unaccepted.insert(order.to_owned(), deviations.iter().flat_map(rules).collect());
    }

    /// Forgets devices that are missing, or have another driver.
    pub fn retain(&mut self, keys: impl Fn(&str) -> bool) {
        self.last.retain(|key, _| keys(key));
        self.metrics.retain(|key, _| keys(key));
        self.notified.retain(|key, _| keys(key));
    }

    /// Writes the file.
    pub fn save(&self) -> anyhow::Result<()> {
        let text = serde_json::to_string(self)?;
        Ok(save(&self.path, |out| out.write_all(text.as_bytes()))?)
    }
}

#[cfg(test)]
mod tests {
    use fpprobe_reports::change::ChangeKind;
    use serde_json::json;

    use super::*;
    use crate::changes::tests::{changes, kernel, rule};

    fn of_rule(kind: ChangeKind) -> RoundChanges {
        changes(&[rule(kind, "R-1")])
    }

    #[test]
    fn a_regression_stands_until_it_is_fixed_and_outlives_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("remembered.json");
        let (mut state, failure) = StateFile::open(&path);
        assert_eq!((failure, state.stands("slot", &of_rule(ChangeKind::Regressed))), (None, 1));
        assert_eq!(state.stands("slot", &RoundChanges::default()), 1, "nothing has changed since");
        state.save().unwrap();
        let (mut again, _) = StateFile::open(&path);
        assert_eq!(again.stands("slot", &RoundChanges::default()), 1);
        assert_eq!(again.stands("slot", &of_rule(ChangeKind::Fixed)), 0);
        std::fs::write(&path, "{").unwrap();
        assert!(StateFile::open(&path).1.unwrap().contains("begun anew"));
    }

    #[test]
    fn the_last_rounds_outlive_the_process_and_older_files_have_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("remembered.json");
        let last = json!({ "report": "r", "extent": "quick", "finished": "", "newly_deviating": 0, "unaccepted": null, "text": "t" });
        let older = json!({ "last": { "key": last }, "metrics": {}, "standing": {} });
        std::fs::write(&path, older.to_string()).unwrap();
        let (mut state, failure) = StateFile::open(&path);
        assert_eq!(
            (failure, state.last["key"].classes.len(), state.history("slot").len()),
            (None, 0, 0)
        );
        for number in 0..12 {
            state.note("slot", Last { report: number.to_string(), ..Last::default() });
        }
        state.retain(|_| false);
        state.save().unwrap();
        let reports: Vec<String> = StateFile::open(&path)
            .0
            .history("slot")
            .iter()
            .map(|last| last.report.clone())
            .collect();
        assert_eq!(reports, ["11", "10", "9", "8", "7", "6", "5", "4", "3", "2"]);
    }

    #[test]
    fn a_regression_is_news_once_until_it_is_fixed() {
        let (mut state, _) = StateFile::open(Path::new("/nonexistent/remembered.json"));
        let of_kernel = |kind, id: &str| changes(&[kernel(kind, id)]);
        for (worse, better) in [
            (of_rule(ChangeKind::Regressed), of_rule(ChangeKind::Fixed)),
            (
                of_kernel(ChangeKind::Regressed, "f32.fadd"),
                of_kernel(ChangeKind::Fixed, "f32.fadd"),
            ),
            (
                of_kernel(ChangeKind::Disappeared, "f32.fmul"),
                of_kernel(ChangeKind::Appeared, "f32.fmul"),
            ),
        ] {
            assert!(state.is_news("slot", &worse) && !state.is_news("slot", &better));
            state.set_notified("slot", &worse);
            assert!(!state.is_news("slot", &worse) && state.is_news("other", &worse));
            state.set_notified("slot", &better);
            assert!(state.is_news("slot", &worse));
        }
        // What deviates may crash as well.
        state.set_notified("slot", &of_kernel(ChangeKind::Regressed, "f32.fadd"));
        let crashed = of_kernel(ChangeKind::Disappeared, "f32.fadd");
        assert!(state.is_news("slot", &crashed));
        state.set_notified("slot", &crashed);
        state.set_notified("slot", &of_kernel(ChangeKind::Appeared, "f32.fadd"));
        assert!(!state.is_news("slot", &of_kernel(ChangeKind::Regressed, "f32.fadd")));
    }

    #[test]
    fn what_the_baseline_does_not_accept_is_news_once() {
        let (mut state, _) = StateFile::open(Path::new("/nonexistent/remembered.json"));
        let deviation = |id| rule(ChangeKind::Regressed, id);
        let (one, both) = ([deviation("R-1")], [deviation("R-1"), deviation("R-2")]);
        assert!(!state.is_unaccepted_news("slot", &[]));
        assert!(state.is_unaccepted_news("slot", &one));
        // It is news until it has been reported.
        assert!(state.is_unaccepted_news("slot", &one));
        state.unaccepted("slot", &one);
        assert!(!state.is_unaccepted_news("slot", &one) && state.is_unaccepted_news("other", &one));
        assert!(state.is_unaccepted_news("slot", &both));
        // What a quick run leaves out stands.
        state.unaccepted("quick", &[]);
        assert_eq!(state.standing_unaccepted(["quick", "slot"]), Some(1));
        state.unaccepted("quick", &both);
        assert_eq!(state.standing_unaccepted(["quick", "slot"]), Some(2));
        assert_eq!(state.standing_unaccepted(["none", "nothing"]), None);
    }
}
