//! Accesses: where in the code of a module all rows get at the same operand, or the same result.
//!
//! A driver spends most of its time for a small kernel on getting at memory, so a module has one
//! load for all rows, and one store: the row shows where, and whether.

use std::collections::BTreeSet;

use crate::kernel::Shape;
use crate::plan::{Buffer, Direction, Element, PlacedKernel, Plan, Region};

/// Most words that the code gets at one by one: each access takes a compiler as long as the loop
/// that does for all.
const FEW: u32 = 2;

/// The operand, or the result, of this number in this buffer, row by row.
pub(crate) struct BufferAccess {
    pub number: usize,
    pub buffer: usize,
    pub direction: Direction,
    pub element: Element,
    regions: Vec<Option<Region>>,
}

/// The accesses of a plan's operands.
pub(crate) fn operands(plan: &Plan) -> Vec<BufferAccess> {
    accesses(plan, |placed| &placed.params)
}

/// The accesses of a plan's results.
pub(crate) fn results(plan: &Plan) -> Vec<BufferAccess> {
    accesses(plan, |placed| &placed.results)
}

fn accesses(plan: &Plan, of: fn(&PlacedKernel) -> &[Region]) -> Vec<BufferAccess> {
    let places: BTreeSet<(usize, usize)> = plan
        .placed
        .iter()
        .flat_map(|placed| of(placed).iter().map(|region| region.buffer).enumerate())
        .collect();
    let access = |(number, buffer): (usize, usize)| {
        let own = |region: &Region| region.buffer == buffer;
        let regions = plan.placed.iter().map(|placed| of(placed).get(number).copied().filter(own));
        let Buffer { direction, element, .. } = plan.buffers[buffer];
        BufferAccess { number, buffer, direction, element, regions: regions.collect() }
    };
    places.into_iter().map(access).collect()
}

/// What a row has, in order.
pub(crate) fn of_row(
    accesses: &[BufferAccess],
    row: usize,
) -> impl Iterator<Item = (&BufferAccess, Shape)> {
    accesses
        .iter()
        .filter_map(move |access| Some((access, access.regions.get(row)?.as_ref()?.shape)))
}

impl BufferAccess {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.regions.len()
    }

    /// What the kernels take the value for.
    pub fn shapes(&self) -> BTreeSet<Shape> {
        self.regions.iter().flatten().map(|region| region.shape).collect()
    }

    /// Where each row's values begin.
    pub fn bases(&self) -> Vec<Option<u32>> {
        self.regions.iter().map(|region| Some(region.as_ref()?.base)).collect()
    }

    /// How far each row's slots lie apart.
    pub fn strides(&self) -> Vec<Option<u32>> {
        self.regions.iter().map(|region| Some(self.element.count(region.as_ref()?.shape))).collect()
    }

    /// How many elements each row's value takes; 0 where the row has none.
    pub fn counts(&self) -> Vec<Option<u32>> {
        self.strides().into_iter().map(|count| Some(count.unwrap_or(0))).collect()
    }

    /// Elements that a row's value takes at most.
    pub fn most(&self) -> u32 {
        self.strides().into_iter().flatten().max().unwrap_or(0)
    }

    /// Number and buffer of the access, and the number of each element.
    pub fn keys(&self) -> impl Iterator<Item = (usize, usize, u32)> + use<> {
        let (number, buffer) = (self.number, self.buffer);
        (0..self.most()).map(move |index| (number, buffer, index))
    }

    /// Whether a loop is to get at the elements, one after the other, because there are many.
    pub fn is_long(&self) -> bool {
        self.element == Element::Words && self.most() > FEW
    }

    /// Which rows have an element of this number.
    pub fn having(&self, index: u32) -> Vec<bool> {
        self.strides().into_iter().map(|count| count.is_some_and(|count| index < count)).collect()
    }

    /// The numbers of the elements, those of the same rows together.
    pub fn runs(&self) -> Vec<Vec<u32>> {
        let indices: Vec<u32> = (0..self.most()).collect();
        indices.chunk_by(|a, b| self.having(*a) == self.having(*b)).map(<[u32]>::to_vec).collect()
    }
}
