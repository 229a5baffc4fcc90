//! The kernels of the default run.

use crate::controls::{Control, Controls};
use crate::format::Format;
use crate::kernel::Kernel;
use crate::op::OPS;
use crate::route::Via;

/// Every kernel without controls, by its natural route, scalar: formats in order, operations in table order.
pub fn plain() -> Vec<Kernel> {
    // f64 rules come with the 64-bit family; until a rule looks at them its kernels answer to `eval` only.
    Format::ALL
        .into_iter()
        .filter(|format| *format != Format::F64)
        .flat_map(|format| OPS.iter().filter_map(move |op| Kernel::plain(format, op).ok()))
        .filter(|kernel| kernel.format != Format::F64)
        .collect()
}

/// The default run: every plain kernel under every set of controls, and under none also by way of GLSL.
pub fn default_run(sets: &[Controls]) -> Vec<Kernel> {
    let plain = plain();
    let glsl =
        plain.iter().filter(|kernel| kernel.op.glsl.is_some()).map(|kernel| Kernel { via: Via::Glsl, ..*kernel });
    sets.iter().flat_map(|set| plain.iter().map(|kernel| kernel.with_controls(*set))).chain(glsl).collect()
}

/// Every set of controls that a program can ask for out of these modes.
pub fn control_sets(modes: &[Control]) -> Vec<Controls> {
    Controls::subsets(modes)
}
