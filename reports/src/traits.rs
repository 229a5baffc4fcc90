//! Traits: what a device does in named respects, as a value of each. They state behaviour and judge
//! nothing: a comparison shows what changed where no rule can fail, and programs choose by them.

mod look;
mod matrices;
mod modes;
mod scope_values;
mod split;
mod strict;
mod table;
mod variants;

use std::collections::HashSet;

use fpprobe_profiles::judge::Observations;
use fpprobe_profiles::matrix::MatrixAspect;
use fpprobe_profiles::observed_behaviour::Aspect;
use fpprobe_spirv::Kernel;

use crate::model::DeviceTrait;
pub use modes::TraitMode;
pub use table::rows;
use variants::Variation;

/// A row of the table: one trait, or one of each format under each mode.
#[derive(Debug)]
pub struct TraitRow {
    /// Its id; `{f}` stands for the format, which is part of it.
    pub id: &'static str,
    /// Formats that it is measured in.
    pub formats: &'static [&'static str],
    /// What its kernels request.
    pub modes: &'static [TraitMode],
    /// The question that its value answers.
    pub question: &'static str,
    /// Why the answer matters.
    pub why: &'static str,
    /// How its value is found.
    look: TraitLook,
}

/// How the value of a trait is found. In ids of kernels `{f}` stands for the format.
#[derive(Debug)]
enum TraitLook {
    /// By what these kernels do in one respect.
    Aspect(Aspect, &'static [&'static str]),
    /// By the bits that a kernel gives on these operands.
    Bits(&'static str, &'static [u64], &'static [(u64, &'static str)]),
    /// By the number that a kernel gives on these operands.
    Number(&'static str, &'static [u64]),
    /// By what a kernel makes of a component of its operand, in each part of its result.
    Component(&'static str, u64),
    /// By each lane of a kernel that is of interest.
    Lanes(&'static str, fn(&[u64]) -> bool, fn(&[u64], u64) -> &'static str),
    /// By the largest absolute error of a kernel on operands with a magnitude between these, as a
    /// power of two.
    Error(&'static str, u64, u64),
    /// By what becomes of the bits of a NaN among the operands of a kernel.
    NanBits(&'static str),
    /// By whether variants of a kernel give the same as the kernel.
    Agreement(Variation),
    /// By Vulkan's rules for who requests `FPFastMathDefault` None.
    StrictMath,
    /// By the order in which a kernel adds or multiplies the values of a subgroup.
    SubgroupOrder(&'static str),
    /// By the rows of a quad that a derivative is of.
    DerivativeRows(&'static str),
    /// By the products of matrices that the device enumerates, of these elements of A and B and of
    /// the result.
    Matrix(MatrixAspect),
}

/// A trait of one format under one mode.
#[derive(Clone, Copy, Debug)]
pub struct TraitDefinition {
    /// Its row.
    pub row: &'static TraitRow,
    format: &'static str,
    mode: TraitMode,
}

impl TraitDefinition {
    /// Its id, `f32.subnormal_operands`.
    pub fn id(&self) -> String {
        self.row.id.replace("{f}", self.format) + self.mode.suffix
    }

    /// The question that its value answers.
    pub fn question(&self) -> String {
        match self.mode.name {
            "" => self.row.question.to_owned(),
            name => format!("{} under {name}?", self.row.question.trim_end_matches('?')),
        }
    }

    /// What its kernels request, by its name in SPIR-V; empty where they request nothing.
    pub fn mode(&self) -> &'static str {
        self.mode.name
    }

    /// Whether it is measured without requesting anything.
    pub fn is_default(&self) -> bool {
        self.mode.name.is_empty()
    }

    /// The trait of the same format that requests nothing, where the row has it.
    pub fn by_default(&self) -> Option<TraitDefinition> {
        let mode = self.row.modes.iter().find(|mode| mode.name.is_empty())?;
        Some(TraitDefinition { mode: *mode, ..*self })
    }

    /// Whether its value is found in this kernel, or in variants of it.
    pub fn looks_at(&self, kernel: &Kernel) -> bool {
        self.stems().contains(&kernel.stem())
    }

    /// The operations in formats that it looks at, `f32.fmin`.
    pub fn stems(&self) -> Vec<String> {
        let ids = self.kernel_ids().into_iter();
        ids.map(|id| id.split(':').next().unwrap_or_default().to_owned()).collect()
    }

    /// Names of the operations that it looks at.
    pub fn operations(&self) -> impl Iterator<Item = &'static str> {
        self.row.look.kernels().iter().filter_map(|id| id.split(['.', ':']).nth(1))
    }

    /// Ids of the kernels that its value is found in, without the paths of texels.
    fn kernel_ids(&self) -> Vec<String> {
        let width = self.format.trim_start_matches(char::is_alphabetic);
        let controls = match self.mode.controls {
            "" => String::new(),
            controls => format!("controls={}", controls.replace("{w}", width)),
        };
        let ids = self.row.look.kernels().iter().map(|id| id.replace("{f}", self.format));
        let key = |id: &str| if id.contains(':') { ';' } else { ':' };
        let under = |id: String| match &*controls {
            "" => id,
            controls => format!("{id}{}{controls}", key(&id)),
        };
        ids.map(under).collect()
    }

    /// The kernels that its value is found in, of the scope of run time.
    fn kernels(&self) -> Vec<Kernel> {
        self.kernel_ids().iter().flat_map(|id| look::parsed(id)).collect()
    }
}

impl TraitRow {
    /// Whether it is of matrices.
    pub fn is_of_matrices(&self) -> bool {
        matches!(self.look, TraitLook::Matrix(_))
    }
}

/// Every trait, in the order of the table.
pub fn definitions() -> impl Iterator<Item = TraitDefinition> {
    let modes = |row: &'static TraitRow| row.modes.iter().map(move |mode| (row, *mode));
    let of = |(row, mode): (&'static TraitRow, TraitMode)| {
        row.formats.iter().map(move |format| TraitDefinition { row, format, mode })
    };
    rows().flat_map(modes).flat_map(of)
}

/// The trait of this id.
pub fn find(id: &str) -> Option<TraitDefinition> {
    definitions().find(|definition| definition.id() == id)
}

/// Whether a trait is of the bits of NaNs, which may differ from run to run.
pub fn is_of_nan_bits(id: &str) -> bool {
    find(id).is_some_and(|definition| matches!(definition.row.look, TraitLook::NanBits(_)))
}

/// The kernels that all traits look at.
pub fn kernels() -> Vec<Kernel> {
    let mut seen = HashSet::new();
    let all = definitions().flat_map(|definition| match definition.row.look {
        TraitLook::Agreement(variation) => variation.kernels(),
        TraitLook::StrictMath => strict::kernels(),
        _ => definition.kernels(),
    });
    all.filter(|kernel| seen.insert(*kernel)).collect()
}

/// The traits of a device of which something was measured, or that it does not offer.
pub fn traits(observations: &Observations<'_>) -> Vec<DeviceTrait> {
    let all: Vec<TraitDefinition> = definitions().collect();
    let found =
        fpprobe_profiles::parallel::map(&all, |definition| look::value(*definition, observations));
    found.into_iter().filter(|one| one.run_time.is_some() || one.constants.is_some()).collect()
}

#[cfg(test)]
mod tests;
