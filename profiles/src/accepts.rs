//! What a profile accepts for one kernel on given bits: the intersection of its required rules.

use fpprobe_spirv::Kernel;

use crate::accepted::{Accepted, Set};
use crate::oracle::{Demand, Signature};
use crate::profile::{Profile, Requirement, Rule};
use crate::verdict::Level;

/// What the required rules of a profile accept for a case, and which rules those are. Without any
/// rule: anything.
pub fn accepts(profile: &Profile, kernel: &Kernel, case: &[u64]) -> (Accepted, Vec<String>) {
    KernelDemands::new([profile], kernel).accepts(case)
}

/// The required rules of profiles that say of a kernel's results, each by itself, which are
/// accepted.
#[derive(Debug)]
pub struct KernelDemands<'p> {
    signature: Signature,
    /// Which lanes are looked at, as the rule says, and what is demanded there. Profiles share
    /// rules; each is here once.
    looks: Vec<(&'p Rule, &'p Demand)>,
    rules: Vec<DemandingRule<'p>>,
}

/// A rule that looks at a kernel.
#[derive(Clone, Copy, Debug)]
pub struct DemandingRule<'p> {
    /// Its profile, by its place among all.
    pub profile: usize,
    /// The rule.
    pub rule: &'p Rule,
    /// The place of what it accepts among what [`KernelDemands::of`] gives.
    pub look: usize,
}

impl<'p> KernelDemands<'p> {
    /// What profiles demand of this kernel.
    pub fn new(
        profiles: impl IntoIterator<Item = &'p Profile>,
        kernel: &Kernel,
    ) -> KernelDemands<'p> {
        let decides = |rule: &Rule| {
            rule.level == Level::Required && rule.requirements.contains(&Requirement::Result)
        };
        let mut demands = KernelDemands {
            signature: Signature::new(kernel),
            looks: Vec::new(),
            rules: Vec::new(),
        };
        for (profile, own) in profiles.into_iter().enumerate() {
            for (rule, part) in own.rules_for(kernel).filter(|(rule, _)| decides(rule)) {
                let look = demands.look(rule, &part.demand);
                demands.rules.push(DemandingRule { profile, rule, look });
            }
        }
        demands
    }

    fn look(&mut self, rule: &'p Rule, demand: &'p Demand) -> usize {
        let same =
            |(other, known): &(&Rule, &Demand)| other.lanes == rule.lanes && *known == demand;
        self.looks.iter().position(same).unwrap_or_else(|| {
            self.looks.push((rule, demand));
            self.looks.len() - 1
        })
    }

    /// The rules, profile by profile.
    pub fn rules(&self) -> &[DemandingRule<'p>] {
        &self.rules
    }

    /// What is accepted for this case, look by look; `None` of one that does not look at it.
    pub fn of(&self, case: &[u64]) -> Vec<Option<Accepted>> {
        let signature = &self.signature;
        let operands: Vec<_> =
            (0..signature.encodings.len()).map(|index| signature.operands(case, index)).collect();
        let accepted = |(rule, demand): &(&Rule, &Demand)| {
            let selects = |index: &usize| {
                rule.selects(signature.encodings[*index], &operands[*index], demand)
            };
            let looked: Vec<usize> = (0..operands.len()).filter(selects).collect();
            (!looked.is_empty())
                .then(|| signature.accepted_where(case, demand, |index| looked.contains(&index)))
        };
        self.looks.iter().map(accepted).collect()
    }

    /// What all of them accept for this case, and which rules look at it.
    pub fn accepts(&self, case: &[u64]) -> (Accepted, Vec<String>) {
        let sets = self.of(case);
        let everything =
            self.signature.encodings.iter().map(|encoding| Set::everything(*encoding)).collect();
        let (mut accepted, mut rules) = (Accepted::new(everything), Vec::new());
        for DemandingRule { rule, look, .. } in self.rules() {
            let Some(own) = &sets[*look] else { continue };
            accepted = accepted.and(own);
            if !rules.contains(&rule.id) {
                rules.push(rule.id.clone());
            }
        }
        (accepted, rules)
    }
}
