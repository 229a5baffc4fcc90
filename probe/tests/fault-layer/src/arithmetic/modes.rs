//! Execution modes: which a module asks for, and taking out those that its driver does not know.

use std::collections::BTreeSet;

use fpprobe_spirv::Control;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Capability, Decoration, ExecutionMode};

use super::Mode;

/// The modes of a kind: execution mode, the capability it needs, and the extension that has it.
const KINDS: [(ExecutionMode, Capability, &str); 6] = [
    (ExecutionMode::DenormFlushToZero, Capability::DenormFlushToZero, "SPV_KHR_float_controls"),
    (ExecutionMode::DenormPreserve, Capability::DenormPreserve, "SPV_KHR_float_controls"),
    (
        ExecutionMode::SignedZeroInfNanPreserve,
        Capability::SignedZeroInfNanPreserve,
        "SPV_KHR_float_controls",
    ),
    (ExecutionMode::RoundingModeRTE, Capability::RoundingModeRTE, "SPV_KHR_float_controls"),
    (ExecutionMode::RoundingModeRTZ, Capability::RoundingModeRTZ, "SPV_KHR_float_controls"),
    (ExecutionMode::FPFastMathDefault, Capability::FloatControls2, "SPV_KHR_float_controls2"),
];

/// The controls that a module asks for.
pub fn selected(module: &Module) -> BTreeSet<Control> {
    let contracted = |inst: &Instruction| {
        inst.operands.contains(&Operand::Decoration(Decoration::NoContraction))
    };
    let decorated = module.annotations.iter().any(contracted).then_some(Control::NoContract);
    module.execution_modes.iter().filter_map(control).chain(decorated).collect()
}

/// The control that an `OpExecutionMode` or `OpExecutionModeId` asks for.
fn control(inst: &Instruction) -> Option<Control> {
    let (_, Operand::ExecutionMode(mode), width) =
        (&inst.operands.first()?, inst.operands.get(1)?, inst.operands.get(2))
    else {
        return None;
    };
    match (mode, width) {
        (ExecutionMode::DenormFlushToZero, Some(Operand::LiteralBit32(width))) => {
            Some(Control::Ftz(*width))
        }
        (ExecutionMode::DenormPreserve, Some(Operand::LiteralBit32(width))) => {
            Some(Control::Dp(*width))
        }
        (ExecutionMode::SignedZeroInfNanPreserve, Some(Operand::LiteralBit32(width))) => {
            Some(Control::Szin(*width))
        }
        (ExecutionMode::RoundingModeRTE, Some(Operand::LiteralBit32(width))) => {
            Some(Control::Rte(*width))
        }
        (ExecutionMode::RoundingModeRTZ, Some(Operand::LiteralBit32(width))) => {
            Some(Control::Rtz(*width))
        }
        (ExecutionMode::FPFastMathDefault, _) => Some(Control::FastMath0),
        _ => None,
    }
}

/// Takes these modes out of a module, with capabilities and extensions that nothing else needs.
/// Gives whether any was there.
pub fn strip(module: &mut Module, modes: &[Mode]) -> bool {
    let before = module.execution_modes.len();
    module.execution_modes.retain(|inst| {
        control(inst).is_none_or(|own| modes.iter().all(|mode| mode.control != own))
    });
    if module.execution_modes.len() == before {
        return false;
    }
    let left: Vec<ExecutionMode> = module
        .execution_modes
        .iter()
        .filter_map(|inst| match inst.operands.get(1) {
            Some(Operand::ExecutionMode(mode)) => Some(*mode),
            _ => None,
        })
        .collect();
    let needed = |has: &dyn Fn(Capability, &str) -> bool| {
        KINDS
            .iter()
            .any(|(mode, capability, extension)| left.contains(mode) && has(*capability, extension))
    };
    let known = |has: &dyn Fn(Capability, &str) -> bool| {
        KINDS.iter().any(|(_, capability, extension)| has(*capability, extension))
    };
    module.capabilities.retain(|inst| {
        let is = |capability, _: &str| inst.operands == [Operand::Capability(capability)];
        !known(&is) || needed(&is)
    });
    module.extensions.retain(|inst| {
        let is =
            |_, extension: &str| inst.operands == [Operand::LiteralString(extension.to_owned())];
        !known(&is) || needed(&is)
    });
    true
}
