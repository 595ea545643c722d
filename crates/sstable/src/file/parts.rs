//! Public views of the parts of an open file: its blocks, its data index and its filters.

use std::sync::Arc;

use bytes::Bytes;
use cells::{BlockOffset, KeyRef};

use super::data_index::{NodeEntry, Predecessor};
use super::filters::chunked_bloom::{BloomSummary, ChunkedBloom};
use super::filters::file_filter::Filters;
use super::filters::row_filter::{FilterSummary, RowFilter};
use super::index_cursor::IndexCursor;
use super::open_file::OpenFile;
use super::options::Caching;
use super::read_context::ReadContext;
use crate::block::header::BlockHeader;
use crate::block::index_block::IndexBlock;
use crate::block::index_entry::BlockHandle;
use crate::block::meta::MetaBlock;
use crate::buffers::Buffers;
use crate::checksum::ChecksumType;
use crate::compression::Compression;
use crate::encoding::DataBlockEncoding;
use crate::error::{BlockType, Damage, Result};
use crate::trace::ReadTrace;

/// The blocks of a file. Returned by [`Reader::blocks`](crate::Reader::blocks).
#[derive(Clone, Copy, Debug)]
pub struct FileBlocks<'a>(pub(crate) &'a OpenFile);

impl<'a> FileBlocks<'a> {
    /// Returns the encoding of the cells in data blocks.
    pub fn encoding(self) -> DataBlockEncoding {
        self.0.blocks.encoding
    }

    /// Returns the compression of the blocks.
    pub fn compression(self) -> Compression {
        self.0.blocks.compression
    }

    /// Returns the checksum algorithm of the blocks.
    pub fn checksum_type(self) -> ChecksumType {
        self.0.blocks.checksum_type.unwrap_or_default()
    }

    /// Returns the names of the META blocks in ascending order.
    pub fn meta_names(self) -> impl Iterator<Item = &'a [u8]> {
        self.0.metas.iter().map(|(name, _)| &name[..])
    }

    /// Returns the body of the META block named `name`; `None` if the file has none.
    ///
    /// # Errors
    ///
    /// If the block cannot be read.
    pub fn meta(self, name: &[u8], trace: &mut ReadTrace) -> Result<Option<Bytes>> {
        let metas = &self.0.metas;
        let Ok(index) = metas.binary_search_by(|(known, _)| known[..].cmp(name)) else {
            return Ok(None);
        };
        let blocks = &self.0.blocks;
        let wanted = metas[index].1.of_type(BlockType::Meta);
        let block = blocks.load::<MetaBlock>(wanted, Caching::Use, trace, |_, _| Ok(()))?;
        Ok(Some(block.body().clone()))
    }

    /// Reads the headers of all blocks before the trailer, in file order.
    ///
    /// The iterator ends after its first error, because only a sound header gives the offset of the
    /// next block.
    pub fn headers(self) -> impl Iterator<Item = Result<(BlockOffset, BlockHeader)>> + 'a {
        let blocks = &self.0.blocks;
        let end = self.blocks_end();
        let mut next = Some(BlockOffset::default());
        std::iter::from_fn(move || {
            let at = next.take().filter(|at| at.get() < end)?;
            let header = blocks.read_header(at, end);
            next = header.as_ref().ok().map(|header| at + header.len());
            Some(header.map(|header| (at, header)))
        })
    }

    /// Returns the name and the location of each META block, in ascending order of the names.
    pub(crate) fn meta_handles(self) -> &'a [(Bytes, BlockHandle)] {
        &self.0.metas
    }

    /// Reads the header of the block at the offset `at`.
    pub(crate) fn read_header(self, at: BlockOffset) -> Result<BlockHeader> {
        self.0.blocks.read_header(at, self.blocks_end())
    }

    /// Reads and verifies the block at the offset `at`, whose header is `header`.
    ///
    /// Returns the bytes as stored in the file, and the decompressed body.
    pub(crate) fn raw_block(self, at: BlockOffset, header: &BlockHeader) -> Result<(Bytes, Bytes)> {
        let blocks = &self.0.blocks;
        let bytes = blocks.read_bytes(at, header.len())?;
        let raw = blocks.parse(&bytes, at).map_err(|damage| damage.in_file(&self.0.blocks.name))?;
        Ok((bytes, raw.body))
    }

    /// Reads `len` bytes of the file from the offset `at` on.
    pub(crate) fn read_bytes(self, at: BlockOffset, len: u64) -> Result<Bytes> {
        self.0.blocks.read_bytes(at, len)
    }

    /// Returns the offset of the trailer, which is the end of the last block.
    fn blocks_end(self) -> u64 {
        self.0.blocks.source.len() - self.0.trailer.len()
    }
}

