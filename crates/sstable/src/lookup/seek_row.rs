//! The search for one row in one file: index, block, cell.
//!
//! A single get calls [`seek_row`]. A batch calls its three steps, each for all rows before the next.

use std::sync::Arc;

use cells::shown::pass_to_column;
use cells::{CellRef, KeyRef};
use filter::engine::KeyHash;

use crate::block::data::{DataBlock, DataRef};
use crate::block::decoded::{BlockSlot, DecodedBlock};
use crate::block::index_block::IndexBlock;
use crate::block::row_table::{ROW_HASH_SEED, row_hash};
use crate::buffers::Buffers;
use crate::error::{Error, Result};
use crate::file::data_index::DataEntry;
use crate::file::load_data_block::Purpose;
use crate::file::open_file::OpenFile;
use crate::file::options::Caching;
use crate::file::read_context::ReadContext;
use crate::probe::RowProbe;
use crate::scan::position::ScanPosition;
use crate::scan::scanner::Scanner;
use crate::trace::{BlockKind, BlockSource, ReadTrace};

/// The place of a row's first cell.
#[derive(Clone, Debug)]
pub(super) enum FirstCell {
    /// The offset of the cell in a decoded block.
    Decoded { block: Arc<DecodedBlock>, at: usize },
    /// In a delta-encoded block, which was decoded up to the cell.
    Encoded(Box<ScanPosition>),
}

impl FirstCell {
    /// Returns the cell.
    #[inline]
    pub(super) fn cell(&self) -> CellRef<'_> {
        match self {
            Self::Decoded { block, at } => block.cell_at(*at),
            Self::Encoded(position) => position.cell(),
        }
    }

    /// Returns the position of the cell, from which a scanner continues.
    pub(super) fn into_position(self) -> ScanPosition {
        match self {
            Self::Decoded { block, at } => ScanPosition::decoded(block, at),
            Self::Encoded(position) => *position,
        }
    }
}

/// The block in which a row would start, according to the index of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexedBlock<'f> {
    /// The index of the block's entry, if the entries of data blocks are in memory.
    entry_index: Option<usize>,
    /// The slot of the entry, if reads use it.
    slot: Option<&'f BlockSlot>,
    hash: KeyHash,
}

/// The block in which a row would start, in memory.
#[derive(Debug)]
pub(super) enum LoadedBlock {
    /// Next: search the block.
    Decoded { block: Arc<DecodedBlock>, hash: KeyHash, next_block: NextBlock },
    /// A delta-encoded block was decoded up to the row, which is at this position if it is there.
    Searched(Option<Box<ScanPosition>>),
}

/// Whether the row may start in the next block.
#[derive(Clone, Copy, Debug)]
pub(super) enum NextBlock {
    MayHaveRow,
    LacksRow,
    /// Not determined yet: the key of the entry after the one with this index decides.
    AfterEntry(usize),
}

/// Returns the first cell of a row in a file that neither its filter nor the family map excluded.
///
/// Errors are boxed, because results of a few words are returned in registers.
pub(super) fn seek_row(
    file: &OpenFile,
    probe: &RowProbe<'_>,
    trace: &mut ReadTrace,
) -> Result<Option<FirstCell>, Box<Error>> {
    let indexed = search_index(file, probe);
    load_block(file, indexed, probe, trace)?.find_row(file, probe, trace)
}

/// Searches the index, unless the entries of data blocks are not in memory.
///
/// Prefetches the block if its slot refers to a decoded block.
#[inline]
pub(super) fn search_index<'f>(file: &'f OpenFile, probe: &RowProbe<'_>) -> IndexedBlock<'f> {
    let hash = probe.key_hash(ROW_HASH_SEED);
    let Some(entries) = file.data_index().entries_in_memory() else {
        return IndexedBlock { entry_index: None, slot: None, hash };
    };
    let entry_index = entries.find(&KeyRef::before_row(probe.row()));
    // A read of a slot is no access of the cache, so slots are only used while nothing is evicted.
    let slot = file.blocks.usable(entries.slot(entry_index));
    if let Some(slot) = slot {
        slot.prefetch(hash);
    }
    IndexedBlock { entry_index: Some(entry_index), slot, hash }
}

/// Loads the block of an index entry from memory, the cache or the file.
#[inline]
pub(super) fn load_block(
    file: &OpenFile,
    indexed: IndexedBlock<'_>,
    probe: &RowProbe<'_>,
    trace: &mut ReadTrace,
) -> Result<LoadedBlock, Box<Error>> {
    let IndexedBlock { entry_index, slot, hash } = indexed;
    if let Some(entry_index) = entry_index
        && let Some(block) = slot.and_then(BlockSlot::block)
    {
        trace.touch(BlockKind::Data, BlockSource::Cache, block.bytes());
        let next_block = NextBlock::AfterEntry(entry_index);
        return Ok(LoadedBlock::Decoded { block, hash, next_block });
    }
    load_through_index(file, indexed, probe.row(), trace).map_err(Box::new)
}

impl LoadedBlock {
    /// Prefetches the cell that probably is the first of the row.
    pub(super) fn prefetch_cell(&self) {
        if let Self::Decoded { block, hash, .. } = self {
            block.prefetch_cell(*hash);
        }
    }

