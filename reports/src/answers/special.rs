//! Q06, Q07, Q08, Q15: NaN, infinities and signed zeros.

use std::sync::LazyLock;

use fpprobe_profiles::judge::RuleVerdict;
use fpprobe_profiles::observed_behaviour::Aspect;
use fpprobe_profiles::profile::built_in;
use fpprobe_profiles::{Level, Profile, Verdict};
use fpprobe_spirv::{Control, Kernel, Route};

use super::look::{ObservationView, UNMEASURED, first_of, sentence};

const CONTROLS: [&str; 3] = ["", "szin32", "fastmath0"];

fn under(op: &str, controls: &str) -> String {
    if controls.is_empty() { format!("f32.{op}") } else { format!("f32.{op}:controls={controls}") }
}

fn named(question: &str, controls: &str) -> String {
    if controls.is_empty() { question.to_owned() } else { format!("{question} under {controls}") }
}

pub(super) fn extremes(look: &ObservationView<'_>) -> String {
    let ops = ["fmin", "fmax", "nmin", "nmax"];
    let mut parts = Vec::new();
    for controls in CONTROLS {
        parts.extend(ops.map(|op| (named(op, controls), look.behaviour(&under(op, controls), Aspect::Nan))));
        // clamp(NaN, 0, 1).
        let clamped = |op: &str| look.value(&under(op, controls), &[0x7fc0_0000, 0, 0x3f80_0000]);
        parts.extend(["fclamp", "nclamp"].map(|op| (named(&format!("{op}(NaN, 0, 1)"), controls), clamped(op))));
    }
    sentence(parts)
}

pub(super) fn tests(look: &ObservationView<'_>) -> String {
    let (nan, one) = (0x7fc0_0000, 0x3f80_0000);
    let truth = |id: &str, case: &[u64]| match look.bits(id, case) {
        Ok(1) => "right, true".to_owned(),
        Ok(_) => "false: folded away".to_owned(),
        Err(why) => why.to_owned(),
    };
    let mut parts = Vec::new();
    for controls in CONTROLS {
        parts.push((named("is_nan(NaN)", controls), truth(&under("is_nan", controls), &[nan])));
        parts.push((named("NaN != NaN", controls), truth(&under("ne_self", controls), &[nan])));
        parts.push((named("not (NaN < 1)", controls), truth(&under("not_less_than", controls), &[nan, one])));
    }
    sentence(parts)
}

pub(super) fn edges(look: &ObservationView<'_>) -> String {
    let of = |name: &str, id: &str, bits: u64| (name.to_owned(), look.value(id, &[bits]));
    sentence([
        of("rsq(-0)", "f32.inverse_sqrt", 0x8000_0000),
        of("rsq(2^-149)", "f32.inverse_sqrt", 1),
        of("sqrt(-2^-149)", "f32.sqrt", 0x8000_0001),
        of("fract(inf)", "f32.fract", 0x7f80_0000),
        of("fract(-inf)", "f32.fract", 0xff80_0000),
        of("log(2^-149)", "f32.log", 1),
        of("log2(2^-149)", "f32.log2", 1),
    ])
}

/// What is given where OpenGL, WGSL and Vulkan accept anything.
pub(super) fn undefined(look: &ObservationView<'_>) -> String {
    const NEGATIVE_ZERO: u64 = 0x8000_0000;
    let of = |name: &str, id: &str, case: &[u64]| (name.to_owned(), look.value(id, case));
    sentence([
        of("log(-1)", "f32.log", &[0xbf80_0000]),
        of("log(2^-149)", "f32.log", &[1]),
        of("log2(-1)", "f32.log2", &[0xbf80_0000]),
        of("log2(2^-149)", "f32.log2", &[1]),
        of("inversesqrt(-1)", "f32.inverse_sqrt", &[0xbf80_0000]),
        of("pow(0, 0)", "f32.pow", &[0, 0]),
        of("pow(0, -0)", "f32.pow", &[0, NEGATIVE_ZERO]),
        of("pow(-0, 0)", "f32.pow", &[NEGATIVE_ZERO, 0]),
        of("pow(-0, -0)", "f32.pow", &[NEGATIVE_ZERO, NEGATIVE_ZERO]),
        of("acosh(0)", "f32.acosh", &[0]),
        of("acosh(-1)", "f32.acosh", &[0xbf80_0000]),
        of("asin(2)", "f32.asin", &[0x4000_0000]),
    ])
}

/// The rules of Vulkan for who requests `FPFastMathDefault` None.
static STRICT: LazyLock<Option<Profile>> = LazyLock::new(|| {
    let mut rules = built_in("vulkan")?.ok()?;
    let strict = |kernel: &Kernel| kernel.controls.contains(Control::FastMath0);
    rules
        .rules
        .retain(|rule| rule.level == Level::Required && rule.parts.iter().flat_map(|part| &part.lowerings).all(strict));
    // No mode beside it: what it promises it promises alone.
    rules.modes.clear();
    rules.rounding_modes.clear();
    rules.late_modes.clear();
    Some(rules)
});

pub(super) fn fast_math(look: &ObservationView<'_>) -> String {
    let Some(rules) = &*STRICT else { return UNMEASURED.to_owned() };
    for kernel in rules.kernels() {
        look.want(kernel);
        // What a compiler folds it folds by itself; whole vectors and matrices it takes apart, and a run does not ask them so.
        let apart = kernel.op.is_geometric() || kernel.has_matrices();
        if let (false, Ok(folded)) = (apart, Kernel { route: Route::Spec, ..kernel }.checked()) {
            look.want(folded);
        }
    }
    let judged = look.judgement(rules).rules;
    let of = |verdict: Verdict| judged.iter().filter(move |rule| rule.verdict == verdict);
    let (lanes, open) = (judged.iter().map(|rule| rule.lanes).sum::<usize>(), of(Verdict::Incomplete).count());
    let deviating: Vec<&RuleVerdict> = of(Verdict::Deviates).collect();
    if !deviating.is_empty() {
        let mut kernels: Vec<String> = Vec::new();
        for kernel in deviating.iter().flat_map(|rule| &rule.deviating).map(Kernel::to_string) {
            if !kernels.contains(&kernel) {
                kernels.push(kernel);
            }
        }
        let failing: usize = deviating.iter().map(|rule| rule.failing).sum();
        let ids: Vec<&str> = deviating.iter().map(|rule| rule.id.as_str()).collect();
        let (ids, kernels) = (ids.join(", "), first_of(&kernels));
        return format!("no: {failing} of {lanes} answers that it governs are wrong ({ids}), of {kernels}");
    }
    match (lanes, open) {
        (0, _) if of(Verdict::Unsupported).count() > 0 => "not offered".to_owned(),
        (0, _) => UNMEASURED.to_owned(),
        (_, 0) => format!("yes: all {lanes} answers that it governs are right"),
        _ => format!("as far as measured, yes: {lanes} answers are right; {open} of {} rules not judged", judged.len()),
    }
}
