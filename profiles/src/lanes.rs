//! Which lanes a rule looks at: a selection by classes of the operands, or by what the exact result is.

use std::fmt;

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Coding, FloatLayout};
use serde::{Deserialize, Deserializer, de};

use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Overflow, Subnormals};
use crate::oracle::{Demand, Operand, Operands, accepted_on, rounding};

/// A class of operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
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

impl Class {
    /// Whether an encoding belongs to it.
    pub(crate) fn holds(self, layout: FloatLayout, bits: u64) -> bool {
        let magnitude = bits & layout.magnitude_mask();
        match self {
            Class::Zero => magnitude == 0,
            Class::Subnormal => layout.is_subnormal(bits),
            Class::Normal => magnitude >= layout.min_normal() && magnitude < layout.infinity(),
            Class::Infinite => layout.is_infinite(bits),
            Class::QuietNan => layout.is_nan(bits) && bits & layout.quiet_bit() != 0,
            Class::SignallingNan => layout.is_nan(bits) && bits & layout.quiet_bit() == 0,
            Class::Nan => layout.is_nan(bits),
            Class::Negative => layout.is_negative(bits) && !layout.is_nan(bits),
            Class::One => bits == (layout.bias() as u64) << layout.fraction,
            Class::Power => magnitude & (layout.min_normal() - 1) == 0 && magnitude < layout.infinity(),
        }
    }
}

/// What the exact result is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultClass {
    /// Non-zero and below the smallest normal value, operands read as the profile says; for a multiply-add also its product.
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

/// A selection of lanes; everything that is given must hold. Integer operands are not looked at.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lanes {
    /// Some operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub any: Vec<Class>,
    /// Every operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub all: Vec<Class>,
    /// No operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub none: Vec<Class>,
    /// Exactly one operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub one: Vec<Class>,
    /// The first operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub first: Vec<Class>,
    /// The second operand is of one of these classes.
    #[serde(default, deserialize_with = "some_classes")]
    pub second: Vec<Class>,
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

/// A key that is written names something: without classes it would select every lane, or none, and no one could tell
/// which was meant.
fn some_classes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Class>, D::Error> {
    let classes = Vec::deserialize(deserializer)?;
    if classes.is_empty() {
        return Err(de::Error::custom("the list is empty: name a class, or leave the key out"));
    }
    Ok(classes)
}

impl Lanes {
    /// Why no lane can be selected, if two keys exclude each other.
    pub fn contradiction(&self) -> Option<String> {
        if self.result.is_some() && self.result == self.result_not {
            return Some("`result` and `result_not` are the same, so that no lane is left".to_owned());
        }
        let keys = [
            ("any", &self.any),
            ("all", &self.all),
            ("one", &self.one),
            ("first", &self.first),
            ("second", &self.second),
        ];
        let excluded = |classes: &[Class]| !classes.is_empty() && classes.iter().all(|class| self.none.contains(class));
        let (key, _) = keys.into_iter().find(|(_, classes)| excluded(classes))?;
        Some(format!("`none` excludes every class of `{key}`, so that no lane is left"))
    }

