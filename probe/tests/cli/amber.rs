//! A strict reader of `AmberScript`, since Amber itself is not at hand.
//!
//! It accepts a subset of the grammar that google/amber documents in `docs/amber_script.md`: the
//! first line; comments and lines that `\` continues; `DEVICE_EXTENSION`, `DEVICE_FEATURE` and
//! `DEVICE_PROPERTY`; compute shaders as `SPIRV-ASM` with `TARGET_ENV`; buffers of one unsigned
//! `DATA_TYPE` with `DATA` or with `SIZE` and `FILL`; compute pipelines with `ATTACH`,
//! `ENTRY_POINT`, `SPECIALIZE` and `BIND BUFFER` as storage, uniform or push constant; `RUN` with
//! three numbers; `EXPECT` with `IDX` and one of the comparators `EQ`, `NE`, `LT`, `LE`, `GT`,
//! `GE`. What is not in the subset is an error. Beyond the grammar, names must be declared once and
//! before they are used, numbers must fit their type, and expectations must lie within their
//! buffer.

use std::collections::BTreeMap;

/// A buffer: bytes of an element, number of elements.
type BufferSize = (u64, u64);

/// One `EXPECT`.
#[derive(Debug)]
pub struct Expect {
    /// Place of the first value, in bytes.
    pub index: u64,
    /// Bytes of a value.
    pub size: u64,
    /// The comparator.
    pub comparator: String,
    /// What is compared with.
    pub values: Vec<u64>,
}

impl Expect {
    /// Whether these values, the first at its place, meet it.
    pub fn holds(&self, found: &[u64]) -> bool {
        self.values.iter().zip(found).all(|(value, found)| match self.comparator.as_str() {
            "EQ" => found == value,
            "NE" => found != value,
            "LT" => found < value,
            "LE" => found <= value,
            "GT" => found > value,
            _ => found >= value,
        })
    }
}

/// What a script has declared so far.
#[derive(Default)]
struct Script {
    shaders: Vec<String>,
    buffers: BTreeMap<String, BufferSize>,
    pipelines: Vec<String>,
    runs: usize,
    expectations: Vec<Expect>,
}

/// Reads a script; its expectations, or what is wrong with it.
pub fn read(text: &str) -> Result<Vec<Expect>, String> {
    let mut lines = text.lines();
    if lines.next() != Some("#!amber") {
        return Err("the first line is not #!amber".to_owned());
    }
    let mut script = Script::default();
    while let Some(words) = command(&mut lines) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        script
            .read(&words, &mut lines)
            .map_err(|error| format!("`{}`: {error}", words.join(" ")))?;
    }
    match (script.runs, script.expectations.len()) {
        (0, _) => Err("nothing runs".to_owned()),
        (_, 0) => Err("nothing is expected".to_owned()),
        _ => Ok(script.expectations),
    }
}

/// The words of the next line that has any, with those that continue it.
fn command<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<Vec<String>> {
    loop {
        let mut words: Vec<String> = Vec::new();
        let mut line = lines.next()?;
        loop {
            let code = line.split('#').next().unwrap_or_default().trim_end();
            let continued = code.strip_suffix('\\');
            words.extend(continued.unwrap_or(code).split_whitespace().map(str::to_owned));
            match continued {
                Some(_) => line = lines.next()?,
                None => break,
            }
        }
        if !words.is_empty() {
            return Some(words);
        }
    }
}

