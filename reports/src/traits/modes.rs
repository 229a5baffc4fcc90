//! What programs may request of arithmetic, and a trait is measured under beside the default.

/// An execution mode, or a decoration, that a kernel may request.
#[derive(Clone, Copy, Debug)]
pub struct TraitMode {
    /// What it adds to the id of a trait.
    pub suffix: &'static str,
    /// Controls of the kernels; `{w}` stands for the width of the trait's format.
    pub controls: &'static str,
    /// Its name in SPIR-V.
    pub name: &'static str,
}

const fn mode(suffix: &'static str, controls: &'static str, name: &'static str) -> TraitMode {
    TraitMode { suffix, controls, name }
}

/// Nothing is requested.
pub const DEFAULT: TraitMode = mode("", "", "");
pub(super) const PRESERVE: TraitMode = mode("_under_preserve", "dp{w}", "DenormPreserve");
pub(super) const PRESERVE_16: TraitMode =
    mode("_under_preserve_16", "dp16", "DenormPreserve of 16 bits");
pub(super) const FLUSH: TraitMode = mode("_under_flush", "ftz{w}", "DenormFlushToZero");
pub(super) const RTE: TraitMode = mode("_under_rte", "rte{w}", "RoundingModeRTE");
pub(super) const RTZ: TraitMode = mode("_under_rtz", "rtz{w}", "RoundingModeRTZ");
pub(super) const RTE_16: TraitMode = mode("_under_rte", "rte16", "RoundingModeRTE");
pub(super) const RTZ_16: TraitMode = mode("_under_rtz", "rtz16", "RoundingModeRTZ");
pub(super) const KEEP_SPECIAL: TraitMode =
    mode("_under_szin", "szin{w}", "SignedZeroInfNanPreserve");
pub(super) const STRICT: TraitMode =
    mode("_under_no_fast_math", "fastmath0", "FPFastMathDefault None");
pub(super) const NO_CONTRACTION: TraitMode =
    mode("_under_no_contraction", "nocontract", "NoContraction");
