//! Floating-point controls: the execution modes and decorations a module is built with.
//!
//! Source: SPIR-V 1.6 section 3.6 (execution modes), `SPV_KHR_float_controls`,
//! `SPV_KHR_float_controls2`, and the Vulkan specification's "Precision and Operation of SPIR-V
//! Instructions".

use std::fmt;
use std::str::FromStr;

use rspirv::spirv::{Capability, ExecutionMode};

use crate::error::ParseError;

/// One control. Width-specific ones name the float width they govern.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Control {
    /// `DenormFlushToZero` for 16, 32 or 64 bits.
    Ftz(u32),
    /// `DenormPreserve`.
    Dp(u32),
    /// `SignedZeroInfNanPreserve`.
    Szin(u32),
    /// `RoundingModeRTE`: to nearest even.
    Rte(u32),
    /// `RoundingModeRTZ`: towards zero.
    Rtz(u32),
    /// `NoContraction` on every arithmetic instruction.
    NoContract,
    /// `FPFastMathDefault` with mode None for every float type (`SPV_KHR_float_controls2`).
    FastMath0,
}

/// Every control with its name in kernel ids and, for modes a device claims, the name of the claim.
const TABLE: [(Control, &str, &str); 17] = [
    (Control::Ftz(16), "ftz16", "shaderDenormFlushToZeroFloat16"),
    (Control::Ftz(32), "ftz32", "shaderDenormFlushToZeroFloat32"),
    (Control::Ftz(64), "ftz64", "shaderDenormFlushToZeroFloat64"),
    (Control::Dp(16), "dp16", "shaderDenormPreserveFloat16"),
    (Control::Dp(32), "dp32", "shaderDenormPreserveFloat32"),
    (Control::Dp(64), "dp64", "shaderDenormPreserveFloat64"),
    (Control::Szin(16), "szin16", "shaderSignedZeroInfNanPreserveFloat16"),
    (Control::Szin(32), "szin32", "shaderSignedZeroInfNanPreserveFloat32"),
    (Control::Szin(64), "szin64", "shaderSignedZeroInfNanPreserveFloat64"),
    (Control::Rte(16), "rte16", "shaderRoundingModeRTEFloat16"),
    (Control::Rte(32), "rte32", "shaderRoundingModeRTEFloat32"),
    (Control::Rte(64), "rte64", "shaderRoundingModeRTEFloat64"),
    (Control::Rtz(16), "rtz16", "shaderRoundingModeRTZFloat16"),
    (Control::Rtz(32), "rtz32", "shaderRoundingModeRTZFloat32"),
    (Control::Rtz(64), "rtz64", "shaderRoundingModeRTZFloat64"),
    (Control::NoContract, "nocontract", ""),
    (Control::FastMath0, "fastmath0", "shaderFloatControls2"),
];

/// A control as an execution mode of a module's entry point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// The execution mode.
    pub mode: ExecutionMode,
    /// Its operand: the float width in bits. `None` for `FPFastMathDefault`, whose operands are a
    /// type and a mask.
    pub width: Option<u32>,
    /// The capability it needs.
    pub capability: Capability,
    /// The extension that brings both.
    pub extension: &'static str,
}

impl Control {
    /// The execution mode; `None` for `NoContraction`, which is a decoration.
    pub fn mode(self) -> Option<Mode> {
        let (mode, capability) = match self {
            Control::Ftz(_) => (ExecutionMode::DenormFlushToZero, Capability::DenormFlushToZero),
            Control::Dp(_) => (ExecutionMode::DenormPreserve, Capability::DenormPreserve),
            Control::Szin(_) => {
                (ExecutionMode::SignedZeroInfNanPreserve, Capability::SignedZeroInfNanPreserve)
            }
            Control::Rte(_) => (ExecutionMode::RoundingModeRTE, Capability::RoundingModeRTE),
            Control::Rtz(_) => (ExecutionMode::RoundingModeRTZ, Capability::RoundingModeRTZ),
            Control::FastMath0 => (ExecutionMode::FPFastMathDefault, Capability::FloatControls2),
            Control::NoContract => return None,
        };
        let second = self == Control::FastMath0;
        let extension = if second { "SPV_KHR_float_controls2" } else { "SPV_KHR_float_controls" };
        Some(Mode { mode, width: self.width(), capability, extension })
    }

