//! Text from elsewhere made harmless: what a driver, a manifest or a report file says is shown, never obeyed.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character changes how its surroundings are shown instead of showing itself: terminal escapes, line ends,
/// directions of writing, and characters that cannot be seen at all.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text on one line, with every character that hides or alters something written out: `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape_where(text, is_hidden)
}

/// [`visible`] for a finished document, whose own line ends stay.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    escape_where(text, |c| c != '\n' && is_hidden(c))
}

fn escape_where(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hidden(c) {
            // Writing to a string cannot fail.
            let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_shown_and_the_rest_is_left_alone() {
        assert!(matches!(visible("Radeon™ RX 7900 — 測試 ١"), Cow::Borrowed(_)));
        assert_eq!(visible("\u{1b}[2Jok\r\n\u{202e}gnp\u{9b}"), r"\u{1b}[2Jok\u{d}\u{a}\u{202e}gnp\u{9b}");
        assert_eq!(visible_lines("a\nb\u{7}"), "a\nb\\u{7}");
    }
}
