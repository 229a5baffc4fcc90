//! Errors that are the user's to fix, and messages on standard error.

use std::io::Write as _;

use crate::escape::visible_lines;

/// Marks an error as the user's to fix: exit status 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// An error with exit status 2.
pub fn usage_error(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(message.into()))
}

/// Turns the error of reading what a user gave into one with exit status 2.
pub trait OrUsage<T> {
    /// Marks the error as the user's to fix, its causes flattened into the message.
    fn or_usage(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrUsage<T> for Result<T, E> {
    fn or_usage(self) -> anyhow::Result<T> {
        self.map_err(|error| usage_error(format!("{:#}", error.into())))
    }
}

/// Prints a line, or several, to standard error, with whatever a terminal would obey made visible;
/// nobody is left to tell where that fails.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible_lines(line));
}
