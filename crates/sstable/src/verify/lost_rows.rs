//! The rows that damaged data blocks may have held.

use cells::{BlockOffset, KeyRef, RowsBetween};

use super::checked_block::CheckedBlock;

/// The rows that one damaged block, or range of the file, may have held, or that the damage may hide.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LostRows {
    /// The offset of the block, or of the start of the range.
    pub at: BlockOffset,
    /// The rows that may be lost.
    pub rows: RowsBetween,
}

/// Returns the lost rows of each damaged data block: those between the last readable row before
/// the block and the first readable row after it.
pub(super) fn lost_rows(data_blocks: &[CheckedBlock], damaged: &[BlockOffset]) -> Vec<LostRows> {
    let lost = |at: BlockOffset| {
        let start = data_blocks.partition_point(|block| block.at < at);
        let end = data_blocks.partition_point(|block| block.at <= at);
        let before = data_blocks[..start].iter().rev().find_map(CheckedBlock::last_key);
        let after = data_blocks[end..].iter().find_map(CheckedBlock::first_key);
        LostRows {
            at,
            rows: RowsBetween { first: before.and_then(row), last: after.and_then(row) },
        }
    };
    damaged.iter().copied().map(lost).collect()
}

/// Returns the row of a serialised cell key, or `None` if the key is malformed.
pub(super) fn row(key: &[u8]) -> Option<Vec<u8>> {
    KeyRef::parse(key).map(|key| key.row.to_vec())
}
