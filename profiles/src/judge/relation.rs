//! Requirements on several lanes or several kernels at once.

use fpprobe_spirv::Kernel;

use super::Observations;
use super::lane::{LaneIndex, LaneView};
use crate::accepted::{Accepted, Set};
use crate::accuracy::Accuracy;
use crate::encoding::{Encoding, components};
use crate::environment::Subnormals;
use crate::observation::Observation;
use crate::oracle::{Demand, Signature};
use crate::profile::{Part, Requirement, Rule};

/// Rounding directions that may explain a whole path.
const DIRECTIONS: [Accuracy; 2] = [Accuracy::NearestEven, Accuracy::TowardZero];
/// Treatments of subnormals that may explain a whole operation.
const TREATMENTS: [Subnormals; 2] = [Subnormals::Keep, Subnormals::Flush];

/// The demands of which one must explain every lane; none for requirements of another kind.
pub(super) fn explanations(requirement: Requirement, demand: &Demand) -> Vec<Demand> {
    match requirement {
        Requirement::OneDirection => DIRECTIONS
            .iter()
            .map(|accuracy| Demand { accuracy: accuracy.clone(), ..demand.clone() })
            .collect(),
        Requirement::OneTreatment => {
            TREATMENTS.map(|treated| demand.clone().with_subnormals(treated)).to_vec()
        }
        Requirement::Result
        | Requirement::RoundTrip
        | Requirement::Monotonic
        | Requirement::EveryCode => Vec::new(),
    }
}

/// The demand that explains most lanes, and the places that it does not explain.
pub(super) fn against_one(
    demands: &[Demand],
    lanes: &[LaneIndex],
    view: &LaneView<'_>,
) -> Option<(Demand, Vec<LaneIndex>)> {
    let off = |demand: &Demand, lane: &LaneIndex| {
        !view.accepts(&view.under(*lane, demand), *lane, demand)
    };
    // Mostly one explains everything, and the first lane rules out the other.
    if let Some(demand) = demands.iter().find(|demand| !lanes.iter().any(|lane| off(demand, lane)))
    {
        return Some((demand.clone(), Vec::new()));
    }
    let against = |demand: &Demand| {
        lanes.iter().copied().filter(|lane| off(demand, lane)).collect::<Vec<LaneIndex>>()
    };
    let each = demands.iter().map(|demand| (demand.clone(), against(demand)));
    each.min_by_key(|(_, against)| against.len())
}

/// Places whose result is smaller than that of a smaller operand of the same part.
pub(super) fn against_monotony(lanes: &[LaneIndex], view: &LaneView<'_>) -> Vec<LaneIndex> {
    let mut points: Vec<(usize, i64, i64, LaneIndex)> = lanes
        .iter()
        .filter_map(|lane| {
            let operand = view.operands(*lane)[0];
            let layout = operand.layout.filter(|layout| !layout.is_nan(operand.bits))?;
            let (answer, encoding) = (view.result(*lane), view.encoding(*lane));
            let nan = matches!(encoding, Encoding::Float(layout) if layout.is_nan(answer));
            (!nan).then(|| {
                (lane.1, Encoding::Float(layout).key(operand.bits), encoding.key(answer), *lane)
            })
        })
        .collect();
    points.sort_unstable();
    let mut failing = Vec::new();
    let mut highest: Option<(usize, i64)> = None;
    for (part, _, result, index) in points {
        match highest {
            Some((same, high)) if same == part && result < high => failing.push(index),
            Some((same, high)) if same == part => highest = Some((part, high.max(result))),
            _ => highest = Some((part, result)),
        }
    }
    failing
}

/// A lane that contradicts a relation, and what would have been accepted there.
pub(super) type RelationFailure = (LaneIndex, Accepted);

/// What relations between kernels or over a whole list say of a rule: lanes looked at, and what
/// contradicts it; or why they cannot be judged, which is no pass.
pub(super) fn judge(
    rule: &Rule,
    part: &Part,
    stores: &Observation,
    observations: &Observations<'_>,
) -> Result<(usize, Vec<RelationFailure>), String> {
    let mut total = (0, Vec::new());
    for requirement in &rule.requirements {
        let (lanes, against) = match requirement {
            Requirement::RoundTrip => round_trip(stores, part, observations)?,
            Requirement::EveryCode => every_code(stores, part),
            _ => continue,
        };
        if lanes == 0 {
            return Err(format!("{}: no lane for `{}`", stores.kernel, requirement.name()));
        }
        total.0 += lanes;
        total.1.extend(against);
    }
    Ok(total)
}

