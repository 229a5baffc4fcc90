//! What is counted for many results, before it goes to the statistics.

use super::lane::{RuleDecision, SweepRule, is_judged};
use super::statistics::{RuleCount, bin};
use super::{EncodingClass, SweepStatistics};

/// Counts that are kept by number; names come when they go to the statistics.
pub(super) struct CountSum {
    counts: Vec<RuleCount>,
    /// By the classes of the first and the second operand (of one, [`EncodingClass::Other`]) and
    /// of the result.
    classes: Vec<u64>,
    /// By [`bin`].
    histogram: Vec<(u64, u64)>,
    inputs: u64,
    judged: u64,
    deviating: u64,
    /// Number of operands.
    operands: usize,
}

impl CountSum {
    pub(super) fn new(rules: usize, operands: usize) -> CountSum {
        let classes = vec![0; EncodingClass::ALL.len().pow(3)];
        CountSum {
            counts: vec![RuleCount::default(); rules],
            classes,
            histogram: Vec::new(),
            inputs: 0,
            judged: 0,
            deviating: 0,
            operands,
        }
    }

    /// Adds N results of these classes.
    pub(super) fn classify(
        &mut self,
        operands: [EncodingClass; 2],
        result: EncodingClass,
        count: u64,
    ) {
        self.inputs += count;
        let digits = [operands[0], operands[1], result].map(|class| class as usize);
        self.classes[digits
            .into_iter()
            .fold(0, |place, digit| place * EncodingClass::ALL.len() + digit)] += count;
    }

    /// Adds what the rules say of N results.
    pub(super) fn says(&mut self, says: &[RuleDecision], results: u64) {
        self.judged += if is_judged(says) { results } else { 0 };
        self.deviating += if says.contains(&Some(false)) { results } else { 0 };
        for (count, says) in self.counts.iter_mut().zip(says) {
            match says {
                Some(true) => count.accepted += results,
                Some(false) => count.deviating += results,
                None => {}
            }
        }
    }

    /// Adds N errors of M parts of an ulp.
    pub(super) fn errors(&mut self, parts: u64, count: u64) {
        let bin = bin(parts);
        match self.histogram.iter_mut().find(|(from, _)| *from == bin) {
            Some((_, known)) => *known += count,
            None => self.histogram.push((bin, count)),
        }
    }

    /// Hands everything over.
    pub(super) fn add_to(self, rules: &[SweepRule], statistics: &mut SweepStatistics) {
        statistics.inputs += self.inputs;
        statistics.judged += self.judged;
        statistics.accepted += self.judged - self.deviating;
        statistics.vacuous += self.inputs - self.judged;
        for (rule, count) in
            rules.iter().zip(self.counts).filter(|(_, count)| *count != RuleCount::default())
        {
            statistics.count(&rule.profile, &rule.of.id, count);
        }
        for (bin, count) in self.histogram.into_iter().filter(|(_, count)| *count > 0) {
            *statistics.histogram.entry(bin).or_default() += count;
        }
        let all = EncodingClass::ALL.len();
        for (place, count) in self.classes.iter().enumerate().filter(|(_, count)| **count > 0) {
            let [first, second, result] = [place / all / all, place / all % all, place % all]
                .map(|at| EncodingClass::ALL[at]);
            let operands: Vec<String> = [first, second][..self.operands.min(2)]
                .iter()
                .map(EncodingClass::to_string)
                .collect();
            let results = statistics.classes.entry(operands.join(", ")).or_default();
            *results.entry(result.to_string()).or_default() += count;
        }
    }
}