/// The data index of a file. Returned by [`Reader::index`](crate::Reader::index).
#[derive(Clone, Copy, Debug)]
pub struct FileIndex<'a>(pub(crate) &'a OpenFile);

impl<'a> FileIndex<'a> {
    /// Returns the number of levels of the data index.
    pub fn levels(self) -> u32 {
        self.0.trailer.num_data_index_levels
    }

    /// Returns the flat key of the first cell, from the index; `None` if the file has no cells.
    pub fn first_key(self) -> Option<&'a [u8]> {
        self.0.index.as_ref()?.root.entry(0).map(|entry| entry.key)
    }

    /// Returns the flat key of the last cell, from the file info; `None` if the file has no cells.
    pub fn last_key(self) -> Option<&'a [u8]> {
        self.0.rows.as_ref()?;
        Some(&self.0.last_key)
    }

    /// Returns a key that splits the file into halves of about the same size.
    ///
    /// Returns `None` if the file has no cells. The key is the index key of the middle data block.
    ///
    /// # Errors
    ///
    /// If the index block with the key cannot be read.
    pub fn middle_key(self, trace: &mut ReadTrace) -> Result<Option<Bytes>> {
        let OpenFile { index: Some(index), middle, blocks, .. } = self.0 else {
            return Ok(None);
        };
        let Some(middle) = middle else {
            let entry = index.root.entry(index.root.len() / 2);
            return Ok(entry.map(|entry| index.root.owned_key(entry.key)));
        };
        let number = middle.entry_in_leaf as usize;
        // The leaf is not checked against its index entry here, so it must not enter the cache,
        // whose blocks are checked.
        let wanted = middle.leaf.of_type(BlockType::LeafIndex);
        let leaf: Arc<IndexBlock> = blocks.load(wanted, Caching::Bypass, trace, |_, _| Ok(()))?;
        let key = leaf.entry(number).map(|entry| leaf.owned_key(entry.key));
        let damage = || {
            let what = "has no entry for the middle key of the file";
            Damage::in_block(BlockType::LeafIndex, middle.leaf.offset, what).in_file(&blocks.name)
        };
        key.ok_or_else(damage).map(Some)
    }

    /// Returns rows that cut the file into parts whose data blocks have about `len` bytes each.
    ///
    /// The rows ascend. Each begins a part: the part has the rows from it to the next, which is
    /// excluded. Reads all blocks of the index, and no data block.
    ///
    /// # Errors
    ///
    /// If an index block cannot be read.
    #[doc(hidden)]
    pub fn cuts(self, len: u64, trace: &mut ReadTrace) -> Result<Vec<Vec<u8>>> {
        let Some(index) = &self.0.index else { return Ok(Vec::new()) };
        let context =
            &mut ReadContext { caching: Caching::Bypass, buffers: &mut Buffers::default(), trace };
        let order = self.0.trailer.comparator;
        let mut rows: Vec<Vec<u8>> = Vec::new();
        let (mut part_len, mut cursor) = (0_u64, IndexCursor::first(self.0, context)?);
        loop {
            part_len = part_len.saturating_add(cursor.block_place().len.into());
            let Some(next) = cursor.into_next(self.0, context)? else { return Ok(rows) };
            cursor = next;
            let row = KeyRef::parse(cursor.entry(index).key).map_or(&[][..], |key| key.row);
            let is_after = |last: &Vec<u8>| order.compare_rows(row, last).is_gt();
            if part_len >= len && rows.last().is_none_or(is_after) {
                rows.push(row.to_vec());
                part_len = 0;
            }
        }
    }

    /// Returns the index key of the data block after the block that can hold `key`.
    ///
    /// A reader that goes on after damage continues there. If an index block cannot be read, all
    /// its data blocks are left out. `None` if no data block follows that the index can name.
    #[doc(hidden)]
    pub fn key_after(self, key: &KeyRef<'_>, trace: &mut ReadTrace) -> Option<Bytes> {
        let index = self.0.index.as_ref()?;
        let mut context =
            ReadContext { caching: Caching::Bypass, buffers: &mut Buffers::default(), trace };
        let mut node: Option<Arc<IndexBlock>> = None;
        let mut next: Option<Bytes> = None;
        let mut is_leftmost = true;
        for level in 2..=index.levels.saturating_add(1) {
            let held = node.as_deref().unwrap_or(&index.root);
            let number = held.find(key);
            if let Some(after) = held.entry(number + 1) {
                next = Some(held.owned_key(after.key));
            }
            if level > index.levels {
                break;
            }
            let entry = held.entry(number)?;
            let predecessor = Predecessor::of_entry(held, number, is_leftmost);
            is_leftmost &= number == 0;
            let wanted = NodeEntry { entry, next_key: next.as_deref(), predecessor };
            match index.load_below(&self.0.blocks, wanted, level, &mut context) {
                Ok(below) => node = Some(below),
                Err(_) => break,
            }
        }
        next
    }
}

