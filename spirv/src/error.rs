//! What can be wrong with a kernel id, a list of controls or a value.

/// Why a text is not a kernel id, a control, a route or a value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParseError {
    /// The text does not have the form `FORMAT.OP[:key=value;...]`.
    #[error(
        "`{0}` is not a kernel id: expected FORMAT.OP or FORMAT.OP:key=value;key=value (for example `f32.fadd:controls=szin32`)"
    )]
    Form(String),
    /// A name that nothing has; the nearest ones stand beside it.
    #[error("unknown {what} `{text}`{}", nearest_text(nearest))]
    Unknown {
        /// What was looked for: format, operation, control, route, key.
        what: &'static str,
        /// What was written.
        text: String,
        /// The nearest known names, best first.
        nearest: Vec<String>,
    },
    /// Two controls that SPIR-V or Vulkan forbid together.
    #[error("controls `{first}` and `{second}` exclude each other ({source_text})")]
    Conflict {
        /// The control named first.
        first: &'static str,
        /// The control that does not go with it.
        second: &'static str,
        /// The text that forbids the pair.
        source_text: &'static str,
    },
    /// An operation that is not defined as asked.
    #[error("kernel `{kernel}`: {reason}")]
    Undefined {
        /// The kernel as written.
        kernel: String,
        /// Why there is no such kernel, and what there is.
        reason: String,
    },
    /// Not a hex value of the format.
    #[error(
        "`{text}` is not a value of {format}: expected up to {digits} hex digits, with or without 0x"
    )]
    Bits {
        /// What was written.
        text: String,
        /// The format it should have.
        format: &'static str,
        /// Hex digits of the format.
        digits: usize,
    },
}

impl ParseError {
    /// An unknown name, with the known ones ranked by similarity.
    pub fn unknown<'a>(
        what: &'static str,
        text: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        ParseError::Unknown { what, text: text.to_owned(), nearest: nearest(text, known) }
    }
}

/// The known names nearest to `text`, best first, at most three, none that is nothing like it.
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let limit = 1 + text.len() / 4;
    // The length alone rules most names out, and for a text of a megabyte all of them.
    let close = |name: &&str| name.len().abs_diff(text.len()) <= limit;
    let mut ranked: Vec<(usize, &str)> = known
        .into_iter()
        .filter(close)
        .map(|name| (strsim::damerau_levenshtein(text, name), name))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

fn nearest_text(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => {
            format!(
                "; did you mean {}?",
                names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            )
        }
    }
}
