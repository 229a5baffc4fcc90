//! Matrix units: how one that was measured sums, what it must do, and exact models: what a
//! published model gives for a row of A, a column of B and an element of C.
//!
//! A unit adds products in groups, one group after the other, the sum so far among the terms of the
//! next. It aligns the terms of a group to the largest exponent among them, cuts each off below a
//! number of fraction bits, adds what is left exactly, and rounds the sum: toward zero to a
//! binary32, to nearest even to a binary16. The exponent of a product is the sum of those of
//! its factors: a significand of a product lies in [1, 4), and that of a subnormal below 1.
//!
//! The parameters are those that MATLAB-tensor-core publishes (Khattak and Mikaitis), whose
//! measured products are the test. Of sums in binary16 it has none; those in the test were measured
//! by fpprobe on an H200, whose units are the H100's. Vulkan leaves order and precision of
//! `OpCooperativeMatrixMulAddKHR` on floats to the implementation (Vulkan 1.4, Precision
//! of Individual Instructions), so no rule can fail by them.

mod aspect;
mod required;
mod sequential;
mod tree;
mod unit_model;

use fpprobe_spirv::layout::{BFLOAT16, BINARY16, BINARY32, FLOAT8_E4M3, FloatLayout};

pub(crate) use aspect::units;
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
}

/// IEEE 754 binary16.
pub const F16: MatrixInput = MatrixInput { name: "f16", layout: BINARY16 };
/// bfloat16: the upper half of a binary32.
pub const BF16: MatrixInput = MatrixInput { name: "bf16", layout: BFLOAT16 };
/// float8 E4M3: no infinities, one NaN of each sign.
pub const E4M3: MatrixInput = MatrixInput { name: "e4m3", layout: FLOAT8_E4M3 };

/// A matrix unit that adds aligned terms.
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
    /// Fraction bits of a sum in binary32.
    pub result: u32,
}

/// The models of which products were measured.
pub const MODELS: [MatrixModel; 4] = [
    MatrixModel { name: "V100", inputs: &[F16], group: 4, aligned: 23, result: 23 },
    MatrixModel { name: "A100, Ada", inputs: &[F16, BF16], group: 8, aligned: 24, result: 23 },
    MatrixModel { name: "H100", inputs: &[F16, BF16], group: 16, aligned: 25, result: 23 },
    MatrixModel { name: "Ada, float8", inputs: &[E4M3], group: 16, aligned: 13, result: 13 },
];

/// A number: `significand * 2^(exponent - fraction)`.
#[derive(Clone, Copy)]
struct Term {
    significand: i128,
    exponent: i32,
    fraction: u32,
}

impl MatrixModel {
    /// Its format of elements of A and B with this layout, if it has one.
    pub fn input(&self, layout: FloatLayout) -> Option<MatrixInput> {
        self.inputs.iter().find(|input| input.layout == layout).copied()
    }

    /// The element of D: the sum of the products of `a` and `b`, encodings in the input's format,
    /// and of `c`; C and D are binary32 or binary16. `None` where one of them is no number, of
    /// which the model says nothing, or where the sum overflows.
    pub fn element(
        &self,
        input: MatrixInput,
        output: FloatLayout,
        a: &[u64],
        b: &[u64],
        c: u64,
    ) -> Option<u64> {
        let mut sum = Term::new(output, c)?;
        let factors = |(a, b): (&u64, &u64)| {
            let of = |bits: u64| Term::new(input.layout, bits);
            Some(of(*a)?.times(of(*b)?))
        };
        let products: Vec<Term> = a.iter().zip(b).map(factors).collect::<Option<_>>()?;
        for group in products.chunks(self.group) {
            let exact = self.sum(group.iter().copied().chain([sum]));
            sum = if output == BINARY32 {
                exact.rounded(output, self.result, shifted)
            } else {
                exact.rounded(output, output.fraction, nearest)
            };
        }
        sum.encoding(output)
    }

