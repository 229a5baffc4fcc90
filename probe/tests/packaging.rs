//! Units, container, manifests and scripts as shipped: valid, confined as far as they say, and made
//! of what is there. The Debian package is tried out by `make deb`, the scripts for Slurm on a
//! Slurm by `make test-slurm`.

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

/// The units, in a folder of their own, as the package installs them, but for the path of the
/// program.
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
    Command::new("systemd-analyze")
        .args(arguments)
        .args(units)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap()
}

#[test]
fn units_are_valid() {
    let units = Units::installed();
    let all = ["fpprobe.service", "fpprobe-run.service", "fpprobe-run.timer"]
        .map(|name| units.path(name));
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
    assert!(
        unit.contains("\nRestart=on-failure\n") && unit.contains("\nRestartPreventExitStatus=2\n")
    );
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
    assert!(
        !packaged("hardening.conf").lines().any(|line| line.starts_with("MemoryDenyWriteExecute"))
    );
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
    let narrow: Vec<String> = example
        .lines()
        .filter(chosen)
        .map(|line| line.replace("#IPAddress", "IPAddress"))
        .collect();
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
    let of = |name: &'static str| {
        instructions.iter().filter(move |(own, _)| *own == name).map(|(_, rest)| *rest)
    };
    // It is built by the toolchain and from the packages that the scripts of this repository
    // install.
    let toolchain = file("Cargo.toml");
    let version = toolchain
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "))
        .unwrap()
        .trim_matches('"');
    assert!(of("FROM").next().unwrap().contains(&format!("rust:{version}-")), "{version}");
    let installer = file(".ci/install");
    let list = |name: &str| {
        let line = installer
            .lines()
            .find_map(|line| line.strip_prefix(&format!("readonly {name}=(")))
            .unwrap();
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
    let program =
        of("COPY").find_map(|copied| copied.strip_prefix("--from=build /src/target/dist/fpprobe "));
    assert_eq!(of("ENTRYPOINT").collect::<Vec<_>>(), [format!("[\"{}\"]", program.unwrap())]);
    assert!(of("USER").next().is_some_and(|user| user != "root"));
}

/// What `probe/tests/kubernetes/check.py` says of manifests.
#[derive(serde::Deserialize)]
struct Checked {
    problems: Vec<String>,
    /// Of each container its name, `command` and `args`.
    commands: Vec<(String, Vec<String>, Vec<String>)>,
}

fn checked(manifests: &[PathBuf]) -> Checked {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut python = Command::new("python3");
    python.arg(root.join("probe/tests/kubernetes/check.py")).args(manifests);
    let said = python.env("PYTHONPATH", root.join("target/python")).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    serde_json::from_slice(&said.stdout).unwrap()
}

/// The command and the options of these words are the program's.
fn is_known(words: &[&str]) {
    let help =
        Command::new(env!("CARGO_BIN_EXE_fpprobe")).args([words[0], "--help"]).output().unwrap();
    assert!(help.status.success(), "{words:?}");
    let help = String::from_utf8(help.stdout).unwrap();
    let options = words.iter().filter(|word| word.starts_with("--"));
    let unknown: Vec<_> = options.filter(|option| !help.contains(**option)).collect();
    assert!(unknown.is_empty(), "{unknown:?} of {words:?}");
}

#[test]
fn manifests_are_valid_and_their_containers_confined() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/kubernetes");
    let manifests =
        ["namespace", "daemonset", "gate", "sweep"].map(|name| folder.join(format!("{name}.yaml")));
    let said = checked(&manifests);
    assert!(said.problems.is_empty(), "{:#?}", said.problems);
    assert_eq!(said.commands.len(), 6);
    let container = file("probe/packaging/container/Containerfile");
    for (name, command, args) in &said.commands {
        let text = command.join(" ");
        match &command[..] {
            [] => is_known(&args.iter().map(String::as_str).collect::<Vec<_>>()),
            [shell, script, ..] if script.starts_with('/') => {
                assert!(
                    shell == "/bin/sh" && container.contains(&format!(" {script}\n")),
                    "{name}: {script}"
                );
            }
            _ => is_known(
                &text.split_once("exec fpprobe ").unwrap().1.split_whitespace().collect::<Vec<_>>(),
            ),
        }
    }

    // The check sees what is wrong.
    let scratch = TempDir::new().unwrap();
    let text = file("probe/packaging/kubernetes/daemonset.yaml");
    for (sound, faulty, problem) in [
        ("updateStrategy:", "updateStrategi:", "updateStrategi"),
        ("nvidia.com/gpu: 1", "nvidia.com/gpu: [1]", "[1] is not"),
        (
            "readOnlyRootFilesystem: true",
            "readOnlyRootFilesystem: false",
            "measure has a root that can be written",
        ),
        ("drop: [ALL]", "add: [SYS_ADMIN]", "measure has capabilities"),
        ("allowPrivilegeEscalation: false", "privileged: true", "measure is privileged"),
        ("runAsNonRoot: true", "runAsNonRoot: false", "measure is root"),
        ("type: RuntimeDefault", "type: Unconfined", "measure has no seccomp profile"),
        (
            "      automountServiceAccountToken: false",
            "      hostPID: true",
            "gets a token of the API",
        ),
        ("{name: tmp, mountPath: /tmp}", "{name: node, mountPath: /node}", "and opens a device"),
        ("memory: 4Gi", "cpu: 4", "measure has no limit of memory"),
    ] {
        let path = scratch.path().join("daemonset.yaml");
        assert!(text.contains(sound), "{sound}");
        fs::write(&path, text.replacen(sound, faulty, 1)).unwrap();
        let problems = checked(&[path]).problems;
        assert!(problems.iter().any(|one| one.contains(problem)), "{faulty}: {problems:?}");
    }
}

