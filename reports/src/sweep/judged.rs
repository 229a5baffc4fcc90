//! The domain of a kernel that is judged, as ranges of inputs.

use fpprobe_profiles::sweep::SweepStatistics;
use fpprobe_spirv::{Format, Kernel};

use crate::decimal::decimal;
use crate::render::phrase::grouped;

/// Ranges that are named.
const NAMED: usize = 8;

/// Inputs from the first to the last of which N are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct JudgedRange {
    first: u64,
    last: u64,
    judged: u64,
}

impl JudgedRange {
    fn is_whole(&self) -> bool {
        self.last - self.first == self.judged.wrapping_sub(1)
    }

    /// In words, with the values of the operand where there is one.
    fn text(&self, operand: Option<Format>) -> String {
        let JudgedRange { first, last, judged } = *self;
        let value = |bits| operand.map(|format| decimal(format, bits));
        let values = value(first)
            .zip(value(last))
            .map_or(String::new(), |(from, to)| format!(" ({from} to {to})"));
        let share = if self.is_whole() {
            String::new()
        } else {
            format!(", {} of them", grouped(judged as usize))
        };
        format!("{first:x} to {last:x}{values}{share}")
    }
}

/// Which inputs are judged: by exponents of the operand, neighbours that are judged as a whole
/// together.
pub(super) fn domain(kernel: &str, statistics: &SweepStatistics) -> String {
    let mut ranges: Vec<JudgedRange> = Vec::new();
    for exponent in statistics.exponents.values() {
        let Some([first, last]) = exponent.domain else { continue };
        let range = JudgedRange { first, last, judged: exponent.judged };
        match ranges.last_mut() {
            Some(before)
                if before.is_whole()
                    && range.is_whole()
                    && before.last.checked_add(1) == Some(first) =>
            {
                (before.last, before.judged) = (last, before.judged + range.judged);
            }
            _ => ranges.push(range),
        }
    }
    let kernel = kernel.parse::<Kernel>().ok();
    let operand = kernel.and_then(|kernel| match kernel.params()[..] {
        [only] => Some(only.format),
        _ => None,
    });
    let mut named: Vec<String> =
        ranges.iter().take(NAMED).map(|range| range.text(operand)).collect();
    if ranges.len() > NAMED {
        named.push(format!("{} more ranges", grouped(ranges.len() - NAMED)));
    }
    named.join("; ")
}
