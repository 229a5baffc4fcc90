//! Results of two binary16 operands: row by row, a row being the pairs of one first operand.
//!
//! A row is cut where the second operand is of another sort, or where the host's result is another kind of number. Of such a segment
//! results that are the host's are accepted as one where every accuracy that looks accepts what is correctly rounded: what the
//! environment says of subnormals, zeros, overflow or infinities adds results to the set, but for what [`keeps`] excludes. All
//! other results are distinguished by their memo key: the distance from the exact result is then known as exactly as accuracies can
//! tell that are a rounding, or whole halves of a unit in the last place.

use std::ops::Range;
use std::sync::Arc;

use fpprobe_spirv::Kernel;
use fpprobe_spirv::op::Function;
use pulp::Arch;

use super::alike::{Recent, SpanVerdict, VerdictMemo};
use super::half::{
    HalfBehaviour, HalfOperation, LARGEST, LAYOUT, LEAST_NORMAL, REST, ScanSummary, is_nan, is_subnormal, key,
    narrowed, operands,
};
use super::kind::{Work, accepts_rounded};
use super::lane::SweepRule;
use super::sorts::Sorts;
use super::statistics::{PARTS, Worst};
use super::{EncodingClass, Verifier};
use crate::accuracy::Accuracy;
use crate::encoding::Encoding;
use crate::environment::{Overflow, Subnormals};
use crate::lanes::LaneSelection;
use crate::oracle::{Demand, Operands};

/// Results that are compared at once.
const SPAN: u32 = 2048;
/// Marks what is said of a segment from what is said of a memo key.
const BULK: u64 = 1 << 63;
/// The largest error in ulps that is distinguished among memo keys.
const MOST_ULPS: f64 = 5.0;
/// From here to the largest number errors may reach beyond that, where nothing is demanded any more.
const TOP: u32 = LARGEST - (5 << REST);

/// Judges operations on two binary16 numbers.
#[derive(Debug)]
pub(super) struct Pairs {
    pub(super) operation: HalfOperation,
    pub(super) arch: Arch,
    pub(super) sorts: [Sorts; 2],
    pub(super) encoding: Encoding,
    /// Whether results follow from the order of the operands alone.
    pub(super) of_order: bool,
    /// Whether exact results have a distance from those of devices.
    pub(super) has_errors: bool,
    memo: VerdictMemo,
}

/// What the host's results of a segment are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
    /// At an end of the normal numbers, where binary32 does not tell the side, or as near the largest one as errors reach.
    Edge,
    /// One of the operands, or what their order gives: second below, equal, above, not ordered.
    Chosen(u8),
}

/// Consecutive pairs of a row whose operands are of the same sorts, and whose results by the host are of the same kind.
struct Segment<'a> {
    /// The first second operand.
    first: u32,
    size: SegmentMagnitude,
    class: EncodingClass,
    results: &'a [u32],
}

/// The pairs of one first operand.
struct PairRow<'r, 'm> {
    pairs: &'r Pairs,
    recent: &'r mut Recent<'m>,
    x: u32,
    /// The largest error of its exponent.
    worst: Option<Worst>,
    /// The pairs that are judged.
    judged: RowCount,
}

/// How many pairs of a row are judged, and the lowest and the highest of them.
#[derive(Default)]
struct RowCount {
    count: u64,
    domain: Option<[u64; 2]>,
}

impl Pairs {
    /// For kernels that there is a way for.
    pub(super) fn new(kernel: &Kernel, rules: &[SweepRule], encoding: Encoding) -> Option<Pairs> {
        let operation = HalfOperation::new(kernel)?;
        let mut demands = rules.iter().flat_map(|rule| &rule.demands);
        let divides = matches!(kernel.op.function, Function::Div);
        demands
            .all(|demand| is_decided(&demand.accuracy, divides) && demand.function == kernel.op.function)
            .then_some(())?;
        let sorts = [Sorts::new(rules, 0, LAYOUT)?, Sorts::new(rules, 1, LAYOUT)?];
        let of_order = matches!(kernel.op.function, Function::Compare { .. } | Function::Step);
        let has_errors = !matches!(kernel.op.function, Function::Compare { .. } | Function::Min | Function::Max);
        Some(Pairs {
            operation,
            arch: Arch::new(),
            sorts,
            encoding,
            of_order,
            has_errors,
            memo: VerdictMemo::default(),
        })
    }

