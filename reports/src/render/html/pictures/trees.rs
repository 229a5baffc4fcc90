//! In which order matrix units add: the tree of each product.

use std::fmt::Write as _;

use fpprobe_profiles::Observation;
use fpprobe_profiles::matrix::SumTree;
use maud::{Markup, html};

/// Summands of the largest tree that is drawn.
const MOST: usize = 65;
/// Distance of two summands, and of a sum from what it adds, in units of the picture.
const ROW: usize = 14;
const STEP: usize = 18;
/// Width of the summands' names.
const NAMES: usize = 34;

/// The tree of every product of floats whose sum is one; `None` if no sum of these observations is.
pub fn trees(observations: &[Observation]) -> Option<Markup> {
    let known =
        |one: &Observation| Some((one.kernel.to_string(), SumTree::of(one)?, one.kernel.matrix?.k));
    let trees: Vec<(String, SumTree, u32)> = observations.iter().filter_map(known).collect();
    (!trees.is_empty()).then(|| {
        html! {
            p.faint {
                "p0, p1, ...: products of an element of A and one of B, in the order of K; c: the element of C. What one line joins is "
                "added in one step."
            }
            div.trees { @for (kernel, tree, k) in &trees { (figure(kernel, tree, *k)) } }
        }
    })
}

fn figure(kernel: &str, tree: &SumTree, k: u32) -> Markup {
    let name = tree.name(k).replace('_', " ");
    let mut drawing = TreeDrawing { k, names: Vec::new(), path: String::new() };
    let depth = drawing.add(tree).0;
    let (width, height) = (NAMES + (depth + 1) * STEP, drawing.names.len() * ROW + 2);
    html! {
        figure {
            @if drawing.names.len() <= MOST {
                svg role="img" aria-label=(format!("{kernel}: {name}")) viewBox={ "0 0 " (width) " " (height) } style=(format!("max-width:{width}px")) {
                    @for (row, name) in drawing.names.iter().enumerate() { text x="2" y=(row * ROW + ROW - 3) { (name) } }
                    path d=(drawing.path) {}
                }
            }
            figcaption { code { (kernel) } " " span.faint { (name) } }
        }
    }
}

/// A tree that grows to the right, its summands below one another.
struct TreeDrawing {
    k: u32,
    names: Vec<String>,
    path: String,
}

impl TreeDrawing {
    /// How many sums a part is deep, and its height on the page.
    fn add(&mut self, tree: &SumTree) -> (usize, usize) {
        let parts = match tree {
            SumTree::Summand(number) => {
                self.names.push(if *number == self.k {
                    "c".to_owned()
                } else {
                    format!("p{number}")
                });
                return (0, self.names.len() * ROW - ROW / 2);
            }
            SumTree::Sum(parts) => parts.iter().map(|part| self.add(part)).collect::<Vec<_>>(),
        };
        let depth = 1 + parts.iter().map(|part| part.0).max().unwrap_or(0);
        let across = NAMES + depth * STEP;
        let heights = || parts.iter().map(|part| part.1);
        let (top, bottom) = (heights().min().unwrap_or(0), heights().max().unwrap_or(0));
        for (below, height) in parts {
            let from = if below == 0 { NAMES - 4 } else { NAMES + below * STEP };
            // Writing to a string cannot fail.
            let _ = write!(self.path, "M{from} {height}H{across}");
        }
        let _ = write!(self.path, "M{across} {top}V{bottom}");
        (depth, usize::midpoint(top, bottom))
    }
}
