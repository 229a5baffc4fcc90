//! What is accepted as the derivatives of a quad: differences of its rows and columns.

use fpprobe_profiles::accepted::Set;
use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::environment::{Environment, Ulp};
use fpprobe_profiles::oracle::{Demand, Signature};
use fpprobe_profiles::{Observation, Outcome, derivative, profile};
use fpprobe_spirv::op::Function;
use fpprobe_spirv::{Cases, Kernel, cases};
use rustc_apfloat::ieee::Single;
use rustc_apfloat::{Float as _, Round};

/// 1 and 3 above, 0.5 and 9 below: 2 and 8.5 along x, -0.5 and 6 along y.
const QUAD: [f32; 4] = [1.0, 3.0, 0.5, 9.0];

fn accepts(op: &str, results: [f32; 4]) -> bool {
    let vulkan = profile::built_in("vulkan").unwrap().unwrap();
    let kernel: Kernel = format!("f32.{op}").parse().unwrap();
    let (_, part) = vulkan.rules_for(&kernel).next().unwrap();
    let bits = |values: [f32; 4]| values.map(|value| u64::from(value.to_bits()));
    Signature::new(&kernel).accepted(&bits(QUAD), &part.demand).contains(&bits(results))
}

#[test]
fn each_row_has_its_own_or_all_have_one() {
    let (own, first, second) = ([2.0, 2.0, 8.5, 8.5], [2.0; 4], [8.5; 4]);
    let swapped = [8.5, 8.5, 2.0, 2.0];
    for (op, accepted) in [
        ("dpdx_fine", [true, false, false, false]),
        ("dpdx_coarse", [true, true, true, false]),
        ("dpdx", [true, true, true, false]),
    ] {
        assert_eq!([own, first, second, swapped].map(|one| accepts(op, one)), accepted, "{op}");
    }
    let (own, first, second) = ([-0.5, 6.0, -0.5, 6.0], [-0.5; 4], [6.0; 4]);
    let swapped = [6.0, -0.5, 6.0, -0.5];
    for (op, accepted) in [
        ("dpdy_fine", [true, false, false, false]),
        ("dpdy_coarse", [true, true, true, false]),
        ("dpdy", [true, true, true, false]),
    ] {
        assert_eq!([own, first, second, swapped].map(|one| accepts(op, one)), accepted, "{op}");
    }
    // Neither the other direction nor the other sign.
    assert!(!accepts("dpdx_coarse", [-2.0; 4]) && !accepts("dpdx", [-0.5, 6.0, -0.5, 6.0]));
}

#[test]
fn fine_differences_are_rounded_once() {
    let (operands, results, ulp) = (Environment::IEEE, Environment::IEEE, Ulp::Vulkan);
    let (function, accuracy) = (Function::Sub, Accuracy::NearestEven);
    let demand = Demand { function, operands, results, accuracy, ulp };
    for (op, differences) in [
        ("f32.dpdx_fine", [[1, 0], [1, 0], [3, 2], [3, 2]]),
        ("f32.dpdy_fine", [[2, 0], [3, 1], [2, 0], [3, 1]]),
    ] {
        let kernel: Kernel = op.parse().unwrap();
        let signature = Signature::new(&kernel);
        for case in cases::cases(&kernel).iter() {
            for (part, pair) in differences.iter().enumerate() {
                let [x, y] = pair.map(|at| Single::from_bits(case[at].into()));
                let difference = x.sub_r(y, Round::NearestTiesToEven).value;
                let set = signature.accepted_part(case, part, &demand);
                let bits = difference.to_bits() as u64;
                let is_right = set == Set::one(signature.encodings[part], bits);
                assert!(is_right || difference.is_nan() && set.contains(bits), "{op} {case:x?}");
            }
        }
    }
}

#[test]
fn the_row_that_a_device_takes_is_named() {
    let kernel: Kernel = "f32.dpdy".parse().unwrap();
    let cases: Cases = cases::cases(&kernel);
    let named = |columns: [usize; 4]| {
        let of = |case: &[u64]| {
            let value = |at: usize| f32::from_bits(case[at] as u32);
            columns.map(|column| u64::from((value(column + 2) - value(column)).to_bits()))
        };
        let out: Vec<u64> = cases.iter().flat_map(of).collect();
        let outcome = Outcome::Ran;
        let (cases, detail, out) = (cases.clone(), String::new(), out.into());
        let seen = Observation { kernel, cases, outcome, detail, out, second: None };
        derivative::rows(&seen).unwrap().value
    };
    assert_eq!(named([0, 1, 0, 1]), "own");
    assert_eq!(named([0; 4]), "first");
    assert_eq!(named([1; 4]), "second");
    assert_eq!(named([1, 0, 1, 0]), "irregular");
}
