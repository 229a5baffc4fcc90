//! Formulas carried out step by step, each step with the accuracy, the flushing and the overflow of
//! its own operation.
//!
//! Every step maps intervals to intervals. The ends of an interval are not rounded to the format
//! between the steps, but where a step is correctly rounded: its result is a value of the format. A
//! subnormal result may also be zero where the environment flushes: a step need not round what the
//! next one reads. So may a subnormal operand where the environment leaves that open; where it
//! flushes, the operand is zero. That is a value of its own, nothing between the two comes with it.

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::{Function, Relation};
use smallvec::{SmallVec, smallvec};

use super::Demand;
use super::definition::{definition, is_defined, is_whole};
use super::error::allowed;
use super::range::range;
use crate::accuracy::{Accuracy, Node, ResolvedFormula};
use crate::environment::{Environment, NonFinite, Overflow, Subnormals};
use crate::interval::{Interval, RealSet};
use crate::number::limits;

/// What each component of a value may be; one component is a scalar.
pub(super) type Vector = SmallVec<[RealSet; 1]>;

/// Operands of an operation.
pub(super) type Vectors<'a> = SmallVec<[&'a Vector; 3]>;

impl ResolvedFormula {
    /// What each component of the result may be. Without a format steps are exact.
    pub(super) fn evaluate(
        &self,
        operands: &[&Vector],
        layout: Option<FloatLayout>,
        environment: &Environment,
    ) -> Vector {
        let known = self.nodes.iter().map(|_| Vector::new()).collect();
        let mut evaluation =
            Evaluation { nodes: &self.nodes, operands, layout, environment, known };
        evaluation.compute(self.root)
    }
}

/// A formula that is being evaluated: only what is needed, and each part once.
struct Evaluation<'a> {
    nodes: &'a [Node],
    operands: &'a [&'a Vector],
    layout: Option<FloatLayout>,
    environment: &'a Environment,
    /// Of each part its value, without components as long as nothing requested it.
    known: SmallVec<[Vector; 8]>,
}

impl Evaluation<'_> {
    /// Sees to it that parts are known.
    fn need(&mut self, nodes: &[usize]) {
        for index in nodes {
            if self.known[*index].is_empty() {
                self.known[*index] = self.compute(*index);
            }
        }
    }

    /// The value of a part, of others that it needs.
    fn compute(&mut self, index: usize) -> Vector {
        let nodes = self.nodes;
        match &nodes[index] {
            Node::Operand(operand) => self.operand(*operand),
            Node::Constant(interval) => smallvec![RealSet::from(*interval)],
            Node::Step(demand, arguments) => {
                self.need(arguments);
                let arguments: Vectors<'_> =
                    arguments.iter().map(|argument| &self.known[*argument]).collect();
                apply(demand, &arguments, self.layout)
            }
            Node::Sum(demand, vector) => {
                self.need(&[*vector]);
                smallvec![sum(demand, &self.known[*vector], self.layout)]
            }
            Node::Select(relation, [fails, holds, left, right]) => {
                self.need(&[*left, *right]);
                let parts = |index: &usize| self.known[*index].first().and_then(RealSet::parts);
                // A comparison with what may be anything holds or fails.
                let compared = parts(left).zip(parts(right));
                let (may_hold, may_fail) =
                    compared.map_or((true, true), |(left, right)| outcomes(*relation, left, right));
                let either =
                    [(may_hold, *holds), (may_fail, *fails)].into_iter().filter(|(may, _)| *may);
                let either: SmallVec<[usize; 2]> = either.map(|(_, node)| node).collect();
                self.need(&either);
                let values = either.into_iter().map(|node| self.known[node].clone());
                values.reduce(union).unwrap_or_else(|| smallvec![RealSet::Anything])
            }
            Node::Swizzle(vector, components) => {
                self.need(&[*vector]);
                let vector = &self.known[*vector];
                let component = |index: &u8| {
                    vector.get(usize::from(*index)).cloned().unwrap_or(RealSet::Anything)
                };
                components.iter().map(component).collect()
            }
        }
    }

    /// An operand, as it may be read.
    fn operand(&self, index: usize) -> Vector {
        match (self.operands.get(index), self.layout) {
            (Some(operand), Some(layout)) => read(operand, layout, self.environment),
            (Some(operand), None) => (*operand).clone(),
            (None, _) => smallvec![RealSet::Anything],
        }
    }
}

/// An operand as the environment lets it be read: zero in the place of a subnormal, or beside it.
pub(super) fn read(operand: &Vector, layout: FloatLayout, environment: &Environment) -> Vector {
    let one = |values: &RealSet| match environment.subnormal_inputs {
        Subnormals::Keep => values.clone(),
        Subnormals::Either => flushed(values.clone(), layout),
        Subnormals::Flush => flushed(without_subnormals(values, layout), layout),
    };
    operand.iter().map(one).collect()
}

