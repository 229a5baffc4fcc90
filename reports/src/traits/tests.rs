use std::collections::BTreeSet;

use fpprobe_profiles::observed_behaviour::Aspect;
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::{Cases, Kernel};

use super::split::{Facets, Magnitudes, places};
use super::*;
use crate::model::TraitValue;

fn observed(kernel: &str, cases: &[&[u64]], out: &[u64]) -> Observation {
    let kernel: Kernel = kernel.parse().unwrap();
    let cases = Cases::new("few", kernel.arity(), cases.concat());
    Observation::ran(kernel, cases, out.into())
}

fn of(observations: &[Observation], id: &str) -> DeviceTrait {
    let found = traits(&Observations::new(observations)).into_iter().find(|one| one.id == id);
    found.unwrap_or_else(|| panic!("{id}"))
}

fn value(value: Option<&TraitValue>) -> &str {
    value.map_or("", |value| &value.value)
}

#[test]
fn ids_are_told_apart_and_name_kernels_that_exist() {
    let ids: Vec<String> = definitions().map(|definition| definition.id()).collect();
    assert_eq!(
        find("f32.rounding_under_rtz").unwrap().question(),
        "Which way are sums and products rounded under RoundingModeRTZ?"
    );
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    assert_eq!(find("f32.fma").unwrap().id(), "f32.fma");
    assert!(find("f32.fmb").is_none());
    for definition in definitions() {
        assert!(definition.row.question.ends_with('?'), "{}", definition.id());
        for kernel in definition.kernel_ids() {
            assert!(!look::parsed(&kernel).is_empty(), "{}: {kernel}", definition.id());
        }
    }
}

#[test]
fn operands_of_lanes_are_on_the_lists_of_their_kernels() {
    for definition in definitions() {
        let (TraitLook::Bits(_, operands, _) | TraitLook::Number(_, operands)) =
            definition.row.look
        else {
            continue;
        };
        for kernel in definition.kernels() {
            let cases = fpprobe_spirv::catalogue::Extent::Default.cases(&kernel);
            assert!(
                cases.iter().any(|case| case == operands),
                "{}: {kernel} {operands:x?}",
                definition.id()
            );
        }
    }
}

#[test]
fn scopes_have_values_of_their_own() {
    // (1 + u)^2 - (1 + 2u): fused at run time, split by the compiler.
    let case: &[u64] = &[0x3f80_0001, 0x3f80_0001, 0xbf80_0002];
    let all = [
        observed("f32.fma", &[case], &[0x2880_0000]),
        observed("f32.fma:route=spec", &[case], &[0]),
    ];
    let fma = of(&all, "f32.fma");
    assert_eq!((value(fma.run_time.as_ref()), value(fma.constants.as_ref())), ("fused", "split"));
    assert_eq!(value(of(&all, "constants_agree").constants.as_ref()), "no");
    let evidence = &fma.run_time.unwrap().evidence;
    assert!(evidence[0].command.contains("f32.fma"), "{evidence:?}");
}

#[test]
fn a_scope_that_disagrees_is_mixed_and_says_who_does_what() {
    let case: &[u64] = &[0x3f80_0001, 0x3f80_0001, 0xbf80_0002];
    let all = [
        observed("f32.fma", &[case], &[0x2880_0000]),
        observed("f32.fma:stage=fragment", &[case], &[0]),
    ];
    let fma = of(&all, "f32.fma").run_time.unwrap();
    assert_eq!(fma.value, "mixed");
    let shares: Vec<_> =
        fma.shares.iter().map(|share| (share.value.as_str(), share.kernels[0].as_str())).collect();
    assert!(shares.contains(&("split", "f32.fma:stage=fragment")), "{shares:?}");
    let words = fma.describe();
    let [split, fused] = ["split with stage=fragment", "fused with stage=compute"];
    assert!(
        words == format!("mixed: {fused}, {split}") || words == format!("mixed: {split}, {fused}"),
        "{words}"
    );
}

#[test]
fn a_value_that_shows_elsewhere_as_well_says_where_it_shows_alone() {
    let of = |stage: &str| Facets::from([("stage", format!("stage={stage}"))]);
    let (one, both) =
        (BTreeSet::from([of("compute")]), BTreeSet::from([of("compute"), of("fragment")]));
    let places = |values: [&BTreeSet<Facets>; 2]| places(&values.map(|one| (one, Magnitudes::ANY)));
    assert_eq!(places([&one, &both]), ["", "alone with stage=fragment"]);
    assert_eq!(
        places([&one, &BTreeSet::from([of("vertex")])]),
        ["with stage=compute", "with stage=vertex"]
    );
}