    /// Every control, in the order in which ids print them.
    pub fn all() -> impl Iterator<Item = Control> {
        TABLE.iter().map(|row| row.0)
    }

    fn index(self) -> usize {
        TABLE.iter().position(|row| row.0 == self).unwrap_or(0)
    }

    /// Name in kernel ids.
    pub fn name(self) -> &'static str {
        TABLE[self.index()].1
    }

    /// SPIR-V's name of it, without its width: of the execution mode, or of the decoration.
    pub fn spirv_name(self) -> String {
        self.mode().map_or("NoContraction".to_owned(), |mode| format!("{:?}", mode.mode))
    }

    /// The Vulkan property or feature that claims it; `None` where every device has it.
    pub fn claim(self) -> Option<&'static str> {
        Some(TABLE[self.index()].2).filter(|claim| !claim.is_empty())
    }

    /// The float width it governs; `None` where it governs all of them.
    pub fn width(self) -> Option<u32> {
        match self {
            Control::Ftz(w)
            | Control::Dp(w)
            | Control::Szin(w)
            | Control::Rte(w)
            | Control::Rtz(w) => Some(w),
            Control::NoContract | Control::FastMath0 => None,
        }
    }

    /// What a name asks of floats of these widths: a control's own name that control; a mode's name
    /// without a width (`ftz`) that mode at each of them.
    pub fn at(name: &str, widths: &[u32]) -> Result<Vec<Control>, ParseError> {
        if !Control::all().any(|control| control.name() == name || control.stem() == Some(name)) {
            let known =
                Control::all().flat_map(|control| [Some(control.name()), control.stem()]).flatten();
            return Err(ParseError::unknown("control", name, known));
        }
        let governs =
            |control: &Control| control.width().is_some_and(|width| widths.contains(&width));
        let matches_name = |control: &Control| {
            control.name() == name || control.stem() == Some(name) && governs(control)
        };
        Ok(Control::all().filter(matches_name).collect())
    }

    /// Its name without the width; `None` where it governs all of them.
    fn stem(self) -> Option<&'static str> {
        self.width().map(|_| self.name().trim_end_matches(|c: char| c.is_ascii_digit()))
    }

    fn conflict(self, other: Control) -> Option<&'static str> {
        match (self, other) {
            (Control::Ftz(a), Control::Dp(b)) if a == b => {
                Some("SPIR-V allows one denormal mode per width")
            }
            (Control::Rte(a), Control::Rtz(b)) if a == b => {
                Some("SPIR-V allows one rounding mode per width")
            }
            (Control::Szin(_) | Control::NoContract, Control::FastMath0) => {
                Some("SPV_KHR_float_controls2: FPFastMathDefault replaces it")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Control {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        TABLE
            .iter()
            .find(|row| row.1 == text)
            .map(|row| row.0)
            .ok_or_else(|| ParseError::unknown("control", text, TABLE.iter().map(|row| row.1)))
    }
}

/// A set of controls that go together. The empty set requests nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Controls(u32);

impl Controls {
    /// No control at all.
    pub const NONE: Controls = Controls(0);

    /// The set of these controls; refuses pairs that exclude each other.
    pub fn new(controls: impl IntoIterator<Item = Control>) -> Result<Self, ParseError> {
        let set =
            Controls(controls.into_iter().fold(0, |bits, control| bits | 1 << control.index()));
        for first in set.iter() {
            for second in set.iter() {
                if let Some(source_text) = first.conflict(second) {
                    return Err(ParseError::Conflict {
                        first: first.name(),
                        second: second.name(),
                        source_text,
                    });
                }
            }
        }
        Ok(set)
    }

    /// The controls in the set, in table order.
    pub fn iter(self) -> impl Iterator<Item = Control> {
        TABLE
            .iter()
            .enumerate()
            .filter(move |(index, _)| self.0 >> index & 1 == 1)
            .map(|(_, row)| row.0)
    }

    /// Whether the control is in the set.
    pub fn contains(self, control: Control) -> bool {
        self.0 >> control.index() & 1 == 1
    }

    /// Both sets together; refuses pairs that exclude each other.
    pub fn with(self, other: Controls) -> Result<Controls, ParseError> {
        Controls::new(self.iter().chain(other.iter()))
    }

    /// Whether every control of another set is in this one.
    pub fn holds(self, other: Controls) -> bool {
        self.0 & other.0 == other.0
    }

    /// Number of controls.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether nothing is requested.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Every set of controls that SPIR-V allows out of these, fewest first, then in the order
    /// given.
    pub fn subsets(modes: &[Control]) -> Vec<Controls> {
        let mut sets: Vec<(usize, u32, Controls)> = (0..1u32 << modes.len().min(16))
            .filter_map(|choice| {
                let chosen = modes
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| choice >> index & 1 == 1)
                    .map(|(_, mode)| *mode);
                Controls::new(chosen).ok().map(|set| (set.len(), choice, set))
            })
            .collect();
        sets.sort_unstable();
        sets.dedup_by_key(|entry| entry.2);
        sets.into_iter().map(|entry| entry.2).collect()
    }
}

