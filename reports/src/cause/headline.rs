//! What the device does, in one line.

use std::collections::BTreeSet;
use std::fmt;

use fpprobe_profiles::judge::{Directions, Symptom};
use fpprobe_spirv::{Coding, Format};

use super::{COMPARISONS, TEXELS};
use crate::model::Scope;
use crate::render::phrase;

/// A format of images, whichever.
const TEXEL: &str = "texel";

/// Operations, and formats of images, that are named; of more, their group and number.
pub(super) const NAMED: usize = 3;

/// How operations across subgroups are called.
const SUBGROUP: &str = "subgroup_";

/// Where no more than one lane in this number is off by more than one encoding, a cause says first
/// that the others are not.
const FEW: usize = 10;

/// `f32 pow: a number becomes NaN`.
pub(super) struct Headline<'a> {
    pub symptom: Symptom,
    /// Directions of rounding that explain every lane.
    pub directions: Directions,
    /// Group of the operations; empty where the symptom concerns every operation.
    pub group: &'a str,
    pub scope: Scope,
    /// What it is confined to.
    pub place: Option<&'a str>,
    /// The execution modes that it is confined to.
    pub under: Option<String>,
    pub formats: &'a [String],
    /// Formats of the kernels, of images or not.
    pub texels: &'a BTreeSet<Format>,
    pub operations: &'a [String],
    /// Encodings between the worst result and what is accepted.
    pub distance: u64,
    /// How many lanes are off by more than one encoding, and of how many.
    pub far: (usize, usize),
    /// Whether infinities are lost or made on some of the lanes, beside NaNs.
    pub of_infinities: bool,
    /// What lanes with the symptom give, where it is one value or two: `0 or 128`.
    pub given: Option<&'a str>,
}

impl fmt::Display for Headline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.map_or_else(String::new, |place| format!(" {place}"));
        let (of, format) = (self.subject() + &place, listed(self.formats));
        let infinity = if self.of_infinities { " or infinity" } else { "" };
        let text = match self.symptom {
            Symptom::Unstable => format!("{of}: results differ from run to run"),
            Symptom::SameValue => format!("{of}: another encoding of the same value"),
            Symptom::SubnormalOperandKept if self.is_habit() => {
                format!("keeps {format} subnormals{place}")
            }
            Symptom::SubnormalOperandFlushed if self.is_habit() => {
                format!("flushes {format} subnormals{place}")
            }
            Symptom::SubnormalResultKept if self.is_habit() => {
                format!("keeps {format} subnormal results{place}")
            }
            Symptom::SubnormalResultFlushed if self.is_habit() => {
                format!("flushes {format} subnormal results{place}")
            }
            Symptom::SubnormalOperandKept => format!("{of}: keeps subnormals"),
            Symptom::SubnormalOperandFlushed => format!("{of}: flushes subnormals"),
            Symptom::SubnormalResultKept => format!("{of}: keeps subnormal results"),
            Symptom::SubnormalResultFlushed => format!("{of}: flushes subnormal results"),
            Symptom::ZeroSign => format!("{of}: zero has the wrong sign"),
            Symptom::Fused => format!("{of}: fused, rounded once"),
            Symptom::RoundedTwice => format!("{of}: rounded twice"),
            Symptom::OtherDirection => format!("{of}: rounded {}", direction(self.directions)),
            Symptom::OverflowToLargest => format!("{of}: overflow gives the largest finite value"),
            Symptom::OverflowToInfinity => format!("{of}: overflow gives infinity"),
            Symptom::IntegerRange => {
                let given = self.given("another integer");
                format!("{of}: gives {given} for numbers out of the integer's range")
            }
            Symptom::NanStored => {
                format!("{of}: stores NaN as {}", self.given("a code other than 0"))
            }
            Symptom::IdentityFolded => {
                format!("folds {format} x + 0, x * 1, x * 0 or x - x{place}")
            }
            Symptom::NanToNumber => {
                format!("{of}: gives {} instead of NaN{infinity}", self.given("a number"))
            }
            Symptom::NumberToNan => format!("{of}: gives NaN{infinity} instead of a number"),
            Symptom::InfinityLost => {
                format!("{of}: gives {} instead of infinity", self.given("a number"))
            }
            Symptom::InfinityMade => format!("{of}: gives infinity instead of a number"),
            Symptom::FoldedOtherwise => format!("{of}: folded otherwise than at run time"),
            Symptom::Neighbour => format!("{of}: off by the last bit"),
            Symptom::Inaccurate => {
                let (far, all) = self.far;
                let few = if far > 0 && far * FEW <= all {
                    let [far, all] = [far, all].map(phrase::grouped);
                    format!("off by the last bit, {far} of {all} lanes ")
                } else {
                    String::new()
                };
                format!("{of}: {few}{}", beyond(self.distance))
            }
            Symptom::ZeroMade => format!("{of}: gives 0 instead of another number"),
            Symptom::Unrelated if self.group == COMPARISONS => format!("{of}: the opposite result"),
            Symptom::Unrelated => match self.given {
                Some(given) => format!("{of}: gives {given} instead of another number"),
                None => format!("{of}: unrelated values"),
            },
        };
        let constants = if self.scope == Scope::Constants { "constants only: " } else { "" };
        let under = self.under.as_ref().map_or_else(String::new, |modes| format!(" {modes}"));
        write!(f, "{constants}{text}{under}")
    }
}

