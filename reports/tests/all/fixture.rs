//! A report as a run could have left it, with every verdict and with hostile text wherever a driver can put some.

use std::collections::BTreeMap;
use std::sync::Arc;

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::model::*;
use fpprobe_reports::record::Recorder;
use fpprobe_reports::{Report, values};
use fpprobe_spirv::{Cases, Control, Format, Kernel};
use serde_json::{Value as Json, json};

/// Markup, a terminal escape, a formula, a bidirectional override and a line break.
pub const NASTY: &str = "=cmd('x') <script>alert(1)</script> \u{1b}[2J\u{202e}|`@team` &amp;\r\n\"Ünïcödé 測試\"";

const MODES: [Control; 4] = [Control::Dp(32), Control::Ftz(32), Control::Szin(32), Control::Rte(32)];

pub fn kernel(id: &str) -> Kernel {
    id.parse().unwrap()
}

/// An observation whose answers are the first operand, xor `twist`, on two cases that kernels of an arity share.
pub fn observation(id: &str, twist: u64) -> Observation {
    let kernel = kernel(id);
    let arity = kernel.arity();
    let inputs: Vec<u64> = (0..2 * arity as u64).map(|index| index & kernel.params()[0].format.mask()).collect();
    let masks = (0..2).flat_map(|_| kernel.output_formats().map(Format::mask).collect::<Vec<u64>>());
    let out: Arc<[u64]> = (0..).zip(masks).map(|(index, mask): (u64, u64)| (index ^ twist) & mask).collect();
    let cases = Cases::new(format!("{}.small{arity}", kernel.params()[0].format), arity, inputs);
    Observation { kernel, cases, outcome: Outcome::Ran, detail: String::new(), out, second: None }
}

/// The same kernel without answers.
pub fn without_answers(id: &str, outcome: Outcome, detail: &str) -> Observation {
    Observation { outcome, detail: detail.into(), out: Arc::default(), ..observation(id, 0) }
}

fn lane(id: &str, inputs: &[&str], out: &str, accepts: Json) -> Evidence {
    let kernel = kernel(id);
    let case = values::parse_case(&kernel, inputs).unwrap();
    let inputs = values::encode_case(&kernel, &case);
    let out = values::encode_answer(&kernel, &[kernel.result().format.parse_bits(out).unwrap()]);
    let command = values::eval_command(id, &inputs);
    Evidence { kernel: id.into(), inputs, out, accepts, command }
}

fn rule(
    id: &str,
    title: &str,
    citation: &str,
    verdict: Verdict,
    behaviour: &str,
    evidence: Vec<Evidence>,
) -> RuleResult {
    let judged = !matches!(verdict, Verdict::Unsupported | Verdict::Incomplete);
    RuleResult {
        id: id.into(),
        title: title.into(),
        citation: citation.into(),
        level: Level::Required,
        verdict,
        label: match verdict {
            Verdict::Conforms => "strict".into(),
            Verdict::Permitted => "text".into(),
            _ => String::new(),
        },
        behaviour: behaviour.into(),
        lanes: if judged { 41 } else { 0 },
        failing: if matches!(verdict, Verdict::Deviates | Verdict::Depends) { 2 } else { 0 },
        evidence,
        failed: Vec::new(),
    }
}

fn counts(rules: &[RuleResult]) -> Counts {
    let count = |verdict| rules.iter().filter(|rule| rule.level == Level::Required && rule.verdict == verdict).count();
    Counts {
        conforms: count(Verdict::Conforms),
        permitted: count(Verdict::Permitted),
        depends: count(Verdict::Depends),
        deviates: count(Verdict::Deviates),
        unsupported: count(Verdict::Unsupported),
        incomplete: count(Verdict::Incomplete),
    }
}

fn profile(id: &str, title: &str, class: Class, needs: &[&str], rules: Vec<RuleResult>) -> ProfileResult {
    let needs: Vec<String> = needs.iter().map(ToString::to_string).collect();
    let failing = rules.iter().filter(|rule| !rule.verdict.is_met()).map(|rule| rule.id.clone()).collect();
    let mut recipes = vec![RecipeResult { needs: Vec::new(), failing }];
    if class == Class::ConformsWith {
        recipes.push(RecipeResult { needs: needs.clone(), failing: Vec::new() });
    }
    ProfileResult {
        id: id.into(),
        title: title.into(),
        version: "1".into(),
        class,
        needs,
        operations: BTreeMap::from([
            ("min".to_owned(), vec!["f32.nmin".to_owned(), "f16.nmin".to_owned()]),
            ("mad".to_owned(), vec!["f32.mul_then_add".to_owned()]),
        ]),
        without: Vec::new(),
        counts: counts(&rules),
        rules,
        recipes,
    }
}

