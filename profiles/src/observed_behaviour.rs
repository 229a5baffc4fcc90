//! How a kernel does what texts leave open, read off its answers: which way it rounds, what
//! overflow gives, whether subnormals count, whether a NaN stays one. Nothing here is a verdict.

mod aspect;

use std::collections::HashMap;

use smallvec::SmallVec;

pub use self::aspect::Aspect;
use self::aspect::BehaviourChoice;
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::{Encoding, PartReader};
use crate::environment::{Environment, Integer, Invalid, Nan, NonFinite, Ulp};
use crate::lanes::LaneSelection;
use crate::observation::Observation;
use crate::oracle::{Demand, Operands, Rounding, Signature, accepted_on, rounding};

/// What was seen of an aspect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservedBehaviour {
    /// The one way that every lane went, or `None` where there is none.
    pub way: Option<&'static str>,
    /// For each way the lanes that went it.
    pub ways: Vec<(&'static str, usize)>,
    /// Cases by the ways that their lanes went: one, several that give the same there, or none.
    pub groups: Vec<(Vec<&'static str>, Vec<usize>)>,
    /// Lanes that did not go every way.
    pub lanes: usize,
    /// A case that shows it: the first whose answer no other way gives, or, where no way explains
    /// all, the first that went none or another.
    pub case: usize,
}

impl ObservedBehaviour {
    /// In words: the way, or the way that most lanes went and what share did not.
    pub fn describe(&self, aspect: Aspect) -> String {
        let Some((way, most)) = self.ways.iter().rev().max_by_key(|(_, count)| *count) else {
            return String::new();
        };
        match self.lanes - most {
            0 => (*way).to_owned(),
            // A part of the result, and the next, are told together where they differ in the count
            // alone.
            others if others * 100 < self.lanes => {
                format!("{way}, but for less than 1 % of results")
            }
            others if others < *most => {
                format!("{way}, but for {} % of results", others * 100 / self.lanes)
            }
            _ => aspect.mixed().to_owned(),
        }
    }
}

/// What is looked at in one part of the result.
struct AspectPart {
    encoding: Encoding,
    lanes: LaneSelection,
    /// What the lanes say of the operands alone.
    classes: LaneSelection,
    /// The demand of each way that has one.
    ways: SmallVec<[Option<Demand>; 3]>,
}

impl AspectPart {
    fn new(encoding: Encoding, aspect: Aspect, open: &Demand) -> AspectPart {
        let narrowed = |(_, narrow): &BehaviourChoice| {
            narrow.map(|narrow| {
                let mut demand = open.clone();
                narrow(&mut demand);
                demand
            })
        };
        let lanes = aspect.lanes(encoding);
        let (classes, ways) =
            (lanes.whatever_the_result(), aspect.ways(encoding).iter().map(narrowed).collect());
        AspectPart { encoding, lanes, classes, ways }
    }

    /// For each way what a lane gives that goes it.
    fn results(&self, operands: &Operands) -> SmallVec<[Set; 3]> {
        let mut rest = Set::everything(self.encoding);
        let of = |demand: &Option<Demand>| {
            let set = demand.as_ref().map(|demand| accepted_on(self.encoding, operands, demand));
            rest = set.as_ref().map_or_else(|| rest.clone(), |set| rest.minus(set));
            set.unwrap_or_else(|| rest.clone())
        };
        self.ways.iter().map(of).collect()
    }
}

/// Open, but for what IEEE 754 says of NaN and infinities, so that an aspect's ways differ in
/// nothing else.
const OPEN: Environment = Environment {
    nan_operand: Nan::Nan,
    invalid: Invalid::Nan,
    pole_nan: false,
    integer: Integer::Saturate,
    non_finite: NonFinite::Ieee,
    ..Environment::OPEN
};

/// How a kernel did it in each part of its result, see [`Encoding::of_result`]; `None` where none
/// of its cases tells.
pub fn observed_behaviours(
    observation: &Observation,
    aspect: Aspect,
) -> Vec<Option<ObservedBehaviour>> {
    let mut look = BehaviourScan::new(observation, aspect);
    (0..look.signature.encodings.len()).map(|part| look.behaviour(part)).collect()
}

/// How a kernel did it in one part of its result.
pub fn observed_behaviour(
    observation: &Observation,
    aspect: Aspect,
    part: usize,
) -> Option<ObservedBehaviour> {
    BehaviourScan::new(observation, aspect).behaviour(part)
}

/// What is remembered of lanes: of channels of a kind, by operands and answer.
type LaneMemo = HashMap<(usize, [u64; 2], u64), Option<Exclusions>>;

/// For each way, whether it was gone.
type Exclusions = SmallVec<[bool; 3]>;

/// A look at a kernel's answers.
struct BehaviourScan<'a> {
    observation: &'a Observation,
    aspect: Aspect,
    signature: Signature,
    open: Demand,
    /// Channels have few values, which the texels of a list combine.
    known: LaneMemo,
}