/// The values with zero in the place of each interval of nothing but subnormals.
fn without_subnormals(values: &RealSet, layout: FloatLayout) -> RealSet {
    let [least, _] = limits(layout);
    let one =
        |part: &Interval| RealSet::from(if part.abs().hi < least { Interval::ZERO } else { *part });
    let parts = values.parts().and_then(|parts| parts.iter().map(one).reduce(RealSet::or));
    parts.unwrap_or(RealSet::Anything)
}

/// The union with zero, where a subnormal is among the values.
fn flushed(values: RealSet, layout: FloatLayout) -> RealSet {
    let [least, _] = limits(layout);
    let subnormal =
        |part: &Interval| part.lo < least && part.hi > -least && *part != Interval::ZERO;
    let any = values.parts().is_some_and(|parts| parts.iter().any(subnormal));
    if any { values.or_zero() } else { values }
}

/// What one of two may be, for each component.
#[expect(clippy::needless_pass_by_value, reason = "what is folded is handed over")]
pub(super) fn union(a: Vector, b: Vector) -> Vector {
    componentwise(&[&a, &b], |both| both[0].clone().or(both[1].clone()))
}

/// A scalar function on each component; a scalar beside vectors counts for each of their
/// components.
pub(super) fn componentwise(
    operands: &[&Vector],
    function: impl Fn(&[&RealSet]) -> RealSet,
) -> Vector {
    // Most are scalars of one or two operands.
    match operands {
        [x] if x.len() == 1 => return smallvec![function(&[&x[0]])],
        [x, y] if x.len() == 1 && y.len() == 1 => return smallvec![function(&[&x[0], &y[0]])],
        _ => {}
    }
    let width = operands.iter().map(|vector| vector.len()).max().unwrap_or(0);
    let component = |index: usize| {
        let values: Option<SmallVec<[&RealSet; 4]>> = operands
            .iter()
            .map(|vector| if vector.len() == 1 { vector.first() } else { vector.get(index) })
            .collect();
        values.map_or(RealSet::Anything, |values| function(&values))
    };
    (0..width).map(component).collect()
}

/// A function over every combination of the intervals of its operands.
pub(super) fn over(operands: &[&RealSet], function: impl Fn(&[Interval]) -> RealSet) -> RealSet {
    // Most are one interval each.
    match operands {
        [RealSet::Within(x)] if x.len() == 1 => return function(&[x[0]]),
        [RealSet::Within(x), RealSet::Within(y)] if x.len() == 1 && y.len() == 1 => {
            return function(&[x[0], y[0]]);
        }
        _ => {}
    }
    let mut single: SmallVec<[Interval; 3]> = SmallVec::new();
    for operand in operands {
        match operand.parts() {
            None => return RealSet::Anything,
            Some([part]) => single.push(*part),
            Some(_) => {}
        }
    }
    if single.len() == operands.len() {
        return function(&single);
    }
    let parts: SmallVec<[&[Interval]; 3]> =
        operands.iter().filter_map(|operand| operand.parts()).collect();
    let count: usize = parts.iter().map(|parts| parts.len()).product();
    let combination = |mut number: usize| {
        let one = |parts: &&[Interval]| {
            let part = parts[number % parts.len()];
            number /= parts.len();
            part
        };
        function(&parts.iter().map(one).collect::<SmallVec<[Interval; 3]>>())
    };
    (0..count).map(combination).reduce(RealSet::or).unwrap_or(RealSet::Anything)
}

/// What an operation may give; without a format its exact results.
pub(super) fn apply(demand: &Demand, operands: &[&Vector], layout: Option<FloatLayout>) -> Vector {
    let Some(layout) = layout else { return exactly(demand.function, operands) };
    if let Accuracy::Inherited(inherited) = &demand.accuracy {
        if is_whole(demand.function) || operands.iter().all(|operand| operand.len() == 1) {
            return inherited.given(demand, layout, operands);
        }
        return componentwise(operands, |operands| {
            let operands: SmallVec<[Vector; 3]> =
                operands.iter().map(|values| smallvec![(*values).clone()]).collect();
            let operands: Vectors<'_> = operands.iter().collect();
            inherited
                .given(demand, layout, &operands)
                .into_iter()
                .next()
                .unwrap_or(RealSet::Anything)
        });
    }
    if is_defined(demand.function) {
        let result = |exact: RealSet| match exact {
            RealSet::Within(parts) => {
                let each = parts.iter().map(|part| rounded(demand, layout, *part, &[]));
                each.reduce(RealSet::or).unwrap_or(RealSet::Anything)
            }
            RealSet::Anything => RealSet::Anything,
        };
        return exactly(demand.function, operands).into_iter().map(result).collect();
    }
    componentwise(operands, |operands| {
        over(operands, |parts| match stated_range(demand, layout, parts) {
            RealSet::Within(exact) => {
                let each = exact.iter().map(|result| rounded(demand, layout, *result, parts));
                each.reduce(RealSet::or).unwrap_or(RealSet::Anything)
            }
            RealSet::Anything => RealSet::Anything,
        })
    })
}

