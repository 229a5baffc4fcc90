//! From what was observed to the value of a trait.

use fpprobe_profiles::judge::Observations;
use fpprobe_spirv::{Kernel, Op, Route};

use super::scope_values::ScopeValues;
use super::variants::Variation;
use super::{TraitDefinition, TraitLook, matrices, strict};
use crate::model::DeviceTrait;

/// The value of a trait on a device.
pub(super) fn value(definition: TraitDefinition, observations: &Observations<'_>) -> DeviceTrait {
    let (run_time, constants) = match &definition.row.look {
        TraitLook::Agreement(Variation::Constants) => {
            (None, Variation::Constants.compared(observations).finish())
        }
        TraitLook::Agreement(variation) => (variation.compared(observations).finish(), None),
        TraitLook::StrictMath => (strict::judged(observations).finish(), None),
        TraitLook::Matrix(aspect) => {
            (matrices::shown(*aspect, definition.format, observations).finish(), None)
        }
        look => {
            let kernels = definition.kernels();
            let of_scope = |is_folded: bool| {
                let mut found = ScopeValues::default();
                let in_scope = |kernel: &Kernel| match look {
                    // Of variants the lanes that differ are kept, of which the largest error says
                    // nothing.
                    TraitLook::Error(..) if !is_folded => vec![*kernel],
                    _ => in_scope(*kernel, is_folded, observations),
                };
                for kernel in kernels.iter().flat_map(in_scope) {
                    found.add(look, kernel, observations);
                }
                found.finish()
            };
            (of_scope(false), of_scope(true))
        }
    };
    DeviceTrait { id: definition.id(), run_time, constants }
}

impl TraitLook {
    /// Ids of the kernels that it looks at, without controls.
    pub(super) fn kernels(&'static self) -> &'static [&'static str] {
        match self {
            TraitLook::Aspect(_, kernels) => kernels,
            TraitLook::Bits(kernel, ..)
            | TraitLook::Number(kernel, _)
            | TraitLook::Component(kernel, _)
            | TraitLook::Lanes(kernel, ..)
            | TraitLook::Error(kernel, ..)
            | TraitLook::SubgroupOrder(kernel)
            | TraitLook::DerivativeRows(kernel)
            | TraitLook::NanBits(kernel) => std::slice::from_ref(kernel),
            TraitLook::Agreement(_) | TraitLook::StrictMath | TraitLook::Matrix(_) => &[],
        }
    }
}

/// The kernels that an id stands for: itself, or, where texels come and go by several paths, that
/// of each.
pub(super) fn parsed(id: &str) -> Vec<Kernel> {
    if let Ok(kernel) = id.parse() {
        return vec![kernel];
    }
    let routes = id.split_once('.').and_then(|(format, op)| {
        let (format, op) = (format.parse().ok()?, Op::find(op)?);
        Some(op.code.routes(format))
    });
    routes
        .unwrap_or_default()
        .iter()
        .filter_map(|route| format!("{id}:route={route}").parse().ok())
        .collect()
}

/// The kernel and its variants that do not give the same; or those of its constants.
fn in_scope(kernel: Kernel, is_folded: bool, observations: &Observations<'_>) -> Vec<Kernel> {
    if is_folded {
        let routes = [Route::Spec, Route::Literal];
        return routes
            .into_iter()
            .filter_map(|route| Kernel { route, ..kernel }.checked().ok())
            .collect();
    }
    let pairs = observations.pairs().iter();
    let others = pairs.filter(|pair| pair.plain.kernel == kernel && !pair.differing.is_empty());
    let others = others.map(|pair| pair.other.kernel).filter(|other| !other.route.is_folded());
    std::iter::once(kernel).chain(others).collect()
}
