//! Where the values of several kernels of one module lie: buffers, regions, work groups, and the image if there is one.
//!
//! A kernel's cases occupy **slots** 0..n. Operand `p` of slot `s` lies at `base + s * width` of its buffer, its
//! components side by side; the result likewise. Element sizes follow from the buffer's [`Element`].

use std::collections::BTreeSet;

use crate::format::Format;
use crate::kernel::{Kernel, Shape};
use crate::op::Code;

/// Invocations of one work group (x); every device offers at least 128.
pub const GROUP: u32 = 64;
/// Storage buffers that every device lets one stage use (Vulkan, required limits: `maxPerStageDescriptorStorageBuffers`).
pub const MOST_BUFFERS: usize = 4;
/// Binding of the storage image.
pub const IMAGE_BINDING: u32 = 16;
/// Width of the storage image in texels; slots fill it row by row.
pub const IMAGE_WIDTH: u32 = 64;

/// Element type of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Element {
    /// binary16 in two bytes.
    F16,
    /// binary32.
    F32,
    /// binary64.
    F64,
    /// A 32-bit word: integers, bool, texels, and binary16 in its low half where 16-bit storage is missing.
    U32,
}

/// Whether a buffer is read or written by the module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// Operands.
    In,
    /// Results.
    Out,
}

/// A storage buffer of the module: descriptor set 0, binding [`Buffer::binding`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Read or written.
    pub direction: Direction,
    /// Element type.
    pub element: Element,
    /// Number of elements.
    pub length: u32,
}

/// Where the values of one operand or result lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Format and components.
    pub shape: Shape,
    /// Index into [`Plan::buffers`].
    pub buffer: usize,
    /// First element.
    pub base: u32,
}

/// The storage image of an image kernel: descriptor set 0, binding [`IMAGE_BINDING`], 2D, one layer, optimal tiling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Image {
    /// Packed format.
    pub format: Format,
    /// Width and height in texels.
    pub extent: [u32; 2],
    /// Whether the module writes it (its texels are the result) or reads it (they are the operand).
    pub written: bool,
}

/// One kernel in its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// The kernel.
    pub kernel: Kernel,
    /// Number of slots.
    pub slots: u32,
    /// Operand regions; a texel operand has none.
    pub params: Vec<Region>,
    /// Result region; a texel result has none.
    pub result: Option<Region>,
}

/// Kernels of a module that read the same operands and give results of one shape: one load serves all of them, one store
/// takes what the kernel of the row has given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group<'a> {
    /// Row of the first kernel; the others follow.
    pub first: u32,
    /// The kernels; their results lie [`Group::stride`] elements apart.
    pub placed: &'a [Placed],
}

impl Group<'_> {
    /// Elements from one kernel's results to the next one's.
    pub fn stride(&self) -> u32 {
        match self.placed {
            [a, b, ..] => a.result.zip(b.result).map_or(0, |(a, b)| b.base - a.base),
            _ => 0,
        }
    }
}

/// How the host makes two runs of the same kernels differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Variant {
    /// Work groups that do nothing before the first slot.
    pub shift: u32,
    /// Whether the kernels appear in reverse order.
    pub reversed: bool,
}

/// Layout of one module: kernels of the same format, controls, route and front end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The kernels, in module order.
    pub placed: Vec<Placed>,
    /// Storage buffers, in binding order.
    pub buffers: Vec<Buffer>,
    /// The storage image, for image kernels (which have a module each).
    pub image: Option<Image>,
    /// Work groups to dispatch in x: enough for the slots.
    pub columns: u32,
    /// Work groups to dispatch in y: a row for each kernel.
    pub rows: u32,
    /// The variant it was laid out for.
    pub variant: Variant,
}

impl Element {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Element::F16 => 2,
            Element::F32 | Element::U32 => 4,
            Element::F64 => 8,
        }
    }

    fn of(format: Format, storage16: bool) -> Element {
        match format {
            Format::F16 if storage16 => Element::F16,
            Format::F32 => Element::F32,
            Format::F64 => Element::F64,
            _ => Element::U32,
        }
    }
}

impl Buffer {
    /// Its binding in descriptor set 0.
    pub fn binding(&self) -> u32 {
        self.direction as u32 * 4 + self.element as u32
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.length as usize * self.element.bytes()
    }
}

/// The storage buffers that a kernel uses, so that a module's kernels can be chosen to need at most [`MOST_BUFFERS`].
pub fn buffers(kernel: &Kernel) -> BTreeSet<(Direction, Element)> {
    let params = kernel.params().into_iter().map(|shape| (Direction::In, shape));
    params
        .chain([(Direction::Out, kernel.result())])
        .map(|(direction, shape)| (direction, Element::of(shape.format, true)))
        .collect()
}

/// A kernel to be laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// The kernel.
    pub kernel: Kernel,
    /// Number of slots.
    pub slots: u32,
    /// Kernels of the same number here, with operands of the same shapes, read the same operands.
    pub operands: usize,
}

impl Plan {
    /// Lays out these kernels with their numbers of slots, each with operands of its own. `storage16`: the device has
    /// 16-bit storage.
    ///
    /// # Panics
    /// When an image kernel shares the module with another.
    pub fn new(kernels: &[(Kernel, u32)], storage16: bool, variant: Variant) -> Plan {
        let wanted = kernels.iter().enumerate();
        let wanted: Vec<Wanted> =
            wanted.map(|(operands, (kernel, slots))| Wanted { kernel: *kernel, slots: *slots, operands }).collect();
        Plan::sharing(&wanted, storage16, variant)
    }

