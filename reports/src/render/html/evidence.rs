//! Evidence: bits, values, the fields of the encoding, what was accepted, and the command that shows it again.

use fpprobe_spirv::{FloatLayout, Format};
use maud::{Markup, html};

use crate::model::Evidence;
use crate::render::phrase::{self, Line};

pub fn evidence(evidence: &Evidence) -> Markup {
    let lines = phrase::evidence_lines(evidence);
    let wide = lines.iter().any(|line| line.bits.is_some_and(|(format, _)| format.bits() == 64));
    let exact = phrase::accepted_exactly(evidence);
    html! {
        figure.evidence.wide[wide] {
            figcaption { code { (evidence.kernel) } }
            table {
                tbody {
                    @for line in &lines { (row(line)) }
                    @for line in &exact { (row(line)) }
                    @if exact.is_empty() { tr { th scope="row" { "accepted" } td colspan="3" { (phrase::accepted(evidence)) } } }
                }
            }
            p.command { code { (evidence.command) } }
        }
    }
}

fn row(line: &Line) -> Markup {
    html! {
        tr {
            th scope="row" { (line.name) }
            td.hex { code { (line.hex) } }
            td { (line.decimal) }
            td.fields { @if let Some((format, bits)) = line.bits { (fields(format, bits)) } }
        }
    }
}

/// Sign, exponent and fraction of an encoding. Hidden from screen readers: the hex beside it says the same.
fn fields(format: Format, bits: u64) -> Markup {
    html! {
        @if let Some(layout) = format.float() {
            (strip(layout, bits))
        } @else {
            @for channel in format.channels() { (strip(channel.layout, bits >> channel.shift)) " " }
        }
    }
}

fn strip(layout: FloatLayout, bits: u64) -> Markup {
    let field = |shift: u32, width: u32| {
        let (field, width) = (bits >> shift & ((1 << width) - 1), width as usize);
        format!("{field:0width$b}")
    };
    html! {
        span.bits aria-hidden="true" title="sign, exponent, fraction" {
            @if layout.signed { i.sign { (field(layout.exponent + layout.fraction, 1)) } }
            i.exponent { (field(layout.fraction, layout.exponent)) }
            i.fraction { (field(0, layout.fraction)) }
        }
    }
}
