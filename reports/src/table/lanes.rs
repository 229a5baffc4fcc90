//! What the rows of each kernel of a group hold, read one kernel after the other.

use std::collections::{BTreeMap, HashMap, HashSet};

use fpprobe_profiles::Outcome;
use twox_hash::xxhash3_128::Hasher;

use super::encoding::SplitNumbers;
use super::form::RowForm;
use crate::model::{Pattern, Value, Values};

/// What the rows of a kernel hold.
pub(super) struct KernelLanes {
    pub cases: Option<Values>,
    pub out: Option<Values>,
    pub digest: Option<(Pattern, u128)>,
    pub second: Vec<(usize, Value)>,
}

/// Reads the kernels of a group one after the other.
pub(super) struct LaneReader<'a> {
    operands: SplitNumbers<'a>,
    result: SplitNumbers<'a>,
    second: SplitNumbers<'a>,
    /// How far each has been read.
    at: [usize; 3],
    /// Which rows have a second result: what is left of a run.
    levels: std::iter::Copied<std::slice::Iter<'a, (u32, usize)>>,
    level: (u32, usize),
    forms: HashMap<&'a str, Option<RowForm>>,
    lists: HashSet<&'a str>,
    /// By the form of their kernel, and digest.
    results: HashMap<(&'a str, u128), Values>,
}

impl<'a> LaneReader<'a> {
    /// Of operands, results and second results, and which rows have one of these.
    pub(super) fn new(
        [operands, result, second]: [&'a [u8]; 3],
        levels: &'a [(u32, usize)],
    ) -> LaneReader<'a> {
        LaneReader {
            operands: SplitNumbers(operands),
            result: SplitNumbers(result),
            second: SplitNumbers(second),
            at: [0; 3],
            levels: levels.iter().copied(),
            level: (0, 0),
            forms: HashMap::new(),
            lists: HashSet::new(),
            results: HashMap::new(),
        }
    }

    /// Whether all of it has been read.
    pub(super) fn is_at_end(&mut self) -> bool {
        let read = [self.operands, self.result, self.second].map(SplitNumbers::len);
        self.at == read && self.level.1 == 0 && self.levels.all(|(_, count)| count == 0)
    }

    /// What the next rows hold, as many as this kernel has.
    pub(super) fn kernel(
        &mut self,
        rows: usize,
        outcome: Outcome,
        form: &'a str,
        inputs: &'a str,
    ) -> Option<KernelLanes> {
        let differing = self.differing(rows)?;
        if form.is_empty() {
            let out = outcome.answered().then(Values::default);
            let is_one = rows == 1 && differing.is_empty();
            return is_one.then_some(KernelLanes {
                cases: Some(Values::default()),
                out,
                digest: None,
                second: Vec::new(),
            });
        }
        let name = form;
        let form = self.forms.entry(form).or_insert_with(|| RowForm::parse(form)).clone()?;
        let has_results = outcome.answered();
        let of_case = form.rows(has_results);
        if rows == 0 || !rows.is_multiple_of(of_case) {
            return None;
        }
        let operands =
            self.advance(0, rows.checked_mul(form.operands(has_results))?, self.operands)?;
        let is_new = inputs.is_empty() || self.lists.insert(inputs);
        let cases = is_new.then(|| self.cases(&form, operands, rows, has_results));
        if !has_results {
            return differing.is_empty().then_some(KernelLanes {
                cases,
                out: None,
                digest: None,
                second: Vec::new(),
            });
        }
        let start = self.advance(1, rows, self.result)?;
        let digest = digest(self.result.parts(start, rows));
        let values = || Values::alike(form.result.clone(), self.result.values(start, rows).into());
        let out = self.results.entry((name, digest)).or_insert_with(values).clone();
        let second = second(&form.result, (self.result, start), &differing);
        Some(KernelLanes {
            cases,
            out: Some(out),
            digest: Some((form.result.clone(), digest)),
            second,
        })
    }

    /// Where the next values begin, if there are as many.
    fn advance(&mut self, column: usize, count: usize, of: SplitNumbers<'_>) -> Option<usize> {
        let start = self.at[column];
        self.at[column] = start.checked_add(count).filter(|end| *end <= of.len())?;
        Some(start)
    }

    /// The second results of the next rows, by row.
    fn differing(&mut self, rows: usize) -> Option<BTreeMap<usize, u64>> {
        let (mut row, mut differing) = (0, BTreeMap::new());
        while row < rows {
            if self.level.1 == 0 {
                self.level = self.levels.next()?;
            }
            let count = self.level.1.min(rows - row);
            if self.level.0 != 0 {
                let start = self.advance(2, count, self.second)?;
                differing.extend((row..).zip(self.second.values(start, count)));
            }
            self.level.1 -= count;
            row += count;
        }
        Some(differing)
    }

    /// The cases of a kernel's rows, whose operands begin here.
    fn cases(&self, form: &RowForm, start: usize, rows: usize, has_results: bool) -> Values {
        let of_row = form.operands(has_results);
        let values = self.operands.values(start, rows * of_row);
        let of_case = form.case.numbers();
        let mut cases = Vec::with_capacity(values.len());
        for rows in values.chunks_exact(of_row * form.rows(has_results)) {
            match form.width(has_results) {
                Some(width) => {
                    let places = (0..of_case).map(|place| place % width * of_row + place / width);
                    cases.extend(places.map(|place| rows[place]));
                }
                None => cases.extend(&rows[..of_row]),
            }
        }
        Values::alike(form.case.clone(), cases.into())
    }
}

fn digest(parts: [&[u8]; 8]) -> u128 {
    let mut hasher = Hasher::new();
    for part in parts {
        hasher.write(part);
    }
    hasher.finish_128()
}

/// Whole second results, of the cases in which a row has one.
fn second(
    form: &Pattern,
    (result, start): (SplitNumbers<'_>, usize),
    differing: &BTreeMap<usize, u64>,
) -> Vec<(usize, Value)> {
    let numbers = form.numbers();
    let mut cases: Vec<usize> = differing.keys().map(|row| row / numbers).collect();
    cases.dedup();
    let of = |case: usize| {
        let mut bits = result.values(start + case * numbers, numbers);
        for (row, value) in differing.range(case * numbers..(case + 1) * numbers) {
            bits[row - case * numbers] = *value;
        }
        (case, form.value(&bits))
    };
    cases.into_iter().map(of).collect()
}
