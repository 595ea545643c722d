//! Our own filter over the rows of an open file, whole or in partitions by key range.
//!
//! ```text
//! whole        META block `filter.row`
//! partitioned  `filter.row.index` ──first rows──→ `filter.row.00000017`, and no other partition
//! ```
//!
//! A block that comes from the file is used only if it is the part that belongs there: a sound block of
//! another part, or of another file, would deny rows. Files say which filter they have
//! ([`FileInfo::ROW_FILTER_ID`](crate::FileInfo::ROW_FILTER_ID)) and which partitions
//! ([`FilterIndex`]). Older files state less; what they state is checked. A damaged part is read once, and
//! then answers "maybe".

use std::sync::OnceLock;

use bytes::Bytes;
use filter::{FilterKind, Membership, StoredFilter};

use super::file_filters::ResidentFilter;
use super::kept::{FilterPart, offset_before};
use crate::block::filter_index::{
    FILTER_INDEX_NAME, FilterIndex, Partition, index_checksum, partition_name,
};
use crate::block::header::Header;
use crate::block::index::BlockHandle;
use crate::block::meta::{FilterBlock, MetaBlock, ROW_FILTER_NAME};
use crate::cache::Reservation;
use crate::file::block_reader::BlockReader;
use crate::file::open_file::MetaIndex;
use crate::file::options::Caching;
use crate::{BlockOffset, BlockType, Damage, Error, ReadTrace, Result, RowProbe};

/// Our own filter of a file, in numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FilterSummary {
    /// Which filter it is.
    pub kind: FilterKind,
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
pub(crate) struct RowFilter {
    layout: Layout,
    /// The first row of the file, with which its first partition begins.
    first_row: Box<[u8]>,
}

#[derive(Debug)]
enum Layout {
    Whole {
        part: FilterPart<FilterBlock>,
        /// Keys and checksum, if the file says.
        id: Option<(u64, u64)>,
    },
    Partitioned(Box<Partitioned>),
}

/// A filter in partitions.
#[derive(Debug)]
struct Partitioned {
    index: BlockHandle,
    /// The META block in front of the index.
    previous: Option<BlockOffset>,
    /// Keys, and the checksum of the index, if the file says.
    id: Option<(u64, u64)>,
    /// Where the partitions are, in their order, each with the META block in front of it.
    places: Vec<(BlockHandle, Option<BlockOffset>)>,
    loaded: OnceLock<Partitions>,
    /// What is wrong with the index, once that is known.
    damage: OnceLock<Damage>,
}

/// The partitions, once their index is read.
#[derive(Debug)]
struct Partitions {
    index: FilterIndex,
    parts: Box<[FilterPart<FilterBlock>]>,
    /// The index is small and always kept; its bytes are taken off the budget if there is room.
    _room: Option<Reservation>,
}

impl RowFilter {
    /// Finds the filter among a file's META blocks. `id` has its keys and checksum, if the file says.
    pub(crate) fn find(
        metas: &MetaIndex,
        first_row: &[u8],
        id: Option<(u64, u64)>,
    ) -> Option<Self> {
        let mut chain: Vec<BlockOffset> = metas.iter().map(|(_, place)| place.offset).collect();
        chain.sort_unstable();
        let place = |name: &str| {
            let found = metas.binary_search_by(|(known, _)| known[..].cmp(name.as_bytes()));
            let place = metas[found.ok()?].1;
            Some((place, offset_before(&chain, place.offset)))
        };
        let layout = if let Some((whole, previous)) = place(ROW_FILTER_NAME) {
            Layout::Whole { part: FilterPart::new(whole, previous), id }
        } else {
            let (index, previous) = place(FILTER_INDEX_NAME)?;
            let places = (0..).map_while(|number| place(&partition_name(number))).collect();
            let (loaded, damage) = (OnceLock::new(), OnceLock::new());
            Layout::Partitioned(Box::new(Partitioned {
                index,
                previous,
                id,
                places,
                loaded,
                damage,
            }))
        };
        Some(Self { layout, first_row: first_row.into() })
    }

    /// What is wrong with it, as far as reads have found out.
    pub(crate) fn problem(&self) -> Option<&Damage> {
        match &self.layout {
            Layout::Whole { part, .. } => part.damage(),
            Layout::Partitioned(it) => {
                let parts = it.loaded.get().map_or(&[][..], |loaded| &loaded.parts);
                it.damage.get().or_else(|| parts.iter().find_map(FilterPart::damage))
            }
        }
    }

