//! A sweep as a page that needs nothing else.

use std::io::{self, Write};

use fpprobe_profiles::sweep::{PARTS, SweepStatistics};
use fpprobe_spirv::Kernel;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::RenderSweep;
use super::text::{
    coverage, deviation, error, headline, line, more_ranges, range, several, unstable, verdict,
};
use crate::escape::visible;
use crate::render::html::STYLE;
use crate::render::html::pictures::picture;
use crate::render::paper::Style;
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

fn device(device: &SweptDevice) -> Markup {
    let driver = &device.identity.driver;
    html! {
        h2 { (visible(&device.identity.name)) " " small { (visible(&driver.name)) " " (visible(&driver.info)) } }
        table {
            tr { th { "kernel" } th { "asked" } th { "fingerprint" } th { "found" } }
            @for kernel in &device.kernels { (swept(kernel)) }
        }
        div.curves { @for kernel in &device.kernels { @if let Some(statistics) = &kernel.verified { (curve(kernel, statistics)) } } }
    }
}

fn swept(kernel: &SweptKernel) -> Markup {
    html! {
        tr {
            td { code { (kernel.kernel) } }
            td { (coverage(kernel)) @for failure in &kernel.incomplete { p.doubt { (visible(failure)) } } }
            td { @if let Some(root) = &kernel.root { code title=(root) { (format!("{root:.16}")) } } }
            td {
                @if let Some(statistics) = &kernel.verified { (verified(&kernel.kernel, statistics)) }
                @if !kernel.unstable.is_empty() {
                    p.doubt { (unstable(kernel)) }
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
