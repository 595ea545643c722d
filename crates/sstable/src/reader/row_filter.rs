//! Our own filter over the rows of an open file, whole or in partitions by key range.
//!
//! ```text
//! whole        META block `filter.row`
//! partitioned  `filter.row.index` ──first rows──→ `filter.row.00000017`, and no other partition
//! ```
//!
//! A part that is damaged is not read again: whoever asks it is told at once that it has no answer,
//! and the first damage found is kept for those who want to know.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use filter::{Membership, StoredFilter};

use super::blocks::{Blocks, Wanted};
use super::filters::{KeptFilter, SharedFilter};
use super::kept::{Kept, load_and_keep};
use super::{Caching, MetaIndex};
use crate::block::filter_index::{FILTER_INDEX_NAME, FilterIndex, partition_name};
use crate::block::index::BlockPlace;
use crate::block::loaded::Block;
use crate::block::meta::{MetaBlock, ROW_FILTER_NAME};
use crate::cache::Reservation;
use crate::{BlockType, Damage, Error, ReadTrace, Result, RowProbe};

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

/// Our own filter over the rows of a file.
#[derive(Debug)]
pub(super) struct RowFilter {
    layout: Layout,
    /// The first row of the file, with which its first partition begins.
    first_row: Box<[u8]>,
    /// What is wrong with it, once that is known.
    problem: OnceLock<Damage>,
}

#[derive(Debug)]
enum Layout {
    Whole(Part),
    Partitioned {
        index: BlockPlace,
        /// Where the partitions are, in their order.
        places: Vec<BlockPlace>,
        loaded: OnceLock<Partitions>,
    },
}

/// A filter in a block of its own.
#[derive(Debug)]
struct Part {
    place: BlockPlace,
    kept: OnceLock<Kept>,
    is_damaged: AtomicBool,
}

/// The partitions, once their index is read.
#[derive(Debug)]
struct Partitions {
    index: FilterIndex,
    parts: Box<[Part]>,
    /// The index is small and always kept; its bytes are taken off the budget if there is room.
    _room: Option<Reservation>,
}

impl RowFilter {
    /// Finds the filter among a file's META blocks.
    pub(super) fn find(metas: &MetaIndex, first_row: &[u8]) -> Option<Self> {
        let place = |name: &str| {
            let found = metas.binary_search_by(|(known, _)| known[..].cmp(name.as_bytes()));
            found.ok().map(|at| metas[at].1)
        };
        let layout = if let Some(whole) = place(ROW_FILTER_NAME) {
            Layout::Whole(Part::new(whole))
        } else {
            let index = place(FILTER_INDEX_NAME)?;
            let places = (0..).map_while(|number| place(&partition_name(number))).collect();
            Layout::Partitioned { index, places, loaded: OnceLock::new() }
        };
        Some(Self { layout, first_row: first_row.into(), problem: OnceLock::new() })
    }

    /// What is wrong with it, as far as reads have found out.
    pub(super) fn problem(&self) -> Option<&Damage> {
        self.problem.get()
    }

