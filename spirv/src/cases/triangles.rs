//! Values of the vertices of triangles, between which a fragment's input is interpolated.

use super::boundary::{Length, cut};
use super::unary::unary;
use super::values::scaled;
use crate::kernel::Kernel;
use crate::layout::FloatLayout;

/// Differences of small integers, of which the middle is a number of the format.
const RAMPS: [[i64; 3]; 10] = [
    [0, 4, 0],
    [0, 0, 4],
    [2, 0, 0],
    [8, 4, 0],
    [1, 5, 1],
    [-3, 1, 9],
    [7, 3, -5],
    [-1, 3, 7],
    [100, 104, 108],
    [4095, 4091, 4099],
];
/// Powers of two that they are multiplied by.
const SCALES: [i32; 5] = [-100, -20, 0, 20, 100];

/// Each boundary value at all vertices, and at the first one, the others being ordinary numbers;
/// ramps of small integers.
pub(super) fn triangles(kernel: &Kernel) -> Vec<u64> {
    let Some(layout) = kernel.format.float() else { return Vec::new() };
    let values = cut(&[kernel.format], unary(layout), Length::Boundary);
    let others = [1, 3].map(|number| scaled(layout, number, 0));
    let of_value = |value: u64| [[value; 3], [value, others[0], others[1]]];
    let ramps = SCALES
        .into_iter()
        .flat_map(|scale| RAMPS.map(|ramp| ramp.map(|number| integer(layout, number, scale))));
    values.into_iter().flat_map(of_value).chain(ramps).flatten().collect()
}

/// A small integer times a power of two.
fn integer(layout: FloatLayout, number: i64, scale: i32) -> u64 {
    let sign = if number < 0 { layout.sign_bit() } else { 0 };
    if number == 0 { 0 } else { sign | scaled(layout, number.unsigned_abs(), scale) }
}
