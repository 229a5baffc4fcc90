use std::collections::BTreeSet;

use rspirv::dr::{Function, Instruction};
use rspirv::spirv::GlslStd450Op;

use super::*;
use crate::glsl::{instructions, is};
use crate::load::load;
use crate::op::OPS;
use crate::plan::{IMAGE_BINDING, Variant};

/// Every kernel of every format at every width, under these controls, one plan a format and front end (image kernels:
/// one a kernel).
fn plans(controls: &str, vias: &[Via]) -> Vec<Plan> {
    let controls: Controls = controls.parse().unwrap();
    let mut plans = Vec::new();
    for (via, format) in vias.iter().flat_map(|via| Format::ALL.map(|format| (*via, format))) {
        let kernels: Vec<(Kernel, u32)> = OPS
            .iter()
            .filter_map(|op| Kernel::plain(format, op).ok())
            .filter(|kernel| via == Via::Spirv || kernel.op.glsl.is_some())
            .flat_map(|kernel| (1..=4).map(move |width| Kernel { controls, width, via, ..kernel }))
            .filter(|kernel| kernel.width == 1 || kernel.op.is_componentwise())
            .map(|kernel| (kernel, 70))
            .collect();
        let together = if format.channels().is_empty() { kernels.len().max(1) } else { 1 };
        plans.extend(
            kernels.chunks(together).map(|kernels| Plan::new(kernels, true, Variant { shift: 2, reversed: true })),
        );
    }
    plans
}

const DIRECT: &[Via] = &[Via::Spirv];
const BOTH: &[Via] = &[Via::Spirv, Via::Glsl];

fn plan_of(id: &str) -> Plan {
    Plan::new(&[(id.parse().unwrap(), 70)], false, Variant::default())
}

fn built(plan: &Plan) -> Module {
    load(&build(plan).unwrap()).unwrap()
}

fn instructions_of(module: &Module) -> impl Iterator<Item = &Instruction> {
    module.functions.iter().flat_map(Function::all_inst_iter)
}

fn operands(insts: &[Instruction]) -> Vec<String> {
    insts.iter().map(|inst| inst.operands.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")).collect()
}

/// The instructions of the block that bears this name, and of those up to the merge block.
fn body<'a>(module: &'a Module, name: &str) -> Vec<&'a Instruction> {
    let named = |inst: &&Instruction| inst.operands[1] == Operand::LiteralString(name.to_owned());
    let label = module.debug_names.iter().find(named).unwrap().operands[0].unwrap_id_ref();
    let blocks = &module.functions[0].blocks;
    let first = blocks.iter().position(|block| block.label_id() == Some(label)).unwrap();
    let Operand::IdRef(merge) = blocks[first - 1].instructions[blocks[first - 1].instructions.len() - 2].operands[0]
    else {
        panic!("{name} has no selection merge before it");
    };
    let inside = blocks[first..].iter().take_while(|block| block.label_id() != Some(merge));
    inside.flat_map(|block| &block.instructions).collect()
}

#[test]
fn every_operation_is_asked_by_the_instructions_of_its_row() {
    for plan in plans("", DIRECT) {
        let module = built(&plan);
        for placed in &plan.placed {
            let body = body(&module, &placed.kernel.label());
            for inst in instructions(placed.kernel.op.code) {
                let found = body.iter().filter(|found| is(found, inst)).count();
                assert!(found > 0, "{}: no {inst}", placed.kernel);
            }
        }
    }
}

#[test]
fn kernels_of_the_same_operands_share_load_and_store() {
    let wanted = ["f32.fadd", "f32.fmul", "f32.phi", "f32.fdiv", "f32.ford_equal"].map(|id| {
        let kernel: Kernel = id.parse().unwrap();
        crate::plan::Wanted { kernel, slots: 70, operands: kernel.params().len() }
    });
    let plan = Plan::sharing(&wanted, true, Variant::default());
    assert_eq!(plan.groups().map(|group| group.placed.len()).collect::<Vec<_>>(), [2, 1, 1, 1]);
    assert_eq!(plan.rows, 5);
    let module = built(&plan);
    let count = |op| instructions_of(&module).filter(|inst| inst.class.opcode == op).count();
    // One store a group; fadd and fmul load their operands once.
    assert_eq!((count(Op::Store), count(Op::Switch)), (4, 1));
    for placed in &plan.placed {
        let inst = instructions(placed.kernel.op.code)[0];
        assert!(instructions_of(&module).any(|found| is(found, inst)), "{}", placed.kernel);
    }
}

