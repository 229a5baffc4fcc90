//! What splits a trait of several values: the operation, format, key of the kernel, component or
//! operand by which they part, or the size of the only operand.

use std::collections::{BTreeMap, BTreeSet};

use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::oracle::{Operands, Signature};
use fpprobe_spirv::{Format, Kernel};

use crate::decimal::decimal;
use crate::model::ALONE;

/// What may part lanes, in the order that is tried; with the words before its values.
const DIMENSIONS: [(&str, &str); 11] = [
    ("operation", "of "),
    ("format", "in "),
    ("route", "with "),
    ("stage", "with "),
    ("width", "with "),
    ("via", "with "),
    ("controls", "with "),
    ("component", "in component "),
    ("nan", "where the NaN is "),
    ("bits", "where the NaN is "),
    ("sign", "where x is "),
];

/// Keys of kernels, with what they are where an id leaves them out.
const KEYS: [(&str, &str); 5] = [
    ("route", "buffer"),
    ("stage", "compute"),
    ("width", "1"),
    ("via", "spirv"),
    ("controls", "none"),
];

/// The place of a value that shows in more places than are named.
pub(super) const OTHERWISE: &str = "otherwise";

/// Values of a dimension that are named; the value of a trait that has more is the usual one.
const NAMED: usize = 3;

/// Who shows a value of a trait: by dimension.
pub(super) type Facets = BTreeMap<&'static str, String>;

/// The facets of a kernel, and of a component of its result.
pub(super) fn of_kernel(kernel: &Kernel, part: Option<usize>) -> Facets {
    let mut facets = Facets::from([
        ("operation", kernel.op.name.to_owned()),
        ("format", kernel.format.to_string()),
    ]);
    let id = kernel.to_string();
    let keys = id.split_once(':').map_or("", |(_, keys)| keys);
    for (key, usual) in KEYS {
        let own = keys.split(';').find(|one| one.split('=').next() == Some(key));
        facets.insert(key, own.map_or_else(|| format!("{key}={usual}"), str::to_owned));
    }
    facets.extend(part.and_then(|part| component(kernel, part)).map(|name| ("component", name)));
    facets
}

/// The name of a component of a kernel's result, or its number; `None` where there is but one.
pub(super) fn component(kernel: &Kernel, part: usize) -> Option<String> {
    let channels = kernel.result().format.channels();
    let name = || channels.get(part).map_or(part.to_string(), |channel| channel.name.to_string());
    (Encoding::of_result(kernel).len() > 1).then(name)
}

/// What lanes with a value have in common.
pub(super) struct LaneFacets {
    /// Those of the kernel, and what the operands are: which one is a NaN, of which kind; the sign
    /// of the first.
    pub facets: BTreeSet<Facets>,
    /// How large their only operand is.
    pub extent: Magnitudes,
}

impl LaneFacets {
    /// Of these cases of a kernel, as far as this part of the result depends on them.
    pub(super) fn of<'c>(
        kernel: &Kernel,
        part: usize,
        cases: impl Iterator<Item = &'c [u64]>,
    ) -> LaneFacets {
        let signature = Signature::new(kernel);
        let (mut kinds, mut extent) = (BTreeSet::new(), Magnitudes::NONE);
        for case in cases {
            let operands = signature.operands(case, part);
            kinds.insert(LaneKind::of(&operands));
            extent = extent.with(Magnitudes::of(&operands));
        }
        let whole = of_kernel(kernel, Some(part));
        LaneFacets { facets: kinds.into_iter().map(|kind| kind.beside(&whole)).collect(), extent }
    }
}

/// What the operands of a lane are.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct LaneKind {
    /// Which operand is a NaN, and whether it is a quiet one.
    nan: Option<(&'static str, bool)>,
    is_negative: bool,
}

impl LaneKind {
    fn of(operands: &Operands) -> LaneKind {
        let nan = ["x", "y", "z"].into_iter().zip(operands.iter()).find_map(|(name, operand)| {
            let layout = operand.layout.filter(|layout| layout.is_nan(operand.bits))?;
            Some((name, operand.bits & layout.quiet_bit() != 0))
        });
        let first = operands.first();
        LaneKind { nan, is_negative: first.is_some_and(|one| one.double().is_sign_negative()) }
    }

    fn beside(self, kernel: &Facets) -> Facets {
        let mut facets = kernel.clone();
        let sign = if self.is_negative { "negative" } else { "positive" };
        facets.insert("sign", sign.to_owned());
        if let Some((name, is_quiet)) = self.nan {
            let kind = if is_quiet { "quiet" } else { "signalling" };
            facets.extend([("nan", name.to_owned()), ("bits", kind.to_owned())]);
        }
        facets
    }
}

/// The least and the greatest magnitude of operands.
#[derive(Clone, Copy)]
pub(super) struct Magnitudes(f64, f64);

impl Magnitudes {
    /// Of no operand.
    pub(super) const NONE: Magnitudes = Magnitudes(f64::INFINITY, f64::NEG_INFINITY);
    /// Of operands that have no common order.
    pub(super) const ANY: Magnitudes = Magnitudes(f64::NEG_INFINITY, f64::INFINITY);

