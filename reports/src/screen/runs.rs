//! The runs of one piece of work, a block of inputs or a list of cases, and what those of a kernel
//! amount to.

use super::{FailureClass, ScreenFailure, ScreenFinding, ScreenRound};

/// Most results of one piece of work that are kept apart; what comes after counts as the last.
const MOST: usize = 255;
/// Failures that are listed.
const LISTED: usize = 16;
/// Runs with the same other results that make a failure persistent.
const PERSISTENT: usize = 3;
/// Failures expected of which none came: where failures are independent, that is one time in a
/// thousand.
const EXPECTED: f64 = 7.0;

/// What the runs of one piece of work gave.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkRuns<T> {
    /// Everything that came; with a reference, that first.
    results: Vec<T>,
    has_reference: bool,
    /// Runs that gave the first result, before another came.
    calm: u64,
    /// The first of them.
    first: Option<ScreenRun>,
    /// All runs from the first on that gave another; all there are where only one came before it.
    later: Vec<ScreenRun>,
}

/// One run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScreenRun {
    /// Which result.
    result: u8,
    /// Number of the round.
    pub round: usize,
    /// When, in seconds from the start.
    pub at_s: f64,
    /// How many runs of the kernel's work came before.
    pub ordinal: u64,
}

impl<T: PartialEq + Clone> WorkRuns<T> {
    /// No run yet.
    pub fn new(reference: Option<T>) -> WorkRuns<T> {
        let has_reference = reference.is_some();
        WorkRuns {
            results: reference.into_iter().collect(),
            has_reference,
            calm: 0,
            first: None,
            later: Vec::new(),
        }
    }

    /// Adds a run; whether its result differs from the first.
    pub fn add(&mut self, result: &T, round: usize, at_s: f64, ordinal: u64) -> bool {
        let known = self.results.iter().position(|known| known == result);
        let place = known.unwrap_or(self.results.len()).min(MOST);
        if place == self.results.len() {
            self.results.push(result.clone());
        }
        let run = ScreenRun { result: place as u8, round, at_s, ordinal };
        if place == 0 && self.later.is_empty() {
            self.calm += 1;
            self.first.get_or_insert(run);
            return false;
        }
        if self.calm == 1 && !self.has_reference {
            // Either may be right.
            self.later.extend(self.first);
            self.calm = 0;
        }
        self.later.push(run);
        place > 0
    }

    /// Whether it ran.
    pub fn has_run(&self) -> bool {
        self.runs() > 0
    }

    fn runs(&self) -> u64 {
        self.calm + self.later.len() as u64
    }

    /// The place of what is right: the reference, or what first came twice. Where nothing did, the
    /// first, which may be.
    fn right(&self) -> usize {
        if self.has_reference || self.calm > 1 {
            return 0;
        }
        let mut seen = vec![0; self.results.len()];
        let twice = self.later.iter().find(|run| {
            let count = &mut seen[usize::from(run.result)];
            *count += 1;
            *count > 1
        });
        twice.map_or(0, |run| usize::from(run.result))
    }

    /// What is right; `None` where nothing came twice.
    pub fn expected(&self) -> Option<&T> {
        let right = self.right();
        let times = self.later.iter().filter(|run| usize::from(run.result) == right).count();
        let known = self.has_reference || self.calm > 0 || times > 1;
        self.results.get(right).filter(|_| known)
    }

    /// The wrong runs, in order.
    fn failed(&self) -> impl Iterator<Item = &ScreenRun> {
        let right = self.right();
        self.later.iter().filter(move |run| usize::from(run.result) != right)
    }

    /// Whether some run gave another result than the first.
    pub fn differs(&self) -> bool {
        !self.later.is_empty()
    }

    /// The wrong results, each with how often it came and the first run with it.
    pub fn wrong(&self) -> impl Iterator<Item = (&T, u64, ScreenRun)> {
        let right = self.right();
        self.results.iter().enumerate().filter(move |(place, _)| *place != right).filter_map(
            move |(place, result)| {
                let mut runs = self.later.iter().filter(|run| usize::from(run.result) == place);
                let first = *runs.next()?;
                Some((result, 1 + runs.count() as u64, first))
            },
        )
    }

