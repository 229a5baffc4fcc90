//! Text from elsewhere made harmless: what a driver, a manifest or a report file says is shown,
//! never obeyed.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character changes how its surroundings are shown instead of showing itself: terminal
/// escapes, line ends, directions of writing, and characters that cannot be seen at all (Unicode's
/// `Default_Ignorable_Code_Point`).
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text on one line, with every character that hides or alters something written out: `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape_where(text, is_hidden, braced)
}

/// [`visible`] for a finished document, whose own line ends stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escape_where(text, |c| c != '\n' && is_hidden(c), braced)
}

/// A finished JSON document, or a part of one, that says the same to programs and hides nothing
/// from people: outside its strings there is nothing to escape, and inside them this is JSON's own
/// way of writing a character.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    escape_where(
        text,
        |c| c != '\n' && is_hidden(c),
        |safe, c| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail, here and below.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        },
    )
}

fn braced(safe: &mut String, c: char) {
    let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
}

fn escape_where(
    text: &str,
    hidden: impl Fn(char) -> bool,
    escape: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    if !text.chars().any(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hidden(c) { escape(&mut safe, c) } else { safe.push(c) }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_shown_and_the_rest_is_left_alone() {
        assert!(matches!(visible("Radeon™ RX 7900 — 測試 ١"), Cow::Borrowed(_)));
        assert_eq!(
            visible("\u{1b}[2Jok\r\n\u{202e}gnp\u{9b}"),
            r"\u{1b}[2Jok\u{d}\u{a}\u{202e}gnp\u{9b}"
        );
        assert_eq!(visible_lines("a\nb\u{7}"), "a\nb\\u{7}");
        assert_eq!(visible_json("\"\u{9b}1m\u{e0041}\"\n"), "\"\\u009b1m\\udb40\\udc41\"\n");
    }
}
