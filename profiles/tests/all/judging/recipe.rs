//! Which controls and lowerings a device needs.

use std::collections::HashSet;
use std::sync::Arc;

use fpprobe_profiles::judge::{Judge, Observations, RecipeTrial};
use fpprobe_profiles::profile;
use fpprobe_profiles::profile::Part;
use fpprobe_profiles::{Class, Observation, Outcome, Profile};
use fpprobe_spirv::{Cases, Controls, Kernel};

use super::device::{d3d11_of, device, under};

/// Equal answers to other inputs are another finding, not one that was made before.
#[test]
fn what_was_found_of_other_inputs_is_not_reused() {
    let profile =
        Profile { modes: vec!["szin32".parse().unwrap()], ..d3d11_of(&["add", "mul", "sqrt"]) };
    let good = device(&profile);
    // Under szin32 the same bits are the answers to inputs that no rule on numbers looks at.
    let mut all = good.clone();
    for observation in under(&good, "szin32").into_iter().filter(|o| !o.kernel.route.is_command()) {
        let nan = observation.kernel.params()[0].format.mask();
        let arity = observation.kernel.arity();
        let cases = Cases::new("", arity, vec![nan; arity * observation.cases.len()]);
        all.push(Observation { cases, ..observation });
    }
    // A wrong answer, so that the empty recipe fails and evidence is gathered under both.
    let (first, second) = all.split_at_mut(good.len());
    for (mul, again) in
        first.iter_mut().zip(second).filter(|(o, _)| o.kernel.to_string() == "f32.fmul")
    {
        let out: Arc<[u64]> = mul.out.iter().map(|bits| bits ^ 1).collect();
        (mul.out, again.out) = (Arc::clone(&out), out);
    }
    let carried = |o: &&Observation| !o.kernel.controls.is_empty() || o.kernel.route.is_command();
    let alone: Vec<Observation> = all.iter().filter(carried).cloned().collect();
    let plain = |observations: &[Observation]| -> Vec<Observation> { under(observations, "") };
    let together = Judge::new(&profile).judge(&Observations::new(&all));
    let tried = together.tried.iter().find(|tried| !tried.recipe.controls.is_empty()).unwrap();
    let apart = Judge::new(&profile).judge(&Observations::new(&plain(&alone)));
    let unmet = |tried: &RecipeTrial| {
        tried.failing.iter().chain(&tried.unmeasured).cloned().collect::<HashSet<_>>()
    };
    assert_eq!(unmet(tried), unmet(&apart.tried[0]));
}

/// A device whose f32 multiplication keeps subnormals.
fn keeping(device: &[Observation]) -> Vec<Observation> {
    let mut device = device.to_vec();
    let mul = device.iter_mut().find(|o| o.kernel.to_string() == "f32.fmul").unwrap();
    let product = |case: &[u64]| {
        let [x, y] = [case[0], case[1]].map(|bits| f32::from_bits(bits as u32));
        (x.is_subnormal() && (x * y).is_normal()).then_some((x * y).to_bits())
    };
    let (case, kept) = mul
        .cases
        .iter()
        .enumerate()
        .find_map(|(index, case)| Some((index, product(case)?)))
        .unwrap();
    let mut out = mul.out.to_vec();
    out[case] = u64::from(kept);
    mul.out = out.into();
    device
}

#[test]
fn the_recipe_is_the_least_that_meets_every_required_rule() {
    let profile = d3d11_of(&["min", "mul", "sqrt"]);
    let good = device(&profile);
    let judge = Judge::new(&profile);
    let needs = |observations: &[Observation]| {
        let judgement = judge.judge(&Observations::new(observations));
        (judgement.class, judgement.recipe.needs().join(" "))
    };
    // Subnormals are kept by default and under szin32, flushed wherever ftz32 is requested.
    let mut device = keeping(&good);
    device.extend(under(&keeping(&good), "szin32"));
    device.extend(under(&good, "ftz32"));
    device.extend(under(&good, "szin32,ftz32"));
    assert_eq!(needs(&device), (Class::ConformsWith, "ftz32".to_owned()));
    // What is offered for some kernels only is not offered.
    device.iter_mut().filter(|o| o.kernel.to_string() == "f32.sqrt:controls=ftz32").for_each(|o| {
        o.outcome = Outcome::Unsupported;
    });
    assert_eq!(needs(&device).1, "ftz32,szin32".replace(',', " "));
    // NMin returns the NaN, FMin the number: another lowering, no control.
    let mut device = good.clone();
    let min = device.iter_mut().find(|o| o.kernel.to_string() == "f32.nmin").unwrap();
    let case = min
        .cases
        .iter()
        .position(|case| case[0] == 0x7fc0_0000 && f32::from_bits(case[1] as u32).is_normal())
        .unwrap();
    let mut out = min.out.to_vec();
    out[case] = 0x7fc00000;
    min.out = out.into();
    assert_eq!(needs(&device), (Class::ConformsWith, "min=f32.fmin".to_owned()));
    // Both: one control beats none only where no lowering does.
    let both: Vec<Observation> =
        keeping(&device).into_iter().chain(under(&device, "ftz32")).collect();
    assert_eq!(needs(&both), (Class::ConformsWith, "ftz32 min=f32.fmin".to_owned()));
    // Neither helps: the device deviates, and its rules are those without any recipe.
    assert_eq!(needs(&keeping(&good)), (Class::Deviates, String::new()));
}

