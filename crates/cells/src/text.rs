//! Text: byte strings as HBase prints them, and errors as one line.
//!
//! Of byte strings, printable ASCII is unchanged, and other bytes are `\xNN`. HBase:
//! `Bytes.toStringBinary` and `Bytes.toBytesBinary`.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::counts::show_count;

/// Formats `bytes` as HBase does; [`unescape`] is the inverse.
///
/// ```
/// assert_eq!(cells::escape(b"row\x00\\").to_string(), r"row\x00\x5C");
/// ```
pub fn escape(bytes: &[u8]) -> impl fmt::Display + '_ {
    Escaped(bytes)
}

struct Escaped<'a>(&'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &byte in self.0 {
            match byte {
                b' '..=b'~' if byte != b'\\' => write!(f, "{}", char::from(byte))?,
                _ => write!(f, "\\x{byte:02X}")?,
            }
        }
        Ok(())
    }
}

/// Formats a value for a message: as text in quotes, of a long one only the start.
///
/// ```
/// assert_eq!(cells::quoted(b"4\xff"), "\"4\u{fffd}\"");
/// assert!(cells::quoted(&[b'x'; 5000]).ends_with("xxx…\" (5000 bytes)"));
/// ```
pub fn quoted(value: &[u8]) -> String {
    /// The bytes of a value that are shown.
    const SHOWN_MAX: usize = 100;
    match value.get(..SHOWN_MAX) {
        Some(start) if value.len() > SHOWN_MAX => {
            let text = String::from_utf8_lossy(start);
            // The end may be a part of a character.
            let shown = text.trim_end_matches('\u{fffd}').escape_debug();
            format!("\"{shown}…\" ({} bytes)", value.len())
        }
        _ => format!("{:?}", String::from_utf8_lossy(value)),
    }
}

/// Parses the output of [`escape`]. A backslash outside of `\xNN` stands for itself, as in HBase.
///
/// ```
/// assert_eq!(cells::unescape(r"row\x00é"), b"row\x00\xc3\xa9");
/// ```
pub fn unescape(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let [first, tail @ ..] = rest {
        if let [b'\\', b'x', high, low, after @ ..] = rest
            && let (Some(high), Some(low)) = (hex_digit(*high), hex_digit(*low))
        {
            bytes.push(high << 4 | low);
            rest = after;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    bytes
}

/// Formats an error and its sources in one line, separated by `: `.
///
/// Leaves out a source whose message the line already ends with, and [shortens](shorten) long words.
///
/// ```
/// let source = std::io::Error::from(std::io::ErrorKind::NotFound);
/// let error = std::io::Error::new(source.kind(), format!("a.hfile: {source}"));
/// assert_eq!(cells::error_line(&error), "a.hfile: entity not found");
/// ```
pub fn error_line(error: &(dyn Error + 'static)) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !line.ends_with(&message) {
            line.push_str(": ");
            line.push_str(&message);
        }
        cause = error.source();
    }
    match shorten(&line) {
        Cow::Borrowed(_) => line,
        Cow::Owned(short) => short,
    }
}

/// The characters of the longest word that [`shorten`] leaves whole.
const WORD_MAX: usize = 1000;

/// Cuts long words of a message, which quote input: keys, values, and names without an end.
///
/// Paths and names that HBase allows stay whole, except very long rows.
///
/// ```
/// let message = format!("row not found: {}", "x".repeat(9000));
/// let short = cells::shorten(&message);
/// assert!(short.starts_with("row not found: xxx") && short.ends_with("x… (8,200 more characters) …xxxxx"));
/// ```
pub fn shorten(message: &str) -> Cow<'_, str> {
    if message.split_whitespace().all(|word| word.chars().count() <= WORD_MAX) {
        return Cow::Borrowed(message);
    }
    message.split_inclusive(char::is_whitespace).map(shorten_word).collect()
}

fn shorten_word(word: &str) -> String {
    /// The characters that stay of the start and of the end of the word.
    const START: usize = 795;
    const END: usize = 5;
    let count = word.chars().count();
    if count <= WORD_MAX {
        return word.to_owned();
    }
    let start: String = word.chars().take(START).collect();
    let end: String = word.chars().skip(count.saturating_sub(END)).collect();
    let left_out = u64::try_from(count.saturating_sub(START + END)).unwrap_or(u64::MAX);
    format!("{start}… ({} more characters) …{end}", show_count(left_out))
}

/// Parses pairs of hex digits of either case; `None` if the text is anything else.
///
/// ```
/// assert_eq!(cells::parse_hex("726f77fF").as_deref(), Some(&b"row\xff"[..]));
/// assert_eq!(cells::parse_hex("abc"), None);
/// ```
pub fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(hex_digit(*high)? << 4 | hex_digit(*low)?)).collect()
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
