//! Where the values of several kernels of one module lie: buffers, regions, work groups, and the
//! images of texel kernels.
//!
//! A kernel's cases occupy **slots** 0..n. Operand `p` of slot `s` lies at `base + s * width` of
//! its buffer, its components side by side; the result likewise. Element sizes follow from the
//! buffer's [`Element`]. Scalars of buffers have elements of their own format; what is wide, and
//! the results of all other routes, lie in words, so that a loop over them gets at all formats in
//! one place. On those routes the plan knows the operands itself: it brings them in
//! [constant blocks](constant_block), or the module holds them as constants.

pub(crate) mod access;
pub mod constant_block;
pub mod constants;
mod image;
mod memory;
pub(crate) mod piecewise;
pub(crate) mod records;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::capacity;
use crate::derivative::QUAD_INVOCATIONS;
use crate::format::Format;
use crate::interpolation::VERTICES;
use crate::kernel::{Kernel, Shape};
use crate::op::Team;
use crate::route::{Route, Stage};

pub use image::{Image, most_kernels};
pub use memory::{read, write};

/// Invocations of one work group (x) unless a [`Variant`] has another number; every device offers
/// at least 128.
pub const GROUP: u32 = 64;
/// Storage buffers that every device lets one stage use (Vulkan, required limits:
/// `maxPerStageDescriptorStorageBuffers`).
pub const MOST_BUFFERS: usize = 4;
/// Binding of the words of operands; those of results have the next one.
const WORDS_BINDING: u32 = 8;
/// Binding of the first image; those of others follow.
pub const IMAGE_BINDING: u32 = 16;
/// Width of the image in slots, which fill it row by row.
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
    /// A 32-bit word: integers, bool, texels, and binary16 in its low half where 16-bit storage is
    /// missing.
    U32,
    /// A word, with a component of 32 bits or less; a binary64 has two, the lower first.
    Words,
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

/// One kernel in its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacedKernel {
    /// The kernel.
    pub kernel: Kernel,
    /// Number of slots.
    pub slots: u32,
    /// Operand regions; a texel operand has none, nor have operands that lie in no buffer.
    pub params: Vec<Region>,
    /// Values of the operands, slot by slot, where the plan brings them; empty where the host
    /// fills a buffer or an image.
    pub values: Arc<[u64]>,
    /// Result regions; a texel result has none.
    pub results: Vec<Region>,
    /// The image of a texel kernel.
    pub image: Option<Image>,
}

/// How the host makes two runs of the same kernels differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Variant {
    /// Work groups that do nothing before the first slot.
    pub shift: u32,
    /// Whether the kernels appear in reverse order.
    pub reversed: bool,
    /// Local size in x: invocations of one work group.
    pub group: u32,
    /// Invocations of a subgroup, where the pipeline is to require a size
    /// (`VK_EXT_subgroup_size_control`).
    pub subgroup: Option<u32>,
}

impl Default for Variant {
    fn default() -> Variant {
        Variant { shift: 0, reversed: false, group: GROUP, subgroup: None }
    }
}

/// Layout of one module: kernels of the same format, controls, route and front end; texel kernels
/// of one operation on several formats.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The kernels, in module order.
    pub placed: Vec<PlacedKernel>,
    /// Storage buffers, in binding order.
    pub buffers: Vec<Buffer>,
    /// Work groups to dispatch in x: enough for the slots.
    pub columns: u32,
    /// Work groups to dispatch in y, or instances to draw: a row for each kernel.
    pub rows: u32,
    /// The variant it was laid out for.
    pub variant: Variant,
}

impl PlacedKernel {
    /// Invocations that a slot takes: one for each texel of a block that is read, or those of a
    /// quad.
    pub fn invocations(&self) -> u32 {
        if self.kernel.op.code.team() == Some(Team::Quad) {
            return QUAD_INVOCATIONS;
        }
        let block = self.image.filter(|image| image.is_read() && image.format.is_block());
        block.map_or(1, |image| image.format.side().pow(2))
    }
}

