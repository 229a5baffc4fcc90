//! Models of matrix units give what the units gave, and no model gives what another unit gave.

use std::path::{Path, PathBuf};

use fpprobe_profiles::Observation;
use fpprobe_profiles::matrix::{
    BF16, E4M3, F16, MODELS, MatrixAspect, MatrixInput, UnitModel, violations,
};
use fpprobe_spirv::cases::matrix::MatrixProbe;
use fpprobe_spirv::layout::{BINARY16, BINARY32};
use fpprobe_spirv::{FloatLayout, Kernel, cases};
use serde_json::Value;

/// Measured products: file, its format, and the model of the unit.
const MEASURED: [(&str, MatrixInput, FloatLayout, &str); 8] = [
    ("V100-fp16-fp32", F16, BINARY32, "V100"),
    ("A100-fp16-fp32", F16, BINARY32, "A100, Ada"),
    ("A100-bf16-fp32", BF16, BINARY32, "A100, Ada"),
    ("Ada-fp16-fp32", F16, BINARY32, "A100, Ada"),
    ("H100-fp16-fp32", F16, BINARY32, "H100"),
    ("H100-bf16-fp32", BF16, BINARY32, "H100"),
    ("H200-fp16-fp16", F16, BINARY16, "H100"),
    ("Ada-E4M3-fp32", E4M3, BINARY32, "Ada, float8"),
];

/// The rows that the repository keeps, and all of them where they are.
fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let whole = root.join("../../shared/data/matrix");
    std::iter::once(root.join("tests/data/matrix"))
        .chain(Some(whole).filter(|folder| folder.is_dir()))
        .collect()
}

