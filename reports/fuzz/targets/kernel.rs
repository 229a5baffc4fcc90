//! Any text as a kernel id: what parses prints as an id that parses to the same kernel and prints
//! the same.
#![no_main]

use fpprobe_spirv::Kernel;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(kernel) = text.parse::<Kernel>() else { return };
    let id = kernel.to_string();
    let again: Kernel = id.parse().expect("a printed id parses");
    assert_eq!(again, kernel);
    assert_eq!(again.to_string(), id);
});
