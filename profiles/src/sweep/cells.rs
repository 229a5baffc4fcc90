//! Conversions to a coarser format: what is accepted is the same for all operands between two
//! neighbours among the numbers of that format and the middles of two, for every rounding chooses
//! by the side of those.

use super::Verifier;
use super::errors::Errors;
use super::kind::Fast;
use super::scan::run;
use super::work::Work;
use crate::encoding::Encoding;
use crate::number::Number as _;

/// Encodings of binary32 from a number of binary16, or the middle of two, to the next one, where
/// that is normal; a multiple of that elsewhere.
pub(super) const CELL: u64 = 1 << 12;

impl Verifier {
    /// Judges results of operands of which the same is accepted: runs of equal bits are one.
    pub(super) fn cell(&self, fast: &Fast, first: u64, results: &[u32], work: &mut Work<'_>) {
        let mut distances = std::mem::take(&mut work.distances);
        let found = &mut distances[..results.len()];
        let value = |input: u64| f64::from(f32::from_bits(input as u32));
        let (mut at, mut measured) = (0, false);
        while at < results.len() {
            let (input, result, length) = (first + at as u64, results[at], run(&results[at..]));
            let (says, bounded) = self.says(&[input], result);
            self.alike([input, length as u64], result, Some(says), work);
            let own = &mut found[at..at + length];
            let has_error =
                bounded && self.error(&self.signature.operands(&[input], 0), result).is_some();
            if let Encoding::Float(layout) = self.encoding()
                && has_error
            {
                let bits = u64::from(result);
                let magnitude = f64::decode(layout, bits & layout.magnitude_mask());
                let answer = if layout.is_negative(bits) { -magnitude } else { magnitude };
                (input..)
                    .zip(own)
                    .for_each(|(input, found)| *found = (value(input) - answer).abs());
                measured = true;
            } else {
                own.fill(f64::NAN);
            }
            at += length;
        }
        if let Encoding::Float(layout) = self.encoding()
            && measured
        {
            let errors = Errors::new(layout, first, results, found, value(first));
            self.count(fast, &errors, errors.seen(), work);
        }
        work.distances = distances;
    }
}
