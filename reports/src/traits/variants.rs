//! Whether variants of one operation give the same.

use fpprobe_profiles::judge::Observations;
use fpprobe_profiles::variants::VariantPair;
use fpprobe_spirv::Kernel;

use super::scope_values::ScopeValues;

/// Operations of binary32 that are measured in every variant where nothing else is: some of each
/// kind that a compiler folds, or computes by itself.
const OPERATIONS: [&str; 20] = [
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

/// What variants of a kernel differ in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variation {
    /// Operands that are literals or specialisation constants.
    Constants,
    /// Vectors.
    Width,
    /// Fragment, vertex and geometry shaders.
    Stage,
}

impl Variation {
    /// Kernels that show it, with those that they are compared with.
    pub(super) fn kernels(self) -> Vec<Kernel> {
        let keys: &[&str] = match self {
            Variation::Constants => &["", ":route=spec", ":route=literal"],
            Variation::Width => &["", ":width=2", ":width=3", ":width=4"],
            Variation::Stage => &["", ":stage=fragment", ":stage=vertex", ":stage=geometry"],
        };
        let of = |op| keys.iter().filter_map(move |keys| format!("f32.{op}{keys}").parse().ok());
        OPERATIONS.iter().flat_map(of).collect()
    }

    /// Whether variants give what the kernels give that they are compared with; NaNs are alike.
    pub(super) fn compared(self, observations: &Observations<'_>) -> ScopeValues {
        let is_alike = |pair: &&VariantPair<'_>| {
            let [other, plain] = [pair.other.kernel, pair.plain.kernel];
            match self {
                Variation::Constants => other.route.is_folded() && other.width == plain.width,
                Variation::Width => other.width != plain.width && other.route == plain.route,
                Variation::Stage => other.stage != plain.stage && other.route == plain.route,
            }
        };
        let mut found = ScopeValues::default();
        let pairs =
            || observations.pairs().iter().filter(is_alike).filter(|pair| pair.compared > 0);
        for pair in pairs() {
            found.count(pair.compared);
            if pair.compared > pair.differing.len() {
                found.put("yes", pair.compared - pair.differing.len(), pair.other);
            }
            if let Some((case, _)) = pair.differing.first() {
                found.put("no", pair.differing.len(), pair.other);
                found.exemplify(&["no"], pair.other, 0, *case);
                found.show(pair.other, pair.other.cases.case(*case), pair.other.answer(*case));
            }
        }
        // Where all agree, the first ones show it.
        for VariantPair { other, .. } in pairs() {
            found.show(other, other.cases.case(0), other.answer(0));
        }
        found
    }
}
