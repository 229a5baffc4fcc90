//! The set of results that a rule allows.
//!
//! A [`Set`] holds encodings of one component as disjoint ranges of their numeric order (see
//! [`Encoding::key`]), NaNs and both zeros included, so that unions, intersections and "except
//! subnormals" are exact. An [`Accepted`] is a list of alternatives, each one set per component.

mod read;

use serde_json::{Value, json};
use smallvec::{SmallVec, smallvec};

use crate::encoding::Encoding;

/// A set of encodings of one component.
#[derive(PartialEq, Eq, Debug)]
pub struct Set {
    encoding: Encoding,
    /// Disjoint, ascending, not touching.
    ranges: Ranges,
}

/// Ranges of keys, inclusive.
type Ranges = SmallVec<[(i64, i64); 2]>;

impl Clone for Set {
    /// The derived one would go range by range.
    fn clone(&self) -> Set {
        Set { encoding: self.encoding, ranges: Ranges::from_slice(&self.ranges) }
    }
}

impl Set {
    /// Nothing.
    pub fn nothing(encoding: Encoding) -> Set {
        Set { encoding, ranges: Ranges::new() }
    }

    /// Every encoding.
    pub fn everything(encoding: Encoding) -> Set {
        Set { encoding, ranges: smallvec![encoding.limits()] }
    }

    /// One encoding.
    pub fn one(encoding: Encoding, bits: u64) -> Set {
        let key = encoding.key(bits);
        Set { encoding, ranges: smallvec![(key, key)] }
    }

    /// The encodings from key to key, inclusive; nothing if they cross.
    pub fn range(encoding: Encoding, from: i64, to: i64) -> Set {
        Set { encoding, ranges: if from <= to { smallvec![(from, to)] } else { Ranges::new() } }
    }

    /// Every NaN; nothing for encodings without.
    pub fn nan(encoding: Encoding) -> Set {
        let Encoding::Float(layout) = encoding else { return Set::nothing(encoding) };
        let (first, last) = encoding.limits();
        let least = layout.first_nan() as i64;
        let positive = (least, last);
        let ranges = if layout.signed {
            smallvec![(first, -least - 1), positive]
        } else {
            smallvec![positive]
        };
        Set { encoding, ranges }
    }

    /// Every number that is not infinite; everything for encodings that are not floats.
    pub fn finite(encoding: Encoding) -> Set {
        let Encoding::Float(layout) = encoding else { return Set::everything(encoding) };
        let largest = layout.max_finite() as i64;
        Set::range(encoding, if layout.signed { -largest - 1 } else { 0 }, largest)
    }

    /// Both zeros (the one zero of unsigned formats).
    pub fn zeros(encoding: Encoding) -> Set {
        Set::range(
            encoding,
            if matches!(encoding, Encoding::Float(layout) if layout.signed) { -1 } else { 0 },
            0,
        )
    }

    /// Every subnormal.
    pub fn subnormals(encoding: Encoding) -> Set {
        let Encoding::Float(layout) = encoding else { return Set::nothing(encoding) };
        let largest = layout.min_normal() as i64 - 1;
        let positive = (1, largest);
        let ranges = if layout.signed {
            smallvec![(-largest - 1, -2), positive]
        } else {
            smallvec![positive]
        };
        Set { encoding, ranges }
    }

