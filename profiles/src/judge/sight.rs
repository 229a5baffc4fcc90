//! What a rule sees of one kernel's answers: lane by lane, computed when it is looked at. Lists are long, and many rules look
//! at each: nothing but findings is kept.

use super::Evidence;
use crate::accepted::{Accepted, Set};
use crate::encoding::Reader;
use crate::observation::Observation;
use crate::oracle::{Demand, Operands, Question, accepted_on};
use crate::profile::Rule;
use crate::verdict::Level;

/// A place in a list of cases: case, and part of its result.
pub(super) type Spot = (usize, usize);

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

    /// The lanes that the rule looks at; those that accept everything are left out.
    pub(super) fn lanes(&self) -> impl Iterator<Item = Lane> {
        self.rule
            .looks_at(&self.question, &self.observation.cases, self.demand)
            .map(|(case, part, operands)| {
                let set = accepted_on(self.question.encodings[part], &operands, self.demand);
                Lane { spot: (case, part), operands, set }
            })
            // Where everything is accepted there is nothing to judge, but for informative rules something to tell.
            .filter(|lane| !lane.set.is_everything() || self.rule.level == Level::Informative)
    }

    /// What another demand would accept in a place.
    pub(super) fn under(&self, (case, part): Spot, demand: &Demand) -> Set {
        self.question.accepted_part(self.observation.cases.case(case), part, demand)
    }

    /// Whether both answers (one, unless the observation is flaky) are in a set.
    pub(super) fn accepts(&self, set: &Set, (case, part): Spot) -> bool {
        let Observation { out, second, .. } = self.observation;
        let at = |values: &[u64]| set.contains(self.reader.part(values, case, part));
        at(out) && second.as_ref().is_none_or(|second| at(second))
    }

    /// The first answer.
    pub(super) fn answer(&self, (case, part): Spot) -> u64 {
        self.reader.part(&self.observation.out, case, part)
    }

    /// A place as evidence; parts of the result that the rule does not look at accept anything.
    pub(super) fn evidence(&self, (case, part): Spot, demand: &Demand) -> Evidence {
        let inputs = self.observation.cases.case(case);
        let sets = self.question.encodings.iter().enumerate().map(|(other, encoding)| {
            let operands = self.question.operands(inputs, other);
            let looked = other == part || self.rule.selects(*encoding, &operands, demand);
            if looked { accepted_on(*encoding, &operands, demand) } else { Set::everything(*encoding) }
        });
        Evidence {
            kernel: self.observation.kernel,
            case: inputs.to_vec(),
            answer: self.observation.answer(case).to_vec(),
            accepted: Accepted::new(sets.collect()),
        }
    }
}
