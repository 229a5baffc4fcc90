//! Causes hold every failing lane once, and name what a device does.

use std::collections::HashSet;

use fpprobe_profiles::{Observation, Outcome, profile};
use fpprobe_reports::judged::judge;
use fpprobe_reports::model::{Cause, Level, ProfileResult, Scope, Severity};
use fpprobe_spirv::{Cases, Kernel};

/// What a device gives for one kernel: for each case a result.
pub fn observation(kernel: &str, lanes: &[(&[u64], u64)]) -> Observation {
    let kernel: Kernel = kernel.parse().unwrap();
    let cases: Vec<u64> = lanes.iter().flat_map(|(case, _)| case.to_vec()).collect();
    Observation::ran(
        kernel,
        Cases::new("", kernel.arity(), cases),
        lanes.iter().map(|(_, out)| *out).collect(),
    )
}

/// Causes by one profile; they hold all failing lanes.
fn causes(id: &str, observations: &[Observation]) -> Vec<Cause> {
    let judged = judge(&[profile::built_in(id).unwrap().unwrap()], observations);
    let rules = |profile: &ProfileResult| -> usize {
        profile
            .rules
            .iter()
            .filter(|rule| rule.level != Level::Informative)
            .map(|rule| rule.failing)
            .sum()
    };
    let failing: usize = judged.profiles.iter().map(rules).sum();
    assert_eq!(judged.causes.iter().map(|cause| cause.lanes).sum::<usize>(), failing);
    let ids: HashSet<&str> = judged.causes.iter().map(|cause| cause.id.as_str()).collect();
    assert_eq!(ids.len(), judged.causes.len(), "two causes have one id");
    judged.causes
}

const ONE: u64 = 0x3f80_0000;
const NAN: u64 = 0x7fc0_0000;
const INFINITY: u64 = 0x7f80_0000;

#[test]
fn the_symptom_of_a_lane_is_what_the_device_does() {
    for (profile, kernel, case, out, symptom, severity) in [
        ("d3d11", "f32.fadd", &[1, 0][..], 1, "subnormal_operand_kept", Severity::Special),
        // Only the result is subnormal.
        (
            "d3d11",
            "f32.fmul",
            &[0x0080_0000, 0x3f00_0000],
            0x0040_0000,
            "subnormal_result_kept",
            Severity::Special,
        ),
        // 0.75 ulp beside 1: the nearest is one up.
        ("d3d11", "f32.fadd", &[ONE, 0x33c0_0000], ONE, "other_direction", Severity::LastBit),
        ("d3d11", "f32.fadd", &[ONE, ONE], 0x4000_0001, "neighbour", Severity::LastBit),
        ("d3d11", "f32.fadd", &[ONE, ONE], 0x4000_0100, "inaccurate", Severity::Inaccurate),
        ("d3d11", "f32.fadd", &[ONE, ONE], 0x7000_0000, "unrelated", Severity::Broken),
        ("d3d11", "f32.fadd", &[ONE, ONE], NAN, "number_to_nan", Severity::Special),
        ("d3d11", "f32.fadd", &[ONE, ONE], INFINITY, "infinity_made", Severity::Special),
        ("d3d11", "f32.fadd", &[INFINITY, ONE], ONE, "infinity_lost", Severity::Special),
        ("d3d11", "f32.fadd", &[NAN, ONE], ONE, "nan_to_number", Severity::Special),
        ("d3d11", "f32.nmin", &[NAN, ONE], NAN, "number_to_nan", Severity::Special),
        ("d3d11", "f32.fabs", &[0x8000_0000], 0x8000_0000, "zero_sign", Severity::Special),
        (
            "d3d11",
            "r8snorm.store:route=clear",
            &[0xbf80_0000],
            0x80,
            "same_value",
            Severity::SameValue,
        ),
        ("d3d11", "r8unorm.store:route=clear", &[NAN], 0xff, "nan_stored", Severity::Special),
        (
            "d3d11",
            "f32.convert_f_to_u",
            &[0xbf80_0000],
            0xffff_ffff,
            "integer_range",
            Severity::Special,
        ),
        // A binary64 subnormal whose bits are those of binary32's -0 is no zero.
        (
            "vulkan",
            "f64.select",
            &[1, 0x8000_0000, 0],
            0,
            "subnormal_operand_flushed",
            Severity::Special,
        ),
    ] {
        let causes = causes(profile, &[observation(kernel, &[(case, out)])]);
        let found: Vec<(&str, Severity)> =
            causes.iter().map(|cause| (cause.symptom.as_str(), cause.severity)).collect();
        assert_eq!(found, [(symptom, severity)], "{kernel} {case:x?} gives {out:x}");
        assert_eq!(causes[0].evidence.len(), 1);
        assert_eq!(causes[0].scope, Scope::RunTime);
    }
}

