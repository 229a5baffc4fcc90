//! What an operand or a result is made of.

use crate::format::Format;

/// Format and number of components of an operand or result: a scalar, a vector, a matrix, or the
/// vectors of a block's texels, which are its columns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shape {
    /// Element format.
    pub format: Format,
    /// Number of components; of a matrix those of all columns, one column after the other.
    pub width: u32,
    /// Number of columns of a matrix; 1 for anything else.
    pub columns: u32,
}

impl Shape {
    /// One value.
    pub const fn scalar(format: Format) -> Shape {
        Shape::vector(format, 1)
    }

    /// A vector; of one component it is a scalar.
    pub const fn vector(format: Format, width: u32) -> Shape {
        Shape { format, width, columns: 1 }
    }

    /// What it is made of and how many of them: a matrix of its columns, a vector of scalars, a
    /// scalar of nothing.
    pub const fn parts(self) -> Option<(Shape, u32)> {
        match (self.columns, self.width) {
            (1, 1) => None,
            (1, width) => Some((Shape::scalar(self.format), width)),
            (columns, width) => Some((Shape::vector(self.format, width / columns), columns)),
        }
    }

    /// Words of a value: one for a component of 32 bits or less, two for a binary64.
    pub(crate) fn words(self) -> u32 {
        self.width * self.format.bits().div_ceil(32)
    }

    /// Values that lie side by side, each with its components.
    pub fn split<'a>(
        shapes: &'a [Shape],
        mut values: &'a [u64],
    ) -> impl Iterator<Item = (Shape, &'a [u64])> {
        shapes.iter().map(move |shape| {
            let (own, rest) = values.split_at(values.len().min(shape.width as usize));
            values = rest;
            (*shape, own)
        })
    }
}
