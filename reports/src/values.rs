//! Raw bits to JSON values and back: hex of the format's width, a vector as a list, a matrix as a
//! list of columns, a case as a list of operands, an answer of two results as a list of the two.
//!
//! JSON is exact about width, because a value of the wrong width is a value of the wrong format.
//! Command lines are lenient: `0x`, capitals and missing leading zeros are all right there.

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::cases::named;
use fpprobe_spirv::{Format, Kernel, Shape};

use crate::decimal::{decimal, number};
use crate::model::Value;

/// Why a JSON value or an argument is not a value of the operand or result it stands for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ValueError {
    /// The wrong number of operands.
    #[error("kernel `{kernel}` takes {expected} ({shapes}) but {found} given", expected = count(*expected, "operand"), found = were(*found))]
    Operands {
        /// Kernel id.
        kernel: String,
        /// Number of operands it takes.
        expected: usize,
        /// Number that was given.
        found: usize,
        /// Their formats, in words.
        shapes: String,
    },
    /// A scalar for a vector, a list for a scalar, or a vector of another width.
    #[error("{place}: expected {expected}, found {found}")]
    Shape {
        /// Which operand or component.
        place: String,
        /// What belongs there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Not hex, or not of the format's width.
    #[error("{place}: `{text}` is not a value of {format}: expected {} hex digit{}", format.digits(), if format.digits() == 1 { "" } else { "s" })]
    Bits {
        /// Which operand or component.
        place: String,
        /// What is there.
        text: String,
        /// The format it should have.
        format: Format,
    },
}

/// The JSON value of one operand or result: `bits` holds its components, `shape.width` of them.
pub fn encode(shape: Shape, bits: &[u64]) -> Value {
    written(shape, bits, Format::hex)
}

/// A case in decimals for people: `1, NaN(quiet)`.
pub(crate) fn decimal_case(kernel: &Kernel, case: &[u64]) -> String {
    let params = kernel.params();
    let values = Shape::split(&params, case)
        .flat_map(|(shape, bits)| bits.iter().map(move |bits| decimal(shape.format, *bits)));
    values.collect::<Vec<_>>().join(", ")
}

/// [`encode_answer`] in decimals for people instead of hex.
pub fn decimal_answer(kernel: &Kernel, answer: &[u64]) -> Value {
    in_place(
        Shape::split(&kernel.results(), answer).map(|(shape, bits)| written(shape, bits, decimal)),
    )
}

/// An operand or result with its components written so.
fn written(shape: Shape, bits: &[u64], component: fn(Format, u64) -> String) -> Value {
    match (shape.parts(), bits) {
        (None, [bits]) => Value::Bits(component(shape.format, *bits).into()),
        (parts, list) => {
            let part = parts.map_or(Shape::scalar(shape.format), |(part, _)| part);
            Value::List(
                list.chunks(part.width as usize)
                    .map(|bits| written(part, bits, component))
                    .collect(),
            )
        }
    }
}

/// One result as it is, several as a list.
fn in_place(results: impl Iterator<Item = Value>) -> Value {
    let mut all: Vec<Value> = results.collect();
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            all.extend(last);
            Value::List(all)
        }
    }
}

/// The JSON values of one case of the kernel's inputs: one per operand.
pub fn encode_case(kernel: &Kernel, case: &[u64]) -> Vec<Value> {
    encode_params(&kernel.params(), case)
}

/// The components of all operands of one case, side by side.
pub fn decode_case(kernel: &Kernel, case: &[Value]) -> Result<Vec<u64>, ValueError> {
    let mut bits = Vec::with_capacity(kernel.arity());
    decode_params(&mut bits, &kernel.params(), case, kernel)?;
    Ok(bits)
}

/// The JSON value of the kernel's answer to one case.
pub fn encode_answer(kernel: &Kernel, answer: &[u64]) -> Value {
    encode_results(&kernel.results(), answer)
}

/// The components of the kernel's answer to one case.
pub fn decode_answer(kernel: &Kernel, answer: &Value) -> Result<Vec<u64>, ValueError> {
    let mut bits = Vec::with_capacity(kernel.outputs());
    decode_results(&mut bits, &kernel.results(), answer)?;
    Ok(bits)
}

