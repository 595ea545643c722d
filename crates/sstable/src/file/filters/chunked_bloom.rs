//! HBase's Bloom filter of an open file. It consists of chunks, one per key range.
//!
//! ```text
//! Bloom meta, in memory ──first key of each chunk──→ chunk, loaded at its first use
//! ```

use std::sync::Arc;

use bytes::Bytes;
use cells::{BlockOffset, KeyRef};
use filter::hbase::{self, HashPair, HashType};
use filter::theory::hbase_bloom_error_rate;

use super::filter_answer::FilterAnswer;
use super::lazy_block::{LazyFilterBlock, offset_before};
use crate::block::BloomType;
use crate::block::bloom::{BloomBits, BloomChunk, BloomMeta};
use crate::block::index_entry::BlockHandle;
use crate::error::{BlockType, Damage};
use crate::file::file_info::FileInfo;
use crate::file::load_block::BlockReader;
use crate::probe::RowProbe;
use crate::row_digits::RowDigits;
use crate::trace::{BlockKind, BlockSource, ReadTrace};

/// A Bloom filter in chunks, which are loaded at their first use.
#[derive(Debug)]
pub(crate) struct ChunkedBloom {
    pub(crate) bloom_type: BloomType,
    hash_type: HashType,
    meta: BloomMeta,
    /// The row digits of the chunks' first keys; empty for a filter over columns (ROWCOL).
    digits: RowDigits,
    /// The greatest key of the filter, if the file info has it.
    last_key: Option<Vec<u8>>,
    /// The blocks of the chunks, in the order of `meta`.
    chunk_blocks: Box<[LazyFilterBlock<BloomBits>]>,
}

/// A summary of HBase's Bloom filter of a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BloomSummary {
    /// What a key of the filter is: a row, a row prefix, or a row with a column.
    pub bloom_type: BloomType,
    /// The hash function for the keys.
    pub hash_type: HashType,
    /// The number of bits that a key sets; 0 in a ribbon filter.
    pub hash_count: u32,
    /// The number of chunks.
    pub chunk_count: usize,
    /// The number of keys in all chunks.
    pub key_count: u64,
    /// The number of keys that the chunks have room for at the configured error rate.
    ///
    /// In a ribbon filter, the number of slots.
    pub max_keys: u64,
    /// Bytes of all chunks.
    pub byte_size: u64,
    /// The error rate of a ribbon filter of HBase's trunk; `None` for a Bloom filter.
    pub ribbon_error_rate: Option<f64>,
}

impl BloomSummary {
    /// Returns the bits per key; 0 without keys.
    pub fn bits_per_key(&self) -> f64 {
        if self.key_count == 0 { 0.0 } else { self.byte_size as f64 * 8.0 / self.key_count as f64 }
    }

    /// Returns the expected error rate, computed from the numbers of keys, bits and hashes as HBase does.
    ///
    /// For a ribbon filter, returns the stored `ribbon_error_rate`.
    pub fn error_rate(&self) -> f64 {
        if let Some(rate) = self.ribbon_error_rate {
            return rate;
        }
        if self.byte_size == 0 {
            return 0.0;
        }
        let hashes = f64::from(self.hash_count);
        let (keys, bits) = (self.key_count as f64, self.byte_size as f64 * 8.0);
        (1.0 - (-hashes * keys / bits).exp()).powf(hashes)
    }

    /// Returns the expected error rate of a query, as a get makes it.
    ///
    /// A `ROWCOL` filter is asked for two keys: the column, and the deletes of the row's family. Other than
    /// [`error_rate`](Self::error_rate), the result counts keys whose probes coincide, as they do in filters of
    /// few bits.
    pub fn query_error_rate(&self) -> f64 {
        let (keys, bits) = (self.key_count as f64, self.byte_size as f64 * 8.0);
        // Of a chunk with the mean number of keys and bits.
        let chunks = self.chunk_count.max(1) as f64;
        let rate = match self.ribbon_error_rate {
            Some(rate) => rate,
            None if self.byte_size == 0 => 0.0,
            None => hbase_bloom_error_rate(keys / chunks, bits / chunks, self.hash_count.into()),
        };
        if self.bloom_type == BloomType::RowCol { 1.0 - (1.0 - rate).powi(2) } else { rate }
    }
}

