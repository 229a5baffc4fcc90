//! The first measurement of a device: every selected kernel, batched.

use fpprobe_profiles::judge::Judge;
use fpprobe_reports::model::{Incident, Outcome};

use super::deadline;
use super::select::Selection;
use crate::supervisor::{self, Batching, DeviceSession, Measurement, Track};

/// Measures what is selected; for a quick run the first kernels, and the others while there is
/// time.
pub fn batched(
    site: &DeviceSession<'_>,
    selection: &Selection,
    quick: bool,
    judges: &[Judge<'_>],
    track: Option<&Track<'_>>,
) -> Result<Measurement, String> {
    if let Some(obstacle) = &site.target.found.obstacle {
        return Ok(obstructed(obstacle));
    }
    track.map_or(Ok(()), |track| track.begin(site, &selection.items))?;
    if quick {
        deadline::measure(site, &selection.items, selection.families, judges, track)
    } else {
        supervisor::measure(site, &selection.items, Batching::Shared, track)
    }
}

fn obstructed(obstacle: &str) -> Measurement {
    let outcome = Some(Outcome::Unsupported);
    let incident = Incident { subject: "-".to_owned(), outcome, detail: obstacle.to_owned() };
    Measurement { incidents: vec![incident], ..Measurement::default() }
}
