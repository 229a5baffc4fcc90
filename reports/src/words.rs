//! Accepted sets in words, from the form in which reports and `fpprobe accepts` hold them.

use fpprobe_spirv::{Channel, Coding, FloatLayout, Format};
use serde_json::{Map, Value};

use crate::decimal::{self, decimal};

/// What a set accepts, for people: `ff800000 (-inf) or any NaN`. `parts` are the names and formats
/// of the values of an answer, where they are known.
///
/// A form that a newer version may have added is shown as the JSON it is.
pub fn accepts_in_words(accepts: &Value, parts: &[(String, Format)]) -> String {
    let parts: Vec<ResultPart> = parts
        .iter()
        .map(|(name, format)| ResultPart {
            name: name.clone(),
            encoding: ValueEncoding::Format(*format),
        })
        .collect();
    in_words(accepts, &parts)
}

/// A value of an answer that has a set of its own.
#[derive(Clone)]
struct ResultPart {
    name: String,
    encoding: ValueEncoding,
}

/// How bits are to be read.
#[derive(Clone, Copy)]
enum ValueEncoding {
    Format(Format),
    Channel(Channel),
    Unknown,
}

impl ValueEncoding {
    fn layout(self) -> Option<FloatLayout> {
        match self {
            ValueEncoding::Format(format) => format.float(),
            ValueEncoding::Channel(channel) => channel.coding.float(),
            ValueEncoding::Unknown => None,
        }
    }

    /// The value of these bits, or nothing where the encoding is not known.
    fn decimal(self, bits: u64) -> Option<String> {
        match self {
            ValueEncoding::Format(format) => Some(decimal(format, bits)),
            ValueEncoding::Channel(channel) => Some(decimal::coded(channel.coding, bits)),
            ValueEncoding::Unknown => None,
        }
    }
}

/// The parts that a list of N sets is about: those that are known, the channels of the one texel,
/// or components.
fn parts_of(parts: &[ResultPart], count: usize) -> Option<Vec<ResultPart>> {
    if parts.len() == count {
        return Some(parts.to_vec());
    }
    let first = parts.first().map_or(ValueEncoding::Unknown, |part| part.encoding);
    let channel = |channel: &Channel| ResultPart {
        name: channel.name.to_string(),
        encoding: ValueEncoding::Channel(*channel),
    };
    let of_texel = |format: Format| {
        let fields: Vec<ResultPart> = format.channels().iter().map(channel).collect();
        let exponent =
            || ResultPart { name: "exponent".to_owned(), encoding: ValueEncoding::Unknown };
        let shared = fields.len() + 1 == count
            && format.channels().iter().all(|one| one.coding == Coding::Shared);
        fields.into_iter().chain(shared.then(exponent)).collect::<Vec<_>>()
    };
    match first {
        ValueEncoding::Format(format) if format.is_packed() && of_texel(format).len() == count => {
            Some(of_texel(format))
        }
        _ if count > 4 => None,
        _ => Some(
            "xyzw"
                .chars()
                .take(count)
                .map(|name| ResultPart { name: name.to_string(), encoding: first })
                .collect(),
        ),
    }
}

fn in_words(accepts: &Value, parts: &[ResultPart]) -> String {
    match accepts {
        Value::Array(sets) => parts_of(parts, sets.len()).map_or_else(
            || accepts.to_string(),
            |parts| {
                let words = |(part, set): (&ResultPart, &Value)| {
                    format!("{}: {}", part.name, in_words(set, std::slice::from_ref(part)))
                };
                parts.iter().zip(sets).map(words).collect::<Vec<_>>().join("; ")
            },
        ),
        // A relation between kernels is accepted or not as a whole, and says so in a sentence.
        Value::String(sentence) => sentence.clone(),
        Value::Object(set) => set_in_words(set, parts).unwrap_or_else(|| accepts.to_string()),
        _ => accepts.to_string(),
    }
}

/// `None` where there is something in it that this version does not know.
fn set_in_words(set: &Map<String, Value>, of: &[ResultPart]) -> Option<String> {
    let encoding = of.first().map_or(ValueEncoding::Unknown, |part| part.encoding);
    let mut parts = Vec::new();
    let mut zero_only = None;
    let mut except = "";
    for (key, value) in set {
        match (key.as_str(), value) {
            ("any", Value::Bool(true)) => parts.push("anything".to_owned()),
            ("nan", Value::Bool(true)) => parts.push("any NaN".to_owned()),
            ("bits", Value::Array(list)) => {
                for bits in list {
                    parts.push(bits_in_words(bits.as_str()?, encoding));
                }
            }
            ("intervals", Value::Array(list)) => {
                for interval in list {
                    parts.push(interval_in_words(interval, encoding)?);
                }
            }
            ("zero", Value::String(sign)) => match sign.as_str() {
                "either" => parts.push("a zero of either sign".to_owned()),
                "+" | "-" if set.contains_key("intervals") => zero_only = Some(sign),
                "+" | "-" => parts.push(format!("{sign}0")),
                _ => return None,
            },
            ("except", Value::String(what)) if what == "subnormals" => {
                except = ", but no subnormal";
            }
            ("alts", Value::Array(list)) => parts.extend(list.iter().map(|set| in_words(set, of))),
            ("any" | "nan", Value::Bool(false)) => {}
            _ => return None,
        }
    }
    let parts = one_of(&parts);
    let zero = zero_only.map(|sign| format!(", zero only as {sign}0")).unwrap_or_default();
    Some(format!("{parts}{zero}{except}"))
}

