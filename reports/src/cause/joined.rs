//! Which kinds of failing lanes are one habit or one fault.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fpprobe_profiles::judge::{Symptom, SymptomRank};
use fpprobe_spirv::op::Code;
use fpprobe_spirv::{Format, Function, Op, Route};

use super::headline::NAMED;
use super::{FailingLane, Kind, LOADS, STORES, UNITS};

/// Symptoms that are one with a second one where a group of operations shows both: what is off by
/// one encoding on some lanes is off by more on others.
pub(super) const MERGED: [(Symptom, Symptom); 9] = [
    (Symptom::Unrelated, Symptom::FoldedOtherwise),
    (Symptom::Inaccurate, Symptom::FoldedOtherwise),
    (Symptom::Neighbour, Symptom::FoldedOtherwise),
    (Symptom::Neighbour, Symptom::Inaccurate),
    (Symptom::SubnormalResultKept, Symptom::SubnormalOperandKept),
    (Symptom::SubnormalResultFlushed, Symptom::SubnormalOperandFlushed),
    (Symptom::InfinityLost, Symptom::NanToNumber),
    (Symptom::InfinityMade, Symptom::NumberToNan),
    (Symptom::OverflowToInfinity, Symptom::NumberToNan),
];

/// What a routine gives for some operands, whose special results are wrong for others.
const BESIDE_SPECIAL: [Symptom; 5] = [
    Symptom::OtherDirection,
    Symptom::OverflowToInfinity,
    Symptom::Neighbour,
    Symptom::Inaccurate,
    Symptom::Unrelated,
];

/// Makes one of what is one habit.
pub(super) fn merge(by_kind: &mut BTreeMap<Kind, Vec<&FailingLane<'_>>>) {
    let groups: BTreeSet<&str> = by_kind.keys().map(|(_, group)| *group).collect();
    // What a decoder is off by lies on either side.
    let decoded = by_kind.remove(&(Symptom::OtherDirection, LOADS)).unwrap_or_default();
    if !decoded.is_empty() {
        by_kind.entry((Symptom::Neighbour, LOADS)).or_default().extend(decoded);
    }
    of_loads(by_kind);
    of_chained(by_kind);
    for group in groups {
        for (part, whole) in MERGED {
            let Some(known) = by_kind.get(&(whole, group)) else { continue };
            let routines: BTreeSet<_> = known.iter().map(|lane| routine(lane)).collect();
            let is_same = |lane: &&FailingLane<'_>| {
                part != Symptom::Neighbour
                    || UNITS.contains(&group)
                    || routines.contains(&routine(lane))
            };
            let lanes = by_kind.remove(&(part, group)).unwrap_or_default();
            let (same, other): (Vec<_>, Vec<_>) = lanes.into_iter().partition(is_same);
            by_kind.entry((whole, group)).or_default().extend(same);
            if !other.is_empty() {
                by_kind.insert((part, group), other);
            }
        }
        if !UNITS.contains(&group) {
            join_special(by_kind, group);
        }
    }
}

/// A texel that becomes one of another format is loaded first: where loads of its own format show
/// what the conversion shows, that is of the loads.
fn of_loads(by_kind: &mut BTreeMap<Kind, Vec<&FailingLane<'_>>>) {
    for symptom in
        Symptom::ALL.into_iter().filter(|symptom| symptom.rank() == SymptomRank::Distance)
    {
        let Some(loads) = by_kind.get(&(symptom, LOADS)) else { continue };
        let loaded: BTreeSet<(Format, Route)> =
            loads.iter().map(|lane| (lane.kernel.format, lane.kernel.route)).collect();
        let is_loaded = |lane: &&FailingLane<'_>| {
            let source =
                lane.kernel.params().first().map(|operand| (operand.format, lane.kernel.route));
            lane.kernel.op.code == Code::TexelConvert
                && source.is_some_and(|source| loaded.contains(&source))
        };
        let stores = by_kind.remove(&(symptom, STORES)).unwrap_or_default();
        let (converted, stored): (Vec<_>, Vec<_>) = stores.into_iter().partition(is_loaded);
        by_kind.entry((symptom, LOADS)).or_default().extend(converted);
        if !stored.is_empty() {
            by_kind.insert((symptom, STORES), stored);
        }
    }
}

/// Operations in a row fail by what one of them does: where an operation by the same instruction
/// fails by itself, theirs is that cause, before others one of the same symptom.
fn of_chained(by_kind: &mut BTreeMap<Kind, Vec<&FailingLane<'_>>>) {
    let mut alone: Vec<(Kind, &'static Op, usize)> = Vec::new();
    for (kind, lanes) in by_kind.iter().filter(|((_, group), _)| !group.is_empty()) {
        alone.extend(single(lanes).into_iter().map(|op| (*kind, op, lanes.len())));
    }
    let through = |(symptom, group): Kind, lane: &FailingLane<'_>| {
        let shared = alone.iter().filter(|(_, op, _)| is_part(op, lane));
        let nearest = shared.max_by_key(|((other, of), _, lanes)| {
            (*other == symptom, (*other, *of) == (symptom, group), *lanes)
        });
        nearest.map_or((symptom, group), |(kind, ..)| *kind)
    };
    let kinds: Vec<Kind> = by_kind.keys().filter(|(_, group)| !group.is_empty()).copied().collect();
    for kind in kinds {
        for lane in by_kind.remove(&kind).unwrap_or_default() {
            let own = if is_chained(lane) { through(kind, lane) } else { kind };
            by_kind.entry(own).or_default().push(lane);
        }
    }
}

