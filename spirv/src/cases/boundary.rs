//! Short lists out of a long one: few cases, for questions that are asked many times over, of
//! routes and widths.
//!
//! They are chosen by what there is to meet, not by the operation: each class of values in each
//! operand, each pair of classes in two operands, and some ordinary numbers, on which rounding
//! shows. Being part of the long list, they ask nothing that the plain kernel did not run.

use std::collections::{BTreeSet, HashSet};

use super::values::{random, scaled};
use crate::format::Format;
use crate::layout::FloatLayout;

/// How short a list is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Length {
    /// Everything.
    Whole,
    /// About 40 values, 100 pairs or 60 triples.
    Boundary,
    /// About 30 values, 40 pairs or 40 triples, for where each case is paid for: in the code of a
    /// module.
    Corners,
}

impl Length {
    /// Added to the name of the list.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Length::Whole => "",
            Length::Boundary => ".boundary",
            Length::Corners => ".corners",
        }
    }

    /// Cases of ordinary numbers.
    fn ordinary(self) -> usize {
        if self == Length::Corners { 6 } else { 16 }
    }
}

/// What a value is: values of one number are alike.
type ValueClass = u32;

/// Something to meet: in operands of these places, values of these classes.
#[derive(PartialEq, Eq, Hash)]
enum Feature {
    One(usize, ValueClass),
    Two([(usize, ValueClass); 2]),
}

/// The list cut to this length; `formats` are those of a case's components.
pub(super) fn cut(formats: &[Format], list: Vec<u64>, length: Length) -> Vec<u64> {
    if length == Length::Whole {
        return list;
    }
    let cases: Vec<&[u64]> = list.chunks_exact(formats.len()).collect();
    // In the order of the list the first operand would meet everything with a zero beside it.
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|index| random(*index as u64));
    let mut seen = HashSet::new();
    let mut chosen = BTreeSet::new();
    for index in order {
        let features = features(formats, cases[index], length);
        if features.into_iter().fold(false, |new, feature| seen.insert(feature) | new) {
            chosen.insert(index);
        }
    }
    let ordinary =
        |case: &[u64]| formats.iter().zip(case).all(|(format, bits)| is_ordinary(*format, *bits));
    let ordinary: Vec<usize> = (0..cases.len()).filter(|index| ordinary(cases[*index])).collect();
    chosen.extend(ordinary.iter().step_by(ordinary.len().div_ceil(length.ordinary()).max(1)));
    // Whether subnormal results are kept shows where no operand is subnormal.
    for is_tiny in [has_tiny_product, has_tiny_sum] {
        chosen.extend((0..cases.len()).filter(|index| is_tiny(formats, cases[*index])).take(2));
    }
    chosen.into_iter().flat_map(|index| cases[index]).copied().collect()
}

/// What a case meets. The more operands, the coarser: there are as many pairs of classes as that.
fn features(formats: &[Format], case: &[u64], length: Length) -> Vec<Feature> {
    let values = || formats.iter().zip(case).map(|(format, bits)| (*format, *bits)).enumerate();
    let finely = formats.len() < if length == Length::Corners { 2 } else { 3 };
    let one = |(place, (format, bits)): (usize, (Format, u64))| {
        let finely = finely || format.float().is_none();
        Feature::One(
            place,
            if finely { fine(format, bits, length) } else { coarse(format, bits, true) },
        )
    };
    let mut features: Vec<Feature> = values().map(one).collect();
    let signed = formats.len() < 3 && length == Length::Boundary;
    let coarse = |(place, (format, bits))| (place, coarse(format, bits, signed));
    for first in values() {
        features.extend(
            values().skip(first.0 + 1).map(|second| Feature::Two([coarse(first), coarse(second)])),
        );
    }
    features
}

/// Zero, subnormal, normal, infinity, each with its sign if that counts, or NaN; for integers
/// whether it is 0.
fn coarse(format: Format, bits: u64, signed: bool) -> ValueClass {
    let Some(layout) = format.float() else { return ValueClass::from(bits != 0) };
    let sign = ValueClass::from(signed && layout.is_negative(bits));
    match bits & layout.magnitude_mask() {
        0 => sign,
        magnitude if magnitude < layout.min_normal() => 2 | sign,
        magnitude if magnitude < layout.infinity() => 4 | sign,
        magnitude if magnitude == layout.infinity() => 6 | sign,
        _ => 8,
    }
}

/// The ends of each kind of number, what lies between them, and one; quiet and signalling NaN;
/// integers by their size.
fn fine(format: Format, bits: u64, length: Length) -> ValueClass {
    let Some(layout) = format.float() else { return u64::BITS - bits.leading_zeros() };
    let (normal, magnitude) = (layout.min_normal(), bits & layout.magnitude_mask());
    let one = scaled(layout, 1, 0);
    let quiet = layout.infinity() | layout.quiet_bit();
    let mut marks = vec![
        0,
        1,
        normal - 1,
        normal,
        one,
        layout.max_finite(),
        layout.infinity(),
        layout.infinity() + 1,
        quiet,
    ];
    if length == Length::Boundary {
        marks.extend([2, normal + 1, one + 1]);
        // Where a conversion to binary16 rounds to zero, to a subnormal and to infinity.
        marks.extend(
            [0x3300_0000, 0x3880_0000, 0x477f_f000].iter().filter(|_| format == Format::F32),
        );
    }
    2 * marks.iter().filter(|mark| **mark <= magnitude).count() as ValueClass
        + ValueClass::from(layout.is_negative(bits))
}

/// Two normal numbers, if a case is that.
fn normal_pair(formats: &[Format], case: &[u64]) -> Option<(FloatLayout, [u64; 2])> {
    let ([format, other], [x, y]) = (formats, case) else { return None };
    let layout = format.float().filter(|_| format == other)?;
    (layout.is_normal(*x) && layout.is_normal(*y)).then_some((layout, [*x, *y]))
}

/// Whether the product of two normal numbers is subnormal, and does not vanish.
fn has_tiny_product(formats: &[Format], case: &[u64]) -> bool {
    normal_pair(formats, case).is_some_and(|(layout, pair)| {
        let exponents = pair.map(|bits| {
            ((bits & layout.magnitude_mask()) >> layout.fraction) as i32 - layout.bias()
        });
        let least = 1 - layout.bias();
        (least - layout.fraction as i32..least - 1).contains(&(exponents[0] + exponents[1]))
    })
}

/// Whether the sum of two normal numbers, of which neither is large, is subnormal.
fn has_tiny_sum(formats: &[Format], case: &[u64]) -> bool {
    normal_pair(formats, case).is_some_and(|(layout, pair)| {
        // In units of the least subnormal.
        let value = |bits: u64| {
            let magnitude = bits & layout.magnitude_mask();
            let exponent = magnitude >> layout.fraction;
            let significand = (magnitude & (layout.min_normal() - 1)) | layout.min_normal();
            let value = (significand as i64).checked_shl(exponent as u32 - 1)?;
            (exponent < 8).then_some(if layout.is_negative(bits) { -value } else { value })
        };
        let sum = value(pair[0]).zip(value(pair[1])).map(|(x, y)| (x + y).unsigned_abs());
        sum.is_some_and(|sum| (1..layout.min_normal()).contains(&sum))
    })
}

fn is_ordinary(format: Format, bits: u64) -> bool {
    let Some(layout) = format.float() else { return true };
    let magnitude = bits & layout.magnitude_mask();
    let fraction = magnitude & (layout.min_normal() - 1);
    magnitude > layout.min_normal() && magnitude < layout.max_finite() && fraction != 0
}
