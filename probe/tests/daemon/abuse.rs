//! Clients of the listener that mean no good, or know no better.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::host::{Host, PATIENCE};

#[test]
fn what_is_no_request_is_refused_and_nothing_leaks() {
    let host = Host::new("swiftshader", "start = false\nhttp.connections = 8\n");
    host.wait("the daemon is ready", || host.get("/readyz").starts_with("HTTP/1.1 200"));
    let before = host.descriptors();
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(1 << 20));
    for (request, status) in [
        (&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], 400),
        (b"GET / HTTP/1.1\r\nHost: local host\0\r\n\r\n", 400),
        (b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        (b"GET /reports/../../x HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        (b"GET /diffs/../config HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        (b"POST /status HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"GET /status HTTP/1.1\r\nHost: rebound.example\r\n\r\n", 403),
        (long.as_bytes(), 431),
    ] {
        let answer = host.http(request);
        // Whoever still sends when the connection closes may lose the answer.
        let lost = request.len() > 1 << 16 && answer.is_empty();
        assert!(
            lost || answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{:?}: {answer}",
            String::from_utf8_lossy(request)
        );
    }

    // Silent clients take every seat, and make room for who has a request.
    let mut idle: Vec<TcpStream> = Vec::new();
    for _ in 0..4 {
        for _ in 0..8 {
            let mut stream = TcpStream::connect(host.address()).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
            idle.push(stream);
        }
        let answer = host.get("/metrics");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let left = |mut stream: TcpStream| {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut answer = String::new();
        // Who is shown out may lose what is told to it.
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let answers: Vec<String> = idle.into_iter().map(left).collect();
    let of = |status: &str| {
        answers.iter().filter(|answer| answer.starts_with(&format!("HTTP/1.1 {status} "))).count()
    };
    let shown_out = answers.iter().filter(|answer| answer.is_empty()).count();
    assert!(of("408") <= 8 && of("408") + of("503") + shown_out == answers.len(), "{answers:?}");
    host.wait("there are seats again", || host.get("/healthz").starts_with("HTTP/1.1 200"));

    // Those who follow the events leave without a word.
    for _ in 0..20 {
        let mut stream = TcpStream::connect(host.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        assert!(head.starts_with(b"HTTP/1.1 "));
    }
    host.run(&["pause"]);
    host.run(&["resume"]);
    host.wait("every descriptor is closed", || host.descriptors() <= before);
}

#[test]
fn every_page_is_there_and_loads_nothing_from_elsewhere() {
    let host = Host::new("swiftshader", "start = false\n");
    host.wait("the daemon is ready", || host.get("/readyz").starts_with("HTTP/1.1 200"));
    for (path, words) in [
        ("/", "<title>fpprobe daemon</title>"),
        ("/page.js", "EventSource"),
        ("/page.css", "color-scheme"),
        ("/status", "fpprobe-daemon/1"),
        ("/metrics", "fpprobe_daemon_start_timestamp_seconds"),
        ("/healthz", "ok"),
        ("/reports", "[]"),
    ] {
        let answer = host.get(path);
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains(words), "{path}: {answer}");
        assert!(answer.contains("Content-Security-Policy: default-src 'none'"), "{path}");
    }
    assert!(!host.get("/").contains("http"), "nothing is loaded from elsewhere");
}
