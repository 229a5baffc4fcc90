//! Respects in which kernels differ where texts leave them a choice, with the lanes that show each
//! and the ways it may go.

use fpprobe_spirv::Coding;
use rustc_apfloat::Float as _;
use rustc_apfloat::ieee::Quad;

use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Contraction, Overflow, Subnormals};
use crate::lanes::{LaneSelection, OperandClass, ResultClass};
use crate::oracle::{Demand, Operands};
use crate::quad::power;

/// What is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Aspect {
    /// Rounding of results in the range of normal numbers.
    Rounding,
    /// Results beyond the largest finite value; of fixed point, numbers beyond its range.
    Overflow,
    /// Subnormal operands.
    SubnormalOperands,
    /// Subnormal results of normal operands.
    SubnormalResults,
    /// An infinity among the operands.
    Infinity,
    /// One NaN among the operands.
    Nan,
    /// Results between operations in a row.
    Intermediates,
}

/// One way, and the demand that says it; without one, whatever the ways before it do not give.
pub(super) type BehaviourChoice = (&'static str, Option<fn(&mut Demand)>);

impl Aspect {
    /// What is said where it is done in no one way.
    pub fn mixed(self) -> &'static str {
        match self {
            Aspect::Rounding => "rounds in no one way",
            Aspect::Overflow => "overflows in no one way",
            Aspect::SubnormalOperands => "reads subnormals in no one way",
            Aspect::SubnormalResults => "treats subnormal results in no one way",
            Aspect::Infinity => "treats infinities in no one way",
            Aspect::Nan => "treats a NaN in no one way",
            Aspect::Intermediates => "rounds results between operations in no one way",
        }
    }

    /// The name that programs know a way by; `None` where there is no such way.
    pub fn value(way: &str) -> Option<&'static str> {
        let (_, value) = VALUES.iter().find(|(name, _)| *name == way)?;
        Some(value)
    }

    pub(super) fn lanes(self, encoding: Encoding) -> LaneSelection {
        let numbers = LaneSelection {
            none: vec![OperandClass::Nan, OperandClass::Infinite, OperandClass::Subnormal],
            ..LaneSelection::default()
        };
        match self {
            Aspect::Rounding | Aspect::Overflow if is_fixed(encoding) => numbers,
            Aspect::Intermediates => numbers,
            Aspect::Rounding => LaneSelection { result: Some(ResultClass::Normal), ..numbers },
            Aspect::Overflow => LaneSelection { result: Some(ResultClass::Beyond), ..numbers },
            Aspect::SubnormalResults => {
                LaneSelection { result: Some(ResultClass::Tiny), ..numbers }
            }
            Aspect::SubnormalOperands => LaneSelection {
                any: vec![OperandClass::Subnormal],
                none: vec![OperandClass::Nan, OperandClass::Infinite],
                ..LaneSelection::default()
            },
            Aspect::Infinity => LaneSelection {
                one: vec![OperandClass::Infinite],
                none: vec![OperandClass::Nan],
                ..LaneSelection::default()
            },
            Aspect::Nan => {
                LaneSelection { one: vec![OperandClass::Nan], ..LaneSelection::default() }
            }
        }
    }

    pub(super) fn ways(self, encoding: Encoding) -> &'static [BehaviourChoice] {
        match self {
            Aspect::Rounding => &[
                ("rounds to nearest even", Some(|d| d.accuracy = Accuracy::NearestEven)),
                (
                    "rounds to nearest, ties away from zero",
                    Some(|d| d.accuracy = Accuracy::NearestAway),
                ),
                ("rounds towards zero", Some(|d| d.accuracy = Accuracy::TowardZero)),
            ],
            Aspect::Overflow if is_fixed(encoding) => {
                &[("clamps to the range", Some(|_| {})), ("does not clamp to the range", None)]
            }
            Aspect::Overflow => &[
                ("overflows to infinity", Some(|d| d.results.overflow = Overflow::Round)),
                (
                    "overflows to the largest finite value",
                    Some(|d| d.results.overflow = Overflow::Saturate),
                ),
                ("overflows to something else", None),
            ],
            Aspect::SubnormalOperands => &[
                (
                    "reads subnormals as they are",
                    Some(|d| d.operands.subnormal_inputs = Subnormals::Keep),
                ),
                (
                    "reads subnormals as zero",
                    Some(|d| d.operands.subnormal_inputs = Subnormals::Flush),
                ),
            ],
            Aspect::SubnormalResults => &[
                (
                    "keeps subnormal results",
                    Some(|d| d.results.subnormal_results = Subnormals::Keep),
                ),
                (
                    "flushes subnormal results",
                    Some(|d| d.results.subnormal_results = Subnormals::Flush),
                ),
            ],
            Aspect::Infinity if is_fixed(encoding) => &[
                ("clamps infinities to the range", Some(|_| {})),
                ("does not clamp infinities to the range", None),
            ],
            Aspect::Infinity => {
                &[("keeps infinities", Some(|_| {})), ("does not keep infinities", None)]
            }
            Aspect::Nan if is_fixed(encoding) => {
                &[("makes a NaN 0", Some(|_| {})), ("makes a NaN something else than 0", None)]
            }
            Aspect::Nan => &[("keeps a NaN a NaN", Some(|_| {})), ("makes a NaN a number", None)],
            Aspect::Intermediates => &[
                (
                    "rounds results between operations",
                    Some(|d| to_nearest(d, Contraction::Separate)),
                ),
                (
                    "leaves results between operations unrounded",
                    Some(|d| to_nearest(d, Contraction::Fused)),
                ),
                ("rounds towards zero", Some(|d| d.accuracy = Accuracy::TowardZero)),
                ("gives something else", None),
            ],
        }
    }

    /// Whether what each way gives on a lane shows the way that a kernel took. Where the first two
    /// ways give the same, it says nothing of results between operations.
    pub(super) fn is_shown_by(self, results: &[Set]) -> bool {
        let ways = if self == Aspect::Intermediates { &results[..2] } else { results };
        ways.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// Whether a lane of its classes is looked at: of numbers that become fixed point, those beyond
    /// its range where that is what is asked, and no others where it is not.
    pub(super) fn looks_at(self, encoding: Encoding, operands: &Operands) -> bool {
        let Encoding::Fixed { signed, .. } = encoding else {
            // Of a float without a sign a negative infinity becomes zero, whatever else is kept.
            let is_unsigned = matches!(encoding, Encoding::Float(layout) if !layout.signed);
            return self != Aspect::Infinity
                || !is_unsigned
                || operands.iter().all(|one| !one.double().is_sign_negative());
        };
        if operands.coding == Some(Coding::Shared) {
            return matches!(self, Aspect::Infinity | Aspect::Nan);
        }
        let (x, one) = (operands[0].value(), power(0));
        let beyond = x > one || x < if signed { -one } else { Quad::ZERO };
        match self {
            Aspect::Rounding => !beyond,
            Aspect::Overflow => beyond,
            _ => true,
        }
    }
}

