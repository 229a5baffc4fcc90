//! The same question by another route, of vectors, through another front end: a rule holds there,
//! too.

use fpprobe_profiles::accepts::accepts;
use fpprobe_profiles::judge::{Judge, Judgement, Observations};
use fpprobe_profiles::{Class, Observation, Outcome, Verdict, profile};
use fpprobe_spirv::{Cases, Kernel};

use super::device::{device, under};

/// -0 + 0, which D32-15 and D32-34 want to be +0.
const ZEROS: [u64; 2] = [0x8000_0000, 0];

fn observed(kernel: &str, cases: &[&[u64]], out: &[u64]) -> Observation {
    let kernel: Kernel = kernel.parse().unwrap();
    let cases = Cases::new("ways", kernel.arity(), cases.concat());
    Observation::ran(kernel, cases, out.into())
}

/// What d3d11 says of a device that meets it, with these beside it.
fn judged(others: &[Observation]) -> Judgement {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let all: Vec<Observation> = device(&profile).iter().chain(others).cloned().collect();
    Judge::new(&profile).judge(&Observations::new(&all))
}

fn verdict(judgement: &Judgement, id: &str) -> (Verdict, Vec<String>) {
    let rule = judgement.rules.iter().find(|rule| rule.id == id).unwrap();
    (rule.verdict, rule.deviating.iter().map(ToString::to_string).collect())
}

#[test]
fn what_another_way_answers_otherwise_must_be_right_as_well() {
    let right = judged(&[observed("f32.fadd:route=literal", &[&ZEROS], &[0])]);
    assert_eq!(right.class, Class::Conforms);
    for (kernel, cases, out) in [
        ("f32.fadd:route=literal", &ZEROS[..], &[0x8000_0000][..]),
        ("f32.fadd:via=glsl", &ZEROS, &[0x8000_0000]),
        // The second component alone.
        (
            "f32.fadd:width=2",
            &[0x3f80_0000, 0x8000_0000, 0x3f80_0000, 0],
            &[0x4000_0000, 0x8000_0000],
        ),
    ] {
        let wrong = judged(&[observed(kernel, &[cases], out)]);
        assert_eq!(wrong.class, Class::Deviates, "{kernel}");
        assert_eq!(verdict(&wrong, "D32-15"), (Verdict::Deviates, vec![kernel.to_owned()]));
        assert_eq!(verdict(&wrong, "D32-34").0, Verdict::Depends);
        assert_eq!(verdict(&wrong, "D32-10").0, verdict(&right, "D32-10").0, "{kernel}");
    }
    // Right, though not what the plain kernel gives: a NaN of other bits.
    let nan = observed("f32.fadd:route=spec", &[&[0x7fc0_0000, 0x3f80_0000]], &[0x7fc0_1234]);
    assert_eq!(judged(&[nan]).class, Class::Conforms);
}

#[test]
fn what_a_profile_accepts_it_accepts_by_every_way_of_asking() {
    for (id, plain, case, ways) in [
        (
            "d3d11",
            "f32.fadd",
            &ZEROS[..],
            &["route=uniform", "route=push", "route=spec", "route=literal"][..],
        ),
        (
            "d3d11",
            "f32.fadd",
            &ZEROS,
            &["stage=fragment", "stage=vertex", "stage=geometry", "via=glsl"],
        ),
        ("d3d11", "f32.fmul", &[0x8000_0000, 0x7fff_ffff], &["route=spec", "route=literal"]),
        ("vulkan", "f32.fadd:controls=rte32", &[0x3f80_0000, 1], &["route=spec"]),
        ("wgsl", "f32.dot:width=2", &[1, 2, 3, 4], &["route=push"]),
    ] {
        let profile = profile::built_in(id).unwrap().unwrap();
        let (set, rules) = accepts(&profile, &plain.parse().unwrap(), case);
        assert!(!rules.is_empty(), "{plain}");
        for way in ways {
            let kernel = format!("{plain}{}{way}", if plain.contains(':') { ";" } else { ":" });
            assert_eq!(
                accepts(&profile, &kernel.parse().unwrap(), case),
                (set.clone(), rules.clone()),
                "{id} {kernel}"
            );
        }
    }
    // Of vectors each component, too.
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let (wide, rules) = accepts(
        &profile,
        &"f32.fadd:route=uniform;width=2".parse().unwrap(),
        &[0x8000_0000, 1, 0, 2],
    );
    let one = |case: &[u64]| {
        accepts(&profile, &"f32.fadd".parse().unwrap(), case).0.alternatives()[0][0].clone()
    };
    assert_eq!(wide.alternatives(), [[one(&ZEROS), one(&[1, 2])]]);
    assert!(rules.contains(&"D32-34".to_owned()), "{rules:?}");
}

#[test]
fn what_a_way_answers_in_two_ways_is_judged() {
    let flaky = Observation {
        outcome: Outcome::Flaky,
        second: Some([0x8000_0000].into()),
        ..observed("f32.fadd:route=push", &[&ZEROS], &[0])
    };
    let judgement = judged(&[flaky]);
    let rule = judgement.rules.iter().find(|rule| rule.id == "D32-15").unwrap();
    assert_eq!(rule.verdict, Verdict::Deviates);
    // The evidence is the answer that fails, which is the second run's.
    assert!(!rule.evidence.is_empty());
    for evidence in &rule.evidence {
        assert_eq!(evidence.answer, [0x8000_0000]);
        assert!(!evidence.accepted.contains(&evidence.answer), "{evidence:x?}");
    }
}

/// A recipe is one for every way of asking; where one that fails was not asked under it, that is
/// requested.
#[test]
fn a_recipe_must_mend_what_fails_in_another_way() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let mut device: Vec<Observation> = ["szin32", "ftz32", "szin32,ftz32"]
        .iter()
        .flat_map(|controls| under(&device(&profile), controls))
        .chain([observed("f32.fadd:route=literal", &[&ZEROS], &[0x8000_0000])])
        .collect();
    let unmeasured = judged(&device);
    assert_eq!(unmeasured.class, Class::Deviates);
    assert_eq!(
        unmeasured.unmeasured.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["szin32", "ftz32", "ftz32,szin32"]
            .map(|set| format!("f32.fadd:controls={set};route=literal"))
    );
    device.push(observed("f32.fadd:controls=ftz32;route=literal", &[&ZEROS], &[0x8000_0000]));
    device.push(observed("f32.fadd:controls=szin32;route=literal", &[&ZEROS], &[0]));
    let fixed = judged(&device);
    assert_eq!(
        (fixed.class, fixed.recipe.needs()),
        (Class::ConformsWith, vec!["szin32".to_owned()])
    );
    assert!(fixed.unmeasured.is_empty(), "{:?}", fixed.unmeasured);
}
