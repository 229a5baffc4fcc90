//! Any bytes as the journal of a run: as they are, and with the digest that each line would need,
//! since no mutation finds one. What is read is written again as the same.
#![no_main]

use fpprobe_reports::journal::{Custody, Record, digest, line, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = read(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let sealed: String = text.lines().map(seal).collect();
    let Ok(journal) = read(sealed.as_bytes()) else { return };
    let _ = Custody::new(journal.records.iter().map(|(_, record)| record), "b").all();
    let first = line(&Record::Run(journal.run.clone()));
    let again: String = journal
        .records
        .iter()
        .map(|(_, record)| line(record))
        .fold(first, |text, line| text + &line);
    let again = read(again.as_bytes()).expect("what is written can be read");
    assert_eq!((again.run, again.records), (journal.run, journal.records));
});

fn seal(text: &str) -> String {
    let body = text.strip_suffix('}').unwrap_or(text);
    format!("{body},\"sum\":\"{}\"}}\n", digest(body.as_bytes()))
}