impl Element {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Element::F16 => 2,
            Element::F32 | Element::U32 | Element::Words => 4,
            Element::F64 => 8,
        }
    }

    /// Bits of an element that a value of this format fills.
    pub fn bits(self, format: Format) -> u32 {
        match self {
            Element::Words => format.bits().next_multiple_of(32),
            other => other.bytes() as u32 * 8,
        }
    }

    /// The elements of a kernel's values of this format; `company`: in a module of several kernels,
    /// where one loop gets at the components of all texels.
    fn of(kernel: &Kernel, format: Format, storage16: bool, company: bool) -> Element {
        match format {
            _ if company && kernel.op.code.is_of_texels() => Element::Words,
            _ if kernel.width > 1 || brings(kernel.route) => Element::Words,
            _ if format.is_packed() && format.bits() > 32 => Element::Words,
            Format::F16 if storage16 => Element::F16,
            Format::F32 => Element::F32,
            Format::F64 => Element::F64,
            _ => Element::U32,
        }
    }

    /// Elements that a value takes.
    pub fn count(self, shape: Shape) -> u32 {
        if self == Element::Words { shape.words() } else { shape.width }
    }
}

impl Buffer {
    /// Its binding in descriptor set 0.
    pub const fn binding(&self) -> u32 {
        match self.element {
            Element::Words => WORDS_BINDING + self.direction as u32,
            element => self.direction as u32 * 4 + element as u32,
        }
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.length as usize * self.element.bytes()
    }
}

/// The storage buffers that a kernel uses, so that a module's kernels can be chosen to need at most
/// [`MOST_BUFFERS`].
pub fn buffers(kernel: &Kernel) -> BTreeSet<(Direction, Element)> {
    let params = if brings(kernel.route) { Vec::new() } else { in_buffers(kernel, Direction::In) };
    let params = params.into_iter().map(|shape| (Direction::In, shape));
    params
        .chain(in_buffers(kernel, Direction::Out).into_iter().map(|shape| (Direction::Out, shape)))
        .map(|(direction, shape)| (direction, Element::of(kernel, shape.format, true, true)))
        .collect()
}

/// The operands or results that lie in buffers: all but texels, of which the operand is the last
/// one.
fn in_buffers(kernel: &Kernel, direction: Direction) -> Vec<Shape> {
    let code = kernel.op.code;
    match direction {
        Direction::In => {
            let mut shapes = kernel.params();
            shapes.truncate(shapes.len() - usize::from(image::reads(code)));
            shapes
        }
        Direction::Out if image::writes(code) => Vec::new(),
        Direction::Out => kernel.results(),
    }
}

/// Whether the plan itself brings the operands on this route.
pub fn brings(route: Route) -> bool {
    Route::OTHERS.contains(&route) || route == Route::Clear
}

/// A kernel to be laid out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LayoutRequest {
    /// The kernel.
    pub kernel: Kernel,
    /// Number of slots.
    pub slots: u32,
    /// Kernels of the same number here, with operands of the same shapes, read the same operands.
    pub operands: usize,
    /// The operands, slot by slot; for buffers and images, which the host fills, there may be
    /// none.
    pub values: Arc<[u64]>,
}

impl Plan {
    /// Lays out these kernels with their numbers of slots, each with operands of its own, all bits
    /// 0 where the plan brings them. `storage16`: the device has 16-bit storage.
    ///
    /// # Panics
    /// When there are more texel kernels than [`most_kernels`].
    pub fn new(kernels: &[(Kernel, u32)], storage16: bool, variant: Variant) -> Plan {
        let request = kernels.iter().enumerate();
        let request = request.map(|(operands, (kernel, slots))| {
            let values = if brings(kernel.route) {
                vec![0; *slots as usize * kernel.arity()]
            } else {
                Vec::new()
            };
            LayoutRequest { kernel: *kernel, slots: *slots, operands, values: values.into() }
        });
        Plan::sharing(&request.collect::<Vec<_>>(), storage16, variant)
    }

