//! For which operands an accuracy is stated.

use std::fmt;
use std::str::FromStr;

use fpprobe_spirv::FloatLayout;
use rustc_apfloat::Float as _;
use rustc_apfloat::ieee::Quad;

use crate::interval::Interval;
use crate::number::{Number, Toward};
use crate::quad::power;

/// A condition on one operand: `first in [-pi, pi]`, `|second| in [2^-126, 2^126]`, `|second| in
/// [2^-126, 2^126] or 0`, `first normal`, `second <= third`.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    operand: usize,
    magnitude: bool,
    wants: DomainCondition,
    /// Whether zero will do as well.
    zero: bool,
}

#[derive(Clone, PartialEq, Debug)]
enum DomainCondition {
    /// Neither zero nor subnormal.
    Normal,
    /// Between limits, inclusive.
    Between(Limit, Limit),
    /// Not above the operand of this number.
    NotAbove(usize),
}

/// What conditions call operands.
const NAMES: [&str; 3] = ["first", "second", "third"];

/// A number that a domain ends at: a decimal, `2^N`, `pi` or `-pi`.
#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    text: String,
    /// The number, or the binary128 numbers around it.
    wide: Interval<Quad>,
    /// The number, or the binary64 numbers around it.
    near: Interval<f64>,
}

/// Pi, rounded down to binary128.
const PI: u128 = 0x4000_921f_b544_42d1_8469_898c_c517_01b8;

/// Pi, enclosed by two neighbouring binary128 numbers.
pub fn pi() -> Interval<Quad> {
    Interval { lo: Quad::from_bits(PI), hi: Quad::from_bits(PI + 1) }
}

/// A decimal number, enclosed by two neighbouring binary128 numbers, or exactly.
pub fn decimal(text: &str) -> Option<Interval<Quad>> {
    let parse = |round| Quad::from_str_r(text, round).ok();
    let (lo, hi) = (
        parse(rustc_apfloat::Round::TowardNegative)?,
        parse(rustc_apfloat::Round::TowardPositive)?,
    );
    Some(Interval { lo: lo.value, hi: hi.value })
}

/// A kind of number that limits are kept in.
pub trait LimitNumber: Number {
    /// The limit, or the numbers of this kind around it.
    fn kept(limit: &Limit) -> Interval<Self>;
}

impl LimitNumber for Quad {
    fn kept(limit: &Limit) -> Interval<Quad> {
        limit.wide
    }
}

impl LimitNumber for f64 {
    fn kept(limit: &Limit) -> Interval<f64> {
        limit.near
    }
}

/// The binary64 numbers around an interval.
pub fn doubles(wide: Interval<Quad>) -> Interval<f64> {
    Interval { lo: wide.lo.double(Toward::Down), hi: wide.hi.double(Toward::Up) }
}

impl FromStr for Limit {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let limit = |wide| Ok(Limit { text: text.to_owned(), wide, near: doubles(wide) });
        if let Some(positive) = text.strip_prefix('-') {
            let value = if positive.starts_with('-') {
                Err(())
            } else {
                positive.parse().map(|limit: Limit| limit.wide.negated())
            };
            return value.and_then(limit);
        }
        if text == "pi" {
            return limit(pi());
        }
        if let Some(exponent) = text.strip_prefix("2^") {
            let exponent: i32 = exponent.parse().map_err(drop)?;
            return if exponent.abs() <= super::FINEST {
                limit(Interval::point(power(exponent)))
            } else {
                Err(())
            };
        }
        // The host's parser says what a decimal number is; binary128 what it is worth.
        text.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or(())?;
        decimal(text).ok_or(()).and_then(limit)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Limit {
    /// The number, or what encloses it closely.
    pub fn value<N: LimitNumber>(&self) -> Interval<N> {
        N::kept(self)
    }

    /// Whether it is a number that an error can be: not negative, nor a multiple of pi.
    pub(super) fn is_distance(&self) -> bool {
        !self.text.starts_with('-') && !self.text.ends_with("pi")
    }
}

/// What is written as `[LOW, HIGH]`.
pub(super) fn limits(text: &str) -> Option<(Limit, Limit)> {
    let (low, high) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ")?;
    let (low, high): (Limit, Limit) = (low.parse().ok()?, high.parse().ok()?);
    (low.wide.lo <= high.wide.hi).then_some((low, high))
}

impl Condition {
    /// Number of the operand that it is about.
    pub fn operand(&self) -> usize {
        self.operand
    }

    /// Whether it is about two operands.
    pub(crate) fn compares(&self) -> bool {
        matches!(self.wants, DomainCondition::NotAbove(_))
    }