    /// How the bits are read.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Whether the bits are in the set.
    pub fn contains(&self, bits: u64) -> bool {
        let key = self.encoding.key(bits);
        self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&key))
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether everything is in it: such a lane says nothing.
    pub fn is_everything(&self) -> bool {
        self.ranges.as_slice() == [self.encoding.limits()]
    }

    /// Whether it leaves no choice: one encoding, or any NaN.
    pub fn is_single(&self) -> bool {
        match self.ranges.as_slice() {
            [(from, to)] if from == to => true,
            // NaNs are the last encodings.
            [.., (_, to)] => *to == self.encoding.limits().1 && *self == Set::nan(self.encoding),
            [] => false,
        }
    }

    /// Whether some member is in another set.
    pub fn meets(&self, other: &Set) -> bool {
        self.ranges
            .iter()
            .any(|(from, to)| other.ranges.iter().any(|(first, last)| from <= last && first <= to))
    }

    /// Whether every member is in a range, given by its first and last key.
    fn is_within(&self, first: i64, last: i64) -> bool {
        self.ranges.iter().all(|(from, to)| first <= *from && *to <= last)
    }

    /// Whether every member is a number that is not infinite.
    pub fn is_finite(&self) -> bool {
        let Encoding::Float(layout) = self.encoding else { return true };
        let largest = layout.max_finite() as i64;
        self.is_within(if layout.signed { -largest - 1 } else { 0 }, largest)
    }

    /// Whether every member is a normal number between the smallest and the largest: the exact
    /// result is one, too, and was neither flushed nor did it overflow. Nothing is not.
    pub(crate) fn is_amid_normals(&self) -> bool {
        let Encoding::Float(layout) = self.encoding else { return false };
        let (least, largest) = (layout.min_normal() as i64, layout.max_finite() as i64);
        // Keys of negative numbers are those of their magnitudes, complemented.
        let is_amid = |(from, to): &(i64, i64)| {
            *from > least && *to < largest || !*to > least && !*from < largest
        };
        !self.is_empty() && self.ranges.iter().all(is_amid)
    }

    /// Union.
    #[must_use]
    pub fn or(&self, other: &Set) -> Set {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() || self == other {
            return self.clone();
        }
        let (mut ours, mut theirs) = (self.ranges.as_slice(), other.ranges.as_slice());
        let lowest = || match (ours.first(), theirs.first()) {
            (Some(our), Some(their)) if their < our => theirs.split_off_first(),
            (Some(_), _) => ours.split_off_first(),
            (None, _) => theirs.split_off_first(),
        };
        let mut merged = Ranges::new();
        for (from, to) in std::iter::from_fn(lowest).copied() {
            match merged.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        Set { encoding: self.encoding, ranges: merged }
    }

    /// Intersection.
    #[must_use]
    pub fn and(&self, other: &Set) -> Set {
        let mut ranges = Ranges::new();
        for a in &self.ranges {
            for b in &other.ranges {
                let (from, to) = (a.0.max(b.0), a.1.min(b.1));
                if from <= to {
                    ranges.push((from, to));
                }
            }
        }
        ranges.sort_unstable();
        Set { encoding: self.encoding, ranges }
    }

    /// What is in this set and not in the other.
    #[must_use]
    pub fn minus(&self, other: &Set) -> Set {
        let apart = |(a, b): &(i64, i64)| other.ranges.iter().all(|(from, to)| b < from || a > to);
        if self.ranges.iter().all(apart) {
            return self.clone();
        }
        let mut ranges = self.ranges.clone();
        for (cut_from, cut_to) in &other.ranges {
            ranges = ranges
                .into_iter()
                // The keys of binary64 take the whole of i64: before the first and after the last
                // there is nothing.
                .flat_map(|(from, to)| {
                    let before = cut_from.checked_sub(1).map(|end| (from, to.min(end)));
                    let after = cut_to.checked_add(1).map(|begin| (from.max(begin), to));
                    [before, after].into_iter().flatten()
                })
                .filter(|(from, to)| from <= to)
                .collect();
        }
        Set { encoding: self.encoding, ranges }
    }

    /// Number of encodings, saturating.
    pub fn count(&self) -> u64 {
        self.ranges.iter().fold(0, |sum: u64, (from, to)| {
            sum.saturating_add(to.abs_diff(*from).saturating_add(1))
        })
    }

    /// The encodings, at most `limit` of them.
    pub fn members(&self, limit: usize) -> Vec<u64> {
        self.ranges
            .iter()
            .flat_map(|(from, to)| *from..=*to)
            .take(limit)
            .map(|key| self.encoding.at(key))
            .collect()
    }

    /// How many encodings lie between these bits and the nearest member, that one included; 0 where
    /// there is no other.
    pub fn distance(&self, bits: u64) -> u64 {
        let key = self.encoding.key(bits);
        let to = |(first, last): &(i64, i64)| {
            if key < *first { first.abs_diff(key) } else { key.abs_diff(*last) }
        };
        if self.contains(bits) { 0 } else { self.ranges.iter().map(to).min().unwrap_or(0) }
    }

    /// The ranges, in order, of positions as [`Encoding::key`] has them; first and last are in.
    pub fn ranges(&self) -> &[(i64, i64)] {
        &self.ranges
    }

    /// The set as the contract's `A`.
    pub fn to_json(&self) -> Value {
        if self.is_everything() {
            return json!({ "any": true });
        }
        let nan = Set::nan(self.encoding);
        let mut object = serde_json::Map::new();
        let mut rest = self.clone();
        if !nan.is_empty() && nan.minus(self).is_empty() {
            rest = rest.minus(&nan);
            object.insert("nan".into(), json!(true));
        }
        let few = rest.count() <= 8;
        let Encoding::Float(_) = self.encoding else {
            return self.exact_json(&rest, object);
        };
        if few || !rest.and(&nan).is_empty() {
            return self.exact_json(&rest, object);
        }
        self.interval_json(&rest, object)
    }

    fn exact_json(&self, rest: &Set, mut object: serde_json::Map<String, Value>) -> Value {
        if !rest.is_empty() || object.is_empty() {
            let bits: Vec<String> =
                rest.members(4096).into_iter().map(|bits| self.encoding.hex(bits)).collect();
            object.insert("bits".into(), json!(bits));
        }
        Value::Object(object)
    }

    /// Numeric intervals. `except` says that the subnormals between the ends are left out, `zero`
    /// which zeros are in where it is not both.
    fn interval_json(&self, rest: &Set, mut object: serde_json::Map<String, Value>) -> Value {
        let Encoding::Float(layout) = self.encoding else { return Value::Object(object) };
        let zeros = rest.and(&Set::zeros(self.encoding));
        let subnormals = Set::subnormals(self.encoding);
        let mut shown = rest.clone();
        if !zeros.is_empty() {
            // Fill the gap that a missing zero or missing subnormals leave; the keys below say what
            // is missing.
            shown = shown.or(&Set::zeros(self.encoding));
            if rest.and(&subnormals).is_empty() {
                let least = layout.min_normal();
                for edge in [least, least | layout.sign_bit()] {
                    if rest.contains(edge) {
                        let (a, b) = (self.encoding.key(edge), self.encoding.key(0));
                        shown = shown.or(&Set::range(self.encoding, a.min(b), a.max(b)));
                    }
                }
                if shown != rest.or(&Set::zeros(self.encoding)) {
                    object.insert("except".into(), json!("subnormals"));
                }
            }
            if layout.signed {
                let sign = match (zeros.contains(0), zeros.contains(layout.sign_bit())) {
                    (true, true) => "either",
                    (true, false) => "+",
                    _ => "-",
                };
                object.insert("zero".into(), json!(sign));
            }
        }
        // An end at zero is +0: ends are compared as numbers, and `zero` says which zeros are in.
        let ends = |key: i64| {
            format!(
                "{:016x}",
                crate::quad::to_double_bits(
                    layout,
                    self.encoding.at(if key == -1 { 0 } else { key })
                )
            )
        };
        let intervals: Vec<Value> = shown
            .ranges
            .iter()
            .map(|(from, to)| json!({ "lo": ends(*from), "hi": ends(*to) }))
            .collect();
        object.insert("intervals".into(), json!(intervals));
        Value::Object(object)
    }
}

