//! Work on things that know nothing of one another, as many at a time as there are cores.

use rayon::prelude::*;

/// What `work` gives for each item, in order.
pub fn map<'a, T: Sync, R: Send>(items: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    items.par_iter().map(&work).collect()
}

/// What two pieces of work give.
pub fn both<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    rayon::join(one, other)
}
