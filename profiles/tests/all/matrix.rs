//! Models of matrix units give what the units gave, and no model gives what another unit gave.

use std::path::{Path, PathBuf};

use fpprobe_profiles::matrix::{BF16, E4M3, F16, MODELS, MatrixInput};
use serde_json::Value;

/// Measured products: file, its format, and the model of the unit.
const MEASURED: [(&str, MatrixInput, &str); 7] = [
    ("V100-fp16-fp32", F16, "V100"),
    ("A100-fp16-fp32", F16, "A100, Ada"),
    ("A100-bf16-fp32", BF16, "A100, Ada"),
    ("Ada-fp16-fp32", F16, "A100, Ada"),
    ("H100-fp16-fp32", F16, "H100"),
    ("H100-bf16-fp32", BF16, "H100"),
    ("Ada-E4M3-fp32", E4M3, "Ada, float8"),
];

/// The rows that the repository keeps, and all of them where they are.
fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let whole = root.join("../../shared/data/matrix");
    std::iter::once(root.join("tests/data/matrix")).chain(Some(whole).filter(|folder| folder.is_dir())).collect()
}

fn bits(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

#[test]
fn each_model_gives_every_product_of_its_unit_and_fails_on_those_of_others() {
    for folder in folders() {
        for (file, input, unit) in MEASURED {
            let text = std::fs::read_to_string(folder.join(format!("{file}.jsonl"))).unwrap();
            let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert!(rows.len() >= 60, "{file}");
            for model in MODELS {
                let list = |value: &Value| value.as_array().unwrap().iter().map(bits).collect::<Vec<u64>>();
                let is_given = |row: &&Value| {
                    let [a, b] = ["a", "b"].map(|name| list(&row[name]));
                    model.element(input, &a, &b, bits(&row["c"]) as u32) == Some(bits(&row["d"]) as u32)
                };
                let given = rows.iter().filter(is_given).count();
                println!("{file}: {} gives {given} of {}", model.name, rows.len());
                assert_eq!(given == rows.len(), model.name == unit, "{file}: {} gives {given}", model.name);
            }
        }
    }
}

#[test]
fn sums_are_cut_toward_zero_and_keep_subnormals() {
    let [v100, a100, ..] = MODELS;
    // 1 + 2^-24 twice: each is below the last bit that V100 keeps, and within the one that A100 does.
    let (ones, small) = (vec![0x3c00, 0x3c00, 0x3c00], vec![0x3c00, 0x0001, 0x0001]);
    assert_eq!(v100.element(F16, &ones, &small, 0), Some(0x3f80_0000));
    assert_eq!(a100.element(F16, &ones, &small, 0), Some(0x3f80_0001));
    // 1 - 2^-24 is a number, and toward zero from anything below.
    assert_eq!(v100.element(F16, &[0x3c00], &[0x3c00], 0xb380_0000), Some(0x3f80_0000));
    assert_eq!(a100.element(F16, &[0x3c00], &[0x3c00], 0xb380_0000), Some(0x3f7f_ffff));
    // Subnormal factors, a subnormal C, nothing at all.
    assert_eq!(v100.element(F16, &[0x0001], &[0x3c00], 0), Some(0x3380_0000));
    assert_eq!(v100.element(F16, &[0], &[0x3c00], 0x8000_0001), Some(0x8000_0001));
    assert_eq!(v100.element(F16, &[0x8000], &[0x3c00], 0x8000_0000), Some(0));
    // Of infinities and NaNs, and sums beyond binary32, a model says nothing.
    assert_eq!(v100.element(F16, &[0x7c00], &[0x3c00], 0), None);
    assert_eq!(v100.element(F16, &[0x3c00], &[0x3c00], 0x7fc0_0000), None);
    assert_eq!(v100.element(BF16, &[0x7f7f], &[0x7f7f], 0), None);
}
