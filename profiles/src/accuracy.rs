//! How close to the exact result an answer must be, as profiles write it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// An accuracy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Accuracy {
    /// `nearest even`: IEEE 754 roundTiesToEven.
    NearestEven,
    /// `toward zero`: IEEE 754 roundTowardZero.
    TowardZero,
    /// `toward zero or nearest even`.
    TowardZeroOrNearestEven,
    /// `either neighbour`: the exact value where it is one of the format's, else one of the two around it.
    EitherNeighbour,
    /// `N ulp`.
    Ulp(f64),
    /// `relative 2^-N`.
    Relative(i32),
    /// `absolute 2^-N in [0.5, 2], else relative 2^-N`, the form that logarithms take.
    LogRelative(i32),
    /// `absolute X`.
    Absolute(f64),
    /// `x * (1/y), reciprocal N ulp`: a division in two steps, or one that is at least as accurate.
    TwoStep(f64),
    /// `1 / inverse_sqrt, N ulp of M ulp`: a square root by way of the reciprocal one, with the ulps of the division and of
    /// the reciprocal root.
    ByInverseRoot(f64, f64),
}

/// Exponent of the smallest power of two that a profile may name: binary64's smallest subnormal.
const FINEST: i32 = 1074;

impl FromStr for Accuracy {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        let exponent = |text: &str| text.parse::<u16>().ok().map(i32::from).filter(|n| *n <= FINEST);
        let fixed = match text {
            "nearest even" => Some(Accuracy::NearestEven),
            "toward zero" => Some(Accuracy::TowardZero),
            "toward zero or nearest even" => Some(Accuracy::TowardZeroOrNearestEven),
            "either neighbour" => Some(Accuracy::EitherNeighbour),
            _ => None,
        };
        let parsed = fixed
            .or_else(|| text.strip_suffix(" ulp").and_then(number).map(Accuracy::Ulp))
            .or_else(|| text.strip_prefix("relative 2^-").and_then(exponent).map(Accuracy::Relative))
            .or_else(|| {
                let bits = text.strip_prefix("absolute 2^-")?.strip_suffix(" in [0.5, 2], else relative")?;
                exponent(bits).map(Accuracy::LogRelative)
            })
            .or_else(|| text.strip_prefix("absolute ").and_then(number).map(Accuracy::Absolute))
            .or_else(|| {
                let ulps = text.strip_prefix("x * (1/y), reciprocal ")?.strip_suffix(" ulp")?;
                number(ulps).map(Accuracy::TwoStep)
            })
            .or_else(|| {
                let (division, root) =
                    text.strip_prefix("1 / inverse_sqrt, ")?.strip_suffix(" ulp")?.split_once(" ulp of ")?;
                Some(Accuracy::ByInverseRoot(number(division)?, number(root)?))
            });
        parsed.ok_or_else(|| {
            format!(
                "`{text}` is not an accuracy; write `nearest even`, `toward zero`, `toward zero or nearest even`, \
                 `either neighbour`, `2.5 ulp`, `relative 2^-21`, `absolute 2^-21 in [0.5, 2], else relative`, \
                 `absolute 0.0008`, `x * (1/y), reciprocal 1 ulp` or `1 / inverse_sqrt, 2.5 ulp of 2 ulp` \
                 (numbers are not negative, powers of two 2^-{FINEST} at least)"
            )
        })
    }
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Accuracy::NearestEven => f.write_str("nearest even"),
            Accuracy::TowardZero => f.write_str("toward zero"),
            Accuracy::TowardZeroOrNearestEven => f.write_str("toward zero or nearest even"),
            Accuracy::EitherNeighbour => f.write_str("either neighbour"),
            Accuracy::Ulp(n) => write!(f, "{n} ulp"),
            Accuracy::Relative(n) => write!(f, "relative 2^-{n}"),
            Accuracy::LogRelative(n) => write!(f, "absolute 2^-{n} in [0.5, 2], else relative"),
            Accuracy::Absolute(x) => write!(f, "absolute {x}"),
            Accuracy::TwoStep(n) => write!(f, "x * (1/y), reciprocal {n} ulp"),
            Accuracy::ByInverseRoot(division, root) => write!(f, "1 / inverse_sqrt, {division} ulp of {root} ulp"),
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
            "toward zero",
            "toward zero or nearest even",
            "either neighbour",
            "2.5 ulp",
            "relative 2^-21",
            "absolute 2^-21 in [0.5, 2], else relative",
            "absolute 0.0008",
            "x * (1/y), reciprocal 1 ulp",
            "1 / inverse_sqrt, 2.5 ulp of 2 ulp",
        ] {
            assert_eq!(text.parse::<Accuracy>().unwrap().to_string(), text);
        }
        assert!("-1 ulp".parse::<Accuracy>().is_err());
        assert!("about right".parse::<Accuracy>().is_err());
        for exponent in ["-5", "1075", "99999999999", "-2147483648", ""] {
            assert!(format!("relative 2^-{exponent}").parse::<Accuracy>().is_err(), "{exponent}");
            assert!(format!("absolute 2^-{exponent} in [0.5, 2], else relative").parse::<Accuracy>().is_err());
        }
        assert!("inf ulp".parse::<Accuracy>().is_err() && "1e999 ulp".parse::<Accuracy>().is_err());
    }
}
