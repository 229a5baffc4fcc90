//! What remains of a profile's class where constants are left out.

use fpprobe_spirv::Kernel;

use super::{Class, Level, ProfileResult, RuleResult, Verdict};

impl ProfileResult {
    /// The class with the lanes of constants left out, which a compiler folds: where every failing lane of every required rule
    /// is one of those, the profile is met at run time.
    pub fn class_run_time(&self) -> Class {
        let deviating = |rule: &&RuleResult| rule.level == Level::Required && rule.verdict == Verdict::Deviates;
        let is_unknown = |rule: &&RuleResult| rule.level == Level::Required && rule.verdict == Verdict::Incomplete;
        let is_folded = |rule: &RuleResult| {
            let folded = |kernel: &str| kernel.parse::<Kernel>().is_ok_and(|kernel| kernel.route.is_folded());
            !rule.failed.is_empty() && rule.failed.iter().all(|failed| folded(&failed.kernel))
        };
        if self.class != Class::Deviates || !self.rules.iter().filter(deviating).all(is_folded) {
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
