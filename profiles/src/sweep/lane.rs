//! One result by itself, judged by the oracle.

use smallvec::SmallVec;

use super::kind::Work;
use super::reach::is_unstated;
use super::statistics::{InputRun, SweepStatistics, Worst, parts};
use super::sum::CountSum;
use super::{EncodingClass, Verifier, exponent, tolerance};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::interval::Interval;
use crate::oracle::{self, Demand, Operand, Operands};
use crate::profile;

/// A rule of a profile, with what it demands of the kernel.
#[derive(Clone, Debug)]
pub(super) struct SweepRule {
    /// The profile's id.
    pub(super) profile: String,
    pub(super) of: profile::Rule,
    /// One demand for each of the profile's operations that the kernel implements.
    pub(super) demands: Vec<Demand>,
}

impl SweepRule {
    /// The demands that look at these operands.
    pub(super) fn looking<'a>(
        &'a self,
        encoding: Encoding,
        operands: &'a Operands,
    ) -> impl Iterator<Item = &'a Demand> + 'a {
        self.demands.iter().filter(move |demand| self.of.selects(encoding, operands, demand))
    }

    fn name(&self) -> String {
        format!("{}/{}", self.profile, self.of.id)
    }
}

/// What a rule says of a result; `None` where it demands nothing: it does not look at the operands, or accepts any result.
pub(super) type RuleDecision = Option<bool>;

/// Whether some rule demands something.
pub(super) fn is_judged(says: &[RuleDecision]) -> bool {
    says.iter().any(Option::is_some)
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

    /// What the rules say of a result, and whether one that looks bounds its error.
    pub(super) fn says(&self, case: &[u64], result: u32) -> (SmallVec<[RuleDecision; 8]>, bool) {
        let operands = self.signature.operands(case, 0);
        let encoding = self.encoding();
        let mut says: SmallVec<[RuleDecision; 8]> = SmallVec::new();
        let mut bounded = false;
        for rule in &self.rules {
            let mut accepts = None;
            for demand in rule.looking(encoding, &operands) {
                bounded |= bounds_error(demand, &operands);
                let set = self.signature.accepted_part(case, 0, demand);
                let holds = set.contains(u64::from(result));
                // A word that is no result is refused whatever is accepted.
                if !holds || !set.is_everything() {
                    accepts = Some(accepts.unwrap_or(true) && holds);
                }
            }
            says.push(accepts);
        }
        (says, bounded)
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
        sum.classify(operands, EncodingClass::of_result(self.encoding(), u64::from(result), only), 1);
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
            let against: Vec<&SweepRule> =
                self.rules.iter().zip(says).filter(|(_, says)| **says == Some(false)).map(|(rule, _)| rule).collect();
            InputRun {
                first: input,
                length,
                result,
                accepted: self.accepted_by(case, &against).to_json(),
                rules: against.iter().map(|rule| rule.name()).collect(),
            }
        });
    }

    /// What all of some rules accept.
    fn accepted_by(&self, case: &[u64], rules: &[&SweepRule]) -> Set {
        let (encoding, operands) = (self.encoding(), self.signature.operands(case, 0));
        let demands = rules.iter().flat_map(|rule| rule.looking(encoding, &operands));
        let sets = demands.map(|demand| self.signature.accepted_part(case, 0, demand));
        sets.fold(Set::everything(encoding), |all, set| all.and(&set))
    }

    /// The error of a result in parts of an ulp; `None` where it is not measured, see [`SweepStatistics::histogram`].
    pub(super) fn error(&self, operands: &Operands, result: u32) -> Option<u64> {
        let Encoding::Float(layout) = self.encoding() else { return None };
        let result = Operand { layout: Some(layout), bits: u64::from(result) };
        let ulps = oracle::error_in_ulps(self.signature.kernel.op.function, operands, result)?;
        Some(parts(ulps))
    }

    /// Encoding of the result.
    pub(super) fn encoding(&self) -> Encoding {
        self.signature.encodings[0]
    }

    pub(super) fn exponent(&self, case: &[u64]) -> u64 {
        exponent(self.fields[0].0, case[0])
    }
}

/// Whether a demand bounds the error of a result of these operands, if they are numbers.
fn bounds_error(demand: &Demand, operands: &Operands) -> bool {
    let Some(layout) = operands.iter().find_map(|operand| operand.layout) else {
        return demand.accuracy != Accuracy::Undefined;
    };
    let values = oracle::points(operands);
    if !demand.accuracy.is_stated(&values, layout) {
        return false;
    }
    let x = operands.first().map_or(0.0, |operand| operand.double());
    match demand.accuracy.at(&values) {
        Accuracy::Inherited(inherited) if x != 0.0 => is_unstated(inherited, Interval::point(x), layout) != Some(true),
        accuracy => tolerance::bounds_error(accuracy, x),
    }
}
