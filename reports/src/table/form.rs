//! The form of a kernel's cases and results, as the table names it: `(8,8)>8` for two operands and
//! a result of 8 digits each. `each` before it says that a row has the operands of its own
//! component alone.

use std::fmt;

use fpprobe_spirv::{Kernel, Shape};

use crate::model::Pattern;

/// Most numbers of a case, or of a result.
const MOST: usize = 1 << 10;
/// Deepest nesting: operands of columns of components.
const DEPTH: usize = 4;
/// How a form begins whose rows have the operands of one component.
const EACH: &str = "each ";

/// The form of the rows of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RowForm {
    pub case: Pattern,
    pub result: Pattern,
    /// Where a row has the operands of its own component alone: how many components the operands
    /// have.
    pub each: Option<usize>,
}

impl RowForm {
    /// Of a kernel with these forms. Operations that work on each component by itself have operands
    /// by component.
    pub(super) fn new(kernel: Option<&Kernel>, case: Pattern, result: Pattern) -> RowForm {
        let each = kernel
            .and_then(|kernel| components(kernel, &kernel.params()))
            .filter(|width| *width > 1);
        RowForm { case, result, each }
    }

    /// Reads what [`fmt::Display`] writes.
    pub(super) fn parse(text: &str) -> Option<RowForm> {
        let (is_each, text) = text.strip_prefix(EACH).map_or((false, text), |rest| (true, rest));
        let (case, result) = text.split_once('>')?;
        let (case, result) = (pattern(case)?, pattern(result)?);
        let each = if is_each {
            Some(width(&case).filter(|width| result.numbers().is_multiple_of(*width))?)
        } else {
            None
        };
        Some(RowForm { case, result, each })
    }

    /// Rows of a case.
    pub(super) fn rows(&self, has_results: bool) -> usize {
        if has_results { self.result.numbers() } else { 1 }
    }

    /// Components of a row's operands where these are those of one component: none without results.
    pub(super) fn width(&self, has_results: bool) -> Option<usize> {
        self.each.filter(|_| has_results)
    }

    /// Operands of a row.
    pub(super) fn operands(&self, has_results: bool) -> usize {
        self.case.numbers() / self.width(has_results).unwrap_or(1)
    }
}

impl fmt::Display for RowForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.each.is_some() { EACH } else { "" })?;
        write!(f, "{}>{}", WrittenPattern(&self.case), WrittenPattern(&self.result))
    }
}

/// How many components the operands have of an operation that works on each by itself.
fn components(kernel: &Kernel, params: &[Shape]) -> Option<usize> {
    let width = params.first()?.width;
    let is_each = !kernel.op.is_geometric() && !kernel.has_matrices();
    let alike = params.iter().all(|param| param.width == width)
        && kernel.outputs().is_multiple_of(width as usize);
    (is_each && alike).then_some(width as usize)
}

/// Components of each operand, where all have as many.
fn width(case: &Pattern) -> Option<usize> {
    let Pattern::List(operands) = case else { return None };
    let width = operands.first()?.numbers();
    operands.iter().all(|one| one.numbers() == width).then_some(width)
}

/// A pattern as text.
struct WrittenPattern<'a>(&'a Pattern);

impl fmt::Display for WrittenPattern<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Pattern::Digits(digits) => write!(f, "{digits}"),
            Pattern::List(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    write!(f, "{}{}", if index == 0 { "(" } else { "," }, WrittenPattern(part))?;
                }
                f.write_str(")")
            }
        }
    }
}

/// A pattern with at least one number and at most [`MOST`].
fn pattern(text: &str) -> Option<Pattern> {
    let mut rest = text;
    let pattern = next(&mut rest, DEPTH)?;
    (rest.is_empty() && (1..=MOST).contains(&pattern.numbers())).then_some(pattern)
}

fn next(rest: &mut &str, depth: usize) -> Option<Pattern> {
    let Some(mut inner) = rest.strip_prefix('(') else {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest[..end].parse().ok().filter(|digits| (1..=16).contains(digits))?;
        *rest = &rest[end..];
        return Some(Pattern::Digits(digits));
    };
    let mut parts = Vec::new();
    loop {
        parts.push(next(&mut inner, depth.checked_sub(1)?)?);
        let (c, after) = inner.split_at_checked(1)?;
        inner = after;
        match c {
            "," => {}
            ")" => break,
            _ => return None,
        }
    }
    *rest = inner;
    Some(Pattern::List(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_print_and_parse() {
        for text in
            ["(8)>8", "(8,8)>1", "each ((8,8),(8,8))>(8,8)", "(((4,4),(4,4)),8)>((4,4),(4,4))"]
        {
            assert_eq!(RowForm::parse(text).map(|form| form.to_string()).as_deref(), Some(text));
        }
        let form = RowForm::parse("each ((8,8),(8,8))>(8,8)").unwrap();
        assert_eq!(
            (form.rows(true), form.operands(true), form.rows(false), form.operands(false)),
            (2, 2, 1, 4)
        );
        for text in [
            "",
            ">",
            "8",
            "8>",
            "()>8",
            "(8>8",
            "(8))>8",
            "(0)>8",
            "(17)>8",
            "(8,)>8",
            "((((((8))))))>8",
        ] {
            assert_eq!(RowForm::parse(text), None, "{text}");
        }
        for text in ["each ((8,8),8)>(8,8)", "each ((8,8))>8", "each 8>8"] {
            assert_eq!(RowForm::parse(text), None, "{text}");
        }
        assert_eq!(RowForm::parse(&format!("({})>8", vec!["8"; 1025].join(","))), None);
    }
}
