//! The filters of an open file, asked before any of its other blocks is touched.
//!
//! ```text
//! our filter   META blocks `filter.row…`                one block a row, one hash for all files
//! HBase Bloom  meta (in memory) ──first keys──→ chunk    the hash pair of HBase
//! ```
//!
//! A filter block that was read once is kept as long as the cache grants the room for it, or for good
//! if it is pinned. A filter that cannot be read never hides a row: HBase's is asked in place of ours,
//! or the file is looked into, and the trace says so.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use filter::bloom::hbase::{self, HashPair, HashType};
use filter::{KeyHash, Membership, Seed, StoredFilter};

use super::blocks::{Blocks, Wanted};
use super::row_filter::RowFilter;
use super::{Caching, FilterUse};
use crate::block::bloom::{BloomChunk, BloomMeta};
use crate::block::index::BlockPlace;
use crate::block::loaded::Block;
use crate::block::meta::MetaBlock;
use crate::cache::Reservation;
use crate::order::Comparator;
use crate::row_heads::RowHeads;
use crate::{
    BlockKind, BlockSource, BlockType, BloomType, Damage, FileInfo, KeyRef, ReadTrace, Result,
    RowProbe,
};

/// What a filter says about a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FilterAnswer {
    /// The file does not hold it.
    No,
    /// The file may hold it.
    Maybe,
    /// No filter could answer: there is none for such a question, or it could not be read.
    NotAsked,
}

impl FilterAnswer {
    #[inline]
    fn counted(may_contain: bool, trace: &mut ReadTrace) -> Self {
        trace.filter_checks += 1;
        trace.files_skipped_by_filter += u64::from(!may_contain);
        if may_contain { Self::Maybe } else { Self::No }
    }
}

/// A filter that its reader keeps in memory, and a row to ask it about.
#[derive(Clone, Copy, Debug)]
pub struct KeptFilter<'a> {
    filter: &'a StoredFilter<Bytes>,
    hash: KeyHash,
    bytes: usize,
}

impl<'a> KeptFilter<'a> {
    /// Sends for what the filter will look at.
    #[inline]
    pub(super) fn prefetched(
        filter: &'a StoredFilter<Bytes>,
        probe: &RowProbe<'_>,
        bytes: usize,
    ) -> Self {
        let hash = probe.key_hash(filter.seed());
        filter.prefetch(hash);
        Self { filter, hash, bytes }
    }

    /// Asks it; counts the question and the filter's block.
    #[inline]
    pub fn ask(&self, trace: &mut ReadTrace) -> FilterAnswer {
        trace.touch(BlockKind::Meta, BlockSource::Cache, self.bytes);
        FilterAnswer::counted(self.filter.may_contain(self.hash), trace)
    }
}

/// A filter of ours that is one block and in memory, for as long as anybody holds it. Who asks many
/// files holds theirs side by side, and needs to look at no file.
#[derive(Clone, Debug)]
pub struct SharedFilter {
    filter: StoredFilter<Bytes>,
    bytes: usize,
}

impl SharedFilter {
    pub(super) const fn new(filter: StoredFilter<Bytes>, bytes: usize) -> Self {
        Self { filter, bytes }
    }

    /// Sends for what the filter will look at when it is asked about a row.
    #[inline]
    pub fn prefetch(&self, probe: &RowProbe<'_>) {
        self.filter.prefetch(probe.key_hash(self.filter.seed()));
    }

    /// Asks it about a row; counts the question and the filter's block.
    #[inline]
    pub fn ask(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        let hash = probe.key_hash(self.filter.seed());
        KeptFilter { filter: &self.filter, hash, bytes: self.bytes }.ask(trace)
    }
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

/// Our own filter of a file, in numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FilterSummary {
    /// Which filter it is.
    pub kind: filter::FilterKind,
    /// Blocks it stands in, an index beside them not counted.
    pub block_count: usize,
    /// Keys in it.
    pub key_count: u64,
    /// Bits for each key; 0 without keys.
    pub bits_per_key: f64,
    /// How often it says "maybe" about a row it does not hold.
    pub error_rate: f64,
    /// Bytes of its blocks.
    pub byte_size: u64,
}

/// A Bloom filter in chunks, the chunks loaded when they are asked.
#[derive(Debug)]
pub(super) struct ChunkedBloom {
    pub(super) bloom_type: BloomType,
    hash_type: HashType,
    meta: BloomMeta,
    /// Of the chunks' first keys, where these are rows or their prefixes.
    heads: RowHeads,
    last_key: Option<Vec<u8>>,
    kept: Box<[OnceLock<Kept>]>,
}

/// A filter block that the reader keeps, and the room for it in the cache's budget.
#[derive(Debug)]
pub(super) struct Kept {
    block: Arc<Block>,
    /// A block that is pinned is kept even where there is none.
    _room: Option<Reservation>,
}

impl Kept {
    pub(super) fn filter(&self) -> Option<&StoredFilter<Bytes>> {
        filter_in(&self.block)
    }