    /// The exact sum of terms that are cut off below those bits of the largest that are kept.
    fn sum(&self, terms: impl Iterator<Item = Term>) -> Term {
        let terms: Vec<Term> = terms.filter(|term| term.significand != 0).collect();
        let largest = terms.iter().map(|term| term.exponent).max().unwrap_or(0);
        let significand = terms
            .iter()
            .map(|term| shifted(term.significand, term.shift(largest, self.aligned)))
            .sum();
        Term { significand, exponent: largest, fraction: self.aligned }
    }
}

impl Term {
    /// The number of an encoding with a sign; `None` for infinities and NaNs.
    fn new(layout: FloatLayout, bits: u64) -> Option<Term> {
        let magnitude = bits & layout.magnitude_mask();
        let (exponent, fraction) =
            (magnitude >> layout.fraction, magnitude & ((1 << layout.fraction) - 1));
        let hidden = if exponent == 0 { 0 } else { 1 << layout.fraction };
        let significand = i128::from(hidden | fraction);
        let significand = if bits & layout.sign_bit() == 0 { significand } else { -significand };
        let exponent = (exponent.max(1) as i32) - layout.bias();
        (magnitude <= layout.max_finite()).then_some(Term {
            significand,
            exponent,
            fraction: layout.fraction,
        })
    }

    fn times(self, other: Term) -> Term {
        Term {
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
            fraction: self.fraction + other.fraction,
        }
    }

    /// The power of two that takes the significand to another exponent and number of fraction bits.
    fn shift(self, exponent: i32, fraction: u32) -> i32 {
        fraction as i32 - self.fraction as i32 - (exponent - self.exponent)
    }

    /// The number in this format with this many fraction bits.
    fn rounded(
        self,
        layout: FloatLayout,
        fraction: u32,
        round: impl Fn(i128, i32) -> i128,
    ) -> Term {
        let bits = (i128::BITS - self.significand.unsigned_abs().leading_zeros()) as i32;
        // Where the first bit is, at least at the smallest exponent.
        let exponent = (self.exponent - self.fraction as i32 + bits - 1).max(1 - layout.bias());
        Term {
            significand: round(self.significand, self.shift(exponent, fraction)),
            exponent,
            fraction,
        }
    }

    /// The encoding of what [`Term::rounded`] made; `None` beyond the largest number. A sum of 0 is
    /// +0.
    fn encoding(self, layout: FloatLayout) -> Option<u64> {
        let magnitude = self.significand.unsigned_abs() << (layout.fraction - self.fraction);
        let hidden = 1 << layout.fraction;
        // What lies below the hidden bit is subnormal; what rounding carried beyond it goes into
        // the exponent.
        let binades =
            if magnitude < hidden { 0 } else { (self.exponent + layout.bias() - 1) as u128 };
        let bits = (binades * hidden + magnitude) as u64;
        let sign = if self.significand < 0 { layout.sign_bit() } else { 0 };
        (bits <= layout.max_finite()).then_some(sign | bits)
    }
}

/// A number times a power of two, rounded toward zero.
fn shifted(number: i128, shift: i32) -> i128 {
    let magnitude = number.unsigned_abs();
    let magnitude = if shift >= 0 {
        magnitude << shift
    } else {
        magnitude.checked_shr(shift.unsigned_abs()).unwrap_or(0)
    };
    if number < 0 { -(magnitude as i128) } else { magnitude as i128 }
}

/// A number times a power of two, rounded to the nearest, ties to even.
fn nearest(number: i128, shift: i32) -> i128 {
    let down = shifted(number, shift);
    if shift >= 0 {
        return down;
    }
    // What lies far below the last bit is lost, however far.
    let places = shift.unsigned_abs().min(126);
    let (lost, half) =
        (number.unsigned_abs() - (down.unsigned_abs() << places), 1_u128 << (places - 1));
    let is_up = lost > half || lost == half && down & 1 == 1;
    if is_up { down + number.signum() } else { down }
}
