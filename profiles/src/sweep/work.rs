//! Results that are counted: one by itself, or several of which the same is said.

use pulp::Arch;

use super::lane::{RuleDecision, RuleVerdicts, SweepRule, is_judged};
use super::native::Fill;
use super::statistics::{InputRun, SweepStatistics, Worst};
use super::sum::CountSum;
use super::{EncodingClass, Verifier};
use crate::encoding::Encoding;

/// Inputs of the longest span.
pub(super) const SPAN: usize = 4096;

/// Results that are being judged, and where what is found goes.
pub(super) struct Work<'a> {
    pub(super) sum: &'a mut CountSum,
    pub(super) statistics: &'a mut SweepStatistics,
    pub(super) distances: Vec<f64>,
    /// Whether the results are the host's own.
    pub(super) own: bool,
    /// The host's results.
    words: Vec<u32>,
}

impl Work<'_> {
    /// Whether results are the host's.
    pub(super) fn are_own(&mut self, arch: Arch, fill: Fill, first: u64, results: &[u32]) -> bool {
        let words = &mut self.words[..results.len()];
        self.own || {
            fill(arch, first as u32, words);
            words == results
        }
    }

    /// Takes what the rules say of N results of inputs from the first to the last, all of one
    /// exponent.
    pub(super) fn says(
        &mut self,
        exponent: u64,
        inputs: [u64; 2],
        says: &[RuleDecision],
        results: u64,
    ) {
        self.sum.says(says, results);
        if is_judged(says) {
            self.statistics.exponents.entry(exponent).or_default().judge(Some(inputs), results);
        }
    }
}

impl<'a> Work<'a> {
    pub(super) fn new(sum: &'a mut CountSum, statistics: &'a mut SweepStatistics) -> Work<'a> {
        Work { sum, statistics, distances: vec![0.0; SPAN], own: false, words: vec![0; SPAN] }
    }
}

impl Verifier {
    /// Judges one result.
    pub(super) fn one(&self, input: u64, result: u32, work: &mut Work<'_>) {
        let case = self.case(input);
        let (says, bounded) = self.says(&case, result);
        self.classify(&case, result, work.sum);
        work.says(self.exponent(&case), [input, input], &says, 1);
        if says.contains(&Some(false)) {
            self.deviation([input, 1], &case, result, &says, work.statistics);
        }
        if bounded && let Some(parts) = self.error(&self.signature.operands(&case, 0), result) {
            work.sum.errors(parts, 1);
            let exponent = work.statistics.exponents.entry(self.exponent(&case)).or_default();
            exponent.see(Some(Worst { input, result, parts }));
        }
    }

    /// Adds a result to its classes.
    fn classify(&self, case: &[u64], result: u32, sum: &mut CountSum) {
        let mut operands = [EncodingClass::Other; 2];
        for (class, ((format, _), bits)) in operands.iter_mut().zip(self.fields.iter().zip(case)) {
            *class = EncodingClass::of(Encoding::of(*format), *bits);
        }
        let only = match (&self.fields[..], case) {
            ([(format, _)], [bits]) => format.float().map(|layout| (layout, *bits)),
            _ => None,
        };
        sum.classify(
            operands,
            EncodingClass::of_result(self.encoding(), u64::from(result), only),
            1,
        );
    }

    /// Adds deviating results: the first input, and how many.
    pub(super) fn deviation(
        &self,
        [input, length]: [u64; 2],
        case: &[u64],
        result: u32,
        says: &[RuleDecision],
        statistics: &mut SweepStatistics,
    ) {
        statistics.deviates(self.exponent(case), input, length, || {
            let against: Vec<&SweepRule> = self
                .rules
                .iter()
                .zip(says)
                .filter(|(_, says)| **says == Some(false))
                .map(|(rule, _)| rule)
                .collect();
            InputRun {
                first: input,
                length,
                result,
                accepted: self.accepted_by(case, &against).to_json(),
                rules: against.iter().map(|rule| rule.name()).collect(),
            }
        });
    }

    /// Takes a result that consecutive inputs of a kind have, the first of them and how many: what
    /// is said of it counts for all. Where that is not known each is judged by itself.
    pub(super) fn alike(
        &self,
        [input, length]: [u64; 2],
        result: u32,
        says: Option<RuleVerdicts>,
        work: &mut Work<'_>,
    ) {
        let Some(says) = says else {
            return (input..input + length).for_each(|input| self.one(input, result, work));
        };
        work.sum.classify(
            [self.class(input), EncodingClass::Other],
            self.class_of_result(input, result),
            length,
        );
        work.says(self.exponent(&[input]), [input, input + length - 1], &says, length);
        if says.contains(&Some(false)) {
            self.deviation([input, length], &[input], result, &says, work.statistics);
        }
    }

    /// Class of a single operand.
    pub(super) fn class(&self, input: u64) -> EncodingClass {
        EncodingClass::of(Encoding::of(self.fields[0].0), input)
    }

    /// Class of a result of a single operand.
    pub(super) fn class_of_result(&self, input: u64, result: u32) -> EncodingClass {
        let operand = self.fields[0].0.float().map(|layout| (layout, input));
        EncodingClass::of_result(self.encoding(), u64::from(result), operand)
    }
}
