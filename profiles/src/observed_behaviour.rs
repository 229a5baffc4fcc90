//! How a kernel does what texts leave open, read off its answers: which way it rounds, what
//! overflow gives, whether subnormals count, whether a NaN stays one. Nothing here is a verdict.

mod aspect;

use std::cell::OnceCell;
use std::ops::Range;

use foldhash::HashMap;
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

    /// For each way whether a lane of the aspect's classes went it; nothing where the ways do not
    /// differ, or where the aspect does not concern the lane.
    fn excluded(
        &self,
        (aspect, open): (Aspect, &Demand),
        operands: &Operands,
        answer: u64,
    ) -> Option<Exclusions> {
        let encoding = self.encoding;
        // Where nothing but the rounding counts, that is all that can be determined.
        if let Some(rounded) = rounding(encoding, operands, open.function) {
            // Where there is but one answer every way gives it: most loads of texels are exact.
            if aspect != Aspect::Rounding || rounded.how == Rounding::Exact {
                return None;
            }
            let given = self.ways.iter().map(|demand| rounded.toward(&demand.as_ref()?.accuracy));
            let given: SmallVec<[Option<u64>; 3]> = given.collect();
            let is_distinct = given.windows(2).any(|pair| pair[0] != pair[1]);
            return is_distinct.then(|| given.iter().map(|given| *given == Some(answer)).collect());
        }
        if !self.lanes.select(encoding, operands, open) || !aspect.looks_at(encoding, operands) {
            return None;
        }
        if self.ways.iter().all(Option::is_some)
            && accepted_on(encoding, operands, open).is_single()
        {
            return None;
        }
        let sets = self.results(operands);
        aspect.is_shown_by(&sets).then(|| sets.iter().map(|set| set.contains(answer)).collect())
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

/// For each way, whether it was gone.
type Exclusions = SmallVec<[bool; 3]>;

/// A look at a kernel's answers.
pub struct BehaviourScan<'a> {
    observation: &'a Observation,
    signature: Signature,
    /// Case and part of the lanes that differ in operands or result: channels have few values,
    /// which the texels of a list combine.
    distinct: Vec<(usize, usize)>,
    /// For each lane, part by part, the place of one like it among these.
    places: Vec<u32>,
}

impl<'a> BehaviourScan<'a> {
    /// Of what a kernel gave.
    pub fn new(observation: &'a Observation) -> BehaviourScan<'a> {
        let signature = Signature::new(&observation.kernel);
        let reader = PartReader::new(&observation.kernel);
        let (mut distinct, mut places) = (Vec::new(), Vec::new());
        let mut known: HashMap<(usize, [u64; 2], u64), u32> = HashMap::default();
        for part in 0..signature.encodings.len() {
            let kind = signature.alike(part);
            for (index, case) in observation.cases.iter().enumerate() {
                let next = distinct.len() as u32;
                let bits =
                    signature.is_of_channels().then(|| signature.operands(case, part).bits());
                let place = bits.flatten().map_or(next, |bits| {
                    let result = reader.part(&observation.out, index, part);
                    *known.entry((kind, bits, result)).or_insert(next)
                });
                if place == next {
                    distinct.push((index, part));
                }
                places.push(place);
            }
        }
        BehaviourScan { observation, signature, distinct, places }
    }

    /// How the kernel did it in each part of its result, see [`Encoding::of_result`]; `None` where
    /// none of its cases tells.
    pub fn behaviours(&self, aspect: Aspect) -> Vec<Option<ObservedBehaviour>> {
        self.of_parts(aspect, 0..self.signature.encodings.len())
    }

    /// The same of one part.
    pub fn behaviour(&self, aspect: Aspect, part: usize) -> Option<ObservedBehaviour> {
        self.of_parts(aspect, part..self.signature.encodings.len().min(part + 1)).pop()?
    }

    fn of_parts(&self, aspect: Aspect, parts: Range<usize>) -> Vec<Option<ObservedBehaviour>> {
        let open = Demand {
            function: self.observation.kernel.op.function,
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
        let encodings = self.signature.encodings.iter();
        let looked: Vec<AspectPart> =
            encodings.map(|encoding| AspectPart::new(*encoding, aspect, &open)).collect();
        let went: Vec<OnceCell<Option<Exclusions>>> = vec![OnceCell::new(); self.distinct.len()];
        let of_lane = |place: u32| {
            let place = place as usize;
            went[place].get_or_init(|| self.went(&looked, (aspect, &open), self.distinct[place]))
        };
        parts.map(|part| self.of_part(part, aspect.ways(looked[part].encoding), of_lane)).collect()
    }

    /// For each way whether a lane went it; `None` where it shows none.
    fn went(
        &self,
        looked: &[AspectPart],
        (aspect, open): (Aspect, &Demand),
        (case, part): (usize, usize),
    ) -> Option<Exclusions> {
        let (observation, looked) = (self.observation, &looked[part]);
        let operands = self.signature.operands(observation.cases.case(case), part);
        if !looked.classes.select(looked.encoding, &operands, open) {
            return None;
        }
        let reader = PartReader::new(&observation.kernel);
        let result = reader.part(&observation.out, case, part);
        // What is right in every way shows none.
        looked
            .excluded((aspect, open), &operands, result)
            .filter(|went| went.iter().any(|went| !went))
    }

    /// How it was done in a part of the result.
    fn of_part<'w>(
        &self,
        part: usize,
        ways: &[BehaviourChoice],
        went: impl Fn(u32) -> &'w Option<Exclusions>,
    ) -> Option<ObservedBehaviour> {
        let mut seen = ObservedBehaviour {
            way: None,
            ways: ways.iter().map(|(name, _)| (*name, 0)).collect(),
            groups: Vec::new(),
            lanes: 0,
            case: 0,
        };
        let mut together: HashMap<Exclusions, Vec<usize>> = HashMap::default();
        let (mut odd, mut clear) = (None, None);
        let cases = self.observation.cases.len();
        for (index, place) in self.places[part * cases..][..cases].iter().enumerate() {
            let Some(went) = went(*place) else { continue };
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
                way.1 += usize::from(*went);
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
                BehaviourScan::new(&observation).behaviour(Aspect::Nan, 0).unwrap().way,
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
