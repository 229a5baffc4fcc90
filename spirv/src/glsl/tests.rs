use super::*;
use crate::kernel::Kernel;
use crate::plan::Variant;

fn plan_of(id: &str) -> Plan {
    Plan::new(&[(id.parse().unwrap(), 10)], false, Variant { shift: 1, ..Variant::default() })
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
fn operands_and_results_are_got_at_in_one_place_for_all_rows() {
    let kernels = ["f32.fadd:via=glsl", "f32.fsub:via=glsl", "f32.sqrt:via=glsl"]
        .map(|id| (id.parse().unwrap(), 10));
    let text = source::source(&Plan::new(&kernels, true, Variant::default())).unwrap();
    assert_eq!(
        (text.matches("= in_f32[").count(), text.matches("] = result").count()),
        (2, 1),
        "{text}"
    );
    // The square root has one operand.
    assert!(text.contains("if ((row >= 2u ? 0u : 1u) != 0u) { operand1_0_0 = "), "{text}");
    assert!(text.contains("uint operand0_0_at = slot * 1u + (0u + row * 24u);"), "{text}");
}

#[test]
fn layout_and_guard_are_those_of_the_plan() {
    for (id, lines) in [
        (
            "f16.fclamp:via=glsl",
            [
                "layout(set = 0, binding = 3, std430) readonly buffer block_in_u32 { uint in_u32[]; };",
                "layout(set = 0, binding = 7, std430) buffer block_out_u32 { uint out_u32[]; };",
                "operand2_0_0 = in_u32[operand2_0_at + 0u];",
                "first = k0_f16_fclamp(p0, p1, p2);",
                "float16_t p2 = float16_t(unpackFloat2x16(operand2_0_0).x);",
                "result0_1_0 = packFloat2x16(f16vec2(first, 0.0hf));",
            ],
        ),
        (
            "f64.modf:via=glsl;width=3",
            [
                "layout(set = 0, binding = 8, std430) readonly buffer block_in_words { uint in_words[]; };",
                "layout(set = 0, binding = 9, std430) buffer block_out_words { uint out_words[]; };",
                "[[dont_unroll]] for (uint i = 0; i < 6u; ++i) { operand0_0[i] = in_words[operand0_0_at + i]; }",
                "first = k0_f64_modf_x3(p0, second);",
                "packDouble2x32(uvec2(operand0_0[4], operand0_0[5]))",
                "result1_1[5] = unpackDouble2x32(second[2]).y;",
            ],
        ),
    ] {
        let text = source::source(&plan_of(id)).unwrap();
        let common = [
            "layout(local_size_x = 64) in;",
            "uint slot = gl_GlobalInvocationID.x - 64u;",
            "if (slot < 10u) {",
        ];
        for line in common.into_iter().chain(lines) {
            assert!(text.contains(line), "no `{line}` in\n{text}");
        }
    }
}
