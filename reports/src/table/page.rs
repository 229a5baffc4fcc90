//! The pages of a column chunk, unpacked within limits: what a page says of its size is checked
//! before it is believed.

use parquet::basic::CompressionCodec;
use parquet::file::metadata::ColumnChunkMetaData;

use super::{KERNEL_PAGE, PAGE};

/// Encodings of data pages, by their numbers in the Parquet format: places in the dictionary in
/// runs, and numbers by bytes.
pub(super) const REPEATED: usize = 8;
pub(super) const SPLIT: usize = 9;
/// Most bytes of the head of a page.
const HEAD: usize = 1 << 12;
/// Deepest nesting of a head.
const DEPTH: usize = 8;

/// The unpacked pages of a chunk.
pub(super) struct ChunkPages {
    /// Distinct values, and how many there are.
    pub dictionary: Option<(Vec<u8>, usize)>,
    pub data: Vec<u8>,
}

/// Unpacks a chunk with one data page of this encoding; `None` for another one.
pub(super) fn pages(
    file: &[u8],
    chunk: &ColumnChunkMetaData,
    encoding: usize,
) -> Option<ChunkPages> {
    if chunk.compression_codec() != CompressionCodec::ZSTD {
        return None;
    }
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let bytes = file.get(usize::try_from(start).ok()?..)?;
    let mut rest = bytes.get(..usize::try_from(chunk.compressed_size()).ok()?)?;
    let most = if encoding == REPEATED { KERNEL_PAGE } else { PAGE };
    let mut dictionary = None;
    if chunk.dictionary_page_offset().is_some() {
        let head = PageHead::read(&mut rest)?;
        let values = head.number(&[7, 1])?;
        dictionary = Some((head.unpack(&mut rest, 2, most)?, values));
    }
    let head = PageHead::read(&mut rest)?;
    let data = head.unpack(&mut rest, 0, most)?;
    (head.number(&[5, 2])? == encoding && rest.is_empty())
        .then_some(ChunkPages { dictionary, data })
}

/// The numbers of a page's head (Thrift's compact protocol), by the fields that lead to each.
struct PageHead(Vec<(Vec<i64>, i64)>);

impl PageHead {
    fn read(rest: &mut &[u8]) -> Option<PageHead> {
        let mut head = PageHead(Vec::new());
        let whole = &rest[..rest.len().min(HEAD)];
        let mut left = whole;
        head.fields(&mut left, &mut Vec::new())?;
        *rest = &rest[whole.len() - left.len()..];
        Some(head)
    }

    fn number(&self, path: &[i64]) -> Option<usize> {
        let (_, number) = self.0.iter().find(|(own, _)| own == path)?;
        usize::try_from(*number).ok()
    }

    /// The content of a page of this kind, of exactly the size that the head says, which is
    /// limited.
    fn unpack(&self, rest: &mut &[u8], kind: usize, most: usize) -> Option<Vec<u8>> {
        let (unpacked, packed) = (self.number(&[2])?, self.number(&[3])?);
        if self.number(&[1])? != kind || unpacked > most {
            return None;
        }
        let (frame, after) = rest.split_at_checked(packed)?;
        *rest = after;
        let bytes = zstd::bulk::decompress(frame, unpacked).ok()?;
        (bytes.len() == unpacked).then_some(bytes)
    }

    fn fields(&mut self, rest: &mut &[u8], path: &mut Vec<i64>) -> Option<()> {
        let mut last = 0;
        loop {
            let byte = next(rest)?;
            if byte == 0 {
                return Some(());
            }
            last = if byte >> 4 == 0 { signed(rest)? } else { last + i64::from(byte >> 4) };
            path.push(last);
            self.value(rest, byte & 15, path)?;
            path.pop();
        }
    }

    fn value(&mut self, rest: &mut &[u8], kind: u8, path: &mut Vec<i64>) -> Option<()> {
        match kind {
            1 | 2 => {}
            3 => drop(next(rest)?),
            4..=6 => {
                let number = signed(rest)?;
                self.0.push((path.clone(), number));
            }
            7 => skip(rest, 8)?,
            8 => {
                let length = unsigned(rest)?;
                skip(rest, usize::try_from(length).ok()?)?;
            }
            12 if path.len() < DEPTH => self.fields(rest, path)?,
            // Heads have no lists.
            _ => return None,
        }
        Some(())
    }
}

fn next(rest: &mut &[u8]) -> Option<u8> {
    let (byte, after) = rest.split_first()?;
    *rest = after;
    Some(*byte)
}

fn skip(rest: &mut &[u8], count: usize) -> Option<()> {
    *rest = rest.get(count..)?;
    Some(())
}

fn unsigned(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = next(rest)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn signed(rest: &mut &[u8]) -> Option<i64> {
    let number = unsigned(rest)?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}
