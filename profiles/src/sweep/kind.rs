//! What is known of inputs of one kind, whichever they are.

use std::sync::OnceLock;

use fpprobe_spirv::layout::BINARY32;
use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Format, Kernel};

use super::Verifier;
use super::lane::{RuleVerdicts, SweepRule};
use super::native::{self, Fill, Native};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::Subnormals;
use crate::filter::analytic::computed;
use crate::filter::demanding::{BoundedBinades, is_demanding};
use crate::filter::kind::{InputSpan, Magnitude, SIGN, SpanKind};
use crate::filter::{self, Decision};
use crate::oracle::{Demand, accepted_on};

/// What rules say of all inputs of a kind and sign.
#[derive(Debug)]
pub(super) struct KindRules {
    /// Demands that look at them.
    demands: Vec<KindDemand>,
    /// What they say of NaNs, where it is the same for all.
    pub(super) nan: Option<RuleVerdicts>,
}

/// A demand that looks at inputs of a kind.
#[derive(Debug)]
pub(super) struct KindDemand {
    /// Number of its rule.
    rule: usize,
    /// Its number among the rule's.
    demand: usize,
    /// What it accepts, where it is the same for all; of subnormals what it accepts where they are
    /// read as zero.
    set: Option<Set>,
    /// Whether that is all that it accepts.
    exact: bool,
    /// Whether it demands anything, where it is known to be the same for all.
    demands: Option<bool>,
    binades: BoundedBinades,
}

/// How results are told to be right.
#[derive(Clone, Copy, Debug)]
pub(super) enum CheckMethod {
    /// They are near the function's.
    Near(Function),
    /// They are the host's.
    Equal(Native),
    /// By what is accepted of neighbours.
    Cells,
}

/// Judges functions of one operand.
#[derive(Debug)]
pub(super) struct Fast {
    pub(super) way: CheckMethod,
    /// What devices are expected to answer.
    pub(super) own: Option<Fill>,
    pub(super) arch: pulp::Arch,
    known: [[OnceLock<KindRules>; SpanKind::COUNT]; 2],
}

impl Fast {
    /// The function that results are near to.
    pub(super) fn function(&self) -> Option<Function> {
        match self.way {
            CheckMethod::Near(function) => Some(function),
            CheckMethod::Equal(_) | CheckMethod::Cells => None,
        }
    }

    /// For kernels that there is a way for.
    pub(super) fn new(kernel: &Kernel, rules: &[SweepRule]) -> Option<Fast> {
        let single = kernel
            .params()
            .iter()
            .chain(&kernel.results())
            .all(|shape| shape.format == Format::F32);
        let function = kernel.op.function;
        let near = || {
            (single && kernel.arity() == 1 && computed(function).is_some())
                .then_some(CheckMethod::Near(function))
        };
        let demands = || rules.iter().flat_map(|rule| &rule.demands);
        let accepts = |native: &Native| filter::accept_rounded(demands(), native.exact);
        let narrows = || {
            (narrows(kernel) && demands().all(|demand| demand.accuracy.is_rounding()))
                .then_some(CheckMethod::Cells)
        };
        let way = Native::new(kernel)
            .filter(accepts)
            .map(CheckMethod::Equal)
            .or_else(near)
            .or_else(narrows)?;
        Some(Fast { way, own: own(&way), arch: pulp::Arch::new(), known: Default::default() })
    }
}

