//! How close to the exact result an answer must be, as profiles write it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use fpprobe_spirv::FloatLayout;
use serde::{Deserialize, Deserializer};

use crate::interval::Interval;

mod demand;
pub mod domain;
mod inherited;

pub use demand::Demand;
use domain::{Condition, Limit, LimitNumber};
pub use inherited::{InheritedAccuracy, Node, ResolvedFormula};

/// An accuracy.
#[derive(Clone, PartialEq, Debug)]
pub enum Accuracy {
    /// `nearest even`: IEEE 754 roundTiesToEven.
    NearestEven,
    /// `nearest away`: IEEE 754 roundTiesToAway.
    NearestAway,
    /// `toward zero`: IEEE 754 roundTowardZero.
    TowardZero,
    /// `toward zero or nearest even`.
    TowardZeroOrNearestEven,
    /// `either neighbour`: the exact value where it is one of the format's, else one of the two
    /// around it.
    EitherNeighbour,
    /// `N ulp`.
    Ulp(f64),
    /// `A + B |x| ulp`, x being the first operand.
    UlpAndSlope(f64, f64),
    /// `relative 2^-N`.
    Relative(i32),
    /// `absolute 2^-N in [0.5, 2], else relative 2^-N`, the form that logarithms take.
    LogRelative(i32),
    /// `absolute X` or `absolute 2^-N`.
    Absolute(Limit),
    /// `ACCURACY in [L, H], else ACCURACY`, by the first operand.
    Split(Arc<SplitAccuracy>),
    /// `ACCURACY for CONDITION, CONDITION`: where one does not hold, nothing is stated. `ACCURACY
    /// or 0 if CONDITION for CONDITION`: where the first holds, zero will do as well.
    Stated(Arc<ConditionalAccuracy>),
    /// `absolute X in [-Y, Y], else in [-1, 1]`, the form that sine and cosine take: results are in
    /// [-1, 1] everywhere.
    AbsoluteWithin(f64, f64),
    /// `x * (1/y), reciprocal N ulp`: a division in two steps, or one that is at least as accurate.
    TwoStep(f64),
    /// Inherited from formulas, see [`crate::formula`]; profiles write those beside it.
    Inherited(Arc<InheritedAccuracy>),
    /// `undefined`: nothing is demanded of a result that is a number.
    Undefined,
    /// `each step ACCURACY`: a sum of products in any order, value by value.
    Steps(Box<Accuracy>),
}

/// One accuracy for first operands within limits, another for the rest.
#[derive(Clone, PartialEq, Debug)]
pub struct SplitAccuracy {
    /// Lower limit.
    pub low: Limit,
    /// Upper limit.
    pub high: Limit,
    /// Between them, inclusive.
    pub inside: Accuracy,
    /// Elsewhere.
    pub outside: Accuracy,
}

impl Accuracy {
    /// Whether it leaves the neighbours of the exact result at most.
    pub fn is_rounding(&self) -> bool {
        matches!(
            self,
            Accuracy::NearestEven
                | Accuracy::NearestAway
                | Accuracy::TowardZero
                | Accuracy::TowardZeroOrNearestEven
                | Accuracy::EitherNeighbour
        )
    }

    /// Whether it leaves the neighbours of the exact result at most, the nearest one always, and
    /// exact results as they are.
    pub fn is_nearest(&self) -> bool {
        matches!(
            self,
            Accuracy::NearestEven | Accuracy::TowardZeroOrNearestEven | Accuracy::EitherNeighbour
        )
    }

    /// Whether it is one bound on the error, whatever the operands.
    pub fn is_bound(&self) -> bool {
        let depends = matches!(
            self,
            Accuracy::Split(_) | Accuracy::Stated(_) | Accuracy::Inherited(_) | Accuracy::Steps(_)
        );
        !depends && *self != Accuracy::Undefined
    }

    /// Whether anything is stated of these operands.
    pub fn is_stated<N: LimitNumber>(&self, operands: &[Interval<N>], layout: FloatLayout) -> bool {
        match self {
            Accuracy::Stated(stated) => {
                stated.conditions.iter().all(|condition| condition.holds(operands, layout))
            }
            _ => true,
        }
    }

    /// The accuracy in one piece that counts on operands that are numbers.
    pub fn at<N: LimitNumber>(&self, operands: &[Interval<N>]) -> &Accuracy {
        match self {
            Accuracy::Stated(stated) => stated.accuracy.at(operands),
            Accuracy::Split(split) => {
                let limits =
                    Interval { lo: split.low.value::<N>().lo, hi: split.high.value::<N>().hi };
                let inside = operands.first().is_some_and(|operand| operand.is_within(limits));
                if inside { &split.inside } else { &split.outside }
            }
            other => other,
        }
    }

