//! Staircases: what conversions to floats of 10, 11 and 16 bits make of numbers, path by path.
//!
//! Numbers are drawn in steps of the small format: its encoding, and between two encodings the
//! share of the way from the one value to the next. There what would not be rounded lies on the
//! diagonal; rounding towards zero keeps below it, rounding to nearest crosses it in the middle of
//! each step, and dots at the middles tell ties apart.

mod drawn;

use fpprobe_profiles::Observation;
use fpprobe_profiles::encoding::{Encoding, PartReader};
use fpprobe_profiles::observed_behaviour::{Aspect, BehaviourScan};
use fpprobe_profiles::oracle::Signature;
use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;
use maud::{Markup, html};

use super::ran;

/// Widest float whose steps are drawn: of a wider one few neighbours are asked.
const WIDEST: u32 = 16;
/// What the words beneath a picture tell.
const DESCRIBED: [Aspect; 4] =
    [Aspect::Rounding, Aspect::Overflow, Aspect::SubnormalResults, Aspect::Nan];

/// What one channel made of every number.
struct Stairs {
    layout: FloatLayout,
    /// Number in steps, and encoding in steps: both with sign, infinities included.
    steps: Vec<(f64, f64)>,
    /// For each of [`KINDS`], which of [`RESULTS`] it gave.
    kinds: [[bool; 7]; 5],
    /// How it went about it, in words.
    behaviour: String,
}

/// Kinds of numbers that no window shows.
const KINDS: [(&str, &str); 5] = [
    ("−∞", "minus infinity"),
    ("−n", "negative numbers"),
    ("n+", "numbers beyond the range"),
    ("∞", "infinity"),
    ("N", "NaN"),
];
/// Kinds of results, from the lowest up.
const RESULTS: [(&str, &str); 7] = [
    ("−∞", "minus infinity"),
    ("−n", "a negative number"),
    ("0", "zero"),
    ("n", "a positive number"),
    ("max", "the largest finite number"),
    ("∞", "infinity"),
    ("N", "NaN"),
];

/// The pictures, those that look alike once with the paths that they are of; `None` where nothing
/// was stored.
pub fn stairs(observations: &[Observation]) -> Option<Markup> {
    let mut alike: Vec<(u32, String, Vec<String>)> = Vec::new();
    let stores = |observation: &&Observation| {
        observation.kernel.op.function == Function::Store
            && observation.kernel.controls.is_empty()
            && ran(observation)
    };
    for observation in observations.iter().filter(stores) {
        let mut own: Vec<(u32, String, String)> = Vec::new();
        for (part, channel) in observation.kernel.format.channels().iter().enumerate() {
            let Some(layout) = channel.coding.float().filter(|layout| layout.bits() <= WIDEST)
            else {
                continue;
            };
            let picture = drawn::drawn(&Stairs::of(observation, part, layout)).into_string();
            match own.iter_mut().find(|(bits, seen, _)| *bits == layout.bits() && *seen == picture)
            {
                Some((_, _, names)) => names.push(channel.name),
                None => own.push((layout.bits(), picture, channel.name.to_string())),
            }
        }
        let all = observation.kernel.format.channels().len();
        for (bits, picture, names) in own {
            let channels = if names.len() == all { String::new() } else { format!(" {names}") };
            let path = format!("{}{channels}", observation.kernel);
            match alike.iter_mut().find(|(width, seen, _)| *width == bits && *seen == picture) {
                Some((_, _, paths)) => paths.push(path),
                None => alike.push((bits, picture, vec![path])),
            }
        }
    }
    alike.sort_by_key(|(bits, ..)| *bits);
    (!alike.is_empty()).then(|| {
        html! {
            p.faint {
                "Across the number given, upwards what was stored, a line for each encoding, around zero (min: the smallest subnormal number), one, "
                "and the largest finite number. On the slanted line nothing is rounded: steps beneath it are rounded towards zero, steps that it "
                "halves to nearest; dots are numbers that are exact, and ties. Last, infinities, NaN (N), negative numbers (−n) and those beyond "
                "the largest finite one (n+)."
            }
            div.stairs {
                @for (bits, picture, paths) in &alike {
                    figure {
                        (maud::PreEscaped(picture))
                        figcaption {
                            b { (bits) " bits" }
                            " by " @for (index, path) in paths.iter().enumerate() { @if index > 0 { ", " } code { (path) } }
                        }
                    }
                }
            }
        }
    })
}