    /// Computes what a device may answer to consecutive pairs, of one first operand.
    pub(super) fn fill(&self, behaviour: HalfBehaviour, first: u32, results: &mut [u32]) {
        (self.operation.fill)(self.arch, behaviour, first, results);
    }

    /// The host's result, and what it is.
    fn kind(&self, x: u32, y: u32) -> (SegmentMagnitude, EncodingClass) {
        let wide = (self.operation.wide)(x, y);
        if self.operation.chooses() {
            let order = if is_nan(x) | is_nan(y) { 3 } else { 1 + key(y).cmp(&key(x)) as i32 };
            return (SegmentMagnitude::Chosen(order as u8), self.class_of_result(wide));
        }
        let size = match wide & 0x7fff_ffff {
            0 => SegmentMagnitude::Zero,
            0x7f80_0000 => SegmentMagnitude::Infinite,
            0x7f80_0001.. => return (SegmentMagnitude::Nan, EncodingClass::QuietNan),
            LEAST_NORMAL | TOP..=LARGEST => SegmentMagnitude::Edge,
            magnitude if magnitude < LEAST_NORMAL => SegmentMagnitude::Tiny,
            magnitude if magnitude < LARGEST => SegmentMagnitude::Normal,
            _ => SegmentMagnitude::Beyond,
        };
        (size, self.class_of_result(narrowed(wide)))
    }

    /// Of what the same is said in a segment whose results are the host's.
    fn bulk(&self, x: u32, segment: &Segment<'_>) -> u64 {
        let sorts = u64::from(self.sorts[0].of(x)) << 6 | u64::from(self.sorts[1].of(segment.first));
        let size = match segment.size {
            SegmentMagnitude::Tiny => 0,
            SegmentMagnitude::Normal => 1,
            _ => 2,
        };
        BULK | sorts << 8 | (segment.class as u64) << 2 | size
    }

    /// Whether errors of a segment's results are measured.
    fn is_measured(&self, x: u32, segment: &Segment<'_>) -> bool {
        let normal =
            |class: EncodingClass| matches!(class, EncodingClass::NegativeNormal | EncodingClass::PositiveNormal);
        let operands = [self.sorts[0].class(x), self.sorts[1].class(segment.first)];
        operands.into_iter().all(normal)
            && match segment.size {
                SegmentMagnitude::Normal => true,
                // What is rounded is beyond the largest number, but not by half a unit; or it is one.
                SegmentMagnitude::Beyond | SegmentMagnitude::Chosen(_) => normal(segment.class) && self.has_errors,
                _ => false,
            }
    }

    /// Whether a word is a result's.
    fn holds(&self, result: u32) -> bool {
        result >> self.encoding.bits() == 0
    }
}

/// Whether what a demand accepts of such pairs has the correctly rounded result among it.
fn keeps(demand: &Demand, x: u32, y: u32, size: SegmentMagnitude) -> bool {
    let flushes = demand.operands.subnormal_inputs == Subnormals::Flush;
    let subnormal = is_subnormal(x) || is_subnormal(y);
    let exact = match &demand.accuracy {
        Accuracy::Stated(stated) => &stated.accuracy,
        accuracy => accuracy,
    };
    accepts_rounded(exact, false)
        && !(flushes && subnormal)
        && !(size == SegmentMagnitude::Tiny && demand.results.subnormal_results == Subnormals::Flush)
        && !(size == SegmentMagnitude::Beyond && demand.results.overflow == Overflow::Saturate)
}

/// Whether likenesses tell all that an accuracy does.
fn is_decided(accuracy: &Accuracy, divides: bool) -> bool {
    match accuracy {
        Accuracy::Stated(stated) => stated.zero.is_none() && is_decided(&stated.accuracy, divides),
        Accuracy::Ulp(ulps) => divides && *ulps <= MOST_ULPS && (ulps * 2.0).fract() == 0.0,
        accuracy => accuracy.is_rounding() || *accuracy == Accuracy::Undefined,
    }
}

impl Verifier {
    /// Judges results of consecutive pairs.
    pub(super) fn rows(&self, pairs: &Pairs, first: u64, results: &[u32], work: &mut Work<'_>) {
        let mut recent = Recent::new(&pairs.memo);
        let (mut first, mut rest) = (first as u32, results);
        while !rest.is_empty() {
            let (x, y) = operands(first);
            let (own, after) = rest.split_at(rest.len().min((1 << LAYOUT.bits()) - y as usize));
            self.row(
                &mut PairRow { pairs, recent: &mut recent, x, worst: None, judged: RowCount::default() },
                y,
                own,
                work,
            );
            first = first.wrapping_add(own.len() as u32);
            rest = after;
        }
    }

