//! Any bytes as a driver's manifest, and as that of an implicit layer.
#![no_main]

use std::path::Path;

use fpprobe::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    hostile::manifest(bytes, Path::new("/nonexistent"));
    for (name, value) in hostile::layer(bytes) {
        assert!(
            !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0'),
            "{name:?}={value:?}"
        );
    }
});
