//! Notices that are to be delivered: a file each, until it has been, or has been tried often
//! enough. The folder is all that there is of it, so that a daemon that is started again goes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context as _;

/// Wait before the second attempt; each further one is twice as long, up to the longest.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_hours(6);
/// Notices that are kept, and bytes of all of them: the oldest make room.
const MOST: usize = 200;
const BYTES: u64 = 64 << 20;

/// To whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recipient {
    /// A program.
    Hook,
    /// An address.
    Webhook,
}

impl Recipient {
    /// All of them.
    pub const ALL: [Recipient; 2] = [Recipient::Hook, Recipient::Webhook];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Recipient::Hook => "hook",
            Recipient::Webhook => "webhook",
        }
    }
}

/// One of them. Its file is `NAME.RECIPIENT.ATTEMPTS.json`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    /// The file.
    pub file: PathBuf,
    /// To whom.
    pub recipient: Recipient,
    /// How often that has failed.
    pub attempts: u32,
    name: String,
    due: Instant,
}

/// All of them, in the order of their arrival.
#[derive(Debug)]
pub struct Outbox {
    folder: PathBuf,
    notices: Vec<Notice>,
}

impl Outbox {
    /// Those that lie in a folder, each of them due at once.
    pub fn open(folder: &Path, now: Instant) -> anyhow::Result<Outbox> {
        fs::create_dir_all(folder)
            .with_context(|| format!("failed to create folder {}", folder.display()))?;
        let entries = fs::read_dir(folder)
            .with_context(|| format!("failed to read {}", folder.display()))?
            .flatten();
        let dated = |entry: fs::DirEntry| {
            Some((entry.metadata().ok()?.modified().ok()?, parse(&entry.path(), now)?))
        };
        let mut notices: Vec<(SystemTime, Notice)> = entries.filter_map(dated).collect();
        notices.sort_by(|(one, a), (other, b)| (one, &a.file).cmp(&(other, &b.file)));
        Ok(Outbox {
            folder: folder.to_owned(),
            notices: notices.into_iter().map(|(_, notice)| notice).collect(),
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.notices.len()
    }

    /// Adds a document, whose file may be removed afterwards. The names of notices that had to make
    /// room.
    pub fn add(
        &mut self,
        document: &Path,
        recipient: Recipient,
        now: Instant,
    ) -> anyhow::Result<Vec<String>> {
        let name = document.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // The newer one of that name says all that the older one does.
        while let Some(place) =
            self.notices.iter().position(|old| old.name == name && old.recipient == recipient)
        {
            let _ = fs::remove_file(self.notices.remove(place).file);
        }
        let notice = Notice { file: PathBuf::new(), recipient, attempts: 0, name, due: now };
        let notice = Notice { file: self.file(&notice), ..notice };
        let linked = fs::hard_link(document, &notice.file)
            .or_else(|_| fs::copy(document, &notice.file).map(drop));
        linked.with_context(|| format!("failed to keep {}", notice.file.display()))?;
        self.notices.push(notice);
        let size = |notice: &Notice| fs::metadata(&notice.file).map_or(0, |about| about.len());
        let mut sizes: Vec<u64> = self.notices.iter().map(size).collect();
        let mut removed = Vec::new();
        while sizes.len() > 1 && (sizes.len() > MOST || sizes.iter().sum::<u64>() > BYTES) {
            let old = self.notices.remove(0);
            let _ = fs::remove_file(&old.file);
            sizes.remove(0);
            removed.push(old.name);
        }
        Ok(removed)
    }

    /// The next notice to deliver; `None` while none is due.
    pub fn due(&self, now: Instant) -> Option<Notice> {
        self.notices
            .iter()
            .filter(|notice| notice.due <= now)
            .min_by_key(|notice| notice.due)
            .cloned()
    }

    /// When the next one is due.
    pub fn next(&self) -> Option<Instant> {
        self.notices.iter().map(|notice| notice.due).min()
    }

    /// A notice was delivered, or there is nobody any more to deliver it to.
    pub fn remove(&mut self, notice: &Notice) {
        let _ = fs::remove_file(&notice.file);
        self.notices.retain(|one| one.file != notice.file);
    }

    /// A notice could not be delivered. How long until it is tried again; `None` where that was the
    /// last of N retries.
    pub fn failed(&mut self, notice: &Notice, now: Instant, retries: u32) -> Option<Duration> {
        let attempts = notice.attempts + 1;
        if attempts > retries {
            self.remove(notice);
            return None;
        }
        let pause = PAUSE.saturating_mul(2u32.saturating_pow(notice.attempts)).min(LONGEST);
        let again = Notice { attempts, due: now + pause, ..notice.clone() };
        let again = Notice { file: self.file(&again), ..again };
        let renamed = fs::rename(&notice.file, &again.file).is_ok();
        if let Some(own) = self.notices.iter_mut().find(|own| own.file == notice.file) {
            let file = if renamed { again.file } else { notice.file.clone() };
            *own = Notice { file, ..again };
        }
        Some(pause)
    }

    fn file(&self, notice: &Notice) -> PathBuf {
        self.folder.join(format!(
            "{}.{}.{}.json",
            notice.name,
            notice.recipient.name(),
            notice.attempts
        ))
    }
}

/// The notice of a file; `None` where it is none.
fn parse(file: &Path, due: Instant) -> Option<Notice> {
    let stem = file.file_name()?.to_str()?.strip_suffix(".json")?;
    let (rest, attempts) = stem.rsplit_once('.')?;
    let (name, recipient) = rest.rsplit_once('.')?;
    let recipient = Recipient::ALL.into_iter().find(|one| one.name() == recipient)?;
    Some(Notice {
        file: file.to_owned(),
        recipient,
        attempts: attempts.parse().ok()?,
        name: name.to_owned(),
        due,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbox() -> (tempfile::TempDir, Outbox, PathBuf, Instant) {
        let (folder, now) = (tempfile::tempdir().unwrap(), Instant::now());
        let document = folder.path().join("diff.json");
        fs::write(&document, "{}").unwrap();
        let outbox = Outbox::open(&folder.path().join("outbox"), now).unwrap();
        (folder, outbox, document, now)
    }

    #[test]
    fn what_cannot_be_delivered_is_tried_for_days() {
        let (folder, mut outbox, document, begun) = outbox();
        outbox.add(&document, Recipient::Webhook, begun).unwrap();
        fs::remove_file(&document).unwrap();
        let (mut now, mut attempts, mut before) = (begun, 0, Duration::ZERO);
        while let Some(notice) = outbox.due(now) {
            attempts += 1;
            let earlier = now.checked_sub(Duration::from_millis(1)).unwrap();
            assert!(notice.file.exists() && outbox.due(earlier).is_none() || attempts == 1);
            let Some(pause) = outbox.failed(&notice, now, 40) else { break };
            assert!(pause >= before && pause <= LONGEST, "{pause:?}");
            (before, now) = (pause, outbox.next().unwrap());
            // A daemon that is started again goes on counting.
            let again = Outbox::open(&folder.path().join("outbox"), now).unwrap();
            assert_eq!(again.due(now).unwrap().attempts, attempts);
        }
        let days = (now - begun).as_secs_f64() / 86_400.0;
        assert!(attempts == 41 && (5.0..8.0).contains(&days), "{attempts} attempts, {days} days");
        assert_eq!(fs::read_dir(folder.path().join("outbox")).unwrap().count(), 0);
    }

    #[test]
    fn one_recipient_does_not_keep_the_other_waiting() {
        let (_folder, mut outbox, document, now) = outbox();
        outbox.add(&document, Recipient::Hook, now).unwrap();
        outbox.add(&document, Recipient::Webhook, now).unwrap();
        let hook = outbox.due(now).unwrap();
        outbox.failed(&hook, now, 3);
        let webhook = outbox.due(now).unwrap();
        assert_eq!((hook.recipient, webhook.recipient), (Recipient::Hook, Recipient::Webhook));
        outbox.remove(&webhook);
        assert!(
            outbox.due(now).is_none()
                && outbox.due(now + PAUSE).unwrap().recipient == Recipient::Hook
        );
    }

    #[test]
    fn the_oldest_make_room() {
        let (folder, mut outbox, document, now) = outbox();
        for number in 0..MOST {
            let document = document.with_file_name(format!("{number}.json"));
            fs::write(&document, "{}").unwrap();
            assert!(outbox.add(&document, Recipient::Hook, now).unwrap().is_empty());
        }
        assert_eq!(outbox.add(&document, Recipient::Hook, now).unwrap(), ["0"]);
        assert_eq!(outbox.len(), MOST);
        // One that is too large alone is delivered all the same.
        let large = fs::File::create(folder.path().join("large.json")).unwrap();
        large.set_len(BYTES + 1).unwrap();
        assert_eq!(
            outbox.add(&folder.path().join("large.json"), Recipient::Hook, now).unwrap().len(),
            MOST
        );
        assert_eq!(fs::read_dir(folder.path().join("outbox")).unwrap().count(), 1);
    }
}
