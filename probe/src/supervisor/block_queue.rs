//! Blocks of a sweep in the order in which they run. They are not listed beforehand: the largest
//! domains have 2^28.

use std::collections::VecDeque;
use std::iter::Peekable;

/// Blocks that are still to run.
pub struct BlockQueue {
    /// Those that ran in vain, before all others.
    returned: VecDeque<u64>,
    rest: Peekable<Box<dyn Iterator<Item = u64> + Send>>,
}

impl BlockQueue {
    /// These blocks.
    pub fn new(blocks: impl IntoIterator<Item = u64, IntoIter: Send + 'static>) -> BlockQueue {
        let rest: Box<dyn Iterator<Item = u64> + Send> = Box::new(blocks.into_iter());
        BlockQueue { returned: VecDeque::new(), rest: rest.peekable() }
    }

    /// The next block, which stays.
    pub fn first(&mut self) -> Option<u64> {
        self.returned.front().copied().or_else(|| self.rest.peek().copied())
    }

    /// Takes the next block.
    pub fn pop(&mut self) -> Option<u64> {
        self.returned.pop_front().or_else(|| self.rest.next())
    }

    /// Puts a block back, before all others.
    pub fn put_back(&mut self, block: u64) {
        self.returned.push_front(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_in_vain_comes_first() {
        let mut queue = BlockQueue::new([3, 4, 5]);
        assert_eq!((queue.pop(), queue.first()), (Some(3), Some(4)));
        queue.put_back(3);
        assert_eq!((queue.first(), queue.pop()), (Some(3), Some(3)));
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(queue.first(), None);
    }
}
