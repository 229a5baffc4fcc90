//! From a formula to the steps that it takes: names become operands and operations.

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;

use super::Demand;
use super::error::neighbours;
use crate::accuracy::domain::{decimal, doubles};
use crate::accuracy::{Node, ResolvedFormula};
use crate::formula::{Expression, ExpressionKind, Formula, FormulaError, Operator};

/// What a formula calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee<'a> {
    /// The operation that an operator means.
    Operator(Function),
    /// An operation by its name.
    Name(&'a str),
}

/// What is demanded of an operation that is called at a place of the text, and how many operands it
/// takes, where that is known.
pub type Find<'a, E> = dyn Fn(Callee<'_>, usize) -> Result<(Demand, Option<usize>), E> + 'a;

/// Resolves a formula of operands with these names. Numbers become the values of the format around
/// them, or, without a format, themselves.
pub fn resolve<E: From<FormulaError>>(
    text: &str,
    formula: &Formula,
    operands: &[&str],
    layout: Option<FloatLayout>,
    find: &Find<'_, E>,
) -> Result<ResolvedFormula, E> {
    let mut resolver =
        Resolver { text, operands, layout, find, nodes: Vec::new(), names: Vec::new() };
    for (name, value) in &formula.definitions {
        if operands.contains(&name.as_str()) {
            return Err(FormulaError::new(
                text,
                value.at,
                format!("`{name}` is an operand already"),
            )
            .into());
        }
        let node = resolver.node(value)?;
        resolver.names.push((name.clone(), node));
    }
    let root = resolver.node(&formula.body)?;
    Ok(ResolvedFormula { formula: formula.clone(), nodes: resolver.nodes, root })
}

struct Resolver<'a, E> {
    text: &'a str,
    operands: &'a [&'a str],
    layout: Option<FloatLayout>,
    find: &'a Find<'a, E>,
    nodes: Vec<Node>,
    names: Vec<(String, usize)>,
}

impl<E: From<FormulaError>> Resolver<'_, E> {
    fn node(&mut self, expression: &Expression) -> Result<usize, E> {
        let at = expression.at;
        let error = |problem: String| FormulaError::new(self.text, at, problem);
        let node = match &expression.kind {
            ExpressionKind::Number(number) => {
                let value =
                    decimal(number).ok_or_else(|| error(format!("`{number}` is no number")))?;
                Node::Constant(
                    self.layout.map_or(doubles(value), |layout| doubles(neighbours(layout, value))),
                )
            }
            ExpressionKind::Name(name) => {
                if let Some((_, node)) = self.names.iter().find(|(known, _)| known == name) {
                    return Ok(*node);
                }
                let index = self.operands.iter().position(|operand| operand == name);
                let known = || self.operands.join("`, `");
                Node::Operand(index.ok_or_else(|| {
                    error(format!("`{name}` is none of the operands `{}`", known()))
                })?)
            }
            ExpressionKind::Operator(operator, values) => {
                self.step(at, Callee::Operator(operator.function()), values)?
            }
            ExpressionKind::Call(name, values) if name == "sum" => {
                let [vector] = values.as_slice() else {
                    return Err(error("`sum` takes one vector".to_owned()).into());
                };
                let (demand, _) = (self.find)(Callee::Operator(Operator::Add.function()), at)?;
                Node::Sum(Box::new(demand), self.node(vector)?)
            }
            ExpressionKind::Call(name, values) => self.step(at, Callee::Name(name), values)?,
            ExpressionKind::Select(relation, parts) => {
                let [fails, holds, left, right] = &**parts;
                let nodes =
                    [self.node(fails)?, self.node(holds)?, self.node(left)?, self.node(right)?];
                Node::Select(*relation, nodes)
            }
            ExpressionKind::Swizzle(vector, components) => {
                Node::Swizzle(self.node(vector)?, components.clone())
            }
        };
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    fn step(&mut self, at: usize, called: Callee<'_>, values: &[Expression]) -> Result<Node, E> {
        let (demand, arity) = (self.find)(called, at)?;
        if let Some(arity) = arity.filter(|arity| *arity != values.len()) {
            let problem = format!("it takes {arity} operands, not {}", values.len());
            return Err(FormulaError::new(self.text, at, problem).into());
        }
        let nodes = values.iter().map(|value| self.node(value)).collect::<Result<_, E>>()?;
        Ok(Node::Step(Box::new(demand), nodes))
    }
}