    /// Whether one wrong result came in each run from its first on, several times, by all local
    /// sizes or by one.
    fn is_persistent(&self, rounds: &[ScreenRound]) -> bool {
        let group = |run: &&ScreenRun| rounds.get(run.round).map(|round| round.group);
        let right = self.right();
        (0..self.results.len()).filter(|place| *place != right).any(|place| {
            let is_it = |run: &&ScreenRun| usize::from(run.result) == place;
            let first = self.later.iter().position(|run| is_it(&run)).unwrap_or(self.later.len());
            let since: Vec<&ScreenRun> = self.later[first..].iter().collect();
            let each_time =
                |runs: &[&ScreenRun]| runs.len() >= PERSISTENT && runs.iter().all(is_it);
            let mut by_size = since.clone();
            by_size.sort_by_key(group);
            each_time(&since)
                || by_size.chunk_by(|one, other| group(one) == group(other)).any(each_time)
        })
    }
}

/// The runs of all work of a kernel.
pub struct ScreenRuns<'a, T> {
    /// The kernel.
    pub kernel: &'a str,
    /// Results of a run.
    pub results_per_run: u64,
    /// The work, each with the number of its block.
    pub work: &'a [(Option<u64>, WorkRuns<T>)],
    /// The rounds.
    pub rounds: &'a [ScreenRound],
}

