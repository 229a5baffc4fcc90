//! The language of the statements; see the parent module.

use std::str::FromStr;

use fpprobe_spirv::op::{Code, Function};
use fpprobe_spirv::{Control, Format, Route};

use super::fault::{
    Class, Condition, Direction, Fault, Operation, Set, Sign, Source, Step, Value, Verb, operations,
};
use super::round;

/// First words of the statements.
pub const VERBS: [&str; 8] = ["give", "pass", "flush", "keep", "round", "fuse", "drop", "split"];

/// Words that begin a clause.
const CLAUSES: [&str; 7] = ["in", "at", "by", "under", "unless", "when", "and"];

/// Reads a statement.
pub fn fault(text: &str) -> Result<Fault, String> {
    read(text).map_err(|error| format!("`{text}`: {error}"))
}

fn read(text: &str) -> Result<Fault, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let end = words.iter().position(|word| CLAUSES.contains(word)).unwrap_or(words.len());
    let (head, mut rest) = words.split_at(end);
    let mut fault = Fault::new(verb(head)?);
    let mut named = matches!(fault.verb, Verb::Flush { .. });
    while let [clause, after @ ..] = rest {
        let end = after.iter().position(|word| CLAUSES.contains(word)).unwrap_or(after.len());
        let (argument, next) = after.split_at(end);
        match (*clause, argument) {
            ("in", [stems]) => (fault.operations, named) = (instructions(stems)?, true),
            ("at", [stems]) => fault.at = chosen(stems)?,
            ("by", [way]) => fault.by.push(self::way(way)?),
            ("under", [name]) => fault.under.push(control(name)?),
            ("unless", [name]) => fault.unless.push(control(name)?),
            ("when" | "and", condition) => fault.when.push(self::condition(condition)?),
            (clause, argument) => {
                return Err(format!("`{clause} {}` says nothing", argument.join(" ")));
            }
        }
        rest = next;
    }
    if !named {
        return Err("it does not say in which operations".to_owned());
    }
    sensible(&fault).map(|()| fault)
}

/// Refuses what could never do anything.
fn sensible(fault: &Fault) -> Result<(), String> {
    let refused =
        |what: &str, (format, op): &Operation| Err(format!("`{format}.{}` {what}", op.name));
    for operation in &fault.operations {
        let several = matches!(operation.1.code, Code::Steps(_));
        match &fault.verb {
            Verb::Flush { .. } => {}
            _ if several => {
                return refused("is several instructions: name one of them, `at` it", operation);
            }
            Verb::Round(_) if !round::knows(operation.1, operation.0) => {
                return refused("is not rounded here", operation);
            }
            Verb::Fuse if operation.1.name != "fadd" || operation.0 == Format::F64 => {
                return refused("is not what takes a product in", operation);
            }
            Verb::Drop
                if !matches!(operation.1.function, Function::ToFloat | Function::QuantizeToF16) =>
            {
                return refused("is no conversion", operation);
            }
            Verb::Split
                if operation.1.name != "fdiv" && !matches!(operation.1.code, Code::Atomic(..)) =>
            {
                return refused("is not what is split", operation);
            }
            _ => {}
        }
    }
    if !fault.when.is_empty() && !matches!(fault.verb, Verb::Give(_) | Verb::Pass(..)) {
        return Err("only `give` and `pass` look at values".to_owned());
    }
    Ok(())
}

fn verb(words: &[&str]) -> Result<Verb, String> {
    Ok(match words {
        ["give", value] => Verb::Give(self::value(value)?),
        ["pass", value, "as", place] => match self::value(place)? {
            Value { source: Source::Operand(place), steps } if steps.is_empty() => {
                Verb::Pass(self::value(value)?, place)
            }
            _ => return Err(format!("`{place}` is no operand")),
        },
        ["flush", rest @ .., "without", "sign"] => flush(rest, Some(Sign::Lost))?,
        ["flush", rest @ ..] => flush(rest, Some(Sign::Kept))?,
        ["keep", rest @ ..] => flush(rest, None)?,
        ["round", "toward", "zero"] => Verb::Round(Direction::TowardZero),
        ["round", "to", "nearest"] => Verb::Round(Direction::Nearest),
        ["fuse"] => Verb::Fuse,
        ["drop"] => Verb::Drop,
        ["split"] => Verb::Split,
        _ => return Err(format!("`{}` is nothing that is done to arithmetic", words.join(" "))),
    })
}

