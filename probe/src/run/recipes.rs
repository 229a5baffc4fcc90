//! Recipes: what a smaller set of controls or another lowering needs to be judged runs, too.

use std::collections::HashSet;

use fpprobe_profiles::Observation;
use fpprobe_profiles::judge::Judgement;
use fpprobe_reports::support::Support;
use fpprobe_spirv::Kernel;
use fpprobe_spirv::catalogue::Extent;

use super::select;
use crate::supervisor::{Batching, DeviceSession, Measurement, Track, measure};

/// Runs kernels that a recipe lacks, until none is left. What was run may show what else it takes.
pub fn complete(
    site: &DeviceSession<'_>,
    (extent, whole): (Extent, bool),
    measured: &mut Measurement,
    judgements: &mut Vec<Judgement>,
    judge: impl Fn(&[Observation]) -> Vec<Judgement>,
    track: Option<&Track<'_>>,
) -> Result<(), String> {
    let support = Support::new(&site.target.found.claims);
    let mut selected: HashSet<Kernel> = HashSet::new();
    while measured.skipped == 0 {
        // Texels wait in runs of everything alone.
        let is_next = |kernel: &Kernel| {
            (whole || !kernel.op.code.is_of_texels())
                && support.lacks(kernel).is_none()
                && selected.insert(*kernel)
        };
        let unmeasured = judgements.iter().flat_map(|judgement| &judgement.unmeasured).copied();
        let next: Vec<Kernel> = unmeasured.filter(is_next).collect();
        if next.is_empty() {
            break;
        }
        let items = select::work(&next, extent, site.settings.conditions);
        measured.absorb(measure(site, &items, Batching::Shared, track)?);
        *judgements = judge(&measured.observations);
    }
    Ok(())
}
