//! What a device chose where the text leaves a choice, and what would have to be different for a
//! lane to pass.

use fpprobe_spirv::{FloatLayout, Function};

use super::lane::{Lane, LaneView};
use crate::accepted::Set;
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{
    Contraction, Environment, Invalid, Nan, NanBits, NonFinite, Overflow, Sign, Subnormals,
    ZeroOrder,
};
use crate::oracle::Demand;
use crate::profile::Behaviour;

/// One way to narrow a demand, and what it is called.
type Choice = (fn(&mut Demand), &'static str);

/// Something that a text may leave open.
struct OpenChoice {
    /// The ways, in order; the first that explains every lane is what the device does, if some
    /// lane tells it from another. The last explains everything.
    ways: &'static [Choice],
    /// Whether a demand leaves it open.
    left: fn(&Demand) -> bool,
    /// Whether a lane with this answer can tell the ways apart.
    concerns: fn(Lane<'_>, u64) -> bool,
}

const OPEN: [OpenChoice; 9] = [
    OpenChoice {
        ways: &[
            (|d| d.operands.subnormal_inputs = Subnormals::Keep, "subnormal operands count"),
            (|d| d.operands.subnormal_inputs = Subnormals::Flush, "subnormal operands are flushed"),
            (|_| {}, "subnormal operands count in part"),
        ],
        left: |d| d.operands.subnormal_inputs == Subnormals::Either,
        concerns: |lane, _| some_operand(lane, FloatLayout::is_subnormal),
    },
    OpenChoice {
        ways: &[
            (|d| d.results.subnormal_results = Subnormals::Keep, "subnormal results are kept"),
            (|d| d.results.subnormal_results = Subnormals::Flush, "subnormal results are flushed"),
            (|_| {}, "subnormal results are kept in part"),
        ],
        left: |d| d.results.subnormal_results == Subnormals::Either,
        concerns: |lane, answer| {
            is(lane, answer, |layout, bits| layout.is_zero(bits) || layout.is_subnormal(bits))
        },
    },
    OpenChoice {
        ways: &[
            (|d| d.accuracy = Accuracy::NearestEven, "rounds to nearest even"),
            (|d| d.accuracy = Accuracy::NearestAway, "rounds to nearest, ties away from zero"),
            (|d| d.accuracy = Accuracy::TowardZero, "rounds towards zero"),
            (|_| {}, "within the tolerance, in no one direction"),
        ],
        left: |d| {
            !matches!(
                d.accuracy,
                Accuracy::NearestEven | Accuracy::NearestAway | Accuracy::TowardZero
            )
        },
        concerns: |_, _| true,
    },
    OpenChoice {
        ways: &[
            (|d| contracted(d, Contraction::Separate), "multiplies and adds, each rounded"),
            (|d| contracted(d, Contraction::Fused), "fused, rounded once"),
            (|_| {}, "fused in part"),
        ],
        left: |d| d.function == Function::MulAdd && d.results.contraction == Contraction::Either,
        concerns: |_, _| true,
    },
    OpenChoice {
        ways: &[
            (|d| d.operands.zero_order = ZeroOrder::Ieee, "-0 counts as smaller than +0"),
            (|d| d.operands.zero_order = ZeroOrder::First, "of two zeros the first operand"),
            (|d| d.operands.zero_order = ZeroOrder::Second, "of two zeros the second operand"),
            (|_| {}, "of two zeros either operand"),
        ],
        left: |d| d.operands.zero_order == ZeroOrder::Any && chooses(d.function),
        // A subnormal operand may be read as one.
        concerns: |lane, _| {
            some_operand(lane, |layout, bits| layout.is_zero(bits) || layout.is_subnormal(bits))
        },
    },
    OpenChoice {
        ways: &[
            (|d| d.operands.nan_operand = Nan::Nan, "a NaN operand gives a NaN"),
            (|d| d.operands.nan_operand = Nan::Other, "the number is returned, not the NaN"),
            (|_| {}, "a NaN operand gives a NaN or not"),
        ],
        left: |d| matches!(d.operands.nan_operand, Nan::Any | Nan::Either),
        concerns: |lane, _| some_operand(lane, FloatLayout::is_nan),
    },
    OpenChoice {
        ways: &[
            (|d| d.operands.nan_bits = NanBits::Keep, "signalling NaNs are kept"),
            (|_| {}, "signalling NaNs are made quiet"),
        ],
        left: |d| d.operands.nan_bits == NanBits::Quieten,
        concerns: |lane, _| some_operand(lane, FloatLayout::is_nan),
    },
    OpenChoice {
        ways: &[
            (exact_signs, "signs of zeros are kept"),
            (|_| {}, "signs of zeros are not always kept"),
        ],
        // What is inherited knows no sign of zero.
        left: |d| {
            d.results.zero_sign == Sign::Either && !matches!(d.accuracy, Accuracy::Inherited(_))
        },
        concerns: |lane, answer| {
            some_operand(lane, |layout, bits| layout.is_zero(bits) || layout.is_subnormal(bits))
                || is(lane, answer, FloatLayout::is_zero)
        },
    },
    OpenChoice {
        ways: &[
            (|d| d.results.overflow = Overflow::Round, "overflow gives infinity"),
            (
                |d| d.results.overflow = Overflow::Saturate,
                "overflow gives the largest finite value",
            ),
            (|_| {}, "overflow gives either"),
        ],
        left: |d| matches!(d.results.overflow, Overflow::Either | Overflow::RoundOrSaturate),
        concerns: |lane, answer| {
            is(lane, answer, |layout, bits| {
                [layout.infinity(), layout.max_finite()].contains(&(bits & layout.magnitude_mask()))
            })
        },
    },
];

/// Whether a function hands on one of several values, for which it may have to choose between
/// zeros.
fn chooses(function: Function) -> bool {
    matches!(function, Function::Min | Function::Max | Function::Clamp | Function::Saturate)
}

/// Whether the answer is such a number.
fn is(lane: Lane<'_>, answer: u64, such: fn(FloatLayout, u64) -> bool) -> bool {
    matches!(lane.set.encoding(), Encoding::Float(layout) if such(layout, answer))
}

fn some_operand(lane: Lane<'_>, is: fn(FloatLayout, u64) -> bool) -> bool {
    lane.operands
        .iter()
        .any(|operand| operand.layout.is_some_and(|layout| is(layout, operand.bits)))
}

/// A multiply-add that is carried out so. A formula says nothing of it: its steps are rounded in
/// either direction.
fn contracted(demand: &mut Demand, contraction: Contraction) {
    demand.results.contraction = contraction;
    if matches!(demand.accuracy, Accuracy::Inherited(_)) {
        demand.accuracy = Accuracy::EitherNeighbour;
    }
}

fn exact_signs(demand: &mut Demand) {
    for environment in [&mut demand.operands, &mut demand.results] {
        environment.zero_sign = Sign::Exact;
        environment.flushed_sign = Sign::Exact;
    }
}

/// What a way was seen to do on the lanes of one part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// Every lane passes under it.
    passes: bool,
    /// It changes some lane.
    matters: bool,
}

impl Trial {
    /// Of no lane.
    const NOTHING: Trial = Trial { passes: true, matters: false };
}

/// What the lanes of one part say of what its demand leaves open: by number in `OPEN`, way by way.
pub(super) type Choices = Vec<(usize, Vec<Trial>)>;

/// A way that is tried.
struct Narrowing {
    /// The number of the demand under it, if that is another.
    demand: Option<usize>,
    /// What was seen under it so far.
    seen: Trial,
}

/// Tries every way of what one part's demand leaves open, on every lane that it concerns, until it
/// fails.
pub(super) struct NarrowingSearch<'a> {
    view: &'a LaneView<'a>,
    /// Number in `OPEN`, and for each way the demand under it and what was seen so far.
    open: Vec<(usize, Vec<Narrowing>)>,
}

