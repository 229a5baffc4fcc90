//! Fingerprints are taken twice, with other local sizes and orders: a digest counts that came
//! again.

use std::time::{Duration, Instant};

use fpprobe_reports::sweep::Print;

use super::journal::SweepJournal;
use super::print::PrintLedger;
use super::progress::Course;
use crate::supervisor::DeviceSession;
use crate::supervisor::sweep::{SweepEnd, SweepOrder, SweepStrategy, sweep};

/// Blocks that stay in order, so that dispatches can hold several.
const TOGETHER: usize = 64;

/// How a fingerprint is taken.
pub struct FingerprintContext<'a> {
    /// The device, as journals know it.
    pub device: &'a str,
    /// Where sums go at once.
    pub journal: Option<&'a SweepJournal>,
    /// Who is notified.
    pub course: &'a Course,
    /// How long each pass may take.
    pub budget: Option<Duration>,
}

impl FingerprintContext<'_> {
    /// Takes the fingerprint of these blocks once.
    pub fn once<'d>(
        &self,
        site: &DeviceSession<'_>,
        print: &mut Print,
        blocks: Vec<u64>,
        order: &impl Fn(Vec<u64>, SweepStrategy) -> SweepOrder<'d>,
        pass: usize,
    ) -> SweepEnd {
        let key = (self.device.to_owned(), print.domain.kernel().to_string(), pass);
        for (block, sums) in
            self.journal.and_then(|journal| journal.past.sums.get(&key)).into_iter().flatten()
        {
            if let Some(own) = print.blocks.get_mut(*block as usize) {
                *own = Some(*sums);
            }
        }
        let before = blocks.len();
        let blocks: Vec<u64> =
            blocks.into_iter().filter(|block| print.blocks[*block as usize].is_none()).collect();
        self.course.advance((before - blocks.len()) as u64 * print.domain.block());
        if blocks.is_empty() {
            return SweepEnd::default();
        }
        let deadline = self.budget.map(|budget| Instant::now() + budget);
        let order =
            order(blocks, [SweepStrategy::FIRST, SweepStrategy::OTHER, SweepStrategy::THIRD][pass]);
        let (device, journal, course) = (key.0, self.journal, self.course);
        sweep(site, order, &mut PrintLedger { device, print, pass, journal, course, deadline })
    }

    /// Takes it twice, the second time from the last blocks to the first; blocks that differ run a
    /// third time, and have the sums that two of the three gave. What was not confirmed is left
    /// out.
    pub fn twice<'d>(
        &self,
        site: &DeviceSession<'_>,
        print: &mut Print,
        blocks: Vec<u64>,
        order: &impl Fn(Vec<u64>, SweepStrategy) -> SweepOrder<'d>,
    ) -> Vec<SweepEnd> {
        let mut ended = vec![self.once(site, print, blocks, order, 0)];
        let asked = |print: &Print| print.measured().iter().collect::<Vec<u64>>();
        let mut again = Print::new(print.device.clone(), print.domain.clone());
        let backwards = asked(print).chunks(TOGETHER).rev().flatten().copied().collect();
        ended.push(self.once(site, &mut again, backwards, order, 1));
        let (_, differing) = print.compare(&again);
        let mut third = Print::new(print.device.clone(), print.domain.clone());
        if differing.count() > 0 {
            ended.push(self.once(site, &mut third, differing.iter().collect(), order, 2));
        }
        settle(print, &again, &third);
        print.unstable = differing;
        ended
    }
}

/// The sums that two of three runs gave.
fn settle(print: &mut Print, again: &Print, third: &Print) {
    for (first, (second, third)) in
        print.blocks.iter_mut().zip(again.blocks.iter().zip(&third.blocks))
    {
        *first = match (*first, *second, *third) {
            (Some(one), Some(two), _) if one == two => Some(one),
            (one, two, Some(three)) if [one, two].contains(&Some(three)) => Some(three),
            _ => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::sweep::Domain;

    use super::*;

    #[test]
    fn sums_count_that_came_twice() {
        let who =
            || serde_json::from_str(r#"{"key":"k","slot":"s","name":"n","driver":"d"}"#).unwrap();
        let print = |sums: [Option<u32>; 5]| {
            let mut print = Print::new(who(), Domain::of(&"f32.sqrt".parse().unwrap()).unwrap());
            print.blocks = sums.map(|sums| sums.map(|sum| [sum; 3])).to_vec();
            print
        };
        let mut first = print([Some(1), Some(1), Some(1), Some(1), Some(1)]);
        let again = print([Some(1), Some(2), Some(2), Some(2), None]);
        settle(&mut first, &again, &print([None, Some(1), Some(2), Some(3), None]));
        assert_eq!(first.blocks, print([Some(1), Some(1), Some(2), None, None]).blocks);
    }
}