impl<'a> BehaviourScan<'a> {
    fn new(observation: &'a Observation, aspect: Aspect) -> BehaviourScan<'a> {
        let kernel = &observation.kernel;
        let open = Demand {
            function: kernel.op.function,
            operands: OPEN,
            results: OPEN,
            // Overflow is distinguished by a value beyond, not by one that rounds there.
            accuracy: if aspect == Aspect::Overflow {
                Accuracy::NearestEven
            } else {
                Accuracy::EitherNeighbour
            },
            ulp: Ulp::Vulkan,
        };
        BehaviourScan {
            observation,
            aspect,
            signature: Signature::new(kernel),
            open,
            known: LaneMemo::new(),
        }
    }

    /// For each way whether a lane of the aspect's classes went it; nothing where the ways do not
    /// differ, or the aspect is none of this lane's.
    fn excluded(&self, part: &AspectPart, operands: &Operands, answer: u64) -> Option<Exclusions> {
        let (aspect, open, encoding) = (self.aspect, &self.open, part.encoding);
        // Where nothing but the rounding counts, that is all that can be determined.
        if let Some(rounded) = rounding(encoding, operands, open.function) {
            // Where there is but one answer every way gives it: most loads of texels are exact.
            if aspect != Aspect::Rounding || rounded.how == Rounding::Exact {
                return None;
            }
            let given = part.ways.iter().map(|demand| rounded.toward(&demand.as_ref()?.accuracy));
            let given: SmallVec<[Option<u64>; 3]> = given.collect();
            let is_distinct = given.windows(2).any(|pair| pair[0] != pair[1]);
            return is_distinct.then(|| given.iter().map(|given| *given == Some(answer)).collect());
        }
        if !part.lanes.select(encoding, operands, open) || !aspect.looks_at(encoding, operands) {
            return None;
        }
        if part.ways.iter().all(Option::is_some)
            && accepted_on(encoding, operands, open).is_single()
        {
            return None;
        }
        let sets = part.results(operands);
        aspect.is_shown_by(&sets).then(|| sets.iter().map(|set| set.contains(answer)).collect())
    }

    /// How it was done in a part of the result.
    fn behaviour(&mut self, part: usize) -> Option<ObservedBehaviour> {
        let encoding = *self.signature.encodings.get(part)?;
        let (observation, reader) = (self.observation, PartReader::new(&self.observation.kernel));
        let (looked, ways) =
            (AspectPart::new(encoding, self.aspect, &self.open), self.aspect.ways(encoding));
        let mut seen = ObservedBehaviour {
            way: None,
            ways: ways.iter().map(|(name, _)| (*name, 0)).collect(),
            groups: Vec::new(),
            lanes: 0,
            case: 0,
        };
        let mut together: HashMap<Exclusions, Vec<usize>> = HashMap::new();
        let (mut odd, mut clear) = (None, None);
        let (kind, are_channels) = (self.signature.alike(part), self.signature.is_of_channels());
        for (index, case) in observation.cases.iter().enumerate() {
            let operands = self.signature.operands(case, part);
            if !looked.classes.select(encoding, &operands, &self.open) {
                continue;
            }
            let answer = reader.part(&observation.out, index, part);
            let went = match operands.bits().filter(|_| are_channels) {
                Some(bits) => {
                    let known = self.known.get(&(kind, bits, answer)).cloned();
                    known.unwrap_or_else(|| {
                        let went = self.excluded(&looked, &operands, answer);
                        self.known.insert((kind, bits, answer), went.clone());
                        went
                    })
                }
                None => self.excluded(&looked, &operands, answer),
            };
            // What is right in every way shows none.
            let Some(went) = went.filter(|went| went.iter().any(|went| !went)) else { continue };
            if seen.lanes == 0 {
                seen.case = index;
            }
            if clear.is_none() && went.iter().filter(|went| **went).count() == 1 {
                clear = Some(index);
            }
            // The way that most lanes went so far is the one that an odd lane is odd to.
            let usual = seen.ways.iter().position(|(_, count)| *count == seen.lanes);
            if odd.is_none() && usual.is_none_or(|usual| !went[usual]) {
                odd = Some(index);
            }
            seen.lanes += 1;
            together.entry(went.clone()).or_default().push(index);
            for (way, went) in seen.ways.iter_mut().zip(went) {
                way.1 += usize::from(went);
            }
        }
        seen.way = seen.ways.iter().find(|(_, count)| *count == seen.lanes).map(|(name, _)| *name);
        let named = |went: Exclusions| {
            let own = ways.iter().zip(went).filter(|(_, went)| *went);
            own.map(|((name, _), _)| *name).collect()
        };
        seen.groups = together.into_iter().map(|(went, cases)| (named(went), cases)).collect();
        seen.groups.sort();
        // An answer that only one way gives shows more than one that both would give.
        let informative = if seen.way.is_none() { odd } else { clear };
        seen.case = informative.unwrap_or(seen.case);
        (seen.lanes > 0).then_some(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::aspect::VALUES;
    use super::*;

    #[test]
    fn texels_and_state_show_what_becomes_of_a_nan() {
        for (kernel, case, out, is_distinct) in [
            (
                "r32f.border_color:route=sampled",
                &[0x7fc0_0000][..],
                0x7f80_0001,
                "keeps a NaN a NaN",
            ),
            (
                "r32f.border_color:route=sampled",
                &[0x7fc0_0000],
                0x7f80_0000,
                "makes a NaN a number",
            ),
            ("r16f.load:route=sampled", &[0x7e00], 0x7fc0_0000, "keeps a NaN a NaN"),
            ("r8unorm.store:route=clear", &[0x7fc0_0000], 0, "makes a NaN 0"),
            ("r8unorm.store:route=clear", &[0x7fc0_0000], 1, "makes a NaN something else than 0"),
        ] {
            let kernel: fpprobe_spirv::Kernel = kernel.parse().unwrap();
            let cases = fpprobe_spirv::Cases::new("", kernel.arity(), case);
            let outcome = crate::observation::Outcome::Ran;
            let detail = String::new();
            let observation =
                Observation { kernel, cases, outcome, detail, out: [out].into(), second: None };
            assert_eq!(
                observed_behaviour(&observation, Aspect::Nan, 0).unwrap().way,
                Some(is_distinct),
                "{kernel}"
            );
        }
    }

    #[test]
    fn every_way_has_a_name_for_programs() {
        let fixed = Encoding::Fixed { bits: 8, signed: false };
        let aspects = [
            Aspect::Rounding,
            Aspect::Overflow,
            Aspect::SubnormalOperands,
            Aspect::SubnormalResults,
            Aspect::Infinity,
            Aspect::Nan,
            Aspect::Intermediates,
        ];
        let ways = aspects
            .iter()
            .flat_map(|aspect| aspect.ways(Encoding::Unsigned).iter().chain(aspect.ways(fixed)));
        let names: std::collections::BTreeSet<&str> = ways.map(|(way, _)| *way).collect();
        assert!(names.iter().all(|way| Aspect::value(way).is_some()), "{names:?}");
        assert_eq!(names.len(), VALUES.len());
    }

    #[test]
    fn what_most_lanes_do_is_told_with_how_many_do_not() {
        let is_distinct = |counts: [usize; 3]| {
            let ways = Aspect::Rounding
                .ways(Encoding::Unsigned)
                .iter()
                .zip(counts)
                .map(|((name, _), count)| (*name, count))
                .collect();
            ObservedBehaviour { way: None, ways, groups: Vec::new(), lanes: 352, case: 0 }
                .describe(Aspect::Rounding)
        };
        assert_eq!(is_distinct([352, 300, 6]), "rounds to nearest even");
        assert_eq!(is_distinct([336, 336, 6]), "rounds to nearest even, but for 4 % of results");
        assert_eq!(
            is_distinct([351, 0, 0]),
            "rounds to nearest even, but for less than 1 % of results"
        );
        assert_eq!(is_distinct([100, 80, 176]), "rounds in no one way");
    }
}
