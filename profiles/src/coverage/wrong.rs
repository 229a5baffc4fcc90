//! Plausible wrong answers: what a device gives that errs in one way, made from the right answer.

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;

use super::lane::CoverageLane;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Contraction, Subnormals};
use crate::oracle::Demand;
use crate::profile::Requirement;

/// One way to err.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WrongResult {
    /// The next larger value.
    NextUp,
    /// The next smaller value.
    NextDown,
    /// The neighbour on the other side of the exact result: rounded in the other direction.
    OtherDirection,
    /// A zero of the other sign.
    OtherZero,
    /// The other sign: of an infinity, and of what an operation on signs gives.
    OtherSign,
    /// Subnormal operands and results taken for zero.
    Flushed,
    /// Subnormal operands and results taken for the numbers they are.
    Unflushed,
    /// The operand that was not to be chosen: of a minimum, a maximum, a clamp, a selection.
    OtherOperand,
    /// The largest finite value for an infinity.
    MaxForInf,
    /// An infinity for the largest finite value.
    InfForMax,
    /// A NaN for a number.
    NanForNumber,
    /// Zero for a NaN.
    NumberForNan,
    /// A NaN with other bits.
    OtherNan,
    /// False for true, true for false.
    OtherTruth,
    /// What belongs into another part of the result: the other half, another channel or component.
    OtherPart,
    /// Fused where it was to be separate, separate where it was to be fused.
    OtherContraction,
    /// One lane of a path rounds in the other direction.
    TwoDirections,
    /// One lane flushes subnormals where others keep them.
    TwoTreatments,
    /// The results of two neighbouring inputs change places.
    SwappedNeighbours,
    /// A load gives the value of another code.
    ChangedCode,
    /// A code that no input gives.
    LeftOutCode,
    /// The nearest value outside of what is accepted. Always wrong, so that it counts in no total.
    JustOutside,
}

