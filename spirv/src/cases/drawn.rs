//! Random cases, drawn by a seed: half of them uniform over the encodings, the others where
//! exponents and fractions have edges.

use crate::format::Format;
use crate::layout::FloatLayout;

use super::values::random;

/// Numbers that follow from a seed.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        random(self.0)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }
}

/// So many cases with components of these formats, side by side.
pub(super) fn drawn(formats: &[Format], count: usize, seed: u64) -> Vec<u64> {
    let mut draw = Draw(seed);
    let mut values: Vec<u64> = Vec::with_capacity(count * formats.len());
    for _ in 0..count {
        let first = values.len();
        for format in formats {
            // An operand near one before it: sums cancel, comparisons are close.
            let near = draw.below(8) == 0 && values.len() > first && formats[0] == *format;
            let value = if near {
                let before = values[first];
                let flipped = format.float().map_or(0, FloatLayout::sign_bit) * draw.below(2);
                before.wrapping_add(draw.below(5)).wrapping_sub(2) ^ flipped
            } else {
                one(*format, &mut draw)
            };
            values.push(value & format.mask());
        }
    }
    values
}

fn one(format: Format, draw: &mut Draw) -> u64 {
    let bits = draw.next();
    match (format.float(), draw.below(2)) {
        (Some(layout), 0) => edge(layout, bits, draw),
        (None, 0) if format.bits() > 1 => {
            let power = 1_u64.wrapping_shl((bits % u64::from(format.bits())) as u32);
            power.wrapping_add(draw.below(3)).wrapping_sub(1)
        }
        _ => bits,
    }
}

/// An exponent and a fraction of which at least one is special.
fn edge(layout: FloatLayout, bits: u64, draw: &mut Draw) -> u64 {
    let (top, bias) = ((1_u64 << layout.exponent) - 1, (1_u64 << (layout.exponent - 1)) - 1);
    let fraction = u64::from(layout.fraction);
    let exponent = match draw.below(8) {
        0 => 0,
        1 => 1,
        2 => top - 1,
        3 => top,
        4 => bits >> 8 & top,
        // About one, and as far from it as a fraction reaches.
        _ => (bias + draw.below(2 * fraction)).saturating_sub(fraction),
    };
    let all = (1 << fraction) - 1;
    let fraction = match draw.below(8) {
        0 => 0,
        1 => 1,
        2 => all,
        3 => all - 1,
        4 => 1 << draw.below(fraction),
        5 => all ^ 1 << draw.below(fraction),
        _ => bits & all,
    };
    (bits >> 63) * layout.sign_bit() | exponent.min(top) << layout.fraction | fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_has_its_cases_and_another_others() {
        let formats = [Format::F32, Format::F32];
        let cases = drawn(&formats, 1000, 1);
        assert_eq!(cases.len(), 2000);
        assert_eq!(cases, drawn(&formats, 1000, 1));
        assert_ne!(cases, drawn(&formats, 1000, 2));
        assert!(
            drawn(&[Format::F16, Format::Bool], 500, 3)
                .chunks(2)
                .all(|case| case[0] <= 0xffff && case[1] <= 1)
        );
    }

    #[test]
    fn every_class_of_number_is_drawn() {
        let cases = drawn(&[Format::F32], 1000, 9);
        let layout = Format::F32.float().unwrap();
        let magnitude = |bits: &u64| bits & layout.magnitude_mask();
        let count = |holds: &dyn Fn(u64) -> bool| {
            cases.iter().map(magnitude).filter(|bits| holds(*bits)).count()
        };
        assert!(count(&|bits| bits > 0 && bits < layout.min_normal()) > 20, "subnormals");
        assert!(count(&|bits| bits > layout.infinity()) > 20, "NaNs");
        assert!(
            count(&|bits| bits > layout.max_finite() - (1 << layout.fraction)) > 20,
            "large ones"
        );
        assert!(count(&|bits| bits.trailing_zeros() >= 23) > 20, "powers of two");
    }
}
