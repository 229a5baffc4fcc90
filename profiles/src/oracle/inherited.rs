//! Inherited accuracies: what an operation may give when it is carried out as a formula says, step
//! by step, each step with the accuracy, the flushing and the overflow of its own operation.
//! [`super::steps`] carries the formulas out.

use fpprobe_spirv::FloatLayout;
use smallvec::{SmallVec, smallvec};

use super::definition::definition;
use super::error::neighbours;
use super::round::inside;
use super::steps::{Vector, Vectors, apply, componentwise, exactly, read, union};
use super::{Demand, Operand, Operands, Sets, finish};
use crate::accepted::Set;
use crate::accuracy::InheritedAccuracy;
use crate::encoding::Encoding;
use crate::environment::{Environment, NonFinite, Subnormals};
use crate::formula::Inheritance;
use crate::interval::{Interval, RealSet, least};
use crate::number::{Number as _, Toward};
use crate::real::{Exact, Real};

impl InheritedAccuracy {
    /// What is accepted as a part of a result.
    pub(super) fn accepted(&self, encoding: Encoding, operands: &Operands, demand: &Demand) -> Set {
        let Encoding::Float(layout) = encoding else { return Set::everything(encoding) };
        accepted_part(
            encoding,
            layout,
            &self.components(operands, demand, layout),
            operands.part,
            demand,
        )
    }

    /// What is accepted as every part of a result, whose parts depend on the same operands.
    pub(super) fn accepted_together(
        &self,
        encodings: &[Encoding],
        operands: &Operands,
        demand: &Demand,
    ) -> Sets {
        let Some(Encoding::Float(layout)) = encodings.first().copied() else {
            return encodings.iter().map(|encoding| Set::everything(*encoding)).collect();
        };
        let given = self.components(operands, demand, layout);
        let parts = encodings.iter().enumerate();
        parts
            .map(|(part, encoding)| accepted_part(*encoding, layout, &given, part, demand))
            .collect()
    }