/// One case from command-line arguments: one argument per operand, the components of a vector
/// joined by commas. Each is hex, or for floats what [`number`] reads where it is not hex: `1.0`,
/// `-0`, `1e-45`, `nan`, `min`.
pub fn parse_case<S: AsRef<str>>(kernel: &Kernel, arguments: &[S]) -> Result<Vec<u64>, ValueError> {
    let params = kernel.params();
    check_operands(kernel, &params, arguments.len())?;
    let mut bits = Vec::with_capacity(kernel.arity());
    for (index, (shape, argument)) in params.iter().zip(arguments).enumerate() {
        let parts: Vec<&str> = argument.as_ref().split(',').map(str::trim).collect();
        let place = format!("operand {}", index + 1);
        if parts.len() != shape.width as usize {
            let found = format!("{} (`{}`)", count(parts.len(), "component"), argument.as_ref());
            return Err(ValueError::Shape { place, expected: describe(*shape), found });
        }
        for text in parts {
            let parsed = shape
                .format
                .parse_bits(text)
                .ok()
                .or_else(|| shape.format.float().and_then(|layout| number(layout, text)));
            bits.push(parsed.ok_or_else(|| ValueError::Bits {
                place: place.clone(),
                text: text.to_owned(),
                format: shape.format,
            })?);
        }
    }
    Ok(bits)
}

/// A value as one command-line argument: the reverse of [`parse_case`].
pub fn argument(value: &Value) -> String {
    match value {
        Value::Bits(bits) => bits.to_string(),
        Value::List(list) => list.iter().map(argument).collect::<Vec<_>>().join(","),
    }
}

/// The command that puts this case to a device; kernel ids with several keys are quoted for the
/// shell.
pub fn eval_command(kernel: &str, case: &[Value]) -> String {
    let plain = kernel.chars().all(|c| c.is_ascii_alphanumeric() || "._:=,-".contains(c));
    let mut command =
        if plain { format!("fpprobe eval {kernel}") } else { format!("fpprobe eval '{kernel}'") };
    for value in case {
        command.push(' ');
        command.push_str(&argument(value));
    }
    command
}

/// The command that runs a case as it ran. What differed between two runs ran in two orders, so it
/// runs among the cases of its list.
pub fn repeat_command(observation: &Observation, case: &[Value]) -> String {
    let Observation { kernel, cases, outcome, .. } = observation;
    let command = eval_command(&kernel.to_string(), case);
    if *outcome != Outcome::Flaky || named(kernel, &cases.name).is_none() {
        return command;
    }
    format!("{command} --among {}", cases.name)
}

/// [`encode_case`] with the operands' shapes at hand.
pub(crate) fn encode_params(params: &[Shape], case: &[u64]) -> Vec<Value> {
    Shape::split(params, case).map(|(shape, bits)| encode(shape, bits)).collect()
}

/// [`encode_answer`] with the results' shapes at hand.
pub(crate) fn encode_results(results: &[Shape], answer: &[u64]) -> Value {
    in_place(encode_params(results, answer).into_iter())
}

/// [`decode_answer`] with the results' shapes at hand, appending to a list.
pub(crate) fn decode_results(
    bits: &mut Vec<u64>,
    results: &[Shape],
    answer: &Value,
) -> Result<(), ValueError> {
    match (results, answer) {
        ([only], value) => decode_into(bits, *only, value, &|| "result".to_owned()),
        (several, Value::List(values)) if values.len() == several.len() => {
            several.iter().zip(values).enumerate().try_for_each(|(index, (shape, value))| {
                decode_into(bits, *shape, value, &|| format!("result {}", index + 1))
            })
        }
        (several, value) => Err(ValueError::Shape {
            place: "result".to_owned(),
            expected: several
                .iter()
                .map(|shape| describe(*shape))
                .collect::<Vec<_>>()
                .join(" and "),
            found: found(value),
        }),
    }
}

/// The operands of a case.
pub(crate) fn operands(case: &Value) -> Result<&[Value], ValueError> {
    match case {
        Value::List(operands) => Ok(operands),
        Value::Bits(_) => Err(ValueError::Shape {
            place: "case".to_owned(),
            expected: "a list of operands".to_owned(),
            found: found(case),
        }),
    }
}

/// [`decode_case`] with the operands' shapes at hand, appending to a list.
pub(crate) fn decode_params(
    bits: &mut Vec<u64>,
    params: &[Shape],
    case: &[Value],
    kernel: &Kernel,
) -> Result<(), ValueError> {
    check_operands(kernel, params, case.len())?;
    for (index, (shape, value)) in params.iter().zip(case).enumerate() {
        decode_into(bits, *shape, value, &|| format!("operand {}", index + 1))?;
    }
    Ok(())
}

