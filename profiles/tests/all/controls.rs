//! Rules that request controls of their own: which kernels they look at, and what becomes of them
//! where a device lacks the control.

use std::sync::Arc;

use fpprobe_profiles::accepts::accepts;
use fpprobe_profiles::judge::{Judge, Judgement, Observations};
use fpprobe_profiles::profile::built_in_text;
use fpprobe_profiles::{Class, Observation, Outcome, Profile, Verdict};
use fpprobe_spirv::{Cases, Kernel};

/// A sum may flush; under `DenormFlushToZero` its result must be flushed, operands may.
const SUM: &str = r#"
id = "sum"
title = "Sums"
version = "1"
ulp = "vulkan"
GROUPS
[environment.any]
subnormal_inputs = "either"
subnormal_results = "either"
flushed_sign = "exact"
zero_sign = "exact"
nan_operand = "any"
invalid = "any"
pole_nan = false
nan_bits = "free"
overflow = "round"
integer = "any"
non_finite = "any"

[operation.add]
lowerings = ["fadd"]
accuracy.any = "nearest even"

[[rule]]
id = "plain"
title = ""
citation = ""
format = ["f32", "f16"]
operations = ["add"]

[[rule]]
id = "flush"
title = ""
citation = ""
format = ["f32", "f16"]
controls = ["ftz"]
operations = ["add"]
environment = { subnormal_results = "flush" }
"#;

const GROUPS: &str = r#"
[[group]]
id = "f16"
title = ""
format = "f16"

[[group]]
id = "ftz16"
title = ""
control = "ftz16"

[[group]]
id = "ftz32"
title = ""
control = "ftz32"
"#;

