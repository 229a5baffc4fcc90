//! Deliveries that could not be put yet: a file each, in the folder `spool` of the state folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fpprobe_reports::save::save;
use fpprobe_system::folders;
use fpprobe_system::usage::say;

use super::delivery::Delivery;

/// Deliveries that wait at most, and bytes of all of them: the oldest make room.
const MOST: usize = 1000;
const BYTES: u64 = 512 << 20;
/// How the names of the files end.
const ENDING: &str = "delivery";

/// The folder.
pub struct Spool(PathBuf);

impl Spool {
    /// That of this user or service, where there is a state folder.
    pub fn own() -> Option<Spool> {
        folders::state().map(|folder| Spool(folder.join("spool")))
    }

    /// Adds a delivery, which is on the disk afterwards; the file. Older ones make room.
    pub fn add(&self, delivery: &Delivery) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.0)?;
        let file = self.0.join(format!("{}.{ENDING}", delivery.id));
        let bytes = delivery.pack()?;
        save(&file, |out| out.write_all(&bytes)).map_err(|error| error.cause)?;
        self.make_room(&file, MOST, BYTES);
        Ok(file)
    }

    /// The files, the oldest first.
    pub fn waiting(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path());
        let is_delivery = |file: &PathBuf| file.extension().is_some_and(|ending| ending == ENDING);
        let mut files: Vec<PathBuf> = files.filter(is_delivery).collect();
        files.sort();
        files
    }

    fn make_room(&self, newest: &Path, most: usize, bytes: u64) {
        let size = |file: &PathBuf| fs::metadata(file).map_or(0, |about| about.len());
        let mut sizes: Vec<(PathBuf, u64)> =
            self.waiting().into_iter().map(|file| (file.clone(), size(&file))).collect();
        while sizes.len() > most || sizes.iter().map(|(_, size)| size).sum::<u64>() > bytes {
            let Some(oldest) = sizes.iter().position(|(file, _)| file != newest) else { break };
            let (file, _) = sizes.remove(oldest);
            let _ = fs::remove_file(&file);
            say(&format!(
                "warning: {} was removed and never sent: more than {most} deliveries or {} MiB wait",
                file.display(),
                bytes >> 20
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::Destination;

    fn delivery(number: usize) -> Delivery {
        let to = Destination::parse("s3://fleet/a").unwrap().unwrap();
        let objects = vec![("a/b".to_owned(), vec![7; 100]), ("c".to_owned(), Vec::new())];
        Delivery { to, id: format!("2026-11-28T{number:06}Z-node-0"), objects }
    }

    #[test]
    fn deliveries_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool(folder.path().join("spool"));
        let file = spool.add(&delivery(1)).unwrap();
        assert_eq!(Delivery::read(&file).unwrap(), delivery(1));
        let whole = fs::read(&file).unwrap();
        for length in [0, 10, whole.len() - 1] {
            fs::write(&file, &whole[..length]).unwrap();
            assert!(Delivery::read(&file).is_err(), "{length}");
        }
        fs::write(&file, [&whole[..], b"x"].concat()).unwrap();
        assert!(Delivery::read(&file).unwrap_err().to_string().contains("more bytes"));
    }

    #[test]
    fn the_oldest_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool(folder.path().to_owned());
        let files: Vec<PathBuf> =
            (0..5).map(|number| spool.add(&delivery(number)).unwrap()).collect();
        assert_eq!(spool.waiting(), files);
        spool.make_room(&files[4], 3, BYTES);
        assert_eq!(spool.waiting(), files[2..]);
        // One that is too large alone stays.
        spool.make_room(&files[4], 3, 1);
        assert_eq!(spool.waiting(), files[4..]);
    }
}
