use fpprobe_spirv::{Cases, Kernel, cases};

use super::*;
use crate::accuracy::Accuracy;
use crate::encoding::{Encoding, assemble};
use crate::environment::{Environment, Ulp};
use crate::observation::{Observation, Outcome};
use crate::oracle::{Demand, Signature, accepted_on};
use crate::profile::{Profile, built_in, built_in_ids};

/// Scalars, vectors as a whole and by components, two results, channels of texels, multiply-adds,
/// comparisons.
const KERNELS: [&str; 20] = [
    "f16.fadd",
    "f16.exp2",
    "f16.log2",
    "f16.fract",
    "f16.modf",
    "f16.fma",
    "f16.sin",
    "f16.atan2",
    "f16.nmin",
    "f16.fadd:width=2",
    "f16.normalize:width=3",
    "f32.reflect:width=2",
    "f32.cross:width=3",
    "f32.dot:width=2",
    "f32.ford_less_than",
    "f32.fconvert_f16",
    "f32.pack_half_2x16",
    "b10g11r11.store:route=storage_image",
    "rgba16f.load:route=storage_image",
    "f64.fsub",
];

/// What a device makes of a correctly rounded result; the number of the case, too.
type Device = fn(Encoding, u64, usize) -> u64;

/// The result, and of one case in five one that is up to four encodings away.
fn one_off(encoding: Encoding, bits: u64, number: usize) -> u64 {
    let (first, last) = encoding.limits();
    let away = if number.is_multiple_of(5) { (number / 5 % 9) as i64 - 4 } else { 0 };
    encoding.at(encoding.key(bits).saturating_add(away).clamp(first, last))
}

fn result(signature: &Signature, case: &[u64], number: usize, device: Device) -> Vec<u64> {
    let environments = [Environment::IEEE; 2];
    let ([operands, results], function) = (environments, signature.kernel.op.function);
    let ieee =
        Demand { function, operands, results, accuracy: Accuracy::NearestEven, ulp: Ulp::Vulkan };
    let parts = signature.encodings.iter().enumerate().map(|(part, encoding)| {
        let bits = signature.accepted_part(case, part, &ieee).members(1).first().copied();
        device(*encoding, bits.unwrap_or(0), number)
    });
    assemble(&signature.kernel, &parts.collect::<Vec<_>>())
}

/// Results of a device, with a second run that differs now and then where it is flaky.
fn observed(kernel: Kernel, device: Device, flaky: bool) -> Observation {
    let signature = Signature::new(&kernel);
    let all = cases::cases(&kernel);
    // Some of long lists, the classes at their beginning and end among them.
    let every = all.len().div_ceil(400);
    let some: Vec<u64> = all.iter().step_by(every).flatten().copied().collect();
    let cases = Cases::new("", kernel.arity(), some);
    let run = |shift: usize| -> Vec<u64> {
        let results = cases.iter().enumerate();
        results
            .flat_map(|(number, case)| result(&signature, case, number + shift, device))
            .collect()
    };
    let (outcome, second) =
        if flaky { (Outcome::Flaky, Some(run(3).into())) } else { (Outcome::Ran, None) };
    Observation { kernel, out: run(0).into(), cases, outcome, detail: String::new(), second }
}

#[test]
fn every_verdict_is_the_oracles_accepted_set_of_each_lane_by_itself() {
    let profiles: Vec<Profile> = built_in_ids().map(|id| built_in(id).unwrap().unwrap()).collect();
    let devices: [(Device, bool); 3] =
        [(|_, bits, _| bits, false), (one_off, false), (one_off, true)];
    let (mut compared, mut failing) = (0, 0);
    for (id, (device, flaky)) in KERNELS.iter().flat_map(|id| devices.map(|device| (id, device))) {
        let observation = observed(id.parse().unwrap(), device, flaky);
        let looks = profiles.iter().flat_map(|profile| profile.rules_for(&observation.kernel));
        let views: Vec<LaneView<'_>> =
            looks.map(|(rule, part)| LaneView::new(rule, &part.demand, &observation)).collect();
        assert!(!views.is_empty(), "{id}");
        for (view, together) in views.iter().zip(judge(&views)) {
            let alone = judge(std::slice::from_ref(view)).pop().unwrap();
            assert_eq!(format!("{together:?}"), format!("{alone:?}"), "{} of {id}", view.rule.id);
            compared += 1;
            if view.rule.requirements != [Requirement::Result] {
                continue;
            }
            let signature = Signature::new(&observation.kernel);
            let fails = |index: &LaneIndex| {
                let operands = signature.operands(observation.cases.case(index.0), index.1);
                let encoding = signature.encodings[index.1];
                view.rule.selects(encoding, &operands, view.demand)
                    && !view.accepts(
                        &accepted_on(encoding, &operands, view.demand),
                        *index,
                        view.demand,
                    )
            };
            let expected: Vec<LaneIndex> = view.indices().filter(fails).collect();
            assert_eq!(together.failing, expected, "{} of {id}", view.rule.id);
            failing += expected.len();
        }
    }
    assert!(compared > 300 && failing > 1000, "{compared} views, {failing} lanes");
}
