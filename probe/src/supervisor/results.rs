//! Results of a dispatch: in the file that a worker shares with its supervisor, or in its message.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use fpprobe_profiles::Outcome;

use fpprobe_worker::protocol::Failure;

/// The words of a dispatch's buffer of results.
#[derive(Debug)]
pub enum Results<'a> {
    /// In memory.
    Here(Vec<u32>),
    /// In a file.
    Shared {
        /// The file.
        file: &'a File,
        /// Where they begin in it, in bytes.
        offset: u64,
        /// How many there are.
        count: usize,
    },
}

impl Results<'_> {
    /// All of them.
    pub fn words(&self) -> Result<Vec<u32>, Failure> {
        let count = match self {
            Results::Here(words) => words.len(),
            Results::Shared { count, .. } => *count,
        };
        let mut words = vec![0; count];
        self.read(0, &mut words)?;
        Ok(words)
    }

    /// Those from a place on, as many as there is room for. Threads may read side by side.
    pub fn read(&self, from: usize, words: &mut [u32]) -> Result<(), Failure> {
        match self {
            Results::Here(all) => match all.get(from..from + words.len()) {
                Some(own) => words.copy_from_slice(own),
                None => return Err(Failure::new(Outcome::Crashed, "the worker left results out")),
            },
            Results::Shared { file, offset, .. } => {
                let offset = offset + 4 * from as u64;
                file.read_exact_at(bytemuck::cast_slice_mut(words), offset).map_err(|error| {
                    Failure::new(
                        Outcome::Crashed,
                        format!("the results of a worker could not be read: {error}"),
                    )
                })?;
                for word in words {
                    *word = u32::from_le(*word);
                }
            }
        }
        Ok(())
    }
}
