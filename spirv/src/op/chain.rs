//! Operations in a row, of which each takes what the one before gives: a sum that is converted, a
//! product that is converted and added to.
//!
//! What lies between may be left unrounded by a compiler that makes one operation of several, or
//! that drops a conversion because another one undoes it.

use crate::format::Format;

/// Operations in a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Chain {
    /// Whether the first one multiplies x and y; otherwise it adds them.
    pub multiplies: bool,
    /// What becomes of that, in order. The last one rounds.
    pub links: &'static [Link],
}

/// What becomes of the result of the operations before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Link {
    /// It is rounded to a format: that of its operation, or of a conversion. A conversion to a
    /// wider format changes nothing and is left out.
    Round(Format),
    /// It is rounded to binary16, where subnormals become zeros (`OpQuantizeToF16`).
    Quantize,
    /// It is rounded to binary16, which becomes half of a word (GLSL.std.450 `PackHalf2x16`).
    Pack,
    /// z is added.
    Add,
}

impl Link {
    /// The format that it rounds to.
    pub fn format(self) -> Option<Format> {
        match self {
            Link::Round(format) => Some(format),
            Link::Quantize | Link::Pack => Some(Format::F16),
            Link::Add => None,
        }
    }
}

impl Chain {
    /// Whether its results are halves of a word.
    pub fn is_packed(&self) -> bool {
        self.links.contains(&Link::Pack)
    }

    /// Whether z is added.
    pub fn adds(&self) -> bool {
        self.links.contains(&Link::Add)
    }

    /// The narrowest format that the first result is rounded to, before z is added.
    pub fn narrowest(&self) -> Option<Format> {
        self.links.iter().map_while(|link| link.format()).last()
    }
}
