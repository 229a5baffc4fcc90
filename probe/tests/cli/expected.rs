//! `gate`: devices of a host compared with what is expected of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::scene::{self, Ended, ends, fpprobe};

/// As many kernels as fit a minute, on a loaded machine too.
const LONG: [&str; 2] = ["--budget", "60s"];

fn gate(driver: &str, state: &Path, expected: &Path, arguments: &[&str]) -> Ended {
    let mut command = fpprobe(&[driver]);
    ends(
        command
            .env("XDG_STATE_HOME", state)
            .args(["gate", "--expect"])
            .arg(expected)
            .args(arguments),
    )
}

/// What `SwiftShader` computes, recorded once, with few kernels so that all are compared at once.
fn recorded(folder: &Path) -> (std::path::PathBuf, Value) {
    static EXPECTED: LazyLock<Value> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("expected.json");
        gate("swiftshader", folder.path(), &file, &["--record"]).with(0);
        scene::json(&file)
    });
    let file = folder.join("expected.json");
    let mut expected = EXPECTED.clone();
    let kernels = expected["devices"][0]["kernels"].as_object_mut().unwrap();
    assert!(kernels.len() > 100, "{}", kernels.len());
    let few: BTreeSet<&str> =
        ["f32.fadd", "f32.fma", "f32.sqrt", "rgba8unorm.store:route=storage_image"].into();
    kernels.retain(|kernel, _| few.contains(kernel.as_str()));
    assert_eq!(kernels.len(), few.len());
    fs::write(&file, expected.to_string()).unwrap();
    (file, expected)
}

#[test]
fn a_device_that_computes_as_recorded_is_the_same_and_another_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mut expected) = recorded(folder.path());
    let gate = |arguments: &[&str]| {
        gate("swiftshader", folder.path(), &file, &[&LONG, arguments].concat())
    };
    let ended = gate(&[]);
    let line = ended.with(0);
    assert!(line.starts_with("same: ") && line.contains(" of 4 kernels (of 4)"), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    let nagios = gate(&["--style", "nagios"]);
    assert!(nagios.with(0).starts_with("FPPROBE OK: "), "{}", nagios.out);

    expected["devices"][0]["kernels"]["f32.fma"] = "0123456789abcdef".into();
    fs::write(&file, expected.to_string()).unwrap();
    let line = gate(&[]);
    assert!(
        line.with(3).contains("other results by f32.fma; `fpprobe eval f32.fma`"),
        "{}",
        line.out
    );
    // The next call begins with that kernel, however little time it has.
    let places = scene::json(&folder.path().join("fpprobe/gate.json"));
    let mut kernels = expected["devices"][0]["kernels"].as_object().unwrap().keys();
    let place = &places.as_object().unwrap().values().next().unwrap()["kernel"];
    assert_eq!(place, kernels.position(|id| id == "f32.fma").unwrap(), "{places}");
    let npd = gate(&["--style", "npd"]);
    assert!(npd.with(1).starts_with("different: other results by f32.fma; "), "{}", npd.out);
    assert!(npd.out.trim_end().chars().count() <= 80, "{}", npd.out);
    gate(&["--style", "nagios"]).with(2);
}

#[test]
fn what_most_hosts_give_is_what_a_recorded_host_gives() {
    const KERNELS: [&str; 2] = ["f32.fadd", "f32.sqrt"];
    let folder = tempfile::tempdir().unwrap();
    let (reports, file) = (folder.path().join("reports"), folder.path().join("consensus.json"));
    fs::create_dir(&reports).unwrap();
    let consensus =
        || ends(fpprobe(&[]).arg("inventory").arg(&reports).arg("--consensus").arg(&file));
    let measure = |host: &str| {
        let mut run = fpprobe(&["swiftshader"]);
        run.args(["run", "--no-keep", "--label", host])
            .args(KERNELS)
            .arg("-o")
            .arg(reports.join(host).with_extension("json"));
        ends(&mut run).with(0);
    };
    measure("a");
    let alone = consensus();
    assert!(
        alone.code == Some(2) && alone.err.contains("no two devices of one model"),
        "{}",
        alone.err
    );
    assert!(!file.exists());
    measure("b");
    consensus().with(0);

    // It is what a trusted host records, and a gate takes it as such.
    let (_, recorded) = recorded(folder.path());
    let kernels = &scene::json(&file)["devices"][0]["kernels"];
    for kernel in KERNELS {
        assert!(kernels[kernel].is_string(), "{kernel}: {kernels}");
        assert_eq!(kernels[kernel], recorded["devices"][0]["kernels"][kernel], "{kernel}");
    }
    let same = gate("swiftshader", folder.path(), &file, &LONG);
    assert!(same.with(0).starts_with("same: "), "{}", same.out);
}