impl Verifier {
    /// The demands that look at a kind.
    pub(super) fn demands<'a>(
        &'a self,
        known: &'a KindRules,
    ) -> impl Iterator<Item = &'a Demand> + 'a {
        known.demands.iter().map(|looking| self.demand(looking))
    }

    pub(super) fn all_demands(&self) -> impl Iterator<Item = &Demand> {
        self.rules.iter().flat_map(|rule| &rule.demands)
    }

    pub(super) fn demand(&self, looking: &KindDemand) -> &Demand {
        &self.rules[looking.rule].demands[looking.demand]
    }

    /// What is known of a kind, of which this input is one.
    pub(super) fn known<'a>(&self, fast: &'a Fast, kind: SpanKind, input: u32) -> &'a KindRules {
        fast.known[usize::from(input & SIGN != 0)][kind.number()].get_or_init(|| {
            let case = [u64::from(input)];
            let (operands, encoding) = (self.signature.operands(&case, 0), self.encoding());
            let looks = |(rule, demand): &(usize, usize)| {
                self.rules[*rule].of.selects(
                    encoding,
                    &operands,
                    &self.rules[*rule].demands[*demand],
                )
            };
            let all = self
                .rules
                .iter()
                .enumerate()
                .flat_map(|(rule, of)| (0..of.demands.len()).map(move |demand| (rule, demand)));
            let set = |demand: &Demand| match kind {
                SpanKind::Normal(Magnitude::Normal | Magnitude::Tiny | Magnitude::Zero) => None,
                SpanKind::Subnormal(_) => {
                    let plain = match demand.operands.subnormal_inputs {
                        Subnormals::Keep => false,
                        Subnormals::Flush => true,
                        Subnormals::Either => !matches!(demand.accuracy, Accuracy::Inherited(_)),
                    };
                    let mut flushed = demand.clone();
                    flushed.operands.subnormal_inputs = Subnormals::Flush;
                    let of = |input: u32| {
                        accepted_on(
                            encoding,
                            &self.signature.operands(&[u64::from(input)], 0),
                            &flushed,
                        )
                    };
                    let (sign, largest) = (input & SIGN, BINARY32.min_normal() as u32 - 1);
                    // An operation that hands on its operand as it came accepts something else of
                    // each.
                    let set = plain.then(|| of(input));
                    set.filter(|set| {
                        [1, largest].iter().all(|magnitude| of(sign | magnitude) == *set)
                    })
                }
                _ => Some(accepted_on(encoding, &operands, demand)),
            };
            let looking = |(rule, demand): (usize, usize)| {
                let of = &self.rules[rule].demands[demand];
                let set = set(of);
                let flushes = of.operands.subnormal_inputs == Subnormals::Flush;
                let exact = set.is_some() && (!matches!(kind, SpanKind::Subnormal(_)) || flushes);
                // More readings accept no less.
                let open = set.as_ref().is_some_and(Set::is_everything);
                let demands = (exact || open).then_some(!open);
                KindDemand {
                    rule,
                    demand,
                    set,
                    exact,
                    demands,
                    binades: [const { OnceLock::new() }; 255],
                }
            };
            let mut known =
                KindRules { demands: all.filter(looks).map(looking).collect(), nan: None };
            known.nan = self
                .accepted(&known, |_| None)
                .and_then(|accepted| known.of_nans(encoding, &accepted));
            known
        })
    }

    /// What the rules say of a result that all accept; `None` where it is not known whether they
    /// demand anything. Of inputs of which that is not the same for all of the kind, `demands`
    /// decides.
    pub(super) fn accepted(
        &self,
        known: &KindRules,
        demands: impl Fn(&KindDemand) -> Option<bool>,
    ) -> Option<RuleVerdicts> {
        let mut accepted: RuleVerdicts = smallvec::smallvec![None; self.rules.len()];
        for looking in &known.demands {
            if looking.demands.or_else(|| demands(looking))? {
                accepted[looking.rule] = Some(true);
            }
        }
        Some(accepted)
    }

    /// What they say of a result of these inputs that all accept; `None` where it may not be the
    /// same for all.
    pub(super) fn accepted_on(
        &self,
        known: &KindRules,
        inputs: &InputSpan,
    ) -> Option<RuleVerdicts> {
        let encoding = self.encoding();
        self.accepted(known, |looking| {
            is_demanding(self.demand(looking), encoding, inputs, &looking.binades)
        })
    }

    /// What they say of a result, `accepted` being what they say of one that all accept; `None`
    /// where that is not known of one of the demands. Where the kind does not decide, `answer`
    /// is the filter's decision.
    pub(super) fn decide(
        &self,
        known: &KindRules,
        accepted: &RuleVerdicts,
        result: u32,
        answer: impl Fn(&Demand) -> Decision,
    ) -> Option<RuleVerdicts> {
        known.decide(accepted, result, |looking| answer(self.demand(looking)))
    }
}

impl KindRules {
    /// What the rules say of NaNs; `None` where it is not known, or not the same for all.
    fn of_nans(&self, encoding: Encoding, accepted: &RuleVerdicts) -> Option<RuleVerdicts> {
        let all = Set::nan(encoding);
        let one_for_all = |looking: &KindDemand| {
            let Some(set) = &looking.set else { return false };
            let common = set.and(&all);
            common == all || common.is_empty() && looking.exact
        };
        let first = *all.members(1).first()? as u32;
        self.demands
            .iter()
            .all(one_for_all)
            .then(|| self.decide(accepted, first, |_| Decision::ConsultOracle))
            .flatten()
    }

    fn decide(
        &self,
        accepted: &RuleVerdicts,
        result: u32,
        answer: impl Fn(&KindDemand) -> Decision,
    ) -> Option<RuleVerdicts> {
        let mut says = accepted.clone();
        for looking in &self.demands {
            let accepted = looking.set.as_ref().is_some_and(|set| set.contains(u64::from(result)));
            if !accepted && looking.exact {
                says[looking.rule] = Some(false);
            } else if !accepted && answer(looking) == Decision::ConsultOracle {
                return None;
            }
        }
        Some(says)
    }

    /// The demands of which the kind does not show all that they accept.
    pub(super) fn open(&self) -> impl Iterator<Item = &KindDemand> {
        self.demands.iter().filter(|looking| !looking.exact)
    }

    /// Whether what all demands accept is known: of subnormals at least what they accept where they
    /// are read as zero.
    pub(super) fn has_sets(&self) -> bool {
        self.demands.iter().all(|looking| looking.set.is_some())
    }

    /// Whether all that each demand accepts is known.
    pub(super) fn is_exact(&self) -> bool {
        self.demands.iter().all(|looking| looking.exact)
    }
}

/// The host's own instruction for a kernel that IEEE 754 defines.
fn own(way: &CheckMethod) -> Option<Fill> {
    match way {
        CheckMethod::Equal(native) => Some(native.own),
        CheckMethod::Near(function) => native::own(*function),
        CheckMethod::Cells => None,
    }
}

/// Whether a kernel converts to a coarser format.
fn narrows(kernel: &Kernel) -> bool {
    let narrows = match kernel.op.function {
        Function::ToFloat | Function::PackHalf => kernel.result().format == Format::F16,
        Function::QuantizeToF16 | Function::NarrowWiden => kernel.result().format == Format::F32,
        _ => false,
    };
    narrows && matches!(kernel.params()[..], [operand] if operand.format == Format::F32)
}
