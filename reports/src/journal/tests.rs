use super::*;
use std::collections::{BTreeMap, BTreeSet};

fn run() -> Record {
    Record::Run(RunStart {
        journal: FORMAT.to_owned(),
        program: "0.1.0".to_owned(),
        ..RunStart::default()
    })
}

fn batch(kernel: &str) -> BatchRecord {
    BatchRecord { device: "d".to_owned(), pass: Pass::Shared, kernels: vec![kernel.to_owned()] }
}

fn answers() -> Record {
    let answer = RecordedResult {
        kernel: "f32.fadd".to_owned(),
        outcome: Outcome::Flaky,
        detail: "quotes \" and\nlines".to_owned(),
        out: vec![0x8000_0000, 0],
        second: Some(vec![1, u64::MAX]),
    };
    Record::Answers(BatchResults {
        device: "d".to_owned(),
        pass: Pass::Alone,
        answers: vec![answer],
    })
}

fn records() -> Vec<Record> {
    let leg = Leg { boot: "b".to_owned(), started: "2026-01-01T00:00:00Z".to_owned() };
    vec![
        run(),
        Record::Leg(leg),
        Record::Intent(batch("f32.fadd")),
        answers(),
        Record::Ended { whole: false },
        answers(),
    ]
}

fn text() -> String {
    records().iter().map(line).collect()
}

#[test]
fn what_is_written_is_read() {
    let read = read(text().as_bytes()).unwrap();
    let found: Vec<Record> = read.records.into_iter().map(|(_, record)| record).collect();
    assert_eq!(found, records()[1..]);
    assert_eq!((read.length, read.torn), (text().len() as u64, None));
}

#[test]
fn a_torn_last_line_is_left_out_wherever_it_was_cut() {
    let text = text();
    let whole = text.trim_end().rfind('\n').unwrap() + 1;
    for end in whole + 1..text.len() {
        let read = read(&text.as_bytes()[..end]).unwrap();
        assert_eq!((read.records.len(), read.torn, read.length), (4, Some(6), whole as u64));
    }
    assert_eq!(read(&text.as_bytes()[..whole]).unwrap().torn, None);
}

#[test]
fn every_changed_byte_is_noticed() {
    let text = text();
    for place in 0..text.len() - 1 {
        let mut bytes = text.clone().into_bytes();
        bytes[place] ^= 1;
        let line = text[..place].matches('\n').count() + 1;
        let message = match read(bytes.as_slice()) {
            Err(error) => error.to_string(),
            Ok(read) => panic!("byte {place} of line {line} changed: {read:?}"),
        };
        assert!(message.contains("line "), "{message}");
    }
}

#[test]
fn other_files_are_no_journals() {
    for other in ["", "{}", "\n", "{\"schema\":\"fpprobe-report/1\"}\n", "\u{0}\u{1}\n"] {
        read(other.as_bytes()).unwrap_err();
    }
    let newer = RunStart { journal: "fpprobe-journal/2".to_owned(), ..RunStart::default() };
    let message = read(line(&Record::Run(newer)).as_bytes()).unwrap_err().to_string();
    assert!(
        message.contains("fpprobe-journal/1") && message.contains("fpprobe-journal/2"),
        "{message}"
    );
}

#[test]
fn a_line_without_end_takes_no_memory_without_end() {
    let error = read(std::io::BufReader::new(std::io::repeat(b'x'))).unwrap_err();
    assert!(matches!(error, JournalError::TooLarge { line: 1, .. }), "{error}");
}

fn leg(boot: &str) -> Record {
    Record::Leg(Leg { boot: boot.to_owned(), started: String::new() })
}

fn several(kernels: &[&str]) -> BatchRecord {
    let kernels = kernels.iter().map(ToString::to_string).collect();
    BatchRecord { device: "d".to_owned(), pass: Pass::Shared, kernels }
}

fn answered(kernels: &[&str]) -> Record {
    let answer = |kernel: &&str| RecordedResult {
        kernel: (*kernel).to_owned(),
        outcome: Outcome::Ran,
        detail: String::new(),
        out: vec![0],
        second: None,
    };
    let answers = kernels.iter().map(answer).collect();
    Record::Answers(BatchResults { device: "d".to_owned(), pass: Pass::Shared, answers })
}

fn quarantined(kernels: &[&str]) -> QuarantineRecord {
    QuarantineRecord {
        device: "d".to_owned(),
        kernels: kernels.iter().map(ToString::to_string).collect(),
    }
}

fn names(kernels: &BTreeMap<String, BTreeSet<String>>) -> Vec<&str> {
    kernels.get("d").into_iter().flatten().map(String::as_str).collect()
}

#[test]
fn what_was_asked_when_the_machine_went_down_is_held() {
    let mut records = vec![
        leg("1"),
        Record::Intent(several(&["a"])),
        answered(&["a"]),
        Record::Intent(several(&["b", "c"])),
    ];
    assert_eq!(
        Custody::new(&records, "1"),
        Custody::default(),
        "the program was killed, not the machine"
    );
    assert_eq!(Custody::new(&records, ""), Custody::default());
    assert_eq!(names(&Custody::new(&records, "2").hold), ["b", "c"]);
    records.push(Record::Ended { whole: false });
    assert_eq!(
        Custody::new(&records, "2"),
        Custody::default(),
        "the program ended in order before that"
    );
    records.pop();
    records.extend([leg("2"), Record::Quarantined(quarantined(&["b", "c"]))]);
    let after = Custody::new(&records, "3");
    assert_eq!(
        (names(&after.hold).len(), names(&after.quarantined)),
        (0, vec!["b", "c"]),
        "and stays so"
    );
}

#[test]
fn what_is_released_is_held_again_only_for_what_it_does_then() {
    let both = ["a", "b"];
    let mut records = vec![
        leg("1"),
        Record::Intent(several(&both)),
        leg("2"),
        Record::Quarantined(quarantined(&both)),
    ];
    records.extend([
        Record::Released(quarantined(&both)),
        Record::Intent(several(&["a"])),
        answered(&["a"]),
    ]);
    records.push(Record::Intent(several(&["b"])));
    let after = Custody::new(&records, "3");
    assert_eq!((names(&after.hold), names(&after.quarantined).len()), (vec!["b"], 0));
}

#[test]
fn many_steps_are_gone_through_in_no_time() {
    let steps = (0..60_000).flat_map(|number| {
        let kernel = number.to_string();
        [Record::Intent(several(&[&kernel])), answered(&[&kernel])]
    });
    let records: Vec<Record> = [leg("1")].into_iter().chain(steps).collect();
    assert_eq!(Custody::new(&records, "2"), Custody::default());
}
