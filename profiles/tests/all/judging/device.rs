//! A device made of the oracle's own answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use fpprobe_profiles::accepts::KernelDemands;
use fpprobe_profiles::coverage::right;
use fpprobe_profiles::encoding::assemble;
use fpprobe_profiles::oracle::{Operand, Signature};
use fpprobe_profiles::parallel;
use fpprobe_profiles::profile;
use fpprobe_profiles::{Observation, Profile};
use fpprobe_spirv::{Cases, Kernel, cases};

/// Most cases of a kernel here, but for the boundary ones.
const MOST: usize = 1000;

/// Answers that a profile accepts: where there is a choice the ones rounded to nearest even,
/// subnormals kept, so that one direction and one treatment explain all of them, and of two zeros
/// the recommended one.
fn answers(profile: &Profile, kernel: &Kernel, cases: &Cases) -> Vec<u64> {
    let (signature, demands) = (Signature::new(kernel), KernelDemands::new([profile], kernel));
    let demand = &profile.rules_for(kernel).next().unwrap().1.demand;
    let answer = |case: &[u64]| {
        let (accepted, rules) = demands.accepts(case);
        let parts = accepted.alternatives()[0].iter().enumerate().map(|(part, set)| {
            assert!(!set.is_empty(), "{}: {rules:?} contradict on {kernel} {case:x?}", profile.id);
            right(&signature, case, part, demand, set)
        });
        assemble(kernel, &parts.collect::<Vec<u64>>())
    };
    cases.iter().flat_map(answer).collect()
}

/// The boundary cases of a kernel and an even selection of the others; all of a packed format,
/// whose rules want every code, and of words every one that holds a zero or an infinity, which the
/// word does not show.
fn fewer(kernel: &Kernel) -> Cases {
    let all = cases::cases(kernel);
    let signature = Signature::new(kernel);
    let words = kernel.params().iter().all(|shape| shape.format.float().is_none());
    let rare = |operand: &Operand| {
        operand
            .layout
            .is_some_and(|layout| layout.is_zero(operand.bits) || layout.is_infinite(operand.bits))
    };
    let hidden = |case: &&[u64]| {
        words
            && (0..signature.encodings.len())
                .any(|part| signature.operands(case, part).iter().any(rare))
    };
    if !kernel.format.channels().is_empty() || all.len() <= MOST {
        return all;
    }
    let step = all.len().div_ceil(MOST);
    let boundary = cases::boundary(kernel);
    let values: Vec<u64> = boundary
        .iter()
        .chain(all.iter().step_by(step))
        .chain(all.iter().filter(hidden))
        .flatten()
        .copied()
        .collect();
    Cases::new(format!("{}.fewer", all.name), kernel.arity(), values)
}

/// The rules of Direct3D 11 for these operations alone: a judgement of a few kernels needs no
/// other.
pub fn d3d11_of(operations: &[&str]) -> Profile {
    let mut profile = profile::built_in("d3d11").unwrap().unwrap();
    for rule in &mut profile.rules {
        rule.parts.retain(|part| operations.contains(&part.operation.as_str()));
    }
    profile.rules.retain(|rule| !rule.parts.is_empty());
    assert!(!profile.rules.is_empty());
    profile
}

pub fn device(profile: &Profile) -> Vec<Observation> {
    // Several tests want that of each built-in profile.
    static KNOWN: Mutex<BTreeMap<String, Arc<OnceLock<Vec<Observation>>>>> =
        Mutex::new(BTreeMap::new());
    if profile::built_in(&profile.id)
        .is_none_or(|own| own.unwrap().rules.len() != profile.rules.len())
    {
        return measured(profile, fewer);
    }
    let known = Arc::clone(KNOWN.lock().unwrap().entry(profile.id.clone()).or_default());
    known.get_or_init(|| measured(profile, fewer)).clone()
}

/// A device of the oracle's answers to these cases.
pub fn measured(profile: &Profile, cases: fn(&Kernel) -> Cases) -> Vec<Observation> {
    parallel::map(&profile.kernels(), |kernel| {
        let cases = cases(kernel);
        let out = answers(profile, kernel, &cases);
        Observation::ran(*kernel, cases, out.into())
    })
}

/// The same answers under other controls.
pub fn under(device: &[Observation], controls: &str) -> Vec<Observation> {
    let controls = controls.parse().unwrap();
    device
        .iter()
        .map(|o| Observation { kernel: o.kernel.with_controls(controls), ..o.clone() })
        .collect()
}
