use std::collections::BTreeSet;

use rspirv::dr::{Function, Instruction};
use rspirv::spirv::{GlslStd450Op, LoopControl};

use super::*;
use crate::glsl::is;
use crate::load::load;
use crate::op::OPS;
use crate::plan::{GROUP, LayoutRequest, Variant};
use crate::route::{Route, Stage};

/// Every kernel of every format at every width, under these controls, one plan a format and front
/// end (image kernels: one a kernel, and those of several formats side by side).
fn plans(controls: &str, vias: &[Via]) -> Vec<Plan> {
    let controls: Controls = controls.parse().unwrap();
    let mut plans = Vec::new();
    for (via, format) in vias.iter().flat_map(|via| Format::ALL.map(|format| (*via, format))) {
        let kernels: Vec<(Kernel, u32)> = crate::catalogue::plain()
            .into_iter()
            .filter(|kernel| kernel.format == format && !kernel.route.is_command())
            .flat_map(|kernel| {
                kernel.op.widths().map(move |width| Kernel { controls, width, via, ..kernel })
            })
            .filter(|kernel| via == Via::Spirv || kernel.checked().is_ok())
            .map(|kernel| (kernel, 70))
            .collect();
        // What takes constants alone has modules of its own.
        let (folded, kernels): (Vec<_>, Vec<_>) =
            kernels.into_iter().partition(|(kernel, _)| kernel.route.is_folded());
        plans.extend(
            folded.iter().map(|(kernel, _)| Plan::new(&[(*kernel, 3)], true, Variant::default())),
        );
        let kernels: Vec<Kernel> = kernels.into_iter().map(|(kernel, _)| kernel).collect();
        let shared = if format.channels().is_empty() {
            crate::catalogue::sharing(kernels)
        } else {
            kernels.into_iter().map(|kernel| vec![kernel]).collect()
        };
        plans.extend(shared.into_iter().map(|kernels| {
            let kernels: Vec<(Kernel, u32)> =
                kernels.into_iter().map(|kernel| (kernel, 70)).collect();
            Plan::new(&kernels, true, Variant { shift: 2, reversed: true, ..Variant::default() })
        }));
    }
    let sides = crate::catalogue::side_by_side().into_iter();
    plans.extend(sides.map(|kernels| {
        let kernels =
            (70..).zip(kernels).map(|(slots, kernel)| (Kernel { controls, ..kernel }, slots));
        Plan::new(
            &kernels.collect::<Vec<_>>(),
            true,
            Variant { shift: 2, reversed: true, ..Variant::default() },
        )
    }));
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
    insts
        .iter()
        .map(|inst| inst.operands.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        .collect()
}

/// The instructions of a kernel: from the block that bears its name to the block in which an
/// enclosing construct merges, or another kernel begins.
fn body<'a>(module: &'a Module, plan: &Plan, name: &str) -> Vec<&'a Instruction> {
    let labelled = |name: &str| {
        let named =
            |inst: &&Instruction| inst.operands[1] == Operand::LiteralString(name.to_owned());
        module.debug_names.iter().find(named).unwrap().operands[0].unwrap_id_ref()
    };
    let blocks = &module.functions[0].blocks;
    let label = labelled(name);
    let first = blocks.iter().position(|block| block.label_id() == Some(label)).unwrap();
    let merge = |inst: &&Instruction| inst.class.opcode == Op::SelectionMerge;
    let around = blocks[..first].iter().flat_map(|block| &block.instructions).filter(merge);
    let mut ends: Vec<u32> = around.map(|inst| inst.operands[0].unwrap_id_ref()).collect();
    ends.extend(
        plan.placed
            .iter()
            .map(|placed| labelled(&placed.kernel.label()))
            .filter(|other| *other != label),
    );
    let inside =
        blocks[first..].iter().take_while(|block| !ends.contains(&block.label_id().unwrap()));
    inside.flat_map(|block| &block.instructions).collect()
}

