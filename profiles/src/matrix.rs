//! Matrix units: how one that was measured sums, what it must do, and exact models: what a published model gives for a
//! row of A, a column of B and an element of C.
//!
//! A unit adds products in groups, one group after the other, the sum so far among the terms of the next. It aligns the terms
//! of a group to the largest exponent among them, cuts each off below a number of fraction bits, adds what is left exactly, and
//! rounds the sum toward zero. The exponent of a product is the sum of those of its factors: a significand of a product lies in
//! [1, 4), and that of a subnormal below 1.
//!
//! The parameters are those that MATLAB-tensor-core publishes (Khattak and Mikaitis), whose measured products are the test.
//! Vulkan leaves order and precision of `OpCooperativeMatrixMulAddKHR` on floats to the implementation (Vulkan 1.4, Precision
//! of Individual Instructions), so no rule can fail by them.

mod aspect;
mod required;
mod sequential;
mod tree;
mod unit_model;

use fpprobe_spirv::layout::{BINARY16, BINARY32, FloatLayout};

pub use aspect::{AspectResult, MatrixAspect};
pub use required::{MatrixViolation, violations};
pub use tree::SumTree;
pub use unit_model::UnitModel;

/// A format of the elements of A and B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatrixInput {
    /// Its name, as `SPV_KHR_bfloat16` and `SPV_EXT_float8` have it.
    pub name: &'static str,
    /// Its bits.
    pub layout: FloatLayout,
    /// Encoding of the largest finite magnitude; those beyond are infinities and NaNs.
    pub finite: u64,
}

/// IEEE 754 binary16.
pub const F16: MatrixInput = MatrixInput { name: "f16", layout: BINARY16, finite: 0x7bff };
/// bfloat16: the upper half of a binary32.
pub const BF16: MatrixInput =
    MatrixInput { name: "bf16", layout: FloatLayout { signed: true, exponent: 8, fraction: 7 }, finite: 0x7f7f };
/// float8 E4M3: no infinities, one NaN of each sign.
pub const E4M3: MatrixInput =
    MatrixInput { name: "e4m3", layout: FloatLayout { signed: true, exponent: 4, fraction: 3 }, finite: 0x7e };

/// A matrix unit with a binary32 accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatrixModel {
    /// Its name: those of the GPUs that have it.
    pub name: &'static str,
    /// Formats of the elements of A and B.
    pub inputs: &'static [MatrixInput],
    /// Products of a group.
    pub group: usize,
    /// Fraction bits that are left of an aligned term.
    pub aligned: u32,
    /// Fraction bits of a sum.
    pub result: u32,
}

/// The models of which products were measured.
pub const MODELS: [MatrixModel; 4] = [
    MatrixModel { name: "V100", inputs: &[F16], group: 4, aligned: 23, result: 23 },
    MatrixModel { name: "A100, Ada", inputs: &[F16, BF16], group: 8, aligned: 24, result: 23 },
    MatrixModel { name: "H100", inputs: &[F16, BF16], group: 16, aligned: 25, result: 23 },
    MatrixModel { name: "Ada, float8", inputs: &[E4M3], group: 16, aligned: 13, result: 13 },
];

/// The exponent of binary32's smallest normal number.
const LEAST: i32 = 1 - BINARY32.bias();

/// A number: `significand * 2^(exponent - fraction)`.
#[derive(Clone, Copy)]
struct Term {
    significand: i128,
    exponent: i32,
    fraction: u32,
}

impl MatrixModel {
    /// The element of D: the sum of the products of `a` and `b`, encodings in this format, and of `c`, a binary32. `None` where one
    /// of them is no number, of which the model says nothing, or where the sum overflows.
    pub fn element(&self, input: MatrixInput, a: &[u64], b: &[u64], c: u32) -> Option<u32> {
        let mut sum = Term::new(BINARY32, BINARY32.max_finite(), u64::from(c))?;
        let factors = |(a, b): (&u64, &u64)| {
            let of = |bits: u64| Term::new(input.layout, input.finite, bits);
            Some(of(*a)?.times(of(*b)?))
        };
        let products: Vec<Term> = a.iter().zip(b).map(factors).collect::<Option<_>>()?;
        for group in products.chunks(self.group) {
            sum = self.sum(group.iter().copied().chain([sum]));
        }
        sum.encoding()
    }

    fn sum(&self, terms: impl Iterator<Item = Term>) -> Term {
        let terms: Vec<Term> = terms.filter(|term| term.significand != 0).collect();
        let largest = terms.iter().map(|term| term.exponent).max().unwrap_or(LEAST);
        let total: i128 = terms.iter().map(|term| term.aligned(largest, self.aligned)).sum();
        Term { significand: total, exponent: largest, fraction: self.aligned }.rounded(self.result)
    }
}

impl Term {
    /// The number of an encoding with a sign; `None` for infinities and NaNs.
    fn new(layout: FloatLayout, finite: u64, bits: u64) -> Option<Term> {
        let magnitude = bits & layout.magnitude_mask();
        let (exponent, fraction) = (magnitude >> layout.fraction, magnitude & ((1 << layout.fraction) - 1));
        let hidden = if exponent == 0 { 0 } else { 1 << layout.fraction };
        let significand = i128::from(hidden | fraction);
        let significand = if bits & layout.sign_bit() == 0 { significand } else { -significand };
        let exponent = (exponent.max(1) as i32) - layout.bias();
        (magnitude <= finite).then_some(Term { significand, exponent, fraction: layout.fraction })
    }

    fn times(self, other: Term) -> Term {
        Term {
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
            fraction: self.fraction + other.fraction,
        }
    }

    /// The significand at a larger exponent, with this many fraction bits; what is below is cut off.
    fn aligned(self, exponent: i32, fraction: u32) -> i128 {
        let shift = fraction as i32 - self.fraction as i32 - (exponent - self.exponent);
        shifted(self.significand, shift)
    }

    /// The number as a binary32 of this many fraction bits, rounded toward zero.
    fn rounded(self, fraction: u32) -> Term {
        let bits = (i128::BITS - self.significand.unsigned_abs().leading_zeros()) as i32;
        // Where the first bit is, at least at the smallest exponent.
        let exponent = (self.exponent - self.fraction as i32 + bits - 1).max(LEAST);
        let significand = self.aligned(exponent, fraction);
        Term { significand, exponent, fraction }
    }

    /// The encoding as binary32 of what [`Term::rounded`] made; `None` beyond the largest number. A sum of 0 is +0.
    fn encoding(self) -> Option<u32> {
        let magnitude = self.significand.unsigned_abs() << (BINARY32.fraction - self.fraction);
        let hidden = 1 << BINARY32.fraction;
        // What lies below the hidden bit is subnormal.
        let biased = if magnitude < hidden { 0 } else { (self.exponent + BINARY32.bias()) as u128 };
        let bits = (biased << BINARY32.fraction | magnitude & (hidden - 1)) as u64;
        let sign = if self.significand < 0 { BINARY32.sign_bit() } else { 0 };
        (bits <= BINARY32.max_finite()).then_some((sign | bits) as u32)
    }
}

/// A number times a power of two, rounded toward zero.
fn shifted(number: i128, shift: i32) -> i128 {
    let magnitude = number.unsigned_abs();
    let magnitude =
        if shift >= 0 { magnitude << shift } else { magnitude.checked_shr(shift.unsigned_abs()).unwrap_or(0) };
    if number < 0 { -(magnitude as i128) } else { magnitude as i128 }
}
