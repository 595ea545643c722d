//! A row's lookup in steps.
//!
//! ```text
//! filter → index │→ block, the row's line │→ cell    │→ the row, or not here
//!          begin │                   load │ prefetch │ finish
//! ```
//!
//! Each arrow is a wait for memory that only the one before it allows to begin. One lookup has to take
//! them one after the other; of many, those of the same step are taken [together].

mod together;

use std::sync::Arc;

use filter::KeyHash;

pub use self::together::RowSeeks;
use crate::block::body::Buffers;
use crate::block::data::DataBlock;
use crate::block::loaded::{Block, BlockSlot};
use crate::block::searchable::{ROW_HASH_SEED, row_hash};
use crate::file::blocks::DataUse;
use crate::file::filters::file_filters::FilterAnswer;
use crate::scan::scanner::Place;
use crate::{BlockKind, BlockSource, Error, KeyRef, ReadTrace, Result, RowProbe, Scanner};
use crate::{Caching, Reader};

/// A row's lookup that has been begun.
#[derive(Debug)]
pub struct RowSeek {
    answer: FilterAnswer,
    begun: Begun,
}

#[derive(Debug)]
enum Begun {
    /// The block is to be loaded in which the row would begin.
    Found(Found),
    /// The row is to be looked for in a block that can be searched.
    In {
        block: Arc<Block>,
        hash: KeyHash,
        /// Where it most likely starts, once that was found out.
        likely: Option<u32>,
        behind: Behind,
    },
    /// A block as it was read had to be walked, or there is none.
    Walked(Option<Box<Place>>),
    Failed(Box<Error>),
}

/// What says whether a row may begin in the block behind instead.
#[derive(Clone, Copy, Debug)]
enum Behind {
    Known(bool),
    /// The entry of the root behind this one, which is looked at if the row is not here.
    OfEntry(usize),
}

/// Where the index has a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The entry of the root, where that leads to data blocks.
    in_root: Option<usize>,
    hash: KeyHash,
}

impl RowSeek {
    pub(super) const fn new(answer: FilterAnswer, found: Found) -> Self {
        Self { answer, begun: Begun::Found(found) }
    }

    /// Sends for the row's cell, if its block was loaded. Worth it if other lookups go on before this one
    /// is finished.
    pub fn prefetch(&mut self) {
        if let Begun::In { block, hash, likely, .. } = &mut self.begun
            && let Block::Data(data) = &**block
            && let Some(all) = data.searchable()
        {
            *likely = all.prefetch_cell(*hash);
        }
    }
}

impl Reader {
    /// Begins to look a row up whose filter has answered: by the index, as far as that is in memory for as
    /// long as the file is open. Sends for the block, if it is known where in memory it is.
    pub fn begin_seek(&self, answer: FilterAnswer, probe: &RowProbe<'_>) -> RowSeek {
        RowSeek::new(answer, self.find_in_root(probe))
    }

    /// Goes on to the block with a lookup that the same reader began for the same row. Worth it, as a
    /// step of its own, if other lookups take it too before this one goes on. If the block cannot be
    /// read, that is the error of [`finish_seek`](Self::finish_seek).
    #[inline]
    pub fn load_seek(&self, seek: &mut RowSeek, probe: &RowProbe<'_>, trace: &mut ReadTrace) {
        if let Begun::Found(found) = seek.begun {
            seek.begun = self.loaded(found, probe, trace);
        }
    }

