//! The inputs of a kernel, numbered.

use crate::build_error::BuildError;
use crate::format::Format;
use crate::kernel::{Kernel, Shape};
use crate::op::Code;
use crate::route::{Route, Stage, Via};

use super::BLOCK;

/// Every input of a kernel: the bits of its operands side by side, the first operand's highest, are
/// the input's number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Domain {
    kernel: Kernel,
    bits: u32,
}

/// Most bits of a domain that one process sweeps.
const MOST: u32 = 32;
/// Most bits of one that many processes share: three operands of 16.
const VAST: u32 = 48;
/// Digests of a fingerprint at most.
const DIGESTS: u64 = 1 << 20;
/// Fewest: smaller ones are asked whole by every run.
const LEAST: u32 = 16;

impl Domain {
    /// The domain of a kernel, of up to 2^32 inputs; an error where it is larger, or where the
    /// kernel's operands are not computed by a shader.
    pub fn of(kernel: &Kernel) -> Result<Domain, BuildError> {
        Domain::within(kernel, MOST)
    }

    /// The domain of a kernel, of up to 2^48 inputs, such as those of `f16.fma`: what is beyond
    /// 2^32 is divided among processes, or sampled.
    pub fn vast(kernel: &Kernel) -> Result<Domain, BuildError> {
        Domain::within(kernel, VAST)
    }

    fn within(kernel: &Kernel, most: u32) -> Result<Domain, BuildError> {
        let refused =
            |reason: String| Err(BuildError::NoDomain { kernel: kernel.to_string(), reason });
        if kernel.op.code.is_of_texels() {
            return refused("it is about texels, which `fpprobe run` asks code by code".to_owned());
        }
        if matches!(kernel.op.code, Code::Atomic(..)) {
            return refused(
                "it changes memory, and each input of a sweep has none of its own".to_owned(),
            );
        }
        if kernel.op.code.is_of_subgroups() {
            return refused(
                "the invocations of a subgroup compute it together, and each of a sweep has its own input".to_owned(),
            );
        }
        if kernel.route != Route::Buffer
            || kernel.stage != Stage::Compute
            || kernel.via != Via::Spirv
        {
            return refused(
                "a sweep makes its inputs in a compute shader: leave route, stage and via out"
                    .to_owned(),
            );
        }
        let bits = kernel.params().iter().map(|shape| shape.width * shape.format.bits()).sum();
        if bits > most {
            return refused(format!(
                "its inputs have {bits} bits; a sweep asks up to {most}, such as `f32.sqrt` or `f16.fadd`"
            ));
        }
        if bits < LEAST {
            return refused(format!(
                "it has {} inputs, which `fpprobe run` asks all",
                1_u64 << bits
            ));
        }
        let domain = Domain { kernel: *kernel, bits };
        // An invocation has the number of its input in two words.
        if domain.fields().iter().any(|(own, low)| *low < 32 && low + own.bits() > 32) {
            return refused("an operand lies in both words of the input's number".to_owned());
        }
        Ok(domain)
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Bits of an input.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Number of inputs, a power of two.
    pub fn inputs(&self) -> u64 {
        1 << self.bits
    }

    /// Inputs of a block.
    pub fn block(&self) -> u64 {
        BLOCK.min(self.inputs())
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.inputs() / self.block()
    }

    /// Whether it has more inputs than one process sweeps.
    pub fn is_vast(&self) -> bool {
        self.bits > MOST
    }

    /// Consecutive blocks that have one digest together in a fingerprint, so that it does not grow
    /// without bounds: a power of two, 1 unless the domain has more than 2^40 inputs.
    pub fn bundle(&self) -> u64 {
        (self.blocks() / DIGESTS).max(1)
    }

    /// Number of bundles.
    pub fn bundles(&self) -> u64 {
        self.blocks() / self.bundle()
    }

    /// The operands of an input, their components one by one, with the place of their lowest bit.
    pub fn fields(&self) -> Vec<(Format, u32)> {
        let mut shift = self.bits;
        let components = self
            .kernel
            .params()
            .into_iter()
            .flat_map(|shape| (0..shape.width).map(move |_| shape.format));
        let place = |format: Format| {
            shift -= format.bits();
            (format, shift)
        };
        components.map(place).collect()
    }

    /// The values of an input.
    pub fn case(&self, input: u64) -> Vec<u64> {
        self.fields().iter().map(|(format, shift)| input >> shift & format.mask()).collect()
    }

    /// The number of an input with these values, one per component.
    pub fn number(&self, case: &[u64]) -> u64 {
        self.fields()
            .iter()
            .zip(case)
            .fold(0, |number, ((format, shift), value)| number | (value & format.mask()) << shift)
    }

    /// Words of a result: component by component, binary64 in two words, the lower first.
    pub fn words(&self) -> u32 {
        self.kernel.results().iter().map(|shape| shape.words()).sum()
    }

    /// Formats of the components of a result.
    pub fn outputs(&self) -> Vec<Format> {
        self.kernel.output_formats().collect()
    }

    /// The values of a result of these words.
    pub fn answer(&self, words: &[u32]) -> Vec<u64> {
        let mut words = words.iter().map(|word| u64::from(*word));
        let mut next = || words.next().unwrap_or_default();
        let value =
            |format: &Format| if format.bits() > 32 { next() | next() << 32 } else { next() };
        self.outputs().iter().map(value).collect()
    }

    /// The words of results with every NaN as the positive quiet one without payload, as
    /// [`super::Sink::Digest`] takes them.
    pub fn normalise(&self, results: &mut [u32]) {
        let formats = self.outputs();
        let mut rest = results;
        while !rest.is_empty() {
            for format in &formats {
                let (own, after) = rest.split_at_mut(format.bits().div_ceil(32) as usize);
                rest = after;
                let bits = own.iter().rev().fold(0, |bits, word| bits << 32 | u64::from(*word));
                if let Some(layout) = format.float().filter(|layout| layout.is_nan(bits)) {
                    let quiet = layout.infinity() | layout.quiet_bit();
                    own.iter_mut()
                        .zip([quiet, quiet >> 32])
                        .for_each(|(word, bits)| *word = bits as u32);
                }
            }
        }
    }

    pub(super) fn results(&self) -> Vec<Shape> {
        self.kernel.results()
    }
}
