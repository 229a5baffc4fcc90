//! Any bytes as a line that the control socket reads.
#![no_main]

use fpprobe::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    hostile::control(bytes);
});
