//! A rule's view of one kernel's results, lane by lane, computed as it is needed: lists are long,
//! and many rules look at each.

use smallvec::smallvec;

use super::LaneEvidence;
use crate::accepted::Set;
use crate::encoding::{Encoding, PartReader};
use crate::observation::Observation;
use crate::oracle::{Demand, Operands, Sets, Signature, accepted_on, accepted_together};
use crate::profile::Rule;
use crate::verdict::Level;

/// The lane of a list of cases: case, and part of its result.
pub(super) type LaneIndex = (usize, usize);

/// A lane, and what is accepted there.
#[derive(Clone, Copy)]
pub(super) struct Lane<'a> {
    pub(super) index: LaneIndex,
    pub(super) operands: &'a Operands,
    pub(super) set: &'a Set,
}

/// A rule's view of the results of one kernel.
pub(super) struct LaneView<'a> {
    pub(super) rule: &'a Rule,
    pub(super) demand: &'a Demand,
    pub(super) observation: &'a Observation,
    signature: Signature,
    reader: PartReader,
}

impl<'a> LaneView<'a> {
    /// How a rule looks at an observation.
    pub(super) fn new(rule: &'a Rule, demand: &'a Demand, observation: &'a Observation) -> Self {
        let kernel = &observation.kernel;
        LaneView {
            rule,
            demand,
            observation,
            signature: Signature::new(kernel),
            reader: PartReader::new(kernel),
        }
    }

    /// Every lane.
    pub(super) fn indices(&self) -> impl Iterator<Item = LaneIndex> + use<> {
        let parts = self.signature.encodings.len();
        (0..self.observation.cases.len())
            .flat_map(move |case| (0..parts).map(move |part| (case, part)))
    }

    /// Every lane, those of equal operands side by side where texels have fewer values in a channel
    /// than there are texels.
    pub(super) fn by_operands(&self) -> Vec<LaneIndex> {
        let mut all: Vec<LaneIndex> = self.indices().collect();
        if self.signature.is_of_channels() {
            let parts = 0..self.signature.encodings.len();
            let alike: Vec<usize> = parts.map(|part| self.signature.alike(part)).collect();
            all.sort_by_cached_key(|lane| (alike[lane.1], self.operands(*lane).bits()));
        }
        all
    }

    /// How the bits of a lane's result are read.
    pub(super) fn encoding(&self, (_, part): LaneIndex) -> Encoding {
        self.signature.encodings[part]
    }

    /// The operands that a lane depends on.
    pub(super) fn operands(&self, (case, part): LaneIndex) -> Operands {
        self.signature.operands(self.observation.cases.case(case), part)
    }

    /// Whether the rule looks at a lane on its operands.
    pub(super) fn selects(&self, index: LaneIndex, operands: &Operands) -> bool {
        self.rule.selects(self.encoding(index), operands, self.demand)
    }

    /// Whether every part of a result depends on every operand.
    pub(super) fn is_whole(&self) -> bool {
        self.signature.is_whole()
    }

    /// What a demand accepts on a lane's operands, or in all lanes of the case where these are the
    /// same.
    pub(super) fn accepted(&self, index: LaneIndex, operands: &Operands, demand: &Demand) -> Sets {
        if self.is_whole() {
            return accepted_together(&self.signature.encodings, operands, demand);
        }
        smallvec![accepted_on(self.encoding(index), operands, demand)]
    }

    /// Whether the rule demands anything of a lane; informative ones report every lane that they
    /// look at.
    pub(super) fn judges(&self, index: LaneIndex) -> bool {
        self.selects(index, &self.operands(index))
            && (self.rule.level == Level::Informative
                || !self.under(index, self.demand).is_everything())
    }

    /// What another demand would accept in a lane.
    pub(super) fn under(&self, (case, part): LaneIndex, demand: &Demand) -> Set {
        self.signature.accepted_part(self.observation.cases.case(case), part, demand)
    }

    /// Whether the results of both runs (one, unless the observation is flaky) are in the set that
    /// a demand allows in a lane.
    pub(super) fn accepts(&self, set: &Set, index: LaneIndex, demand: &Demand) -> bool {
        self.observation.runs().all(|results| self.fits(results, set, index, demand))
    }

    fn fits(&self, results: &[u64], set: &Set, (case, part): LaneIndex, demand: &Demand) -> bool {
        let own = self.reader.part(results, case, part);
        set.contains(own) && self.goes_together(results, (case, part), own, demand)
    }

    /// Whether the second of two results goes with the first: some reading of the operands explains
    /// both. Where none explains the first, that is the first one's fault.
    fn goes_together(
        &self,
        results: &[u64],
        (case, part): LaneIndex,
        own: u64,
        demand: &Demand,
    ) -> bool {
        let Some(first) = self.signature.partner(part).filter(|first| *first < part) else {
            return true;
        };
        let inputs = self.observation.cases.case(case);
        let operands = self.signature.operands(inputs, first);
        // Where there is one way to read the operands, it explains both.
        if !operands.is_open(demand) {
            return true;
        }
        if !self.rule.selects(self.signature.encodings[first], &operands, self.demand) {
            return true;
        }
        let pairs = self.signature.accepted_pairs(inputs, first, demand);
        let result = self.reader.part(results, case, first);
        let mut explained = pairs.iter().filter(|[set, _]| set.contains(result)).peekable();
        explained.peek().is_none() || explained.any(|[_, set]| set.contains(own))
    }

    /// One part of the result of a case, given as the components of the whole.
    pub(super) fn part(&self, result: &[u64], part: usize) -> u64 {
        self.reader.part(result, 0, part)
    }

    /// The result of the first run.
    pub(super) fn result(&self, (case, part): LaneIndex) -> u64 {
        self.reader.part(&self.observation.out, case, part)
    }

    /// A lane as evidence, with the result that is not accepted there, be it that of the second run
    /// alone; parts of the result that the rule does not look at accept anything.
    pub(super) fn evidence(&self, (case, part): LaneIndex, demand: &Demand) -> LaneEvidence {
        let inputs = self.observation.cases.case(case);
        let looked = |other: usize| {
            let operands = self.signature.operands(inputs, other);
            other == part || self.rule.selects(self.signature.encodings[other], &operands, demand)
        };
        let set = self.under((case, part), demand);
        let failing =
            self.observation.runs().find(|results| !self.fits(results, &set, (case, part), demand));
        let width = self.observation.kernel.outputs();
        let result = failing.map_or_else(
            || self.observation.answer(case),
            |results| &results[case * width..][..width],
        );
        LaneEvidence {
            kernel: self.observation.kernel,
            case: inputs.to_vec(),
            answer: result.to_vec(),
            part,
            accepted: self.signature.accepted_where(inputs, demand, looked),
        }
    }
}