#[test]
fn operands_part_the_lanes_of_one_kernel() {
    const NAN: u64 = 0x7fc0_0000;
    const ONE: u64 = 0x3f80_0000;
    // The second operand, whatever it is.
    let all = [observed("f32.fmin", &[&[NAN, ONE], &[ONE, NAN]], &[ONE, NAN])];
    let fmin = of(&all, "f32.fmin_of_nan").run_time.unwrap().describe();
    assert_eq!(fmin, "mixed: nan where the NaN is y, number where the NaN is x");
    // 65536 and 131072 as if an exponent more could be stored; 2^17 and 2^18 are not infinite.
    let cases: &[&[u64]] = &[&[0x4780_0000, 0], &[0x4800_0000, 0], &[0x4880_0000, 0]];
    let all = [observed("f32.pack_half_2x16", cases, &[0x7c00, 0x7fff, 0x7fff])];
    let overflow = of(&all, "f32.pack_half_overflow").run_time.unwrap().describe();
    assert_eq!(overflow, "mixed: other from |x| = 131072 on, infinity up to |x| = 65536");
}

#[test]
fn lanes_that_nothing_parts_have_examples() {
    // Three quarters of an ulp more: rounded up, and cut.
    const MORE: u64 = 0x33c0_0000;
    let cases: &[&[u64]] = &[&[0x3f80_0001, MORE], &[0x3f80_0003, MORE]];
    let sum = observed("f32.fadd", cases, &[0x3f80_0002, 0x3f80_0003]);
    let rounding = of(&[sum], "f32.rounding").run_time.unwrap().describe();
    let [up, cut] = [
        "nearest even as f32.fadd 1.0000001, 8.940697e-8",
        "toward zero as f32.fadd 1.0000004, 8.940697e-8",
    ];
    let orders = [[up, cut], [cut, up]].map(|[one, two]| format!("mixed: {one}, {two}"));
    assert!(orders.contains(&rounding), "{rounding}");
}

#[test]
fn what_is_not_offered_or_not_measured_has_no_value() {
    let mut lacking = observed("f16.fma", &[], &[]);
    lacking.outcome = Outcome::Unsupported;
    assert_eq!(value(of(&[lacking], "f16.fma").run_time.as_ref()), "not_offered");
    assert!(traits(&Observations::default()).is_empty());
}

#[test]
fn numbers_and_nans_are_called_by_name() {
    let rsq = |out: u64| {
        of(&[observed("f32.inverse_sqrt", &[&[0x8000_0000]], &[out])], "f32.rsq_of_negative_zero")
    };
    for (out, name) in
        [(0xff80_0000, "negative_infinity"), (0xffc0_0001, "nan"), (0, "zero"), (0x3f80_0000, "1")]
    {
        assert_eq!(value(rsq(out).run_time.as_ref()), name);
    }
    let sum = |out: u64| of(&[observed("f32.fadd", &[&[0x7f80_0001, 0]], &[out])], "f32.nan_bits");
    for (out, name) in
        [(0x7f80_0001, "kept"), (0x7fc0_0001, "quieted"), (0xffc0_0000, "replaced"), (0, "number")]
    {
        assert_eq!(value(sum(out).run_time.as_ref()), name);
    }
}

#[test]
fn a_respect_of_several_operations_is_one_value() {
    let all = [
        observed("f32.fadd", &[&[0x0040_0000, 0x0040_0000]], &[0]),
        observed("f32.fmul", &[&[0x0040_0000, 0x4000_0000]], &[0]),
    ];
    let found = of(&all, "f32.subnormal_operands");
    assert_eq!(value(found.run_time.as_ref()), Aspect::value("reads subnormals as zero").unwrap());
}

#[test]
fn channels_that_differ_have_values_of_their_own() {
    let store = |operand: u64, texel: u64| {
        let case: &[u64] = &[operand, 0x3eab_e437, 0x3f2d_1379, operand];
        of(
            &[observed("rgba8unorm.store:route=clear", &[case], &[texel])],
            "rgba8unorm.store_of_one_half",
        )
    };
    let both = store(0x3f00_0000, 0x7fac_567f).run_time.unwrap();
    assert_eq!(both.value, "0.49803922");
    let apart = store(0x3f00_0000, 0x80ac_567f).run_time.unwrap();
    assert_eq!((apart.value.as_str(), apart.shares.len()), ("mixed", 2));
    let packed =
        observed("f32.pack_unorm_4x8", &[&[0x7fc0_0000, 0, 0, 0x7fc0_0000]], &[0xff00_0000]);
    let shares = of(&[packed], "f32.pack_unorm_of_nan").run_time.unwrap().shares;
    assert_eq!(shares.iter().map(|share| share.value.as_str()).collect::<Vec<_>>(), ["00", "ff"]);
}

