//! What derivatives of fragments are differences of.

use fpprobe_profiles::observed_behaviour::Aspect::SubnormalOperands;

use super::super::TraitLook::{Aspect, DerivativeRows};
use super::super::TraitRow;
use super::{FLUSHED, SINGLE, row};

const COARSE: &str = "an edge that is smoothed by its derivative is one or two pixels wide";

/// Derivatives.
pub(super) static TRAITS: &[TraitRow] = &[
    row(
        "{f}.dpdx_row",
        SINGLE,
        "Which row of a quad is the derivative along x of?",
        COARSE,
        DerivativeRows("{f}.dpdx"),
    ),
    row(
        "{f}.dpdy_column",
        SINGLE,
        "Which column of a quad is the derivative along y of?",
        COARSE,
        DerivativeRows("{f}.dpdy"),
    ),
    row(
        "{f}.dpdx_coarse_row",
        SINGLE,
        "Which row of a quad is the coarse derivative along x of?",
        COARSE,
        DerivativeRows("{f}.dpdx_coarse"),
    ),
    row(
        "{f}.dpdy_coarse_column",
        SINGLE,
        "Which column of a quad is the coarse derivative along y of?",
        COARSE,
        DerivativeRows("{f}.dpdy_coarse"),
    ),
    row(
        "{f}.derivative_of_subnormals",
        SINGLE,
        "What becomes of subnormal values in a derivative?",
        FLUSHED,
        Aspect(SubnormalOperands, &["{f}.dpdx_fine", "{f}.dpdy_fine"]),
    ),
];
