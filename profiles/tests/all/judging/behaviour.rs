//! What a device chose must be one choice, and what follows from a deviation depends on it.

use std::sync::Arc;

use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::encoding::{Encoding, assemble, components};
use fpprobe_profiles::environment::Subnormals;
use fpprobe_profiles::judge::{Judge, Observations};
use fpprobe_profiles::oracle::{Demand, Signature};
use fpprobe_profiles::profile;
use fpprobe_profiles::profile::Requirement;
use fpprobe_profiles::{Observation, Profile, Verdict};
use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Cases, cases};

use super::device::device;
use crate::built_in::profiles;

#[test]
fn two_directions_on_one_path_deviate() {
    for profile in profiles() {
        for rule in profile
            .rules
            .iter()
            .filter(|rule| rule.requirements.contains(&Requirement::OneDirection))
        {
            let mut device = device(profile);
            let part = &rule.parts[0];
            let kernel = part.lowerings[0];
            let observation =
                device.iter_mut().find(|observation| observation.kernel == kernel).unwrap();
            // Every second case rounds towards zero, which alone would be permitted.
            let down = Demand { accuracy: Accuracy::TowardZero, ..part.demand };
            let mut out = observation.out.to_vec();
            for case in (0..observation.cases.len()).step_by(2) {
                let parts: Vec<u64> = (0..Encoding::of_result(&kernel).len())
                    .map(|index| {
                        Signature::new(&kernel)
                            .accepted_part(observation.cases.case(case), index, &down)
                            .members(1)[0]
                    })
                    .collect();
                out[case] = assemble(&kernel, &parts)[0];
            }
            observation.out = Arc::from(out);
            let alone = Profile { rules: vec![rule.clone()], ..profile.clone() };
            let judgement = Judge::new(&alone).judge(&Observations::new(&device));
            assert_eq!(judgement.rules[0].verdict, Verdict::Deviates, "{} {}", profile.id, rule.id);
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
        let (signature, cases) = (Signature::new(&kernel), cases::cases(&kernel));
        let out = cases
            .iter()
            .map(|case| signature.accepted_part(case, 0, &demand).members(1)[0])
            .collect();
        Observation::ran(kernel, cases, out)
    });
    let verdict =
        |observation: Observation| judge.judge(&Observations::new(&[observation])).rules[0].verdict;
    assert!(verdict(kept.clone()).is_met() && verdict(flushed.clone()).is_met());
    // Where the result rounds to the smallest normal value it may be flushed, and need not.
    let signature = Signature::new(&kept.kernel);
    let refused = |case: usize, treated: Subnormals, bits: u64| {
        let demand = demand.clone().with_subnormals(treated);
        !signature.accepted_part(kept.cases.case(case), 0, &demand).contains(bits)
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
                    let set = Signature::new(&kernel).accepted_part(case, part, &keeping);
                    if set.contains(*old) { *old } else { set.members(1)[0] }
                })
                .collect();
            assemble(&kernel, &parts)
        });
        observation.out = answers.collect::<Vec<u64>>().into();
    }
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    let of = |verdict| {
        judgement
            .rules
            .iter()
            .filter(|r| r.verdict == verdict)
            .map(|r| r.id.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(of(Verdict::Deviates), ["D32-18"]);
    assert!(of(Verdict::Depends).contains(&"D32-19") && of(Verdict::Depends).contains(&"D32-12"));
}

#[test]
fn two_results_must_be_of_one_reading() {
    let mut profile = profile::built_in("vulkan").unwrap().unwrap();
    profile.rules.retain(|rule| rule.id == "V-subnormals");
    let judge = Judge::new(&profile);
    let verdict = |answer: [u64; 2]| {
        let kernel = "f32.frexp".parse().unwrap();
        let (cases, out) = (Cases::new("", 1, [1]), answer.into());
        let selected = [Observation::ran(kernel, cases, out)];
        let verdict = judge.judge(&Observations::new(&selected)).rules.remove(0);
        (verdict.verdict == Verdict::Deviates, verdict.failing, verdict.evidence)
    };
    let (half, exponent) = (0x3f00_0000, 0xffff_ff6c);
    for whole in [[half, exponent], [0, 0]] {
        assert_eq!(verdict(whole), (false, 0, Vec::new()), "{whole:x?}");
    }
    for mixed in [[half, 0], [0, exponent], [half, 1]] {
        let (deviates, failing, evidence) = verdict(mixed);
        assert_eq!((deviates, failing), (true, 1), "{mixed:x?}");
        assert_eq!(evidence[0].accepted.alternatives().len(), 2);
        assert!(!evidence[0].accepted.contains(&mixed));
    }
}

#[test]
fn a_path_of_which_nothing_can_be_determined_is_left_out() {
    let mut profile = profile::built_in("d3d11").unwrap().unwrap();
    profile.rules.retain(|rule| rule.id == "D11-08");
    // A quarter and three quarters of the way from 1 to the next value of 11 bits, 1 + 2^-6:
    // towards zero or to nearest, a quarter is 1.
    let (low, high, one): (u64, u64, u64) = (0x3f80_8000, 0x3f81_8000, 0x3f80_0000);
    let message = |route: &str, red: u64, code: u64| {
        let kernel = format!("b10g11r11.store:route={route}").parse().unwrap();
        let (cases, out) =
            (Cases::new("", 3, [red, one, one]), [0x1e0 << 22 | 0x3c0 << 11 | code].into());
        Observation::ran(kernel, cases, out)
    };
    let behaviour = |selected: &[Observation]| {
        let mut own = profile.clone();
        own.rules[0]
            .parts
            .retain(|part| selected.iter().any(|one| part.lowerings.contains(&one.kernel)));
        Judge::new(&own).judge(&Observations::new(selected)).rules.remove(0)
    };
    let mixed = behaviour(&[message("storage_image", high, 0x3c1), message("clear", low, 0x3c0)]);
    assert_eq!(
        (mixed.verdict, mixed.behaviour.as_str()),
        (Verdict::Permitted, "storage_image: rounds to nearest even")
    );
}

#[test]
fn a_lost_sign_is_a_cause_of_its_own() {
    // sin flushes and loses the sign; log2 keeps subnormals; a packed half keeps none. Three
    // causes, and none of 16 bits is one of 32.
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let mut device = device(&profile);
    for (id, case, answer) in [
        ("f32.sin", 0x80000001, 0),
        ("f32.log2", 0x00000001, 0xc3150000),
        ("f32.pack_half_2x16", 0x387fc000, 0),
    ] {
        let observation = device.iter_mut().find(|o| o.kernel.to_string() == id).unwrap();
        let Some(at) = observation.cases.iter().position(|one| one[0] == case) else {
            panic!("{id} {case:08x}")
        };
        let mut out = observation.out.to_vec();
        // The other half of a packed pair stays.
        let other =
            if observation.kernel.op.function == Function::PackHalf { 0xffff_0000 } else { 0 };
        out[at] = answer | out[at] & other;
        observation.out = out.into();
    }
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    let deviating: Vec<&str> = judgement
        .rules
        .iter()
        .filter(|r| r.verdict == Verdict::Deviates)
        .map(|r| r.id.as_str())
        .collect();
    // That sin(-subnormal) is -0 is said twice, of flushes and of sines: the lane counts for the
    // first.
    assert_eq!(deviating, ["D32-18", "D32-20", "D16-10"]);
}

#[test]
fn a_multiply_add_by_a_formula_shows_whether_it_is_fused() {
    let computed = |fused: bool, case: &[u64]| {
        let [x, y, z] = [0, 1, 2].map(|operand: usize| f32::from_bits(case[operand] as u32));
        u64::from(if fused { x.mul_add(y, z) } else { x * y + z }.to_bits())
    };
    for (id, rule) in [("vulkan", "V-fma"), ("wgsl", "W-fma")] {
        let mut profile = profile::built_in(id).unwrap().unwrap();
        profile.rules.retain(|known| known.id == rule);
        profile.rules[0].parts.retain(|part| part.format == fpprobe_spirv::Format::F32);
        let [kernel] = profile.kernels()[..] else {
            panic!("{id} has one multiply-add of 32 bits")
        };
        for (fused, behaviour) in
            [(true, "fused, rounded once"), (false, "multiplies and adds, each rounded")]
        {
            let cases = cases::cases(&kernel);
            let out = cases.iter().map(|case| computed(fused, case)).collect();
            let ran = Observation::ran(kernel, cases, out);
            let judgement = Judge::new(&profile).judge(&Observations::new(&[ran]));
            let verdict = &judgement.rules[0];
            assert!(verdict.verdict == Verdict::Permitted, "{id}: {verdict:?}");
            assert!(
                verdict.behaviour.split("; ").any(|part| part == behaviour),
                "{id}: {}",
                verdict.behaviour
            );
        }
    }
}
