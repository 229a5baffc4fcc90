//! A sweep as a page that needs nothing else.

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::RenderSweep;
use super::text::{coverage, headline, line};
use crate::escape::visible;
use crate::render::html::STYLE;
use crate::render::paper::Style;
use crate::sweep::{Device, Sweep, Swept};

/// Changes shown of each kernel.
const SHOWN: usize = 100;

/// A page of its own.
pub(super) struct Html;

impl RenderSweep for Html {
    fn render(&self, sweep: &Sweep, _: Style, out: &mut dyn Write) -> io::Result<()> {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width";
                    title { "fpprobe sweep" }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    h1 { "Sweep" }
                    @for one in &sweep.devices { (device(one)) }
                    @for incident in &sweep.incomplete { p.doubt { (visible(&incident.subject)) ": " (visible(&incident.detail)) } }
                }
            }
        };
        out.write_all(page.into_string().as_bytes())
    }
}

fn device(device: &Device) -> Markup {
    let driver = &device.identity.driver;
    html! {
        h2 { (visible(&device.identity.name)) " " small { (visible(&driver.name)) " " (visible(&driver.info)) } }
        table {
            tr { th { "kernel" } th { "asked" } th { "fingerprint" } th { "since the older fingerprint" } }
            @for kernel in &device.kernels { (swept(kernel)) }
        }
    }
}

fn swept(kernel: &Swept) -> Markup {
    html! {
        tr {
            td { code { (kernel.kernel) } }
            td { (coverage(kernel)) @for trouble in &kernel.incomplete { p.doubt { (visible(trouble)) } } }
            td { @if let Some(root) = &kernel.root { code title=(root) { (format!("{root:.16}")) } } }
            td {
                @if let Some(changes) = &kernel.changes {
                    (visible(&headline(changes)))
                    @if !changes.list.is_empty() {
                        details {
                            summary { "inputs" }
                            @for change in changes.list.iter().take(SHOWN) { code { (line(change)) } br; }
                        }
                    }
                }
            }
        }
    }
}