/// Plans of all kernels of each other route, at the first of their widths, with these slots'
/// operands.
fn other_plans() -> Vec<Plan> {
    let mut plans = Vec::new();
    for (route, format) in
        Route::OTHERS.into_iter().flat_map(|route| Format::ALL.map(|format| (route, format)))
    {
        let plain = OPS.iter().filter_map(|op| Kernel::plain(format, op).ok());
        let kernels = plain.filter_map(|kernel| Kernel { route, ..kernel }.checked().ok());
        let requests: Vec<LayoutRequest> =
            kernels.enumerate().map(|(operands, kernel)| request(kernel, 5, operands)).collect();
        plans.push(Plan::sharing(
            &requests,
            true,
            Variant { shift: 2, reversed: true, ..Variant::default() },
        ));
    }
    plans
}

/// A kernel with the first of its boundary cases.
fn request(kernel: Kernel, slots: u32, operands: usize) -> LayoutRequest {
    let cases = crate::cases::boundary(&kernel);
    let values = cases.iter().take(slots as usize).flatten().copied().collect();
    LayoutRequest { kernel, slots, operands, values }
}

fn one(id: &str, slots: u32) -> Plan {
    Plan::sharing(&[request(id.parse().unwrap(), slots, 0)], true, Variant::default())
}

#[test]
fn every_operation_is_asked_by_the_instructions_of_its_row() {
    for plan in plans("", DIRECT).into_iter().chain(other_plans()) {
        let module = built(&plan);
        for placed in &plan.placed {
            // What is loaded and stored by all is not in the code of a kernel.
            if placed.kernel.op.code == crate::op::Code::LoadStore {
                continue;
            }
            let body = body(&module, &plan, &placed.kernel.label());
            for inst in placed.kernel.instructions() {
                let found = body.iter().filter(|found| is(found, inst)).count();
                let expected =
                    if placed.kernel.route.is_folded() { placed.slots as usize } else { 1 };
                assert!(found >= expected, "{}: {found} times {inst}", placed.kernel);
            }
        }
    }
}

#[test]
fn operands_and_results_are_got_at_in_one_place_for_all_rows() {
    let ids =
        ["f32.fadd", "f32.fmul", "f32.phi", "f32.fdiv", "f32.ford_equal", "f32.fma", "f32.frexp"];
    let kernels = ids.map(|id| (id.parse().unwrap(), 70));
    let module = built(&Plan::new(&kernels, true, Variant::default()));
    let count = |op| instructions_of(&module).filter(|inst| inst.class.opcode == op).count();
    // Two built-ins; x, y, z as floats, and x as a word for the condition of phi. A float, and by a
    // loop a word and frexp's exponent.
    assert_eq!((count(Op::Load), count(Op::Store)), (2 + 4, 2));
    assert_eq!((count(Op::LoopMerge), count(Op::Switch)), (1, 1));
}

#[test]
fn loops_move_the_words_of_what_is_long() {
    let wide = ["f32.fadd:width=3", "f32.ford_equal:width=3", "f32.convert_s_to_f:width=3"];
    let matrices =
        ["f64.transpose:width=4", "f64.matrix_times_matrix:width=4", "f64.determinant:width=4"];
    // The loops carry few words; many go through an array, which has each at one place.
    for (ids, loads, stores) in [(wide, 1, 1), (matrices, 1 + 2 * 32 + 1, 1 + 32 + 1)] {
        let module =
            built(&Plan::new(&ids.map(|id| (id.parse().unwrap(), 70)), true, Variant::default()));
        let count = |op| instructions_of(&module).filter(|inst| inst.class.opcode == op).count();
        assert_eq!(count(Op::LoopMerge), 2);
        let dont_unroll =
            |inst: &Instruction| inst.operands[2] == Operand::LoopControl(LoopControl::DONT_UNROLL);
        assert!(
            instructions_of(&module)
                .filter(|inst| inst.class.opcode == Op::LoopMerge)
                .all(dont_unroll)
        );
        let is_buffer = |inst: &&Instruction| {
            let globals = &module.types_global_values;
            let pointer =
                globals.iter().find(|global| global.result_id == inst.result_type).unwrap();
            pointer.operands[0] == Operand::StorageClass(StorageClass::StorageBuffer)
        };
        let chains = instructions_of(&module).filter(|inst| inst.class.opcode == Op::AccessChain);
        // The operands and the result, each at one place of a buffer.
        assert_eq!(chains.filter(is_buffer).count(), 2);
        assert_eq!((count(Op::Load), count(Op::Store)), (2 + loads, stores), "{ids:?}");
    }
}

