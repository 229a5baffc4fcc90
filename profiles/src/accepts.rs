//! What a profile accepts for one kernel on given bits: the intersection of its required rules.

use fpprobe_spirv::Kernel;

use crate::accepted::{Accepted, Set};
use crate::oracle::{Question, accepted_on};
use crate::profile::{Profile, Requirement};
use crate::verdict::Level;

/// What the required rules of a profile accept for a case, and which rules those are. Without any rule: anything.
pub fn accepts(profile: &Profile, kernel: &Kernel, case: &[u64]) -> (Accepted, Vec<String>) {
    let question = Question::new(kernel);
    let mut sets: Vec<Set> = question.encodings.iter().map(|encoding| Set::everything(*encoding)).collect();
    let mut rules: Vec<String> = Vec::new();
    for (rule, part) in profile.rules_for(kernel) {
        if rule.level != Level::Required || !rule.requirements.contains(&Requirement::Result) {
            continue;
        }
        for (index, set) in sets.iter_mut().enumerate() {
            let (encoding, operands) = (question.encodings[index], question.operands(case, index));
            if rule.selects(encoding, &operands, &part.demand) {
                *set = set.and(&accepted_on(encoding, &operands, &part.demand));
                if !rules.contains(&rule.id) {
                    rules.push(rule.id.clone());
                }
            }
        }
    }
    (Accepted::new(sets), rules)
}
