//! How many operands a constant block holds, in a uniform buffer or in push constants.

use crate::route::Route;
use crate::shape::Shape;

/// Bytes of a vector.
pub(crate) const VECTOR: u32 = 16;
/// Bytes of a constant block in a uniform buffer: every device has that much (Vulkan, required
/// limits: `maxUniformBufferRange`). A multiple of every `minUniformBufferOffsetAlignment`, so that
/// constant blocks may lie side by side.
pub const UNIFORM_BYTES: u32 = 16384;
/// Bytes of a constant block in push constants (Vulkan, required limits:
/// `maxPushConstantsSize`).
pub const PUSH_BYTES: u32 = 128;

/// Vectors of a constant block behind its header, on routes that have one.
pub(crate) fn vectors(route: Route) -> Option<u32> {
    match route {
        Route::Uniform => Some(UNIFORM_BYTES / VECTOR - 1),
        Route::Push => Some(PUSH_BYTES / VECTOR - 1),
        _ => None,
    }
}

/// Vectors that the operands of one slot take.
pub(crate) fn vectors_of_slot(params: &[Shape]) -> u32 {
    params.iter().map(|shape| shape.words().div_ceil(4)).sum()
}

/// Why operands do not fit their route; `None` where they do.
pub(crate) fn excess(route: Route, params: &[Shape]) -> Option<String> {
    let (needed, most) = (vectors_of_slot(params), vectors(route)?);
    (needed > most).then(|| {
        format!("its operands take {needed} vectors of 16 bytes, and route `{route}` holds {most}")
    })
}
