//! What a recipe may say rests on what was measured under its very modes.

use std::collections::HashSet;

use fpprobe_profiles::judge::{Judge, Judgement, Observations, RecipeTrial};
use fpprobe_profiles::{Class, Observation, Verdict};
use fpprobe_spirv::{Cases, Format, Kernel};

use super::device::{d3d11_of, device, under};

/// -0 + 0, which is +0.
const ZEROS: [u64; 2] = [0x8000_0000, 0];

fn observed(kernel: &str, case: &[u64], out: u64) -> Observation {
    let kernel: Kernel = kernel.parse().unwrap();
    let cases = Cases::new("modes", kernel.arity(), case.to_vec());
    Observation::ran(kernel, cases, [out].into())
}

/// A device that d3d11 accepts without modes and under szin32, but for a square root that no mode
/// makes right; with these.
fn judged(others: &[Observation]) -> Judgement {
    let profile = d3d11_of(&["add", "mul", "sqrt"]);
    let mut good = device(&profile);
    let root = good.iter_mut().find(|one| one.kernel.to_string() == "f32.sqrt").unwrap();
    let four = root.cases.iter().position(|case| case == [0x4080_0000]).unwrap();
    let mut out = root.out.to_vec();
    out[four] += 8;
    root.out = out.into();
    let all: Vec<Observation> =
        good.iter().cloned().chain(under(&good, "szin32")).chain(others.iter().cloned()).collect();
    Judge::new(&profile).judge(&Observations::new(&all))
}

fn szin32(judgement: &Judgement) -> &RecipeTrial {
    judgement.tried.iter().find(|tried| tried.recipe.needs() == ["szin32"]).unwrap()
}

fn fixed_by(judgement: &Judgement, id: &str) -> (Verdict, Vec<String>) {
    let rule = judgement.rules.iter().find(|rule| rule.id == id).unwrap();
    (rule.verdict, rule.fixed_by.iter().map(ToString::to_string).collect())
}

/// Sets of modes with the lanes that are accepted under them.
fn eased_by(judgement: &Judgement, id: &str) -> Vec<(String, Vec<usize>)> {
    let rule = judgement.rules.iter().find(|rule| rule.id == id).unwrap();
    rule.eased_by.iter().map(|(set, lanes)| (set.to_string(), lanes.clone())).collect()
}

#[test]
fn a_recipe_neither_fails_nor_meets_what_was_not_measured_under_it() {
    let wrong = observed("f32.fadd:route=literal", &ZEROS, ZEROS[0]);
    let judgement = judged(std::slice::from_ref(&wrong));
    let tried = szin32(&judgement);
    assert_eq!(tried.failing, ["D32-38"]);
    assert!(tried.unmeasured.contains(&"D32-15".to_owned()), "{:?}", tried.unmeasured);
    assert_eq!(fixed_by(&judgement, "D32-15"), (Verdict::Deviates, Vec::new()));
    // That something else fails does not keep it from being run.
    let next: Vec<String> = judgement.unmeasured.iter().map(ToString::to_string).collect();
    assert_eq!(next, ["f32.fadd:controls=szin32;route=literal"]);
}

#[test]
fn a_deviation_names_the_modes_under_which_it_goes_away() {
    let wrong = || observed("f32.fadd:route=literal", &ZEROS, ZEROS[0]);
    let right = judged(&[wrong(), observed("f32.fadd:controls=szin32;route=literal", &ZEROS, 0)]);
    assert_eq!(szin32(&right).failing, ["D32-38"]);
    assert!(szin32(&right).unmeasured.is_empty() && right.unmeasured.is_empty());
    assert_eq!(fixed_by(&right, "D32-15"), (Verdict::Deviates, vec!["szin32".to_owned()]));
    assert_eq!(fixed_by(&right, "D32-38"), (Verdict::Deviates, Vec::new()));
    assert_eq!(eased_by(&right, "D32-15"), [("szin32".to_owned(), vec![0])]);
    let as_before =
        judged(&[wrong(), observed("f32.fadd:controls=szin32;route=literal", &ZEROS, ZEROS[0])]);
    assert_eq!(szin32(&as_before).failing, ["D32-15", "D32-38"]);
    assert_eq!(eased_by(&as_before, "D32-15"), []);
    assert_eq!(fixed_by(&as_before, "D32-15"), (Verdict::Deviates, Vec::new()));
    // Of other inputs nothing follows.
    let other = observed("f32.fadd:controls=szin32;route=literal", &[0x3f80_0000, 0], 0x3f80_0000);
    assert_eq!(fixed_by(&judged(&[wrong(), other]), "D32-15").1, [""; 0]);
}

