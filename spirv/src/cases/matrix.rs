//! Cases of cooperative matrices: probes whose results show how a unit sums, and drawn ones.
//!
//! The order of a sum is found by the difference method (`FPRev`, 2024): of N summands one is `+M`,
//! another `-M`, all others one unit, M so large that a unit is lost beside it. The result counts
//! the units that were added after the two had met, so N less the count is the number of summands
//! below the node of the sum's tree in which they meet.

use super::values::random;
use crate::kernel::{Kernel, Shape};
use crate::layout::FloatLayout;
use crate::matrix::{MatrixComponent, MatrixUnit};
use crate::op::Code;

/// Drawn cases of a product.
const DRAWN: u64 = 96;
/// Drawn lines that are moved.
const LINES: u64 = 24;
/// Most bits below the last bit of a result that are looked for.
pub const MOST_BITS: u32 = 8;

/// A question that one case of a float product answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatrixProbe {
    /// How many units are added after these two summands have met: products by their number, C by
    /// that of K.
    Order(u32, u32),
    /// `x * x - y`, where y is x * x rounded to the factors' format.
    Product,
    /// One, and three quarters of a distance to the next number; of this sign.
    Rounding(bool),
    /// One, and half a distance to the next number.
    Tie,
    /// `x + y - x`, where y lies this many bits below the last bit of x.
    Bits(u32),
    /// The smallest number of the factors' format in A, times a large one.
    SubnormalA,
    /// The same in B.
    SubnormalB,
    /// The smallest number in C alone.
    SubnormalC,
    /// Half of the smallest normal number.
    SubnormalResult,
    /// Infinity times zero.
    InfinityTimesZero,
    /// A NaN in A.
    NanA,
    /// A NaN in C.
    NanC,
    /// Products of -0 plus -0.
    NegativeZeros,
    /// Twice the largest number, less that.
    PartialOverflow,
    /// Twice the largest number.
    Overflow,
}

/// The layouts of a product of floats.
#[derive(Clone, Copy)]
pub struct ProductLayouts {
    /// Of A and B.
    pub factors: FloatLayout,
    /// Of C.
    pub added: FloatLayout,
    /// Of the result.
    pub result: FloatLayout,
}

impl ProductLayouts {
    /// Of a kernel that multiplies matrices of floats, A and B alike.
    pub fn of(kernel: &Kernel) -> Option<ProductLayouts> {
        let unit = kernel
            .matrix
            .filter(|unit| kernel.op.code == Code::MatrixMulAdd && unit.a == unit.b)?;
        let (factors, added) = (unit.a.format().float()?, unit.c.format().float()?);
        Some(ProductLayouts { factors, added, result: kernel.format.float()? })
    }

    /// Exponents of a unit and of what hides it: 29 apart, more than any known unit has bits, and
    /// both numbers of the result.
    pub fn order(self) -> (i32, i32) {
        if self.result.exponent < 8 {
            (1 - self.result.bias(), self.result.bias())
        } else {
            (0, 29)
        }
    }
}

impl MatrixProbe {
    /// Every probe of a unit of this K.
    pub fn all(k: u32) -> Vec<MatrixProbe> {
        let pairs = (0..=k).flat_map(|i| (i + 1..=k).map(move |j| MatrixProbe::Order(i, j)));
        let others = [
            MatrixProbe::Product,
            MatrixProbe::Rounding(false),
            MatrixProbe::Rounding(true),
            MatrixProbe::Tie,
            MatrixProbe::SubnormalA,
            MatrixProbe::SubnormalB,
            MatrixProbe::SubnormalC,
            MatrixProbe::SubnormalResult,
            MatrixProbe::InfinityTimesZero,
            MatrixProbe::NanA,
            MatrixProbe::NanC,
            MatrixProbe::NegativeZeros,
            MatrixProbe::PartialOverflow,
            MatrixProbe::Overflow,
        ];
        others.into_iter().chain((0..=MOST_BITS).map(MatrixProbe::Bits)).chain(pairs).collect()
    }

