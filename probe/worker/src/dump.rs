//! `--dump-raw`: what each dispatch left in memory, as files, for those who trust nothing that
//! comes after.
//!
//! One file for each kernel and run, `DIR/DEVICE/KERNEL.runN.raw`: a line of JSON that says how to
//! read the rest, then the bytes of the kernel's results as they lay in the buffers. A kernel that
//! was run again has `.2`, `.3` and so on before the ending. `probe/tests/raw/compare.py` compares
//! two such folders.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::measure::ResultDump;

/// Most times that a kernel is asked anew in one run.
const AGAIN: u32 = 1000;

/// Where to write.
#[derive(Clone, Debug)]
pub struct Dump {
    folder: PathBuf,
}

impl Dump {
    /// Of one device, by its key, in its folder.
    pub fn new(root: &Path, key: &str) -> io::Result<Dump> {
        let folder = root.join(key);
        fs::create_dir_all(&folder)?;
        Ok(Dump { folder })
    }

    /// Writes one kernel's part of a dispatch.
    pub fn write(&self, left: &ResultDump<'_>) -> io::Result<()> {
        let (kernel, cases) = (left.work.kernel.to_string(), &left.work.cases);
        let mut inputs = Sha256::new();
        cases.iter().flatten().for_each(|bits| inputs.update(bits.to_le_bytes()));
        let parts = left.parts.iter().map(
            |part| json!({ "bytes": part.bytes.len(), "stride": part.stride, "components": part.components, "size": part.size }),
        );
        let head = json!({
            "kernel": kernel,
            "inputs": format!("{:x}", inputs.finalize()),
            "run": left.turn.number,
            "cases": cases.len(),
            "slots": left.slots(),
            "parts": parts.collect::<Vec<_>>(),
        });
        let mut bytes = serde_json::to_vec(&head)?;
        bytes.push(b'\n');
        left.parts.iter().for_each(|part| bytes.extend_from_slice(part.bytes));
        self.create(&format!("{kernel}.run{}", left.turn.number))?.write_all(&bytes)
    }

    /// A file that was not there.
    fn create(&self, name: &str) -> io::Result<fs::File> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for number in 1..=AGAIN {
            let number = if number == 1 { String::new() } else { format!(".{number}") };
            let path = self.folder.join(format!("{name}{number}.raw"));
            match OpenOptions::new().write(true).create_new(true).open(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                other => return other,
            }
        }
        Err(last)
    }
}