    /// Lays out these kernels; those that ask the same operands share them.
    ///
    /// # Panics
    /// When an image kernel shares the module with another.
    pub fn sharing(kernels: &[Wanted], storage16: bool, variant: Variant) -> Plan {
        let mut plan = Plan {
            placed: Vec::new(),
            buffers: Vec::new(),
            image: None,
            columns: 0,
            rows: kernels.len() as u32,
            variant,
        };
        let mut order: Vec<&Wanted> = kernels.iter().collect();
        let mut known: Vec<(&Wanted, Vec<Region>)> = Vec::new();
        if variant.reversed {
            order.reverse();
        }
        let most = order.iter().map(|wanted| wanted.slots).max().unwrap_or(0);
        for wanted in order {
            let Wanted { kernel, slots, operands } = wanted;
            let (mut params, mut result) = (Vec::new(), None);
            match kernel.op.code {
                Code::ImageWrite | Code::ImageRead => {
                    assert!(kernels.len() == 1, "an image kernel has a module of its own");
                    let written = kernel.op.code == Code::ImageWrite;
                    let extent = [IMAGE_WIDTH, slots.div_ceil(IMAGE_WIDTH).max(1)];
                    plan.image = Some(Image { format: kernel.format, extent, written });
                    if written {
                        params = plan.regions(Direction::In, &kernel.params(), *slots, storage16);
                    } else {
                        result = plan.regions(Direction::Out, &[kernel.result()], *slots, storage16).pop();
                    }
                }
                _ => {
                    let shared = known.iter().find(|(other, regions)| {
                        let shapes: Vec<Shape> = regions.iter().map(|region| region.shape).collect();
                        other.operands == *operands && other.slots == *slots && shapes == kernel.params()
                    });
                    params = match shared {
                        Some((_, regions)) => regions.clone(),
                        None => plan.regions(Direction::In, &kernel.params(), *slots, storage16),
                    };
                    known.push((wanted, params.clone()));
                    result = plan.regions(Direction::Out, &[kernel.result()], *slots, storage16).pop();
                }
            }
            plan.placed.push(Placed { kernel: *kernel, slots: *slots, params, result });
        }
        plan.columns = most.div_ceil(GROUP) + variant.shift;
        plan.sort_buffers();
        plan
    }

    fn regions(&mut self, direction: Direction, shapes: &[Shape], slots: u32, storage16: bool) -> Vec<Region> {
        shapes
            .iter()
            .map(|shape| {
                let element = Element::of(shape.format, storage16);
                let found = self.buffers.iter().position(|b| b.direction == direction && b.element == element);
                let buffer = found.unwrap_or_else(|| {
                    self.buffers.push(Buffer { direction, element, length: 0 });
                    self.buffers.len() - 1
                });
                let base = self.buffers[buffer].length;
                // Regions start on a multiple of four elements, so that vectors and halves never share a word.
                self.buffers[buffer].length = (base + slots * shape.width).next_multiple_of(4);
                Region { shape: *shape, buffer, base }
            })
            .collect()
    }

    /// Puts the buffers into binding order and renumbers the regions.
    fn sort_buffers(&mut self) {
        let mut order: Vec<usize> = (0..self.buffers.len()).collect();
        order.sort_by_key(|index| self.buffers[*index].binding());
        let place = |old: usize| order.iter().position(|index| *index == old).unwrap_or(old);
        for placed in &mut self.placed {
            for region in placed.params.iter_mut().chain(placed.result.iter_mut()) {
                region.buffer = place(region.buffer);
            }
        }
        self.buffers = order.iter().map(|index| self.buffers[*index].clone()).collect();
    }

    /// The kernels in groups, in order.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let together = |a: &Placed, b: &Placed| {
            // Regions of one buffer are laid out one after the other, so results of one shape lie evenly apart.
            let alike = |(a, b): (Region, Region)| a.buffer == b.buffer && a.shape == b.shape;
            a.result.zip(b.result).is_some_and(alike)
                && a.slots == b.slots
                && !a.params.is_empty()
                && a.params == b.params
        };
        let mut first = 0;
        self.placed.chunk_by(together).map(move |placed| {
            let group = Group { first, placed };
            first += placed.len() as u32;
            group
        })
    }

    /// Number of texels of the image, 0 without one.
    pub fn texels(&self) -> usize {
        self.image.map_or(0, |image| (image.extent[0] * image.extent[1]) as usize)
    }
}

/// Writes one component of one slot into the bytes of its buffer. A half in a word leaves the upper half 0.
pub fn write(plan: &Plan, bytes: &mut [u8], region: &Region, slot: u32, component: u32, bits: u64) {
    let size = plan.buffers[region.buffer].element.bytes();
    let at = (region.base + slot * region.shape.width + component) as usize * size;
    bytes[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
}

/// Reads one component of one slot as the whole element (32 bits for a half in a word: an upper half that is not 0
/// shows that the kernel did not write it).
pub fn read(plan: &Plan, bytes: &[u8], region: &Region, slot: u32, component: u32) -> u64 {
    let size = plan.buffers[region.buffer].element.bytes();
    let at = (region.base + slot * region.shape.width + component) as usize * size;
    let mut word = [0; 8];
    word[..size].copy_from_slice(&bytes[at..at + size]);
    u64::from_le_bytes(word)
}
