//! One run of one module: fill, dispatch, read back.

use std::ops::Range;
use std::sync::Arc;

use fpprobe_profiles::Outcome;
use fpprobe_spirv::Cases;
use fpprobe_spirv::Format;
use fpprobe_spirv::cases::random;
use fpprobe_spirv::plan::{self, Direction, LayoutRequest, PlacedKernel, Plan, Region, Variant};

use super::vary::{Turn, spread};
use super::{Builder, Executor, KernelCases, ResultDump, poison};
use crate::protocol::Failure;

/// What one run left in the lanes of one kernel, in case order.
pub struct Lanes {
    /// The whole element of every lane.
    pub found: Vec<u64>,
    /// What it held before.
    pub poison: Vec<u64>,
}

/// The memory of a run.
struct Memory {
    buffers: Vec<Vec<u8>>,
    /// Of each image.
    texels: Vec<Vec<u8>>,
}

/// A dispatch that is ready: kernels laid out, and memory with their operands and poison.
pub struct PreparedDispatch<'a> {
    /// The layout.
    pub plan: Plan,
    work: &'a [KernelCases],
    memory: Memory,
    /// Of each kernel, in the order of `work`.
    poisons: Vec<Vec<u64>>,
    turn: Turn,
}

impl<'a> PreparedDispatch<'a> {
    /// Lays kernels out and fills their memory.
    pub fn new(
        work: &'a [KernelCases],
        storage16: bool,
        variant: Variant,
        turn: Turn,
    ) -> PreparedDispatch<'a> {
        let plan = Plan::sharing(&requests(work, turn), storage16, variant);
        let memory = Memory::new(&plan, turn);
        let mut ready =
            PreparedDispatch { plan, work, memory, poisons: vec![Vec::new(); work.len()], turn };
        for (placed, index) in ready.plan.placed.iter().zip(ready.order()) {
            ready.poisons[index] = ready.memory.fill(&ready.plan, placed, &work[index], turn);
        }
        ready
    }

    /// The place in `work` of each kernel of the layout.
    fn order(&self) -> Vec<usize> {
        let all = 0..self.work.len();
        if self.plan.variant.reversed { all.rev().collect() } else { all.collect() }
    }

    /// Its module.
    pub fn module(&self, build: Builder) -> Result<Vec<u32>, Failure> {
        let built =
            |error| Failure::new(Outcome::Rejected, format!("no module could be built: {error}"));
        if self.plan.is_command() { Ok(Vec::new()) } else { build(&self.plan).map_err(built) }
    }

    /// Layout and memory, to be dispatched.
    pub fn parts(&mut self) -> (&Plan, &mut [Vec<u8>], &mut [Vec<u8>]) {
        (&self.plan, &mut self.memory.buffers, &mut self.memory.texels)
    }

    /// What the dispatch left, kernel by kernel in the order of `work`.
    pub fn lanes(self, executor: &mut dyn Executor) -> Result<Vec<Lanes>, Failure> {
        let order = self.order();
        let PreparedDispatch { plan, work, memory, poisons, turn } = self;
        let mut lanes: Vec<Lanes> =
            poisons.into_iter().map(|poison| Lanes { found: Vec::new(), poison }).collect();
        for (placed, index) in plan.placed.iter().zip(order) {
            executor.left(&ResultDump::new(
                &plan,
                placed,
                &work[index],
                turn,
                (&memory.buffers, &memory.texels),
            ))?;
            lanes[index].found = memory.read(&plan, placed, &work[index], turn);
        }
        Ok(lanes)
    }
}

/// What the plan is to hold: kernels with the same cases share their operands.
fn requests(work: &[KernelCases], turn: Turn) -> Vec<LayoutRequest> {
    let mut requests: Vec<LayoutRequest> = Vec::with_capacity(work.len());
    for (index, one) in work.iter().enumerate() {
        let operands = work.iter().position(|other| other.cases == one.cases).unwrap_or(index);
        let values = match requests.get(operands) {
            Some(same) => Arc::clone(&same.values),
            None if plan::brings(one.kernel.route) => in_slots(&one.cases, turn),
            None => Arc::default(),
        };
        requests.push(LayoutRequest {
            kernel: one.kernel,
            slots: one.cases.len() as u32,
            operands,
            values,
        });
    }
    requests
}

/// The cases in the order of their slots.
fn in_slots(cases: &Cases, turn: Turn) -> Arc<[u64]> {
    let mut order: Vec<(u32, usize)> = poison::slots(cases, turn).into_iter().zip(0..).collect();
    order.sort_unstable();
    order.into_iter().flat_map(|(_, case)| cases.case(case)).copied().collect()
}

/// Where one value of an answer lies.
#[derive(Clone, Copy)]
enum End<'a> {
    /// A component of a region of a buffer.
    Buffer(&'a Region, u32),
    /// A component of what is in the image: the texel, or a word of a block.
    Texel(u32),
}

/// Bits of the memory that a value of an answer fills.
fn element_bits(plan: &Plan, placed: &PlacedKernel, end: End<'_>) -> u32 {
    match end {
        End::Buffer(region, _) => plan.buffers[region.buffer].element.bits(region.shape.format),
        End::Texel(_) => placed.kernel.result().format.bits(),
    }
}