/// Storing what a load of a finite code gave must give the code again (D3D11.3 §19.1.2, which
/// excepts NaN; what becomes of an infinity is the matter of rules on overflow).
fn round_trip(
    stores: &Observation,
    part: &Part,
    observations: &Observations<'_>,
) -> Result<(usize, Vec<RelationFailure>), String> {
    let kernel = stores.kernel;
    let load = fpprobe_spirv::Op::find("load").and_then(|op| Kernel::plain(kernel.format, op).ok());
    let load = load
        .map(|load| load.with_controls(kernel.controls))
        .ok_or_else(|| format!("{kernel} has no load"))?;
    let answered = |observation: &&Observation| observation.outcome.answered();
    // By whatever route the device loads this format.
    let routes = load.op.code.routes(kernel.format).iter();
    let mut loads = routes.filter_map(|route| observations.get(&Kernel { route: *route, ..load }));
    let loads =
        loads.find(answered).ok_or_else(|| format!("{load} gave nothing to store again"))?;
    let (mut lanes, mut against) = (0, Vec::new());
    for (index, channel) in kernel.format.channels().iter().enumerate() {
        // The first store of each input value in this channel.
        let mut stored = std::collections::BTreeMap::new();
        for (case, values) in stores.cases.iter().enumerate() {
            stored.entry(values[index]).or_insert(case);
        }
        for case in 0..loads.cases.len() {
            let code = components(&kernel, loads.cases.case(case))[index];
            let value = loads.answer(case)[index];
            let given = |store: &usize| components(&kernel, stores.answer(*store))[index];
            // Of a number that was not stored itself: numbers on either side that became one code
            // speak for it.
            let around = || {
                let (_, below) = stored.range(..value).next_back()?;
                let (_, above) = stored.range(value..).next()?;
                (given(below) == given(above)).then_some(below)
            };
            let store =
                stored.get(&value).or_else(around).filter(|_| code < channel.coding.positive());
            let Some(store) = store else { continue };
            lanes += 1;
            if given(store) != code {
                let mut accepted = Signature::new(&kernel)
                    .accepted(stores.cases.case(*store), &part.demand)
                    .alternatives()[0]
                    .clone();
                accepted[index] = Set::one(Encoding::of_coding(channel.coding), code);
                against.push(((*store, index), Accepted::new(accepted)));
            }
        }
    }
    Ok((lanes, against))
}

/// Every finite code must be the result of some input.
fn every_code(stores: &Observation, part: &Part) -> (usize, Vec<RelationFailure>) {
    let kernel = stores.kernel;
    let signature = Signature::new(&kernel);
    let (mut lanes, mut against) = (0, Vec::new());
    for (index, channel) in kernel.format.channels().iter().enumerate() {
        let mut seen = vec![false; channel.coding.positive() as usize];
        for case in 0..stores.cases.len() {
            let code = components(&kernel, stores.answer(case))[index];
            if let Some(seen) = seen.get_mut(code as usize) {
                *seen = true;
            }
        }
        lanes += seen.len();
        for code in seen.iter().enumerate().filter(|(_, seen)| !**seen).map(|(code, _)| code as u64)
        {
            // The first input for which it is accepted; its answer shows what came instead.
            let selects = |case: &usize| {
                signature
                    .accepted_part(stores.cases.case(*case), index, &part.demand)
                    .contains(code)
            };
            if let Some(case) = (0..stores.cases.len()).find(selects) {
                let mut accepted: Vec<Set> =
                    Encoding::of_result(&kernel).into_iter().map(Set::everything).collect();
                accepted[index] = Set::one(Encoding::of_coding(channel.coding), code);
                against.push(((case, index), Accepted::new(accepted)));
            }
        }
    }
    (lanes, against)
}