/// The filters of a file. Returned by [`Reader::filters`](crate::Reader::filters).
#[derive(Clone, Debug)]
pub struct FileFilters<'a> {
    pub(crate) file: &'a OpenFile,
    pub(crate) filters: Arc<Filters>,
}

impl FileFilters<'_> {
    /// Returns a summary of HBase's Bloom filter; `None` if the file has none that can be used.
    pub fn bloom(&self) -> Option<BloomSummary> {
        self.filters.bloom.as_ref().map(ChunkedBloom::summary)
    }

    /// Returns a summary of HBase's Bloom filter over the rows that have a delete of a family.
    ///
    /// Returns `None` if the file has none that can be used.
    pub fn delete_family_bloom(&self) -> Option<BloomSummary> {
        self.filters.delete_family_bloom.as_ref().map(ChunkedBloom::summary)
    }

    /// Returns the first damage that opening or reads have found in HBase's Bloom filters.
    ///
    /// Reads ignore a damaged filter, or a damaged chunk of one.
    pub fn bloom_problem(&self) -> Option<&Damage> {
        let filters = &self.filters;
        let blooms = [&filters.bloom, &filters.delete_family_bloom];
        let in_chunk = || blooms.into_iter().flatten().find_map(ChunkedBloom::problem);
        filters.problem.as_ref().or_else(in_chunk)
    }

    /// Returns a summary of the row filter in META blocks.
    ///
    /// Returns `None` if the file has none. Reads the filter's block or, if the filter is partitioned, its index.
    ///
    /// # Errors
    ///
    /// If the block cannot be read, or is not a filter or its index.
    pub fn row_filter(&self) -> Result<Option<FilterSummary>> {
        let filter = self.filters.row_filter.as_ref();
        filter.map(|filter| filter.summary(&self.file.blocks)).transpose()
    }

    /// Returns the number of rows in the row filter, as the file info states it.
    ///
    /// Reads no block. Returns `None` if the file has no such filter.
    #[doc(hidden)]
    pub fn row_filter_keys(&self) -> Option<u64> {
        self.filters.row_filter.as_ref()?;
        self.file.file_info.row_filter_id().map(|id| id.keys)
    }

    /// Returns whether the file holds blocks of a filter over rows in memory.
    ///
    /// Blocks in the block cache do not count.
    #[doc(hidden)]
    pub fn are_in_memory(&self) -> bool {
        self.filters.are_loaded()
    }

    /// Returns the first damage that reads have found in the row filter.
    ///
    /// Reads ignore a damaged filter, or a damaged partition of one.
    pub fn row_filter_problem(&self) -> Option<&Damage> {
        self.filters.row_filter.as_ref().and_then(RowFilter::problem)
    }
}