#[test]
fn slots_are_guarded_by_those_of_the_row() {
    let of = |last: u32| {
        let kernels = ["f32.fadd", "f32.fmul", "f32.sqrt"].map(|id| id.parse().unwrap());
        let sized: Vec<_> = kernels.into_iter().zip([70, 70, last]).collect();
        built(&Plan::new(&sized, true, Variant { shift: 2, group: 96, ..Variant::default() }))
    };
    for last in [70, 3] {
        let module = of(last);
        let constant = |operand: &Operand| {
            let globals = &module.types_global_values;
            let found = globals.iter().find(|inst| inst.result_id == operand.id_ref_any());
            found.map(|inst| inst.operands[0].clone())
        };
        let slot = instructions_of(&module).find(|inst| inst.class.opcode == Op::ISub).unwrap();
        assert_eq!(constant(&slot.operands[1]), Some(Operand::LiteralBit32(2 * 96)));
        let guard =
            instructions_of(&module).find(|inst| inst.class.opcode == Op::ULessThan).unwrap();
        assert_eq!(guard.operands[0].id_ref_any(), slot.result_id);
        if last == 70 {
            assert_eq!(constant(&guard.operands[1]), Some(Operand::LiteralBit32(70)));
            continue;
        }
        let chosen = |inst: &&Instruction| inst.result_id == guard.operands[1].id_ref_any();
        let chosen = instructions_of(&module).find(chosen).unwrap();
        let of_rows = [&chosen.operands[2], &chosen.operands[1]].map(constant);
        assert_eq!(
            (chosen.class.opcode, of_rows),
            (Op::Select, [70, 3].map(|slots| Some(Operand::LiteralBit32(slots))))
        );
    }
}

#[test]
fn windows_are_blocks_in_the_memory_of_their_route() {
    for (id, class, count) in [
        ("f32.fadd:route=uniform", StorageClass::Uniform, 1023),
        ("f64.fma:route=push;width=4", StorageClass::PushConstant, 7),
    ] {
        let module = built(&one(id, 5));
        let globals = &module.types_global_values;
        let variable = globals.iter().find(|inst| {
            inst.operands.first() == Some(&Operand::StorageClass(class))
                && inst.class.opcode == Op::Variable
        });
        let name = variable.unwrap().result_id.unwrap();
        let decorated = operands(&module.annotations);
        let bound = decorated
            .contains(&format!("%{name} Binding {}", crate::plan::constant_block::UNIFORM_BINDING));
        assert_eq!(bound, class == StorageClass::Uniform, "{id}");
        // The results' array, where there is one, comes before.
        let array = globals.iter().rfind(|inst| inst.class.opcode == Op::TypeArray).unwrap();
        let length =
            globals.iter().find(|inst| inst.result_id == array.operands[1].id_ref_any()).unwrap();
        assert_eq!(length.operands, [Operand::LiteralBit32(count)]);
        assert!(operands(&module.execution_modes)[0].ends_with("LocalSize 1 1 1"), "{id}");
        let inputs =
            module.debug_names.iter().filter(|inst| inst.operands[1].to_string().contains("in_"));
        assert_eq!(inputs.count(), 0, "{id}");
    }
}

#[test]
fn folded_operations_stand_on_constants() {
    for (id, opcode) in
        [("f16.fsub:route=literal", Op::Constant), ("f64.fsub:route=spec", Op::SpecConstant)]
    {
        let plan = one(id, 20);
        let module = built(&plan);
        let globals = &module.types_global_values;
        let value = |operand: &Operand| {
            let found = globals.iter().find(|inst| inst.result_id == operand.id_ref_any()).unwrap();
            assert_eq!(found.class.opcode, opcode, "{id}");
            match found.operands[0] {
                Operand::LiteralBit32(bits) => (u64::from(bits), found.result_id.unwrap()),
                Operand::LiteralBit64(bits) => (bits, found.result_id.unwrap()),
                _ => panic!("{found:?}"),
            }
        };
        let differences: Vec<&Instruction> =
            instructions_of(&module).filter(|inst| inst.class.opcode == Op::FSub).collect();
        assert_eq!(differences.len(), 20);
        let specialised = plan.specialised();
        for (inst, case) in differences.iter().zip(plan.placed[0].values.chunks(2)) {
            for (component, (operand, bits)) in inst.operands.iter().zip(case).enumerate() {
                let (default, constant) = value(operand);
                if opcode == Op::Constant {
                    assert_eq!(default, *bits, "{id}");
                    continue;
                }
                let id_of = |inst: &&Instruction| inst.operands[0] == Operand::IdRef(constant);
                let Operand::LiteralBit32(number) =
                    module.annotations.iter().find(id_of).unwrap().operands[2]
                else {
                    panic!("no SpecId")
                };
                let constant = specialised[number as usize];
                assert_eq!((constant.component, constant.bits), (component, *bits));
                assert_ne!(default, *bits);
            }
        }
    }
}