/// The components of one operand or result, appended to a list. The place is only put into words
/// where something is wrong: reports hold millions.
fn decode_into(
    bits: &mut Vec<u64>,
    shape: Shape,
    value: &Value,
    place: &dyn Fn() -> String,
) -> Result<(), ValueError> {
    match (shape.parts(), value) {
        (None, Value::Bits(text)) => bits.push(exact(shape.format, text, place)?),
        (Some((part, count)), Value::List(list)) if list.len() == count as usize => {
            let name = if part.width == 1 { "component" } else { "column" };
            for (index, value) in list.iter().enumerate() {
                decode_into(bits, part, value, &|| format!("{}, {name} {}", place(), index + 1))?;
            }
        }
        _ => {
            return Err(ValueError::Shape {
                place: place(),
                expected: describe(shape),
                found: found(value),
            });
        }
    }
    Ok(())
}

fn exact(format: Format, text: &str, place: &dyn Fn() -> String) -> Result<u64, ValueError> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let parsed =
        if digits.len() == format.digits() { format.parse_bits(digits).ok() } else { None };
    parsed.ok_or_else(|| ValueError::Bits { place: place(), text: text.to_owned(), format })
}

fn check_operands(kernel: &Kernel, params: &[Shape], found: usize) -> Result<(), ValueError> {
    if found == params.len() {
        return Ok(());
    }
    let shapes = params.iter().map(|shape| describe(*shape)).collect::<Vec<_>>().join(", ");
    Err(ValueError::Operands { kernel: kernel.to_string(), expected: params.len(), found, shapes })
}

fn describe(shape: Shape) -> String {
    match (shape.columns, shape.width) {
        (1, 1) => format!("one {}", shape.format),
        (1, width) => format!("{width} components of {}", shape.format),
        (columns, width) if columns == width => format!("{width} elements of {}", shape.format),
        (columns, width) => {
            format!("{columns} columns of {} components of {}", width / columns, shape.format)
        }
    }
}