impl WrongResult {
    /// Every kind, in the order of tables.
    pub const ALL: [WrongResult; 22] = [
        WrongResult::NextUp,
        WrongResult::NextDown,
        WrongResult::OtherDirection,
        WrongResult::OtherZero,
        WrongResult::OtherSign,
        WrongResult::Flushed,
        WrongResult::Unflushed,
        WrongResult::OtherOperand,
        WrongResult::MaxForInf,
        WrongResult::InfForMax,
        WrongResult::NanForNumber,
        WrongResult::NumberForNan,
        WrongResult::OtherNan,
        WrongResult::OtherTruth,
        WrongResult::OtherPart,
        WrongResult::OtherContraction,
        WrongResult::TwoDirections,
        WrongResult::TwoTreatments,
        WrongResult::SwappedNeighbours,
        WrongResult::ChangedCode,
        WrongResult::LeftOutCode,
        WrongResult::JustOutside,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            WrongResult::NextUp => "next_up",
            WrongResult::NextDown => "next_down",
            WrongResult::OtherDirection => "other_direction",
            WrongResult::OtherZero => "other_zero",
            WrongResult::OtherSign => "other_sign",
            WrongResult::Flushed => "flushed",
            WrongResult::Unflushed => "unflushed",
            WrongResult::OtherOperand => "other_operand",
            WrongResult::MaxForInf => "max_for_inf",
            WrongResult::InfForMax => "inf_for_max",
            WrongResult::NanForNumber => "nan_for_number",
            WrongResult::NumberForNan => "number_for_nan",
            WrongResult::OtherNan => "other_nan",
            WrongResult::OtherTruth => "other_truth",
            WrongResult::OtherPart => "other_part",
            WrongResult::OtherContraction => "other_contraction",
            WrongResult::TwoDirections => "two_directions",
            WrongResult::TwoTreatments => "two_treatments",
            WrongResult::SwappedNeighbours => "swapped_neighbours",
            WrongResult::ChangedCode => "changed_code",
            WrongResult::LeftOutCode => "left_out_code",
            WrongResult::JustOutside => "just_outside",
        }
    }

    /// What contradicts a relation; `None` for results, which every other kind contradicts.
    pub fn against(requirement: Requirement) -> Option<WrongResult> {
        match requirement {
            Requirement::Result => None,
            Requirement::OneDirection => Some(WrongResult::TwoDirections),
            Requirement::OneTreatment => Some(WrongResult::TwoTreatments),
            Requirement::Monotonic => Some(WrongResult::SwappedNeighbours),
            Requirement::RoundTrip => Some(WrongResult::ChangedCode),
            Requirement::EveryCode => Some(WrongResult::LeftOutCode),
        }
    }

    /// What a device that errs so gives on one lane; `None` where that is the right answer, or the
    /// kind has no meaning.
    pub(super) fn answer(self, lane: &CoverageLane<'_>) -> Option<u64> {
        let encoding = lane.encoding();
        let right = lane.right;
        let key = encoding.key(right);
        let Encoding::Float(layout) = encoding else {
            let (first, last) = encoding.limits();
            return match (self, encoding) {
                (WrongResult::OtherTruth, Encoding::Truth) => Some(1 - right),
                (_, Encoding::Truth) => self.behaving(lane),
                (WrongResult::NextUp, _) => (key < last).then(|| encoding.at(key + 1)),
                (WrongResult::NextDown, _) => (key > first).then(|| encoding.at(key - 1)),
                _ => self.behaving(lane),
            };
        };
        let (nan, infinite, zero) =
            (layout.is_nan(right), layout.is_infinite(right), layout.is_zero(right));
        let sign = right & layout.sign_bit();
        let signs = matches!(lane.demand.function, Function::Neg | Function::Abs);
        match self {
            WrongResult::NextUp => beside(layout, right, 1),
            WrongResult::NextDown => beside(layout, right, -1),
            WrongResult::OtherZero => (zero && layout.signed).then_some(right ^ layout.sign_bit()),
            WrongResult::OtherSign => {
                let signed = layout.signed && !nan && !zero;
                (signed && (infinite || signs)).then_some(right ^ layout.sign_bit())
            }
            WrongResult::MaxForInf => infinite.then_some(sign | layout.max_finite()),
            WrongResult::InfForMax => {
                (right == sign | layout.max_finite()).then_some(sign | layout.infinity())
            }
            WrongResult::NanForNumber => (!nan).then_some(canonical(layout)),
            WrongResult::NumberForNan => nan.then_some(0),
            WrongResult::OtherNan => nan.then(|| {
                if right == canonical(layout) { canonical(layout) + 1 } else { canonical(layout) }
            }),
            WrongResult::JustOutside => lane.just_outside(),
            _ => self.behaving(lane),
        }
    }

    /// What a device gives that behaves in another way, or takes its answer from another place.
    fn behaving(self, lane: &CoverageLane<'_>) -> Option<u64> {
        match self {
            WrongResult::Flushed if lane.is_tiny() => {
                lane.under(|demand| demand.with_subnormals(Subnormals::Flush))
            }
            WrongResult::Unflushed if lane.is_tiny() => {
                lane.under(|demand| demand.with_subnormals(Subnormals::Keep))
            }
            WrongResult::OtherDirection => {
                lane.under(|demand| Demand { accuracy: Accuracy::EitherNeighbour, ..demand })
            }
            WrongResult::OtherContraction if lane.demand.function.has_intermediates() => {
                let other = match lane.demand.results.contraction {
                    Contraction::Either => return None,
                    Contraction::Fused => Contraction::Separate,
                    Contraction::Separate => Contraction::Fused,
                };
                lane.under(|mut demand| {
                    demand.results.contraction = other;
                    demand
                })
            }
            WrongResult::OtherOperand => lane.other_operand(),
            WrongResult::OtherPart => lane.other_part(),
            _ => None,
        }
    }
}

/// The quiet NaN without payload.
fn canonical(layout: FloatLayout) -> u64 {
    layout.infinity() | layout.quiet_bit()
}

/// The finite value next to a finite one, zeros counting as one.
fn beside(layout: FloatLayout, bits: u64, step: i64) -> Option<u64> {
    let signed =
        |key: i64| if key < 0 { layout.sign_bit() | key.unsigned_abs() } else { key as u64 };
    let magnitude = bits & layout.magnitude_mask();
    if magnitude > layout.max_finite() {
        return None;
    }
    let position =
        if layout.is_negative(bits) { -(magnitude as i64) } else { magnitude as i64 } + step;
    let inside = position.unsigned_abs() <= layout.max_finite() && (layout.signed || position >= 0);
    inside.then(|| signed(position))
}
