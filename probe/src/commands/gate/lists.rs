//! Kernels with the cases that a gate compares.

use std::collections::HashMap;

use fpprobe_profiles::Observation;
use fpprobe_reports::support::Support;
use fpprobe_spirv::{Cases, Kernel, Route, Stage, cases, catalogue};

use crate::supervisor::{Target, WorkItem};

/// Cases of the longest list that is run whole.
const LONGEST: usize = 1 << 12;

/// Kernels with their cases: of those with thousands the boundary cases.
pub fn items(kernels: impl Iterator<Item = Kernel>) -> Vec<WorkItem> {
    let cases = |kernel: &Kernel| {
        let all = cases::cases(kernel);
        if all.len() > LONGEST { cases::boundary(kernel) } else { all }
    };
    kernels.map(|kernel| WorkItem { kernel, cases: cases(&kernel) }).collect()
}

/// The kernels of which results are expected: each operation in each format, by compute shaders.
pub fn kernels(target: &Target) -> impl Iterator<Item = Kernel> {
    let support = Support::new(&target.found.claims);
    all().filter(move |kernel| support.lacks(kernel).is_none())
}

fn all() -> impl Iterator<Item = Kernel> {
    catalogue::plain().into_iter().filter(|kernel| {
        let is_direct = !kernel.op.code.is_of_texels() || kernel.route == Route::StorageImage;
        is_direct && kernel.shader() == Stage::Compute
    })
}

/// Whether an observation is of a kernel and of cases that a gate compares.
pub fn items_of() -> impl Fn(&Observation) -> bool + Sync {
    let all: HashMap<Kernel, Cases> =
        items(all()).into_iter().map(|item| (item.kernel, item.cases)).collect();
    move |one| all.get(&one.kernel).is_some_and(|cases| cases.iter().eq(one.cases.iter()))
}
