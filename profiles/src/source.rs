//! A TOML file that is being read, and what is wrong with it: file, line and key.

use std::collections::BTreeSet;

use fpprobe_spirv::error::nearest;
use serde::de::DeserializeOwned;
use toml::Spanned;

/// How many characters of a line that is no TOML are shown.
const SHOWN: usize = 60;

/// How many mistakes are told at once.
const MOST: usize = 16;

/// A byte position, and what is wrong there.
pub(crate) type LocatedError = (usize, String);

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}{}", others.iter().map(|other| format!("\n{other}")).collect::<Vec<_>>().concat())]
pub struct SourceError {
    /// File name.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, naming the key.
    pub problem: String,
    /// What else is wrong, as far as one mistake does not hide another.
    pub others: Vec<SourceError>,
}

impl SourceError {
    /// The results, or everything that is wrong with them as one error.
    pub(crate) fn every<T>(
        results: impl Iterator<Item = Result<T, SourceError>>,
    ) -> Result<Vec<T>, SourceError> {
        let (mut found, mut wrong) = (Vec::new(), Vec::new());
        for result in results {
            match result {
                Ok(one) => found.push(one),
                Err(error) if wrong.len() < MOST => wrong.push(error),
                Err(_) => {}
            }
        }
        let mut wrong = wrong.into_iter();
        let Some(mut first) = wrong.next() else { return Ok(found) };
        first.others.extend(wrong);
        Err(first)
    }
}

/// A file: turns byte positions into lines.
#[derive(Debug)]
pub struct SourceFile {
    pub(crate) file: String,
    pub(crate) text: String,
}

impl SourceFile {
    /// A file's name and text.
    pub fn new(file: impl Into<String>, text: impl Into<String>) -> SourceFile {
        SourceFile { file: file.into(), text: text.into() }
    }

    /// What is wrong at a byte position.
    pub fn error(&self, at: usize, problem: impl Into<String>) -> SourceError {
        let line = self.text.get(..at).unwrap_or(&self.text).matches('\n').count() + 1;
        SourceError { file: self.file.clone(), line, problem: problem.into(), others: Vec::new() }
    }

    /// The document. Unknown keys are refused with the nearest known one.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, SourceError> {
        toml::from_str(&self.text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let mut problem = message("", error);
            if !problem.starts_with('`') && !problem.contains("key `") {
                // A mistake in the form, which has no key.
                let start = self
                    .text
                    .get(..span.start)
                    .and_then(|text| text.rfind('\n'))
                    .map_or(0, |end| end + 1);
                let line = self.text[start..].lines().next().unwrap_or_default();
                let shown: String = line.chars().take(SHOWN).collect();
                problem = format!("{problem}: `{shown}`");
            }
            self.error(span.start, problem)
        })
    }
}

/// What is wrong, after the key that it is wrong with. `within` is the path of the table that was
/// read, if not the document.
pub(crate) fn message(within: &str, mut error: toml::de::Error) -> String {
    // Without the text the error shows no excerpt of it, but the path of the key.
    error.set_input(None);
    let text = error.to_string();
    let (problem, key) = match text.trim_end().rsplit_once("\nin `") {
        Some((problem, key)) => (problem, key.trim_end_matches('`')),
        None => (text.trim_end(), ""),
    };
    let mut problem =
        WORDS.iter().fold(problem.replace('\n', " "), |text, (from, to)| text.replace(from, to));
    if let Some(near) = meant(&problem) {
        problem = format!("{problem}; did you mean `{near}`?");
    }
    if problem.ends_with("type: table, expected a list") {
        problem = format!("{problem}: write `[[{key}]]`");
    }
    let path: Vec<&str> = [within, key].into_iter().filter(|part| !part.is_empty()).collect();
    if path.is_empty() { problem } else { format!("`{}`: {problem}", path.join(".")) }
}

/// The known name that an unknown key is nearest to, by the message that lists them.
fn meant(problem: &str) -> Option<String> {
    let mut names = problem.split_once("unknown key `")?.1.split('`').step_by(2);
    let unknown = names.next()?;
    nearest(unknown, names.filter(|name| !name.is_empty())).into_iter().next()
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
    ("struct LaneSelection", "a table"),
];

/// Refuses a key's list that names something twice or has more than `most` members.
pub(crate) fn once<'a>(
    key: &str,
    names: impl Iterator<Item = (usize, &'a String)>,
    most: usize,
) -> Result<(), LocatedError> {
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
