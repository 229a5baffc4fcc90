//! What a profile accepts for one kernel on given bits: the intersection of its required rules.

use fpprobe_spirv::Kernel;

use crate::accepted::{Accepted, Set};
use crate::oracle::Question;
use crate::profile::{Part, Profile, Requirement, Rule};
use crate::verdict::Level;

/// What the required rules of a profile accept for a case, and which rules those are. Without any rule: anything.
pub fn accepts(profile: &Profile, kernel: &Kernel, case: &[u64]) -> (Accepted, Vec<String>) {
    let demands = Demands::new(profile, kernel);
    let mut accepted = demands.everything();
    let mut rules: Vec<String> = Vec::new();
    for (rule, own) in demands.of(case) {
        accepted = accepted.and(&own);
        if !rules.contains(&rule.id) {
            rules.push(rule.id.clone());
        }
    }
    (accepted, rules)
}

/// The required rules of a profile that say of a kernel's results, each by itself, which are accepted.
#[derive(Debug)]
pub struct Demands<'p> {
    question: Question,
    parts: Vec<(&'p Rule, &'p Part)>,
}

impl<'p> Demands<'p> {
    /// What the profile demands of this kernel.
    pub fn new(profile: &'p Profile, kernel: &Kernel) -> Demands<'p> {
        let decides = |rule: &Rule| rule.level == Level::Required && rule.requirements.contains(&Requirement::Result);
        let parts = profile.rules_for(kernel).filter(|(rule, _)| decides(rule));
        Demands { question: Question::new(kernel), parts: parts.collect() }
    }

    /// The rules that look at this case, with what each accepts.
    pub fn of(&self, case: &[u64]) -> impl Iterator<Item = (&'p Rule, Accepted)> {
        let question = &self.question;
        let operands: Vec<_> = (0..question.encodings.len()).map(|index| question.operands(case, index)).collect();
        self.parts.iter().filter_map(move |(rule, part)| {
            let selects = |index: &usize| rule.selects(question.encodings[*index], &operands[*index], &part.demand);
            let looked: Vec<usize> = (0..operands.len()).filter(selects).collect();
            let accepted = || question.accepted_where(case, &part.demand, |index| looked.contains(&index));
            (!looked.is_empty()).then(|| (*rule, accepted()))
        })
    }

    fn everything(&self) -> Accepted {
        Accepted::new(self.question.encodings.iter().map(|encoding| Set::everything(*encoding)).collect())
    }
}
