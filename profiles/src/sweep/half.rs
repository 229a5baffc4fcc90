//! Operations on two binary16 numbers as the host computes them: in binary32, and rounded to
//! binary16.
//!
//! A sum, difference, product or quotient that is rounded to 24 bits and then to 11 is the one that
//! is rounded once: 24 >= 2 * 11 + 2 (Figueroa, "When is double rounding innocuous?", 1995). What
//! lies half-way between two binary16 numbers after the first rounding did so before: an inexact
//! one is farther from there than binary32's unit.

use fpprobe_spirv::Format;
use fpprobe_spirv::op::{Function, Relation};
use fpprobe_spirv::{FloatLayout, Kernel};
use pulp::Arch;

pub(super) const LAYOUT: FloatLayout = match Format::F16.float() {
    Some(layout) => layout,
    None => panic!("binary16 is a float"),
};
pub(super) const INFINITY: u32 = LAYOUT.infinity() as u32;
pub(super) const SIGN: u32 = LAYOUT.sign_bit() as u32;
const QUIET: u32 = LAYOUT.quiet_bit() as u32;
/// What x86 gives where there is no result.
const INVALID: u32 = 0xfe00;
/// Encoding of 1.
const ONE: u32 = 0x3c00;
/// Fraction bits that binary32 has and binary16 has not.
pub(super) const REST: u32 = 13;
/// From binary16's biased exponents to those of binary32, in place.
const REBIAS: u32 = (127 - 15) << 23;
/// Magnitudes as binary32 has them: the least normal binary16 number, and the largest one.
pub(super) const LEAST_NORMAL: u32 = 0x3880_0000;
pub(super) const LARGEST: u32 = 0x477f_e000;

/// What devices do in their own way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HalfBehaviour {
    /// Which NaN they give.
    pub nan: NanChoice,
    /// Whether they flush subnormals, operands and results.
    pub flushes: bool,
}

/// Which NaN an operation gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NanChoice {
    /// The first operand that is one, made quiet; without one that of x86.
    First,
    /// The second operand that is one, made quiet; without one that of x86.
    Second,
    /// Always these bits.
    Always(u32),
}

impl HalfBehaviour {
    /// As the host's own instructions do.
    pub(super) const HOST: HalfBehaviour = HalfBehaviour { nan: NanChoice::First, flushes: false };

    /// Others that devices have.
    pub(super) fn all() -> impl Iterator<Item = HalfBehaviour> {
        let nans = [
            NanChoice::First,
            NanChoice::Second,
            NanChoice::Always(0x7e00),
            NanChoice::Always(0xfe00),
            NanChoice::Always(0x7fff),
        ];
        let all = [false, true]
            .into_iter()
            .flat_map(move |flushes| nans.map(|nan| HalfBehaviour { nan, flushes }));
        all.filter(|behaviour| *behaviour != HalfBehaviour::HOST)
    }
}

/// What a scan found of results that are compared with the host's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ScanSummary {
    /// Results that are others.
    pub(super) others: u32,
    /// How many lie half-way between two numbers before they are rounded.
    pub(super) ties: u32,
    /// The largest distance of the host's from what is rounded, in 2^-13 of its unit in the last
    /// place.
    pub(super) most: u32,
}

/// An operation. Pairs have their first operand in the upper half of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfOperation {
    /// Whether its results are operands, truth values or one of two numbers, and not rounded.
    pub(super) chooses: bool,
    /// What is rounded, as binary32 has it; of others the result.
    pub(super) wide: fn(u32, u32) -> u32,
    /// Computes results of consecutive pairs from the first on that have the first operand in
    /// common.
    pub(super) fill: fn(Arch, HalfBehaviour, u32, &mut [u32]),
    /// Compares results of such pairs.
    pub(super) scan: fn(Arch, u32, &[u32]) -> ScanSummary,
}

/// A row of the table: an operation that is rounded.
macro_rules! rounded {
    ($operation:tt) => {
        HalfOperation {
            chooses: false,
            wide: |x, y| (widened(x) $operation widened(y)).to_bits(),
            fill: |arch, behaviour, first, results| fill_rounded(arch, behaviour, first, results, |x, y| x $operation y),
            scan: |arch, first, results| scan_rounded(arch, first, results, |x, y| x $operation y),
        }
    };
}

