//! Work on things that know nothing of one another, as many at a time as there are cores.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` gives for each item, in order. What it keeps for one is gone before its thread begins another.
pub fn map<'a, T: Sync, R: Send>(items: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let take = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        items.get(number).map(|item| (number, item))
    };
    let worker = || std::iter::from_fn(take).map(|(number, item)| (number, work(item))).collect::<Vec<(usize, R)>>();
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores.min(items.len())).map(|_| scope.spawn(worker)).collect();
        let ended = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ended.collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(super::map(&items, |item| item * item), items.iter().map(|item| item * item).collect::<Vec<_>>());
        assert!(super::map(&[], |item: &usize| *item).is_empty());
    }
}