    /// Whether zero is allowed, whatever the exact result.
    pub fn allows_zero<N: LimitNumber>(
        &self,
        operands: &[Interval<N>],
        layout: FloatLayout,
    ) -> bool {
        match self {
            Accuracy::Stated(stated) => {
                stated.zero.as_ref().is_some_and(|zero| zero.holds(operands, layout))
            }
            _ => false,
        }
    }
}

/// An accuracy that is stated for some operands only.
#[derive(Clone, PartialEq, Debug)]
pub struct ConditionalAccuracy {
    /// The accuracy.
    pub accuracy: Accuracy,
    /// Where zero will do as well.
    pub zero: Option<Condition>,
    /// What must hold.
    pub conditions: Vec<Condition>,
}

/// Exponent of the smallest power of two that a profile may name: binary64's smallest subnormal.
const FINEST: i32 = 1074;

impl FromStr for Accuracy {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse(text).ok_or_else(|| {
            format!(
                "`{text}` is not an accuracy; write `nearest even`, `nearest away`, `toward zero`, `toward zero or nearest even`, \
                 `either neighbour`, `undefined`, `2.5 ulp`, `3 + 2 |x| ulp`, `relative 2^-21`, \
                 `absolute 2^-21 in [0.5, 2], else relative`, `absolute 2^-21 in [0.5, 2], else 3 ulp`, \
                 `absolute 0.0008`, `absolute 0.0008 in [-314.16, 314.16], else in [-1, 1]`, \
                 `x * (1/y), reciprocal 1 ulp` or `each step nearest even`, and where it holds for some operands only \
                 `2.5 ulp for |second| in [2^-126, 2^126], first normal`, `nearest even for second <= third` \
                 (numbers are not negative, powers of two 2^-{FINEST} at least)"
            )
        })
    }
}

fn parse(text: &str) -> Option<Accuracy> {
    if let Some((accuracy, conditions)) = text.split_once(" for ") {
        // A comma also stands between limits.
        let conditions = conditions
            .replace("], ", "]; ")
            .replace(" or 0, ", " or 0; ")
            .replace(" normal, ", " normal; ");
        let conditions = conditions
            .split("; ")
            .map(|condition| condition.parse().ok())
            .collect::<Option<_>>()?;
        let (accuracy, zero) = match accuracy.split_once(" or 0 if ") {
            Some((accuracy, zero)) => (accuracy, Some(zero.parse().ok()?)),
            None => (accuracy, None),
        };
        return Some(Accuracy::Stated(Arc::new(ConditionalAccuracy {
            accuracy: simple(accuracy)?,
            zero,
            conditions,
        })));
    }
    if let Some(step) = text.strip_prefix("each step ") {
        let step = simple(step)?;
        return (step.is_rounding() || matches!(step, Accuracy::Ulp(_)))
            .then(|| Accuracy::Steps(Box::new(step)));
    }
    simple(text).or_else(|| {
        let (inside, rest) = text.split_once(" in [")?;
        let (limits, outside) = rest.split_once("], else ")?;
        let (low, high) = domain::limits(&format!("[{limits}]"))?;
        Some(Accuracy::Split(Arc::new(SplitAccuracy {
            low,
            high,
            inside: simple(inside)?,
            outside: simple(outside)?,
        })))
    })
}

