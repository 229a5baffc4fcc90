//! `eval` on real drivers.

use crate::scene::{HONEST, ends, ends_reading, fpprobe};

#[test]
fn bits_go_through_every_driver_unharmed() {
    // Moves must keep bits (Vulkan: bit-preserving operations): signalling NaN, -0, subnormal,
    // infinity.
    for driver in HONEST {
        for bits in ["7f800001", "80000000", "00000001", "ff800000"] {
            let lines = ends(fpprobe(&[driver]).args(["eval", "f32.load_store", bits])).lines(0);
            assert_eq!(lines.len(), 1);
            assert_eq!(
                (&lines[0]["out"], &lines[0]["outcome"]),
                (&bits.into(), &"ran".into()),
                "{driver}"
            );
            assert_eq!(lines[0]["in"], serde_json::json!([bits]));
        }
    }
}

#[test]
fn json_lines_come_back_in_order_for_every_device() {
    let lines: Vec<String> =
        (0..300u32).map(|n| format!("{{\"in\": [\"{n:08x}\", \"00000000\"]}}")).collect();
    let input = lines.join("\n");
    let lines = ends_reading(
        fpprobe(&["lavapipe-25", "swiftshader"]).args(["eval", "f32.bitcast"]),
        &input,
    );
    assert!(lines.err.contains("line 1"), "one operand too many is named: {}", lines.err);
    let input = input.replace(", \"00000000\"", "");
    let lines = ends_reading(
        fpprobe(&["lavapipe-25", "swiftshader"]).args(["eval", "f32.bitcast"]),
        &input,
    )
    .lines(0);
    assert_eq!(lines.len(), 600);
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line["out"], format!("{:08x}", index % 300));
    }
    assert_ne!(lines[0]["device"], lines[300]["device"]);
}

#[test]
fn vectors_comparisons_and_texels_have_their_shapes() {
    let of = |kernel: &str, input: &[&str]| {
        ends(fpprobe(&["lavapipe-25"]).arg("eval").arg(kernel).args(input)).lines(0).remove(0)
    };
    let sum = of("f32.fadd:width=2", &["3f800000,40000000", "0x3F800000,0"]);
    assert_eq!(sum["in"], serde_json::json!([["3f800000", "40000000"], ["3f800000", "00000000"]]));
    assert_eq!(sum["out"], serde_json::json!(["40000000", "40000000"]));
    assert_eq!(of("f32.ford_equal", &["0", "80000000"])["out"], "1");
    assert_eq!(of("f16.load_store", &["3c00"])["out"], "3c00");
    // 1.0, 0.5 and 2.0 are exact in 11, 11 and 10 bits.
    let texel = of("b10g11r11.store:route=storage_image", &["3f800000,3f000000,40000000"]);
    assert_eq!(texel["out"], format!("{:08x}", 0x3c0 | 0x380 << 11 | 0x200 << 22));
    let back = of("b10g11r11.load:route=storage_image", &[texel["out"].as_str().unwrap()]);
    assert_eq!(back["out"], serde_json::json!(["3f800000", "3f000000", "40000000"]));
}

#[test]
fn results_of_two_values_are_lists_of_the_two() {
    for driver in HONEST {
        let of = |kernel: &str, input: &str| {
            ends(fpprobe(&[driver]).args(["eval", kernel, input])).lines(0).remove(0)["out"].take()
        };
        // -6.75 = -0.75 - 6, and -0.84375 * 2^3.
        assert_eq!(
            of("f32.modf", "c0d80000"),
            serde_json::json!(["bf400000", "c0c00000"]),
            "{driver}"
        );
        assert_eq!(
            of("f32.frexp", "c0d80000"),
            serde_json::json!(["bf580000", "00000003"]),
            "{driver}"
        );
        assert_eq!(
            of("f32.frexp:width=2", "3f000000,3d800000"),
            serde_json::json!([["3f000000", "3f000000"], ["00000000", "fffffffd"]]),
            "{driver}"
        );
        assert_eq!(
            of("f32.modf:via=glsl", "40200000"),
            serde_json::json!(["3f000000", "40000000"]),
            "{driver}"
        );
    }
}

