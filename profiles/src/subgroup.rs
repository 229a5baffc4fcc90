//! In which order the invocations of a subgroup add: the tree of the sum, by the method of `FPRev`
//! (2024). Its cases are [`fpprobe_spirv::subgroup::summands`].

use std::collections::HashMap;

use fpprobe_spirv::Op;
use fpprobe_spirv::op::Function;
use fpprobe_spirv::subgroup::{LARGEST_SUBGROUP, NO_LANE, unit_summand};

use crate::Observation;
use crate::matrix::{AspectResult, SumTree, units};

/// The name of the order that a kernel shows; `None` for kernels that show none.
pub fn summation_order(observation: &Observation) -> Option<AspectResult> {
    let Op { function: Function::SummationOrder, .. } = observation.kernel.op else { return None };
    let layout = observation.kernel.format.float()?;
    let cases: HashMap<&[u64], usize> = observation.cases.iter().zip(0..).collect();
    let unit = (unit_summand(layout) >> layout.fraction) as i32 - layout.bias();
    let found = |positive: u64, negative: u64| {
        let case = *cases.get(&[positive, negative][..])?;
        Some((case, units(layout, *observation.steady(case)?.first()?, unit)))
    };
    let (case, all) = found(NO_LANE, NO_LANE)?;
    // Where a large summand is one, nothing is left of the others.
    let lanes = 0..u64::from(LARGEST_SUBGROUP);
    let counts = |lane: &u64| found(*lane, NO_LANE).is_some_and(|(_, count)| count != all);
    let summands: Vec<u64> = lanes.filter(counts).collect();
    let irregular = |lanes| AspectResult { value: "irregular".to_owned(), lanes, case };
    if all != Some(summands.len()) {
        return Some(irregular(1));
    }
    let (mut below, mut shown) = (HashMap::new(), case);
    for (i, positive) in (0..).zip(&summands) {
        for (j, negative) in (0..).zip(&summands).skip(i as usize + 1) {
            let (case, count) = found(*positive, *negative)?;
            let Some(count) = count.filter(|count| *count + 2 <= summands.len()) else {
                return Some(irregular(below.len()));
            };
            shown = if below.is_empty() { case } else { shown };
            below.insert((i, j), summands.len() - count);
        }
    }
    let met = |i: u32, j: u32| below.get(&(i.min(j), i.max(j))).copied().unwrap_or(0);
    let numbers: Vec<u32> = (0..).take(summands.len()).collect();
    let value =
        SumTree::new(&numbers, &met).map_or_else(|| "irregular".to_owned(), |tree| tree.order());
    Some(AspectResult { value, lanes: below.len(), case: shown })
}
