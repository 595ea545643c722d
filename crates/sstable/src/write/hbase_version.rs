//! The HBase release whose bytes a writer writes.

/// A line of HBase releases whose writers write the same bytes for the same cells and options.
///
/// Every HBase of this list reads the files of the others.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum HBaseVersion {
    /// HBase 2.5 and the releases before it.
    #[default]
    V2_5,
    /// HBase 2.6, which records the longest cell in the file info (`hfile.LEN_OF_BIGGEST_CELL` and
    /// `hfile.KEY_OF_BIGGEST_CELL`).
    V2_6,
}

impl HBaseVersion {
    /// Every version, the oldest first.
    pub const ALL: [Self; 2] = [Self::V2_5, Self::V2_6];

    /// Returns the number of the version, such as `2.6`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2_5 => "2.5",
            Self::V2_6 => "2.6",
        }
    }
}