#[test]
fn whole_vectors_and_matrices_have_their_shapes() {
    // The columns (1, 2) and (3, 4).
    let (vector, matrix) = ("3f800000,40000000", "3f800000,40000000,40400000,40800000");
    for driver in HONEST {
        let of = |kernel: &str, input: &[&str]| {
            ends(fpprobe(&[driver]).arg("eval").arg(kernel).args(input)).lines(0).remove(0)
        };
        for via in ["", ";via=glsl"] {
            for (kernel, input, out) in [
                ("dot", &[vector, vector][..], serde_json::json!("40a00000")),
                ("length", &["40400000,40800000"], serde_json::json!("40a00000")),
                (
                    "refract",
                    &["0,bf800000", "0,3f800000", "3f000000"],
                    serde_json::json!(["00000000", "bf800000"]),
                ),
                (
                    "vector_times_scalar",
                    &[vector, "40400000"],
                    serde_json::json!(["40400000", "40c00000"]),
                ),
                ("determinant", &[matrix], serde_json::json!("c0000000")),
                (
                    "matrix_times_vector",
                    &[matrix, vector],
                    serde_json::json!(["40e00000", "41200000"]),
                ),
                (
                    "vector_times_matrix",
                    &[vector, matrix],
                    serde_json::json!(["40a00000", "41300000"]),
                ),
                (
                    "transpose",
                    &[matrix],
                    serde_json::json!([["3f800000", "40400000"], ["40000000", "40800000"]]),
                ),
                (
                    "outer_product",
                    &[vector, "40400000,40800000"],
                    serde_json::json!([["40400000", "40c00000"], ["40800000", "41000000"]]),
                ),
                (
                    "matrix_times_matrix",
                    &[matrix, matrix],
                    serde_json::json!([["40e00000", "41200000"], ["41700000", "41b00000"]]),
                ),
            ] {
                let line = of(&format!("f32.{kernel}:width=2{via}"), input);
                assert_eq!(line["out"], out, "{driver}: {line}");
            }
        }
        let line = of("f32.cross:width=3", &["3f800000,0,0", "0,3f800000,0"]);
        assert_eq!(
            line["out"],
            serde_json::json!(["00000000", "00000000", "3f800000"]),
            "{driver}"
        );
        let line = of("f32.matrix_times_scalar:width=2", &[matrix, "40000000"]);
        assert_eq!(
            line["in"],
            serde_json::json!([[["3f800000", "40000000"], ["40400000", "40800000"]], "40000000"])
        );
        assert_eq!(
            line["out"],
            serde_json::json!([["40000000", "40800000"], ["40c00000", "41000000"]]),
            "{driver}"
        );
    }
}

#[test]
fn a_case_runs_among_those_of_its_list() {
    let among = |arguments: &[&str]| ends(fpprobe(&["lavapipe-25"]).args(["eval"]).args(arguments));
    let (kernel, list) = ("f32.floor:route=spec", "f32.unary.corners");
    let all = among(&[kernel, "--among", list]).lines(0);
    assert_eq!(all.len(), 24);
    let one = among(&[kernel, "00800001", "--among", list]).lines(0);
    assert_eq!(one, all.into_iter().filter(|line| line["in"][0] == "00800001").collect::<Vec<_>>());
    // What is by constants is the same in a list and by itself.
    assert_eq!(
        (&one[0]["out"], &one[0]["outcome"]),
        (&"00000000".into(), &"ran".into()),
        "{one:?}"
    );
    assert_eq!(among(&[kernel, "00800001"]).lines(0), one);
    for (arguments, part) in [
        (
            &[kernel, "00800002", "--among", list][..],
            "`00800002` is no case of `f32.unary.corners`",
        ),
        (&[kernel, "--among", "f16.unary"], "it has `f32.unary` and `f32.unary.corners`"),
    ] {
        let ended = among(arguments);
        assert_eq!(ended.with(2), "");
        assert!(ended.err.contains(part), "{}", ended.err);
    }
}

#[test]
fn what_a_device_lacks_is_named() {
    let ended = ends(fpprobe(&["swiftshader"]).args(["eval", "f16.fadd", "3c00", "3c00"]));
    let line = ended.lines(4).remove(0);
    assert_eq!(line["outcome"], "unsupported");
    assert!(line["detail"].as_str().unwrap().contains("shaderFloat16"));
    assert!(line.get("out").is_none());
}

#[test]
fn devices_are_selected_by_index_name_number_and_uuid() {
    let drivers = ["swiftshader", "lavapipe-22", "lavapipe-25"];
    let list = ends(fpprobe(&drivers).args(["list", "--json"])).document(0);
    let key = |index: usize| list["devices"][index]["key"].clone();
    let uuid = list["devices"][2]["device_uuid"].as_str().unwrap().to_owned();
    for (selection, expected) in [
        ("0", vec![key(0)]),
        ("LLVMpipe", vec![key(1), key(2)]),
        ("1ae0:c0de", vec![key(0)]),
        (&uuid, vec![key(2)]),
    ] {
        let lines =
            ends(fpprobe(&drivers).args(["eval", "f32.fabs", "0", "--device", selection])).lines(0);
        let devices: Vec<_> = lines.iter().map(|line| line["device"].clone()).collect();
        assert_eq!(devices, expected, "{selection}");
    }
    let ended = ends(fpprobe(&drivers).args(["eval", "f32.fabs", "0", "--device", "llvmpipes"]));
    ended.with(2);
    assert!(ended.err.contains("llvmpipe"), "{}", ended.err);
}
