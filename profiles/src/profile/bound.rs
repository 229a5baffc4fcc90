//! Accuracies and formulas as they are written beside an operation or in a rule.

use std::rc::Rc;

use toml::Spanned;

use super::raw::OneOrMany;
use crate::accuracy::Accuracy;
use crate::formula::Formula;
use crate::source::{SourceError, SourceFile};

/// How many formulas an operation may have.
const MOST: usize = 8;

/// An accuracy as it is written: a bound, `inherited`, or a bound `or inherited`.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) accuracy: Option<Accuracy>,
    pub(super) inherited: bool,
    pub(super) key: String,
    pub(super) source: Rc<SourceFile>,
    pub(super) at: usize,
}

/// The formulas of an operation, with where they stand.
#[derive(Clone, Debug)]
pub(super) struct Formulas {
    pub(super) texts: Vec<(String, Formula)>,
    pub(super) key: String,
    pub(super) source: Rc<SourceFile>,
    pub(super) at: usize,
}

/// Reads an accuracy.
pub(super) fn bound(
    source: &Rc<SourceFile>,
    key: &str,
    text: &Spanned<String>,
) -> Result<Bound, SourceError> {
    let at = text.span().start;
    let key = if key.contains('`') { key.to_owned() } else { format!("`{key}`") };
    let parse = |text: &str| {
        text.parse::<Accuracy>().map_err(|problem| source.error(at, format!("{key}: {problem}")))
    };
    let bound = |accuracy, inherited| Bound {
        accuracy,
        inherited,
        key: key.clone(),
        source: Rc::clone(source),
        at,
    };
    match text.get_ref().as_str() {
        "inherited" => Ok(bound(None, true)),
        text => match text.strip_suffix(" or inherited") {
            Some(other) => Ok(bound(Some(parse(other)?), true)),
            None => Ok(bound(Some(parse(text)?), false)),
        },
    }
}

/// Reads formulas.
pub(super) fn formulas(
    source: &Rc<SourceFile>,
    name: &str,
    texts: &Spanned<OneOrMany<String>>,
) -> Result<Formulas, SourceError> {
    let (at, key) = (texts.span().start, format!("operation.{name}.inherits"));
    let written = &texts.get_ref().0;
    if written.is_empty() || written.len() > MOST {
        return Err(source.error(at, format!("`{key}`: one to {MOST} formulas are expected")));
    }
    let parse = |text: &String| match text.parse() {
        Ok(formula) => Ok((text.clone(), formula)),
        Err(error) => Err(source.error(at, format!("`{key}`: `{text}`: {error}"))),
    };
    let texts = written.iter().map(parse).collect::<Result<_, SourceError>>()?;
    Ok(Formulas { texts, key, source: Rc::clone(source), at })
}
