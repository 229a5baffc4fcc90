//! Any bytes as the messages of a worker, or of its supervisor, in two pieces: what is read is
//! written again as the same.
#![no_main]

use fpprobe::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    hostile::frames(&[first, second]);
    // A length that fits, since no mutation finds one.
    let length = (bytes.len() as u32).to_le_bytes();
    hostile::frames(&[&length, bytes]);
});