impl<'a> NarrowingSearch<'a> {
    /// A look at this part; `number` gives each demand its number.
    pub(super) fn new(view: &'a LaneView<'a>, mut number: impl FnMut(Demand) -> usize) -> Self {
        let mut tried = |change: fn(&mut Demand)| {
            let mut demand = view.demand.clone();
            change(&mut demand);
            let is_other = demand != *view.demand;
            Narrowing { demand: is_other.then(|| number(demand)), seen: Trial::NOTHING }
        };
        let left = OPEN.iter().enumerate().filter(|(_, open)| (open.left)(view.demand));
        let ways = left.map(|(number, open)| {
            (number, open.ways.iter().map(|(change, _)| tried(*change)).collect())
        });
        NarrowingSearch { view, open: ways.collect() }
    }

    /// Looks at one more lane; `under` is what a demand accepts there, by its number.
    pub(super) fn see<'s>(
        &mut self,
        lane: Lane<'_>,
        demands: &[Demand],
        under: impl Fn(usize) -> &'s Set,
    ) {
        // A way can only narrow what is accepted.
        if lane.set.is_single() {
            return;
        }
        let answer = self.view.result(lane.index);
        for (open, ways) in &mut self.open {
            let tried = ways.iter_mut();
            let mut tried = tried.filter_map(|one| Some((one.demand?, &mut one.seen))).peekable();
            if tried.peek().is_none() || !(OPEN[*open].concerns)(lane, answer) {
                continue;
            }
            for (demand, seen) in tried.filter(|(_, seen)| seen.passes) {
                let set = under(demand);
                seen.matters |= set != lane.set;
                seen.passes &= self.view.accepts(set, lane.index, &demands[demand]);
            }
        }
    }

    /// What was seen.
    pub(super) fn choices(self) -> Choices {
        let seen = |ways: Vec<Narrowing>| ways.into_iter().map(|way| way.seen).collect();
        self.open.into_iter().map(|(number, ways)| (number, seen(ways))).collect()
    }
}

