//! A device's measurement, played through without processes.

use std::collections::HashSet;

use super::*;
use crate::supervisor::{Measurement, WorkItem};
use fpprobe_profiles::Outcome;
use fpprobe_spirv::{Cases, Kernel};

fn ran() -> KernelResult {
    KernelResult { outcome: Outcome::Ran, detail: String::new(), out: [1].into(), second: None }
}

fn limited(kernels: usize, batches: Vec<Vec<usize>>) -> BatchQueue {
    let mut queue = BatchQueue::new(kernels, batches);
    queue.limit(8);
    queue
}

fn work(count: usize) -> Vec<WorkItem> {
    let kernel: Kernel = "f32.fadd".parse().unwrap();
    vec![WorkItem { kernel, cases: Cases::new("", 2, vec![0, 0]) }; count]
}

fn outcome_of(answer: Option<&KernelResult>) -> Outcome {
    answer.expect("it was asked").outcome
}

/// Plays one worker slot to the end: a batch fails with this outcome if it holds one of the bad
/// places. Every final answer is seen once.
fn play(
    count: usize,
    size: usize,
    bad: &[usize],
    outcome: Outcome,
) -> (Vec<Option<KernelResult>>, Measurement, usize) {
    let places: Vec<usize> = (0..count).collect();
    let batches = places.chunks(size).map(<[usize]>::to_vec).collect();
    let bad: HashSet<usize> = bad.iter().copied().collect();
    let mut queue = limited(count, batches);
    let (mut failures, mut settled, mut seen) = (0, 0, Vec::new());
    while let Next::Run(batch) = queue.next() {
        settled += if batch.places.iter().any(|place| bad.contains(place)) {
            failures += 1;
            queue.fail(batch, &Failure::new(outcome, "it failed")).settled
        } else {
            let answers = vec![ran(); batch.places.len()];
            queue.finish(&batch, answers)
        };
        seen.extend(queue.take_unseen());
        assert_eq!(seen.len(), settled);
    }
    assert_eq!(queue.next(), Next::Finished);
    assert_eq!(settled, queue.settled(), "every kernel is settled once");
    let (answers, problems) = queue.into_results();
    seen.sort_by_key(|(place, _)| *place);
    let given = answers.iter().enumerate().filter_map(|(place, one)| Some((place, one.clone()?)));
    assert!(given.eq(seen), "other answers are seen than are given");
    (answers, problems.into_incidents(&work(count)), failures)
}

#[test]
fn one_bad_kernel_is_named_and_costs_no_other() {
    for bad in 0..24 {
        let (answers, measured, failures) = play(60, 24, &[bad], Outcome::Crashed);
        for (place, answer) in answers.iter().enumerate() {
            assert_eq!(
                outcome_of(answer.as_ref()),
                if place == bad { Outcome::Crashed } else { Outcome::Ran },
                "{place}"
            );
        }
        assert_eq!(measured.incidents.len(), 1);
        assert_eq!(measured.incidents[0].subject, "f32.fadd");
        assert!(failures <= 7, "{failures}");
    }
}

#[test]
fn several_bad_kernels_are_each_named() {
    let (answers, measured, _) = play(48, 12, &[0, 5, 6, 40], Outcome::Hung);
    assert_eq!(
        answers.iter().filter(|answer| outcome_of(answer.as_ref()) == Outcome::Hung).count(),
        4
    );
    assert_eq!(measured.incidents.len(), 4);
}

#[test]
fn a_refused_kernel_is_no_incident() {
    let (answers, measured, _) = play(12, 12, &[3], Outcome::Rejected);
    assert_eq!(outcome_of(answers[3].as_ref()), Outcome::Rejected);
    assert_eq!((measured.incidents.len(), measured.findings.len()), (0, 0));
    let (answers, _, failures) = play(1, 1, &[0], Outcome::Rejected);
    assert_eq!(
        (outcome_of(answers[0].as_ref()), failures),
        (Outcome::Rejected, 2),
        "a refusal may be a whim"
    );
}

#[test]
fn a_failure_that_does_not_come_back_is_reported() {
    for (outcome, incidents, findings) in [(Outcome::Crashed, 1, 0), (Outcome::Rejected, 0, 1)] {
        let mut queue = limited(4, vec![vec![0, 1, 2, 3]]);
        let Next::Run(batch) = queue.next() else { panic!() };
        assert_eq!(queue.next(), Next::Wait);
        queue.fail(batch, &Failure::new(outcome, "killed"));
        while let Next::Run(batch) = queue.next() {
            let answers = vec![ran(); batch.places.len()];
            queue.finish(&batch, answers);
        }
        let (answers, problems) = queue.into_results();
        assert!(answers.iter().flatten().all(|answer| answer.outcome == Outcome::Ran));
        let measured = problems.into_incidents(&work(4));
        assert_eq!((measured.incidents.len(), measured.findings.len()), (incidents, findings));
    }
}