/// An accuracy in one piece.
fn simple(text: &str) -> Option<Accuracy> {
    let number =
        |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    let exponent = |text: &str| text.parse::<u16>().ok().map(i32::from).filter(|n| *n <= FINEST);
    let fixed = match text {
        "nearest even" => Some(Accuracy::NearestEven),
        "nearest away" => Some(Accuracy::NearestAway),
        "toward zero" => Some(Accuracy::TowardZero),
        "toward zero or nearest even" => Some(Accuracy::TowardZeroOrNearestEven),
        "either neighbour" => Some(Accuracy::EitherNeighbour),
        "undefined" => Some(Accuracy::Undefined),
        _ => None,
    };
    fixed
        .or_else(|| text.strip_suffix(" ulp").and_then(number).map(Accuracy::Ulp))
        .or_else(|| {
            let (base, slope) = text.strip_suffix(" |x| ulp")?.split_once(" + ")?;
            Some(Accuracy::UlpAndSlope(number(base)?, number(slope)?))
        })
        .or_else(|| text.strip_prefix("relative 2^-").and_then(exponent).map(Accuracy::Relative))
        .or_else(|| {
            let bits =
                text.strip_prefix("absolute 2^-")?.strip_suffix(" in [0.5, 2], else relative")?;
            exponent(bits).map(Accuracy::LogRelative)
        })
        .or_else(|| {
            let distance = text.strip_prefix("absolute ")?;
            let distance: Limit = distance.parse().ok()?;
            distance.is_distance().then_some(Accuracy::Absolute(distance))
        })
        .or_else(|| {
            let bounds = text.strip_prefix("absolute ")?.strip_suffix("], else in [-1, 1]")?;
            let (distance, limits) = bounds.split_once(" in [-")?;
            let (low, high) = limits.split_once(", ")?;
            Some(Accuracy::AbsoluteWithin(number(distance)?, number(high).filter(|_| low == high)?))
        })
        .or_else(|| {
            let ulps = text.strip_prefix("x * (1/y), reciprocal ")?.strip_suffix(" ulp")?;
            number(ulps).map(Accuracy::TwoStep)
        })
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Accuracy::NearestEven => f.write_str("nearest even"),
            Accuracy::NearestAway => f.write_str("nearest away"),
            Accuracy::Undefined => f.write_str("undefined"),
            Accuracy::Steps(step) => write!(f, "each step {step}"),
            Accuracy::TowardZero => f.write_str("toward zero"),
            Accuracy::TowardZeroOrNearestEven => f.write_str("toward zero or nearest even"),
            Accuracy::EitherNeighbour => f.write_str("either neighbour"),
            Accuracy::Ulp(n) => write!(f, "{n} ulp"),
            Accuracy::Relative(n) => write!(f, "relative 2^-{n}"),
            Accuracy::LogRelative(n) => write!(f, "absolute 2^-{n} in [0.5, 2], else relative"),
            Accuracy::Absolute(x) => write!(f, "absolute {x}"),
            Accuracy::AbsoluteWithin(x, limit) => {
                write!(f, "absolute {x} in [-{limit}, {limit}], else in [-1, 1]")
            }
            Accuracy::TwoStep(n) => write!(f, "x * (1/y), reciprocal {n} ulp"),
            Accuracy::UlpAndSlope(base, slope) => write!(f, "{base} + {slope} |x| ulp"),
            Accuracy::Split(split) => {
                let SplitAccuracy { low, high, inside, outside } = &**split;
                write!(f, "{inside} in [{low}, {high}], else {outside}")
            }
            Accuracy::Stated(stated) => {
                f.write_str(&stated.accuracy.to_string())?;
                if let Some(zero) = &stated.zero {
                    write!(f, " or 0 if {zero}")?;
                }
                f.write_str(" for ")?;
                let conditions: Vec<String> =
                    stated.conditions.iter().map(ToString::to_string).collect();
                f.write_str(&conditions.join(", "))
            }
            Accuracy::Inherited(inherited) => write!(f, "{inherited}"),
        }
    }
}

impl<'de> Deserialize<'de> for Accuracy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_prints_and_parses_back() {
        for text in [
            "nearest even",
            "nearest away",
            "toward zero",
            "toward zero or nearest even",
            "either neighbour",
            "undefined",
            "2.5 ulp",
            "relative 2^-21",
            "absolute 2^-21 in [0.5, 2], else relative",
            "absolute 0.0008",
            "absolute 0.0008 in [-314.15928, 314.15928], else in [-1, 1]",
            "x * (1/y), reciprocal 1 ulp",
            "each step nearest even",
            "each step 1 ulp",
            "3 + 2 |x| ulp",
            "absolute 2^-11 for first in [-pi, pi]",
            "absolute 2^-7 in [0.5, 2], else 3 ulp",
            "absolute 6.77e-5",
            "2.5 ulp for |second| in [2^-126, 2^126] or 0",
            "4096 ulp for |second| in [2^-126, 2^126], first normal",
            "5 ulp for first normal, |second| in [0, 1]",
            "nearest even for second <= third",
            "either neighbour or 0 if second in [-2147483648, -15] for second in [-2147483648, 16]",
        ] {
            assert_eq!(text.parse::<Accuracy>().unwrap().to_string(), text);
        }
        assert!("-1 ulp".parse::<Accuracy>().is_err());
        assert!("about right".parse::<Accuracy>().is_err());
        assert!("absolute 0.1 in [-2, 3], else in [-1, 1]".parse::<Accuracy>().is_err());
        for exponent in ["-5", "1075", "99999999999", "-2147483648", ""] {
            assert!(format!("relative 2^-{exponent}").parse::<Accuracy>().is_err(), "{exponent}");
            assert!(
                format!("absolute 2^-{exponent} in [0.5, 2], else relative")
                    .parse::<Accuracy>()
                    .is_err()
            );
        }
        for text in [
            "3 ulp for",
            "3 ulp for it",
            "3 ulp for first in [0, 1] and more",
            "absolute -1",
            "absolute pi",
        ] {
            assert!(text.parse::<Accuracy>().is_err(), "{text}");
        }
        assert!("inf ulp".parse::<Accuracy>().is_err() && "1e999 ulp".parse::<Accuracy>().is_err());
    }
}
