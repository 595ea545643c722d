//! HBase's Bloom filter of an open file, in chunks by key range.
//!
//! ```text
//! meta, in memory ──first keys──→ chunk, loaded by the first who asks it
//! ```

use filter::bloom::hbase::{self, HashPair, HashType};

use super::kept::{FilterPart, offset_before};
use crate::block::bloom::{BloomBits, BloomChunk, BloomMeta};
use crate::block::index::BlockHandle;
use crate::file::block_reader::BlockReader;
use crate::order::Comparator;
use crate::row_heads::RowHeads;
use crate::{
    BlockKind, BlockOffset, BlockSource, BlockType, BloomType, Damage, FileInfo, KeyRef, ReadTrace,
    Result, RowProbe,
};

/// A Bloom filter in chunks, the chunks loaded when they are asked.
#[derive(Debug)]
pub(crate) struct ChunkedBloom {
    pub(crate) bloom_type: BloomType,
    hash_type: HashType,
    meta: BloomMeta,
    /// Of the chunks' first keys, where these are rows or their prefixes.
    heads: RowHeads,
    last_key: Option<Vec<u8>>,
    /// One for each chunk of `meta`.
    parts: Box<[FilterPart<BloomBits>]>,
}

/// HBase's Bloom filter of a file, in numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BloomSummary {
    /// What it can be asked.
    pub bloom_type: BloomType,
    /// Its hash.
    pub hash_type: HashType,
    /// Bits that a key sets; 0 in a ribbon filter.
    pub hash_count: u32,
    /// How many chunks it has.
    pub chunk_count: usize,
    /// Keys in all chunks.
    pub key_count: u64,
    /// Keys that the chunks were sized for; in a ribbon filter its slots.
    pub max_keys: u64,
    /// Bytes of all chunks.
    pub byte_size: u64,
    /// How often the filter errs, if it is no Bloom filter but the ribbon filter of HBase's trunk.
    pub ribbon_error_rate: Option<f64>,
}

impl BloomSummary {
    /// Bits for each key; 0 without keys.
    pub fn bits_per_key(&self) -> f64 {
        if self.key_count == 0 { 0.0 } else { self.byte_size as f64 * 8.0 / self.key_count as f64 }
    }

    /// How often it says "maybe" about a key it does not hold, as the sizes let expect.
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
}

impl ChunkedBloom {
    /// Takes what a Bloom meta block says; refuses unknown hashes. `chain`: offsets of the chunks of both
    /// filters, ascending. Both filters share one chain of `previous` offsets.
    pub(crate) fn new(
        meta: BloomMeta,
        bloom_type: BloomType,
        file_info: &FileInfo,
        chain: &[BlockOffset],
    ) -> Result<Self, String> {
        let hash_type = HashType::from_code(meta.hash_type)
            .ok_or_else(|| format!("unknown hash {}", meta.hash_type))?;
        let flat = bloom_type == BloomType::RowCol;
        let mut keys = meta.chunks.iter().map(|chunk| &chunk.first_key);
        if flat && keys.any(|key| KeyRef::parse(key).is_none()) {
            return Err("the first key of a chunk is not a key".to_owned());
        }
        let ascend = |pair: &[BloomChunk]| {
            let (left, right) = (&pair[0].first_key, &pair[1].first_key);
            if flat { KeyRef::parse(left) <= KeyRef::parse(right) } else { left <= right }
        };
        if !meta.chunks.windows(2).all(ascend) {
            return Err("chunks out of order".to_owned());
        }
        let last_key = file_info.value(FileInfo::LAST_BLOOM_KEY).map(<[u8]>::to_vec);
        if flat && last_key.as_deref().and_then(KeyRef::parse).is_none() {
            return Err("no last key, which a filter over columns must have".to_owned());
        }
        let part = |chunk: &BloomChunk| {
            FilterPart::new(chunk.block, offset_before(chain, chunk.block.offset))
        };
        let parts = meta.chunks.iter().map(part).collect();
        let rows = if flat { &[] } else { &meta.chunks[..] };
        let heads = RowHeads::new(rows.iter().map(|chunk| &chunk.first_key[..]));
        Ok(Self { bloom_type, hash_type, meta, heads, last_key, parts })
    }

    /// A filter over the rows with family deletes: nothing is said about its last key.
    pub(crate) fn over_deletes(meta: BloomMeta, chain: &[BlockOffset]) -> Result<Self, String> {
        Self::new(meta, BloomType::Row, &FileInfo::default(), chain)
    }

    /// What is wrong with one of its chunks, as far as reads have found out.
    pub(crate) fn problem(&self) -> Option<&Damage> {
        self.parts.iter().find_map(FilterPart::damage)
    }

    /// Whether it is over columns, and not over rows.
    pub(crate) const fn is_over_columns(&self) -> bool {
        matches!(self.bloom_type, BloomType::RowCol)
    }