/// Where nothing fails under a recipe's modes, what passes without them must pass under them.
#[test]
fn a_recipe_is_enough_only_where_every_variant_was_measured_under_it() {
    let profile = d3d11_of(&["add", "mul", "sqrt"]);
    let good = device(&profile);
    let mut wrong = good.clone();
    let sum = wrong.iter_mut().find(|one| one.kernel.to_string() == "f32.fadd").unwrap();
    let at = sum.cases.iter().position(|case| case == ZEROS).unwrap();
    let mut out = sum.out.to_vec();
    out[at] = ZEROS[0];
    sum.out = out.into();
    wrong.extend(["szin32", "ftz32", "szin32,ftz32"].iter().flat_map(|modes| under(&good, modes)));
    wrong.push(observed("f32.fmul:route=spec", &ZEROS, ZEROS[0]));
    let judge = |others: &[Observation]| {
        let all: Vec<Observation> = wrong.iter().chain(others).cloned().collect();
        let judgement = Judge::new(&profile).judge(&Observations::new(&all));
        let next: Vec<String> = judgement.unmeasured.iter().map(ToString::to_string).collect();
        (judgement.class, judgement.recipe.needs(), next)
    };
    let of = |modes: &str| format!("f32.fmul:controls={modes};route=spec");
    // Larger sets wait for the smaller ones.
    assert_eq!(judge(&[]), (Class::Deviates, Vec::new(), vec![of("szin32"), of("ftz32")]));
    let right = observed(&of("szin32"), &ZEROS, ZEROS[0]);
    assert_eq!(judge(&[right]).1, ["szin32"]);
    let broken = [observed(&of("szin32"), &ZEROS, 0), observed(&of("ftz32"), &ZEROS, 0)];
    assert_eq!(judge(&broken), (Class::Deviates, Vec::new(), vec![of("ftz32,szin32")]));
}

/// Late modes say something of the rules that deviate, and of a whole recipe where these are all
/// that is left.
#[test]
fn late_modes_are_measured_for_what_deviates() {
    const ZEROS: [u64; 2] = [0x8000_0000_0000_0000, 0];
    let profile = d3d11_of(&["add", "mul", "sqrt"]);
    let good = device(&profile);
    let with = |kernel: &str, case: &[u64], out: u64| {
        let mut wrong = good.clone();
        let one = wrong.iter_mut().find(|one| one.kernel.to_string() == kernel).unwrap();
        let at = one.cases.iter().position(|own| own == case).unwrap();
        let mut all = one.out.to_vec();
        all[at] = out;
        one.out = all.into();
        wrong
    };
    let wrong = with("f64.fadd", &ZEROS, ZEROS[0]);
    let judge = Judge::new(&profile);
    let judged = |observations: &[&[Observation]]| {
        let judgement = judge.judge(&Observations::new(&observations.concat()));
        let next = judgement.unmeasured.clone();
        (judgement, next)
    };
    let only = |device: &[Observation], modes: &str, kernels: &[Kernel]| -> Vec<Observation> {
        under(device, modes).into_iter().filter(|one| kernels.contains(&one.kernel)).collect()
    };

    let (first, first_next) = judged(&[&wrong]);
    assert_eq!(fixed_by(&first, "D64-02"), (Verdict::Deviates, Vec::new()));
    let of = |modes: &str| -> Vec<Kernel> {
        let rule = profile.rule("D64-02").unwrap();
        let places = rule.parts.iter().filter(|part| part.format == Format::F64);
        places.map(|part| part.kernel(0, modes.parse().unwrap())).collect()
    };
    assert_eq!(
        first_next.iter().collect::<HashSet<_>>(),
        of("szin64").iter().chain(&of("dp64")).collect()
    );

    // Nothing else fails: the whole recipe is measured next, and is enough.
    let late = [only(&good, "szin64", &first_next), only(&wrong, "dp64", &first_next)].concat();
    let (second, second_next) = judged(&[&wrong, &late]);
    assert_eq!(fixed_by(&second, "D64-02"), (Verdict::Deviates, vec!["szin64".to_owned()]));
    assert!(second_next.iter().all(|kernel| kernel.controls.to_string() == "szin64"));
    assert!(
        second_next.contains(&"f32.fadd:controls=szin64".parse().unwrap()),
        "{:?}",
        second_next.len()
    );
    let (third, _) = judged(&[&wrong, &late, &under(&good, "szin64")]);
    assert_eq!(
        (third.class, third.recipe.needs()),
        (Class::ConformsWith, vec!["szin64".to_owned()])
    );

    // What no mode makes right keeps it from being tried.
    let root = with("f32.sqrt", &[0x4080_0000], 0x4000_0008);
    let root = root.iter().find(|one| one.kernel.to_string() == "f32.sqrt").unwrap();
    let (other, other_next) = judged(&[&wrong, &late, std::slice::from_ref(root)]);
    assert_eq!(fixed_by(&other, "D64-02").1, ["szin64"]);
    assert_eq!((fixed_by(&other, "D32-38").0, &other_next[..]), (Verdict::Deviates, &[][..]));
}
