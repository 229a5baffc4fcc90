//! A daemon with a folder of its own, and ways to look at it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::scene::{ends, manifest, with_manifests};

/// How long anything may take on a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_mins(5);

/// A running daemon.
pub struct Host {
    pub folder: tempfile::TempDir,
    /// What the daemon finds in its environment beside what tests do.
    pub environment: Vec<(&'static str, PathBuf)>,
    child: Child,
}

impl Host {
    /// One that watches a folder with the manifest of this driver. `settings` are lines of its
    /// configuration, below `[daemon]`.
    pub fn new(driver: &str, settings: &str) -> Host {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("drivers")).expect("a folder");
        let child = Command::new("true").spawn().expect("a process");
        let mut host = Host { folder, environment: Vec::new(), child };
        host.install(driver);
        host.configure(settings);
        host.start();
        host
    }

    /// Writes the configuration.
    pub fn configure(&self, settings: &str) {
        let path = |name: &str| self.path(name).display().to_string();
        let text = format!(
            "[drivers]\nmanifests = [\"{}\"]\n[store]\npath = \"{}\"\n[daemon]\nfull = false\ndebounce = 0.3\n\
             journal = \"{}\"\ncontrol.socket = \"{}\"\nhttp.listen = \"127.0.0.1:0\"\n{settings}",
            path("drivers"),
            path("store"),
            path("journal"),
            path("socket")
        );
        fs::write(self.path("config.toml"), &text).expect("a configuration");
        // Who asks the daemon has the first of its configurations, whatever becomes of that.
        let first = self.path("client.toml");
        if !first.exists() {
            fs::write(first, text).expect("a configuration");
        }
    }

    /// Starts it, again or for the first time.
    pub fn start(&mut self) {
        let err = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path("err"))
            .expect("a file");
        let mut command = self.command();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        self.child = command
            .arg("daemon")
            .stderr(err)
            .stdout(Stdio::null())
            .spawn()
            .expect("the program starts");
        self.wait("the daemon answers", || self.run(&["status"]).0);
    }

    /// Replaces the driver as a package manager does: a file beside, renamed.
    pub fn install(&self, driver: &str) {
        let folder = self.path("drivers");
        fs::copy(manifest(driver), folder.join(".new")).expect("a manifest");
        fs::rename(folder.join(".new"), folder.join("driver.json")).expect("a manifest");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The program with the daemon's configuration.
    pub fn command(&self) -> Command {
        let mut command = with_manifests(&[]);
        command.arg("--config").arg(self.path("config.toml"));
        command
    }

    /// Asks the daemon: whether it was done, and what was said.
    pub fn run(&self, words: &[&str]) -> (bool, String) {
        let mut command = with_manifests(&[]);
        let ended =
            ends(command.arg("--config").arg(self.path("client.toml")).arg("daemon").args(words));
        (ended.code == Some(0), ended.out + &ended.err)
    }

    pub fn status(&self) -> Value {
        let (done, text) = self.run(&["status", "--json"]);
        assert!(done, "{text}");
        serde_json::from_str(&text).expect("the state is JSON")
    }

    /// What it has told so far.
    pub fn messages(&self) -> String {
        let status = self.status();
        let log = status["log"].as_array().expect("a log");
        log.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    pub fn wait<T: Ready>(&self, what: &str, mut look: impl FnMut() -> T) -> T::Found {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look().ready() {
                return found;
            }
            let err = || fs::read_to_string(self.path("err")).unwrap_or_default();
            assert!(Instant::now() < deadline, "waited in vain: {what}\n{}", err());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(pid, signal).expect("the daemon is there");
    }

    /// Waits for its end.
    pub fn ended(&mut self) -> ExitStatus {
        self.child.wait().expect("the daemon ends")
    }

    /// Where its listener is.
    pub fn address(&self) -> String {
        let find = || {
            let err = fs::read_to_string(self.path("err")).unwrap_or_default();
            let line =
                err.lines().rev().find(|line| line.contains("listens on http://"))?.to_owned();
            Some(line.rsplit_once("http://")?.1.trim_end_matches('/').to_owned())
        };
        self.wait("the listener has an address", find)
    }

    /// What the listener answers to these bytes.
    pub fn http(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address()).expect("the listener is there");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        // It may have refused, and closed, before all was sent.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub fn get(&self, path: &str) -> String {
        self.http(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())
    }

    /// Number of its open descriptors.
    pub fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.id())).map_or(0, Iterator::count)
    }

    /// Its resident memory in KiB.
    pub fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
        line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// Processes of this program that work for this daemon, or did.
    pub fn processes(&self) -> Vec<u32> {
        let marker = self.folder.path().display().to_string();
        let processes = fs::read_dir("/proc").expect("proc").flatten();
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        // A worker is known by the manifest in its environment.
        let read =
            |pid: u32, name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let ours = |pid: &u32| {
            *pid != self.id()
                && ["cmdline", "environ"]
                    .iter()
                    .any(|name| String::from_utf8_lossy(&read(*pid, name)).contains(&marker))
        };
        pids.filter(ours).collect()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Something that is waited for.
pub trait Ready {
    type Found;
    fn ready(self) -> Option<Self::Found>;
}

impl Ready for bool {
    type Found = ();
    fn ready(self) -> Option<()> {
        self.then_some(())
    }
}

impl<T> Ready for Option<T> {
    type Found = T;
    fn ready(self) -> Option<T> {
        self
    }
}
