//! What is accepted for certain where an accuracy is inherited from formulas, whatever the operand
//! among those of a block.
//!
//! Carried out step by step, a part of a formula may be anything of a set of numbers. Here is
//! found, for operands of an interval, what the set holds at least: everything from `e - r` to `e +
//! r`, e being the exact value of the part and r the same for all operands. Each step of the oracle
//! gives no less for more, so what it gives holds what it would give for these; and the environment
//! adds values to sets, but for what follows from an overflow, which is excluded here. Where a step
//! is certain to be given what its function has no result for, or to give what no format holds,
//! nothing is known of it, nor of anything computed of it.
//!
//! The exact value of a formula is that of the function where the two are the same in real numbers:
//! [`super::identity`].

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;
use smallvec::SmallVec;

use super::analytic::is_undefined;
use super::identity::{factor, is_identity};
use super::kind::LAYOUT;
use super::special::{NOWHERE, Special, ValueBounds, special};
use super::tolerance::{Tolerance, alone, tolerance, ulp_below};
use crate::accuracy::{Accuracy, InheritedAccuracy, Node, ResolvedFormula};
use crate::environment::{Environment, NonFinite, Overflow, Subnormals};
use crate::interval::Interval;
use crate::number::Number as _;
use crate::oracle::{Demand, range};

/// What a value may be at least.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Reach {
    /// Anything.
    Open,
    /// Some of it is known.
    Given(ValueBounds),
}

impl Reach {
    /// A value that is known exactly.
    pub(crate) fn exactly(value: Interval) -> Reach {
        Reach::Given(ValueBounds::around(value, 0.0))
    }

    /// Operands, numbers but not zero, and zeros beside them, or in their place, where they are
    /// subnormal and flushed.
    pub(crate) fn read(operand: Interval, environment: &Environment, layout: FloatLayout) -> Reach {
        let subnormal = operand.abs().hi < f64::decode(layout, layout.min_normal());
        let zero = subnormal && environment.subnormal_inputs != Subnormals::Keep;
        let radius =
            if zero && environment.subnormal_inputs == Subnormals::Flush { NOWHERE } else { 0.0 };
        Reach::Given(ValueBounds { zero, ..ValueBounds::around(operand, radius) })
    }
}

/// What N roundings of binary64 take from a number at most.
pub(crate) const ROUNDED: f64 = 1.0 - 16.0 * f64::EPSILON;

/// What a function may give at least whose accuracy is inherited, on what its operands may be;
/// `None` where that is not known. Where only numbers of the format count, and exact results are no
/// smaller than `least`, what is rounded reaches one farther than what it is rounded from.
pub(crate) fn inherited(
    function: Function,
    inherited: &InheritedAccuracy,
    operands: &[Reach],
    layout: FloatLayout,
    least: Option<f64>,
) -> Option<Reach> {
    // What any of the formulas gives is given; where nothing is known of one that is not the
    // function, that counts too.
    let given = inherited.formulas.iter().filter_map(|formula| {
        if let [Reach::Given(operand)] = operands
            && operand.is_near()
            && is_undefined(function, operand.exact.lo, operand.exact.hi)
            && is_identity(function, formula)
        {
            return Some(Reach::Open);
        }
        let Reach::Given(given) = whole(function, formula, operands, layout)? else {
            return Some(Reach::Open);
        };
        let further = match (factor(function, formula), operands) {
            (Some(off), [Reach::Given(operand)]) => operand.exact.abs().lo * off * ROUNDED,
            _ if is_identity(function, formula) => 0.0,
            _ => return None,
        };
        let radius = given.radius + further;
        // Where it ends, numbers may lie closer than around the exact result.
        let apart = least
            .filter(|_| rounds(formula))
            .map_or(0.0, |least| ulp_below((least - radius).max(0.0), layout));
        Some(Reach::Given(ValueBounds { radius: radius + apart, ..given }))
    });
    let bounded =
        inherited.or.as_ref().and_then(|accuracy| direct(function, accuracy, operands, layout));
    given.chain(bounded).reduce(wider)
}

/// Whether what is inherited accepts correctly rounded results that are normal numbers: the last
/// step rounds, and every step is given the exact value among what it may be given.
pub(crate) fn is_rounded(function: Function, inherited: &InheritedAccuracy) -> bool {
    inherited.formulas.iter().any(|formula| rounds(formula) && is_identity(function, formula))
}

/// Whether the last step of a formula rounds.
fn rounds(formula: &ResolvedFormula) -> bool {
    matches!(&formula.nodes[formula.root], Node::Step(demand, _) if demand.accuracy.is_rounding())
}

