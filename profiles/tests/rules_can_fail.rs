//! Every built-in profile against a device made of the oracle's own answers: it conforms; and every required rule against
//! that device with one answer changed to the nearest one outside: it deviates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::accepts::accepts;
use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::coverage::{Surveyor, right};
use fpprobe_profiles::encoding::{Encoding, assemble, components};
use fpprobe_profiles::environment::Subnormals;
use fpprobe_profiles::judge::{Judge, Judgement, Observations};
use fpprobe_profiles::oracle::{Demand, Operand, Question};
use fpprobe_profiles::profile::{self, Requirement, Rule};
use fpprobe_profiles::{Class, Level, Observation, Outcome, Profile, Verdict};
use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Cases, Kernel, cases};

/// Most cases of a kernel here, but for the boundary ones.
const MOST: usize = 1000;

fn profiles() -> impl Iterator<Item = Profile> {
    profile::built_in_ids().map(|id| profile::built_in(id).unwrap().unwrap())
}

/// An answer that a profile accepts: where there is a choice the one rounded to nearest even, subnormals kept, so that one
/// direction and one treatment explain all of them, and of two zeros the recommended one.
fn answer(profile: &Profile, kernel: &Kernel, case: &[u64]) -> Vec<u64> {
    let (accepted, rules) = accepts(profile, kernel, case);
    let (question, demand) = (Question::new(kernel), profile.rules_for(kernel).next().unwrap().1.demand.clone());
    let parts = accepted.alternatives()[0].iter().enumerate().map(|(part, set)| {
        assert!(!set.is_empty(), "{}: {rules:?} contradict on {kernel} {case:x?}", profile.id);
        right(&question, case, part, &demand, set)
    });
    assemble(kernel, &parts.collect::<Vec<u64>>())
}

/// The boundary cases of a kernel and an even selection of the others; all of a packed format, whose rules want every code,
/// and of words every one that holds a zero or an infinity, which the word does not show.
fn fewer(kernel: &Kernel) -> Cases {
    let all = cases::cases(kernel);
    let question = Question::new(kernel);
    let words = kernel.params().iter().all(|shape| shape.format.float().is_none());
    let rare = |operand: &Operand| {
        operand.layout.is_some_and(|layout| layout.is_zero(operand.bits) || layout.is_infinite(operand.bits))
    };
    let hidden = |case: &&[u64]| {
        words && (0..question.encodings.len()).any(|part| question.operands(case, part).iter().any(rare))
    };
    if !kernel.format.channels().is_empty() || all.len() <= MOST {
        return all;
    }
    let step = all.len().div_ceil(MOST);
    let boundary = cases::boundary(kernel);
    let values: Vec<u64> =
        boundary.iter().chain(all.iter().step_by(step)).chain(all.iter().filter(hidden)).flatten().copied().collect();
    Cases::new(format!("{}.fewer", all.name), kernel.arity(), values)
}

fn device(profile: &Profile) -> Vec<Observation> {
    // Several tests want that of each built-in profile.
    static KNOWN: Mutex<BTreeMap<String, Arc<OnceLock<Vec<Observation>>>>> = Mutex::new(BTreeMap::new());
    if profile::built_in(&profile.id).is_none_or(|own| own.unwrap().rules.len() != profile.rules.len()) {
        return asked(profile, fewer);
    }
    let known = Arc::clone(KNOWN.lock().unwrap().entry(profile.id.clone()).or_default());
    known.get_or_init(|| asked(profile, fewer)).clone()
}

/// A device of the oracle's answers to these cases.
fn asked(profile: &Profile, cases: fn(&Kernel) -> Cases) -> Vec<Observation> {
    profile
        .kernels()
        .into_iter()
        .map(|kernel| {
            let cases = cases(&kernel);
            let out: Vec<u64> = cases.iter().flat_map(|case| answer(profile, &kernel, case)).collect();
            Observation { kernel, cases, outcome: Outcome::Ran, detail: String::new(), out: out.into(), second: None }
        })
        .collect()
}

