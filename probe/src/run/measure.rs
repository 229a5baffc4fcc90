//! The first measurement of a device: every selected kernel, batched. Results are judged while the
//! device computes the next ones.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use fpprobe_profiles::Observation;
use fpprobe_profiles::judge::{Judge, Prefetch};
use fpprobe_reports::model::{Incident, Outcome};

use super::quick;
use super::select::Selection;
use crate::supervisor::{
    self, Batching, Deadline, DeviceSession, Measurement, Track, WorkItem, observation,
};
use fpprobe_worker::protocol::KernelResult;

/// Measures what is selected; for a quick run the first kernels, and the others while there is
/// time. What the early kernels gave is shown to `first` as soon as they all have an answer.
pub fn batched(
    site: &DeviceSession<'_>,
    selection: &Selection,
    quick: bool,
    judges: &[Judge<'_>],
    first: impl Fn(&[Observation]) + Sync,
    track: Option<&Track<'_>>,
) -> Result<Measurement, String> {
    if let Some(obstacle) = &site.target.found.obstacle {
        return Ok(obstructed(obstacle));
    }
    track.map_or(Ok(()), |track| track.begin(site, &selection.items))?;
    let deadline = Deadline {
        from: selection.families,
        until: site.begun() + quick::TIME,
        least: quick::LEAST,
    };
    let site = if quick { site.until(deadline) } else { *site };
    let site = site.with_early(&selection.early);
    let (sender, answers) = channel::<Observation>();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let prefetch = Prefetch::new(judges);
            let mut early = Vec::new();
            for answer in answers.into_iter().take_while(|_| !over.load(Ordering::Relaxed)) {
                if !selection.early.contains(&answer.kernel) {
                    prefetch.see(&answer);
                    continue;
                }
                early.push(answer);
                if early.len() == selection.early.len() {
                    first(&early);
                }
            }
        });
        let sender = sender;
        let seer = |item: &WorkItem, answer: &KernelResult| {
            drop(sender.send(observation(item, answer.clone())));
        };
        let measured =
            supervisor::measure(&site.seen_by(&seer), &selection.items, Batching::Shared, track);
        // What is judged from here on is judged by every core.
        over.store(true, Ordering::Relaxed);
        measured
    })
}

fn obstructed(obstacle: &str) -> Measurement {
    let outcome = Some(Outcome::Unsupported);
    let incident = Incident { subject: "-".to_owned(), outcome, detail: obstacle.to_owned() };
    Measurement { incidents: vec![incident], ..Measurement::default() }
}
