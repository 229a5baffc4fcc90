//! Frames: four bytes of length, little end first, then that many bytes of postcard.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Largest frame. A worker that announces more has lost its senses (or its memory).
pub const LIMIT: usize = 64 << 20;

/// A message as the bytes of its frame.
pub fn encode<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let body = postcard::to_stdvec(message).map_err(io::Error::other)?;
    if body.len() > LIMIT {
        return Err(io::Error::other(format!(
            "a message of {} bytes is over the limit of {LIMIT}",
            body.len()
        )));
    }
    let mut frame = (body.len() as u32).to_le_bytes().to_vec();
    frame.extend(body);
    Ok(frame)
}

/// Writes one frame.
pub fn write<T: Serialize>(mut out: impl Write, message: &T) -> io::Result<()> {
    out.write_all(&encode(message)?)?;
    out.flush()
}

/// Reads one frame; `None` at the end of the stream.
pub fn read<T: DeserializeOwned>(mut input: impl Read) -> io::Result<Option<T>> {
    let mut decoder = Decoder::default();
    let mut chunk = vec![0; 64 << 10];
    loop {
        if let Some(message) = decoder.message()? {
            return Ok(Some(message));
        }
        // Never past the frame: what follows belongs to the next call.
        let expected = decoder.missing().min(chunk.len());
        match input.read(&mut chunk[..expected]) {
            Ok(0) if decoder.bytes.is_empty() => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => decoder.feed(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes frames out of a stream that arrives piece by piece.
#[derive(Default)]
pub struct Decoder {
    bytes: Vec<u8>,
}

impl Decoder {
    /// Adds what has arrived.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn length(&self) -> Option<usize> {
        let head = self.bytes.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*head) as usize)
    }

    /// Bytes that the frame at hand still lacks.
    fn missing(&self) -> usize {
        (4 + self.length().unwrap_or(0)).saturating_sub(self.bytes.len())
    }

    /// The next message, if it has arrived whole.
    pub fn message<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(length) = self.length() else { return Ok(None) };
        if length > LIMIT {
            return Err(io::Error::other(format!(
                "a frame of {length} bytes is over the limit of {LIMIT}"
            )));
        }
        let Some(body) = self.bytes.get(4..4 + length) else { return Ok(None) };
        let message = postcard::from_bytes(body).map_err(io::Error::other)?;
        self.bytes.drain(..4 + length);
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::{Job, KernelResult, Request, Response};
    use fpprobe_profiles::Outcome;

    fn samples() -> Vec<Response> {
        let out: Arc<[u64]> = [0, u64::MAX, 0x7fc0_0000].into();
        let answer = KernelResult {
            outcome: Outcome::Flaky,
            detail: "x".into(),
            out: out.clone(),
            second: Some(out),
        };
        vec![
            Response::Opened,
            Response::Measured(vec![answer, KernelResult::none(Outcome::Hung, "y")]),
        ]
    }

    #[test]
    fn messages_survive_the_stream_byte_by_byte() {
        let mut decoder = Decoder::default();
        let mut arrived: Vec<Response> = Vec::new();
        for byte in samples().iter().flat_map(|message| encode(message).unwrap()) {
            decoder.feed(&[byte]);
            arrived.extend(decoder.message().unwrap());
        }
        assert_eq!(arrived, samples());
    }

    #[test]
    fn a_blocking_reader_stops_at_the_end_of_each_frame() {
        let mut stream = Vec::new();
        let request = Request::Measure {
            jobs: vec![Job {
                kernel: "f32.fadd".into(),
                cases: crate::protocol::JobCases::Given((0..100_000).collect()),
            }],
            runs: crate::protocol::Runs::Two,
            timeout: std::time::Duration::from_millis(1),
        };
        write(&mut stream, &request).unwrap();
        write(&mut stream, &Request::Enumerate).unwrap();
        let mut input = stream.as_slice();
        assert_eq!(read(&mut input).unwrap(), Some(request));
        assert_eq!(read(&mut input).unwrap(), Some(Request::Enumerate));
        assert_eq!(read::<Request>(&mut input).unwrap(), None);
    }

    #[test]
    fn nonsense_is_an_error_not_a_panic() {
        let mut decoder = Decoder::default();
        decoder.feed(&[0xff; 8]);
        assert!(decoder.message::<Response>().is_err());
        let mut decoder = Decoder::default();
        decoder.feed(&[2, 0, 0, 0, 0xff, 0xff]);
        assert!(decoder.message::<Response>().is_err());
        assert!(read::<Request>(&[9u8, 0, 0, 0, 1][..]).is_err());
    }
}
