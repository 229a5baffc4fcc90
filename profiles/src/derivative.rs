//! Which row of a quad a derivative is of (along y: which column). Its cases have each pair of
//! values in both rows of a quad, and beside another pair: what the pair gives by itself is known
//! from the first.

use std::collections::HashMap;

use fpprobe_spirv::derivative::difference;
use fpprobe_spirv::op::Code;

use crate::Observation;
use crate::matrix::AspectResult;

/// Which row an invocation's derivative is of: its `own`, or the `first` or `second` one for all
/// four, else `irregular`; `None` for kernels that are no derivatives, and where no case shows it.
pub fn rows(observation: &Observation) -> Option<AspectResult> {
    let Code::Derivative(op) = observation.kernel.op.code else { return None };
    let layout = observation.kernel.format.float()?;
    // Of the first row and of the second one.
    let first = difference(op, 0);
    let second = difference(op, if first[0] == 1 { 2 } else { 1 });
    let pair = |case: &[u64], row: [usize; 2]| row.map(|holder| case[holder]);
    let all = || {
        observation.cases.iter().zip(0..).filter_map(|(case, number)| {
            Some((number, pair(case, first), pair(case, second), observation.steady(number)?))
        })
    };
    let alone: HashMap<[u64; 2], u64> = all()
        .filter(|(_, first, second, _)| first == second)
        .map(|(_, row, _, results)| (row, results[0]))
        .collect();
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for (case, above, below, results) in all() {
        let (Some(above), Some(below)) = (alone.get(&above), alone.get(&below)) else { continue };
        if above == below || [above, below].iter().any(|bits| layout.is_nan(**bits)) {
            continue;
        }
        let of = |row: [usize; 2]| row.map(|holder| results[holder]);
        let value = match (of(first), of(second)) {
            (one, two) if (one, two) == ([*above; 2], [*below; 2]) => "own",
            (one, two) if [one, two] == [[*above; 2]; 2] => "first",
            (one, two) if [one, two] == [[*below; 2]; 2] => "second",
            _ => "irregular",
        };
        seen.push((value, case));
    }
    let (value, case) = *seen.first()?;
    let is_one = seen.iter().all(|(other, _)| *other == value);
    let value = if is_one { value } else { "irregular" };
    Some(AspectResult { value: value.to_owned(), lanes: seen.len(), case })
}
