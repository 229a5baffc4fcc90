//! Lines for a terminal: words wrapped to its width, coloured if wanted, escaped always.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::phrase;
use crate::escape::visible;
use crate::model::Class;

/// How text is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Whether colours are used.
    pub colour: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// How much is shown.
    pub detail: Detail,
}

/// How much is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Detail {
    /// What fits a screen.
    Screen,
    /// Every item, each with a lane that shows it.
    Evidence,
    /// Everything, down to single rules and findings.
    All,
}

impl Detail {
    /// What a number of `-v` stands for.
    pub fn of(verbosity: u8) -> Detail {
        match verbosity {
            0 => Detail::Screen,
            1 => Detail::Evidence,
            _ => Detail::All,
        }
    }
}

impl Style {
    /// Whether more is shown than fits a screen.
    pub fn is_whole(self) -> bool {
        self.detail > Detail::Screen
    }

    /// No colour, 80 columns, everything.
    pub const PLAIN: Style = Style { colour: false, width: 80, detail: Detail::All };
}

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ink {
    /// Nothing special.
    Plain,
    /// A heading or name.
    Strong,
    /// Beside the point.
    Faint,
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// Could not be told.
    Doubt,
    /// Not as it should be.
    Bad,
}

impl Ink {
    /// The colour of a class.
    pub fn of_class(class: Class) -> Ink {
        match class {
            Class::Conforms => Ink::Good,
            Class::ConformsWith => Ink::Note,
            Class::Deviates => Ink::Bad,
            Class::Incomplete => Ink::Doubt,
        }
    }

    /// Parameters of the terminal's colour sequence (ECMA-48, SGR).
    fn code(self) -> &'static str {
        match self {
            Ink::Plain => "",
            Ink::Strong => "1",
            Ink::Faint => "2",
            Ink::Good => "32",
            Ink::Note => "36",
            Ink::Doubt => "33",
            Ink::Bad => "1;31",
        }
    }
}

/// Where lines are written.
pub struct Paper<'a> {
    out: &'a mut dyn Write,
    style: Style,
}

/// What is not broken across lines.
struct Word {
    /// Spaces before it.
    gap: usize,
    /// Its pieces, each with its colour.
    pieces: Vec<(Ink, String)>,
}

impl<'a> Paper<'a> {
    /// Lines go to `out`, laid out in this style.
    pub fn new(out: &'a mut dyn Write, style: Style) -> Paper<'a> {
        Paper { out, style }
    }

    /// Whether more is shown than fits a screen.
    pub fn is_whole(&self) -> bool {
        self.style.is_whole()
    }

    /// Columns of the terminal.
    pub fn width(&self) -> usize {
        self.style.width
    }

    /// An empty line.
    pub fn gap(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// A line in pieces, wrapped at spaces; lines after the first start `hang` columns further in.
    pub fn line(&mut self, indent: usize, hang: usize, pieces: &[(Ink, &str)]) -> io::Result<()> {
        let (mut column, mut empty) = (indent, true);
        write!(self.out, "{:indent$}", "")?;
        for Word { mut gap, pieces } in words(pieces) {
            let width: usize = pieces.iter().map(|(_, text)| text.width()).sum();
            if !empty && column + gap + width > self.style.width {
                (column, gap) = (indent + hang, 0);
                write!(self.out, "\n{:column$}", "")?;
            }
            write!(self.out, "{:gap$}", "")?;
            for (ink, text) in &pieces {
                self.ink(*ink, text)?;
            }
            (column, empty) = (column + gap + width, false);
        }
        self.gap()
    }

    /// A line that is never wrapped, for commands that are copied.
    pub fn whole(&mut self, indent: usize, ink: Ink, text: &str) -> io::Result<()> {
        write!(self.out, "{:indent$}", "")?;
        self.ink(ink, &visible(text))?;
        self.gap()
    }

    fn ink(&mut self, ink: Ink, text: &str) -> io::Result<()> {
        if self.style.colour && ink != Ink::Plain {
            write!(self.out, "\x1b[{}m{text}\x1b[0m", ink.code())
        } else {
            self.out.write_all(text.as_bytes())
        }
    }
}

/// Cuts pieces at spaces; pieces with no space between them stay together.
fn words(pieces: &[(Ink, &str)]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let (mut gap, mut open) = (0, false);
    for (ink, text) in pieces {
        for (index, part) in visible(&bounded(*ink, text)).split(' ').enumerate() {
            if index > 0 {
                (gap, open) = (gap + 1, false);
            }
            if part.is_empty() {
                continue;
            }
            let piece = (*ink, part.replace(TOGETHER, " "));
            match words.last_mut() {
                Some(word) if open => word.pieces.push(piece),
                _ => words.push(Word { gap: std::mem::take(&mut gap), pieces: vec![piece] }),
            }
            open = true;
        }
    }
    words
}

/// Longest name that is written in full. Vulkan's have 256 bytes at most.
const LONGEST: usize = 1000;

/// The text; of a name that is longer than any driver's the beginning, and how long it is.
fn bounded(ink: Ink, text: &str) -> Cow<'_, str> {
    let end = text.char_indices().nth(LONGEST).filter(|_| matches!(ink, Ink::Strong | Ink::Faint));
    end.map_or(Cow::Borrowed(text), |(end, _)| {
        let length = phrase::number(text.chars().count(), "character");
        Cow::Owned(format!("{}… ({length})", &text[..end]))
    })
}

/// A space at which no line is broken; written as a common one.
const TOGETHER: char = '\u{a0}';

/// The text as one word.
pub fn together(text: &str) -> String {
    text.replace(' ', &TOGETHER.to_string())
}

/// The text filled with spaces up to this many columns.
pub fn pad(text: &str, columns: usize) -> String {
    let text = visible(text);
    let missing = columns.saturating_sub(text.width());
    format!("{text}{:missing$}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(style: Style, pieces: &[(Ink, &str)]) -> String {
        let mut out = Vec::new();
        Paper::new(&mut out, style).line(2, 4, pieces).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_wrap_at_words_and_count_columns() {
        let narrow = Style { colour: false, width: 15, detail: Detail::All };
        assert_eq!(
            print(narrow, &[(Ink::Plain, "one two "), (Ink::Bad, "three"), (Ink::Plain, ", four")]),
            "  one two\n      three,\n      four\n"
        );
        assert_eq!(print(narrow, &[(Ink::Plain, "測試 測試 測試")]), "  測試 測試\n      測試\n");
        assert_eq!(
            print(narrow, &[(Ink::Plain, "averyveryverylongword")]),
            "  averyveryverylongword\n"
        );
        assert_eq!(pad("測試", 6), "測試  ");
    }

    #[test]
    fn a_name_that_is_far_too_long_is_cut() {
        let long = "é".repeat(9_000_000);
        let cut = print(
            Style { colour: false, width: 2000, detail: Detail::All },
            &[(Ink::Strong, &long)],
        );
        assert!(
            cut.len() < 3000 && cut.ends_with("éé… (9,000,000 characters)\n"),
            "{} bytes",
            cut.len()
        );
        let name = "é".repeat(LONGEST);
        assert_eq!(print(Style::PLAIN, &[(Ink::Strong, &name)]).trim(), name);
    }

    #[test]
    fn colours_are_ours_and_escapes_are_shown() {
        let colour = Style { colour: true, width: 80, detail: Detail::All };
        assert_eq!(
            print(colour, &[(Ink::Bad, "a\x1b[0m"), (Ink::Plain, "b")]),
            "  \x1b[1;31ma\\u{1b}[0m\x1b[0mb\n"
        );
    }
}
