//! Which modules of a run are compiled a second time.

use fpprobe_spirv::Kernel;
use fpprobe_spirv::op::Code;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Conditions;

/// Runs whose consecutive seeds compile every module a second time.
const SHARES: u64 = 8;

/// The modules that are compiled a second time, whatever their results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recompiled {
    /// All.
    #[default]
    All,
    /// One in eight, another eighth by the seed: eight consecutive seeds reach all.
    Eighth,
}

impl Conditions {
    /// Whether the module of a kernel is compiled a second time. Kernels that can share modules are
    /// chosen together.
    pub fn recompiles(&self, kernel: &Kernel) -> bool {
        match self.recompiled {
            Recompiled::All => true,
            // Their second module loads in the layout that the first one stores in, and the other
            // way round.
            _ if matches!(kernel.op.code, Code::MatrixLoadStore(_)) => true,
            Recompiled::Eighth => (family(kernel) + self.seed % SHARES).is_multiple_of(SHARES),
        }
    }
}

/// Number of the kernels that can share modules with this one: those of its format, or for texels
/// of its operation, with its controls, route, stage and front end; scalars and vectors apart. The
/// first byte of the SHA-256 of these.
fn family(kernel: &Kernel) -> u64 {
    let what = if kernel.op.code.is_of_texels() {
        kernel.op.name.to_owned()
    } else {
        kernel.format.to_string()
    };
    let Kernel { controls, route, stage, via, .. } = kernel;
    let width = if kernel.width > 1 { "vector" } else { "scalar" };
    let text = format!("{what} {controls} {route} {} {width} {}", stage.name(), via.name());
    u64::from(Sha256::digest(text)[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpprobe_spirv::Controls;
    use fpprobe_spirv::catalogue::Extent;

    #[test]
    fn eight_seeds_recompile_every_kernel_once_and_each_about_an_eighth() {
        let sets = ["", "szin32", "dp16,dp32", "ftz32,szin32", "fastmath0"]
            .map(|set| set.parse::<Controls>().unwrap());
        let kernels: Vec<Kernel> =
            sets.iter().flat_map(|set| Extent::Default.kernels(&[*set], |_| true)).collect();
        let chosen = |seed: u64, kernel: &Kernel| {
            Conditions { seed, recompiled: Recompiled::Eighth, ..Conditions::default() }
                .recompiles(kernel)
        };
        for first in [0, 5, u64::MAX - 7] {
            for kernel in &kernels {
                assert_eq!(
                    (first..=first + 7).filter(|seed| chosen(*seed, kernel)).count(),
                    1,
                    "{kernel}"
                );
            }
        }
        for seed in 0..8 {
            let count = kernels.iter().filter(|kernel| chosen(seed, kernel)).count();
            assert!(
                (kernels.len() / 24..kernels.len() / 3).contains(&count),
                "seed {seed}: {count} of {}",
                kernels.len()
            );
        }
        assert!(kernels.iter().all(|kernel| Conditions::default().recompiles(kernel)));
    }
}