/// What a rule allows for a whole result: at least one alternative must hold in every component.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted(Vec<Vec<Set>>);

impl Accepted {
    /// One alternative, a set per component.
    pub fn new(components: Vec<Set>) -> Accepted {
        Accepted(vec![components])
    }

    /// What any of these alternatives allows, written with as few of them as is easy.
    pub fn any(alternatives: Vec<Vec<Set>>) -> Accepted {
        let holds = |sets: &Vec<Set>| !sets.iter().any(Set::is_empty);
        // Where nothing is allowed one of them says so.
        let some = alternatives.iter().any(holds);
        let mut kept: Vec<Vec<Set>> = Vec::new();
        for sets in alternatives.into_iter().filter(|sets| !some || holds(sets)) {
            match kept.iter_mut().find_map(|known| Some((united(known, &sets)?, known))) {
                Some((both, known)) => *known = both,
                None => kept.push(sets),
            }
        }
        Accepted(kept)
    }

    /// What both allow.
    #[must_use]
    pub fn and(&self, other: &Accepted) -> Accepted {
        let both = |one: &Vec<Set>, another: &Vec<Set>| {
            one.iter().zip(another).map(|(a, b)| a.and(b)).collect()
        };
        Accepted::any(
            self.0
                .iter()
                .flat_map(|one| other.0.iter().map(move |another| both(one, another)))
                .collect(),
        )
    }

    /// Whether the result is allowed. `answer` holds one encoding per component.
    pub fn contains(&self, answer: &[u64]) -> bool {
        self.0.iter().any(|sets| sets.iter().zip(answer).all(|(set, bits)| set.contains(*bits)))
    }

    /// The same of some components alone: in the others anything.
    #[must_use]
    pub fn of_components(&self, is_one: impl Fn(usize) -> bool) -> Accepted {
        let alternative = |sets: &Vec<Set>| {
            let set = |(part, set): (usize, &Set)| {
                if is_one(part) { set.clone() } else { Set::everything(set.encoding()) }
            };
            sets.iter().enumerate().map(set).collect()
        };
        Accepted::any(self.0.iter().map(alternative).collect())
    }

    /// The alternatives.
    pub fn alternatives(&self) -> &[Vec<Set>] {
        &self.0
    }

    /// The contract's `A`, or a list of `A` for several components.
    pub fn to_json(&self) -> Value {
        let one = |sets: &Vec<Set>| match sets.as_slice() {
            [set] => set.to_json(),
            sets => Value::Array(sets.iter().map(Set::to_json).collect()),
        };
        match self.0.as_slice() {
            [sets] => one(sets),
            many => json!({ "alts": many.iter().map(one).collect::<Vec<_>>() }),
        }
    }
}

/// Two alternatives as one, if there is one that allows just what either does: they differ in one
/// component at most, or one holds the other.
fn united(one: &[Set], another: &[Set]) -> Option<Vec<Set>> {
    let pairs = || one.iter().zip(another);
    let within = |inner: &Set, outer: &Set| inner.minus(outer).is_empty();
    let alike = pairs().filter(|(a, b)| a != b).count() <= 1
        || pairs().all(|(a, b)| within(a, b))
        || pairs().all(|(a, b)| within(b, a));
    alike.then(|| pairs().map(|(a, b)| a.or(b)).collect())
}

#[cfg(test)]
mod tests;
