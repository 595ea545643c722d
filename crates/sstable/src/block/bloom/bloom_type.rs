//! The types of HBase's Bloom filter: what its keys are.

use std::fmt;

/// What HBase's Bloom filter of a file is asked about.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum BloomType {
    /// Nothing: the file has no general Bloom filter.
    None,
    /// Rows. HBase's default.
    #[default]
    Row,
    /// Columns of rows: row and qualifier together.
    RowCol,
    /// The first bytes of rows, this many; a shorter row stands for itself.
    RowPrefixFixedLength(u16),
}

impl BloomType {
    /// HBase's name for it, as in `ROWPREFIX_FIXED_LENGTH`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Row => "ROW",
            Self::RowCol => "ROWCOL",
            Self::RowPrefixFixedLength(_) => "ROWPREFIX_FIXED_LENGTH",
        }
    }

    /// The type of this name; `prefix_len` is for the one type that has such a length.
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
