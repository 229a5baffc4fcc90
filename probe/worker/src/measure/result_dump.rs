//! What a run left in memory, for those who want to see it before anyone has read anything into it.

use fpprobe_spirv::plan::{PlacedKernel, Plan};

use super::vary::Turn;
use super::{KernelCases, poison};

/// What one dispatch left of one kernel.
pub struct ResultDump<'a> {
    /// The kernel and its cases.
    pub work: &'a KernelCases,
    /// Which dispatch: 0 for the first run, 1 for the second, from 2 on further ones of the first
    /// run's pipeline.
    pub turn: Turn,
    /// Bytes of each of its results, as they lie in memory.
    pub parts: Vec<ResultRegion<'a>>,
}

/// One result of a kernel.
pub struct ResultRegion<'a> {
    /// The memory that is the kernel's own: one element after the other.
    pub bytes: &'a [u8],
    /// Bytes from one case to the next.
    pub stride: usize,
    /// Components of one case; each is a little-endian number.
    pub components: u32,
    /// Bytes of one component.
    pub size: usize,
}

impl<'a> ResultDump<'a> {
    /// Finds a kernel's results in the memory of a run.
    pub fn new(
        plan: &Plan,
        placed: &PlacedKernel,
        work: &'a KernelCases,
        turn: Turn,
        (buffers, texels): (&'a [Vec<u8>], &'a [Vec<u8>]),
    ) -> ResultDump<'a> {
        let slots = placed.slots as usize;
        let components = placed.kernel.result().width;
        let image = placed.image.filter(|_| placed.results.is_empty()).map(|image| ResultRegion {
            bytes: &texels[image.number as usize][..slots * image.texel()],
            stride: image.texel(),
            components,
            size: image.texel() / components as usize,
        });
        let regions = placed.results.iter().map(|region| {
            let element = plan.buffers[region.buffer].element;
            let stride = element.count(region.shape) as usize * element.bytes();
            let begin = region.base as usize * element.bytes();
            ResultRegion {
                bytes: &buffers[region.buffer][begin..begin + slots * stride],
                stride,
                components: region.shape.width,
                size: element.bits(region.shape.format) as usize / 8,
            }
        });
        let parts = image.into_iter().chain(regions).collect();
        ResultDump { work, turn, parts }
    }

    /// The slot of each case.
    pub fn slots(&self) -> Vec<u32> {
        poison::slots(&self.work.cases, self.turn)
    }
}
