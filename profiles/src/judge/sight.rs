//! What a rule sees of one kernel's answers: lane by lane, computed when it is looked at. Lists are long, and many rules look
//! at each: nothing but findings is kept.

use fpprobe_spirv::FloatLayout;

use super::Evidence;
use crate::accepted::Set;
use crate::encoding::{Encoding, Reader};
use crate::observation::Observation;
use crate::oracle::{Demand, Operands, Question, accepted_on};
use crate::profile::Rule;
use crate::verdict::Level;

/// A place in a list of cases: case, and part of its result.
pub(super) type Spot = (usize, usize);

/// Part, operands and both answers: lanes that agree in these agree in everything that is judged of one lane alone.
pub(super) type Likeness = (usize, [u64; 2], [u64; 2]);

/// One lane of a rule: a part of the result of one case, and what is accepted there.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) spot: Spot,
    pub(super) operands: Operands,
    pub(super) set: Set,
}

impl Lane {
    /// What another demand would accept here.
    pub(super) fn under(&self, demand: &Demand) -> Set {
        accepted_on(self.set.encoding(), &self.operands, demand)
    }
}

/// A rule's look at the answers of one kernel.
pub(super) struct Sight<'a> {
    pub(super) rule: &'a Rule,
    pub(super) demand: &'a Demand,
    pub(super) observation: &'a Observation,
    question: Question,
    reader: Reader,
}

impl<'a> Sight<'a> {
    /// How a rule looks at an observation.
    pub(super) fn new(rule: &'a Rule, demand: &'a Demand, observation: &'a Observation) -> Self {
        let kernel = &observation.kernel;
        Sight { rule, demand, observation, question: Question::new(kernel), reader: Reader::new(kernel) }
    }

    /// How many parts the result has.
    pub(super) fn parts(&self) -> usize {
        self.question.encodings.len()
    }

    /// The encoding of a part.
    pub(super) fn encoding(&self, part: usize) -> Encoding {
        self.question.encodings[part]
    }

    /// Whether there are two results, which go together.
    pub(super) fn has_two_results(&self) -> bool {
        self.question.partner(0).is_some()
    }

    /// Whether each part of the result depends on one channel of a texel.
    pub(super) fn is_of_channels(&self) -> bool {
        self.question.is_of_channels()
    }

    /// The layouts of a case's values, where each part of the result depends on all of them as they are.
    pub(super) fn layouts(&self) -> Option<Vec<FloatLayout>> {
        self.question.layouts()
    }

    /// Every part of the result of every case.
    pub(super) fn spots(&self) -> impl Iterator<Item = Spot> + use<> {
        let parts = self.parts();
        (0..self.observation.cases.len()).flat_map(move |case| (0..parts).map(move |part| (case, part)))
    }

    /// The operands that a place depends on.
    pub(super) fn operands(&self, (case, part): Spot) -> Operands {
        self.question.operands(self.observation.cases.case(case), part)
    }

    /// The lane of a place on its operands; nothing where the rule does not look, which may be known, or where everything is accepted.
    pub(super) fn lane(&self, spot: Spot, operands: Operands, looks: Option<bool>) -> Option<Lane> {
        let encoding = self.encoding(spot.1);
        if !looks.unwrap_or_else(|| self.rule.selects(encoding, &operands, self.demand)) {
            return None;
        }
        let set = accepted_on(encoding, &operands, self.demand);
        // Where everything is accepted there is nothing to judge, but for informative rules something to tell.
        (!set.is_everything() || self.rule.level == Level::Informative).then_some(Lane { spot, operands, set })
    }

    /// The lanes that the rule looks at; those that accept everything are left out.
    pub(super) fn lanes(&self) -> impl Iterator<Item = Lane> {
        self.spots().filter_map(|spot| self.lane(spot, self.operands(spot), None))
    }

    /// What a place's lane is like, where lists hold many of a kind.
    pub(super) fn likeness(&self, spot: Spot, operands: &Operands) -> Option<Likeness> {
        if !self.question.is_of_channels() {
            return None;
        }
        let part = self.question.alike(spot.1);
        let mut answers = self.answers(spot);
        let first = answers.next()?;
        Some((part, operands.bits()?, [first, answers.next().unwrap_or(first)]))
    }

    /// What each run answered.
    pub(super) fn answers(&self, (case, part): Spot) -> impl Iterator<Item = u64> {
        self.observation.runs().map(move |answers| self.reader.part(answers, case, part))
    }

    /// What another demand would accept in a place.
    pub(super) fn under(&self, (case, part): Spot, demand: &Demand) -> Set {
        self.question.accepted_part(self.observation.cases.case(case), part, demand)
    }

    /// Whether both answers (one, unless the observation is flaky) are in the set that a demand allows in a place.
    pub(super) fn accepts(&self, set: &Set, spot: Spot, demand: &Demand) -> bool {
        self.observation.runs().all(|answers| self.fits(answers, set, spot, demand))
    }

    fn fits(&self, answers: &[u64], set: &Set, (case, part): Spot, demand: &Demand) -> bool {
        let own = self.reader.part(answers, case, part);
        set.contains(own) && self.goes_together(answers, (case, part), own, demand)
    }

    /// Whether the second of two results goes with the first: some reading of the operands explains both. Where none
    /// explains the first, that is the first one's fault.
    fn goes_together(&self, answers: &[u64], (case, part): Spot, own: u64, demand: &Demand) -> bool {
        let Some(first) = self.question.partner(part).filter(|first| *first < part) else { return true };
        let inputs = self.observation.cases.case(case);
        let operands = self.question.operands(inputs, first);
        // Where there is one way to read the operands, it explains both.
        if !operands.is_open(demand) {
            return true;
        }
        if !self.rule.selects(self.question.encodings[first], &operands, self.demand) {
            return true;
        }
        let pairs = self.question.accepted_pairs(inputs, first, demand);
        let answer = self.reader.part(answers, case, first);
        let mut explained = pairs.iter().filter(|[set, _]| set.contains(answer)).peekable();
        explained.peek().is_none() || explained.any(|[_, set]| set.contains(own))
    }

    /// The first answer.
    pub(super) fn answer(&self, (case, part): Spot) -> u64 {
        self.reader.part(&self.observation.out, case, part)
    }

    /// A place as evidence, with the answer that is not accepted there, be it that of the second run alone; parts of the
    /// result that the rule does not look at accept anything.
    pub(super) fn evidence(&self, (case, part): Spot, demand: &Demand) -> Evidence {
        let inputs = self.observation.cases.case(case);
        let looked = |other: usize| {
            let operands = self.question.operands(inputs, other);
            other == part || self.rule.selects(self.question.encodings[other], &operands, demand)
        };
        let set = self.under((case, part), demand);
        let failing = self.observation.runs().find(|answers| !self.fits(answers, &set, (case, part), demand));
        let width = self.observation.kernel.outputs();
        let answer = failing.map_or_else(|| self.observation.answer(case), |answers| &answers[case * width..][..width]);
        Evidence {
            kernel: self.observation.kernel,
            case: inputs.to_vec(),
            answer: answer.to_vec(),
            part,
            accepted: self.question.accepted_where(inputs, demand, looked),
        }
    }
}
