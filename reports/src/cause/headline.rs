//! What the device does, in one line.

use std::fmt;

use fpprobe_profiles::judge::Symptom;

use super::{COMPARISONS, TEXELS};
use crate::model::Scope;
use crate::render::phrase;

/// Operations that are named; of more, their group and number.
const NAMED: usize = 3;

/// `f32 pow: a number becomes NaN`.
pub(super) struct Headline<'a> {
    pub symptom: Symptom,
    /// Group of the operations; empty where the symptom concerns every operation.
    pub group: &'a str,
    pub scope: Scope,
    pub formats: &'a [String],
    pub operations: &'a [String],
    /// Encodings between the worst result and what is accepted.
    pub distance: u64,
    /// Whether infinities are lost or made on some of the lanes, beside NaNs.
    pub of_infinities: bool,
}

impl fmt::Display for Headline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (of, format) = (self.subject(), listed(self.formats));
        let text = match self.symptom {
            Symptom::Unstable => format!("{of}: results differ from run to run"),
            Symptom::SameValue => format!("{of}: another encoding of the same value"),
            Symptom::SubnormalOperandKept => format!("keeps {format} subnormals"),
            Symptom::SubnormalOperandFlushed => format!("flushes {format} subnormals"),
            Symptom::SubnormalResultKept => format!("keeps {format} subnormal results"),
            Symptom::SubnormalResultFlushed => format!("flushes {format} subnormal results"),
            Symptom::ZeroSign => format!("{of}: zero has the wrong sign"),
            Symptom::Fused => format!("{of}: fused, rounded once"),
            Symptom::RoundedTwice => format!("{of}: rounded twice"),
            Symptom::OtherDirection => format!("{of}: rounded in another direction"),
            Symptom::OverflowToLargest => format!("{of}: overflow gives the largest finite value"),
            Symptom::OverflowToInfinity => format!("{of}: overflow gives infinity"),
            Symptom::IntegerRange => format!("{of}: numbers beyond the integer range"),
            Symptom::NanStored => format!("{of}: a NaN becomes a code other than 0"),
            Symptom::IdentityFolded => format!("simplifies {format} x + 0, x * 1, x * 0 or x - x"),
            Symptom::NanToNumber if self.of_infinities => format!("{of}: NaN or infinity becomes a number"),
            Symptom::NanToNumber => format!("{of}: a NaN becomes a number"),
            Symptom::NumberToNan if self.of_infinities => format!("{of}: a number becomes NaN or infinity"),
            Symptom::NumberToNan => format!("{of}: a number becomes NaN"),
            Symptom::InfinityLost => format!("{of}: infinity is lost"),
            Symptom::InfinityMade => format!("{of}: infinity where a number is required"),
            Symptom::FoldedOtherwise => format!("{of}: the compiler folds to other values than the device computes"),
            Symptom::Neighbour => format!("{of}: off by the last bit"),
            Symptom::Inaccurate => {
                format!("{of}: {} ulp beyond what is accepted", magnitude(self.distance))
            }
            Symptom::Unrelated if self.group == COMPARISONS => format!("{of}: the opposite result"),
            Symptom::Unrelated => format!("{of}: unrelated values"),
        };
        let constants = if self.scope == Scope::Constants { "constants only: " } else { "" };
        write!(f, "{constants}{text}")
    }
}

impl Headline<'_> {
    /// `f32 fadd, fsub`, or `f32 arithmetic (7 operations)`.
    fn subject(&self) -> String {
        let (format, operations) = (listed(self.formats), self.operations);
        if operations.len() <= NAMED {
            return format!("{format} {}", operations.join(", "));
        }
        // Groups of texels say what they are of.
        let of_format = if self.formats == [TEXELS] && !self.group.is_empty() { "" } else { &format };
        let words: Vec<&str> = [of_format, self.group].into_iter().filter(|word| !word.is_empty()).collect();
        format!("{} ({} operations)", words.join(" "), operations.len())
    }
}

/// `f16, f32 and texel`.
fn listed(formats: &[String]) -> String {
    let names: Vec<&str> = formats.iter().map(|name| if name == TEXELS { "texel" } else { name }).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// A distance in encodings, which are ulps of one binade: large ones as a power of two.
fn magnitude(distance: u64) -> String {
    const READABLE: u64 = 10_000;
    match usize::try_from(distance) {
        Ok(small) if distance < READABLE => phrase::grouped(small),
        _ => format!("2^{}", distance.ilog2()),
    }
}
