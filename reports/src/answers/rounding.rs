//! Q12, Q13, Q14, Q16: rounding, division, contraction, large angles.

use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::observed_behaviour::Aspect;
use fpprobe_profiles::oracle::{Operand, Signature, distance};

use super::look::{ObservationView, UNMEASURED, sentence};

/// Ends of ranges of |x| in radians, as binary32: pi, 100 pi, 2^15, the largest finite value.
const RANGES: [(&str, u64); 4] =
    [("|x| <= pi", 0x4049_0fdb), ("<= 100 pi", 0x439d_1463), ("<= 2^15", 0x4700_0000), ("beyond", 0x7f7f_ffff)];

pub(super) fn angles(look: &ObservationView<'_>) -> String {
    sentence(["sin", "cos"].map(|op| (op.to_owned(), errors(look, &format!("f32.{op}")))))
}

/// The largest absolute error in each range.
fn errors(look: &ObservationView<'_>, id: &str) -> String {
    let observation = match look.ran(id) {
        Ok(observation) => observation,
        Err(why) => return why.to_owned(),
    };
    let signature = Signature::new(&observation.kernel);
    let Some(Encoding::Float(layout)) = signature.encodings.first().copied() else { return UNMEASURED.to_owned() };
    let mut worst: [Option<(f64, usize)>; RANGES.len()] = [None; RANGES.len()];
    for (index, case) in observation.cases.iter().enumerate() {
        let magnitude = case[0] & layout.magnitude_mask();
        let Some(range) = RANGES.iter().position(|(_, end)| magnitude <= *end) else { continue };
        let result = Operand { layout: Some(layout), bits: observation.answer(index)[0] };
        let error = distance(observation.kernel.op.function, &signature.operands(case, 0), result);
        // A result that is no number is as wrong as can be.
        let error = error.unwrap_or(f64::INFINITY);
        if worst[range].is_none_or(|(most, _)| error > most) {
            worst[range] = Some((error, index));
        }
    }
    let text = RANGES.iter().zip(worst).filter_map(|((name, _), worst)| {
        let (error, case) = worst?;
        look.show(observation, case);
        Some(format!("{error:.2e} for {name}"))
    });
    format!("largest error {}", text.collect::<Vec<_>>().join(", "))
}

pub(super) fn division(look: &ObservationView<'_>) -> String {
    let id = "f32.fdiv";
    let observation = match look.ran(id) {
        Ok(observation) => observation,
        Err(why) => return format!("x/y: {why}"),
    };
    // Quotients of numbers by |y| > 2^126: the reciprocal is subnormal there, and a division in two steps that flushes it gives 0.
    let (mut zero, mut other) = (0, 0);
    let (mut unequal, mut inexact) = (0, 0);
    // Of each claim the first answer is shown, and what speaks against it.
    let mut seen = [false; 3];
    for (index, case) in observation.cases.iter().enumerate() {
        let magnitude = |bits: u64| bits & 0x7fff_ffff;
        let (x, y, quotient) = (magnitude(case[0]), magnitude(case[1]), observation.answer(index)[0]);
        let normal = |bits: u64| (0x0080_0000..0x7f80_0000).contains(&bits);
        if !normal(x) || !normal(y) {
            continue;
        }
        // 2^126 is 7e800000; with x above 1 the quotient is a normal number.
        let mut report_row = |which: usize, said: bool, count: &mut usize| {
            *count += usize::from(said);
            if said || !std::mem::replace(&mut seen[which], true) {
                look.show(observation, index);
            }
        };
        if y > 0x7e80_0000 && x >= 0x7e80_0000 {
            let is_zero = magnitude(quotient) == 0;
            other += usize::from(!is_zero);
            report_row(0, is_zero, &mut zero);
        }
        if case[0] == case[1] {
            report_row(1, quotient != 0x3f80_0000, &mut unequal);
        }
        if case[1] == 0x3f80_0000 {
            report_row(2, quotient != case[0], &mut inexact);
        }
    }
    let large = match (zero, other) {
        (0, 0) => UNMEASURED.to_owned(),
        (0, _) => "gives the quotient: one step, or a reciprocal that keeps subnormals".to_owned(),
        (_, 0) => "gives 0: two steps, the reciprocal flushed".to_owned(),
        _ => format!("gives 0 in {zero} of {} cases", zero + other),
    };
    let exact =
        |wrong: usize, right: &str| if wrong == 0 { right.to_owned() } else { format!("wrong in {wrong} cases") };
    sentence([
        ("x/y with |y| > 2^126".to_owned(), large),
        ("x/x".to_owned(), exact(unequal, "1")),
        ("x/1".to_owned(), exact(inexact, "x")),
        ("quotients".to_owned(), look.behaviour(id, Aspect::Rounding)),
    ])
}

pub(super) fn modes(look: &ObservationView<'_>) -> String {
    let mut parts = Vec::new();
    for (format, width) in [("f32", 32), ("f16", 16), ("f64", 64)] {
        for mode in ["", "rte", "rtz"] {
            let (keys, name) = match mode {
                "" => (String::new(), String::new()),
                mode => (format!(":controls={mode}{width}"), format!(" under {mode}{width}")),
            };
            for op in ["fadd", "fmul"] {
                let id = format!("{format}.{op}{keys}");
                parts.push((format!("{format} {op}{name}"), look.behaviour(&id, Aspect::Rounding)));
            }
        }
    }
    sentence(parts)
}

pub(super) fn contraction(look: &ObservationView<'_>) -> String {
    // (1 + u)^2 - (1 + 2u), u one ulp of 1: u^2 where fused, 0 where each step is rounded.
    let case = [0x3f80_0001, 0x3f80_0001, 0xbf80_0002];
    let text = |id: &str| match look.bits(id, &case) {
        Ok(0) => "rounds twice".to_owned(),
        Ok(0x2880_0000) => "rounds once: fused".to_owned(),
        Ok(other) => format!("gives {other:08x}, neither fused nor in two steps"),
        Err(why) => why.to_owned(),
    };
    sentence([
        ("multiply, then add".to_owned(), text("f32.mul_then_add")),
        ("under NoContraction".to_owned(), text("f32.mul_then_add:controls=nocontract")),
        ("under FPFastMathDefault None".to_owned(), text("f32.mul_then_add:controls=fastmath0")),
        ("fma".to_owned(), text("f32.fma")),
        ("fma under NoContraction".to_owned(), text("f32.fma:controls=nocontract")),
    ])
}