/// Names what the device chose, by what was seen of each part of a rule.
pub(super) fn name<'a>(parts: impl Iterator<Item = &'a Choices>) -> String {
    let mut all: Vec<Vec<Trial>> =
        OPEN.iter().map(|open| vec![Trial::NOTHING; open.ways.len()]).collect();
    for (number, ways) in parts.flatten() {
        for (all, way) in all[*number].iter_mut().zip(ways) {
            *all = Trial { passes: all.passes && way.passes, matters: all.matters || way.matters };
        }
    }
    let mut names: Vec<&'static str> = Vec::new();
    for (open, seen) in OPEN.iter().zip(&all) {
        // That one fails speaks for the others; and so does it if each says more than the text.
        let ways = &seen[..seen.len() - 1];
        let is_reported = ways.iter().all(|way| way.matters) || ways.iter().any(|way| !way.passes);
        let explains = open.ways.iter().zip(seen).find(|(_, way)| is_reported && way.passes);
        names.extend(explains.map(|((_, name), _)| name));
    }
    names.join("; ")
}

/// The demand of IEEE 754 round-to-nearest-even under the profile's flushing.
pub(crate) fn strict(demand: &Demand) -> Demand {
    let mut strict = demand.clone();
    strict.accuracy = Accuracy::NearestEven;
    for environment in [&mut strict.operands, &mut strict.results] {
        ieee(environment);
    }
    strict
}

/// Whether [`strict`] accepts nothing that the demand does not.
pub(super) fn only_narrows(demand: &Demand) -> bool {
    let ordered = |environment: &Environment| {
        matches!(environment.zero_order, ZeroOrder::Any | ZeroOrder::Ieee)
    };
    demand.accuracy.is_nearest() && [&demand.operands, &demand.results].into_iter().all(ordered)
}

