//! Bits for people: the shortest decimal that reads back, with what the decimal hides (kind of NaN,
//! subnormal, sign). Whole numbers of formats below 32 bits stand in full.

use fpprobe_spirv::channel::SHARED_EXPONENT;
use fpprobe_spirv::layout::{BINARY32, BINARY64};
use fpprobe_spirv::{Channel, Coding, FloatLayout, Format};

/// The value of these bits: `1.5`, `-0`, `inf`, `NaN(quiet, payload 0x12345)`, `1e-45 (subnormal)`,
/// `true`, `(1.5, 0, inf)` for a texel.
pub fn decimal(format: Format, bits: u64) -> String {
    match (format, format.float()) {
        (Format::I32, _) => (bits as u32).cast_signed().to_string(),
        (Format::Bool, _) => (bits & 1 == 1).to_string(),
        (_, Some(layout)) => float(layout, bits),
        _ if format.channels().is_empty() => bits.to_string(),
        _ => {
            let channels: Vec<String> =
                format.channels().iter().map(|channel| of_texel(*channel, bits)).collect();
            format!("({})", channels.join(", "))
        }
    }
}

/// The value of a channel of a texel.
fn of_texel(channel: Channel, texel: u64) -> String {
    let own = texel >> channel.shift;
    if channel.coding != Coding::Shared {
        return coded(channel.coding, own);
    }
    let (place, bits) = SHARED_EXPONENT;
    let exponent = (texel >> place & ((1 << bits) - 1)) as u32;
    // Of 2^-24 a power of up to 2^31: exact in binary64.
    let significand = (own & 511) as u32;
    (f64::from(significand) * f64::from(1 << exponent) / f64::from(1 << 24)).to_string()
}

/// The value of a channel; bits above it are ignored. That of sRGB is the one before its transfer
/// function is undone, and a significand has none without its exponent.
pub(crate) fn coded(coding: Coding, bits: u64) -> String {
    let width = coding.bits();
    let code = (bits & (u64::MAX >> (64 - width))) as u32;
    let share = |code: i32, most: u64| (f64::from(code) / most as f64) as f32;
    match coding {
        Coding::Float(layout) => float(layout, bits),
        Coding::Norm { signed: true, .. } => {
            let unused = 32 - width;
            let code = (code << unused).cast_signed() >> unused;
            share(code, coding.positive() - 1).max(-1.0).to_string()
        }
        Coding::Norm { .. } => share(code.cast_signed(), coding.positive() - 1).to_string(),
        Coding::Srgb => format!("{} in sRGB", share(code.cast_signed(), coding.positive() - 1)),
        Coding::Shared => code.to_string(),
    }
}

/// The value of an encoding of this layout; bits above it are ignored.
pub fn float(layout: FloatLayout, bits: u64) -> String {
    let sign = if layout.is_negative(bits) { "-" } else { "" };
    let magnitude = bits & layout.magnitude_mask();
    if layout.is_nan(bits) {
        let quiet = magnitude & layout.quiet_bit() != 0;
        let payload = magnitude & (layout.quiet_bit() - 1);
        // The small unsigned formats have no quiet NaN: their fraction is all payload.
        return match (layout.signed, payload) {
            (false, _) => format!("NaN(payload {:#x})", magnitude & (layout.min_normal() - 1)),
            (true, 0) => format!("{sign}NaN(quiet)"),
            (true, _) => format!(
                "{sign}NaN({}, payload {payload:#x})",
                if quiet { "quiet" } else { "signalling" }
            ),
        };
    }
    if layout.is_infinite(bits) {
        return format!("{sign}inf");
    }
    if magnitude == 0 {
        return format!("{sign}0");
    }
    let mark = if layout.is_subnormal(bits) { " (subnormal)" } else { "" };
    format!("{sign}{}{mark}", plain(&shortest(layout, magnitude)))
}

