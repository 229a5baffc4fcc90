//! Which arithmetic faults and modes a module gets.

use super::process::fail;
use super::state::{state, strikes};
use crate::arithmetic::{Arithmetic, Emulation, Mode, emulate, rewrite};
use crate::kernels;
use crate::statement::Kind;
use crate::trigger::Module;

/// The module that these words are, and what its words are to be instead.
pub(super) fn module(words: &[u32]) -> (Module, impl FnOnce(&Module) -> Option<Vec<u32>>) {
    let (module, number) = state().module(kernels::of(words));
    (module, move |module: &Module| rewritten(words, module, number))
}

fn rewritten(words: &[u32], module: &Module, number: u64) -> Option<Vec<u32>> {
    let statements = || state().armed.iter();
    let faults: Vec<Arithmetic> = statements()
        .filter_map(|armed| match &armed.statement.kind {
            Kind::Arithmetic(fault) if strikes(armed, &[module]) => Some(fault.clone()),
            _ => None,
        })
        .collect();
    let modes: Vec<Mode> = statements()
        .filter_map(|armed| match armed.statement.kind {
            Kind::Claim { control, honoured } => Some(Mode { control, honoured }),
            _ => None,
        })
        .collect();
    let emulations: Vec<Emulation> = statements()
        .filter_map(|armed| match armed.statement.kind {
            Kind::Emulate(emulation) => Some(emulation),
            _ => None,
        })
        .collect();
    if faults.is_empty() && modes.is_empty() && emulations.is_empty() {
        return None;
    }
    let what =
        || if module.kernels.is_empty() { "a module".to_owned() } else { module.kernels.join(" ") };
    let rewritten = rewrite(words, &faults, &modes, number)
        .and_then(|words| emulate(&words, &emulations))
        .unwrap_or_else(|error| fail(&format!("{}: {error}", what())));
    Some(rewritten)
}
