//! What becomes of numbers and texels: a table, format by format and path by path.

use maud::{Markup, html};

use crate::model::{Device, Outcome, TexelPath};
use crate::render::phrase;

/// The table; `None` where no texel was asked.
pub fn table(device: &Device) -> Option<Markup> {
    let selected: Vec<&TexelPath> =
        device.texels.iter().filter(|path| path.outcome != Outcome::Unsupported).collect();
    let unmeasured = device.texels.len() - selected.len();
    (!device.texels.is_empty()).then(|| {
        html! {
            div.scroll tabindex="0" role="group" aria-label="Texels, path by path" {
                table.texels {
                    thead { tr {
                        th scope="col" { "Path" } th.number scope="col" { "Values" } th scope="col" { "What it does" }
                        th scope="col" { "Rules not met" }
                    } }
                    tbody {
                        @for path in selected {
                            tr {
                                th scope="row" { code { (path.kernel) } }
                                td.number { (path.values) }
                                td {
                                    @if path.outcome != Outcome::Ran { span.chip.incomplete { (phrase::outcome(path.outcome)) } " " }
                                    (path.behaviour)
                                }
                                td { (path.deviates.join(", ")) }
                            }
                        }
                    }
                }
            }
            @if unmeasured > 0 { p.faint { (phrase::number(unmeasured, "path")) " more that the device does not offer." } }
        }
    })
}