/// The nearest encoding outside a set; for sets as wide as all NaNs, the nearest number that is.
fn outside(set: &Set, from: u64) -> Option<u64> {
    let encoding = set.encoding();
    let (first, last) = encoding.limits();
    let key = encoding.key(from);
    let infinity = match encoding {
        Encoding::Float(layout) => layout.infinity(),
        _ => 0,
    };
    // The other sign first: it shows even where the size of the answer is another rule's matter.
    let sign = match encoding {
        Encoding::Float(layout) => layout.sign_bit(),
        _ => 0,
    };
    [encoding.key(from ^ sign)]
        .into_iter()
        .chain((1..=4096).flat_map(|distance| [key.saturating_add(distance), key.saturating_sub(distance)]))
        .chain([encoding.key(infinity), encoding.key(infinity) - 1])
        .filter(|key| (first..=last).contains(key))
        .map(|key| encoding.at(key))
        .find(|bits| !set.contains(*bits))
}

/// What judges a device: [`Judge`], or something broken in its place.
type Judging<'a> = &'a dyn Fn(&[Observation]) -> Judgement;

/// What judges a device by one profile after the other.
type JudgingBy<'a> = &'a dyn Fn(&Profile, &[Observation]) -> Judgement;

/// What a judge has against a device of the oracle's answers: profiles and rules that do not pass, or pass unjudged.
fn objections(profile: &Profile, device: &[Observation], judge: Judging) -> Vec<String> {
    let judgement = judge(device);
    let mut objections = Vec::new();
    if judgement.class != Class::Conforms {
        objections.push(format!("{}: {:?}", profile.id, judgement.class));
    }
    for rule in &judgement.rules {
        if !rule.verdict.is_met() || rule.level == Level::Required && rule.lanes == 0 {
            let (verdict, why, shown) = (rule.verdict, &rule.behaviour, rule.evidence.first());
            objections.push(format!("{} {}: {verdict:?}, {} lanes {why} {shown:?}", profile.id, rule.id, rule.lanes));
        }
    }
    objections
}

#[test]
fn a_device_of_the_oracles_answers_conforms_to_each_profile() {
    for profile in profiles() {
        let judge = Judge::new(&profile);
        let objections = objections(&profile, &device(&profile), &|device| judge.judge(&Observations::new(device)));
        assert!(objections.is_empty(), "{}", objections.join("\n"));
    }
}

/// Some rules of OpenGL's look at lanes that accept everything.
#[test]
fn a_judgement_counts_the_lanes_that_coverage_counts() {
    let profile = profile::built_in("gl-arb-shader-precision").unwrap().unwrap();
    let device = asked(&profile, cases::cases);
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    let coverage = Surveyor::default().survey(&profile);
    let mut vacuous = 0;
    for (verdict, rule) in judgement.rules.iter().zip(&coverage.rules) {
        let defaults = rule.rule.parts.iter().map(|part| part.lowerings[0]);
        let tallies = defaults.filter_map(|kernel| rule.kernels.iter().find(|known| known.kernel == kernel));
        let lanes: usize = tallies.map(|kernel| kernel.tally.judged).sum();
        assert_eq!((&verdict.id, verdict.lanes), (&rule.rule.id, lanes));
        vacuous += rule.tally().vacuous;
    }
    assert!(vacuous > 0);
}

