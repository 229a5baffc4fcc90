//! Inputs of fragment shaders (Vulkan, Shaders, "Interpolation decorations"): what a fragment gets
//! of the values that the vertices of its triangle hold. In its middle the weights of the vertices,
//! their barycentric coordinates, are 1/2, 1/4 and 1/4.

use rspirv::spirv::Decoration;

use crate::layout::FloatLayout;

/// Vertices of a triangle.
pub const VERTICES: u32 = 3;

/// How an input is interpolated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interpolation {
    /// Not at all: the value is that of the provoking vertex, the first one.
    Flat,
    /// With perspective.
    Smooth,
    /// Without perspective.
    NoPerspective,
    /// With perspective, at a place within the triangle; of a single sample the middle.
    Centroid,
}

impl Interpolation {
    /// What decorates the input.
    pub(crate) const fn decoration(self) -> Option<Decoration> {
        match self {
            Interpolation::Flat => Some(Decoration::Flat),
            Interpolation::Smooth => None,
            Interpolation::NoPerspective => Some(Decoration::NoPerspective),
            Interpolation::Centroid => Some(Decoration::Centroid),
        }
    }
}

/// What the values of the vertices are interpolated to, where that is a positive or negative normal
/// number of the format: a/2 + b/4 + c/4. `None` where there is no such number, or it is too far
/// from them.
pub fn interpolated(layout: FloatLayout, [a, b, c]: [u64; 3]) -> Option<u64> {
    let parts = [a, b, c].map(|bits| parts(layout, bits));
    let [Some(a), Some(b), Some(c)] = parts else { return None };
    let nonzero = || [a, b, c].into_iter().filter(|(significand, _)| *significand != 0);
    let least = nonzero().map(|(_, exponent)| exponent).min()?;
    let most = nonzero().map(|(_, exponent)| exponent).max()?;
    if most - least > 32 {
        return None;
    }
    let aligned = |(significand, exponent): (i128, i32)| {
        if significand == 0 { 0 } else { significand << (exponent - least) }
    };
    let sum = 2 * aligned(a) + aligned(b) + aligned(c);
    let magnitude = sum.unsigned_abs();
    let top = magnitude.checked_ilog2()?;
    let shift = top.cast_signed() - layout.fraction.cast_signed();
    let significand = if shift < 0 {
        magnitude << -shift
    } else if magnitude.trailing_zeros().cast_signed() >= shift {
        magnitude >> shift
    } else {
        return None;
    };
    let biased = least - 2 + shift + layout.bias() + layout.fraction.cast_signed();
    let sign = if sum < 0 { layout.sign_bit() } else { 0 };
    let fraction = significand as u64 & (layout.min_normal() - 1);
    let bits = u64::try_from(biased).ok()? << layout.fraction | fraction;
    layout.is_normal(bits).then_some(sign | bits)
}

/// Significand and exponent of a zero or normal number.
fn parts(layout: FloatLayout, bits: u64) -> Option<(i128, i32)> {
    let magnitude = bits & layout.magnitude_mask();
    if magnitude == 0 {
        return Some((0, 0));
    }
    if !layout.is_normal(bits) {
        return None;
    }
    let significand = i128::from(magnitude & (layout.min_normal() - 1) | layout.min_normal());
    let exponent =
        (magnitude >> layout.fraction) as i32 - layout.bias() - layout.fraction.cast_signed();
    Some((if layout.is_negative(bits) { -significand } else { significand }, exponent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::BINARY32;

    #[test]
    fn weights_are_a_half_and_two_quarters() {
        let of = |case: [f32; 3]| interpolated(BINARY32, case.map(|value| value.to_bits().into()));
        for (case, expected) in [
            ([1.0, 1.0, 1.0], Some(1.0)),
            ([0.0, 4.0, 0.0], Some(1.0)),
            ([0.0, 0.0, -4.0], Some(-1.0)),
            ([3.0, -1.0, 5.0], Some(2.5)),
            ([f32::MAX, f32::MAX, f32::MAX], Some(f32::MAX)),
            ([1.0, -1.0, -1.0], None),
            ([1.0, 1.0, f32::from_bits(0x3f80_0001)], None),
            ([1.0, f32::INFINITY, 1.0], None),
            ([1e30, 1.0, 1.0], None),
            ([f32::MIN_POSITIVE, 0.0, 0.0], None),
        ] {
            assert_eq!(of(case), expected.map(|value: f32| value.to_bits().into()), "{case:?}");
        }
    }
}
