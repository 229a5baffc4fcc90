//! Any text as a baseline: what is read is written again as the same.
#![no_main]

use fpprobe_reports::baseline::{read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(baseline) = read("fuzz.toml", text) else { return };
    let mut again = Vec::new();
    write(&baseline, &mut again).expect("memory takes everything");
    let again = String::from_utf8(again).expect("a baseline is text");
    assert_eq!(read("again.toml", &again).expect("what is written can be read"), baseline);
});
