//! Evidence: bits, values, the fields of the encoding, what was accepted, and the command that
//! shows it again.

use fpprobe_spirv::FloatLayout;
use maud::{Markup, html};

use crate::model::Evidence;
use crate::render::lane::{self, EvidenceLine};

/// Lanes shown where they are not the point.
const SHOWN: usize = 2;

pub fn evidence(evidence: &Evidence, against: &str) -> Markup {
    figure(&evidence.kernel, &lane::lines(evidence, against), &evidence.command)
}

/// A lane under its kernel's name, and the command that shows it, if there is one.
pub fn figure(kernel: &str, lines: &[EvidenceLine], command: &str) -> Markup {
    let wide = lines.iter().any(|line| line.fields.iter().any(|(layout, _)| layout.bits() == 64));
    html! {
        figure.evidence.wide[wide] {
            figcaption { code { (kernel) } }
            table {
                tbody {
                    @for line in lines { (row(line)) }
                }
            }
            @if !command.is_empty() { p.command { code { (command) } } }
        }
    }
}

fn row(line: &EvidenceLine) -> Markup {
    html! {
        tr {
            th scope="row" { (line.name) }
            @if line.hex.is_empty() { td colspan="3" { (line.value) } } @else {
                td.hex { code { (line.hex) } }
                td { (line.value) }
                @if !line.fields.is_empty() { td.fields { (fields(&line.fields)) } }
            }
        }
    }
}

/// The first lanes; the report holds more.
pub fn some(lanes: &[Evidence], against: &str) -> Markup {
    html! {
        @if !lanes.is_empty() {
            details.lanes {
                summary { "evidence" }
                div.evidences { @for lane in lanes.iter().take(SHOWN) { (evidence(lane, against)) } }
            }
        }
    }
}

/// Sign, exponent and fraction of an encoding. Hidden from screen readers: the hex beside it says
/// the same.
fn fields(floats: &[(FloatLayout, u64)]) -> Markup {
    html! { @for (layout, bits) in floats { (strip(*layout, *bits)) " " } }
}

pub fn strip(layout: FloatLayout, bits: u64) -> Markup {
    let field = |shift: u32, width: u32| {
        let (field, width) = (bits >> shift & ((1 << width) - 1), width as usize);
        format!("{field:0width$b}")
    };
    html! {
        span.bits aria-hidden="true" {
            @if layout.signed { i.s { (field(layout.exponent + layout.fraction, 1)) } }
            i.e { (field(layout.fraction, layout.exponent)) }
            i { (field(0, layout.fraction)) }
        }
    }
}
