//! Results of two binary16 operands: row by row, a row being the pairs of one first operand.
//!
//! A row is cut where the second operand is of another sort, or where the host's result is another
//! kind of number. In such a segment the host's results are accepted where every accuracy that
//! looks accepts correctly rounded results: what the environment says of subnormals, zeros,
//! overflow or infinities adds results to the set, but for what [`keeps`] excludes. The same holds
//! for what the host gives with subnormals flushed, where every demand allows that. What the rules
//! say of such a segment is the oracle's word on its first pair. All other results are the oracle's
//! one by one.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use fpprobe_spirv::Kernel;
use fpprobe_spirv::op::Function;
use pulp::Arch;

use super::half::{
    HalfBehaviour, HalfOperation, LARGEST, LAYOUT, LEAST_NORMAL, REST, ScanSummary, is_nan,
    is_subnormal, key, narrowed, operands,
};
use super::lane::{RuleVerdicts, SweepRule, is_judged};
use super::sorts::Sorts;
use super::statistics::{PARTS, Worst};
use super::work::Work;
use super::{EncodingClass, Verifier};
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Overflow, Subnormals};
use crate::filter::tolerance::accepts_rounded;
use crate::lanes::LaneSelection;
use crate::oracle::{Demand, Operands};

/// Results that are compared at once.
const SPAN: u32 = 2048;
/// Results among which the largest error is looked for one by one.
const PIECE: usize = 64;
/// From here to the largest number the errors of divisions may reach beyond that, where nothing is
/// demanded any more.
const TOP: u32 = LARGEST - (5 << REST);
/// The largest error in ulps of such a division.
const MOST_ULPS: f64 = 5.0;

/// Judges operations on two binary16 numbers.
#[derive(Debug)]
pub(super) struct Pairs {
    pub(super) operation: HalfOperation,
    pub(super) arch: Arch,
    sorts: [Sorts; 2],
    pub(super) encoding: Encoding,
    /// Whether exact results have a distance from those of devices.
    has_errors: bool,
    /// From where on a magnitude is near the largest number.
    top: u32,
    memo: RwLock<HashMap<SegmentKey, Option<Arc<SpanVerdict>>>>,
}

/// What segments have in common of which the same is said: the sorts of the operands, what the
/// results are, and whether they are those of a device that flushes subnormals.
type SegmentKey = ([u8; 2], SegmentMagnitude, EncodingClass, bool);

/// What the rules say of all results of a segment.
#[derive(PartialEq, Eq, Debug)]
struct SpanVerdict {
    says: RuleVerdicts,
    /// Whether a rule that looks bounds the error.
    bounded: bool,
}

/// What the host's results of a segment are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum SegmentMagnitude {
    /// No numbers.
    Nan,
    /// Infinite, as an operand is, or by a pole.
    Infinite,
    /// Exactly zero.
    Zero,
    /// Below the least normal number before they are rounded.
    Tiny,
    /// Normal before they are rounded.
    Normal,
    /// Beyond the largest number before they are rounded.
    Beyond,
    /// At an end of the normal numbers, where binary32 does not show the side, or as near the
    /// largest one as errors reach.
    Edge,
    /// One of the operands, or what their order gives: second below, equal, above, not ordered.
    Chosen(u8),
}

/// Consecutive pairs of a row whose operands are of the same sorts, and whose results by the host
/// are of the same kind.
#[derive(Clone, Copy)]
struct Segment<'a> {
    /// The first second operand.
    first: u32,
    size: SegmentMagnitude,
    /// Class of the host's results.
    class: EncodingClass,
    results: &'a [u32],
}

/// The pairs of one first operand.
struct PairRow<'r> {
    pairs: &'r Pairs,
    x: u32,
    /// The largest error of its exponent.
    worst: Option<Worst>,
    /// How many pairs are judged, and the lowest and the highest of them.
    judged: u64,
    domain: Option<[u64; 2]>,
}

impl Pairs {
    /// For kernels that there is a way for.
    pub(super) fn new(kernel: &Kernel, rules: &[SweepRule], encoding: Encoding) -> Option<Pairs> {
        let operation = HalfOperation::new(kernel)?;
        let mut demands = rules.iter().flat_map(|rule| &rule.demands);
        let divides = matches!(kernel.op.function, Function::Div);
        demands
            .all(|demand| {
                is_decided(&demand.accuracy, divides) && demand.function == kernel.op.function
            })
            .then_some(())?;
        let sorts = [Sorts::new(rules, 0, LAYOUT)?, Sorts::new(rules, 1, LAYOUT)?];
        let has_errors =
            !matches!(kernel.op.function, Function::Compare { .. } | Function::Min | Function::Max);
        let top = if divides { TOP } else { LARGEST };
        let memo = RwLock::default();
        Some(Pairs { operation, arch: Arch::new(), sorts, encoding, has_errors, top, memo })
    }

