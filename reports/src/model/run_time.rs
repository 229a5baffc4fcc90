//! What remains of a profile's class where constants are left out.

use fpprobe_spirv::Kernel;

use super::{Class, Level, ProfileResult, RuleResult, Verdict};

impl ProfileResult {
    /// The class with the lanes of constants left out, which a compiler folds: where every failing
    /// lane of every required rule is one of those, the profile is met at run time.
    pub fn class_run_time(&self) -> Class {
        let deviating =
            |rule: &&RuleResult| rule.level == Level::Required && rule.verdict == Verdict::Deviates;
        let is_unknown = |rule: &&RuleResult| {
            rule.level == Level::Required && rule.verdict == Verdict::Incomplete
        };
        let mut deviating = self.rules.iter().filter(deviating);
        if self.class != Class::Deviates || !deviating.all(RuleResult::fails_in_constants_alone) {
            self.class
        } else if self.rules.iter().any(|rule| is_unknown(&rule)) {
            Class::Incomplete
        } else if self.needs.is_empty() {
            Class::Conforms
        } else {
            Class::ConformsWith
        }
    }
}

impl RuleResult {
    /// Whether every lane that fails is one of constants, which a compiler folds.
    pub fn fails_in_constants_alone(&self) -> bool {
        let is_folded =
            |kernel: &str| kernel.parse::<Kernel>().is_ok_and(|kernel| kernel.route.is_folded());
        !self.failed.is_empty() && self.failed.iter().all(|failed| is_folded(&failed.kernel))
    }
}
