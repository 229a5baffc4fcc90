//! Any text as a configuration.
#![no_main]

use fpprobe::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    hostile::config(text);
});
