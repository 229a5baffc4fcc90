//! Reading what a report has millions of. Derived, each of these forms would be read into a tree
//! first and tried one after the other.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Inputs, Outputs, Value, Values};

impl Value {
    /// The components of a list that is being read.
    pub(super) fn read<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element()? {
            parts.push(part);
        }
        Ok(Value::List(parts))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        struct ValueVisitor;
        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value: hex digits, or a list of values")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Bits(text.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Value, A::Error> {
                Value::read(list)
            }
        }
        deserializer.deserialize_any(ValueVisitor)
    }
}

impl<'de> Deserialize<'de> for Inputs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Inputs, D::Error> {
        struct InputsVisitor;
        impl<'de> Visitor<'de> for InputsVisitor {
            type Value = Inputs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a list of inputs, or the cases themselves")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Inputs, E> {
                Ok(Inputs::Table(name.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Inputs, A::Error> {
                Values::read(list).map(Inputs::Cases)
            }
        }
        deserializer.deserialize_any(InputsVisitor)
    }
}

impl<'de> Deserialize<'de> for Outputs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Outputs, D::Error> {
        #[derive(Deserialize)]
        struct SameAsReference {
            same_as: String,
        }
        struct OutputsVisitor;
        impl<'de> Visitor<'de> for OutputsVisitor {
            type Value = Outputs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of values, or `same_as` and the kernel that has them")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Outputs, A::Error> {
                let SameAsReference { same_as } =
                    SameAsReference::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Outputs::SameAs { same_as })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Outputs, A::Error> {
                Values::read(list).map(Outputs::Values)
            }
        }
        deserializer.deserialize_any(OutputsVisitor)
    }
}