/// Whether the operation of a lane is several in a row.
fn is_chained(lane: &FailingLane<'_>) -> bool {
    matches!(lane.kernel.op.function, Function::Chain(_))
}

/// The other operations of these lanes.
fn single(lanes: &[&FailingLane<'_>]) -> Vec<&'static Op> {
    let mut ops: Vec<&'static Op> = Vec::new();
    for lane in lanes.iter().filter(|lane| !is_chained(lane)) {
        if !ops.iter().any(|known| known.name == lane.kernel.op.name) {
            ops.push(lane.kernel.op);
        }
    }
    ops
}

/// Whether a chain has an instruction of this operation.
fn is_part(op: &Op, chained: &FailingLane<'_>) -> bool {
    let own = || chained.kernel.op.code.instructions();
    op.code.instructions().any(|one| own().any(|other| other == one))
}

/// An operation that is computed on its own has one routine: where special results of it are wrong,
/// the fewer lanes that are wrong in another way are of the same fault.
fn join_special(by_kind: &mut BTreeMap<Kind, Vec<&FailingLane<'_>>>, group: &'static str) {
    for special in Symptom::ALL.into_iter().filter(|symptom| symptom.rank() == SymptomRank::Value) {
        let Some(known) = by_kind.get(&(special, group)) else { continue };
        let own = operations(known);
        for other in BESIDE_SPECIAL {
            let lanes = by_kind.remove(&(other, group)).unwrap_or_default();
            let beside = operations(&lanes);
            let (same, rest): (Vec<_>, Vec<_>) = lanes.into_iter().partition(|lane| {
                let operation = lane.operation();
                own.get(&operation).is_some_and(|lanes| *lanes > beside[&operation])
            });
            by_kind.entry((special, group)).or_default().extend(same);
            if !rest.is_empty() {
                by_kind.insert((other, group), rest);
            }
        }
    }
}

/// The operation through which that of a lane is computed: the powers and logarithms of e are those
/// of 2 with a factor.
fn routine(lane: &FailingLane<'_>) -> (&'static str, Format, bool) {
    let (name, format, is_folded) = lane.operation();
    let through = match lane.kernel.op.function {
        Function::Exp | Function::Exp2 => "exp2",
        Function::Log | Function::Log2 => "log2",
        _ => name,
    };
    (through, format, is_folded)
}

/// The lanes of each operation.
fn operations(lanes: &[&FailingLane<'_>]) -> HashMap<(&'static str, Format, bool), usize> {
    let mut counts = HashMap::new();
    for lane in lanes {
        *counts.entry(lane.operation()).or_default() += 1;
    }
    counts
}

/// Unrelated values of an operation that is computed on its own have nothing in common with those
/// of another one; a chain's are those of the operation that it goes through.
pub(super) fn part_unrelated(by_kind: &mut BTreeMap<Kind, Vec<&FailingLane<'_>>>) {
    let all: BTreeSet<Kind> =
        by_kind.keys().filter(|(symptom, _)| *symptom == Symptom::Unrelated).copied().collect();
    for kind in all.into_iter().filter(|(_, group)| !UNITS.contains(group)) {
        let lanes = by_kind.remove(&kind).unwrap_or_default();
        let alone = single(&lanes);
        for lane in lanes {
            let through = alone.iter().find(|op| is_chained(lane) && is_part(op, lane));
            let group = if lane.kernel.op.code.is_of_texels() {
                kind.1
            } else {
                through.map_or(lane.kernel.op.name, |op| op.name)
            };
            by_kind.entry((Symptom::Unrelated, group)).or_default().push(lane);
        }
    }
}

/// Values of which nothing is known but that each of them is zero.
pub(super) fn name_zeros(by_kind: &mut BTreeMap<Kind, Vec<&FailingLane<'_>>>) {
    let is_zeros = |(kind, lanes): (&Kind, &Vec<&FailingLane<'_>>)| {
        (kind.0 == Symptom::Unrelated && lanes.iter().all(|lane| lane.is_zero())).then_some(*kind)
    };
    let zeros: Vec<Kind> = by_kind.iter().filter_map(is_zeros).collect();
    for kind in zeros {
        let lanes = by_kind.remove(&kind).unwrap_or_default();
        by_kind.insert((Symptom::ZeroMade, kind.1), lanes);
    }
}

/// Whether constants show what is seen at run time: a habit of every operation, or one of the same
/// operations. A habit of the compiler may be none of the device.
pub(super) fn is_of_operations(
    (_, group): Kind,
    constants: &[&FailingLane<'_>],
    run_time: &[&FailingLane<'_>],
) -> bool {
    let known: BTreeSet<&str> = run_time.iter().map(|lane| lane.kernel.op.name).collect();
    !group.is_empty()
        || known.len() > NAMED
        || constants.iter().all(|lane| known.contains(lane.kernel.op.name))
}
