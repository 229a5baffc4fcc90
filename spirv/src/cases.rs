//! The inputs that every kernel is asked: every boundary class and its neighbours, all pairs for two operands, chosen
//! triples for three, a seeded random draw by exponent, and every encoding where there are few.
//!
//! Inputs depend on operation and format alone, never on a profile.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::format::{FloatLayout, Format};
use crate::kernel::Kernel;
use crate::op::Function;

mod packed;

use packed::{load_cases, store_cases};

/// A list of cases: the components of all operands of a case lie side by side.
#[derive(Clone, Debug)]
pub struct Cases {
    /// Name of the list, the same for all kernels that share it; empty for cases given by hand.
    pub name: String,
    arity: usize,
    values: Arc<[u64]>,
}

impl PartialEq for Cases {
    fn eq(&self, other: &Self) -> bool {
        let values = Arc::ptr_eq(&self.values, &other.values) || self.values == other.values;
        self.name == other.name && self.arity == other.arity && values
    }
}

impl Eq for Cases {}

impl Cases {
    /// Cases given by hand: `values` holds `arity` values per case.
    pub fn new(name: impl Into<String>, arity: usize, values: impl Into<Arc<[u64]>>) -> Cases {
        let values = values.into();
        debug_assert!(arity > 0 && values.len().is_multiple_of(arity));
        Cases { name: name.into(), arity, values }
    }

    /// Number of cases.
    pub fn len(&self) -> usize {
        self.values.len() / self.arity
    }

    /// Whether there is no case.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Values of one case: the components of all operands.
    pub fn case(&self, index: usize) -> &[u64] {
        &self.values[index * self.arity..(index + 1) * self.arity]
    }

    /// All cases, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.values.chunks_exact(self.arity)
    }
}

/// Lists that were made before: many kernels share one.
static MADE: LazyLock<Mutex<HashMap<String, Cases>>> = LazyLock::new(Mutex::default);

/// The cases of a kernel.
pub fn cases(kernel: &Kernel) -> Cases {
    let width = if kernel.op.is_componentwise() { kernel.width as usize } else { 1 };
    let kind = kind(kernel);
    let wide = if width == 1 { String::new() } else { format!(".x{width}") };
    let name = format!("{}.{kind}{wide}", kernel.format);
    // A list is whole when it is put in, so another thread's panic leaves nothing broken.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let cases = made.entry(name).or_insert_with_key(|name| {
        let arity = kernel.arity() / width;
        Cases::new(name.clone(), arity * width, widen(&list(kernel), arity, width))
    });
    cases.clone()
}

/// Which list a kernel of a format is asked. Few lists: kernels of the same list share the operands of their module.
fn kind(kernel: &Kernel) -> &'static str {
    match (kernel.op.function, kernel.op.params.len()) {
        (Function::Store, _) => "store",
        (Function::Load, _) => "load",
        (Function::UnpackHalf, _) => "halves",
        (Function::PackHalf, _) => "pack",
        (Function::Choose, _) => "choose",
        (Function::ToFloat, _) if kernel.format == Format::F16 => "every",
        (_, 1) => "unary",
        (_, 2) => "binary",
        _ => "ternary",
    }
}

/// The list, scalar: the operands of a case lie side by side.
fn list(kernel: &Kernel) -> Vec<u64> {
    let format = kernel.format;
    match (kernel.op.function, format.float()) {
        (Function::Store, _) => store_cases(format),
        (Function::Load, _) => load_cases(format),
        (Function::UnpackHalf, _) => (0..1 << 15).map(|i| ((2 * i + 1) << 16) | (2 * i)).collect(),
        (Function::PackHalf, Some(layout)) => {
            let list = unary(layout);
            let other = list.iter().cycle().skip(list.len() / 3);
            list.iter().zip(other).flat_map(|(low, high)| [*low, *high]).collect()
        }
        (Function::ToFloat, Some(layout)) if format == Format::F16 => {
            (0..=layout.magnitude_mask() | layout.sign_bit()).collect()
        }
        (Function::Choose, Some(layout)) => choose(layout),
        (_, Some(layout)) => match kernel.op.params.len() {
            1 => unary(layout),
            2 => binary(layout),
            _ => ternary(layout),
        },
        (_, None) => Vec::new(),
    }
}

/// Cases of `width` components: component `c` of a case is taken from the list rotated by `c` thirds.
fn widen(one: &[u64], arity: usize, width: usize) -> Vec<u64> {
    if width == 1 {
        return one.to_vec();
    }
    let count = one.len() / arity;
    let mut wide = Vec::with_capacity(one.len() * width);
    for case in 0..count {
        for param in 0..arity {
            for component in 0..width {
                wide.push(one[(case + component * count / 3) % count * arity + param]);
            }
        }
    }
    wide
}

