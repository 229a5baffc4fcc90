//! Q06, Q07, Q08, Q15: NaN, infinities and signed zeros.

use fpprobe_profiles::manner::{Aspect, manner};
use fpprobe_spirv::Kernel;

use super::look::{Look, UNMEASURED, sentence};

const CONTROLS: [&str; 3] = ["", "szin32", "fastmath0"];

fn under(op: &str, controls: &str) -> String {
    if controls.is_empty() { format!("f32.{op}") } else { format!("f32.{op}:controls={controls}") }
}

fn named(question: &str, controls: &str) -> String {
    if controls.is_empty() { question.to_owned() } else { format!("{question} under {controls}") }
}

pub(super) fn extremes(look: &Look<'_>) -> String {
    let ops = ["fmin", "fmax", "nmin", "nmax"];
    let mut parts = Vec::new();
    for controls in CONTROLS {
        parts.extend(ops.map(|op| (named(op, controls), look.manner(&under(op, controls), Aspect::Nan))));
        // clamp(NaN, 0, 1).
        let clamped = |op: &str| look.value(&under(op, controls), &[0x7fc0_0000, 0, 0x3f80_0000]);
        parts.extend(["fclamp", "nclamp"].map(|op| (named(&format!("{op}(NaN, 0, 1)"), controls), clamped(op))));
    }
    sentence(parts)
}

pub(super) fn tests(look: &Look<'_>) -> String {
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

pub(super) fn edges(look: &Look<'_>) -> String {
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

pub(super) fn fast_math(look: &Look<'_>) -> String {
    for op in ["inverse_sqrt", "fmin", "nmin", "fadd", "fmul"] {
        // Asked for, so that they are measured where nothing else is.
        let _ = look.ran(&under(op, "fastmath0"));
    }
    let (mut held, mut lost) = (0, Vec::new());
    // Of vectors as a whole, and of two results, not every part depends on the NaN.
    let each = |kernel: &Kernel| kernel.is_plain() && kernel.op.is_componentwise() && kernel.op.second.is_none();
    let under_it = look.all().filter(|observation| observation.kernel.controls.to_string() == "fastmath0");
    let under_it = under_it.filter(|observation| each(&observation.kernel));
    for observation in under_it {
        match manner(observation, Aspect::Nan) {
            Some(seen) if seen.way.is_some() => held += 1,
            Some(seen) => {
                look.show(observation, seen.case);
                lost.push(observation.kernel.stem());
            }
            None => {}
        }
    }
    let minus = match look.bits("f32.inverse_sqrt:controls=fastmath0", &[0x8000_0000]) {
        Ok(0xff80_0000) => "rsq(-0) is -inf under it".to_owned(),
        Ok(bits) => format!("rsq(-0) is {bits:08x} under it, not -inf"),
        Err(why) => return format!("FPFastMathDefault None: {why}"),
    };
    match (held, lost.as_slice()) {
        (0, []) => format!("{minus}; NaN: {UNMEASURED}"),
        (_, []) => format!("{minus}; all {held} kernels measured under it treat a NaN operand in one way"),
        _ => format!(
            "{minus}; {held} kernels treat a NaN operand in one way under it, {} do not: {}",
            lost.len(),
            lost.join(", ")
        ),
    }
}