impl fmt::Display for Controls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Control::name).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for Controls {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let controls = text
            .split(',')
            .filter(|name| !name.is_empty())
            .map(str::parse)
            .collect::<Result<Vec<_>, _>>()?;
        Controls::new(controls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_print_in_table_order_and_parse_back() {
        let set: Controls = "szin32,ftz32".parse().unwrap();
        assert_eq!(set.to_string(), "ftz32,szin32");
        assert_eq!(set.to_string().parse::<Controls>().unwrap(), set);
    }

    #[test]
    fn forbidden_pairs_are_refused() {
        for text in ["ftz32,dp32", "rte16,rtz16", "szin32,fastmath0", "nocontract,fastmath0"] {
            assert!(matches!(text.parse::<Controls>(), Err(ParseError::Conflict { .. })), "{text}");
        }
        assert!("ftz32,dp16".parse::<Controls>().is_ok());
    }

    #[test]
    fn a_mode_without_a_width_is_that_mode_at_every_width_named() {
        let at = |name, widths: &[u32]| Control::at(name, widths).unwrap();
        assert_eq!(at("ftz", &[32]), [Control::Ftz(32)]);
        assert_eq!(at("szin", &[64, 16]), [Control::Szin(16), Control::Szin(64)]);
        assert_eq!(at("dp16", &[32]), [Control::Dp(16)]);
        assert_eq!(at("fastmath0", &[]), [Control::FastMath0]);
        assert_eq!(at("rte", &[]), []);
        assert!(Control::at("ftz8", &[32]).unwrap_err().to_string().contains("ftz"));
    }

    #[test]
    fn sets_join_unless_they_exclude_each_other() {
        let set = |text: &str| text.parse::<Controls>().unwrap();
        assert_eq!(set("ftz32").with(set("szin16")).unwrap(), set("ftz32,szin16"));
        assert!(set("ftz32").with(set("dp32")).is_err());
        assert!(set("ftz32,szin16").holds(set("szin16")) && !set("szin16").holds(set("ftz32")));
    }

    #[test]
    fn subsets_come_fewest_first_and_leave_out_forbidden_ones() {
        let sets = Controls::subsets(&[Control::Szin(32), Control::FastMath0]);
        let names: Vec<String> = sets.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["", "szin32", "fastmath0"]);
    }
}
