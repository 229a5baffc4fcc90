//! A TOML file that is being read, and what is wrong with it: file, line and key.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use toml::Spanned;

/// How many characters of a line that is no TOML are shown.
const SHOWN: usize = 60;

/// A byte position, and what is wrong there.
pub(crate) type At = (usize, String);

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct ProfileError {
    /// File name.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, naming the key.
    pub problem: String,
}

/// A file: turns byte positions into lines.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) text: String,
}

impl Source {
    /// What is wrong at a byte position.
    pub(crate) fn error(&self, at: usize, problem: impl Into<String>) -> ProfileError {
        let line = self.text.get(..at).unwrap_or(&self.text).matches('\n').count() + 1;
        ProfileError { file: self.file.clone(), line, problem: problem.into() }
    }

    /// The document.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, ProfileError> {
        toml::from_str(&self.text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let mut problem = told("", error);
            if !problem.starts_with('`') && !problem.contains("key `") {
                // A mistake in the form, which has no key.
                let start = self.text.get(..span.start).and_then(|text| text.rfind('\n')).map_or(0, |end| end + 1);
                let line = self.text[start..].lines().next().unwrap_or_default();
                let shown: String = line.chars().take(SHOWN).collect();
                problem = format!("{problem}: `{shown}`");
            }
            self.error(span.start, problem)
        })
    }
}

/// What is wrong, after the key that it is wrong with. `within` is the path of the table that was read, if not the document.
pub(crate) fn told(within: &str, mut error: toml::de::Error) -> String {
    // Without the text the error shows no excerpt of it, but the path of the key.
    error.set_input(None);
    let text = error.to_string();
    let (problem, key) = match text.trim_end().rsplit_once("\nin `") {
        Some((problem, key)) => (problem, key.trim_end_matches('`')),
        None => (text.trim_end(), ""),
    };
    let mut problem = WORDS.iter().fold(problem.replace('\n', " "), |text, (from, to)| text.replace(from, to));
    if problem.ends_with("type: table, expected a list") {
        problem = format!("{problem}: write `[[{key}]]`");
    }
    let path: Vec<&str> = [within, key].into_iter().filter(|part| !part.is_empty()).collect();
    if path.is_empty() { problem } else { format!("`{}`: {problem}", path.join(".")) }
}

/// What TOML calls the things that serde has names for.
const WORDS: [(&str, &str); 8] = [
    ("unknown field", "unknown key"),
    ("missing field", "missing key"),
    ("unknown variant", "unknown value"),
    ("a sequence", "a list"),
    ("type: sequence", "type: list"),
    ("a map", "a table"),
    ("type: map", "type: table"),
    ("struct Lanes", "a table"),
];

/// Refuses a key's list that names something twice or has more than `most` members.
pub(crate) fn once<'a>(key: &str, names: impl Iterator<Item = (usize, &'a String)>, most: usize) -> Result<(), At> {
    let mut seen = BTreeSet::new();
    for (at, name) in names {
        if !seen.insert(name) {
            return Err((at, format!("`{key}`: `{name}` is named twice")));
        }
        if seen.len() > most {
            return Err((at, format!("`{key}`: more than {most} are named")));
        }
    }
    Ok(())
}

/// Names with the places where they stand.
pub(crate) fn placed(names: &[Spanned<String>]) -> impl Iterator<Item = (usize, &String)> {
    names.iter().map(|name| (name.span().start, name.get_ref()))
}
