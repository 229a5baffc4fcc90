//! What splits a trait of several values: the operation, format, key of the kernel, component or
//! operand by which they part.

use std::collections::{BTreeMap, BTreeSet};

use fpprobe_profiles::encoding::Encoding;
use fpprobe_spirv::Kernel;

use crate::model::ALONE;

/// What may part lanes, in the order that is tried; with the words before its values.
const DIMENSIONS: [(&str, &str); 10] = [
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
];

/// Keys of kernels, with what they are where an id leaves them out.
const KEYS: [(&str, &str); 5] = [
    ("route", "buffer"),
    ("stage", "compute"),
    ("width", "1"),
    ("via", "spirv"),
    ("controls", "none"),
];

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
    if let Some(part) = part.filter(|_| Encoding::of_result(kernel).len() > 1) {
        let channel =
            kernel.result().format.channels().get(part).map(|channel| channel.name.to_string());
        facets.insert("component", channel.unwrap_or_else(|| part.to_string()));
    }
    facets
}

/// Those of a lane of scalars as well: which operand is a NaN, and of which kind.
pub(super) fn of_lane(kernel: &Kernel, case: &[u64]) -> Facets {
    let mut facets = of_kernel(kernel, None);
    let Some(layout) = kernel.format.float().filter(|_| kernel.width == 1) else { return facets };
    let nan = ["x", "y", "z"].into_iter().zip(case).find(|(_, bits)| layout.is_nan(**bits));
    if let Some((name, bits)) = nan {
        let kind = if bits & layout.quiet_bit() == 0 { "signalling" } else { "quiet" };
        facets.extend([("nan", name.to_owned()), ("bits", kind.to_owned())]);
    }
    facets
}

/// For each value of a trait where it shows and the others do not, by the first dimension, or two,
/// that part all of them; else by the first that parts some of the lanes.
pub(super) fn places(values: &[&BTreeSet<Facets>]) -> Vec<String> {
    let one = DIMENSIONS.iter().map(|dimension| vec![*dimension]);
    let two = DIMENSIONS.iter().enumerate().flat_map(|(place, first)| {
        DIMENSIONS[place + 1..].iter().map(move |second| vec![*first, *second])
    });
    let all: Vec<Parting> =
        one.chain(two).filter_map(|dimensions| Parting::new(values, dimensions)).collect();
    let whole = all.iter().find(|parting| parting.is_whole()).map(Parting::whole);
    let some = || {
        all.iter()
            .find(|parting| parting.alone.iter().any(|set| !set.is_empty()))
            .map(Parting::some)
    };
    whole.or_else(some).unwrap_or_else(|| vec![String::new(); values.len()])
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
        let words = |set| self.words(set).unwrap_or_else(|| "otherwise".to_owned());
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
