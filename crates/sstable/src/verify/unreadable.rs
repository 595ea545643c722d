//! Unreadable ranges of a file, and where the verification resumes after one.
//!
//! ```text
//! 1  at the end that the block's header states, if another block begins there
//! 2  at the end that an index of the file states
//! 3  at the next sound block, found as by salvage, or at the next block that an index lists
//! ```

use std::collections::HashSet;

use super::salvage::find_next_block;
use super::verification::Verifier;
use crate::block::branch::IndexBlock;
use crate::block::index::BlockHandle;
use crate::file::filters::chunked_bloom::ChunkedBloom;
use crate::file::open_file::OpenFile;
use crate::{BlockOffset, BlockType, Caching, Error, Header, ReadTrace, Result};

/// An unreadable range: one block, or all bytes up to the next block that is certain.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnreadableRange {
    pub(super) at: BlockOffset,
    /// The offset of the next block.
    next: BlockOffset,
    /// Whether the range is known to be one block.
    is_one_block: bool,
    /// Whether the range may have held cells.
    has_cells: bool,
}

impl UnreadableRange {
    /// Returns whether the block at `at` is in the range.
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
    place: BlockHandle,
    is_data: bool,
}

impl ListedBlocks {
    /// Reads the readable blocks of the data index. The other indexes are in memory.
    fn of(file: &OpenFile) -> Self {
        let mut listed = Self::default();
        if let Some(index) = &file.index {
            listed.add_node(file, &index.root, 1, &mut HashSet::new());
        }
        let filters = &file.filters;
        let blooms = [&filters.bloom, &filters.delete_family_bloom];
        let chunks = blooms.into_iter().flatten().flat_map(ChunkedBloom::chunk_handles);
        let metas = file.metas.iter().map(|(_, place)| *place);
        let others = chunks.chain(metas).map(|place| ListedBlock { place, is_data: false });
        listed.blocks.extend(others);
        listed.blocks.sort_by_key(|block| block.place.offset);
        listed
    }

    fn add_node(
        &mut self,
        file: &OpenFile,
        node: &IndexBlock,
        level: u32,
        visited: &mut HashSet<BlockOffset>,
    ) {
        let levels = file.trailer.num_data_index_levels;
        let is_data = level >= levels;
        for place in (0..node.len()).filter_map(|index| node.entry(index)).map(|entry| entry.block)
        {
            self.blocks.push(ListedBlock { place, is_data });
            if is_data || !visited.insert(place.offset) {
                continue;
            }
            let below = if level + 1 == levels {
                BlockType::LeafIndex
            } else {
                BlockType::IntermediateIndex
            };
            let (caching, trace) = (Caching::Bypass, &mut ReadTrace::default());
            let loaded = file.blocks.load(place.of_type(below), caching, trace, |_, _| Ok(()));
            if let Ok(node) = &loaded {
                self.add_node(file, node, level + 1, visited);
            }
        }
    }

    fn at(&self, at: BlockOffset) -> Option<ListedBlock> {
        let found = self.blocks.binary_search_by_key(&at, |block| block.place.offset);
        found.ok().and_then(|index| self.blocks.get(index)).copied()
    }

    /// Returns the offset of the next listed block.
    fn next_start(&self, at: BlockOffset) -> Option<BlockOffset> {
        let next = self.blocks.partition_point(|block| block.place.offset <= at);
        self.blocks.get(next).map(|block| block.place.offset)
    }
}

impl Verifier<'_> {
    /// Records that the block at `at` is unreadable. Returns the offset at which to resume.
    ///
    /// `header` is the block's header, if that is readable.
    pub(super) fn skip_unreadable(
        &mut self,
        at: BlockOffset,
        header: Option<&Header>,
        end: BlockOffset,
    ) -> Result<BlockOffset> {
        let unreadable = self.find_unreadable_range(at, header, end)?;
        self.unreadable.push(unreadable);
        self.data_blocks.push(super::index::CheckedBlock::unreadable(at));
        if unreadable.has_cells {
            self.add_damaged_data_block(at);
        }
        Ok(unreadable.next)
    }

    fn find_unreadable_range(
        &mut self,
        at: BlockOffset,
        header: Option<&Header>,
        end: BlockOffset,
    ) -> Result<UnreadableRange> {
        let file = self.file;
        if let Some(header) = header {
            let next = at.plus(header.len());
            let has_cells = is_of_cells(header.block_type);
            if next == end || self.has_header(next, end)? || self.listed().at(next).is_some() {
                return Ok(UnreadableRange { at, next, is_one_block: true, has_cells });
            }
        }
        if let Some(ListedBlock { place, is_data: has_cells }) = self.listed().at(at) {
            let next = at.plus(place.len.into());
            if at < next && next <= end {
                return Ok(UnreadableRange { at, next, is_one_block: true, has_cells });
            }
        }
        let until = self.listed().next_start(at).map_or(end, |listed| listed.min(end));
        let next = find_next_block(&file.blocks, at, until.get())?;
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

    fn listed(&mut self) -> &ListedBlocks {
        self.listed.get_or_insert_with(|| ListedBlocks::of(self.file))
    }

    /// Returns whether the block at `at` could not be read.
    pub(super) fn is_unreadable(&self, at: BlockOffset) -> bool {
        let before = self.unreadable.partition_point(|unreadable| unreadable.at <= at);
        self.unreadable[..before].last().is_some_and(|unreadable| unreadable.contains(at))
    }
}

const fn is_of_cells(block_type: BlockType) -> bool {
    matches!(block_type, BlockType::Data | BlockType::EncodedData)
}