/// The encoding of `significand * 2^exponent`, `significand` being an integer that fits; positive, normal.
fn scaled(layout: FloatLayout, significand: u64, exponent: i32) -> u64 {
    let top = significand.ilog2();
    let fraction = (significand << (layout.fraction - top)) & (layout.min_normal() - 1);
    let biased = (exponent + top.cast_signed() + layout.bias()).clamp(1, 2 * layout.bias());
    u64::from(biased.cast_unsigned()) << layout.fraction | fraction
}

/// Positive boundary values, sparse enough for all pairs.
fn magnitudes(layout: FloatLayout) -> Vec<u64> {
    let normal = layout.min_normal();
    let one = scaled(layout, 1, 0);
    vec![
        0,
        1,
        2,
        normal / 4,
        normal / 2,
        normal - 1,
        normal,
        normal + 1,
        2 * normal - 1,
        scaled(layout, 1, -1),
        one - 1,
        one,
        one + 1,
        scaled(layout, 3, -1),
        scaled(layout, 1, 1),
        scaled(layout, 3, 0),
        scaled(layout, 1, layout.bias() - 14),
        scaled(layout, 1, layout.bias() - 1),
        scaled(layout, 1, layout.bias()),
        layout.max_finite(),
        layout.infinity(),
    ]
}

fn nans(layout: FloatLayout) -> [u64; 7] {
    let (infinity, quiet, sign) = (layout.infinity(), layout.quiet_bit(), layout.sign_bit());
    [
        infinity | quiet,
        infinity | 1,
        infinity | (quiet - 1),
        infinity | (2 * quiet - 1),
        sign | infinity | 1,
        sign | infinity | quiet | (0x12345 & (quiet - 1)),
        sign | infinity | (2 * quiet - 1),
    ]
}

fn signed(layout: FloatLayout, magnitudes: &[u64]) -> Vec<u64> {
    magnitudes.iter().flat_map(|value| [*value, *value | layout.sign_bit()]).collect()
}

fn unary(layout: FloatLayout) -> Vec<u64> {
    let normal = layout.min_normal();
    let one = scaled(layout, 1, 0);
    let mut list = magnitudes(layout);
    list.extend([3, 8, 0x300 & (normal - 1), normal - 2, normal + 2, one + 2, one + 3, layout.max_finite() - 1]);
    list.extend([scaled(layout, 7, 0), scaled(layout, 5, 1), scaled(layout, 201, -6), scaled(layout, 5, -1)]);
    let integral = layout.fraction.cast_signed();
    list.extend([-2, -1, 0, 1].map(|step| scaled(layout, 1, integral + step)));
    list.extend([scaled(layout, 1, integral) + 1, scaled(layout, 1, integral - 1) + 1]);
    // Integers as far as an exponential function goes, halves, and the limits of integer types.
    list.extend((1..=layout.bias() as u64 + integral as u64 + 2).map(|n| scaled(layout, n, 0)));
    list.extend((1..40).map(|n| scaled(layout, 2 * n + 1, -1)));
    list.extend([30, 31, 32].iter().filter(|exponent| **exponent <= layout.bias()).flat_map(|exponent| {
        let power = scaled(layout, 1, *exponent);
        [power - 1, power, power + 1]
    }));
    if layout == packed::SINGLE {
        list.extend(around_halves());
    }
    let exponents = 0..(1 << layout.exponent) - 1;
    let draws = 1 + 256 / exponents.end;
    for exponent in exponents {
        for draw in 0..draws {
            let random = random(u64::from(layout.fraction) << 32 | exponent << 8 | draw);
            list.push(exponent << layout.fraction | (random & (normal - 1)));
        }
    }
    let mut list = signed(layout, &list);
    list.extend(nans(layout));
    distinct(list)
}

/// binary32 values at the boundaries of binary16, their neighbours, and the midpoints to the next one with theirs.
fn around_halves() -> Vec<u64> {
    let Some(half) = Format::F16.float() else { return Vec::new() };
    let (normal, one, largest) = (half.min_normal(), scaled(half, 1, 0), half.max_finite());
    let codes = [0, 1, 2, normal / 2, normal - 2, normal - 1, normal, normal + 1, one, one + 1, largest - 1, largest];
    let points = codes.into_iter().flat_map(|code| {
        let (here, next) = (packed::in_single(half, code), packed::in_single(half, code + 1));
        [here, if code == 0 { next - (1 << 23) } else { here.midpoint(next) }]
    });
    points.flat_map(|point| [point.saturating_sub(1), point, point + 1]).collect()
}

fn binary(layout: FloatLayout) -> Vec<u64> {
    let mut list = signed(layout, &magnitudes(layout));
    list.extend(nans(layout));
    let list = distinct(list);
    let mut pairs: Vec<u64> = list.iter().flat_map(|a| list.iter().flat_map(move |b| [*a, *b])).collect();
    // 0x300 * 2^(bias-14): the product of a subnormal and a power of two that no flushed result can hide.
    let tiny = 0x300 & (layout.min_normal() - 1);
    let large = scaled(layout, 1, layout.bias() - 14);
    pairs.extend([tiny, large, tiny | layout.sign_bit(), large]);
    let mask = layout.magnitude_mask() | layout.sign_bit();
    for seed in 0..256u64 {
        let first = random(seed * 2) & mask;
        // Half of the draws stay within a few binades of the first, where rounding and cancellation happen.
        let near = (first & !(layout.min_normal() - 1)) | random(seed * 2 + 1) & (layout.min_normal() * 8 - 1);
        pairs.extend([first, if seed % 2 == 0 { near & mask } else { random(seed * 2 + 1) & mask }]);
    }
    pairs
}

