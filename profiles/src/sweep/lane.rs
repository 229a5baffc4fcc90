//! What the oracle says of one result by itself.

use smallvec::SmallVec;

use super::statistics::parts;
use super::{Verifier, exponent};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::filter::reach::is_unstated;
use crate::filter::tolerance;
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

    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.profile, self.of.id)
    }
}

/// What a rule says of a result; `None` where it demands nothing: it does not look at the operands,
/// or accepts any result.
pub(super) type RuleDecision = Option<bool>;

/// What the rules say.
pub(super) type RuleVerdicts = SmallVec<[RuleDecision; 8]>;

/// Whether some rule demands something.
pub(super) fn is_judged(says: &[RuleDecision]) -> bool {
    says.iter().any(Option::is_some)
}

impl Verifier {
    /// What the rules say of a result, and whether one that looks bounds its error.
    pub(super) fn says(&self, case: &[u64], result: u32) -> (RuleVerdicts, bool) {
        let operands = self.signature.operands(case, 0);
        let encoding = self.encoding();
        let mut says = RuleVerdicts::new();
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

    /// What all of some rules accept.
    pub(super) fn accepted_by(&self, case: &[u64], rules: &[&SweepRule]) -> Set {
        let (encoding, operands) = (self.encoding(), self.signature.operands(case, 0));
        let demands = rules.iter().flat_map(|rule| rule.looking(encoding, &operands));
        let sets = demands.map(|demand| self.signature.accepted_part(case, 0, demand));
        sets.fold(Set::everything(encoding), |all, set| all.and(&set))
    }

    /// The error of a result in parts of an ulp; `None` where it is not measured, see
    /// [`SweepStatistics::histogram`].
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
        Accuracy::Inherited(inherited) if x != 0.0 => {
            is_unstated(inherited, Interval::point(x), layout) != Some(true)
        }
        accuracy => tolerance::bounds_error(accuracy, x),
    }
}
