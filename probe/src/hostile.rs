//! What reads bytes of strangers, for tests that feed it any: workers, clients, packages.

use std::path::Path;

use crate::{config, discover};
use fpprobe_daemon::request::ControlRequest as Order;
use fpprobe_worker::protocol::{Request, Response, frame};

/// Frames of a worker, or of a supervisor, that arrive in pieces. Messages that are read are
/// written again and read as the same.
pub fn frames(pieces: &[&[u8]]) {
    responses(pieces);
    requests(pieces);
}

fn responses(pieces: &[&[u8]]) {
    let mut decoder = frame::Decoder::default();
    for piece in pieces {
        decoder.feed(piece);
        while let Ok(Some(response)) = decoder.message::<Response>() {
            let again = frame::encode(&response).unwrap_or_default();
            assert!(
                matches!(frame::read::<Response>(&again[..]), Ok(Some(same)) if format!("{same:?}") == format!("{response:?}"))
            );
        }
    }
}

fn requests(pieces: &[&[u8]]) {
    let mut decoder = frame::Decoder::default();
    for piece in pieces {
        decoder.feed(piece);
        while let Ok(Some(request)) = decoder.message::<Request>() {
            let again = frame::encode(&request).unwrap_or_default();
            assert!(
                matches!(frame::read::<Request>(&again[..]), Ok(Some(same)) if format!("{same:?}") == format!("{request:?}"))
            );
        }
    }
}

/// A configuration; whether it is one.
pub fn config(text: &str) -> bool {
    config::parse(text).is_ok()
}

/// The head of a request to the listener: its path, where it is one.
pub fn http(head: &[u8]) -> Option<String> {
    fpprobe_daemon::http_path(head)
}

/// A request to the control socket; whether it is one.
///
/// # Panics
///
/// Where a request that is written again reads as another.
pub fn control(line: &[u8]) -> bool {
    let Ok(order) = serde_json::from_slice::<Order>(line) else { return false };
    let again = serde_json::to_vec(&order).unwrap_or_default();
    assert_eq!(serde_json::from_slice::<Order>(&again).ok(), Some(order));
    true
}

/// A manifest of implicit layers: the variables that switch them off.
pub fn layer(text: &[u8]) -> Vec<(String, String)> {
    discover::layers::parse(text).unwrap_or_default()
}

/// A driver's manifest in this folder; whether it names a library.
pub fn manifest(text: &[u8], folder: &Path) -> bool {
    discover::manifest::parse(text)
        .is_ok_and(|manifest| manifest.library(&folder.join("driver.json")).is_ok())
}