fn found(value: &Value) -> String {
    match value {
        Value::Bits(_) => "one value".to_owned(),
        Value::List(list) => format!("a list of {}", list.len()),
    }
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn were(number: usize) -> String {
    format!("{number} {}", if number == 1 { "was" } else { "were" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(id: &str) -> Kernel {
        id.parse().unwrap()
    }

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn cases_and_answers_go_to_json_and_back() {
        for (id, case, inputs, answer, out) in [
            (
                "f32.inverse_sqrt",
                vec![0x80000000],
                r#"["80000000"]"#,
                vec![0xff800000],
                r#""ff800000""#,
            ),
            ("f16.fmin", vec![0, 0x8000], r#"["0000","8000"]"#, vec![0x8000], r#""8000""#),
            ("f32.ford_equal", vec![0, 1], r#"["00000000","00000001"]"#, vec![1], r#""1""#),
            (
                "f32.select",
                vec![1, 2, 3],
                r#"["1","00000002","00000003"]"#,
                vec![2],
                r#""00000002""#,
            ),
            (
                "b10g11r11.store:route=storage_image",
                vec![1, 2, 3],
                r#"[["00000001","00000002","00000003"]]"#,
                vec![0xffc003ff],
                r#""ffc003ff""#,
            ),
            (
                "f16.fabs:width=2",
                vec![0x8000, 1],
                r#"[["8000","0001"]]"#,
                vec![0, 1],
                r#"["0000","0001"]"#,
            ),
            (
                "f32.frexp",
                vec![0x40c00000],
                r#"["40c00000"]"#,
                vec![0x3f400000, 3],
                r#"["3f400000","00000003"]"#,
            ),
            (
                "f16.modf:width=2",
                vec![0x3e00, 0xc100],
                r#"[["3e00","c100"]]"#,
                vec![0x3800, 0xb800, 0x3c00, 0xc000],
                r#"[["3800","b800"],["3c00","c000"]]"#,
            ),
            (
                "f64.sqrt",
                vec![1 << 63],
                r#"["8000000000000000"]"#,
                vec![1 << 63],
                r#""8000000000000000""#,
            ),
        ] {
            let kernel = kernel(id);
            let values = encode_case(&kernel, &case);
            assert_eq!(serde_json::to_string(&values).unwrap(), inputs);
            assert_eq!(decode_case(&kernel, &values).unwrap(), case);
            let value = encode_answer(&kernel, &answer);
            assert_eq!(serde_json::to_string(&value).unwrap(), out);
            assert_eq!(decode_answer(&kernel, &value).unwrap(), answer);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        let message = |id: &str, text: &str| {
            let values: Vec<Value> = serde_json::from_str(text).unwrap();
            decode_case(&kernel(id), &values).unwrap_err().to_string()
        };
        assert_eq!(
            message("f32.fadd", r#"["00000000"]"#),
            "kernel `f32.fadd` takes 2 operands (one f32, one f32) but 1 was given"
        );
        assert_eq!(
            message("f32.fadd", r#"["00000000","3c00"]"#),
            "operand 2: `3c00` is not a value of f32: expected 8 hex digits"
        );
        assert_eq!(
            message("f32.fabs:width=2", r#"["00000000"]"#),
            "operand 1: expected 2 components of f32, found one value"
        );
        assert_eq!(
            message("f32.fabs", r#"[["00000000"]]"#),
            "operand 1: expected one f32, found a list of 1"
        );
        assert_eq!(
            message("f32.fabs:width=2", r#"[["00000000",["00000000"]]]"#),
            "operand 1, component 2: expected one f32, found a list of 1"
        );
        assert!(
            message("f32.select", r#"["2","00000000","00000000"]"#)
                .contains("`2` is not a value of bool")
        );
        let answer =
            |id: &str, text: &str| decode_answer(&kernel(id), &json(text)).unwrap_err().to_string();
        assert_eq!(
            answer("f32.frexp", r#""3f400000""#),
            "result: expected one f32 and one i32, found one value"
        );
        assert_eq!(
            answer("f32.frexp", r#"["3f400000","3"]"#),
            "result 2: `3` is not a value of i32: expected 8 hex digits"
        );
        assert!(decode_answer(&kernel("f32.fabs"), &json(r#""-0000000""#)).is_err());
        assert!(decode_answer(&kernel("f32.fabs"), &json(r#""é00000""#)).is_err());
    }

    #[test]
    fn what_differed_between_two_runs_runs_among_its_list_again() {
        let command = |id: &str, outcome: Outcome, named: bool| {
            let kernel = kernel(id);
            let mut cases = fpprobe_spirv::cases::boundary(&kernel);
            cases.name = if named { cases.name } else { "mine".to_owned() };
            let case = encode_case(&kernel, cases.case(0));
            let (detail, out) = (String::new(), std::sync::Arc::default());
            repeat_command(
                &Observation { kernel, cases, outcome, detail, out, second: None },
                &case,
            )
        };
        for (id, outcome, named, expected) in [
            (
                "f32.fabs:route=literal",
                Outcome::Ran,
                true,
                "fpprobe eval f32.fabs:route=literal 00000000",
            ),
            (
                "f32.fabs:route=push",
                Outcome::Ran,
                true,
                "fpprobe eval f32.fabs:route=push 00000000",
            ),
            (
                "f32.fabs",
                Outcome::Flaky,
                true,
                "fpprobe eval f32.fabs 00000000 --among f32.unary.boundary",
            ),
        ] {
            assert_eq!(command(id, outcome, named), expected);
        }
    }

    #[test]
    fn arguments_are_lenient_and_print_back() {
        let store = kernel("b10g11r11.store:route=storage_image");
        let case = parse_case(&store, &["0x3F800000,1, 80000000"]).unwrap();
        assert_eq!(case, [0x3f800000, 1, 0x80000000]);
        let values = encode_case(&store, &case);
        assert_eq!(
            eval_command(&store.to_string(), &values),
            "fpprobe eval b10g11r11.store:route=storage_image 3f800000,00000001,80000000"
        );
        assert_eq!(
            eval_command("f32.fabs:controls=ftz32;width=2", &[]),
            "fpprobe eval 'f32.fabs:controls=ftz32;width=2'"
        );
        let numbers =
            "1.0,-0.0,1e-45".split(',').chain(["nan", "-inf", "snan", "max", "min", "-sub", "0.1"]);
        let bits = numbers.map(|text| parse_case(&kernel("f32.fabs"), &[text]).unwrap()[0]);
        let expected = [
            0x3f80_0000,
            0x8000_0000,
            1,
            0x7fc0_0000,
            0xff80_0000,
            0x7f80_0001,
            0x7f7f_ffff,
            0x0080_0000,
            0x8000_0001,
            0x3dcc_cccd,
        ];
        assert_eq!(bits.collect::<Vec<u64>>(), expected);
        assert_eq!(parse_case(&kernel("f16.fabs"), &["-0.5"]).unwrap(), [0xb800]);
        assert_eq!(parse_case(&kernel("f64.fabs"), &["0.1"]).unwrap(), [0x3fb9_9999_9999_999a]);
        // Digits alone are hex; a binary16 must have the number.
        assert_eq!(parse_case(&kernel("f32.fabs"), &["1"]).unwrap(), [1]);
        for (id, text) in [
            ("f16.fabs", "0.1"),
            ("f32.fabs", "one"),
            ("f32.convert_s_to_f", "1.0"),
            ("f32.fabs", "--1.0"),
        ] {
            assert!(parse_case(&kernel(id), &[text]).is_err(), "{id} {text}");
        }
        assert_eq!(
            parse_case(&store, &["0,0"]).unwrap_err().to_string(),
            "operand 1: expected 3 components of f32, found 2 components (`0,0`)"
        );
    }
}
