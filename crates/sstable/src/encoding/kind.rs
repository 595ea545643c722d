//! The names and ids of the data block encodings.

use std::fmt;

/// The encoding of the cells in data blocks.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum DataBlockEncoding {
    /// Plain cells.
    #[default]
    None,
    /// Omits the prefix that a key shares with the previous key.
    Prefix,
    /// As [`Prefix`](Self::Prefix), with delta-encoded lengths, types and timestamps.
    Diff,
    /// As [`Diff`](Self::Diff), but faster to decode, and without repeated values.
    FastDiff,
    /// Plain cells, followed by the offset of each row.
    RowIndexV1,
}

impl DataBlockEncoding {
    /// Every encoding, by id.
    pub const ALL: [Self; 5] =
        [Self::None, Self::Prefix, Self::Diff, Self::FastDiff, Self::RowIndexV1];

    /// The id at the start of an encoded block.
    #[doc(hidden)]
    pub const fn id(self) -> u16 {
        match self {
            Self::None => 0,
            Self::Prefix => 2,
            Self::Diff => 3,
            Self::FastDiff => 4,
            Self::RowIndexV1 => 7,
        }
    }

    /// Returns the encoding with this id. The missing ids are encodings that HBase removed.
    #[doc(hidden)]
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.id() == id)
    }

    /// HBase's name of the encoding, as in `FAST_DIFF`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Prefix => "PREFIX",
            Self::Diff => "DIFF",
            Self::FastDiff => "FAST_DIFF",
            Self::RowIndexV1 => "ROW_INDEX_V1",
        }
    }

    /// Returns the encoding with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

impl fmt::Display for DataBlockEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
