//! Q17, Q18: the same question by other ways.

use fpprobe_profiles::Observation;
use fpprobe_profiles::variants::VariantPair;

use super::look::{NAMED, ObservationView, UNMEASURED, first_of};

/// Operations of binary32 that are asked in every way where nothing else is measured: some of each kind that a compiler
/// folds, or computes by itself.
const KERNELS_OF_VARIANTS: [&str; 20] = [
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "fma",
    "mul_then_add",
    "fmin",
    "fmax",
    "floor",
    "ceil",
    "fract",
    "round_even",
    "sqrt",
    "inverse_sqrt",
    "exp2",
    "log2",
    "pow",
    "sin",
    "fconvert_f16",
    "convert_f_to_s",
];

fn select(look: &ObservationView<'_>, ways: &[&str]) {
    for op in KERNELS_OF_VARIANTS {
        for id in ways.iter().map(|way| format!("f32.{op}:{way}")).chain([format!("f32.{op}")]) {
            let _ = look.ran(&id);
        }
    }
}

pub(super) fn folding(look: &ObservationView<'_>) -> String {
    select(look, &["route=spec", "route=literal"]);
    agreement(look, |pair| pair.other.kernel.route.is_folded() && pair.plain.kernel.width == pair.other.kernel.width)
}

pub(super) fn widths(look: &ObservationView<'_>) -> String {
    select(look, &["width=2", "width=3", "width=4", "stage=fragment", "stage=vertex"]);
    let alike = |pair: &VariantPair<'_>| pair.other.kernel.route == pair.plain.kernel.route;
    let widths = agreement(look, |pair| pair.other.kernel.width != pair.plain.kernel.width && alike(pair));
    let stages = agreement(look, |pair| pair.other.kernel.stage != pair.plain.kernel.stage && alike(pair));
    format!("widths: {widths}; shader stages: {stages}")
}

/// Whether the kernels that ask in another way answer like those that they are compared with.
fn agreement(look: &ObservationView<'_>, of_interest: impl Fn(&VariantPair<'_>) -> bool) -> String {
    let pairs: Vec<&VariantPair<'_>> = look.pairs().filter(|pair| pair.compared > 0 && of_interest(pair)).collect();
    let differing: Vec<&VariantPair<'_>> = pairs.iter().copied().filter(|pair| !pair.differing.is_empty()).collect();
    if pairs.is_empty() {
        return UNMEASURED.to_owned();
    }
    if differing.is_empty() {
        for pair in pairs.iter().take(NAMED) {
            look.show(pair.other, 0);
        }
        return format!("all {} kernels compared agree", pairs.len());
    }
    for pair in &differing {
        show(look, pair);
    }
    let named: Vec<String> =
        differing.iter().map(|pair| format!("{} ({})", pair.other.kernel, pair.differing.len())).collect();
    let lanes: usize = pairs.iter().map(|pair| pair.compared).sum();
    let off: usize = differing.iter().map(|pair| pair.differing.len()).sum();
    format!(
        "{} of {} kernels agree; {off} of {lanes} answers do not, of {}",
        pairs.len() - differing.len(),
        pairs.len(),
        first_of(&named)
    )
}

/// The first answer that differs, and, where it was asked the same in one piece, the one that it differs from.
fn show(look: &ObservationView<'_>, pair: &VariantPair<'_>) {
    let Some((case, _)) = pair.differing.first() else { return };
    look.show(pair.other, *case);
    let case_of = pair.other.cases.case(*case);
    let same = |plain: &Observation| plain.cases.iter().position(|known| known == case_of);
    if let Some(case) = same(pair.plain) {
        look.show(pair.plain, case);
    }
}