/// Whether nothing is known of what is inherited because nothing is stated of these operands,
/// numbers of one sign and not zero, by an operation that is given one as it is; `None` where they
/// do not agree.
pub(crate) fn is_unstated(
    inherited: &InheritedAccuracy,
    operand: Interval,
    layout: FloatLayout,
) -> Option<bool> {
    let mut agree = true;
    for formula in &inherited.formulas {
        for node in &formula.nodes {
            if let Node::Step(demand, arguments) = node
                && let Accuracy::Stated(stated) = &demand.accuracy
                && matches!(arguments[..], [argument] if formula.nodes[argument] == Node::Operand(0))
            {
                let excluded =
                    stated.conditions.iter().any(|condition| condition.excludes(operand, layout));
                if excluded
                    && part(formula, formula.root, &[Reach::exactly(operand)], layout)
                        == Some(Reach::Open)
                {
                    return Some(true);
                }
                agree &=
                    stated.conditions.iter().all(|condition| condition.holds(&[operand], layout));
            }
        }
    }
    agree.then_some(false)
}

/// Like [`alone`], but that it is [`Accuracy::Undefined`] where formulas state nothing of any of
/// the operands.
pub(crate) fn stated(
    accuracy: &Accuracy,
    operand: Interval,
    layout: FloatLayout,
) -> Option<&Accuracy> {
    match alone(accuracy, operand, layout)? {
        Accuracy::Inherited(inherited) => is_unstated(inherited, operand, layout)
            .map(|unstated| if unstated { &Accuracy::Undefined } else { accuracy }),
        one => Some(one),
    }
}

/// What is accepted of each of these operands, whose exact results are no smaller than `least`
/// where only numbers count; `None` where that is not known.
pub(crate) fn reached(
    demand: &Demand,
    inherited: &InheritedAccuracy,
    operand: Interval,
    least: Option<f64>,
) -> Option<Tolerance> {
    let operand = Reach::read(operand, &demand.operands, LAYOUT);
    Some(match self::inherited(demand.function, inherited, &[operand], LAYOUT, least)? {
        Reach::Open => Tolerance::ANYTHING,
        Reach::Given(ValueBounds { radius, zero, infinite, .. }) => Tolerance {
            zero,
            infinite,
            unsigned: demand.has_no_sign(),
            ..Tolerance::within(radius)
        },
    })
}

/// Whether nothing is known of what is given on any of these operands.
pub(crate) fn is_open(demand: &Demand, inherited: &InheritedAccuracy, operand: Interval) -> bool {
    reached(demand, inherited, operand, None) == Some(Tolerance::ANYTHING)
}

/// What one of two ways to the same value gives.
fn wider(a: Reach, b: Reach) -> Reach {
    match (a, b) {
        (Reach::Given(a), Reach::Given(b)) => Reach::Given(ValueBounds {
            exact: a.exact,
            radius: a.radius.max(b.radius),
            zero: a.zero || b.zero,
            infinite: a.infinite || b.infinite,
        }),
        _ => Reach::Open,
    }
}

/// What a formula gives. Where it is a logarithm and the function itself, the logarithm's operand
/// is the exponential of what the function gives: a difference of two intervals would not show that
/// it is small.
fn whole(
    function: Function,
    formula: &ResolvedFormula,
    operands: &[Reach],
    layout: FloatLayout,
) -> Option<Reach> {
    let root = &formula.nodes[formula.root];
    if let Node::Step(demand, arguments) = root
        && let (Function::Log, [argument], [Reach::Given(operand)]) =
            (demand.function, &arguments[..], operands)
        && is_identity(function, formula)
        && let Reach::Given(given) = part(formula, *argument, operands, layout)?
    {
        let result = range(function, &[operand.exact], true).hull()?;
        let power = range(Function::Exp, &[result], true).hull()?;
        return step(
            demand,
            &[Reach::Given(ValueBounds { exact: given.exact.common(power)?, ..given })],
            layout,
        );
    }
    part(formula, formula.root, operands, layout)
}

/// What a part of a formula may be.
fn part(
    formula: &ResolvedFormula,
    number: usize,
    operands: &[Reach],
    layout: FloatLayout,
) -> Option<Reach> {
    match &formula.nodes[number] {
        Node::Operand(operand) => operands.get(*operand).copied(),
        Node::Constant(around) => Some(Reach::exactly(*around)),
        Node::Step(demand, arguments) => {
            let arguments =
                arguments.iter().map(|argument| part(formula, *argument, operands, layout));
            step(demand, &arguments.collect::<Option<SmallVec<[Reach; 2]>>>()?, layout)
        }
        // Of the single component of a scalar.
        Node::Sum(_, vector) => part(formula, *vector, operands, layout),
        Node::Select(..) | Node::Swizzle(..) => None,
    }
}

/// What an operation of a formula may give.
fn step(demand: &Demand, operands: &[Reach], layout: FloatLayout) -> Option<Reach> {
    let given = match &demand.accuracy {
        Accuracy::Inherited(of) => return inherited(demand.function, of, operands, layout, None),
        accuracy => direct(demand.function, accuracy, operands, layout),
    }?;
    let Reach::Given(mut given) = given else { return Some(given) };
    let [least, largest] =
        [layout.min_normal(), layout.max_finite()].map(|bits| f64::decode(layout, bits));
    let magnitudes = given.exact.abs();
    if given.is_near() && magnitudes.lo > largest {
        given.infinite = true;
    }
    if given.infinite && demand.results.non_finite == NonFinite::Any {
        return Some(Reach::Open);
    }
    given.infinite &= !matches!(demand.results.overflow, Overflow::Saturate | Overflow::Clamp);
    // A subnormal number is among what it may be.
    if given.is_near() && magnitudes.hi < least && !given.exact.contains_zero() {
        given.zero |= demand.results.subnormal_results != Subnormals::Keep;
    }
    if magnitudes.hi + given.radius.max(0.0) > largest {
        given.radius = NOWHERE;
    }
    Some(Reach::Given(given))
}

