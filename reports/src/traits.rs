//! Traits: what a device does in named respects, as a value of each. They state behaviour and judge nothing: a comparison shows
//! what changed where no rule can fail, and programs choose by them.

mod look;
mod table;

use fpprobe_profiles::judge::Observations;
use fpprobe_profiles::observed_behaviour::Aspect;

use crate::model::DeviceTrait;
pub use table::TRAITS;

/// A row of the table: one trait, or one of each format.
#[derive(Debug)]
pub struct TraitRow {
    /// Its id; `{f}` stands for the format, which is part of it.
    pub id: &'static str,
    /// Formats that it is measured in.
    pub formats: &'static [&'static str],
    /// The question that its value answers.
    pub question: &'static str,
    /// Why the answer matters.
    pub why: &'static str,
    /// How its value is found.
    look: TraitLook,
}

/// How the value of a trait is found. In ids of kernels `{f}` stands for the format and `{w}` for its width in bits.
#[derive(Debug)]
enum TraitLook {
    /// By what these kernels do in one respect.
    Aspect(Aspect, &'static [&'static str]),
    /// By the bits that a kernel gives on these operands.
    Bits(&'static str, &'static [u64], &'static [(u64, &'static str)]),
    /// By the number that a kernel gives on these operands.
    Number(&'static str, &'static [u64]),
    /// By what becomes of the bits of a NaN among the operands of a kernel.
    NanBits(&'static str),
    /// By whether variants of a kernel give the same as the kernel.
    Agreement(Variation),
}

/// What variants of a kernel differ in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Variation {
    Constants,
    Width,
    Stage,
}

/// A trait of one format.
#[derive(Clone, Copy, Debug)]
pub struct TraitDefinition {
    /// Its row.
    pub row: &'static TraitRow,
    format: &'static str,
}

impl TraitDefinition {
    /// Its id, `f32.subnormal_operands`.
    pub fn id(&self) -> String {
        self.named(self.row.id)
    }

    fn named(&self, text: &str) -> String {
        text.replace("{f}", self.format).replace("{w}", self.format.trim_start_matches(char::is_alphabetic))
    }
}

/// Every trait, in the order of the table.
pub fn definitions() -> impl Iterator<Item = TraitDefinition> {
    TRAITS.iter().flat_map(|row| row.formats.iter().map(move |format| TraitDefinition { row, format }))
}

/// The trait of this id.
pub fn find(id: &str) -> Option<TraitDefinition> {
    definitions().find(|definition| definition.id() == id)
}

/// Whether a trait is of the bits of NaNs, which may differ from run to run.
pub fn is_of_nan_bits(id: &str) -> bool {
    find(id).is_some_and(|definition| matches!(definition.row.look, TraitLook::NanBits(_)))
}

/// The traits of a device of which something was measured, or that it does not offer.
pub fn traits(observations: &Observations<'_>) -> Vec<DeviceTrait> {
    let all: Vec<TraitDefinition> = definitions().collect();
    let found = fpprobe_profiles::parallel::map(&all, |definition| look::value(*definition, observations));
    found.into_iter().filter(|one| one.run_time.is_some() || one.constants.is_some()).collect()
}

#[cfg(test)]
mod tests;