/// The encoding of a number in decimal, of the nearest binary32 or binary64; smaller formats must
/// have it exactly. Also of `inf`, `nan` (quiet), `snan` (signalling), `max` (the largest finite
/// value), `min` (the smallest normal one) and `sub` (the smallest subnormal one), each with a sign
/// before it: `-`, `+`, or U+2212.
pub fn number(layout: FloatLayout, text: &str) -> Option<u64> {
    let (sign, name) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(name) => (Some(layout.sign_bit()).filter(|sign| *sign != 0)?, name),
        None => (0, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude = match &*name.to_ascii_lowercase() {
        "inf" | "infinity" => layout.infinity(),
        "nan" => layout.infinity() | layout.quiet_bit(),
        "snan" => layout.infinity() | 1,
        "max" => layout.max_finite(),
        "min" => layout.min_normal(),
        "sub" => 1,
        _ if !name.starts_with(|c: char| c.is_ascii_digit() || c == '.') => return None,
        _ => match layout {
            BINARY64 => name.parse::<f64>().ok()?.to_bits(),
            BINARY32 => u64::from(name.parse::<f32>().ok()?.to_bits()),
            _ => encode_exactly(layout, name.parse().ok()?)?,
        },
    };
    Some(sign | magnitude)
}

/// The encoding of a number in this layout, where it is one of its values.
pub(crate) fn encode_exactly(layout: FloatLayout, number: f64) -> Option<u64> {
    let sign = if number.is_sign_negative() { layout.sign_bit() } else { 0 };
    if number.is_nan() || (number.is_sign_negative() && !layout.signed) {
        return None;
    }
    // Encodings of one sign are in numeric order, so that a search finds the number or shows that
    // it is missing.
    let (mut low, mut high) = (0, layout.infinity());
    let magnitude = number.abs();
    while low < high {
        let middle = low + (high - low) / 2;
        if value(layout, middle) < magnitude { low = middle + 1 } else { high = middle }
    }
    (value(layout, low).to_bits() == magnitude.to_bits()).then_some(sign | low)
}

/// The number of a positive encoding; exact, since every format here is a subset of binary64.
fn value(layout: FloatLayout, magnitude: u64) -> f64 {
    if layout == BINARY64 {
        return f64::from_bits(magnitude);
    }
    if magnitude >= layout.infinity() {
        return f64::INFINITY;
    }
    let (exponent, fraction) =
        (magnitude >> layout.fraction, magnitude & (layout.min_normal() - 1));
    let significand = if exponent == 0 { fraction } else { fraction | layout.min_normal() };
    // The exponent of the last place, biased as in binary64; positive, for these formats reach far
    // less low.
    let scale = 1023 + exponent.max(1)
        - u64::from(layout.bias().unsigned_abs())
        - u64::from(layout.fraction);
    significand as u32 as f64 * f64::from_bits(scale << 52)
}

/// Whole numbers of small formats below this are shown in full.
const HOUSEHOLD: f64 = 1e6;

/// The fewest digits that read back as this finite, non-zero encoding, in scientific notation.
fn shortest(layout: FloatLayout, magnitude: u64) -> String {
    match layout {
        BINARY64 => return format!("{:e}", f64::from_bits(magnitude)),
        BINARY32 => return format!("{:e}", f32::from_bits(magnitude as u32)),
        _ => {}
    }
    let number = value(layout, magnitude);
    // 65504 and 65024 are household names; 65500 and 65000 would read back as well, but who knows
    // them?
    if number.fract() == 0.0 && number < HOUSEHOLD {
        return format!("{number:e}");
    }
    let below = value(layout, magnitude - 1);
    // Above the largest finite value lies, for rounding, the next power of two.
    let above = if magnitude == layout.max_finite() {
        2.0 * number - below
    } else {
        value(layout, magnitude + 1)
    };
    let (low, high) = (f64::midpoint(below, number), f64::midpoint(number, above));
    let even = magnitude & 1 == 0;
    (0..17)
        .map(|digits| format!("{number:.digits$e}"))
        .find(|text| {
            text.parse().is_ok_and(|read: f64| {
                read > low && read < high || even && (low..=high).contains(&read)
            })
        })
        .unwrap_or_else(|| format!("{number:e}"))
}

/// Scientific notation turned into plain digits where that stays short.
fn plain(scientific: &str) -> String {
    let exponent: i32 =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    match scientific.parse::<f64>() {
        Ok(number) if (-4..10).contains(&exponent) => number.to_string(),
        _ => scientific.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::layout::{F10, F11};

    use super::*;

    #[test]
    fn every_class_of_value_is_distinguished() {
        for (format, bits, text) in [
            (Format::F32, 0x80000000, "-0"),
            (Format::F32, 0x3f800000, "1"),
            (Format::F32, 0x3dcccccd, "0.1"),
            (Format::F32, 0x7f7fffff, "3.4028235e38"),
            (Format::F32, 0x00000001, "1e-45 (subnormal)"),
            (Format::F32, 0x807fffff, "-1.1754942e-38 (subnormal)"),
            (Format::F32, 0xff800000, "-inf"),
            (Format::F32, 0x7fc00000, "NaN(quiet)"),
            (Format::F32, 0x7fd2345f, "NaN(quiet, payload 0x12345f)"),
            (Format::F32, 0xff800001, "-NaN(signalling, payload 0x1)"),
            (Format::F32, 0x4b800000, "16777216"),
            (Format::F16, 0x3c00, "1"),
            (Format::F16, 0x2e66, "0.1"),
            (Format::F16, 0x7bff, "65504"),
            (Format::F16, 0x0001, "6e-8 (subnormal)"),
            (Format::F16, 0x03ff, "6.1e-5 (subnormal)"),
            (Format::F64, 0x8000000000000001, "-5e-324 (subnormal)"),
            (Format::F64, 0x3fb999999999999a, "0.1"),
            (Format::I32, 0xffffffff, "-1"),
            (Format::U32, 0xffffffff, "4294967295"),
            (Format::Bf16, 0x5fc0, "2.77e19"),
            (Format::Bf16, 0xc180, "-16"),
            (Format::Bf16, 0x0001, "9e-41 (subnormal)"),
            (Format::E4m3, 0x7e, "448"),
            (Format::E4m3, 0x01, "0.002 (subnormal)"),
            (Format::E5m2, 0x7b, "57344"),
            (Format::Bool, 1, "true"),
            (Format::B10g11r11, 0x7bf, "(65024, 0, 0)"),
            (Format::R8unorm, 0x80, "(0.5019608)"),
            (Format::R8snorm, 0x80, "(-1)"),
            (Format::R8snorm, 0xc0, "(-0.503937)"),
            (Format::A2b10g10r10, 0xffff_ffff, "(1, 1, 1, 1)"),
            (Format::Rgba8srgb, 0xff00_00ff, "(1 in sRGB, 0 in sRGB, 0 in sRGB, 1)"),
            (Format::E5b9g9r9, 15 << 27 | 1 << 18 | 511 << 9, "(0, 0.998046875, 0.001953125)"),
            (
                Format::B10g11r11,
                0x3e0 << 22 | 0x7c1 << 11 | 1,
                "(1e-6 (subnormal), NaN(payload 0x1), inf)",
            ),
        ] {
            assert_eq!(decimal(format, bits), text, "{format} {bits:x}");
        }
    }

    /// Nearest value of the layout, ties to even: what reading the decimal back means.
    fn read_back(layout: FloatLayout, text: &str) -> u64 {
        let number: f64 = text.parse().unwrap();
        let distance = |bits: &u64| (value(layout, *bits) - number).abs();
        (0..=layout.max_finite())
            .min_by(|a, b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1))))
            .unwrap()
    }

    #[test]
    fn small_formats_read_back() {
        let half = Format::F16.float().unwrap();
        for (layout, step) in [(F10, 1), (F11, 1), (half, 97)] {
            for bits in (1..=layout.max_finite()).step_by(step) {
                let text = float(layout, bits);
                let number = text.split(' ').next().unwrap();
                assert_eq!(read_back(layout, number), bits, "{text}");
            }
        }
    }

    #[test]
    fn numbers_that_are_values_of_the_format_are_found() {
        let single = Format::F32.float().unwrap();
        assert_eq!(encode_exactly(single, -0.0), Some(0x80000000));
        assert_eq!(encode_exactly(single, 1.5), Some(0x3fc00000));
        assert_eq!(encode_exactly(single, f64::NEG_INFINITY), Some(0xff800000));
        assert_eq!(encode_exactly(single, f64::from_bits(0x36a0000000000000)), Some(1));
        assert_eq!(encode_exactly(single, 0.1), None);
        assert_eq!(number(Format::Bf16.float().unwrap(), "-1.5"), Some(0xbfc0));
        assert_eq!(number(Format::E4m3.float().unwrap(), "448"), Some(0x7e));
        assert_eq!(encode_exactly(F11, 65024.0), Some(0x7bf));
        assert_eq!(encode_exactly(F11, -1.0), None);
    }
}
