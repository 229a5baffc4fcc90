//! How far functions of one number are off, over the range of their operand.

use fpprobe_profiles::Observation;
use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::encoding::Encoding;
use fpprobe_profiles::environment::{Environment, Ulp};
use fpprobe_profiles::oracle::{Demand, Signature, has_reference};
use fpprobe_spirv::Kernel;
use maud::{Markup, html};

use super::{Axis, layout, ran};

/// Columns and rows of a picture.
const WIDTH: i64 = 320;
const HEIGHT: i64 = 64;
/// Rows of a doubled error; lines are drawn at 8, 64 and 512.
const STEP: f64 = 6.0;

/// A function over the range of its operand.
struct Curve<'a> {
    kernel: &'a Kernel,
    operands: usize,
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
                p { "Correctly rounded on every operand: "
                    @for (index, curve) in exact.iter().enumerate() { @if index > 0 { ", " } code { (curve.kernel) } }
                    "."
                }
            }
        }
    })
}

fn curve(observation: &Observation) -> Option<Curve<'_>> {
    let kernel = &observation.kernel;
    let layout =
        layout(kernel, 1).filter(|_| ran(observation) && has_reference(kernel.op.function))?;
    let environment = Environment::IEEE;
    let demand = Demand {
        function: kernel.op.function,
        operands: environment,
        results: environment,
        accuracy: Accuracy::NearestEven,
        ulp: Ulp::Vulkan,
    };
    let (signature, encoding) = (Signature::new(kernel), Encoding::Float(layout));
    let all = layout.infinity() as f64;
    let across = Axis { from: -all, to: all, start: 0.0, end: (WIDTH - 1) as f64 };
    let mut curve = Curve { kernel, operands: 0, most: 0, columns: vec![0; WIDTH as usize] };
    for (case, answer) in observation.cases.iter().zip(observation.out.iter()) {
        let reference = signature.accepted_part(case, 0, &demand).members(2);
        let [reference] = reference[..] else { continue };
        let finite = |bits: u64| bits & layout.magnitude_mask() < layout.infinity();
        if !finite(reference) || !finite(*answer) || !finite(case[0]) {
            continue;
        }
        let off = encoding.key(*answer).abs_diff(encoding.key(reference));
        curve.operands += 1;
        curve.most = curve.most.max(off);
        let column = &mut curve.columns[across.at(encoding.key(case[0]) as f64) as usize];
        *column = (*column).max(off);
    }
    (curve.operands > 0).then_some(curve)
}

fn drawn(curve: &Curve<'_>) -> Markup {
    let text = format!("off by at most {} on {} operands", curve.most, curve.operands);
    picture(&curve.kernel.to_string(), &text, &curve.columns)
}

/// The greatest errors over the range, a number a column from left to right; fewer than [`WIDTH`]
/// are drawn wider.
pub(crate) fn picture(kernel: &str, text: &str, columns: &[u64]) -> Markup {
    let width = columns.len() as i64;
    let height = |off: u64| (((off as f64 + 1.0).log2() * STEP).round() as i64).clamp(1, HEIGHT);
    let bars = columns.iter().enumerate().filter(|(_, off)| **off > 0);
    let path: Vec<String> =
        bars.map(|(x, off)| format!("M{x} {HEIGHT}v-{}", height(*off))).collect();
    let line = |power: u32| format!("M0 {}h{width}", HEIGHT - height((1 << power) - 1));
    let lines = [3, 6, 9].map(line).concat();
    html! {
        figure {
            svg role="img" aria-label=(format!("{kernel}: {text}")) viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none" {
                path.grid d=(lines) {}
                path d=(path.concat()) {}
            }
            figcaption { code { (kernel) } " " span.faint { (text) } }
        }
    }
}
