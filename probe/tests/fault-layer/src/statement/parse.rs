//! How statements are read.

use std::str::FromStr;

use ash::vk;
use fpprobe_profiles::matrix::UnitModel;
use fpprobe_spirv::Control;

use super::{Count, Damage, Kind, Report, Size, Statement};
use crate::action::{self, Action};
use crate::arithmetic::Arithmetic;
use crate::call::{self, Call, call};
use crate::kernels::Patterns;
use crate::property::{self, Field};
use crate::words::{bytes, number, positive};

/// Reads statements. The error names the statement.
pub fn parse(text: &str) -> Result<Vec<Statement>, String> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let texts = lines.flat_map(split).map(str::trim).filter(|text| !text.is_empty());
    texts.map(|text| text.parse().map_err(|error| format!("`{text}`: {error}"))).collect()
}

/// Statements of a line: `;` separates them where white space or the end follows.
fn split(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in line.match_indices(';') {
        if line[at + 1..].chars().next().is_none_or(char::is_whitespace) {
            parts.push(&line[start..at]);
            start = at + 1;
        }
    }
    parts.push(&line[start..]);
    parts
}

impl FromStr for Statement {
    type Err = String;

    fn from_str(text: &str) -> Result<Statement, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let first = words.first().copied().unwrap_or_default();
        let arithmetic = Arithmetic::is_kind(first);
        let mut statement = Statement {
            text: text.to_owned(),
            kind: Kind::Damage(Damage::Skip),
            on: String::new(),
            at: Patterns::default(),
            size: Size::default(),
            second: false,
            share: 100,
            count: Count::default(),
            ever: false,
            above: None,
        };
        let mut place = None;
        let mut own = Vec::new();
        let mut words = words.into_iter();
        own.extend(words.next());
        while let Some(word) = words.next() {
            let mut next = || words.next().ok_or_else(|| format!("something must follow `{word}`"));
            match word {
                // What is switched on, or called anything at all.
                _ if matches!(first, "feature" | "extension" | "string") && own.len() < 3 => {
                    own.push(word);
                }
                "on" => next()?.clone_into(&mut statement.on),
                "company" => statement.size = Size::Company,
                "alone" => statement.size = Size::Alone,
                "second" => statement.second = true,
                "once" => statement.count = Count::Nth(1),
                "ever" => statement.ever = true,
                // The rest of an arithmetic statement is its own.
                _ if arithmetic => own.push(word),
                "at" => statement.at = Patterns::new(next()?)?,
                "share" => statement.share = number(next()?, 100)? as u8,
                "nth" => statement.count = Count::Nth(positive(next()?)?),
                "from" => statement.count = Count::From(positive(next()?)?),
                "above" => statement.above = Some((number(next()?, u64::MAX)?, next()?.into())),
                "every" => statement.count = Count::Every(positive(next()?)?),
                "in" => {
                    let name = next()?;
                    place = Some(
                        call(name)
                            .ok_or_else(|| format!("`{name}` is no call that is intercepted"))?,
                    );
                }
                _ => own.push(word),
            }
        }
        statement.kind = if arithmetic { rewriting(&own)? } else { kind(&own, place)? };
        statement.check(place)?;
        Ok(statement)
    }
}

fn rewriting(words: &[&str]) -> Result<Kind, String> {
    words.join(" ").parse().map(Kind::Arithmetic)
}

impl Statement {
    /// Whether it takes any module.
    pub fn is_free(&self) -> bool {
        self.size == Size::Any
            && !self.second
            && self.share == 100
            && self.at.is_empty()
            && self.above.is_none()
    }