#[test]
fn nothing_selects_among_folded_results() {
    let folded =
        || other_plans().into_iter().filter(|plan| plan.is_folded() && !plan.placed.is_empty());
    for plan in folded() {
        let module = built(&plan);
        let body = |placed: &crate::plan::PlacedKernel| {
            body(&module, &plan, &placed.kernel.label()).into_iter()
        };
        for placed in &plan.placed {
            let chooses = matches!(placed.kernel.op.function, crate::op::Function::Choose);
            let truth = placed.kernel.result().format == Format::Bool;
            let selects = body(placed).filter(|inst| inst.class.opcode == Op::Select).count();
            let expected = if truth { placed.slots * placed.kernel.result().width } else { 0 };
            assert!(
                chooses || selects == expected as usize,
                "{}: {selects} selections",
                placed.kernel
            );
            let masked = body(placed).filter(|inst| inst.class.opcode == Op::BitwiseAnd).count();
            let words: u32 = placed.kernel.results().into_iter().map(Shape::words).sum();
            assert_eq!(masked, (placed.slots * words) as usize, "{}", placed.kernel);
        }
    }
    // A case by itself is stored as it is.
    for id in ["f32.floor:route=literal", "f64.fma:route=spec;width=3", "f32.frexp:route=literal"] {
        let module = built(&one(id, 1));
        let bitwise = [Op::BitwiseAnd, Op::BitwiseOr, Op::Select, Op::Phi];
        let words =
            instructions_of(&module).filter(|inst| bitwise.contains(&inst.class.opcode)).count();
        assert!(words == 0 || id.starts_with("f64"), "{id}: {words}");
    }
}

#[test]
fn folded_vectors_and_truth_values_are_composites_of_constants() {
    let module = built(&one("f32.select:route=spec;width=2", 8));
    let count =
        |op| module.types_global_values.iter().filter(|inst| inst.class.opcode == op).count();
    assert_eq!(count(Op::SpecConstantComposite), 3 * 8);
    assert_eq!((count(Op::SpecConstantTrue), count(Op::SpecConstantFalse)), (2, 2));
    let module = built(&one("f32.transpose:route=literal;width=3", 2));
    let column = module
        .types_global_values
        .iter()
        .find(|inst| inst.class.opcode == Op::ConstantComposite)
        .unwrap();
    assert_eq!(column.operands.len(), 3);
}

