//! What a script expects of one component of a result.

/// A condition on the bits of a component, read as an unsigned integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expectation {
    /// They are these.
    Equal(u64),
    /// They are not these.
    Differs(u64),
    /// They are not less.
    AtLeast(u64),
    /// They are not more.
    AtMost(u64),
}

impl Expectation {
    /// The bits that it compares with.
    pub const fn bits(self) -> u64 {
        match self {
            Expectation::Equal(bits)
            | Expectation::Differs(bits)
            | Expectation::AtLeast(bits)
            | Expectation::AtMost(bits) => bits,
        }
    }

    /// Whether these bits meet it.
    pub const fn holds(self, bits: u64) -> bool {
        match self {
            Expectation::Equal(other) => bits == other,
            Expectation::Differs(other) => bits != other,
            Expectation::AtLeast(other) => bits >= other,
            Expectation::AtMost(other) => bits <= other,
        }
    }

    /// The comparator of an `AmberScript`.
    pub(super) const fn comparator(self) -> &'static str {
        match self {
            Expectation::Equal(_) => "EQ",
            Expectation::Differs(_) => "NE",
            Expectation::AtLeast(_) => "GE",
            Expectation::AtMost(_) => "LE",
        }
    }
}

/// The bits of components each of which is expected to be one value.
pub(super) fn exact(expected: &[Vec<Expectation>]) -> Option<Vec<u64>> {
    let one = |conditions: &Vec<Expectation>| match conditions[..] {
        [Expectation::Equal(bits)] => Some(bits),
        _ => None,
    };
    expected.iter().map(one).collect()
}
