//! Pictures of answers: how far functions are off over the range of their operand, and what pairs of classes of operands give.

use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::environment::{Environment, Ulp};
use fpprobe_profiles::oracle::{Demand, Question, has_reference};
use fpprobe_profiles::{Observation, Outcome};
use fpprobe_spirv::{FloatLayout, Format, Kernel};
use maud::{Markup, html};

/// Columns and rows of a picture.
const WIDTH: i64 = 320;
const HEIGHT: i64 = 64;
/// Rows of a doubled error; lines are drawn at 8, 64 and 512.
const STEP: f64 = 6.0;

/// A function over the range of its operand.
struct Curve<'a> {
    kernel: &'a Kernel,
    asked: usize,
    /// In encodings between the answer and the correctly rounded result.
    most: u64,
    /// The greatest error in each column.
    columns: Vec<u64>,
}

/// Errors of every function of one number that ran; `None` where there is none.
pub fn errors(observations: &[Observation]) -> Option<Markup> {
    let curves: Vec<Curve<'_>> = observations.iter().filter_map(curve).collect();
    let (exact, off): (Vec<_>, Vec<_>) = curves.iter().partition(|curve| curve.most == 0);
    (!curves.is_empty()).then(|| {
        html! {
            p.faint {
                "From the lowest operand to the highest, by exponent, zero in the middle: the greatest distance from the correctly "
                "rounded result, in encodings; each line upwards is eight times as far. What a profile accepts is another question."
            }
            div.curves { @for curve in off { (drawn(curve)) } }
            @if !exact.is_empty() {
                p { "Correctly rounded wherever it was asked: "
                    @for (index, curve) in exact.iter().enumerate() { @if index > 0 { ", " } code { (curve.kernel) } }
                    "."
                }
            }
        }
    })
}

fn ran(observation: &Observation) -> bool {
    matches!(observation.outcome, Outcome::Ran | Outcome::Flaky)
}

/// The float format that a plain kernel takes and gives throughout.
fn layout(kernel: &Kernel, operands: usize) -> Option<FloatLayout> {
    let own = |format: Format| format == kernel.format;
    let plain =
        kernel.is_plain() && kernel.controls.is_empty() && kernel.op.params.len() == operands && kernel.outputs() == 1;
    let same = kernel.params().iter().all(|shape| own(shape.format)) && own(kernel.result().format);
    kernel.format.float().filter(|_| plain && same)
}

fn curve(observation: &Observation) -> Option<Curve<'_>> {
    let kernel = &observation.kernel;
    let layout = layout(kernel, 1).filter(|_| ran(observation) && has_reference(kernel.op.function))?;
    let environment = Environment::IEEE;
    let demand = Demand {
        function: kernel.op.function,
        operands: environment,
        results: environment,
        accuracy: Accuracy::NearestEven,
        ulp: Ulp::Vulkan,
    };
    let (question, encoding) = (Question::new(kernel), Encoding::Float(layout));
    let mut curve = Curve { kernel, asked: 0, most: 0, columns: vec![0; WIDTH as usize] };
    for (case, answer) in observation.cases.iter().zip(observation.out.iter()) {
        let reference = question.accepted_part(case, 0, &demand).members(2);
        let [reference] = reference[..] else { continue };
        let finite = |bits: u64| bits & layout.magnitude_mask() < layout.infinity();
        if !finite(reference) || !finite(*answer) || !finite(case[0]) {
            continue;
        }
        let off = encoding.key(*answer).abs_diff(encoding.key(reference));
        curve.asked += 1;
        curve.most = curve.most.max(off);
        let all = 2 * i128::from(layout.infinity());
        let place = (i128::from(encoding.key(case[0])) + i128::from(layout.infinity())) * i128::from(WIDTH - 1) / all;
        if let Some(column) = usize::try_from(place).ok().and_then(|place| curve.columns.get_mut(place)) {
            *column = (*column).max(off);
        }
    }
    (curve.asked > 0).then_some(curve)
}

fn drawn(curve: &Curve<'_>) -> Markup {
    let height = |off: u64| (((off as f64 + 1.0).log2() * STEP).round() as i64).clamp(1, HEIGHT);
    let bars = curve.columns.iter().enumerate().filter(|(_, off)| **off > 0);
    let path: Vec<String> = bars.map(|(x, off)| format!("M{x} {HEIGHT}v-{}", height(*off))).collect();
    let line = |power: u32| format!("M0 {}h{WIDTH}", HEIGHT - height((1 << power) - 1));
    let lines = [3, 6, 9].map(line).concat();
    let told = format!("{}: at most {} off, {} operands", curve.kernel, curve.most, curve.asked);
    html! {
        figure {
            svg role="img" aria-label=(told) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" {
                path.grid d=(lines) {}
                path d=(path.concat()) {}
            }
            figcaption { code { (curve.kernel) } " " span.faint { "at most " (curve.most) " of " (curve.asked) " operands" } }
        }
    }
}

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
    let size = [1, layout.min_normal(), layout.infinity()].into_iter().filter(|from| magnitude >= *from).count();
    if negative { 3 - size } else { 4 + size }
}

/// What every pair of classes gives, operation by operation; `None` where there is none.
pub fn maps(observations: &[Observation]) -> Option<Markup> {
    let maps: Vec<Markup> = observations.iter().filter_map(map).collect();
    (!maps.is_empty()).then(|| {
        html! {
            p.faint {
                "First operand down, second across: the class of the result, " code { "·" } " where it is not one. n: normal numbers, s: "
                "subnormal ones, N: NaN."
            }
            div.maps { @for map in &maps { (map) } }
        }
    })
}

fn map(observation: &Observation) -> Option<Markup> {
    let kernel = &observation.kernel;
    let layout = layout(kernel, 2).filter(|_| ran(observation))?;
    let mut results = [[None::<Option<usize>>; 9]; 9];
    for (case, answer) in observation.cases.iter().zip(observation.out.iter()) {
        let (first, second, result) = (class(layout, case[0]), class(layout, case[1]), class(layout, *answer));
        let place = &mut results[first][second];
        *place = match *place {
            None => Some(Some(result)),
            Some(Some(before)) if before == result => Some(Some(before)),
            Some(_) => Some(None),
        };
    }
    let cell = |result: Option<Option<usize>>| match result {
        None => ("", ""),
        Some(None) => ("·", "several"),
        Some(Some(8)) => ("N", "nan"),
        Some(Some(class)) => (CLASSES[class].1, ["infinite", "", "tiny", "naught"][class.min(7 - class)]),
    };
    Some(html! {
        table.map {
            caption { code { (kernel) } }
            thead { tr { td {} @for (name, sign) in CLASSES { th scope="col" title=(name) { (sign) } } } }
            tbody {
                @for (row, (name, sign)) in results.iter().zip(CLASSES) {
                    tr {
                        th scope="row" title=(name) { (sign) }
                        @for result in row { @let (sign, kind) = cell(*result); td class=[(!kind.is_empty()).then_some(kind)] { (sign) } }
                    }
                }
            }
        }
    })
}
