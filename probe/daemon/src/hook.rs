//! Whom to tell of a regression: a program, with the difference on its standard input, and an
//! address, by POST.
//!
//! A notice lies in the [`Outbox`] until it has been, or has been tried for days.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fpprobe_system::descendants::Descendants;

use crate::config::{Hook, Webhook};
use crate::event::DaemonEvent;
use crate::https;
use crate::outbox::{Notice, Outbox, Recipient};

/// Between two looks at a program.
const TICK: Duration = Duration::from_millis(20);
/// Longest wait for something to do.
const IDLE: Duration = Duration::from_mins(10);

/// How addresses begin that somebody vouches for.
pub const HTTPS: &str = "https://";

/// What the messenger works on.
struct Desk {
    outbox: Outbox,
    hook: Hook,
    webhook: Webhook,
    /// The program that runs, which ends with its children when the daemon does.
    running: Option<Descendants>,
    ended: bool,
}

impl Desk {
    /// Whether somebody is to be notified.
    fn has(&self, recipient: Recipient) -> bool {
        match recipient {
            Recipient::Hook => !self.hook.command.is_empty(),
            Recipient::Webhook => !self.webhook.url.is_empty(),
        }
    }
}

/// Delivers, in a thread of its own, one notice after the other. Dropped, it ends the program that
/// runs; its notice is delivered again when the daemon starts.
pub struct Messenger {
    desk: Arc<Mutex<Desk>>,
    changed: Arc<Condvar>,
}

