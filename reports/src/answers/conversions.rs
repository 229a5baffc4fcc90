//! Q01, Q02, Q09, Q10, Q11: what conversions do.

use fpprobe_profiles::observed_behaviour::Aspect;
use fpprobe_spirv::{Format, Op, Route};

use super::look::{ObservationView, sentence};

const ROUNDED: [Aspect; 4] = [Aspect::Rounding, Aspect::Overflow, Aspect::SubnormalResults, Aspect::Nan];

pub(super) fn to_half(look: &ObservationView<'_>) -> String {
    let ways = [
        ("fconvert_f16", "f32.fconvert_f16"),
        ("fconvert_f16 under RTE", "f32.fconvert_f16:controls=rte16"),
        ("fconvert_f16 under RTZ", "f32.fconvert_f16:controls=rtz16"),
        ("pack_half_2x16", "f32.pack_half_2x16"),
    ];
    let text = ways.map(|(name, id)| (name.to_owned(), look.behaviours(id, &ROUNDED)));
    let stored = stores(Format::Rgba16f).map(|(name, id)| (name, look.behaviours(&id, &ROUNDED)));
    sentence(text.into_iter().chain([("quantize_to_f16".to_owned(), quantized(look))]).chain(stored))
}

/// What people call each path by which a number becomes a texel, and the kernel's id.
fn stores(format: Format) -> impl Iterator<Item = (String, String)> {
    let routes = Op::find("store").map_or(&[][..], |op| op.code.routes(format));
    let name = |route: &Route| match route {
        Route::StorageImage => "image store".to_owned(),
        route => route.name().replace('_', " "),
    };
    routes.iter().map(move |route| (name(route), format!("{format}.store:route={route}")))
}

/// A result of binary32 that holds a value of binary16 is read lane by lane.
fn quantized(look: &ObservationView<'_>) -> String {
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

pub(super) fn elided(look: &ObservationView<'_>) -> String {
    // 1 + 2^-23 is no value of binary16, which has 10 bits of fraction.
    let text = |id: &str| match look.bits(id, &[0x3f80_0001]) {
        Ok(0x3f80_0001) => "elided: the operand comes back whole".to_owned(),
        Ok(0x3f80_0000 | 0x3f80_2000) => "carried out".to_owned(),
        Ok(other) => format!("neither elided nor carried out: {other:08x}"),
        Err(why) => why.to_owned(),
    };
    sentence([
        ("32 to 16 to 32 bits".to_owned(), text("f32.narrow_widen")),
        ("under FPFastMathDefault None".to_owned(), text("f32.narrow_widen:controls=fastmath0")),
    ])
}

pub(super) fn packed(look: &ObservationView<'_>) -> String {
    let text = stores(Format::B10g11r11).map(|(name, id)| {
        let behaviours = look.behaviours(&id, &ROUNDED);
        if look.ran(&id).is_err() {
            return (name, behaviours);
        }
        let numbers = [("65280", 0x477f_0000), ("infinity", 0x7f80_0000), ("NaN", 0x7fc0_0000), ("-1", 0xbf80_0000)];
        let texels = numbers.map(|(number, bits)| format!("{number} becomes {}", look.component(&id, bits)));
        (name, format!("{behaviours}, {}", texels.join(", ")))
    });
    sentence(text)
}

pub(super) fn norm(look: &ObservationView<'_>) -> String {
    let packing = |name: &str| {
        let id = format!("f32.{name}");
        (format!("{name} of NaN"), look.component(&id, 0x7fc0_0000))
    };
    let stored = [Format::Rgba8unorm, Format::Rgba8snorm].into_iter().flat_map(|format| {
        stores(format).map(move |(name, id)| {
            let text = match look.ran(&id) {
                Ok(_) => {
                    let [nan, half] = [0x7fc0_0000, 0x3f00_0000].map(|bits| look.component(&id, bits));
                    format!("NaN becomes {nan}, 0.5 between two codes {half}")
                }
                Err(why) => why.to_owned(),
            };
            (format!("{format} by {name}"), text)
        })
    });
    sentence(stored.chain(["pack_unorm_4x8", "pack_snorm_4x8"].map(packing)))
}

pub(super) fn integers(look: &ObservationView<'_>) -> String {
    let of = |name: &str, id: &str, bits: u64| (name.to_owned(), look.value(id, &[bits]));
    let (signed, unsigned) = ("f32.convert_f_to_s", "f32.convert_f_to_u");
    sentence([
        of("2^31 to signed", signed, 0x4f00_0000),
        of("-inf to signed", signed, 0xff80_0000),
        of("NaN to signed", signed, 0x7fc0_0000),
        of("2^32 to unsigned", unsigned, 0x4f80_0000),
        of("-1 to unsigned", unsigned, 0xbf80_0000),
        of("NaN to unsigned", unsigned, 0x7fc0_0000),
        ("unsigned to float".to_owned(), look.behaviour("f32.convert_u_to_f", Aspect::Rounding)),
        ("signed to float".to_owned(), look.behaviour("f32.convert_s_to_f", Aspect::Rounding)),
    ])
}