/// What fails without a control on an input that the control's list leaves out may fail under it as
/// well.
#[test]
fn a_shorter_list_shows_no_remedy() {
    let profile = d3d11_of(&["add", "sqrt"]);
    let good = device(&profile);
    let root = good.iter().position(|o| o.kernel.to_string() == "f32.sqrt").unwrap();
    let at = good[root].cases.iter().position(|case| case == [0x4080_0000]).unwrap();
    let mut wrong = good[root].out.to_vec();
    wrong[at] += 8;
    let mut device = good.clone();
    device[root].out = wrong.into();
    let under = under(&good, "szin32");
    let class = |under: Vec<Observation>| {
        let all: Vec<Observation> = device.iter().cloned().chain(under).collect();
        Judge::new(&profile).judge(&Observations::new(&all)).class
    };
    assert_eq!(class(under.clone()), Class::ConformsWith);
    let mut shorter = under;
    let (cases, out) = (&good[root].cases, &good[root].out);
    let kept: Vec<usize> = (0..cases.len()).filter(|case| *case != at).collect();
    let values: Vec<u64> = kept.iter().flat_map(|case| cases.case(*case)).copied().collect();
    shorter[root].cases = Cases::new("shorter", 1, values);
    shorter[root].out = kept.iter().map(|case| out[*case]).collect();
    assert_eq!(class(shorter), Class::Deviates);
}

/// Texels are asked under further controls where nothing else keeps a recipe from being enough, and
/// not before.
#[test]
fn texels_wait_for_everything_else() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let good = device(&profile);
    let judge = Judge::new(&profile);
    let flushing = under(&good, "ftz32");
    let waits: HashSet<Kernel> = {
        let parts = profile.rules.iter().flat_map(|rule| &rule.parts).filter(|part| part.waits());
        parts.map(|part| part.kernel(0, "ftz32".parse().unwrap())).collect()
    };
    assert!(!waits.is_empty());
    let mut device = keeping(&good);
    device.extend(flushing.iter().filter(|o| !waits.contains(&o.kernel)).cloned());
    let under_ftz32 = |device: &[Observation]| {
        let judgement = judge.judge(&Observations::new(device));
        let mut tried =
            judgement.tried.into_iter().filter(|tried| tried.recipe.needs() == ["ftz32"]);
        let tried = tried.next().unwrap();
        (
            judgement.class,
            judgement.unmeasured.into_iter().collect::<HashSet<_>>(),
            tried.failing,
            tried.unmeasured,
        )
    };
    let is_decided = |rules: &[String]| rules.contains(&"D11-01".to_owned());
    let (class, unasked, failing, unmeasured) = under_ftz32(&device);
    assert_eq!((class, &unasked, failing.len()), (Class::Deviates, &waits, 0));
    assert!(is_decided(&unmeasured), "{unmeasured:?}");
    // Asked, they decide.
    let answered = flushing.iter().filter(|o| waits.contains(&o.kernel)).cloned();
    let all: Vec<Observation> = device.iter().cloned().chain(answered).collect();
    assert_eq!(under_ftz32(&all), (Class::ConformsWith, HashSet::new(), Vec::new(), Vec::new()));
    // Where something else fails they need not be asked, and neither fail nor pass.
    let root =
        device.iter_mut().find(|o| o.kernel.to_string() == "f32.sqrt:controls=ftz32").unwrap();
    root.out = root.out.iter().map(|bits| bits ^ 8).collect();
    let (class, unasked, failing, unmeasured) = under_ftz32(&device);
    assert_eq!((class, unasked.len()), (Class::Deviates, 0));
    assert!(
        !failing.is_empty() && !is_decided(&failing) && is_decided(&unmeasured),
        "{failing:?}, {unmeasured:?}"
    );
}

/// Where nothing else shows whether a recipe can do, nothing waits.
#[test]
fn a_profile_of_texels_alone_has_them_asked_at_once() {
    let mut profile = profile::built_in("d3d11").unwrap().unwrap();
    let szin: Controls = "szin32".parse().unwrap();
    assert!(profile.kernels_deciding(szin).len() < profile.kernels_under(szin).len());
    profile.rules.retain(|rule| rule.parts.iter().all(Part::waits));
    assert!(!profile.rules.is_empty());
    assert_eq!(profile.kernels_deciding(szin), profile.kernels_under(szin));
}