    /// Computes what a device may answer to consecutive pairs, of one first operand.
    pub(super) fn fill(&self, behaviour: HalfBehaviour, first: u32, results: &mut [u32]) {
        (self.operation.fill)(self.arch, behaviour, first, results);
    }

    /// The host's result, and what it is.
    fn kind(&self, x: u32, y: u32) -> (SegmentMagnitude, EncodingClass) {
        let wide = (self.operation.wide)(x, y);
        if self.operation.chooses {
            let order = if is_nan(x) | is_nan(y) { 3 } else { 1 + key(y).cmp(&key(x)) as i32 };
            return (SegmentMagnitude::Chosen(order as u8), self.class_of_result(wide));
        }
        let size = match wide & 0x7fff_ffff {
            0 => SegmentMagnitude::Zero,
            0x7f80_0000 => SegmentMagnitude::Infinite,
            0x7f80_0001.. => return (SegmentMagnitude::Nan, EncodingClass::QuietNan),
            LEAST_NORMAL | LARGEST => SegmentMagnitude::Edge,
            magnitude if magnitude < LEAST_NORMAL => SegmentMagnitude::Tiny,
            magnitude if magnitude < self.top => SegmentMagnitude::Normal,
            magnitude if magnitude < LARGEST => SegmentMagnitude::Edge,
            _ => SegmentMagnitude::Beyond,
        };
        (size, self.class_of_result(narrowed(wide)))
    }

    /// Class of a result.
    fn class_of_result(&self, result: u32) -> EncodingClass {
        EncodingClass::of(self.encoding, u64::from(result))
    }

    /// Whether all are results of this class.
    fn are_of(&self, class: EncodingClass, results: &[u32]) -> bool {
        results.iter().all(|result| {
            result >> self.encoding.bits() == 0 && self.class_of_result(*result) == class
        })
    }

    /// Whether the device's results of a segment are the host's with subnormals flushed, all of one
    /// class.
    fn flushes(&self, x: u32, segment: &Segment<'_>) -> bool {
        let mut flushed = [0; SPAN as usize];
        let flushed = &mut flushed[..segment.results.len()];
        self.fill(
            HalfBehaviour { flushes: true, ..HalfBehaviour::HOST },
            x << 16 | segment.first,
            flushed,
        );
        flushed == segment.results && self.are_of(self.class_of_result(flushed[0]), flushed)
    }

    /// Whether errors of a segment's results are measured.
    fn is_measured(&self, x: u32, segment: &Segment<'_>) -> bool {
        let normal = |class: EncodingClass| {
            matches!(class, EncodingClass::NegativeNormal | EncodingClass::PositiveNormal)
        };
        let operands = [self.sorts[0].class(x), self.sorts[1].class(segment.first)];
        operands.into_iter().all(normal)
            && match segment.size {
                SegmentMagnitude::Normal => true,
                // What is rounded is beyond the largest number, but not by half a unit; or it is
                // one.
                SegmentMagnitude::Beyond | SegmentMagnitude::Chosen(_) => {
                    normal(segment.class) && self.has_errors
                }
                _ => false,
            }
    }
}

/// Whether what a demand accepts of such pairs has the correctly rounded result among it: with
/// subnormals as they are, or flushed.
fn keeps(demand: &Demand, subnormal: bool, size: SegmentMagnitude, flushed: bool) -> bool {
    let refused = if flushed { Subnormals::Keep } else { Subnormals::Flush };
    let exact = match &demand.accuracy {
        Accuracy::Stated(stated) => &stated.accuracy,
        accuracy => accuracy,
    };
    accepts_rounded(exact, false)
        && !(subnormal && demand.operands.subnormal_inputs == refused)
        && !((flushed || size == SegmentMagnitude::Tiny)
            && demand.results.subnormal_results == refused)
        && !(size == SegmentMagnitude::Beyond && demand.results.overflow == Overflow::Saturate)
}

/// Whether the sorts of operands decide all that an accuracy says of correctly rounded results.
fn is_decided(accuracy: &Accuracy, divides: bool) -> bool {
    match accuracy {
        Accuracy::Stated(stated) => stated.zero.is_none() && is_decided(&stated.accuracy, divides),
        Accuracy::Ulp(ulps) => divides && *ulps <= MOST_ULPS,
        accuracy => accuracy.is_rounding() || *accuracy == Accuracy::Undefined,
    }
}

