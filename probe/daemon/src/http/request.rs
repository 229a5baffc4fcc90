//! Reading the head of a request, all of which must arrive soon and be short.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Bytes that a head may have, and headers in it.
const LONGEST: usize = 8 << 10;
const HEADERS: usize = 48;
/// Time for all of it.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is requested.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpRequest {
    /// The path, without a query.
    pub path: String,
    /// `Host`; empty where there is none.
    pub host: String,
    /// Whether the head of the answer alone is required.
    pub head: bool,
}

/// Why there is no request: status and reason; status 0 for a client that left or is too slow for a
/// reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpError {
    /// Of HTTP.
    pub status: u16,
    /// In words.
    pub reason: &'static str,
}

const fn refused(status: u16, reason: &'static str) -> HttpError {
    HttpError { status, reason }
}

/// Reads one.
pub fn read(stream: &TcpStream) -> Result<HttpRequest, HttpError> {
    let closed = |_| refused(0, "gone");
    let (mut head, deadline) = (Vec::new(), Instant::now() + PATIENCE);
    let mut chunk = [0; 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(refused(408, "the request took too long"));
        }
        stream.set_read_timeout(Some(left)).map_err(closed)?;
        let mut reader = stream;
        match reader.read(&mut chunk) {
            Ok(0) => return Err(refused(0, "gone")),
            Ok(length) => head.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(closed(error)),
        }
        if let Some(request) = parse(&head)? {
            return Ok(request);
        }
        if head.len() > LONGEST {
            return Err(refused(431, "the head of the request is too long"));
        }
    }
}

/// A request, or `None` where the rest of it is still to come.
pub fn parse(head: &[u8]) -> Result<Option<HttpRequest>, HttpError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Partial) => return Ok(None),
        Ok(httparse::Status::Complete(length)) if length > LONGEST => {
            return Err(refused(431, "the head of the request is too long"));
        }
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => {
            return Err(refused(431, "the request has too many headers"));
        }
        Err(_) => return Err(refused(400, "this is no request of HTTP/1")),
    }
    let values = |name: &'static str| {
        let named =
            request.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
        named.map(|header| std::str::from_utf8(header.value).unwrap_or_default().trim())
    };
    if values("content-length").any(|length| length != "0")
        || values("transfer-encoding").next().is_some()
    {
        return Err(refused(413, "nothing is to be sent here"));
    }
    let mut hosts = values("host");
    let host = hosts.next().unwrap_or_default().to_owned();
    if hosts.next().is_some() {
        return Err(refused(400, "the request has several hosts"));
    }
    let head = match request.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(refused(405, "only GET and HEAD are answered")),
    };
    let path = request.path.unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default().to_owned();
    Ok(Some(HttpRequest { path, host, head }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_requests_partial_or_refused() {
        let status = |text: &str| match parse(text.as_bytes()) {
            Ok(Some(_)) => 200,
            Ok(None) => 0,
            Err(refused) => refused.status,
        };
        for (text, expected) in [
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 200),
            ("HEAD /metrics?x=1 HTTP/1.0\r\n\r\n", 200),
            ("GET / HTTP/1.1\r\nHost: x\r\n", 0),
            ("POST / HTTP/1.1\r\n\r\n", 405),
            ("GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", 413),
            ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 413),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET /\r\n\r\n", 400),
            ("\u{16}\u{3}\u{1}", 400),
            ("GET / HTTP/1.1\r\nA b: c\r\n\r\n", 400),
        ] {
            assert_eq!(status(text), expected, "{text:?}");
        }
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(HEADERS + 1));
        assert_eq!(status(&many), 431);
        let request =
            parse(b"HEAD /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap().unwrap();
        assert_eq!(
            request,
            HttpRequest { path: "/metrics".into(), host: "localhost".into(), head: true }
        );
    }
}
