//! Unreadable ranges of a file, and the offset at which verification resumes after each.
//!
//! The end of an unreadable block is, in this order of preference:
//!
//! 1. the end according to the block's header, if another block or the trailer follows there;
//! 2. the end according to the index entry of the block;
//! 3. the next block that an index lists, or an earlier sound block that the search of salvage
//!    finds ([`find_next_block`]).

use std::collections::HashSet;

use super::index::CheckedBlock;
use super::salvage::{find_next_block, holds_cells};
use super::verification::Verifier;
use crate::block::branch::IndexBlock;
use crate::block::index::BlockHandle;
use crate::file::filters::chunked_bloom::ChunkedBloom;
use crate::file::open_file::OpenFile;
use crate::{BlockOffset, BlockType, Caching, Error, Header, ReadTrace, Result};

/// An unreadable block, or, if its end is unknown, all bytes up to the next known block.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnreadableRange {
    pub(super) at: BlockOffset,
    /// The offset of the next block.
    next: BlockOffset,
    /// Whether the range is known to be one block.
    is_one_block: bool,
    /// Whether the range may contain cells, which are then lost.
    has_cells: bool,
}

impl UnreadableRange {
    /// Returns whether a block at `at` lies in the range. A range of one block has only its own.
    pub(super) fn contains(&self, at: BlockOffset) -> bool {
        self.at == at || !self.is_one_block && self.at < at && at < self.next
    }
}

/// The blocks that the indexes of a file list.
#[derive(Debug, Default)]
pub(super) struct ListedBlocks {
    /// By ascending offset.
    blocks: Vec<ListedBlock>,
}

#[derive(Clone, Copy, Debug)]
struct ListedBlock {
    handle: BlockHandle,
    is_data: bool,
}

impl ListedBlocks {
    /// Collects the entries of all indexes.
    ///
    /// Reads the index blocks below the root from the file and skips unreadable ones. Bloom and
    /// META indexes are in memory.
    fn collect(file: &OpenFile) -> Self {
        let mut listed = Self::default();
        if let Some(index) = &file.index {
            listed.add_entries(file, &index.root, 1, &mut HashSet::new());
        }
        let filters = file.filters();
        let blooms = [&filters.bloom, &filters.delete_family_bloom];
        let chunks = blooms.into_iter().flatten().flat_map(ChunkedBloom::chunk_handles);
        let metas = file.metas.iter().map(|(_, handle)| *handle);
        let non_data = chunks.chain(metas).map(|handle| ListedBlock { handle, is_data: false });
        listed.blocks.extend(non_data);
        listed.blocks.sort_by_key(|block| block.handle.offset);
        listed
    }

    /// Adds the entries of an index block and of the index blocks below it.
    ///
    /// `visited` has the index blocks already read: a damaged index may list a block twice or point
    /// back to itself.
    fn add_entries(
        &mut self,
        file: &OpenFile,
        node: &IndexBlock,
        level: u32,
        visited: &mut HashSet<BlockOffset>,
    ) {
        let levels = file.trailer.num_data_index_levels;
        let is_data = level >= levels;
        for handle in (0..node.len()).filter_map(|index| node.entry(index)).map(|entry| entry.block)
        {
            self.blocks.push(ListedBlock { handle, is_data });
            if is_data || !visited.insert(handle.offset) {
                continue;
            }
            let child_type = if level + 1 == levels {
                BlockType::LeafIndex
            } else {
                BlockType::IntermediateIndex
            };
            let (caching, trace) = (Caching::Bypass, &mut ReadTrace::default());
            let loaded =
                file.blocks.load(handle.of_type(child_type), caching, trace, |_, _| Ok(()));
            if let Ok(node) = &loaded {
                self.add_entries(file, node, level + 1, visited);
            }
        }
    }

    fn get(&self, at: BlockOffset) -> Option<ListedBlock> {
        let found = self.blocks.binary_search_by_key(&at, |block| block.handle.offset);
        found.ok().and_then(|index| self.blocks.get(index)).copied()
    }

    /// Returns the offset of the first listed block after `at`.
    fn next_after(&self, at: BlockOffset) -> Option<BlockOffset> {
        let next = self.blocks.partition_point(|block| block.handle.offset <= at);
        self.blocks.get(next).map(|block| block.handle.offset)
    }
}

impl Verifier<'_> {
    /// Records that the block at `at` is unreadable. Returns the offset at which to resume.
    ///
    /// `header` is the block's header, if that is readable. `end` is the end of the last block.
    pub(super) fn skip_unreadable(
        &mut self,
        at: BlockOffset,
        header: Option<&Header>,
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
        header: Option<&Header>,
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
        if let Some(ListedBlock { handle, is_data: has_cells }) = self.listed_blocks().get(at) {
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
    fn listed_blocks(&mut self) -> &ListedBlocks {
        self.listed_blocks.get_or_insert_with(|| ListedBlocks::collect(self.file))
    }

    /// Returns whether the block at `at` could not be read.
    pub(super) fn is_unreadable(&self, at: BlockOffset) -> bool {
        let before = self.unreadable.partition_point(|unreadable| unreadable.at <= at);
        self.unreadable[..before].last().is_some_and(|unreadable| unreadable.contains(at))
    }
}