impl Stairs {
    fn of(observation: &Observation, part: usize, layout: FloatLayout) -> Stairs {
        let (signature, reader) =
            (Signature::new(&observation.kernel), PartReader::new(&observation.kernel));
        let scan = BehaviourScan::new(observation);
        let text = DESCRIBED
            .into_iter()
            .filter_map(|aspect| Some(scan.behaviour(aspect, part)?.describe(aspect)));
        let behaviour = text.collect::<Vec<_>>().join("; ");
        let mut stairs = Stairs { layout, steps: Vec::new(), kinds: Default::default(), behaviour };
        for (index, case) in observation.cases.iter().enumerate() {
            let Some(given) =
                signature.operands(case, part).first().map(|operand| operand.double())
            else {
                continue;
            };
            let stored = reader.part(&observation.out, index, part);
            if let Some(kind) = kind(layout, given) {
                stairs.kinds[kind][result(layout, stored)] = true;
            }
            if !given.is_nan() {
                stairs.steps.push((steps(layout, given), code(layout, stored)));
            }
        }
        stairs.steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        stairs.steps.dedup();
        stairs
    }
}

/// A number in steps of the format, as if its exponents had no end.
fn steps(layout: FloatLayout, number: f64) -> f64 {
    let magnitude = number.abs();
    let (least, fraction) = (1 - layout.bias(), f64::from(layout.fraction));
    let exponent =
        if magnitude.is_normal() { (magnitude.to_bits() >> 52) as i32 - 1023 } else { i32::MIN };
    let steps = if exponent < least {
        magnitude * (fraction - f64::from(least)).exp2()
    } else {
        let normal = f64::from(exponent - least) + magnitude * f64::from(-exponent).exp2();
        normal * fraction.exp2()
    };
    steps.copysign(number)
}

/// An encoding in steps: those of NaNs are one behind infinity.
fn code(layout: FloatLayout, bits: u64) -> f64 {
    let magnitude = (bits & layout.magnitude_mask()).min(layout.infinity() + 1) as f64;
    if layout.is_negative(bits) && !layout.is_nan(bits) { -magnitude } else { magnitude }
}

/// Which of [`KINDS`] a number is.
fn kind(layout: FloatLayout, number: f64) -> Option<usize> {
    match number {
        _ if number.is_nan() => Some(4),
        f64::NEG_INFINITY => Some(0),
        f64::INFINITY => Some(3),
        _ if number < 0.0 => Some(1),
        // The power of two behind the largest finite number would be the next encoding.
        _ if steps(layout, number) > layout.infinity() as f64 => Some(2),
        _ => None,
    }
}

/// Which of [`RESULTS`] an encoding is.
fn result(layout: FloatLayout, bits: u64) -> usize {
    match Encoding::Float(layout).key(bits) {
        _ if layout.is_nan(bits) => 6,
        _ if layout.is_zero(bits) => 2,
        key if layout.is_infinite(bits) => {
            if key < 0 {
                0
            } else {
                5
            }
        }
        key if key < 0 => 1,
        _ if bits == layout.max_finite() => 4,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::layout::{F10, F11};

    use super::*;

    #[test]
    fn numbers_in_steps_of_a_small_float() {
        assert_eq!(steps(F11, 2f64.powi(-20)), 1.0);
        assert_eq!(steps(F11, -1.5 * 2f64.powi(-20)), -1.5);
        assert_eq!(steps(F11, 2f64.powi(-14)), 64.0);
        assert_eq!(steps(F11, 1.0), f64::from(15 << 6));
        assert_eq!(steps(F11, 1.0 + 1.0 / 128.0), f64::from(15 << 6) + 0.5);
        assert_eq!(steps(F10, 65536.0), F10.infinity() as f64);
        assert_eq!(steps(F10, f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn encodings_in_steps() {
        let half = fpprobe_spirv::Format::F16.float().unwrap();
        assert_eq!(code(half, 0x8001), -1.0);
        assert_eq!(code(half, 0xfc00), -f64::from(0x7c00));
        assert_eq!(code(half, 0xfe00), f64::from(0x7c01));
        assert_eq!(
            [0xfc00, 0xbc00, 0x8000, 0x3c00, 0x7bff, 0x7c00, 0xfe00].map(|bits| result(half, bits)),
            [0, 1, 2, 3, 4, 5, 6]
        );
    }
}