#[test]
fn lanes_of_interest_have_one_value() {
    const LARGE: u64 = 0x7f00_0000;
    let by_large = |quotient| {
        of(&[observed("f32.fdiv", &[&[LARGE, LARGE]], &[quotient])], "f32.division_by_large")
    };
    assert_eq!(value(by_large(0).run_time.as_ref()), "zero");
    assert_eq!(value(by_large(0x3f80_0000).run_time.as_ref()), "quotient");
    let all = [observed(
        "f32.fdiv",
        &[&[0x4040_0000, 0x3f80_0000], &[0x4040_0000, 0x4040_0000]],
        &[0x4040_0000, 0x3f7f_ffff],
    )];
    assert_eq!(value(of(&all, "f32.division_by_one").run_time.as_ref()), "dividend");
    assert_eq!(value(of(&all, "f32.division_by_itself").run_time.as_ref()), "other");
}

#[test]
fn errors_are_bounded_by_a_power_of_two() {
    // sin(1) is 3f576aa4; 2^-10 more, and 1 in the place of sin(1000) = 0.8269.
    let sine = |bits: u64, result: u64| [observed("f32.sin", &[&[bits]], &[result])];
    let id = "f32.sin_error_within_pi";
    assert_eq!(value(of(&sine(0x3f80_0000, 0x3f57_aaa4), id).run_time.as_ref()), "2^-10");
    assert_eq!(value(of(&sine(0x3f80_0000, 0x7fc0_0000), id).run_time.as_ref()), "no_number");
    let far = of(&sine(0x447a_0000, 0x3f80_0000), "f32.sin_error_beyond_100_pi");
    assert_eq!(value(far.run_time.as_ref()), "2^-2");
}

#[test]
fn strict_arithmetic_holds_or_does_not() {
    let kernel = "f32.floor:controls=fastmath0";
    let floor = |way: &str, out| observed(&format!("{kernel}{way}"), &[&[0x2f2d_598c]], &[out]);
    assert_eq!(value(of(&[floor("", 0)], "strict_arithmetic").run_time.as_ref()), "yes");
    // Folded, it is now +0 and now -0.
    let unsteady = Observation {
        outcome: Outcome::Flaky,
        second: Some([0x8000_0000].into()),
        ..floor(";route=spec", 0)
    };
    let lost = of(&[floor("", 0), unsteady], "strict_arithmetic").run_time.unwrap();
    assert_eq!(lost.value, "mixed");
    let no = lost.shares.iter().find(|share| share.value == "no").unwrap();
    assert_eq!((no.lanes, no.kernels[0].as_str()), (1, "f32.floor:controls=fastmath0;route=spec"));
    assert_eq!(lost.evidence[0].out, serde_json::from_str(r#""80000000""#).unwrap());
}

#[test]
fn kernels_of_every_kind_are_looked_at() {
    let all = kernels();
    let some = [
        "f32.fadd:route=spec",
        "f32.fadd:route=literal",
        "f32.fadd:width=3",
        "f32.sin:stage=fragment",
    ];
    for id in some
        .into_iter()
        .chain(["f32.floor:controls=fastmath0;route=spec", "f32.nmin:controls=szin32"])
    {
        assert!(all.contains(&id.parse().unwrap()), "{id}");
    }
    assert!(all.len() > 150, "{}", all.len());
}

#[test]
fn lanes_show_whether_a_sum_is_rounded_before_it_is_narrowed() {
    // 1 + 2^-11, a midpoint of binary16, with 2^-26 more, or less, which binary32 does not hold.
    let (above, below) = ([0x3f80_1000, 0x3280_0000], [0x3f80_3000, 0xb280_0000]);
    let narrowed = |results: [u64; 2]| {
        let all = [observed("f32.fadd_fconvert_f16", &[&above, &below], &results)];
        of(&all, "f32.narrowed_to_f16").run_time.unwrap()
    };
    assert_eq!(narrowed([0x3c00, 0x3c02]).value, "rounded");
    assert_eq!(narrowed([0x3c01, 0x3c01]).value, "not_rounded");
    assert_eq!(narrowed([0x3c00, 0x3c01]).value, "toward_zero");
    let mixed = narrowed([0x3c01, 0x3c02]);
    assert_eq!((mixed.value.as_str(), mixed.lanes), ("mixed", 2));
}
