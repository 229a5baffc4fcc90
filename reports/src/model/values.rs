//! Lists of values, small in memory: a run has millions of answers, nearly all of them scalars of one width. They are
//! read without a text of their own for each.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::ToSmolStr as _;

use super::Value;

/// A list of values. Equal lists are equal however they were made.
#[derive(Clone, PartialEq, Debug)]
pub struct Values(Form);

#[derive(Clone, PartialEq, Debug)]
enum Form {
    /// At least one scalar, all of so many hex digits.
    Scalars(usize, Arc<[u64]>),
    /// Anything else.
    Mixed(Vec<Value>),
}

impl Values {
    /// Scalars of so many hex digits, 1 to 16.
    pub fn scalars(digits: usize, bits: Arc<[u64]>) -> Values {
        Values(if bits.is_empty() { Form::Mixed(Vec::new()) } else { Form::Scalars(digits, bits) })
    }

    /// The bits, where all values are scalars of so many digits.
    pub fn of_digits(&self, digits: usize) -> Option<&Arc<[u64]>> {
        match &self.0 {
            Form::Scalars(own, bits) if *own == digits => Some(bits),
            _ => None,
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Scalars(_, bits) => bits.len(),
            Form::Mixed(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, in order.
    pub fn iter(&self) -> impl Iterator<Item = Value> {
        let (digits, bits, values): (usize, &[u64], &[Value]) = match &self.0 {
            Form::Scalars(digits, bits) => (*digits, bits, &[]),
            Form::Mixed(values) => (0, &[], values),
        };
        bits.iter().map(move |bits| Value::Bits(Hex(digits, *bits).to_smolstr())).chain(values.iter().cloned())
    }
}

impl FromIterator<Value> for Values {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Values {
        let mut packing = Packing::default();
        values.into_iter().for_each(|value| packing.push(value));
        packing.done()
    }
}

/// A list on its way: scalars of one width until something else comes.
#[derive(Default)]
struct Packing {
    digits: usize,
    bits: Vec<u64>,
    mixed: Vec<Value>,
}

impl Packing {
    fn push(&mut self, value: Value) {
        match value {
            Value::Bits(text) => self.text(&text),
            list @ Value::List(_) => self.other(list),
        }
    }

    /// A value's text, which in most lists is that of one more scalar.
    fn text(&mut self, text: &str) {
        let scalar = if self.mixed.is_empty() { scalar(text) } else { None };
        match scalar {
            Some((digits, bits)) if self.bits.is_empty() || digits == self.digits => {
                self.digits = digits;
                self.bits.push(bits);
            }
            _ => self.other(Value::Bits(text.into())),
        }
    }

    fn other(&mut self, value: Value) {
        let before = Values::scalars(self.digits, std::mem::take(&mut self.bits).into());
        self.mixed.extend(before.iter());
        self.mixed.push(value);
    }

    fn done(self) -> Values {
        if self.mixed.is_empty() {
            Values::scalars(self.digits, self.bits.into())
        } else {
            Values(Form::Mixed(self.mixed))
        }
    }
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

/// Bits as lower-case hex of so many digits.
struct Hex(usize, u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$x}", self.1, width = self.0)
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Scalars(digits, bits) => serializer.collect_seq(bits.iter().map(|bits| Text(Hex(*digits, *bits)))),
            Form::Mixed(values) => serializer.collect_seq(values),
        }
    }
}

struct Text(Hex);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Values;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of values")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Values, A::Error> {
                Values::read(list)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

impl Values {
    /// The values of a list that is being read.
    pub(super) fn read<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Values, A::Error> {
        let mut packing = Packing::default();
        while list.next_element_seed(Next(&mut packing))?.is_some() {}
        Ok(packing.done())
    }
}

/// The next value of a list.
struct Next<'a>(&'a mut Packing);

impl<'de> DeserializeSeed<'de> for Next<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Next<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value: hex digits, or a list of values")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.text(text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.0.other(Value::read(list)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_go_to_json_and_back_whatever_they_hold() {
        for (json, scalars) in [
            ("[]", None),
            (r#"["3c00","0001"]"#, Some(4)),
            (r#"["1","0"]"#, Some(1)),
            (r#"["ffffffffffffffff"]"#, Some(16)),
            (r#"["3c00","00000001"]"#, None),
            (r#"["3c00",["0001","0002"],"3c01"]"#, None),
            (r#"[["0001","0002"]]"#, None),
            (r#"["3C00"]"#, None),
            (r#"["+c00"]"#, None),
            (r#"[""]"#, None),
            (r#"["00000000000000001"]"#, None),
        ] {
            let values: Values = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&values).unwrap(), json);
            assert_eq!(values.iter().collect::<Values>(), values, "{json}");
            assert_eq!(values.len(), values.iter().count(), "{json}");
            let digits = (1..=17).find(|digits| values.of_digits(*digits).is_some());
            assert_eq!(digits, scalars, "{json}");
        }
        assert!(serde_json::from_str::<Values>(r#""3c00""#).is_err());
    }
}