impl Script {
    fn read<'a>(
        &mut self,
        words: &[&str],
        lines: &mut impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        match words {
            ["DEVICE_EXTENSION", name] if name.starts_with("VK_") => Ok(()),
            ["DEVICE_FEATURE", name] if is_name(name) => Ok(()),
            ["DEVICE_PROPERTY", name]
                if is_name(name) && name.starts_with("FloatControlsProperties.") =>
            {
                Ok(())
            }
            ["SHADER", "compute", name, "SPIRV-ASM", rest @ ..] => {
                if !matches!(rest, [] | ["TARGET_ENV", "spv1.3"]) {
                    return Err("what follows the format of a shader is TARGET_ENV".to_owned());
                }
                declare(&mut self.shaders, name)?;
                let code = lines.take_while(|line| line.trim() != "END").count();
                if code == 0 { Err("an empty shader".to_owned()) } else { Ok(()) }
            }
            ["BUFFER", name, "DATA_TYPE", kind, rest @ ..] => {
                self.buffer(name, size(kind)?, rest, lines)
            }
            ["PIPELINE", "compute", name] => self.pipeline(name, lines),
            ["RUN", name, x, y, z] => {
                if !self.pipelines.iter().any(|known| known == name) {
                    return Err("no such pipeline".to_owned());
                }
                for count in [x, y, z] {
                    count.parse::<u32>().map_err(|error| format!("{count}: {error}"))?;
                }
                self.runs += 1;
                Ok(())
            }
            ["EXPECT", name, "IDX", index, comparator, values @ ..] => {
                self.expect(name, index, comparator, values)
            }
            _ => Err("no command of the subset".to_owned()),
        }
    }

    fn buffer<'a>(
        &mut self,
        name: &str,
        size: u64,
        rest: &[&str],
        lines: &mut impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        if !is_name(name) || self.buffers.contains_key(name) {
            return Err("no name, or one that is declared before".to_owned());
        }
        let count = match rest {
            ["SIZE", count, "FILL", value] => {
                number(value, size)?;
                count.parse::<u64>().map_err(|error| error.to_string())?
            }
            ["DATA"] => {
                let mut count = 0;
                loop {
                    let words = command(lines).ok_or("DATA without END")?;
                    if words == ["END"] {
                        break count;
                    }
                    for word in &words {
                        number(word, size)?;
                        count += 1;
                    }
                }
            }
            _ => return Err("neither DATA nor SIZE and FILL".to_owned()),
        };
        if count == 0 {
            return Err("an empty buffer".to_owned());
        }
        self.buffers.insert(name.to_owned(), (size, count));
        Ok(())
    }

    fn pipeline<'a>(
        &mut self,
        name: &str,
        lines: &mut impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        declare(&mut self.pipelines, name)?;
        let (mut attached, mut places) = (0, Vec::new());
        loop {
            let words = command(lines).ok_or("PIPELINE without END")?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let wrong = |what: &str| Err(format!("`{}`: {what}", words.join(" ")));
            match &words[..] {
                ["END"] if attached == 1 => return Ok(()),
                ["ATTACH", shader, rest @ ..]
                    if self.shaders.iter().any(|known| known == shader) =>
                {
                    attached += 1;
                    let rest = if let ["ENTRY_POINT", _, rest @ ..] = rest { rest } else { rest };
                    for one in rest.chunks(5) {
                        let ["SPECIALIZE", id, "AS", kind, value] = one else {
                            return wrong("no SPECIALIZE");
                        };
                        id.parse::<u32>().map_err(|error| error.to_string())?;
                        number(value, size(kind)?)?;
                    }
                }
                ["BIND", "BUFFER", buffer, "AS", rest @ ..]
                    if self.buffers.contains_key(*buffer) =>
                {
                    match rest {
                        ["push_constant"] => {}
                        ["storage" | "uniform", "DESCRIPTOR_SET", set, "BINDING", binding] => {
                            let place = (set.parse::<u32>(), binding.parse::<u32>());
                            let (Ok(set), Ok(binding)) = place else { return wrong("no place") };
                            if places.contains(&(set, binding)) {
                                return wrong("a place twice");
                            }
                            places.push((set, binding));
                        }
                        _ => return wrong("no kind of binding"),
                    }
                }
                _ => return wrong("not of a compute pipeline, or not declared"),
            }
        }
    }

    fn expect(
        &mut self,
        name: &str,
        index: &str,
        comparator: &str,
        values: &[&str],
    ) -> Result<(), String> {
        let (size, count) = *self.buffers.get(name).ok_or("no such buffer")?;
        let index = index.parse::<u64>().map_err(|error| error.to_string())?;
        if self.runs == 0
            || !["EQ", "NE", "LT", "LE", "GT", "GE"].contains(&comparator)
            || values.is_empty()
        {
            return Err("before any RUN, without values, or no comparator".to_owned());
        }
        if !index.is_multiple_of(size) || index / size + values.len() as u64 > count {
            return Err("not within the buffer".to_owned());
        }
        let values =
            values.iter().map(|value| number(value, size)).collect::<Result<Vec<_>, _>>()?;
        self.expectations.push(Expect { index, size, comparator: comparator.to_owned(), values });
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c))
}

fn declare(names: &mut Vec<String>, name: &str) -> Result<(), String> {
    if !is_name(name) || names.iter().any(|known| known == name) {
        return Err("no name, or one that is declared before".to_owned());
    }
    names.push(name.to_owned());
    Ok(())
}

/// Bytes of an unsigned type.
fn size(kind: &str) -> Result<u64, String> {
    match kind {
        "uint8" => Ok(1),
        "uint16" => Ok(2),
        "uint32" => Ok(4),
        "uint64" => Ok(8),
        _ => Err(format!("{kind} is no unsigned type")),
    }
}

/// A number of a type, in decimal or in hex.
fn number(text: &str, size: u64) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let value = parsed.map_err(|error| format!("{text}: {error}"))?;
    if size < 8 && value >> (8 * size) > 0 {
        Err(format!("{text} is too large"))
    } else {
        Ok(value)
    }
}

#[test]
fn what_is_no_amber_script_is_refused() {
    let good = "#!amber\nSHADER compute s SPIRV-ASM TARGET_ENV spv1.3\nOpNop\nEND\nBUFFER b DATA_TYPE uint32 SIZE 1 FILL 7\n\
        PIPELINE compute p\n  ATTACH s \\\n    SPECIALIZE 0 AS uint32 3\n  BIND BUFFER b AS storage DESCRIPTOR_SET 0 BINDING 1\n\
        END\nRUN p 1 1 1\nEXPECT b IDX 0 EQ 0x00000007\n";
    assert_eq!(read(good).unwrap().len(), 1);
    for (from, to) in [
        ("#!amber", "# amber"),
        ("uint32 SIZE", "uint33 SIZE"),
        ("SIZE 1", "SIZE"),
        ("FILL 7", "FILL 0x100000000"),
        ("ATTACH s", "ATTACH t"),
        ("BUFFER b AS", "BUFFER c AS"),
        ("storage", "image"),
        ("RUN p", "RUN q"),
        ("RUN p 1 1 1\n", ""),
        ("EXPECT b IDX 0", "EXPECT b IDX 4"),
        ("EXPECT b IDX 0", "EXPECT b IDX 2"),
        ("EQ 0x", "ABOUT 0x"),
        ("EQ 0x00000007", "EQ"),
        ("EXPECT b", "expect b"),
        ("END\nRUN", "RUN"),
    ] {
        assert!(good.contains(from), "{from}");
        assert!(read(&good.replace(from, to)).is_err(), "{from} -> {to}");
    }
}