#[test]
fn constants_that_fail_alone_are_fixed_by_memory() {
    // inf * 0, folded to 0.
    let case = [INFINITY, 0];
    let folded = || observation("f32.fmul:route=spec", &[(&case, 0)]);
    let fix = |at_run_time: u64| {
        let plain = observation("f32.fmul", &[(&case, at_run_time)]);
        let causes = causes("d3d11", &[plain, folded()]);
        causes.into_iter().map(|cause| (cause.scope, cause.fix)).collect::<Vec<_>>()
    };
    assert_eq!(fix(NAN), [(Scope::Constants, vec!["memory".to_owned()])]);
    // At run time it fails as well.
    assert_eq!(fix(0), [(Scope::RunTime, Vec::new())]);
}

#[test]
fn lanes_with_another_symptom_are_listed_beside() {
    // A product that is subnormal, and one of subnormals.
    let subnormals: &[(&[u64], u64)] =
        &[(&[1, ONE], 1), (&[2, ONE], 2), (&[0x0080_0000, 0x3f00_0000], 0x0040_0000)];
    let causes = causes("d3d11", &[observation("f32.fmul", subnormals)]);
    let [cause] = &causes[..] else { panic!("{causes:?}") };
    assert_eq!((cause.symptom.as_str(), cause.lanes), ("subnormal_operand_kept", 3));
    let beside: Vec<_> =
        cause.beside.iter().map(|other| (other.symptom.as_str(), other.lanes)).collect();
    assert_eq!(beside, [("subnormal_result_kept", 1)]);
    assert_eq!(cause.beside[0].operations, ["fmul"]);
    assert!(cause.beside[0].simplest.is_some());
}

#[test]
fn what_helps_some_lanes_is_named_where_nothing_helps_all() {
    // -0 + 0 is +0, which a mode keeps; 1 + 1 is 2 under no mode.
    let zeros: (&[u64], u64) = (&[0x8000_0000, 0], 0x8000_0000);
    let sum: (&[u64], u64) = (&[ONE, ONE], 0x4000_0001);
    let under = "f32.fadd:controls=szin32";
    let all = [observation("f32.fadd", &[zeros, sum]), observation(under, &[(zeros.0, 0), sum])];
    for cause in causes("d3d11", &all) {
        assert_eq!(cause.fix.is_empty(), cause.symptom == "neighbour", "{cause:?}");
        assert_eq!(cause.eases, [], "{cause:?}");
    }
    // Two lanes of one cause, of which one is accepted under the mode.
    let next: (&[u64], u64) = (&[ONE, 0x4000_0000], 0x4040_0001);
    let all =
        [observation("f32.fadd", &[sum, next]), observation(under, &[(sum.0, 0x4000_0000), next])];
    let causes = causes("d3d11", &all);
    let eases: Vec<_> = causes[0].eases.iter().map(|fix| (fix.needs.as_str(), fix.lanes)).collect();
    assert_eq!((causes.len(), &causes[0].fix[..], &eases[..]), (1, &[][..], &[("szin32", 1)][..]));
}

#[test]
fn an_infinity_in_place_of_the_largest_number_is_no_last_bit() {
    // 65520 rounds to infinity; D3D cuts it to 65504. The other half is exact.
    let case: &[u64] = &[0x477f_f000, 0];
    let causes = causes("d3d11", &[observation("f32.pack_half_2x16", &[(case, 0x7c00)])]);
    let [cause] = &causes[..] else { panic!("{causes:?}") };
    assert_eq!((cause.symptom.as_str(), cause.severity), ("other_direction", Severity::Special));
}

#[test]
fn one_habit_is_one_cause_over_operations_and_rules() {
    let observations = [
        observation("f32.fadd", &[(&[1, 0], 1), (&[2, 1], 3)]),
        observation("f32.fmul", &[(&[1, ONE], 1), (&[0x0080_0000, 0x3f00_0000], 0x0040_0000)]),
        observation("f32.floor", &[(&[0x8000_0001], 0xbf80_0000)]),
    ];
    let causes = causes("d3d11", &observations);
    let symptoms: Vec<&str> = causes.iter().map(|cause| cause.symptom.as_str()).collect();
    assert_eq!(symptoms, ["subnormal_operand_kept"], "{causes:#?}");
    let mut operations = causes[0].operations.clone();
    operations.sort();
    assert_eq!(operations, ["fadd", "floor", "fmul"]);
}

#[test]
fn what_a_routine_gives_beside_wrong_special_results_is_the_same_cause() {
    let negative = [0x3f00_0000, 0x3e80_0000, 0x3e00_0000].map(|x| ([x], 0x7000_0000));
    let lanes = |unrelated: usize| {
        let zeros = [(&[0][..], ONE), (&[0x8000_0000], ONE)];
        let unrelated = negative.iter().take(unrelated).map(|(case, out)| (&case[..], *out));
        observation("f32.log2", &zeros.into_iter().chain(unrelated).collect::<Vec<_>>())
    };
    let found = |unrelated: usize| {
        let causes = causes("d3d11", &[lanes(unrelated)]);
        causes
            .into_iter()
            .map(|cause| (cause.symptom, cause.severity, cause.lanes))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(0), [("infinity_lost".to_owned(), Severity::Special, 2)]);
    assert_eq!(found(1), [("infinity_lost".to_owned(), Severity::Broken, 3)]);
    // Most of its lanes are wrong in the other way: that is what is wrong with it.
    assert_eq!(found(3), [("unrelated".to_owned(), Severity::Broken, 5)]);
}