#[test]
fn a_lone_kernel_is_tried_twice() {
    let (answers, measured, failures) = play(1, 1, &[0], Outcome::Crashed);
    assert_eq!((outcome_of(answers[0].as_ref()), failures), (Outcome::Crashed, 2));
    assert!(measured.incidents[0].detail.contains("twice"));
}

#[test]
fn a_driver_that_always_crashes_comes_to_an_end() {
    let all: Vec<usize> = (0..1000).collect();
    let (answers, measured, failures) = play(1000, 24, &all, Outcome::Crashed);
    assert!(failures < 12, "{failures}");
    assert!(
        answers.iter().filter(|answer| answer.is_none()).count() > 900,
        "who is not asked has no answer"
    );
    assert!(measured.incidents.last().unwrap().detail.contains("given up"));
}

#[test]
fn a_device_that_cannot_be_opened_is_given_up_after_three_workers() {
    let mut queue = limited(2, vec![vec![0], vec![1]]);
    let mut starts = 0;
    while let Next::Run(batch) = queue.next() {
        starts += 1;
        queue.fail_to_start(batch, &Failure::new(Outcome::Rejected, "vkCreateDevice failed"));
    }
    assert_eq!(starts, 3);
    let (answers, problems) = queue.into_results();
    assert!(answers.iter().all(Option::is_none));
    assert_eq!(problems.into_incidents(&work(2)).incidents.len(), 1);
}

fn killed() -> Failure {
    Failure { outside: true, ..Failure::new(Outcome::Crashed, "the worker was killed by SIGKILL") }
}

#[test]
fn a_batch_whose_worker_was_killed_from_outside_is_run_again_as_it_was() {
    let mut queue = limited(3, vec![vec![0, 1], vec![2]]);
    for _ in 0..KILLS {
        let Next::Run(batch) = queue.next() else { panic!() };
        assert_eq!(batch.places, [0, 1]);
        assert_eq!(queue.fail(batch, &killed()).settled, 0);
    }
    // Nine times at the same batch is no coincidence.
    let Next::Run(batch) = queue.next() else { panic!() };
    queue.fail(batch, &killed());
    while let Next::Run(batch) = queue.next() {
        let answers = vec![ran(); batch.places.len()];
        queue.finish(&batch, answers);
    }
    let (answers, problems) = queue.into_results();
    assert!(answers.iter().all(Option::is_some));
    let measured = problems.into_incidents(&work(3));
    let details: Vec<&str> =
        measured.incidents.iter().map(|incident| &incident.detail[..]).collect();
    assert!(
        details.len() == 2
            && details[1].starts_with(&format!("{KILLS} workers were ended from outside")),
        "{details:?}"
    );
}

#[test]
fn who_was_killed_is_named_whatever_the_next_worker_gave() {
    let mut queue = limited(1, vec![vec![0]]);
    let Next::Run(batch) = queue.next() else { panic!() };
    queue.fail(batch, &killed());
    let Next::Run(batch) = queue.next() else { panic!() };
    queue.fail_to_start(batch, &killed());
    let Next::Run(batch) = queue.next() else { panic!() };
    queue.finish(&batch, vec![ran()]);
    let measured = queue.into_results().1.into_incidents(&work(1));
    let [incident] = &measured.incidents[..] else { panic!("{:?}", measured.incidents) };
    let said = ["2 workers were ended from outside", "SIGKILL", &work(1)[0].kernel.to_string()];
    assert!(said.iter().all(|words| incident.detail.contains(words)), "{}", incident.detail);
}

#[test]
fn what_is_put_back_or_set_aside_is_not_answered() {
    let mut queue = limited(4, vec![vec![0, 1, 2], vec![3]]);
    queue.set_aside(&[1, 3].into());
    let Next::Run(batch) = queue.next() else { panic!() };
    assert_eq!(batch.places, [0, 2]);
    queue.put_back(batch);
    let batch = queue.claim(&[0, 2]);
    queue.finish(&batch, vec![ran(), ran()]);
    assert_eq!(queue.next(), Next::Finished);
    queue.take_up(&[3].into());
    assert_eq!(queue.settled(), 2);
    assert!(matches!(queue.next(), Next::Run(batch) if batch.places == [3]));
}