#[test]
fn every_kernel_is_guarded_by_its_slots() {
    for plan in plans("", DIRECT) {
        let module = built(&plan);
        let guards: Vec<&Instruction> =
            instructions_of(&module).filter(|inst| inst.class.opcode == Op::ULessThan).collect();
        assert_eq!(guards.len(), plan.placed.len());
        let constant = |id: &Operand| {
            let globals = &module.types_global_values;
            globals.iter().find(|inst| inst.result_id == id.id_ref_any()).unwrap().operands[0].clone()
        };
        let slot = instructions_of(&module).find(|inst| inst.class.opcode == Op::ISub).unwrap();
        assert_eq!(constant(&slot.operands[1]), Operand::LiteralBit32(2 * GROUP));
        for guard in guards {
            assert_eq!(guard.operands[0].id_ref_any(), slot.result_id);
            assert_eq!(constant(&guard.operands[1]), Operand::LiteralBit32(70));
        }
    }
}

#[test]
fn execution_modes_are_exactly_those_asked_for() {
    for (controls, modes, capabilities) in [
        ("", vec![], vec![]),
        ("ftz16", vec!["DenormFlushToZero 16"], vec!["DenormFlushToZero"]),
        ("dp16,ftz32", vec!["DenormFlushToZero 32", "DenormPreserve 16"], vec!["DenormFlushToZero", "DenormPreserve"]),
        (
            "szin32,szin64",
            vec!["SignedZeroInfNanPreserve 32", "SignedZeroInfNanPreserve 64"],
            vec!["SignedZeroInfNanPreserve"],
        ),
        ("rte16,rtz64", vec!["RoundingModeRTE 16", "RoundingModeRTZ 64"], vec!["RoundingModeRTE", "RoundingModeRTZ"]),
        ("nocontract", vec![], vec![]),
    ] {
        for plan in plans(controls, BOTH) {
            let module = built(&plan);
            let main = module.entry_points[0].operands[1].to_string();
            let mut expected = vec![format!("{main} LocalSize {GROUP} 1 1")];
            expected.extend(modes.iter().map(|mode| format!("{main} {mode}")));
            assert_eq!(operands(&module.execution_modes), expected);
            let extensions = operands(&module.extensions);
            let float_controls = extensions.iter().filter(|name| name.contains("SPV_KHR_float_controls")).count();
            assert_eq!(float_controls, usize::from(!modes.is_empty()));
            let declared = operands(&module.capabilities);
            for name in [
                "DenormPreserve",
                "DenormFlushToZero",
                "SignedZeroInfNanPreserve",
                "RoundingModeRTE",
                "RoundingModeRTZ",
            ] {
                let times = declared.iter().filter(|capability| *capability == name).count();
                assert_eq!(times, usize::from(capabilities.contains(&name)), "{controls}: {name}");
            }
        }
    }
}

#[test]
fn fast_math_default_is_none_for_every_float_type() {
    for plan in plans("fastmath0", BOTH) {
        let module = built(&plan);
        let globals = &module.types_global_values;
        let floats: Vec<u32> = globals
            .iter()
            .filter(|inst| inst.class.opcode == Op::TypeFloat)
            .filter_map(|inst| inst.result_id)
            .collect();
        let modes: Vec<&Instruction> =
            module.execution_modes.iter().filter(|inst| inst.class.opcode == Op::ExecutionModeId).collect();
        let named: Vec<u32> = modes.iter().map(|inst| inst.operands[2].unwrap_id_ref()).collect();
        assert_eq!(named, floats);
        for mode in modes {
            assert_eq!(mode.operands[1], Operand::ExecutionMode(ExecutionMode::FPFastMathDefault));
            let flags = globals.iter().find(|inst| inst.result_id == mode.operands[3].id_ref_any()).unwrap();
            assert_eq!(flags.operands, [Operand::LiteralBit32(0)]);
        }
        assert!(operands(&module.capabilities).contains(&"FloatControls2".to_owned()));
    }
}