impl Verifier {
    /// Judges results of consecutive pairs.
    pub(super) fn rows(&self, pairs: &Pairs, first: u64, results: &[u32], work: &mut Work<'_>) {
        let (mut first, mut rest) = (first as u32, results);
        while !rest.is_empty() {
            let (x, y) = operands(first);
            let (own, after) = rest.split_at(rest.len().min((1 << LAYOUT.bits()) - y as usize));
            self.row(&mut PairRow { pairs, x, worst: None, judged: 0, domain: None }, y, own, work);
            first = first.wrapping_add(own.len() as u32);
            rest = after;
        }
    }

    fn row(&self, row: &mut PairRow<'_>, first: u32, results: &[u32], work: &mut Work<'_>) {
        let (pairs, x) = (row.pairs, row.x);
        let exponent = self.exponent(&[u64::from(x)]);
        let known = work.statistics.exponents.get(&exponent).and_then(|known| known.worst);
        row.worst = known;
        let (mut y, end) = (first, first + results.len() as u32);
        while y < end {
            let last = pairs.sorts[1].end(y).min(end) - 1;
            let (size, class) = pairs.kind(x, y);
            // The host's results grow or fall from one end to the other.
            let same = |y: u32| pairs.kind(x, y) == (size, class);
            let after = if same(last) { last + 1 } else { first_other(y..last, same) };
            let results = &results[(y - first) as usize..(after - first) as usize];
            for (first, results) in (y..).step_by(SPAN as usize).zip(results.chunks(SPAN as usize))
            {
                self.segment(row, &Segment { first, size, class, results }, work);
            }
            y = after;
        }
        if row.judged > 0 {
            work.statistics.exponents.entry(exponent).or_default().judge(row.domain, row.judged);
        }
        if row.worst != known {
            work.statistics.exponents.entry(exponent).or_default().see(row.worst);
        }
    }

    fn segment(&self, row: &mut PairRow<'_>, segment: &Segment<'_>, work: &mut Work<'_>) {
        let (pairs, x) = (row.pairs, row.x);
        let Segment { first, size, class, results } = *segment;
        let input = u64::from(x << 16 | first);
        let scan = || (pairs.operation.scan)(pairs.arch, x << 16 | first, results);
        match size {
            SegmentMagnitude::Edge => self.exactly(input, results, work),
            // Of NaNs, whatever their bits, nothing is to be distinguished.
            SegmentMagnitude::Nan => {
                let class = pairs.class_of_result(results[0]);
                let alike = class.is_nan() && pairs.are_of(class, results);
                match alike.then(|| self.verdict(row, segment, class, false)).flatten() {
                    Some(said) => self.uniform(row, segment, &said, work),
                    None => self.exactly(input, results, work),
                }
            }
            _ => match self.verdict(row, segment, class, false).map(|said| (said, scan())) {
                Some((said, agreed)) if agreed.others == 0 => {
                    self.uniform(row, segment, &said, work);
                    if said.bounded && pairs.is_measured(x, segment) {
                        work.sum.errors(PARTS / 2, agreed.ties.into());
                        work.sum.errors(0, results.len() as u64 - u64::from(agreed.ties));
                        self.see_rounded(row, segment, agreed);
                    }
                }
                _ => {
                    let subnormal = is_subnormal(x) || is_subnormal(first);
                    let flushes =
                        (subnormal || size == SegmentMagnitude::Tiny) && pairs.flushes(x, segment);
                    let said = flushes.then(|| {
                        self.verdict(row, segment, pairs.class_of_result(results[0]), true)
                    });
                    match said.flatten() {
                        Some(said) => self.uniform(row, segment, &said, work),
                        None => self.exactly(input, results, work),
                    }
                }
            },
        }
    }