#[test]
fn the_worked_example_is_met_by_a_device_and_missed_by_another() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/engine.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let profile = Profile::parse("engine.toml", &text, &profile::built_in_text).unwrap();
    let judge = Judge::new(&profile);
    let objections = objections(&profile, &device(&profile), &|device| judge.judge(&Observations::new(device)));
    assert!(objections.is_empty(), "{}", objections.join("\n"));
    // Its own rules alone, asked everything.
    let mut profile = profile.clone();
    profile.rules.retain(|rule| rule.id.starts_with("E-"));
    let judge = Judge::new(&profile);
    let good = asked(&profile, cases::cases);
    // 1/3 two ulps off; the product of a subnormal flushed where others are kept; a half packed towards zero, for which
    // there is another lowering.
    for (id, case, wrong, rules, needs) in [
        ("f32.rcp", vec![0x4040_0000], 0x3eaa_aaad, &["E-03"][..], ""),
        ("f32.fmul", vec![0x300, 0x7800_0000], 0, &["E-02"][..], ""),
        ("f32.pack_half_2x16", vec![0x477f_f000], 0x7bff, &[][..], "pack_half=f32.fconvert_f16"),
    ] {
        let mut device = good.clone();
        let observation = device.iter_mut().find(|observation| observation.kernel.to_string() == id).unwrap();
        let at = observation.cases.iter().position(|known| known.starts_with(&case)).unwrap();
        let mut out = observation.out.to_vec();
        // The other half of a packed pair stays.
        let other = if observation.kernel.op.function == Function::PackHalf { 0xffff_0000 } else { 0 };
        out[at] = wrong | out[at] & other;
        observation.out = out.into();
        let judgement = judge.judge(&Observations::new(&device));
        let deviating: Vec<&str> =
            judgement.rules.iter().filter(|r| r.verdict == Verdict::Deviates).map(|r| r.id.as_str()).collect();
        assert_eq!((deviating, judgement.recipe.needs().join(" ")), (rules.to_vec(), needs.to_owned()), "{id}");
    }
}

/// Pairs of rule and operation; those that a judge lets pass although one answer is wrong.
type Survivors = (BTreeSet<String>, BTreeSet<String>);

/// Changes one answer that a required rule looks at to the nearest one outside, and looks whether the judge notices it by
/// that rule's look at that operation alone.
fn survivors(profile: &Profile, device: &[Observation], judge: JudgingBy) -> Survivors {
    let mut survivors = Survivors::default();
    let mut alone = Profile { rules: Vec::new(), ..profile.clone() };
    for rule in profile.rules.iter().filter(|rule| rule.level == Level::Required) {
        for part in &rule.parts {
            alone.rules = vec![Rule { parts: vec![part.clone()], ..rule.clone() }];
            let kernel = part.lowerings[0];
            let at = device.iter().position(|observation| observation.kernel == kernel).unwrap();
            let cases = &device[at].cases;
            let parts = Encoding::of_result(&kernel).len();
            let question = Question::new(&kernel);
            // The first and last lanes of the rule, each with its answer moved just outside.
            let lanes: Vec<(usize, usize)> = (0..cases.len())
                .flat_map(|case| (0..parts).map(move |part| (case, part)))
                .filter(|(case, index)| {
                    let operands = question.operands(cases.case(*case), *index);
                    rule.selects(question.encodings[*index], &operands, &part.demand)
                })
                .collect();
            let tries = lanes
                .iter()
                .take(3)
                .chain(lanes.iter().rev().take(3))
                .chain(lanes.iter().step_by(lanes.len() / 40 + 1));
            let deviates = tries.into_iter().any(|(case, index)| {
                let set = question.accepted_part(cases.case(*case), *index, &part.demand);
                let mut answer = components(&kernel, device[at].answer(*case));
                let Some(wrong) = outside(&set, answer[*index]) else { return false };
                answer[*index] = wrong;
                let answer = assemble(&kernel, &answer);
                let mut out = device[at].out.to_vec();
                out[case * answer.len()..(case + 1) * answer.len()].copy_from_slice(&answer);
                let mut broken = device.to_vec();
                broken[at].out = out.into();
                let judgement = judge(&alone, &broken);
                if judgement.class == Class::Conforms {
                    return false;
                }
                // Another lowering may still do: the rule then holds under a recipe, and its default is what failed.
                judgement.rules.iter().any(|r| r.id == rule.id && r.verdict == Verdict::Deviates)
                    || judgement.recipe.lowerings.iter().any(|(operation, _)| *operation == part.operation)
            });
            let pair = format!("{} {} {}", profile.id, rule.id, kernel);
            if !deviates {
                survivors.1.insert(pair.clone());
            }
            survivors.0.insert(pair);
        }
    }
    survivors
}

#[test]
fn one_answer_changed_makes_each_required_rule_deviate() {
    for profile in profiles() {
        let (pairs, survivors) = survivors(&profile, &device(&profile), &|profile, device| {
            Judge::new(profile).judge(&Observations::new(device))
        });
        println!("{}: {} pairs of rule and operation", profile.id, pairs.len());
        assert!(survivors.is_empty(), "{survivors:?}");
    }
}

