//! The journal of a sweep: a line for each step, as that of a run, so that a sweep that was killed
//! goes on at its block.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};

use fpprobe_profiles::sweep::SweepStatistics;
use serde::{Deserialize, Serialize};

use super::{Blocks, Unstable};
use crate::journal::record;

/// The value of [`SweepStart::journal`] that this program writes, and the only one that it reads.
pub const FORMAT: &str = "fpprobe-sweep-journal/1";

/// Longest line.
const LINE_LIMIT: u64 = 64 << 20;

/// A step of a sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case", deny_unknown_fields)]
pub enum SweepRecord {
    /// What is to be done; the first line, and only that.
    Begun(SweepStart),
    /// Blocks are about to be asked; synced before they are.
    Intent(BlockSpan),
    /// Digests of blocks.
    Digests {
        /// Which.
        #[serde(flatten)]
        step: BlockSpan,
        /// Three sums each, eight hex digits a sum.
        sums: String,
        /// Which time the fingerprint is taken, from 0.
        #[serde(default)]
        pass: usize,
    },
    /// What was found until now.
    Verified {
        /// The device's key.
        device: String,
        /// The kernel.
        kernel: String,
        /// The blocks that were judged.
        blocks: Blocks,
        /// What was found in them, as JSON of its own: in an enum that is told by a member,
        /// numbers as keys are lost.
        #[serde(with = "nested")]
        #[serde(rename = "tally")]
        statistics: SweepStatistics,
        /// What of it did not come again.
        #[serde(default, skip_serializing_if = "Unstable::is_empty")]
        unstable: Unstable,
    },
}

/// A value as the text of its JSON.
mod nested {
    use fpprobe_profiles::sweep::SweepStatistics;
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(
        sweep_statistics: &SweepStatistics,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(&serde_json::to_string(sweep_statistics).map_err(S::Error::custom)?)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SweepStatistics, D::Error> {
        serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// What a sweep is to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepStart {
    /// [`FORMAT`].
    pub journal: String,
    /// Version of the program.
    pub program: String,
    /// Options that decide what is asked, as the program prints them.
    pub options: String,
}

/// Blocks of a kernel of a device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockSpan {
    /// The device's key.
    pub device: String,
    /// The kernel.
    pub kernel: String,
    /// The first block.
    pub first: u64,
    /// How many.
    pub count: u64,
}

/// What a journal knows.
#[derive(Clone, PartialEq, Debug)]
pub struct Past {
    /// What the sweep is to do.
    pub begun: SweepStart,
    /// Sums of blocks, by device and kernel, and by pass.
    pub sums: BTreeMap<(String, String, usize), BTreeMap<u64, [u32; 3]>>,
    /// The blocks that were judged and what was found, by device and kernel.
    pub verified: BTreeMap<(String, String), (Blocks, SweepStatistics, Unstable)>,
    /// Length in bytes of what was read; what follows was cut off.
    pub length: u64,
}

/// Sums as text.
pub fn hex(sums: &[[u32; 3]]) -> String {
    sums.iter().flatten().fold(String::new(), |text, sum| text + &format!("{sum:08x}"))
}

/// The sums of a text.
fn unhex(text: &str) -> Option<Vec<[u32; 3]>> {
    let digits = text.as_bytes().chunks_exact(24);
    let word = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let sums =
        digits.clone().map(|own| Some([word(&own[..8])?, word(&own[8..16])?, word(&own[16..])?]));
    sums.collect::<Option<Vec<_>>>().filter(|_| digits.remainder().is_empty())
}

/// Reads a journal. A last line that was cut off is left out; an error says what is wrong with
/// which line.
pub fn read(mut reader: impl BufRead) -> Result<Past, String> {
    let mut past: Option<Past> = None;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let count = reader
            .by_ref()
            .take(LINE_LIMIT)
            .read_until(b'\n', &mut line)
            .map_err(|error| error.to_string())?;
        if line.pop() != Some(b'\n') {
            if count as u64 == LINE_LIMIT {
                return Err(format!("line {number}: no line of a journal is that long"));
            }
            break;
        }
        let damaged = |what: String| format!("line {number} is damaged: {what}");
        let Some(past) = &mut past else {
            let Ok(SweepRecord::Begun(begun)) = record(&line) else {
                return Err(format!(
                    "it does not begin as a journal of this version does ({FORMAT})"
                ));
            };
            let length = count as u64;
            past = Some(Past { begun, sums: BTreeMap::new(), verified: BTreeMap::new(), length });
            continue;
        };
        let record = record(&line).map_err(damaged)?;
        past.note(record).ok_or_else(|| damaged("it does not go with the others".into()))?;
        past.length += count as u64;
    }
    let begun = |past: &Past| past.begun.journal == FORMAT;
    past.filter(begun).ok_or_else(|| {
        "it holds nothing of this version: the sweep was killed before it had begun".into()
    })
}

