//! The program on drivers that fail as these statements say.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::scene::{ends, fpprobe, json};

/// Kernels that `SwiftShader` answers in a moment, and always alike.
pub const KERNELS: [&str; 5] = ["f32.ceil", "f32.fabs", "f32.floor", "f32.ford_equal", "f32.sqrt"];

/// The program with these drivers, and the fault layer between them and it. Their compilers' caches
/// are below the layer.
pub fn faulty(drivers: &[&str], statements: &str) -> Command {
    let mut command = fpprobe(drivers);
    command.env("VK_ADD_LAYER_PATH", layer()).env("VK_INSTANCE_LAYERS", fpprobe_fault_layer::NAME);
    command.env("FPPROBE_FAULTS", statements).env_remove("FPPROBE_FAULTS_STATE");
    command
}

/// Folder of the layer's manifest.
fn layer() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let library = fpprobe_fault_layer::library().expect("the layer is built with its tests");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fault-layer");
        std::fs::create_dir_all(&folder).unwrap();
        // Whole or not at all: another test process may be reading it.
        let new = folder.join(format!("fault.json.{}", std::process::id()));
        std::fs::write(&new, fpprobe_fault_layer::manifest(&library)).unwrap();
        std::fs::rename(&new, folder.join("fault.json")).unwrap();
        folder
    })
}

/// How a run ended, and its report.
pub struct Run {
    /// Exit status.
    pub code: i32,
    /// Standard error.
    pub err: String,
    /// The report.
    pub report: Value,
    /// Statements that have struck.
    pub struck: Vec<String>,
}

/// A run of these kernels on `SwiftShader` with these statements and arguments.
pub fn run(statements: &str, kernels: &[&str], arguments: &[&str]) -> Run {
    run_on("swiftshader", statements, kernels, arguments)
}

/// A run of [`KERNELS`].
pub fn measured(statements: &str) -> Run {
    run(statements, &KERNELS, &["--timeout", "20"])
}

/// A seed whose runs compile the module of [`KERNELS`] a second time.
pub const RECOMPILING: u64 = 7;

/// A run of [`KERNELS`] with a deadline of two seconds.
pub fn impatient(statements: &str) -> Run {
    run(statements, &KERNELS, &["--timeout", "2"])
}

/// A run of these kernels on this driver.
pub fn run_on(driver: &str, statements: &str, kernels: &[&str], arguments: &[&str]) -> Run {
    run_command(faulty(&[driver], statements), kernels, arguments)
}

/// A run of [`KERNELS`] in processes that may have this many KiB of memory.
pub fn cramped(kibibytes: u32, statements: &str) -> Run {
    let whole = faulty(&["swiftshader"], statements);
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\""))
        .arg(whole.get_program());
    for (name, value) in whole.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    run_command(command, &KERNELS, &["--timeout", "20"])
}

fn run_command(mut command: Command, kernels: &[&str], arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    command.env("FPPROBE_FAULTS_STATE", folder.path());
    let ended = ends(
        command.arg("run").args(kernels).args(["--jobs", "1"]).args(arguments).arg("-o").arg(&path),
    );
    let code = ended.code.unwrap_or(-1);
    assert!(path.exists(), "there is a report whatever happens; status {code}:\n{}", ended.err);
    let report = json(&path);
    for device in report["devices"].as_array().unwrap() {
        // Else nothing that follows means anything.
        assert!(
            device["taint"].to_string().contains("libfpprobe_fault_layer.so"),
            "the layer was not there"
        );
    }
    Run { code, err: ended.err, report, struck: fpprobe_fault_layer::struck(folder.path()) }
}

/// What [`KERNELS`] answer when nothing is wrong.
fn calm() -> &'static Run {
    static CALM: OnceLock<Run> = OnceLock::new();
    CALM.get_or_init(|| {
        let calm = measured("");
        assert_eq!(calm.code, 0, "{}", calm.err);
        calm
    })
}

impl Run {
    /// The only device.
    pub fn device(&self) -> &Value {
        assert_eq!(self.report["devices"].as_array().unwrap().len(), 1, "{}", self.err);
        &self.report["devices"][0]
    }

    /// The kernels that were run.
    pub fn kernels(&self) -> Vec<&str> {
        let observations = self.device()["observations"].as_array().unwrap();
        observations.iter().map(|one| one["kernel"].as_str().unwrap()).collect()
    }

    /// The observation of a kernel.
    #[track_caller]
    pub fn observation(&self, kernel: &str) -> &Value {
        let observations = self.device()["observations"].as_array().unwrap();
        observations
            .iter()
            .find(|one| one["kernel"] == kernel)
            .unwrap_or_else(|| panic!("{kernel} is missing"))
    }

    /// Its outcome.
    #[track_caller]
    pub fn outcome(&self, kernel: &str) -> &str {
        self.observation(kernel)["outcome"].as_str().unwrap()
    }

    /// Its detail.
    #[track_caller]
    pub fn detail(&self, kernel: &str) -> &str {
        self.observation(kernel)["detail"].as_str().unwrap_or_default()
    }

    /// Its answers, as bits.
    #[track_caller]
    pub fn out(&self, kernel: &str) -> &Value {
        let out = &self.observation(kernel)["out"];
        match out["same_as"].as_str() {
            Some(other) => self.out(other),
            None => out,
        }
    }

    /// The incidents of the device and, if any, of the whole run.
    pub fn incidents(&self) -> Vec<&Value> {
        let devices = self.report["devices"].as_array().unwrap();
        let of_devices =
            devices.iter().flat_map(|device| device["incomplete"].as_array().into_iter().flatten());
        of_devices.chain(self.report["incomplete"].as_array().into_iter().flatten()).collect()
    }

    /// The one incident about this, with its outcome and words in its detail.
    #[track_caller]
    pub fn incident(&self, subject: &str, outcome: &str, words: &str) {
        let incidents = self.incidents();
        let about: Vec<_> = incidents.iter().filter(|one| one["subject"] == subject).collect();
        assert_eq!(about.len(), 1, "{incidents:#?}\n{}", self.err);
        assert_eq!(about[0]["outcome"], outcome, "{incidents:#?}");
        assert!(
            about[0]["detail"].as_str().unwrap().contains(words),
            "{words} is not in {incidents:#?}"
        );
    }

    /// Every kernel but these is observed exactly as without faults.
    #[track_caller]
    pub fn others_unharmed(&self, harmed: &[&str]) {
        for kernel in KERNELS.iter().filter(|kernel| !harmed.contains(kernel)) {
            assert_eq!(
                self.outcome(kernel),
                "ran",
                "{kernel}: {}\n{}",
                self.detail(kernel),
                self.err
            );
            assert_eq!(self.out(kernel), calm().out(kernel), "{kernel}");
        }
    }

    /// Findings of a kind that mention this.
    pub fn findings(&self, kind: &str, text: &str) -> usize {
        let findings = self.device()["findings"].as_array().unwrap();
        findings
            .iter()
            .filter(|one| one["kind"] == kind && one["text"].as_str().unwrap().contains(text))
            .count()
    }

    /// No profile passes that a kernel without an answer belongs to.
    pub fn nothing_passes(&self) {
        for profile in self.device()["profiles"].as_array().unwrap() {
            assert_eq!(profile["class"], "incomplete", "{}", profile["id"]);
        }
    }
}