    /// Whether it holds for everything that an operand may be.
    pub fn holds<N: LimitNumber>(&self, operands: &[Interval<N>], layout: FloatLayout) -> bool {
        let Some(operand) = operands.get(self.operand) else { return false };
        let value = if self.magnitude { operand.abs() } else { *operand };
        let zero = self.zero && *operand == Interval::ZERO;
        zero || match &self.wants {
            DomainCondition::Normal => operand.abs().lo >= N::decode(layout, layout.min_normal()),
            // No value of a format is pi: which side of the enclosure counts does not matter.
            DomainCondition::Between(low, high) => {
                value.is_within(Interval { lo: low.value::<N>().lo, hi: high.value::<N>().hi })
            }
            DomainCondition::NotAbove(other) => {
                operands.get(*other).is_some_and(|other| value.hi <= other.lo)
            }
        }
    }
}

impl Condition {
    /// Whether it holds for nothing that the first operand may be, numbers of one sign and not
    /// zero.
    pub(crate) fn excludes(&self, first: Interval, layout: FloatLayout) -> bool {
        let value = if self.magnitude { first.abs() } else { first };
        self.operand == 0
            && match &self.wants {
                DomainCondition::Normal => {
                    first.abs().hi < f64::decode(layout, layout.min_normal())
                }
                DomainCondition::Between(low, high) => value
                    .common(Interval { lo: low.value::<f64>().lo, hi: high.value::<f64>().hi })
                    .is_none(),
                DomainCondition::NotAbove(_) => false,
            }
    }
}

impl FromStr for Condition {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let (subject, wants) = text.split_once(' ').ok_or(())?;
        let inner = subject.strip_prefix('|').and_then(|subject| subject.strip_suffix('|'));
        let named = |name: &str| NAMES.iter().position(|known| *known == name).ok_or(());
        let operand = named(inner.unwrap_or(subject))?;
        let (wants, zero) =
            wants.strip_suffix(" or 0").map_or((wants, false), |wants| (wants, true));
        let wants = if wants == "normal" && inner.is_none() {
            DomainCondition::Normal
        } else if let (Some(other), None, false) = (wants.strip_prefix("<= "), inner, zero) {
            DomainCondition::NotAbove(named(other)?)
        } else {
            let (low, high) = wants.strip_prefix("in ").and_then(limits).ok_or(())?;
            DomainCondition::Between(low, high)
        };
        Ok(Condition { operand, magnitude: inner.is_some(), wants, zero })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES[self.operand];
        let bar = if self.magnitude { "|" } else { "" };
        write!(f, "{bar}{name}{bar} ")?;
        match &self.wants {
            DomainCondition::Normal => f.write_str("normal")?,
            DomainCondition::Between(low, high) => write!(f, "in [{low}, {high}]")?,
            DomainCondition::NotAbove(other) => write!(f, "<= {}", NAMES[*other])?,
        }
        f.write_str(if self.zero { " or 0" } else { "" })
    }
}

/// A number of units that may grow with the magnitude of the first operand: `base + slope * |x|`.
pub(crate) fn units<N: Number>(base: N, slope: N, magnitude: N) -> N {
    base.plus(slope.times(magnitude, Toward::Up), Toward::Up)
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::Format;

    use super::*;

    fn holds(condition: &str, operands: &[f64]) -> bool {
        let (condition, single): (Condition, _) =
            (condition.parse().unwrap(), Format::F32.float().unwrap());
        let near: Vec<Interval> = operands.iter().map(|value| Interval::point(*value)).collect();
        let wide: Vec<Interval<Quad>> =
            operands.iter().map(|value| Interval::point(Quad::of(*value))).collect();
        assert_eq!(condition.holds(&near, single), condition.holds(&wide, single));
        condition.holds(&near, single)
    }

    #[test]
    fn conditions_print_and_parse_back() {
        for text in [
            "first in [-pi, pi]",
            "|second| in [2^-126, 2^126]",
            "|second| in [2^-14, 1.5] or 0",
            "first normal",
            "first normal or 0",
            "second <= third",
        ] {
            assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "first",
            "fourth normal",
            "first in [1, 0]",
            "|first| normal",
            "first in [0, inf]",
            "x in [--1, 2]",
            "first <= 1",
            "|first| <= second",
        ] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }

    #[test]
    fn conditions_hold_up_to_their_limits() {
        let (below, above) =
            (f64::from(f32::from_bits(0x4049_0fda)), f64::from(f32::from_bits(0x4049_0fdb)));
        assert!(holds("first in [-pi, pi]", &[below]) && holds("first in [-pi, pi]", &[-below]));
        assert!(!holds("first in [-pi, pi]", &[above]) && !holds("first in [-pi, pi]", &[-above]));
        let division = "|second| in [2^-126, 2^126]";
        assert!(
            holds(division, &[0.0, 2f64.powi(126)]) && holds(division, &[0.0, -(2f64.powi(-126))])
        );
        assert!(!holds(division, &[0.0, 2f64.powi(127)]) && !holds(division, &[0.0, 0.0]));
        assert!(holds(&format!("{division} or 0"), &[0.0, 0.0]));
        assert!(holds("first normal or 0", &[0.0]) && !holds("first normal or 0", &[1e-40]));
        assert!(
            holds("second <= third", &[9.0, 1.0, 1.0])
                && !holds("second <= third", &[0.0, 1.0, -1.0])
        );
        assert!(
            !holds("second <= third", &[0.0, 1.0])
                && !holds("second <= third", &[0.0, f64::NAN, 1.0])
        );
        assert!(
            holds("first normal", &[-1.0])
                && !holds("first normal", &[1e-40])
                && !holds("first normal", &[0.0])
        );
    }

    #[test]
    fn pi_lies_between_neighbours() {
        assert_eq!(decimal("3.14159265358979323846264338327950288419716939937510582"), Some(pi()));
    }
}