impl Past {
    fn note(&mut self, record: SweepRecord) -> Option<()> {
        match record {
            SweepRecord::Begun(_) => return None,
            SweepRecord::Intent(_) => {}
            SweepRecord::Digests { step, sums, pass } => {
                let sums = unhex(&sums).filter(|sums| sums.len() as u64 == step.count)?;
                step.first.checked_add(step.count)?;
                let own = self.sums.entry((step.device, step.kernel, pass)).or_default();
                own.extend((step.first..).zip(sums));
            }
            SweepRecord::Verified { device, kernel, blocks, statistics, unstable } => {
                self.verified.insert((device, kernel), (blocks, statistics, unstable));
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::line;

    fn text() -> (String, Past) {
        let begun =
            SweepStart { journal: FORMAT.into(), program: "1".into(), options: "f32.sqrt".into() };
        let step = BlockSpan { device: "d".into(), kernel: "f32.sqrt".into(), first: 7, count: 2 };
        let sums = [[1, 2, 3], [u32::MAX, 0, 5]];
        let (device, kernel) = (step.device.clone(), step.kernel.clone());
        let blocks: Blocks = [3, 4].into_iter().collect();
        let statistics = SweepStatistics {
            inputs: 2 << 20,
            histogram: BTreeMap::from([(0, 7), (512, 1)]),
            ..SweepStatistics::default()
        };
        let unstable = Unstable::of_blocks([4].into_iter().collect());
        let known = (blocks.clone(), statistics.clone(), unstable.clone());
        let verified = BTreeMap::from([((device.clone(), kernel.clone()), known)]);
        let records = [
            SweepRecord::Begun(begun.clone()),
            SweepRecord::Intent(step.clone()),
            SweepRecord::Digests { step, sums: hex(&sums), pass: 1 },
            SweepRecord::Verified { device, kernel, blocks, statistics, unstable },
        ];
        let text: String = records.iter().map(line).collect();
        let own = BTreeMap::from([(7, sums[0]), (8, sums[1])]);
        let sums = BTreeMap::from([(("d".into(), "f32.sqrt".into(), 1), own)]);
        let length = text.len() as u64;
        (text, Past { begun, sums, verified, length })
    }

    #[test]
    fn a_journal_comes_back() {
        let (text, past) = text();
        assert_eq!(read(text.as_bytes()).unwrap(), past);
    }

    #[test]
    fn blocks_beyond_all_are_damage() {
        let step =
            BlockSpan { device: "d".into(), kernel: "f32.sqrt".into(), first: u64::MAX, count: 1 };
        let text =
            text().0 + &line(&SweepRecord::Digests { step, sums: hex(&[[1, 2, 3]]), pass: 0 });
        assert!(read(text.as_bytes()).unwrap_err().contains("does not go with the others"));
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out_and_a_damaged_one_told() {
        let (text, past) = text();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let cut = &text[..text.len() - 20];
        let read_back = read(cut.as_bytes()).unwrap();
        let whole: usize = lines[..3].iter().map(|line| line.len()).sum();
        assert_eq!(
            (read_back.length as usize, read_back.sums.len(), read_back.verified.len()),
            (whole, 1, 0)
        );
        assert_eq!(read_back.begun, past.begun);
        let damaged = text.replacen("\"first\":7", "\"first\":8", 1);
        assert!(read(damaged.as_bytes()).unwrap_err().starts_with("line 2 is damaged"));
        assert!(read(&b"{}\n"[..]).unwrap_err().contains("does not begin"));
        assert!(read(&b""[..]).unwrap_err().contains("holds nothing"));
    }
}
