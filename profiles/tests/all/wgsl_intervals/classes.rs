//! Why our sets and those of the reference differ. Every difference is of a class, of which the
//! specification's text says who is right.

use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::number::Number as _;
use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;

use super::reference::{Case, File, between};
use super::steps::{StepRules, Steps};

/// A part of a result that the two do not agree on.
pub struct Difference<'a> {
    /// Where it is from.
    pub file: &'a File,
    /// What was asked.
    pub case: &'a Case,
    /// Which part of the result.
    pub part: usize,
    /// What the profile accepts.
    pub ours: &'a Set,
    /// What it accepts where nothing is flushed.
    pub kept: Set,
    /// What any alternative of the reference accepts.
    pub theirs: Set,
}

/// A kind of difference.
pub struct Class {
    /// What the reference does, in a few words.
    pub name: &'static str,
    /// What the text says: ids of the catalogue, and WGSL's sections on floating point.
    pub text: &'static str,
    /// Whether this is all that there is to a difference.
    pub explains: fn(&Difference) -> bool,
}

/// The classes: a difference belongs to the first that explains it.
pub const CLASSES: [Class; 10] = [
    Class {
        name: "between a value and the zero it is flushed to",
        text: "W-03: to flush to zero is to replace a subnormal value with a zero value, so that nothing between them comes up.",
        explains: |it| {
            function(it) != Function::FromSigned
                && function(it) != Function::FromUnsigned
                && it.is_filled(&it.theirs)
        },
    },
    Class {
        name: "no sign of zero",
        text: "W-22: the integer zero becomes +0. The reference never looks at the sign.",
        explains: |it| {
            matches!(function(it), Function::FromSigned | Function::FromUnsigned)
                && it.case.operands == [0]
                && it.ours.is_single()
                && it.theirs == Set::zeros(it.encoding())
        },
    },
    Class {
        name: "conversions flush",
        text: "W-03: operations that the accuracy tables do not list must preserve subnormals, and conversions are not listed.",
        explains: |it| {
            let zeros = Set::zeros(it.encoding());
            matches!(function(it), Function::Move | Function::ToFloat)
                && !it.ours.and(&Set::subnormals(it.encoding())).is_empty()
                && filled(&it.ours.or(&zeros)) == it.theirs
        },
    },
    Class {
        name: "either subnormal operand of clamp",
        text: "W-clamp: if x and a bound are subnormal, the result may be any of the subnormal values.",
        explains: |it| {
            let subnormals = Set::subnormals(it.encoding());
            let operands =
                it.case.operands.iter().map(|bits| Set::one(it.encoding(), *bits).and(&subnormals));
            let subnormal: Vec<Set> = operands.collect();
            let either =
                subnormal.iter().fold(Set::nothing(it.encoding()), |set, operand| set.or(operand));
            function(it) == Function::Clamp
                && !subnormal[0].is_empty()
                && subnormal[1..].iter().any(|bound| !bound.is_empty())
                && it.ours.minus(&it.theirs).minus(&either).is_empty()
                && it.theirs.minus(&subnormals).minus(it.ours).is_empty()
                && either.minus(it.ours).is_empty()
        },
    },
    Class {
        name: "sin and tan of the f32 value beyond pi",
        text: "W-10: the error is stated in [-pi, pi], and the value of f32 next to pi is larger.",
        explains: |it| {
            matches!(function(it), Function::Sin | Function::Tan)
                && it.case.operands[0] & 0x7fff_ffff == u64::from(std::f32::consts::PI.to_bits())
                && it.ours.is_everything()
                && it.gives(StepRules::REFERENCE)
        },
    },
    Class {
        name: "anything goes",
        text: "W-06: a result is indeterminate where it is not finite. That the number of units is not, or that the root in \
               refract may be that of zero, does not make it so.",
        explains: |it| {
            it.theirs.is_everything() && it.is_by_text() && it.gives(StepRules::REFERENCE)
        },
    },
    Class {
        name: "refract by the square of z alone",
        text: "W-12: an implementation may reassociate operations, and z * z * (1 - dot(y, x) * dot(y, x)) is a product of three.",
        explains: |it| {
            let one_order = StepRules { one_order: true, ..StepRules::TEXT };
            function(it) == Function::Refract
                && it.is_by_text()
                && it.gives(StepRules::REFERENCE)
                && it.by(one_order).map(|(set, _)| set)
                    != it.by(StepRules::TEXT).map(|(set, _)| set)
        },
    },
    Class {
        name: "the unit of a subnormal",
        text: "W-02: the unit is the smallest distance of two values around, and subnormals are values. The reference takes the \
               smallest normal value.",
        explains: |it| {
            it.is_by_text() && it.gives(StepRules { rounds: false, ..StepRules::REFERENCE })
        },
    },
    Class {
        name: "rounded before the error is counted",
        text: "W-02, W-09: an error is counted from the exact result, not from the values of the format around it, nor are \
               intervals rounded between steps.",
        explains: |it| {
            it.is_by_text() && it.gives(StepRules { products: false, ..StepRules::REFERENCE })
        },
    },
    Class {
        name: "acosh by a product",
        text: "W-acosh-asinh: inherited from log(x + sqrt(x * x - 1)); (x - 1) * (x + 1) is no reordering of it.",
        explains: |it| {
            function(it) == Function::Acosh && it.is_by_text() && it.gives(StepRules::REFERENCE)
        },
    },
];

