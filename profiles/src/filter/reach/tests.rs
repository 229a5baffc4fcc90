use std::sync::Arc;

use fpprobe_spirv::{Format, Kernel};

use super::*;
use crate::profile::built_in;

/// Kernels whose accuracy profiles inherit, each with what is inherited.
fn all() -> Vec<(&'static str, Function, Arc<InheritedAccuracy>)> {
    let mut all = Vec::new();
    for profile in ["d3d11", "gl-arb-shader-precision", "vulkan", "wgsl"]
        .map(|id| built_in(id).unwrap().unwrap())
    {
        for name in [
            "sqrt",
            "tan",
            "asin",
            "acos",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
            "radians",
            "degrees",
            "length",
            "normalize",
        ] {
            let kernel: Kernel = format!("f32.{name}").parse().unwrap();
            all.extend(profile.rules_for(&kernel).filter_map(
                |(_, part)| match &part.demand.accuracy {
                    Accuracy::Inherited(inherited) => {
                        Some((name, kernel.op.function, inherited.clone()))
                    }
                    _ => None,
                },
            ));
        }
    }
    all
}

#[test]
fn what_profiles_inherit_is_the_function_itself() {
    for (name, function, inherited) in all() {
        let known = |formula| is_identity(function, formula) || factor(function, formula).is_some();
        assert!(inherited.formulas.iter().any(known), "{name}: {inherited}");
        // It is that function alone.
        let other = if function == Function::Tan { Function::Sqrt } else { Function::Tan };
        assert!(!inherited.formulas.iter().any(|formula| is_identity(other, formula)), "{name}");
    }
}

#[test]
fn formulas_reach_farther_than_half_a_unit() {
    let layout = Format::F32.float().unwrap();
    for (name, function, of) in all() {
        let x = if name == "acosh" { 1.7 } else { 0.7 };
        let operand = [Reach::exactly(Interval { lo: x, hi: x * (1.0 + 1e-7) })];
        let Some(Reach::Given(ValueBounds { exact, radius, .. })) =
            inherited(function, &of, &operand, layout, Some(0.5))
        else {
            panic!("{name}: nothing is known");
        };
        assert!(
            radius > 2f64.powi(-25) * exact.abs().lo.min(1.0) && radius < 0.01 * exact.abs().hi,
            "{name} {radius:e}"
        );
    }
}

#[test]
fn nothing_is_known_beyond_what_steps_are_defined_on() {
    let layout = Format::F32.float().unwrap();
    for (name, function, of) in all() {
        let x = match name {
            "asin" | "acos" | "atanh" | "tan" => 4.0,
            "acosh" => -1e10,
            "sinh" | "cosh" | "tanh" => 100.0,
            "asinh" => 1e20,
            "sqrt" => -1.0,
            _ => continue,
        };
        let operand = [Reach::exactly(Interval { lo: x, hi: x + x.abs() * 1e-7 })];
        assert_eq!(
            inherited(function, &of, &operand, layout, None),
            Some(Reach::Open),
            "{name}: {of}"
        );
    }
}
