//! Symptoms: what can be wrong with a failing lane.

/// What is wrong with a failing lane. The order is that in which equally good explanations are
/// preferred.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Symptom {
    /// The runs differ.
    Unstable,
    /// Another encoding of the same value, or other bits of a NaN.
    SameValue,
    /// A subnormal operand is read as it is, where zero is required.
    SubnormalOperandKept,
    /// A subnormal operand is read as zero, where its value is required.
    SubnormalOperandFlushed,
    /// A subnormal result is kept, where zero is required.
    SubnormalResultKept,
    /// A subnormal result is flushed, where its value is required.
    SubnormalResultFlushed,
    /// A zero has the wrong sign.
    ZeroSign,
    /// Fused, where two roundings are required.
    Fused,
    /// Rounded twice, where one rounding is required.
    RoundedTwice,
    /// Rounded to a neighbour of the exact result in another direction.
    OtherDirection,
    /// Overflow gives the largest finite value instead of infinity.
    OverflowToLargest,
    /// Overflow gives infinity instead of the largest finite value.
    OverflowToInfinity,
    /// A conversion of a number beyond the integer type's range, or of a NaN, gives another
    /// integer.
    IntegerRange,
    /// A NaN is stored as a code other than 0.
    NanStored,
    /// `x + 0`, `x * 1`, `x * 0` or `x - x` is simplified as if every value were finite and
    /// positive.
    IdentityFolded,
    /// A NaN is required, and the result is a number.
    NanToNumber,
    /// A number is required, and the result is a NaN.
    NumberToNan,
    /// An infinity is required, and the result is another number.
    InfinityLost,
    /// The result is an infinity that is not accepted.
    InfinityMade,
    /// The compiler folds the constants to another value than the device computes at run time,
    /// which is accepted.
    FoldedOtherwise,
    /// The neighbouring code or value of what is accepted.
    Neighbour,
    /// A finite value beyond the bound of what is accepted.
    Inaccurate,
    /// A zero where another number is required, on every such lane of an operation.
    ZeroMade,
    /// A value that has nothing to do with what is accepted.
    Unrelated,
}

