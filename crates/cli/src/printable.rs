//! Text for people without control characters, which names in foreign files can have.
//!
//! A terminal obeys them: they can move the cursor, hide lines, and set the title.

use std::borrow::Cow;
use std::fmt::Write;

use sstable::escape;

/// Escapes control characters as `\xNN`, except the ends of lines and tabs.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_obeyed = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_obeyed(letter) {
            let mut bytes = [0; 4];
            // A `String` takes all text.
            let _ = write!(shown, "{}", escape(letter.encode_utf8(&mut bytes).as_bytes()));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_control_characters_are_escaped() {
        assert!(matches!(printable("a\tb\\é\n"), Cow::Borrowed("a\tb\\é\n")));
        assert_eq!(printable("é\x1b[2J\x07\u{9b}\r\x7f\n"), "é\\x1B[2J\\x07\\xC2\\x9B\\x0D\\x7F\n");
    }
}