#[test]
fn no_contraction_decorates_every_arithmetic_instruction_and_nothing_else() {
    let arithmetic = [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FNegate];
    let packing = [GlslStd450Op::PackHalf2x16 as u32, GlslStd450Op::UnpackHalf2x16 as u32];
    for controls in ["", "nocontract"] {
        for plan in plans(controls, BOTH) {
            let module = built(&plan);
            let decorated: BTreeSet<u32> = module
                .annotations
                .iter()
                .filter(|inst| inst.operands[1] == Operand::Decoration(Decoration::NoContraction))
                .map(|inst| inst.operands[0].unwrap_id_ref())
                .collect();
            let expected: BTreeSet<u32> = instructions_of(&module)
                .filter(|inst| match (inst.class.opcode, inst.operands.get(1)) {
                    (Op::ExtInst, Some(Operand::LiteralExtInstInteger(number))) => !packing.contains(number),
                    (op, _) => arithmetic.contains(&op),
                })
                .filter_map(|inst| inst.result_id)
                .collect();
            assert_eq!(decorated, if controls.is_empty() { BTreeSet::new() } else { expected });
        }
    }
}

#[test]
fn buffers_have_the_bindings_of_the_plan_and_operands_are_read_only() {
    for plan in plans("", DIRECT) {
        let module = built(&plan);
        let decorated = operands(&module.annotations);
        for buffer in &plan.buffers {
            let named = |inst: &&Instruction| inst.operands[1] == Operand::LiteralString(buffer.name());
            let id = module.debug_names.iter().find(named).unwrap().operands[0].to_string();
            assert!(decorated.contains(&format!("{id} DescriptorSet 0")));
            assert!(decorated.contains(&format!("{id} Binding {}", buffer.binding())));
            let read_only = decorated.contains(&format!("{id} NonWritable"));
            assert_eq!(read_only, buffer.direction == crate::plan::Direction::In, "{}", buffer.name());
        }
        let image = decorated.iter().filter(|text| text.ends_with(&format!(" Binding {IMAGE_BINDING}"))).count();
        assert_eq!(image, usize::from(plan.image.is_some()));
    }
}

#[test]
fn halves_travel_in_words_without_16_bit_storage() {
    let kernel: Kernel = "f16.fadd".parse().unwrap();
    for storage16 in [false, true] {
        let module = built(&Plan::new(&[(kernel, 1)], storage16, Variant::default()));
        let declared = operands(&module.capabilities);
        assert_eq!(declared.contains(&"StorageBuffer16BitAccess".to_owned()), storage16);
        assert!(declared.contains(&"Float16".to_owned()));
        let bitcasts = instructions_of(&module).filter(|inst| inst.class.opcode == Op::Bitcast).count();
        assert_eq!(bitcasts, if storage16 { 0 } else { 3 });
    }
}

#[test]
fn the_words_are_spirv_1_3_and_the_same_every_time() {
    for id in
        ["f32.fadd", "f16.inverse_sqrt:controls=fastmath0", "f32.fmul:via=glsl", "b10g11r11.load:route=storage_image"]
    {
        let words = build(&plan_of(id)).unwrap();
        assert_eq!(words[1], 0x0001_0300);
        assert_eq!(words, build(&plan_of(id)).unwrap());
        // 13: shaderc, which says so itself.
        assert_eq!(words[2] >> 16, if id.ends_with("glsl") { 13 } else { 0 }, "{id}");
    }
}

#[test]
fn kernels_that_differ_in_controls_do_not_share_a_module() {
    let kernels = ["f32.fadd", "f32.fadd:controls=ftz32"].map(|id| (id.parse().unwrap(), 1));
    let error = build(&Plan::new(&kernels, true, Variant::default())).unwrap_err();
    assert!(matches!(error, BuildError::Mixed { .. }), "{error}");
    assert!(build(&Plan::new(&[], true, Variant::default())).is_ok());
}
