//! Whom to tell of a regression: a program, with the difference on its standard input, and an address, by POST.
//!
//! What is to be told lies in a folder until it has been, or has been tried often enough: a daemon that is killed tells it
//! when it starts again.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fpprobe_reports::limited;
use rustix::process::{Pid, Signal, kill_process_group, set_parent_process_death_signal};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::happening::Happening;
use crate::config::{Hook, Webhook};

/// Wait before the second attempt; each further one is twice as long, up to the longest.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);
/// Between two looks at a program.
const TICK: Duration = Duration::from_millis(20);

/// How addresses begin that somebody vouches for.
pub const HTTPS: &str = "https://";
/// Bytes that certificates may have.
const AUTHORITIES: u64 = 4 << 20;

/// A message on its way.
struct Message {
    file: PathBuf,
    hook: Hook,
    webhook: Webhook,
}

/// The program that runs, which ends with its children when the daemon does.
#[derive(Default)]
struct Running {
    group: Option<Pid>,
    ended: bool,
}

/// Tells, in a thread of its own, one after the other. Dropped, it ends the program that runs; what that was told is told again
/// when the daemon starts.
pub struct Messenger {
    folder: PathBuf,
    messages: Sender<Message>,
    running: Arc<Mutex<Running>>,
}

impl Drop for Messenger {
    fn drop(&mut self) {
        let mut running = lock(&self.running);
        running.ended = true;
        if let Some(group) = running.group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

fn lock(running: &Mutex<Running>) -> MutexGuard<'_, Running> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Messenger {
    /// With this folder; how it went is sent there.
    pub fn start(folder: PathBuf, sender: Sender<Happening>) -> anyhow::Result<Messenger> {
        fs::create_dir_all(&folder).with_context(|| format!("failed to create folder {}", folder.display()))?;
        let (messages, receiver) = channel();
        let running = Arc::new(Mutex::new(Running::default()));
        let shared = Arc::clone(&running);
        let work = move || deliver(&receiver, &sender, &shared);
        std::thread::Builder::new().name("messenger".to_owned()).spawn(work)?;
        Ok(Messenger { folder, messages, running })
    }

    /// Tells what was to be told when the daemon was killed.
    pub fn leftovers(&self, hook: &Hook, webhook: &Webhook) {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
        files.sort();
        for file in files {
            let _ = self.messages.send(Message { file, hook: hook.clone(), webhook: webhook.clone() });
        }
    }

    /// Tells a difference; what is to be told is a file of its own, beside whatever becomes of this one.
    pub fn tell(&self, diff: &Path, hook: &Hook, webhook: &Webhook) -> anyhow::Result<()> {
        let Some(name) = diff.file_name().filter(|_| !hook.command.is_empty() || !webhook.url.is_empty()) else {
            return Ok(());
        };
        let file = self.folder.join(name);
        let _ = fs::remove_file(&file);
        fs::hard_link(diff, &file).with_context(|| format!("failed to keep {} for the hook", file.display()))?;
        let _ = self.messages.send(Message { file, hook: hook.clone(), webhook: webhook.clone() });
        Ok(())
    }
}

fn deliver(messages: &Receiver<Message>, sender: &Sender<Happening>, running: &Mutex<Running>) {
    while let Ok(Message { file, hook, webhook }) = messages.recv() {
        let tell = |what: &str, result: anyhow::Result<()>| {
            let told = result
                .map(|()| format!("{what} was told"))
                .map_err(|error| format!("{what} could not be told: {error:#}"));
            let _ = sender.send(Happening::Told(told));
        };
        if !hook.command.is_empty() {
            let told = persistently(hook.retries, || run(&hook, &file, running));
            tell(&format!("hook {}", hook.command[0]), told);
        }
        if !webhook.url.is_empty() {
            let told = persistently(webhook.retries, || post(&webhook, &file));
            tell("webhook", told);
        }
        // What the daemon's end broke off is told when it starts again.
        if !lock(running).ended {
            let _ = fs::remove_file(&file);
        }
    }
}

/// Tries once, and so many times again.
fn persistently(retries: u32, attempt: impl Fn() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut pause = PAUSE;
    for _ in 0..retries {
        if attempt().is_ok() {
            return Ok(());
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST);
    }
    attempt().with_context(|| format!("after {} attempts", retries + 1))
}

/// Starts the program, without a shell, and waits for it, but not past its time or the daemon's. It may have children: its group
/// ends where its time does.
fn run(hook: &Hook, file: &Path, running: &Mutex<Running>) -> anyhow::Result<()> {
    let [program, arguments @ ..] = hook.command.as_slice() else { return Ok(()) };
    let input = File::open(file)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(input).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    tie(&mut command);
    let (mut child, group) = {
        let mut running = lock(running);
        anyhow::ensure!(!running.ended, "the daemon ends");
        let child = command.spawn().context("it could not be started")?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        running.group = group;
        (child, group)
    };
    let ended = wait(&mut child, group, hook);
    lock(running).group = None;
    ended
}

fn wait(child: &mut Child, group: Option<Pid>, hook: &Hook) -> anyhow::Result<()> {
    let deadline = Instant::now() + Duration::from_secs_f64(hook.timeout);
    while Instant::now() < deadline {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("it ended with {status}"),
            None => std::thread::sleep(TICK),
        }
    }
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait()?;
    bail!("it took more than {} s", hook.timeout)
}

