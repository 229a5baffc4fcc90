//! Lists of values, small in memory: a run has millions of inputs and answers, and those of one
//! list are nearly always of one [form](Pattern). They are read without a text of their own for
//! each.

use std::fmt;
use std::sync::Arc;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Value;
use super::pattern::{FilledPattern, Pattern, PatternReader};

/// A list of values. Equal lists are equal however they were made.
#[derive(Clone, PartialEq, Debug)]
pub struct Values(ValueForm);

#[derive(Clone, PartialEq, Debug)]
enum ValueForm {
    /// At least one value, all of one form that has numbers.
    Alike(Pattern, Arc<[u64]>),
    /// Anything else.
    Mixed(Vec<Value>),
}

impl Values {
    /// Values of one form: the numbers of each, one after the other.
    ///
    /// # Panics
    /// If the last of them lacks some.
    pub fn alike(pattern: Pattern, bits: Arc<[u64]>) -> Values {
        let numbers = pattern.numbers();
        if bits.is_empty() {
            return Values::default();
        }
        assert!(
            numbers > 0 && bits.len().is_multiple_of(numbers),
            "{} numbers for {pattern:?}",
            bits.len()
        );
        Values(ValueForm::Alike(pattern, bits))
    }

    /// The numbers, where all values are of this form.
    pub fn of(&self, pattern: &Pattern) -> Option<&Arc<[u64]>> {
        match &self.0 {
            ValueForm::Alike(own, bits) if own == pattern => Some(bits),
            _ => None,
        }
    }

    /// The form that all values have, and their numbers; `None` where they have none in common.
    pub fn pattern(&self) -> Option<(&Pattern, &Arc<[u64]>)> {
        match &self.0 {
            ValueForm::Alike(pattern, bits) => Some((pattern, bits)),
            ValueForm::Mixed(_) => None,
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match &self.0 {
            ValueForm::Alike(pattern, bits) => bits.len() / pattern.numbers(),
            ValueForm::Mixed(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, in order.
    pub fn iter(&self) -> impl Iterator<Item = Value> {
        let (alike, values): (_, &[Value]) = match &self.0 {
            ValueForm::Alike(pattern, bits) => {
                (Some((pattern, bits.chunks_exact(pattern.numbers()))), &[])
            }
            ValueForm::Mixed(values) => (None, values),
        };
        let alike =
            alike.into_iter().flat_map(|(pattern, each)| each.map(|bits| pattern.value(bits)));
        alike.chain(values.iter().cloned())
    }

    /// The values of a list that is being read.
    pub(super) fn read<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Values, A::Error> {
        let Some(first) = list.next_element()? else {
            return Ok(Values(ValueForm::Mixed(Vec::new())));
        };
        let mut packing = Packing::new(first);
        while packing.next(&mut list)? {}
        Ok(packing.done())
    }
}

impl Default for Values {
    fn default() -> Values {
        Values(ValueForm::Mixed(Vec::new()))
    }
}

impl FromIterator<Value> for Values {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Values {
        let mut values = values.into_iter();
        let Some(first) = values.next() else { return Values(ValueForm::Mixed(Vec::new())) };
        let mut packing = Packing::new(first);
        values.for_each(|value| packing.push(value));
        packing.done()
    }
}

/// A list on its way: values of one form until something else comes.
enum Packing {
    Alike(Pattern, Vec<u64>),
    Mixed(Vec<Value>),
}

impl Packing {
    fn new(first: Value) -> Packing {
        let mut packing = match Pattern::of(&first).filter(|pattern| pattern.numbers() > 0) {
            Some(pattern) => Packing::Alike(pattern, Vec::new()),
            None => Packing::Mixed(Vec::new()),
        };
        packing.push(first);
        packing
    }

    fn push(&mut self, value: Value) {
        match self {
            Packing::Mixed(values) => values.push(value),
            Packing::Alike(pattern, bits) => {
                let before = bits.len();
                if !pattern.append(&value, bits) {
                    bits.truncate(before);
                    self.mix(value);
                }
            }
        }
    }

    /// Takes the next value of a list that is being read; `false` at its end.
    fn next<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        let other = match self {
            Packing::Mixed(_) => list.next_element()?.map(Some),
            Packing::Alike(pattern, bits) => {
                list.next_element_seed(PatternReader(pattern, bits))?
            }
        };
        let Some(other) = other else { return Ok(false) };
        if let Some(other) = other {
            self.mix(other);
        }
        Ok(true)
    }

    /// Takes a value of another form.
    fn mix(&mut self, other: Value) {
        if let Packing::Alike(pattern, bits) = self {
            *self = Packing::Mixed(
                bits.chunks_exact(pattern.numbers()).map(|bits| pattern.value(bits)).collect(),
            );
        }
        if let Packing::Mixed(values) = self {
            values.push(other);
        }
    }

    fn done(self) -> Values {
        match self {
            Packing::Alike(pattern, bits) => Values::alike(pattern, bits.into()),
            Packing::Mixed(values) => Values(ValueForm::Mixed(values)),
        }
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            ValueForm::Alike(pattern, bits) => serializer.collect_seq(
                bits.chunks_exact(pattern.numbers()).map(|bits| FilledPattern(pattern, bits)),
            ),
            ValueForm::Mixed(values) => serializer.collect_seq(values),
        }
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        struct ListVisitor;
        impl<'de> Visitor<'de> for ListVisitor {
            type Value = Values;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of values")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Values, A::Error> {
                Values::read(list)
            }
        }
        deserializer.deserialize_seq(ListVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_go_to_json_and_back_whatever_they_hold() {
        let digits = |count| Some(Pattern::Digits(count));
        let pair = || Pattern::List(vec![Pattern::Digits(4); 2]);
        for (json, pattern) in [
            ("[]", None),
            (r#"["3c00","0001"]"#, digits(4)),
            (r#"["1","0"]"#, digits(1)),
            (r#"["ffffffffffffffff"]"#, digits(16)),
            (r#"["3c00","00000001"]"#, None),
            (r#"["3c00",["0001","0002"],"3c01"]"#, None),
            (r#"[["0001","0002"]]"#, Some(pair())),
            (r#"[["0001","0002"],["0003","0004"]]"#, Some(pair())),
            (r#"[["0001","0002"],["0003","00000004"]]"#, None),
            (r#"[["0001","0002"],["0003"]]"#, None),
            (r#"[["0001","0002"],["0003","0004","0005"]]"#, None),
            (r#"[["0001","0002"],["0003",["0004"]],["0005","0006"]]"#, None),
            (r#"[["0001","0002"],"0003"]"#, None),
            (
                r#"[[["0001","0002"],"3"],[["0004","0005"],"6"]]"#,
                Some(Pattern::List(vec![pair(), Pattern::Digits(1)])),
            ),
            (r#"[[["0001","0002"],"3"],[["0004","0005"],["6"]]]"#, None),
            ("[[],[]]", None),
            (r#"["3C00"]"#, None),
            (r#"["+c00"]"#, None),
            (r#"[""]"#, None),
            (r#"["00000000000000001"]"#, None),
        ] {
            let values: Values = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&values).unwrap(), json);
            assert_eq!(values.iter().collect::<Values>(), values, "{json}");
            assert_eq!(values.len(), values.iter().count(), "{json}");
            let own =
                if let ValueForm::Alike(own, _) = &values.0 { Some(own.clone()) } else { None };
            assert_eq!(own, pattern, "{json}");
            assert!(pattern.is_none_or(|pattern| values.of(&pattern).is_some()));
        }
        assert!(serde_json::from_str::<Values>(r#""3c00""#).is_err());
    }
}