    /// What is said of a segment's results that are of this class; `None` where it may not be the
    /// same for all.
    fn verdict(
        &self,
        row: &PairRow<'_>,
        segment: &Segment<'_>,
        class: EncodingClass,
        flushed: bool,
    ) -> Option<Arc<SpanVerdict>> {
        let (pairs, x) = (row.pairs, row.x);
        let key = (
            [pairs.sorts[0].of(x), pairs.sorts[1].of(segment.first)],
            segment.size,
            class,
            flushed,
        );
        let known = pairs.memo.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let said = self.said_of(pairs, x, segment, flushed).map(Arc::new);
            pairs.memo.write().unwrap_or_else(PoisonError::into_inner).insert(key, said.clone());
            said
        })
    }

    /// The oracle's word on the first of a segment's results, if it is the same for all.
    fn said_of(
        &self,
        pairs: &Pairs,
        x: u32,
        segment: &Segment<'_>,
        flushed: bool,
    ) -> Option<SpanVerdict> {
        let (y, size) = (segment.first, segment.size);
        let case = [u64::from(x), u64::from(y)];
        let operands = self.signature.operands(&case, 0);
        let subnormal = is_subnormal(x) || is_subnormal(y);
        let same = self.rules.iter().all(|rule| {
            // Read as zeros, subnormals may have results of another kind.
            let reads = |demand: &Demand| demand.operands.subnormal_inputs != Subnormals::Keep;
            let open = subnormal
                && rule
                    .demands
                    .iter()
                    .any(|demand| reads(demand) && self.is_open(rule, &operands, demand));
            let mut looking = rule.looking(self.encoding(), &operands);
            !open && looking.all(|demand| keeps(demand, subnormal, size, flushed))
        });
        let chosen =
            matches!(size, SegmentMagnitude::Nan | SegmentMagnitude::Chosen(_)) && !flushed;
        (same || chosen).then(|| {
            let host = || match size {
                SegmentMagnitude::Chosen(_) => (pairs.operation.wide)(x, y),
                _ => narrowed((pairs.operation.wide)(x, y)),
            };
            let result =
                if flushed || size == SegmentMagnitude::Nan { segment.results[0] } else { host() };
            let (says, bounded) = self.says(&case, result);
            SpanVerdict { says, bounded }
        })
    }

    /// Whether it is by their result that a rule looks at operands, or does not.
    fn is_open(&self, rule: &SweepRule, operands: &Operands, demand: &Demand) -> bool {
        let selects = |lanes: &LaneSelection| lanes.select(self.encoding(), operands, demand);
        let (by_result, others): (Vec<_>, Vec<_>) =
            rule.of.lanes.iter().partition(|lanes| lanes.looks_at_result());
        !others.into_iter().any(selects)
            && by_result.iter().any(|lanes| selects(&lanes.whatever_the_result()))
    }

    /// Results of which the same is said.
    fn uniform(
        &self,
        row: &mut PairRow<'_>,
        segment: &Segment<'_>,
        said: &SpanVerdict,
        work: &mut Work<'_>,
    ) {
        let (pairs, x, y, count) = (row.pairs, row.x, segment.first, segment.results.len() as u64);
        let (case, input) = ([u64::from(x), u64::from(y)], u64::from(x << 16 | y));
        let operands = [pairs.sorts[0].class(x), pairs.sorts[1].class(y)];
        work.sum.classify(operands, pairs.class_of_result(segment.results[0]), count);
        work.sum.says(&said.says, count);
        if is_judged(&said.says) {
            row.domain = Some([row.domain.map_or(input, |[from, _]| from), input + count - 1]);
            row.judged += count;
        }
        if said.says.contains(&Some(false)) {
            self.deviation([input, count], &case, segment.results[0], &said.says, work.statistics);
        }
    }

    /// Looks for the largest error among results that are the host's: only in pieces that may hold
    /// a larger one than is known.
    fn see_rounded(&self, row: &mut PairRow<'_>, segment: &Segment<'_>, agreed: ScanSummary) {
        let first = u64::from(row.x << 16 | segment.first);
        // The scan's distances are off by half a 2^-13 ulp at most, of which a part has eight.
        let most = Worst { input: first, result: 0, parts: u64::from(2 * agreed.most + 1) / 16 };
        if row.worst.is_some_and(|worst| !most.exceeds(&worst)) {
            return;
        }
        if segment.results.len() > PIECE {
            for (first, results) in
                (segment.first..).step_by(PIECE).zip(segment.results.chunks(PIECE))
            {
                let agreed =
                    (row.pairs.operation.scan)(row.pairs.arch, row.x << 16 | first, results);
                self.see_rounded(row, &Segment { first, results, ..*segment }, agreed);
            }
            return;
        }
        for (input, result) in (first..).zip(segment.results.iter().copied()) {
            if row.worst.is_some_and(|worst| worst.parts >= most.parts) {
                break;
            }
            let found = self.error(&self.signature.operands(&self.case(input), 0), result);
            let found = found.map(|parts| Worst { input, result, parts });
            row.worst = match (row.worst, found) {
                (Some(worst), Some(found)) if !found.exceeds(&worst) => Some(worst),
                (worst, found) => found.or(worst),
            };
        }
    }
}

/// The first of a range for which something does not hold that holds for its first ones; the
/// range's end where it holds for all.
fn first_other(range: Range<u32>, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests;