fn one_of(parts: &[String]) -> String {
    match parts {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn bits_in_words(text: &str, encoding: ValueEncoding) -> String {
    let decimal = u64::from_str_radix(text, 16).ok().and_then(|bits| encoding.decimal(bits));
    decimal.map_or_else(|| text.to_owned(), |decimal| format!("{text} ({decimal})"))
}

fn interval_in_words(interval: &Value, encoding: ValueEncoding) -> Option<String> {
    let end = |name: &str| -> Option<f64> {
        let text = interval.get(name)?.as_str()?;
        Some(f64::from_bits(u64::from_str_radix(text, 16).ok()?))
    };
    let (low, high) = (end("lo")?, end("hi")?);
    let (low_words, high_words) = (number_in_words(low, encoding), number_in_words(high, encoding));
    Some(if low_words == high_words { low_words } else { format!("{low_words} to {high_words}") })
}

/// An end of an interval: the encoding it has in the result's format, and its value.
fn number_in_words(number: f64, encoding: ValueEncoding) -> String {
    let bits = encoding
        .layout()
        .and_then(|layout| Some((layout, decimal::encode_exactly(layout, number)?)));
    match bits {
        Some((layout, bits)) => {
            let digits = layout.bits().div_ceil(4) as usize;
            format!("{bits:0digits$x} ({})", decimal::float(layout, bits))
        }
        None => decimal(Format::F64, number.to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sets_are_put_into_words() {
        let single = Some(Format::F32);
        let one = "3ff0000000000000";
        for (accepts, format, words) in [
            (json!({"any": true}), single, "anything"),
            (json!({"bits": ["ff800000"]}), single, "ff800000 (-inf)"),
            (
                json!({"bits": ["00000000", "80000000"], "nan": true}),
                single,
                "00000000 (0), 80000000 (-0) or any NaN",
            ),
            (json!({"bits": ["1"]}), Some(Format::Bool), "1 (true)"),
            (json!({"bits": ["7e00"]}), None, "7e00"),
            (json!({"zero": "either"}), single, "a zero of either sign"),
            (json!({"zero": "-"}), single, "-0"),
            (
                json!({"intervals": [{"lo": one, "hi": "3ff0000020000000"}], "zero": "+", "except": "subnormals"}),
                single,
                "3f800000 (1) to 3f800001 (1.0000001), zero only as +0, but no subnormal",
            ),
            (json!({"intervals": [{"lo": one, "hi": one}]}), Some(Format::F16), "3c00 (1)"),
            (
                json!({"intervals": [{"lo": "3fb999999999999a", "hi": one}]}),
                single,
                "0.1 to 3f800000 (1)",
            ),
            (
                json!({"alts": [{"nan": true}, {"bits": ["00000000"]}]}),
                single,
                "any NaN or 00000000 (0)",
            ),
            (json!([{"any": true}, {"nan": true}]), single, "x: anything; y: any NaN"),
            (
                json!([{"bits": ["7bf"]}, {"nan": true}, {"bits": ["000"]}]),
                Some(Format::B10g11r11),
                "r: 7bf (65024); g: any NaN; b: 000 (0)",
            ),
            (json!({}), single, "nothing"),
            (json!({"hexagon": 6}), single, r#"{"hexagon":6}"#),
            (json!("the bits of f32.fmul"), single, "the bits of f32.fmul"),
            (json!(7), None, "7"),
        ] {
            let parts: Vec<(String, Format)> =
                format.map(|format| (String::new(), format)).into_iter().collect();
            assert_eq!(accepts_in_words(&accepts, &parts), words);
        }
    }

    #[test]
    fn each_of_two_results_is_read_in_its_format() {
        let parts = [("out".to_owned(), Format::F32), ("second".to_owned(), Format::I32)];
        let one = json!([{"bits": ["3f000000"]}, {"bits": ["ffffffff"]}]);
        let words = "out: 3f000000 (0.5); second: ffffffff (-1)";
        assert_eq!(accepts_in_words(&one, &parts), words);
        assert_eq!(
            accepts_in_words(&json!({"alts": [one, {"any": true}]}), &parts),
            format!("{words} or anything")
        );
    }
}
