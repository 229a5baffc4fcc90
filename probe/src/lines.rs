//! Cases out of arguments and JSON lines, as `eval` and `accepts` take them.

use std::io::{BufRead, Read as _};

use fpprobe_reports::model::Value;
use fpprobe_reports::values;
use fpprobe_spirv::Kernel;
use fpprobe_spirv::cases::is_offered;
use serde::Deserialize;

use fpprobe_system::usage::{OrUsage as _, say, usage_error};

/// Longest line of standard input.
const LINE: u64 = 1 << 20;

/// A line of standard input. What else it holds is ignored, so that a line of output is a line of
/// input.
#[derive(Deserialize)]
struct Input {
    #[serde(rename = "in")]
    values: Vec<Value>,
}

/// The case of the arguments: one per operand. `None` where there are no arguments.
pub fn given(kernel: &Kernel, arguments: &[String]) -> anyhow::Result<Option<Vec<u64>>> {
    if arguments.is_empty() {
        return Ok(None);
    }
    let case = values::parse_case(kernel, arguments).or_usage()?;
    check(kernel, &case).map_err(usage_error)?;
    for (written, read) in filled(kernel, arguments, &case) {
        let written = written.replace('\u{2212}', "-");
        let digits = written.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits { format!("; `{written}.0` is the number") } else { String::new() };
        say(&format!("note: `{written}` is read as {read}{number}"));
    }
    Ok(Some(case))
}

/// What was written with fewer digits than its format has, zero excepted, and what that is in full.
fn filled<'a>(kernel: &Kernel, arguments: &'a [String], case: &[u64]) -> Vec<(&'a str, String)> {
    let inputs = values::encode_case(kernel, case);
    let read: Vec<String> = inputs.iter().map(values::argument).collect();
    let parts = arguments
        .iter()
        .zip(&read)
        .flat_map(|(written, read)| written.split(',').zip(read.split(',')));
    let parts = parts.map(|(written, read)| (written.trim(), read));
    let short = parts.filter(|(written, read)| {
        let digits = written.strip_prefix("0x").unwrap_or(written);
        digits.len() < read.len() && digits.bytes().any(|digit| digit != b'0')
    });
    short.map(|(written, read)| (written, read.to_owned())).collect()
}

/// The cases of standard input's JSON lines, side by side.
pub fn read(kernel: &Kernel) -> anyhow::Result<Vec<u64>> {
    read_from(kernel, std::io::stdin().lock())
}

fn read_from(kernel: &Kernel, mut input: impl BufRead) -> anyhow::Result<Vec<u64>> {
    let mut cases = Vec::new();
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let count = input.by_ref().take(LINE).read_line(&mut line);
        let complain =
            |what: String| usage_error(format!("line {number} of standard input: {what}"));
        match count {
            Ok(0) => break,
            Ok(count) if count as u64 == LINE => {
                return Err(complain(format!("is longer than {LINE} bytes")));
            }
            Ok(_) if line.trim().is_empty() => continue,
            Ok(_) => {}
            Err(error) => return Err(complain(format!("cannot be read: {error}"))),
        }
        let input: Input = serde_json::from_str(&line).map_err(|error| {
            complain(format!("{error}; expected one case, such as {{\"in\": [\"80000000\"]}}"))
        })?;
        let case = values::decode_case(kernel, &input.values)
            .map_err(|error| complain(error.to_string()))?;
        check(kernel, &case).map_err(complain)?;
        cases.extend(case);
    }
    Ok(cases)
}

/// What a driver must not be asked is refused.
fn check(kernel: &Kernel, case: &[u64]) -> Result<(), String> {
    let refusal = || {
        format!(
            "{kernel} takes depths, which lie between 0 and 1: 00000000 to 3f800000, or 80000000"
        )
    };
    if is_offered(kernel, case) { Ok(()) } else { Err(refusal()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(id: &str, text: &str) -> Result<Vec<u64>, String> {
        read_from(&id.parse().unwrap(), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_short_is_told_with_what_it_is_in_full() {
        let described = |id: &str, arguments: &[&str]| {
            let (kernel, arguments) = (
                id.parse().unwrap(),
                arguments.iter().map(ToString::to_string).collect::<Vec<_>>(),
            );
            let case = values::parse_case(&kernel, &arguments).unwrap();
            let described = filled(&kernel, &arguments, &case);
            described
                .into_iter()
                .map(|(written, read)| format!("{written} {read}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(described("f32.fadd", &["3f80", "0x1"]), ["3f80 00003f80", "0x1 00000001"]);
        assert_eq!(described("f32.fadd", &["0", "0x80000000"]), Vec::<String>::new());
        assert_eq!(described("f16.fabs:width=2", &["3c00, 7c"]), ["7c 007c"]);
        assert_eq!(described("f32.select", &["1", "00000001", "00000000"]), Vec::<String>::new());
    }

    #[test]
    fn lines_are_cases_and_mistakes_are_named_with_their_line() {
        assert_eq!(
            parse("f32.fadd", "{\"in\": [\"1\".to_owned()]}").map_err(|e| e.contains("line 1")),
            Err(true)
        );
        assert_eq!(
            parse("f32.fabs", "{\"in\":[\"80000000\"]}\n\n{\"in\":[\"00000001\"],\"out\":\"x\"}")
                .unwrap(),
            [0x8000_0000, 1]
        );
        let message =
            parse("f32.fabs", "{\"in\":[\"80000000\"]}\n{\"in\":[\"8000000g\"]}").unwrap_err();
        assert!(message.contains("line 2") && message.contains("8000000g"), "{message}");
        let message = parse("d32f.store:route=clear", "{\"in\":[\"7fc00000\"]}").unwrap_err();
        assert!(message.contains("line 1") && message.contains("between 0 and 1"), "{message}");
    }
}
