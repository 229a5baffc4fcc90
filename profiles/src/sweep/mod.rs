//! Whole domains: every input of a kernel judged.
//!
//! A [`Verifier`] knows a kernel and the rules of profiles that say which of its results are
//! accepted. It is given results of consecutive inputs, and adds what it finds to a
//! [`SweepStatistics`]. What is accepted is the oracle's word in every case: it says it once for a
//! kind of inputs of which the same is accepted, `crate::filter` accepts for it what is proven to
//! be accepted, and every other result it judges by itself.

mod cells;
mod class;
mod errors;
mod guess;
mod half;
mod judge;
mod kind;
mod lane;
mod native;
mod pairs;
mod scan;
mod sorts;
mod spans;
mod statistics;
mod sum;
mod work;

use fpprobe_spirv::sweep::Domain;
use fpprobe_spirv::{Format, Kernel};

use crate::encoding::Encoding;
use crate::oracle::Signature;
use crate::profile::{Profile, Requirement};
use crate::verdict::Level;

pub use class::EncodingClass;
pub use guess::Guess;
pub use half::{HalfBehaviour, NanChoice};
use kind::Fast;
use lane::SweepRule;
use pairs::Pairs;
pub use statistics::{
    CHUNK, Exponent, FAR, InputRun, PARTS, RUNS, RuleCount, SweepStatistics, Worst, bin,
};
use sum::CountSum;
use work::Work;

/// Why results of a kernel cannot be verified.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unverifiable {
    /// No rule says what is accepted.
    #[error(
        "no required rule of {profiles} looks at {kernel}: name another profile, or take a fingerprint"
    )]
    NoRule {
        /// The kernel.
        kernel: String,
        /// The profiles, by id.
        profiles: String,
    },
    /// It is not the kind of kernel whose inputs are numbered.
    #[error("{kernel} cannot be verified over its whole domain: {reason}")]
    Domain {
        /// The kernel.
        kernel: String,
        /// Why not.
        reason: String,
    },
}

/// Judges results of a kernel by the required rules of profiles. Threads can share it.
#[derive(Debug)]
pub struct Verifier {
    signature: Signature,
    /// Format of each operand's value, with the place of its lowest bit in the input's number.
    fields: Vec<(Format, u32)>,
    rules: Vec<SweepRule>,
    fast: Option<Fast>,
    pairs: Option<Pairs>,
}

impl Verifier {
    /// A verifier of a kernel by these profiles.
    pub fn new(kernel: &Kernel, profiles: &[Profile]) -> Result<Verifier, Unverifiable> {
        let signature = Signature::new(kernel);
        let fields = fields(kernel, &signature)?;
        let rules: Vec<SweepRule> =
            profiles.iter().flat_map(|profile| rules(profile, kernel)).collect();
        if rules.is_empty() {
            let profiles: Vec<&str> = profiles.iter().map(|profile| profile.id.as_str()).collect();
            return Err(Unverifiable::NoRule {
                kernel: kernel.to_string(),
                profiles: profiles.join(", "),
            });
        }
        let fast = Fast::new(kernel, &rules);
        let pairs = Pairs::new(kernel, &rules, signature.encodings[0]);
        Ok(Verifier { signature, fields, rules, fast, pairs })
    }

    /// Statistics of a chunk that begins with this input, to be merged with this one, which it
    /// knows: what is of no account beside it is not looked for.
    pub fn beside(&self, known: &SweepStatistics, first: u64) -> SweepStatistics {
        known.beside(first, self.exponent(&self.case(first)))
    }

    /// Judges results of consecutive inputs, `first` being the number of the first: the bits of the
    /// operands side by side, the first operand's highest. A result is one word, the value's
    /// bits in its lowest.
    pub fn block(&self, first: u64, results: &[u32], statistics: &mut SweepStatistics) {
        let mut sum = self.sum();
        self.judge(first, results, false, &mut sum, statistics);
        sum.add_to(&self.rules, statistics);
    }

    /// Counts that go to the statistics of this kernel.
    fn sum(&self) -> CountSum {
        CountSum::new(self.rules.len(), self.fields.len())
    }

    /// Judges results of consecutive inputs; `own`: they are known to be the host's own.
    fn judge(
        &self,
        first: u64,
        results: &[u32],
        own: bool,
        sum: &mut CountSum,
        statistics: &mut SweepStatistics,
    ) {
        let mut work = Work::new(sum, statistics);
        work.own = own;
        match (&self.fast, &self.pairs) {
            (Some(fast), _) => self.spans(fast, first, results, &mut work),
            (None, Some(pairs)) => self.rows(pairs, first, results, &mut work),
            (None, None) => self.exactly(first, results, &mut work),
        }
    }

    /// Judges results one by one.
    fn exactly(&self, first: u64, results: &[u32], work: &mut Work<'_>) {
        for (input, result) in (first..).zip(results) {
            self.one(input, *result, work);
        }
    }

    /// The operands of an input.
    fn case(&self, input: u64) -> Vec<u64> {
        self.fields.iter().map(|(format, shift)| input >> shift & format.mask()).collect()
    }
}

/// The operands' formats and places, if the operands are numbers and the result is one value of a
/// word.
fn fields(kernel: &Kernel, signature: &Signature) -> Result<Vec<(Format, u32)>, Unverifiable> {
    let refused = |reason: &str| Unverifiable::Domain {
        kernel: kernel.to_string(),
        reason: reason.to_owned(),
    };
    let domain = Domain::vast(kernel).map_err(|error| refused(&error.to_string()))?;
    if kernel.params().iter().any(|shape| shape.width != 1) || kernel.width != 1 {
        return Err(refused("its operands are vectors; a sweep asks numbers"));
    }
    let [encoding] = signature.encodings[..] else {
        return Err(refused("it has several results; a sweep judges one"));
    };
    if encoding.bits() > 32 {
        return Err(refused("its result has more than 32 bits"));
    }
    Ok(domain.fields())
}

/// What a profile demands of the kernel's results one by one.
fn rules(profile: &Profile, kernel: &Kernel) -> Vec<SweepRule> {
    let mut rules: Vec<SweepRule> = Vec::new();
    let decides = |(rule, _): &(&crate::profile::Rule, _)| {
        rule.level == Level::Required && rule.requirements.contains(&Requirement::Result)
    };
    for (rule, part) in profile.rules_for(kernel).filter(decides) {
        match rules.iter_mut().find(|known| known.of.id == rule.id) {
            Some(known) => known.demands.push(part.demand.clone()),
            None => {
                rules.push(SweepRule {
                    profile: profile.id.clone(),
                    of: rule.clone(),
                    demands: vec![part.demand.clone()],
                });
            }
        }
    }
    rules
}

/// What distinguishes the inputs of [`SweepStatistics::exponents`].
fn exponent(format: Format, bits: u64) -> u64 {
    match Encoding::of(format) {
        Encoding::Float(layout) => bits >> layout.fraction,
        encoding => u64::from(64 - encoding.key(bits).unsigned_abs().leading_zeros()),
    }
}

#[cfg(test)]
mod tests;
