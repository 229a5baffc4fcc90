//! From text to a [`Formula`].

use std::str::FromStr;

use super::{COMPONENTS, Expression, ExpressionKind, Formula, Operator, RELATIONS};
use fpprobe_spirv::op::Relation;

/// Longest formula, in bytes.
const LONGEST: usize = 1024;
/// How deep expressions may stand in one another.
const DEEPEST: u32 = 32;

/// Why a text is no formula.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{problem}, at `{rest}`")]
pub struct FormulaError {
    /// Where, in bytes from the start of the text.
    pub at: usize,
    /// What is wrong.
    pub problem: String,
    /// What the text goes on with there.
    pub rest: String,
}

impl FormulaError {
    /// Something wrong at a place of a text.
    pub fn new(text: &str, at: usize, problem: impl Into<String>) -> FormulaError {
        let rest: String = text.get(at..).unwrap_or_default().chars().take(16).collect();
        FormulaError {
            at,
            problem: problem.into(),
            rest: if rest.is_empty() { "its end".to_owned() } else { rest },
        }
    }
}

impl FromStr for Formula {
    type Err = FormulaError;
    fn from_str(text: &str) -> Result<Self, FormulaError> {
        if text.len() > LONGEST {
            return Err(FormulaError::new(
                text,
                LONGEST,
                format!("a formula has at most {LONGEST} characters"),
            ));
        }
        let mut parser = Parser { text, at: 0, depth: 0 };
        let body = parser.expression()?;
        let mut definitions: Vec<(String, Expression)> = Vec::new();
        if parser.word_is("where") {
            loop {
                let at = parser.skip();
                let name = parser.word().ok_or_else(|| parser.error("a name is expected"))?;
                if definitions.iter().any(|(known, _)| *known == name) {
                    return Err(FormulaError::new(text, at, format!("`{name}` is defined twice")));
                }
                parser.expect("=")?;
                definitions.push((name, parser.expression()?));
                if !parser.takes(",") {
                    break;
                }
            }
        }
        parser.skip();
        if parser.at < text.len() {
            return Err(parser.error("an operator or the end is expected"));
        }
        Ok(Formula { body, definitions })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    fn error(&self, problem: impl Into<String>) -> FormulaError {
        FormulaError::new(self.text, self.at, problem)
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Goes past blanks: where the next token begins.
    fn skip(&mut self) -> usize {
        self.at += self.rest().len() - self.rest().trim_start().len();
        self.at
    }

    fn takes(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), FormulaError> {
        if self.takes(token) { Ok(()) } else { Err(self.error(format!("`{token}` is expected"))) }
    }

    /// The characters from here on that belong to a token.
    fn run(&self, belongs: impl Fn(char) -> bool) -> String {
        self.rest().chars().take_while(|letter| belongs(*letter)).collect()
    }

    fn word(&mut self) -> Option<String> {
        self.skip();
        let word = self.run(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if !word.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            return None;
        }
        self.at += word.len();
        Some(word)
    }

    fn word_is(&mut self, expected: &str) -> bool {
        let before = self.at;
        let found = self.word().is_some_and(|word| word == expected);
        if !found {
            self.at = before;
        }
        found
    }

    fn expression(&mut self) -> Result<Expression, FormulaError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(format!("more than {DEEPEST} expressions stand in one another")));
        }
        let result = self.chain(&[("+", Operator::Add), ("-", Operator::Subtract)], |parser| {
            parser.chain(&[("*", Operator::Multiply), ("/", Operator::Divide)], Self::negation)
        });
        self.depth -= 1;
        result
    }

    /// Values with operators of one strength between them, taken from the left.
    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        next: impl Fn(&mut Self) -> Result<Expression, FormulaError>,
    ) -> Result<Expression, FormulaError> {
        let at = self.skip();
        let mut left = next(self)?;
        while let Some((_, operator)) = operators.iter().find(|(symbol, _)| self.takes(symbol)) {
            let right = next(self)?;
            left = Expression { at, kind: ExpressionKind::Operator(*operator, vec![left, right]) };
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, FormulaError> {
        let at = self.skip();
        let signs = self.run(|letter| letter == '-' || letter == ' ').matches('-').count();
        for _ in 0..signs {
            self.expect("-")?;
        }
        let value = self.swizzled()?;
        let negate = |value| Expression {
            at,
            kind: ExpressionKind::Operator(Operator::Negate, vec![value]),
        };
        if signs > DEEPEST as usize {
            return Err(self.error(format!("more than {DEEPEST} signs")));
        }
        Ok((0..signs).fold(value, |value, _| negate(value)))
    }

    fn swizzled(&mut self) -> Result<Expression, FormulaError> {
        let at = self.skip();
        let mut value = self.primary()?;
        while self.takes(".") {
            let here = self.at;
            let letters = self.word().unwrap_or_default();
            let index = |letter| {
                COMPONENTS.iter().position(|known| *known == letter).map(|index| index as u8)
            };
            let components: Option<Vec<u8>> = letters.chars().map(index).collect();
            match components {
                Some(components) if (1..=4).contains(&components.len()) => {
                    value = Expression {
                        at,
                        kind: ExpressionKind::Swizzle(Box::new(value), components),
                    };
                }
                _ => {
                    return Err(FormulaError::new(
                        self.text,
                        here,
                        "one to four of `xyzw` are expected",
                    ));
                }
            }
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Expression, FormulaError> {
        let at = self.skip();
        if self.takes("(") {
            let value = self.expression()?;
            self.expect(")")?;
            return Ok(value);
        }
        let kind = if self.rest().starts_with(|letter: char| letter.is_ascii_digit()) {
            ExpressionKind::Number(self.number()?)
        } else {
            match self.word() {
                Some(word) if word == "where" => {
                    return Err(FormulaError::new(self.text, at, "a value is expected"));
                }
                Some(word) if self.takes("(") => {
                    if word == "select" {
                        self.select()?
                    } else {
                        ExpressionKind::Call(word, self.arguments()?)
                    }
                }
                Some(word) => ExpressionKind::Name(word),
                None => return Err(self.error("a value is expected")),
            }
        };
        Ok(Expression { at, kind })
    }

    fn number(&mut self) -> Result<String, FormulaError> {
        let before = self.at;
        let digits = |parser: &mut Self| {
            let digits = parser.run(|letter| letter.is_ascii_digit());
            parser.at += digits.len();
            !digits.is_empty()
        };
        let mut valid = digits(self);
        if self.rest().starts_with('.') {
            self.at += 1;
            valid &= digits(self);
        }
        if self.rest().starts_with('e') {
            self.at += 1;
            self.at += usize::from(self.rest().starts_with('-'));
            let start = self.at;
            valid &= digits(self) && self.at - start <= 4;
        }
        valid &= !self.rest().starts_with(|letter: char| letter.is_ascii_alphanumeric());
        let text = self.text[before..self.at].to_owned();
        if valid {
            Ok(text)
        } else {
            Err(FormulaError::new(self.text, before, "this is no decimal number"))
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, FormulaError> {
        let mut arguments = vec![self.expression()?];
        while self.takes(",") {
            arguments.push(self.expression()?);
        }
        self.expect(")")?;
        Ok(arguments)
    }

    fn select(&mut self) -> Result<ExpressionKind, FormulaError> {
        let fails = self.expression()?;
        self.expect(",")?;
        let holds = self.expression()?;
        self.expect(",")?;
        let left = self.expression()?;
        let relation = self.relation()?;
        let right = self.expression()?;
        self.expect(")")?;
        Ok(ExpressionKind::Select(relation, Box::new([fails, holds, left, right])))
    }

    fn relation(&mut self) -> Result<Relation, FormulaError> {
        let found =
            RELATIONS.iter().find(|(symbol, _)| self.takes(symbol)).map(|(_, relation)| *relation);
        found.ok_or_else(|| self.error("a comparison is expected"))
    }
}
