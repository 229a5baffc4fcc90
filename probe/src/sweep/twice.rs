//! Fingerprints are taken twice, with other local sizes and orders: a digest counts that came
//! again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fpprobe_reports::sweep::Print;

use super::journal::SweepJournal;
use super::print::PrintLedger;
use super::progress::Course;
use crate::supervisor::DeviceSession;
use crate::supervisor::sweep::{SweepEnd, SweepOrder, SweepStrategy, sweep};

/// Bundles that stay in order, so that dispatches can hold several.
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
    /// Takes the fingerprint of these bundles of blocks once.
    pub fn once<'d>(
        &self,
        site: &DeviceSession<'_>,
        print: &mut Print,
        bundles: Vec<u64>,
        order: &impl Fn(Vec<u64>, SweepStrategy) -> SweepOrder<'d>,
        pass: usize,
    ) -> SweepEnd {
        let key = (self.device.to_owned(), print.domain.kernel().to_string(), pass);
        let past = self.journal.and_then(|journal| journal.past.sums.get(&key));
        let is_of_domain = |(bundle, _): &(&u64, _)| **bundle < print.domain.bundles();
        let known: Vec<(u64, [u32; 3])> = past
            .into_iter()
            .flatten()
            .filter(is_of_domain)
            .map(|(bundle, sums)| (*bundle, *sums))
            .collect();
        print.bundles.extend(known);
        let before = bundles.len();
        let bundles: Vec<u64> =
            bundles.into_iter().filter(|bundle| !print.bundles.contains_key(bundle)).collect();
        let inputs = print.domain.block() * print.domain.bundle();
        self.course.advance((before - bundles.len()) as u64 * inputs);
        if bundles.is_empty() {
            return SweepEnd::default();
        }
        let deadline = self.budget.map(|budget| Instant::now() + budget);
        let ways = [SweepStrategy::FIRST, SweepStrategy::OTHER, SweepStrategy::THIRD];
        let order = order(bundles, ways[pass]);
        let (device, journal, course) = (key.0, self.journal, self.course);
        let open = BTreeMap::new();
        let mut ledger = PrintLedger { device, print, pass, journal, course, deadline, open };
        sweep(site, order, &mut ledger)
    }

    /// Takes it twice, the second time from the last bundles to the first; those that differ run a
    /// third time, and have the sums that two of the three gave. What was not confirmed is left
    /// out.
    pub fn twice<'d>(
        &self,
        site: &DeviceSession<'_>,
        print: &mut Print,
        bundles: Vec<u64>,
        order: &impl Fn(Vec<u64>, SweepStrategy) -> SweepOrder<'d>,
    ) -> Vec<SweepEnd> {
        let mut ended = vec![self.once(site, print, bundles, order, 0)];
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
    print.bundles.retain(|bundle, one| {
        let (two, three) = (again.bundles.get(bundle), third.bundles.get(bundle));
        match three {
            _ if two == Some(one) => true,
            Some(three) if *three == *one || two == Some(three) => {
                *one = *three;
                true
            }
            _ => false,
        }
    });
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
            let sums = (0..).zip(sums);
            print.bundles = sums.filter_map(|(bundle, sum)| Some((bundle, [sum?; 3]))).collect();
            print
        };
        let mut first = print([Some(1), Some(1), Some(1), Some(1), Some(1)]);
        let again = print([Some(1), Some(2), Some(2), Some(2), None]);
        settle(&mut first, &again, &print([None, Some(1), Some(2), Some(3), None]));
        assert_eq!(first.bundles, print([Some(1), Some(1), Some(2), None, None]).bundles);
    }
}
