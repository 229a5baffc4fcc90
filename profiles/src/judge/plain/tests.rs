use fpprobe_spirv::{Cases, Kernel, cases};

use super::*;
use crate::accuracy::Accuracy;
use crate::judge::judge_lanes;
use crate::observation::{Observation, Outcome};
use crate::oracle::{Question, accepted_on};
use crate::profile::{Profile, built_in, built_in_ids};

const KERNELS: [&str; 28] = [
    "f16.fadd",
    "f16.fdiv",
    "f16.sqrt",
    "f16.inverse_sqrt",
    "f16.exp2",
    "f16.log2",
    "f16.floor",
    "f16.round",
    "f16.fract",
    "f16.fabs",
    "f16.modf",
    "f16.fma",
    "f16.sin",
    "f16.sinh",
    "f16.tanh",
    "f16.acos",
    "f16.asinh",
    "f16.degrees",
    "f16.pow",
    "f32.exp",
    "f16.atan2",
    "f16.fadd:width=2",
    "f32.fmul",
    "f32.fconvert_f16",
    "f32.pack_half_2x16",
    "b10g11r11.store:route=storage_image",
    "rgba16f.load:route=storage_image",
    "f64.fsub",
];

/// What a device makes of a correctly rounded answer; the number of the lane, too.
type Device = fn(Encoding, u64, usize) -> u64;

fn answer(question: &Question, case: &[u64], number: usize, device: Device) -> Vec<u64> {
    let parts = question.encodings.iter().enumerate().map(|(part, encoding)| {
        let function = question.kernel.op.function;
        let environments = [crate::environment::Environment::IEEE; 2];
        let [operands, results] = environments;
        let accuracy = Accuracy::NearestEven;
        let ieee =
            crate::oracle::Demand { function, operands, results, accuracy, ulp: crate::environment::Ulp::Vulkan };
        let bits = accepted_on(*encoding, &question.operands(case, part), &ieee).members(1).first().copied();
        device(*encoding, bits.unwrap_or(0), number)
    });
    crate::encoding::assemble(&question.kernel, &parts.collect::<Vec<_>>())
}

/// Answers of a device, with a second run that differs now and then where it is flaky.
fn observed(kernel: Kernel, device: Device, flaky: bool) -> Observation {
    let question = Question::new(&kernel);
    let all = cases::cases(&kernel);
    // Some of long lists, the classes at their beginning and end among them.
    let every = all.len().div_ceil(1500);
    let some: Vec<u64> = all.iter().step_by(every).flatten().copied().collect();
    let cases = Cases::new("", kernel.arity(), some);
    let run = |device: Device| -> Vec<u64> {
        cases.iter().enumerate().flat_map(|(number, case)| answer(&question, case, number, device)).collect()
    };
    let second = flaky.then(|| run(|encoding, bits, number| one_off(encoding, bits, number + 3)).into());
    let outcome = if flaky { Outcome::Flaky } else { Outcome::Ran };
    Observation { kernel, out: run(device).into(), cases, outcome, detail: String::new(), second }
}

/// The answer, and for one lane of many one that is one, two, three or four encodings away.
fn one_off(encoding: Encoding, bits: u64, number: usize) -> u64 {
    let (first, last) = encoding.limits();
    let away = if number.is_multiple_of(5) { (number / 5 % 9) as i64 - 4 } else { 0 };
    encoding.at(encoding.key(bits).saturating_add(away).clamp(first, last))
}

