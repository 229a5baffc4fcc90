//! The table of traits.

mod arithmetic;
mod atomics;
mod chains;
mod conversions;
mod derivatives;
mod interpolation;
mod matrices;
mod special;
mod subgroups;

use super::modes::DEFAULT;
use super::{TraitLook, TraitMode, TraitRow};

const FLOATS: &[&str] = &["f16", "f32", "f64"];
const HALF: &[&str] = &["f16"];
const SINGLE: &[&str] = &["f32"];
const DOUBLE: &[&str] = &["f64"];
/// What is not of one format.
const ANY: &[&str] = &[""];

// Bits of binary32.
const NAN: u64 = 0x7fc0_0000;
const INFINITY: u64 = 0x7f80_0000;
const NEGATIVE_INFINITY: u64 = 0xff80_0000;
const ONE: u64 = 0x3f80_0000;
const MINUS_ONE: u64 = 0xbf80_0000;
const MINUS_ZERO: u64 = 0x8000_0000;

// Why an answer matters.
const FLUSHED: &str =
    "D3D flushes 32-bit subnormals and keeps 16-bit ones; the other languages leave it open";
const ROUNDED: &str = "results of the same program differ from device to device where it does";
const UNDEFINED: &str = "no text but D3D's demands anything, so that no rule notices a change";

/// Every trait.
pub fn rows() -> impl Iterator<Item = &'static TraitRow> {
    [
        arithmetic::TRAITS,
        special::TRAITS,
        conversions::TRAITS,
        matrices::TRAITS,
        subgroups::TRAITS,
        atomics::TRAITS,
        derivatives::TRAITS,
        interpolation::TRAITS,
        chains::TRAITS,
    ]
    .into_iter()
    .flatten()
}

const fn row(
    id: &'static str,
    formats: &'static [&'static str],
    question: &'static str,
    why: &'static str,
    look: TraitLook,
) -> TraitRow {
    TraitRow { id, formats, modes: &[DEFAULT], question, why, look }
}

impl TraitRow {
    /// Measured under these modes, of which one is the default.
    const fn under(mut self, modes: &'static [TraitMode]) -> TraitRow {
        self.modes = modes;
        self
    }
}
