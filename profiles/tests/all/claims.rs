//! Modes that are claimed: one that is honoured is no finding, one that is not is.

use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::claims::contradictions;
use fpprobe_profiles::environment::Subnormals;
use fpprobe_profiles::oracle::{Demand, Signature};
use fpprobe_profiles::{Observation, profile};
use fpprobe_spirv::{Control, Kernel, cases};

/// What a device answers that keeps or flushes subnormals and rounds like this.
fn answers(id: &str, subnormals: Subnormals, accuracy: Accuracy) -> Observation {
    let kernel: Kernel = id.parse().unwrap();
    // D3D's own demand on the operation, but for subnormals and rounding.
    let d3d11 = profile::built_in("d3d11").unwrap().unwrap();
    let (_, part) = d3d11.rules_for(&kernel).next().unwrap();
    let mut demand = Demand { accuracy, ..part.demand };
    for environment in [&mut demand.operands, &mut demand.results] {
        environment.subnormal_inputs = subnormals;
        environment.subnormal_results = subnormals;
    }
    let signature = Signature::new(&kernel);
    let cases = cases::cases(&kernel);
    let out: Vec<u64> =
        cases.iter().map(|case| signature.accepted_part(case, 0, &demand).members(1)[0]).collect();
    Observation::ran(kernel, cases, out.into())
}

fn contradicted(observation: Observation) -> Vec<Control> {
    contradictions(&[observation]).iter().map(|contradiction| contradiction.control).collect()
}

#[test]
fn only_a_mode_that_is_not_honoured_is_contradicted() {
    use Accuracy::{NearestEven, TowardZero};
    use Subnormals::{Flush, Keep};
    for (id, subnormals, accuracy, expected) in [
        ("f32.fmul:controls=ftz32", Flush, NearestEven, None),
        ("f32.fmul:controls=ftz32", Keep, NearestEven, Some(Control::Ftz(32))),
        ("f16.fadd:controls=dp16", Keep, NearestEven, None),
        ("f16.fadd:controls=dp16", Flush, NearestEven, Some(Control::Dp(16))),
        ("f32.fadd:controls=rte32", Keep, NearestEven, None),
        ("f32.fadd:controls=rte32", Keep, TowardZero, Some(Control::Rte(32))),
        ("f32.fadd:controls=rtz32", Flush, TowardZero, None),
        ("f32.fadd:controls=rtz32", Flush, NearestEven, Some(Control::Rtz(32))),
        ("f32.fsub:controls=szin32", Flush, NearestEven, None),
        // A mode of another width obliges to nothing here, nor does no mode.
        ("f32.fmul:controls=ftz16", Keep, NearestEven, None),
        ("f32.fmul", Keep, NearestEven, None),
    ] {
        assert_eq!(
            contradicted(answers(id, subnormals, accuracy)),
            expected.into_iter().collect::<Vec<_>>(),
            "{id}"
        );
    }
}

#[test]
fn a_lost_nan_contradicts_the_mode_that_preserves_it() {
    let mut observation =
        answers("f32.fmul:controls=szin32", Subnormals::Keep, Accuracy::NearestEven);
    let case = observation.cases.iter().position(|case| case == [0x7fc00000, 0x00000000]).unwrap();
    let mut out = observation.out.to_vec();
    out[case] = 0;
    observation.out = out.into();
    let found = contradictions(&[observation]);
    assert_eq!((found[0].control, found[0].lanes), (Control::Szin(32), 1));
    assert_eq!(found[0].evidence[0].case, [0x7fc00000, 0]);
}
