//! Encoded names of regions, which name their directories.

use std::fmt;
use std::str::FromStr;

use super::InvalidName;

/// The encoded name of a region: 32 hex digits, or up to 10 decimal digits for `hbase:meta`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RegionName(Box<str>);

impl RegionName {
    /// The digits of an MD5, which is the encoded name of a region of a usual table.
    const DIGITS: usize = 32;
    /// The most digits of the name of `hbase:meta`'s region and of regions of very old tables.
    const DECIMAL_DIGITS_MAX: usize = 10;

    /// Creates a name of digits that are known to be one.
    pub(crate) fn of_digits(digits: String) -> Self {
        Self(digits.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RegionName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let is_md5 = text.len() == Self::DIGITS && is_hex(text);
        let is_number = (1..=Self::DECIMAL_DIGITS_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_md5 || is_number { Ok(Self(text.into())) } else { Err(InvalidName) }
    }
}

impl fmt::Display for RegionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns whether a text consists of lower-case hex digits, and is not empty.
pub(super) fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
