//! Judging while a device is still being measured: what is found of an answer is known when all of them are judged.

use std::collections::HashMap;

use fpprobe_spirv::{Controls, Kernel};

use super::{Judge, Place};
use crate::observation::{Observation, Outcome};

/// Looks at answers as they come.
#[derive(Debug)]
pub struct Ahead<'j, 'p> {
    judges: &'j [Judge<'p>],
    /// Which judge looks at a kernel, and from where.
    places: HashMap<Kernel, Vec<(usize, Place)>>,
}

impl<'j, 'p> Ahead<'j, 'p> {
    /// For these judges.
    pub fn new(judges: &'j [Judge<'p>]) -> Self {
        let mut places: HashMap<Kernel, Vec<(usize, Place)>> = HashMap::new();
        for (number, judge) in judges.iter().enumerate() {
            for place in judge.first_places() {
                places.entry(judge.kernel(place, Controls::NONE)).or_default().push((number, place));
            }
        }
        Ahead { judges, places }
    }

    /// Judges what a kernel answered by every rule that looks at it, until it is told to end.
    pub fn see(&self, observation: &Observation, is_over: impl Fn() -> bool) {
        if !matches!(observation.outcome, Outcome::Ran | Outcome::Flaky) {
            return;
        }
        let kernel = observation.kernel;
        let under = kernel.with_controls(Controls::NONE);
        let all = [Some(kernel), Some(under).filter(|plain| *plain != kernel)];
        for (number, place) in all.into_iter().flatten().filter_map(|kernel| self.places.get(&kernel)).flatten() {
            if is_over() {
                return;
            }
            let judge = &self.judges[*number];
            if kernel == judge.kernel(*place, Controls::NONE) || kernel == judge.kernel(*place, kernel.controls) {
                judge.judged(*place, observation);
            }
        }
    }
}
