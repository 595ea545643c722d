//! The search for one row in one file: index, block, cell.

use std::sync::Arc;

use filter::KeyHash;

use crate::block::data::{DataBlock, DataRef};
use crate::block::decoded::DecodedBlock;
use crate::block::index_block::IndexBlock;
use crate::block::row_table::{ROW_HASH_SEED, row_hash};
use crate::buffers::Buffers;
use crate::file::data_blocks::Purpose;
use crate::file::filters::filter_answer::FilterAnswer;
use crate::file::index::DataEntry;
use crate::file::open_file::OpenFile;
use crate::file::read_context::ReadContext;
use crate::scan::scanner::ScanPosition;
use crate::{BlockKind, BlockSource, Caching, Error, KeyRef, ReadTrace, Result, RowProbe, Scanner};

/// The search for a row in one file that neither its filter nor the family map excluded.
#[derive(Debug)]
pub(super) struct FileSeek(SeekState);

/// The state of the search. Large variants are boxed, because the state is moved.
#[derive(Debug)]
enum SeekState {
    /// The index was searched. Next: load the block in which the row would begin.
    Block(IndexHit),
    /// The block is in memory, decoded. Next: search it.
    Cell(BlockSearch),
    /// Done: a delta-encoded block was decoded up to the row, which is at this position if it is
    /// there.
    Done(Option<Box<ScanPosition>>),
    Failed(Box<Error>),
}

/// The block in which the row would begin.
#[derive(Clone, Copy, Debug)]
struct IndexHit {
    /// The entry of the block, if the entries of data blocks are in memory.
    entry: Option<usize>,
    hash: KeyHash,
}

#[derive(Debug)]
struct BlockSearch {
    block: Arc<DecodedBlock>,
    hash: KeyHash,
    /// The likely offset of the row in the block, once the row table was searched.
    candidate: Option<u32>,
    next_block: NextBlock,
}

/// Whether the row may begin in the next block.
#[derive(Clone, Copy, Debug)]
enum NextBlock {
    MayBegin(bool),
    /// Not determined yet: the key of the entry after this one decides.
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
        let entry = index.find_in_memory(&KeyRef::before_row(probe.row()));
        let slot = entry.and_then(|entry| file.blocks.usable(index.slot_in_memory(entry)));
        if let Some(slot) = slot {
            slot.prefetch(hash);
        }
        Self(SeekState::Block(IndexHit { entry, hash }))
    }

    /// Loads the block from memory, the cache or the file.
    #[inline]
    pub(super) fn load_block(
        &mut self,
        file: &OpenFile,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) {
        let SeekState::Block(hit) = self.0 else { return };
        let IndexHit { entry, hash } = hit;
        if let Some(entry) = entry
            && let Some(slot) = file.blocks.usable(file.data_index().slot_in_memory(entry))
            && let Some((block, bytes)) = slot.block()
        {
            trace.touch(BlockKind::Data, BlockSource::Cache, bytes);
            let next_block = NextBlock::AfterEntry(entry);
            self.0 = SeekState::Cell(BlockSearch { block, hash, candidate: None, next_block });
            return;
        }
        self.0 = load_through_index(file, hit, probe.row(), trace)
            .unwrap_or_else(|error| SeekState::Failed(Box::new(error)));
    }

    /// Prefetches the row's cell, if the block was loaded.
    pub(super) fn prefetch_cell(&mut self) {
        if let SeekState::Cell(BlockSearch { block, hash, candidate, .. }) = &mut self.0 {
            *candidate = block.prefetch_cell(*hash);
        }
    }

    /// Returns the position of the row's first cell, if the file has the row.
    ///
    /// Counts a false positive if the filter's `answer` was "maybe" and the file does not have the
    /// row or, for a filter over columns, neither the column nor a family delete of the row.
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
            SeekState::Cell(BlockSearch { block, hash, candidate, next_block }) => {
                let row = probe.row();
                let at = candidate.and_then(|at| block.verify_candidate(at, row));
                match at.or_else(|| block.row_start(row, hash)) {
                    Some(at) => Some(ScanPosition::decoded(block, at)),
                    None if next_block.may_begin(file, row) => {
                        find_in_next_block(file, DataRef::Decoded(&block), row, trace)?
                    }
                    None => None,
                }
            }
            SeekState::Done(position) => position.map(|position| *position),
            SeekState::Failed(error) => return Err(error),
            SeekState::Block(_) => unreachable!("the block was loaded"),
        };
        if answer == FilterAnswer::Maybe {
            let is_false = match &found {
                None => true,
                Some(position) => {
                    file.is_filter_over_columns && lacks_column(file, probe, position)
                }
            };
            trace.filter_false_positives += u64::from(is_false);
        }
        Ok(found)
    }
}

