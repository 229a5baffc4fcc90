//! A proxy between the program and its store, which fails as it is instructed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It is answered with this status and code.
    Refused(u16, &'static str),
    /// It is answered after this many milliseconds.
    Slow(u64),
    /// It never reaches the store.
    CutBefore,
    /// Half of it reaches the store.
    CutHalf,
    /// The store answers, and nobody hears it.
    CutAfter,
    /// It is heard, and nothing comes.
    Silent,
}

/// Which requests to put something fail: a number of them, after a number that pass.
#[derive(Clone, Copy, Debug)]
struct Faults {
    passing: usize,
    failing: usize,
    fault: Fault,
}

/// A request as it was forwarded: method and target, whether it creates alone, and status.
pub type Seen = (String, bool, u16);

pub struct Proxy {
    pub address: String,
    faults: Arc<Mutex<Option<Faults>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Proxy {
    pub fn start(server: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let faults: Arc<Mutex<Option<Faults>>> = Arc::default();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let proxy = Proxy { address, faults: Arc::clone(&faults), seen: Arc::clone(&seen) };
        let server = server.to_owned();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (server, faults, seen) =
                    (server.clone(), Arc::clone(&faults), Arc::clone(&seen));
                // A connection that ends early is what this is about.
                std::thread::spawn(move || serve(client, &server, &faults, &seen));
            }
        });
        proxy
    }

    /// The next `failing` puts behind `passing` others fail so.
    pub fn fail(&self, fault: Fault, passing: usize, failing: usize) {
        *self.faults.lock().unwrap() = Some(Faults { passing, failing, fault });
    }

    /// Nothing fails any more.
    pub fn heal(&self) {
        *self.faults.lock().unwrap() = None;
    }

    /// Whether all faults have struck.
    pub fn is_through(&self) -> bool {
        self.faults.lock().unwrap().is_none_or(|faults| faults.failing == 0)
    }

    /// The puts that reached the store since this was called last.
    pub fn puts(&self) -> Vec<Seen> {
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap());
        seen.retain(|(request, ..)| request.starts_with("PUT "));
        seen
    }
}

/// One request of a connection, which is closed afterwards.
fn serve(
    mut client: TcpStream,
    server: &str,
    faults: &Mutex<Option<Faults>>,
    seen: &Mutex<Vec<Seen>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let (mut head, mut length, mut creates, mut line) = (String::new(), 0, false, String::new());
    while reader.read_line(&mut line)? > 0 && line != "\r\n" {
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        creates |= lower.starts_with("if-none-match: *");
        if !lower.starts_with("connection:") {
            head += &line;
        }
        line.clear();
    }
    let request = head.split(" HTTP").next().unwrap_or_default().to_owned();
    let fault = next(faults, request.starts_with("PUT "));
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    match fault {
        Some(Fault::CutBefore) => return client.shutdown(Shutdown::Both),
        Some(Fault::Refused(status, code)) => {
            // A store may repeat what it was sent, credentials among it.
            let text = format!("<Error><Code>{code}</Code><Message>{head}</Message></Error>");
            let head = format!(
                "HTTP/1.1 {status} No\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                text.len()
            );
            return client.write_all((head + &text).as_bytes());
        }
        Some(Fault::Slow(time)) => std::thread::sleep(Duration::from_millis(time)),
        Some(Fault::Silent) => {
            std::thread::sleep(Duration::from_mins(2));
            return Ok(());
        }
        Some(Fault::CutHalf | Fault::CutAfter) | None => {}
    }
    let mut store = TcpStream::connect(server)?;
    store.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
    if fault == Some(Fault::CutHalf) {
        store.write_all(&body[..length / 2])?;
        store.shutdown(Shutdown::Both)?;
        return client.shutdown(Shutdown::Both);
    }
    store.write_all(&body)?;
    let mut answer = Vec::new();
    store.read_to_end(&mut answer)?;
    let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
    seen.lock().unwrap().push((request, creates, status));
    if fault == Some(Fault::CutAfter) {
        return client.shutdown(Shutdown::Both);
    }
    client.write_all(&answer)
}

/// The fault of the next request.
fn next(faults: &Mutex<Option<Faults>>, is_put: bool) -> Option<Fault> {
    let mut faults = faults.lock().unwrap();
    let faults = faults.as_mut().filter(|faults| is_put && faults.failing > 0)?;
    if faults.passing > 0 {
        faults.passing -= 1;
        return None;
    }
    faults.failing -= 1;
    Some(faults.fault)
}
