//! Observations into a report and back.

use std::sync::Arc;

use fpprobe_profiles::{Observation, Outcome};
use fpprobe_reports::model::{self, Inputs, Outputs, Tables, Value};
use fpprobe_reports::record::{RecordError, Recorder, read_device};
use fpprobe_spirv::Cases;

use crate::fixture::{observation, without_answers};

fn record(observations: &[Observation]) -> (Vec<model::StoredObservation>, Tables) {
    let mut recorder = Recorder::new();
    let written = recorder.device(observations);
    (written, recorder.inputs_table())
}

fn read_error(observations: &[model::StoredObservation], tables: &Tables) -> RecordError {
    read_device(observations, tables).unwrap_err()
}

#[test]
fn observations_come_back_as_they_went() {
    let flaky = observation("f32.cos", 0);
    let second = Some(flaky.out.iter().map(|bits| bits ^ 1).collect());
    let list = vec![
        observation("f32.fadd", 0),
        observation("f32.fmul", 0),
        observation("f32.ford_equal", 0),
        observation("f16.fabs:width=3", 5),
        observation("b10g11r11.store:route=storage_image", 7),
        observation("b10g11r11.load:route=storage_image", 7),
        observation("f32.select", 1),
        Observation { outcome: Outcome::Flaky, second, ..flaky },
        without_answers("f32.exp", Outcome::Crashed, "signal 11"),
    ];
    let (written, tables) = record(&list);
    let read = read_device(&written, &tables).unwrap();
    assert_eq!(read.observations, list);
    assert!(read.unknown.is_empty());
}

#[test]
fn equal_answers_are_written_once() {
    let list = [
        observation("f32.fadd", 0),
        observation("f32.fmul", 0),
        observation("f32.fsub", 1),
        observation("f32.ford_equal", 0),
    ];
    let (written, tables) = record(&list);
    assert_eq!(tables.len(), 1);
    let same_as = |index: usize| match &written[index].out {
        Some(Outputs::SameAs { same_as }) => Some(same_as.as_str()),
        _ => None,
    };
    assert_eq!([same_as(0), same_as(1), same_as(2)], [None, Some("f32.fadd"), None]);
    // The same numbers as answers of another format are other answers.
    assert_eq!(same_as(3), None);
    let read = read_device(&written, &tables).unwrap().observations;
    assert!(std::sync::Arc::ptr_eq(&read[0].out, &read[1].out));
}

#[test]
fn another_list_of_the_same_name_stays_with_its_kernel() {
    let first = observation("f32.fadd", 0);
    let other = Observation {
        cases: Cases::new(first.cases.name.clone(), 2, vec![9, 9, 9, 9]),
        ..observation("f32.fmul", 0)
    };
    let by_hand =
        Observation { cases: Cases::new("", 2, vec![8, 8, 8, 8]), ..observation("f32.fsub", 0) };
    let (written, tables) = record(&[first, other.clone(), by_hand.clone()]);
    assert!(matches!(&written[1].inputs, Inputs::Cases(cases) if cases.len() == 2));
    let read = read_device(&written, &tables).unwrap().observations;
    assert_eq!(read[1].cases.case(1), other.cases.case(1));
    assert_eq!(read[2], by_hand);
}

#[test]
fn kernels_of_other_versions_are_named_and_the_rest_is_read() {
    let (mut written, tables) = record(&[
        observation("f32.fadd", 0),
        observation("f32.fmul", 0),
        observation("f32.fsub", 0),
    ]);
    written[0].kernel = "e2m1.fadd".into();
    for later in &mut written[1..] {
        later.out = Some(Outputs::SameAs { same_as: "e2m1.fadd".into() });
    }
    let read = read_device(&written, &tables).unwrap();
    assert_eq!(read.observations.len(), 2);
    assert_eq!(read.observations[0].out[..], [0, 1]);
    let message = read.unknown[0].to_string();
    assert!(message.contains("`e2m1.fadd`") && message.contains("unknown format"), "{message}");
}

