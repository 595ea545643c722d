//! Escapes control characters in text for terminals. A file name could otherwise move the cursor or
//! fake a line of output.
//!
//! Control characters are printed as HBase prints bytes, `\xNN`. Results in JSON and cells have their
//! own escapes.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Returns a text as one line: control characters are escaped, line feeds too.
pub(crate) fn as_line(text: &str) -> Cow<'_, str> {
    escaped(text, char::is_control)
}

/// Returns a text with its line feeds, which this program wrote, and other control characters escaped.
pub(crate) fn as_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| letter.is_control() && letter != '\n')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool + Copy) -> Cow<'_, str> {
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_escaped(letter) {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                let _ = write!(line, "\\x{byte:02X}");
            }
        } else {
            line.push(letter);
        }
    }
    Cow::Owned(line)
}

/// Writes text with line feeds, and other control characters escaped.
///
/// Each write must have whole characters, as the writes of `write!` have.
pub(crate) struct Printable<W>(pub(crate) W);

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(as_lines(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_printed_as_bytes() {
        assert_eq!(as_line("a b\u{e9}"), "a b\u{e9}");
        assert_eq!(
            as_line("a\x1b[2J\r\n\t\u{7f}\u{9b}"),
            "a\\x1B[2J\\x0D\\x0A\\x09\\x7F\\xC2\\x9B"
        );
        assert_eq!(as_lines("a\n\x1bb\n"), "a\n\\x1Bb\n");
        let mut written = Printable(Vec::new());
        let (name, what) = ("na\x07me", "\u{fc}");
        writeln!(written, "{name}: {what}").expect("memory takes it");
        assert_eq!(written.0, "na\\x07me: \u{fc}\n".as_bytes());
    }
}
