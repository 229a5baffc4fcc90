//! The kernels of the default run.

use crate::controls::Controls;
use crate::format::Format;
use crate::kernel::Kernel;
use crate::needs::{Need, needs};
use crate::op::OPS;
use crate::route::Via;

/// Every kernel without controls, by its natural route, scalar: formats in order, operations in table order. Kernels
/// with a 64-bit float anywhere answer to `eval` alone until a rule looks at them.
pub fn plain() -> Vec<Kernel> {
    Format::ALL
        .into_iter()
        .flat_map(|format| OPS.iter().filter_map(move |op| Kernel::plain(format, op).ok()))
        .filter(|kernel| !needs(kernel).contains(&Need::Float64))
        .collect()
}

/// The default run: every plain kernel under every set of controls, and under none also by way of GLSL.
pub fn default_run(sets: &[Controls]) -> Vec<Kernel> {
    let plain = plain();
    let glsl =
        plain.iter().filter(|kernel| kernel.op.glsl.is_some()).map(|kernel| Kernel { via: Via::Glsl, ..*kernel });
    sets.iter().flat_map(|set| plain.iter().map(|kernel| kernel.with_controls(*set))).chain(glsl).collect()
}