    /// The classes of operands that it looks for.
    pub(crate) fn classes(&self) -> impl Iterator<Item = Class> + '_ {
        let lists = [&self.any, &self.all, &self.none, &self.one, &self.first, &self.second];
        lists.into_iter().flatten().copied()
    }

    /// Whether it looks at what the exact result is.
    pub(crate) fn looks_at_result(&self) -> bool {
        self.result.is_some() || self.result_not.is_some()
    }

    /// What it says of the operands alone.
    pub(crate) fn whatever_the_result(&self) -> Lanes {
        Lanes { result: None, result_not: None, ..self.clone() }
    }

    /// Whether the rule looks at results in the range of normal numbers, of operands of which so many are floats, normal numbers all of
    /// them; `None` where it depends on which. They are no channels of texels that are no floats.
    pub(crate) fn select_normal(&self, floats: usize) -> Option<bool> {
        // Whether a normal number belongs to one of these classes.
        let is = |classes: &[Class]| {
            let some = |test: fn(&Class) -> bool| classes.iter().any(test);
            let depends = some(|class| matches!(class, Class::Negative | Class::One | Class::Power));
            if some(|class| *class == Class::Normal) { Some(true) } else { (!depends).then_some(false) }
        };
        let wanted = |classes: &[Class], enough: bool| {
            if classes.is_empty() { Some(true) } else { is(classes).map(|is| is && enough) }
        };
        let classes = [
            wanted(&self.any, floats > 0),
            wanted(&self.all, true).filter(|all| *all || floats > 0),
            is(&self.none).map(|none| !none || floats == 0),
            wanted(&self.one, floats == 1),
            wanted(&self.first, floats > 0),
            wanted(&self.second, floats > 1),
        ];
        let result = self.result.is_none_or(|class| class == ResultClass::Normal)
            && self.result_not != Some(ResultClass::Normal)
            && self.srgb != Some(true);
        let all = classes.into_iter().try_fold(true, |all, one| Some(all && one?));
        if result { all } else { Some(false) }
    }

    /// Whether the rule looks at a part of a result on these operands.
    pub fn select(&self, encoding: Encoding, operands: &Operands, demand: &Demand) -> bool {
        let floats = || operands.iter().filter_map(|Operand { layout, bits }| layout.map(|layout| (layout, *bits)));
        let is = |classes: &[Class], (layout, bits): (FloatLayout, u64)| {
            classes.iter().any(|class| class.holds(layout, bits))
        };
        (self.any.is_empty() || floats().any(|operand| is(&self.any, operand)))
            && (self.all.is_empty() || floats().all(|operand| is(&self.all, operand)))
            && !floats().any(|operand| is(&self.none, operand))
            && (self.one.is_empty() || floats().filter(|operand| is(&self.one, *operand)).count() == 1)
            && (self.first.is_empty() || floats().next().is_some_and(|operand| is(&self.first, operand)))
            && (self.second.is_empty() || floats().nth(1).is_some_and(|operand| is(&self.second, operand)))
            && self.result.is_none_or(|class| result_is(class, encoding, operands, demand))
            && !self.result_not.is_some_and(|class| result_is(class, encoding, operands, demand))
            && self.srgb.is_none_or(|srgb| (operands.coding == Some(Coding::Srgb)) == srgb)
    }
}

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |name: &str, classes: &[Class]| {
            let classes: Vec<String> = classes.iter().map(|class| spelled(&format!("{class:?}"))).collect();
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
            self.result_not.map(|result| format!("exact result not {}", spelled(&format!("{result:?}")))),
            self.srgb.map(|srgb| format!("channel {}coded as sRGB", if srgb { "" } else { "not " })),
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
    if operands.stand_alone(demand) && rounding(encoding, operands, demand.function).is_some() {
        return class == ResultClass::Normal;
    }
    if class == ResultClass::Tiny {
        return tiny(encoding, operands, demand);
    }
    if class == ResultClass::Invalid {
        let nan = operands.iter().any(|Operand { layout, bits }| layout.is_some_and(|l| l.is_nan(*bits)));
        let result = accepted_on(encoding, operands, demand);
        return !nan && !result.is_empty() && result.minus(&Set::nan(result.encoding())).is_empty();
    }
    // Towards zero, a number beyond the largest finite value gives that value, and nothing else does but itself.
    let mut down = demand.clone();
    down.accuracy = Accuracy::TowardZero;
    down.results.subnormal_results = Subnormals::Keep;
    down.results.overflow = Overflow::Round;
    let result = accepted_on(encoding, operands, &down);
    let Encoding::Float(layout) = result.encoding() else { return false };
    let mut magnitudes: Vec<u64> = result.members(3).iter().map(|bits| bits & layout.magnitude_mask()).collect();
    magnitudes.dedup();
    let [magnitude] = magnitudes[..] else { return false };
    let exact = || {
        let exact = accepted_on(encoding, operands, &Demand { accuracy: Accuracy::Ulp(0.0), ..down.clone() });
        !exact.and(&result).is_empty()
    };
    let beyond = magnitude == layout.max_finite() && !exact();
    match class {
        ResultClass::Zero => magnitude == 0 && exact(),
        ResultClass::Beyond => beyond,
        _ => !beyond && (layout.min_normal()..=layout.max_finite()).contains(&magnitude),
    }
}

fn tiny(encoding: Encoding, operands: &Operands, demand: &Demand) -> bool {
    let mut open = demand.clone();
    open.results.subnormal_results = Subnormals::Keep;
    open.accuracy = Accuracy::EitherNeighbour;
    let result = accepted_on(encoding, operands, &open);
    let small = |set: &Set| !set.is_everything() && set.meets(&Set::subnormals(set.encoding()));
    let product = || operands[..2].iter().copied().collect();
    small(&result)
        || demand.function == Function::MulAdd
            && small(&accepted_on(encoding, &product(), &Demand { function: Function::Mul, ..open.clone() }))
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::Format;

    use super::*;

    /// How many of two operands are subnormal, and whether the selection wants it so.
    fn selects(lanes: &Lanes) -> [bool; 3] {
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
        let subnormal = || vec![Class::Subnormal];
        assert_eq!(selects(&Lanes { any: subnormal(), ..Lanes::default() }), [false, true, true]);
        assert_eq!(selects(&Lanes { all: subnormal(), ..Lanes::default() }), [false, false, true]);
        assert_eq!(selects(&Lanes { none: subnormal(), ..Lanes::default() }), [true, false, false]);
        assert_eq!(selects(&Lanes { one: subnormal(), ..Lanes::default() }), [false, true, false]);
    }
}
