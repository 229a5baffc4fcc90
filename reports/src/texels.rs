//! What becomes of numbers and texels, format by format and path by path.

use foldhash::HashMap;
use fpprobe_profiles::judge::{Judge, Judgement};
use fpprobe_profiles::observed_behaviour::{Aspect, BehaviourScan, ObservedBehaviour};
use fpprobe_profiles::{Observation, parallel};
use fpprobe_spirv::Kernel;
use fpprobe_spirv::op::Function;

use crate::model::TexelPath;

/// What a conversion to a texel chooses, and what one from a texel.
const WRITTEN: &[Aspect] =
    &[Aspect::Rounding, Aspect::Overflow, Aspect::SubnormalResults, Aspect::Infinity, Aspect::Nan];
const READ: &[Aspect] =
    &[Aspect::Rounding, Aspect::SubnormalOperands, Aspect::Infinity, Aspect::Nan];

/// A row for every kernel of texels that was asked without controls, in the order of the
/// observations.
pub fn paths(
    judges: &[Judge<'_>],
    judgements: &[Judgement],
    observations: &[Observation],
) -> Vec<TexelPath> {
    let plain = |kernel: &Kernel| kernel.op.code.is_of_texels() && kernel.controls.is_empty();
    let selected: Vec<&Observation> =
        observations.iter().filter(|observation| plain(&observation.kernel)).collect();
    let first: Vec<usize> = firsts(&selected);
    let behaviours = parallel::map(&(0..selected.len()).collect::<Vec<_>>(), |place| {
        if first[*place] == *place { behaviour(selected[*place]) } else { String::new() }
    });
    let row = |(observation, first): (&&Observation, &usize)| TexelPath {
        kernel: observation.kernel.to_string(),
        outcome: observation.outcome,
        values: observation.cases.len(),
        behaviour: behaviours[*first].clone(),
        deviates: deviates(judges, judgements, &observation.kernel),
    };
    selected.iter().zip(&first).map(row).collect()
}

/// For each observation the first one that asked the same of the same format and was answered the
/// same, by whatever path.
fn firsts(selected: &[&Observation]) -> Vec<usize> {
    let mut places: HashMap<_, Vec<usize>> = HashMap::default();
    let first = |(place, one): (usize, &&Observation)| {
        let known = places.entry((one.kernel.format, one.kernel.op.name)).or_default();
        let alike = |other: &&usize| {
            let other = selected[**other];
            (other.outcome, &other.cases, &other.out) == (one.outcome, &one.cases, &one.out)
        };
        let first = known.iter().find(alike).copied();
        first.unwrap_or_else(|| {
            known.push(place);
            place
        })
    };
    selected.iter().enumerate().map(first).collect()
}

/// The ways that a conversion goes, each respect in its own; channels apart where they differ.
fn behaviour(observation: &Observation) -> String {
    let ran = observation.outcome.answered();
    let chosen = match observation.kernel.op.function {
        Function::Store | Function::Add => WRITTEN,
        Function::Load | Function::Move => READ,
        _ => &[],
    };
    if !ran {
        return String::new();
    }
    let channels = observation.kernel.format.channels();
    let scan = BehaviourScan::new(observation);
    let respects = chosen.iter().filter_map(|aspect| {
        let seen = scan.behaviours(*aspect);
        let text = channels.iter().zip(&seen).filter_map(|(channel, behaviour)| {
            Some((channel.name, way(behaviour.as_ref()?, *aspect)?))
        });
        let text: Vec<(char, String)> = text.collect();
        let (_, first) = text.first()?;
        if text.iter().all(|(_, way)| way == first) {
            return Some(first.clone());
        }
        Some(text.iter().map(|(name, way)| format!("{name} {way}")).collect::<Vec<_>>().join(", "))
    });
    respects.collect::<Vec<_>>().join("; ")
}

/// The way that every lane went, or the several that lanes went, the most frequent first.
fn way(behaviour: &ObservedBehaviour, aspect: Aspect) -> Option<String> {
    if let Some(way) = behaviour.way {
        return Some(way.to_owned());
    }
    let mut ways: Vec<_> = behaviour.ways.iter().filter(|(_, count)| *count > 0).collect();
    ways.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let text: Vec<String> = ways.iter().map(|(way, count)| format!("{way} in {count}")).collect();
    match text.as_slice() {
        [] => (behaviour.lanes > 0).then(|| aspect.mixed().to_owned()),
        text => Some(format!("mixed: of {} {}", behaviour.lanes, text.join(", "))),
    }
}

/// Rules that the kernel does not meet, as `profile/rule`.
fn deviates(judges: &[Judge<'_>], judgements: &[Judgement], kernel: &Kernel) -> Vec<String> {
    let judged = judges.iter().map(Judge::profile).zip(judgements);
    let rules = judged
        .flat_map(|(profile, judgement)| judgement.rules.iter().map(move |rule| (profile, rule)));
    let failing = rules.filter(|(_, rule)| rule.deviating.contains(kernel));
    failing.map(|(profile, rule)| format!("{}/{}", profile.id, rule.id)).collect()
}
