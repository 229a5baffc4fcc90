//! Components in the bytes of a plan's buffers.

use std::ops::Range;

use super::{Plan, Region};

/// Writes one component of one slot into the bytes of its buffer. A half in a word leaves the upper
/// half 0.
pub fn write(plan: &Plan, bytes: &mut [u8], region: &Region, slot: u32, component: u32, bits: u64) {
    let place = place(plan, region, slot, component);
    let size = place.len();
    bytes[place].copy_from_slice(&bits.to_le_bytes()[..size]);
}

/// Reads one component of one slot as the whole element (32 bits for a half in a word: an upper
/// half that is not 0 shows that the kernel did not write it).
pub fn read(plan: &Plan, bytes: &[u8], region: &Region, slot: u32, component: u32) -> u64 {
    let place = place(plan, region, slot, component);
    let mut word = [0; 8];
    word[..place.len()].copy_from_slice(&bytes[place]);
    u64::from_le_bytes(word)
}

/// The bytes of one component of one slot.
fn place(plan: &Plan, region: &Region, slot: u32, component: u32) -> Range<usize> {
    let element = plan.buffers[region.buffer].element;
    let size = element.bits(region.shape.format) as usize / 8;
    let first = (region.base + slot * element.count(region.shape)) as usize * element.bytes();
    let at = first + component as usize * size;
    at..at + size
}