    fn row(&self, row: &mut PairRow<'_, '_>, first: u32, results: &[u32], work: &mut Work<'_>) {
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
            self.segment(row, &Segment { first: y, size, class, results }, work);
            y = after;
        }
        if row.judged.count > 0 {
            work.statistics.exponents.entry(exponent).or_default().judge(row.judged.domain, row.judged.count);
        }
        if row.worst != known {
            work.statistics.exponents.entry(exponent).or_default().see(row.worst);
        }
    }

    fn segment(&self, row: &mut PairRow<'_, '_>, segment: &Segment<'_>, work: &mut Work<'_>) {
        let (pairs, x) = (row.pairs, row.x);
        let Segment { first, size, results, .. } = *segment;
        let said = match size {
            SegmentMagnitude::Tiny | SegmentMagnitude::Normal | SegmentMagnitude::Beyond => {
                let likeness = pairs.bulk(x, segment);
                row.recent.said(likeness, || self.said_of_rounded(pairs, x, segment)).cloned()
            }
            SegmentMagnitude::Chosen(_) => self.said(row, first, (pairs.operation.wide)(x, first)).cloned(),
            _ => None,
        };
        let Some(said) = said else { return self.special(row, first, results, work) };
        let firsts = (first..).step_by(SPAN as usize);
        for (first, results) in firsts.zip(results.chunks(SPAN as usize)) {
            let agreed = (pairs.operation.scan)(pairs.arch, x << 16 | first, results);
            if agreed.others > 0 {
                self.special(row, first, results, work);
                continue;
            }
            self.uniform(row, first, results, &said, work);
            if said.bounded && pairs.is_measured(x, segment) {
                work.sum.errors(PARTS / 2, agreed.ties.into());
                work.sum.errors(0, results.len() as u64 - u64::from(agreed.ties));
                self.see_rounded(row, first, results, agreed);
            }
        }
    }

    /// What is said of a segment's results that are the host's, by its first; `None` where it may not be the same for all.
    fn said_of_rounded(&self, pairs: &Pairs, x: u32, segment: &Segment<'_>) -> Option<SpanVerdict> {
        let y = segment.first;
        let subnormal = is_subnormal(x) || is_subnormal(y);
        let operands = self.signature.operands(&[u64::from(x), u64::from(y)], 0);
        let same = self.rules.iter().all(|rule| {
            // Read as zeros, subnormals may have results of another kind.
            let reads = |demand: &Demand| demand.operands.subnormal_inputs != Subnormals::Keep;
            let open =
                subnormal && rule.demands.iter().any(|demand| reads(demand) && self.is_open(rule, &operands, demand));
            !open && rule.looking(self.encoding(), &operands).all(|demand| keeps(demand, x, y, segment.size))
        });
        same.then(|| self.oracle_verdict(x, y, narrowed((pairs.operation.wide)(x, y))))
    }

    /// Whether it is by their result that a rule looks at operands, or does not.
    fn is_open(&self, rule: &SweepRule, operands: &Operands, demand: &Demand) -> bool {
        let selects = |lanes: &LaneSelection| lanes.select(self.encoding(), operands, demand);
        let (by_result, others): (Vec<_>, Vec<_>) = rule.of.lanes.iter().partition(|lanes| lanes.looks_at_result());
        !others.into_iter().any(selects) && by_result.iter().any(|lanes| selects(&lanes.whatever_the_result()))
    }

    /// What is said of a result; of a word that is none it is not known.
    fn said<'a>(&self, row: &'a mut PairRow<'_, '_>, y: u32, result: u32) -> Option<&'a Arc<SpanVerdict>> {
        row.pairs.holds(result).then_some(())?;
        let likeness = row.pairs.memo_key(row.x, y, result);
        row.recent.said(likeness, || Some(self.oracle_verdict(row.x, y, result)))
    }

    /// Results that are not the host's, or where there is no number to compare with.
    fn special(&self, row: &mut PairRow<'_, '_>, first: u32, results: &[u32], work: &mut Work<'_>) {
        let pairs = row.pairs;
        let class = pairs.class_of_result(results[0]);
        let invalid = is_nan(row.x) || is_nan(first) || pairs.kind(row.x, first).0 == SegmentMagnitude::Nan;
        // Of NaNs, whatever their bits, nothing is to be distinguished.
        let alike = class.is_nan() && invalid && results.iter().all(|result| pairs.class_of_result(*result) == class);
        match alike.then(|| self.said(row, first, results[0]).cloned()).flatten() {
            Some(said) if results.iter().all(|result| pairs.holds(*result)) => {
                self.uniform(row, first, results, &said, work);
            }
            _ => self.each(row, first, results, work),
        }
    }

    /// Results of which the same is said.
    fn uniform(&self, row: &mut PairRow<'_, '_>, first: u32, results: &[u32], said: &SpanVerdict, work: &mut Work<'_>) {
        let (pairs, x, count) = (row.pairs, row.x, results.len() as u64);
        let operands = [pairs.sorts[0].class(x), pairs.sorts[1].class(first)];
        work.sum.classify(operands, pairs.class_of_result(results[0]), count);
        work.sum.says(&said.says, count);
        row.judges(first, if said.judged { count } else { 0 });
        if said.deviates {
            let (input, case) = (u64::from(x << 16 | first), [u64::from(x), u64::from(first)]);
            self.deviation([input, count], &case, results[0], &said.says, work.statistics);
        }
    }

    /// Results that are distinguished one by one.
    fn each(&self, row: &mut PairRow<'_, '_>, first: u32, results: &[u32], work: &mut Work<'_>) {
        let (pairs, x) = (row.pairs, row.x);
        let class = pairs.sorts[0].class(x);
        // Deviating ones that follow one another.
        let mut run: Option<(u32, u64, u32, Arc<SpanVerdict>)> = None;
        let end = |run: Option<(u32, u64, u32, Arc<SpanVerdict>)>, work: &mut Work<'_>| {
            if let Some((y, length, result, said)) = run {
                let case = [u64::from(x), u64::from(y)];
                self.deviation([u64::from(x << 16 | y), length], &case, result, &said.says, work.statistics);
            }
        };
        for (y, result) in (first..).zip(results.iter().copied()) {
            let input = u64::from(x << 16 | y);
            let Some(said) = self.said(row, y, result) else {
                end(run.take(), work);
                self.one(input, result, work);
                continue;
            };
            work.sum.classify([class, pairs.sorts[1].class(y)], pairs.class_of_result(result), 1);
            work.sum.says(&said.says, 1);
            let judged = u64::from(said.judged);
            match &mut run {
                Some((_, length, ..)) if said.deviates => *length += 1,
                None if said.deviates => run = Some((y, 1, result, said.clone())),
                _ => end(run.take(), work),
            }
            let bounded = said.bounded;
            row.judges(y, judged);
            if bounded && let Some(parts) = self.parts(pairs, x, y, result) {
                work.sum.errors(parts, 1);
                row.see(Worst { input, result, parts });
            }
        }
        end(run, work);
    }

    /// Looks for the largest error among results that are the host's.
    fn see_rounded(&self, row: &mut PairRow<'_, '_>, first: u32, results: &[u32], agreed: ScanSummary) {
        // The scan's distances are off by half a 2^-13 ulp at most, of which a part has eight.
        let most =
            Worst { input: u64::from(row.x << 16 | first), result: 0, parts: u64::from(2 * agreed.most + 1) / 16 };
        if row.worst.is_some_and(|worst| !most.exceeds(&worst)) {
            return;
        }
        for (y, result) in (first..).zip(results.iter().copied()) {
            if row.worst.is_some_and(|worst| worst.parts >= most.parts) {
                break;
            }
            if let Some(parts) = self.parts(row.pairs, row.x, y, result) {
                row.see(Worst { input: u64::from(row.x << 16 | y), result, parts });
            }
        }
    }
}

impl PairRow<'_, '_> {
    /// Takes N pairs, of consecutive second operands from this one on, of which the same is said.
    fn judges(&mut self, y: u32, count: u64) {
        if count > 0 {
            let first = u64::from(self.x << 16 | y);
            let [from, _] = self.judged.domain.unwrap_or([first, first]);
            self.judged.domain = Some([from, first + count - 1]);
            self.judged.count += count;
        }
    }

    fn see(&mut self, found: Worst) {
        if self.worst.is_none_or(|worst| found.exceeds(&worst)) {
            self.worst = Some(found);
        }
    }
}

/// The first of a range for which something does not hold that holds for its first ones; the range's end where it holds for all.
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
