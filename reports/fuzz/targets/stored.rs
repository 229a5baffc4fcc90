//! A file of the store: any bytes are unpacked or refused.
#![no_main]

use std::path::Path;

use fpprobe_reports::container;
use fpprobe_reports::container::columns::{Columns, join};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = container::head(bytes);
    let _ = container::unpack(bytes, Path::new("/nowhere"));
    // Parts as no writer makes them.
    let (skeleton, values) = bytes.split_at(bytes.len() / 2);
    let planes = [values.to_vec(), values.to_vec(), values.to_vec()];
    let _ = join(&Columns { skeleton: skeleton.to_vec(), planes }, 4 * bytes.len());
});
