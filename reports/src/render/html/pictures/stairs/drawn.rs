//! The drawing: a window each around zero, one and overflow, and what becomes of the rest.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::super::Axis;
use super::{KINDS, RESULTS, Stairs};

/// Side of a step.
const CELL: f64 = 14.0;
/// Steps to either side of the middle of a window.
const SPAN: f64 = 3.0;
/// Side of a window.
const SIDE: f64 = CELL * (2.0 * SPAN + 1.0);
/// Room for the names beside a window, and beneath it.
const MARGIN: f64 = 30.0;
const FOOT: f64 = 14.0;
/// Numbers so near to each other are neighbours, with nothing to be seen between them.
const NEAR: f64 = 0.01;

/// A part of the range.
struct ChartWindow {
    /// Its middle, in steps.
    middle: f64,
    /// What is marked across, and where.
    across: (f64, &'static str),
    /// Rows that have a name.
    rows: Vec<(f64, &'static str)>,
}

pub(super) fn drawn(stairs: &Stairs) -> Markup {
    let layout = stairs.layout;
    let (max, infinity) = (layout.max_finite() as f64, layout.infinity() as f64);
    let one = f64::from(layout.bias()) * layout.min_normal() as f64;
    let windows = [
        ChartWindow { middle: 1.0, across: (0.0, "0"), rows: vec![(0.0, "0"), (1.0, "min")] },
        ChartWindow { middle: one, across: (one, "1"), rows: vec![(one, "1")] },
        ChartWindow {
            middle: max,
            across: (max, "max"),
            rows: vec![(max, "max"), (infinity, "∞"), (infinity + 1.0, "N")],
        },
    ];
    let width = 4.0 * (MARGIN + SIDE);
    html! {
        svg role="img" viewBox={ "0 0 " (width) " " (SIDE + FOOT) } {
            title { "Numbers stored in " (layout.bits()) " bits" }
            desc { (message(stairs)) }
            @for (index, window) in windows.iter().enumerate() { (steps(stairs, window, place(index))) }
            (kinds(stairs, place(windows.len())))
        }
    }
}

/// The left edge of a window.
fn place(index: usize) -> f64 {
    MARGIN + index as f64 * (MARGIN + SIDE)
}

/// In words, for those who do not see it.
fn message(stairs: &Stairs) -> String {
    let mut text = stairs.behaviour.clone();
    for (given, results) in KINDS.iter().zip(&stairs.kinds) {
        let names: Vec<&str> = RESULTS
            .iter()
            .zip(results)
            .filter(|(_, seen)| **seen)
            .map(|((_, name), _)| *name)
            .collect();
        if !names.is_empty() {
            let separator = if text.is_empty() { "" } else { "; " };
            let _ = write!(text, "{separator}{}: {}", given.1, names.join(" or "));
        }
    }
    text
}

/// Rows or columns of a window, one to a step.
fn axis(middle: f64, start: f64, end: f64) -> Axis {
    Axis { from: middle - SPAN - 0.5, to: middle + SPAN + 0.5, start, end }
}

/// One window onto the staircase.
fn steps(stairs: &Stairs, window: &ChartWindow, left: f64) -> Markup {
    let (across, up) = (axis(window.middle, left, left + SIDE), axis(window.middle, SIDE, 0.0));
    let seen: Vec<(f64, f64)> =
        stairs.steps.iter().copied().filter(|(given, _)| across.holds(*given)).collect();
    let (mut path, mut dots) = (String::new(), String::new());
    for pair in seen.windows(2) {
        let [(given, stored), (next, other)] = *pair else { continue };
        // Between numbers that lie apart nobody knows where a step was.
        if stored == other || next - given < NEAR {
            let _ = write!(
                path,
                "M{:.1} {:.1}L{:.1} {:.1}",
                across.at(given),
                up.at(stored),
                across.at(next),
                up.at(other)
            );
        }
    }
    for (given, stored) in seen.iter().filter(|(given, _)| (2.0 * given).fract() == 0.0) {
        dot(&mut dots, across.at(*given), up.at(*stored));
    }
    let rows: Vec<f64> = (0..7).map(|row| window.middle - SPAN + f64::from(row)).collect();
    html! {
        (grid(left, rows.iter().map(|row| up.at(*row))))
        path.exact d={ "M" (left) " " (SIDE) "l" (SIDE) " -" (SIDE) } {}
        path.steps d=(path) {}
        path.dots d=(dots) {}
        (column_name(across.at(window.across.0), window.across.1))
        @for (step, name) in &window.rows { (row_name(left, up.at(*step), name)) }
    }
}

/// What kinds of numbers become that no window shows.
fn kinds(stairs: &Stairs, left: f64) -> Markup {
    let columns = Axis { from: -0.5, to: KINDS.len() as f64 - 0.5, start: left, end: left + SIDE };
    let rows = Axis { from: -0.5, to: RESULTS.len() as f64 - 0.5, start: SIDE, end: 0.0 };
    let mut dots = String::new();
    for (column, results) in stairs.kinds.iter().enumerate() {
        for (row, _) in results.iter().enumerate().filter(|(_, seen)| **seen) {
            dot(&mut dots, columns.at(column as f64), rows.at(row as f64));
        }
    }
    html! {
        (grid(left, (0..RESULTS.len()).map(|row| rows.at(row as f64))))
        path.dots.large d=(dots) {}
        @for (row, (name, _)) in RESULTS.iter().enumerate() { (row_name(left, rows.at(row as f64), name)) }
        @for (column, (name, _)) in KINDS.iter().enumerate() { (column_name(columns.at(column as f64), name)) }
    }
}

/// A point of a path whose ends are round.
fn dot(path: &mut String, x: f64, y: f64) {
    let _ = write!(path, "M{x:.1} {y:.1}h0");
}

fn grid(left: f64, rows: impl Iterator<Item = f64>) -> Markup {
    let lines: Vec<String> = rows.map(|y| format!("M{left} {y:.1}h{SIDE}")).collect();
    html! { path.grid d=(lines.concat()) {} }
}

fn row_name(left: f64, y: f64, name: &str) -> Markup {
    html! { text x=(left - 4.0) y=(y + 3.0) text-anchor="end" { (name) } }
}

fn column_name(x: f64, name: &str) -> Markup {
    html! { text x=(x) y=(SIDE + FOOT - 3.0) text-anchor="middle" { (name) } }
}
