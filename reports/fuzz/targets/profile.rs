//! Any text as a profile; where it is one, everything that can be asked of it, and a device judged
//! by it that answers zero to everything.
#![no_main]

use fpprobe_profiles::accepts::accepts;
use fpprobe_profiles::judge::{Judge, Observations};
use fpprobe_profiles::profile::built_in_text;
use fpprobe_profiles::{Class, Observation, Profile};
use fpprobe_spirv::{Cases, Kernel, cases};
use libfuzzer_sys::fuzz_target;

/// Cases that each kernel is asked, spread over its list.
const MOST_CASES: usize = 16;

fuzz_target!(|text: &str| {
    let Ok(profile) = Profile::parse("fuzz.toml", text, &built_in_text) else { return };
    let judge = Judge::new(&profile);
    assert_eq!(
        judge.judge(&Observations::new(&[])).class,
        Class::Incomplete,
        "nothing was measured"
    );
    for lanes in profile.rules.iter().flat_map(|rule| &rule.lanes) {
        assert!(!lanes.to_string().is_empty());
    }
    let device: Vec<Observation> = profile.kernels().into_iter().map(zero).collect();
    for observation in &device {
        for case in observation.cases.iter() {
            accepts(&profile, &observation.kernel, case).0.to_json();
        }
    }
    judge.judge(&Observations::new(&device));
});

fn zero(kernel: Kernel) -> Observation {
    let all = cases::cases(&kernel);
    let selected: Vec<u64> =
        all.iter().step_by(all.len().div_ceil(MOST_CASES)).flatten().copied().collect();
    let cases = Cases::new("", kernel.arity(), selected);
    let out = vec![0; cases.len() * kernel.outputs()].into();
    Observation::ran(kernel, cases, out)
}
