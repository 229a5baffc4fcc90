//! Notifications: the changes that a round found, sent to the configured receivers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;

use crate::config::NotifyOn;
use crate::device_table::KnownDevice;
use crate::findings::Findings;
use crate::log::Priority;
use crate::order::{Order, RunExtent};
use crate::pending_work::PendingWork;
use crate::references::References;
use crate::service::Service;
use crate::shared_status::Last;
use fpprobe_reports::host;
use fpprobe_reports::model::Verdict;

/// Differences that are kept.
const KEPT: usize = 200;
/// Causes that the status names.
const CAUSES: usize = 3;
/// Rules, headlines and deviations that are listed one by one.
const MOST: usize = 20;

impl Service {
    /// Tells it. What could not be kept is an error, and is still to be reported.
    pub(super) fn found(&mut self, order: &Order, found: Findings) -> anyhow::Result<()> {
        let device = &order.device;
        let place = device.place();
        let (rules, kernels) = found.changes.counts();
        let identity = found.changes.identity();
        let of_order = format!("{place} {}", order.extent.name());
        let news = found
            .unaccepted
            .as_deref()
            .is_some_and(|all| self.state.is_unaccepted_news(&of_order, all));
        let regressed = found.changes.regressed().next().is_some() || found.hung.is_some() || news;
        let changed = found.before.as_ref().filter(|_| rules + kernels + identity.len() > 0);
        let standing = self.state.stands(&place, &found.changes);
        let text = match (&found.before, changed) {
            (None, _) => "was measured for the first time".to_owned(),
            (Some(before), None) => format!("has not changed since {before}"),
            (Some(before), Some(_)) => found.changes.in_words(before),
        };
        let text = text
            + if found.incomplete {
                ", incomplete: something crashed, hung or was lost"
            } else {
                ""
            };
        let priority =
            if regressed || found.incomplete { Priority::Warning } else { Priority::Notice };
        let verdict = if regressed { "newly_deviating" } else { "none" };
        self.log_device(
            priority,
            device,
            &format!("{text}; report {}", found.report),
            &[("verdict", verdict)],
        );
        for headline in found.changes.headlines.iter().take(MOST) {
            self.log_device(priority, device, &format!("behaves otherwise: {headline}"), &[]);
        }
        for field in identity.iter().take(MOST) {
            self.log_device(Priority::Notice, device, &format!("is otherwise: {field}"), &[]);
        }
        let regressed = found
            .changes
            .regressions()
            .map(|rule| (rule, "does not meet", " any more", &rule.text));
        let unaccepted = found.unaccepted.iter().flatten();
        let unaccepted =
            unaccepted.map(|rule| (rule, "deviates from", ", which is not accepted", &rule.note));
        for (rule, how, when, why) in regressed.take(MOST).chain(unaccepted.take(MOST)) {
            let (profiles, verdict) =
                (rule.profiles.join(", "), rule.verdict.map_or("none", Verdict::name));
            let text = format!("{how} {} of {profiles}{when}: {why}", rule.id);
            let fields = [("profile", &profiles[..]), ("rule", &rule.id), ("verdict", verdict)];
            self.log_device(Priority::Warning, device, &text, &fields);
        }
        self.metrics.report(&device.key, order.extent, found.metrics);
        let last = Last {
            report: found.report.clone(),
            extent: order.extent,
            finished: host::now(),
            newly_deviating: standing,
            changed_kernels: kernels,
            unaccepted: found.unaccepted.as_ref().map(Vec::len),
            text,
            changed: changed.is_some(),
            driver: device.driver_info.clone(),
            classes: found.classes,
            more_causes: found.causes.len().saturating_sub(CAUSES),
            causes: found.causes.into_iter().take(CAUSES).collect(),
        };
        self.state.note(&place, last.clone());
        self.state.last.insert(device.key.clone(), last);
        self.measure_up(device);
        self.state.metrics.extend(self.metrics.of(&device.key));
        let tell = match self.settings.daemon.notify {
            NotifyOn::Regressions => {
                news || found.hung.is_some() || self.state.is_news(&device.key, &found.changes)
            }
            NotifyOn::Changes => changed.is_some(),
        };
        if !tell && changed.is_some() && found.changes.regressed().next().is_some() {
            self.log_device(
                Priority::Info,
                device,
                "deviates as hooks have been told: they are not told again",
                &[],
            );
        }
        for failure in &found.failures {
            self.log_device(Priority::Error, device, failure, &[]);
        }
        let kept = match (&found.diff, changed.is_some()) {
            (Some(diff), true) => self.keep(diff, &found.report, tell),
            _ => Ok(()),
        };
        // What is not accepted though nothing has changed, or nothing was there before, is reported
        // with the check.
        let kept = kept.and_then(|()| match &found.check {
            Some(check) if news && changed.is_none() => self.notify(check),
            _ => Ok(()),
        });
        if let Some(check) = &found.check {
            let _ = fs::remove_file(check);
        }
        if let Some(reason) = found.hung {
            let result = self.quarantine.hold(&device.slot, &reason);
            let kept = result
                .map_or_else(|error| format!(" (not written: {error:#})"), |()| String::new());
            let text = format!(
                "hung, and is left alone until the machine is started again or `fpprobe daemon quarantine clear`: {reason}{kept}"
            );
            self.log_device(Priority::Error, device, &text, &[("verdict", "hung")]);
        }
        kept?;
        self.state.set_notified(&device.key, &found.changes);
        if let Some(unaccepted) = &found.unaccepted {
            self.state.unaccepted(&of_order, unaccepted);
            if order.extent == RunExtent::Full {
                // It measures all that a quick run does.
                self.state.unaccepted(&format!("{place} {}", RunExtent::Quick.name()), unaccepted);
            }
            self.measure_up(device);
        }
        self.remember();
        let folder = self.settings.folder();
        let beside = self.table.beside(device);
        References::new(&folder).keep(
            &self.settings.store,
            &found.file,
            (device, &beside),
            order.extent,
        )?;
        PendingWork::end(&folder, order);
        Ok(())
    }