/// What an operation may give that has an accuracy of its own.
fn direct(
    function: Function,
    accuracy: &Accuracy,
    operands: &[Reach],
    layout: FloatLayout,
) -> Option<Reach> {
    let mut given: SmallVec<[ValueBounds; 2]> = SmallVec::new();
    for operand in operands {
        match *operand {
            Reach::Open => return Some(Reach::Open),
            Reach::Given(of) => given.push(of),
        }
    }
    let near = match near(function, accuracy, &given, layout) {
        Some(Reach::Given(near)) => near,
        open => return open,
    };
    Some(match special(function, accuracy, &given, near.exact, layout) {
        Special::Anything => Reach::Open,
        Special::Among { zero, infinite } => Reach::Given(ValueBounds { zero, infinite, ..near }),
    })
}

/// What an operation may give on operands near their exact values.
fn near(
    function: Function,
    accuracy: &Accuracy,
    operands: &[ValueBounds],
    layout: FloatLayout,
) -> Option<Reach> {
    let ValueBounds { exact: first, radius, .. } = *operands.first()?;
    let all = operands.iter().all(ValueBounds::is_near);
    // No condition holds for all that an operand may be which does not hold for its exact value.
    if let Accuracy::Stated(stated) = accuracy
        && operands[0].is_near()
        && !first.contains_zero()
        && stated.conditions.iter().any(|condition| condition.excludes(first, layout))
    {
        return Some(Reach::Open);
    }
    // A number that the function has no result for is among what the operand may be.
    if operands[0].is_near()
        && (is_undefined(function, first.lo, first.hi)
            || is_undefined(function, first.lo - radius, first.hi - radius))
    {
        return Some(Reach::Open);
    }
    let values: SmallVec<[Interval; 2]> = operands.iter().map(|operand| operand.exact).collect();
    let range = range(function, &values, true).hull()?;
    if !all {
        return Some(Reach::Given(ValueBounds::around(range, NOWHERE)));
    }
    let carried = carried(function, operands) * ROUNDED;
    if function == Function::Neg {
        return Some(Reach::Given(ValueBounds::around(range, carried)));
    }
    // The ends of what is carried that far may be smaller, and have smaller units.
    let magnitudes = range.abs();
    let least = Interval { lo: (magnitudes.lo - carried).max(0.0) * ROUNDED, hi: magnitudes.hi };
    let operand = first.widened(radius);
    let radius = (carried + own(accuracy, operand, least, layout)) * ROUNDED;
    Some(Reach::Given(ValueBounds::around(range, radius)))
}

/// How far an accuracy reaches around exact results of these magnitudes. Where it is stated of no
/// operand such as this one, anything may be given.
fn own(accuracy: &Accuracy, operand: Interval, magnitudes: Interval, layout: FloatLayout) -> f64 {
    let accuracy = match accuracy {
        Accuracy::Stated(stated) => &stated.accuracy,
        accuracy => accuracy,
    };
    // Of what is rounded the numbers around it are left, which may be as near as itself.
    let bound = alone(accuracy, operand, layout).filter(|one| one.is_bound() && !one.is_rounding());
    let reached = bound.and_then(|one| tolerance(one, operand, magnitudes, layout));
    reached.filter(|reached| reached.limit == f64::INFINITY).map_or(0.0, |reached| reached.distance)
}

/// How far exact results reach on operands that reach so far.
fn carried(function: Function, operands: &[ValueBounds]) -> f64 {
    let all: SmallVec<[(Interval, f64); 2]> =
        operands.iter().map(|operand| (operand.exact, operand.radius)).collect();
    match (function, &all[..]) {
        (Function::Neg, [(_, radius)]) => *radius,
        (Function::Add | Function::Sub, [(_, one), (_, other)]) => one + other,
        // (x + r) (y + s) and (x - r) (y - s)
        (Function::Mul, [(x, r), (y, s)]) => (x.abs().lo * s + y.abs().lo * r - r * s).max(0.0),
        // (x - r) / (y + s) = x / y - (x s + y r) / (y (y + s)), the nearer of the two
        (Function::Div, [(x, r), (y, s)]) => {
            let (least, most) = (y.abs().lo, y.abs().hi);
            (x.abs().lo * s + least * r) / (most * (most + s))
        }
        // sqrt(x + r) - sqrt(x) = r / (sqrt(x + r) + sqrt(x)); below x it falls faster
        (Function::Sqrt, [(x, r)]) => r / (2.0 * (x.hi + r).sqrt()),
        // log(x + r) - log(x) = log(1 + r / x) >= r / (x + r)
        (Function::Log | Function::Log2, [(x, r)]) => r / (x.hi + r),
        // No less than what is given for the exact operand.
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests;