impl<'a> Headline<'a> {
    /// What the lanes give, or this where there is more to say than a headline has room for.
    fn given(&self, otherwise: &'a str) -> &'a str {
        self.given.unwrap_or(otherwise)
    }

    /// Whether it concerns operations of every kind.
    fn is_habit(&self) -> bool {
        self.group.is_empty() && self.operations.len() > NAMED
    }

    /// `f32 fadd, fsub`, or `f32 arithmetic (7 operations)`.
    fn subject(&self) -> String {
        let operations = self.operations;
        let format = if self.formats == [TEXELS] { self.images() } else { listed(self.formats) };
        if operations.len() <= NAMED {
            return format!("{format} {}", operations.join(", "));
        }
        // Groups of texels say what they are of.
        let of_format = if format == "texel" && !self.group.is_empty() { "" } else { &format };
        let group =
            if of_format.is_empty() { self.group } else { self.group.trim_start_matches("texel ") };
        let is_of_subgroups = operations.iter().all(|name| name.starts_with(SUBGROUP));
        let unit = if is_of_subgroups { "subgroup" } else { "" };
        let words: Vec<&str> =
            [of_format, unit, group].into_iter().filter(|word| !word.is_empty()).collect();
        format!("{} ({} operations)", words.join(" "), operations.len())
    }

    /// A few formats of images by name, more by what they have in common: `r8snorm`, `SNORM`,
    /// `texel`.
    fn images(&self) -> String {
        if self.texels.len() <= NAMED {
            return self.texels.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        }
        let mut kinds = self
            .texels
            .iter()
            .flat_map(|format| format.channels())
            .map(|channel| kind(channel.coding));
        let first = kinds.next().unwrap_or(TEXEL);
        if kinds.all(|kind| kind == first) { first } else { TEXEL }.to_owned()
    }
}

/// What codes of a channel stand for.
fn kind(coding: Coding) -> &'static str {
    match coding {
        Coding::Float(_) => "float texel",
        Coding::Norm { signed: true, .. } => "SNORM",
        Coding::Norm { .. } => "UNORM",
        Coding::Srgb | Coding::Shared => TEXEL,
    }
}

/// `f16, f32 and texel`.
fn listed(formats: &[String]) -> String {
    let names: Vec<&str> =
        formats.iter().map(|name| if name == TEXELS { TEXEL } else { name }).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// In which direction results are rounded, as far as the lanes show it.
fn direction(directions: Directions) -> &'static str {
    match directions {
        Directions { nearest_even: true, nearest_away: true, .. } => "to nearest",
        Directions { nearest_even: true, .. } => "to nearest, ties to even",
        Directions { nearest_away: true, .. } => "to nearest, ties away from zero",
        Directions { toward_zero: true, .. } => "toward zero",
        _ => "in another direction",
    }
}

/// A distance in encodings, which are ulps of one binade; over many binades it means nothing.
fn beyond(distance: u64) -> String {
    const FAR: u64 = 100_000;
    match usize::try_from(distance) {
        Ok(near) if distance < FAR => {
            format!("up to {} ulp beyond what is accepted", phrase::grouped(near))
        }
        _ => "far from what is accepted".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_lanes_that_are_far_off_are_counted() {
        let formats = ["f32".to_owned()];
        let (operations, texels) = (["exp".to_owned()], BTreeSet::new());
        let of = |far| {
            let headline = Headline {
                symptom: Symptom::Inaccurate,
                directions: Directions::default(),
                group: "functions",
                scope: Scope::RunTime,
                place: None,
                under: None,
                formats: &formats,
                texels: &texels,
                operations: &operations,
                distance: 50,
                far,
                of_infinities: false,
                given: None,
            };
            headline.to_string()
        };
        let worst = "up to 50 ulp beyond what is accepted";
        assert_eq!(of((2, 20)), format!("f32 exp: off by the last bit, 2 of 20 lanes {worst}"));
        assert_eq!(of((3, 20)), format!("f32 exp: {worst}"));
        assert_eq!(of((0, 20)), format!("f32 exp: {worst}"));
    }
}