impl NextBlock {
    /// Returns whether the row may begin in the next block.
    fn may_begin(self, file: &OpenFile, row: &[u8]) -> bool {
        match self {
            Self::MayBegin(may_begin) => may_begin,
            Self::AfterEntry(entry) => {
                row_may_start_at(file.data_index().entry_in_memory(entry).next_key, row)
            }
        }
    }
}

/// Returns whether a row may begin in the next block, by that block's index key.
///
/// It may only if the index key is a key of the row.
fn row_may_start_at(next_key: Option<&[u8]>, row: &[u8]) -> bool {
    next_key.is_some_and(|next| KeyRef::is_of_row(next, row))
}

/// Loads the block in which a row would begin.
#[inline(never)]
fn load_through_index(
    file: &OpenFile,
    hit: IndexHit,
    row: &[u8],
    trace: &mut ReadTrace,
) -> Result<SeekState> {
    let IndexHit { entry, hash } = hit;
    let key = KeyRef::before_row(row);
    let context =
        &mut ReadContext { caching: Caching::Use, buffers: &mut Buffers::default(), trace };
    let load = |entry: DataEntry<'_>, context: &mut ReadContext<'_>| {
        let begins_next = row_may_start_at(entry.next_key, row);
        let purpose = if begins_next { Purpose::Search } else { Purpose::Row };
        match file.load(entry, purpose, context)? {
            DataBlock::Decoded(block) => {
                block.prefetch_row_start(hash);
                let next_block = NextBlock::MayBegin(begins_next);
                Ok(SeekState::Cell(BlockSearch { block, hash, candidate: None, next_block }))
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
    match entry {
        Some(entry) => load(index.entry_in_memory(entry), context),
        None => index.find(&file.blocks, |node: &IndexBlock| node.find(&key), context, load),
    }
}

/// Finds the first cell of a row that may begin in the block after `block`.
#[cold]
fn find_in_next_block(
    file: &OpenFile,
    block: DataRef<'_>,
    row: &[u8],
    trace: &mut ReadTrace,
) -> Result<Option<ScanPosition>> {
    let context =
        &mut ReadContext { caching: Caching::Use, buffers: &mut Buffers::default(), trace };
    let at = block.origin().handle.offset;
    let cursor = file.cursor_on(block, context)?;
    let Some(next) = cursor.into_next(file, context)? else {
        let what = "the index has a key after the last block".to_owned();
        return Err(Error::Internal { file: file.blocks.name.clone(), at, what });
    };
    let block = file.decoded_data_block_at(&next, context)?;
    let at = block.row_start(row, row_hash(row));
    Ok(at.map(|at| ScanPosition::decoded(block, at)))
}

/// The number of cells that are passed one by one before the column is sought.
const STEPS_MAX: u32 = 16;

/// Returns whether a row has neither the probe's column nor a family delete.
///
/// `position` is the row's first cell. Damage is no answer here: the get reports it if it needs the
/// damaged block.
#[inline(never)]
fn lacks_column(file: &Arc<OpenFile>, probe: &RowProbe<'_>, position: &ScanPosition) -> bool {
    let Some(wanted) = probe.qualifier() else { return false };
    // A separate scanner: the caller's trace counts the blocks when the get seeks the column.
    let mut scanner = Scanner::at(Arc::clone(file), position.clone());
    for step in 0.. {
        let Some(cell) = scanner.cell().filter(|cell| cell.row == probe.row()) else { break };
        // The filter was also asked about the row's family deletes, which have no qualifier.
        if cell.qualifier == wanted || cell.qualifier.is_empty() {
            return false;
        }
        if cell.qualifier > wanted {
            break;
        }
        let moved = if step < STEPS_MAX {
            scanner.advance()
        } else {
            let family = cell.family.to_vec();
            scanner.seek(KeyRef::before_column(probe.row(), &family, wanted))
        };
        if moved.is_err() {
            return false;
        }
    }
    true
}