fn ternary(layout: FloatLayout) -> Vec<u64> {
    let (normal, one, sign) = (layout.min_normal(), scaled(layout, 1, 0), layout.sign_bit());
    let list = [
        0,
        sign,
        1,
        sign | 1,
        normal / 2,
        normal - 1,
        normal,
        sign | normal,
        scaled(layout, 1, -1),
        one,
        one + 1,
        sign | one,
        scaled(layout, 1, 1),
        layout.max_finite(),
        layout.infinity(),
        sign | layout.infinity(),
        layout.infinity() | layout.quiet_bit(),
        layout.infinity() | 1,
    ];
    let mut triples = Vec::new();
    for a in list {
        for b in list {
            for c in list {
                triples.extend([a, b, c]);
            }
        }
    }
    let half_ulp = scaled(layout, 1, -layout.fraction.cast_signed() - 1);
    // Contraction shows: (1+u)(1+u) - (1+2u); ties of the final addition; a product that is subnormal.
    triples.extend([one + 1, one + 1, sign | (one + 2), one, one, half_ulp, one, one + 1, half_ulp]);
    triples.extend([
        sign | (normal - normal / 16),
        scaled(layout, 1, 1),
        normal,
        normal,
        scaled(layout, 1, -1),
        normal,
    ]);
    triples.extend([layout.max_finite(), scaled(layout, 1, 1), sign | layout.max_finite()]);
    let mask = layout.magnitude_mask() | sign;
    for seed in 0..128u64 {
        let [a, b] =
            [random(seed * 3 + 1000), random(seed * 3 + 1001)].map(|r| (one - normal) | (r & (2 * normal - 1)));
        let c = (a ^ sign) & !(normal - 1) | random(seed * 3 + 1002) & (normal - 1);
        triples.extend([a & mask, b & mask, c & mask]);
    }
    triples
}

fn choose(layout: FloatLayout) -> Vec<u64> {
    let mut list = signed(layout, &magnitudes(layout));
    list.extend(nans(layout));
    let other = scaled(layout, 5, 3);
    distinct(list).into_iter().flat_map(|value| [1, value, other, 0, other, value]).collect()
}

fn distinct(list: Vec<u64>) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    list.into_iter().filter(|bits| seen.insert(*bits)).collect()
}

/// `SplitMix64` of the seed: the draw is the same on every machine.
pub fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: &str) -> Cases {
        cases(&id.parse().unwrap())
    }

    #[test]
    fn loads_cover_every_code_of_every_channel() {
        let cases = of("b10g11r11.load:route=storage_image");
        for channel in Format::B10g11r11.channels() {
            let mask = (1 << channel.layout.bits()) - 1;
            let codes: BTreeSet<u64> = cases.iter().map(|case| case[0] >> channel.shift & mask).collect();
            assert_eq!(codes.len(), 1 << channel.layout.bits(), "{}", channel.name);
        }
    }

    #[test]
    fn boundary_classes_are_there() {
        let single = Format::F32.float().unwrap();
        let list: Vec<u64> = of("f32.sqrt").iter().map(|case| case[0]).collect();
        for bits in
            [0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000]
        {
            assert!(list.contains(&bits), "{bits:08x}");
        }
        assert_eq!(scaled(single, 3, -1), 0x3fc00000);
        let pairs: BTreeSet<Vec<u64>> = of("f32.fmul").iter().map(<[u64]>::to_vec).collect();
        for pair in [[0x00000300, 0x78000000], [0x7fc00000, 0x80000000], [0x00800000, 0x3f000000]] {
            assert!(pairs.contains(pair.as_slice()), "{pair:08x?}");
        }
    }

    #[test]
    fn conversions_meet_the_boundaries_of_their_target() {
        for id in ["f32.fconvert_f16", "f32.pack_half_2x16"] {
            let list: BTreeSet<u64> = of(id).iter().map(|case| case[0]).collect();
            // 2^-25, 2^-24, the largest subnormal, 65504, and the rounding limit with its neighbours.
            for bits in [0x33000000, 0x33800000, 0x387fc000, 0x477fe000, 0x477fefff, 0x477ff000, 0x477ff001] {
                assert!(list.contains(&bits), "{id} {bits:08x}");
            }
        }
    }

    #[test]
    fn wide_cases_hold_other_values_in_each_component() {
        let cases = of("f32.fadd:width=3");
        assert_eq!(cases.case(0).len(), 6);
        assert_ne!(cases.case(0)[0..1], cases.case(0)[1..2]);
    }
}
