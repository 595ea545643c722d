//! The rows that damaged data blocks may have held.

use super::index::CheckedBlock;
use super::verification::Verifier;
use crate::{BlockOffset, KeyRef, RowsBetween};

/// The rows that one unreadable data block, or range of the file, may have held.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LostRows {
    /// The offset of the block, or of the start of the range.
    pub at: BlockOffset,
    /// The rows that may be lost.
    pub rows: RowsBetween,
}

impl Verifier<'_> {
    /// Returns the lost rows of each damaged data block: those between the last readable row before
    /// the block and the first readable row after it.
    pub(super) fn lost_rows(&self) -> Vec<LostRows> {
        let lost = |at: BlockOffset| {
            let start = self.data_blocks.partition_point(|block| block.at < at);
            let end = self.data_blocks.partition_point(|block| block.at <= at);
            let before = self.data_blocks[..start].iter().rev().find_map(CheckedBlock::last_key);
            let after = self.data_blocks[end..].iter().find_map(CheckedBlock::first_key);
            LostRows {
                at,
                rows: RowsBetween { first: before.and_then(row), last: after.and_then(row) },
            }
        };
        self.damaged_data_blocks.iter().copied().map(lost).collect()
    }
}

/// Returns the row of a serialised cell key, or `None` if the key is malformed.
fn row(key: &[u8]) -> Option<Vec<u8>> {
    KeyRef::parse(key).map(|key| key.row.to_vec())
}