/// Formats of no more than N bits are far coarser than what core-math leaves open.
const QUICK: u32 = 23;

/// The exact results, where the accuracy states something of the operands.
fn stated_range(demand: &Demand, layout: FloatLayout, parts: &[Interval]) -> RealSet {
    let quick = layout.fraction <= QUICK;
    if demand.accuracy.is_stated(parts, layout) {
        range(demand.function, parts, quick)
    } else {
        RealSet::Anything
    }
}

/// Whether a function hands on its operands or whole numbers near them: there is nothing to round.
fn hands_on(function: Function) -> bool {
    matches!(
        function,
        Function::Neg
            | Function::Abs
            | Function::Sign
            | Function::Floor
            | Function::Ceil
            | Function::Trunc
            | Function::Round
            | Function::RoundEven
            | Function::Min
            | Function::Max
            | Function::Clamp
            | Function::Saturate
            | Function::Step
            | Function::Move
    )
}

/// What an operation may give for exact results of an interval.
fn rounded(
    demand: &Demand,
    layout: FloatLayout,
    exact: Interval,
    operands: &[Interval],
) -> RealSet {
    let allowed = if hands_on(demand.function) {
        Some(exact)
    } else {
        allowed(&demand.accuracy, demand, layout, exact, operands)
    };
    let Some(allowed) = allowed else { return RealSet::Anything };
    let environment = &demand.results;
    // An infinity that is exact, as that of a pole is, is no overflow.
    if exact.is_point() && exact.lo.is_infinite() && environment.non_finite == NonFinite::Ieee {
        return RealSet::from(exact);
    }
    let [_, largest] = limits(layout);
    let finite = Interval { lo: -largest, hi: largest };
    let values = RealSet::from(if allowed.is_within(finite) {
        allowed
    } else if environment.non_finite == NonFinite::Any {
        return RealSet::Anything;
    } else {
        // What is beyond may come out as infinity or as the largest finite value.
        let end = |end: f64| {
            if end > largest {
                largest
            } else if end < -largest {
                -largest
            } else {
                end
            }
        };
        let inner = Interval { lo: end(allowed.lo), hi: end(allowed.hi) };
        let infinite = |end: f64, limit: f64| if end > largest { f64::INFINITY } else { limit };
        match environment.overflow {
            Overflow::Saturate => inner,
            _ => Interval {
                lo: -infinite(-allowed.lo, -inner.lo),
                hi: infinite(allowed.hi, inner.hi),
            },
        }
    });
    if environment.subnormal_results == Subnormals::Keep { values } else { flushed(values, layout) }
}

/// A sum in every order: for each set of terms what any of its divisions into two gives.
fn sum(demand: &Demand, terms: &[RealSet], layout: Option<FloatLayout>) -> RealSet {
    if terms.len() > 4 {
        return RealSet::Anything;
    }
    let mut sums: Vec<Option<RealSet>> = vec![None; 1 << terms.len()];
    for set in 1..sums.len() {
        let whole = |set: usize| sums[set].clone().unwrap_or(RealSet::Anything);
        // The lowest term is in the first half: an addition does not tell its operands apart.
        let lowest = 1 << set.trailing_zeros();
        let halves = (1..set).filter(|half| half & set == *half && half & lowest != 0);
        let added = halves.map(|half| -> RealSet {
            let (half, rest): (Vector, Vector) =
                (smallvec![whole(half)], smallvec![whole(set & !half)]);
            apply(demand, &[&half, &rest], layout).into_iter().next().unwrap_or(RealSet::Anything)
        });
        sums[set] =
            added.reduce(RealSet::or).or_else(|| terms.get(set.trailing_zeros() as usize).cloned());
    }
    sums.pop().flatten().unwrap_or(RealSet::Anything)
}

/// The exact results on operands, as close as binary128 encloses them.
pub(super) fn exactly(function: Function, operands: &[&Vector]) -> Vector {
    match definition(function) {
        Some(definition) => definition.evaluate(operands, None, &Environment::IEEE),
        None => componentwise(operands, |operands| {
            over(operands, |parts| range(function, parts, false))
        }),
    }
}

/// Whether a comparison may hold, and whether it may fail.
fn outcomes(relation: Relation, left: &[Interval], right: &[Interval]) -> (bool, bool) {
    let any = |test: &dyn Fn(Interval, Interval) -> bool| {
        left.iter().any(|a| right.iter().any(|b| test(*a, *b)))
    };
    let less = any(&|a, b| a.lo < b.hi);
    let greater = any(&|a, b| a.hi > b.lo);
    let equal = any(&|a, b| a.lo <= b.hi && b.lo <= a.hi);
    match relation {
        Relation::Less => (less, greater || equal),
        Relation::Greater => (greater, less || equal),
        Relation::LessEqual => (less || equal, greater),
        Relation::GreaterEqual => (greater || equal, less),
        Relation::Equal => (equal, less || greater),
        Relation::NotEqual => (less || greater, equal),
    }
}
