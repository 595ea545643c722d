//! This project's filter over the rows of an open file, in META blocks that HBase ignores.
//!
//! ```text
//! whole        one META block, `filter.row`
//! partitioned  `filter.row.index` ──first rows──→ one partition, such as `filter.row.00000017`
//! ```
//!
//! A filter block is used only after its identity is checked. Otherwise, a sound block of another partition or
//! file would answer "no" for rows that this file has. The file info states the identity of the
//! filter ([`FileInfo::ROW_FILTER_ID`](crate::FileInfo::ROW_FILTER_ID)), and the [`FilterIndex`]
//! states the identity of each partition. Without the identity in the file info, the blocks are no filter.
//!
//! A damaged block is read once. From then on, the filter is unreadable for its rows.

use std::sync::OnceLock;

use bytes::Bytes;
use cells::BlockOffset;
use filter::engine::Membership;
use filter::{FilterKind, StoredFilter};

use super::filter_answer::FilterAnswer;
use super::lazy_block::{LazyFilterBlock, offset_before};
use crate::block::filter_index::{
    FILTER_INDEX_NAME, FilterIndex, Partition, index_checksum, partition_name,
};
use crate::block::header::BlockHeader;
use crate::block::index_entry::{BlockHandle, MetaIndex};
use crate::block::meta::{FilterBlock, MetaBlock, ROW_FILTER_NAME};
use crate::cache::Reservation;
use crate::error::{BlockType, Damage, Error, Result};
use crate::file::file_info::FilterId;
use crate::file::load_block::BlockReader;
use crate::file::options::Caching;
use crate::probe::RowProbe;
use crate::trace::ReadTrace;

/// A summary of this project's filter over the rows of a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FilterSummary {
    /// The kind of filter.
    pub kind: FilterKind,
    /// The number of blocks with a filter, without the index of a partitioned filter.
    pub block_count: usize,
    /// The number of keys (rows).
    pub key_count: u64,
    /// Bits per key; 0 without keys.
    pub bits_per_key: f64,
    /// The expected share of "maybe" answers for rows that the filter does not contain.
    pub error_rate: f64,
    /// Bytes of the filter in all blocks.
    pub byte_size: u64,
}

/// This project's filter over the rows of a file.
#[derive(Debug)]
pub(crate) struct RowFilter {
    layout: Layout,
    /// The first row of the file, which must also be the first row of the first partition.
    first_row: Box<[u8]>,
}

#[derive(Debug)]
enum Layout {
    Whole { filter_block: LazyFilterBlock<FilterBlock>, id: FilterId },
    Partitioned(Box<Partitioned>),
}

/// A partitioned filter.
#[derive(Debug)]
struct Partitioned {
    index: BlockHandle,
    /// The offset of the META block before the index.
    previous: Option<BlockOffset>,
    id: FilterId,
    /// The partitions' locations, each with the offset of the META block before the partition.
    ///
    /// By partition number, which is the order of the first rows.
    places: Vec<(BlockHandle, Option<BlockOffset>)>,
    loaded: OnceLock<LoadedPartitions>,
    /// The damage to the index, if a read has found any.
    damage: OnceLock<Damage>,
    /// The damage to a partition that reads had found before the filter was unloaded.
    known_damage: Option<Damage>,
}

/// The index of a partitioned filter, in memory, and the partitions, loaded at their first use.
#[derive(Debug)]
struct LoadedPartitions {
    index: FilterIndex,
    filter_blocks: Box<[LazyFilterBlock<FilterBlock>]>,
    /// Counts the index against the cache's budget. `None` without a cache, or if the cache has no
    /// room; the index stays in memory nevertheless.
    _room: Option<Reservation>,
}

impl Partitioned {
    /// Returns damage that reads have found in a partition.
    fn partition_damage(&self) -> Option<&Damage> {
        let filter_blocks = self.loaded.get().map_or(&[][..], |loaded| &loaded.filter_blocks);
        let found = filter_blocks.iter().find_map(LazyFilterBlock::damage);
        found.or(self.known_damage.as_ref())
    }
}