    /// Lays out these kernels; those that ask the same operands share them.
    ///
    /// # Panics
    /// When there are more texel kernels than [`most_kernels`].
    pub fn sharing(kernels: &[LayoutRequest], storage16: bool, variant: Variant) -> Plan {
        let mut plan = Plan {
            placed: Vec::new(),
            buffers: Vec::new(),
            columns: 0,
            rows: kernels.len() as u32,
            variant,
        };
        let mut order: Vec<&LayoutRequest> = kernels.iter().collect();
        let mut known: Vec<(&LayoutRequest, Vec<Region>)> = Vec::new();
        let nothing: Arc<[u64]> = Arc::default();
        if variant.reversed {
            order.reverse();
        }
        let most = order.iter().map(|request| request.slots).max().unwrap_or(0);
        for request in order {
            let LayoutRequest { kernel, slots, operands, values } = request;
            let image = kernel.has_image().then(|| {
                assert!(
                    kernels.len() <= most_kernels(kernel),
                    "so many images are more than every device has"
                );
                // All attachments of a pass and all attributes of a vertex are as many.
                let slots = if kernel.route.is_interface() { most } else { *slots };
                Image::new(kernel, slots, plan.placed.len() as u32)
            });
            let (mut params, mut brought) = (Vec::new(), &nothing);
            if brings(kernel.route) {
                brought = values;
            } else {
                let shared = known.iter().find(|(other, regions)| {
                    let shapes: Vec<Shape> = regions.iter().map(|region| region.shape).collect();
                    other.operands == *operands
                        && other.slots == *slots
                        && shapes == in_buffers(kernel, Direction::In)
                });
                params = match shared {
                    Some((_, regions)) => regions.clone(),
                    None => plan.regions(Direction::In, request, storage16),
                };
                known.push((request, params.clone()));
            }
            let results = plan.regions(Direction::Out, request, storage16);
            plan.placed.push(PlacedKernel {
                kernel: *kernel,
                slots: *slots,
                params,
                values: Arc::clone(brought),
                results,
                image,
            });
        }
        let invocations =
            plan.placed.iter().map(|placed| placed.slots * placed.invocations()).max().unwrap_or(0);
        plan.columns = invocations.div_ceil(variant.group) + variant.shift;
        plan.sort_buffers();
        plan
    }

    fn regions(
        &mut self,
        direction: Direction,
        request: &LayoutRequest,
        storage16: bool,
    ) -> Vec<Region> {
        let kernel = &request.kernel;
        let region = |shape: Shape| {
            let element = Element::of(kernel, shape.format, storage16, self.rows > 1);
            let found =
                self.buffers.iter().position(|b| b.direction == direction && b.element == element);
            let buffer = found.unwrap_or_else(|| {
                self.buffers.push(Buffer { direction, element, length: 0 });
                self.buffers.len() - 1
            });
            let base = self.buffers[buffer].length;
            // Regions of scalars start on a multiple of four elements, so that halves never share a
            // word.
            let multiple = if element == Element::Words { 1 } else { 4 };
            self.buffers[buffer].length =
                (base + request.slots * element.count(shape)).next_multiple_of(multiple);
            Region { shape, buffer, base }
        };
        in_buffers(kernel, direction).into_iter().map(region).collect()
    }

    /// Puts the buffers into binding order and renumbers the regions.
    fn sort_buffers(&mut self) {
        let mut order: Vec<usize> = (0..self.buffers.len()).collect();
        order.sort_by_key(|index| self.buffers[*index].binding());
        let place = |old: usize| order.iter().position(|index| *index == old).unwrap_or(old);
        for placed in &mut self.placed {
            for region in placed.params.iter_mut().chain(&mut placed.results) {
                region.buffer = place(region.buffer);
            }
        }
        self.buffers = order.iter().map(|index| self.buffers[*index].clone()).collect();
    }

