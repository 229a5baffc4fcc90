//! A sweep as a page that needs nothing else.

use std::io::{self, Write};

use fpprobe_profiles::sweep::{PARTS, SweepStatistics};
use fpprobe_spirv::Kernel;
use maud::{Markup, html};

use super::RenderSweep;
use super::text::{
    coverage, deviation, error, headline, line, more_ranges, range, several, unstable, verdict,
};
use crate::escape::visible;
use crate::render::html::frame::{Frame, scrolling};
use crate::render::html::pictures::picture;
use crate::render::paper::Style;
use crate::render::phrase;
use crate::sweep::judged::domain;
use crate::sweep::{Sweep, SweptDevice, SweptKernel};

/// Changes shown of each kernel.
const SHOWN: usize = 100;
/// Ranges of them.
const RANGES: usize = 1000;

/// A page of its own.
pub(super) struct SweepHtml;

impl RenderSweep for SweepHtml {
    fn render(&self, sweep: &Sweep, _: Style, out: &mut dyn Write) -> io::Result<()> {
        let kernels = sweep.devices.iter().map(|device| device.kernels.len()).sum();
        let headline = format!(
            "{} on {}",
            phrase::number(kernels, "kernel"),
            phrase::number(sweep.devices.len(), "device")
        );
        let frame = Frame {
            program: &sweep.program,
            title: "Floating-point sweep",
            headline: &headline,
            source: html! { (visible(&sweep.host.os)) " · " (visible(&sweep.host.kernel)) },
            subject: "results",
            foot: html! { "Every block and input is in the sweep as JSON, " code { (visible(&sweep.schema)) } "." },
        };
        let page = frame.page(&html! {
            @for one in &sweep.devices { (device(one)) }
            @for incident in &sweep.incomplete { p.incomplete { (visible(&incident.subject)) ": " (visible(&incident.detail)) } }
        });
        out.write_all(page.into_string().as_bytes())
    }
}

fn device(device: &SweptDevice) -> Markup {
    let driver = &device.identity.driver;
    let table = html! {
        table.outcomes {
            thead { tr { @for head in ["Kernel", "Inputs", "Fingerprint", "Found"] { th scope="col" { (head) } } } }
            tbody { @for kernel in &device.kernels { (swept(kernel)) } }
        }
    };
    html! {
        section.device {
            header { h2 { (visible(&device.identity.name)) } p { (visible(&driver.name)) " " (visible(&driver.info)) } }
            (scrolling("Kernels", &table))
            div.curves { @for kernel in &device.kernels { @if let Some(statistics) = &kernel.verified { (curve(kernel, statistics)) } } }
        }
    }
}

fn swept(kernel: &SweptKernel) -> Markup {
    html! {
        tr {
            th scope="row" { code { (kernel.kernel) } }
            td { (coverage(kernel)) @for failure in &kernel.incomplete { p.incomplete { (visible(failure)) } } }
            td { @if let Some(root) = &kernel.root { code title=(root) { (format!("{root:.16}")) } } }
            td {
                @if let Some(statistics) = &kernel.verified { (verified(&kernel.kernel, statistics)) }
                @if !kernel.unstable.is_empty() {
                    p.incomplete { (unstable(kernel)) }
                    @if !kernel.unstable.list.is_empty() {
                        details {
                            summary { "unstable inputs" }
                            @for one in &kernel.unstable.list { code { (several(one)) } br; }
                        }
                    }
                }
                @if let Some(changes) = &kernel.changes {
                    (visible(&headline(changes)))
                    @if !changes.list.is_empty() {
                        details {
                            summary { "inputs" }
                            @for change in changes.list.iter().take(SHOWN) { code { (line(change)) } br; }
                        }
                        details {
                            summary { "by number" }
                            @let ranges = changes.ranges();
                            @for shown in ranges.iter().take(RANGES) { code { (range(*shown)) } br; }
                            @if let Some(more) = more_ranges(changes, ranges.len(), RANGES) { (more) }
                        }
                    }
                }
            }
        }
    }
}

fn verified(kernel: &str, statistics: &SweepStatistics) -> Markup {
    html! {
        p { (verdict(statistics)) @if let Some(error) = error(statistics) { "; " (error) } "." }
        @if statistics.judged > 0 && statistics.vacuous > 0 { p { small { "judged: " (domain(kernel, statistics)) } } }
        @if !statistics.runs.is_empty() {
            details {
                summary { "deviating inputs" }
                @for run in statistics.runs.iter().take(SHOWN) { code { (visible(&deviation(run))) } br; }
            }
        }
    }
}

/// The greatest error of each exponent, from the lowest operand to the highest, zero in the middle;
/// in whole ulps, rounded up.
fn curve(kernel: &SweptKernel, statistics: &SweepStatistics) -> Markup {
    let layout = kernel
        .kernel
        .parse::<Kernel>()
        .ok()
        .and_then(|kernel| kernel.params().first()?.format.float());
    let keys: Vec<u64> = match layout {
        Some(layout) => {
            let half = 1 << layout.exponent;
            (half..2 * half).rev().chain(0..half).collect()
        }
        None => statistics.exponents.keys().copied().collect(),
    };
    let off = |key: &u64| {
        statistics
            .exponents
            .get(key)
            .and_then(|one| one.worst)
            .map_or(0, |worst| worst.parts.div_ceil(PARTS))
    };
    let columns: Vec<u64> = keys.iter().map(off).collect();
    picture(&kernel.kernel, &error(statistics).unwrap_or_else(|| verdict(statistics)), &columns)
}
