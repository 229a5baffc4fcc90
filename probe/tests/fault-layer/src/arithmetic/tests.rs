//! What a rewritten module looks like; what it computes is shown by the program on real drivers.

use std::collections::HashSet;

use fpprobe_spirv::op::Code;
use fpprobe_spirv::plan::Variant;
use fpprobe_spirv::{Control, Controls, Format, Kernel, Plan, Route, catalogue, load, module};
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use super::{Arithmetic, Mode, rewrite};

/// One module a format and route (image kernels: one a kernel) with every operation, by buffer at
/// every width; and image kernels of several formats side by side.
fn modules(controls: &str) -> Vec<Vec<u32>> {
    let controls: Controls = controls.parse().unwrap();
    let plain = |format| {
        let all = catalogue::plain().into_iter();
        all.filter(move |kernel| kernel.format == format && !kernel.route.is_command())
    };
    let wide = |format| {
        let kernels = plain(format);
        kernels.flat_map(|kernel| {
            kernel.op.widths().map(move |width| Kernel { controls, width, ..kernel })
        })
    };
    let sides = catalogue::side_by_side().into_iter();
    let sides = sides
        .map(|all| all.into_iter().map(|kernel| Kernel { controls, ..kernel }).collect::<Vec<_>>());
    let mut modules: Vec<Vec<u32>> = sides.map(|kernels| module_of(&kernels)).collect();
    for format in Format::ALL {
        let kernels: Vec<Kernel> = wide(format).collect();
        let together = if format.channels().is_empty() { kernels.len().max(1) } else { 1 };
        // What takes constants alone has modules of its own.
        let (folded, mut kernels): (Vec<Kernel>, Vec<Kernel>) =
            kernels.into_iter().partition(|kernel| kernel.route.is_folded());
        // Inputs of triangles, too, have modules of their own.
        let kind =
            |kernel: &Kernel| (matches!(kernel.op.code, Code::Interpolated(_)), kernel.route);
        kernels.sort_by_key(kind);
        let of_routes = kernels.chunk_by(|one, next| kind(one) == kind(next));
        let most = |route| if route == Route::StorageImage { 1 } else { together };
        let chunks = of_routes.flat_map(|kernels| kernels.chunks(most(kernels[0].route)));
        modules.extend(folded.chunks(1).chain(chunks).map(module_of));
        for route in Route::OTHERS {
            let kernels = plain(format)
                .filter_map(|kernel| Kernel { controls, route, ..kernel }.checked().ok());
            let kernels: Vec<Kernel> = kernels.collect();
            modules.extend(kernels.chunks(kernels.len().max(1)).map(module_of));
        }
    }
    modules
}

fn module_of(kernels: &[Kernel]) -> Vec<u32> {
    let slots = if kernels[0].route.is_folded() { 3 } else { 70 };
    let kernels: Vec<(Kernel, u32)> = kernels.iter().map(|kernel| (*kernel, slots)).collect();
    module::build(&Plan::new(&kernels, true, Variant::default())).unwrap()
}

fn module_with(ids: &[&str]) -> Vec<u32> {
    module_of(&ids.iter().map(|id| id.parse().unwrap()).collect::<Vec<_>>())
}

fn faults(statements: &[&str]) -> Vec<Arithmetic> {
    statements.iter().map(|text| text.parse().unwrap()).collect()
}

fn with(words: &[u32], statements: &[&str]) -> Vec<u32> {
    rewrite(words, &faults(statements), &[], 3).unwrap()
}

/// One of each kind, on every operation that it can be about.
const EACH: [&str; 20] = [
    "flush f16 operands",
    "flush f32 operands",
    "flush f32 results without sign",
    "flush f64 results",
    "keep f32 results in f32.fmul",
    "fuse in f16.fadd|f32.fadd",
    "split in f16.fdiv|f32.fdiv|f64.fdiv",
    "pass x.negated as y in f32.fsub|f16.fmin when y is zero and x is not nan",
    "give r+1 in f16.*|f32.*|f64.*|b10g11r11.*",
    "give r.noisy in f32.* when r is not 0",
    "give 0 in f16.*|f64.* when r is 1",
    "give 1 in f16.ford_equal|f64.ford_equal when x is signalling and y.magnitude is 0..7bff",
    "give x.wrapped in f32.convert_f_to_s|f32.convert_f_to_u when x.magnitude is 4f000000..7f7fffff",
    "give x.zero-1 in *.fadd at *.mul_then_add|f32.fadd",
    "give 0 in b10g11r11.store|b10g11r11.load when r is nan",
    "give 3c00 in f32.pack_half_2x16 when x is infinite",
    "give 3c00 in f16.load_store|f16.phi|f16.shuffle|f16.select|f16.copy_object",
    "round toward zero in f32.fadd|f16.fadd|f32.fsub|f16.fma|f32.fma|f32.fdiv|f32.sqrt|f32.fconvert_f16|f32.pack_half_2x16|f16.fract|f32.convert_s_to_f|f32.convert_u_to_f",
    "round to nearest in f16.inverse_sqrt|f16.sqrt",
    "round to nearest in r16unorm.load|rgba8srgb.sample",
];

