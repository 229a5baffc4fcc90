//! Sums one after the other, each step rounded to nearest even.

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::cases::matrix::ProductLayouts;
use fpprobe_spirv::layout::BINARY32;
use rustc_apfloat::ieee::{Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use crate::number::Number;

/// A sum of products in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SequentialModel {
    /// Its name.
    pub name: &'static str,
    /// Whether a product is added without being rounded.
    pub fused: bool,
    /// Whether C is the first summand; otherwise it is the last.
    pub c_first: bool,
    /// Whether the sum is a binary32 whatever the result is.
    pub single: bool,
}

impl SequentialModel {
    /// The element of a product, in the encoding of its result. `None` where something is no
    /// number.
    pub fn element(&self, layouts: ProductLayouts, a: &[u64], b: &[u64], c: u64) -> Option<u64> {
        let ProductLayouts { factors, added, result } = layouts;
        if result == BINARY32 || self.single {
            let sum = self.sum::<Single>(factors, a, b, decoded(added, c)?)?;
            return if result == BINARY32 {
                encoded(sum)
            } else {
                encoded::<Half>(sum.convert(&mut false).value)
            };
        }
        encoded(self.sum::<Half>(factors, a, b, decoded(added, c)?)?)
    }

    fn sum<F: Float>(&self, factors: FloatLayout, a: &[u64], b: &[u64], c: F) -> Option<F>
    where
        Single: FloatConvert<F>,
    {
        const NEAREST: Round = Round::NearestTiesToEven;
        let mut sum = if self.c_first { c } else { F::ZERO };
        for (a, b) in a.iter().zip(b) {
            let (a, b): (F, F) = (decoded(factors, *a)?, decoded(factors, *b)?);
            sum = if self.fused {
                a.mul_add_r(b, sum, NEAREST)
            } else {
                sum.add_r(a.mul_r(b, NEAREST).value, NEAREST)
            }
            .value;
        }
        if !self.c_first {
            sum = sum.add_r(c, NEAREST).value;
        }
        Some(sum).filter(|sum| sum.is_finite())
    }
}

/// A finite number in another format.
fn decoded<F: Float>(layout: FloatLayout, bits: u64) -> Option<F>
where
    Single: FloatConvert<F>,
{
    let mut loses = false;
    // Binary32 holds the numbers of all formats of elements.
    let single = <f64 as Number>::decode(layout, bits) as f32;
    let value = Single::from_bits(single.to_bits().into()).convert(&mut loses).value;
    Some(value).filter(|value: &F| value.is_finite() && !loses)
}

fn encoded<F: Float>(value: F) -> Option<u64> {
    value.is_finite().then(|| value.to_bits() as u64)
}
