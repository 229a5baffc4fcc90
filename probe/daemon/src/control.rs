//! The socket that the daemon is controlled by: one request as a line of JSON, one reply likewise.
//!
//! It serves root, the daemon's own user, and members of the configured group.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fpprobe_system::socket::{self, LocalListener, LocalStream};
use fpprobe_system::usage::usage_error;

use crate::event::DaemonEvent;
use crate::request::{ControlRequest, Reply};

/// Longest request.
const LONGEST: usize = 4096;
/// Time for a request to arrive, for the loop to answer, and for the answer to be taken.
const PATIENCE: Duration = Duration::from_secs(5);

/// Listens on the socket in a thread of its own. A socket that another daemon has left behind is
/// replaced; one that answers is an error.
pub fn listen(path: &Path, group: &str, sender: Sender<DaemonEvent>) -> anyhow::Result<()> {
    let group = if group.is_empty() { None } else { Some(group_id(group)?) };
    let listener = LocalListener::bind(path)
        .with_context(|| format!("failed to listen on {}", path.display()))?;
    if let Some(group) = group {
        let to = || format!("failed to give {} to the group", path.display());
        socket::give(path, group).with_context(to)?;
    }
    let serve = move || {
        for stream in listener.incoming() {
            // A client that goes away, or never says anything, is its own misfortune.
            let _ = answer(&stream, group, &sender);
        }
    };
    std::thread::Builder::new().name("control".to_owned()).spawn(serve)?;
    Ok(())
}

fn answer(
    stream: &LocalStream,
    group: Option<u32>,
    sender: &Sender<DaemonEvent>,
) -> anyhow::Result<()> {
    let reply = match admitted(stream, group) {
        Ok(()) => request(stream, sender)?,
        Err(error) => Reply::refused(format!("{error:#}")),
    };
    let mut line = serde_json::to_string(&reply)?;
    line.push('\n');
    send(stream, line.as_bytes())
}

/// Time that is left of what a client has for a request as a whole, or for taking its answer.
fn left(begun: Instant) -> anyhow::Result<Duration> {
    let left = PATIENCE.saturating_sub(begun.elapsed());
    if left.is_zero() {
        bail!("the client takes too long");
    }
    Ok(left)
}

fn receive(mut stream: &LocalStream) -> anyhow::Result<Vec<u8>> {
    let (begun, mut line, mut chunk) = (Instant::now(), Vec::new(), [0; 512]);
    while line.len() < LONGEST && !line.contains(&b'\n') {
        stream.set_read_timeout(Some(left(begun)?))?;
        match stream.read(&mut chunk)? {
            0 => break,
            length => line.extend(&chunk[..length]),
        }
    }
    Ok(line)
}

fn send(mut stream: &LocalStream, mut bytes: &[u8]) -> anyhow::Result<()> {
    let begun = Instant::now();
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(left(begun)?))?;
        bytes = &bytes[stream.write(bytes)?..];
    }
    Ok(())
}

fn request(stream: &LocalStream, sender: &Sender<DaemonEvent>) -> anyhow::Result<Reply> {
    let line = receive(stream)?;
    let request: ControlRequest = match serde_json::from_slice(&line) {
        Ok(request) => request,
        Err(error) => return Ok(Reply::refused(format!("the request is not understood: {error}"))),
    };
    let (reply, replied) = sync_channel(1);
    sender.send(DaemonEvent::Requested(request, reply))?;
    Ok(replied
        .recv_timeout(PATIENCE)
        .unwrap_or_else(|_| Reply::refused("the daemon does not answer")))
}

/// Whether the other end may ask.
fn admitted(stream: &LocalStream, group: Option<u32>) -> anyhow::Result<()> {
    if let Err(user) = socket::admits(stream, group)? {
        bail!("user {user} may not control this daemon: its group is set by `daemon.control.group`")
    }
    Ok(())
}

/// A group by name or number.
fn group_id(name: &str) -> anyhow::Result<u32> {
    socket::group_id(name).context("failed to read /etc/group")?.ok_or_else(|| {
        usage_error(format!("`daemon.control.group`: there is no group `{name}` in /etc/group"))
    })
}

/// Sends a request to the first daemon that answers at one of these places.
pub fn call(places: &[PathBuf], request: &ControlRequest) -> anyhow::Result<Reply> {
    let (mut silent, mut refused) = (Vec::new(), false);
    let mut connect = |path: &PathBuf| {
        let stream = socket::connect(path);
        refused |=
            stream.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
        stream.inspect_err(|error| silent.push(format!("{} ({error})", path.display()))).ok()
    };
    let Some(stream) = places.iter().find_map(&mut connect) else {
        let places = silent.join(", nor at ");
        let advice = if refused {
            "only root, its own user and members of its group (`daemon.control.group`) may ask it"
        } else {
            "is `fpprobe daemon` running?"
        };
        return Err(usage_error(format!("no daemon answers at {places}; {advice}")));
    };
    stream.set_read_timeout(Some(PATIENCE * 2))?;
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    // A daemon that refuses this user need not read on.
    let _ = (&stream).write_all(line.as_bytes());
    let mut reply = String::new();
    BufReader::new(&stream).read_line(&mut reply).context("the daemon did not answer")?;
    serde_json::from_str(&reply).context("the daemon's answer is not understood")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_request_reaches_the_loop_and_nonsense_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/socket");
        let (sender, receiver) = channel();
        listen(&path, "", sender.clone()).unwrap();
        let server = std::thread::spawn(move || {
            while let Ok(DaemonEvent::Requested(request, reply)) = receiver.recv() {
                reply.send(Reply::done(format!("{request:?}"))).unwrap();
            }
        });
        let request = ControlRequest::QuarantineClear { slot: Some("pci:0000:01:00.0".into()) };
        assert_eq!(
            call(std::slice::from_ref(&path), &request).unwrap(),
            Reply::done(format!("{request:?}"))
        );
        for line in [
            "{}\n".to_owned(),
            "x".repeat(100_000) + "\n",
            "{\"request\":\"run_now\",\"full\":true,\"x\":1}\n".to_owned(),
        ] {
            let mut stream = socket::connect(&path).unwrap();
            let _ = stream.write_all(line.as_bytes());
            let mut reply = String::new();
            let _ = BufReader::new(&stream).read_line(&mut reply);
            assert!(reply.is_empty() || reply.contains("not understood"), "{reply}");
        }
        assert!(
            call(&[folder.path().join("nobody"), path.clone()], &ControlRequest::Status)
                .unwrap()
                .done
        );
        assert!(
            listen(&path, "", sender.clone())
                .unwrap_err()
                .root_cause()
                .to_string()
                .contains("another daemon")
        );
        assert!(
            listen(&folder.path().join("x"), "no-such-group", sender)
                .unwrap_err()
                .to_string()
                .contains("no-such-group")
        );
        drop(server);
    }

    #[test]
    fn a_client_that_trickles_keeps_nobody_waiting_for_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let (sender, receiver) = channel();
        listen(&path, "", sender).unwrap();
        std::thread::spawn(move || {
            while let Ok(DaemonEvent::Requested(_, reply)) = receiver.recv() {
                reply.send(Reply::done("here")).unwrap();
            }
        });
        let mut slow = socket::connect(&path).unwrap();
        let begun = Instant::now();
        let trickle = std::thread::spawn(move || {
            while begun.elapsed() < PATIENCE * 3 && slow.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(200));
            }
            begun.elapsed()
        });
        assert_eq!(call(&[path], &ControlRequest::Status).unwrap(), Reply::done("here"));
        assert!(trickle.join().unwrap() < PATIENCE * 2);
    }
}
