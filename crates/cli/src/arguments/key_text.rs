//! Keys on the command line: text with HBase's `\xNN` escapes, or `hex:` and hex digits.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use cells::parse_hex;

use crate::failure::UsageError;

/// A key from the command line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct KeyText {
    bytes: Vec<u8>,
    is_hex: bool,
}

/// The error of an invalid key text.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "hex: must be followed by pairs of hex digits; type a key that itself begins with hex: as \\x68ex:…"
)]
pub(crate) struct InvalidKey;

impl KeyText {
    /// Returns the key's bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the key as `hex:` and hex digits.
    pub(crate) fn hex(&self) -> String {
        self.bytes.iter().fold("hex:".to_owned(), |hex, byte| hex + &format!("{byte:02x}"))
    }
}

impl FromStr for KeyText {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("hex:") {
            Some(digits) => Ok(Self { bytes: parse_hex(digits).ok_or(InvalidKey)?, is_hex: true }),
            None => Ok(Self { bytes: cells::unescape(text), is_hex: false }),
        }
    }
}

impl KeyText {
    /// Refuses a row that names a file or directory, because the row was probably forgotten.
    pub(crate) fn check_is_not_a_file(&self) -> Result<(), UsageError> {
        let Ok(text) = std::str::from_utf8(&self.bytes) else { return Ok(()) };
        let path = Path::new(text);
        let kind = if path.is_dir() { "directory" } else { "file" };
        if self.is_hex || !(path.is_file() || path.is_dir()) {
            return Ok(());
        }
        let hex = self.hex();
        Err(UsageError(format!(
            "the last argument must be the row, but {text} is a {kind}; give a row of that name as {hex}"
        )))
    }
}

impl fmt::Display for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", cells::escape(&self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Vec<u8> {
        text.parse::<KeyText>().expect("a key").bytes
    }

    #[test]
    fn a_key_is_hbase_text_or_hex() {
        assert_eq!(key(r"row\x00\xFF"), b"row\x00\xff");
        assert_eq!(key("hex:726f7700FF"), b"row\x00\xff");
        assert_eq!(key("hex:"), b"");
        assert_eq!(key("hexagon"), b"hexagon");
        assert_eq!(key(r"\x68ex:abc"), b"hex:abc");
    }

    #[test]
    fn hex_must_be_followed_by_pairs_of_digits() {
        for text in ["hex:zz", "hex:abc", "hex:0", "hex: 00"] {
            assert!(text.parse::<KeyText>().is_err(), "{text}");
        }
    }
}