/// What programs know each way by.
pub(super) const VALUES: [(&str, &str); 23] = [
    ("rounds to nearest even", "nearest_even"),
    ("rounds to nearest, ties away from zero", "nearest_away"),
    ("rounds towards zero", "toward_zero"),
    ("clamps to the range", "clamped"),
    ("does not clamp to the range", "not_clamped"),
    ("overflows to infinity", "infinity"),
    ("overflows to the largest finite value", "largest_finite"),
    ("overflows to something else", "other"),
    ("reads subnormals as they are", "kept"),
    ("reads subnormals as zero", "flushed"),
    ("keeps subnormal results", "kept"),
    ("flushes subnormal results", "flushed"),
    ("clamps infinities to the range", "clamped"),
    ("does not clamp infinities to the range", "not_clamped"),
    ("keeps infinities", "kept"),
    ("does not keep infinities", "lost"),
    ("makes a NaN 0", "zero"),
    ("makes a NaN something else than 0", "other"),
    ("keeps a NaN a NaN", "nan"),
    ("makes a NaN a number", "number"),
    ("rounds results between operations", "rounded"),
    ("leaves results between operations unrounded", "not_rounded"),
    ("gives something else", "other"),
];

fn to_nearest(demand: &mut Demand, contraction: Contraction) {
    demand.accuracy = Accuracy::NearestEven;
    demand.results.contraction = contraction;
}

fn is_fixed(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Fixed { .. })
}