impl Drop for Messenger {
    fn drop(&mut self) {
        let mut desk = lock(&self.desk);
        desk.ended = true;
        if let Some(running) = desk.running.take() {
            running.end();
        }
        self.changed.notify_all();
    }
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Messenger {
    /// With this folder, in which notices of an earlier daemon may lie; how it went is sent there.
    pub fn start(
        folder: &Path,
        (hook, webhook): (&Hook, &Webhook),
        sender: Sender<DaemonEvent>,
    ) -> anyhow::Result<Messenger> {
        let outbox = Outbox::open(folder, Instant::now())?;
        let desk = Desk {
            outbox,
            hook: hook.clone(),
            webhook: webhook.clone(),
            running: None,
            ended: false,
        };
        let messenger = Messenger { desk: Arc::new(Mutex::new(desk)), changed: Arc::default() };
        let (desk, changed) = (Arc::clone(&messenger.desk), Arc::clone(&messenger.changed));
        let work = move || deliver(&desk, &changed, &sender);
        std::thread::Builder::new().name("messenger".to_owned()).spawn(work)?;
        Ok(messenger)
    }

    /// Whom to tell from now on, also of what waits.
    pub fn configure(&self, hook: &Hook, webhook: &Webhook) {
        let mut desk = lock(&self.desk);
        (desk.hook, desk.webhook) = (hook.clone(), webhook.clone());
    }

    /// How many notices wait.
    pub fn waiting(&self) -> usize {
        lock(&self.desk).outbox.len()
    }

    /// Sends a document. The notice is a file of its own, whatever becomes of this one. Returns the
    /// notices that it displaced.
    pub fn notify(&self, document: &Path) -> anyhow::Result<Vec<String>> {
        let (mut desk, mut removed) = (lock(&self.desk), Vec::new());
        for recipient in Recipient::ALL {
            if !desk.has(recipient) {
                continue;
            }
            removed.extend(desk.outbox.add(document, recipient, Instant::now())?);
        }
        self.changed.notify_all();
        Ok(removed)
    }
}

fn deliver(desk: &Mutex<Desk>, changed: &Condvar, sender: &Sender<DaemonEvent>) {
    let mut waiting = lock(desk);
    while !waiting.ended {
        let now = Instant::now();
        let Some(notice) = waiting.outbox.due(now) else {
            let pause =
                waiting.outbox.next().map_or(IDLE, |due| due.saturating_duration_since(now));
            waiting =
                changed.wait_timeout(waiting, pause).unwrap_or_else(PoisonError::into_inner).0;
            continue;
        };
        if !waiting.has(notice.recipient) {
            // A reload has taken it away.
            waiting.outbox.remove(&notice);
            continue;
        }
        let (hook, webhook) = (waiting.hook.clone(), waiting.webhook.clone());
        drop(waiting);
        let (who, retries, result) = match notice.recipient {
            Recipient::Hook => {
                let program = hook.command.first().cloned().unwrap_or_default();
                (format!("hook {program}"), hook.retries, run(&hook, &notice.file, desk))
            }
            Recipient::Webhook => {
                ("webhook".to_owned(), webhook.retries, post(&webhook, &notice.file))
            }
        };
        waiting = lock(desk);
        // What the daemon's end broke off is delivered when it starts again.
        if !waiting.ended {
            let delivery = settle(&mut waiting.outbox, &notice, &who, retries, result);
            if let Some(delivery) = delivery {
                drop(sender.send(DaemonEvent::Notified(delivery)));
            }
        }
    }
}

/// Takes over how a delivery went; what there is to say of it. Of many failures in a row only the
/// first and the last are reported.
fn settle(
    outbox: &mut Outbox,
    notice: &Notice,
    who: &str,
    retries: u32,
    result: anyhow::Result<()>,
) -> Option<Result<String, String>> {
    let Err(error) = result else {
        outbox.remove(notice);
        return Some(Ok(format!("{who} was told")));
    };
    match outbox.failed(notice, Instant::now(), retries) {
        None => {
            Some(Err(format!("{who} could not be told, after {} attempts: {error:#}", retries + 1)))
        }
        Some(pause) if notice.attempts == 0 => Some(Err(format!(
            "{who} could not be told: {error:#}; it is tried again in {} s, and then less and less often, up to {retries} times",
            pause.as_secs()
        ))),
        Some(_) => None,
    }
}

/// Starts the program, without a shell, and waits for it, but not past its time or the daemon's.
/// What it has started ends with it.
fn run(hook: &Hook, file: &Path, desk: &Mutex<Desk>) -> anyhow::Result<()> {
    let [program, arguments @ ..] = hook.command.as_slice() else { return Ok(()) };
    let input = File::open(file)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    let (mut child, running) = {
        let mut desk = lock(desk);
        anyhow::ensure!(!desk.ended, "the daemon ends");
        let (child, running) = Descendants::start(command).context("it could not be started")?;
        desk.running = Some(running.clone());
        (child, running)
    };
    let ended = wait(&mut child, hook);
    running.end();
    let _ = child.wait();
    lock(desk).running = None;
    ended
}

fn wait(child: &mut Child, hook: &Hook) -> anyhow::Result<()> {
    let deadline = Instant::now() + Duration::from_secs_f64(hook.timeout);
    while Instant::now() < deadline {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("it ended with {status}"),
            None => std::thread::sleep(TICK),
        }
    }
    bail!("it took more than {} s", hook.timeout)
}