impl RowFilter {
    /// Finds the filter among a file's META blocks, without reading a block.
    ///
    /// `id` is the identity that the file info states.
    pub(crate) fn find(metas: &MetaIndex, first_row: &[u8], id: FilterId) -> Option<Self> {
        let mut chain: Vec<BlockOffset> = metas.iter().map(|(_, handle)| handle.offset).collect();
        chain.sort_unstable();
        let handle = |name: &str| {
            let found = metas.binary_search_by(|(known, _)| known[..].cmp(name.as_bytes()));
            let handle = metas[found.ok()?].1;
            Some((handle, offset_before(&chain, handle.offset)))
        };
        let layout = if let Some((whole, previous)) = handle(ROW_FILTER_NAME) {
            Layout::Whole { filter_block: LazyFilterBlock::new(whole, previous), id }
        } else {
            let (index, previous) = handle(FILTER_INDEX_NAME)?;
            let places = (0..).map_while(|number| handle(&partition_name(number))).collect();
            let (loaded, damage) = (OnceLock::new(), OnceLock::new());
            Layout::Partitioned(Box::new(Partitioned {
                index,
                previous,
                id,
                places,
                loaded,
                damage,
                known_damage: None,
            }))
        };
        Some(Self { layout, first_row: first_row.into() })
    }

    /// Returns the same filter without blocks in memory. Keeps the damage that reads have found.
    pub(crate) fn unloaded(&self) -> Self {
        let layout = match &self.layout {
            Layout::Whole { filter_block, id } => {
                Layout::Whole { filter_block: filter_block.unloaded(), id: *id }
            }
            Layout::Partitioned(partitioned) => {
                let Partitioned { index, previous, id, places, damage, .. } = &**partitioned;
                Layout::Partitioned(Box::new(Partitioned {
                    index: *index,
                    previous: *previous,
                    id: *id,
                    places: places.clone(),
                    loaded: OnceLock::new(),
                    damage: damage.clone(),
                    known_damage: partitioned.partition_damage().cloned(),
                }))
            }
        };
        Self { layout, first_row: self.first_row.clone() }
    }

    /// Returns whether a block of the filter, or its index, stays in memory.
    pub(crate) fn is_loaded(&self) -> bool {
        match &self.layout {
            Layout::Whole { filter_block, .. } => filter_block.resident().is_some(),
            Layout::Partitioned(partitioned) => partitioned.loaded.get().is_some(),
        }
    }

    /// Returns damage that reads have found in the filter; that of its first block if several.
    pub(crate) fn problem(&self) -> Option<&Damage> {
        match &self.layout {
            Layout::Whole { filter_block, .. } => filter_block.damage(),
            Layout::Partitioned(partitioned) => {
                partitioned.damage.get().or_else(|| partitioned.partition_damage())
            }
        }
    }

