//! Whole domains: a kernel asked every input there is, in one module that makes its inputs itself.
//!
//! A [`Domain`] numbers the inputs of a kernel; [`build`] makes the module, and its [`Sink`] says
//! what becomes of the results. A dispatch takes whole **blocks** of consecutive inputs: a work
//! group's row (y) is its block, and the [`LANES`] invocations of a block take turns, so that
//! neighbours have neighbouring inputs. Each loops over the inputs that fall to it: [`Push::steps`]
//! of them. The operation itself is emitted as for every other kernel.

mod digest;
mod domain;
mod module;
mod sink;

pub use digest::{Digest, Digesting, mix, unmix};
pub use domain::Domain;
pub use module::{BINDING, build};
pub use sink::Sink;

/// Invocations that share a block.
pub const LANES: u32 = 256;
/// Invocations of a work group where nothing else is requested: it has one row, and `LANES / GROUP`
/// columns make a block.
pub const GROUP: u32 = 64;
/// Another number of them, which every device offers.
pub const OTHER_GROUP: u32 = 128;
/// Inputs that an invocation takes in one turn of its loop; the steps are a multiple of it.
pub const TURN: u32 = 8;
/// Most inputs in a block.
pub const BLOCK: u64 = 1 << 20;

/// The push constants of a dispatch, in this order, each an unsigned 32-bit integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Push {
    /// Number of the first input, its lower 32 bits.
    pub first: u32,
    /// Inputs of each invocation: a block has `LANES` times as many.
    pub steps: u32,
    /// Which invocation of a block does a lane's work: that of the lane's number, exclusive or
    /// this.
    pub turn: u32,
    /// The higher bits of the first input's number, which every input of the dispatch has.
    pub high: u32,
}

impl Push {
    /// Bytes of it.
    pub const BYTES: u32 = 16;

    /// Blocks of `inputs` each, from this input on; none is beyond the next multiple of 2^32.
    pub fn new(first: u64, inputs: u64, turn: u32) -> Push {
        let steps = (inputs / u64::from(LANES)) as u32;
        Push { first: first as u32, steps, turn: turn % LANES, high: (first >> 32) as u32 }
    }

    /// As it lies in memory.
    pub fn bytes(self) -> [u8; Push::BYTES as usize] {
        let mut bytes = [0; Push::BYTES as usize];
        let words = [self.first, self.steps, self.turn, self.high];
        for (own, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *own = word.to_le_bytes();
        }
        bytes
    }
}

#[cfg(test)]
mod tests;