/// Where the values of an answer lie, in their order.
fn ends(placed: &PlacedKernel) -> Vec<End<'_>> {
    if placed.results.is_empty() {
        return (0..placed.kernel.result().width).map(End::Texel).collect();
    }
    let results = placed.results.iter();
    results
        .flat_map(|region| {
            (0..region.shape.width).map(move |component| End::Buffer(region, component))
        })
        .collect()
}

impl Memory {
    /// Operand buffers zeroed; result buffers random throughout, gaps included.
    fn new(plan: &Plan, turn: Turn) -> Memory {
        let noise = |length: usize, salt: u64| -> Vec<u8> {
            let words = (0..length.div_ceil(8) as u64)
                .flat_map(|word| random(salt << 40 ^ word ^ spread(turn.seed)).to_le_bytes());
            words.take(length).collect()
        };
        let buffers =
            plan.buffers.iter().enumerate().map(|(index, buffer)| match buffer.direction {
                Direction::In => vec![0; buffer.bytes()],
                Direction::Out => {
                    noise(buffer.bytes(), (u64::from(turn.number) << 8) + index as u64 + 1)
                }
            });
        let texels = plan.images().map(|image| {
            let mut texels = noise(
                image.bytes(),
                (u64::from(turn.number) << 8) + 0x80 + u64::from(image.number),
            );
            let mask = image.format.texel_mask().to_le_bytes();
            texels
                .iter_mut()
                .zip(mask.iter().take(image.texel()).cycle())
                .for_each(|(byte, mask)| *byte &= mask);
            texels
        });
        Memory { buffers: buffers.collect(), texels: texels.collect() }
    }

    /// Writes the operands and the poison of one kernel; returns the poison in case order.
    fn fill(
        &mut self,
        plan: &Plan,
        placed: &PlacedKernel,
        work: &KernelCases,
        turn: Turn,
    ) -> Vec<u64> {
        let seed = poison::seed(&work.kernel, turn.seed);
        let slots = poison::slots(&work.cases, turn);
        let ends = ends(placed);
        let widths: Vec<u32> = work.kernel.output_formats().map(Format::bits).collect();
        let mut poisons = Vec::with_capacity(slots.len() * ends.len());
        for (slot, values) in slots.iter().zip(work.cases.iter()) {
            let there = placed
                .image
                .filter(plan::Image::is_read)
                .and_then(|_| placed.kernel.params().pop());
            let there =
                there.map_or(&[][..], |shape| &values[values.len() - shape.width as usize..]);
            for (part, bits) in (0..).zip(there) {
                self.put_texel(placed, *slot, (part, there.len()), *bits);
            }
            let mut values = values.iter();
            for region in &placed.params {
                for (component, bits) in (0..region.shape.width).zip(&mut values) {
                    plan::write(
                        plan,
                        &mut self.buffers[region.buffer],
                        region,
                        *slot,
                        component,
                        *bits,
                    );
                }
            }
            for (end, width) in ends.iter().zip(&widths) {
                let bits = poison::of(
                    seed,
                    turn.number,
                    poisons.len() as u64,
                    element_bits(plan, placed, *end),
                    *width,
                );
                poisons.push(match (end, there) {
                    (End::Buffer(region, component), _) => {
                        plan::write(
                            plan,
                            &mut self.buffers[region.buffer],
                            region,
                            *slot,
                            *component,
                            bits,
                        );
                        bits
                    }
                    (End::Texel(_), [texel, ..]) => *texel,
                    (End::Texel(part), []) => {
                        let bits = bits & placed.kernel.format.texel_mask();
                        self.put_texel(placed, *slot, (*part, ends.len()), bits);
                        bits
                    }
                });
            }
        }
        poisons
    }

    fn read(&self, plan: &Plan, placed: &PlacedKernel, work: &KernelCases, turn: Turn) -> Vec<u64> {
        let slots = poison::slots(&work.cases, turn);
        let ends = ends(placed);
        let lanes = slots.iter().flat_map(|slot| ends.iter().map(move |end| (*slot, *end)));
        lanes
            .map(|(slot, end)| match end {
                End::Buffer(region, component) => {
                    plan::read(plan, &self.buffers[region.buffer], region, slot, component)
                }
                End::Texel(part) => self.texel(placed, slot, (part, ends.len())),
            })
            .collect()
    }

    /// Writes one of N parts of equal size of the texel or block of a slot.
    fn put_texel(&mut self, placed: &PlacedKernel, slot: u32, part: (u32, usize), bits: u64) {
        if let Some(image) = placed.image {
            let place = place(&image, slot, part);
            let size = place.len();
            self.texels[image.number as usize][place].copy_from_slice(&bits.to_le_bytes()[..size]);
        }
    }

    /// Reads one.
    fn texel(&self, placed: &PlacedKernel, slot: u32, part: (u32, usize)) -> u64 {
        let mut word = [0; 8];
        if let Some(image) = placed.image {
            let place = place(&image, slot, part);
            word[..place.len()].copy_from_slice(&self.texels[image.number as usize][place]);
        }
        u64::from_le_bytes(word)
    }
}

/// The bytes of one of N parts of the texel or block of a slot.
fn place(image: &plan::Image, slot: u32, (part, parts): (u32, usize)) -> Range<usize> {
    let size = image.texel() / parts;
    let first = slot as usize * image.texel() + part as usize * size;
    first..first + size
}
