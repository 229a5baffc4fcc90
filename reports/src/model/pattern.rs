//! The form of a value: where in it there are digits, and how many. Values of one form are
//! distinguished by bits alone.

use std::fmt;

use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq as _;
use serde::{Deserializer, Serialize, Serializer};
use smol_str::ToSmolStr as _;

use super::Value;

/// Digits, or a list of other forms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Pattern {
    /// So many lower-case hex digits, 1 to 16.
    Digits(usize),
    /// A list.
    List(Vec<Pattern>),
}

impl Pattern {
    /// The form of a value; `None` where its digits are not as they are written here.
    pub(super) fn of(value: &Value) -> Option<Pattern> {
        match value {
            Value::Bits(text) => scalar(text).map(|(digits, _)| Pattern::Digits(digits)),
            Value::List(list) => {
                list.iter().map(Pattern::of).collect::<Option<_>>().map(Pattern::List)
            }
        }
    }

    /// How many numbers a value of this form has.
    pub(crate) fn numbers(&self) -> usize {
        match self {
            Pattern::Digits(_) => 1,
            Pattern::List(parts) => parts.iter().map(Pattern::numbers).sum(),
        }
    }

    /// Appends a value's numbers to a list, if it is of this form; else some of them may have been.
    pub(crate) fn append(&self, value: &Value, bits: &mut Vec<u64>) -> bool {
        match (self, value) {
            (Pattern::Digits(digits), Value::Bits(text)) => {
                let own = scalar(text).filter(|(own, _)| own == digits);
                bits.extend(own.map(|(_, number)| number));
                own.is_some()
            }
            (Pattern::List(parts), Value::List(list)) => {
                parts.len() == list.len()
                    && parts.iter().zip(list).all(|(part, value)| part.append(value, bits))
            }
            _ => false,
        }
    }

    /// The value of this form with these numbers, as many as it has.
    pub(crate) fn value(&self, bits: &[u64]) -> Value {
        match self {
            Pattern::Digits(digits) => Value::Bits(Hex(*digits, bits[0]).to_smolstr()),
            Pattern::List(parts) => {
                Value::List(split(parts, bits).map(|(part, bits)| part.value(bits)).collect())
            }
        }
    }
}

/// Forms with their numbers.
fn split<'a>(
    parts: &'a [Pattern],
    mut bits: &'a [u64],
) -> impl Iterator<Item = (&'a Pattern, &'a [u64])> {
    parts.iter().map(move |part| {
        let (own, rest) = bits.split_at(part.numbers());
        bits = rest;
        (part, own)
    })
}

/// Number of digits and bits of a text that is as [`Hex`] writes it.
fn scalar(text: &str) -> Option<(usize, u64)> {
    let digit = |bits: u64, byte: u8| match byte {
        b'0'..=b'9' => Some(bits << 4 | u64::from(byte - b'0')),
        b'a'..=b'f' => Some(bits << 4 | u64::from(byte - b'a' + 10)),
        _ => None,
    };
    if !(1..=16).contains(&text.len()) {
        return None;
    }
    text.bytes().try_fold(0, digit).map(|bits| (text.len(), bits))
}

/// Bits as lower-case hex of N digits.
struct Hex(usize, u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$x}", self.1, width = self.0)
    }
}

/// A form and the numbers in it, to be written.
pub(super) struct FilledPattern<'a>(pub(super) &'a Pattern, pub(super) &'a [u64]);

impl Serialize for FilledPattern<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Pattern::Digits(digits) => serializer.collect_str(&Hex(*digits, self.1[0])),
            Pattern::List(parts) => {
                let mut list = serializer.serialize_seq(Some(parts.len()))?;
                split(parts, self.1).try_for_each(|(part, bits)| {
                    list.serialize_element(&FilledPattern(part, bits))
                })?;
                list.end()
            }
        }
    }
}

/// Reads a value of a form: its numbers are appended to a list. One of another form is given back,
/// and the list left as it was.
pub(super) struct PatternReader<'a>(pub(super) &'a Pattern, pub(super) &'a mut Vec<u64>);

impl<'de> DeserializeSeed<'de> for PatternReader<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PatternReader<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value: hex digits, or a list of values")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<Value>, E> {
        match (self.0, scalar(text)) {
            (Pattern::Digits(expected), Some((digits, bits))) if *expected == digits => {
                self.1.push(bits);
                Ok(None)
            }
            _ => Ok(Some(Value::Bits(text.into()))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Option<Value>, A::Error> {
        let PatternReader(pattern, all) = self;
        let parts: &[Pattern] = if let Pattern::List(parts) = pattern { parts } else { &[] };
        let before = all.len();
        let mut other = Vec::new();
        let mut seen = 0;
        for part in parts {
            match list.next_element_seed(PatternReader(part, all))? {
                Some(None) => seen += 1,
                Some(Some(value)) => {
                    other.push(value);
                    break;
                }
                None => break,
            }
        }
        while let Some(value) = list.next_element()? {
            other.push(value);
        }
        if matches!(pattern, Pattern::List(_)) && seen == parts.len() && other.is_empty() {
            return Ok(None);
        }
        let mut values: Vec<Value> =
            split(&parts[..seen], &all[before..]).map(|(part, bits)| part.value(bits)).collect();
        all.truncate(before);
        values.append(&mut other);
        Ok(Some(Value::List(values)))
    }
}
