//! A report's text taken apart for compression: the bits it holds stand by themselves, one column for each number of
//! digits, and what is left is the same few phrases over and over.
//!
//! Between its quotes a list of a thousand answers is ten thousand characters in which a general compressor finds little;
//! as numbers, the high bytes of all of them and then the low ones, it finds most. Putting a report together again gives
//! its very bytes.

/// Digits of values that go into columns. The others are few.
pub const DIGITS: [usize; 3] = [4, 8, 16];

/// Stands in the skeleton for values of the first of [`DIGITS`]; the others follow. No text in UTF-8 has these bytes.
const MARK: u8 = 0xf9;

/// The parts of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Columns {
    /// The text with a mark, and how many there are, in the place of values in quotes with commas between them.
    pub skeleton: Vec<u8>,
    /// The values, by [`DIGITS`]: the first byte of each, then the second of each, and so on.
    pub planes: [Vec<u8>; DIGITS.len()],
}

/// Takes a text apart.
pub fn split(text: &str) -> Columns {
    let mut rest = text.as_bytes();
    let mut skeleton = Vec::with_capacity(rest.len() / 4);
    let mut columns: [Vec<u8>; DIGITS.len()] = Default::default();
    while let Some(quote) = rest.iter().position(|byte| *byte == b'"') {
        skeleton.extend_from_slice(&rest[..quote]);
        rest = &rest[quote..];
        let Some(width) = DIGITS.iter().position(|digits| value(rest, *digits).is_some()) else {
            skeleton.push(b'"');
            rest = &rest[1..];
            continue;
        };
        let digits = DIGITS[width];
        let mut count = 0;
        while let Some(hex) = value(rest, digits) {
            columns[width].extend(hex.chunks_exact(2).map(|pair| nibble(pair[0]) << 4 | nibble(pair[1])));
            count += 1;
            rest = &rest[digits + 2..];
            let more = rest.first() == Some(&b',') && value(&rest[1..], digits).is_some();
            if !more {
                break;
            }
            rest = &rest[1..];
        }
        skeleton.push(MARK + width as u8);
        write_count(count, &mut skeleton);
    }
    skeleton.extend_from_slice(rest);
    let mut widths = DIGITS.iter();
    let planes = columns.map(|column| turned(&column, widths.next().map_or(1, |digits| digits / 2)));
    Columns { skeleton, planes }
}

/// Puts a text together again, of exactly so many bytes; `None` for parts that do not make one.
pub fn join(columns: &Columns, length: usize) -> Option<String> {
    let mut text = Vec::with_capacity(length);
    let mut widths = DIGITS.iter();
    let values = columns.planes.each_ref().map(|planes| {
        let bytes = widths.next().map_or(1, |digits| digits / 2);
        turned(planes, planes.len() / bytes)
    });
    let mut used = [0; DIGITS.len()];
    let mut rest = &columns.skeleton[..];
    while let Some(mark) = rest.iter().position(|byte| *byte >= MARK) {
        text.extend_from_slice(&rest[..mark]);
        let width = usize::from(rest[mark] - MARK);
        let digits = *DIGITS.get(width)?;
        rest = &rest[mark + 1..];
        let count = read_count(&mut rest)?;
        let end = count.checked_mul(digits / 2)?.checked_add(used[width])?;
        let taken = values[width].get(used[width]..end)?;
        if text.len().checked_add(count.checked_mul(digits + 3)?)? > length + 1 {
            return None;
        }
        used[width] = end;
        match width {
            0 => write_values::<2>(taken, &mut text),
            1 => write_values::<4>(taken, &mut text),
            _ => write_values::<8>(taken, &mut text),
        }
    }
    text.extend_from_slice(rest);
    let whole = text.len() == length && used.iter().zip(&values).all(|(used, values)| *used == values.len());
    if whole { String::from_utf8(text).ok() } else { None }
}

