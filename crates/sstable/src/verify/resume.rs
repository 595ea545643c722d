//! Where the verification goes on after a block that could not be read.
//!
//! ```text
//! 1  its header can be read, and a block begins where the header says that it ends
//! 2  an index of the file says how long the block is
//! 3  the first sound block between it and the next one that an index lists, as salvage finds it
//! ```

use std::collections::HashSet;

use super::salvage::next_block;
use super::verification::Verifier;
use crate::block::branch::IndexBlock;
use crate::block::index::BlockHandle;
use crate::file::filters::chunked_bloom::ChunkedBloom;
use crate::file::open_file::OpenFile;
use crate::{BlockOffset, BlockType, Caching, Error, Header, ReadTrace, Result};

/// Bytes that could not be read: one block, or all up to the next one that is certain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unread {
    pub(super) at: BlockOffset,
    /// Where the next block begins.
    next: BlockOffset,
    /// Whether they are one block, and which places in them belong to it is no question.
    is_one_block: bool,
    /// Whether cells may have stood there.
    has_cells: bool,
}

impl Unread {
    /// Whether the block at `at` is among the bytes that could not be read.
    pub(super) fn contains(&self, at: BlockOffset) -> bool {
        self.at == at || !self.is_one_block && self.at < at && at < self.next
    }
}

/// The blocks that the indexes of a file list.
#[derive(Debug, Default)]
pub(super) struct ListedBlocks {
    /// Ascending by offset.
    blocks: Vec<Listed>,
}

#[derive(Clone, Copy, Debug)]
struct Listed {
    place: BlockHandle,
    is_data: bool,
}

impl ListedBlocks {
    /// Reads the data index, as far as it can be read; the other indexes are in memory.
    fn of(file: &OpenFile) -> Self {
        let mut listed = Self::default();
        if let Some(index) = &file.index {
            listed.add_node(file, &index.root, 1, &mut HashSet::new());
        }
        let filters = &file.filters;
        let blooms = [&filters.bloom, &filters.delete_family_bloom];
        let chunks = blooms.into_iter().flatten().flat_map(ChunkedBloom::places);
        let metas = file.metas.iter().map(|(_, place)| *place);
        let others = chunks.chain(metas).map(|place| Listed { place, is_data: false });
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
        for place in (0..node.len()).filter_map(|index| node.entry(index)).map(|it| it.block) {
            self.blocks.push(Listed { place, is_data });
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

    fn at(&self, at: BlockOffset) -> Option<Listed> {
        let found = self.blocks.binary_search_by_key(&at, |block| block.place.offset);
        found.ok().and_then(|index| self.blocks.get(index)).copied()
    }

    /// Where the next listed block begins.
    fn next_start(&self, at: BlockOffset) -> Option<BlockOffset> {
        let behind = self.blocks.partition_point(|block| block.place.offset <= at);
        self.blocks.get(behind).map(|block| block.place.offset)
    }
}

impl Verifier<'_> {
    /// Notes that the block at `at` could not be read, and returns where to go on. `header` is the
    /// block's, if that could be read.
    pub(super) fn pass_unread(
        &mut self,
        at: BlockOffset,
        header: Option<&Header>,
        end: BlockOffset,
    ) -> Result<BlockOffset> {
        let unread = self.find_end(at, header, end)?;
        self.unread.push(unread);
        self.data_blocks.push(super::index::DataBlockSeen::unread(at));
        if unread.has_cells {
            self.add_damaged_data(at);
        }
        Ok(unread.next)
    }

    fn find_end(
        &mut self,
        at: BlockOffset,
        header: Option<&Header>,
        end: BlockOffset,
    ) -> Result<Unread> {
        let file = self.file;
        if let Some(header) = header {
            let next = at.plus(header.len());
            let has_cells = is_of_cells(header.block_type);
            if next == end || self.has_header(next, end)? || self.listed().at(next).is_some() {
                return Ok(Unread { at, next, is_one_block: true, has_cells });
            }
        }
        if let Some(Listed { place, is_data: has_cells }) = self.listed().at(at) {
            let next = at.plus(place.len.into());
            if at < next && next <= end {
                return Ok(Unread { at, next, is_one_block: true, has_cells });
            }
        }
        let until = self.listed().next_start(at).map_or(end, |listed| listed.min(end));
        let next = next_block(&file.blocks, at, until.get())?;
        let has_cells = file.trailer.last_data_block_offset.is_some_and(|last| at <= last);
        Ok(Unread { at, next, is_one_block: false, has_cells })
    }

    /// Whether the header of a block can be read there.
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

    /// Whether the block at `at` could not be read.
    pub(super) fn is_unread(&self, at: BlockOffset) -> bool {
        let before = self.unread.partition_point(|unread| unread.at <= at);
        self.unread[..before].last().is_some_and(|unread| unread.contains(at))
    }
}

const fn is_of_cells(block_type: BlockType) -> bool {
    matches!(block_type, BlockType::Data | BlockType::EncodedData)
}