/// The two checks above have to notice what they are there for: a judge that accepts everything lets every wrong answer
/// pass, one that rejects everything objects to every profile and rule.
#[test]
fn accepting_everything_and_rejecting_everything_are_noticed() {
    for profile in profiles() {
        let device = device(&profile);
        let unjudged = Judge::new(&profile).judge(&Observations::new(&[]));
        let always = |class: Class, verdict: Verdict| {
            let mut judgement = unjudged.clone();
            judgement.class = class;
            for rule in &mut judgement.rules {
                (rule.verdict, rule.lanes) = (verdict, 1);
            }
            judgement
        };
        let accepting = always(Class::Conforms, Verdict::Conforms);
        assert_eq!(objections(&profile, &device, &|_| accepting.clone()), Vec::<String>::new());
        let (pairs, survivors) = survivors(&profile, &device, &|_, _| accepting.clone());
        assert_eq!(survivors, pairs, "a judge that accepts everything is not noticed");
        let rejecting = always(Class::Deviates, Verdict::Deviates);
        let objections = objections(&profile, &device, &|_| rejecting.clone());
        assert_eq!(objections.len(), 1 + profile.rules.len(), "a judge that rejects everything is not noticed");
    }
}

/// Equal answers to other inputs are another finding, not one that was made before.
#[test]
fn what_was_found_of_other_inputs_is_not_reused() {
    let text = "id = \"one\"\ntitle = \"\"\nversion = \"1\"\nmodes = [\"szin32\"]\nextends = \"d3d11\"\n";
    let profile = Profile::parse("one.toml", text, &profile::built_in_text).unwrap();
    let good = device(&profile);
    // Under szin32 the same bits are the answers to inputs that no rule on numbers looks at.
    let mut all = good.clone();
    for observation in under(&good, "szin32") {
        let nan = observation.kernel.params()[0].format.mask();
        let arity = observation.kernel.arity();
        let cases = Cases::new("", arity, vec![nan; arity * observation.cases.len()]);
        all.push(Observation { cases, ..observation });
    }
    // A wrong answer, so that the empty recipe fails and evidence is gathered under both.
    let (first, second) = all.split_at_mut(good.len());
    for (mul, again) in first.iter_mut().zip(second).filter(|(o, _)| o.kernel.to_string() == "f32.fmul") {
        let out: Arc<[u64]> = mul.out.iter().map(|bits| bits ^ 1).collect();
        (mul.out, again.out) = (Arc::clone(&out), out);
    }
    let alone: Vec<Observation> = all.iter().filter(|o| !o.kernel.controls.is_empty()).cloned().collect();
    let plain = |observations: &[Observation]| -> Vec<Observation> { under(observations, "") };
    let together = Judge::new(&profile).judge(&Observations::new(&all));
    let tried = together.tried.iter().find(|tried| !tried.recipe.controls.is_empty()).unwrap();
    let apart = Judge::new(&profile).judge(&Observations::new(&plain(&alone)));
    let failing = apart.tried[0].failing.clone();
    assert_eq!(tried.failing, failing);
}

#[test]
fn two_directions_on_one_path_deviate() {
    for profile in profiles() {
        for rule in profile.rules.iter().filter(|rule| rule.requirements.contains(&Requirement::OneDirection)) {
            let mut device = device(&profile);
            let part = &rule.parts[0];
            let kernel = part.lowerings[0];
            let observation = device.iter_mut().find(|observation| observation.kernel == kernel).unwrap();
            // Every second case rounds towards zero, which alone would be permitted.
            let down = Demand { accuracy: Accuracy::TowardZero, ..part.demand };
            let mut out = observation.out.to_vec();
            for case in (0..observation.cases.len()).step_by(2) {
                let parts: Vec<u64> = (0..Encoding::of_result(&kernel).len())
                    .map(|index| {
                        Question::new(&kernel).accepted_part(observation.cases.case(case), index, &down).members(1)[0]
                    })
                    .collect();
                out[case] = assemble(&kernel, &parts)[0];
            }
            observation.out = Arc::from(out);
            let judgement = Judge::new(&profile).judge(&Observations::new(&device));
            let verdict = judgement.rules.iter().find(|r| r.id == rule.id).unwrap();
            assert_eq!(verdict.verdict, Verdict::Deviates, "{} {}", profile.id, rule.id);
        }
    }
}