fn bits(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

#[test]
fn each_model_gives_every_product_of_its_unit_and_fails_on_those_of_others() {
    let mut files = 0;
    for folder in folders() {
        for (file, input, output, unit) in MEASURED {
            // What fpprobe measured itself lies in the repository alone.
            let Ok(text) = std::fs::read_to_string(folder.join(format!("{file}.jsonl"))) else {
                continue;
            };
            files += 1;
            let rows: Vec<Value> =
                text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert!(rows.len() >= 60, "{file}");
            for model in MODELS {
                let list = |value: &Value| {
                    value.as_array().unwrap().iter().map(bits).collect::<Vec<u64>>()
                };
                let is_given = |row: &&Value| {
                    let [a, b] = ["a", "b"].map(|name| list(&row[name]));
                    model.element(input, output, &a, &b, bits(&row["c"])) == Some(bits(&row["d"]))
                };
                let given = rows.iter().filter(is_given).count();
                println!("{file}: {} gives {given} of {}", model.name, rows.len());
                assert_eq!(
                    given == rows.len(),
                    model.name == unit,
                    "{file}: {} gives {given}",
                    model.name
                );
            }
        }
    }
    assert!(files >= MEASURED.len(), "{files} files");
}

#[test]
fn sums_are_cut_toward_zero_and_keep_subnormals() {
    let [v100, a100, ..] = MODELS;
    // 1 + 2^-24 twice: each is below the last bit that V100 keeps, and within the one that A100
    // does.
    let (ones, small) = (vec![0x3c00, 0x3c00, 0x3c00], vec![0x3c00, 0x0001, 0x0001]);
    assert_eq!(v100.element(F16, BINARY32, &ones, &small, 0), Some(0x3f80_0000));
    assert_eq!(a100.element(F16, BINARY32, &ones, &small, 0), Some(0x3f80_0001));
    // 1 - 2^-24 is a number, and toward zero from anything below.
    assert_eq!(v100.element(F16, BINARY32, &[0x3c00], &[0x3c00], 0xb380_0000), Some(0x3f80_0000));
    assert_eq!(a100.element(F16, BINARY32, &[0x3c00], &[0x3c00], 0xb380_0000), Some(0x3f7f_ffff));
    // Subnormal factors, a subnormal C, nothing at all.
    assert_eq!(v100.element(F16, BINARY32, &[0x0001], &[0x3c00], 0), Some(0x3380_0000));
    assert_eq!(v100.element(F16, BINARY32, &[0], &[0x3c00], 0x8000_0001), Some(0x8000_0001));
    assert_eq!(v100.element(F16, BINARY32, &[0x8000], &[0x3c00], 0x8000_0000), Some(0));
    // Of infinities and NaNs, and sums beyond binary32, a model says nothing.
    assert_eq!(v100.element(F16, BINARY32, &[0x7c00], &[0x3c00], 0), None);
    assert_eq!(v100.element(F16, BINARY32, &[0x3c00], &[0x3c00], 0x7fc0_0000), None);
    assert_eq!(v100.element(BF16, BINARY32, &[0x7f7f], &[0x7f7f], 0), None);
}

/// What a device gives that follows a model on normal numbers; of others a NaN.
fn synthetic(id: &str, result: impl Fn(&Kernel, &[u64]) -> Option<u64>) -> Observation {
    let kernel: Kernel = id.parse().unwrap();
    let cases = cases::cases(&kernel);
    let nan = kernel.format.float().map_or(0, |layout| layout.infinity() | layout.quiet_bit());
    let out: Vec<u64> = cases.iter().map(|case| result(&kernel, case).unwrap_or(nan)).collect();
    Observation::ran(kernel, cases, out.into())
}

fn value(observation: &Observation, aspect: MatrixAspect) -> String {
    aspect.of(observation).map(|result| result.value).unwrap_or_default()
}

#[test]
fn a_device_that_follows_a_model_is_named_with_its_order_rounding_and_width() {
    const ASPECTS: [MatrixAspect; 5] = [
        MatrixAspect::Model,
        MatrixAspect::Order,
        MatrixAspect::Probe(MatrixProbe::Product),
        MatrixAspect::Rounding,
        MatrixAspect::Bits,
    ];
    let single = "f32.matrix_mul_add:matrix=16x16x16-f16-f16-f32";
    let half = "f16.matrix_mul_add:matrix=16x8x16-f16-f16-f16";
    let brain = "f32.matrix_mul_add:matrix=16x16x16-bf16-bf16-f32";
    for (id, name, expected) in [
        (single, "V100", ["v100", "groups_of_4_c_first", "exact", "toward_zero", "0"]),
        (single, "A100, Ada", ["a100_ada", "groups_of_8_c_first", "exact", "toward_zero", "1"]),
        (single, "H100", ["h100", "one_group", "exact", "toward_zero", "2"]),
        (brain, "A100, Ada", ["a100_ada", "groups_of_8_c_first", "exact", "toward_zero", "1"]),
        (brain, "H100", ["h100", "one_group", "exact", "toward_zero", "2"]),
        (
            brain,
            "fma in order, C first",
            [
                "multiply_and_add_in_order_c_first",
                "sequential_c_first",
                "exact",
                "nearest_even",
                "0",
            ],
        ),
        (half, "V100", ["v100", "groups_of_4_c_first", "exact", "nearest_even", "8_or_more"]),
        (half, "H100", ["h100", "one_group", "exact", "nearest_even", "8_or_more"]),
        (
            single,
            "multiply and add in order, C last",
            ["multiply_and_add_in_order_c_last", "sequential_c_last", "exact", "nearest_even", "0"],
        ),
        (
            half,
            "multiply and add in order, C first",
            [
                "multiply_and_add_in_order_c_first",
                "sequential_c_first",
                "rounded",
                "nearest_even",
                "0",
            ],
        ),
        (
            half,
            "fma in order, C last",
            ["fma_in_order_c_last", "sequential_c_last", "exact", "nearest_even", "0"],
        ),
        (
            half,
            "multiply and add in order in f32, C last",
            [
                "multiply_and_add_in_order_in_f32_c_last",
                "sequential_c_last",
                "exact",
                "nearest_even",
                "8_or_more",
            ],
        ),
    ] {
        let kernel: Kernel = id.parse().unwrap();
        let model = UnitModel::all(&kernel).into_iter().find(|model| model.name() == name).unwrap();
        let device = synthetic(id, |kernel, case| model.element(kernel, case));
        assert_eq!(ASPECTS.map(|aspect| value(&device, aspect)), expected, "{name}");
    }
}

#[test]
fn a_device_that_follows_no_model_is_shown_by_a_product_on_which_the_nearest_differs() {
    let id = "f32.matrix_mul_add:matrix=16x16x16-f16-f16-f32";
    let h100 = UnitModel::Aligned(MODELS[2]);
    // The last bit of a quarter of the sums.
    let wrong = |kernel: &Kernel, case: &[u64]| {
        h100.element(kernel, case).map(|bits| if bits & 3 == 1 { bits ^ 1 } else { bits })
    };
    let device = synthetic(id, wrong);
    let result = MatrixAspect::Model.of(&device).unwrap();
    assert_eq!(result.value, "none_of_these");
    assert_ne!(
        h100.element(&device.kernel, device.cases.case(result.case)),
        Some(device.answer(result.case)[0])
    );
    // Sums from the last product to the first.
    let reversed = |kernel: &Kernel, case: &[u64]| {
        let mut case = case.to_vec();
        case[..16].reverse();
        case[16..32].reverse();
        UnitModel::all(kernel)[3].element(kernel, &case)
    };
    let device = synthetic(id, reversed);
    assert_eq!(value(&device, MatrixAspect::Model), "none_of_these");
    let order = value(&device, MatrixAspect::Order);
    assert!(order.ends_with("(p14+p15)))))))))))))))+c)"), "{order}");
}

#[test]
fn kernels_of_one_unit_are_named_alike_though_a_small_product_fits_several_models() {
    let h100 = UnitModel::Aligned(MODELS[2]);
    let ids =
        ["16x8x8", "16x8x16"].map(|size| format!("f16.matrix_mul_add:matrix={size}-f16-f16-f16"));
    let devices = ids.map(|id| synthetic(&id, |kernel, case| h100.element(kernel, case)));
    // Eight products are one group of both.
    assert_eq!(value(&devices[0], MatrixAspect::Model), "a100_ada");
    let named = MatrixAspect::Model.of_each(&[&devices[0], &devices[1]]);
    assert!(
        named.len() == 2 && named.iter().all(|(_, result)| result.value == "h100"),
        "{named:?}"
    );
}

#[test]
fn integers_that_are_not_exact_and_lines_that_change_are_violations() {
    let exact = |kernel: &Kernel, case: &[u64]| {
        let unit = kernel.matrix.unwrap();
        let k = unit.k as usize;
        let of = |bits: u64, signed: bool| {
            if signed { i64::from(bits as u8 as i8) } else { i64::from(bits as u8) }
        };
        let sum: i64 = (0..k).map(|place| of(case[place], true) * of(case[k + place], false)).sum();
        let sum = sum + i64::from(case[2 * k] as u32 as i32);
        let sum = if unit.saturating { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
        Some(u64::from(sum as u32))
    };
    for id in [
        "i32.matrix_mul_add:matrix=8x8x8-i8-u8-i32",
        "i32.matrix_mul_add:matrix=8x8x8-i8-u8-i32-saturating",
    ] {
        assert!(violations(&[synthetic(id, exact)]).is_empty(), "{id}");
        let off = |kernel: &Kernel, case: &[u64]| {
            exact(kernel, case).map(|sum| if sum % 7 == 0 { sum + 1 } else { sum })
        };
        let device = [synthetic(id, off)];
        assert!(violations(&device)[0].cases.len() > 1, "{id}");
    }
    // A sum that wraps is no sum that saturates.
    let wraps = synthetic("i32.matrix_mul_add:matrix=8x8x8-i8-u8-i32", exact);
    let kernel: Kernel = "i32.matrix_mul_add:matrix=8x8x8-i8-u8-i32-saturating".parse().unwrap();
    assert!(!violations(&[Observation { kernel, ..wraps }]).is_empty());

    let kernel: Kernel = "f16.matrix_load_store_a:matrix=8x8x8-f16-f16-f32".parse().unwrap();
    let cases = cases::cases(&kernel);
    let mut out: Vec<u64> = cases.iter().flatten().copied().collect();
    let moved = |out: &[u64]| Observation::ran(kernel, cases.clone(), out.into());
    assert!(violations(&[moved(&out)]).is_empty());
    out[3] ^= 0x200;
    assert_eq!(violations(&[moved(&out)])[0].cases[0].0, 0);
}