    /// Returns whether the file may hold the row.
    pub(crate) fn ask(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> FilterAnswer {
        let question = |filter: &StoredFilter<Bytes>| {
            FilterAnswer::of(Membership::may_contain(filter, probe.key_hash(filter.seed())))
        };
        let answer = match &self.layout {
            Layout::Whole { filter_block, id } => {
                ask(filter_block, ExpectedFilter::whole(*id), blocks, trace, question)
            }
            Layout::Partitioned(partitioned) => {
                self.partitions(partitioned, blocks, trace).and_then(|partitions| {
                    match partitions.index.find(probe.row()) {
                        // The row is less than all rows of the file.
                        None => Ok(FilterAnswer::No),
                        Some(number) => partitions.ask(number, blocks, trace, question),
                    }
                })
            }
        };
        answer.unwrap_or(FilterAnswer::Unreadable)
    }

    /// Returns the filter block that covers the row, if the block is resident.
    pub(crate) fn resident(&self, probe: &RowProbe<'_>) -> Option<&FilterBlock> {
        match &self.layout {
            Layout::Whole { filter_block, .. } => filter_block.resident(),
            Layout::Partitioned(partitioned) => {
                let partitions = partitioned.loaded.get()?;
                partitions.filter_blocks[partitions.index.find(probe.row())?].resident()
            }
        }
    }

    /// Returns the filter, if it is not partitioned and its block is resident.
    pub(crate) fn resident_whole(&self) -> Option<&FilterBlock> {
        let Layout::Whole { filter_block, .. } = &self.layout else { return None };
        filter_block.resident()
    }

    /// Returns a summary of the filter.
    pub(crate) fn summary(&self, blocks: &BlockReader) -> Result<FilterSummary> {
        let trace = &mut ReadTrace::default();
        match &self.layout {
            Layout::Whole { filter_block, id } => {
                ask(filter_block, ExpectedFilter::whole(*id), blocks, trace, |filter| {
                    FilterSummary {
                        kind: filter.kind(),
                        block_count: 1,
                        key_count: filter.len(),
                        bits_per_key: filter.bits_per_key(),
                        error_rate: filter.error_rate(),
                        byte_size: filter.as_bytes().len() as u64,
                    }
                })
            }
            Layout::Partitioned(partitioned) => {
                let LoadedPartitions { index, .. } = self.partitions(partitioned, blocks, trace)?;
                let headers = (index.partitions.len() * filter::engine::HEADER_LEN) as u64;
                let bits = index.byte_size().saturating_sub(headers) as f64 * 8.0;
                Ok(FilterSummary {
                    kind: index.kind,
                    block_count: index.partitions.len(),
                    key_count: index.key_count(),
                    bits_per_key: bits / index.key_count() as f64,
                    error_rate: index.error_rate,
                    byte_size: index.byte_size(),
                })
            }
        }
    }

    /// Loads all blocks of the filter, which makes them resident if they are pinned.
    ///
    /// Ignores errors: a lookup that needs an unreadable block handles them.
    pub(crate) fn load(&self, blocks: &BlockReader) {
        let trace = &mut ReadTrace::default();
        match &self.layout {
            Layout::Whole { filter_block, id } => {
                let _ = ask(filter_block, ExpectedFilter::whole(*id), blocks, trace, |_| ());
            }
            Layout::Partitioned(partitioned) => {
                if let Ok(partitions) = self.partitions(partitioned, blocks, trace) {
                    for number in 0..partitions.filter_blocks.len() {
                        let _ = partitions.ask(number, blocks, trace, |_| ());
                    }
                }
            }
        }
    }

    /// Reads all blocks of the filter, and returns the damage found.
    ///
    /// If `row_count` is known, the filter must have this number of keys.
    pub(crate) fn check(
        &self,
        blocks: &BlockReader,
        row_count: Option<u64>,
    ) -> Result<Vec<Damage>> {
        let trace = &mut ReadTrace::default();
        let (at, keys, damaged) = match &self.layout {
            Layout::Whole { filter_block, id } => {
                let expected = ExpectedFilter::whole(*id);
                let keys = ask(filter_block, expected, blocks, trace, StoredFilter::len);
                let damaged = filter_block.damage().into_iter().cloned().collect();
                (filter_block.handle(), unless_damaged(keys)?, damaged)
            }
            Layout::Partitioned(partitioned) => {
                let partitions = self.partitions(partitioned, blocks, trace);
                let Some(partitions) = unless_damaged(partitions)? else {
                    return Ok(partitioned.damage.get().into_iter().cloned().collect());
                };
                for number in 0..partitions.filter_blocks.len() {
                    unless_damaged(partitions.ask(number, blocks, trace, |_| ()))?;
                }
                let damaged = partitions.filter_blocks.iter().filter_map(LazyFilterBlock::damage);
                (partitioned.index, Some(partitions.index.key_count()), damaged.cloned().collect())
            }
        };
        let mut problems: Vec<Damage> = damaged;
        if let Some((keys, rows)) = keys.zip(row_count).filter(|(keys, rows)| keys != rows) {
            let what = format!("a filter of {keys} rows, but the file has {rows}");
            problems.push(Damage::in_block(BlockType::Meta, at.offset, what));
        }
        Ok(problems)
    }

    /// Returns the partitions. The first call reads the index; damage to it is found only once.
    fn partitions<'a>(
        &self,
        partitioned: &'a Partitioned,
        blocks: &BlockReader,
        trace: &mut ReadTrace,
    ) -> Result<&'a LoadedPartitions> {
        if let Some(partitions) = partitioned.loaded.get() {
            return Ok(partitions);
        }
        if let Some(damage) = partitioned.damage.get() {
            return Err(damage.clone().in_file(&blocks.name));
        }
        let loaded = LoadedPartitions::load(partitioned, &self.first_row, blocks, trace);
        if let Err(Error::Corrupt { damage, .. }) = &loaded {
            // Fails only if another thread has already set the same damage.
            let _ = partitioned.damage.set(damage.clone());
        }
        let loaded = loaded?;
        Ok(partitioned.loaded.get_or_init(|| loaded))
    }
}

