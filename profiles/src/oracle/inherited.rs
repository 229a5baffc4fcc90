//! Inherited accuracies: what an operation may give when it is carried out as a formula says, step by step, each step with
//! the accuracy, the flushing and the overflow of its own operation. [`super::steps`] carries the formulas out.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;
use smallvec::{SmallVec, smallvec};

use super::definition::definition;
use super::error::neighbours;
use super::range::range;
use super::round::inside;
use super::steps::{Resolved, Vector, Vectors, apply, componentwise, over, read, union};
use super::{Demand, Operand, Operands, finish};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Environment, NonFinite, Subnormals};
use crate::formula::Inheritance;
use crate::interval::{Interval, Values, least};
use crate::number::{Number as _, Toward};
use crate::real::{Exact, Real};

/// An accuracy that follows from formulas.
#[derive(Clone, PartialEq, Debug)]
pub struct Inherited {
    /// What the operation may be carried out as.
    pub formulas: Vec<Resolved>,
    /// A bound that will do as well: of the two the worse counts.
    pub or: Option<Accuracy>,
    /// What follows from what the formulas give.
    pub inheritance: Inheritance,
    /// Which operands are vectors, and so as wide as the result or more.
    pub vectors: Vec<bool>,
    /// What was computed last: the components of a result are asked for one after the other.
    pub memo: Memo,
}

/// Operands in their environments, and what each component of the result may be. No part of what an accuracy is.
#[derive(Debug, Default)]
pub struct Memo(Mutex<VecDeque<(Operands, [Environment; 2], Vector)>>);

/// How many environments in turn are asked of the same operands.
const REMEMBERED: usize = 8;

impl Clone for Memo {
    fn clone(&self) -> Memo {
        Memo::default()
    }
}

impl PartialEq for Memo {
    fn eq(&self, _: &Memo) -> bool {
        true
    }
}

impl fmt::Display for Inherited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(accuracy) = &self.or {
            write!(f, "{accuracy} or ")?;
        }
        let formulas: Vec<String> = self.formulas.iter().map(|formula| formula.formula.to_string()).collect();
        write!(f, "inherited from {}", formulas.join(" or from "))
    }
}

/// Whether a function takes vectors as a whole: every component of its result depends on every operand.
pub fn is_whole(function: Function) -> bool {
    matches!(
        function,
        Function::Dot
            | Function::Length
            | Function::Distance
            | Function::Normalize
            | Function::Cross
            | Function::FaceForward
            | Function::Reflect
            | Function::Refract
            | Function::Transpose
    )
}

impl Inherited {
    /// What is accepted as a part of a result.
    pub(super) fn accepted(&self, encoding: Encoding, operands: &Operands, demand: &Demand) -> Set {
        let Encoding::Float(layout) = encoding else { return Set::everything(encoding) };
        let given = self.remembered(operands, demand, layout);
        let indeterminate = demand.results.non_finite == NonFinite::Any && given.contains(&Values::Anything);
        match given.get(operands.part).or(given.first()) {
            Some(Values::Within(parts)) if !indeterminate => accepted(encoding, layout, parts, &demand.results),
            _ => Set::everything(encoding),
        }
    }

