//! Lanes as evidence: what a report shows of one, with the command that runs it again.

use fpprobe_profiles::Observation;
use fpprobe_profiles::judge::LaneEvidence;

use crate::failed;
use crate::model;
use crate::values::{encode_answer, encode_case, eval_command, repeat_command};

/// A lane of what was observed.
pub(crate) fn shown(evidence: &LaneEvidence, observation: Option<&Observation>) -> model::Evidence {
    let inputs = encode_case(&evidence.kernel, &evidence.case);
    let kernel = evidence.kernel.to_string();
    model::Evidence {
        command: observation
            .map_or_else(|| eval_command(&kernel, &inputs), |observation| repeat_command(observation, &inputs)),
        kernel,
        inputs,
        out: encode_answer(&evidence.kernel, &evidence.answer),
        component: failed::component(&evidence.kernel, evidence.part),
        accepts: evidence.accepted.to_json(),
    }
}
