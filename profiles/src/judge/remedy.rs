//! Under which modes a deviation goes away, by what was measured under them.

use foldhash::{HashMap, HashSet};
use fpprobe_spirv::{Controls, Kernel};

use super::{Observations, RuleVerdict, Verdict};
use crate::verdict::Level;

/// Lanes that a rule does not accept, by kernel: operands, part of the result.
type FailingByKernel<'v> = HashMap<Kernel, HashSet<(&'v [u64], usize)>>;

/// What a profile says of a device under a set of modes.
pub(super) struct VerdictsUnder<'v> {
    pub(super) controls: Controls,
    verdicts: &'v [RuleVerdict],
    /// Lanes that are not accepted: by rules that are not informative, and by the others.
    failing: [FailingByKernel<'v>; 2],
}

impl<'v> VerdictsUnder<'v> {
    pub(super) fn new(controls: Controls, verdicts: &'v [RuleVerdict]) -> VerdictsUnder<'v> {
        let failing = [false, true].map(|is_informative| {
            let rules = verdicts.iter();
            let mut failing = FailingByKernel::default();
            for list in rules
                .filter(|rule| (rule.level == Level::Informative) == is_informative)
                .flat_map(|rule| &rule.failing_lists)
            {
                failing.entry(list.kernel).or_default().extend(list.iter());
            }
            failing
        });
        VerdictsUnder { controls, verdicts, failing }
    }

    /// Notes these modes where a deviation without modes goes away under them, as a whole while
    /// under no smaller set of modes, or for some of its lanes. Modes do not reach commands.
    pub(super) fn note(
        &self,
        index: usize,
        deviation: &mut RuleVerdict,
        observations: &Observations<'_>,
    ) {
        let controls = self.controls;
        let is_larger = deviation.fixed_by.iter().any(|known| controls.holds(*known));
        let verdict = self.verdicts[index].verdict;
        let goes = verdict.is_met() || verdict == Verdict::Depends;
        let LanesUnder { accepted, are_all } = self.lanes(deviation, observations);
        if are_all && goes && !is_larger {
            deviation.fixed_by.push(controls);
        }
        if !accepted.is_empty() {
            deviation.eased_by.push((controls, accepted));
        }
    }

    /// The lanes of a deviation. Kernels that do not exist under the modes have nothing to say.
    fn lanes(&self, deviation: &RuleVerdict, observations: &Observations<'_>) -> LanesUnder {
        let looked = if deviation.level == Level::Informative { 2 } else { 1 };
        let mut under_of: HashMap<Kernel, UnderModes<'_>> = HashMap::default();
        let mut lanes = LanesUnder { accepted: Vec::new(), are_all: true };
        let mut place = 0;
        for list in &deviation.failing_lists {
            let under = under_of
                .entry(list.kernel)
                .or_insert_with(|| UnderModes::of(&list.kernel, self.controls, observations));
            let failing: Vec<_> = match under {
                UnderModes::Measured(under, _) => {
                    self.failing[..looked].iter().filter_map(|failing| failing.get(under)).collect()
                }
                _ => Vec::new(),
            };
            for (place, lane) in (place..).zip(list.iter()) {
                let is_accepted = match under {
                    UnderModes::Nothing => continue,
                    UnderModes::NotMeasured => false,
                    UnderModes::Measured(_, cases) => {
                        cases.contains(lane.0) && !failing.iter().any(|all| all.contains(&lane))
                    }
                };
                if is_accepted {
                    lanes.accepted.push(place);
                } else {
                    lanes.are_all = false;
                }
            }
            place += list.iter().count();
        }
        lanes.are_all &= !lanes.accepted.is_empty();
        lanes
    }
}

/// What becomes of the lanes of a deviation under some modes.
struct LanesUnder {
    /// The places of those that were measured under them and are accepted.
    accepted: Vec<usize>,
    /// Whether these are all that exist under the modes.
    are_all: bool,
}

/// A kernel under modes.
enum UnderModes<'o> {
    /// It does not exist.
    Nothing,
    NotMeasured,
    /// With its cases.
    Measured(Kernel, HashSet<&'o [u64]>),
}

impl<'o> UnderModes<'o> {
    fn of(
        kernel: &Kernel,
        controls: Controls,
        observations: &'o Observations<'_>,
    ) -> UnderModes<'o> {
        let under = kernel
            .controls
            .with(controls)
            .ok()
            .and_then(|all| kernel.with_controls(all).checked().ok());
        let Some(under) = under else { return UnderModes::Nothing };
        match observations.get(&under).filter(|one| one.outcome.answered() && under != *kernel) {
            Some(one) => UnderModes::Measured(under, one.cases.iter().collect()),
            None => UnderModes::NotMeasured,
        }
    }
}
