//! Places of a page that links from elsewhere can rely on.

use std::cell::RefCell;
use std::collections::HashSet;

/// Gives out each name once: where two devices show the same cause or rule, the first one's place has the name.
#[derive(Default)]
pub struct Anchors(RefCell<HashSet<String>>);

impl Anchors {
    /// The name as an `id`, the first time; `None` afterwards.
    pub fn place(&self, name: &str) -> Option<String> {
        self.0.borrow_mut().insert(name.to_owned()).then(|| name.to_owned())
    }
}
