//! The rows that damaged data blocks may have held.

use super::index::CheckedBlock;
use super::verification::Verifier;
use crate::{BlockOffset, KeyRef, RowsBetween};

/// A data block, or the first block of a range of the file, that could not be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LostRows {
    /// The offset of the block.
    pub at: BlockOffset,
    /// The range of rows that it may have held.
    pub rows: RowsBetween,
}

impl Verifier<'_> {
    /// Returns for each damaged data block the range between the nearest sound rows.
    pub(super) fn lost_rows(&self) -> Vec<LostRows> {
        let lost = |at: BlockOffset| {
            let after = self.data_blocks.partition_point(|block| block.at <= at);
            let before = self.data_blocks.partition_point(|block| block.at < at);
            let first = self.data_blocks[..before].iter().rev().find_map(CheckedBlock::last_key);
            let last = self.data_blocks[after..].iter().find_map(CheckedBlock::first_key);
            LostRows {
                at,
                rows: RowsBetween { first: first.and_then(row), last: last.and_then(row) },
            }
        };
        self.damaged_data_blocks.iter().copied().map(lost).collect()
    }
}

/// Returns the row of a flat key.
fn row(flat: &[u8]) -> Option<Vec<u8>> {
    KeyRef::parse(flat).map(|key| key.row.to_vec())
}
