//! Results of a dispatch: in the memory that a worker shares with its supervisor, or in its
//! message.

use fpprobe_profiles::Outcome;
use fpprobe_system::memory::SharedMemory;
use fpprobe_worker::protocol::Failure;

/// The words of a dispatch's buffer of results.
#[derive(Debug)]
pub enum Results<'a> {
    /// In this process's memory.
    Here(Vec<u32>),
    /// In memory that a worker shares.
    Shared {
        /// The memory.
        memory: &'a SharedMemory,
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
            Results::Shared { memory, offset, .. } => {
                memory.read(words, offset + 4 * from as u64).map_err(|error| {
                    Failure::new(
                        Outcome::Crashed,
                        format!("the results of a worker could not be read: {error}"),
                    )
                })?;
            }
        }
        Ok(())
    }
}
