//! Formulas: the expression that an operation's accuracy is inherited from, as profiles write it.
//!
//! ```toml
//! inheritance = "interval"            # or "symmetric"; of the whole profile, see [`Inheritance`]
//!
//! [operation.pow]
//! lowerings = ["pow"]
//! inherits = "exp2(y * log2(x))"      # or a list: what any of them allows
//!
//! [operation.acos]
//! lowerings = ["acos"]
//! inherits = "atan2(sqrt(1 - x * x), x)"
//! accuracy.f32 = "absolute 6.77e-5 or inherited"   # the worse of both
//!
//! [operation.smoothstep]
//! lowerings = ["smooth_step"]
//! inherits = "t * t * (3 - 2 * t) where t = clamp((x - low) / (high - low), 0, 1)"
//!
//! [operation.refract]
//! lowerings = ["refract"]
//! inherits = """select(z * x - (z * d + sqrt(k)) * y, 0, k < 0)
//!     where d = dot(y, x), k = 1 - z * z * (1 - d * d)"""
//! ```
//!
//! - Operands are `x`, `y`, `z` in order; of some operations they have names of their own
//!   ([`operand_names`]).
//! - `+ - * /` and `-x` mean the profile's operation that computes that function; a name with
//!   parentheses means the profile's operation of that name, or else the one that computes the
//!   function of that name (`inverse_sqrt`). Each comes with its own accuracy, flushing and
//!   overflow, and may itself be inherited. A profile that has none is refused.
//! - Numbers are exact decimals; an operation takes one of the two values of the format around it.
//! - Vectors are taken component by component, a scalar beside a vector as a vector of equal
//!   components; `x.yzx` picks components. `sum(v)` adds the components up in every order.
//! - `select(a, b, c < d)` is b where the comparison (`< <= > >= == !=`) holds, else a; either
//!   where it may go either way.
//! - `where` names values that are used more than once; a definition may use those before it.

use std::fmt;

use fpprobe_spirv::op::{Function, Relation};

mod parse;

pub use parse::FormulaError;

/// How an inherited accuracy follows from what its formulas may give.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inheritance {
    /// What they may give is what is accepted (WGSL, "Floating Point Accuracy").
    #[default]
    Interval,
    /// `[x - E, x + E]` around the exact result, E the distance of the farthest of what they may
    /// give (Vulkan, "Precision and Operation of SPIR-V Instructions").
    Symmetric,
}

/// A formula as it is written.
#[derive(Clone, PartialEq, Debug)]
pub struct Formula {
    /// What it computes.
    pub body: Expression,
    /// Values that have a name, in order.
    pub definitions: Vec<(String, Expression)>,
}

/// A part of a formula.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    /// Where it stands in the text, in bytes.
    pub at: usize,
    /// What it is.
    pub kind: ExpressionKind,
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExpressionKind {
    /// A decimal number, not negative, as it is written.
    Number(String),
    /// An operand or a definition.
    Name(String),
    /// An operator, on one or two values.
    Operator(Operator, Vec<Expression>),
    /// An operation, or `sum`.
    Call(String, Vec<Expression>),
    /// The second where the comparison of the last two holds, else the first.
    Select(Relation, Box<[Expression; 4]>),
    /// Components, by number.
    Swizzle(Box<Expression>, Vec<u8>),
}

/// Operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
}

impl Operator {
    /// The function it means.
    pub fn function(self) -> Function {
        match self {
            Operator::Add => Function::Add,
            Operator::Subtract => Function::Sub,
            Operator::Multiply => Function::Mul,
            Operator::Divide => Function::Div,
            Operator::Negate => Function::Neg,
        }
    }

    fn symbol(self) -> char {
        match self {
            Operator::Add => '+',
            Operator::Subtract | Operator::Negate => '-',
            Operator::Multiply => '*',
            Operator::Divide => '/',
        }
    }

    /// How strongly it binds.
    fn strength(self) -> u8 {
        match self {
            Operator::Add | Operator::Subtract => 1,
            Operator::Multiply | Operator::Divide => 2,
            Operator::Negate => 3,
        }
    }
}

/// How relations are written, the longer ones first.
const RELATIONS: [(&str, Relation); 6] = [
    ("<=", Relation::LessEqual),
    (">=", Relation::GreaterEqual),
    ("==", Relation::Equal),
    ("!=", Relation::NotEqual),
    ("<", Relation::Less),
    (">", Relation::Greater),
];

/// Names of the components of a vector.
const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

/// Names of an operation's operands, in order.
pub fn operand_names(function: Function) -> &'static [&'static str] {
    match function {
        Function::Atan2 => &["y", "x"],
        Function::SmoothStep => &["low", "high", "x"],
        Function::Step => &["edge", "x"],
        Function::Clamp => &["x", "low", "high"],
        Function::Ldexp => &["x", "n"],
        _ => &["x", "y", "z"],
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.body)?;
        for (index, (name, value)) in self.definitions.iter().enumerate() {
            write!(f, "{} {name} = {value}", if index == 0 { " where" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExpressionKind::Number(text) | ExpressionKind::Name(text) => f.write_str(text),
            ExpressionKind::Operator(operator, values) => match values.as_slice() {
                [value] => {
                    f.write_str("-")?;
                    value.write_within(f, operator.strength())
                }
                [left, right] => {
                    left.write_within(f, operator.strength())?;
                    write!(f, " {} ", operator.symbol())?;
                    // What stands on the right is taken first only in parentheses.
                    right.write_within(f, operator.strength() + 1)
                }
                _ => Ok(()),
            },
            ExpressionKind::Call(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
                write!(f, "{name}({})", arguments.join(", "))
            }
            ExpressionKind::Select(relation, parts) => {
                let [fails, holds, left, right] = &**parts;
                let symbol = RELATIONS
                    .iter()
                    .find(|(_, known)| known == relation)
                    .map_or("?", |(symbol, _)| symbol);
                write!(f, "select({fails}, {holds}, {left} {symbol} {right})")
            }
            ExpressionKind::Swizzle(value, components) => {
                value.write_within(f, 4)?;
                f.write_str(".")?;
                components
                    .iter()
                    .try_for_each(|index| write!(f, "{}", COMPONENTS[usize::from(*index)]))
            }
        }
    }
}

impl Expression {
    /// In parentheses where it binds less strongly than what is around it.
    fn write_within(&self, f: &mut fmt::Formatter<'_>, strength: u8) -> fmt::Result {
        match &self.kind {
            ExpressionKind::Operator(operator, _) if operator.strength() < strength => {
                write!(f, "({self})")
            }
            ExpressionKind::Number(_) if strength > 3 => write!(f, "({self})"),
            _ => write!(f, "{self}"),
        }
    }
}

#[cfg(test)]
mod tests;
