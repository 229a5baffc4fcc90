//! Lists of values as one text: hex numbers with a space between two.

use std::fmt::Write as _;

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

pub fn serialize<S: Serializer>(values: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(values))
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn text(values: &[u64]) -> String {
    let mut text = String::with_capacity(values.len() * 9);
    for (place, value) in values.iter().enumerate() {
        let space = if place == 0 { "" } else { " " };
        // Writing into a text cannot fail.
        let _ = write!(text, "{space}{value:x}");
    }
    text
}

fn parse(text: &str) -> Result<Vec<u64>, String> {
    let number = |word: &str| {
        u64::from_str_radix(word, 16).map_err(|_| format!("{word:?} is no hex number"))
    };
    text.split_ascii_whitespace().map(number).collect()
}

/// The same for lists that may be absent.
pub mod option {
    use super::{Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes the field")]
    pub fn serialize<S: Serializer>(
        values: &Option<Vec<u64>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        super::serialize(values.as_deref().unwrap_or_default(), serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u64>>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }
}