    /// Refuses words that would have no effect.
    fn check(&self, place: Option<&'static Call>) -> Result<(), String> {
        let plain = self.is_free();
        let counted = self.count != Count::All || self.ever;
        match &self.kind {
            Kind::Act(Action::Return(_), call) if !call.result => {
                Err(format!("{} returns nothing", call.name))
            }
            Kind::Act(_, call) if !call.kernels && !plain => {
                Err(format!("of {} no kernels are known", call.name))
            }
            Kind::Act(..) => Ok(()),
            _ if place.is_some() => Err("only what happens in a call has `in`".to_owned()),
            Kind::Arithmetic(_) | Kind::Damage(_) => Ok(()),
            _ if !plain || counted => {
                Err("what a driver says of its device takes `on` only".to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn kind(words: &[&str], place: Option<&'static Call>) -> Result<Kind, String> {
    let control = |name: &str| match name.parse::<Control>() {
        Ok(control) if control.claim().is_some() => Ok(control),
        Ok(_) => Err(format!("`{name}` is nothing that a driver claims")),
        Err(error) => Err(error.to_string()),
    };
    let u32_of = |text: &str| number(text, u64::from(u32::MAX)).map(|value| value as u32);
    Ok(match words {
        ["claim", name] => Kind::Claim { control: control(name)?, honoured: true },
        ["claim", name, "ignored"] => Kind::Claim { control: control(name)?, honoured: false },
        ["deny", name] => Kind::Deny(control(name)?),
        ["emulate", rest @ ..] => Kind::Emulate(rest.join(" ").parse()?),
        // VkShaderFloatControlsIndependence.
        ["independence", "32-bit-only"] => Kind::Independence(0),
        ["independence", "all"] => Kind::Independence(1),
        ["independence", "none"] => Kind::Independence(2),
        ["feature", name, value] => {
            let value = match *value {
                "on" => 1,
                "off" => 0,
                value => u32_of(value)?,
            };
            Kind::Feature(known(property::FEATURES, name)?, value)
        }
        ["withhold", used, "of", format] => {
            let features = property::format_feature(known(property::FORMAT_FEATURES, used)?);
            Kind::Withhold(
                vk::Format::from_raw(number(format, u64::from(u16::MAX))? as i32),
                features,
            )
        }
        ["extension", name, value @ ("on" | "off")] => {
            Kind::Extension((*name).to_owned(), *value == "on")
        }
        ["limit", name, value] => {
            Kind::Limit(known(property::LIMITS, name)?, number(value, u64::MAX)?)
        }
        ["property", name, value] => {
            Kind::Property(known(property::PROPERTIES, name)?, u32_of(value)?)
        }
        ["count", name, value] => Kind::Length(known(property::COUNTS, name)?, u32_of(value)?),
        ["string", field, text] => {
            Kind::Text { field: string(field)?, bytes: bytes(text)?, endless: false }
        }
        ["string", field, "endless", text] if !text.is_empty() => {
            Kind::Text { field: string(field)?, bytes: bytes(text)?, endless: true }
        }
        ["changing", field] => Kind::Changing { field: field.parse()?, process: false },
        ["changing", field, "process"] => Kind::Changing { field: field.parse()?, process: true },
        ["device-fault", description, rest @ ..] => Kind::Report(report(description, rest)?),
        ["garble", name] => Kind::Garble(known(call::CONVERSIONS, name)?),
        ["skip"] => Kind::Damage(Damage::Skip),
        ["half", "columns"] => Kind::Damage(Damage::HalfColumns),
        ["half", "rows"] => Kind::Damage(Damage::HalfRows),
        ["overrun", count] => Kind::Damage(Damage::Overrun(number(count, u64::from(u32::MAX))?)),
        ["scribble", binding, offset, count] => Kind::Damage(Damage::Scribble {
            binding: u32_of(binding)?,
            offset: number(offset, u64::from(u32::MAX))?,
            bytes: number(count, u64::from(u32::MAX))?,
        }),
        ["flip", rate] => Kind::Damage(Damage::Flip { threshold: probability(rate)?, sums: false }),
        ["flip", rate, "sums"] => {
            Kind::Damage(Damage::Flip { threshold: probability(rate)?, sums: true })
        }
        ["strike", rate, rest @ ..] => {
            let lane = match rest {
                [] => None,
                ["lane", lane] => Some(number(lane, 31)? as u32),
                _ => return Err("`lane N` may follow the probability".to_owned()),
            };
            Kind::Damage(Damage::Strike { threshold: probability(rate)?, lane })
        }
        ["redispatch", "wrong"] => Kind::Damage(Damage::WrongAgain),
        ["redispatch", "stale"] => Kind::Damage(Damage::Stale),
        ["unit", id] => {
            let model = UnitModel::find(id)
                .ok_or_else(|| format!("`{id}` is no model of a unit of matrices"))?;
            Kind::Damage(Damage::Unit(model))
        }
        ["other-queue", "wrong"] => Kind::Damage(Damage::WrongElsewhere),
        ["queues", count] => Kind::Queues(number(count, 16)? as u32),
        [first, ..] if action::KINDS.contains(first) => {
            let action = action::parse(words)?;
            Kind::Act(action, place.ok_or("`in CALL` must say where")?)
        }
        _ => return Err("this is no statement".to_owned()),
    })
}

/// A probability in units of 2^-32.
fn probability(text: &str) -> Result<u32, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate < 1.0);
    rate.map(|rate| (rate * 2_f64.powi(32)) as u32)
        .ok_or_else(|| format!("`{text}` is no probability"))
}

fn string(name: &str) -> Result<Field, String> {
    name.parse().and_then(|field: Field| {
        if field.is_text() { Ok(field) } else { Err(format!("{name} is no string")) }
    })
}

fn known(table: &[&'static str], name: &str) -> Result<&'static str, String> {
    let found = table.iter().find(|known| **known == name).copied();
    found.ok_or_else(|| format!("`{name}` is not one of {}", table.join(", ")))
}

fn report(description: &str, mut words: &[&str]) -> Result<Report, String> {
    let mut report = Report { description: bytes(description)?, ..Report::default() };
    loop {
        words = match words {
            [] => return Ok(report),
            ["address", address, rest @ ..] => {
                report.addresses.push(number(address, u64::MAX)?);
                rest
            }
            ["vendor", text, code, data, rest @ ..] => {
                report.vendor.push((
                    bytes(text)?,
                    number(code, u64::MAX)?,
                    number(data, u64::MAX)?,
                ));
                rest
            }
            ["binary", count, rest @ ..] => {
                report.binary = number(count, u64::from(u32::MAX))?;
                rest
            }
            [other, ..] => return Err(format!("`{other}` is none of address, vendor, binary")),
        };
    }
}

#[cfg(test)]
mod tests;
