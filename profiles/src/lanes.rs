//! Which lanes a rule looks at: a selection by classes of the operands, or by what the exact result
//! is.

use std::cell::OnceCell;
use std::fmt;

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Coding, FloatLayout};
use serde::{Deserialize, Deserializer, de};

use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Environment, Overflow, Subnormals};
use crate::oracle::{Demand, Operand, Operands, accepted_on};

/// A class of operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperandClass {
    /// +0 or -0.
    Zero,
    /// Subnormal.
    Subnormal,
    /// Normal.
    Normal,
    /// An infinity.
    Infinite,
    /// A quiet NaN.
    QuietNan,
    /// A signalling NaN.
    SignallingNan,
    /// Any NaN.
    Nan,
    /// Sign bit set, not a NaN.
    Negative,
    /// Exactly 1.
    One,
    /// Zero, or a power of two of either sign.
    Power,
}

impl OperandClass {
    /// Whether an encoding belongs to it.
    pub(crate) fn holds(self, layout: FloatLayout, bits: u64) -> bool {
        let magnitude = bits & layout.magnitude_mask();
        match self {
            OperandClass::Zero => magnitude == 0,
            OperandClass::Subnormal => layout.is_subnormal(bits),
            OperandClass::Normal => {
                magnitude >= layout.min_normal() && magnitude < layout.infinity()
            }
            OperandClass::Infinite => layout.is_infinite(bits),
            OperandClass::QuietNan => layout.is_nan(bits) && bits & layout.quiet_bit() != 0,
            OperandClass::SignallingNan => layout.is_nan(bits) && bits & layout.quiet_bit() == 0,
            OperandClass::Nan => layout.is_nan(bits),
            OperandClass::Negative => layout.is_negative(bits) && !layout.is_nan(bits),
            OperandClass::One => bits == (layout.bias() as u64) << layout.fraction,
            OperandClass::Power => {
                magnitude & (layout.min_normal() - 1) == 0 && magnitude < layout.infinity()
            }
        }
    }
}

/// What the exact result is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultClass {
    /// Non-zero and below the smallest normal value, operands read as the profile says; for a
    /// multiply-add also its product.
    Tiny,
    /// In the range of normal values.
    Normal,
    /// Exactly zero, of either sign.
    Zero,
    /// A number beyond the largest finite value.
    Beyond,
    /// None: numbers on which the function is not defined.
    Invalid,
}

/// What the exact result of one lane is by one demand, as soon as a selection needs it.
#[derive(Default)]
pub(crate) struct ResultClasses([OnceCell<bool>; 5]);

impl ResultClasses {
    /// Whether some of these selections select the lane. `is_normal` may know that the exact result
    /// is in the range of normal values.
    pub(crate) fn select(
        &self,
        any: &[LaneSelection],
        encoding: Encoding,
        operands: &Operands,
        demand: &Demand,
        is_normal: impl Fn() -> bool,
    ) -> bool {
        let is = |class: ResultClass| {
            *self.0[class as usize].get_or_init(|| {
                if is_normal() {
                    class == ResultClass::Normal
                } else {
                    result_is(class, encoding, operands, demand)
                }
            })
        };
        any.iter().any(|lanes| lanes.select_by(operands, is))
    }
}

/// A selection of lanes; everything that is given must hold. Integer operands are not looked at.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneSelection {
    /// Some operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub any: Vec<OperandClass>,
    /// Every operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub all: Vec<OperandClass>,
    /// No operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub none: Vec<OperandClass>,
    /// Exactly one operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub one: Vec<OperandClass>,
    /// The first operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub first: Vec<OperandClass>,
    /// The second operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub second: Vec<OperandClass>,
    /// The exact result is of this class.
    #[serde(default)]
    pub result: Option<ResultClass>,
    /// The exact result is not of this class; a truth value is of none.
    #[serde(default)]
    pub result_not: Option<ResultClass>,
    /// The channel of the texel is coded by the transfer function of sRGB, or is not.
    #[serde(default)]
    pub srgb: Option<bool>,
}

