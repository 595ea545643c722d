//! The position of a scanner: a cell of a data block, which may still be encoded, or a row of a decoded block.

use std::sync::Arc;

use cells::CellRef;

use crate::block::data::{DataBlock, DataRef};
use crate::block::decoded::DecodedBlock;
use crate::block::encoded::{EncodedBlock, EncodedCursor};
use crate::block::origin::BlockIdentity;
use crate::encoding::{CursorMove, DamageReason, PlainCursor};

/// A position at a cell of a data block.
#[derive(Clone, Debug)]
pub(crate) enum ScanPosition {
    /// In a decoded block. All its cells have been checked.
    Decoded { block: Arc<DecodedBlock>, cursor: PlainCursor },
    /// In an encoded block. Its cells have been checked up to the current one.
    Encoded { block: Arc<EncodedBlock>, cursor: EncodedCursor },
}

impl ScanPosition {
    /// Returns the position of the cell that starts at offset `at`.
    pub(crate) fn decoded(block: Arc<DecodedBlock>, at: usize) -> Self {
        Self::Decoded { cursor: block.cursor_at(at), block }
    }

    /// Returns the position of the first cell of a block.
    pub(super) fn first_of(block: DataBlock) -> Result<Self, (BlockIdentity, DamageReason)> {
        match block {
            DataBlock::Decoded(block) => Ok(Self::decoded(block, 0)),
            DataBlock::Encoded(block) => match block.cursor() {
                Ok(cursor) => Ok(Self::Encoded { block, cursor }),
                Err(what) => Err((*block.origin(), what)),
            },
        }
    }

    #[inline]
    pub(crate) fn cell(&self) -> CellRef<'_> {
        match self {
            Self::Decoded { block, cursor } => block.cell(cursor),
            Self::Encoded { block, cursor } => block.cell(cursor),
        }
    }

    pub(super) fn row(&self) -> &[u8] {
        match self {
            Self::Decoded { block, cursor } => block.row_at(cursor),
            Self::Encoded { block, cursor } => block.cell(cursor).row,
        }
    }

    /// Moves to the next cell of the block. At the last cell, stays there and returns `false`.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool, DamageReason> {
        match self {
            Self::Decoded { block, cursor } => Ok(block.advance(cursor)),
            Self::Encoded { block, cursor } => {
                block.step(cursor).map(|step| step != CursorMove::End)
            }
        }
    }

    /// Returns the cell's offset in the decoded block, even if the block is still encoded.
    pub(super) const fn cell_offset(&self) -> usize {
        match self {
            Self::Decoded { cursor, .. } => cursor.position(),
            Self::Encoded { cursor, .. } => cursor.position(),
        }
    }

    pub(super) fn block(&self) -> DataRef<'_> {
        match self {
            Self::Decoded { block, .. } => DataRef::Decoded(block),
            Self::Encoded { block, .. } => DataRef::Encoded(block),
        }
    }

    pub(super) fn into_block(self) -> DataBlock {
        match self {
            Self::Decoded { block, .. } => DataBlock::Decoded(block),
            Self::Encoded { block, .. } => DataBlock::Encoded(block),
        }
    }
}

/// The place of a row's first cell in the file.
#[derive(Debug)]
pub(super) struct RowPlace {
    pub(super) block: Arc<DecodedBlock>,
    /// The number of the row in the block, counted from 0.
    pub(super) number: usize,
}

impl RowPlace {
    pub(super) fn last_of(block: Arc<DecodedBlock>) -> Self {
        let number = block.row_count().saturating_sub(1); // A block has at least one row.
        Self { block, number }
    }

    pub(super) fn row(&self) -> &[u8] {
        self.block.row(self.number)
    }
}