    /// The daemon's own metrics of a device: what its last round found, in this life of the daemon
    /// or an earlier one.
    pub(super) fn measure_up(&mut self, device: &KnownDevice) {
        let labels = device.labels();
        let standing = self.state.standing(&device.place());
        self.metrics.set("fpprobe_daemon_newly_deviating_rules", &labels, standing as f64);
        let Some(last) = self.state.last.get(&device.key) else { return };
        self.metrics.set("fpprobe_daemon_changed_kernels", &labels, last.changed_kernels as f64);
        let orders = [RunExtent::Quick, RunExtent::Full]
            .map(|extent| format!("{} {}", device.place(), extent.name()));
        let unaccepted = self.state.standing_unaccepted(orders.each_ref().map(String::as_str));
        if let Some(unaccepted) = unaccepted.filter(|_| last.unaccepted.is_some()) {
            self.metrics.set("fpprobe_daemon_unaccepted_deviations", &labels, unaccepted as f64);
        }
        if let Ok(finished) = last.finished.parse::<jiff::Timestamp>() {
            let stamped = [&labels[..], &[("extent", last.extent.name())]].concat();
            self.metrics.set(
                "fpprobe_daemon_round_timestamp_seconds",
                &stamped,
                finished.as_second() as f64,
            );
        }
    }

    /// Tells hooks of what a document says.
    fn notify(&mut self, document: &Path) -> anyhow::Result<()> {
        for removed in self.messenger.notify(document)? {
            let text = format!(
                "the notice {removed} was never delivered, and made room in the outbox for a newer one"
            );
            self.log(Priority::Error, &text, &[]);
        }
        Ok(())
    }

    /// Keeps a difference, and tells hooks of it.
    fn keep(&mut self, diff: &Path, report: &str, tell: bool) -> anyhow::Result<()> {
        let folder = self.settings.folder().join("diffs");
        let kept = folder.join(format!("{report}.json"));
        fs::create_dir_all(&folder)
            .and_then(|()| fs::rename(diff, &kept))
            .with_context(|| format!("failed to keep {}", kept.display()))?;
        if tell {
            self.notify(&kept)?;
        }
        let mut diffs: Vec<(SystemTime, PathBuf)> = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        diffs.sort();
        for (_, old) in diffs.iter().rev().skip(KEPT) {
            // The reports are there still, and can be compared again.
            let _ = fs::remove_file(old);
        }
        Ok(())
    }
}