#[test]
fn incidents_come_in_the_order_of_kernels() {
    let ids = ["f32.fadd", "f32.fsub", "f32.fmul", "f32.fdiv"];
    let item =
        |id: &str| WorkItem { kernel: id.parse().unwrap(), cases: Cases::new("", 2, vec![0, 0]) };
    let subjects = |order: [usize; 2]| -> Vec<String> {
        let mut queue = limited(4, vec![vec![0, 1], vec![2, 3]]);
        for places in order.map(|first| [first, first + 1]) {
            let batch = queue.claim(&places);
            queue.fail(batch, &Failure::new(Outcome::Hung, "late"));
        }
        while let Next::Run(batch) = queue.next() {
            queue.fail(batch, &Failure::new(Outcome::Hung, "late"));
        }
        let measured = queue.into_results().1.into_incidents(&ids.map(item));
        measured.incidents.into_iter().map(|incident| incident.subject).collect()
    };
    assert_eq!(subjects([0, 2]), ids);
    assert_eq!(subjects([2, 0]), ids);
}

#[test]
fn kernels_that_wrote_nothing_batched_are_run_isolated() {
    let nothing = || KernelResult::none(Outcome::NotWritten, "poison");
    let mut queue = limited(3, vec![vec![0, 1, 2]]);
    let Next::Run(batch) = queue.next() else { panic!() };
    assert_eq!(queue.finish(&batch, vec![nothing(), ran(), nothing()]), 1);
    for answer in [ran(), nothing()] {
        let Next::Run(batch) = queue.next() else { panic!() };
        assert_eq!(batch.places.len(), 1);
        assert_eq!(queue.finish(&batch, vec![answer]), 1);
    }
    assert_eq!(queue.next(), Next::Finished);
    let (answers, problems) = queue.into_results();
    let outcomes: Vec<Outcome> =
        answers.into_iter().flatten().map(|answer| answer.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ran, Outcome::Ran, Outcome::NotWritten]);
    let findings = problems.into_incidents(&work(3)).findings;
    assert_eq!(findings.len(), 1);
    assert!(findings[0].text.starts_with("1 of 3 kernels in one module"), "{}", findings[0].text);
}

#[test]
fn a_batch_of_other_places_is_made_of_what_waits() {
    let mut queue = limited(4, vec![vec![0, 1], vec![2, 3]]);
    let batch = queue.claim(&[1, 2]);
    queue.finish(&batch, vec![ran(), ran()]);
    let Next::Run(batch) = queue.next() else { panic!() };
    assert_eq!(batch.places, [0]);
}

#[test]
fn a_device_that_takes_one_worker_at_a_time_is_not_given_up() {
    let mut queue = limited(2, vec![vec![0], vec![1]]);
    let Next::Run(working) = queue.next() else { panic!() };
    for failures in 1..=STARTS {
        let Next::Run(batch) = queue.next() else { panic!() };
        let consequence = queue.fail_to_start(batch, &Failure::new(Outcome::Rejected, "in use"));
        assert_eq!(consequence.retire, failures == STARTS);
    }
    queue.finish(&working, vec![ran()]);
    assert!(matches!(queue.next(), Next::Run(batch) if batch.places == [1]));
}

#[test]
fn what_failed_before_is_forgiven() {
    let mut queue = BatchQueue::new(40, (0..40).map(|place| vec![place]).collect());
    for place in 0..30 {
        let batch = queue.claim(&[place]);
        queue.fail(batch, &Failure::new(Outcome::Crashed, "again"));
    }
    queue.limit(8);
    let Next::Run(batch) = queue.next() else { panic!() };
    assert!(!queue.fail(batch, &Failure::new(Outcome::Crashed, "again")).plan.contains("given up"));
}

#[test]
fn what_there_is_no_time_for_is_left_out_but_in_company_of_what_there_is() {
    let mut queue = BatchQueue::new(5, vec![vec![0, 3], vec![1, 2], vec![4]]);
    let Next::Run(first) = queue.next() else { panic!("nothing is asked") };
    assert_eq!(first.places, [0, 3]);
    assert_eq!([0, 1, 2].map(|from| queue.is_past(from)), [true, true, false]);
    queue.leave_out(1);
    assert!(!queue.is_past(1), "nothing waits");
    assert_eq!((queue.next(), queue.left_out()), (Next::Wait, &[1, 2, 4][..]));
    // Half of a batch fails: a piece without what there is time for goes, too.
    queue.fail(first, &Failure::new(Outcome::Crashed, "signal 11"));
    queue.leave_out(1);
    let Next::Run(piece) = queue.next() else { panic!("nothing is asked") };
    assert_eq!((&piece.places[..], queue.left_out()), (&[0][..], &[1, 2, 4, 3][..]));
}