/// Values of so many bytes, in quotes with commas between them.
fn write_values<const BYTES: usize>(values: &[u8], text: &mut Vec<u8>) {
    let mut comma = "";
    for value in values.as_chunks::<BYTES>().0 {
        text.extend_from_slice(comma.as_bytes());
        text.push(b'"');
        text.extend_from_slice(value.map(|byte| HEX[usize::from(byte)]).as_flattened());
        text.push(b'"');
        comma = ",";
    }
}

/// The digits of a value in quotes at the start of a text.
fn value(text: &[u8], digits: usize) -> Option<&[u8]> {
    let quoted = text.get(..digits + 2).filter(|quoted| quoted[0] == b'"' && quoted[digits + 1] == b'"')?;
    Some(&quoted[1..=digits]).filter(|hex| hex.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
}

fn nibble(digit: u8) -> u8 {
    if digit < b'a' { digit - b'0' } else { digit - b'a' + 10 }
}

/// Both digits of every byte.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

/// Rows of so many bytes, by columns. Turned again with the number of columns, they are rows as before.
fn turned(bytes: &[u8], row: usize) -> Vec<u8> {
    let mut turned = vec![0; bytes.len()];
    let rows = bytes.len() / row.max(1);
    // A few long columns, or a few long rows: what is long is gone through innermost.
    for short in 0..row.min(rows) {
        if row < rows {
            let column = bytes[short..].iter().step_by(row);
            turned[short * rows..][..rows].iter_mut().zip(column).for_each(|(to, from)| *to = *from);
        } else {
            let places = turned[short..].iter_mut().step_by(rows);
            places.zip(&bytes[short * row..][..row]).for_each(|(to, from)| *to = *from);
        }
    }
    turned
}

/// Seven bits a byte, lowest first; the highest bit says that more follow. These bytes are counted, not searched for
/// marks.
fn write_count(mut count: usize, out: &mut Vec<u8>) {
    while count > 0x7f {
        out.push(count as u8 | 0x80);
        count >>= 7;
    }
    out.push(count as u8);
}

fn read_count(rest: &mut &[u8]) -> Option<usize> {
    let (mut count, mut shift) = (0usize, 0);
    loop {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        if shift > 28 {
            return None;
        }
        count |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_come_back_whatever_they_hold() {
        for text in [
            "",
            "\"",
            "\"3c00",
            "\"3c00\"",
            "[\"3c00\",\"3c01\",\"00000001\", \"0001\",\"3C00\"]",
            "{\"cafe\":[\"0123456789abcdef\",\"0123456789abcdef\"],\"deadbeef\":\"é\u{10ffff}\"}",
            "\"\"3c00\"\"\"\",\"3c00\",",
        ] {
            assert_eq!(join(&split(text), text.len()).as_deref(), Some(text));
        }
        let parts = split("[\"3c00\",\"3c01\"]");
        assert_eq!((&parts.skeleton[..], &parts.planes[0][..]), (&[b'[', MARK, 2, b']'][..], &[0x3c, 0x3c, 0, 1][..]));
        let many = format!("[{}\"ffff\"]", "\"3c00\",".repeat(100_000));
        assert_eq!(join(&split(&many), many.len()), Some(many));
    }

    #[test]
    fn parts_that_make_no_text_are_refused() {
        let parts = split("[\"3c00\",\"3c01\"]");
        assert_eq!(join(&parts, 14), None);
        assert_eq!(join(&Columns { planes: Default::default(), ..parts.clone() }, 15), None);
        assert_eq!(join(&Columns { skeleton: b"[]".to_vec(), ..parts.clone() }, 2), None);
        assert_eq!(join(&Columns { skeleton: vec![MARK + 3, 1], ..parts.clone() }, 15), None);
        assert_eq!(join(&Columns { skeleton: vec![MARK, 0xff, 0xff, 0xff, 0xff, 0xff, 1], ..parts }, 15), None);
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "(\"[0-9a-f]{3,17}\",?|[\\PC\"]){0,40}") {
            prop_assert_eq!(join(&split(&text), text.len()), Some(text));
        }
    }
}
