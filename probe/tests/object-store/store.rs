//! moto's S3 in a process of its own, and what lies in it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::proxy::Proxy;
use crate::scene::{Ended, ends, fpprobe};

/// What no output may show.
pub const SECRETS: [&str; 2] = ["SECRETSECRETSECRETSECRETSECRETSECRETSECR", "TOKENTOKENTOKENTOKEN"];

/// Whoever has a key may read.
const AUTHORIZATION: &str = "AWS4-HMAC-SHA256 Credential=AKIAKIAKIAKIAKIAKIAK/20261128/us-east-1/s3/aws4_request, \
    SignedHeaders=host, Signature=0";

/// A kernel that takes a moment.
pub const KERNEL: &str = "f16.fadd";

/// A store with one bucket, a proxy in front of it, and a host with a state folder.
pub struct Store {
    server: Child,
    address: String,
    pub proxy: Proxy,
    pub folder: tempfile::TempDir,
}

impl Store {
    pub fn new() -> Store {
        let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/object-store");
        assert!(modules.join("moto").is_dir(), "moto is missing: run .ci/install object-store");
        let mut server = Command::new("python3")
            .args(["-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"])
            .env("PYTHONPATH", modules)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.ok()?;
            let (_, rest) = line.split_once("Running on http://")?;
            Some(rest.trim().to_owned())
        });
        let address = address.expect("the server says where it is");
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.count());
        let proxy = Proxy::start(&address);
        let store = Store { server, address, proxy, folder: tempfile::tempdir().unwrap() };
        assert_eq!(store.request("PUT", "/fleet").0, 200);
        store
    }

    /// The program on a host with this label; its reports name this store by the environment.
    pub fn probe(&self, host: &str) -> Command {
        let mut command = fpprobe(&["lavapipe-25"]);
        let state = self.folder.path().join("state").join(host);
        std::fs::create_dir_all(&state).unwrap();
        command
            .env("XDG_STATE_HOME", state)
            .env("AWS_ENDPOINT_URL", format!("http://{}", self.proxy.address))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "AKIAKIAKIAKIAKIAKIAK")
            .env("AWS_SECRET_ACCESS_KEY", SECRETS[0])
            .env("AWS_SESSION_TOKEN", SECRETS[1])
            .args(["--set", &format!("host.label={host}")]);
        command
    }

    /// Runs a kernel, and sends the report.
    pub fn run(&self, host: &str) -> Ended {
        sends(self.probe(host).args(["run", KERNEL, "--no-keep", "-o", "s3://fleet/a/b"]))
    }

    /// The files of a host's spool.
    pub fn spool(&self, host: &str) -> Vec<Vec<u8>> {
        let folder = self.folder.path().join("state").join(host).join("fpprobe/spool");
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect()
    }

    /// Every object in the bucket, by name.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let (status, listing) = self.request("GET", "/fleet?list-type=2");
        assert_eq!(status, 200);
        let listing = String::from_utf8(listing).unwrap();
        let names = listing.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
        let object = |(name, _): (&str, &str)| {
            let (status, bytes) =
                self.request("GET", &format!("/fleet/{}", name.replace('=', "%3D")));
            assert_eq!(status, 200, "{name}");
            (name.to_owned(), bytes)
        };
        names.map(object).collect()
    }

    /// Number of objects of each kind, after whether they are whole: results by their digest,
    /// documents as JSON, each of whose results are there, and tables by the end of their bytes.
    pub fn whole(&self) -> BTreeMap<&'static str, usize> {
        let objects = self.objects();
        let mut kinds = BTreeMap::new();
        for (name, bytes) in &objects {
            let name = name.strip_prefix("a/b/").expect("all is below the prefix");
            let kind = [
                "reports/observations/",
                "reports/",
                "sweeps/",
                "screens/",
                "gates/",
                "tables/devices/",
                "tables/roots/",
            ];
            let kind = kind.into_iter().find(|kind| name.starts_with(kind)).expect("a known kind");
            *kinds.entry(kind).or_default() += 1;
            if let Some(digest) = name.strip_prefix("reports/observations/") {
                assert_eq!(format!("{}.parquet", fpprobe_reports::sum::digest(bytes)), digest);
            } else if kind.starts_with("tables") {
                assert_eq!(bytes[bytes.len() - 4..], *b"PAR1", "{name}");
            } else if Path::new(name).extension().is_some_and(|ending| ending == "json") {
                let document: Value = serde_json::from_slice(bytes).expect("a whole document");
                if let Some(file) = document["observations"]["file"].as_str() {
                    assert!(objects.contains_key(&format!("a/b/reports/{file}")), "{file}");
                }
            }
        }
        kinds
    }

    /// The bucket as a folder of files, at `a/b`.
    pub fn copied(&self) -> std::path::PathBuf {
        let folder = self.folder.path().join("copied");
        for (name, bytes) in self.objects() {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, bytes).unwrap();
        }
        folder.join("a/b")
    }

    /// Speaks to the server itself, which looks at no signature: status and body.
    fn request(&self, method: &str, target: &str) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: {}\r\nAuthorization: {AUTHORIZATION}\r\n\
             Content-Length: 0\r\nConnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
        (status, answer[end + 4..].to_vec())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Ends a command, whose output shows no secret.
pub fn sends(command: &mut Command) -> Ended {
    let ended = ends(command);
    for secret in SECRETS {
        assert!(!(ended.out.clone() + &ended.err).contains(secret), "{}", ended.err);
    }
    ended
}

/// Waits until something is so.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