fn profile(head: &str) -> Profile {
    Profile::parse("sum.toml", &SUM.replace("GROUPS", head), &built_in_text)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A kernel that ran on the smallest normal value less the smallest subnormal one, and 1 + 1.
fn observed(id: &str, flushes: bool, outcome: Outcome) -> Observation {
    let kernel: Kernel = id.parse().unwrap();
    let layout = kernel.format.float().unwrap();
    let (least, one) = (layout.min_normal(), (layout.bias() as u64) << layout.fraction);
    let cases = Cases::new("", 2, vec![least, 1 | layout.sign_bit(), one, one]);
    let out = [if flushes { 0 } else { least - 1 }, one + least];
    let out: Arc<[u64]> = if outcome == Outcome::Ran { out.into() } else { Arc::from([]) };
    Observation {
        kernel,
        cases,
        outcome,
        detail: "the device lacks it".to_owned(),
        out,
        second: None,
    }
}

const FLUSHED: [&str; 2] = ["f32.fadd:controls=ftz32", "f16.fadd:controls=ftz16"];

/// A device that keeps subnormals, and flushes them under these kernels' controls as they say.
fn device(flushed: [(bool, Outcome); 2]) -> Vec<Observation> {
    let plain = ["f32.fadd", "f16.fadd"].map(|id| observed(id, false, Outcome::Ran));
    let flushed =
        FLUSHED.iter().zip(flushed).map(|(id, (flushes, outcome))| observed(id, flushes, outcome));
    plain.into_iter().chain(flushed).collect()
}

fn judge(profile: &Profile, device: &[Observation]) -> Judgement {
    Judge::new(profile).judge(&Observations::new(device))
}

fn flush(judgement: &Judgement) -> (Verdict, usize) {
    judgement
        .rules
        .iter()
        .find(|rule| rule.id == "flush")
        .map(|rule| (rule.verdict, rule.lanes))
        .unwrap()
}

const HONOURED: (bool, Outcome) = (true, Outcome::Ran);
const IGNORED: (bool, Outcome) = (false, Outcome::Ran);
const LACKING: (bool, Outcome) = (true, Outcome::Unsupported);

#[test]
fn a_rule_looks_at_kernels_under_its_controls() {
    let profile = profile(GROUPS);
    let ids: Vec<String> = profile.kernels().iter().map(Kernel::to_string).collect();
    assert_eq!(ids, ["f32.fadd", "f16.fadd", FLUSHED[0], FLUSHED[1]]);
    let under = profile.kernels_under("szin32".parse().unwrap());
    assert!(under.iter().any(|kernel| kernel.to_string() == "f16.fadd:controls=ftz16,szin32"));
    let judgement = judge(&profile, &device([HONOURED, HONOURED]));
    assert_eq!((judgement.class, judgement.without.len()), (Class::Conforms, 0));
    assert_eq!(flush(&judgement), (Verdict::Permitted, 4));
    for ignored in [[IGNORED, HONOURED], [HONOURED, IGNORED]] {
        let judgement = judge(&profile, &device(ignored));
        assert_eq!((judgement.class, flush(&judgement).0), (Class::Deviates, Verdict::Deviates));
        let evidence = &judgement.rules[1].evidence[0];
        assert!(FLUSHED.contains(&evidence.kernel.to_string().as_str()), "{}", evidence.kernel);
    }
}

#[test]
fn a_control_that_the_device_lacks_is_a_group_that_it_lacks() {
    let profile = profile(GROUPS);
    let judgement = judge(&profile, &device([LACKING, LACKING]));
    assert_eq!(
        (judgement.class, judgement.without.join(" ")),
        (Class::Conforms, "ftz16 ftz32".to_owned())
    );
    assert_eq!(flush(&judgement), (Verdict::Unsupported, 0));
    // One width alone is judged.
    let judgement = judge(&profile, &device([HONOURED, LACKING]));
    assert_eq!(
        (judgement.class, judgement.without.join(" ")),
        (Class::Conforms, "ftz16".to_owned())
    );
    assert_eq!(flush(&judgement), (Verdict::Permitted, 2));
    assert_eq!(judge(&profile, &device([IGNORED, LACKING])).class, Class::Deviates);
}

#[test]
fn a_kernel_without_its_format_says_nothing_of_a_control() {
    let profile = profile(GROUPS);
    let mut device = device([HONOURED, LACKING]);
    device.iter_mut().find(|o| o.kernel.to_string() == "f16.fadd").unwrap().outcome =
        Outcome::Unsupported;
    let judgement = judge(&profile, &device);
    assert_eq!((judgement.class, judgement.without.join(" ")), (Class::Conforms, "f16".to_owned()));
}

#[test]
fn what_was_not_measured_under_a_control_is_no_pass() {
    let profile = profile(GROUPS);
    for outcome in [Outcome::Crashed, Outcome::Rejected, Outcome::NotWritten] {
        let judgement = judge(&profile, &device([(true, outcome), HONOURED]));
        assert_eq!(
            (judgement.class, flush(&judgement).0),
            (Class::Incomplete, Verdict::Incomplete)
        );
    }
    let mut device = device([HONOURED, HONOURED]);
    device.retain(|observation| observation.kernel.to_string() != FLUSHED[0]);
    let judgement = judge(&profile, &device);
    assert_eq!((judgement.class, judgement.without.len()), (Class::Incomplete, 0));
}

#[test]
fn a_control_that_is_not_optional_must_be_offered() {
    let judgement = judge(&profile(""), &device([LACKING, LACKING]));
    assert_eq!((judgement.class, flush(&judgement).0), (Class::Incomplete, Verdict::Unsupported));
}

#[test]
fn a_device_of_absent_groups_alone_does_not_conform() {
    let text = SUM.replace("[[rule]]\nid = \"plain\"\ntitle = \"\"\ncitation = \"\"\nformat = [\"f32\", \"f16\"]\noperations = [\"add\"]\n", "");
    let profile =
        Profile::parse("sum.toml", &text.replace("GROUPS", GROUPS), &built_in_text).unwrap();
    assert_eq!(profile.rules.len(), 1);
    assert_eq!(judge(&profile, &device([LACKING, LACKING])).class, Class::Incomplete);
}

#[test]
fn a_recipe_comes_on_top_of_a_rules_controls() {
    let profile = profile(&format!("modes = [\"szin32\"]\n{GROUPS}"));
    let under = |device: &[Observation]| -> Vec<Observation> {
        let add = |o: &Observation| {
            o.kernel.with_controls(o.kernel.controls.with("szin32".parse().unwrap()).unwrap())
        };
        device.iter().map(|o| Observation { kernel: add(o), ..o.clone() }).collect()
    };
    // The mode is ignored, unless zeros, infinities and NaN are requested as well.
    let mut device = device([IGNORED, HONOURED]);
    assert_eq!(judge(&profile, &device).class, Class::Deviates);
    device.extend(under(&self::device([HONOURED, HONOURED])));
    let judgement = judge(&profile, &device);
    assert_eq!(
        (judgement.class, judgement.recipe.needs().join(" ")),
        (Class::ConformsWith, "szin32".to_owned())
    );
    // A set that one of the rules' kernels cannot carry is not offered.
    device
        .iter_mut()
        .find(|o| o.kernel.to_string() == "f16.fadd:controls=ftz16,szin32")
        .unwrap()
        .outcome = Outcome::Unsupported;
    assert_eq!(judge(&profile, &device).class, Class::Deviates);
}

#[test]
fn a_profile_accepts_what_the_rules_within_a_kernels_controls_do() {
    let profile = profile(GROUPS);
    let accepted = |id: &str| {
        let (accepted, rules) =
            accepts(&profile, &id.parse().unwrap(), &[0x0080_0000, 0x8000_0001]);
        ([0x007f_ffff, 0].map(|bits| accepted.contains(&[bits])), rules.join(" "))
    };
    assert_eq!(accepted("f32.fadd"), ([true, true], "plain".to_owned()));
    assert_eq!(accepted("f32.fadd:controls=szin32"), ([true, true], "plain".to_owned()));
    assert_eq!(
        accepted("f32.fadd:controls=ftz32,szin32"),
        ([false, true], "plain flush".to_owned())
    );
    assert_eq!(accepted("f32.fadd:controls=ftz16"), ([true, true], "plain".to_owned()));
}