/// What SPIR-V asks of every module (section 2.8 and 2.16): an id is defined once and below the
/// bound, what is used is defined, and no type that is not an aggregate is declared twice.
fn check(words: &[u32]) {
    let module = load(words).unwrap();
    let bound = module.header.as_ref().unwrap().bound;
    let all = || module.all_inst_iter();
    let mut defined = HashSet::new();
    for id in all().filter_map(|inst| inst.result_id) {
        assert!(id < bound && defined.insert(id), "{id} of {bound}");
    }
    for id in all().flat_map(|inst| inst.operands.iter().filter_map(Operand::id_ref_any)) {
        assert!(defined.contains(&id), "{id}");
    }
    let scalars = [Op::TypeBool, Op::TypeInt, Op::TypeFloat, Op::TypeVector, Op::TypePointer];
    let mut types: Vec<&Instruction> = module
        .types_global_values
        .iter()
        .filter(|inst| scalars.contains(&inst.class.opcode))
        .collect();
    while let Some(last) = types.pop() {
        assert!(!types.iter().any(|other| other.is_type_identical(last)), "{last:?}");
    }
}

#[test]
fn every_rewritten_module_is_sound() {
    for statement in EACH {
        let mut struck = 0;
        for words in modules("") {
            let new = with(&words, &[statement]);
            check(&words);
            check(&new);
            struck += usize::from(new != words);
        }
        // Alone, keeping has nothing to undo.
        assert_eq!(struck > 0, !statement.starts_with("keep"), "`{statement}` in {struck} modules");
    }
    for words in modules("nocontract,szin32") {
        check(&with(&words, &EACH));
    }
}

#[test]
fn modules_without_the_operation_stay_as_they_are() {
    let words = module_with(&["f32.fadd", "f32.sqrt", "f32.select", "f32.load_store"]);
    for statement in [
        "give 0 in f32.fmul",
        "give 0 in f16.fadd",
        "give 0 in f32.fadd at f32.mul_then_add",
        "give 0 in f32.fadd under ftz32",
        "give 0 in f32.fadd by literal",
        "give 0 in f32.fadd by x3",
        "flush f16 operands",
        "flush f32 results in f32.load_store|f32.select",
        "fuse in f32.fadd",
    ] {
        assert_eq!(with(&words, &[statement]), words, "{statement}");
    }
    assert_ne!(with(&words, &["give 0 in f32.fadd unless ftz32"]), words);
    for (id, way) in
        [("f32.fadd:route=literal", "literal"), ("f32.fadd:route=push;width=3", "push by x3")]
    {
        let words = module_with(&[id]);
        assert_ne!(with(&words, &[&format!("give 0 in f32.fadd by {way}")]), words);
        assert_eq!(with(&words, &["give 0 in f32.fadd by uniform"]), words);
    }
}

#[test]
fn a_kernel_is_hit_within_its_own_code_only() {
    let words = module_with(&["f32.fdiv", "f32.mul_rcp"]);
    let struck = |statement| {
        let module = load(&with(&words, &[statement])).unwrap();
        module.all_inst_iter().filter(|inst| inst.class.opcode == Op::CopyObject).count()
    };
    assert_eq!(struck("give 0 in f32.fdiv"), 2);
    assert_eq!(struck("give 0 in f32.fdiv at f32.mul_rcp"), 1);
    // Movers are known by their kernel: alone and in company.
    for ids in [
        &["f32.load_store"][..],
        &["f32.load_store", "f32.copy_object"],
        &["f32.phi", "f32.select"],
    ] {
        let words = module_with(ids);
        assert_ne!(with(&words, &["give 0 in f32.load_store|f32.phi"]), words, "{ids:?}");
    }
}