#[test]
fn two_treatments_of_subnormals_on_one_operation_deviate() {
    let open = "environment = { subnormal_inputs = \"either\", subnormal_results = \"either\" }";
    let text = format!(
        "id = \"one\"\ntitle = \"\"\nversion = \"1\"\nextends = \"d3d11\"\n[[rule]]\nid = \"R\"\ntitle = \"\"\ncitation = \"\"\n\
         format = \"f32\"\noperations = [\"mul\"]\nlanes = {{ none = [\"nan\"] }}\n{open}\nrequirement = \"one_treatment\"\n"
    );
    let mut profile = Profile::parse("one.toml", &text, &profile::built_in_text).unwrap();
    profile.rules.retain(|rule| rule.id == "R");
    let judge = Judge::new(&profile);
    let demand = &profile.rules[0].parts[0].demand;
    let [kept, flushed] = [Subnormals::Keep, Subnormals::Flush].map(|treated| {
        let kernel = profile.kernels()[0];
        let demand = demand.clone().with_subnormals(treated);
        let (question, cases) = (Question::new(&kernel), cases::cases(&kernel));
        let out = cases.iter().map(|case| question.accepted_part(case, 0, &demand).members(1)[0]).collect();
        Observation { kernel, cases, outcome: Outcome::Ran, detail: String::new(), out, second: None }
    });
    let verdict = |observation: Observation| judge.judge(&Observations::new(&[observation])).rules[0].verdict;
    assert!(verdict(kept.clone()).is_met() && verdict(flushed.clone()).is_met());
    // Where the result rounds to the smallest normal value it may be flushed, and need not.
    let question = Question::new(&kept.kernel);
    let refused = |case: usize, treated: Subnormals, bits: u64| {
        let demand = demand.clone().with_subnormals(treated);
        !question.accepted_part(kept.cases.case(case), 0, &demand).contains(bits)
    };
    let differing: Vec<usize> = (0..kept.out.len())
        .filter(|case| refused(*case, Subnormals::Flush, kept.out[*case]))
        .filter(|case| refused(*case, Subnormals::Keep, flushed.out[*case]))
        .collect();
    assert!(differing.len() > 100);
    for case in differing.into_iter().step_by(41) {
        for (most, other) in [(&kept, &flushed), (&flushed, &kept)] {
            let mut out = most.out.to_vec();
            out[case] = other.out[case];
            let mixed = Observation { out: out.into(), ..most.clone() };
            assert_eq!(verdict(mixed), Verdict::Deviates, "{:x?}", most.cases.case(case));
        }
    }
}

#[test]
fn keeping_subnormals_is_one_deviation_and_the_rest_depends_on_it() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let mut device = device(&profile);
    for observation in device.iter_mut().filter(|o| o.kernel.format == fpprobe_spirv::Format::F32) {
        let Some((_, part)) = profile.rules_for(&observation.kernel).next() else { continue };
        let keeping = part.demand.clone().with_subnormals(Subnormals::Keep);
        let kernel = observation.kernel;
        let answers = observation.cases.iter().enumerate().flat_map(|(index, case)| {
            let old = components(&kernel, observation.answer(index));
            let parts: Vec<u64> = old
                .iter()
                .enumerate()
                .map(|(part, old)| {
                    let set = Question::new(&kernel).accepted_part(case, part, &keeping);
                    if set.contains(*old) { *old } else { set.members(1)[0] }
                })
                .collect();
            assemble(&kernel, &parts)
        });
        observation.out = answers.collect::<Vec<u64>>().into();
    }
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    let of =
        |verdict| judgement.rules.iter().filter(|r| r.verdict == verdict).map(|r| r.id.as_str()).collect::<Vec<_>>();
    assert_eq!(of(Verdict::Deviates), ["D32-18"]);
    assert!(of(Verdict::Depends).contains(&"D32-19") && of(Verdict::Depends).contains(&"D32-12"));
}

