//! As much of JSON Schema (draft 2020-12) as the report's schema uses. A keyword that is not known
//! here is a failure, so that nothing goes unchecked in silence.

use serde_json::Value;

/// Everything in `value` that the schema does not allow.
pub fn check(schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    walk(schema, schema, value, "$", &mut errors);
    errors
}

fn walk(root: &Value, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        if schema == &Value::Bool(false) {
            errors.push(format!("{at}: nothing is allowed here"));
        }
        return;
    };
    let valid = |schema: &Value| {
        let mut inner = Vec::new();
        walk(root, schema, value, at, &mut inner);
        inner.is_empty()
    };
    let list = |keyword: &Value| keyword.as_array().cloned().unwrap_or_default();
    for (keyword, expected) in keywords {
        let fine = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
            "$ref" => {
                let target =
                    root.pointer(expected.as_str().unwrap().trim_start_matches('#')).unwrap();
                walk(root, target, value, at, errors);
                true
            }
            "type" => match expected {
                Value::Array(types) => types.iter().any(|name| has_type(value, name)),
                name => has_type(value, name),
            },
            "const" => value == expected,
            "enum" => list(expected).contains(value),
            "anyOf" => list(expected).iter().any(valid),
            "oneOf" => list(expected).iter().filter(|schema| valid(schema)).count() == 1,
            "minimum" => value.as_f64().is_none_or(|number| number >= expected.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= expected.as_f64().unwrap()),
            "minItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 >= expected.as_u64().unwrap()),
            "maxItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 <= expected.as_u64().unwrap()),
            "uniqueItems" => value.as_array().is_none_or(|items| {
                items.iter().enumerate().all(|(place, item)| !items[..place].contains(item))
                    || expected != true
            }),
            // The patterns of the schema.
            "pattern" if expected == "^[0-9a-f]{64}$" => value.as_str().is_none_or(|text| {
                text.len() == 64
                    && text.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
            }),
            "pattern" if expected == "^[0-9a-f]{1,16}$" => value.as_str().is_none_or(|text| {
                (1..=16).contains(&text.len())
                    && text.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
            }),
            "required" => list(expected)
                .iter()
                .all(|name| value.get(name.as_str().unwrap()).is_some() || !value.is_object()),
            "properties" => {
                for (name, schema) in expected.as_object().unwrap() {
                    if let Some(member) = value.get(name) {
                        walk(root, schema, member, &format!("{at}.{name}"), errors);
                    }
                }
                true
            }
            // The one pattern of names.
            "patternProperties" => {
                let (pattern, schema) =
                    expected.as_object().and_then(|all| all.iter().next()).unwrap();
                assert_eq!(pattern, NUMBERS);
                for (name, member) in
                    value.as_object().into_iter().flatten().filter(|(name, _)| is_number(name))
                {
                    walk(root, schema, member, &format!("{at}.{name}"), errors);
                }
                true
            }
            "additionalProperties" => {
                let known = keywords.get("properties").and_then(Value::as_object);
                let numbers = keywords.contains_key("patternProperties");
                for (name, member) in value.as_object().into_iter().flatten() {
                    if !(known.is_some_and(|known| known.contains_key(name))
                        || numbers && is_number(name))
                    {
                        walk(root, expected, member, &format!("{at}.{name}"), errors);
                    }
                }
                true
            }
            "items" | "prefixItems" => {
                let schemas = if keyword == "items" { None } else { Some(list(expected)) };
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    let schema =
                        schemas.as_ref().map_or(Some(expected), |schemas| schemas.get(index));
                    if let Some(schema) = schema {
                        walk(root, schema, item, &format!("{at}[{index}]"), errors);
                    }
                }
                true
            }
            _ => panic!("keyword `{keyword}` is not known to this check"),
        };
        if !fine {
            errors.push(format!("{at}: `{keyword}` is not met"));
        }
    }
}

/// Names that are numbers.
const NUMBERS: &str = r"^\d+$";

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|c| c.is_ascii_digit())
}

fn has_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("type `{other}`"),
    }
}
