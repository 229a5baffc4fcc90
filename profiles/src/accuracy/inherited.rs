//! Accuracies that follow from formulas, as profiles state them. The oracle carries them out.

use std::fmt;

use fpprobe_spirv::op::{Function, Relation};

use super::{Accuracy, Demand};
use crate::environment::Sign;
use crate::formula::{Formula, Inheritance};
use crate::interval::Interval;

/// An accuracy that follows from formulas.
#[derive(Clone, PartialEq, Debug)]
pub struct InheritedAccuracy {
    /// What the operation may be carried out as.
    pub formulas: Vec<ResolvedFormula>,
    /// A bound that will do as well: of the two the worse counts.
    pub or: Option<Accuracy>,
    /// What follows from what the formulas give.
    pub inheritance: Inheritance,
    /// Which operands are vectors, and so as wide as the result or more.
    pub vectors: Vec<bool>,
}

/// A formula with what the profile says of each of its steps at one format.
#[derive(Clone, PartialEq, Debug)]
pub struct ResolvedFormula {
    /// As it is written.
    pub formula: Formula,
    /// Its parts; each refers to those before it.
    pub nodes: Vec<Node>,
    /// The part that is the result.
    pub root: usize,
}

/// A part of a formula.
#[derive(Clone, PartialEq, Debug)]
pub enum Node {
    /// An operand of the operation, by number.
    Operand(usize),
    /// A number: the values of the format around it.
    Constant(Interval),
    /// An operation, component by component unless its function takes vectors as a whole.
    Step(Box<Demand>, Vec<usize>),
    /// The components of a vector added up in every order, with this demand on each addition.
    Sum(Box<Demand>, usize),
    /// The second where the last two compare so, else the first.
    Select(Relation, [usize; 4]),
    /// Components of a vector.
    Swizzle(usize, Vec<u8>),
}

impl InheritedAccuracy {
    /// Whether every formula gives positive results and +0 alone: each ends in an exponential, or
    /// in the root of a square or of a sum of squares, and the last step leaves no sign of zero
    /// open.
    pub fn has_no_sign(&self) -> bool {
        self.or.is_none() && self.formulas.iter().all(ResolvedFormula::has_no_sign)
    }
}

impl ResolvedFormula {
    fn has_no_sign(&self) -> bool {
        let Node::Step(demand, arguments) = &self.nodes[self.root] else { return false };
        if [demand.results.zero_sign, demand.results.flushed_sign] != [Sign::Exact; 2] {
            return false;
        }
        match (demand.function, &arguments[..]) {
            (Function::Exp | Function::Exp2, _) => true,
            (Function::Sqrt, [argument]) => match &self.nodes[*argument] {
                Node::Sum(_, vector) => self.is_square(*vector),
                _ => self.is_square(*argument),
            },
            _ => false,
        }
    }

    fn is_square(&self, part: usize) -> bool {
        match &self.nodes[part] {
            Node::Step(demand, arguments) => {
                demand.function == Function::Mul
                    && matches!(arguments[..], [one, other] if self.is_same(one, other))
            }
            _ => false,
        }
    }

    /// Whether two parts are written alike.
    fn is_same(&self, one: usize, other: usize) -> bool {
        match (&self.nodes[one], &self.nodes[other]) {
            (Node::Step(demand, arguments), Node::Step(another, others)) => {
                let both = || arguments.iter().zip(others);
                demand == another
                    && arguments.len() == others.len()
                    && both().all(|(a, b)| self.is_same(*a, *b))
            }
            (a, b) => a == b,
        }
    }
}

impl fmt::Display for InheritedAccuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(accuracy) = &self.or {
            write!(f, "{accuracy} or ")?;
        }
        let formulas: Vec<String> =
            self.formulas.iter().map(|formula| formula.formula.to_string()).collect();
        write!(f, "inherited from {}", formulas.join(" or from "))
    }
}
