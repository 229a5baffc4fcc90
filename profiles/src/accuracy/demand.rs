//! What a profile demands of one operation: the question that the oracle answers.

use fpprobe_spirv::op::Function;

use super::Accuracy;
use crate::environment::{Environment, Subnormals, Ulp};

/// What a profile demands of one operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Demand {
    /// The function computed.
    pub function: Function,
    /// Environment of the operands' format.
    pub operands: Environment,
    /// Environment of the result's format.
    pub results: Environment,
    /// How close the result must be.
    pub accuracy: Accuracy,
    /// Which ulp.
    pub ulp: Ulp,
}

impl Demand {
    /// Whether -0 is no result, whatever the operands.
    pub fn has_no_sign(&self) -> bool {
        matches!(&self.accuracy, Accuracy::Inherited(inherited) if inherited.has_no_sign())
    }

    /// The same where every subnormal, operand or result, is treated so.
    #[must_use]
    pub fn with_subnormals(mut self, treated: Subnormals) -> Demand {
        for environment in [&mut self.operands, &mut self.results] {
            (environment.subnormal_inputs, environment.subnormal_results) = (treated, treated);
        }
        self
    }
}