    /// Where its chunks are.
    pub(crate) fn places(&self) -> impl Iterator<Item = BlockHandle> {
        self.meta.chunks.iter().map(|chunk| chunk.block)
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

    /// The mean over the chunks, each of which holds about as many keys.
    fn ribbon_error_rate(&self) -> Option<f64> {
        let chunks = &self.meta.ribbon;
        let sum: f64 = chunks.iter().map(|chunk| chunk.error_rate()).sum();
        (!chunks.is_empty()).then(|| sum / chunks.len() as f64)
    }

    /// Asks about the row, if the filter is over rows and the reader keeps the chunk: nothing can fail
    /// then, and no step is a call.
    #[inline]
    pub(crate) fn ask_kept(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> Option<bool> {
        if self.bloom_type != BloomType::Row || !self.meta.ribbon.is_empty() {
            return None;
        }
        let row = probe.row();
        if self.is_behind(row) {
            return Some(false);
        }
        let Some(index) = self.find(row) else { return Some(false) };
        let kept = self.parts[index].kept()?.block();
        let bits = kept.bits();
        trace.touch(BlockKind::Bloom, BlockSource::Cache, kept.bytes());
        Some(hbase::may_contain(bits, self.meta.hash_count, probe.hash_pair(self.hash_type)))
    }

    /// Whether a row is greater than all that the filter holds.
    #[inline]
    fn is_behind(&self, row: &[u8]) -> bool {
        self.last_key.as_ref().is_some_and(|last| Comparator::Bytes.compare_rows(row, last).is_gt())
    }

    /// Asks about the row, or about the column if the probe has one. `None` if the filter knows
    /// nothing about such a question.
    pub(crate) fn ask(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<bool>> {
        let last_key = self.last_key.as_deref();
        match self.bloom_type {
            BloomType::None => Ok(None),
            BloomType::Row => {
                let row = probe.row();
                if self.is_behind(row) {
                    return Ok(Some(false));
                }
                let pair = probe.hash_pair(self.hash_type);
                self.contains(blocks, self.find(row), pair, trace).map(Some)
            }
            BloomType::RowPrefixFixedLength(len) => {
                let prefix = probe.row().get(..len.into()).unwrap_or(probe.row());
                if last_key.is_some_and(|last| prefix > last) {
                    return Ok(Some(false));
                }
                let pair = HashPair::new(self.hash_type, prefix);
                self.contains(blocks, self.find(prefix), pair, trace).map(Some)
            }
            BloomType::RowCol => {
                let Some(keys) = probe.column_keys(self.hash_type) else { return Ok(None) };
                let last = last_key.and_then(KeyRef::parse);
                if keys.iter().all(|(key, _)| KeyRef::parse(key) > last) {
                    return Ok(Some(false));
                }
                for (key, pair) in keys {
                    if self.contains(blocks, self.find_flat(key), pair, trace)? {
                        return Ok(Some(true));
                    }
                }
                Ok(Some(false))
            }
        }
    }

    /// Asks about exactly the key that a cell has put in, and not about its row's family deletes,
    /// which a get would ask for as well.
    pub(crate) fn ask_exactly(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<bool>> {
        if self.bloom_type != BloomType::RowCol {
            return self.ask(blocks, probe, trace);
        }
        let Some([(key, pair), _]) = probe.column_keys(self.hash_type) else { return Ok(None) };
        if KeyRef::parse(key) > self.last_key.as_deref().and_then(KeyRef::parse) {
            return Ok(Some(false));
        }
        self.contains(blocks, self.find_flat(key), pair, trace).map(Some)
    }

    /// Loads all chunks. What cannot be read now is met again by who asks it.
    pub(crate) fn load(&self, blocks: &BlockReader) {
        for part in &self.parts {
            let _ = part.load(blocks, BlockType::BloomChunk, &mut ReadTrace::default(), |_| Ok(()));
        }
    }

    /// The one chunk that can hold a row or a prefix: the last whose first key is not after it.
    #[inline]
    fn find(&self, key: &[u8]) -> Option<usize> {
        let candidates = self.heads.candidates(key);
        let undecided = &self.meta.chunks[candidates.clone()];
        let not_after = undecided.partition_point(|chunk| chunk.first_key <= key);
        (candidates.start + not_after).checked_sub(1)
    }

    /// The same for the flat key of a column.
    fn find_flat(&self, key: &[u8]) -> Option<usize> {
        let key = KeyRef::parse(key);
        let not_after = |chunk: &BloomChunk| KeyRef::parse(&chunk.first_key) <= key;
        self.meta.chunks.partition_point(not_after).checked_sub(1)
    }

    /// Looks into a chunk; no key is before the first one.
    #[inline]
    fn contains(
        &self,
        blocks: &BlockReader,
        chunk: Option<usize>,
        pair: HashPair,
        trace: &mut ReadTrace,
    ) -> Result<bool> {
        let Some(index) = chunk else { return Ok(false) };
        let ribbon = self.meta.ribbon.get(index);
        let check = |block: &BloomBits| {
            let is_whole = ribbon.is_none_or(|it| block.bits().len() as u64 == it.byte_len());
            if is_whole {
                Ok(())
            } else {
                Err("is not as large as the ribbon that the meta block describes")
            }
        };
        let block = self.parts[index].load(blocks, BlockType::BloomChunk, trace, check)?;
        let bits = block.bits();
        Ok(match ribbon {
            Some(ribbon) => ribbon.may_contain(bits, pair),
            None => hbase::may_contain(bits, self.meta.hash_count, pair),
        })
    }
}

#[cfg(test)]
mod tests;
