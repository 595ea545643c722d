//! Keys as people type and read them: HBase's `\xNN` escapes, or `hex:` and hex digits.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A key from the command line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct KeyText(Vec<u8>);

impl KeyText {
    /// The bytes that were meant.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl FromStr for KeyText {
    type Err = Infallible;

    /// `hex:` followed by anything but pairs of hex digits is an ordinary key that starts so.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text.strip_prefix("hex:").and_then(parse_hex);
        Ok(Self(hex.unwrap_or_else(|| sstable::unescape(text))))
    }
}

impl fmt::Display for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", sstable::escape(&self.0))
    }
}

/// Reads pairs of hex digits of either case.
pub(crate) fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Vec<u8> {
        text.parse::<KeyText>().expect("every text is a key").0
    }

    #[test]
    fn a_key_is_hbase_text_or_hex() {
        assert_eq!(key(r"row\x00\xFF"), b"row\x00\xff");
        assert_eq!(key("hex:726f7700FF"), b"row\x00\xff");
        assert_eq!(key("hex:"), b"");
        assert_eq!(key("hexagon"), b"hexagon");
        assert_eq!(key("hex:abc"), b"hex:abc");
    }
}
