//! What a worker prints: the last of it is kept, the rest counted.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};

/// Bytes kept of each stream.
const KEPT: usize = 64 << 10;

/// One captured stream.
pub struct Capture<S> {
    stream: Option<S>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl<S: Read> Capture<S> {
    /// Captures this stream; without one there is nothing to capture.
    pub fn new(stream: Option<S>) -> Capture<S> {
        Capture { stream, tail: VecDeque::new(), dropped: 0 }
    }

    /// The stream, while it is open.
    pub fn stream(&self) -> Option<&S> {
        self.stream.as_ref()
    }

    /// Takes what has arrived; call it when the stream has something to read or has ended.
    pub fn pump(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        let mut chunk = [0; 16 << 10];
        match stream.read(&mut chunk) {
            Ok(0) => self.stream = None,
            Ok(count) => {
                self.tail.extend(&chunk[..count]);
                let excess = self.tail.len().saturating_sub(KEPT);
                self.tail.drain(..excess);
                self.dropped += excess as u64;
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(_) => self.stream = None,
        }
    }

    /// The last of the stream, and how much came before it.
    pub fn take(&mut self) -> (String, u64) {
        let tail = std::mem::take(&mut self.tail);
        (
            String::from_utf8_lossy(tail.into_iter().collect::<Vec<u8>>().as_slice()).into_owned(),
            self.dropped,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_and_counted() {
        let flood = vec![b'x'; 300 << 10];
        let mut capture = Capture::new(Some(flood.as_slice()));
        while capture.stream().is_some() {
            capture.pump();
        }
        let (text, dropped) = capture.take();
        assert_eq!((text.len(), dropped), (KEPT, (300 << 10) - KEPT as u64));
    }
}
