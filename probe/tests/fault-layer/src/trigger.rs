//! When a statement strikes: its conditions, its count, and the record of it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::statement::{Count, Size, Statement};

/// File, in the folder of the state, that lists what has struck.
pub const STRUCK: &str = "struck";

/// A module as far as statements care.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Module {
    /// Ids of its kernels.
    pub kernels: Vec<String>,
    /// How many modules of these kernels there have been in this process, itself included.
    pub turn: u64,
}

/// A statement and how often its conditions were met.
pub struct Armed {
    /// The statement.
    pub statement: Statement,
    met: AtomicU64,
    /// File of a count that outlives the process.
    file: Option<PathBuf>,
    struck: Option<PathBuf>,
}

impl Armed {
    /// Arms a statement; `number` is its place among all, `state` the folder of counts and record.
    pub fn new(statement: Statement, number: usize, state: Option<&Path>) -> Result<Armed, String> {
        let file = match (statement.ever, state) {
            (true, Some(state)) => Some(state.join(format!("count-{number}"))),
            (true, None) => {
                return Err(format!("`{}`: `ever` needs FPPROBE_FAULTS_STATE", statement.text));
            }
            (false, _) => None,
        };
        Ok(Armed {
            statement,
            met: AtomicU64::new(0),
            file,
            struck: state.map(|state| state.join(STRUCK)),
        })
    }

    /// Whether it strikes on this occasion, which is about these modules. Counts the occasion and
    /// records the strike.
    pub fn strikes(&self, modules: &[&Module]) -> io::Result<bool> {
        if !self.statement.is_free() && !modules.iter().any(|module| self.wants(module)) {
            return Ok(false);
        }
        let number = match &self.file {
            Some(file) => step(file)?,
            None => self.met.fetch_add(1, Ordering::Relaxed) + 1,
        };
        let strikes = match self.statement.count {
            Count::All => true,
            Count::Nth(nth) => number == nth,
            Count::From(nth) => number >= nth,
            Count::Every(nth) => number.is_multiple_of(nth),
        };
        if let (true, Some(struck)) = (strikes, &self.struck) {
            let mut file = OpenOptions::new().create(true).append(true).open(struck)?;
            file.write_all(format!("{}\n", self.statement.text).as_bytes())?;
        }
        Ok(strikes)
    }

    fn wants(&self, module: &Module) -> bool {
        let size = match self.statement.size {
            Size::Any => true,
            Size::Alone => module.kernels.len() == 1,
            Size::Company => module.kernels.len() > 1,
        };
        let turn = !self.statement.second || module.turn.is_multiple_of(2);
        let share = self.statement.share == 100
            || module.kernels.iter().any(|id| place(id) < self.statement.share);
        let above =
            self.statement.above.as_ref().is_none_or(|(least, file)| number_in(file) > *least);
        size && turn && share && above && self.statement.at.choose(&module.kernels)
    }
}

/// The number in a file; 0 without the file.
fn number_in(file: &Path) -> u64 {
    std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// A number from 0 to 99 for each kernel id, spread evenly: FNV-1a, and its high bits mixed into
/// the low ones.
fn place(id: &str) -> u8 {
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    ((hash ^ hash >> 32) % 100) as u8
}

/// Adds one to the number in a file that several processes use.
fn step(path: &Path) -> io::Result<u64> {
    let mut file: File =
        OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let next = text.trim().parse().unwrap_or(0) + 1;
    file.rewind()?;
    file.write_all(format!("{next}\n").as_bytes())?;
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armed(text: &str) -> Armed {
        Armed::new(text.parse().unwrap(), 0, None).unwrap()
    }

    fn module(kernels: &[&str], turn: u64) -> Module {
        Module { kernels: kernels.iter().map(|id| (*id).to_owned()).collect(), turn }
    }

    #[test]
    fn counts_are_of_occasions_that_meet_the_conditions() {
        for (text, expected) in [
            ("skip", [true; 6]),
            ("skip once", [true, false, false, false, false, false]),
            ("skip nth 3", [false, false, true, false, false, false]),
            ("skip from 3", [false, false, true, true, true, true]),
            ("skip every 2", [false, true, false, true, false, true]),
        ] {
            let armed = armed(&format!("{text} at f32.fadd"));
            let other = module(&["f32.fmul"], 1);
            let struck = expected.map(|_| {
                assert!(!armed.strikes(&[&other]).unwrap());
                armed.strikes(&[&other, &module(&["f32.fadd"], 1)]).unwrap()
            });
            assert_eq!(struck, expected, "{text}");
        }
    }

    #[test]
    fn a_share_takes_the_same_kernels_every_time_and_about_as_many_as_it_says() {
        let ids: Vec<String> = (0..1000).map(|number| format!("f32.fadd:case={number}")).collect();
        for share in [0, 5, 30, 95] {
            let strikes = || -> Vec<bool> {
                let armed = armed(&format!("skip share {share}"));
                ids.iter().map(|id| armed.strikes(&[&module(&[id], 1)]).unwrap()).collect()
            };
            let struck = strikes();
            assert_eq!(struck, strikes());
            let count = struck.iter().filter(|struck| **struck).count();
            assert!(count.abs_diff(share * 10) < 50, "{share} %: {count} of 1000");
        }
        assert!("skip share 101".parse::<Statement>().is_err());
        assert!("crash in vkCreateDevice share 5".parse::<Statement>().is_err());
    }

    #[test]
    fn company_and_turn_are_of_the_module() {
        let (one, two) = (module(&["f32.fadd"], 1), module(&["f32.fadd", "f32.fmul"], 2));
        let struck =
            |text: &str| [&one, &two].map(|module| armed(text).strikes(&[module]).unwrap());
        assert_eq!(struck("skip alone"), [true, false]);
        assert_eq!(struck("skip company"), [false, true]);
        assert_eq!(struck("skip second"), [false, true]);
        assert_eq!(struck("skip"), [true, true]);
        assert!(!armed("skip alone").strikes(&[]).unwrap());
    }

    #[test]
    fn counts_outlive_the_process() {
        let folder =
            std::env::temp_dir().join(format!("fpprobe-fault-layer-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let statement: Statement = "skip once ever".parse().unwrap();
        assert!(
            Armed::new(statement.clone(), 0, None)
                .is_err_and(|error| error.contains("FPPROBE_FAULTS_STATE"))
        );
        let strikes =
            || Armed::new(statement.clone(), 0, Some(&folder)).unwrap().strikes(&[]).unwrap();
        assert_eq!([strikes(), strikes(), strikes()], [true, false, false]);
        assert_eq!(crate::struck(&folder), ["skip once ever"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