    pub(super) fn bytes(&self) -> usize {
        self.block.bytes()
    }
}

impl ChunkedBloom {
    /// Takes what a Bloom meta block says; refuses hashes that nobody knows.
    pub(super) fn new(
        meta: BloomMeta,
        bloom_type: BloomType,
        file_info: &FileInfo,
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
        let kept = meta.chunks.iter().map(|_| OnceLock::new()).collect();
        let rows = if flat { &[] } else { &meta.chunks[..] };
        let heads = RowHeads::new(rows.iter().map(|chunk| &chunk.first_key[..]));
        Ok(Self { bloom_type, hash_type, meta, heads, last_key, kept })
    }

    /// A filter over the rows with family deletes: nothing is said about its last key.
    pub(super) fn over_deletes(meta: BloomMeta) -> Result<Self, String> {
        Self::new(meta, BloomType::Row, &FileInfo::default())
    }

    pub(super) fn summary(&self) -> BloomSummary {
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

    /// Asks about the row, or about the column if the probe has one. `None` if the filter knows
    /// nothing about such a question.
    #[inline]
    pub(super) fn ask(
        &self,
        blocks: &Blocks,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<bool>> {
        let last_key = self.last_key.as_deref();
        match self.bloom_type {
            BloomType::None => Ok(None),
            BloomType::Row => {
                let row = probe.row();
                if last_key.is_some_and(|last| Comparator::Bytes.compare_rows(row, last).is_gt()) {
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
    pub(super) fn ask_exactly(
        &self,
        blocks: &Blocks,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<bool>> {
        let Some([(key, pair), _]) =
            probe.column_keys(self.hash_type).filter(|_| self.bloom_type == BloomType::RowCol)
        else {
            return self.ask(blocks, probe, trace);
        };
        if KeyRef::parse(key) > self.last_key.as_deref().and_then(KeyRef::parse) {
            return Ok(Some(false));
        }
        self.contains(blocks, self.find_flat(key), pair, trace).map(Some)
    }

    /// Loads all chunks. What cannot be read now is met again by who asks it.
    fn load(&self, blocks: &Blocks) {
        for (chunk, kept) in self.meta.chunks.iter().zip(&self.kept) {
            let trace = &mut ReadTrace::default();
            let _ = load_and_keep(blocks, chunk.block, Wanted::BloomChunk, kept, trace);
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
        blocks: &Blocks,
        chunk: Option<usize>,
        pair: HashPair,
        trace: &mut ReadTrace,
    ) -> Result<bool> {
        let Some(index) = chunk else { return Ok(false) };
        let place = self.meta.chunks[index].block;
        let block = load_and_keep(blocks, place, Wanted::BloomChunk, &self.kept[index], trace)?;
        let Block::Chunk(bits) = block.as_ref() else { return Ok(true) };
        if let Some(ribbon) = self.meta.ribbon.get(index) {
            if bits.len() as u64 != ribbon.byte_len() {
                let what = "is not as large as the ribbon that the meta block describes";
                let damage = Damage::in_block(BlockType::BloomChunk, place.offset, what);
                return Err(damage.in_file(&blocks.name));
            }
            return Ok(ribbon.may_contain(bits, pair));
        }
        Ok(hbase::may_contain(bits, self.meta.hash_count, pair))
    }
}

/// A filter block, from the reader's own keeping, the cache, or the file.
#[inline]
pub(super) fn load_and_keep<'a>(
    blocks: &Blocks,
    place: BlockPlace,
    wanted: Wanted,
    kept: &'a OnceLock<Kept>,
    trace: &mut ReadTrace,
) -> Result<Held<'a>> {
    if let Some(kept) = kept.get() {
        trace.touch(wanted.kind(), BlockSource::Cache, kept.block.bytes());
        return Ok(Held::Kept(&kept.block));
    }
    keep_loaded(blocks, place, wanted, kept, trace)
}

/// Loads a filter block that is not kept, and keeps it if there is room.
#[inline(never)]
fn keep_loaded<'a>(
    blocks: &Blocks,
    place: BlockPlace,
    wanted: Wanted,
    kept: &OnceLock<Kept>,
    trace: &mut ReadTrace,
) -> Result<Held<'a>> {
    let block = blocks.load(place, wanted, Caching::Use, trace, |_| Ok(()))?;
    let cache = blocks.cache.as_ref();
    let room = cache.and_then(|cache| {
        let bytes = block.bytes() as u64;
        if blocks.pin_filters { Some(cache.reserve_pinned(bytes)) } else { cache.reserve(bytes) }
    });
    if room.is_some() || blocks.pin_filters {
        // Another thread may have kept it at the same time; its room is then given back.
        let _ = kept.set(Kept { block: Arc::clone(&block), _room: room });
        if let Some(cache) = cache {
            cache.forget(blocks.key(place));
        }
    }
    Ok(Held::Loaded(block))
}

/// A block without a count of references where the reader keeps it anyway.
pub(super) enum Held<'a> {
    Kept(&'a Block),
    Loaded(Arc<Block>),
}

impl Held<'_> {
    fn as_ref(&self) -> &Block {
        match self {
            Self::Kept(block) => block,
            Self::Loaded(block) => block,
        }
    }

    pub(super) fn filter(&self) -> Option<&StoredFilter<Bytes>> {
        filter_in(self.as_ref())
    }
}

/// The filter of ours that a block holds.
fn filter_in(block: &Block) -> Option<&StoredFilter<Bytes>> {
    match block {
        Block::Meta(MetaBlock { filter, .. }) => filter.as_ref(),
        _ => None,
    }
}

/// The filters of a file.
#[derive(Debug, Default)]
pub(super) struct FileFilters {
    pub(super) row_filter: Option<RowFilter>,
    pub(super) bloom: Option<ChunkedBloom>,
    pub(super) delete_family_bloom: Option<ChunkedBloom>,
    /// Why the file's Bloom filter cannot be used, if it cannot.
    pub(super) problem: Option<crate::Damage>,
}

impl FileFilters {
    /// Our own filter, if it is to be used.
    fn row_filter(&self, filter_use: FilterUse) -> Option<&RowFilter> {
        let wanted = matches!(filter_use, FilterUse::Best | FilterUse::MetaFilter);
        self.row_filter.as_ref().filter(|_| wanted)
    }

    /// Loads the filters that are to be used, so that they are pinned.
    pub(super) fn load(&self, filter_use: FilterUse, blocks: &Blocks) {
        if let Some(filter) = self.row_filter(filter_use) {
            filter.load(blocks);
        } else if let Some(bloom) = &self.bloom
            && matches!(filter_use, FilterUse::Best | FilterUse::HBaseBloom)
        {
            bloom.load(blocks);
        }
    }

    /// A filter of ours that its reader keeps, on its way to the processor.
    pub(super) fn prefetched(
        &self,
        filter_use: FilterUse,
        probe: &RowProbe<'_>,
    ) -> Option<KeptFilter<'_>> {
        self.row_filter(filter_use)?.prefetched(probe)
    }

    /// A filter of ours that its reader keeps and that is one block.
    pub(super) fn shared(&self, filter_use: FilterUse) -> Option<SharedFilter> {
        self.row_filter(filter_use)?.shared()
    }

    /// Asks the filter that is to be used; HBase's in place of ours where that cannot be read.
    pub(super) fn ask(
        &self,
        filter_use: FilterUse,
        blocks: &Blocks,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let bloom_use = matches!(filter_use, FilterUse::Best | FilterUse::HBaseBloom);
        let ours = self.row_filter(filter_use).map(|it| it.may_contain(blocks, probe, trace));
        trace.filters_unreadable += u64::from(matches!(ours, Some(Ok(None) | Err(_))));
        let answer = if let Some(Ok(Some(answer))) = ours {
            Ok(Some(answer))
        } else if let Some(bloom) = self.bloom.as_ref().filter(|_| bloom_use) {
            bloom.ask(blocks, probe, trace)
        } else {
            trace.filters_unreadable += u64::from(bloom_use && self.problem.is_some());
            Ok(None)
        };
        Self::count(&answer, trace)
    }

    /// Whether the filter that is to be used is over columns, and not over rows.
    pub(super) fn is_over_columns(&self, filter_use: FilterUse) -> bool {
        let bloom_use = matches!(filter_use, FilterUse::Best | FilterUse::HBaseBloom);
        let bloom = self.bloom.as_ref().filter(|_| bloom_use);
        self.row_filter(filter_use).is_none()
            && bloom.is_some_and(|bloom| bloom.bloom_type == BloomType::RowCol)
    }

    /// Asks about all rows that begin with `prefix`, which only a Bloom filter over prefixes no
    /// longer than this can tell.
    pub(super) fn ask_prefix(
        &self,
        filter_use: FilterUse,
        blocks: &Blocks,
        prefix: &[u8],
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let bloom_use = matches!(filter_use, FilterUse::Best | FilterUse::HBaseBloom);
        let knows = |bloom: &&ChunkedBloom| {
            matches!(bloom.bloom_type, BloomType::RowPrefixFixedLength(len)
                if prefix.len() >= usize::from(len))
        };
        let bloom = self.bloom.as_ref().filter(|_| bloom_use).filter(knows);
        let probe = RowProbe::new(prefix, Seed::default());
        let answer = bloom.map_or(Ok(None), |bloom| bloom.ask(blocks, &probe, trace));
        Self::count(&answer, trace)
    }

    fn count(answer: &Result<Option<bool>>, trace: &mut ReadTrace) -> FilterAnswer {
        match answer {
            Ok(None) => FilterAnswer::NotAsked,
            Ok(Some(may_contain)) => FilterAnswer::counted(*may_contain, trace),
            Err(_) => {
                trace.filters_unreadable += 1;
                FilterAnswer::NotAsked
            }
        }
    }
}

#[cfg(test)]
mod tests;
