//! The GLSL route: the same questions, put to shaderc in its own language.
//!
//! Layout, bindings and guards are those of the module built directly. What the compiler made is
//! read back, each kernel's function is searched for the instruction that its row names, and the
//! controls are added as anywhere else.

mod source;

use std::sync::OnceLock;

use rspirv::dr::{Function, Module, Operand};
use rspirv::spirv::{GlslStd450Op, Op, Word};
use shaderc::{
    CompileOptions, Compiler, EnvVersion, OptimizationLevel, ShaderKind, SpirvVersion, TargetEnv,
};

use crate::build_error::BuildError;
use crate::controls::Controls;
use crate::kernel::Kernel;
use crate::load::load;
use crate::op::Inst;
use crate::plan::Plan;
use crate::route::{Route, Stage, Via};

/// Compiles the kernels of a plan. The module carries no controls yet.
pub(crate) fn compile(plan: &Plan) -> Result<Module, BuildError> {
    let module = load(&words(&source::source(plan)?)?)?;
    check(plan, &module)?;
    Ok(module)
}

/// The shader of a plan as text, under these comments.
pub(crate) fn text(plan: &Plan, comments: &str) -> Result<String, BuildError> {
    let source = source::source(plan)?;
    let (version, rest) = source.split_once('\n').unwrap_or((&source, ""));
    Ok(format!("{version}\n{comments}{rest}"))
}

/// The kernel that GLSL spells in the place of another: the same operation, without the controls,
/// which only the module declares.
pub(crate) fn spelled_kernel(kernel: &Kernel) -> Result<Kernel, BuildError> {
    let spelled = Kernel { via: Via::Glsl, controls: Controls::NONE, ..*kernel };
    let is_spelled = kernel.route == Route::Buffer && kernel.stage == Stage::Compute;
    let spelled = spelled.checked().ok().filter(|_| is_spelled);
    spelled.ok_or_else(|| BuildError::Unspoken { kernel: kernel.to_string() })
}

/// Words that shaderc makes of this shader, for Vulkan 1.1, without any optimisation.
fn words(source: &str) -> Result<Vec<u32>, BuildError> {
    // glslang parses its built-in declarations anew whenever the last compiler has gone, so this
    // one stays.
    static COMPILER: OnceLock<Option<Compiler>> = OnceLock::new();
    let failed = |error: shaderc::Error| BuildError::Compiler { message: error.to_string() };
    let compiler = COMPILER.get_or_init(|| Compiler::new().ok()).as_ref();
    let compiler = compiler
        .ok_or_else(|| BuildError::Compiler { message: "shaderc does not start".to_owned() })?;
    let mut options = CompileOptions::new().map_err(failed)?;
    options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_1 as u32);
    options.set_target_spirv(SpirvVersion::V1_3);
    options.set_optimization_level(OptimizationLevel::Zero);
    let made = compiler.compile_into_spirv(
        source,
        ShaderKind::Compute,
        "kernels.comp",
        "main",
        Some(&options),
    );
    Ok(made.map_err(failed)?.as_binary().to_vec())
}

/// Refuses a module in which a kernel is no longer requested by the instruction of its row.
fn check(plan: &Plan, module: &Module) -> Result<(), BuildError> {
    for (index, placed) in plan.placed.iter().enumerate() {
        let kernel = &placed.kernel;
        let name = source::function_name(index, kernel);
        let function = named_function(module, &name).ok_or_else(|| BuildError::Lost {
            kernel: kernel.to_string(),
            instruction: format!("function {name}"),
        })?;
        for inst in kernel.instructions() {
            let is_it = |found| is(found, inst) || is(found, older(inst));
            if !function.all_inst_iter().any(is_it) {
                return Err(BuildError::Lost {
                    kernel: kernel.to_string(),
                    instruction: inst.to_string(),
                });
            }
        }
    }
    Ok(())
}

/// The instruction that glslang 12 makes where glslang 15 makes this one: `modf` has a parameter
/// for the whole part, and so has its older instruction.
fn older(inst: Inst) -> Inst {
    match inst {
        Inst::Ext(GlslStd450Op::ModfStruct) => Inst::Ext(GlslStd450Op::Modf),
        other => other,
    }
}

/// glslang names a function by its signature: `name(u1;`.
fn named_function<'a>(module: &'a Module, name: &str) -> Option<&'a Function> {
    let id: Word = module.debug_names.iter().find_map(|inst| match inst.operands.as_slice() {
        [Operand::IdRef(id), Operand::LiteralString(text)]
            if text.split('(').next() == Some(name) =>
        {
            Some(*id)
        }
        _ => None,
    })?;
    module.functions.iter().find(|function| function.def_id() == Some(id))
}

/// Whether this is an instance of the instruction.
pub(crate) fn is(found: &rspirv::dr::Instruction, inst: Inst) -> bool {
    match (inst, found.operands.as_slice()) {
        (Inst::Core(op) | Inst::Saturated(op), _) => found.class.opcode == op,
        (Inst::Ext(op), [_, Operand::LiteralExtInstInteger(number), ..]) => {
            found.class.opcode == Op::ExtInst && *number == op as Word
        }
        (Inst::Ext(_), _) => false,
    }
}

#[cfg(test)]
mod tests;
