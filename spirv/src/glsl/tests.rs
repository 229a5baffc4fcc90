use super::*;
use crate::kernel::Kernel;
use crate::plan::Variant;

fn plan_of(id: &str) -> Plan {
    Plan::new(&[(id.parse().unwrap(), 10)], false, Variant { shift: 1, reversed: false })
}

fn edited(id: &str, from: &str, to: &str) -> Result<(), BuildError> {
    let plan = plan_of(id);
    let text = source::source(&plan).unwrap();
    assert!(text.contains(from), "{text}");
    check(&plan, &load(&words(&text.replace(from, to)).unwrap()).unwrap())
}

#[test]
fn a_kernel_whose_instruction_is_gone_is_refused_by_name() {
    for (id, from, to) in [
        ("f32.fadd:via=glsl", "p0 + p1", "p0 - p1"),
        ("f32.fadd:via=glsl", "p0 + p1", "2.0"),
        ("f32.fma:via=glsl", "r = fma(p0, p1, p2)", "r = p0 * p1 + p2"),
        ("f32.select:width=2;via=glsl", "mix(p2, p1, p0)", "p0[0] ? sqrt(p1) : p2"),
        ("f32.fmin:via=glsl", "k0_f32_fmin", "k1_f32_fmin"),
    ] {
        assert!(edited(id, from, from).is_ok());
        let error = edited(id, from, to).unwrap_err();
        assert!(matches!(&error, BuildError::Lost { kernel, .. } if kernel == id), "{error}");
    }
}

#[test]
fn what_glsl_cannot_spell_is_refused() {
    let kernel: Kernel = "f32.nmin".parse().unwrap();
    let plan = Plan::new(&[(kernel, 1)], true, Variant::default());
    assert!(matches!(compile(&plan), Err(BuildError::Unspoken { .. })));
}

#[test]
fn a_syntax_error_carries_the_compilers_message() {
    let error = words("#version 450\nvoid main() { nonsense }").unwrap_err();
    assert!(error.to_string().contains("nonsense"), "{error}");
}

#[test]
fn kernels_of_the_same_operands_share_load_and_store() {
    let wanted = ["f32.fadd:via=glsl", "f32.fsub:via=glsl"].map(|id| crate::plan::Wanted {
        kernel: id.parse().unwrap(),
        slots: 10,
        operands: 0,
    });
    let text = source::source(&Plan::sharing(&wanted, true, Variant::default())).unwrap();
    assert_eq!(text.matches("= float(in_f32[").count(), 2, "{text}");
    assert_eq!(text.matches("out_f32[slot").count(), 1, "{text}");
    assert!(text.contains("(row - 0u) * 12u"), "{text}");
}

#[test]
fn layout_and_guard_are_those_of_the_plan() {
    let text = source::source(&plan_of("f16.fclamp:via=glsl;width=3")).unwrap();
    for line in [
        "layout(local_size_x = 64) in;",
        "layout(set = 0, binding = 3, std430) readonly buffer block_in_u32 { uint in_u32[]; };",
        "layout(set = 0, binding = 7, std430) buffer block_out_u32 { uint out_u32[]; };",
        "uint slot = gl_GlobalInvocationID.x - 64u;",
        "if (slot < 10u && row - 0u < 1u) {",
        "default: r = k0_f16_fclamp_x3(p0, p1, p2); break;",
        "unpackFloat2x16(in_u32[slot * 3u + 34u]).x",
        "out_u32[slot * 3u + 2u + (row - 0u) * 0u] = packFloat2x16(f16vec2(r[2], 0.0hf));",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
}
