//! The HTTP listener: reads nothing but a short head, answers, closes. It changes nothing and has
//! no passwords.
//!
//! Connections are few and each has its time; where all are taken, the one makes room that has been
//! silent longest. What is no request of HTTP/1 is refused. Where the listener is on the loopback
//! interface, a name other than `localhost` in `Host` is refused too: a page elsewhere may have its
//! name lead here.

mod request;
mod response;
mod routes;

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use self::request::{HttpError, HttpRequest};
use self::response::HttpResponse;
use self::routes::Site;
use crate::door::Door;
use crate::settings::DaemonSettings;
use crate::shared_status::SharedStatus;
use fpprobe_system::usage::OrUsage as _;

/// Time for the refusal of a client beyond the limit.
const BRIEF: Duration = Duration::from_millis(200);
/// Between two looks at whether there is a seat.
const TICK: Duration = Duration::from_millis(2);
/// Pause after a failure to accept, most of which are of too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// Connections whose request has not arrived yet, oldest first.
#[derive(Clone, Default)]
struct Silent(Arc<Mutex<VecDeque<Arc<TcpStream>>>>);

impl Silent {
    fn list(&self) -> MutexGuard<'_, VecDeque<Arc<TcpStream>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, stream: &Arc<TcpStream>) {
        self.list().push_back(Arc::clone(stream));
    }

    fn remove(&self, stream: &Arc<TcpStream>) {
        self.list().retain(|one| !Arc::ptr_eq(one, stream));
    }

    /// Ends the oldest; whether there was one.
    fn end_oldest(&self) -> bool {
        // Its thread reads the end, and gives its seat back.
        self.list().pop_front().is_some_and(|stream| stream.shutdown(Shutdown::Both).is_ok())
    }
}

/// A place among the connections, given back when dropped.
struct Seat(Arc<AtomicUsize>);

impl Seat {
    /// One, unless N are taken.
    fn take(taken: &Arc<AtomicUsize>, most: usize) -> Option<Seat> {
        let one_more = |taken: usize| (taken < most).then_some(taken + 1);
        taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).ok()?;
        Some(Seat(Arc::clone(taken)))
    }

    /// One that is about to be given back.
    fn wait(taken: &Arc<AtomicUsize>, most: usize) -> Option<Seat> {
        let deadline = Instant::now() + BRIEF;
        loop {
            let seat = Seat::take(taken, most);
            if seat.is_some() || Instant::now() > deadline {
                return seat;
            }
            std::thread::sleep(TICK);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Listens, in threads; gives the address, whose port may have been the system's choice.
pub fn listen(
    door: Arc<dyn Door>,
    shared: Arc<SharedStatus>,
    settings: &DaemonSettings,
) -> anyhow::Result<SocketAddr> {
    let http = &settings.daemon.http;
    let doing = || format!("failed to listen on {} (`daemon.http.listen`)", http.listen);
    let bound = TcpListener::bind(&http.listen);
    // Who has the address now may let it go, and the network may yet come up: to try again helps.
    let passes = bound.as_ref().is_err_and(|error| {
        matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable)
    });
    let bound = bound.with_context(doing);
    let listener = if passes { bound? } else { bound.or_usage()? };
    let address = listener.local_addr().with_context(doing)?;
    let site = Arc::new(Site::new(door, shared, settings, http.connections));
    let (taken, most, silent) =
        (Arc::new(AtomicUsize::new(0)), http.connections, Silent::default());
    let local = address.ip().is_loopback();
    let accept = move || {
        loop {
            let Ok((stream, _)) = listener.accept() else {
                std::thread::sleep(PAUSE);
                continue;
            };
            let room = || silent.end_oldest().then(|| Seat::wait(&taken, most)).flatten();
            let Some(seat) = Seat::take(&taken, most).or_else(room) else {
                let _ = stream.set_write_timeout(Some(BRIEF));
                let _ = HttpResponse::plain(503, "too many connections").write(&stream, false);
                continue;
            };
            let (site, silent, stream) = (Arc::clone(&site), silent.clone(), Arc::new(stream));
            silent.add(&stream);
            let serve = move || {
                let request = request::read(&stream);
                silent.remove(&stream);
                // A client that leaves, or is too slow, is its own misfortune.
                let _ = serve(&stream, request, &site, local);
                drop(seat);
            };
            // Where there is no thread to be had, the connection closes.
            let _ = std::thread::Builder::new().name("http".to_owned()).spawn(serve);
        }
    };
    std::thread::Builder::new().name("listener".to_owned()).spawn(accept)?;
    Ok(address)
}

/// The path that the head of a request names.
pub fn path(head: &[u8]) -> Option<String> {
    request::parse(head).ok()?.map(|request| request.path)
}

fn serve(
    stream: &TcpStream,
    request: Result<HttpRequest, HttpError>,
    site: &Site,
    local: bool,
) -> io::Result<()> {
    let request = match request {
        Ok(request) => request,
        Err(HttpError { status, reason }) if status > 0 => {
            return HttpResponse::plain(status, reason).write(stream, false);
        }
        Err(_) => return Ok(()),
    };
    if local && !is_local(&request.host) {
        return HttpResponse::plain(403, "this listener has no such name")
            .write(stream, request.head);
    }
    if request.path == "/events" && !request.head {
        return site.events(stream);
    }
    site.answer(&request.path).write(stream, request.head)
}

/// Whether a `Host` is this machine for itself: an address, or `localhost`; with a port or without.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port))
            if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            name
        }
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_elsewhere_are_not_ours() {
        for (host, expected) in [
            ("localhost:9464", true),
            ("127.0.0.1", true),
            ("[::1]:9464", true),
            ("example.org", false),
            ("localhost.example.org:80", false),
            ("", false),
        ] {
            assert_eq!(is_local(host), expected, "{host}");
        }
    }

    #[test]
    fn seats_are_given_back() {
        let taken = Arc::new(AtomicUsize::new(0));
        let seats: Vec<_> = (0..3).filter_map(|_| Seat::take(&taken, 2)).collect();
        assert_eq!(seats.len(), 2);
        drop(seats);
        assert!(Seat::take(&taken, 2).is_some());
        assert_eq!(taken.load(Ordering::SeqCst), 0);
    }
}