/// Rules of the Direct3D profiles as a device that keeps subnormals meets them.
fn direct3d(rsq: Verdict) -> Vec<RuleResult> {
    let kept = lane("f32.fmul", &["00000300", "78000000"], "32400000", json!({"bits": ["00000000"]}));
    let added = lane("f32.fadd", &["807fffff", "80000001"], "80800000", json!({"bits": ["80000000"]}));
    let rsq_evidence = || lane("f32.inverse_sqrt", &["80000000"], "7f800000", json!({"bits": ["ff800000"]}));
    let tie = json!({"intervals": [{"lo": "3ff0000000000000", "hi": "3ff0000020000000"}], "except": "subnormals"});
    let mut rules = vec![
        rule("D32-01", "Division by zero", "FPR l.27", Verdict::Conforms, "", vec![]),
        rule("D32-04", "rsq and sqrt of a negative number", "FPR l.32", Verdict::Conforms, "", vec![]),
        rule("D32-05", "sqrt(-0) = -0", "FPR l.35; FPS §22.10.20", Verdict::Conforms, "", vec![]),
        rule(
            "D32-06",
            "rsq(-0) = -INF",
            "FPR l.35; FPS §22.10.19",
            rsq,
            "",
            if rsq == Verdict::Deviates { vec![rsq_evidence()] } else { vec![] },
        ),
        rule(
            "D32-18",
            "Denorm operands are flushed",
            "FPR l.54",
            Verdict::Deviates,
            "keeps subnormal operands",
            vec![kept, added],
        ),
        rule(
            "D32-20",
            "A flush preserves the sign",
            "FPR l.54",
            Verdict::Depends,
            "D32-18",
            vec![lane("f32.trunc", &["80000001"], "80000000", json!({"zero": "-"}))],
        ),
        rule("D32-21", "Moving data does not flush", "FPR l.54", Verdict::Conforms, "", vec![]),
        rule("D32-27", "min and max with one NaN give the other operand", "FPR l.58", Verdict::Conforms, "", vec![]),
        rule(
            "D32-30",
            "min and max of zeros of different sign",
            "FPR l.60",
            Verdict::Permitted,
            "orders -0 below +0",
            vec![],
        ),
        rule(
            "D11-08",
            "Stores to 11 bits round towards zero",
            "FPR l.140; FPS §3.2.2",
            Verdict::Deviates,
            "rounds to nearest even",
            vec![lane(
                "b10g11r11.store:route=storage_image",
                &["477e0100,3f800000,7fc00000"],
                "f83e07c0",
                json!([{"bits": ["7bf"]}, {"bits": ["3c0"]}, {"nan": true}]),
            )],
        ),
        rule("D16-10", "f16 denorms are preserved", "FPR l.120", Verdict::Conforms, "", vec![]),
        rule(
            "D64-03",
            "f64 denorms are generated",
            "FPR l.90",
            Verdict::Unsupported,
            "shaderFloat64 is missing",
            vec![],
        ),
    ];
    rules.push(RuleResult {
        level: Level::Recommended,
        label: String::new(),
        ..rule(
            "D32-15",
            "add, sub and mul within 0.5 ULP",
            "FPR l.47-49",
            Verdict::Deviates,
            "",
            vec![lane("f32.fadd:controls=rte32", &["3f800000", "33800001"], "3f800002", tie)],
        )
    });
    rules
}

fn identity(name: &str, slot: &str, driver: &str, info: &str) -> Identity {
    Identity {
        key: format!("{slot}@5c1f09ab"),
        slot: slot.into(),
        name: name.into(),
        kind: "cpu".into(),
        vendor_id: 0x10005,
        device_id: 0,
        device_uuid: "6d657361323233362e3000000000000000".chars().take(32).collect(),
        driver: Driver {
            id: 13,
            name: driver.into(),
            info: info.into(),
            version: "0.0.1".into(),
            api_version: "1.3.230".into(),
            uuid: "6c6c766d7069706555554944000000ab".into(),
            pipeline_cache_uuid: "00112233445566778899aabbccddeeff".into(),
            manifest: "/usr/share/vulkan/icd.d/example_icd.x86_64.json".into(),
            library: "/usr/lib/x86_64-linux-gnu/libvulkan_example.so".into(),
            build_id: "9f3c2a7b51d0e8f4".into(),
        },
        cpu: Some("Example CPU 3.0 GHz; avx2 fma f16c".into()),
    }
}

