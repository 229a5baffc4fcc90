//! The first lane of a kernel that two devices compute otherwise: only for what differs are reports
//! read once more.

use std::collections::HashMap;

use fpprobe_profiles::Observation;

use super::device::FoundDevice;
use super::results::CanonicalResults;
use super::{DifferingLane, KernelDifference};
use crate::record::read_device;
use crate::values::{encode_answer, encode_case};

/// Fills in the lanes of these kernels, each beside a device with the results of most. A report
/// that was removed meanwhile shows none.
pub(super) fn find(
    differences: &mut [(KernelDifference, Option<&FoundDevice>)],
    device: &FoundDevice,
) {
    if differences.is_empty() {
        return;
    }
    let Some(here) = observations(device) else { return };
    // Nearly always one device for all kernels.
    let mut last: Option<(&FoundDevice, ObservationsById)> = None;
    for (difference, typical) in differences {
        let Some(typical) = *typical else { continue };
        if last.as_ref().is_none_or(|(device, _)| !std::ptr::eq(*device, typical)) {
            last = observations(typical).map(|observations| (typical, observations));
        }
        let most = last.as_ref().and_then(|(_, observations)| observations.get(&difference.kernel));
        let (Some(here), Some(most)) = (here.get(&difference.kernel), most) else { continue };
        if here.outcome != most.outcome {
            difference.outcomes =
                Some([here, most].map(|one| format!("{:?}", one.outcome).to_lowercase()));
        }
        difference.lane = differing(here, most);
    }
}

/// What one device gave, by kernel id.
type ObservationsById = HashMap<String, Observation>;

fn observations(device: &FoundDevice) -> Option<ObservationsById> {
    let report = device.file.load().ok()?;
    let one = report.devices.iter().find(|one| one.identity.slot == device.slot)?;
    let observations = read_device(&one.observations, &report.inputs).ok()?.observations;
    Some(
        observations
            .into_iter()
            .map(|observation| (observation.kernel.to_string(), observation))
            .collect(),
    )
}

fn differing(here: &Observation, most: &Observation) -> Option<DifferingLane> {
    if here.cases != most.cases || !here.outcome.answered() || !most.outcome.answered() {
        return None;
    }
    let results = CanonicalResults::of(here);
    let differs =
        |case: &usize| !results.parts(&here.out, *case).eq(results.parts(&most.out, *case));
    let cases: Vec<usize> = (0..here.cases.len()).filter(differs).collect();
    let first = *cases.first()?;
    Some(DifferingLane {
        inputs: encode_case(&here.kernel, here.cases.case(first)),
        out: encode_answer(&here.kernel, here.answer(first)),
        most: encode_answer(&most.kernel, most.answer(first)),
        cases: cases.len(),
    })
}
