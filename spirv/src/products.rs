//! Kernels of cooperative matrices. Which units there are, a device says: so these kernels are in
//! no catalogue, but made of what it enumerates.

use std::collections::BTreeSet;

use crate::atomic::MemoryScope;
use crate::controls::Controls;
use crate::format::Format;
use crate::kernel::Kernel;
use crate::matrix::{MatrixComponent, MatrixUnit, MatrixUse, SATURATING};
use crate::op::Op;
use crate::route::{Route, Stage, Via};

/// A product that a device enumerates: its unit and the elements of its result. `None` for what has
/// no kernel, such as elements of 64 bits, and matrices of a whole work group.
///
/// `MxNxK-A-B-C-RESULT`, behind it `-saturating` and the scope where that is no subgroup:
/// `8x8x8-f16-f16-f32-f32`.
pub fn product(property: &str) -> Option<Kernel> {
    let mut parts: Vec<&str> = property.split('-').collect();
    let saturating = parts.last() == Some(&SATURATING);
    if saturating {
        parts.pop();
    }
    let [size, a, b, c, result] = parts[..] else { return None };
    let format = MatrixComponent::find(result).filter(|result| result.bytes() > 1)?.format();
    let unit: MatrixUnit = format!("{size}-{a}-{b}-{c}").parse().ok()?;
    kernel(MatrixUnit { saturating, ..unit }, "matrix_mul_add", format)
}

/// The kernels of a device that enumerates these properties: each product, and loads and stores of
/// each kind of matrix.
pub fn kernels(properties: &[String]) -> Vec<Kernel> {
    let products: Vec<Kernel> =
        properties.iter().filter_map(|property| product(property)).collect();
    let mut seen = BTreeSet::new();
    let moves = [
        ("matrix_load_store_a", MatrixUse::A),
        ("matrix_load_store_b", MatrixUse::B),
        ("matrix_load_store_c", MatrixUse::Accumulator),
    ];
    let units = products.iter().filter_map(|kernel| kernel.matrix);
    let lines = units.flat_map(|unit| moves.map(|(op, part)| (unit, op, part)));
    let mut fresh = Vec::new();
    for (unit, op, part) in lines {
        let component = unit.component(part);
        // Of integers the sign is not moved.
        if seen.insert((
            part,
            unit.size(part),
            component.bytes(),
            component.format().float().is_some(),
        )) {
            fresh.extend(kernel(unit, op, unit.component(part).format()));
        }
    }
    let mut known = BTreeSet::new();
    let products = products.into_iter().filter(|kernel| known.insert(kernel.to_string()));
    products.chain(fresh).collect()
}

/// The kernel of an operation by this name with a unit.
fn kernel(unit: MatrixUnit, op: &str, format: Format) -> Option<Kernel> {
    let (route, stage, via) = (Route::Buffer, Stage::Compute, Via::Spirv);
    let (op, scope) = (Op::find(op)?, MemoryScope::default());
    Kernel {
        format,
        op,
        controls: Controls::NONE,
        route,
        stage,
        width: 1,
        via,
        matrix: Some(unit),
        scope,
    }
    .checked()
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_follow_from_what_is_enumerated() {
        let own = [
            "8x8x8-f16-f16-f32-f32",
            "8x8x8-i8-u8-i32-i32-saturating",
            "16x16x16-bf16-bf16-f32-f32",
            "8x8x8-f16",
        ];
        let ids: Vec<String> =
            kernels(&own.map(str::to_owned)).iter().map(Kernel::to_string).collect();
        assert_eq!(
            ids,
            [
                "f32.matrix_mul_add:matrix=8x8x8-f16-f16-f32",
                "i32.matrix_mul_add:matrix=8x8x8-i8-u8-i32-saturating",
                "f32.matrix_mul_add:matrix=16x16x16-bf16-bf16-f32",
                "f16.matrix_load_store_a:matrix=8x8x8-f16-f16-f32",
                "f16.matrix_load_store_b:matrix=8x8x8-f16-f16-f32",
                "f32.matrix_load_store_c:matrix=8x8x8-f16-f16-f32",
                "i32.matrix_load_store_a:matrix=8x8x8-i8-u8-i32-saturating",
                "u32.matrix_load_store_b:matrix=8x8x8-i8-u8-i32-saturating",
                "i32.matrix_load_store_c:matrix=8x8x8-i8-u8-i32-saturating",
                "bf16.matrix_load_store_a:matrix=16x16x16-bf16-bf16-f32",
                "bf16.matrix_load_store_b:matrix=16x16x16-bf16-bf16-f32",
                "f32.matrix_load_store_c:matrix=16x16x16-bf16-bf16-f32",
            ]
        );
        for id in &ids {
            assert_eq!(&id.parse::<Kernel>().unwrap().to_string(), id);
        }
    }

    #[test]
    fn kernels_without_a_unit_or_with_another_are_refused() {
        for (id, reason) in [
            ("f32.matrix_mul_add", "write the unit"),
            ("f32.fadd:matrix=8x8x8-f16-f16-f32", "no cooperative matrix"),
            ("i32.matrix_mul_add:matrix=8x8x8-f16-f16-f32", "of floats or of integers"),
            ("f32.matrix_load_store_a:matrix=8x8x8-f16-f16-f32", "are f16, not f32"),
            ("f64.matrix_mul_add:matrix=8x8x8-f16-f16-f32", "exists for"),
            ("f32.matrix_mul_add:matrix=8x8x8-f16-f16-f32;stage=vertex", "compute shaders"),
        ] {
            let error = id.parse::<Kernel>().unwrap_err().to_string();
            assert!(error.contains(reason), "{id}: {error}");
        }
    }
}
