//! Q01, Q02, Q09, Q10, Q11: what conversions do.

use fpprobe_profiles::manner::Aspect;

use super::look::{Look, UNMEASURED, sentence};

const ROUNDED: [Aspect; 4] = [Aspect::Rounding, Aspect::Overflow, Aspect::SubnormalResults, Aspect::Nan];

pub(super) fn to_half(look: &Look<'_>) -> String {
    let ways = [
        ("fconvert_f16", "f32.fconvert_f16"),
        ("fconvert_f16 under RTE", "f32.fconvert_f16:controls=rte16"),
        ("fconvert_f16 under RTZ", "f32.fconvert_f16:controls=rtz16"),
        ("pack_half_2x16", "f32.pack_half_2x16"),
    ];
    let told = ways.map(|(name, id)| (name.to_owned(), look.manners(id, &ROUNDED)));
    let others = ["image store", "clear"].map(|name| (name.to_owned(), UNMEASURED.to_owned()));
    sentence(told.into_iter().chain([("quantize_to_f16".to_owned(), quantized(look))]).chain(others))
}

/// A result of binary32 that holds a value of binary16 is read lane by lane.
fn quantized(look: &Look<'_>) -> String {
    let id = "f32.quantize_to_f16";
    if let Err(why) = look.ran(id) {
        return why.to_owned();
    }
    // One ulp of binary32 below and above the midpoint between 2^-14 and the next value of binary16; 65520; 2^-24.
    let above = look.bits(id, &[0x3880_1001]);
    let rounding = match above {
        Ok(0x3880_2000) => "rounds to nearest",
        Ok(0x3880_0000) => "rounds towards zero",
        Ok(_) => "rounds to no neighbour",
        Err(why) => why,
    };
    let overflow = match look.bits(id, &[0x477f_f000]) {
        Ok(0x7f80_0000) => "overflows to infinity",
        Ok(0x477f_e000) => "overflows to the largest finite value",
        Ok(_) => "overflows to something else",
        Err(why) => why,
    };
    let subnormal = match look.bits(id, &[0x3380_0000]) {
        Ok(0 | 0x8000_0000) => "flushes subnormal results",
        Ok(_) => "keeps subnormal results",
        Err(why) => why,
    };
    let nan = match look.bits(id, &[0x7f80_0001]) {
        Ok(bits) if bits & 0x7fff_ffff > 0x7f80_0000 => "keeps a NaN a NaN",
        Ok(_) => "loses a NaN",
        Err(why) => why,
    };
    [rounding, overflow, subnormal, nan].join(", ")
}

pub(super) fn elided(look: &Look<'_>) -> String {
    // 1 + 2^-23 is no value of binary16, which has 10 bits of fraction.
    let told = |id: &str| match look.bits(id, &[0x3f80_0001]) {
        Ok(0x3f80_0001) => "elided: the operand comes back whole".to_owned(),
        Ok(0x3f80_0000 | 0x3f80_2000) => "carried out".to_owned(),
        Ok(other) => format!("neither elided nor carried out: {other:08x}"),
        Err(why) => why.to_owned(),
    };
    sentence([
        ("32 to 16 to 32 bits".to_owned(), told("f32.narrow_widen")),
        ("under FPFastMathDefault None".to_owned(), told("f32.narrow_widen:controls=fastmath0")),
    ])
}

pub(super) fn packed(look: &Look<'_>) -> String {
    let id = "b10g11r11.store:route=storage_image";
    if let Err(why) = look.ran(id) {
        return format!("storage images: {why}");
    }
    let texel = |name: &str, bits: u64| (name.to_owned(), look.channel(id, bits));
    sentence([
        ("storage images".to_owned(), look.manners(id, &ROUNDED)),
        texel("65280", 0x477f_0000),
        texel("infinity", 0x7f80_0000),
        texel("NaN", 0x7fc0_0000),
        texel("-1", 0xbf80_0000),
        ("other paths".to_owned(), UNMEASURED.to_owned()),
    ])
}

pub(super) fn norm(look: &Look<'_>) -> String {
    let of = |name: &str, id: &str, bits: u64| (name.to_owned(), look.byte(id, bits));
    sentence([
        ("stores to images".to_owned(), UNMEASURED.to_owned()),
        of("pack_unorm_4x8 of NaN", "f32.pack_unorm_4x8", 0x7fc0_0000),
        of("pack_snorm_4x8 of NaN", "f32.pack_snorm_4x8", 0x7fc0_0000),
    ])
}

pub(super) fn integers(look: &Look<'_>) -> String {
    let of = |name: &str, id: &str, bits: u64| (name.to_owned(), look.value(id, &[bits]));
    let (signed, unsigned) = ("f32.convert_f_to_s", "f32.convert_f_to_u");
    sentence([
        of("2^31 to signed", signed, 0x4f00_0000),
        of("-inf to signed", signed, 0xff80_0000),
        of("NaN to signed", signed, 0x7fc0_0000),
        of("2^32 to unsigned", unsigned, 0x4f80_0000),
        of("-1 to unsigned", unsigned, 0xbf80_0000),
        of("NaN to unsigned", unsigned, 0x7fc0_0000),
        ("unsigned to float".to_owned(), look.manner("f32.convert_u_to_f", Aspect::Rounding)),
        ("signed to float".to_owned(), look.manner("f32.convert_s_to_f", Aspect::Rounding)),
    ])
}
