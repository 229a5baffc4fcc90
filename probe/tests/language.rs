//! The words of the workspace: a type name means one thing, and words that the project has replaced
//! do not come back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that the project has replaced, with the number of places where each still stands. A number
/// may only shrink: lower it with the words.
const RETIRED: [(&str, usize); 28] = [
    ("ask", 40),
    ("asked", 245),
    ("asking", 13),
    ("asks", 46),
    ("canvas", 0),
    ("gone", 27),
    ("hurry", 0),
    ("in company", 3),
    ("likeness", 0),
    ("manner", 0),
    ("manners", 0),
    ("mended", 0),
    ("passage", 0),
    ("roster", 0),
    ("sketch", 0),
    ("so many", 7),
    ("tallies", 0),
    ("tally", 13),
    ("tell", 57),
    ("telling", 2),
    ("tells", 51),
    ("told", 50),
    ("trouble", 2),
    ("troubles", 2),
    ("unasked", 7),
    ("wanted", 7),
    ("whom", 6),
    ("witness", 2),
];

/// Places where replaced words stay: texts that the project quotes, and texts that it generates of
/// them.
const QUOTATIONS: [&str; 4] =
    ["docs/rules", "profiles/data", "probe/tests/fault-layer", "probe/tests/language.rs"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of the workspace that people write and read, with their texts.
fn texts() -> BTreeMap<String, String> {
    let (mut texts, mut folders) = (BTreeMap::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            let last = path.file_name().unwrap().to_string_lossy().into_owned();
            if last.starts_with('.')
                || ["target", "node_modules", "snapshots"].contains(&last.as_str())
            {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| ["rs", "md", "toml"].iter().any(|one| extension == *one))
            {
                texts.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    texts
}

#[test]
fn comments_fit_a_hundred_columns() {
    let is_rust = |name: &str| Path::new(name).extension().is_some_and(|one| one == "rs");
    for (name, text) in texts().iter().filter(|(name, _)| is_rust(name)) {
        let is_comment = |line: &str| line.starts_with("//") && !line.starts_with("//! |");
        let wide =
            text.lines().find(|line| line.chars().count() > 100 && is_comment(line.trim_start()));
        assert_eq!(wide, None, "{name}");
    }
}

#[test]
fn a_type_name_means_one_thing() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let is_test = |name: &str| {
        name.split('/')
            .any(|part| ["tests", "tests.rs", "fuzz", "benches", "examples"].contains(&part))
    };
    for (name, text) in texts().into_iter().filter(|(name, _)| {
        Path::new(name).extension().is_some_and(|one| one == "rs") && !is_test(name)
    }) {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for declared in code.lines().filter_map(declaration) {
            places.entry(declared.to_owned()).or_default().push(name.clone());
        }
    }
    assert!(places.len() > 500, "{} types", places.len());
    let shared: Vec<String> = places
        .iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| format!("{name}: {}", places.join(", ")))
        .collect();
    assert!(shared.is_empty(), "these names stand for several types:\n{}", shared.join("\n"));
}

/// The name of the type that a line declares. The type of a trait's item belongs to the trait.
fn declaration(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let code = code.strip_prefix("pub").map_or(code, |code| {
        code.strip_prefix('(')
            .and_then(|code| code.split_once(')'))
            .map_or(code, |(_, code)| code)
            .trim_start()
    });
    let (kind, name) = code.strip_prefix("unsafe ").unwrap_or(code).split_once(' ')?;
    let declares = ["struct", "enum", "union", "trait"].contains(&kind)
        || kind == "type" && !line.starts_with(' ');
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
    (declares && end > 0).then(|| &name[..end])
}

#[test]
fn replaced_words_do_not_come_back() {
    let mut counts: BTreeMap<&str, (usize, Vec<String>)> =
        RETIRED.iter().map(|(word, _)| (*word, (0, Vec::new()))).collect();
    for (name, text) in texts() {
        if QUOTATIONS.iter().any(|place| name.starts_with(place)) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let words = words(&unquoted(line));
            for (word, (count, places)) in &mut counts {
                let parts: Vec<&str> = word.split(' ').collect();
                let here = words.windows(parts.len()).filter(|window| *window == parts).count();
                *count += here;
                places.extend((here > 0).then(|| format!("{name}:{}", number + 1)));
            }
        }
    }
    let changed: Vec<String> = RETIRED
        .iter()
        .filter(|(word, allowed)| counts[word].0 != *allowed)
        .map(|(word, allowed)| {
            let (count, places) = &counts[word];
            let list =
                if count > allowed { places.join(" ") } else { "lower the number".to_owned() };
            format!("(\"{word}\", {count}), not {allowed}: {list}")
        })
        .collect();
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// A line without what it quotes: code spans, strings of one word (names in documents), `rename`
/// attributes, and lines of quoted blocks.
fn unquoted(line: &str) -> String {
    let line = line.trim_start();
    if line.starts_with("> ") || line.starts_with("#[serde(") || line.starts_with("quote = ") {
        return String::new();
    }
    let spans: Vec<&str> = line.split('`').collect();
    let outside = if spans.len() % 2 == 1 {
        spans.iter().step_by(2).copied().collect::<Vec<_>>().join(" ")
    } else {
        line.to_owned()
    };
    let is_name = |part: &str| part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    outside
        .split('"')
        .enumerate()
        .map(|(at, part)| if at % 2 == 1 && is_name(part) { " " } else { part })
        .collect()
}

/// The words of a text in lower case, those of its identifiers one by one.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut was_lower) = (Vec::new(), String::new(), false);
    for c in text.chars().chain([' ']) {
        let ends = !c.is_ascii_alphabetic() || c.is_ascii_uppercase() && was_lower;
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_ascii_alphabetic() {
            word.push(c.to_ascii_lowercase());
        }
        was_lower = c.is_ascii_lowercase();
    }
    words
}

#[test]
fn words_of_identifiers_and_sentences() {
    assert_eq!(words("AskedAgain::asked_at, TOLD"), ["asked", "again", "asked", "at", "told"]);
    assert_eq!(
        words(&unquoted("The `asked` member is \"asked\": \"what is told\".")),
        ["the", "member", "is", "what", "is", "told"]
    );
    assert_eq!(declaration("pub(super) struct Asked {"), Some("Asked"));
    assert_eq!(declaration("    type Value = Vec<u64>;"), None);
}
