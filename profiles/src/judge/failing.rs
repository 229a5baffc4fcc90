//! The lanes that count for a rule.

use fpprobe_spirv::{Cases, Kernel};

use super::RuleVerdict;
use super::lane::LaneIndex;
use crate::observation::Observation;

/// Lanes of one kernel's results that count for a rule.
#[derive(Clone, PartialEq, Debug)]
pub struct FailingLanes {
    /// The kernel.
    pub kernel: Kernel,
    cases: Cases,
    /// Numbers of case and part.
    lanes: Vec<[u32; 2]>,
}

impl FailingLanes {
    /// None yet of these results.
    pub(super) fn of(observation: &Observation) -> FailingLanes {
        let (kernel, cases) = (observation.kernel, observation.cases.clone());
        FailingLanes { kernel, cases, lanes: Vec::new() }
    }

    pub(super) fn push(&mut self, (case, part): LaneIndex) {
        self.lanes.push([case as u32, part as u32]);
    }

    /// Of each lane the operands and the part of the result, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u64], usize)> + Clone {
        self.lanes.iter().map(|[case, part]| (self.cases.case(*case as usize), *part as usize))
    }
}

impl RuleVerdict {
    /// Of each lane that counts the kernel, the operands and the part of the result, in their
    /// order.
    pub fn failing_lanes(&self) -> impl Iterator<Item = (&Kernel, &[u64], usize)> + Clone {
        self.failing_lists
            .iter()
            .flat_map(|list| list.iter().map(|(case, part)| (&list.kernel, case, part)))
    }
}
