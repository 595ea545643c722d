//! The types of HBase's Bloom filter.

use std::fmt;

/// What the keys of a file's HBase Bloom filter are.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum BloomType {
    /// The file has no general Bloom filter.
    None,
    /// Rows. HBase's default.
    #[default]
    Row,
    /// Columns of rows: row and qualifier together.
    RowCol,
    /// Row prefixes of this many bytes; a shorter row is its own prefix.
    RowPrefixFixedLength(u16),
}

impl BloomType {
    /// HBase's name of the type, as in `ROWPREFIX_FIXED_LENGTH`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Row => "ROW",
            Self::RowCol => "ROWCOL",
            Self::RowPrefixFixedLength(_) => "ROWPREFIX_FIXED_LENGTH",
        }
    }

    /// Returns the type with this name; only `ROWPREFIX_FIXED_LENGTH` uses `prefix_len`.
    pub fn from_name(name: &str, prefix_len: u16) -> Option<Self> {
        [Self::None, Self::Row, Self::RowCol, Self::RowPrefixFixedLength(prefix_len)]
            .into_iter()
            .find(|known| known.name() == name)
    }
}

impl fmt::Display for BloomType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
