//! Work on things that know nothing of one another, as many at a time as there are cores.

use rayon::prelude::*;

/// What `work` gives for each item, in order.
pub fn map<'a, T: Sync, R: Send>(items: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    items.par_iter().map(&work).collect()
}
