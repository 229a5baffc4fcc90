//! Staircases of stores to small floats: what can be seen in them, and read where they are not
//! seen.

use std::sync::Arc;

use fpprobe_profiles::Observation;
use fpprobe_profiles::accuracy::Accuracy;
use fpprobe_profiles::encoding::assemble;
use fpprobe_profiles::environment::{Environment, Overflow, Ulp};
use fpprobe_profiles::oracle::{Demand, Signature};
use fpprobe_reports::Report;
use fpprobe_spirv::cases::cases;

use crate::diff::answered;
use crate::fixture::{self, kernel, render};

/// What a device stores that rounds and overflows like this.
pub fn stored(id: &str, accuracy: Accuracy, overflow: Overflow) -> Observation {
    let kernel = kernel(id);
    let (cases, question) = (cases(&kernel), Signature::new(&kernel));
    let environment = Environment { overflow, ..Environment::IEEE };
    let demand = Demand {
        function: kernel.op.function,
        operands: environment,
        results: environment,
        accuracy,
        ulp: Ulp::Vulkan,
    };
    let parts = 0..kernel.format.channels().len();
    let answer = |case: &[u64]| {
        let parts: Vec<u64> = parts
            .clone()
            .map(|part| question.accepted_part(case, part, &demand).members(1)[0])
            .collect();
        assemble(&kernel, &parts)
    };
    let out: Arc<[u64]> = cases.iter().flat_map(answer).collect();
    Observation::ran(kernel, cases, out)
}

/// One path that truncates and clamps, one that does neither, and halves by two paths that do the
/// same.
pub fn stores() -> [Observation; 4] {
    [
        stored("b10g11r11.store:route=storage_image", Accuracy::TowardZero, Overflow::Saturate),
        stored("b10g11r11.store:route=clear", Accuracy::NearestEven, Overflow::Round),
        stored("r16f.store:route=storage_image", Accuracy::NearestEven, Overflow::Round),
        stored("rgba16f.store:route=attachment", Accuracy::NearestEven, Overflow::Round),
    ]
}

/// The devices of the fixture, and before them one that stores.
pub fn devices() -> Report {
    let fixture = fixture::report();
    let mut report = answered(&stores());
    report.devices[0].identity.slot = "cpu:10005:0:13:1".into();
    report.devices.extend(fixture.devices);
    report.inputs.extend(fixture.inputs);
    report
}

fn figures(page: &str) -> Vec<&str> {
    let (_, stairs) = page.split_once("<div class=\"stairs\">").unwrap();
    let (stairs, _) = stairs.split_once("</div>").unwrap();
    stairs.split("<figure>").skip(1).collect()
}

#[test]
fn paths_that_do_the_same_are_one_picture() {
    let page = render("html", &answered(&stores()));
    let paths = |figure: &&str| {
        let (_, caption) = figure.split_once("<figcaption>").unwrap();
        caption
            .split("<code>")
            .skip(1)
            .map(|path| path.split('<').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let text: Vec<Vec<String>> = figures(&page).iter().map(paths).collect();
    assert_eq!(
        text,
        [
            vec!["b10g11r11.store:route=storage_image b"],
            vec!["b10g11r11.store:route=clear b"],
            vec!["b10g11r11.store:route=storage_image rg"],
            vec!["b10g11r11.store:route=clear rg"],
            vec!["r16f.store:route=storage_image", "rgba16f.store:route=attachment"],
        ]
    );
}

#[test]
fn a_picture_is_told_in_words() {
    let page = render("html", &answered(&stores()));
    let words = |figure: &str| {
        figure.split_once("<desc>").unwrap().1.split("</desc>").next().unwrap().to_owned()
    };
    let text: Vec<String> = figures(&page).into_iter().map(words).collect();
    assert_eq!(
        text[2],
        "rounds towards zero; overflows to the largest finite value; keeps subnormal results; keeps a NaN a NaN; minus infinity: \
         zero; negative numbers: zero; numbers beyond the range: the largest finite number; infinity: infinity; NaN: NaN"
    );
    assert_eq!(
        text[4],
        "rounds to nearest even; overflows to infinity; keeps subnormal results; keeps a NaN a NaN; minus infinity: minus \
         infinity; negative numbers: minus infinity or a negative number or zero; numbers beyond the range: infinity; infinity: \
         infinity; NaN: NaN"
    );
}

#[test]
fn without_stores_there_are_none() {
    assert!(!render("html", &fixture::report()).contains("class=\"stairs\""));
}