#[test]
fn references_lead_backwards_only() {
    let (mut written, tables) = record(&[observation("f32.fadd", 0), observation("f32.fmul", 0)]);
    let same_as = |kernel: &str| Some(Outputs::SameAs { same_as: kernel.into() });
    let answers = written[0].out.clone();
    for (first, second) in
        [("f32.fmul", "f32.fadd"), ("f32.fadd", "f32.fadd"), ("nothing", "f32.fadd")]
    {
        (written[0].out, written[1].out) = (same_as(first), same_as(second));
        let error = read_error(&written, &tables);
        assert!(matches!(error, RecordError::NoSuchAnswers { .. }), "{error}");
    }
    (written[0].out, written[1].out) = (answers, same_as("f32.fadd"));
    written[1].inputs = Inputs::Cases([].into_iter().collect());
    assert!(matches!(read_error(&written, &tables), RecordError::OtherInputs { .. }));
}

#[test]
fn contradictions_are_refused() {
    let (written, tables) = record(&[observation("f32.fadd", 0)]);
    let broken = |change: &dyn Fn(&mut model::StoredObservation)| {
        let mut observation = written[0].clone();
        change(&mut observation);
        read_error(&[observation], &tables).to_string()
    };
    let one = || Value::Bits("00000000".into());
    assert_eq!(
        broken(&|o| o.out = Some(Outputs::Values([one()].into_iter().collect()))),
        "kernel `f32.fadd` was asked 2 cases but has 1 answers"
    );
    assert_eq!(
        broken(&|o| o.out =
            Some(Outputs::Values([one(), Value::Bits("0".into())].into_iter().collect()))),
        "kernel `f32.fadd`, case 1: result: `0` is not a value of f32: expected 8 hex digits"
    );
    assert_eq!(broken(&|o| o.out = None), "kernel `f32.fadd` has outcome `ran` and yet no answers");
    assert_eq!(
        broken(&|o| o.outcome = Outcome::Hung),
        "kernel `f32.fadd` has outcome `hung` and yet answers"
    );
    assert_eq!(
        broken(&|o| o.second = vec![(0, one())]),
        "kernel `f32.fadd` has outcome `ran` and yet a second answer"
    );
    assert!(
        broken(&|o| (o.outcome, o.second) = (Outcome::Flaky, vec![(7, one())]))
            .contains("asked 2 cases")
    );
    assert!(broken(&|o| o.inputs = Inputs::Table("nowhere".into())).contains("`nowhere`"));
    assert!(
        broken(&|o| o.inputs = Inputs::Cases([Value::List(vec![one()])].into_iter().collect()))
            .contains("takes 2 operands")
    );
    assert!(broken(&|o| o.kernel = "f16.fadd".into()).contains("expected 4 hex digits"));
}

#[test]
fn a_second_answer_belongs_to_a_case() {
    let (mut written, tables) = record(&[observation("f32.fadd", 0)]);
    written[0].outcome = Outcome::Flaky;
    for case in [2, usize::MAX] {
        written[0].second = vec![(case, Value::Bits("00000000".into()))];
        let message = read_error(&written, &tables).to_string();
        assert!(message.contains("asked 2 cases but has a second answer to case"), "{message}");
    }
}

/// A list that many kernels refer to is read once for each shape, not once for each kernel.
#[test]
fn references_share_what_they_refer_to() {
    let ids = ["bf16.fadd", "f32.fadd", "f32.fmul", "f32.fsub"];
    let (mut written, tables) = record(&vec![observation("f32.fadd", 0); 4]);
    for (observation, id) in written.iter_mut().zip(ids) {
        observation.kernel = id.into();
    }
    for later in &mut written[1..] {
        later.out = Some(Outputs::SameAs { same_as: ids[0].into() });
    }
    let read = read_device(&written, &tables).unwrap().observations;
    assert!(read.windows(2).all(|pair| Arc::ptr_eq(&pair[0].out, &pair[1].out)));
}

#[test]
fn what_references_stand_for_is_limited() {
    let (mut written, mut tables) = record(&[observation("f32.fadd", 0)]);
    let one = || Value::Bits("00000000".into());
    let cases = 1 << 16;
    tables.insert(
        "long".into(),
        std::iter::repeat_n(Value::List(vec![one(), one()]), cases).collect(),
    );
    written[0].inputs = Inputs::Table("long".into());
    written[0].out = Some(Outputs::Values(std::iter::repeat_n(one(), cases).collect()));
    let reference = model::StoredObservation {
        out: Some(Outputs::SameAs { same_as: "f32.fadd".into() }),
        ..written[0].clone()
    };
    written.extend(std::iter::repeat_n(reference, 1 << 14));
    let message = read_error(&written, &tables).to_string();
    assert!(message.contains("more than 268435456 answers"), "{message}");
}
