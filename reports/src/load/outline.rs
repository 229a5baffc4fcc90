//! A report's text with a name in the place of each long list: inputs and answers are nearly all of it, and each list of them
//! stands on one line. A name is a digest, so that outlines tell of lists what their texts would, and of two reports no more
//! is held than that.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};

use memchr::{memchr2, memmem};
use twox_hash::XxHash3_128;

use super::bounds::STRING;
use crate::container::Unpacking;
use crate::container::columns::JoinedText;

/// Bytes from which on a line is worth a look.
const LONG: usize = 128;
/// Bytes of the longest line.
const LONGEST: usize = 4 * STRING;
/// Bytes that are read at once.
const PIECE: usize = 1 << 20;
/// How a name begins, and ends.
const NAME: [&str; 2] = ["[\"@", "\"]"];

/// A text that has names.
pub(super) struct Outline {
    pub(super) text: String,
    pub(super) lists: DeferredLists,
}

/// The lists that an outline names.
pub(super) struct DeferredLists {
    places: Places,
    source: ListSource,
}

/// Where lists begin, and how many bytes each has, by their digests.
type Places = HashMap<u128, (u64, usize)>;

/// What lists are read from again.
enum ListSource {
    File(File),
    Text(Vec<u8>),
    Stored(JoinedText),
}

/// A text as it was read.
pub(super) enum DocumentText {
    Outline(Outline),
    /// What is no text, or holds itself what looks like a name.
    Whole(Vec<u8>),
}

impl DocumentText {
    /// Reads no more than `limit` bytes of a file; `None` where there are more, and of what has no outline.
    pub(super) fn read(file: File, limit: u64) -> io::Result<Option<DocumentText>> {
        let mut reader = BufReader::with_capacity(PIECE, file.take(limit));
        let Some((text, places)) = outline(&mut reader)? else { return Ok(None) };
        let rest = reader.into_inner();
        let is_whole = rest.limit() > 0;
        let lists = DeferredLists { places, source: ListSource::File(rest.into_inner()) };
        Ok(is_whole.then_some(DocumentText::Outline(Outline { text, lists })))
    }

    /// Reads a stored report to its end; `None` of what has no outline.
    pub(super) fn unpack(mut stored: Unpacking) -> io::Result<Option<DocumentText>> {
        let Some((text, places)) = outline(&mut stored)? else { return Ok(None) };
        let lists = DeferredLists { places, source: ListSource::Stored(stored.into_text()) };
        Ok(Some(DocumentText::Outline(Outline { text, lists })))
    }

    /// A text that is there already.
    pub(super) fn of(text: Vec<u8>) -> io::Result<DocumentText> {
        Ok(match outline(&mut &text[..])? {
            Some((outline, places)) => DocumentText::Outline(Outline {
                text: outline,
                lists: DeferredLists { places, source: ListSource::Text(text) },
            }),
            None => DocumentText::Whole(text),
        })
    }

    /// All of it.
    pub(super) fn whole(&self) -> io::Result<Cow<'_, [u8]>> {
        Ok(match self {
            DocumentText::Outline(Outline { text, lists }) => lists.text(text)?.into_bytes().into(),
            DocumentText::Whole(text) => text.into(),
        })
    }
}

impl DeferredLists {
    /// An outline, or a part of one, with its lists in their places.
    pub(super) fn text(&self, outline: &str) -> io::Result<String> {
        let [begins, ends] = NAME;
        let mut text = String::new();
        let mut rest = outline;
        while let Some((before, after)) = rest.split_once(begins) {
            let (name, after) = after.split_once(ends).unwrap_or((after, ""));
            text.push_str(before);
            text.push_str(&self.list(name)?);
            rest = after;
        }
        Ok(text + rest)
    }

    fn list(&self, name: &str) -> io::Result<String> {
        let changed = || io::Error::new(io::ErrorKind::InvalidData, "it changed while it was read");
        let name = u128::from_str_radix(name, 16).map_err(|_| changed())?;
        let (start, length) = *self.places.get(&name).ok_or_else(changed)?;
        let list = self.source.bytes(start, length)?.ok_or_else(changed)?;
        if XxHash3_128::oneshot(&list) == name {
            String::from_utf8(list).map_err(|_| changed())
        } else {
            Err(changed())
        }
    }
}

impl ListSource {
    /// So many bytes of it; `None` where there are not as many.
    fn bytes(&self, start: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
        let from = start as usize;
        match self {
            ListSource::File(file) => {
                let mut file: &File = file;
                file.seek(SeekFrom::Start(start))?;
                let mut bytes = vec![0; length];
                file.read_exact(&mut bytes)?;
                Ok(Some(bytes))
            }
            ListSource::Text(text) => Ok(text.get(from..from + length).map(<[u8]>::to_vec)),
            ListSource::Stored(text) => Ok(text.part(from, length)),
        }
    }
}