/// The same answers under other controls.
fn under(device: &[Observation], controls: &str) -> Vec<Observation> {
    let controls = controls.parse().unwrap();
    device.iter().map(|o| Observation { kernel: o.kernel.with_controls(controls), ..o.clone() }).collect()
}

/// A device whose f32 multiplication keeps subnormals.
fn keeping(device: &[Observation]) -> Vec<Observation> {
    let mut device = device.to_vec();
    let mul = device.iter_mut().find(|o| o.kernel.to_string() == "f32.fmul").unwrap();
    let product = |case: &[u64]| {
        let [x, y] = [case[0], case[1]].map(|bits| f32::from_bits(bits as u32));
        (x.is_subnormal() && (x * y).is_normal()).then_some((x * y).to_bits())
    };
    let (case, kept) = mul.cases.iter().enumerate().find_map(|(index, case)| Some((index, product(case)?))).unwrap();
    let mut out = mul.out.to_vec();
    out[case] = u64::from(kept);
    mul.out = out.into();
    device
}

#[test]
fn the_recipe_is_the_least_that_meets_every_required_rule() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let good = device(&profile);
    let judge = Judge::new(&profile);
    let needs = |observations: &[Observation]| {
        let judgement = judge.judge(&Observations::new(observations));
        (judgement.class, judgement.recipe.needs().join(" "))
    };
    // Subnormals are kept by default and under szin32, flushed wherever ftz32 is asked for.
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
    let case =
        min.cases.iter().position(|case| case[0] == 0x7fc0_0000 && f32::from_bits(case[1] as u32).is_normal()).unwrap();
    let mut out = min.out.to_vec();
    out[case] = 0x7fc00000;
    min.out = out.into();
    assert_eq!(needs(&device), (Class::ConformsWith, "min=f32.fmin".to_owned()));
    // Both: one control beats none only where no lowering does.
    let both: Vec<Observation> = keeping(&device).into_iter().chain(under(&device, "ftz32")).collect();
    assert_eq!(needs(&both), (Class::ConformsWith, "ftz32 min=f32.fmin".to_owned()));
    // Neither helps: the device deviates, and its rules are those without any recipe.
    assert_eq!(needs(&keeping(&good)), (Class::Deviates, String::new()));
}

#[test]
fn what_was_not_measured_is_never_a_pass() {
    for profile in profiles() {
        let judge = Judge::new(&profile);
        assert_eq!(judge.judge(&Observations::new(&[])).class, Class::Incomplete, "{}", profile.id);
        let good = device(&profile);
        for outcome in [
            Outcome::NotWritten,
            Outcome::Crashed,
            Outcome::Hung,
            Outcome::DeviceLost,
            Outcome::OutOfMemory,
            Outcome::Rejected,
            Outcome::Unsupported,
        ] {
            let mut device = good.clone();
            // What no group excuses and no other lowering stands in for.
            let mut parts = profile.rules.iter().flat_map(|rule| &rule.parts);
            let only = parts.find(|part| part.lowerings.len() == 1 && part.groups.is_empty()).unwrap().lowerings[0];
            let one = device.iter_mut().find(|observation| observation.kernel == only).unwrap();
            one.outcome = outcome;
            one.out = Arc::from([]);
            let class = judge.judge(&Observations::new(&device)).class;
            assert_eq!(class, Class::Incomplete, "{} {outcome:?}", profile.id);
        }
    }
}

#[test]
fn a_group_that_is_absent_as_a_whole_is_left_out() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let mut device = device(&profile);
    for observation in device.iter_mut().filter(|o| o.kernel.format == fpprobe_spirv::Format::F16) {
        observation.outcome = Outcome::Unsupported;
        observation.out = Arc::from([]);
    }
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    assert_eq!((judgement.class, judgement.without), (Class::Conforms, vec!["f16".to_owned()]));
    // One kernel of the group that is missing is no absent group.
    let mut device = self::device(&profile);
    device.iter_mut().find(|o| o.kernel.to_string() == "f16.sqrt").unwrap().outcome = Outcome::Unsupported;
    assert_eq!(Judge::new(&profile).judge(&Observations::new(&device)).class, Class::Incomplete);
}

