//! Any bytes as the head of a request to the listener: a path without a query, or a refusal.
#![no_main]

use fpprobe::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(path) = hostile::http(bytes) {
        assert!(!path.contains(['?', '#', ' ', '\r', '\n']), "{path:?}");
    }
});