fn claims() -> Claims {
    let claimed = [
        ("shaderDenormPreserveFloat32", true),
        ("shaderDenormFlushToZeroFloat32", true),
        ("shaderDenormPreserveFloat16", true),
        ("shaderDenormFlushToZeroFloat16", false),
        ("shaderSignedZeroInfNanPreserveFloat16", true),
        ("shaderSignedZeroInfNanPreserveFloat32", true),
        ("shaderSignedZeroInfNanPreserveFloat64", false),
        ("shaderRoundingModeRTEFloat32", true),
        ("shaderRoundingModeRTZFloat32", false),
        ("shaderFloat16", true),
        ("shaderFloat64", false),
        ("shaderFloatControls2", false),
        ("storageBuffer16BitAccess", true),
        ("shaderStorageImageExtendedFormats", true),
    ];
    Claims {
        denorm_behavior_independence: "32-bit-only".into(),
        rounding_mode_independence: "none".into(),
        flags: claimed.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

/// Some arithmetic under every mode, and one of each way to give no answer.
fn observations() -> Vec<Observation> {
    let mut list = Vec::new();
    for op in ["fadd", "fmul", "fmin", "sqrt", "inverse_sqrt", "load_store", "ford_equal"] {
        list.push(observation(&format!("f32.{op}"), 0));
        for mode in MODES {
            list.push(observation(&format!("f32.{op}:controls={mode}"), u64::from(mode == Control::Ftz(32))));
        }
    }
    let flaky = observation("f32.cos", 0);
    let second = Some(flaky.out.iter().map(|bits| bits ^ (bits & 1)).collect());
    list.push(Observation { outcome: Outcome::Flaky, second, ..flaky });
    list.push(without_answers(
        "f32.exp",
        Outcome::Rejected,
        "vkCreateComputePipelines: VK_ERROR_INITIALIZATION_FAILED",
    ));
    list.push(without_answers("f32.sin", Outcome::Crashed, "signal 11 (SIGSEGV)"));
    for op in ["fadd", "fmul", "fmin", "sqrt"] {
        list.push(without_answers(&format!("f64.{op}"), Outcome::Unsupported, "shaderFloat64 is missing"));
    }
    list
}

fn incident(subject: &str, outcome: Outcome, detail: &str) -> Incident {
    Incident { subject: subject.into(), outcome: Some(outcome), detail: detail.into() }
}

fn first_device(recorder: &mut Recorder) -> Device {
    let gl = vec![
        rule("G-02", "Division by 0", "ASP l.136", Verdict::Conforms, "", vec![]),
        rule(
            "G-03",
            "Denormalised inputs can be flushed",
            "ASP l.137",
            Verdict::Permitted,
            "keeps subnormal operands",
            vec![],
        ),
        rule("G-05", "The sign of 0 is not required", "ASP l.138", Verdict::Permitted, "keeps the sign", vec![]),
        rule("G-18", "sqrt", "ASP l.158", Verdict::Conforms, "", vec![]),
    ];
    let wgsl = vec![
        rule(
            "W-03",
            "Subnormals may be flushed",
            "WGSL §15.7.2",
            Verdict::Permitted,
            "keeps subnormal operands",
            vec![],
        ),
        rule("W-09", "exp", "WGSL §15.7.4", Verdict::Incomplete, "f32.exp was rejected", vec![]),
        rule("W-11", "min and max", "WGSL §17.5", Verdict::Conforms, "", vec![]),
    ];
    let mut d3d10 = direct3d(Verdict::Deviates);
    d3d10.retain(|rule| rule.id != "D11-08");
    let mut flushed = profile("d3d10", "Direct3D 10", Class::ConformsWith, &["ftz32", "szin32", "min=nmin"], d3d10);
    for rule in &mut flushed.rules {
        if rule.level == Level::Required && rule.id != "D64-03" {
            (rule.verdict, rule.failing, rule.evidence) = (Verdict::Conforms, 0, Vec::new());
            (rule.behaviour, rule.label) = (String::new(), "strict".into());
        }
    }
    flushed.counts = counts(&flushed.rules);
    flushed.without = vec!["f64".into()];
    Device {
        identity: identity(
            "Example Rasterizer (LLVM 15.0.6, 256 bits)",
            "cpu:10005:0:13:0",
            "examplepipe",
            "Example 22.3.6 (LLVM 15.0.6)",
        ),
        claims: claims(),
        taint: Vec::new(),
        caches_off: vec!["MESA_SHADER_CACHE_DISABLE=true".into()],
        observations: recorder.device(&observations()),
        profiles: vec![
            profile("d3d11", "Direct3D 11", Class::Deviates, &[], direct3d(Verdict::Deviates)),
            flushed,
            profile("gl-arb-shader-precision", "GL_ARB_shader_precision", Class::Conforms, &[], gl),
            profile("wgsl", "WGSL", Class::Incomplete, &[], wgsl),
        ],
        answers: vec![Answer {
            id: "Q08".into(),
            question: "rsq(-0)?".into(),
            answer: format!("rsq(-0): {NASTY}"),
            evidence: vec![Shown {
                kernel: "f32.inverse_sqrt".into(),
                inputs: vec![Value::Bits("80000000".into())],
                out: Value::Bits("ff800000".into()),
                command: "fpprobe eval f32.inverse_sqrt 80000000".into(),
            }],
        }],
        texels: vec![TexelPath {
            kernel: "b10g11r11.store:route=clear".into(),
            outcome: Outcome::Ran,
            values: 12,
            behaviour: format!("rounds towards zero; {NASTY}"),
            deviates: vec!["d3d11/D11-08".into()],
        }],
        findings: vec![
            Finding {
                kind: "claim".into(),
                text: "shaderDenormFlushToZeroFloat32 is claimed, but f32.fmul:controls=ftz32 keeps subnormal results"
                    .into(),
                evidence: vec![lane(
                    "f32.fmul:controls=ftz32",
                    &["00800000", "3f000000"],
                    "00400000",
                    json!({"zero": "either"}),
                )],
            },
            Finding {
                kind: "flaky".into(),
                text: "f32.cos answers differently from run to run".into(),
                evidence: Vec::new(),
            },
        ],
        incomplete: vec![
            incident("f32.exp", Outcome::Rejected, "vkCreateComputePipelines: VK_ERROR_INITIALIZATION_FAILED"),
            incident("f32.sin", Outcome::Crashed, "signal 11 (SIGSEGV)"),
        ],
    }
}

fn second_device(recorder: &mut Recorder) -> Device {
    let mut device = first_device(recorder);
    let mut identity = identity(NASTY, "pci:0000:01:00.0", NASTY, NASTY);
    identity.kind = "discrete".into();
    identity.cpu = None;
    identity.driver.library = NASTY.into();
    device.identity = identity;
    device.taint = vec!["layer VK_LAYER_EXAMPLE_overlay is active".into()];
    device.profiles.truncate(2);
    device.profiles[0] = profile("d3d11", NASTY, Class::Deviates, &[], direct3d(Verdict::Conforms));
    device.profiles[0].rules[4].title = NASTY.into();
    device.profiles[0].rules[4].behaviour = NASTY.into();
    device.profiles[0].rules[4].evidence[0].command = NASTY.into();
    device.profiles[0].rules[4].evidence[0].kernel = NASTY.into();
    device.findings[0].text = NASTY.into();
    device.answers[0].question = NASTY.into();
    device.answers[0].evidence[0].command = NASTY.into();
    device.answers[0].evidence[0].kernel = NASTY.into();
    device.incomplete[0].detail = NASTY.into();
    device.claims.flags.insert(NASTY.into(), true);
    device
}

/// The whole report: a software device as it is in practice, and a second one with hostile text.
pub fn report() -> Report {
    let mut recorder = Recorder::new();
    let devices = vec![first_device(&mut recorder), second_device(&mut recorder)];
    Report {
        schema: SCHEMA.into(),
        program: Program { name: "fpprobe".into(), version: "0.1.0".into() },
        host: Host {
            id: "h-7f3a91c2".into(),
            kernel: "Linux 6.1.0".into(),
            os: "Debian GNU/Linux 12 (bookworm)".into(),
        },
        started: "2026-11-20T10:00:00Z".into(),
        finished: "2026-11-20T10:00:03Z".into(),
        inputs: recorder.inputs_table(),
        devices,
        incomplete: vec![incident(
            "/usr/share/vulkan/icd.d/broken_icd.json",
            Outcome::Crashed,
            "enumeration: signal 6 (SIGABRT)",
        )],
    }
}

pub fn render(format: &str, report: &Report) -> String {
    let mut out = Vec::new();
    fpprobe_reports::render::by_name(format).unwrap().renderer.render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
