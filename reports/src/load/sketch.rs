//! Two reports with a name in the place of each long list: inputs and answers are nearly all of a report's text, and each
//! list of them stands on one line. Equal lists have one name, so that sketches tell of lists what their texts would.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};

use fpprobe_profiles::parallel;
use memchr::{memchr_iter, memchr2, memmem};

/// Bytes from which on a line is worth a look.
const LONG: usize = 128;
/// How a name begins, and ends. Reports that hold such a thing themselves have no sketch.
const NAME: [&str; 2] = ["[\"@", "\"]"];
/// Pieces of a list, and bytes of each, that lists are first told apart by.
const PIECES: usize = 8;
const PIECE: usize = 16;

/// The lists of two reports, each once.
pub(super) struct Lists<'a>(Vec<&'a str>);

/// A list that is found again.
#[derive(PartialEq, Eq)]
struct List<'a>(&'a str);

impl Hash for List<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let bytes = self.0.as_bytes();
        state.write_usize(bytes.len());
        let step = (bytes.len() / PIECES).max(1);
        bytes.chunks(step).for_each(|chunk| state.write(&chunk[..chunk.len().min(PIECE)]));
    }
}

impl<'a> Lists<'a> {
    /// The sketches of two texts, and the lists that they name.
    pub(super) fn sketch(texts: [&'a str; 2]) -> Option<([String; 2], Lists<'a>)> {
        let named = |text: &&str| memmem::find(text.as_bytes(), NAME[0].as_bytes()).is_some();
        if parallel::map(&texts, named).contains(&true) {
            return None;
        }
        let (mut lists, mut names) = (Lists(Vec::new()), HashMap::new());
        let sketches = texts.map(|text| {
            let mut sketch = String::new();
            let mut from = 0;
            for end in memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
                let line = &text[from..end];
                if let Some((before, list, after)) = Some(line).filter(|line| line.len() > LONG).and_then(parts) {
                    let name = *names.entry(List(list)).or_insert_with(|| {
                        lists.0.push(list);
                        lists.0.len() - 1
                    });
                    // Writing to a string cannot fail.
                    let _ = write!(sketch, "{before}{}{name}{}{after}", NAME[0], NAME[1]);
                } else {
                    sketch.push_str(line);
                }
                sketch.push_str(&text[end..text.len().min(end + 1)]);
                from = end + 1;
            }
            sketch
        });
        Some((sketches, lists))
    }

    /// A sketch, or a part of one, with its lists in their places.
    pub(super) fn text(&self, sketch: &str) -> String {
        let [begins, ends] = NAME;
        let mut text = String::new();
        let mut rest = sketch;
        while let Some((before, after)) = rest.split_once(begins) {
            let named = after.split_once(ends).and_then(|(name, after)| Some((name.parse::<usize>().ok()?, after)));
            let list = named.and_then(|(name, after)| Some((*self.0.get(name)?, after)));
            let (list, after) = list.unwrap_or((begins, after));
            text.push_str(before);
            text.push_str(list);
            rest = after;
        }
        text + rest
    }
}

/// The list of a line and what stands before and after it: the answers of an observation, or the inputs of a table.
/// Quotes within a text are escaped, so that what is looked for stands outside of texts. Where more than a list lies between, as in a
/// report that is all on one line, there is none.
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    let find = |wanted: &str| memmem::find(line.as_bytes(), wanted.as_bytes());
    let (start, end) = match find("\"out\":[") {
        Some(start) => (start + 6, memmem::rfind(line.as_bytes(), b"],\"outcome\":")? + 1),
        None => (find("\": [[")? + 3, line.rfind("]]")? + 2),
    };
    let list = line.get(start..end).filter(|list| memchr2(b':', b'{', list.as_bytes()).is_none())?;
    Some((&line[..start], list, &line[end..]))
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

    #[test]
    fn equal_lists_have_one_name_and_come_back() {
        let (one, other) = ("\"3f800000\",".repeat(40), "\"3f800001\",".repeat(40));
        let texts = [report(&one), report(&other)];
        let (sketches, lists) = Lists::sketch([&texts[0], &texts[1]]).unwrap();
        assert_eq!(
            sketches[0],
            "{\n  \"t\": [\"@0\"],\n    {\"kernel\":\"k\",\"in\":\"t\",\"out\":[\"@1\"],\"outcome\":\"ran\"}\n}\n"
        );
        assert_eq!(sketches[1], sketches[0].replace("@1", "@2"));
        assert_eq!(sketches.each_ref().map(|sketch| lists.text(sketch)), texts);
    }

    #[test]
    fn lists_that_share_a_line_stay_where_they_are() {
        let text = report(&"\"3f800000\",".repeat(40));
        let on_one_line = text.replace('\n', "").repeat(2);
        let spread = text.replace("\":[", "\": [").replace('\n', "").repeat(2);
        for text in [on_one_line, spread] {
            let (sketches, _) = Lists::sketch([&text, &text]).unwrap();
            assert_eq!(sketches, [text.clone(), text]);
        }
    }

    #[test]
    fn what_looks_like_a_name_is_not_taken_for_one() {
        let text = report("\"@1\",");
        assert!(Lists::sketch([&text, &text]).is_none());
        let (sketches, lists) = Lists::sketch(["{}", "\n\n"]).unwrap();
        assert_eq!(sketches, ["{}", "\n\n"]);
        assert_eq!(lists.text("[\"@7\"] [\"@"), "[\"@7\"] [\"@");
    }
}
