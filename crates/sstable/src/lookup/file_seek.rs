//! The search for one row in one file: index, block, cell.

use std::sync::Arc;

use cells::KeyRef;
use cells::shown::pass_to_column;
use filter::engine::KeyHash;

use crate::block::data::{DataBlock, DataRef};
use crate::block::decoded::DecodedBlock;
use crate::block::index_block::IndexBlock;
use crate::block::row_table::{ROW_HASH_SEED, row_hash};
use crate::buffers::Buffers;
use crate::error::{Error, Result};
use crate::file::data_index::DataEntry;
use crate::file::filters::filter_answer::FilterAnswer;
use crate::file::load_data_block::Purpose;
use crate::file::open_file::OpenFile;
use crate::file::options::Caching;
use crate::file::read_context::ReadContext;
use crate::probe::RowProbe;
use crate::scan::position::ScanPosition;
use crate::scan::scanner::Scanner;
use crate::trace::{BlockKind, BlockSource, ReadTrace};

/// The search for a row in one file that neither its filter nor the family map excluded.
#[derive(Debug)]
pub(super) struct FileSeek(SeekState);

/// The state of the search. Large variants are boxed, because the state is moved.
#[derive(Debug)]
enum SeekState {
    /// Next: load the block in which the row would start.
    IndexSearched(IndexHit),
    /// The block is in memory, decoded. Next: search it.
    BlockLoaded(BlockSearch),
    /// Done: a delta-encoded block was decoded up to the row, which is at this position if it is
    /// there.
    Done(Option<Box<ScanPosition>>),
    Failed(Box<Error>),
}

/// The block in which the row would start.
#[derive(Clone, Copy, Debug)]
struct IndexHit {
    /// The index of the block's entry, if the entries of data blocks are in memory.
    entry_index: Option<usize>,
    hash: KeyHash,
}

#[derive(Debug)]
struct BlockSearch {
    block: Arc<DecodedBlock>,
    hash: KeyHash,
    /// The offset from `search_row_table`; `None` before it, or without a match in the row table.
    candidate: Option<u32>,
    next_block: NextBlock,
}

/// Whether the row may start in the next block.
#[derive(Clone, Copy, Debug)]
enum NextBlock {
    MayHaveRow,
    LacksRow,
    /// Not determined yet: the key of the entry after the one with this index decides.
    AfterEntry(usize),
}

impl FileSeek {
    /// Searches the index.
    ///
    /// Prefetches the block if its block slot refers to a decoded block.
    #[inline]
    pub(super) fn begin(file: &OpenFile, probe: &RowProbe<'_>) -> Self {
        let hash = probe.key_hash(ROW_HASH_SEED);
        let index = file.data_index();
        let entry_index = index.find_in_memory(&KeyRef::before_row(probe.row()));
        // A read of a slot is no access of the cache, so slots are only used while nothing is evicted.
        let slot = entry_index.and_then(|at| file.blocks.usable(index.slot_in_memory(at)));
        if let Some(slot) = slot {
            slot.prefetch(hash);
        }
        Self(SeekState::IndexSearched(IndexHit { entry_index, hash }))
    }

    /// Loads the block from memory, the cache or the file. Does nothing if it is loaded.
    #[inline]
    pub(super) fn load_block(
        &mut self,
        file: &OpenFile,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) {
        let SeekState::IndexSearched(hit) = self.0 else { return };
        let IndexHit { entry_index, hash } = hit;
        if let Some(entry_index) = entry_index
            && let Some(slot) = file.blocks.usable(file.data_index().slot_in_memory(entry_index))
            && let Some((block, bytes)) = slot.block()
        {
            trace.touch(BlockKind::Data, BlockSource::Cache, bytes);
            let next_block = NextBlock::AfterEntry(entry_index);
            self.0 =
                SeekState::BlockLoaded(BlockSearch { block, hash, candidate: None, next_block });
            return;
        }
        self.0 = load_through_index(file, hit, probe.row(), trace)
            .unwrap_or_else(|error| SeekState::Failed(Box::new(error)));
    }

    /// Searches the row table of the block, if that was loaded, and prefetches the cell that it gives.
    pub(super) fn search_row_table(&mut self) {
        if let SeekState::BlockLoaded(BlockSearch { block, hash, candidate, .. }) = &mut self.0 {
            *candidate = block.prefetch_cell(*hash);
        }
    }