    /// Its case: a row of A, a column of B, an element of C. `None` where the formats have no such
    /// numbers, as products of binary16 have none that is subnormal in binary32.
    pub fn case(self, kernel: &Kernel) -> Option<Vec<u64>> {
        let (unit, layouts) = (kernel.matrix?, ProductLayouts::of(kernel)?);
        let ProductLayouts { factors, added, result } = layouts;
        let mut sum = Sum::new(unit, layouts);
        let (one, digits) = (factors.one(), result.fraction as i32);
        let sign = |negative: bool| if negative { factors.sign_bit() } else { 0 };
        match self {
            MatrixProbe::Order(i, j) => {
                let (small, large) = layouts.order();
                for place in 0..=unit.k {
                    let exponent = if [i, j].contains(&place) { large } else { small };
                    sum.power(place, exponent, place == j)?;
                }
            }
            MatrixProbe::Product => {
                // x = 1 + e, the next number after 1; y = 1 + 2e; what is left is e * e.
                sum.product(0, (one + 2) | factors.sign_bit(), one);
                sum.product(1, one + 1, one + 1);
            }
            MatrixProbe::Rounding(negative) => {
                sum.power(0, 0, negative)?;
                let half = -(digits + 1) / 2;
                sum.product(
                    1,
                    layouts.power(half)? | factors.quiet_bit() | sign(negative),
                    layouts.power(-digits - half - 1)?,
                );
            }
            MatrixProbe::Tie => {
                sum.power(0, 0, false)?;
                sum.power(1, -digits - 1, false)?;
            }
            MatrixProbe::Bits(bits) => {
                sum.power(0, 10, false)?;
                sum.power(1, 10 - digits - bits as i32, false)?;
                sum.power(2, 10, true)?;
            }
            MatrixProbe::SubnormalA => sum.product(0, 1, layouts.power(factors.bias())?),
            MatrixProbe::SubnormalB => sum.product(0, layouts.power(factors.bias())?, 1),
            MatrixProbe::SubnormalC => sum.c = 1,
            MatrixProbe::SubnormalResult => sum.power(0, -result.bias(), false)?,
            MatrixProbe::InfinityTimesZero if !factors.infinite => return None,
            MatrixProbe::InfinityTimesZero => sum.product(0, factors.infinity(), 0),
            MatrixProbe::NanA => sum.product(0, factors.infinity() | factors.quiet_bit() | 5, one),
            MatrixProbe::NanC => sum.c = added.infinity() | added.quiet_bit() | 5,
            MatrixProbe::NegativeZeros => {
                (0..unit.k).for_each(|place| sum.product(place, factors.sign_bit(), one));
                sum.c = added.sign_bit();
            }
            MatrixProbe::PartialOverflow | MatrixProbe::Overflow => {
                let largest = Some(factors.max_finite()).filter(|_| factors == result)?;
                sum.product(0, largest, one);
                sum.product(1, largest, one);
                if self == MatrixProbe::PartialOverflow {
                    sum.product(2, largest | factors.sign_bit(), one);
                }
            }
        }
        Some(sum.case())
    }
}

impl ProductLayouts {
    /// A power of two in the factors' format, subnormal ones among them.
    fn power(self, exponent: i32) -> Option<u64> {
        power(self.factors, exponent)
    }
}

fn power(layout: FloatLayout, exponent: i32) -> Option<u64> {
    let biased = exponent + layout.bias();
    let place = layout.fraction as i32 + biased - 1;
    match biased {
        1.. if biased <= 2 * layout.bias() => Some((biased as u64) << layout.fraction),
        ..1 if place >= 0 => Some(1 << place),
        _ => None,
    }
}

/// The summands of an element; all others are 0.
struct Sum {
    layouts: ProductLayouts,
    a: Vec<u64>,
    b: Vec<u64>,
    c: u64,
}

impl Sum {
    fn new(unit: MatrixUnit, layouts: ProductLayouts) -> Sum {
        let zeros = vec![0; unit.k as usize];
        Sum { layouts, a: zeros.clone(), b: zeros, c: 0 }
    }

    fn product(&mut self, place: u32, a: u64, b: u64) {
        if let Some((own, other)) =
            self.a.get_mut(place as usize).zip(self.b.get_mut(place as usize))
        {
            (*own, *other) = (a, b);
        }
    }

    /// A power of two as a product, or where that is the number of C, as C.
    fn power(&mut self, place: u32, exponent: i32, negative: bool) -> Option<()> {
        let ProductLayouts { factors, added, .. } = self.layouts;
        if place as usize == self.a.len() {
            self.c = power(added, exponent)? | if negative { added.sign_bit() } else { 0 };
            return Some(());
        }
        // Where one factor is enough, the other is one.
        let normal = (1 - factors.bias()..=factors.bias()).contains(&exponent);
        let half = if normal { 0 } else { exponent / 2 };
        let rest = exponent - half;
        (rest >= 1 - factors.bias() && half >= 1 - factors.bias()).then_some(())?;
        let sign = if negative { factors.sign_bit() } else { 0 };
        self.product(place, power(factors, rest)? | sign, power(factors, half)?);
        Some(())
    }

