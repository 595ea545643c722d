//! The names and ids of the data block encodings.

use std::fmt;

/// How the cells of a data block are stored.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum DataBlockEncoding {
    /// Cells as they are.
    #[default]
    None,
    /// Leaves out what a key shares with the key before it.
    Prefix,
    /// As [`Prefix`](Self::Prefix), and lengths, types and timestamps as differences.
    Diff,
    /// As [`Diff`](Self::Diff), made faster to decode; repeated values are left out too.
    FastDiff,
    /// Cells as they are, and behind them where each row starts.
    RowIndexV1,
}

impl DataBlockEncoding {
    /// Every encoding, by id.
    pub const ALL: [Self; 5] =
        [Self::None, Self::Prefix, Self::Diff, Self::FastDiff, Self::RowIndexV1];

    /// The id in front of an encoded block.
    pub const fn id(self) -> u16 {
        match self {
            Self::None => 0,
            Self::Prefix => 2,
            Self::Diff => 3,
            Self::FastDiff => 4,
            Self::RowIndexV1 => 7,
        }
    }

    /// The encoding with this id. The ids between stand for encodings that HBase gave up.
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.id() == id)
    }

    /// HBase's name for it, as in `FAST_DIFF`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Prefix => "PREFIX",
            Self::Diff => "DIFF",
            Self::FastDiff => "FAST_DIFF",
            Self::RowIndexV1 => "ROW_INDEX_V1",
        }
    }

    /// The encoding of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

impl fmt::Display for DataBlockEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
