//! What is demanded of all answers together: round trips, order, every code attained.

use fpprobe_profiles::judge::{Judge, Observations};
use fpprobe_profiles::profile;
use fpprobe_profiles::{Class, Observation, Outcome, Profile, Verdict};
use fpprobe_spirv::Cases;

use super::device::device;

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

/// What is stored.
const STORE: &str = "b10g11r11.store:route=storage_image";

/// What reads it, by every route.
fn loads(device: &mut [Observation]) -> impl Iterator<Item = &mut Observation> {
    device.iter_mut().filter(|o| o.kernel.stem() == "b10g11r11.load")
}

#[test]
fn each_relation_can_be_met_and_can_fail_by_itself() {
    // The answers come from the whole profile; the rule alone judges them.
    let good = device(&profile::built_in("d3d11").unwrap().unwrap());
    let at = good.iter().position(|o| o.kernel.to_string() == STORE).unwrap();
    let verdict = |profile: &Profile, device: &[Observation]| {
        Judge::new(profile).judge(&Observations::new(device)).rules[0].verdict
    };
    for requirement in ["round_trip", "monotonic", "every_code"] {
        let profile = store_rule(requirement);
        assert!(verdict(&profile, &good).is_met(), "{requirement}");
        // 1.0 in the red channel is stored as 2.0: its code comes back as another, and is given by
        // no input where all inputs that gave it do so.
        let mut device = good.clone();
        device[at].out = good[at]
            .out
            .iter()
            .map(|texel| if texel & 0x7ff == 0x3c0 { texel + 0x40 } else { *texel })
            .collect();
        assert_eq!(verdict(&profile, &device), Verdict::Deviates, "{requirement}");
        // A store that was not measured is no pass.
        device[at].outcome = Outcome::Crashed;
        assert_eq!(verdict(&profile, &device), Verdict::Incomplete, "{requirement}");
    }
    // Nor is a round trip whose load was not.
    let mut device = good.clone();
    loads(&mut device).for_each(|load| load.outcome = Outcome::Hung);
    assert_eq!(verdict(&store_rule("round_trip"), &device), Verdict::Incomplete);
}

#[test]
fn a_code_that_comes_back_larger_or_smaller_is_no_round_trip() {
    let good = device(&profile::built_in("d3d11").unwrap().unwrap());
    let at = good.iter().position(|o| o.kernel.to_string() == STORE).unwrap();
    let profile = store_rule("round_trip");
    let judge = Judge::new(&profile);
    // Red and green have six bits of fraction, blue has five; 1.0 has the exponent 15.
    for (shift, mask, one) in [(0, 0x7ff, 15 << 6), (11, 0x7ff, 15 << 6), (22, 0x3ff, 15 << 5)] {
        for instead in [one + 1, one - 1] {
            let mut device = good.clone();
            let other = |texel: &u64| {
                if texel >> shift & mask == one {
                    texel & !(mask << shift) | instead << shift
                } else {
                    *texel
                }
            };
            device[at].out = good[at].out.iter().map(other).collect();
            let rule = judge.judge(&Observations::new(&device)).rules.swap_remove(0);
            assert_eq!(
                rule.verdict,
                Verdict::Deviates,
                "{one:x} at bit {shift} comes back as {instead:x}"
            );
        }
    }
}

#[test]
fn a_round_trip_of_no_finite_code_is_no_pass() {
    let mut device = device(&profile::built_in("d3d11").unwrap().unwrap());
    for load in loads(&mut device) {
        load.cases = Cases::new("", 1, vec![0x7c0 | 0x7c0 << 11 | 0x3e0 << 22]);
        load.out = vec![0x7f80_0000; load.kernel.outputs()].into();
    }
    let profile = store_rule("round_trip");
    let judgement = Judge::new(&profile).judge(&Observations::new(&device));
    assert_eq!(
        (judgement.class, judgement.rules[0].verdict),
        (Class::Incomplete, Verdict::Incomplete)
    );
}

/// What is read from a code of sRGB is not among the numbers that are stored: those beside it speak
/// for it.
#[test]
fn a_round_trip_is_seen_between_numbers_that_become_one_code() {
    let profile = profile::built_in("d3d11").unwrap().unwrap();
    let place = profile.rules.iter().position(|rule| rule.id == "H-14").unwrap();
    let stem = |o: &Observation| o.kernel.stem();
    let mut device: Vec<Observation> =
        device(&profile).into_iter().filter(|o| stem(o).starts_with("rgba8srgb.")).collect();
    let verdict = |device: &[Observation]| {
        Judge::new(&profile).judge(&Observations::new(device)).rules[place].verdict
    };
    assert!(verdict(&device).is_met());
    // One code is read as the number between it and the next but one.
    for load in device.iter_mut().filter(|o| stem(o) == "rgba8srgb.load") {
        let other = |value: &u64| {
            if (0x3e5c_0000..0x3e5e_0000).contains(value) { value + 0x3_0000 } else { *value }
        };
        load.out = load.out.iter().map(other).collect();
    }
    assert_eq!(verdict(&device), Verdict::Deviates);
}
