//! What the program prints where no device is needed, each command with its whole output and
//! status. `TRYCMD=overwrite` writes the files again.

use std::path::Path;

use crate::scene::{ends, fpprobe};

#[test]
fn screens_are_as_written_down() {
    trycmd::TestCases::new()
        .register_bin("fpprobe", Path::new(env!("CARGO_BIN_EXE_fpprobe")))
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("XDG_STATE_HOME", "/nonexistent")
        .env("STATE_DIRECTORY", "")
        .case("tests/cli/screens/*.trycmd");
}

/// Those files hold both streams as one.
#[test]
fn messages_leave_standard_output_to_results() {
    for arguments in [
        &[][..],
        &["rnu"],
        &["run", "--jobs", "0"],
        &["eval", "f32.fabs", "8000000g"],
        &["accepts", "d3d12", "f32.fadd", "0", "0"],
        &["judge", "none.json"],
        &["show", "fmull"],
    ] {
        assert_eq!(ends(fpprobe(&[]).args(arguments)).with(2), "", "{arguments:?}");
    }
}