/// A row of the table: an operation whose result comes from the operands' bits.
macro_rules! chosen {
    ($function:expr) => {
        HalfOperation {
            chooses: true,
            wide: $function,
            fill: |arch, behaviour, first, results| {
                fill_chosen(arch, behaviour, first, results, $function)
            },
            scan: |arch, first, results| scan_chosen(arch, first, results, $function),
        }
    };
}

/// A row of the table: a comparison, of numbers and where it is not ordered.
macro_rules! compared {
    ($unordered:expr, $operation:tt) => {
        if $unordered {
            chosen!(|x, y| u32::from(is_nan(x) | is_nan(y) | (key(x) $operation key(y))))
        } else {
            chosen!(|x, y| u32::from(!is_nan(x) & !is_nan(y) & (key(x) $operation key(y))))
        }
    };
}

impl HalfOperation {
    /// The operation of a kernel.
    pub(super) fn new(kernel: &Kernel) -> Option<HalfOperation> {
        let params = kernel.params();
        if params.len() != 2 || params.iter().any(|shape| shape.format != Format::F16) {
            return None;
        }
        Some(match (kernel.op.function, kernel.result().format) {
            (Function::Add, Format::F16) => rounded!(+),
            (Function::Sub, Format::F16) => rounded!(-),
            (Function::Mul, Format::F16) => rounded!(*),
            (Function::Div, Format::F16) => rounded!(/),
            (Function::Min, Format::F16) => {
                chosen!(|x, y| if takes(x, y, key(x) < key(y)) { x } else { y })
            }
            (Function::Max, Format::F16) => {
                chosen!(|x, y| if takes(x, y, key(x) > key(y)) { x } else { y })
            }
            (Function::Step, Format::F16) => {
                chosen!(|x, y| if (key(y) < key(x)) & !is_nan(x) & !is_nan(y) { 0 } else { ONE })
            }
            (Function::Compare { relation, unordered }, Format::Bool) => match relation {
                Relation::Equal => compared!(unordered, ==),
                Relation::NotEqual => compared!(unordered, !=),
                Relation::Less => compared!(unordered, <),
                Relation::Greater => compared!(unordered, >),
                Relation::LessEqual => compared!(unordered, <=),
                Relation::GreaterEqual => compared!(unordered, >=),
            },
            _ => return None,
        })
    }
}

/// Whether minimum and maximum give the first operand.
#[expect(clippy::inline_always, reason = "it is part of loops")]
#[inline(always)]
fn takes(x: u32, y: u32, wins: bool) -> bool {
    !is_nan(x) & (is_nan(y) | wins)
}

#[expect(clippy::inline_always, reason = "it is part of loops")]
#[inline(always)]
pub(super) fn is_nan(bits: u32) -> bool {
    bits & !SIGN > INFINITY
}

pub(super) fn is_subnormal(bits: u32) -> bool {
    LAYOUT.is_subnormal(bits.into())
}

/// An integer in the order of the numbers; zeros are the same.
#[expect(clippy::inline_always, reason = "it is part of loops")]
#[inline(always)]
pub(super) fn key(bits: u32) -> i32 {
    let magnitude = (bits & !SIGN).cast_signed();
    if bits & SIGN == 0 { magnitude } else { -magnitude }
}

/// The number as binary32.
#[expect(clippy::inline_always, reason = "it is part of loops")]
#[inline(always)]
pub(super) fn widened(bits: u32) -> f32 {
    let (sign, shifted) = ((bits & SIGN) << 16, (bits & !SIGN) << REST);
    let number = shifted + REBIAS;
    // A subnormal is what it is more than the least normal number, of the exponent of that.
    let small = (f32::from_bits(number + (1 << 23)) - f32::from_bits(LEAST_NORMAL)).to_bits();
    let large = if bits & !SIGN >= INFINITY { number + REBIAS } else { number };
    f32::from_bits(sign | if bits & !SIGN < LAYOUT.min_normal() as u32 { small } else { large })
}