/// Who may vouch for an address.
pub fn trusted(webhook: &Webhook) -> anyhow::Result<RootCerts> {
    let file = &webhook.authorities;
    let text = limited::bytes(file, AUTHORITIES).with_context(|| format!("failed to read {}", file.display()))?;
    let certificates: Vec<Certificate<'_>> = parse_pem(&text)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
        .collect::<Result<_, _>>()
        .with_context(|| format!("{} is no PEM", file.display()))?;
    anyhow::ensure!(!certificates.is_empty(), "{} holds no certificate in PEM", file.display());
    Ok(RootCerts::new_with_certs(&certificates))
}

/// Has a program end with this one, however that ends.
#[expect(unsafe_code, reason = "the system is asked between fork and exec")]
fn tie(command: &mut Command) {
    let tie = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: it makes one system call, allocates nothing and takes no lock.
    unsafe { command.pre_exec(tie) };
}

fn post(webhook: &Webhook, file: &Path) -> anyhow::Result<()> {
    let time = Duration::from_secs_f64(webhook.timeout);
    // Where it leads to next is somebody else's word.
    let mut config = ureq::Agent::config_builder().timeout_global(Some(time)).max_redirects(0);
    if webhook.url.starts_with(HTTPS) {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder().root_certs(trusted(webhook)?);
        config = config.tls_config(tls.unversioned_rustls_crypto_provider(provider).build());
    }
    let agent: ureq::Agent = config.build().into();
    let body = fs::read(file)?;
    let response = agent.post(&webhook.url).content_type("application/json").send(&body[..])?;
    if !response.status().is_success() {
        bail!("it answered with {}", response.status());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    fn told(hook: &Hook, webhook: &Webhook) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let diff = folder.path().join("diff.json");
        fs::write(&diff, "{\"a\":1}").unwrap();
        let (sender, receiver) = channel();
        let messenger = Messenger::start(folder.path().join("outbox"), sender).unwrap();
        messenger.tell(&diff, hook, webhook).unwrap();
        match receiver.recv_timeout(Duration::from_mins(1)).unwrap() {
            Happening::Told(told) => told,
            _ => panic!("something else happened"),
        }
    }

    fn hook(command: &[&str], timeout: f64, retries: u32) -> Hook {
        Hook { command: command.iter().map(|part| (*part).to_owned()).collect(), timeout, retries }
    }

    #[test]
    fn a_program_reads_the_difference_and_no_shell_its_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("$(touch x); out");
        told(&hook(&["tee", out.to_str().unwrap()], 10.0, 0), &Webhook::default()).unwrap();
        assert_eq!(fs::read_to_string(out).unwrap(), "{\"a\":1}");
    }

    #[test]
    fn a_program_that_fails_or_stays_is_tried_again_a_few_times() {
        let message = told(&hook(&["false"], 10.0, 1), &Webhook::default()).unwrap_err();
        assert!(message.contains("2 attempts") && message.contains("exit status"), "{message}");
        let begun = Instant::now();
        let message = told(&hook(&["sleep", "60"], 0.2, 0), &Webhook::default()).unwrap_err();
        assert!(message.contains("more than 0.2 s") && begun.elapsed() < Duration::from_secs(20), "{message}");
    }

    /// Reads one request, and says what it was.
    fn answer(mut stream: impl Read + Write) -> std::io::Result<String> {
        let (mut request, mut chunk) = (Vec::new(), [0; 1024]);
        while !request.ends_with(b"{\"a\":1}") {
            match stream.read(&mut chunk)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                length => request.extend(&chunk[..length]),
            }
        }
        stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")?;
        stream.flush()?;
        Ok(String::from_utf8(request).unwrap())
    }

    #[test]
    fn an_address_gets_the_difference_by_post() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || answer(listener.accept().unwrap().0).unwrap());
        told(&Hook::default(), &Webhook { url, retries: 0, ..Webhook::default() }).unwrap();
        assert!(server.join().unwrap().starts_with("POST /x HTTP/1.1\r\n"));
    }

    #[test]
    fn who_is_told_by_https_is_vouched_for() {
        let names = ["localhost".to_owned()];
        let [own, other] = [(); 2].map(|()| rcgen::generate_simple_self_signed(names.clone()).unwrap());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = own.signing_key.serialize_der().try_into().unwrap();
        let config = config.with_no_client_auth().with_single_cert(vec![own.cert.der().clone()], key).unwrap();
        let config = Arc::new(config);
        let folder = tempfile::tempdir().unwrap();
        let tell = |authority: &str| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("https://localhost:{}/x", listener.local_addr().unwrap().port());
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let server =
                std::thread::spawn(move || answer(rustls::StreamOwned::new(connection, listener.accept().unwrap().0)));
            let file = folder.path().join("authority.pem");
            fs::write(&file, authority).unwrap();
            let told = told(&Hook::default(), &Webhook { url, authorities: file, retries: 0, ..Webhook::default() });
            (told, server.join().unwrap().ok())
        };
        let (said, heard) = tell(&own.cert.pem());
        assert!(said.is_ok() && heard.unwrap().starts_with("POST /x HTTP/1.1\r\n"));
        let (said, heard) = tell(&other.cert.pem());
        assert!(heard.is_none() && said.unwrap_err().contains("certificate"));
    }

    #[test]
    fn authorities_are_certificates() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let says = |authorities: &Path| {
            let error = trusted(&Webhook { authorities: authorities.to_owned(), ..Webhook::default() }).unwrap_err();
            format!("{error:#}")
        };
        assert!(says(file.path()).contains("holds no certificate"));
        assert!(says(Path::new("/nowhere")).contains("failed to read /nowhere"));
    }
}