#[test]
fn flaky_answers_must_both_be_accepted() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let good = device(&profile);
    let at = good.iter().position(|o| o.kernel.to_string() == "f32.sqrt").unwrap();
    let case = good[at].cases.iter().position(|case| case == [0x40800000]).unwrap();
    for (second, class) in [(0x40000001, Class::Conforms), (0x40000003, Class::Deviates)] {
        let mut device = good.clone();
        let mut out = device[at].out.to_vec();
        out[case] = second;
        device[at].outcome = Outcome::Flaky;
        device[at].second = Some(out.into());
        assert_eq!(Judge::new(&profile).judge(&Observations::new(&device)).class, class);
    }
}

#[test]
fn a_lost_sign_is_a_cause_of_its_own() {
    // sin flushes and loses the sign; log2 keeps subnormals; a packed half keeps none. Three causes, and none of 16 bits is
    // one of 32.
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let mut device = device(&profile);
    for (id, case, answer) in
        [("f32.sin", 0x80000001, 0), ("f32.log2", 0x00000001, 0xc3150000), ("f32.pack_half_2x16", 0x387fc000, 0)]
    {
        let observation = device.iter_mut().find(|o| o.kernel.to_string() == id).unwrap();
        let Some(at) = observation.cases.iter().position(|one| one[0] == case) else { panic!("{id} {case:08x}") };
        let mut out = observation.out.to_vec();
        // The other half of a packed pair stays.
        let other = if observation.kernel.op.function == Function::PackHalf { 0xffff_0000 } else { 0 };
        out[at] = answer | out[at] & other;
        observation.out = out.into();
    }
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    let deviating: Vec<&str> =
        judgement.rules.iter().filter(|r| r.verdict == Verdict::Deviates).map(|r| r.id.as_str()).collect();
    // That sin(-subnormal) is -0 is said twice, of flushes and of sines.
    assert_eq!(deviating, ["D32-18", "D32-20", "D16-10", "S-08-special"]);
}

#[test]
fn no_required_lane_is_no_pass() {
    let text = "id = \"none\"\ntitle = \"\"\nversion = \"1\"\nextends = \"d3d11\"\nwithout = [";
    let all = profile::built_in("d3d11").unwrap().unwrap();
    let f16 = ["D16-07", "D16-08"];
    for keep in [&[][..], &f16] {
        let drop: Vec<String> =
            all.rules.iter().filter(|r| !keep.contains(&r.id.as_str())).map(|r| format!("\"{}\"", r.id)).collect();
        let text = format!("{text}{}]", drop.join(","));
        let profile = Profile::parse("none.toml", &text, &profile::built_in_text).unwrap();
        let mut device = device(&profile);
        for observation in &mut device {
            observation.outcome = Outcome::Unsupported;
        }
        assert_eq!(Judge::new(&profile).judge(&Observations::new(&device)).class, Class::Incomplete);
    }
}

/// A profile of one rule about stores, with this requirement alone.
fn store_rule(requirement: &str) -> Profile {
    let all = profile::built_in("d3d11").unwrap().unwrap();
    let drop: Vec<String> = all.rules.iter().map(|rule| format!("\"{}\"", rule.id)).collect();
    let text = format!(
        "id = \"one\"\ntitle = \"\"\nversion = \"1\"\nextends = \"d3d11\"\nwithout = [{}]\n[[rule]]\nid = \"R\"\ntitle = \"\"\n\
         citation = \"\"\nformat = \"b10g11r11\"\noperations = [\"pack\"]\nlanes = {{ none = [\"nan\", \"negative\"] }}\n\
         requirement = \"{requirement}\"\n",
        drop.join(",")
    );
    Profile::parse("one.toml", &text, &profile::built_in_text).unwrap()
}

