//! Operands of operations on whole vectors and matrices.
//!
//! Every list of operands has special ones, which meet each other, and others, which meet ordinary
//! numbers only.

use super::values::{nans, quotient, random, scaled};
use crate::kernel::Shape;
use crate::layout::FloatLayout;

/// Random draws of a list.
const DRAWS: u64 = 32;

/// An operand: its components.
type OperandComponents = Vec<u64>;

/// What an operand may be.
struct OperandValues {
    special: Vec<OperandComponents>,
    other: Vec<OperandComponents>,
}

/// Cases for operands of these shapes.
pub(super) fn cases(layout: FloatLayout, shapes: &[Shape]) -> Vec<u64> {
    let lists: Vec<OperandValues> = shapes.iter().map(|shape| list(layout, *shape)).collect();
    // Ordinary operands, another draw for each case.
    let ordinary = |case: usize| -> Vec<OperandComponents> {
        let draw =
            |(place, shape): (usize, &Shape)| drawn(layout, *shape, (case * 8 + place) as u64, 4);
        shapes.iter().enumerate().map(draw).collect()
    };
    let mut cases: Vec<Vec<OperandComponents>> = Vec::new();
    for (place, list) in lists.iter().enumerate() {
        for value in list.special.iter().chain(&list.other) {
            let mut case = ordinary(cases.len());
            case[place].clone_from(value);
            cases.push(case);
        }
        for (other_place, other_list) in lists.iter().enumerate().skip(place + 1) {
            for value in &list.special {
                for other in &other_list.special {
                    let mut case = ordinary(cases.len());
                    case[place].clone_from(value);
                    case[other_place].clone_from(other);
                    cases.push(case);
                }
            }
        }
    }
    for (first, pair) in
        shapes.windows(2).enumerate().filter(|(_, pair)| pair[0] == pair[1] && pair[0].columns == 1)
    {
        for (value, other) in related(layout, pair[0]) {
            let mut case = ordinary(cases.len());
            (case[first], case[first + 1]) = (value, other);
            cases.push(case);
        }
    }
    if let [vector, normal, Shape { width: 1, columns: 1, .. }] = shapes
        && vector == normal
    {
        cases.extend(refractions(layout, vector.width as usize));
    }
    cases.into_iter().flatten().flatten().collect()
}

/// What an operand of this shape may be.
fn list(layout: FloatLayout, shape: Shape) -> OperandValues {
    let (one, sign, infinity) = (scaled(layout, 1, 0), layout.sign_bit(), layout.infinity());
    // Squares that overflow, just do not, are subnormal, and vanish.
    let half = layout.bias() / 2;
    let roots = [half + 1, half, -half, -half - layout.fraction.cast_signed() / 2 - 2];
    let roots = roots.map(|exponent| scaled(layout, 3, exponent - 1));
    let [quiet, signalling, ..] = nans(layout);
    let numbers = [0, sign, one, sign | one, layout.max_finite(), layout.min_normal(), 1, sign | 1];
    let others = [infinity, sign | infinity, quiet, signalling];
    let count = shape.width as usize;
    let all = |value: &u64| vec![*value; count];
    let mut special: Vec<OperandComponents> =
        numbers.iter().chain(&roots).chain(&others[..3]).map(all).collect();
    let mut other: Vec<OperandComponents> = others.iter().map(all).collect();
    if count == 1 {
        let fractions = [(1, 4), (1, 2), (2, 3), (3, 2), (2, 1), (5, 3)];
        special.extend(
            fractions.map(|(dividend, divisor)| vec![quotient(layout, dividend, divisor)[0]]),
        );
    }
    for place in 0..count {
        // An axis, and one unlike the others: of a matrix fewer, lest there be too many.
        let among = |value: u64, rest: OperandComponents| {
            rest.iter()
                .enumerate()
                .map(|(at, own)| if at == place { value } else { *own })
                .collect::<OperandComponents>()
        };
        special.extend((count <= 4).then(|| among(one, vec![0; count])));
        let kept = numbers.iter().chain(&roots).chain(&others);
        let kept =
            kept.skip(if count > 4 { place % 4 } else { 0 }).step_by(if count > 4 { 4 } else { 1 });
        other.extend(kept.map(|value| among(*value, drawn(layout, shape, place as u64, 4))));
    }
    other.extend(structured(layout, shape));
    other.extend((0..DRAWS).map(|seed| drawn(layout, shape, seed, 4)));
    other.extend(
        (0..DRAWS).map(|seed| drawn(layout, shape, seed, layout.bias().cast_unsigned() / 2)),
    );
    OperandValues { special, other }
}