impl ChunkedBloom {
    /// Creates the filter that a Bloom meta block describes, without loading chunks.
    ///
    /// `chain` has the offsets of all Bloom chunks of the file, ascending. A file can have two
    /// Bloom filters, and the header of a chunk gives the offset of the chunk before it in the
    /// file, of either filter.
    ///
    /// # Errors
    ///
    /// If the hash is unknown, the first keys are out of order, or a filter over columns has an
    /// invalid first key or no valid last key.
    pub(crate) fn new(
        meta: BloomMeta,
        bloom_type: BloomType,
        file_info: &FileInfo,
        chain: &[BlockOffset],
    ) -> Result<Self, String> {
        let hash_type = HashType::from_code(meta.hash_type)
            .ok_or_else(|| format!("unknown hash {}", meta.hash_type))?;
        let over_columns = bloom_type == BloomType::RowCol;
        let mut keys = meta.chunks.iter().map(|chunk| &chunk.first_key);
        if over_columns && keys.any(|key| KeyRef::parse(key).is_none()) {
            return Err("the first key of a chunk is not a valid key".to_owned());
        }
        let ascend = |pair: &[BloomChunk]| {
            let (left, right) = (&pair[0].first_key, &pair[1].first_key);
            if over_columns { KeyRef::parse(left) <= KeyRef::parse(right) } else { left <= right }
        };
        if !meta.chunks.windows(2).all(ascend) {
            return Err("chunks out of order".to_owned());
        }
        let last_key = file_info.value(FileInfo::LAST_BLOOM_KEY).map(<[u8]>::to_vec);
        if over_columns && last_key.as_deref().and_then(KeyRef::parse).is_none() {
            return Err("no last key, which a filter over columns must have".to_owned());
        }
        let block = |chunk: &BloomChunk| {
            LazyFilterBlock::new(chunk.block, offset_before(chain, chunk.block.offset))
        };
        let chunk_blocks = meta.chunks.iter().map(block).collect();
        let rows = if over_columns { &[] } else { &meta.chunks[..] };
        let digits = RowDigits::new(rows.iter().map(|chunk| &chunk.first_key[..]));
        Ok(Self { bloom_type, hash_type, meta, digits, last_key, chunk_blocks })
    }

    /// Creates the filter over the rows with family deletes. HBase stores no last key for it.
    pub(crate) fn over_delete_families(
        meta: BloomMeta,
        chain: &[BlockOffset],
    ) -> Result<Self, String> {
        Self::new(meta, BloomType::Row, &FileInfo::default(), chain)
    }

    /// Returns the same filter without chunks in memory.
    pub(crate) fn unloaded(&self) -> Self {
        Self {
            bloom_type: self.bloom_type,
            hash_type: self.hash_type,
            meta: self.meta.clone(),
            digits: self.digits.clone(),
            last_key: self.last_key.clone(),
            chunk_blocks: self.chunk_blocks.iter().map(LazyFilterBlock::unloaded).collect(),
        }
    }

    /// Returns whether a chunk is resident.
    pub(crate) fn is_loaded(&self) -> bool {
        self.chunk_blocks.iter().any(|block| block.resident().is_some())
    }

    /// Returns damage that reads have found in a chunk; the first chunk's if several have any.
    pub(crate) fn problem(&self) -> Option<&Damage> {
        self.chunk_blocks.iter().find_map(LazyFilterBlock::damage)
    }

    /// Returns whether a key is a row with a column (ROWCOL), not a row or prefix.
    pub(crate) const fn is_over_columns(&self) -> bool {
        matches!(self.bloom_type, BloomType::RowCol)
    }

    /// Iterates over the locations of the chunks.
    pub(crate) fn chunk_handles(&self) -> impl Iterator<Item = BlockHandle> {
        self.meta.chunks.iter().map(|chunk| chunk.block)
    }

    /// Returns the first key of the chunk at an offset; `None` if the filter has no chunk there.
    pub(crate) fn first_key_of_chunk_at(&self, at: BlockOffset) -> Option<&Bytes> {
        let index = self.meta.chunks.binary_search_by_key(&at, |chunk| chunk.block.offset).ok()?;
        self.meta.chunks.get(index).map(|chunk| &chunk.first_key)
    }

    /// Returns the first key of the first chunk.
    pub(crate) fn first_key(&self) -> Option<&Bytes> {
        self.meta.chunks.first().map(|chunk| &chunk.first_key)
    }

    pub(crate) fn summary(&self) -> BloomSummary {
        BloomSummary {
            bloom_type: self.bloom_type,
            hash_type: self.hash_type,
            hash_count: self.meta.hash_count,
            chunk_count: self.meta.chunks.len(),
            key_count: self.meta.key_count,
            max_keys: self.meta.max_keys,
            byte_size: self.meta.total_byte_size,
            ribbon_error_rate: self.ribbon_error_rate(),
        }
    }

    /// Returns the mean error rate of the ribbon chunks; `None` for a Bloom filter.
    ///
    /// The mean is not weighted, because chunks hold about the same number of keys.
    fn ribbon_error_rate(&self) -> Option<f64> {
        let chunks = &self.meta.ribbon;
        let sum: f64 = chunks.iter().map(|chunk| chunk.error_rate()).sum();
        (!chunks.is_empty()).then(|| sum / chunks.len() as f64)
    }

    /// Returns whether a row is greater than the last key of the filter.
    #[inline]
    fn is_past_last_key(&self, row: &[u8]) -> bool {
        self.last_key.as_ref().is_some_and(|last| row > &last[..])
    }

