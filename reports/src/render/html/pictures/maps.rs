//! What pairs of classes of operands give.

use fpprobe_profiles::Observation;
use fpprobe_spirv::{FloatLayout, Kernel};
use maud::{Markup, html};

use super::{layout, ran};

/// Classes of numbers: a name and a sign.
const CLASSES: [(&str, &str); 9] = [
    ("minus infinity", "−∞"),
    ("negative", "−n"),
    ("negative subnormal", "−s"),
    ("minus zero", "−0"),
    ("zero", "0"),
    ("subnormal", "s"),
    ("positive", "n"),
    ("infinity", "∞"),
    ("NaN", "N"),
];

fn class(layout: FloatLayout, bits: u64) -> usize {
    let (negative, magnitude) = (layout.is_negative(bits), bits & layout.magnitude_mask());
    if layout.is_nan(bits) {
        return 8;
    }
    // Zero, subnormal, normal, infinite.
    let size = [1, layout.min_normal(), layout.infinity()]
        .into_iter()
        .filter(|from| magnitude >= *from)
        .count();
    if negative { 3 - size } else { 4 + size }
}

/// The class of the result of each pair of classes: `None` where no lane has it, and
/// `Some(None)` where its lanes differ.
type Map = [[Option<Option<usize>>; CLASSES.len()]; CLASSES.len()];

/// What every pair of classes gives, once for all operations that give the same; `None` where there
/// are no lanes.
pub fn maps(observations: &[Observation]) -> Option<Markup> {
    let mut maps: Vec<(Map, Vec<&Kernel>)> = Vec::new();
    for observation in observations {
        let Some(map) = map(observation) else { continue };
        match maps.iter_mut().find(|(seen, _)| *seen == map) {
            Some((_, kernels)) => kernels.push(&observation.kernel),
            None => maps.push((map, vec![&observation.kernel])),
        }
    }
    (!maps.is_empty()).then(|| {
        html! {
            p.faint {
                "First operand down, second across: the class of the result, " code { "·" } " where its lanes differ. n: normal numbers, s: "
                "subnormal ones, N: NaN."
            }
            div.maps { @for (map, kernels) in &maps { (drawn(map, kernels)) } }
        }
    })
}

fn map(observation: &Observation) -> Option<Map> {
    let layout = layout(&observation.kernel, 2).filter(|_| ran(observation))?;
    let mut results = Map::default();
    for (case, answer) in observation.cases.iter().zip(observation.out.iter()) {
        let (first, second, result) =
            (class(layout, case[0]), class(layout, case[1]), class(layout, *answer));
        let place = &mut results[first][second];
        *place = match *place {
            None => Some(Some(result)),
            Some(Some(before)) if before == result => Some(Some(before)),
            Some(_) => Some(None),
        };
    }
    Some(results)
}

fn drawn(map: &Map, kernels: &[&Kernel]) -> Markup {
    let cell = |result: Option<Option<usize>>| match result {
        None => ("", ""),
        Some(None) => ("·", "several"),
        Some(Some(8)) => ("N", "nan"),
        Some(Some(class)) => {
            (CLASSES[class].1, ["infinite", "", "tiny", "naught"][class.min(7 - class)])
        }
    };
    html! {
        table.map {
            caption { @for (index, kernel) in kernels.iter().enumerate() { @if index > 0 { ", " } code { (kernel) } } }
            thead { tr { td {} @for (name, sign) in CLASSES { th scope="col" title=(name) { (sign) } } } }
            tbody {
                @for (row, (name, sign)) in map.iter().zip(CLASSES) {
                    tr {
                        th scope="row" title=(name) { (sign) }
                        @for result in row { @let (sign, kind) = cell(*result); td class=[(!kind.is_empty()).then_some(kind)] { (sign) } }
                    }
                }
            }
        }
    }
}
