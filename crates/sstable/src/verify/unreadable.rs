//! Unreadable ranges of a file, and the offset at which verification resumes after each.
//!
//! The end of an unreadable block is, in this order of preference:
//!
//! 1. the end according to the block's header, if another block or the trailer follows there;
//! 2. the end according to the index entry of the block;
//! 3. the next block that an index lists, or an earlier sound block that the search of salvage
//!    finds ([`find_next_block`]).

use cells::BlockOffset;

use super::checked_block::CheckedBlock;
use super::listed_blocks::{ListedBlock, ListedBlocks, UnreadableRange};
use super::salvage::{find_next_block, holds_cells};
use super::verification::Verifier;
use crate::block::BlockHeader;
use crate::error::{Error, Result};

impl Verifier<'_> {
    /// Records that the block at `at` is unreadable. Returns the offset at which to resume.
    ///
    /// `header` is the block's header, if that is readable. `end` is the end of the last block.
    pub(super) fn skip_unreadable(
        &mut self,
        at: BlockOffset,
        header: Option<&BlockHeader>,
        end: BlockOffset,
    ) -> Result<BlockOffset> {
        let unreadable = self.find_unreadable_range(at, header, end)?;
        self.unreadable.push(unreadable);
        self.data_blocks.push(CheckedBlock::unreadable(at));
        if unreadable.has_cells {
            self.add_damaged_data_block(at);
        }
        Ok(unreadable.next)
    }

    /// Finds the end of the unreadable block at `at`, in the order that the module describes.
    fn find_unreadable_range(
        &mut self,
        at: BlockOffset,
        header: Option<&BlockHeader>,
        end: BlockOffset,
    ) -> Result<UnreadableRange> {
        let file = self.file;
        if let Some(header) = header {
            let next = at.plus(header.len());
            let has_cells = holds_cells(header.block_type);
            if next == end
                || self.has_header(next, end)?
                || self.listed_blocks().get(next).is_some()
            {
                return Ok(UnreadableRange { at, next, is_one_block: true, has_cells });
            }
        }
        if let Some(ListedBlock { handle, is_data: has_cells, .. }) = self.listed_blocks().get(at) {
            let next = at.plus(handle.len.into());
            if at < next && next <= end {
                return Ok(UnreadableRange { at, next, is_one_block: true, has_cells });
            }
        }
        let until = self.listed_blocks().next_after(at).map_or(end, |next| next.min(end));
        let next = find_next_block(&file.blocks, at, until.get())?;
        // No data block begins after the last one that the trailer names.
        let has_cells = file.trailer.last_data_block_offset.is_some_and(|last| at <= last);
        Ok(UnreadableRange { at, next, is_one_block: false, has_cells })
    }

    /// Returns whether a block header can be read at `at`.
    fn has_header(&self, at: BlockOffset, end: BlockOffset) -> Result<bool> {
        match self.file.blocks.read_header(at, end.get()) {
            Ok(_) => Ok(true),
            Err(Error::Corrupt { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the listed blocks; the first call reads them.
    pub(super) fn listed_blocks(&mut self) -> &ListedBlocks {
        self.listed_blocks.get_or_insert_with(|| ListedBlocks::collect(self.file))
    }

    /// Returns whether the block at `at` could not be read.
    pub(super) fn is_unreadable(&self, at: BlockOffset) -> bool {
        let before = self.unreadable.partition_point(|unreadable| unreadable.at <= at);
        self.unreadable[..before].last().is_some_and(|unreadable| unreadable.contains(at))
    }
}