fn post(webhook: &Webhook, file: &Path) -> anyhow::Result<()> {
    let time = Duration::from_secs_f64(webhook.timeout);
    // Where it leads to next is somebody else's word.
    let mut config = ureq::Agent::config_builder().timeout_global(Some(time)).max_redirects(0);
    if webhook.url.starts_with(HTTPS) {
        config = config.tls_config(https::tls(&webhook.authorities)?);
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
    use std::sync::mpsc::channel;

    use super::*;

    fn delivery(hook: &Hook, webhook: &Webhook) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let diff = folder.path().join("diff.json");
        fs::write(&diff, "{\"a\":1}").unwrap();
        let (sender, receiver) = channel();
        let messenger =
            Messenger::start(&folder.path().join("outbox"), (hook, webhook), sender).unwrap();
        messenger.notify(&diff).unwrap();
        // The last that it says of it.
        let delivery = || match receiver.recv_timeout(Duration::from_mins(1)).unwrap() {
            DaemonEvent::Notified(delivery) => delivery,
            _ => panic!("something else happened"),
        };
        loop {
            let delivery = delivery();
            if !delivery.as_ref().is_err_and(|text| text.contains("it is tried again")) {
                assert_eq!(messenger.waiting(), 0);
                return delivery;
            }
        }
    }

    #[test]
    fn what_a_program_has_started_ends_with_it_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        let file = pids.display();
        // One in its group, one in a session of its own.
        let script = format!(
            "sleep 1000 & echo $! >{file}; setsid sh -c 'echo $$ >>{file}; exec sleep 1000' & \
            while [ $(wc -l <{file}) -lt 2 ]; do sleep 0.05; done"
        );
        for (script, timeout) in [(script.clone(), 60.0), (format!("{script}; sleep 1000"), 2.0)] {
            let _ = delivery(&hook(&["sh", "-c", &script], timeout, 0), &Webhook::default());
            let started = fs::read_to_string(&pids).unwrap();
            assert_eq!(started.lines().count(), 2, "{started}");
            // Somebody else's to reap.
            let runs = |pid: &&str| {
                let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
                stat.is_ok_and(|stat| !stat.contains(") Z "))
            };
            let deadline = Instant::now() + Duration::from_secs(20);
            while started.lines().any(|pid| runs(&pid)) {
                assert!(Instant::now() < deadline, "{started}");
                std::thread::sleep(TICK);
            }
        }
    }

    fn hook(command: &[&str], timeout: f64, retries: u32) -> Hook {
        Hook { command: command.iter().map(|part| (*part).to_owned()).collect(), timeout, retries }
    }

    #[test]
    fn a_program_reads_the_difference_and_no_shell_its_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("$(touch x); out");
        delivery(&hook(&["tee", out.to_str().unwrap()], 10.0, 0), &Webhook::default()).unwrap();
        assert_eq!(fs::read_to_string(out).unwrap(), "{\"a\":1}");
    }

    #[test]
    fn a_program_that_fails_or_stays_is_tried_again_a_few_times() {
        let message = delivery(&hook(&["false"], 10.0, 1), &Webhook::default()).unwrap_err();
        assert!(message.contains("2 attempts") && message.contains("exit status"), "{message}");
        let begun = Instant::now();
        let message = delivery(&hook(&["sleep", "60"], 0.2, 0), &Webhook::default()).unwrap_err();
        assert!(
            message.contains("more than 0.2 s") && begun.elapsed() < Duration::from_secs(20),
            "{message}"
        );
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
        delivery(&Hook::default(), &Webhook { url, retries: 0, ..Webhook::default() }).unwrap();
        assert!(server.join().unwrap().starts_with("POST /x HTTP/1.1\r\n"));
    }

    #[test]
    fn who_is_told_by_https_is_vouched_for() {
        let names = ["localhost".to_owned()];
        let [own, other] =
            [(); 2].map(|()| rcgen::generate_simple_self_signed(names.clone()).unwrap());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap();
        let key = own.signing_key.serialize_der().try_into().unwrap();
        let config = config
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        let config = Arc::new(config);
        let folder = tempfile::tempdir().unwrap();
        let tell = |authority: &str| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("https://localhost:{}/x", listener.local_addr().unwrap().port());
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let server = std::thread::spawn(move || {
                answer(rustls::StreamOwned::new(connection, listener.accept().unwrap().0))
            });
            let file = folder.path().join("authority.pem");
            fs::write(&file, authority).unwrap();
            let delivery = delivery(
                &Hook::default(),
                &Webhook { url, authorities: file, retries: 0, ..Webhook::default() },
            );
            (delivery, server.join().unwrap().ok())
        };
        let (said, heard) = tell(&own.cert.pem());
        assert!(said.is_ok() && heard.unwrap().starts_with("POST /x HTTP/1.1\r\n"));
        let (said, heard) = tell(&other.cert.pem());
        assert!(heard.is_none() && said.unwrap_err().contains("certificate"));
    }
}