    fn case(self) -> Vec<u64> {
        [self.a, self.b, vec![self.c]].concat()
    }
}

/// The list of a kernel of matrices.
pub(super) fn list(kernel: &Kernel) -> Vec<u64> {
    let Some(unit) = kernel.matrix else { return Vec::new() };
    match (kernel.op.code, ProductLayouts::of(kernel)) {
        (Code::MatrixMulAdd, Some(layouts)) => {
            let probes =
                MatrixProbe::all(unit.k).into_iter().filter_map(|probe| probe.case(kernel));
            probes.chain((0..DRAWN).map(|number| drawn(unit, layouts, number))).flatten().collect()
        }
        (Code::MatrixMulAdd, None) => {
            (0..DRAWN).flat_map(|number| integers(unit, number)).collect()
        }
        (Code::MatrixLoadStore(part), _) => (0..LINES)
            .flat_map(|number| line(kernel.result(), unit.component(part), number))
            .collect(),
        _ => Vec::new(),
    }
}

/// Numbers near one another: their sums are rounded in each step, and cancel in part. In every
/// fourth case they are as far apart as products of binary16 get.
fn drawn(unit: MatrixUnit, layouts: ProductLayouts, number: u64) -> Vec<u64> {
    let spread = if number % 4 == 3 { 12 } else { 2 + number % 3 };
    let value = |layout: FloatLayout, salt: u64, spread: u64| {
        let bits = random(random(number) ^ salt);
        let exponent = layout.bias() as u64 - spread + bits % (2 * spread + 1);
        let fraction = bits >> 20 & ((1 << layout.fraction) - 1);
        (bits >> 63) * layout.sign_bit() | exponent << layout.fraction | fraction
    };
    let factors =
        (0..u64::from(2 * unit.k)).map(|place| value(layouts.factors, place + 1, spread.min(6)));
    let c = if number % 8 == 7 { 0 } else { value(layouts.added, 0x1_0000, spread) };
    factors.chain([c]).collect()
}

/// Integers: the ends of their ranges, and drawn ones; C at its ends, so that sums wrap or
/// saturate.
fn integers(unit: MatrixUnit, number: u64) -> Vec<u64> {
    let ends = |component: MatrixComponent| match component {
        MatrixComponent::I8 => [0xffff_ff80, 0x7f],
        MatrixComponent::U8 => [0, 0xff],
        MatrixComponent::I32 => [0x8000_0000, 0x7fff_ffff],
        _ => [0, 0xffff_ffff],
    };
    let value = |component: MatrixComponent, salt: u64| {
        let bits = random(random(number) ^ salt);
        let end = ends(component)[(number / 2 % 2) as usize];
        match (number % 6, bits % 4) {
            (0 | 1, _) | (2, 0) => end,
            _ => component.integer(bits >> 8) as u64 & 0xffff_ffff,
        }
    };
    let k = u64::from(unit.k);
    let a = (0..k).map(|place| value(unit.a, place + 1));
    let b = (0..k).map(|place| value(unit.b, place + k + 1));
    let c = ends(unit.c)[(number / 6 % 2) as usize];
    let c = if number.is_multiple_of(3) { c } else { random(number ^ 0xc) & 0xffff_ffff };
    a.chain(b).chain([c]).collect()
}

/// A line to be moved: special values in each place, and drawn bits.
fn line(shape: Shape, component: MatrixComponent, number: u64) -> Vec<u64> {
    let special: Vec<u64> = match shape.format.float() {
        Some(layout) => {
            let (infinity, sign) = (layout.infinity(), layout.sign_bit());
            vec![
                0,
                sign,
                1,
                sign | 1,
                layout.min_normal() - 1,
                infinity,
                infinity | sign,
                infinity | layout.quiet_bit() | 3,
            ]
        }
        None => vec![0, 1, 0x7f, 0x80],
    };
    let value = |place: u64| {
        let bits = random(random(number) ^ (place + 1));
        let value = if bits.is_multiple_of(3) {
            special[(bits >> 8) as usize % special.len()]
        } else {
            bits >> 8
        };
        let value =
            if shape.format.float().is_some() { value } else { component.integer(value) as u64 };
        value & shape.format.mask()
    };
    (0..u64::from(shape.width)).map(value).collect()
}