/// A key that is written names something: without classes it would select every lane, or none, and
/// no one could tell which was meant.
fn some_classes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OperandClass>, D::Error> {
    let classes = Vec::deserialize(deserializer)?;
    if classes.is_empty() {
        return Err(de::Error::custom("the list is empty: name a class, or leave the key out"));
    }
    Ok(classes)
}

impl LaneSelection {
    /// Why no lane can be selected, if two keys exclude each other.
    pub fn contradiction(&self) -> Option<String> {
        if self.result.is_some() && self.result == self.result_not {
            return Some(
                "`result` and `result_not` are the same, so that no lane is left".to_owned(),
            );
        }
        let keys = [
            ("any", &self.any),
            ("all", &self.all),
            ("one", &self.one),
            ("first", &self.first),
            ("second", &self.second),
        ];
        let excluded = |classes: &[OperandClass]| {
            !classes.is_empty() && classes.iter().all(|class| self.none.contains(class))
        };
        let (key, _) = keys.into_iter().find(|(_, classes)| excluded(classes))?;
        Some(format!("`none` excludes every class of `{key}`, so that no lane is left"))
    }

    /// The classes of operands that it looks for.
    pub(crate) fn classes(&self) -> impl Iterator<Item = OperandClass> + '_ {
        let lists = [&self.any, &self.all, &self.none, &self.one, &self.first, &self.second];
        lists.into_iter().flatten().copied()
    }

    /// Whether it looks at what the exact result is.
    pub(crate) fn looks_at_result(&self) -> bool {
        self.result.is_some() || self.result_not.is_some()
    }

    /// What it says of the operands alone.
    pub(crate) fn whatever_the_result(&self) -> LaneSelection {
        LaneSelection { result: None, result_not: None, ..self.clone() }
    }

    /// Whether the rule looks at a part of a result on these operands.
    pub fn select(&self, encoding: Encoding, operands: &Operands, demand: &Demand) -> bool {
        self.select_by(operands, |class| result_is(class, encoding, operands, demand))
    }

    /// The same by what the exact result is.
    fn select_by(&self, operands: &Operands, result_is: impl Fn(ResultClass) -> bool) -> bool {
        let floats = || {
            operands
                .iter()
                .filter_map(|Operand { layout, bits }| layout.map(|layout| (layout, *bits)))
        };
        let is = |classes: &[OperandClass], (layout, bits): (FloatLayout, u64)| {
            classes.iter().any(|class| class.holds(layout, bits))
        };
        (self.any.is_empty() || floats().any(|operand| is(&self.any, operand)))
            && (self.all.is_empty() || floats().all(|operand| is(&self.all, operand)))
            && !floats().any(|operand| is(&self.none, operand))
            && (self.one.is_empty()
                || floats().filter(|operand| is(&self.one, *operand)).count() == 1)
            && (self.first.is_empty()
                || floats().next().is_some_and(|operand| is(&self.first, operand)))
            && (self.second.is_empty()
                || floats().nth(1).is_some_and(|operand| is(&self.second, operand)))
            && self.result.is_none_or(&result_is)
            && !self.result_not.is_some_and(&result_is)
            && self.srgb.is_none_or(|srgb| (operands.coding == Some(Coding::Srgb)) == srgb)
    }
}

impl fmt::Display for LaneSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |name: &str, classes: &[OperandClass]| {
            let classes: Vec<String> =
                classes.iter().map(|class| spelled(&format!("{class:?}"))).collect();
            (!classes.is_empty()).then(|| format!("{name} {}", classes.join(" or ")))
        };
        let parts = [
            words("some operand", &self.any),
            words("every operand", &self.all),
            words("no operand", &self.none),
            words("exactly one operand", &self.one),
            words("first operand", &self.first),
            words("second operand", &self.second),
            self.result.map(|result| format!("exact result {}", spelled(&format!("{result:?}")))),
            self.result_not
                .map(|result| format!("exact result not {}", spelled(&format!("{result:?}")))),
            self.srgb
                .map(|srgb| format!("channel {}coded as sRGB", if srgb { "" } else { "not " })),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&if parts.is_empty() { "every lane".to_owned() } else { parts.join(", ") })
    }
}

/// `SignallingNan` as `signalling nan`.
fn spelled(name: &str) -> String {
    name.chars().enumerate().fold(String::new(), |mut words, (index, letter)| {
        if index > 0 && letter.is_uppercase() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
        words
    })
}

