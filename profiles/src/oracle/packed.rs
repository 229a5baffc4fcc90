//! Numbers that go through a smaller format: binary16 and back, fixed-point fields of a word.

use fpprobe_spirv::Format;
use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float as _, Round};

use super::combine::representatives;
use super::error::neighbours;
use super::exact::greatest_code;
use super::round::finish;
use super::{Demand, Operand};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::interval::Interval;
use crate::quad::{integral, power, whole};
use crate::real::Exact;

/// To binary16, rounded and flushed there, and back, which changes nothing.
pub(super) fn quantized(encoding: Encoding, operand: Operand, demand: &Demand) -> Set {
    let Some(half) = Format::F16.float() else { return Set::everything(encoding) };
    let halves = finish(Encoding::Float(half), Exact::of(operand.value()), &[operand], demand);
    if halves.is_everything() {
        return Set::everything(encoding);
    }
    let exact = Demand { accuracy: Accuracy::NearestEven, ..demand.clone() };
    representatives(&halves).into_iter().fold(Set::nothing(encoding), |set, bits| {
        let value = Operand { layout: Some(half), bits };
        set.or(&finish(encoding, Exact::of(value.value()), &[value], &exact))
    })
}

/// A number to a fixed-point field: `floor(0.5 + m * clamp(x))`, m the field's greatest value, the
/// clamp to [-1, 1] where the field is signed, else to [0, 1]. The product is rounded to the
/// operand's format, in either direction unless the profile has one (WGSL, "Data Packing Built-in
/// Functions").
pub(super) fn normalized(
    encoding: Encoding,
    operand: Operand,
    (bits, signed): (u32, bool),
    demand: &Demand,
) -> Set {
    let Some(layout) = operand.layout else { return Set::everything(encoding) };
    let (least, greatest) = (if signed { -power(0) } else { Quad::ZERO }, power(0));
    let x = operand.value();
    let x = if x < least {
        least
    } else if x > greatest {
        greatest
    } else {
        x
    };
    let most = greatest_code(bits, signed);
    let product = Interval::point((x * most).value);
    let product = if demand.accuracy == Accuracy::NearestEven {
        product
    } else {
        neighbours(layout, product)
    };
    let key = |end: Quad| whole(integral((end + power(-1)).value, Round::TowardNegative));
    Set::range(encoding, key(product.lo), key(product.hi))
}