#[test]
fn execution_modes_are_exactly_those_requested() {
    for (controls, modes, capabilities) in [
        ("", vec![], vec![]),
        ("ftz16", vec!["DenormFlushToZero 16"], vec!["DenormFlushToZero"]),
        (
            "dp16,ftz32",
            vec!["DenormFlushToZero 32", "DenormPreserve 16"],
            vec!["DenormFlushToZero", "DenormPreserve"],
        ),
        (
            "szin32,szin64",
            vec!["SignedZeroInfNanPreserve 32", "SignedZeroInfNanPreserve 64"],
            vec!["SignedZeroInfNanPreserve"],
        ),
        (
            "rte16,rtz64",
            vec!["RoundingModeRTE 16", "RoundingModeRTZ 64"],
            vec!["RoundingModeRTE", "RoundingModeRTZ"],
        ),
        ("nocontract", vec![], vec![]),
    ] {
        for plan in plans(controls, BOTH) {
            let module = built(&plan);
            let main = module.entry_points[0].operands[1].to_string();
            let own = match plan.shader() {
                Stage::Compute => Some(format!("{main} LocalSize {GROUP} 1 1")),
                Stage::Fragment => Some(format!("{main} OriginUpperLeft")),
                Stage::Vertex | Stage::Geometry => None,
            };
            let depth = plan
                .image()
                .filter(crate::plan::Image::is_depth_output)
                .map(|_| format!("{main} DepthReplacing"));
            let mut expected: Vec<String> = own.into_iter().chain(depth).collect();
            expected.extend(modes.iter().map(|mode| format!("{main} {mode}")));
            assert_eq!(operands(&module.execution_modes), expected);
            let extensions = operands(&module.extensions);
            let float_controls =
                extensions.iter().filter(|name| name.contains("SPV_KHR_float_controls")).count();
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
        let modes: Vec<&Instruction> = module
            .execution_modes
            .iter()
            .filter(|inst| inst.class.opcode == Op::ExecutionModeId)
            .collect();
        let named: Vec<u32> = modes.iter().map(|inst| inst.operands[2].unwrap_id_ref()).collect();
        assert_eq!(named, floats);
        for mode in modes {
            assert_eq!(mode.operands[1], Operand::ExecutionMode(ExecutionMode::FPFastMathDefault));
            let flags = globals
                .iter()
                .find(|inst| inst.result_id == mode.operands[3].id_ref_any())
                .unwrap();
            assert_eq!(flags.operands, [Operand::LiteralBit32(0)]);
        }
        assert!(operands(&module.capabilities).contains(&"FloatControls2".to_owned()));
    }
}

#[test]
fn no_contraction_decorates_every_arithmetic_instruction_and_nothing_else() {
    let arithmetic = [
        Op::FAdd,
        Op::FSub,
        Op::FMul,
        Op::FDiv,
        Op::FRem,
        Op::FMod,
        Op::FNegate,
        Op::Dot,
        Op::VectorTimesScalar,
        Op::MatrixTimesScalar,
        Op::MatrixTimesVector,
        Op::VectorTimesMatrix,
        Op::MatrixTimesMatrix,
        Op::OuterProduct,
    ];
    let packing = GlslStd450Op::PackSnorm4x8 as u32..=GlslStd450Op::UnpackDouble2x32 as u32;
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
                    (Op::ExtInst, Some(Operand::LiteralExtInstInteger(number))) => {
                        !packing.contains(number)
                    }
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
            let named =
                |inst: &&Instruction| inst.operands[1] == Operand::LiteralString(buffer.name());
            let id = module.debug_names.iter().find(named).unwrap().operands[0].to_string();
            assert!(decorated.contains(&format!("{id} DescriptorSet 0")));
            assert!(decorated.contains(&format!("{id} Binding {}", buffer.binding())));
            let read_only = decorated.contains(&format!("{id} NonWritable"));
            assert_eq!(
                read_only,
                buffer.direction == crate::plan::Direction::In,
                "{}",
                buffer.name()
            );
        }
        // Attachments and attributes are inputs and outputs.
        let bound = !plan.route().is_some_and(|route| route.is_drawn() || route == Route::Vertex);
        for image in plan.images() {
            let count = decorated
                .iter()
                .filter(|text| text.ends_with(&format!(" Binding {}", image.binding())))
                .count();
            assert_eq!(count, usize::from(bound), "{}", image.format);
        }
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
        let bitcasts =
            instructions_of(&module).filter(|inst| inst.class.opcode == Op::Bitcast).count();
        assert_eq!(bitcasts, if storage16 { 0 } else { 3 });
    }
}

#[test]
fn the_words_are_spirv_1_3_and_the_same_every_time() {
    for id in [
        "f32.fadd",
        "f16.inverse_sqrt:controls=fastmath0",
        "f32.fmul:via=glsl",
        "b10g11r11.load:route=storage_image",
        "f16.fma:route=spec;width=3",
    ] {
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
    let kernels =
        ["f32.fadd:route=push", "f32.fadd:route=uniform"].map(|id| (id.parse().unwrap(), 1));
    assert!(matches!(
        build(&Plan::new(&kernels, true, Variant::default())),
        Err(BuildError::Mixed { .. })
    ));
    assert!(build(&Plan::new(&[], true, Variant::default())).is_ok());
}