    /// What each component of the result may be; nothing is known of NaNs.
    fn remembered(&self, operands: &Operands, demand: &Demand, layout: FloatLayout) -> Vector {
        let compute = || {
            if let Some(values) = vectors(operands, &self.vectors) {
                self.given(demand, layout, &values.iter().collect::<Vectors<'_>>())
            } else {
                smallvec![Values::Anything]
            }
        };
        if operands.len() == self.vectors.len() {
            return compute();
        }
        let environments = [demand.operands, demand.results];
        let memo = || self.memo.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is = |(known, within, _): &&(Operands, [Environment; 2], Vector)| {
            known[..] == operands[..] && *within == environments
        };
        if let Some((.., given)) = memo().iter().find(is) {
            return given.clone();
        }
        let given = compute();
        let mut memo = memo();
        memo.truncate(REMEMBERED - 1);
        memo.push_front((operands.clone(), environments, given.clone()));
        given
    }

    /// What each component of the result may be.
    pub(super) fn given(&self, demand: &Demand, layout: FloatLayout, operands: &[&Vector]) -> Vector {
        let mut given = self.by_formulas(demand, layout, operands);
        if self.inheritance == Inheritance::Symmetric {
            let around = |given: Vector, corner: &[&Vector]| -> Vector {
                let centres = exactly(demand.function, corner);
                given.into_iter().zip(centres).map(|(given, centre)| symmetric(&given, &centre)).collect()
            };
            given = if operands.iter().copied().flatten().all(Values::is_point) {
                hull(given.clone(), around(given, operands))
            } else {
                let at = |corner: &Vec<Vector>| {
                    let corner: Vectors<'_> = corner.iter().collect();
                    around(self.by_formulas(demand, layout, &corner), &corner)
                };
                corners(operands).iter().map(at).fold(given, hull)
            };
        }
        if let Some(accuracy) = &self.or {
            let bounded = Demand { accuracy: accuracy.clone(), ..demand.clone() };
            let read: Vec<Vector> = operands.iter().map(|operand| read(operand, layout, &demand.operands)).collect();
            given = union(given, apply(&bounded, &read.iter().collect::<Vectors<'_>>(), Some(layout)));
        }
        given
    }

    /// Whether a bounded interval holds what a component of the result may be on every operand of an interval on which the function is
    /// defined: then some result is refused on each of them.
    pub(crate) fn is_bounded(&self, demand: &Demand, layout: FloatLayout, operand: Interval) -> bool {
        let operand: Vector = smallvec![Values::from(operand)];
        let bounded = |given: Vector| !given.contains(&Values::Anything);
        let or = self.or.as_ref().is_none_or(|accuracy| {
            let demand = Demand { accuracy: accuracy.clone(), ..demand.clone() };
            bounded(apply(&demand, &[&read(&operand, layout, &demand.operands)], Some(layout)))
        });
        or && bounded(self.by_formulas(demand, layout, &[&operand]))
    }

    fn by_formulas(&self, demand: &Demand, layout: FloatLayout, operands: &[&Vector]) -> Vector {
        let each = self.formulas.iter().map(|formula| formula.evaluate(operands, Some(layout), &demand.operands));
        each.reduce(union).unwrap_or_else(|| smallvec![Values::Anything])
    }
}

/// The smallest interval that holds both, for each component.
#[expect(clippy::needless_pass_by_value, reason = "what is folded is handed over")]
fn hull(a: Vector, b: Vector) -> Vector {
    componentwise(&[&a, &b], |both| match (both[0].hull(), both[1].hull()) {
        (Some(a), Some(b)) => Values::from(a.hull(b)),
        _ => Values::Anything,
    })
}

/// The ends of what operands may be, in every combination: where a function is monotonic, what lies farthest from its
/// results is given at one of them.
fn corners(operands: &[&Vector]) -> Vec<Vec<Vector>> {
    const MOST: usize = 64;
    let mut corners: Vec<Vec<Vector>> = vec![Vec::new()];
    for operand in operands {
        let mut vectors: Vec<Vector> = vec![Vector::new()];
        for values in *operand {
            let ends: SmallVec<[Values; 2]> = match values.hull() {
                None => smallvec![Values::Anything],
                Some(hull) if hull.is_point() => smallvec![Values::point(hull.lo)],
                Some(hull) => smallvec![Values::point(hull.lo), Values::point(hull.hi)],
            };
            vectors = vectors
                .iter()
                .flat_map(|head| ends.iter().map(move |end| head.iter().cloned().chain([end.clone()]).collect()))
                .take(MOST)
                .collect();
        }
        corners = corners
            .iter()
            .flat_map(|head| vectors.iter().map(move |vector| head.iter().cloned().chain([vector.clone()]).collect()))
            .take(MOST)
            .collect();
    }
    corners
}

/// The operands as vectors of points; nothing where one is a NaN.
fn vectors(operands: &[Operand], are: &[bool]) -> Option<SmallVec<[Vector; 3]>> {
    let count = are.iter().filter(|vector| **vector).count();
    let width = operands.len().saturating_sub(are.len() - count).checked_div(count).unwrap_or(1);
    let mut rest = operands.iter();
    let take = |vector: &bool| -> Option<Vector> {
        rest.by_ref()
            .take(if *vector { width } else { 1 })
            .map(|operand| (!operand.is_nan()).then(|| Values::point(operand.double())))
            .collect()
    };
    are.iter().map(take).collect()
}

/// The encodings within a union of intervals.
fn accepted(encoding: Encoding, layout: FloatLayout, parts: &[Interval], environment: &Environment) -> Set {
    let mut set = parts.iter().fold(Set::nothing(encoding), |set, part| set.or(&inside(encoding, layout, *part)));
    if set.is_empty() {
        // An error finer than the format's own spacing leaves the neighbours.
        let around = parts.iter().map(|part| inside(encoding, layout, neighbours(layout, *part)));
        set = around.fold(set, |set, around| set.or(&around));
    }
    let zeros = Set::zeros(encoding);
    if parts.iter().any(|part| part.contains_zero()) {
        set = set.or(&zeros);
    }
    let subnormals = set.and(&Set::subnormals(encoding));
    match environment.subnormal_results {
        Subnormals::Flush if !subnormals.is_empty() => set.minus(&subnormals).or(&zeros),
        Subnormals::Either if !subnormals.is_empty() => set.or(&zeros),
        _ => set,
    }
}

/// The exact results on operands, as close as binary128 encloses them.
pub(super) fn exactly(function: Function, operands: &[&Vector]) -> Vector {
    match definition(function) {
        Some(definition) => definition.evaluate(operands, None, &Environment::IEEE),
        None => componentwise(operands, |operands| over(operands, |parts| range(function, parts, false))),
    }
}

/// What lies no farther from the exact result than the farthest of what is given.
fn symmetric(given: &Values, centre: &Values) -> Values {
    let (Some(given), Some(centre)) = (given.hull(), centre.hull()) else { return Values::Anything };
    let above = given.hi.minus(centre.lo, Toward::Up);
    let below = centre.hi.minus(given.lo, Toward::Up);
    if above.is_nan() || below.is_nan() {
        return Values::Anything;
    }
    Values::from(centre.widened(-least(-above, -below)))
}

/// What is accepted of a function that has no operation of its own in the oracle but a definition: its exact results as
/// they are enclosed, rounded as the accuracy says.
pub(super) fn defined(encoding: Encoding, operands: &Operands, demand: &Demand) -> Set {
    let Encoding::Float(layout) = encoding else { return Set::everything(encoding) };
    let Some(definition) = definition(demand.function) else { return Set::everything(encoding) };
    let Some(values) = vectors(operands, super::definition::vectors(demand.function)) else {
        return Set::nan(encoding);
    };
    let results = definition.evaluate(&values.iter().collect::<Vectors<'_>>(), None, &demand.operands);
    let Some(parts) = results.get(operands.part).or(results.first()).and_then(Values::parts) else {
        return finish(encoding, Exact::Nan, operands, demand);
    };
    let end = |value: f64| finish(encoding, Exact::of(value.quad()), operands, demand);
    parts.iter().fold(Set::nothing(encoding), |set, part| {
        let crosses = part.contains_zero() && !part.is_point();
        set.or(&if crosses {
            // Binary128 does not tell the sign of what cancels out this far.
            let largest = if part.hi > -part.lo { part.hi } else { -part.lo };
            end(-largest).or(&inside(encoding, layout, *part)).or(&Set::zeros(encoding)).or(&end(largest))
        } else if part.is_point() {
            end(part.lo)
        } else {
            finish(encoding, Exact::Number(Real { lo: part.lo.quad(), hi: part.hi.quad() }), operands, demand)
        })
    })
}
