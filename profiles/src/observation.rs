//! An observation: what one kernel answered on one device.

use std::fmt;
use std::sync::Arc;

use fpprobe_spirv::{Cases, Kernel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the measurement of a kernel ended.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran, twice, with the same answers.
    Ran,
    /// The device lacks something; the detail names it.
    Unsupported,
    /// A Vulkan call failed; the detail names call and result.
    Rejected,
    /// The poison is still in the result.
    NotWritten,
    /// Two runs differ; both answers are kept.
    Flaky,
    /// The worker died, or its memory was overwritten.
    Crashed,
    /// The worker did not answer in time.
    Hung,
    /// `VK_ERROR_DEVICE_LOST`.
    DeviceLost,
    /// `VK_ERROR_OUT_OF_HOST_MEMORY` or `VK_ERROR_OUT_OF_DEVICE_MEMORY`.
    OutOfMemory,
}

impl Outcome {
    /// Whether there are answers.
    pub const fn answered(self) -> bool {
        matches!(self, Outcome::Ran | Outcome::Flaky)
    }

    /// Whether a kernel that the device claims to support did not run.
    pub const fn is_failure(self) -> bool {
        !self.answered() && !matches!(self, Outcome::Unsupported)
    }
}

/// Its name in a report.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// What one kernel answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    /// The kernel.
    pub kernel: Kernel,
    /// What it was asked.
    pub cases: Cases,
    /// How it ended.
    pub outcome: Outcome,
    /// What else there is to say: the missing feature, the call and its result, the signal.
    pub detail: String,
    /// The answers of the first run: `kernel.outputs()` values per case; empty unless `ran` or
    /// `flaky`.
    pub out: Arc<[u64]>,
    /// For `flaky`, the answers of the second run, same layout.
    pub second: Option<Arc<[u64]>>,
}

impl Observation {
    /// Of a kernel that ran, with the same results each time.
    pub fn ran(kernel: Kernel, cases: Cases, out: Arc<[u64]>) -> Observation {
        let (outcome, detail) = (Outcome::Ran, String::new());
        Observation { kernel, cases, outcome, detail, out, second: None }
    }

    /// The answer to one case: its components.
    pub fn answer(&self, case: usize) -> &[u64] {
        let width = self.kernel.outputs();
        &self.out[case * width..(case + 1) * width]
    }

    /// The answers of each run, laid out alike: one list, or two where they differ.
    pub fn runs(&self) -> impl Iterator<Item = &[u64]> {
        [Some(&*self.out), self.second.as_deref()].into_iter().flatten()
    }

    /// The answer to one case, if no run gave another.
    pub fn steady(&self, case: usize) -> Option<&[u64]> {
        let answer = self.answer(case);
        let width = answer.len();
        let again = self.second.as_ref().map(|second| &second[case * width..(case + 1) * width]);
        again.is_none_or(|again| again == answer).then_some(answer)
    }
}
