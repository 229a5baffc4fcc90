use insta::assert_snapshot;

use super::*;

fn case<'a>(
    kernel: &'a Kernel,
    cases: &'a Cases,
    expected: Option<&'a [Vec<Expectation>]>,
) -> Case<'a> {
    Case { kernel, cases, storage16: true, expected, note: "" }
}

fn equal(bits: &[u64]) -> Vec<Vec<Expectation>> {
    bits.iter().map(|bits| vec![Expectation::Equal(*bits)]).collect()
}

fn text(id: &str, values: &[u64], form: EmitFormat, expected: Option<&[u64]>) -> String {
    let kernel: Kernel = id.parse().unwrap();
    let cases = Cases::new("", kernel.arity(), values);
    let expected = expected.map(equal);
    String::from_utf8(case(&kernel, &cases, expected.as_deref()).emit(form).unwrap()).unwrap()
}

#[test]
fn assembly_says_what_lies_where() {
    assert_snapshot!(text(
        "f32.inverse_sqrt:controls=szin32",
        &[0x8000_0000, 0],
        EmitFormat::Spvasm,
        Some(&[0xff80_0000, 0x7f80_0000])
    ));
}

#[test]
fn an_image_is_described_in_the_comments() {
    let text = text(
        "b10g11r11.store:route=storage_image",
        &[0x3f80_0000, 0, 0x7fc0_0000],
        EmitFormat::Spvasm,
        None,
    );
    assert_snapshot!(
        text.lines().take_while(|line| line.starts_with(';')).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn an_amber_script_carries_inputs_and_results_as_bits() {
    assert_snapshot!(text(
        "f16.fadd:controls=dp16;width=2",
        &[1, 2, 3, 0x8004],
        EmitFormat::Amber,
        Some(&[4, 0x8002])
    ));
}

#[test]
fn an_amber_script_brings_the_operands_of_every_route_it_can() {
    let scripts = |id: &str, values: &[u64]| text(id, values, EmitFormat::Amber, None);
    let push = scripts("f16.fadd:route=push", &[1, 2, 3, 4]);
    for line in [
        "BUFFER constants1 DATA_TYPE uint32 DATA\n0x00000001\n0x00000001\n0x00000000\n0x00000002\n0x00000003\n",
        "  BIND BUFFER constants1 AS push_constant\n",
        "RUN pipeline0 1 1 1\nRUN pipeline1 1 1 1\n",
    ] {
        assert!(push.contains(line), "{push}");
    }
    let uniform = scripts("f16.fadd:route=uniform", &[1, 2, 3, 4]);
    assert!(uniform.contains("BIND BUFFER constants0 AS uniform DESCRIPTOR_SET 0 BINDING 10\n"));
    assert!(uniform.contains("RUN pipeline0 2 1 1\n"));
    let spec = scripts("f32.select:route=spec", &[1, 2, 0x8000_0000]);
    let specialised = [(0, 1), (1, 2), (2, 0x8000_0000u32)]
        .map(|(id, value)| format!(" \\\n      SPECIALIZE {id} AS uint32 {value}"));
    assert!(spec.contains(&format!("  ATTACH kernel{}\n", specialised.concat())), "{spec}");
    let literal = scripts("f64.fadd:route=literal", &[1, 2]);
    assert!(literal.contains("RUN pipeline0 1 1 1") && !literal.contains("BUFFER constants"));
}

#[test]
fn assembly_tells_constant_blocks_and_specialised_values() {
    let uniform = text("f64.fabs:route=uniform", &[1 << 63, 5], EmitFormat::Spvasm, None);
    let constant_block = "; constant block 0: set 0 binding 10: uniform buffer of 16384 bytes, 2x1x1 groups: 00000000 00000002 00000000 \
        00000001 00000000 80000000 00000000 00000000 00000005 and 0\n";
    assert!(uniform.contains(constant_block), "{uniform}");
    let spec = text("f16.fabs:route=spec", &[0x8001], EmitFormat::Spvasm, None);
    assert!(
        spec.contains("; SpecId 0: f16 8001 (the module itself has another value)\n"),
        "{spec}"
    );
    // The default, as a hexadecimal float of sixteen bits: 0x7ffe is a NaN.
    assert!(spec.contains("OpSpecConstant %"), "{spec}");
    assert!(spec.contains(" 0x1.ff8p+16\n"), "{spec}");
}

#[test]
fn unknown_results_are_left_to_fill_in() {
    let text = text("f32.ford_equal", &[0, 0x8000_0000], EmitFormat::Amber, None);
    assert!(
        text.ends_with("# case 0: 00000000 80000000\n# observed: EXPECT out_u32 IDX 0 EQ ...\n"),
        "{text}"
    );
}

#[test]
fn a_shader_never_ends_its_amber_section_early() {
    // Amber reads the shader up to the first END, wherever it stands.
    for kernel in
        crate::catalogue::plain().into_iter().filter(|kernel| kernel.route == Route::Buffer)
    {
        let is_atomic = matches!(kernel.op.code, crate::op::Code::Atomic(..));
        if is_atomic || kernel.shader() != crate::Stage::Compute {
            continue;
        }
        let cases = Cases::new("", kernel.arity(), vec![0; kernel.arity()]);
        let text = String::from_utf8(case(&kernel, &cases, None).emit(EmitFormat::Amber).unwrap())
            .unwrap();
        let shader = text.split_once("SPIRV-ASM").unwrap().1;
        assert!(shader.split("END").next().unwrap().ends_with("OpFunctionEnd\n"), "{kernel}");
    }
}

#[test]
fn an_amber_script_has_a_line_for_each_condition() {
    let lines = |id: &str, values: &[u64], expected: &[Vec<Expectation>]| -> Vec<String> {
        let kernel: Kernel = id.parse().unwrap();
        let cases = Cases::new("", kernel.arity(), values);
        let case = Case { note: "observed: 1", ..case(&kernel, &cases, Some(expected)) };
        let text = String::from_utf8(case.emit(EmitFormat::Amber).unwrap()).unwrap();
        assert!(text.contains("# observed: 1\n"), "{text}");
        text.lines()
            .filter(|line| line.starts_with("EXPECT") || line.contains(" SIZE "))
            .map(str::to_owned)
            .collect()
    };
    let bounds = vec![Expectation::AtLeast(0x3f80_0000), Expectation::AtMost(0x3f80_0002)];
    assert_eq!(
        lines("f32.fadd:width=2", &[0; 4], &[Vec::new(), bounds]),
        [
            "BUFFER out_words DATA_TYPE uint32 SIZE 2 FILL 42405",
            "EXPECT out_words IDX 4 GE 0x3f800000",
            "EXPECT out_words IDX 4 LE 0x3f800002"
        ]
    );
    // Two words that are one number.
    assert_eq!(
        lines("f64.fadd:route=push", &[0; 2], &[vec![Expectation::Differs(1)]]),
        [
            "BUFFER out_words DATA_TYPE uint64 SIZE 1 FILL 42405",
            "EXPECT out_words IDX 0 NE 0x0000000000000001"
        ]
    );
}

#[test]
fn glsl_is_written_where_there_is_some() {
    let spelled = text("f32.fadd:controls=szin32", &[0, 1], EmitFormat::Glsl, None);
    assert!(
        spelled.contains("// f32.fadd:controls=szin32\n") && spelled.contains(" + "),
        "{spelled}"
    );
    let version = spelled.lines().next().unwrap();
    assert_eq!(version, "#version 450");
    for id in ["f32.nmin", "f32.fadd:route=literal", "b10g11r11.store:route=clear"] {
        let kernel: Kernel = id.parse().unwrap();
        let cases = Cases::new("", kernel.arity(), vec![0; kernel.arity()]);
        assert!(case(&kernel, &cases, None).emit(EmitFormat::Glsl).is_err(), "{id}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let store: Kernel = "b10g11r11.store:route=storage_image".parse().unwrap();
    let cases = Cases::new("", 3, vec![0; 3]);
    assert!(matches!(emit(&store, &cases, EmitFormat::Amber), Err(BuildError::NoScript { .. })));
    let spec: Kernel = "f16.fabs:route=spec".parse().unwrap();
    let error = emit(&spec, &Cases::new("", 1, vec![0]), EmitFormat::Amber).unwrap_err();
    assert!(error.to_string().contains("32 bits only; use spvasm"), "{error}");
    let add: Kernel = "f32.fadd".parse().unwrap();
    assert!(matches!(
        emit(&add, &cases, EmitFormat::Spv),
        Err(BuildError::Cases { operands: 2, .. })
    ));
    let cases = Cases::new("", 2, vec![0; 4]);
    assert!(matches!(
        case(&add, &cases, Some(&equal(&[0]))).emit(EmitFormat::Spv),
        Err(BuildError::Cases { results: 1, .. })
    ));
}

#[test]
fn words_are_the_modules() {
    let kernel: Kernel = "f32.fadd".parse().unwrap();
    let bytes = emit(&kernel, &Cases::new("", 2, vec![0; 2]), EmitFormat::Spv).unwrap();
    assert_eq!(bytes[..4], [0x03, 0x02, 0x23, 0x07]);
    assert_eq!("spvasm".parse::<EmitFormat>().unwrap(), EmitFormat::Spvasm);
    assert!("spvas".parse::<EmitFormat>().unwrap_err().to_string().contains("`spvasm`"));
}