    /// Returns the position of the row's first cell, if the file has the row.
    ///
    /// If the filter's `answer` was "maybe", counts a false positive: the file lacks the row or, with a
    /// filter over columns, both the column and a family delete of the row.
    ///
    /// The error is boxed: an inline error makes the compiler move `ScanPosition` bytewise, which
    /// stalls store forwarding.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "avoids a move of the large return value")]
    pub(super) fn finish(
        mut self,
        file: &Arc<OpenFile>,
        answer: FilterAnswer,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<ScanPosition>, Box<Error>> {
        self.load_block(file, probe, trace);
        let found = match self.0 {
            SeekState::BlockLoaded(BlockSearch { block, hash, candidate, next_block }) => {
                let row = probe.row();
                let at = candidate.and_then(|at| block.verify_candidate(at, row));
                match at.or_else(|| block.row_start(row, hash)) {
                    Some(at) => Some(ScanPosition::decoded(block, at)),
                    None if next_block.may_have_row(file, row) => {
                        find_in_next_block(file, DataRef::Decoded(&block), row, trace)?
                    }
                    None => None,
                }
            }
            SeekState::Done(position) => position.map(|position| *position),
            SeekState::Failed(error) => return Err(error),
            SeekState::IndexSearched(_) => unreachable!("the block was loaded"),
        };
        if answer == FilterAnswer::Maybe {
            let is_false_positive = match &found {
                None => true,
                Some(position) => {
                    let is_over_columns = file.is_filter_over_columns
                        || (trace.filters_unreadable > 0
                            && file.filters().fall_back_to_columns(&file.blocks, probe));
                    is_over_columns && lacks_column(file, probe, position)
                }
            };
            trace.filter_false_positives += u64::from(is_false_positive);
        }
        Ok(found)
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
    hit: IndexHit,
    row: &[u8],
    trace: &mut ReadTrace,
) -> Result<SeekState> {
    let IndexHit { entry_index, hash } = hit;
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
                Ok(SeekState::BlockLoaded(BlockSearch { block, hash, candidate: None, next_block }))
            }
            DataBlock::Encoded(block) => {
                let cursor = file.find_row_in_encoded(&block, entry, row);
                let cursor = cursor.map_err(|what| file.damage_in(block.origin(), what))?;
                let position = cursor.map(|cursor| ScanPosition::Encoded { block, cursor });
                Ok(SeekState::Done(position.map(Box::new)))
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
    block: DataRef<'_>,
    row: &[u8],
    trace: &mut ReadTrace,
) -> Result<Option<ScanPosition>> {
    let context =
        &mut ReadContext { caching: Caching::Use, buffers: &mut Buffers::default(), trace };
    let block_at = block.origin().handle.offset;
    let cursor = file.cursor_on(block, context)?;
    let Some(next) = cursor.into_next(file, context)? else {
        let what = "the index has a key after the last block".to_owned();
        return Err(Error::Internal { file: file.blocks.name.clone(), at: block_at, what });
    };
    let block = file.decoded_data_block_at(&next, context)?;
    let cell_at = block.row_start(row, row_hash(row));
    Ok(cell_at.map(|at| ScanPosition::decoded(block, at)))
}

/// Returns whether a row has neither the probe's column nor a family delete.
///
/// `position` is the row's first cell. On damage, returns `false`: no false positive is counted, and
/// the get reports the damage if it reads that block.
#[inline(never)]
fn lacks_column(file: &Arc<OpenFile>, probe: &RowProbe<'_>, position: &ScanPosition) -> bool {
    let Some(wanted) = probe.qualifier() else { return false };
    // A separate scanner, because the get seeks the column again and counts its blocks then.
    let mut scanner = Scanner::at(Arc::clone(file), position.clone());
    // The filter was also asked about the row's family deletes, which have no qualifier.
    let may_delete_family = scanner.cell().is_some_and(|first| first.qualifier.is_empty());
    !may_delete_family
        && pass_to_column(&mut scanner, probe.row(), wanted, |_| true).is_ok()
        && !scanner.cell().is_some_and(|cell| cell.row == probe.row() && cell.qualifier == wanted)
}
