//! Conversions to a coarser format: what is accepted is the same for all operands between two neighbours among the numbers of that format and
//! the middles of two, for every rounding chooses by the side of those.

use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Format, Kernel};

use super::Verifier;
use super::compare::{Errors, exponent};
use super::kind::{Fast, Work};
use super::lane::SweepRule;
use super::scan::{Scan, run};
use super::statistics::PARTS;
use crate::encoding::Encoding;
use crate::interval::Interval;
use crate::number::Number as _;

/// Encodings of binary32 from a number of binary16, or the middle of two, to the next one, where that is normal; a multiple of that
/// elsewhere.
pub(super) const CELL: u64 = 1 << 12;

/// Whether a kernel is such a conversion and rules ask for no more than a rounding.
pub(super) fn are_of(kernel: &Kernel, rules: &[SweepRule]) -> bool {
    let narrows = match kernel.op.function {
        Function::ToFloat | Function::PackHalf => kernel.result().format == Format::F16,
        Function::QuantizeToF16 | Function::NarrowWiden => kernel.result().format == Format::F32,
        _ => false,
    };
    let single = matches!(kernel.params()[..], [operand] if operand.format == Format::F32);
    let mut demands = rules.iter().flat_map(|rule| &rule.demands);
    narrows && single && demands.all(|demand| demand.accuracy.is_rounding())
}

impl Verifier {
    /// Judges results of operands of which the same is accepted: runs of equal bits are one.
    pub(super) fn cell(&self, fast: &Fast, first: u64, results: &[u32], work: &mut Work<'_>) {
        let mut distances = std::mem::take(&mut work.distances);
        let found = &mut distances[..results.len()];
        let value = |input: u64| f64::from(f32::from_bits(input as u32));
        let (mut at, mut measured) = (0, 0);
        while at < results.len() {
            let (input, result, length) = (first + at as u64, results[at], run(&results[at..]));
            let (says, bounded) = self.says(&[input], result);
            self.alike([input, length as u64], result, Some(says), work);
            let own = &mut found[at..at + length];
            let has_error = bounded && self.error(&self.signature.operands(&[input], 0), result).is_some();
            if let Encoding::Float(layout) = self.encoding()
                && has_error
            {
                let bits = u64::from(result);
                let magnitude = f64::decode(layout, bits & layout.magnitude_mask());
                let answer = if layout.is_negative(bits) { -magnitude } else { magnitude };
                (input..).zip(own).for_each(|(input, found)| *found = (value(input) - answer).abs());
                measured += length as u64;
            } else {
                own.fill(f64::NAN);
            }
            at += length;
        }
        if let Encoding::Float(layout) = self.encoding()
            && measured > 0
        {
            let finite = || found.iter().copied().filter(|distance| !distance.is_nan());
            let ends = finite().map(Interval::point).reduce(Interval::hull).unwrap_or(Interval::ZERO);
            let unit = 2f64.powi(exponent(value(first).abs()) - layout.fraction.cast_signed()) / PARTS as f64;
            let errors = Errors { first, results, distances: found, unit, error: 0.0, spread: f64::INFINITY };
            let seen = Scan { least: ends.lo, most: ends.hi, outside: 0 };
            self.count(fast, &errors, seen, measured, work);
        }
        work.distances = distances;
    }
}
