//! A program to run, in an environment of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// Drivers that execute what they receive.
pub const HONEST: [&str; 3] = ["lavapipe-22", "lavapipe-25", "swiftshader"];

/// The manifest of a driver that `.ci/drivers` has prepared. A driver that is missing is a failure,
/// never a reason to skip a test.
pub fn manifest(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../target/drivers/{name}.json"));
    path.canonicalize().unwrap_or_else(|_| panic!("{} is missing: run .ci/drivers", path.display()))
}

/// lavapipe of Debian 13, which has cooperative matrices. It needs a newer C library than Debian 12
/// has.
pub const NEWER: &str = "lavapipe-26";

/// The program with these drivers and no configuration; with [`NEWER`] a copy that starts with the
/// library beside it.
pub fn fpprobe(drivers: &[&str]) -> Command {
    let list: Vec<PathBuf> = drivers.iter().map(|name| manifest(name)).collect();
    if drivers.contains(&NEWER) { program(newer(), &list) } else { with_manifests(&list) }
}

/// The copy of the program for [`NEWER`].
pub fn newer() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(concat!("newer-", env!("CARGO_CRATE_NAME")));
        // Whole or not at all: another test process may be starting it.
        let new = copy.with_extension(std::process::id().to_string());
        let mut command = Command::new("bash");
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
        ends(command.args([".ci/newer", env!("CARGO_BIN_EXE_fpprobe")]).arg(&new)).with(0);
        std::fs::rename(&new, &copy).expect("the copy is there");
        copy
    })
}

/// The program with these manifests, and with nothing else of this process's environment that it
/// looks at.
pub fn with_manifests(manifests: &[PathBuf]) -> Command {
    program(Path::new(env!("CARGO_BIN_EXE_fpprobe")), manifests)
}

/// The same of a copy of the program.
pub fn program(path: &Path, manifests: &[PathBuf]) -> Command {
    let mut command = Command::new(path);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["VK_", "XDG_", "CLICOLOR", "NO_COLOR", "MESA_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        {
            command.env_remove(&*name);
        }
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent").stdin(Stdio::null());
    // Most tests compile what others have compiled; one that is about the caches turns them off.
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shader-cache");
    command.env("FPPROBE_DRIVERS_CACHES", "true").env("MESA_SHADER_CACHE_DIR", cache);
    // No test reads or fills the store of who runs it; one that is about the store names a folder.
    command
        .env("XDG_STATE_HOME", "/nonexistent")
        .env("FPPROBE_STORE_KEEP", "false")
        .env_remove("STATE_DIRECTORY");
    if !manifests.is_empty() {
        command.env(
            "VK_DRIVER_FILES",
            std::env::join_paths(manifests).expect("manifest paths without colons"),
        );
    }
    command
}

/// What a default run wrote to standard error, beside its report.
pub const PROGRESS: &str = "progress.txt";

/// The report of a default run on one of [`HONEST`], measured once for all tests.
pub fn default_report(driver: &str) -> &'static Path {
    static REPORTS: [OnceLock<PathBuf>; HONEST.len()] = [const { OnceLock::new() }; HONEST.len()];
    let at = HONEST.iter().position(|name| *name == driver).expect("one of the three");
    REPORTS[at].get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(driver);
        std::fs::create_dir_all(&folder).expect("a folder among what is built");
        let path = folder.join("report.json");
        let run =
            ends(fpprobe(&[driver]).args(["--set", "workers.timeout=60", "run", "-o"]).arg(&path));
        run.with(0);
        std::fs::write(folder.join(PROGRESS), run.err).expect("a file beside the report");
        path
    })
}

/// How a program ended.
pub struct Ended {
    /// Exit status.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Runs a command to its end. No output of the program may show a panic.
pub fn ends(command: &mut Command) -> Ended {
    ended(command.output().expect("the program starts"))
}

/// Runs a command that reads this text.
pub fn ends_reading(command: &mut Command, input: &str) -> Ended {
    use std::io::Write as _;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("standard input is piped");
    stdin.write_all(input.as_bytes()).expect("the program reads");
    drop(stdin);
    ended(child.wait_with_output().expect("the program ends"))
}

fn ended(output: Output) -> Ended {
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    let ended =
        Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
    ended
}

impl Ended {
    /// The standard output of a program that ended with this status.
    #[track_caller]
    pub fn with(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        &self.out
    }

    /// Its lines as JSON.
    #[track_caller]
    pub fn lines(&self, code: i32) -> Vec<Value> {
        self.with(code)
            .lines()
            .map(|line| serde_json::from_str(line).expect("each line is JSON"))
            .collect()
    }

    /// Its whole output as one JSON document.
    #[track_caller]
    pub fn document(&self, code: i32) -> Value {
        serde_json::from_str(self.with(code)).expect("the output is JSON")
    }
}

/// A file's JSON; of a report whose results are in a file beside it, one that holds them itself.
pub fn json(path: &Path) -> Value {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let document: Value = serde_json::from_str(&text).expect("the file is JSON");
    if document["schema"] != fpprobe_reports::model::SCHEMA {
        return document;
    }
    let report = fpprobe_reports::load::load(path).unwrap_or_else(|error| panic!("{error}"));
    serde_json::to_value(report).expect("a report is JSON")
}