#[test]
fn each_relation_can_be_met_and_can_fail_by_itself() {
    // The answers come from the whole profile; the rule alone judges them.
    let good = device(&profile::built_in("d3d11").unwrap().unwrap());
    let at = good.iter().position(|o| o.kernel.op.name == "store").unwrap();
    let verdict = |profile: &Profile, device: &[Observation]| {
        Judge::new(profile).judge(&Observations::new(device)).rules[0].verdict
    };
    for requirement in ["round_trip", "monotonic", "every_code"] {
        let profile = store_rule(requirement);
        assert!(verdict(&profile, &good).is_met(), "{requirement}");
        // 1.0 in the red channel is stored as 2.0: its code comes back as another, and is given by no input where all
        // inputs that gave it do so.
        let mut device = good.clone();
        device[at].out =
            good[at].out.iter().map(|texel| if texel & 0x7ff == 0x3c0 { texel + 0x40 } else { *texel }).collect();
        assert_eq!(verdict(&profile, &device), Verdict::Deviates, "{requirement}");
        // A store that was not measured is no pass.
        device[at].outcome = Outcome::Crashed;
        assert_eq!(verdict(&profile, &device), Verdict::Incomplete, "{requirement}");
    }
    // Nor is a round trip whose load was not.
    let mut device = good.clone();
    device.iter_mut().find(|o| o.kernel.op.name == "load").unwrap().outcome = Outcome::Hung;
    assert_eq!(verdict(&store_rule("round_trip"), &device), Verdict::Incomplete);
}

#[test]
fn a_code_that_comes_back_larger_or_smaller_is_no_round_trip() {
    let good = device(&profile::built_in("d3d11").unwrap().unwrap());
    let at = good.iter().position(|o| o.kernel.op.name == "store").unwrap();
    let profile = store_rule("round_trip");
    let judge = Judge::new(&profile);
    // Red and green have six bits of fraction, blue has five; 1.0 has the exponent 15.
    for (shift, mask, one) in [(0, 0x7ff, 15 << 6), (11, 0x7ff, 15 << 6), (22, 0x3ff, 15 << 5)] {
        for instead in [one + 1, one - 1] {
            let mut device = good.clone();
            let other = |texel: &u64| {
                if texel >> shift & mask == one { texel & !(mask << shift) | instead << shift } else { *texel }
            };
            device[at].out = good[at].out.iter().map(other).collect();
            let rule = judge.judge(&Observations::new(&device)).rules.swap_remove(0);
            assert_eq!(rule.verdict, Verdict::Deviates, "{one:x} at bit {shift} comes back as {instead:x}");
        }
    }
}

#[test]
fn a_round_trip_of_no_finite_code_is_no_pass() {
    let mut device = device(&profile::built_in("d3d11").unwrap().unwrap());
    let load = device.iter_mut().find(|o| o.kernel.op.name == "load").unwrap();
    load.cases = Cases::new("", 1, vec![0x7c0 | 0x7c0 << 11 | 0x3e0 << 22]);
    load.out = vec![0x7f80_0000; load.kernel.outputs()].into();
    let profile = store_rule("round_trip");
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    assert_eq!((judgement.class, judgement.rules[0].verdict), (Class::Incomplete, Verdict::Incomplete));
}

#[test]
fn a_rule_that_judged_no_lane_is_no_pass_beside_rules_that_did() {
    for (id, lanes) in [
        // What no operand can be, and what the profile says nothing of.
        ("d3d11", "all = [\"normal\"], none = [\"normal\"]"),
        ("wgsl", "any = [\"nan\"]"),
    ] {
        let device = device(&profile::built_in(id).unwrap().unwrap());
        for (level, class) in [("required", Class::Incomplete), ("recommended", Class::Conforms)] {
            let text = format!(
                "id = \"more\"\ntitle = \"\"\nversion = \"1\"\nextends = \"{id}\"\n[[rule]]\nid = \"M\"\ntitle = \"\"\ncitation = \"\"\n\
                 level = \"{level}\"\nformat = \"f32\"\noperations = [\"sqrt\"]\nlanes = {{ {lanes} }}\n"
            );
            let profile = Profile::parse("more.toml", &text, &profile::built_in_text).unwrap();
            let judgement = Judge::new(&profile).judge(&Observations::new(&device));
            let rule = judgement.rules.iter().find(|rule| rule.id == "M").unwrap();
            assert_eq!((rule.verdict, rule.lanes), (Verdict::Incomplete, 0), "{id} {level}");
            assert_eq!(judgement.class, class, "{id} {level}");
        }
    }
}