#[test]
fn claimed_modes_do_not_reach_the_driver() {
    let mode = |control: &str, honoured| Mode { control: control.parse().unwrap(), honoured };
    let words = module_with(&["f32.fadd:controls=ftz32,rtz32"]);
    assert_eq!(rewrite(&words, &[], &[mode("dp16", true)], 0).unwrap(), words);
    let module = load(&rewrite(&words, &[], &[mode("rtz32", false)], 0).unwrap()).unwrap();
    assert_eq!((module.execution_modes.len(), module.extensions.len()), (2, 1));
    let both = [mode("ftz32", false), mode("rtz32", false)];
    let stripped = rewrite(&words, &[], &both, 0).unwrap();
    assert_eq!(stripped, module_with(&["f32.fadd"]));
    for honoured in [mode("ftz32", true), mode("rtz32", true)] {
        let honoured = rewrite(&words, &[], &[honoured, both[0], both[1]], 0).unwrap();
        assert_ne!(honoured, stripped);
        check(&honoured);
    }
    let words = module_with(&["f32.fadd:controls=fastmath0"]);
    let own = Mode { control: Control::FastMath0, honoured: true };
    let module = load(&rewrite(&words, &[], &[own], 0).unwrap()).unwrap();
    assert_eq!((module.execution_modes.len(), module.extensions.len()), (1, 0));
    // Preserving beats a habit of flushing, whichever is said first.
    let words = module_with(&["f32.fadd:controls=dp32"]);
    let kept = rewrite(
        &words,
        &faults(&["flush f32 operands", "flush f32 results"]),
        &[mode("dp32", true)],
        0,
    )
    .unwrap();
    assert_eq!(kept, rewrite(&words, &[], &[mode("dp32", true)], 0).unwrap());
    assert_eq!(with(&words, &["flush f32 operands unless dp32", "keep f32 results"]), words);
}

#[test]
fn what_means_nothing_is_refused() {
    for (text, word) in [
        ("give 0", "in which"),
        ("give 0 in f32.fad", "f32.fad"),
        ("give 0 in f32.rcp", "several instructions"),
        ("give w in f32.fadd", "`w`"),
        ("give x.half in f32.fadd", ".half"),
        ("give r+x in f32.fadd", "+x"),
        ("give 0 in f32.fadd when x nan", "x nan"),
        ("give 0 in f32.fadd when x is 2..1", "empty"),
        ("give 0 in f32.fadd under ftz", "ftz"),
        ("give 0 in f32.fadd never", "never"),
        ("pass 0 as r in f32.fadd", "`r`"),
        ("flush u32 operands", "u32"),
        ("flush f32 inputs", "results"),
        ("flush f32 operands when x is 0", "look at values"),
        ("round toward zero in f32.fmin", "f32.fmin"),
        ("round up in f32.fadd", "round up"),
        ("fuse in f32.fsub", "f32.fsub"),
        ("fuse in f64.fadd", "f64.fadd"),
        ("split in f32.fmul", "f32.fmul"),
        // What is read exactly.
        ("round to nearest in rgba16f.load", "rgba16f.load"),
        // What has no wider format to be compared in.
        ("round to nearest in f32.inverse_sqrt", "f32.inverse_sqrt"),
        ("round toward zero in f64.fadd", "f64.fadd"),
        ("round toward zero in f16.convert_s_to_f", "f16.convert_s_to_f"),
    ] {
        let error = text.parse::<Arithmetic>().unwrap_err();
        assert!(error.contains(word) && error.contains(text), "{error}");
    }
    let words = module_with(&["f32.fadd", "f32.ford_equal", "f32.fconvert_f16"]);
    for (statement, word) in [
        ("give 10000 in f32.fconvert_f16", "10000"),
        ("give x in f32.fconvert_f16", "f16"),
        ("give z in f32.fadd", "no such operand"),
        ("pass r as x in f32.fadd", "no result"),
        ("give 1 in f32.ford_equal when r is nan", "class"),
    ] {
        let error = rewrite(&words, &faults(&[statement]), &[], 0).unwrap_err();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn first_words_are_those_of_the_statements() {
    assert!(EACH.iter().all(|statement| Arithmetic::is_kind(statement.split(' ').next().unwrap())));
    assert!(!Arithmetic::is_kind("crash"));
}
