//! How long the strings and lists of a JSON text are, before anything is made of it: what is read
//! takes many times its size in memory. The text need not be valid; whether it is, its parser says.

use memchr::memchr2;

/// Most bytes of a string: the numbers of a million failing cases have half as many.
pub const STRING: usize = 1 << 24;
/// Most elements of a list, or members of an object.
pub const LIST: usize = 1 << 22;
/// Nesting beyond which no parser here goes.
const DEPTH: usize = 256;

/// Something that is too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Excess {
    /// A string, or a list.
    pub what: &'static str,
    /// The unit of its length.
    pub unit: &'static str,
    /// The length that it may have.
    pub limit: usize,
    /// Byte of the text where it begins, or goes beyond its limit.
    pub at: usize,
}

/// The first string or list that is too long.
pub fn excess(text: &[u8]) -> Option<Excess> {
    find(text, STRING, LIST)
}

fn find(text: &[u8], string: usize, list: usize) -> Option<Excess> {
    // Elements so far, of each list around.
    let mut counts = Vec::with_capacity(DEPTH);
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let length = length(&text[at + 1..]);
                if length > string {
                    return Some(Excess { what: "a string", unit: "bytes", limit: string, at });
                }
                at += length + 1;
            }
            b'[' | b'{' if counts.len() == DEPTH => return None,
            b'[' | b'{' => counts.push(1),
            b']' | b'}' => drop(counts.pop()),
            b',' => {
                if let Some(count) = counts.last_mut() {
                    *count += 1;
                    if *count > list {
                        return Some(Excess { what: "a list", unit: "elements", limit: list, at });
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Bytes up to the quote that ends a string, or all.
fn length(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        if text[at + next] == b'"' {
            return at + next;
        }
        at += next + 2;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_too_long_is_found() {
        let found = |text: &str| find(text.as_bytes(), 4, 3).map(|excess| (excess.what, excess.at));
        for (text, expected) in [
            ("", None),
            (r#"{"a": ["bcde", 1, [2, 2, 2]], "b": {}, "c": []}"#, None),
            (r#"{"a": "bcdef"}"#, Some(("a string", 6))),
            (r#"["\"\"", "\\\\"]"#, None),
            (r#"["\"\"\""]"#, Some(("a string", 1))),
            ("[[1,2,3],[1,2,3,4]]", Some(("a list", 15))),
            (r#"[",,,,",1]"#, None),
            ("}}]],,,,", None),
            ("\"abc", None),
            ("\"abcde", Some(("a string", 0))),
            ("\"\\", None),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
        assert_eq!(excess("[".repeat(1 << 20).as_bytes()), None);
    }
}