#[test]
fn what_a_blit_converts_is_loaded_first() {
    // -128 is -1, as -127 is.
    let converted = observation("r32f.convert_rgba8snorm:route=blit", &[(&[0x80], 0xbf81_0204)]);
    let load = |out: u64| {
        let one = observation("rgba8snorm.load:route=blit", &[(&[0x80], out)]);
        Observation { out: [out, 0, 0, 0].into(), ..one }
    };
    let operations = |loaded: u64| -> Vec<Vec<String>> {
        let causes = causes("vulkan", &[load(loaded), converted.clone()]);
        causes.into_iter().map(|cause| cause.operations).collect()
    };
    assert_eq!(operations(0xbf81_0204), [["convert_rgba8snorm", "load"]]);
    assert_eq!(operations(0xbf80_0000), [["convert_rgba8snorm"]]);
}

#[test]
fn headlines_say_what_is_given_instead() {
    for (kernel, lanes, headline) in [
        (
            "f32.log2",
            &[(&[0][..], 0xc2fe_0000), (&[0x8000_0000], 0xc2fe_0000)][..],
            "f32 log2: gives -127 instead of infinity",
        ),
        (
            "f32.fadd",
            &[(&[NAN, ONE], ONE), (&[ONE, NAN], 0)],
            "f32 fadd: gives 0 or 1 instead of NaN",
        ),
        ("f32.fadd", &[(&[ONE, ONE], NAN)], "f32 fadd: gives NaN instead of a number"),
        (
            "r8unorm.store:route=clear",
            &[(&[NAN], 0xff)],
            "r8unorm store by vkCmdClearColorImage: stores NaN as ff",
        ),
    ] {
        let causes = causes("d3d11", &[observation(kernel, lanes)]);
        assert_eq!(causes.iter().map(|cause| &*cause.headline).collect::<Vec<_>>(), [headline]);
    }
}

#[test]
fn what_decides_no_class_comes_last() {
    // min(-0, +0) is -0: recommended; the sum is off by one.
    let observations = [
        observation("f32.nmin", &[(&[0x8000_0000, 0], 0)]),
        observation("f32.fadd", &[(&[ONE, ONE], 0x4000_0001)]),
    ];
    let causes = causes("d3d11", &observations);
    let found: Vec<(bool, Severity)> =
        causes.iter().map(|cause| (cause.recommended, cause.severity)).collect();
    assert_eq!(found, [(false, Severity::LastBit), (true, Severity::Special)]);
}

#[test]
fn what_constants_alone_show_is_said_to_be_of_constants() {
    let observations = [
        observation("f32.fmul", &[(&[INFINITY, 0], NAN)]),
        observation("f32.fmul:route=literal", &[(&[INFINITY, 0], 0)]),
    ];
    let causes = causes("d3d11", &observations);
    assert_eq!(causes.len(), 1, "{causes:#?}");
    assert_eq!(
        (causes[0].symptom.as_str(), causes[0].scope),
        ("identity_folded", Scope::Constants)
    );
    assert!(causes[0].headline.starts_with("constants only: "));
}

#[test]
fn instability_is_a_lanes_own() {
    // The second component is a NaN whose bits differ; the first is stable, and wrong.
    let observation = |second: [u64; 2]| Observation {
        outcome: Outcome::Flaky,
        out: [0x7000_0000, NAN].into(),
        second: Some(second.into()),
        ..observation("f32.fadd:width=2", &[(&[ONE, NAN, ONE, ONE], 0)])
    };
    let of = |second: [u64; 2], stable: usize| {
        let mut one = observation(second);
        // Other cases are stable.
        let cases: Vec<u64> = one.cases.values().repeat(1 + stable);
        let more = |values: &[u64]| [values.to_vec(), [0x7000_0000, NAN].repeat(stable)].concat();
        (one.out, one.second) =
            (more(&one.out).into(), one.second.as_deref().map(|values| more(values).into()));
        one.cases = Cases::new("", 4, cases);
        let plain =
            self::observation("f32.fadd", &[(&[ONE, ONE], 0x4000_0000), (&[NAN, ONE], NAN)]);
        causes("d3d11", &[plain, one]).iter().map(|cause| cause.symptom.clone()).collect::<Vec<_>>()
    };
    let plain = self::observation("f32.fadd", &[(&[ONE, ONE], 0x4000_0000), (&[NAN, ONE], NAN)]);
    let flaky =
        causes("d3d11", &[plain, observation([0x7100_0000, NAN])]).remove(0).evidence.remove(0);
    assert_eq!(
        serde_json::to_value(flaky.second).unwrap(),
        serde_json::json!(["71000000", "7fc00000"])
    );
    assert_eq!(of([0x7000_0000, NAN | 1], 2), ["unrelated"]);
    assert!(of([0x7100_0000, NAN], 2).contains(&"unstable".to_owned()));
    // Most cases differ: nothing of it is a lane's own.
    assert_eq!(of([0x7100_0000, NAN], 0), ["unstable"]);
}
