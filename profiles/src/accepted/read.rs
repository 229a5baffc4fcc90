//! Accepted sets from the form in which reports hold them: the reverse of [`Set::to_json`].

use serde_json::Value;

use super::{Accepted, Set};
use crate::encoding::Encoding;
use crate::quad::to_double_bits;

impl Set {
    /// The set that [`Set::to_json`] writes so; `None` for what this version does not know.
    pub fn from_json(encoding: Encoding, json: &Value) -> Option<Set> {
        let object = json.as_object()?;
        let (mut set, mut zero) = (Set::nothing(encoding), None);
        for (key, value) in object {
            match (key.as_str(), value) {
                ("any", Value::Bool(true)) => return Some(Set::everything(encoding)),
                ("nan", Value::Bool(true)) => set = set.or(&Set::nan(encoding)),
                ("bits", Value::Array(list)) => {
                    for bits in list {
                        set = set
                            .or(&Set::one(encoding, u64::from_str_radix(bits.as_str()?, 16).ok()?));
                    }
                }
                ("intervals", Value::Array(list)) => {
                    for interval in list {
                        let (from, to) =
                            (end(encoding, &interval["lo"])?, end(encoding, &interval["hi"])?);
                        // Which of the zeros at an end are in says another key.
                        set = set.or(&Set::range(
                            encoding,
                            if from == 0 { zeros(encoding) } else { from },
                            to,
                        ));
                    }
                }
                ("zero", Value::String(sign)) => zero = Some(sign.as_str()),
                ("except", Value::String(what)) if what == "subnormals" => {}
                _ => return None,
            }
        }
        if object.contains_key("except") {
            set = set.minus(&Set::subnormals(encoding));
        }
        let signed = |negative: bool| match encoding {
            Encoding::Float(layout) => {
                Set::one(encoding, if negative { layout.sign_bit() } else { 0 })
            }
            _ => Set::one(encoding, 0),
        };
        match zero {
            None => Some(set),
            Some("either") => Some(set.or(&Set::zeros(encoding))),
            Some("+") => Some(set.minus(&Set::zeros(encoding)).or(&signed(false))),
            Some("-") => Some(set.minus(&Set::zeros(encoding)).or(&signed(true))),
            Some(_) => None,
        }
    }

    /// Its encodings as ranges of unsigned integers, ascending; first and last are in.
    pub fn codes(&self) -> Vec<(u64, u64)> {
        let encoding = self.encoding;
        let at = |from: i64, to: i64| {
            let (first, last) = (encoding.at(from), encoding.at(to));
            (first.min(last), first.max(last))
        };
        let of_range = |(from, to): &(i64, i64)| {
            // Encodings ascend with the numbers, except for those of negative floats.
            let negative = (*from < 0).then(|| at(*from, (*to).min(-1)));
            let others = (*to >= 0).then(|| at((*from).max(0), *to));
            [negative, others].into_iter().flatten()
        };
        let mut codes: Vec<(u64, u64)> = self.ranges.iter().flat_map(of_range).collect();
        codes.sort_unstable();
        codes
    }
}

impl Accepted {
    /// What [`Accepted::to_json`] writes so, for results of these encodings; `None` for what this
    /// version does not know.
    pub fn from_json(encodings: &[Encoding], json: &Value) -> Option<Accepted> {
        let one = |json: &Value| -> Option<Vec<Set>> {
            match (json, encodings) {
                (Value::Array(sets), _) if sets.len() == encodings.len() => encodings
                    .iter()
                    .zip(sets)
                    .map(|(encoding, set)| Set::from_json(*encoding, set))
                    .collect(),
                (Value::Object(_), [encoding]) => Some(vec![Set::from_json(*encoding, json)?]),
                _ => None,
            }
        };
        match json.get("alts") {
            Some(Value::Array(many)) if !many.is_empty() => {
                many.iter().map(one).collect::<Option<_>>().map(Accepted)
            }
            Some(_) => None,
            None => Some(Accepted(vec![one(json)?])),
        }
    }
}

/// The least position of a zero.
fn zeros(encoding: Encoding) -> i64 {
    if matches!(encoding, Encoding::Float(layout) if layout.signed) { -1 } else { 0 }
}

/// The position of an interval's end, which is a value of the encoding; a zero is the positive one.
fn end(encoding: Encoding, hex: &Value) -> Option<i64> {
    let Encoding::Float(layout) = encoding else { return None };
    let number = f64::from_bits(u64::from_str_radix(hex.as_str()?, 16).ok()?);
    if number.is_nan() || number == 0.0 {
        return (number == 0.0).then_some(0);
    }
    let last = layout.first_nan() as i64 - 1;
    let (mut low, mut high) = if number < 0.0 { (-last - 1, -1) } else { (0, last) };
    while low < high {
        let middle = low + (high - low) / 2;
        if f64::from_bits(to_double_bits(layout, encoding.at(middle))) < number {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (f64::from_bits(to_double_bits(layout, encoding.at(low))) == number).then_some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpprobe_spirv::Format;

    fn half() -> Encoding {
        Encoding::of(Format::F16)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let encoding = half();
        let keys = [
            i64::MIN,
            -0x7c02,
            -0x7c01,
            -0x3c01,
            -0x401,
            -0x400,
            -2,
            -1,
            0,
            1,
            0x3ff,
            0x400,
            0x3c00,
            0x7c00,
        ];
        let (first, last) = encoding.limits();
        let ends =
            || keys.into_iter().chain([0x7c01, i64::MAX]).map(move |key| key.clamp(first, last));
        let mut sets = vec![
            Set::nothing(encoding),
            Set::nan(encoding),
            Set::zeros(encoding),
            Set::finite(encoding),
        ];
        sets.extend(ends().flat_map(|from| ends().map(move |to| Set::range(encoding, from, to))));
        let more: Vec<Set> = sets
            .iter()
            .flat_map(|set| {
                [
                    set.minus(&Set::subnormals(encoding)),
                    set.minus(&Set::zeros(encoding)),
                    set.or(&sets[1]),
                ]
            })
            .collect();
        for set in sets.iter().chain(&more) {
            let json = set.to_json();
            // Long lists of NaNs are cut off.
            if json["bits"].as_array().is_none_or(|bits| bits.len() < 512) {
                assert_eq!(Set::from_json(encoding, &json).as_ref(), Some(set), "{json}");
            }
        }
    }

    #[test]
    fn codes_are_unsigned_and_ascend() {
        let encoding = half();
        assert_eq!(Set::zeros(encoding).codes(), [(0, 0), (0x8000, 0x8000)]);
        assert_eq!(Set::range(encoding, -3, -2).codes(), [(0x8001, 0x8002)]);
        assert_eq!(Set::nan(encoding).codes(), [(0x7c01, 0x7fff), (0xfc01, 0xffff)]);
        assert_eq!(
            Set::range(Encoding::Signed, -1, 1).codes(),
            [(0, 1), (0xffff_ffff, 0xffff_ffff)]
        );
    }

    #[test]
    fn what_is_not_known_is_nothing() {
        for json in [
            r#"{"nearly": true}"#,
            r#""a sentence""#,
            r#"{"bits": ["x"]}"#,
            "[]",
            r#"{"alts": []}"#,
        ] {
            assert_eq!(
                Accepted::from_json(&[half()], &serde_json::from_str(json).unwrap()),
                None,
                "{json}"
            );
        }
    }
}
