//! Measuring under a deadline: what matters most comes first, what there is no time for is left
//! out, and answers are judged while the device gives the next ones.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use fpprobe_profiles::Observation;
use fpprobe_profiles::judge::{Judge, Prefetch};
use fpprobe_reports::model::{Incident, LEFT_OUT};
use fpprobe_spirv::Kernel;

use super::quick;
use crate::supervisor::{
    Batching, Deadline, DeviceSession, Measurement, Track, WorkItem, observation,
};
use fpprobe_worker::protocol::KernelResult;

/// Measures a device: the first N kernels whatever it takes, the others while there is time.
pub fn measure(
    site: &DeviceSession<'_>,
    work: &[WorkItem],
    families: usize,
    judges: &[Judge<'_>],
    track: Option<&Track<'_>>,
) -> Result<Measurement, String> {
    let deadline =
        Deadline { from: families, until: site.begun() + quick::TIME, least: quick::LEAST };
    let (sender, answers) = channel::<Observation>();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let prefetch = Prefetch::new(judges);
            for answer in answers.into_iter().take_while(|_| !over.load(Ordering::Relaxed)) {
                prefetch.see(&answer);
            }
        });
        let sender = sender;
        let seer = |item: &WorkItem, answer: &KernelResult| {
            drop(sender.send(observation(item, answer.clone())));
        };
        let measured =
            crate::supervisor::measure(&site.until(deadline, &seer), work, Batching::Shared, track);
        // What is judged from here on is judged by every core.
        over.store(true, Ordering::Relaxed);
        measured
    })
}

/// What there was no time for, as the report names it: kernels, and kernels that were not run
/// again, alone.
pub fn left_out(kernels: &[Kernel], alone: &[Kernel]) -> Vec<Incident> {
    let incident = |subject: String, detail: String| Incident { subject, outcome: None, detail };
    let mut incidents: Vec<Incident> =
        kernels.iter().map(|kernel| incident(kernel.to_string(), LEFT_OUT.to_owned())).collect();
    if !alone.is_empty() {
        let detail =
            format!("{LEFT_OUT}: the second look at {} that deviate, each isolated", alone.len());
        incidents.push(incident("-".to_owned(), detail));
    }
    incidents
}
