//! Every input that changed, however many: a file of bits for each kernel.
//!
//! One zstd frame. Unpacked it has a bit for each input of the kernel's domain, by number (input 0
//! is the lowest bit of the first byte; set: its result changed): 512 MiB for 2^32 inputs.

use std::io::{self, BufReader, Read, Write};

use crate::save::PendingFile;

/// Inputs whose bits are held in memory: those of one block.
const PAGE: u64 = 1 << 20;
/// Of zstd: scattered bits hardly shrink further at higher ones.
const LEVEL: i32 = 1;

/// The bits under way.
pub struct Every {
    out: zstd::Encoder<'static, PendingFile>,
    /// The bits of [`PAGE`] inputs from this one.
    first: u64,
    page: Vec<u8>,
    /// Inputs of the kernel.
    inputs: u64,
}

impl Every {
    /// None of the N inputs is in it yet.
    pub fn new(file: PendingFile, inputs: u64) -> io::Result<Every> {
        if inputs == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the kernel has no inputs"));
        }
        let page = vec![0; inputs.min(PAGE).div_ceil(8) as usize];
        Ok(Every { out: zstd::Encoder::new(file, LEVEL)?, first: 0, page, inputs })
    }

    /// Adds an input; they come in order.
    pub fn add(&mut self, number: u64) -> io::Result<()> {
        self.reach(number)?;
        let place = number
            .checked_sub(self.first)
            .filter(|_| number < self.inputs)
            .ok_or_else(|| io::Error::other(format!("input {number:x} comes out of order")))?;
        self.page[place as usize / 8] |= 1 << (place % 8);
        Ok(())
    }

    /// The file becomes what was added.
    pub fn commit(mut self) -> io::Result<()> {
        self.reach(self.inputs - 1)?;
        self.out.write_all(&self.page)?;
        self.out.finish()?.commit(None)
    }

    /// Writes the pages before the one of an input.
    fn reach(&mut self, number: u64) -> io::Result<()> {
        while number >= self.first + PAGE {
            self.out.write_all(&self.page)?;
            self.page.fill(0);
            self.first += PAGE;
        }
        Ok(())
    }

    /// Puts the files of a sweep's parts together.
    pub fn merge(parts: Vec<impl Read>, mut out: Every) -> io::Result<()> {
        let mut parts =
            parts.into_iter().map(zstd::Decoder::new).collect::<io::Result<Vec<_>>>()?;
        let mut page = out.page.clone();
        loop {
            for part in &mut parts {
                part.read_exact(&mut page)?;
                out.page.iter_mut().zip(&page).for_each(|(own, other)| *own |= other);
            }
            if out.first + PAGE >= out.inputs {
                break;
            }
            out.reach(out.first + PAGE)?;
        }
        for part in parts {
            if BufReader::new(part).bytes().next().transpose()?.is_some() {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "a part has more bits than the kernel has inputs",
                ));
            }
        }
        out.commit()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;

    use super::*;

    fn write(path: &Path, inputs: u64, changed: &[u64]) {
        let mut every = Every::new(PendingFile::begin(path).unwrap(), inputs).unwrap();
        for number in changed {
            every.add(*number).unwrap();
        }
        every.commit().unwrap();
    }

    fn read(path: &Path) -> (usize, Vec<u64>) {
        let bytes = zstd::stream::decode_all(File::open(path).unwrap()).unwrap();
        let set = (0..).zip(&bytes).flat_map(|(place, byte)| {
            (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit: u64| place * 8 + bit)
        });
        (bytes.len(), set.collect())
    }

    #[test]
    fn every_input_is_there_and_parts_are_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let changed = [0, 9, PAGE - 1, PAGE, 3 * PAGE + 7, 8 * PAGE - 1];
        write(&at("whole"), 8 * PAGE, &changed);
        assert_eq!(read(&at("whole")), (PAGE as usize, changed.to_vec()));
        write(&at("1"), 8 * PAGE, &changed[..3]);
        write(&at("2"), 8 * PAGE, &changed[3..]);
        let parts = || ["1", "2"].into_iter().map(|name| File::open(at(name)).unwrap()).collect();
        let merged =
            |inputs| Every::new(PendingFile::begin(&at("merged")).unwrap(), inputs).unwrap();
        Every::merge(parts(), merged(8 * PAGE)).unwrap();
        assert!(fs::read(at("whole")).unwrap() == fs::read(at("merged")).unwrap());
        for wrong in [7, 9] {
            Every::merge(parts(), merged(wrong * PAGE)).unwrap_err();
        }
        assert!(Every::new(PendingFile::begin(&at("none")).unwrap(), 0).is_err());
        write(&at("small"), 1 << 16, &[0xffff]);
        assert_eq!(read(&at("small")), (1 << 13, vec![0xffff]));
    }

    #[test]
    fn what_is_not_committed_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut every =
            Every::new(PendingFile::begin(&folder.path().join("x")).unwrap(), 1 << 32).unwrap();
        every.add(2 * PAGE).unwrap();
        for wrong in [0, 1 << 32] {
            assert!(every.add(wrong).unwrap_err().to_string().contains("out of order"));
        }
        drop(every);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
