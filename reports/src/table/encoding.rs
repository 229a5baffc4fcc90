//! How pages hold values: one run for all rows of a kernel, and numbers by their bytes.

/// Appends a run of one value (RLE of the Parquet format) that takes this many bytes.
pub(super) fn run(out: &mut Vec<u8>, count: usize, value: u32, bytes: usize) {
    if count > 0 {
        varint(out, (count as u64) << 1);
        out.extend(&value.to_le_bytes()[..bytes]);
    }
}

/// Appends, for rows that have this many elements of a list each, 0 for each first element and 1
/// for the others.
pub(super) fn repetition(out: &mut Vec<u8>, rows: usize, each: usize) {
    if each < 2 {
        return run(out, rows, 0, 1);
    }
    let count = rows * each;
    let level = |place: usize| u32::from(!place.is_multiple_of(each));
    if count >= 8 {
        varint(out, ((count / 8) as u64) << 1 | 1);
        out.extend(
            (0..count / 8).map(|byte| {
                (0..8).fold(0, |bits, bit| bits | (level(byte * 8 + bit) as u8) << bit)
            }),
        );
    }
    (count / 8 * 8..count).for_each(|place| run(out, 1, level(place), 1));
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The runs of a page of runs alone, whose values take this many bytes: each value, and how often.
/// `None` for another page.
pub(super) fn runs(mut bytes: &[u8], width: usize) -> Option<Vec<(u32, usize)>> {
    let mut runs = Vec::new();
    while !bytes.is_empty() {
        let header = read_varint(&mut bytes)?;
        let (value, rest) = bytes.split_at_checked(width)?;
        bytes = rest;
        let mut word = [0; 4];
        word.get_mut(..width)?.copy_from_slice(value);
        if header & 1 == 1 {
            return None;
        }
        runs.push((u32::from_le_bytes(word), usize::try_from(header >> 1).ok()?));
    }
    Some(runs)
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Appends the bytes of this many numbers: all lowest ones, then all second ones, and so on
/// (`BYTE_STREAM_SPLIT`). A group has millions, so nothing but these bytes is kept.
pub(super) fn split(
    out: &mut Vec<u8>,
    count: usize,
    bytes: usize,
    values: impl IntoIterator<Item = u64>,
) {
    let start = out.len();
    out.reserve_exact(count * bytes);
    out.resize(start + count * bytes, 0);
    let mut planes: Vec<&mut [u8]> = out[start..].chunks_exact_mut(count.max(1)).collect();
    for (place, value) in values.into_iter().enumerate() {
        for (plane, byte) in planes.iter_mut().zip(value.to_le_bytes()) {
            plane[place] = byte;
        }
    }
}

/// Numbers of 8 bytes each, by their bytes.
#[derive(Clone, Copy)]
pub(super) struct SplitNumbers<'a>(pub &'a [u8]);

impl<'a> SplitNumbers<'a> {
    /// How many there are.
    pub(super) fn len(self) -> usize {
        self.0.len() / 8
    }

    /// The bytes of some of them, by place: lowest first. The range must be within.
    pub(super) fn parts(self, start: usize, count: usize) -> [&'a [u8]; 8] {
        let plane = |byte: usize| &self.0[byte * self.len() + start..][..count];
        std::array::from_fn(plane)
    }

    /// Some of them. The range must be within.
    pub(super) fn values(self, start: usize, count: usize) -> Vec<u64> {
        let mut values = vec![0; count];
        for (byte, part) in self.parts(start, count).into_iter().enumerate() {
            values
                .iter_mut()
                .zip(part)
                .for_each(|(value, part)| *value |= u64::from(*part) << (byte * 8));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_back_and_others_are_refused() {
        let mut bytes = Vec::new();
        let all = [(3, 1), (0x1_0203, 200), (3, 1 << 30)];
        for (value, count) in all {
            run(&mut bytes, count, value, 3);
        }
        run(&mut bytes, 0, 9, 3);
        assert_eq!(runs(&bytes, 3).unwrap(), all);
        for end in [1, 3, 5, bytes.len() - 1] {
            assert_eq!(runs(&bytes[..end], 3), None, "{end}");
        }
        let mut packed = Vec::new();
        repetition(&mut packed, 4, 2);
        assert_eq!((packed.as_slice(), runs(&packed, 1)), ([3, 0b1010_1010].as_slice(), None));
        assert_eq!(runs(&[0xff; 20], 1), None);
        let mut odd = Vec::new();
        repetition(&mut odd, 3, 3);
        assert_eq!(odd, [3, 0b1011_0110, 2, 1]);
    }

    #[test]
    fn numbers_come_back_from_their_bytes() {
        let values = [0x0102_0304_0506_0708, 1, u64::MAX, 0x3f80_0000];
        let mut bytes = Vec::new();
        split(&mut bytes, 4, 8, values);
        assert_eq!(bytes[..4], [8, 1, 255, 0]);
        let numbers = SplitNumbers(&bytes);
        assert_eq!(
            (numbers.values(0, 4).as_slice(), numbers.values(1, 2)),
            (values.as_slice(), values[1..3].to_vec())
        );
        split(&mut bytes, 1, 4, [0x0102_0304]);
        assert_eq!(bytes[32..], [4, 3, 2, 1]);
        split(&mut bytes, 0, 4, []);
        assert_eq!(bytes.len(), 36);
    }
}
