//! Q03, Q04, Q05: what becomes of subnormals.

use fpprobe_profiles::observed_behaviour::Aspect;

use super::look::{ObservationView, sentence};

const BOTH: [Aspect; 2] = [Aspect::SubnormalOperands, Aspect::SubnormalResults];
const OPERATIONS: [&str; 3] = ["fadd", "fmul", "fma"];

fn under(look: &ObservationView<'_>, format: &str, controls: &str) -> impl Iterator<Item = (String, String)> {
    let keys = if controls.is_empty() { String::new() } else { format!(":controls={controls}") };
    let mode = if controls.is_empty() { String::new() } else { format!(" under {controls}") };
    OPERATIONS.map(|op| (format!("{op}{mode}"), look.behaviours(&format!("{format}.{op}{keys}"), &BOTH))).into_iter()
}

pub(super) fn single(look: &ObservationView<'_>) -> String {
    let modes = ["", "dp16", "dp32", "ftz32"];
    sentence(modes.into_iter().flat_map(|controls| under(look, "f32", controls)).collect::<Vec<_>>())
}

pub(super) fn half(look: &ObservationView<'_>) -> String {
    let modes = ["", "dp16", "ftz16"];
    sentence(modes.into_iter().flat_map(|controls| under(look, "f16", controls)).collect::<Vec<_>>())
}

pub(super) fn moved(look: &ObservationView<'_>) -> String {
    // -2^-127, and -2^-126 * 2^-1, which is the same.
    let (subnormal, product) = (0x8040_0000, [0x8080_0000, 0x3f00_0000]);
    let flushed = match look.bits("f32.fmul", &product) {
        Ok(0x8000_0000) => "keeps its sign".to_owned(),
        Ok(0) => "is +0".to_owned(),
        Ok(bits) if bits == subnormal => "does not arise: subnormal results are kept".to_owned(),
        Ok(other) => format!("is {other:08x}"),
        Err(why) => why.to_owned(),
    };
    let keeps = |id: &str, case: &[u64], operand: u64, kept: u64| match look.bits(id, case) {
        Ok(bits) if bits == kept => "not flushed".to_owned(),
        Ok(bits) => format!("gives {bits:08x} for {operand:08x}"),
        Err(why) => why.to_owned(),
    };
    // The other operand of a choice is 5 * 2^3 in the catalogue's list.
    let (one, other) = (0x0000_0001, 0x4220_0000);
    sentence([
        ("a flushed negative result".to_owned(), flushed),
        ("fabs".to_owned(), keeps("f32.fabs", &[subnormal], subnormal, 0x0040_0000)),
        ("fnegate".to_owned(), keeps("f32.fnegate", &[subnormal], subnormal, 0x0040_0000)),
        ("select".to_owned(), keeps("f32.select", &[1, one, other], one, one)),
        ("phi".to_owned(), keeps("f32.phi", &[1, one, other], one, one)),
    ])
}
