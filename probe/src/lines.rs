//! Cases out of arguments and JSON lines, as `eval` and `accepts` take them.

use std::io::{BufRead, Read as _};

use fpprobe_reports::model::Value;
use fpprobe_reports::values;
use fpprobe_spirv::Kernel;
use serde::Deserialize;

use crate::exit::{OrUsage as _, usage_error};

/// Longest line of standard input.
const LINE: u64 = 1 << 20;

/// A line of standard input. What else it holds is ignored, so that a line of output is a line of input.
#[derive(Deserialize)]
struct Input {
    #[serde(rename = "in")]
    values: Vec<Value>,
}

/// The case of the arguments: one per operand. `None` where there are no arguments.
pub fn given(kernel: &Kernel, arguments: &[String]) -> anyhow::Result<Option<Vec<u64>>> {
    if arguments.is_empty() { Ok(None) } else { values::parse_case(kernel, arguments).map(Some).or_usage() }
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
        let complain = |what: String| usage_error(format!("line {number} of standard input: {what}"));
        match count {
            Ok(0) => break,
            Ok(count) if count as u64 == LINE => return Err(complain(format!("is longer than {LINE} bytes"))),
            Ok(_) if line.trim().is_empty() => continue,
            Ok(_) => {}
            Err(error) => return Err(complain(format!("cannot be read: {error}"))),
        }
        let input: Input = serde_json::from_str(&line)
            .map_err(|error| complain(format!("{error}; expected one case, such as {{\"in\": [\"80000000\"]}}")))?;
        cases.extend(values::decode_case(kernel, &input.values).map_err(|error| complain(error.to_string()))?);
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(id: &str, text: &str) -> Result<Vec<u64>, String> {
        read_from(&id.parse().unwrap(), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_cases_and_mistakes_are_named_with_their_line() {
        assert_eq!(parse("f32.fadd", "{\"in\": [\"1\".to_owned()]}").map_err(|e| e.contains("line 1")), Err(true));
        assert_eq!(
            parse("f32.fabs", "{\"in\":[\"80000000\"]}\n\n{\"in\":[\"00000001\"],\"out\":\"x\"}").unwrap(),
            [0x8000_0000, 1]
        );
        let message = parse("f32.fabs", "{\"in\":[\"80000000\"]}\n{\"in\":[\"8000000g\"]}").unwrap_err();
        assert!(message.contains("line 2") && message.contains("8000000g"), "{message}");
    }
}
