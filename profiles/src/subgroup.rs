//! In which order the invocations of a subgroup add and multiply: the tree of the sum or product,
//! by the method of `FPRev` (2024). What they hold are [`OrderValues`].
//!
//! Of the units that meet a masking value before the restoring one nothing is left, so the result
//! says how many there were. In a sum both values mask; in a product the smallest subnormal alone
//! does, so that each of two invocations holds it once.

use std::collections::HashMap;

use fpprobe_spirv::FloatLayout;
use fpprobe_spirv::op::Function;
use fpprobe_spirv::subgroup::{LARGEST_SUBGROUP, NO_LANE, OrderValues};

use crate::Observation;
use crate::matrix::{AspectResult, SumTree, units};

/// The name of the order that a kernel shows; `None` for kernels that show none, for products of a
/// device that flushes the smallest subnormal, and for those in which roundings hide it.
pub fn subgroup_order(observation: &Observation) -> Option<AspectResult> {
    let layout = observation.kernel.format.float()?;
    let is_product = match observation.kernel.op.function {
        Function::SummationOrder => false,
        Function::ProductOrder => true,
        _ => return None,
    };
    let cases: HashMap<&[u64], usize> = observation.cases.iter().zip(0..).collect();
    let found = |masking: u64, restoring: u64| {
        let case = *cases.get(&[masking, restoring][..])?;
        Some((case, *observation.steady(case)?.first()?))
    };
    let count = |bits, is_masked| {
        if is_product {
            factors(layout, bits, is_masked)
        } else {
            let unit = OrderValues::of_sum(layout).unit;
            units(layout, bits, (unit >> layout.fraction) as i32 - layout.bias())
        }
    };
    let (case, all) = found(NO_LANE, NO_LANE)?;
    // An invocation that is there changes the result.
    let (mut there, mut is_flushed) = (Vec::new(), false);
    for lane in 0..u64::from(LARGEST_SUBGROUP) {
        let (_, bits) = found(lane, NO_LANE)?;
        there.extend((bits != all).then_some(lane));
        is_flushed |= is_product && layout.is_zero(bits);
    }
    if is_flushed {
        return None;
    }
    let irregular = |lanes| Some(AspectResult { value: "irregular".to_owned(), lanes, case });
    if count(all, false) != Some(there.len()) {
        return irregular(1);
    }
    let lost = |masking, restoring| {
        let (case, bits) = found(masking, restoring)?;
        Some((case, (there.len() - 2).checked_sub(count(bits, true)?)?))
    };
    let (mut below, mut shown) = (HashMap::new(), case);
    for (i, one) in (0..).zip(&there) {
        for (j, other) in (0..).zip(&there).skip(i as usize + 1) {
            let Some((case, mut units)) = lost(*one, *other) else {
                return irregular(below.len());
            };
            if is_product {
                let Some((_, others)) = lost(*other, *one) else { return irregular(below.len()) };
                units += others;
            }
            shown = if below.is_empty() { case } else { shown };
            below.insert((i, j), units + 2);
        }
    }
    let met = |i: u32, j: u32| below.get(&(i.min(j), i.max(j))).copied().unwrap_or(0);
    let numbers: Vec<u32> = (0..).take(there.len()).collect();
    match SumTree::new(&numbers, &met) {
        Some(tree) => Some(AspectResult { value: tree.order(), lanes: below.len(), case: shown }),
        // As many roundings may amount to a unit, which is six last places of a binary16.
        None if is_product
            && there.len() as u64 > OrderValues::of_product(layout).unit - layout.one() =>
        {
            None
        }
        None => irregular(below.len()),
    }
}