/// The text with names, and where the lists are that they stand for; `None` also where a line is longer than any list of a report.
fn outline(reader: &mut impl BufRead) -> io::Result<Option<(String, Places)>> {
    let (mut outline, mut places) = (String::new(), Places::new());
    let (mut line, mut at) = (Vec::new(), 0);
    while reader.by_ref().take(LONGEST as u64).read_until(b'\n', &mut line)? > 0 {
        if line.len() == LONGEST {
            return Ok(None);
        }
        let list = Some(&line[..]).filter(|line| line.len() > LONG).and_then(list);
        let (before, list, after) = list
            .map_or((&line[..], None, &[][..]), |(start, end)| (&line[..start], Some(&line[start..end]), &line[end..]));
        for (part, list) in [(before, list), (after, None)] {
            let Ok(text) = std::str::from_utf8(part) else { return Ok(None) };
            if memmem::find(part, NAME[0].as_bytes()).is_some() {
                return Ok(None);
            }
            outline.push_str(text);
            let Some(list) = list else { continue };
            let name = XxHash3_128::oneshot(list);
            places.entry(name).or_insert((at + before.len() as u64, list.len()));
            // Writing to a string cannot fail.
            let _ = write!(outline, "{}{name:x}{}", NAME[0], NAME[1]);
        }
        at += line.len() as u64;
        line.clear();
    }
    Ok(Some((outline, places)))
}

/// Where the list of a line begins and ends: the answers of an observation, or the inputs of a table. Quotes within a text are
/// escaped, so that what is looked for stands outside of texts. Where more than a list lies between, as in a report that is all on
/// one line, there is none.
fn list(line: &[u8]) -> Option<(usize, usize)> {
    let find = |expected: &[u8]| memmem::find(line, expected);
    let (start, end) = match find(b"\"out\":[") {
        Some(start) => (start + 6, memmem::rfind(line, b"],\"outcome\":")? + 1),
        None => (find(b"\": [[")? + 3, memmem::rfind(line, b"]]")? + 2),
    };
    line.get(start..end).filter(|list| memchr2(b':', b'{', list).is_none()).map(|_| (start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(answers: &str) -> String {
        let table = "[\"3f800000\"],".repeat(40);
        format!(
            "{{\n  \"t\": [{table}[\"00000000\"]],\n    {{\"kernel\":\"k\",\"in\":\"t\",\"out\":[{answers}\"1\"],\"outcome\":\"ran\"}}\n}}\n"
        )
    }

    fn named(text: Option<DocumentText>) -> Outline {
        match text {
            Some(DocumentText::Outline(outline)) => outline,
            _ => panic!("no sketch"),
        }
    }

    fn outline(text: &str) -> Outline {
        named(Some(DocumentText::of(text.into()).unwrap()))
    }

    #[test]
    fn equal_lists_have_one_name_and_come_back() {
        let (one, other) = ("\"3f800000\",".repeat(40), "\"3f800001\",".repeat(40));
        let texts = [report(&one), report(&other)];
        let outlines = texts.each_ref().map(|text| outline(text));
        let [first, second] = outlines.each_ref().map(|outline| outline.text.lines().collect::<Vec<_>>());
        assert_eq!(first.len(), 4);
        assert!(
            first[1].starts_with("  \"t\": [\"@") && first[1].ends_with("\"],") && first[1].len() < 50,
            "{first:?}"
        );
        assert!(first[2].ends_with("\"],\"outcome\":\"ran\"}"), "{first:?}");
        let same: Vec<bool> = first.iter().zip(&second).map(|(one, other)| one == other).collect();
        assert_eq!(same, [true, true, false, true]);
        for (outline, text) in outlines.iter().zip(&texts) {
            assert_eq!(outline.lists.text(&outline.text).unwrap(), *text);
        }
    }

    #[test]
    fn lists_are_read_again_from_the_file_and_must_be_what_they_were() {
        let text = report(&"\"3f800000\",".repeat(40));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &text).unwrap();
        let read = named(DocumentText::read(file.reopen().unwrap(), 1 << 20).unwrap());
        assert_eq!(read.lists.text(&read.text).unwrap(), text);
        std::fs::write(file.path(), text.replace("3f800000", "3f800001")).unwrap();
        assert_eq!(read.lists.text(&read.text).unwrap_err().to_string(), "it changed while it was read");
        assert!(DocumentText::read(file.reopen().unwrap(), 200).unwrap().is_none());
        assert!(DocumentText::read(file.reopen().unwrap(), text.len() as u64).unwrap().is_none());
        assert!(DocumentText::read(file.reopen().unwrap(), text.len() as u64 + 1).unwrap().is_some());
    }

    #[test]
    fn lists_that_share_a_line_stay_where_they_are() {
        let text = report(&"\"3f800000\",".repeat(40));
        let on_one_line = text.replace('\n', "").repeat(2);
        let spread = text.replace("\":[", "\": [").replace('\n', "").repeat(2);
        for text in [on_one_line, spread] {
            assert_eq!(outline(&text).text, text);
        }
    }

    #[test]
    fn what_looks_like_a_name_is_not_taken_for_one() {
        for whole in [&b"{\"a\": [\"@1\"]}"[..], &[0xff]] {
            let text = DocumentText::of(whole.to_vec()).unwrap();
            assert!(matches!(&text, DocumentText::Whole(text) if text == whole));
            assert_eq!(*text.whole().unwrap(), *whole);
        }
        for text in ["{}", "\n\n", ""] {
            let outline = outline(text);
            assert_eq!(outline.lists.text(&outline.text).unwrap(), text);
        }
        assert!(outline("{}").lists.text("[\"@7\"]").is_err());
    }
}