impl<T: PartialEq + Clone> ScreenRuns<'_, T> {
    /// What they amount to; `None` where nothing differs. Operands and results of the failures are
    /// still to be found.
    pub fn finding(&self) -> Option<ScreenFinding> {
        let failing = || self.work.iter().filter(|(_, runs)| runs.failed().next().is_some());
        let failed = || failing().flat_map(|(_, runs)| runs.failed());
        let first = failed().min_by(|one, other| one.ordinal.cmp(&other.ordinal))?;
        let last = failed().max_by(|one, other| one.ordinal.cmp(&other.ordinal))?;
        let (count, runs) =
            (failed().count() as u64, self.work.iter().map(|(_, runs)| runs.runs()).sum::<u64>());
        let after = |runs: &WorkRuns<T>| {
            let first = runs.failed().next().map_or(u64::MAX, |first| first.ordinal);
            runs.later.iter().filter(|run| run.ordinal > first).count() as u64
        };
        let further: u64 = failing().map(|(_, runs)| after(runs)).sum();
        let again = count - failing().count() as u64;
        let until_last = count as f64 / (last.ordinal + 1) as f64;
        let class = if failing().any(|(_, runs)| runs.is_persistent(self.rounds)) {
            FailureClass::Persistent
        } else if until_last * runs.saturating_sub(last.ordinal + 1) as f64 >= EXPECTED {
            FailureClass::NotReproduced
        } else {
            FailureClass::Intermittent
        };
        // Where every run fails, that one more would not have.
        let calm = (runs - count).max(1) as f64 / runs.max(2) as f64;
        let temperature = |run: &ScreenRun| {
            self.rounds.get(run.round).and_then(|round| round.sensors.temperature_c)
        };
        let bounds = |known: Option<[f64; 2]>, own: f64| {
            Some(known.map_or([own; 2], |[low, high]| [low.min(own), high.max(own)]))
        };
        Some(ScreenFinding {
            kernel: self.kernel.to_owned(),
            class,
            runs,
            failed: count,
            results_per_run: self.results_per_run,
            rate: -calm.ln() / self.results_per_run.max(1) as f64,
            time_to_failure_s: first.at_s,
            last_failure_s: last.at_s,
            reproduction_rate: (further > 0).then(|| again as f64 / further as f64),
            temperature_c: failed().filter_map(temperature).fold(None, bounds),
            lane: None,
            list: self.listed().into_iter().map(|(failure, ..)| failure).collect(),
        })
    }

    /// The first failures, each with the result that is right and the wrong one, as
    /// [`ScreenFinding::list`] has them.
    pub fn listed(&self) -> Vec<(ScreenFailure, Option<&T>, &T)> {
        let mut all = Vec::new();
        for (block, runs) in self.work.iter().filter(|(_, runs)| runs.differs()) {
            for (result, times, run) in runs.wrong() {
                let round = self.rounds.get(run.round);
                let failure = ScreenFailure {
                    block: *block,
                    times,
                    of: runs.runs(),
                    at_s: run.at_s,
                    group: round.map_or(0, |round| round.group),
                    temperature_c: round.and_then(|round| round.sensors.temperature_c),
                    ..ScreenFailure::default()
                };
                all.push((run.ordinal, (failure, runs.expected(), result)));
            }
        }
        all.sort_by_key(|(ordinal, _)| *ordinal);
        all.truncate(LISTED);
        all.into_iter().map(|(_, listed)| listed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Sensors;

    /// Rounds of two local sizes in turns, ever hotter.
    fn rounds(count: usize) -> Vec<ScreenRound> {
        let round = |number: usize| ScreenRound {
            at_s: number as f64,
            group: [64, 128][number % 2],
            results: 0,
            sensors: Sensors { temperature_c: Some(40.0 + number as f64), clock_mhz: None },
        };
        (0..count).map(round).collect()
    }

    fn finding(reference: Option<u32>, blocks: &[&[u32]]) -> Option<ScreenFinding> {
        let rounds = rounds(blocks[0].len());
        let runs_of = |(block, results): (u64, &&[u32])| {
            let mut runs = WorkRuns::new(reference);
            for (round, result) in results.iter().enumerate() {
                runs.add(result, round, round as f64, round as u64 * blocks.len() as u64 + block);
            }
            (Some(block), runs)
        };
        let work: Vec<_> = (0_u64..).zip(blocks).map(runs_of).collect();
        ScreenRuns { kernel: "f32.sqrt", results_per_run: 1 << 20, work: &work, rounds: &rounds }
            .finding()
    }

    #[test]
    fn what_comes_each_time_is_persistent_and_else_has_a_rate() {
        assert_eq!(finding(None, &[&[7; 9], &[8; 9]]), None);
        let flip = finding(None, &[&[7, 7, 7, 9, 7, 7, 7, 7], &[8; 8]]).unwrap();
        assert_eq!(
            (flip.class, flip.failed, flip.runs, flip.time_to_failure_s),
            (FailureClass::Intermittent, 1, 16, 3.0)
        );
        assert_eq!((flip.reproduction_rate, flip.temperature_c), (Some(0.0), Some([43.0, 43.0])));
        assert!((flip.rate * f64::from(16 << 20) - 1.0).abs() < 0.05, "{}", flip.rate);
        assert_eq!((flip.list[0].times, flip.list[0].of, flip.list[0].group), (1, 8, 128));
        let aged = finding(None, &[&[7, 7, 7, 9, 9, 9, 9, 9]]).unwrap();
        assert_eq!((aged.class, aged.reproduction_rate), (FailureClass::Persistent, Some(1.0)));
        let by_size = finding(None, &[&[7, 9, 7, 9, 7, 9, 7, 9]]).unwrap();
        assert_eq!(
            (by_size.class, by_size.failed, by_size.reproduction_rate),
            (FailureClass::Persistent, 4, Some(0.5))
        );
        let half = finding(None, &[&[7, 7, 9, 9, 7, 9, 9, 7, 9, 7]]).unwrap();
        assert_eq!((half.class, half.failed), (FailureClass::Intermittent, 5));
    }

    #[test]
    fn the_reference_or_what_first_came_twice_is_right() {
        let known = finding(Some(7), &[&[9; 4]]).unwrap();
        assert_eq!((known.class, known.failed, known.runs), (FailureClass::Persistent, 4, 4));
        let first = finding(None, &[&[9, 7, 7, 7, 7]]).unwrap();
        assert_eq!(
            (first.class, first.failed, first.time_to_failure_s),
            (FailureClass::Intermittent, 1, 0.0)
        );
        let never = finding(None, &[&[1, 2, 3, 4, 5]]).unwrap();
        assert_eq!((never.class, never.failed, never.runs), (FailureClass::Intermittent, 4, 5));
    }

    #[test]
    fn what_had_its_chances_and_did_not_come_again_is_not_reproduced() {
        let mut results = [7; 40];
        results[3] = 9;
        assert_eq!(finding(None, &[&results]).unwrap().class, FailureClass::NotReproduced);
        assert_eq!(finding(None, &[&results[..20]]).unwrap().class, FailureClass::Intermittent);
    }

    #[test]
    fn results_that_never_come_again_need_bounded_memory() {
        let all: Vec<u32> = (0..1000).collect();
        let mut runs = WorkRuns::new(None);
        all.iter()
            .enumerate()
            .for_each(|(at, result)| assert_eq!(runs.add(result, at, 0.0, at as u64), at > 0));
        assert_eq!((runs.results.len(), runs.runs()), (MOST + 1, 1000));
    }
}