/// How many units a product is of, beside the masking and the restoring value where it has them;
/// each product on the way may have been rounded.
fn factors(layout: FloatLayout, bits: u64, is_masked: bool) -> Option<usize> {
    if !layout.is_normal(bits) || layout.is_negative(bits) {
        return None;
    }
    let significand =
        |bits: u64| (bits & ((1 << layout.fraction) - 1) | 1 << layout.fraction) as f64;
    let one = significand(layout.one());
    // The product of the smallest subnormal and the largest power of two is a power of two.
    let power = if is_masked { 1 - layout.fraction as i32 } else { 0 };
    if (bits >> layout.fraction) as i32 - layout.bias() != power {
        return None;
    }
    let (product, unit) =
        (significand(bits) / one, significand(OrderValues::of_product(layout).unit) / one);
    let distance = |count: &i32| (unit.powi(*count) - product).abs();
    let counts = 0..=LARGEST_SUBGROUP as i32;
    counts
        .min_by(|one, other| distance(one).total_cmp(&distance(other)))
        .map(|count| count as usize)
}

#[cfg(test)]
mod tests {
    use fpprobe_spirv::Kernel;
    use fpprobe_spirv::subgroup::order_cases;

    use super::*;

    type Combine = fn(f32, f32) -> f32;

    /// Values that are combined one after the other.
    fn in_sequence(values: &[f32], combine: Combine) -> f32 {
        values.iter().copied().reduce(combine).unwrap()
    }

    /// Values of which each is combined with the one half of them away.
    fn by_halves(values: &[f32], combine: Combine) -> f32 {
        match values.len() / 2 {
            0 => values[0],
            half => {
                let pairs = (0..half).map(|lane| combine(values[lane], values[lane + half]));
                by_halves(&pairs.collect::<Vec<_>>(), combine)
            }
        }
    }

    /// Values of which neighbours are combined.
    fn by_neighbours(values: &[f32], combine: Combine) -> f32 {
        match values {
            [one] => *one,
            _ => by_neighbours(
                &values.chunks(2).map(|pair| combine(pair[0], pair[1])).collect::<Vec<_>>(),
                combine,
            ),
        }
    }

    fn order(kernel: &str, size: u64, result: impl Fn(&[f32]) -> f32) -> Option<String> {
        let kernel: Kernel = kernel.parse().unwrap();
        let layout = kernel.format.float().unwrap();
        let is_product = kernel.op.function == Function::ProductOrder;
        let values =
            if is_product { OrderValues::of_product(layout) } else { OrderValues::of_sum(layout) };
        let cases = fpprobe_spirv::Cases::new("order", 2, order_cases(is_product));
        let results = cases.iter().map(|case| {
            let held = (0..size).map(|lane| match lane {
                lane if lane == case[1] => values.restoring,
                lane if lane == case[0] => values.masking,
                _ => values.unit,
            });
            let held: Vec<f32> = held.map(|bits| f32::from_bits(bits as u32)).collect();
            u64::from(result(&held).to_bits())
        });
        let out: Vec<u64> = results.collect();
        let observation = Observation::ran(kernel, cases, out.into());
        subgroup_order(&observation).map(|found| found.value)
    }

    #[test]
    fn each_order_of_sums_and_products_has_its_name() {
        let ways: [(&str, Combine); 2] =
            [("f32.subgroup_order", |x, y| x + y), ("f32.subgroup_product_order", |x, y| x * y)];
        for (kernel, combine) in ways {
            for size in [4, 8, 32, 64] {
                let named = |result: fn(&[f32], Combine) -> f32| {
                    order(kernel, size, |held| result(held, combine))
                };
                assert_eq!(named(in_sequence).as_deref(), Some("sequential"), "{kernel} {size}");
                assert_eq!(named(by_halves).as_deref(), Some("halves_first"), "{kernel} {size}");
                assert_eq!(
                    named(by_neighbours).as_deref(),
                    Some("neighbours_first"),
                    "{kernel} {size}"
                );
            }
        }
    }

    #[test]
    fn what_shows_no_order_has_none() {
        let kernel = "f32.subgroup_product_order";
        let flushed = |x: f32, y: f32| if (x * y).is_normal() { x * y } else { 0.0 };
        assert_eq!(order(kernel, 8, |held| in_sequence(held, flushed)), None);
        // In a wider format nothing is lost.
        let wide = |held: &[f32]| held.iter().map(|x| f64::from(*x)).product::<f64>() as f32;
        assert_eq!(order(kernel, 8, wide).as_deref(), Some("irregular"));
        assert_eq!(order(kernel, 8, |_| f32::NAN), Some("irregular".to_owned()));
    }
}
