//! One row in one file: index, block, cell.

use std::sync::Arc;

use filter::KeyHash;

use crate::block::branch::IndexBlock;
use crate::block::data::{DataBlock, DataRef};
use crate::block::decoded::DecodedBlock;
use crate::block::row_table::{ROW_HASH_SEED, row_hash};
use crate::block::slot::BlockSlot;
use crate::buffers::Buffers;
use crate::file::filters::file_filters::FilterAnswer;
use crate::file::open_file::OpenFile;
use crate::file::read_context::ReadContext;
use crate::scan::scanner::ScanPosition;
use crate::{BlockKind, BlockSource, Caching, Error, KeyRef, ReadTrace, Result, RowProbe, Scanner};

/// The lookup of a row in one file whose filter did not deny it.
#[derive(Debug)]
pub(super) struct FileSeek(SeekState);

/// How far a lookup in a file is. Boxed: a small state is cheap to move.
#[derive(Debug)]
enum SeekState {
    /// The in-memory index was searched. Next: load the block in which the row would begin.
    Block(IndexHit),
    /// The block is in memory, decoded. Next: search it.
    Cell(BlockSearch),
    /// The first get of a delta-encoded block has decoded it up to the row: where the row is, if it is there.
    Done(Option<Box<ScanPosition>>),
    Failed(Box<Error>),
}

/// Where the index has a row.
#[derive(Clone, Copy, Debug)]
struct IndexHit {
    /// The entry of the root, where the root leads to data blocks.
    root_entry: Option<usize>,
    hash: KeyHash,
}

#[derive(Debug)]
struct BlockSearch {
    block: Arc<DecodedBlock>,
    hash: KeyHash,
    /// Where the row most likely starts, once that was found out.
    candidate: Option<u32>,
    next_block: NextBlock,
}

/// Whether the row may begin in the block behind instead.
#[derive(Clone, Copy, Debug)]
enum NextBlock {
    Known(bool),
    /// The root entry of this block. The entry after it tells, and is read only if the row is not in the block.
    AfterRootEntry(usize),
}

impl FileSeek {
    /// Searches the root of the index. Prefetches the block, if the index knows where it is in memory.
    #[inline]
    pub(super) fn begin(file: &OpenFile, probe: &RowProbe<'_>) -> Self {
        let hash = probe.key_hash(ROW_HASH_SEED);
        let root_entry = file.data_index().find_in_root(&KeyRef::before_row(probe.row()));
        if let Some(slot) = root_entry.and_then(|entry| slot(file, entry)) {
            slot.prefetch(hash);
        }
        Self(SeekState::Block(IndexHit { root_entry, hash }))
    }

    /// Gets the block: from memory, the cache or the file.
    #[inline]
    pub(super) fn load_block(
        &mut self,
        file: &OpenFile,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) {
        let SeekState::Block(IndexHit { root_entry, hash }) = self.0 else { return };
        if let Some(entry) = root_entry
            && let Some((block, bytes)) = slot(file, entry).and_then(BlockSlot::block)
        {
            trace.touch(BlockKind::Data, BlockSource::Cache, bytes);
            let next_block = NextBlock::AfterRootEntry(entry);
            self.0 = SeekState::Cell(BlockSearch { block, hash, candidate: None, next_block });
            return;
        }
        self.0 = load_through_index(file, IndexHit { root_entry, hash }, probe.row(), trace)
            .unwrap_or_else(|error| SeekState::Failed(Box::new(error)));
    }

    /// Prefetches the row's cell, if the block was loaded.
    pub(super) fn prefetch_cell(&mut self) {
        if let SeekState::Cell(BlockSearch { block, hash, candidate, .. }) = &mut self.0 {
            *candidate = block.prefetch_cell(*hash);
        }
    }

    /// Returns the row's first cell, if the file has the row. Counts a false positive if the filter's `answer`
    /// was "maybe" and the row is not there, nor, for a filter over columns, the column or a delete of its family.
    ///
    /// Boxed: an inline error makes the compiler move `ScanPosition` bytewise, which stalls store forwarding.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it returns is large, and would be moved")]
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
            SeekState::Done(place) => place.map(|place| *place),
            SeekState::Failed(error) => return Err(error),
            SeekState::Block(_) => unreachable!("the block was loaded"),
        };
        if answer == FilterAnswer::Maybe {
            let is_false = match &found {
                None => true,
                Some(place) => file.filters.is_over_columns() && lacks_column(file, probe, place)?,
            };
            trace.filter_false_positives += u64::from(is_false);
        }
        Ok(found)
    }
}

