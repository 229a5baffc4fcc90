//! Judging by several profiles at once, also while a device is still being measured: each list of
//! results is gone through once for all rules that look at it, and what is found is in the memo
//! when the rules are judged.

use foldhash::HashMap;
use fpprobe_spirv::{Controls, Kernel};

use super::lane::LaneView;
use super::memo::Memo;
use super::{Judge, Observations, PartIndex, PartResult, results};
use crate::observation::Observation;

/// Fills the memo of judges.
#[derive(Debug)]
pub struct Prefetch<'j, 'p> {
    judges: &'j [Judge<'p>],
    /// Which judge looks at a kernel, and from where.
    places: HashMap<Kernel, Vec<(usize, PartIndex)>>,
    /// These kernels, in the order of the rules.
    kernels: Vec<Kernel>,
}

impl<'j, 'p> Prefetch<'j, 'p> {
    /// For these judges.
    pub fn new(judges: &'j [Judge<'p>]) -> Self {
        let mut prefetch = Prefetch { judges, places: HashMap::default(), kernels: Vec::new() };
        for (number, judge) in judges.iter().enumerate() {
            for place in judge.first_places() {
                let kernel = judge.kernel(place, Controls::NONE);
                let places = prefetch.places.entry(kernel).or_default();
                if places.is_empty() {
                    prefetch.kernels.push(kernel);
                }
                places.push((number, place));
            }
        }
        prefetch
    }

    /// Judges what a kernel gave by every rule that looks at it.
    pub fn see(&self, observation: &Observation) {
        let kernel = observation.kernel;
        let without = kernel.with_controls(Controls::NONE);
        let all = [Some(kernel), Some(without).filter(|without| *without != kernel)];
        for looked in all.into_iter().flatten() {
            self.judge(&looked, observation, |judge, place| {
                kernel == judge.kernel(place, Controls::NONE)
                    || kernel == judge.kernel(place, kernel.controls)
            });
        }
    }

    /// The lists of results that every judgement needs, each with the kernel that the rules look
    /// at: what is found without controls.
    pub(super) fn lists<'a>(
        &self,
        observations: &'a Observations<'_>,
    ) -> Vec<(Kernel, &'a Observation)> {
        let of = |kernel: &Kernel| {
            let kernel = *kernel;
            let all = observations.get(&kernel).into_iter().chain(observations.otherwise(&kernel));
            all.map(move |observation| (kernel, observation))
        };
        self.kernels.iter().flat_map(of).collect()
    }

    /// Judges an observation by the rules that look at a kernel, so far as they look from such
    /// places.
    pub(super) fn judge(
        &self,
        kernel: &Kernel,
        observation: &Observation,
        looks: impl Fn(&Judge<'_>, PartIndex) -> bool,
    ) {
        if !observation.outcome.answered() {
            return;
        }
        let mut unknown: Vec<(&Memo, usize)> = Vec::new();
        let mut views: Vec<LaneView<'_>> = Vec::new();
        for (number, place) in self.places.get(kernel).into_iter().flatten() {
            let judge = &self.judges[*number];
            let (memo, view) = (&*judge.memo, judge.views[place.0][place.1]);
            let is_listed =
                unknown.iter().any(|(other, listed)| std::ptr::eq(*other, memo) && *listed == view);
            if looks(judge, *place) && !is_listed && memo.get(view, observation).is_none() {
                unknown.push((memo, view));
                views.push(judge.view(*place, observation));
            }
        }
        for ((memo, view), judged) in unknown.into_iter().zip(results::judge(&views)) {
            memo.put(view, observation, PartResult::Judged(judged));
        }
    }
}