impl Symptom {
    /// Every symptom, in order.
    pub const ALL: [Symptom; 24] = [
        Symptom::Unstable,
        Symptom::SameValue,
        Symptom::SubnormalOperandKept,
        Symptom::SubnormalOperandFlushed,
        Symptom::SubnormalResultKept,
        Symptom::SubnormalResultFlushed,
        Symptom::ZeroSign,
        Symptom::Fused,
        Symptom::RoundedTwice,
        Symptom::OtherDirection,
        Symptom::OverflowToLargest,
        Symptom::OverflowToInfinity,
        Symptom::IntegerRange,
        Symptom::NanStored,
        Symptom::IdentityFolded,
        Symptom::NanToNumber,
        Symptom::NumberToNan,
        Symptom::InfinityLost,
        Symptom::InfinityMade,
        Symptom::FoldedOtherwise,
        Symptom::Neighbour,
        Symptom::Inaccurate,
        Symptom::ZeroMade,
        Symptom::Unrelated,
    ];

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Symptom::Unstable => "unstable",
            Symptom::SameValue => "same_value",
            Symptom::SubnormalOperandKept => "subnormal_operand_kept",
            Symptom::SubnormalOperandFlushed => "subnormal_operand_flushed",
            Symptom::SubnormalResultKept => "subnormal_result_kept",
            Symptom::SubnormalResultFlushed => "subnormal_result_flushed",
            Symptom::ZeroSign => "zero_sign",
            Symptom::Fused => "fused",
            Symptom::RoundedTwice => "rounded_twice",
            Symptom::OtherDirection => "other_direction",
            Symptom::OverflowToLargest => "overflow_to_largest",
            Symptom::OverflowToInfinity => "overflow_to_infinity",
            Symptom::IntegerRange => "integer_range",
            Symptom::NanStored => "nan_stored",
            Symptom::IdentityFolded => "identity_folded",
            Symptom::NanToNumber => "nan_to_number",
            Symptom::NumberToNan => "number_to_nan",
            Symptom::InfinityLost => "infinity_lost",
            Symptom::InfinityMade => "infinity_made",
            Symptom::FoldedOtherwise => "folded_otherwise",
            Symptom::Neighbour => "neighbour",
            Symptom::Inaccurate => "inaccurate",
            Symptom::ZeroMade => "zero_made",
            Symptom::Unrelated => "unrelated",
        }
    }

    /// The symptom of this name in reports.
    pub fn find(name: &str) -> Option<Symptom> {
        Symptom::ALL.into_iter().find(|symptom| symptom.name() == name)
    }

    /// What is wrong with its lanes, in a sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Symptom::Unstable => "The results of two runs differ.",
            Symptom::SameValue => {
                "The result is another encoding of an accepted value, or a NaN with other bits."
            }
            Symptom::SubnormalOperandKept => {
                "A subnormal operand keeps its value, where it must be read as zero."
            }
            Symptom::SubnormalOperandFlushed => {
                "A subnormal operand is read as zero, where its value is required."
            }
            Symptom::SubnormalResultKept => {
                "A subnormal result keeps its value, where zero is required."
            }
            Symptom::SubnormalResultFlushed => {
                "A subnormal result becomes zero, where its value is required."
            }
            Symptom::ZeroSign => "The result is accepted but for the sign of a zero.",
            Symptom::Fused => {
                "A product and a sum are rounded once, where two roundings are required."
            }
            Symptom::RoundedTwice => {
                "A product and a sum are rounded twice, where one rounding is required."
            }
            Symptom::OtherDirection => "The exact result is rounded in another direction.",
            Symptom::OverflowToLargest => {
                "Overflow gives the largest finite value instead of infinity."
            }
            Symptom::OverflowToInfinity => {
                "Overflow gives infinity instead of the largest finite value."
            }
            Symptom::IntegerRange => {
                "A number beyond the integer range, or a NaN, becomes another integer."
            }
            Symptom::NanStored => "A NaN becomes a code other than 0.",
            Symptom::IdentityFolded => "x + 0, x * 1, x * 0, x - x or x / x is simplified.",
            Symptom::NanToNumber => "A NaN is required, and the result is a number.",
            Symptom::NumberToNan => "A number is required, and the result is a NaN.",
            Symptom::InfinityLost => "An infinity is required, and the result is another number.",
            Symptom::InfinityMade => "The result is an infinity that is not accepted.",
            Symptom::FoldedOtherwise => {
                "The compiler folds constants to a value that the device does not compute at run time."
            }
            Symptom::Neighbour => "The result is next to what is accepted.",
            Symptom::Inaccurate => "The result is a number beyond the bound of what is accepted.",
            Symptom::ZeroMade => "A number other than zero is required, and the result is zero.",
            Symptom::Unrelated => "The result has nothing to do with what is accepted.",
        }
    }

    /// Whether it is about subnormals.
    pub fn is_of_subnormals(self) -> bool {
        (Symptom::SubnormalOperandKept..=Symptom::SubnormalResultFlushed).contains(&self)
    }

    /// How much it explains: of no weight where one of another rank before it explains the lane.
    pub const fn rank(self) -> SymptomRank {
        match self {
            Symptom::FoldedOtherwise
            | Symptom::Neighbour
            | Symptom::Inaccurate
            | Symptom::ZeroMade
            | Symptom::Unrelated => SymptomRank::Distance,
            Symptom::NanToNumber
            | Symptom::NumberToNan
            | Symptom::InfinityLost
            | Symptom::InfinityMade => SymptomRank::Value,
            _ => SymptomRank::Assumption,
        }
    }
}

/// How much a symptom explains.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SymptomRank {
    /// The lane is accepted under one changed assumption.
    Assumption,
    /// What kind of value the result is beside what is accepted.
    Value,
    /// How far the result is from what is accepted.
    Distance,
}

/// Symptoms of one lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Symptoms(u32);

impl Symptoms {
    pub(super) fn add(&mut self, symptom: Symptom) {
        self.0 |= 1 << symptom as u32;
    }

    /// Whether this is one of them.
    pub fn contains(self, symptom: Symptom) -> bool {
        self.0 & 1 << symptom as u32 != 0
    }

    /// Those of the first rank that any of them has, beside which the others have no weight.
    pub fn strongest(self) -> impl Iterator<Item = Symptom> {
        let rank = self.iter().map(Symptom::rank).min();
        self.iter().filter(move |symptom| Some(symptom.rank()) == rank)
    }

    /// Those in order.
    pub fn iter(self) -> impl Iterator<Item = Symptom> {
        Symptom::ALL.into_iter().filter(move |symptom| self.contains(*symptom))
    }
}

impl FromIterator<Symptom> for Symptoms {
    fn from_iter<I: IntoIterator<Item = Symptom>>(symptoms: I) -> Symptoms {
        let mut all = Symptoms::default();
        symptoms.into_iter().for_each(|symptom| all.add(symptom));
        all
    }
}
