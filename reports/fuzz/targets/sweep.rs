//! Any bytes as a fingerprint, and as the journal of a sweep: as they are, and with the digest that
//! each line would need, since no mutation finds one. What is read is written again as the same.
#![no_main]

use fpprobe_reports::journal::digest;
use fpprobe_reports::sweep::{Blocks, Fingerprint, record};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(fingerprint) = Fingerprint::unpack(bytes) {
        let again = fingerprint.pack().expect("it is written to memory");
        assert_eq!(Fingerprint::unpack(&again).expect("what is written can be read"), fingerprint);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(blocks) = serde_json::from_str::<Blocks>(text) {
        assert_eq!(blocks.iter().collect::<Blocks>(), blocks);
    }
    let sealed: String = text.lines().map(seal).collect();
    let _ = record::read(sealed.as_bytes());
});

fn seal(text: &str) -> String {
    let body = text.strip_suffix('}').unwrap_or(text);
    format!("{body},\"sum\":\"{}\"}}\n", digest(body.as_bytes()))
}