    /// The route of its kernels; `None` where there is none.
    pub fn route(&self) -> Option<Route> {
        self.placed.first().map(|placed| placed.kernel.route)
    }

    /// The shader that its module is.
    pub fn shader(&self) -> Stage {
        self.placed.first().map(|placed| placed.kernel.shader()).unwrap_or_default()
    }

    /// Whether the operands are constants of the module.
    pub fn is_folded(&self) -> bool {
        self.route().is_some_and(Route::is_folded)
    }

    /// Whether no module runs: a command of Vulkan does it all.
    pub fn is_command(&self) -> bool {
        self.route().is_some_and(Route::is_command)
    }

    /// Invocations of a work group. What a constant block holds is the same for all of them, so
    /// there each has a slot of its own.
    pub fn group(&self) -> u32 {
        if self.route().and_then(capacity::vectors).is_some() { 1 } else { self.variant.group }
    }

    /// Whether it draws one triangle over all that there is to draw on, so that a fragment's place
    /// is its slot, of every row. State is set for each slot by itself, so there each has a
    /// point.
    pub fn covers(&self) -> bool {
        self.has_quads()
            || self.image().is_some_and(|image| image.route.is_drawn() && image.state().is_none())
    }

    /// Whether each slot is a quad of fragments.
    pub fn has_quads(&self) -> bool {
        self.placed.iter().any(|placed| placed.kernel.op.code.team() == Some(Team::Quad))
    }

    /// Whether each slot is a triangle with one fragment.
    pub fn has_triangles(&self) -> bool {
        self.placed.iter().any(|placed| placed.kernel.op.code.team() == Some(Team::Triangle))
    }

    /// Texels or fragments of what is drawn on, in x and y: one, unless each slot has its place.
    pub fn extent(&self) -> [u32; 2] {
        if self.has_quads() {
            let most = self.placed.iter().map(|placed| placed.slots).max().unwrap_or(0);
            return [2 * IMAGE_WIDTH, 2 * most.div_ceil(IMAGE_WIDTH).max(1)];
        }
        self.image().filter(|image| image.route.is_drawn()).map_or([1, 1], |image| image.extent)
    }

    /// Instances of a plan that draws: a fragment that all attachments have does the work of all
    /// rows.
    pub fn instances(&self) -> u32 {
        if self.covers() { 1 } else { self.rows }
    }

    /// Vertices of a plan that draws: those of the triangle, or of triangles or points enough for
    /// the slots.
    pub fn vertices(&self) -> u32 {
        if self.covers() {
            3
        } else if self.route() == Some(Route::Vertex) {
            self.placed.iter().map(|placed| placed.slots).max().unwrap_or(0)
        } else {
            let each = if self.has_triangles() { VERTICES } else { 1 };
            each * self.columns * self.group()
        }
    }

    /// The plan as its module sees it: with a slot for each invocation, which has its part of
    /// operands and result.
    pub(crate) fn by_invocation(&self) -> Plan {
        let mut plan = self.clone();
        for placed in &mut plan.placed {
            let invocations = placed.invocations();
            placed.slots *= invocations;
            for Region { shape, .. } in placed.params.iter_mut().chain(&mut placed.results) {
                *shape = Shape {
                    width: shape.width / invocations,
                    columns: shape.columns.div_ceil(invocations),
                    ..*shape
                };
            }
        }
        plan
    }

    /// Invocations that do nothing before the first slot.
    pub fn idle(&self) -> u32 {
        if self.route() == Some(Route::Vertex) { 0 } else { self.variant.shift * self.group() }
    }

    /// The images, in the order of their kernels: one for each, or none.
    pub fn images(&self) -> impl Iterator<Item = Image> {
        self.placed.iter().filter_map(|placed| placed.image)
    }

    /// The first image, for what all of them have in common: route and code.
    pub fn image(&self) -> Option<Image> {
        self.images().next()
    }
}