    /// A lookup that has come to its block, or failed.
    #[inline]
    fn loaded(&self, found: Found, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> Begun {
        let loaded = self.load(found, probe.row(), trace);
        loaded.unwrap_or_else(|error| Begun::Failed(Box::new(error)))
    }

    /// Finishes a lookup that the same reader began for the same row. Returns a scanner on the row's
    /// first cell. Counts a false positive if the filter said "maybe" and the row is not there, nor in a
    /// filter over columns the column or a delete of its family.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    #[inline]
    pub fn finish_seek(
        &self,
        seek: RowSeek,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<Scanner>> {
        let RowSeek { answer, begun } = seek;
        match begun {
            Begun::Found(found) => self.seek_found(answer, found, probe, trace),
            begun => self.scanner_at(self.finish_counted(answer, begun, probe, trace)),
        }
    }

    /// Looks a row up, whose filter has answered, in one go.
    #[inline]
    pub(super) fn seek_found(
        &self,
        answer: FilterAnswer,
        found: Found,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<Scanner>> {
        let begun = self.loaded(found, probe, trace);
        self.scanner_at(self.finish_counted(answer, begun, probe, trace))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it returns is large, and would be moved")]
    fn scanner_at(&self, place: Result<Option<Place>, Box<Error>>) -> Result<Option<Scanner>> {
        match place {
            Ok(Some(place)) => Ok(Some(Scanner::at(self.clone(), place))),
            Ok(None) => Ok(None),
            Err(error) => Err(*error),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it returns is large, and would be moved")]
    fn finish_counted(
        &self,
        answer: FilterAnswer,
        begun: Begun,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<Place>, Box<Error>> {
        let found = self.finish(begun, probe.row(), trace)?;
        if answer == FilterAnswer::Maybe {
            let is_false = match &found {
                None => true,
                Some(place) => probe.qualifier().is_some() && self.lacks_column(probe, place)?,
            };
            trace.filter_false_positives += u64::from(is_false);
        }
        Ok(found)
    }

    /// Finds the block in which a row would begin, if the root leads there, and sends for it.
    pub(super) fn find_in_root(&self, probe: &RowProbe<'_>) -> Found {
        let hash = probe.key_hash(ROW_HASH_SEED);
        let index = self.0.index.as_ref();
        let in_root = index.and_then(|index| index.find_in_root(&KeyRef::before_row(probe.row())));
        if let Some(slot) = in_root.and_then(|entry| self.slot(entry)) {
            slot.prefetch(hash);
        }
        Found { in_root, hash }
    }

    /// What is remembered of the block that an entry of the root leads to, as long as that is to be used.
    #[inline]
    fn slot(&self, entry: usize) -> Option<&BlockSlot> {
        let index = self.0.index.as_ref().filter(|_| self.0.blocks.cache_has_room())?;
        index.root.slot(entry)
    }

    /// Loads the block in which a row would begin.
    #[inline]
    fn load(&self, found: Found, row: &[u8], trace: &mut ReadTrace) -> Result<Begun> {
        let Some(index) = &self.0.index else { return Ok(Begun::Walked(None)) };
        let (key, Found { in_root, hash }) = (KeyRef::before_row(row), found);
        if let Some(entry) = in_root
            && let Some((block, bytes)) = self.slot(entry).and_then(BlockSlot::block)
        {
            trace.touch(BlockKind::Data, BlockSource::Cache, bytes);
            return Ok(Begun::In { block, hash, likely: None, behind: Behind::OfEntry(entry) });
        }
        index.find_from_root(&self.0.blocks, &key, in_root, trace, |place, trace| {
            let buffers = &mut Buffers::default();
            let begins_next = begins_next(place.next_key, row);
            let wanted = if begins_next { DataUse::Search } else { DataUse::Walk };
            let block = self.0.load_data(place, wanted, Caching::Use, buffers, trace)?;
            let Block::Data(data) = &*block else { return Ok(Begun::Walked(None)) };
            let Some(deltas) = data.as_read() else {
                if let Some(all) = data.searchable() {
                    all.prefetch_place(hash);
                }
                let behind = Behind::Known(begins_next);
                return Ok(Begun::In { block, hash, likely: None, behind });
            };
            let walk = self.0.walk_to_row(deltas, place, row);
            match walk.map_err(|what| self.damage_in(data, what))? {
                None if begins_next => {
                    let found = self.find_row_behind(data, row, trace)?;
                    Ok(Begun::Walked(found.map(Box::new)))
                }
                walk => {
                    let found = walk.map(|walk| Box::new(Place::new(block, walk)));
                    Ok(Begun::Walked(found))
                }
            }
        })
    }

    /// Finds the first cell of a row in its block.
    ///
    /// The error is in a box: one that shares its bytes with a place has that moved in pieces of one and
    /// two bytes, for which the next who loads it has to wait.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it returns is large, and would be moved")]
    fn finish(
        &self,
        begun: Begun,
        row: &[u8],
        trace: &mut ReadTrace,
    ) -> Result<Option<Place>, Box<Error>> {
        let (block, hash, likely, behind) = match begun {
            Begun::In { block, hash, likely, behind } => (block, hash, likely, behind),
            Begun::Walked(place) => return Ok(place.map(|place| *place)),
            Begun::Failed(error) => return Err(error),
            // It is loaded before it is finished.
            Begun::Found(_) => return Ok(None),
        };
        let Block::Data(data) = &*block else { return Ok(None) };
        let all = self.check(data)?;
        let at = likely.and_then(|at| all.row_at(at, row));
        let at = at.or_else(|| all.row_start(row, hash));
        match at.and_then(|at| data.walk_from(at)) {
            None if self.is_behind(behind, row) => Ok(self.find_row_behind(data, row, trace)?),
            walk => Ok(walk.map(|walk| Place::new(block, walk))),
        }
    }

    fn is_behind(&self, behind: Behind, row: &[u8]) -> bool {
        let entry = match behind {
            Behind::Known(begins_next) => return begins_next,
            Behind::OfEntry(entry) => entry,
        };
        let index = self.0.index.as_ref();
        let next = index.and_then(|index| index.root.entry(entry + 1));
        begins_next(next.map(|next| next.key), row)
    }

    /// Whether a filter over columns was asked in vain: its row, whose first cell is at `place`, has
    /// neither the column nor a family delete.
    fn lacks_column(&self, probe: &RowProbe<'_>, place: &Place) -> Result<bool> {
        let is_over_columns = self.0.filters.is_over_columns(self.0.filter_use);
        let Some(wanted) = probe.qualifier().filter(|_| is_over_columns) else { return Ok(false) };
        // Its own: what it reads is not part of what the caller asked for.
        let mut scanner = Scanner::at(self.clone(), place.clone());
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

    /// Finds the first cell of a row that may begin in the block behind `data`.
    fn find_row_behind(
        &self,
        data: &DataBlock,
        row: &[u8],
        trace: &mut ReadTrace,
    ) -> Result<Option<Place>> {
        let caching = Caching::Use;
        let cursor = self.cursor_on(data, caching, trace)?;
        let Some(next) = self.next_cursor(cursor, caching, trace)? else { return Ok(None) };
        let block = self.whole_data_block_at(&next, caching, &mut Buffers::default(), trace)?;
        let Block::Data(found) = &*block else { return Ok(None) };
        let at = self.check(found)?.row_start(row, row_hash(row));
        let walk = at.and_then(|at| found.walk_from(at));
        Ok(walk.map(|walk| Place::new(block, walk)))
    }
}

/// Whether a row may begin in the next block, by that one's index key: only if that is the row's own
/// first key.
fn begins_next(next_key: Option<&[u8]>, row: &[u8]) -> bool {
    next_key.is_some_and(|next| KeyRef::is_of_row(next, row))
}

#[cfg(test)]
mod tests;
