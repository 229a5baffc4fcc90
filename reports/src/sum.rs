//! Lines that tell when they are damaged: each begins with some digits of the digest of the rest.

use sha2::{Digest as _, Sha256};

/// Hex digits of the sum.
const DIGITS: usize = 8;

/// SHA-256, lower-case hex.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A line that holds this, with its end.
pub fn line(body: &str) -> String {
    format!("{:.DIGITS$} {body}\n", digest(body.as_bytes()))
}

/// What a line without its end holds; `None` where the line is not as it was written.
pub fn body(line: &[u8]) -> Option<&str> {
    let (sum, body) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    Some(body).filter(|body| sum.len() == DIGITS && digest(body.as_bytes()).starts_with(sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_another_character_is_none() {
        let good = line("{\"a\": 1}");
        assert_eq!(body(good.trim_end().as_bytes()), Some("{\"a\": 1}"));
        for place in 0..good.len() - 1 {
            let mut bad = good.trim_end().as_bytes().to_vec();
            bad[place] ^= 1;
            assert_eq!(body(&bad), None, "{place}");
        }
        assert_eq!(body(b""), None);
    }
}