fn ieee(environment: &mut Environment) {
    environment.zero_sign = Sign::Exact;
    environment.flushed_sign = Sign::Exact;
    environment.pole_nan = false;
    environment.non_finite = NonFinite::Ieee;
    environment.invalid = Invalid::Nan;
    environment.zero_order = ZeroOrder::Ieee;
    if matches!(environment.overflow, Overflow::Either | Overflow::RoundOrSaturate) {
        environment.overflow = Overflow::Round;
    }
    if matches!(environment.nan_operand, Nan::Any | Nan::Either) {
        environment.nan_operand = Nan::Nan;
    }
}

/// The demand with a behaviour swapped for its opposite.
pub(super) fn swapped(demand: &Demand, behaviour: Behaviour) -> Demand {
    let mut swapped = demand.clone();
    for environment in [&mut swapped.operands, &mut swapped.results] {
        let opposite = |subnormals: Subnormals| match subnormals {
            Subnormals::Flush => Subnormals::Keep,
            Subnormals::Keep => Subnormals::Flush,
            Subnormals::Either => Subnormals::Either,
        };
        if behaviour == Behaviour::Contraction {
            environment.contraction = match environment.contraction {
                Contraction::Fused => Contraction::Separate,
                Contraction::Separate => Contraction::Fused,
                Contraction::Either => Contraction::Either,
            };
            continue;
        }
        if behaviour == Behaviour::Subnormals {
            environment.subnormal_inputs = opposite(environment.subnormal_inputs);
        }
        environment.subnormal_results = opposite(environment.subnormal_results);
        if environment.subnormal_results == Subnormals::Flush {
            environment.flushed_sign = Sign::Either;
        }
    }
    swapped
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::op::OPS;
    use fpprobe_spirv::{Format, Kernel, cases};

    use super::*;
    use crate::oracle::Signature;
    use crate::profile::{built_in, built_in_ids};

    /// Whether a change of a demand changes what is accepted on some of a kernel's boundary cases.
    fn matters(kernel: &Kernel, demand: &Demand, change: fn(&mut Demand)) -> bool {
        let signature = Signature::new(kernel);
        let mut changed = demand.clone();
        change(&mut changed);
        let differs = |case: &[u64]| {
            let set = |part, demand| signature.accepted_part(case, part, demand);
            (0..signature.encodings.len()).any(|part| set(part, demand) != set(part, &changed))
        };
        cases::boundary(kernel).iter().take(400).any(differs)
    }

    #[test]
    fn orders_of_zeros_matter_to_what_chooses_and_to_nothing_else() {
        let orders: [fn(&mut Demand); 3] = [
            |d| d.operands.zero_order = ZeroOrder::Ieee,
            |d| d.operands.zero_order = ZeroOrder::First,
            |d| d.operands.zero_order = ZeroOrder::Second,
        ];
        let mut seen = 0;
        for kernel in OPS.iter().filter_map(|op| Kernel::plain(Format::F32, op).ok()) {
            // Signs of zeros that are open themselves would hide which zero it is.
            let open = Environment { zero_order: ZeroOrder::Any, ..Environment::IEEE };
            let function = kernel.op.function;
            let accuracy = Accuracy::NearestEven;
            let ulp = crate::environment::Ulp::Vulkan;
            let demand = Demand { function, operands: open, results: open, accuracy, ulp };
            let matter = orders.into_iter().any(|order| matters(&kernel, &demand, order));
            assert_eq!(matter, chooses(function), "{kernel}");
            seen += usize::from(matter);
        }
        assert!(seen > 4, "{seen}");
    }

    #[test]
    fn what_is_inherited_knows_no_sign_of_zero() {
        let mut inherited = 0;
        for profile in built_in_ids().map(|id| built_in(id).unwrap().unwrap()) {
            for part in profile.rules.iter().flat_map(|rule| &rule.parts) {
                let kernel = &part.lowerings[0];
                if kernel.format == Format::F16
                    && matches!(part.demand.accuracy, Accuracy::Inherited(_))
                {
                    inherited += 1;
                    assert!(
                        !matters(kernel, &part.demand, exact_signs),
                        "{kernel} by {}",
                        profile.id
                    );
                }
            }
        }
        assert!(inherited > 20, "{inherited}");
    }
}