#[test]
fn the_plugin_of_node_problem_detector_is_the_gate() {
    let plugin: serde_json::Value =
        serde_json::from_str(&file("probe/packaging/kubernetes/node-problem-detector.json"))
            .unwrap();
    let (config, rule) = (&plugin["pluginConfig"], &plugin["rules"][0]);
    assert_eq!((&rule["path"], &config["max_output_length"]), (&"/usr/bin/env".into(), &80.into()));
    let args: Vec<&str> =
        rule["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    // Each comparison goes on where the one before ended.
    let ["STATE_DIRECTORY=/var/lib/fpprobe-gate", "/usr/bin/fpprobe", args @ ..] = &args[..] else {
        panic!("{args:?}");
    };
    is_known(args);
    let seconds = |text: &serde_json::Value| {
        text.as_str().unwrap().trim_end_matches('s').parse::<u32>().unwrap()
    };
    let budget = args[args.iter().position(|word| *word == "--budget").unwrap() + 1];
    assert!(seconds(&budget.into()) < seconds(&rule["timeout"]));
    assert!(seconds(&rule["timeout"]) <= seconds(&config["timeout"]));
    assert_eq!(rule["condition"], plugin["conditions"][0]["type"]);
}

/// The gate of Slurm with programs in place of those that it calls.
struct Gate(TempDir);

impl Gate {
    fn new() -> Gate {
        let gate = Gate(TempDir::new().unwrap());
        gate.program("setpriv", r#"while [ "${1#--}" != "$1" ]; do shift; done; exec "$@""#);
        gate.program(
            "scontrol",
            r#"[ "$1" != --oneliner ] && echo "$*" >>"$log"; cat "$log" 2>/dev/null; true"#,
        );
        gate.program("logger", "true");
        gate
    }

    fn program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.0.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The exit status, and what the node is drained for, where the program does this.
    fn passes(&self, program: &str, context: &str, settings: &str) -> (Option<i32>, String) {
        let (folder, log) = (self.0.path(), self.0.path().join("log"));
        self.program("fpprobe", program);
        let settings = format!(
            "PATH={0}:$PATH user=$(id --user --name) state={0}/state limit=3\nexport log={0}/log\n{settings}\n",
            folder.display()
        );
        fs::write(folder.join("gate.conf"), settings).unwrap();
        fs::write(&log, "").unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/slurm/gate");
        let mut gate = Command::new(script);
        gate.env("SLURM_CONF", folder.join("slurm.conf"))
            .env("SLURM_JOB_ID", "7")
            .env("SLURMD_NODENAME", "node-1");
        let ended = gate.env("SLURM_SCRIPT_CONTEXT", context).output().unwrap();
        assert!(ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
        let drained = fs::read_to_string(log).unwrap();
        (
            ended.status.code(),
            drained.trim().replace("update NodeName=node-1 State=DRAIN Reason=fpprobe ", ""),
        )
    }
}

#[test]
fn the_gate_of_slurm_drains_what_is_not_the_same() {
    let gate = Gate::new();
    let before = |program| gate.passes(program, "prolog_slurmd", "");
    assert_eq!(before("echo same: all"), (Some(0), String::new()));
    let reason = |text: &str| (Some(1), text.to_owned());
    assert_eq!(
        before("echo warning >&2; echo different: x; exit 3"),
        reason("before job 7: different: x")
    );
    assert_eq!(before("echo unknown: hung; exit 4"), reason("before job 7: unknown: hung"));
    assert_eq!(before("echo no file >&2; exit 2"), reason("before job 7: no file"));
    assert_eq!(before("sleep 9"), reason("before job 7: unknown: no end within 3 s"));
    let after = gate.passes("echo different: x; exit 3", "epilog_slurmd", "");
    assert_eq!(after, reason("after job 7: different: x"));
    // What cannot be compared may run where the settings say so; what differs may not.
    let run = |program| gate.passes(program, "prolog_slurmd", "unknown=run");
    assert_eq!(run("exit 4"), (Some(0), String::new()));
    assert_eq!(run("echo different: x; exit 3"), reason("before job 7: different: x"));
    // What has drained the node already stays.
    let earlier = "echo 'NodeName=node-1 Reason=fpprobe before job 7: different: x ' >>$log";
    let (status, log) = gate.passes(&format!("{earlier}; exit 4"), "epilog_slurmd", "");
    assert!(status == Some(1) && !log.contains("after job"), "{log}");
    // Its options are the program's.
    let words = file("probe/packaging/slurm/gate");
    let call = words.split_once("\"$fpprobe\" gate ").unwrap().1.lines().next().unwrap();
    is_known(&["gate"].into_iter().chain(call.split(' ').take(4)).collect::<Vec<_>>());
}

/// The labels that `features.sh` makes of metrics, and its exit status.
fn labelled(metrics: &str) -> (Vec<String>, Option<i32>) {
    use std::io::Write as _;
    use std::process::Stdio;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/kubernetes/features.sh");
    let mut shell = Command::new("sh");
    shell
        .arg(script)
        .args(["labels", "12"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = shell.spawn().unwrap();
    child.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    (text.lines().map(str::to_owned).collect(), ended.status.code())
}

#[test]
fn a_node_has_the_worst_class_of_its_devices_until_the_label_expires() {
    use std::time::SystemTime;
    let class = |slot: &str, profile: &str, class: &str| {
        let all = ["conforms", "conforms with", "deviates", "incomplete"].map(|one| {
            let labels = format!(
                "host=\"h\",slot=\"{slot}\",key=\"k\",profile=\"{profile}\",class=\"{one}\""
            );
            format!("fpprobe_profile_class{{{labels}}} {}\n", u8::from(one == class))
        });
        all.concat()
    };
    let device = |slot: &str, classes: &[(&str, &str)]| {
        let info = format!(
            "fpprobe_device_info{{host=\"h\",slot=\"{slot}\",key=\"k\",name=\"class=\\\"x\\\"\"}} 1\n"
        );
        let classes = classes.iter().map(|(profile, one)| class(slot, profile, one));
        [info].into_iter().chain(classes).collect::<String>()
    };
    let one = device("a", &[("d3d11", "conforms"), ("vulkan", "deviates"), ("wgsl", "conforms")]);
    let other =
        device("b", &[("d3d11", "conforms with"), ("vulkan", "conforms"), ("wgsl", "conforms")]);
    let (lines, status) = labelled(&(one + &other));
    let (expiry, labels) = lines.split_first().unwrap();
    assert_eq!(status, Some(0));
    let prefix = "feature.node.kubernetes.io/fpprobe-";
    let expected = ["devices=2", "d3d11=conforms-with", "vulkan=deviates", "wgsl=conforms"];
    assert_eq!(labels, expected.map(|label| format!("{prefix}{label}")));
    let expiry =
        fpprobe_reports::time::seconds(expiry.strip_prefix("# +expiry-time=").unwrap()).unwrap();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    assert!((13 * 3600 - 60..=13 * 3600).contains(&(expiry - now)), "{}", expiry - now);
    assert_eq!(labelled(""), (Vec::new(), Some(1)));

    // The program's own metrics.
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/drivers/swiftshader.json");
    let mut run = Command::new(env!("CARGO_BIN_EXE_fpprobe"));
    run.args(["run", "f32.fadd", "--no-keep", "--format", "prometheus"])
        .env("VK_DRIVER_FILES", driver);
    let metrics = run.env("XDG_CONFIG_HOME", "/nonexistent").output().unwrap();
    let (lines, status) = labelled(&String::from_utf8(metrics.stdout).unwrap());
    assert!(status == Some(0) && lines[1..].contains(&format!("{prefix}devices=1")), "{lines:?}");
    assert!(lines.contains(&format!("{prefix}d3d11=incomplete")), "{lines:?}");
}