    /// Whether the file may hold the row; `None` if what would know that is damaged.
    pub(super) fn may_contain(
        &self,
        blocks: &Blocks,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<bool>> {
        let answer =
            |filter: &StoredFilter<Bytes>| filter.may_contain(probe.key_hash(filter.seed()));
        match &self.layout {
            Layout::Whole(part) => self.ask(part, blocks, trace, answer),
            Layout::Partitioned { .. } => {
                let Some(partitions) = self.partitions(blocks, trace)? else { return Ok(None) };
                match partitions.index.find(probe.row()) {
                    // Its rows are all greater.
                    None => Ok(Some(false)),
                    Some(number) => self.ask(&partitions.parts[number], blocks, trace, answer),
                }
            }
        }
    }

    /// The filter that will be asked about a row, where the reader keeps it; what it will look at is
    /// on its way to the processor.
    pub(super) fn prefetched(&self, probe: &RowProbe<'_>) -> Option<KeptFilter<'_>> {
        let part = match &self.layout {
            Layout::Whole(part) => part,
            Layout::Partitioned { loaded, .. } => {
                let partitions = loaded.get()?;
                &partitions.parts[partitions.index.find(probe.row())?]
            }
        };
        let kept = part.kept.get()?;
        Some(KeptFilter::prefetched(kept.filter()?, probe, kept.bytes()))
    }

    /// The filter where it is one block that the reader keeps.
    pub(super) fn shared(&self) -> Option<SharedFilter> {
        let Layout::Whole(part) = &self.layout else { return None };
        let kept = part.kept.get()?;
        Some(SharedFilter::new(kept.filter()?.clone(), kept.bytes()))
    }

    /// The filter in numbers; `None` if it is damaged.
    pub(super) fn summary(&self, blocks: &Blocks) -> Result<Option<FilterSummary>> {
        let trace = &mut ReadTrace::default();
        match &self.layout {
            Layout::Whole(part) => self.ask(part, blocks, trace, |filter| FilterSummary {
                kind: filter.kind(),
                block_count: 1,
                key_count: filter.key_count(),
                bits_per_key: filter.bits_per_key(),
                error_rate: filter.error_rate(),
                byte_size: filter.as_bytes().len() as u64,
            }),
            Layout::Partitioned { .. } => {
                let Some(Partitions { index, .. }) = self.partitions(blocks, trace)? else {
                    return Ok(None);
                };
                let headers = (index.partitions.len() * filter::HEADER_LEN) as u64;
                let bits = index.byte_size().saturating_sub(headers) as f64 * 8.0;
                Ok(Some(FilterSummary {
                    kind: index.kind,
                    block_count: index.partitions.len(),
                    key_count: index.key_count(),
                    bits_per_key: bits / index.key_count() as f64,
                    error_rate: index.error_rate,
                    byte_size: index.byte_size(),
                }))
            }
        }
    }

    /// Loads all its blocks, to be kept from then on if they are pinned. What cannot be read now is
    /// met again by who asks it.
    pub(super) fn load(&self, blocks: &Blocks) {
        let trace = &mut ReadTrace::default();
        let parts = match &self.layout {
            Layout::Whole(part) => std::slice::from_ref(part),
            Layout::Partitioned { .. } => match self.partitions(blocks, trace) {
                Ok(Some(partitions)) => &partitions.parts[..],
                _ => &[],
            },
        };
        for part in parts {
            let _ = self.ask(part, blocks, trace, |_| ());
        }
    }

    /// Reads all of it and says what is wrong beside [`problem`](Self::problem): whether it has all
    /// rows, if it is known how many there are, and what its index says of its partitions.
    pub(super) fn check(&self, blocks: &Blocks, row_count: Option<u64>) -> Result<Vec<Damage>> {
        let trace = &mut ReadTrace::default();
        let mut wrong = Vec::new();
        let mut report = |at: BlockPlace, what: String| {
            wrong.push(Damage::in_block(BlockType::Meta, at.offset, what));
        };
        match &self.layout {
            Layout::Whole(part) => {
                let found = self.ask(part, blocks, trace, StoredFilter::key_count)?;
                if let Some((keys, rows)) = found.zip(row_count).filter(|(keys, rows)| keys != rows)
                {
                    report(part.place, format!("a filter of {keys} rows, not of {rows}"));
                }
            }
            Layout::Partitioned { index: index_at, .. } => {
                if let Some(Partitions { index, parts, .. }) = self.partitions(blocks, trace)? {
                    let mut keys = 0;
                    for (partition, part) in index.partitions.iter().zip(parts) {
                        let found = self.ask(part, blocks, trace, |filter| {
                            (filter.key_count(), filter.as_bytes().len() as u64, filter.kind())
                        })?;
                        let stated = (partition.keys, u64::from(partition.len), index.kind);
                        if let Some(found) = found.filter(|found| *found != stated) {
                            let what = format!("{found:?}, where the index has {stated:?}");
                            report(part.place, format!("a filter of rows, bytes, kind {what}"));
                        }
                        keys += partition.keys;
                    }
                    if let Some(rows) = row_count.filter(|rows| *rows != keys) {
                        let what = format!("filters of {keys} rows, not of {rows}");
                        report(*index_at, what);
                    }
                }
            }
        }
        Ok(wrong)
    }

    /// Asks one filter; `None` if it is damaged.
    fn ask<R>(
        &self,
        part: &Part,
        blocks: &Blocks,
        trace: &mut ReadTrace,
        ask: impl FnOnce(&StoredFilter<Bytes>) -> R,
    ) -> Result<Option<R>> {
        if part.is_damaged.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match load_and_keep(blocks, part.place, Wanted::Filter, &part.kept, trace) {
            Ok(held) => Ok(held.filter().map(ask)),
            Err(error) => {
                self.remember(error)?;
                part.is_damaged.store(true, Ordering::Relaxed);
                Ok(None)
            }
        }
    }

    /// The partitions, whose index is read by the first who asks; `None` if it is damaged.
    fn partitions(&self, blocks: &Blocks, trace: &mut ReadTrace) -> Result<Option<&Partitions>> {
        let Layout::Partitioned { index, places, loaded } = &self.layout else { return Ok(None) };
        if let Some(partitions) = loaded.get() {
            return Ok(Some(partitions));
        }
        if self.problem.get().is_some() {
            return Ok(None);
        }
        match Partitions::load(*index, places, &self.first_row, blocks, trace) {
            Ok(partitions) => Ok(Some(loaded.get_or_init(|| partitions))),
            Err(error) => self.remember(error).map(|()| None),
        }
    }

    /// Keeps damage in mind; gives back an error that may be over the next time.
    fn remember(&self, error: Error) -> Result<()> {
        match error {
            Error::Corrupt { damage, .. } => {
                let _ = self.problem.set(damage); // The first is enough.
                Ok(())
            }
            error => Err(error),
        }
    }
}

impl Part {
    fn new(place: BlockPlace) -> Self {
        Self { place, kept: OnceLock::new(), is_damaged: AtomicBool::new(false) }
    }
}

impl Partitions {
    fn load(
        place: BlockPlace,
        places: &[BlockPlace],
        first_row: &[u8],
        blocks: &Blocks,
        trace: &mut ReadTrace,
    ) -> Result<Self> {
        let block = blocks.load(place, Wanted::Meta, Caching::Bypass, trace, |_| Ok(()))?;
        let index = match &*block {
            Block::Meta(MetaBlock { body, .. }) => FilterIndex::parse(body),
            _ => Err("no META block".into()),
        };
        let damaged = |what| blocks.damaged(place, BlockType::Meta, what);
        let index = index.map_err(damaged)?;
        if index.partitions.len() != places.len() {
            let (stated, is) = (index.partitions.len(), places.len());
            return Err(damaged(format!("{stated} partitions, of which {is} are there").into()));
        }
        // Else it would deny the rows before it.
        if index.partitions.first().is_none_or(|first| first.first_row[..] != *first_row) {
            let what = "the filter index does not begin with the first row of the file";
            return Err(damaged(what.into()));
        }
        let bytes = (block.bytes() + index.bytes()) as u64;
        let room = blocks.cache.as_ref().and_then(|cache| cache.reserve(bytes));
        let parts = places.iter().copied().map(Part::new).collect();
        Ok(Self { index, parts, _room: room })
    }
}

#[cfg(test)]
mod tests;