/// A profile of one's own: accuracies at the ends of what a shortcut takes, selections that it cannot know, other environments.
fn own_rules() -> String {
    let accuracies = [
        "0.5 ulp",
        "1 ulp",
        "1.5 ulp",
        "15 ulp",
        "511.5 ulp",
        "512 ulp",
        "1e9 ulp",
        "0.5 + 2 |x| ulp",
        "1 + 0.25 |x| ulp",
    ];
    let accuracies = accuracies.into_iter().chain([
        "1 + 1e9 |x| ulp",
        "either neighbour",
        "toward zero or nearest even",
        "nearest away",
        "toward zero",
        "2 ulp in [-1, 1], else 3 ulp",
    ]);
    let lanes = [
        "{}",
        "{ any = [\"one\"] }",
        "{ all = [\"power\", \"negative\"] }",
        "{ none = [\"negative\"], result = \"normal\" }",
        "{ one = [\"normal\"] }, { result = \"tiny\" }",
        "{ none = [\"normal\"] }",
        "{ first = [\"normal\"], result_not = \"beyond\" }",
    ];
    let environments = [
        "",
        "environment = { subnormal_inputs = \"flush\", subnormal_results = \"either\", non_finite = \"any\" }",
        "environment = { zero_sign = \"either\", zero_order = \"second\", overflow = \"saturate\" }",
        "requirement = [\"result\", \"one_treatment\"]",
    ];
    let operations = ["fadd", "sqrt", "exp2", "floor", "fract", "store", "fdiv"];
    let mut text = String::from("id = \"own\"\ntitle = \"t\"\nversion = \"1\"\nextends = \"vulkan\"\n");
    for (number, accuracy) in accuracies.enumerate() {
        for (other, operation) in operations.into_iter().enumerate() {
            let (lanes, more) =
                (lanes[(number + other) % lanes.len()], environments[(number + 3 * other) % environments.len()]);
            let format = if operation == "store" { "b10g11r11" } else { "f16" };
            let rule = format!(
                "[[rule]]\nid = \"X-{number}-{operation}\"\ntitle = \"t\"\ncitation = \"c\"\nlevel = \"required\"\n\
                 format = \"{format}\"\noperations = [\"{operation}\"]\nlanes = [{lanes}]\naccuracy = {{ any = \"{accuracy}\" }}\n{more}\n"
            );
            text.push_str(&rule);
        }
    }
    for (number, environment) in environments.into_iter().enumerate() {
        let rule = format!(
            "[[rule]]\nid = \"Y-{number}\"\ntitle = \"t\"\ncitation = \"c\"\nlevel = \"required\"\n\
             format = \"f16\"\noperations = [\"sinh\", \"tanh\", \"asinh\", \"degrees\", \"acos\"]\n{environment}\n"
        );
        text.push_str(&rule);
    }
    text
}

#[test]
fn what_is_said_of_plain_lanes_is_what_looking_at_them_says() {
    let devices: [(Device, bool); 4] = [
        (|_, bits, _| bits, false),
        (one_off, false),
        // Rounds up what it should not, always.
        (|encoding, bits, _| encoding.at(encoding.key(bits).saturating_add(1).min(encoding.limits().1)), false),
        (one_off, true),
    ];
    let mut profiles: Vec<Profile> = built_in_ids().map(|id| built_in(id).unwrap().unwrap()).collect();
    profiles.push(Profile::parse("own.toml", &own_rules(), &crate::profile::built_in_text).unwrap());
    let (mut told, mut looks) = (0, 0);
    for (id, (device, flaky)) in KERNELS.iter().flat_map(|id| devices.map(|device| (id, device))) {
        let observation = observed(id.parse().unwrap(), device, flaky);
        let lists = Lists::default();
        for (rule, part) in profiles.iter().flat_map(|profile| profile.rules_for(&observation.kernel)) {
            let sight = Sight::new(rule, &part.demand, &observation);
            let shortcut = Shortcut::new(&sight, &lists);
            told += usize::from(shortcut.is_some());
            looks += 1;
            let (short, whole) = (judge_lanes(&sight, shortcut.as_ref()), judge_lanes(&sight, None));
            assert_eq!(format!("{short:?}"), format!("{whole:?}"), "{} of {id}", rule.id);
        }
    }
    assert!(told * 3 > looks, "{told} of {looks} looks take a shortcut");
}

#[test]
fn lists_are_known_by_function_and_answers() {
    let profile = built_in("vulkan").unwrap().unwrap();
    let kernel: Kernel = "f16.fadd".parse().unwrap();
    let (right, wrong) = (observed(kernel, |_, bits, _| bits, false), observed(kernel, one_off, false));
    let again = right.clone();
    let (rule, part) = profile.rules_for(&kernel).next().unwrap();
    let lists = Lists::default();
    let list = |observation| lists.of(&Sight::new(rule, &part.demand, observation));
    assert!(Arc::ptr_eq(&list(&right), &list(&again)));
    assert!(!Arc::ptr_eq(&list(&right), &list(&wrong)));
    let mut other = part.demand.clone();
    other.function = Function::Sub;
    assert!(!Arc::ptr_eq(&list(&right), &lists.of(&Sight::new(rule, &other, &right))));
}