    /// Whether the file may hold the row; `None` if the filter is damaged.
    pub(crate) fn may_contain(
        &self,
        blocks: &BlockReader,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<bool>> {
        let answer =
            |filter: &StoredFilter<Bytes>| filter.may_contain(probe.key_hash(filter.seed()));
        match &self.layout {
            Layout::Whole { part, id } => {
                ask(part, ExpectedFilter::by_id(*id), blocks, trace, answer)
            }
            Layout::Partitioned(it) => {
                let Some(partitions) = self.partitions(it, blocks, trace)? else { return Ok(None) };
                match partitions.index.find(probe.row()) {
                    // Its rows are all greater.
                    None => Ok(Some(false)),
                    Some(number) => partitions.ask(number, blocks, trace, answer),
                }
            }
        }
    }

    /// Returns the filter or the partition that answers for a row, if it is in memory.
    pub(crate) fn resident(&self, probe: &RowProbe<'_>) -> Option<ResidentFilter<'_>> {
        match &self.layout {
            Layout::Whole { part, .. } => resident(part),
            Layout::Partitioned(it) => {
                let partitions = it.loaded.get()?;
                let part = &partitions.parts[partitions.index.find(probe.row())?];
                resident(part)
            }
        }
    }

    /// Returns the filter, if it is one block for the whole file and in memory.
    pub(crate) fn resident_whole(&self) -> Option<ResidentFilter<'_>> {
        let Layout::Whole { part, .. } = &self.layout else { return None };
        resident(part)
    }

    /// The filter in numbers; `None` if it is damaged.
    pub(crate) fn summary(&self, blocks: &BlockReader) -> Result<Option<FilterSummary>> {
        let trace = &mut ReadTrace::default();
        match &self.layout {
            Layout::Whole { part, id } => {
                ask(part, ExpectedFilter::by_id(*id), blocks, trace, |filter| FilterSummary {
                    kind: filter.kind(),
                    block_count: 1,
                    key_count: filter.key_count(),
                    bits_per_key: filter.bits_per_key(),
                    error_rate: filter.error_rate(),
                    byte_size: filter.as_bytes().len() as u64,
                })
            }
            Layout::Partitioned(it) => {
                let Some(Partitions { index, .. }) = self.partitions(it, blocks, trace)? else {
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
    pub(crate) fn load(&self, blocks: &BlockReader) {
        let trace = &mut ReadTrace::default();
        match &self.layout {
            Layout::Whole { part, id } => {
                let _ = ask(part, ExpectedFilter::by_id(*id), blocks, trace, |_| ());
            }
            Layout::Partitioned(it) => {
                if let Ok(Some(partitions)) = self.partitions(it, blocks, trace) {
                    for number in 0..partitions.parts.len() {
                        let _ = partitions.ask(number, blocks, trace, |_| ());
                    }
                }
            }
        }
    }

    /// Reads all of it and says what is wrong: which parts are damaged, and whether it has all rows, if it
    /// is known how many there are.
    pub(crate) fn check(
        &self,
        blocks: &BlockReader,
        row_count: Option<u64>,
    ) -> Result<Vec<Damage>> {
        let trace = &mut ReadTrace::default();
        let (at, keys, damaged) = match &self.layout {
            Layout::Whole { part, id } => {
                let keys =
                    ask(part, ExpectedFilter::by_id(*id), blocks, trace, StoredFilter::key_count)?;
                (part.place(), keys, part.damage().into_iter().cloned().collect())
            }
            Layout::Partitioned(it) => {
                let Some(partitions) = self.partitions(it, blocks, trace)? else {
                    return Ok(it.damage.get().into_iter().cloned().collect());
                };
                for number in 0..partitions.parts.len() {
                    partitions.ask(number, blocks, trace, |_| ())?;
                }
                let damaged = partitions.parts.iter().filter_map(FilterPart::damage);
                (it.index, Some(partitions.index.key_count()), damaged.cloned().collect())
            }
        };
        let mut wrong: Vec<Damage> = damaged;
        if let Some((keys, rows)) = keys.zip(row_count).filter(|(keys, rows)| keys != rows) {
            let what = format!("a filter of {keys} rows, not of {rows}");
            wrong.push(Damage::in_block(BlockType::Meta, at.offset, what));
        }
        Ok(wrong)
    }

    /// The partitions, whose index is read by the first who asks; `None` if it is damaged.
    fn partitions<'a>(
        &self,
        it: &'a Partitioned,
        blocks: &BlockReader,
        trace: &mut ReadTrace,
    ) -> Result<Option<&'a Partitions>> {
        if let Some(partitions) = it.loaded.get() {
            return Ok(Some(partitions));
        }
        if it.damage.get().is_some() {
            return Ok(None);
        }
        match Partitions::load(it, &self.first_row, blocks, trace) {
            Ok(partitions) => Ok(Some(it.loaded.get_or_init(|| partitions))),
            Err(Error::Corrupt { damage, .. }) => {
                // If another thread was first, it found the same.
                let _ = it.damage.set(damage);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the filter of a block, if that is in memory for as long as the file is open.
#[inline]
fn resident(part: &FilterPart<FilterBlock>) -> Option<ResidentFilter<'_>> {
    let block = part.kept()?.block();
    Some(ResidentFilter { filter: block.filter(), bytes: block.bytes() })
}

/// What the file says about a filter, to recognise it.
#[derive(Clone, Copy, Debug, Default)]
struct ExpectedFilter {
    keys: Option<u64>,
    len: Option<u32>,
    kind: Option<FilterKind>,
    checksum: Option<u64>,
}

impl ExpectedFilter {
    /// From the file info; empty if that has no id.
    fn by_id(id: Option<(u64, u64)>) -> Self {
        let (keys, checksum) = id.unzip();
        Self { keys, checksum, ..Self::default() }
    }

    fn check(self, filter: &StoredFilter<Bytes>) -> Result<(), &'static str> {
        let len = filter.as_bytes().len() as u64;
        let is_stated = self.keys.is_none_or(|keys| keys == filter.key_count())
            && self.len.is_none_or(|stated| u64::from(stated) == len)
            && self.kind.is_none_or(|kind| kind == filter.kind())
            && self.checksum.is_none_or(|checksum| checksum == filter.checksum());
        if is_stated { Ok(()) } else { Err("is another filter than the file has here") }
    }
}

/// Asks the filter in one block; `None` if that is damaged.
fn ask<R>(
    part: &FilterPart<FilterBlock>,
    expected: ExpectedFilter,
    blocks: &BlockReader,
    trace: &mut ReadTrace,
    question: impl FnOnce(&StoredFilter<Bytes>) -> R,
) -> Result<Option<R>> {
    if part.damage().is_some() {
        return Ok(None);
    }
    let check = |block: &FilterBlock| expected.check(block.filter());
    match part.load(blocks, BlockType::Meta, trace, check) {
        Ok(held) => Ok(Some(question(held.filter()))),
        Err(Error::Corrupt { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Partitions {
    fn load(
        it: &Partitioned,
        first_row: &[u8],
        blocks: &BlockReader,
        trace: &mut ReadTrace,
    ) -> Result<Self> {
        let check = |_: &MetaBlock, header: &Header| {
            if header.previous_block == it.previous {
                return Ok(());
            }
            Err("is not the filter index that the file has here: it follows another block")
        };
        let block =
            blocks.load(it.index.of_type(BlockType::Meta), Caching::Bypass, trace, check)?;
        let body = block.body();
        let damaged = |what| blocks.damaged(it.index, BlockType::Meta, what);
        let index = FilterIndex::parse(body).map_err(damaged)?;
        let own_id = (index.key_count(), index_checksum(body));
        if it.id.is_some_and(|id| id != own_id) {
            return Err(damaged("is another filter index than the file has here".into()));
        }
        if index.partitions.len() != it.places.len() {
            let (stated, is) = (index.partitions.len(), it.places.len());
            return Err(damaged(format!("{stated} partitions, of which {is} are there").into()));
        }
        // Else it would deny the rows before it.
        if index.partitions.first().is_none_or(|first| first.first_row[..] != *first_row) {
            let what = "the filter index does not begin with the first row of the file";
            return Err(damaged(what.into()));
        }
        let bytes = (block.bytes() + index.bytes()) as u64;
        let room = blocks.cache.as_ref().and_then(|cache| cache.reserve(bytes));
        let part = |(place, previous): &(BlockHandle, _)| FilterPart::new(*place, *previous);
        let parts = it.places.iter().map(part).collect();
        Ok(Self { index, parts, _room: room })
    }

    /// Asks one partition; `None` if it is damaged.
    fn ask<R>(
        &self,
        number: usize,
        blocks: &BlockReader,
        trace: &mut ReadTrace,
        question: impl FnOnce(&StoredFilter<Bytes>) -> R,
    ) -> Result<Option<R>> {
        let Partition { keys, len, checksum, .. } = self.index.partitions[number];
        let kind = Some(self.index.kind);
        let expected = ExpectedFilter { keys: Some(keys), len: Some(len), kind, checksum };
        ask(&self.parts[number], expected, blocks, trace, question)
    }
}

#[cfg(test)]
mod tests;
