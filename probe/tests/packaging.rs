//! Units and container as shipped: valid, confined as far as they say, and made of what is there. The Debian package is tried
//! out by `make deb`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const SERVICES: [&str; 2] = ["fpprobe", "fpprobe-run"];

/// A file of the repository.
fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn packaged(name: &str) -> String {
    file(&format!("probe/packaging/systemd/{name}"))
}

/// The units, in a folder of their own, as the package installs them, but for the path of the program.
struct Units(TempDir);

impl Units {
    fn installed() -> Self {
        let units = Self(TempDir::new().unwrap());
        for name in ["fpprobe.service", "fpprobe-run.service", "fpprobe-run.timer"] {
            let text = packaged(name).replace("/usr/bin/fpprobe", env!("CARGO_BIN_EXE_fpprobe"));
            fs::write(units.path(name), text).unwrap();
        }
        for service in SERVICES {
            units.drop_in(service, "50-hardening.conf", &packaged("hardening.conf"));
        }
        units
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn drop_in(&self, service: &str, name: &str, text: &str) {
        let folder = self.path(&format!("{service}.service.d"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }

    /// The exposure of a service, in tenths: `1.3` is 13.
    fn exposure(&self, service: &str) -> u32 {
        let unit = self.path(&format!("{service}.service"));
        let said = analyze(["security", "--offline=true", "--no-pager"], &[unit]);
        let text = String::from_utf8(said.stdout).unwrap();
        let level = text.lines().last().and_then(|line| line.split(": ").nth(1)?.split(' ').next());
        let level = level.unwrap_or_else(|| panic!("no level in {text}"));
        level.replace('.', "").parse().unwrap_or_else(|_| panic!("{level}"))
    }
}

fn analyze<const N: usize>(arguments: [&str; N], units: &[PathBuf]) -> Output {
    Command::new("systemd-analyze").args(arguments).args(units).env("LC_ALL", "C.UTF-8").output().unwrap()
}

#[test]
fn units_are_valid() {
    let units = Units::installed();
    let all = ["fpprobe.service", "fpprobe-run.service", "fpprobe-run.timer"].map(|name| units.path(name));
    let said = analyze(["verify", "--man=no"], &all);
    let complaints = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && !complaints.contains("fpprobe"), "{complaints}");
    // The check sees what is wrong.
    units.drop_in("fpprobe", "90-typo.conf", "[Service]\nProtectSistem=strict\n");
    let said = analyze(["verify", "--man=no"], &all);
    assert!(String::from_utf8_lossy(&said.stderr).contains("ProtectSistem"));
}

#[test]
fn limits_are_settings_that_systemd_knows() {
    let units = Units::installed();
    for service in SERVICES {
        units.drop_in(service, "limits.conf", &packaged("limits.conf.example"));
    }
    let all = SERVICES.map(|service| units.path(&format!("{service}.service")));
    let said = analyze(["verify", "--man=no"], &all);
    let complaints = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && !complaints.contains("fpprobe"), "{complaints}");
}

#[test]
fn a_configuration_that_is_wrong_is_not_tried_again_and_again() {
    let unit = packaged("fpprobe.service");
    // 2: usage, configuration or unreadable input.
    assert!(unit.contains("\nRestart=on-failure\n") && unit.contains("\nRestartPreventExitStatus=2\n"));
}

#[test]
fn a_worker_that_is_killed_for_want_of_memory_ends_no_service() {
    for service in SERVICES {
        let unit = packaged(&format!("{service}.service"));
        assert!(unit.lines().any(|line| line == "OOMPolicy=continue"), "{service}");
    }
}

#[test]
fn services_are_confined_and_drivers_compile_in_them() {
    let units = Units::installed();
    for service in SERVICES {
        assert!(units.exposure(service) <= 15, "{service}: {}", units.exposure(service));
    }
    assert!(!packaged("hardening.conf").lines().any(|line| line.starts_with("MemoryDenyWriteExecute")));
}

#[test]
fn what_the_network_costs_is_stated() {
    let example = packaged("network.conf.example");
    let units = Units::installed();
    let stated = |tenths: u32| format!("{}.{}", tenths / 10, tenths % 10);
    let alone = stated(units.exposure("fpprobe"));
    units.drop_in("fpprobe", "network.conf", &example);
    let open = stated(units.exposure("fpprobe"));
    let chosen = |line: &&str| !line.starts_with("IPAddress");
    let narrow: Vec<String> =
        example.lines().filter(chosen).map(|line| line.replace("#IPAddress", "IPAddress")).collect();
    let narrow = narrow.join("\n");
    units.drop_in("fpprobe", "network.conf", &narrow);
    let narrow = stated(units.exposure("fpprobe"));
    assert!(example.contains(&format!("says {open} instead of {alone}.")), "{open}, {alone}");
    assert!(example.contains(&format!("known ({narrow})")), "{narrow}");
}

#[test]
fn the_container_is_made_of_what_is_there() {
    let text = file("probe/packaging/container/Containerfile").replace("\\\n", "");
    let instructions: Vec<(&str, &str)> = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap_or((line, "")))
        .collect();
    let of = |name: &'static str| instructions.iter().filter(move |(own, _)| *own == name).map(|(_, rest)| *rest);
    // It is built by the toolchain and from the packages that the scripts of this repository install.
    let toolchain = file("Cargo.toml");
    let version = toolchain.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    assert!(of("FROM").next().unwrap().contains(&format!("rust:{version}-")), "{version}");
    let installer = file(".ci/install");
    let list = |name: &str| {
        let line = installer.lines().find_map(|line| line.strip_prefix(&format!("readonly {name}=("))).unwrap();
        line.trim_end_matches(')').split(' ').map(str::to_owned).collect::<Vec<_>>()
    };
    let mut stages = of("RUN").filter(|command| command.contains("apt-get install"));
    for name in ["BUILD_PACKAGES", "RUN_PACKAGES"] {
        let stage = stages.next().unwrap();
        let words: Vec<&str> = stage.split_whitespace().collect();
        for package in list(name) {
            assert!(words.contains(&package.as_str()), "{package} of {name}: {stage}");
        }
    }
    // What is copied is there, and what is started is what is copied.
    for copied in of("COPY").filter(|copied| !copied.starts_with("--from")) {
        let source = copied.split(' ').next().unwrap();
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(source).exists(), "{source}");
    }
    let program = of("COPY").find_map(|copied| copied.strip_prefix("--from=build /src/target/dist/fpprobe "));
    assert_eq!(of("ENTRYPOINT").collect::<Vec<_>>(), [format!("[\"{}\"]", program.unwrap())]);
    assert!(of("USER").next().is_some_and(|user| user != "root"));
}