    /// What each component of the result may be on operands; nothing is known of NaNs.
    fn components(&self, operands: &Operands, demand: &Demand, layout: FloatLayout) -> Vector {
        let Some(values) = vectors(operands, &self.vectors) else {
            return smallvec![RealSet::Anything];
        };
        self.given(demand, layout, &values.iter().collect::<Vectors<'_>>())
    }

    /// What each component of the result may be.
    pub(super) fn given(
        &self,
        demand: &Demand,
        layout: FloatLayout,
        operands: &[&Vector],
    ) -> Vector {
        let mut given = self.by_formulas(demand, layout, operands);
        if self.inheritance == Inheritance::Symmetric {
            let around = |given: Vector, corner: &[&Vector]| -> Vector {
                let centres = exactly(demand.function, corner);
                given
                    .into_iter()
                    .zip(centres)
                    .map(|(given, centre)| symmetric(&given, &centre))
                    .collect()
            };
            given = if operands.iter().copied().flatten().all(RealSet::is_point) {
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
            let read: Vec<Vector> =
                operands.iter().map(|operand| read(operand, layout, &demand.operands)).collect();
            given =
                union(given, apply(&bounded, &read.iter().collect::<Vectors<'_>>(), Some(layout)));
        }
        given
    }

    /// Whether a bounded interval holds what a component of the result may be on every operand of
    /// an interval on which the function is defined: then some result is refused on each of
    /// them.
    pub(crate) fn is_bounded(
        &self,
        demand: &Demand,
        layout: FloatLayout,
        operand: Interval,
    ) -> bool {
        let operand: Vector = smallvec![RealSet::from(operand)];
        let bounded = |given: Vector| !given.contains(&RealSet::Anything);
        let or = self.or.as_ref().is_none_or(|accuracy| {
            let demand = Demand { accuracy: accuracy.clone(), ..demand.clone() };
            bounded(apply(&demand, &[&read(&operand, layout, &demand.operands)], Some(layout)))
        });
        or && bounded(self.by_formulas(demand, layout, &[&operand]))
    }

    fn by_formulas(&self, demand: &Demand, layout: FloatLayout, operands: &[&Vector]) -> Vector {
        let each = self
            .formulas
            .iter()
            .map(|formula| formula.evaluate(operands, Some(layout), &demand.operands));
        each.reduce(union).unwrap_or_else(|| smallvec![RealSet::Anything])
    }
}

/// The smallest interval that holds both, for each component.
#[expect(clippy::needless_pass_by_value, reason = "what is folded is handed over")]
fn hull(a: Vector, b: Vector) -> Vector {
    componentwise(&[&a, &b], |both| match (both[0].hull(), both[1].hull()) {
        (Some(a), Some(b)) => RealSet::from(a.hull(b)),
        _ => RealSet::Anything,
    })
}

/// The ends of what operands may be, in every combination: where a function is monotonic, what lies
/// farthest from its results is given at one of them.
fn corners(operands: &[&Vector]) -> Vec<Vec<Vector>> {
    const MOST: usize = 64;
    let mut corners: Vec<Vec<Vector>> = vec![Vec::new()];
    for operand in operands {
        let mut vectors: Vec<Vector> = vec![Vector::new()];
        for values in *operand {
            let ends: SmallVec<[RealSet; 2]> = match values.hull() {
                None => smallvec![RealSet::Anything],
                Some(hull) if hull.is_point() => smallvec![RealSet::point(hull.lo)],
                Some(hull) => smallvec![RealSet::point(hull.lo), RealSet::point(hull.hi)],
            };
            vectors = vectors
                .iter()
                .flat_map(|head| {
                    ends.iter().map(move |end| head.iter().cloned().chain([end.clone()]).collect())
                })
                .take(MOST)
                .collect();
        }
        corners = corners
            .iter()
            .flat_map(|head| {
                vectors
                    .iter()
                    .map(move |vector| head.iter().cloned().chain([vector.clone()]).collect())
            })
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
            .map(|operand| (!operand.is_nan()).then(|| RealSet::point(operand.double())))
            .collect()
    };
    are.iter().map(take).collect()
}

/// What is accepted as one part, of what each component may be.
fn accepted_part(
    encoding: Encoding,
    layout: FloatLayout,
    given: &Vector,
    part: usize,
    demand: &Demand,
) -> Set {
    let indeterminate =
        demand.results.non_finite == NonFinite::Any && given.contains(&RealSet::Anything);
    match given.get(part).or(given.first()) {
        Some(RealSet::Within(parts)) if !indeterminate => {
            let set = accepted(encoding, layout, parts, &demand.results);
            if demand.has_no_sign() {
                set.minus(&Set::one(encoding, layout.sign_bit()))
            } else {
                set
            }
        }
        _ => Set::everything(encoding),
    }
}

/// The encodings within a union of intervals.
fn accepted(
    encoding: Encoding,
    layout: FloatLayout,
    parts: &[Interval],
    environment: &Environment,
) -> Set {
    let mut set = parts
        .iter()
        .fold(Set::nothing(encoding), |set, part| set.or(&inside(encoding, layout, *part)));
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

/// What lies no farther from the exact result than the farthest of what is given.
fn symmetric(given: &RealSet, centre: &RealSet) -> RealSet {
    let (Some(given), Some(centre)) = (given.hull(), centre.hull()) else {
        return RealSet::Anything;
    };
    let above = given.hi.minus(centre.lo, Toward::Up);
    let below = centre.hi.minus(given.lo, Toward::Up);
    if above.is_nan() || below.is_nan() {
        return RealSet::Anything;
    }
    RealSet::from(centre.widened(-least(-above, -below)))
}

/// What is accepted of a function that has no operation of its own in the oracle but a definition:
/// its exact results as they are enclosed, rounded as the accuracy says.
pub(super) fn defined(encoding: Encoding, operands: &Operands, demand: &Demand) -> Set {
    enclosed(encoding, operands.part, exact_components(operands, demand).as_ref(), operands, demand)
}

/// The same of every part of a result.
pub(super) fn defined_together(
    encodings: &[Encoding],
    operands: &Operands,
    demand: &Demand,
) -> Sets {
    let results = exact_components(operands, demand);
    let parts = encodings.iter().enumerate();
    parts
        .map(|(part, encoding)| enclosed(*encoding, part, results.as_ref(), operands, demand))
        .collect()
}

/// The exact results of each component by the function's definition; nothing where an operand is a
/// NaN.
fn exact_components(operands: &Operands, demand: &Demand) -> Option<Vector> {
    let values = vectors(operands, super::definition::vectors(demand.function))?;
    let definition = definition(demand.function)?;
    Some(definition.evaluate(&values.iter().collect::<Vectors<'_>>(), None, &demand.operands))
}

fn enclosed(
    encoding: Encoding,
    part: usize,
    results: Option<&Vector>,
    operands: &Operands,
    demand: &Demand,
) -> Set {
    let Encoding::Float(layout) = encoding else { return Set::everything(encoding) };
    let Some(results) = results else { return Set::nan(encoding) };
    let Some(parts) = results.get(part).or(results.first()).and_then(RealSet::parts) else {
        return finish(encoding, Exact::Nan, operands, demand);
    };
    let end = |value: f64| finish(encoding, Exact::of(value.quad()), operands, demand);
    parts.iter().fold(Set::nothing(encoding), |set, part| {
        let crosses = part.contains_zero() && !part.is_point();
        set.or(&if crosses {
            // Binary128 does not tell the sign of what cancels out this far.
            let largest = if part.hi > -part.lo { part.hi } else { -part.lo };
            end(-largest)
                .or(&inside(encoding, layout, *part))
                .or(&Set::zeros(encoding))
                .or(&end(largest))
        } else if part.is_point() {
            end(part.lo)
        } else {
            finish(
                encoding,
                Exact::Number(Real { lo: part.lo.quad(), hi: part.hi.quad() }),
                operands,
                demand,
            )
        })
    })
}
