//! The blocks that the indexes of a file list, and the ranges of the file that are unreadable.

use std::collections::HashSet;

use cells::BlockOffset;

use crate::block::index_block::IndexBlock;
use crate::block::index_entry::BlockHandle;
use crate::error::BlockType;
use crate::file::filters::chunked_bloom::ChunkedBloom;
use crate::file::open_file::OpenFile;
use crate::file::options::Caching;
use crate::trace::ReadTrace;

/// An unreadable block, or, if its end is unknown, all bytes up to the next known block.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnreadableRange {
    pub(super) at: BlockOffset,
    /// The offset of the next block.
    pub(super) next: BlockOffset,
    /// Whether the range is known to be one block.
    pub(super) is_one_block: bool,
    /// Whether the range may contain cells, which are then lost.
    pub(super) has_cells: bool,
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
pub(super) struct ListedBlock {
    pub(super) handle: BlockHandle,
    pub(super) is_data: bool,
    /// Whether reads of cells need the block. They do without the chunks of a Bloom filter and META blocks.
    pub(super) is_needed: bool,
}

impl ListedBlocks {
    /// Collects the entries of all indexes.
    ///
    /// Reads the index blocks below the root from the file and skips unreadable ones. Bloom and
    /// META indexes are in memory.
    pub(super) fn collect(file: &OpenFile) -> Self {
        let mut listed = Self::default();
        if let Some(index) = &file.index {
            listed.add_entries(file, &index.root, 1, &mut HashSet::new());
        }
        let filters = file.filters();
        let blooms = [&filters.bloom, &filters.delete_family_bloom];
        let chunks = blooms.into_iter().flatten().flat_map(ChunkedBloom::chunk_handles);
        let metas = file.metas.iter().map(|(_, handle)| *handle);
        let unneeded = chunks.chain(metas).map(|handle| ListedBlock {
            handle,
            is_data: false,
            is_needed: false,
        });
        listed.blocks.extend(unneeded);
        // A damaged index may list a block of another kind: the data index comes first.
        listed.blocks.sort_by_key(|block| (block.handle.offset, !block.is_data, !block.is_needed));
        listed.blocks.dedup_by_key(|block| block.handle.offset);
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
            self.blocks.push(ListedBlock { handle, is_data, is_needed: true });
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

    pub(super) fn get(&self, at: BlockOffset) -> Option<ListedBlock> {
        let found = self.blocks.binary_search_by_key(&at, |block| block.handle.offset);
        found.ok().and_then(|index| self.blocks.get(index)).copied()
    }

    /// Returns the offset of the first listed block after `at`.
    pub(super) fn next_after(&self, at: BlockOffset) -> Option<BlockOffset> {
        let next = self.blocks.partition_point(|block| block.handle.offset <= at);
        self.blocks.get(next).map(|block| block.handle.offset)
    }
}
