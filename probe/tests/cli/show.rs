//! The last report is kept, and `show` reads it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::scene::{ends, fpprobe};

/// The program with a store of its own, which it fills as it does by default.
fn keeping(drivers: &[&str], state: &Path) -> Command {
    let mut command = fpprobe(drivers);
    command.env_remove("FPPROBE_STORE_KEEP").env("XDG_STATE_HOME", state);
    command
}

#[test]
fn every_run_keeps_its_report_and_show_finds_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let run = |arguments: &[&str]| {
        let mut command = keeping(&["lavapipe-25"], state);
        ends(command.args(["run", "f32.fadd", "f32.nmin", "--profile", "d3d11"]).args(arguments))
    };
    let show = |what: &[&str]| ends(keeping(&[], state).arg("show").args(what)).with(0).to_owned();
    let none = ends(keeping(&[], state).args(["show", "1"]));
    none.with(2);
    assert!(none.err.contains("`fpprobe run` keeps its report"), "{}", none.err);
    let first = run(&[]);
    let foot = first.with(0).lines().last().unwrap();
    assert_eq!(
        foot,
        "fpprobe show 1 · fpprobe repro 2 · fpprobe show traits · report kept as `last`"
    );
    assert!(!first.err.contains("stored"), "{}", first.err);
    let cause = show(&["1"]);
    for part in [
        "1 f32 fadd: keeps subnormals",
        "severity    special",
        "scope       run time",
        "symptom     subnormal_operand_kept",
        "kernels     f32.fadd",
        "D32-18 Subnormal operands are read as zero",
        "required in d3d11; FPR l.54",
        "Simplest lane",
        "fpprobe eval f32.fadd ",
        "fpprobe repro 1",
    ] {
        assert!(cause.contains(part), "{part}: {cause}");
    }
    let id =
        cause.lines().find_map(|line| line.trim().strip_prefix("id ")).unwrap().trim().to_owned();
    assert_eq!(show(&[&id]), cause);
    assert_eq!(show(&["1", "last"]), cause.replace("repro 1", "repro 1 last"));
    let rule = show(&["D32-18"]);
    for part in [
        "quote ",
        "d3d11       deviates",
        "cause 1     f32 fadd: keeps subnormals",
        "fpprobe eval f32.fadd",
    ] {
        assert!(rule.contains(part), "{part}: {rule}");
    }
    for name in ["f32.fadd", "OpFAdd"] {
        let kernel = show(&[name]);
        assert!(
            kernel.contains("not accepted by D32-18") && kernel.contains("cause 1 "),
            "{kernel}"
        );
    }
    assert!(show(&["NMin"]).contains("f32.nmin: ran"));
    let found = show(&["min", "nan"]);
    assert!(
        found.starts_with("`fpprobe show NAME` shows one of these:")
            && found.contains("\n  nmin  "),
        "{found}"
    );
    assert!(show(&["subnormals"]).contains("cause: f32 fadd: keeps subnormals"));
    assert!(show(&[]).contains("Causes"));
    // Another report behind the words; and what `last` is then.
    let other = folder.path().join("other.json");
    ends(keeping(&["swiftshader"], state).args(["run", "f32.fadd", "--no-keep", "-o"]).arg(&other))
        .with(0);
    assert!(show(&["OpFAdd", other.to_str().unwrap()]).contains("SwiftShader"));
    assert!(!show(&["OpFAdd"]).contains("SwiftShader"));
    run(&["--seed", "5"]).with(0);
    for compared in [&["diff", "last"][..], &["diff", "last-1", "last"], &["diff", "--last"]] {
        assert!(
            ends(keeping(&[], state).args(compared)).with(0).contains("seed 5"),
            "{compared:?}"
        );
    }
    ends(keeping(&[], state).args(["diff", "last-7"])).with(2);
    assert!(ends(keeping(&[], state).args(["diff", "nothing"])).err.contains("name two reports"));
    ends(keeping(&[], state).args(["judge", "last", "--profile", "d3d11"])).with(0);
    // A store of one's own.
    let named = folder.path().join("my store");
    let foot = run(&["--store-path", named.to_str().unwrap()]);
    let argument = format!("last --store-path '{}'", named.display());
    assert!(foot.with(0).contains(&format!("fpprobe show 1 {argument}")), "{}", foot.out);
}

#[test]
fn a_report_that_is_not_kept_is_said_not_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let run = |arguments: &[&str]| {
        ends(
            keeping(&["lavapipe-25"], &state)
                .args(["run", "f32.fadd", "--profile", "d3d11"])
                .args(arguments),
        )
    };
    let unkept = run(&["--no-keep"]);
    assert!(unkept.with(0).contains("report not kept: `-o FOLDER`"), "{}", unkept.out);
    assert!(!state.exists());
    let file = folder.path().join("report.json");
    let written = run(&["--no-keep", "-o", file.to_str().unwrap()]);
    assert!(
        written.with(0).contains(&format!("fpprobe show 1 {}", file.display())),
        "{}",
        written.out
    );
    // A store that cannot be written costs nothing but a warning.
    fs::write(&state, "a file").unwrap();
    let blocked = run(&[]);
    assert!(blocked.with(0).contains("report not kept"), "{}", blocked.out);
    assert!(
        blocked.err.contains("warning: the report is not kept as `last`: failed to create store"),
        "{}",
        blocked.err
    );
    assert!(blocked.err.contains("`--no-keep` omits this warning"), "{}", blocked.err);
    run(&["--store"]).with(2);
    // Who has no home has no store either.
    let mut homeless = keeping(&["lavapipe-25"], Path::new("relative"));
    let homeless = ends(homeless.args(["run", "f32.fadd"]).env("HOME", "relative"));
    homeless.with(0);
    assert!(
        homeless.err.contains("warning: the report is not kept as `last`: there is no place"),
        "{}",
        homeless.err
    );
    // A report that became damaged hides no description.
    fs::remove_file(&state).unwrap();
    run(&[]).with(0);
    for entry in fs::read_dir(state.join("fpprobe")).unwrap().flatten() {
        if entry.path().extension().is_some_and(|end| end == "fpreport") {
            let bytes = fs::read(entry.path()).unwrap();
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o644)).unwrap();
            fs::write(entry.path(), &bytes[..bytes.len() / 2]).unwrap();
        }
    }
    let damaged = ends(keeping(&[], &state).args(["show", "D32-18"]));
    assert!(
        damaged.with(0).contains("citation") && damaged.err.contains("warning: the last report"),
        "{}",
        damaged.err
    );
}