fn flush(words: &[&str], flush: Option<Sign>) -> Result<Verb, String> {
    let [format, what @ ("operands" | "results")] = words else {
        return Err("expected a format, then `operands` or `results`".to_owned());
    };
    let format: Format = format.parse().map_err(|error| format!("{error}"))?;
    format.float().ok_or_else(|| format!("{format} has no subnormals"))?;
    Ok(Verb::Flush { format, operands: *what == "operands", flush })
}

/// A route other than the buffer, a width other than 1 as labels have it, or a local size.
fn way(name: &str) -> Result<String, String> {
    if name.strip_prefix("local").is_some_and(|size| size.parse::<u32>().is_ok()) {
        return Ok(name.to_owned());
    }
    let known = ["x2", "x3", "x4"].into_iter().chain(Route::ALL.map(Route::name));
    known
        .into_iter()
        .find(|way| *way == name)
        .map(str::to_owned)
        .ok_or_else(|| format!("`{name}` is no route, width or local size"))
}

fn control(name: &str) -> Result<Control, String> {
    name.parse().map_err(|error| format!("{error}"))
}

/// The operations that patterns choose; each must choose one.
fn chosen(patterns: &str) -> Result<Vec<Operation>, String> {
    let mut chosen = Vec::new();
    for pattern in patterns.split('|') {
        let found = operations(|op, format| {
            let stem = format!("{format}.{}", op.name);
            match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
                (Some(tail), _) => stem.ends_with(tail),
                (_, Some(head)) => stem.starts_with(head),
                _ => stem == pattern,
            }
        });
        if found.is_empty() {
            return Err(format!("`{pattern}` is no operation"));
        }
        chosen.extend(found);
    }
    Ok(chosen)
}

/// The operations of instructions: a pattern with `*` passes over those that are several.
fn instructions(patterns: &str) -> Result<Vec<Operation>, String> {
    let mut chosen = chosen(patterns)?;
    if patterns.contains('*') {
        chosen.retain(|(_, op)| !matches!(op.code, Code::Steps(_)));
    }
    Ok(chosen)
}

fn condition(words: &[&str]) -> Result<Condition, String> {
    let (value, negated, set) = match words {
        [value, "is", "not", set] => (value, true, set),
        [value, "is", set] => (value, false, set),
        _ => return Err(format!("`{}` is no condition", words.join(" "))),
    };
    Ok(Condition { value: self::value(value)?, negated, set: set.parse()? })
}

impl FromStr for Set {
    type Err = String;
    fn from_str(text: &str) -> Result<Set, String> {
        if let Some((low, high)) = text.split_once("..") {
            let (low, high) = (bits(low)?, bits(high)?);
            return if low <= high {
                Ok(Set::Range(low, high))
            } else {
                Err(format!("`{text}` is empty"))
            };
        }
        Ok(Set::Class(match text {
            "nan" => Class::Nan,
            "quiet" => Class::Quiet,
            "signalling" => Class::Signalling,
            "infinite" => Class::Infinite,
            "zero" => Class::Zero,
            "subnormal" => Class::Subnormal,
            "normal" => Class::Normal,
            "finite" => Class::Finite,
            "negative" => Class::Negative,
            "positive" => Class::Positive,
            _ => return value(text).map(Set::Value),
        }))
    }
}

fn value(text: &str) -> Result<Value, String> {
    let at = text.find(['+', '-']).unwrap_or(text.len());
    let (head, plus) = text.split_at(at);
    let mut parts = head.split('.');
    let source = match parts.next().unwrap_or_default() {
        "x" => Source::Operand(0),
        "y" => Source::Operand(1),
        "z" => Source::Operand(2),
        "r" => Source::Result,
        digits => Source::Bits(bits(digits)?),
    };
    let step = |name: &str| match name {
        "zero" => Ok(Step::Zero),
        "magnitude" => Ok(Step::Magnitude),
        "negated" => Ok(Step::Negated),
        "noisy" => Ok(Step::Noisy),
        "wrapped" => Ok(Step::Wrapped),
        _ => Err(format!("`.{name}` is nothing that is done to a value")),
    };
    let mut steps = parts.map(step).collect::<Result<Vec<_>, _>>()?;
    if !plus.is_empty() {
        steps.push(Step::Plus(plus.parse().map_err(|_| format!("`{plus}` is no number"))?));
    }
    Ok(Value { source, steps })
}

fn bits(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16)
        .map_err(|_| format!("`{text}` is neither hexadecimal nor a value"))
}
