//! Second names of stored reports, in folders that are no store: what is linked stays when the
//! store lets it go.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use super::{ENDING, container};
use crate::container::shared;

/// Gives a stored report and the files that it shares a second name, or copies them where the file
/// system has no such thing.
pub fn link(from: &Path, to: &Path) -> io::Result<()> {
    name(from, to)?;
    let [from_folder, to_folder] = [from, to].map(|path| path.parent().unwrap_or(Path::new("")));
    let Ok(entry) = container::head(fs::File::open(to)?) else { return Ok(()) };
    for shared in &entry.shared {
        let (from, to) = (from_folder.join(&shared.file), to_folder.join(&shared.file));
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        // One that is missing is named by whoever reads the report.
        if from != to && from.exists() {
            name(&from, &to)?;
        }
    }
    Ok(())
}

fn name(from: &Path, to: &Path) -> io::Result<()> {
    let _ = fs::remove_file(to);
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop))
}

/// Removes a stored report from a folder of such names, and what no other one there shares.
pub fn unlink(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut kept = HashSet::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ENDING) {
            // Of one that cannot be read nobody knows what it shares.
            let Ok(head) = fs::File::open(&path).map_err(Into::into).and_then(container::head)
            else {
                return Ok(());
            };
            kept.extend(head.shared.into_iter().map(|shared| shared.file));
        }
    }
    shared::release(folder, &kept.iter().map(String::as_str).collect())?;
    // Those that are not empty stay.
    for own in shared::FOLDERS {
        let _ = fs::remove_dir(folder.join(own.name));
    }
    Ok(())
}
