//! Answers, and how they are written: within their time, and then the connection closes.

use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Bytes between two looks at the clock.
const CHUNK: usize = 64 << 10;
/// Time for one write, and for a whole answer.
const STEP: Duration = Duration::from_secs(5);
const WHOLE: Duration = Duration::from_mins(1);

/// Where a page may load from: nowhere else.
const OWN: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'";
/// A report's page holds all that it needs.
const INLINE: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
    frame-ancestors 'none'";

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpResponse {
    status: u16,
    kind: &'static str,
    policy: &'static str,
    body: Vec<u8>,
}

impl HttpResponse {
    /// Of this kind.
    pub fn of(kind: &'static str, body: impl Into<Vec<u8>>) -> HttpResponse {
        HttpResponse { status: 200, kind, policy: OWN, body: body.into() }
    }

    /// A line of text.
    pub fn plain(status: u16, text: &str) -> HttpResponse {
        HttpResponse {
            status,
            ..HttpResponse::of("text/plain; charset=utf-8", format!("{text}\n"))
        }
    }

    /// A page that loads nothing.
    pub fn page(body: Vec<u8>) -> HttpResponse {
        HttpResponse { policy: INLINE, ..HttpResponse::of("text/html; charset=utf-8", body) }
    }

    /// Writes it, or its head alone.
    pub fn write(&self, stream: &TcpStream, head: bool) -> io::Result<()> {
        let mut bytes =
            head_of(self.status, self.kind, self.policy, Some(self.body.len())).into_bytes();
        if !head {
            bytes.extend_from_slice(&self.body);
        }
        send(stream, &bytes)?;
        stream.shutdown(std::net::Shutdown::Write)
    }
}

/// The head of a stream of events, which has no end.
pub fn stream_head() -> String {
    head_of(200, "text/event-stream", OWN, None)
}

fn head_of(status: u16, kind: &str, policy: &str, length: Option<usize>) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed\r\nAllow: GET, HEAD",
        408 => "Request Timeout",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    };
    let length = length.map(|length| format!("Content-Length: {length}\r\n")).unwrap_or_default();
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\n{length}Connection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: {policy}\r\n\r\n"
    )
}

/// Writes bytes; a client that takes them too slowly is left.
pub fn send(stream: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.set_write_timeout(Some(STEP))?;
    let deadline = Instant::now() + WHOLE;
    let mut writer = stream;
    for chunk in bytes.chunks(CHUNK) {
        let mut left = chunk;
        while !left.is_empty() {
            if Instant::now() > deadline {
                return Err(ErrorKind::TimedOut.into());
            }
            match writer.write(left) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => left = &left[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}