/// Vectors of exact length, of length 1, and in which a large component hides the others; of
/// matrices those that are their own transpose or have no inverse.
fn structured(layout: FloatLayout, shape: Shape) -> Vec<OperandComponents> {
    let (one, sign, last) =
        (scaled(layout, 1, 0), layout.sign_bit(), layout.fraction.cast_signed());
    let Shape { width, columns, .. } = shape;
    if columns == 1 {
        let whole = [[3, 4, 12, 84], [1, 1, 1, 1], [5, 1, 5, 7]]
            .map(|list| list.map(|n| scaled(layout, n, 0)).to_vec());
        let large = scaled(layout, 1, last + 1);
        let hiding = [[large, one, sign | large, one], [one, large, one, sign | large]]
            .map(|list| list.to_vec());
        return whole
            .into_iter()
            .chain(hiding)
            .chain([unit(layout, 4)])
            .map(|list| list[..width as usize].to_vec())
            .collect();
    }
    let rows = width / columns;
    let entries = |entry: &dyn Fn(u32, u32) -> u64| -> OperandComponents {
        (0..columns).flat_map(|column| (0..rows).map(move |row| entry(column, row))).collect()
    };
    vec![
        entries(&|column, row| if column == row { one } else { 0 }),
        entries(&|column, row| {
            if column == row { scaled(layout, u64::from(column) + 2, 0) } else { 0 }
        }),
        entries(&|column, row| if column + row + 1 == columns { one } else { 0 }),
        entries(&|column, row| {
            if column >= row { scaled(layout, u64::from(column + row) + 1, 0) } else { 0 }
        }),
        // 1, 2, 3, ... by rows has determinant 0 from three columns on; so has one whose columns
        // are alike.
        entries(&|column, row| scaled(layout, u64::from(row * columns + column) + 1, 0)),
        entries(&|_, row| scaled(layout, 2 * u64::from(row) + 3, -1)),
        entries(&|column, row| quotient(layout, 1, column + row + 1)[0]),
        entries(&|column, row| if column == row { one + 1 } else { one }),
    ]
}

/// A vector of about length 1.
fn unit(layout: FloatLayout, width: usize) -> OperandComponents {
    let sines: &[(u32, u32)] = match width {
        1 => &[(1, 1)],
        2 => &[(3, 5), (4, 5)],
        3 => &[(2, 7), (3, 7), (6, 7)],
        _ => &[(1, 2), (1, 2), (1, 2), (1, 2)],
    };
    sines.iter().map(|(dividend, divisor)| quotient(layout, *dividend, *divisor)[0]).collect()
}

/// Random numbers of either sign with exponents from `-range` to `range`.
fn drawn(layout: FloatLayout, shape: Shape, seed: u64, range: u32) -> OperandComponents {
    let component = |place: u32| {
        let seed = seed << 8 | u64::from(place) << 3 | u64::from(range > 4);
        let exponent =
            (random(seed + 20_000) % u64::from(2 * range + 1)) as i32 - range.cast_signed();
        let bits = random(seed + 30_000);
        scaled(layout, 1, exponent) | bits & (layout.min_normal() - 1 | layout.sign_bit())
    };
    (0..shape.width).map(component).collect()
}

/// Pairs of vectors that are parallel, opposite, orthogonal, or almost so.
fn related(layout: FloatLayout, shape: Shape) -> Vec<(OperandComponents, OperandComponents)> {
    let (one, sign) = (scaled(layout, 1, 0), layout.sign_bit());
    let mut vectors = structured(layout, shape);
    vectors.extend((100..108).map(|seed| drawn(layout, shape, seed, 4)));
    let mut pairs = Vec::new();
    for vector in vectors {
        let opposite: OperandComponents = vector.iter().map(|bits| bits ^ sign).collect();
        // (b, -a, d, -c): the products cancel in pairs.
        let mut across: OperandComponents = vector.clone();
        across.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        across.iter_mut().skip(1).step_by(2).for_each(|bits| *bits ^= sign);
        if let [.., last] = &mut across[..]
            && vector.len() % 2 == 1
        {
            *last = 0;
        }
        let mut almost = across.clone();
        almost[0] = if almost[0] == 0 { one } else { almost[0] + 1 };
        for other in [vector.clone(), opposite, across, almost, vec![one; vector.len()]] {
            pairs.push((vector.clone(), other));
        }
    }
    pairs
}

/// Directions of light, normals and ratios of indices: from head-on to grazing, with total
/// reflection, at its limit and beside it, and with normals of another length and direction.
fn refractions(layout: FloatLayout, width: usize) -> Vec<Vec<OperandComponents>> {
    let (one, sign) = (scaled(layout, 1, 0), layout.sign_bit());
    let fraction = |(dividend, divisor)| quotient(layout, dividend, divisor)[0];
    let along = |first: u64, last: u64| -> OperandComponents {
        let mut vector = vec![0; width];
        (vector[0], vector[width - 1]) = (first, last);
        vector
    };
    let mut directions = vec![along(0, sign | one), unit(layout, width)];
    if width > 1 {
        let angles = [((3, 5), (4, 5)), ((4, 5), (3, 5)), ((5, 13), (12, 13)), ((1, 1), (0, 1))];
        directions
            .extend(angles.map(|(sine, cosine)| along(fraction(sine), sign | fraction(cosine))));
    }
    let normals = [one, sign | one, scaled(layout, 1, 1)].map(|last| along(0, last));
    // Where a sine times the ratio is 1, reflection becomes total.
    let limits = [(5, 3), (5, 4), (13, 5), (1, 1)];
    let mut ratios = limits.map(|(dividend, divisor)| quotient(layout, dividend, divisor)).concat();
    ratios.extend([(1, 2), (2, 3), (3, 2), (2, 1)].map(fraction));
    ratios.extend([0, sign | one, layout.min_normal(), layout.max_finite()]);
    let mut cases = Vec::new();
    for direction in &directions {
        for normal in &normals {
            cases.extend(
                ratios.iter().map(|ratio| vec![direction.clone(), normal.clone(), vec![*ratio]]),
            );
        }
    }
    cases
}
