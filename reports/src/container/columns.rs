//! A report's text as version 1 took it apart for compression: the bits that it holds stand by
//! themselves, one column for each number of digits, the high bytes of all of them and then the low
//! ones.

use std::ops::Range;

use memchr::memchr3;

/// Digits of values that go into columns. The others are few.
pub const DIGITS: [usize; 3] = [4, 8, 16];

/// Stands in the skeleton for values of the first of [`DIGITS`]; the others follow. No text in
/// UTF-8 has these bytes.
const MARK: u8 = 0xf9;

/// The parts of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Columns {
    /// The text with a mark, and how many there are, in the place of values in quotes with commas
    /// between them.
    pub skeleton: Vec<u8>,
    /// The values, by [`DIGITS`]: the first byte of each, then the second of each, and so on.
    pub planes: [Vec<u8>; DIGITS.len()],
}

/// Puts a text together again, of exactly N bytes; `None` for parts that do not make one.
pub fn join(columns: &Columns, length: usize) -> Option<String> {
    let (mut text, mut place) = (Vec::with_capacity(length), TextPosition::default());
    while columns.piece(&mut place, length, &mut text)? {}
    String::from_utf8(text).ok()
}

/// How far a text has been put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct TextPosition {
    /// Bytes of the text.
    text: usize,
    /// Bytes of the skeleton.
    skeleton: usize,
    /// Values, by [`DIGITS`].
    used: [usize; DIGITS.len()],
}

impl Columns {
    /// Puts the next piece, bytes of the skeleton up to a mark and what that stands for, behind
    /// `out`. Whether more is to come; `None` where the parts do not make a text of exactly N
    /// bytes.
    fn piece(&self, place: &mut TextPosition, length: usize, out: &mut Vec<u8>) -> Option<bool> {
        let before = out.len();
        let rest = &self.skeleton[place.skeleton..];
        let mark = memchr3(MARK, MARK + 1, MARK + 2, rest).unwrap_or(rest.len());
        let (plain, mut after) = rest.split_at(mark);
        out.extend_from_slice(plain);
        if let Some((mark, counted)) = after.split_first() {
            after = counted;
            let width = usize::from(mark - MARK);
            let digits = *DIGITS.get(width)?;
            let count = read_count(&mut after)?;
            let end = place.used[width].checked_add(count)?;
            let written = count.checked_mul(digits + 3)?.checked_add(place.text + plain.len())?;
            if end > self.planes[width].len() / (digits / 2) || written > length + 1 {
                return None;
            }
            let (planes, values) = (&self.planes[width], place.used[width]..end);
            match width {
                0 => write_values::<2>(planes, values, out),
                1 => write_values::<4>(planes, values, out),
                _ => write_values::<8>(planes, values, out),
            }
            place.used[width] = end;
        }
        place.skeleton = self.skeleton.len() - after.len();
        place.text += out.len() - before;
        if !after.is_empty() {
            return Some(true);
        }
        let all =
            |width: usize| place.used[width] * (DIGITS[width] / 2) == self.planes[width].len();
        (place.text == length && (0..DIGITS.len()).all(all)).then_some(false)
    }
}

/// Values of N bytes, in quotes with commas between them; each plane has one byte of every value.
fn write_values<const BYTES: usize>(planes: &[u8], values: Range<usize>, text: &mut Vec<u8>) {
    let (rows, count, start) = (planes.len() / BYTES, values.len(), text.len());
    let planes: [&[u8]; BYTES] =
        std::array::from_fn(|byte| &planes[byte * rows..][values.clone()][..count]);
    // A quote, the digits, a quote and a comma, which the last has not.
    let length = 2 * BYTES + 3;
    text.resize(start + count * length, b'"');
    for (value, piece) in text[start..].chunks_exact_mut(length).enumerate() {
        for (digits, plane) in piece[1..].as_chunks_mut::<2>().0.iter_mut().zip(&planes) {
            *digits = HEX[usize::from(plane[value])];
        }
        piece[length - 1] = b',';
    }
    if count > 0 {
        text.pop();
    }
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

/// Seven bits a byte, lowest first; the highest bit says that more follow. These bytes are counted,
/// not searched for marks.
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
    use super::*;

    #[test]
    fn parts_that_make_no_text_are_refused() {
        let parts = Columns {
            skeleton: vec![b'[', MARK, 2, b']'],
            planes: [vec![0x3c, 0x3c, 0, 1], Vec::new(), Vec::new()],
        };
        assert_eq!(join(&parts, 15).as_deref(), Some("[\"3c00\",\"3c01\"]"));
        assert_eq!(join(&parts, 14), None);
        assert_eq!(join(&Columns { planes: Default::default(), ..parts.clone() }, 15), None);
        assert_eq!(join(&Columns { skeleton: b"[]".to_vec(), ..parts.clone() }, 2), None);
        assert_eq!(join(&Columns { skeleton: vec![MARK + 3, 1], ..parts.clone() }, 15), None);
        assert_eq!(
            join(&Columns { skeleton: vec![MARK, 0xff, 0xff, 0xff, 0xff, 0xff, 1], ..parts }, 15),
            None
        );
    }
}