impl NextBlock {
    /// Returns whether the row may begin in the block behind.
    fn may_begin(self, file: &OpenFile, row: &[u8]) -> bool {
        match self {
            Self::Known(may_begin) => may_begin,
            Self::AfterRootEntry(entry) => {
                let next = file.data_index().root.entry(entry + 1);
                row_may_start_at(next.map(|next| next.key), row)
            }
        }
    }
}

/// Returns whether a row may begin in the next block, by that block's index key: only if the key is the row's own
/// first key.
fn row_may_start_at(next_key: Option<&[u8]>, row: &[u8]) -> bool {
    next_key.is_some_and(|next| KeyRef::is_of_row(next, row))
}

/// Returns what the index remembers of the block of a root entry. Used only while the cache has room, and so
/// need not know which blocks are used.
#[inline]
fn slot(file: &OpenFile, root_entry: usize) -> Option<&BlockSlot> {
    file.blocks.cache_has_room().then(|| file.data_index().root.slot(root_entry))
}

/// Loads the block in which a row would begin, by the index.
#[inline(never)]
fn load_through_index(
    file: &OpenFile,
    hit: IndexHit,
    row: &[u8],
    trace: &mut ReadTrace,
) -> Result<SeekState> {
    let IndexHit { root_entry, hash } = hit;
    let key = KeyRef::before_row(row);
    let choose = |node: &IndexBlock| root_entry.unwrap_or_else(|| node.find(&key));
    let context =
        &mut ReadContext { caching: Caching::Use, buffers: &mut Buffers::default(), trace };
    file.data_index().find(&file.blocks, choose, context, |place, context| {
        let begins_next = row_may_start_at(place.next_key, row);
        let block = if begins_next {
            DataBlock::Decoded(file.load_decoded(place, context)?)
        } else {
            file.load_for_row(place, context)?
        };
        match block {
            DataBlock::Decoded(block) => {
                block.prefetch_row_start(hash);
                let next_block = NextBlock::Known(begins_next);
                Ok(SeekState::Cell(BlockSearch { block, hash, candidate: None, next_block }))
            }
            DataBlock::Encoded(block) => {
                let cursor = file.find_row_in_encoded(&block, place, row);
                let cursor = cursor.map_err(|what| file.damage_in(block.origin(), what))?;
                let place = cursor.map(|cursor| ScanPosition::Encoded { block, cursor });
                Ok(SeekState::Done(place.map(Box::new)))
            }
        }
    })
}

/// Finds the first cell of a row that may begin in the block behind `block`.
#[cold]
fn find_in_next_block(
    file: &OpenFile,
    block: DataRef<'_>,
    row: &[u8],
    trace: &mut ReadTrace,
) -> Result<Option<ScanPosition>> {
    let context =
        &mut ReadContext { caching: Caching::Use, buffers: &mut Buffers::default(), trace };
    let cursor = file.cursor_on(block, context)?;
    let Some(next) = cursor.into_next(file, context)? else { return Ok(None) };
    let block = file.whole_data_block_at(&next, context)?;
    let at = block.row_start(row, row_hash(row));
    Ok(at.map(|at| ScanPosition::decoded(block, at)))
}

/// Returns whether a filter over columns was asked in vain: its row, whose first cell is at `place`, has
/// neither the column nor a family delete.
#[inline(never)]
fn lacks_column(file: &Arc<OpenFile>, probe: &RowProbe<'_>, place: &ScanPosition) -> Result<bool> {
    let Some(wanted) = probe.qualifier() else { return Ok(false) };
    // A scanner of its own: what it reads is not part of what the caller asked for.
    let mut scanner = Scanner::at(Arc::clone(file), place.clone());
    while let Some(cell) = scanner.cell().filter(|cell| cell.row == probe.row()) {
        // The filter was asked for the row's family deletes too, which have no qualifier.
        if cell.qualifier == wanted || cell.qualifier.is_empty() {
            return Ok(false);
        }
        if cell.qualifier > wanted {
            break;
        }
        scanner.advance()?;
    }
    Ok(true)
}
