//! From what a user wrote to devices and kernels.

use std::path::Path;

use fpprobe_reports::selection::selects;
use fpprobe_spirv::error::nearest;
use fpprobe_spirv::{Kernel, ParseError};

use crate::supervisor::{ManifestRow, Target};
use fpprobe_system::usage::usage_error;

/// Every device of every driver, in the order of `fpprobe list`, which is also their index.
pub fn targets(rows: &[ManifestRow]) -> Vec<Target> {
    let devices = rows
        .iter()
        .flat_map(|row| row.devices.iter().flatten().enumerate().map(move |found| (row, found)));
    devices
        .map(|(row, (index, found))| Target {
            manifest: row.manifest.clone(),
            index,
            found: found.clone(),
        })
        .collect()
}

/// The devices that these selections name, in list order, each once; all where there is no
/// selection.
pub fn devices(
    rows: &[ManifestRow],
    selections: &[String],
) -> anyhow::Result<Vec<(usize, Target)>> {
    let all: Vec<(usize, Target)> = targets(rows).into_iter().enumerate().collect();
    if selections.is_empty() {
        return Ok(all);
    }
    for selection in selections {
        if !all.iter().any(|(index, target)| matches(selection, *index, target, all.len())) {
            return Err(usage_error(no_device(selection, &all, rows)));
        }
    }
    let count = all.len();
    let is_selected = |index: usize, target: &Target| {
        selections.iter().any(|sel| matches(sel, index, target, count))
    };
    Ok(all.into_iter().filter(|(index, target)| is_selected(*index, target)).collect())
}

fn matches(selection: &str, index: usize, target: &Target, count: usize) -> bool {
    let identity = &target.found.identity;
    if let Some(number) = selection.parse::<usize>().ok().filter(|number| *number < count) {
        return number == index;
    }
    selects(selection, identity)
}

fn no_device(selection: &str, all: &[(usize, Target)], rows: &[ManifestRow]) -> String {
    let names: Vec<&str> =
        all.iter().map(|(_, target)| target.found.identity.name.as_str()).collect();
    let words = names.iter().flat_map(|name| name.split_whitespace()).filter(|word| word.len() > 2);
    let near = nearest(selection, words.chain(names.iter().copied()));
    let list: Vec<String> =
        all.iter().map(|(index, target)| format!("{index}: {}", target.label())).collect();
    let mut parts = vec![format!("no device matches `{selection}`")];
    if !near.is_empty() {
        parts.push(format!("did you mean `{}`?", near.join("`, `")));
    }
    parts.push(if list.is_empty() {
        "there is none".to_owned()
    } else {
        format!("there are: {}", list.join(", "))
    });
    let failed = rows.iter().filter_map(|row| row.devices.as_ref().err());
    parts.extend(
        failed.map(|incident| format!("{} gave none: {}", incident.subject, incident.detail)),
    );
    parts.join("; ")
}

/// A kernel by its id.
pub fn kernel(text: &str) -> anyhow::Result<Kernel> {
    text.parse::<Kernel>().map_err(|error| usage_error(error.to_string()))
}

/// The kernels of `known` that these filters name: patterns with `*` pick among them, an id stands
/// for itself whether it is among them or not. No filter picks all.
pub fn kernels(filters: &[String], known: Vec<Kernel>) -> anyhow::Result<Vec<Kernel>> {
    if filters.is_empty() {
        return Ok(known);
    }
    let ids: Vec<String> = known.iter().map(Kernel::to_string).collect();
    let mut picked = vec![false; known.len()];
    let mut others: Vec<Kernel> = Vec::new();
    for filter in filters {
        if filter.contains('*') {
            let mut any = false;
            for (id, picked) in ids.iter().zip(&mut picked).filter(|(id, _)| glob(filter, id)) {
                (*picked, any) = (true, !id.is_empty());
            }
            if !any {
                return Err(usage_error(no_kernel(filter, &ids)));
            }
            continue;
        }
        let kernel =
            filter.parse::<Kernel>().map_err(|error| usage_error(unknown(filter, error, &ids)))?;
        match known.iter().position(|other| *other == kernel) {
            Some(place) => picked[place] = true,
            None if !others.contains(&kernel) => others.push(kernel),
            None => {}
        }
    }
    let known =
        known.into_iter().zip(picked).filter(|(_, picked)| *picked).map(|(kernel, _)| kernel);
    Ok(known.chain(others).collect())
}

fn unknown(filter: &str, error: ParseError, ids: &[String]) -> String {
    match error {
        ParseError::Form(_) => no_kernel(filter, ids),
        error => error.to_string(),
    }
}

fn no_kernel(filter: &str, ids: &[String]) -> String {
    let plain = filter.replace('*', "");
    let mut near = nearest(&plain, ids.iter().map(String::as_str));
    if near.is_empty() {
        // A bare or mistyped operation name: compare with that part alone.
        let name = plain.rsplit('.').next().unwrap_or_default();
        let stems = ids.iter().filter(|id| !id.contains(':'));
        near = nearest(name, stems.clone().filter_map(|id| id.split('.').nth(1)));
        near.truncate(if near.first().is_some_and(|nearest| nearest == name) {
            1
        } else {
            near.len()
        });
        near = stems
            .filter(|id| near.iter().any(|name| id.ends_with(&format!(".{name}"))))
            .take(3)
            .cloned()
            .collect();
    }
    let hint = if near.is_empty() {
        String::new()
    } else {
        format!("; did you mean `{}`?", near.join("`, `"))
    };
    format!("no kernel matches `{filter}`{hint} (`fpprobe kernels` lists them)")
}

/// Whether `text` matches a pattern in which `*` stands for anything.
pub fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Whether a text that may be an id or a path is a path.
pub fn is_path(text: &str) -> bool {
    text.contains('/') || Path::new(text).extension().is_some_and(|extension| extension == "toml")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpprobe_spirv::catalogue;

    fn picked(filters: &[&str]) -> Result<Vec<String>, String> {
        let filters: Vec<String> = filters.iter().map(ToString::to_string).collect();
        let kernels = kernels(&filters, catalogue::plain()).map_err(|error| error.to_string())?;
        Ok(kernels.iter().map(Kernel::to_string).collect())
    }

    #[test]
    fn patterns_pick_and_ids_stand_for_themselves() {
        assert!(picked(&["f16.*"]).unwrap().iter().all(|id| id.starts_with("f16.")));
        assert_eq!(picked(&["*.fadd"]).unwrap(), ["f16.fadd", "f32.fadd", "f64.fadd"]);
        assert_eq!(picked(&["f32.fadd:controls=szin32"]).unwrap(), ["f32.fadd:controls=szin32"]);
        assert_eq!(
            picked(&["f32.fmul", "f32.fadd", "f32.fm*l"]).unwrap(),
            ["f32.fadd", "f32.fmul"]
        );
    }

    #[test]
    fn misses_name_what_is_near() {
        assert!(picked(&["f32.fad"]).unwrap_err().contains("`fadd`"));
        assert!(picked(&["fadd"]).unwrap_err().contains("f32.fadd"));
        assert!(picked(&["f23.*"]).unwrap_err().contains("no kernel matches"));
        assert!(
            picked(&["f32.sqr*t*t"]).unwrap_err().contains("f32.sqrt"),
            "{}",
            picked(&["f32.sqr*t*t"]).unwrap_err()
        );
    }

    #[test]
    fn globs() {
        for (pattern, text, expected) in [
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "acd", false),
            ("*", "", true),
            ("*a*b*", "xaxbx", true),
            ("abc", "abc", true),
            ("ab", "abc", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern} {text}");
        }
    }
}
