//! A profile's document as it is written.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use toml::{Spanned, Value};

use crate::area::Area;
use crate::environment::Ulp;
use crate::formula::Inheritance;
use crate::lanes::LaneSelection;
use crate::profile::{Behaviour, Requirement};
use crate::verdict::Level;

/// Keys of an environment as they are written.
pub(super) type EnvironmentKeys = BTreeMap<String, Spanned<Value>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawProfile {
    pub(super) id: Spanned<String>,
    pub(super) title: String,
    pub(super) version: String,
    pub(super) extends: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) without: Vec<Spanned<String>>,
    pub(super) ulp: Option<Ulp>,
    pub(super) inheritance: Option<Inheritance>,
    #[serde(default)]
    pub(super) compile_time: bool,
    pub(super) modes: Option<Vec<Spanned<String>>>,
    pub(super) rounding_modes: Option<Vec<Spanned<String>>>,
    pub(super) late_modes: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(super) group: Vec<Spanned<RawGroup>>,
    #[serde(default)]
    pub(super) environment: BTreeMap<String, Spanned<EnvironmentKeys>>,
    #[serde(default)]
    pub(super) operation: BTreeMap<String, Spanned<RawOperation>>,
    #[serde(default)]
    pub(super) rule: Vec<Spanned<RawRule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawGroup {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) format: Option<Spanned<String>>,
    pub(super) control: Option<Spanned<String>>,
    pub(super) need: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOperation {
    pub(super) lowerings: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) accuracy: BTreeMap<String, Spanned<String>>,
    pub(super) inherits: Option<Spanned<OneOrMany<String>>>,
    pub(super) widths: Option<Spanned<[u32; 2]>>,
    #[serde(default)]
    pub(super) routes: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) environment: EnvironmentKeys,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRule {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) area: Option<Area>,
    pub(super) citation: String,
    #[serde(default)]
    pub(super) note: String,
    #[serde(default)]
    pub(super) quote: String,
    #[serde(default)]
    pub(super) matters: String,
    #[serde(default = "required")]
    pub(super) level: Level,
    pub(super) format: Spanned<OneOrMany<String>>,
    pub(super) operations: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) controls: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) lanes: OneOrMany<LaneSelection>,
    #[serde(default)]
    pub(super) requirement: OneOrMany<Requirement>,
    pub(super) judges: Option<Behaviour>,
    #[serde(default)]
    pub(super) environment: EnvironmentKeys,
    #[serde(default)]
    pub(super) accuracy: BTreeMap<String, Spanned<String>>,
}

fn required() -> Level {
    Level::Required
}

/// A value, or a list of them.
pub(super) struct OneOrMany<T>(pub(super) Vec<T>);

impl<T: Default> Default for OneOrMany<T> {
    fn default() -> Self {
        OneOrMany(vec![T::default()])
    }
}

/// By hand, because an untagged enum would only say that nothing matches.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValuesVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ValuesVisitor<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a table or a list")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(text.into_deserializer()).map(|value| OneOrMany(vec![value]))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|value| OneOrMany(vec![value]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(OneOrMany)
            }
        }
        deserializer.deserialize_any(ValuesVisitor(PhantomData))
    }
}