/// Returns `None` in place of an error that says that a block is damaged.
fn unless_damaged<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(Error::Corrupt { .. }) => Ok(None),
        result => result.map(Some),
    }
}

/// The properties that a filter block must have to be the block that the file means.
///
/// The file info states the identity of a whole filter, the filter index that of a partition. Only the index also states
/// the length and the kind.
#[derive(Clone, Copy, Debug)]
struct ExpectedFilter {
    id: FilterId,
    len_and_kind: Option<(u32, FilterKind)>,
}

impl ExpectedFilter {
    /// Returns the properties of a filter in one block.
    const fn whole(id: FilterId) -> Self {
        Self { id, len_and_kind: None }
    }

    fn check(self, filter: &StoredFilter<Bytes>) -> Result<(), &'static str> {
        let own = FilterId { keys: filter.len(), checksum: filter.checksum() };
        let has_len_and_kind = self.len_and_kind.is_none_or(|(len, kind)| {
            u64::from(len) == filter.as_bytes().len() as u64 && kind == filter.kind()
        });
        if own == self.id && has_len_and_kind {
            Ok(())
        } else {
            Err("is another filter than the file has here")
        }
    }
}

/// Loads a filter block, and returns the result of `question` for its filter.
fn ask<R>(
    filter_block: &LazyFilterBlock<FilterBlock>,
    expected: ExpectedFilter,
    blocks: &BlockReader,
    trace: &mut ReadTrace,
    question: impl FnOnce(&StoredFilter<Bytes>) -> R,
) -> Result<R> {
    let check = |block: &FilterBlock| expected.check(block.filter());
    let block = filter_block.load(blocks, BlockType::Meta, trace, check)?;
    Ok(question(block.filter()))
}

impl LoadedPartitions {
    fn load(
        partitioned: &Partitioned,
        first_row: &[u8],
        blocks: &BlockReader,
        trace: &mut ReadTrace,
    ) -> Result<Self> {
        let check = |_: &MetaBlock, header: &BlockHeader| {
            if header.previous_block == partitioned.previous {
                return Ok(());
            }
            Err("is not the filter index of the file: its `previous` offset is another one")
        };
        let block = blocks.load(
            partitioned.index.of_type(BlockType::Meta),
            Caching::Bypass,
            trace,
            check,
        )?;
        let body = block.body();
        let damaged = |what| blocks.damaged(partitioned.index, BlockType::Meta, what);
        let index = FilterIndex::parse(body).map_err(damaged)?;
        let own = FilterId { keys: index.key_count(), checksum: index_checksum(body) };
        if partitioned.id != own {
            return Err(damaged("is another filter index than the file has here".into()));
        }
        if index.partitions.len() != partitioned.places.len() {
            let (stated, is) = (index.partitions.len(), partitioned.places.len());
            return Err(damaged(
                format!("{stated} partitions in the filter index, but {is} in the file").into(),
            ));
        }
        // With a greater first row, the answer for the file's rows before it would be "no".
        if index.partitions.first().is_none_or(|first| first.first_row[..] != *first_row) {
            let what = "the filter index does not begin with the first row of the file";
            return Err(damaged(what.into()));
        }
        let bytes = (block.bytes() + index.bytes()) as u64;
        let room = blocks.cache.as_ref().and_then(|cache| cache.reserve(bytes));
        let filter_block =
            |(handle, previous): &(BlockHandle, _)| LazyFilterBlock::new(*handle, *previous);
        let filter_blocks = partitioned.places.iter().map(filter_block).collect();
        Ok(Self { index, filter_blocks, _room: room })
    }

    /// Returns the result of `question` for the filter of a partition.
    fn ask<R>(
        &self,
        number: usize,
        blocks: &BlockReader,
        trace: &mut ReadTrace,
        question: impl FnOnce(&StoredFilter<Bytes>) -> R,
    ) -> Result<R> {
        let Partition { keys, len, checksum, .. } = self.index.partitions[number];
        let id = FilterId { keys, checksum };
        let expected = ExpectedFilter { id, len_and_kind: Some((len, self.index.kind)) };
        ask(&self.filter_blocks[number], expected, blocks, trace, question)
    }
}

#[cfg(test)]
#[path = "row_filter_tests.rs"]
mod tests;