    fn of(operands: &Operands) -> Magnitudes {
        match &operands[..] {
            [only] if !only.double().is_nan() => {
                Magnitudes(only.double().abs(), only.double().abs())
            }
            _ => Magnitudes::ANY,
        }
    }

    pub(super) fn with(self, other: Magnitudes) -> Magnitudes {
        Magnitudes(self.0.min(other.0), self.1.max(other.1))
    }

    /// Where each of these lies, where they do not overlap.
    fn places(all: &[Magnitudes]) -> Option<Vec<String>> {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|one, other| all[*one].0.total_cmp(&all[*other].0));
        let is_apart = order.windows(2).all(|pair| all[pair[0]].1 < all[pair[1]].0);
        let (&first, &last) = (order.first()?, order.last()?);
        let number = |value: f64| decimal(Format::F64, value.to_bits());
        let place = |place: usize| match all[place] {
            Magnitudes(_, most) if place == first => format!("up to |x| = {}", number(most)),
            Magnitudes(least, _) if place == last => format!("from |x| = {} on", number(least)),
            Magnitudes(least, most) => format!("from |x| = {} to {}", number(least), number(most)),
        };
        is_apart.then(|| (0..all.len()).map(place).collect())
    }
}

/// For each value of a trait where it shows and the others do not, by the first dimension, or two,
/// that part all of them, or by the size of the operand; else by the first dimension that parts
/// some of the lanes.
pub(super) fn places(values: &[(&BTreeSet<Facets>, Magnitudes)]) -> Vec<String> {
    let facets: Vec<&BTreeSet<Facets>> = values.iter().map(|(facets, _)| *facets).collect();
    let extents: Vec<Magnitudes> = values.iter().map(|(_, extent)| *extent).collect();
    let one = DIMENSIONS.iter().map(|dimension| vec![*dimension]);
    let two = DIMENSIONS.iter().enumerate().flat_map(|(place, first)| {
        DIMENSIONS[place + 1..].iter().map(move |second| vec![*first, *second])
    });
    let all: Vec<Parting> =
        one.chain(two).filter_map(|dimensions| Parting::new(&facets, dimensions)).collect();
    let whole = all.iter().find(|parting| parting.is_whole()).map(Parting::whole);
    let some = || {
        all.iter()
            .find(|parting| parting.alone.iter().any(|set| !set.is_empty()))
            .map(Parting::some)
    };
    whole
        .or_else(|| Magnitudes::places(&extents))
        .or_else(some)
        .unwrap_or_else(|| vec![String::new(); values.len()])
}

/// Values of a trait by some dimensions.
struct Parting {
    dimensions: Vec<(&'static str, &'static str)>,
    /// For each value how many places show it.
    counts: Vec<usize>,
    /// For each value the places that show it alone.
    alone: Vec<BTreeSet<Vec<String>>>,
}

impl Parting {
    /// None where some lanes lack a dimension.
    fn new(
        values: &[&BTreeSet<Facets>],
        dimensions: Vec<(&'static str, &'static str)>,
    ) -> Option<Parting> {
        let of = |facets: &Facets| {
            dimensions.iter().map(|(name, _)| facets.get(name).cloned()).collect()
        };
        let sets =
            values.iter().map(|all| all.iter().map(of).collect::<Option<BTreeSet<Vec<String>>>>());
        let sets: Vec<BTreeSet<Vec<String>>> = sets.collect::<Option<_>>()?;
        let alone = sets.iter().enumerate().map(|(own, set)| {
            let others = || sets.iter().enumerate().filter(|(place, _)| *place != own);
            set.iter()
                .filter(|place| others().all(|(_, set)| !set.contains(*place)))
                .cloned()
                .collect()
        });
        let alone = alone.collect();
        Some(Parting { dimensions, counts: sets.iter().map(BTreeSet::len).collect(), alone })
    }

    /// Whether every place shows one value, and all values but one have few places.
    fn is_whole(&self) -> bool {
        let parts = self.counts.iter().zip(&self.alone).all(|(count, alone)| *count == alone.len());
        parts && self.counts.iter().filter(|count| **count > NAMED).count() < 2
    }

    fn whole(&self) -> Vec<String> {
        let words = |set| self.words(set).unwrap_or_else(|| OTHERWISE.to_owned());
        self.alone.iter().map(words).collect()
    }

    fn some(&self) -> Vec<String> {
        let words = |set: &BTreeSet<Vec<String>>| self.words(set).filter(|words| !words.is_empty());
        self.alone
            .iter()
            .map(|set| words(set).map_or_else(String::new, |words| format!("{ALONE}{words}")))
            .collect()
    }

    /// `with route=clear and route=blit`; none where there are many.
    fn words(&self, set: &BTreeSet<Vec<String>>) -> Option<String> {
        let place = |place: &Vec<String>| {
            let words = self
                .dimensions
                .iter()
                .zip(place)
                .map(|((_, before), value)| format!("{before}{value}"));
            words.collect::<Vec<_>>().join(" ")
        };
        let [(_, before), rest @ ..] = &self.dimensions[..] else { return None };
        let places: Vec<String> = set.iter().map(place).collect();
        let joined = places.join(" and ");
        let joined = if rest.is_empty() {
            joined.replace(&format!(" and {before}"), " and ")
        } else {
            joined
        };
        (set.len() <= NAMED).then_some(joined)
    }
}