    /// Returns the row's first cell, if the file has the row.
    #[inline]
    pub(super) fn find_row(
        self,
        file: &OpenFile,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<FirstCell>, Box<Error>> {
        let (block, hash, next_block) = match self {
            Self::Decoded { block, hash, next_block } => (block, hash, next_block),
            Self::Searched(position) => return Ok(position.map(FirstCell::Encoded)),
        };
        if let Some(at) = block.row_start(probe.row(), hash) {
            return Ok(Some(FirstCell::Decoded { block, at }));
        }
        if !next_block.may_have_row(file, probe.row()) {
            return Ok(None);
        }
        find_in_next_block(file, &block, probe.row(), trace).map_err(Box::new)
    }
}

impl NextBlock {
    /// Decides by the index key of the next block.
    ///
    /// A row below that key can start there only if the key is of the row: keys of lesser rows are in
    /// earlier blocks.
    fn of_key(next_key: Option<&[u8]>, row: &[u8]) -> Self {
        match next_key {
            Some(next_key) if KeyRef::is_of_row(next_key, row) => Self::MayHaveRow,
            _ => Self::LacksRow,
        }
    }

    /// Returns whether the row may start in the next block.
    fn may_have_row(self, file: &OpenFile, row: &[u8]) -> bool {
        match self {
            Self::MayHaveRow => true,
            Self::LacksRow => false,
            Self::AfterEntry(entry_index) => {
                let next_key = file.data_index().entry_in_memory(entry_index).next_key;
                Self::of_key(next_key, row).may_have_row(file, row)
            }
        }
    }
}

/// Loads the block in which a row would start.
#[inline(never)]
fn load_through_index(
    file: &OpenFile,
    indexed: IndexedBlock<'_>,
    row: &[u8],
    trace: &mut ReadTrace,
) -> Result<LoadedBlock> {
    let IndexedBlock { entry_index, hash, .. } = indexed;
    let key = KeyRef::before_row(row);
    let context =
        &mut ReadContext { caching: Caching::Use, buffers: &mut Buffers::default(), trace };
    let load = |entry: DataEntry<'_>, context: &mut ReadContext<'_>| {
        let next_block = NextBlock::of_key(entry.next_key, row);
        // Only a decoded block leads to the next one.
        let purpose = match next_block {
            NextBlock::LacksRow => Purpose::Row,
            _ => Purpose::Search,
        };
        match file.load(entry, purpose, context)? {
            DataBlock::Decoded(block) => {
                block.prefetch_row_start(hash);
                Ok(LoadedBlock::Decoded { block, hash, next_block })
            }
            DataBlock::Encoded(block) => {
                let cursor = file.find_row_in_encoded(&block, entry, row);
                let cursor = cursor.map_err(|what| file.damage_in(block.origin(), what))?;
                let position = cursor.map(|cursor| ScanPosition::Encoded { block, cursor });
                Ok(LoadedBlock::Searched(position.map(Box::new)))
            }
        }
    };
    let index = file.data_index();
    match entry_index {
        Some(entry_index) => load(index.entry_in_memory(entry_index), context),
        None => index.find(&file.blocks, |node: &IndexBlock| node.find(&key), context, load),
    }
}

/// Finds the first cell of a row that may start in the block after `block`.
#[cold]
fn find_in_next_block(
    file: &OpenFile,
    block: &DecodedBlock,
    row: &[u8],
    trace: &mut ReadTrace,
) -> Result<Option<FirstCell>> {
    let context =
        &mut ReadContext { caching: Caching::Use, buffers: &mut Buffers::default(), trace };
    let block_at = block.origin().handle.offset;
    let cursor = file.cursor_on(DataRef::Decoded(block), context)?;
    let Some(next) = cursor.into_next(file, context)? else {
        let what = "the index has a key after the last block".to_owned();
        return Err(Error::Internal { file: file.blocks.name.clone(), at: block_at, what });
    };
    let block = file.decoded_data_block_at(&next, context)?;
    let cell_at = block.row_start(row, row_hash(row));
    Ok(cell_at.map(|at| FirstCell::Decoded { block, at }))
}

/// Returns whether the file's filter over columns has answered about a row that has neither the
/// probe's column nor a family delete.
///
/// On damage, returns `false`: no false positive is counted, and the get reports the damage if it
/// reads that block.
#[inline(never)]
pub(super) fn lacks_column(file: &Arc<OpenFile>, probe: &RowProbe<'_>, first: &FirstCell) -> bool {
    let Some(wanted) = probe.qualifier() else { return false };
    if !file.is_filter_over_columns && !file.filters().fall_back_to_columns(&file.blocks, probe) {
        return false;
    }
    // A separate scanner, because the get seeks the column again and counts its blocks then.
    let mut scanner = Scanner::at(Arc::clone(file), first.clone().into_position());
    // The filter was also asked about the row's family deletes, which have no qualifier.
    let may_delete_family = scanner.cell().is_some_and(|first| first.qualifier.is_empty());
    !may_delete_family
        && pass_to_column(&mut scanner, probe.row(), wanted, |_| true).is_ok()
        && !scanner.cell().is_some_and(|cell| cell.row == probe.row() && cell.qualifier == wanted)
}
