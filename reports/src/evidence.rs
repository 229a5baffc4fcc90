//! Lanes as evidence: what a report shows of one, with the command that runs it again.

use fpprobe_profiles::accepted::{Accepted, Set};
use fpprobe_profiles::accepts::KernelDemands;
use fpprobe_profiles::encoding::{Encoding, components};
use fpprobe_profiles::judge::LaneEvidence;
use fpprobe_profiles::{Observation, Profile};
use serde_json::Value;

use crate::failed::{self, FailedLane};
use crate::model;
use crate::values::{encode_answer, encode_case, eval_command, repeat_command};

/// A lane of what was observed.
pub(crate) fn shown(evidence: &LaneEvidence, observation: Option<&Observation>) -> model::Evidence {
    let inputs = encode_case(&evidence.kernel, &evidence.case);
    let kernel = evidence.kernel.to_string();
    model::Evidence {
        command: observation.map_or_else(
            || eval_command(&kernel, &inputs),
            |observation| repeat_command(observation, &inputs),
        ),
        kernel,
        inputs,
        out: encode_answer(&evidence.kernel, &evidence.answer),
        second: observation.and_then(|observation| {
            second(observation, observation.cases.iter().position(|case| case == evidence.case)?)
        }),
        component: failed::component(&evidence.kernel, evidence.part),
        accepts: evidence.accepted.to_json(),
    }
}

/// What the second run gave, where it is another result.
fn second(observation: &Observation, case: usize) -> Option<model::Value> {
    let width = observation.kernel.outputs();
    let again = observation.second.as_ref().filter(|_| observation.steady(case).is_none())?;
    Some(encode_answer(&observation.kernel, &again[case * width..(case + 1) * width]))
}

/// A lane by its operands and result, without anything that it is compared with.
pub(crate) fn answered(
    observation: &Observation,
    case: &[u64],
    answer: &[u64],
) -> model::AnswerEvidence {
    let inputs = encode_case(&observation.kernel, case);
    model::AnswerEvidence {
        kernel: observation.kernel.to_string(),
        command: repeat_command(observation, &inputs),
        inputs,
        out: encode_answer(&observation.kernel, answer),
    }
}

/// A lane that answered twice, differently: the other answer stands as what would have been the
/// same.
pub fn other_answer(
    observation: &Observation,
    case: &[u64],
    answer: &[u64],
    other: &[u64],
) -> model::Evidence {
    let kernel = &observation.kernel;
    let parts = components(kernel, other).into_iter().zip(Encoding::of_result(kernel));
    let evidence = LaneEvidence {
        kernel: *kernel,
        case: case.to_vec(),
        answer: answer.to_vec(),
        part: 0,
        accepted: Accepted::new(parts.map(|(bits, encoding)| Set::one(encoding, bits)).collect()),
    };
    model::Evidence { component: None, second: None, ..shown(&evidence, Some(observation)) }
}

/// A lane that was observed, with what a rule accepts of it.
pub(crate) fn of_lane(
    profiles: &[Profile],
    (profile, rule): (&str, &str),
    observation: &Observation,
    (case, part): FailedLane,
) -> model::Evidence {
    let inputs = encode_case(&observation.kernel, observation.cases.case(case));
    model::Evidence {
        kernel: observation.kernel.to_string(),
        command: repeat_command(observation, &inputs),
        inputs,
        out: encode_answer(&observation.kernel, observation.answer(case)),
        second: second(observation, case),
        component: failed::component(&observation.kernel, part),
        accepts: accepted(profiles, (profile, rule), observation, case)
            .map_or(Value::Null, |set| set.to_json()),
    }
}

/// Puts a lane before the others, once.
pub(crate) fn put_first(evidence: &mut Vec<model::Evidence>, lane: model::Evidence) {
    let is_it = |one: &model::Evidence| {
        (&one.kernel, &one.inputs, one.component) == (&lane.kernel, &lane.inputs, lane.component)
    };
    match evidence.iter().position(is_it) {
        Some(place) => evidence[..=place].rotate_right(1),
        None => evidence.insert(0, lane),
    }
}

/// What a rule accepts of a case; `None` where no such profile or rule is known.
pub(crate) fn accepted(
    profiles: &[Profile],
    (profile, rule): (&str, &str),
    observation: &Observation,
    case: usize,
) -> Option<Accepted> {
    let demands =
        KernelDemands::new(profiles.iter().filter(|one| one.id == profile), &observation.kernel);
    let look = demands.rules().iter().find(|demanding| demanding.rule.id == rule)?.look;
    demands.of(observation.cases.case(case)).into_iter().nth(look)?
}
