//! A device's measurement, played through without processes.

use std::collections::HashSet;

use super::*;
use crate::supervisor::{Ask, Measured};
use fpprobe_spirv::{Cases, Kernel};

fn ran() -> Answer {
    Answer { outcome: Outcome::Ran, detail: String::new(), out: vec![1], second: None }
}

fn asks(count: usize) -> Vec<Ask> {
    let kernel: Kernel = "f32.fadd".parse().unwrap();
    vec![Ask { kernel, cases: Cases::new("", 2, vec![0, 0]) }; count]
}

/// Plays one lane to the end: a batch fails with this outcome if it holds one of the bad places.
fn play(count: usize, size: usize, bad: &[usize], outcome: Outcome) -> (Vec<Answer>, Measured, usize) {
    let places: Vec<usize> = (0..count).collect();
    let batches = places.chunks(size).map(<[usize]>::to_vec).collect();
    let bad: HashSet<usize> = bad.iter().copied().collect();
    let mut queue = Queue::new(count, batches, 8);
    let (mut failures, mut settled) = (0, 0);
    while let Next::Ask(batch) = queue.next() {
        settled += if batch.places.iter().any(|place| bad.contains(place)) {
            failures += 1;
            queue.fail(batch, &Failure::new(outcome, "it failed")).0
        } else {
            let answers = vec![ran(); batch.places.len()];
            queue.finish(&batch, answers)
        };
    }
    assert_eq!(queue.next(), Next::Finished);
    assert_eq!(settled, count, "every kernel is settled once");
    let (answers, troubles) = queue.into_results();
    (answers, troubles.into_incidents(&asks(count)), failures)
}

#[test]
fn one_bad_kernel_is_named_and_costs_no_other() {
    for bad in 0..24 {
        let (answers, measured, failures) = play(60, 24, &[bad], Outcome::Crashed);
        for (place, answer) in answers.iter().enumerate() {
            assert_eq!(answer.outcome, if place == bad { Outcome::Crashed } else { Outcome::Ran }, "{place}");
        }
        assert_eq!(measured.incidents.len(), 1);
        assert_eq!(measured.incidents[0].subject, "f32.fadd");
        assert!(failures <= 7, "{failures}");
    }
}

#[test]
fn several_bad_kernels_are_each_named() {
    let (answers, measured, _) = play(48, 12, &[0, 5, 6, 40], Outcome::Hung);
    assert_eq!(answers.iter().filter(|answer| answer.outcome == Outcome::Hung).count(), 4);
    assert_eq!(measured.incidents.len(), 4);
}

#[test]
fn a_refused_kernel_is_no_incident() {
    let (answers, measured, _) = play(12, 12, &[3], Outcome::Rejected);
    assert_eq!(answers[3].outcome, Outcome::Rejected);
    assert_eq!((measured.incidents.len(), measured.findings.len()), (0, 0));
    let (answers, _, failures) = play(1, 1, &[0], Outcome::Rejected);
    assert_eq!((answers[0].outcome, failures), (Outcome::Rejected, 1), "and is not asked twice when alone");
}

#[test]
fn a_failure_that_does_not_come_back_is_told() {
    for (outcome, incidents, findings) in [(Outcome::Crashed, 1, 0), (Outcome::Rejected, 0, 1)] {
        let mut queue = Queue::new(4, vec![vec![0, 1, 2, 3]], 8);
        let Next::Ask(batch) = queue.next() else { panic!() };
        assert_eq!(queue.next(), Next::Wait);
        queue.fail(batch, &Failure::new(outcome, "killed"));
        while let Next::Ask(batch) = queue.next() {
            let answers = vec![ran(); batch.places.len()];
            queue.finish(&batch, answers);
        }
        let (answers, troubles) = queue.into_results();
        assert!(answers.iter().all(|answer| answer.outcome == Outcome::Ran));
        let measured = troubles.into_incidents(&asks(4));
        assert_eq!((measured.incidents.len(), measured.findings.len()), (incidents, findings));
    }
}

#[test]
fn a_lone_kernel_is_tried_twice() {
    let (answers, measured, failures) = play(1, 1, &[0], Outcome::Crashed);
    assert_eq!((answers[0].outcome, failures), (Outcome::Crashed, 2));
    assert!(measured.incidents[0].detail.contains("twice"));
}

#[test]
fn a_driver_that_always_crashes_comes_to_an_end() {
    let all: Vec<usize> = (0..1000).collect();
    let (answers, measured, failures) = play(1000, 24, &all, Outcome::Crashed);
    assert!(failures < 12, "{failures}");
    assert!(answers.iter().all(|answer| answer.outcome == Outcome::Crashed));
    assert!(measured.incidents.last().unwrap().detail.contains("given up"));
}

#[test]
fn a_device_that_cannot_be_opened_is_given_up_after_three_workers() {
    let mut queue = Queue::new(2, vec![vec![0], vec![1]], 8);
    let mut starts = 0;
    while let Next::Ask(batch) = queue.next() {
        starts += 1;
        queue.fail_to_start(batch, &Failure::new(Outcome::Rejected, "vkCreateDevice failed"));
    }
    assert_eq!(starts, 3);
    let (answers, troubles) = queue.into_results();
    assert!(answers.iter().all(|answer| answer.outcome == Outcome::Rejected));
    assert_eq!(troubles.into_incidents(&asks(2)).incidents.len(), 1);
}