fn function(difference: &Difference) -> Function {
    difference.file.kernel.op.function
}

/// A set and everything between its numbers.
fn filled(set: &Set) -> Set {
    let ranges = set.ranges();
    match (ranges.first(), ranges.last()) {
        (Some((from, _)), Some((_, to))) => Set::range(set.encoding(), *from, *to),
        _ => set.clone(),
    }
}

impl Difference<'_> {
    fn encoding(&self) -> Encoding {
        self.ours.encoding()
    }

    fn layout(&self) -> FloatLayout {
        self.file.kernel.format.float().unwrap()
    }

    /// Whether a set of the reference is ours and what lies between our numbers, or some of that;
    /// and the gaps come of flushing.
    fn is_filled(&self, theirs: &Set) -> bool {
        let between = theirs.minus(self.ours);
        (filled(&self.kept) == self.kept
            || between.minus(&Set::subnormals(self.encoding())).is_empty())
            && self.ours.minus(theirs).is_empty()
            && filled(self.ours) == filled(theirs)
            && !self.ours.is_everything()
    }

    /// What is accepted in some behaviour, and the ends of it.
    fn by(&self, behaviour: StepRules) -> Option<(Set, (f64, f64))> {
        let layout = self.layout();
        let operands: Vec<f64> =
            self.case.operands.iter().map(|bits| f64::decode(layout, *bits)).collect();
        let span = Steps::new(layout, behaviour).of(function(self), &operands)?[self.part];
        Some(match span {
            Some((lo, hi)) => (between(self.encoding(), layout, lo, hi), (lo, hi)),
            None => (Set::everything(self.encoding()), (f64::NEG_INFINITY, f64::INFINITY)),
        })
    }

    /// Whether what the reference accepts is what some behaviour gives.
    fn gives(&self, behaviour: StepRules) -> bool {
        self.by(behaviour).is_some_and(|(set, _)| set == self.theirs)
    }

    /// Whether the ends of our set are those that the text gives, or a value beyond that the
    /// numbers of the oracle do not tell from an end.
    fn is_by_text(&self) -> bool {
        let Some((text, (lo, hi))) = self.by(StepRules::TEXT) else { return false };
        let (ours, text) = (filled(self.ours), filled(&text));
        let value = |key: i64| f64::decode(self.layout(), self.encoding().at(key));
        let is_end =
            |key: i64| [lo, hi].iter().any(|end| (value(key) - end).abs() <= end.abs() * 1e-15);
        text.minus(&ours).is_empty()
            && ours.minus(&text).ranges().iter().all(|(from, to)| from == to && is_end(*from))
    }
}
