//! The documents for people: links lead somewhere, paths, commands, options and settings that they
//! name exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fpprobe_spirv::{Format, OPS};

/// Commands that have commands of their own.
const NESTED: [&str; 5] = ["history", "baseline", "config", "daemon", "quarantine"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Each document with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let names = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = names(root()).chain(names(root().join("docs")));
    let documents = all.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    documents.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The code of a text: spans of a line, and indented lines, with what continues them.
fn code(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let is_block =
        |line: &&str| line.starts_with("    ") && !line.trim_start().starts_with(['-', '*']);
    let blocks =
        joined.lines().filter(is_block).map(|line| line.trim().trim_start_matches("$ ").to_owned());
    let prose: Vec<&str> = joined.lines().filter(|line| !is_block(line)).collect();
    let prose = prose.join(" ");
    let spans = prose
        .split('`')
        .skip(1)
        .step_by(2)
        .map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    blocks.chain(spans).collect()
}

fn fpprobe(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fpprobe"));
    command
        .args(arguments)
        .env_remove("FPPROBE_FAULTS")
        .env("XDG_STATE_HOME", "/nonexistent")
        .output()
        .unwrap()
}

#[test]
fn the_front_door_is_short_and_lines_fit() {
    for (path, text) in documents() {
        let wide = text
            .lines()
            .find(|line| line.chars().count() > 100 && !line.trim_start().starts_with('|'));
        assert_eq!(wide, None, "{}", path.display());
    }
    assert!(fs::read_to_string(root().join("README.md")).unwrap().lines().count() <= 120);
}

#[test]
fn the_tables_of_texels_list_every_format_and_operation() {
    let text = fs::read_to_string(root().join("docs/verdicts.md")).unwrap();
    let section = text.split("\n## Texels\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let listed: Vec<&str> = section.split('`').skip(1).step_by(2).collect();
    let formats = Format::PACKED.iter().map(|format| format.name());
    let operations = OPS.iter().filter(|op| op.code.is_of_texels()).map(|op| op.name);
    for name in formats.chain(operations) {
        assert!(listed.contains(&name), "docs/verdicts.md, Texels: `{name}` is missing");
    }
}

#[test]
fn links_lead_somewhere() {
    let anchor = |heading: &str| -> String {
        let kept = heading
            .trim_start_matches('#')
            .trim()
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    for (path, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            if file.contains("://") {
                continue;
            }
            let target = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            assert!(target.exists(), "{}: {link}", path.display());
            let read = || fs::read_to_string(&target).unwrap();
            let has = heading.is_empty()
                || read().lines().any(|line| line.starts_with('#') && anchor(line) == heading);
            assert!(has, "{}: {link}", path.display());
        }
    }
}

#[test]
fn named_paths_exist() {
    let folders = ["probe/", "profiles/", "reports/", "spirv/", "docs/", ".ci/"];
    for (path, text) in documents() {
        for span in code(&text) {
            let is_path =
                folders.iter().any(|folder| span.starts_with(folder)) && !span.contains([' ', '*']);
            assert!(!is_path || root().join(&span).exists(), "{}: {span}", path.display());
        }
    }
}

#[test]
fn commands_and_options_exist() {
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    for (path, text) in documents() {
        let lines = code(&text);
        for line in lines.iter().filter_map(|line| line.strip_prefix("fpprobe ")) {
            let words: Vec<&str> =
                line.split_whitespace().take_while(|word| *word != "#").collect();
            let is_command = |word: &&&str| {
                !word.is_empty() && word.bytes().all(|c| c.is_ascii_lowercase() || c == b'-')
            };
            let mut command: Vec<&str> = words.iter().take(1).filter(is_command).copied().collect();
            for pair in words.windows(2).take(2).take_while(|pair| NESTED.contains(&pair[0])) {
                command.extend(Some(&pair[1]).filter(is_command));
            }
            let help = helps.entry(command.join(" ")).or_insert_with(|| {
                let shown = fpprobe(&[&command[..], &["--help"]].concat());
                assert!(shown.status.success(), "{}: fpprobe {line}", path.display());
                String::from_utf8(shown.stdout).unwrap()
            });
            let options = words
                .iter()
                .filter(|word| word.starts_with("--"))
                .map(|word| word.split('=').next().unwrap());
            for option in
                options.map(|option| option.trim_end_matches(|c: char| !c.is_ascii_lowercase()))
            {
                assert!(
                    help.contains(option),
                    "{}: `{option}` of `fpprobe {line}`",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn settings_exist() {
    let shown = String::from_utf8(fpprobe(&["config", "show"]).stdout).unwrap();
    let keys: Vec<&str> = shown.lines().filter_map(|line| line.split(" = ").next()).collect();
    let tables = ["daemon.", "workers.", "drivers.", "layers.", "store."];
    for (path, text) in documents() {
        for span in
            code(&text).iter().filter(|span| tables.iter().any(|table| span.starts_with(table)))
        {
            let key = span.split([' ', '=']).next().unwrap();
            let is_known =
                keys.iter().any(|known| *known == key || known.starts_with(&format!("{key}.")));
            assert!(is_known, "{}: `{key}` is no setting", path.display());
        }
    }
}

#[test]
fn the_program_alone_says_what_to_type_and_the_man_page_is_sound() {
    let alone = fpprobe(&[]);
    assert_eq!(alone.status.code(), Some(2));
    assert_eq!(String::from_utf8(alone.stderr).unwrap().lines().count(), 5);
    let page = fpprobe(&["man"]).stdout;
    let text = String::from_utf8(page.clone()).unwrap();
    let name = text.split(".SH NAME\n").nth(1).unwrap().lines().next().unwrap();
    assert!(name.len() <= 70, "{name}");
    for section in ["SYNOPSIS", "\"EXIT STATUS\"", "FILES", "ENVIRONMENT", "EXAMPLES"] {
        assert!(
            text.contains(&format!(".SH {section}"))
                || text.contains(&format!(".SH \"{section}\"")),
            "{section}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fpprobe.1");
    fs::write(&path, page).unwrap();
    // Where there is no formatter, its sections have been looked at.
    if let Ok(shown) = Command::new("groff").args(["-man", "-Tutf8", "-ww"]).arg(&path).output() {
        assert_eq!(String::from_utf8_lossy(&shown.stderr), "");
    }
}

#[test]
fn exit_statuses_are_those_of_the_help() {
    let help = String::from_utf8(fpprobe(&["--help"]).stdout).unwrap();
    let (_, statuses) = help.split_once("Exit status:\n").unwrap();
    let (statuses, _) = statuses.split_once("Where several apply").unwrap();
    let rows: Vec<String> =
        statuses.lines().map(|line| line.trim().replacen("  ", " | ", 1)).collect();
    assert_eq!(rows.len(), 6);
    for name in ["README.md", "docs/formats.md"] {
        let text = fs::read_to_string(root().join(name)).unwrap();
        let missing = rows.iter().find(|row| !text.contains(&format!("| {row} |")));
        assert_eq!(missing, None, "{name}");
    }
}

#[test]
fn the_package_has_the_documents() {
    let assets = fs::read_to_string(root().join("probe/Cargo.toml")).unwrap();
    for (path, _) in documents()
        .iter()
        .filter(|(path, _)| path.parent().is_some_and(|folder| folder.ends_with("docs")))
    {
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(assets.contains(&format!("\"../docs/{name}\"")), "{name}");
    }
}
