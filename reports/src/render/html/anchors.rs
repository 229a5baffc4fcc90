//! Places of a page that links from elsewhere can rely on.

use std::cell::RefCell;
use std::collections::HashSet;

/// What the page itself uses; a rule of a user's profile may be called so. Places of devices begin
/// with `d` and a digit.
const RESERVED: [&str; 6] = ["main", "overview", "causes", "traits", "lost", "filter"];

/// Gives out each name once: where two devices show the same cause or rule, the first one's place
/// has the name.
#[derive(Default)]
pub struct Anchors(RefCell<HashSet<String>>);

impl Anchors {
    /// The name as an `id`, the first time; `None` afterwards, and for names that the page uses.
    pub fn place(&self, name: &str) -> Option<String> {
        let of_device = |name: &str| {
            name.strip_prefix('d')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        if RESERVED.contains(&name) || of_device(name) {
            return None;
        }
        self.0.borrow_mut().insert(name.to_owned()).then(|| name.to_owned())
    }
}
