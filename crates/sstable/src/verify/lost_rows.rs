//! The rows that damaged data blocks may have held.

use super::index::CheckedBlock;
use super::verification::Verifier;
use crate::{BlockOffset, KeyRef, RowsBetween};

/// A data block that could not be read, or the first block of a part of the file that could not be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LostRows {
    /// Where it stands.
    pub at: BlockOffset,
    /// The rows that it may have held.
    pub rows: RowsBetween,
}

impl Verifier<'_> {
    /// The rows between the sound keys before and behind each damaged data block.
    pub(super) fn lost_rows(&self) -> Vec<LostRows> {
        let lost = |at: BlockOffset| {
            let behind = self.data_blocks.partition_point(|block| block.at <= at);
            let before = self.data_blocks.partition_point(|block| block.at < at);
            let first = self.data_blocks[..before].iter().rev().find_map(CheckedBlock::last_key);
            let last = self.data_blocks[behind..].iter().find_map(CheckedBlock::first_key);
            LostRows {
                at,
                rows: RowsBetween { first: first.and_then(row), last: last.and_then(row) },
            }
        };
        self.damaged_data_blocks.iter().copied().map(lost).collect()
    }
}

/// The row of a flat key.
fn row(flat: &[u8]) -> Option<Vec<u8>> {
    KeyRef::parse(flat).map(|key| key.row.to_vec())
}
