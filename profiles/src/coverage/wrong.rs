//! Plausible wrong answers: what a device gives that errs in one way, made from the right answer.

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;

use super::lane::Lane;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Contraction, Subnormals};
use crate::oracle::Demand;
use crate::profile::Requirement;

/// One way to err.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wrong {
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

impl Wrong {
    /// Every kind, in the order of tables.
    pub const ALL: [Wrong; 22] = [
        Wrong::NextUp,
        Wrong::NextDown,
        Wrong::OtherDirection,
        Wrong::OtherZero,
        Wrong::OtherSign,
        Wrong::Flushed,
        Wrong::Unflushed,
        Wrong::OtherOperand,
        Wrong::MaxForInf,
        Wrong::InfForMax,
        Wrong::NanForNumber,
        Wrong::NumberForNan,
        Wrong::OtherNan,
        Wrong::OtherTruth,
        Wrong::OtherPart,
        Wrong::OtherContraction,
        Wrong::TwoDirections,
        Wrong::TwoTreatments,
        Wrong::SwappedNeighbours,
        Wrong::ChangedCode,
        Wrong::LeftOutCode,
        Wrong::JustOutside,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Wrong::NextUp => "next_up",
            Wrong::NextDown => "next_down",
            Wrong::OtherDirection => "other_direction",
            Wrong::OtherZero => "other_zero",
            Wrong::OtherSign => "other_sign",
            Wrong::Flushed => "flushed",
            Wrong::Unflushed => "unflushed",
            Wrong::OtherOperand => "other_operand",
            Wrong::MaxForInf => "max_for_inf",
            Wrong::InfForMax => "inf_for_max",
            Wrong::NanForNumber => "nan_for_number",
            Wrong::NumberForNan => "number_for_nan",
            Wrong::OtherNan => "other_nan",
            Wrong::OtherTruth => "other_truth",
            Wrong::OtherPart => "other_part",
            Wrong::OtherContraction => "other_contraction",
            Wrong::TwoDirections => "two_directions",
            Wrong::TwoTreatments => "two_treatments",
            Wrong::SwappedNeighbours => "swapped_neighbours",
            Wrong::ChangedCode => "changed_code",
            Wrong::LeftOutCode => "left_out_code",
            Wrong::JustOutside => "just_outside",
        }
    }

    /// What contradicts a relation; `None` for results, which every other kind contradicts.
    pub fn against(requirement: Requirement) -> Option<Wrong> {
        match requirement {
            Requirement::Result => None,
            Requirement::OneDirection => Some(Wrong::TwoDirections),
            Requirement::OneTreatment => Some(Wrong::TwoTreatments),
            Requirement::Monotonic => Some(Wrong::SwappedNeighbours),
            Requirement::RoundTrip => Some(Wrong::ChangedCode),
            Requirement::EveryCode => Some(Wrong::LeftOutCode),
        }
    }

    /// What a device that errs so gives on one lane; `None` where that is the right answer, or the kind has no meaning.
    pub(super) fn answer(self, lane: &Lane<'_>) -> Option<u64> {
        let encoding = lane.encoding();
        let right = lane.right;
        let key = encoding.key(right);
        let Encoding::Float(layout) = encoding else {
            let (first, last) = encoding.limits();
            return match (self, encoding) {
                (Wrong::OtherTruth, Encoding::Truth) => Some(1 - right),
                (_, Encoding::Truth) => self.behaving(lane),
                (Wrong::NextUp, _) => (key < last).then(|| encoding.at(key + 1)),
                (Wrong::NextDown, _) => (key > first).then(|| encoding.at(key - 1)),
                _ => self.behaving(lane),
            };
        };
        let (nan, infinite, zero) = (layout.is_nan(right), layout.is_infinite(right), layout.is_zero(right));
        let sign = right & layout.sign_bit();
        let signs = matches!(lane.demand.function, Function::Neg | Function::Abs);
        match self {
            Wrong::NextUp => beside(layout, right, 1),
            Wrong::NextDown => beside(layout, right, -1),
            Wrong::OtherZero => (zero && layout.signed).then_some(right ^ layout.sign_bit()),
            Wrong::OtherSign => {
                let signed = layout.signed && !nan && !zero;
                (signed && (infinite || signs)).then_some(right ^ layout.sign_bit())
            }
            Wrong::MaxForInf => infinite.then_some(sign | layout.max_finite()),
            Wrong::InfForMax => (right == sign | layout.max_finite()).then_some(sign | layout.infinity()),
            Wrong::NanForNumber => (!nan).then_some(canonical(layout)),
            Wrong::NumberForNan => nan.then_some(0),
            Wrong::OtherNan => {
                nan.then(|| if right == canonical(layout) { canonical(layout) + 1 } else { canonical(layout) })
            }
            Wrong::JustOutside => lane.just_outside(),
            _ => self.behaving(lane),
        }
    }

    /// What a device gives that behaves in another way, or takes its answer from another place.
    fn behaving(self, lane: &Lane<'_>) -> Option<u64> {
        match self {
            Wrong::Flushed if lane.is_tiny() => lane.under(|demand| demand.with_subnormals(Subnormals::Flush)),
            Wrong::Unflushed if lane.is_tiny() => lane.under(|demand| demand.with_subnormals(Subnormals::Keep)),
            Wrong::OtherDirection => lane.under(|demand| Demand { accuracy: Accuracy::EitherNeighbour, ..demand }),
            Wrong::OtherContraction if lane.demand.function == Function::MulAdd => {
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
            Wrong::OtherOperand => lane.other_operand(),
            Wrong::OtherPart => lane.other_part(),
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
    let signed = |key: i64| if key < 0 { layout.sign_bit() | key.unsigned_abs() } else { key as u64 };
    let magnitude = bits & layout.magnitude_mask();
    if magnitude > layout.max_finite() {
        return None;
    }
    let position = if layout.is_negative(bits) { -(magnitude as i64) } else { magnitude as i64 } + step;
    let inside = position.unsigned_abs() <= layout.max_finite() && (layout.signed || position >= 0);
    inside.then(|| signed(position))
}