fn result_is(class: ResultClass, encoding: Encoding, operands: &Operands, demand: &Demand) -> bool {
    // The same operation on subnormals that count.
    let with = |accuracy: Accuracy, overflow: Overflow| {
        let results =
            Environment { subnormal_results: Subnormals::Keep, overflow, ..demand.results };
        Demand {
            function: demand.function,
            operands: demand.operands,
            results,
            accuracy,
            ulp: demand.ulp,
        }
    };
    match class {
        ResultClass::Tiny => {
            return tiny(
                encoding,
                operands,
                &with(Accuracy::EitherNeighbour, demand.results.overflow),
            );
        }
        ResultClass::Invalid => {
            let nan = operands
                .iter()
                .any(|Operand { layout, bits }| layout.is_some_and(|l| l.is_nan(*bits)));
            let result = accepted_on(encoding, operands, demand);
            return !nan
                && !result.is_empty()
                && result.minus(&Set::nan(result.encoding())).is_empty();
        }
        ResultClass::Normal | ResultClass::Zero | ResultClass::Beyond => {}
    }
    // Towards zero, a number beyond the largest finite value gives that value, and nothing else
    // does but itself.
    let result = accepted_on(encoding, operands, &with(Accuracy::TowardZero, Overflow::Round));
    let Encoding::Float(layout) = result.encoding() else { return false };
    let mut magnitudes = result.members(3);
    for bits in &mut magnitudes {
        *bits &= layout.magnitude_mask();
    }
    magnitudes.dedup();
    let [magnitude] = magnitudes[..] else { return false };
    let exact = || {
        let exact = accepted_on(encoding, operands, &with(Accuracy::Ulp(0.0), Overflow::Round));
        !exact.and(&result).is_empty()
    };
    let beyond = || magnitude == layout.max_finite() && !exact();
    match class {
        ResultClass::Zero => magnitude == 0 && exact(),
        ResultClass::Beyond => beyond(),
        _ => (layout.min_normal()..=layout.max_finite()).contains(&magnitude) && !beyond(),
    }
}

fn tiny(encoding: Encoding, operands: &Operands, open: &Demand) -> bool {
    let result = accepted_on(encoding, operands, open);
    let small = |set: &Set| !set.is_everything() && set.meets(&Set::subnormals(set.encoding()));
    let product = || operands[..2].iter().copied().collect();
    small(&result)
        || open.function == Function::MulAdd
            && small(&accepted_on(
                encoding,
                &product(),
                &Demand { function: Function::Mul, ..open.clone() },
            ))
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::Format;

    use super::*;

    /// How many of two operands are subnormal, and whether the selection wants it so.
    fn selects(lanes: &LaneSelection) -> [bool; 3] {
        let profile = crate::profile::built_in("d3d11").unwrap().unwrap();
        let demand = profile.rule("D32-24").unwrap().parts[0].demand.clone();
        let (layout, subnormal, one) = (Format::F32.float(), 1, 0x3f80_0000);
        let select = |bits: [u64; 2]| {
            let operands = bits.map(|bits| Operand { layout, bits }).into_iter().collect();
            lanes.select(Encoding::Float(layout.unwrap()), &operands, &demand)
        };
        assert_eq!(select([subnormal, one]), select([one, subnormal]));
        [[one, one], [subnormal, one], [subnormal, subnormal]].map(select)
    }

    #[test]
    fn some_every_no_and_exactly_one_operand_mean_what_they_say() {
        let subnormal = || vec![OperandClass::Subnormal];
        assert_eq!(
            selects(&LaneSelection { any: subnormal(), ..LaneSelection::default() }),
            [false, true, true]
        );
        assert_eq!(
            selects(&LaneSelection { all: subnormal(), ..LaneSelection::default() }),
            [false, false, true]
        );
        assert_eq!(
            selects(&LaneSelection { none: subnormal(), ..LaneSelection::default() }),
            [true, false, false]
        );
        assert_eq!(
            selects(&LaneSelection { one: subnormal(), ..LaneSelection::default() }),
            [false, true, false]
        );
    }
}
