//! What a file can lack that should be a table of results.

/// Why a file is no table of results.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TableError {
    /// Of another kind.
    #[error("it is no Parquet file")]
    NotParquet,
    /// It ends too early.
    #[error("it is truncated: the end of a Parquet file is missing")]
    Truncated,
    /// It does not follow the format, or not the one that this program writes.
    #[error("it is damaged, or another program wrote it: {0}")]
    Content(String),
    /// More than any run gives.
    #[error("it has more {0} than any run gives")]
    TooMany(&'static str),
}

pub(super) fn wrong(what: &str) -> TableError {
    TableError::Content(what.to_owned())
}