/// A number rounded to binary16, to nearest even.
#[expect(clippy::inline_always, reason = "it is part of loops")]
#[inline(always)]
pub(super) fn narrowed(wide: u32) -> u32 {
    let (sign, magnitude) = (wide >> 16 & SIGN, wide & 0x7fff_ffff);
    let even = magnitude >> REST & 1;
    let normal = (magnitude.wrapping_sub(REBIAS).wrapping_add(0xfff + even) >> REST).min(INFINITY);
    // The unit of binary32 in [0.5, 1) is the least number of binary16.
    let small = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    sign | if magnitude < LEAST_NORMAL { small } else { normal }
}

/// Zero for a subnormal, if they are flushed.
#[expect(clippy::inline_always, reason = "it is part of loops")]
#[inline(always)]
fn flushed(bits: u32, flushes: bool) -> u32 {
    if flushes & (bits & !SIGN < LAYOUT.min_normal() as u32) { bits & SIGN } else { bits }
}

/// The operands of a pair.
pub(super) fn operands(pair: u32) -> (u32, u32) {
    (pair >> 16, pair & 0xffff)
}

#[expect(clippy::inline_always, reason = "so that each operation has its own loop")]
#[inline(always)]
fn fill_rounded(
    arch: Arch,
    behaviour: HalfBehaviour,
    first: u32,
    results: &mut [u32],
    compute: impl Fn(f32, f32) -> f32,
) {
    let (x, y) = operands(first);
    let wide = widened(flushed(x, behaviour.flushes));
    let own = is_nan(x).then_some(x | QUIET);
    // What is given where there is no result, and whether a NaN of the second operand is given
    // instead.
    let (nan, keeps) = match behaviour.nan {
        NanChoice::First => (own.unwrap_or(INVALID), own.is_none()),
        NanChoice::Second => (own.unwrap_or(INVALID), true),
        NanChoice::Always(bits) => (bits, false),
    };
    let flushes = behaviour.flushes;
    arch.dispatch(
        #[inline(always)]
        move || {
            for (y, result) in (y..).zip(results) {
                let value = compute(wide, widened(flushed(y, flushes)));
                let nan = if keeps & is_nan(y) { y | QUIET } else { nan };
                let number = flushed(narrowed(value.to_bits()), flushes);
                *result = if value.is_nan() { nan } else { number };
            }
        },
    );
}

#[expect(clippy::inline_always, reason = "so that each operation has its own loop")]
#[inline(always)]
fn scan_rounded(
    arch: Arch,
    first: u32,
    results: &[u32],
    compute: impl Fn(f32, f32) -> f32,
) -> ScanSummary {
    let (x, y) = operands(first);
    let wide = widened(x);
    arch.dispatch(
        #[inline(always)]
        move || {
            let mut agreed = ScanSummary::default();
            for (y, result) in (y..).zip(results) {
                let bits = compute(wide, widened(y)).to_bits();
                let rest = bits & ((1 << REST) - 1);
                agreed.others += u32::from(narrowed(bits) != *result);
                agreed.ties += u32::from(rest == 1 << (REST - 1));
                agreed.most = agreed.most.max(rest.min((1 << REST) - rest));
            }
            agreed
        },
    )
}

#[expect(clippy::inline_always, reason = "so that each operation has its own loop")]
#[inline(always)]
fn fill_chosen(
    arch: Arch,
    behaviour: HalfBehaviour,
    first: u32,
    results: &mut [u32],
    compute: impl Fn(u32, u32) -> u32,
) {
    let (x, y) = operands(first);
    let (x, flushes) = (flushed(x, behaviour.flushes), behaviour.flushes);
    arch.dispatch(
        #[inline(always)]
        move || {
            (y..).zip(results).for_each(|(y, result)| *result = compute(x, flushed(y, flushes)));
        },
    );
}

#[expect(clippy::inline_always, reason = "so that each operation has its own loop")]
#[inline(always)]
fn scan_chosen(
    arch: Arch,
    first: u32,
    results: &[u32],
    compute: impl Fn(u32, u32) -> u32,
) -> ScanSummary {
    let (x, y) = operands(first);
    arch.dispatch(
        #[inline(always)]
        move || {
            let others =
                (y..).zip(results).map(|(y, result)| u32::from(compute(x, y) != *result)).sum();
            ScanSummary { others, ..ScanSummary::default() }
        },
    )
}