#[test]
fn what_cannot_be_compared_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mut expected) = recorded(folder.path());
    let unknown = |driver: &str, status: i32, part: &str| {
        let ended = gate(driver, folder.path(), &file, &LONG);
        let line = ended.with(status);
        assert!(line.starts_with("unknown: ") && line.contains(part), "{line}");
    };
    unknown("lavapipe-25", 4, "it is not in ");
    // The mock driver writes nothing; here it has the name of the other.
    let mock = gate("mock", folder.path(), &folder.path().join("mock.json"), &["--record"]);
    assert!(mock.code == Some(4) && !folder.path().join("mock.json").exists(), "{}", mock.err);
    let mut unknown_kernel = expected.clone();
    unknown_kernel["devices"][0]["kernels"]["f32.fmaa"] = "0123456789abcdef".into();
    fs::write(&file, unknown_kernel.to_string()).unwrap();
    let wrong = gate("swiftshader", folder.path(), &file, &[]);
    assert!(
        wrong.code == Some(2) && wrong.err.contains("there is no kernel `f32.fmaa`"),
        "{}",
        wrong.err
    );
    expected["program"] = "0.0.1".into();
    fs::write(&file, expected.to_string()).unwrap();
    unknown("swiftshader", 4, "is of fpprobe 0.0.1");
    let over = gate("swiftshader", folder.path(), &file, &["--record"]);
    assert!(over.code == Some(2) && over.err.contains("record every model again"), "{}", over.err);

    fs::write(&file, json!({"schema": "fpprobe-expected/2"}).to_string()).unwrap();
    let wrong = gate("swiftshader", folder.path(), &file, &[]);
    assert!(
        wrong.code == Some(2) && wrong.err.contains("these are no expected results"),
        "{}",
        wrong.err
    );
    let lost = gate(
        "swiftshader",
        folder.path(),
        &folder.path().join("none.json"),
        &["--style", "nagios"],
    );
    assert!(
        lost.with(3).contains("No such file") && lost.out.contains("gate --record"),
        "{}",
        lost.out
    );
    assert_eq!(
        gate("swiftshader", folder.path(), &folder.path().join("none.json"), &[]).code,
        Some(2)
    );
    let none = folder.path().join("none.json");
    let lost = gate("swiftshader", folder.path(), &none, &["--style", "npd"]);
    assert!(lost.with(2).starts_with("unknown: failed to read "), "{}", lost.out);
    // An error is no difference by any convention, wherever it comes up.
    for (style, status) in [("own", 2), ("npd", 2), ("nagios", 3)] {
        for wrong in [["--budget", "never"], ["--set", "nope=1"]] {
            let arguments = [&["--style", style][..], &wrong].concat();
            let ended = gate("swiftshader", folder.path(), &file, &arguments);
            assert_eq!(ended.code, Some(status), "{arguments:?}: {}", ended.err);
        }
    }
    let nowhere = folder.path().join("none/expected.json");
    let nowhere = gate("swiftshader", folder.path(), &nowhere, &["--record"]);
    assert!(nowhere.code == Some(2) && nowhere.err.contains("is no folder"), "{}", nowhere.err);
}

/// What a device does wrong each time is found by nothing else, and what another model does is no
/// measure of it.
#[test]
fn a_screening_without_anything_equal_is_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = recorded(folder.path());
    let sweep = folder.path().join("sweep/");
    let mut part = fpprobe(&["swiftshader"]);
    part.args(["sweep", "f32.floor", "--fingerprint", "--shard", "1/4096", "-o"]).arg(&sweep);
    ends(&mut part).with(0);
    let screen = |driver: &str, option: &str, of: &Path| {
        let mut screen = fpprobe(&[driver]);
        screen.args(["screen", "f32.floor", "--for", "5s", option]).arg(of);
        ends(&mut screen)
    };
    let expect = screen("lavapipe-25", "--expect", &file);
    assert!(expect.with(5).contains("this model and driver are not in "), "{}", expect.out);
    let reference = screen("lavapipe-25", "--reference", &sweep);
    assert!(reference.with(5).contains(" is of SwiftShader Device"), "{}", reference.out);
    screen("swiftshader", "--reference", &sweep).with(0);
}

#[test]
fn a_second_call_goes_on_where_the_first_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("expected.json");
    gate("lavapipe-25", folder.path(), &file, &["--record"]).with(0);
    let place = |of: &str| {
        let places = scene::json(&folder.path().join("fpprobe/gate.json"));
        places.as_object().unwrap().values().next().unwrap()[of].as_u64().unwrap()
    };
    let all = scene::json(&file)["devices"][0]["kernels"].as_object().unwrap().len() as u64;
    // How much fits depends on the machine: the first budget in which any kernel does shows it.
    let (budget, line) = [1, 2, 4, 8, 16, 32, 64, 128]
        .into_iter()
        .find_map(|seconds| {
            let ended =
                gate("lavapipe-25", folder.path(), &file, &["--budget", &format!("{seconds}s")]);
            assert!(ended.code == Some(0) || ended.code == Some(4), "{}{}", ended.out, ended.err);
            (ended.code == Some(0)).then_some((seconds, ended.out))
        })
        .expect("two minutes are enough");
    let compared: u64 =
        line.split(" kernels").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(compared > 0 && compared <= all, "{budget} s: {line}");
    assert!(place("kernel") < all);
    assert_eq!(place("kernel") == 0, compared == all, "{budget} s: {line}");
    assert_eq!(place("block") > 0, line.contains(" blocks, devices: "), "{budget} s: {line}");
}