    /// Asks the filter for the row, or for the column if the filter is over columns.
    #[inline]
    pub(crate) fn ask(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let (key, pair) = match self.bloom_type {
            BloomType::None => return FilterAnswer::NotCovered,
            BloomType::RowCol => return self.ask_column(blocks, probe, trace),
            BloomType::Row => (probe.row(), probe.hash_pair(self.hash_type)),
            BloomType::RowPrefixFixedLength(len) => {
                let prefix = probe.row().get(..len.into()).unwrap_or(probe.row());
                (prefix, HashPair::new(self.hash_type, prefix))
            }
        };
        if self.is_past_last_key(key) {
            return FilterAnswer::No;
        }
        self.ask_chunk(blocks, self.find(key), pair, trace)
    }

    /// Asks about a column and about the family deletes of its row, which a get must see.
    ///
    /// Such a filter does not cover a probe without a column.
    #[inline(never)]
    fn ask_column(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let Some(keys) = probe.column_keys(self.hash_type) else {
            return FilterAnswer::NotCovered;
        };
        let last = self.last_key.as_deref().and_then(KeyRef::parse);
        if keys.iter().all(|(key, _)| KeyRef::parse(key) > last) {
            return FilterAnswer::No;
        }
        for (key, pair) in keys {
            let answer = self.ask_chunk(blocks, self.find_column(key), pair, trace);
            if answer != FilterAnswer::No {
                return answer;
            }
        }
        FilterAnswer::No
    }

    /// Returns whether the filter may contain the key that a cell adds to the filter.
    ///
    /// Unlike [`ask`](Self::ask), ignores family deletes of the row.
    pub(crate) fn ask_exact_key(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        if self.bloom_type != BloomType::RowCol {
            return self.ask(blocks, probe, trace);
        }
        let Some([(key, pair), _]) = probe.column_keys(self.hash_type) else {
            return FilterAnswer::NotCovered;
        };
        if KeyRef::parse(key) > self.last_key.as_deref().and_then(KeyRef::parse) {
            return FilterAnswer::No;
        }
        self.ask_chunk(blocks, self.find_column(key), pair, trace)
    }

    /// Loads all chunks. Ignores errors: a lookup that needs an unreadable chunk counts it.
    pub(crate) fn load(&self, blocks: &BlockReader) {
        for index in 0..self.chunk_blocks.len() {
            let _ = self.load_chunk(index, blocks, &mut ReadTrace::default());
        }
    }

    /// Returns the index of the last chunk whose first key is at most `key`, a row or a prefix.
    ///
    /// Only this chunk can hold the key. `None` if the key is less than all first keys.
    #[inline]
    fn find(&self, key: &[u8]) -> Option<usize> {
        let candidates = self.digits.candidates(key);
        let undecided = &self.meta.chunks[candidates.clone()];
        let not_after = undecided.partition_point(|chunk| chunk.first_key <= key);
        (candidates.start + not_after).checked_sub(1)
    }

    /// Returns the same as [`find`](Self::find) for a column, given as a flat key.
    fn find_column(&self, key: &[u8]) -> Option<usize> {
        let key = KeyRef::parse(key);
        let not_after = |chunk: &BloomChunk| KeyRef::parse(&chunk.first_key) <= key;
        self.meta.chunks.partition_point(not_after).checked_sub(1)
    }

    /// Returns whether a chunk may contain a key.
    ///
    /// `chunk` is `None` for a key before the first chunk, which the filter does not contain.
    #[inline]
    fn ask_chunk(
        &self,
        blocks: &BlockReader,
        chunk: Option<usize>,
        pair: HashPair,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let Some(index) = chunk else { return FilterAnswer::No };
        let loaded;
        let block = if let Some(block) = self.chunk_blocks[index].resident() {
            trace.touch(BlockKind::Bloom, BlockSource::Cache, block.bytes());
            block
        } else {
            let Ok(block) = self.load_chunk(index, blocks, trace) else {
                return FilterAnswer::Unreadable;
            };
            loaded = block;
            &*loaded
        };
        FilterAnswer::of(match self.meta.ribbon.get(index) {
            Some(ribbon) => ribbon.may_contain(block.bits(), pair),
            None => hbase::may_contain(block.bits(), self.meta.hash_count, pair),
        })
    }

    /// Returns a chunk that is resident, or else from the cache or the file.
    #[inline(never)]
    fn load_chunk(
        &self,
        index: usize,
        blocks: &BlockReader,
        trace: &mut ReadTrace,
    ) -> crate::error::Result<Arc<BloomBits>> {
        let check = |block: &BloomBits| match self.meta.ribbon.get(index) {
            Some(ribbon) if block.bits().len() as u64 != ribbon.byte_len() => {
                Err("its size is not that of the ribbon in the Bloom meta block")
            }
            _ => Ok(()),
        };
        self.chunk_blocks[index].load(blocks, BlockType::BloomChunk, trace, check)
    }
}

#[cfg(test)]
#[path = "chunked_bloom_tests.rs"]
mod tests;
