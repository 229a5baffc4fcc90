//! A quick run has shorter lists of inputs than a default run.

use fpprobe_spirv::catalogue::Extent;
use fpprobe_spirv::{Kernel, cases};

use super::*;

/// Sums whose subnormals are flushed, but for the first ones of the list, which are wrong.
fn sums(id: &str, cases: Cases, wrong: usize) -> Observation {
    let flushed = |bits: u64| {
        let kept = if bits & 0x7f80_0000 == 0 { 1 << 31 } else { u32::MAX };
        f32::from_bits(bits as u32 & kept)
    };
    let sums = cases.iter().map(|case| {
        let sum = flushed(case[0]) + flushed(case[1]);
        u64::from(flushed(u64::from(sum.to_bits())).to_bits())
    });
    let out: Vec<u64> =
        sums.enumerate().map(|(case, sum)| if case < wrong { 0x0000_0777 } else { sum }).collect();
    Observation::ran(id.parse().unwrap(), cases, out.into())
}

fn whole(id: &str, wrong: usize) -> Observation {
    sums(id, Extent::Default.cases(&id.parse::<Kernel>().unwrap()), wrong)
}

fn short(id: &str, wrong: usize) -> Observation {
    sums(id, cases::boundary(&id.parse::<Kernel>().unwrap()), wrong)
}

#[test]
fn it_adds_its_new_lanes_to_what_is_accepted() {
    let (default, quick) =
        (judged(&[whole("f32.fadd", 5), whole("f32.fsub", 5)]), judged(&[short("f32.fadd", 3)]));
    let mut baseline = accepted(&default);
    take(&mut baseline, &quick);
    for (name, report) in [("default", &default), ("quick", &quick)] {
        let checked = checked(report, &baseline, false);
        assert!(checked.passed, "{name}: {:?}", checked.changes);
    }
}

#[test]
fn what_it_lacks_is_no_regression() {
    let kernel = "f32.fadd";
    let (list, default) = (short(kernel, 0).cases, whole(kernel, 0));
    let place = |is_it: &dyn Fn(&[u64]) -> bool| default.cases.iter().position(is_it).unwrap();
    let wrong = |case: usize| {
        let mut out: Vec<u64> = default.out.iter().copied().collect();
        out[case] = 0x0000_0777;
        judged(&[Observation { out: out.into(), ..default.clone() }])
    };
    let on_it = wrong(place(&|case| Some(case) == list.iter().last()));
    let beyond = wrong(place(&|case| !list.iter().any(|one| one == case)));
    let counts = |report: &Report, baseline: &Baseline| {
        let checked = checked(report, baseline, false);
        assert_eq!(checked.gate, Gate::NotPassed);
        (checked.regressed().count() > 0, checked.appeared().count() > 0)
    };

    let mut baseline = accepted(&judged(&[short(kernel, 1)]));
    assert_eq!(baseline.measured[0].short, baseline.measured[0].kernels);
    assert_eq!(counts(&beyond, &baseline), (false, true));
    assert_eq!(counts(&on_it, &baseline), (true, false));
    // Once measured in full it stays so, and nothing is beyond.
    for report in [judged(std::slice::from_ref(&default)), judged(&[short(kernel, 1)])] {
        take(&mut baseline, &report);
        assert!(baseline.measured[0].short.is_empty());
        assert_eq!(counts(&beyond, &baseline), (true, false));
    }
}
