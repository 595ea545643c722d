//! The merge of one row and family: the slow path of a get.
//!
//! The cells of the row come from memstores and files, in order, and pass through the rules as in a
//! scan. What differs is that the files are opened as late as possible, newest first: a cell can be
//! judged once all files are open that may have a cell that is not older, because a delete marker
//! hides only cells that are not newer than itself. Once every named column is complete, the remaining files
//! are not read.

use std::cmp::Ordering;

use sstable::engine::{RowInFile, RowLookup};
use sstable::{Cell, CellRef, KeyRef, ReadTrace, Timestamp};

use crate::error::Result;
use crate::files::version::file_list::RankedFile;
use crate::files::version::store_file::FileCursor;
use crate::read::explain::GetObserver;
use crate::read::merge::CellCursor;
use crate::read::query::Columns;
use crate::read::rules::{Rules, Verdict};
use crate::read::seeks::SKIPS_MAX;
use crate::read::sources::{CellSource, MemstoreCursor, StoreMerge};

/// A cell of an answer.
pub(crate) enum ShownCell<'a> {
    /// The block of the cell holds it.
    Borrowed(CellRef<'a>),
    /// The cell was copied from a memstore.
    Owned(Cell),
}

impl ShownCell<'_> {
    pub(crate) fn as_ref(&self) -> CellRef<'_> {
        match self {
            Self::Borrowed(cell) => *cell,
            Self::Owned(cell) => cell.as_ref(),
        }
    }
}

/// The merged cells of one row and family.
#[derive(Debug)]
pub(crate) struct RowMerge<'a> {
    row: &'a [u8],
    columns: &'a Columns,
    files: &'a [RankedFile],
    rules: Rules<'a>,
    merge: StoreMerge,
    /// The sources of the merge, in its order.
    sources: Vec<RowSource>,
    /// How many of the named columns, from the first, are complete.
    complete_columns: usize,
    /// Whether all files that are needed are open.
    has_all_files: bool,
}

/// A source of the merge.
#[derive(Clone, Copy, Debug)]
struct RowSource {
    /// Of two equal cells the one of the lower rank is newer; memstores have rank 0.
    rank: usize,
    /// The index in the list of files; `None` for a memstore.
    file: Option<usize>,
}

impl<'a> RowMerge<'a> {
    /// Creates a merge without sources. `rules` are for `columns`.
    pub(crate) const fn new(
        row: &'a [u8],
        columns: &'a Columns,
        files: &'a [RankedFile],
        rules: Rules<'a>,
    ) -> Self {
        Self {
            row,
            columns,
            files,
            rules,
            merge: StoreMerge::unpositioned(Vec::new()),
            sources: Vec::new(),
            complete_columns: 0,
            has_all_files: false,
        }
    }

    /// Adds a memstore, which is older than those that were added before.
    pub(crate) fn add_memstore(&mut self, cursor: MemstoreCursor) -> Result<()> {
        self.add(CellSource::Memory(cursor), RowSource { rank: 0, file: None })
    }

    /// Adds a file that has the row.
    pub(crate) fn add_file(&mut self, found: RowInFile<'_>) -> Result<()> {
        let index = found.file();
        let RankedFile { file, rank } = &self.files[index];
        let cursor = FileCursor::at(file, found.into_scanner());
        let added = RowSource { rank: *rank, file: Some(index) };
        self.add(CellSource::File(Box::new(cursor)), added)
    }

    fn add(&mut self, mut cells: CellSource, source: RowSource) -> Result<()> {
        if let Columns::Only(columns) = self.columns {
            let column = &columns[self.complete_columns];
            if !column.is_empty() {
                self.seek_column(&mut cells, column)?;
            }
        }
        let index = self.sources.partition_point(|known| known.rank <= source.rank);
        self.sources.insert(index, source);
        self.merge.insert(index, cells);
        Ok(())
    }

    /// Moves a new source to the current column, and notes the markers that delete in all columns.
    ///
    /// The markers come first in the row, and the merge may be past them.
    fn seek_column(&mut self, source: &mut CellSource, column: &[u8]) -> Result<()> {
        let may_delete_families = source.may_delete_families();
        let mut skips = 0;
        while let Some(cell) = source.cell()
            && cell.row == self.row
            && cell.qualifier < column
        {
            let is_relevant = may_delete_families
                && cell.qualifier.is_empty()
                && !self.rules.note_family_marker(&cell);
            if !is_relevant {
                skips += 1;
            }
            if skips > SKIPS_MAX {
                let family = cell.family.to_vec();
                return source.seek(KeyRef::before_column(self.row, &family, column));
            }
            source.advance()?;
        }
        Ok(())
    }

    /// Returns the oldest time that matters for the current cell: every file that may have a cell
    /// of that time or later must be open before the cell can be judged.
    pub(crate) fn needed_time(&self) -> Timestamp {
        let Columns::Only(columns) = self.columns else { return Timestamp::OLDEST };
        let Some(cell) = self.merge.cell().filter(|cell| cell.row == self.row) else {
            return Timestamp::OLDEST;
        };
        let wanted = &columns[self.complete_columns][..];
        match cell.qualifier.cmp(wanted) {
            // Not a wanted column, or one that is complete.
            Ordering::Less => Timestamp::LATEST,
            Ordering::Equal => cell.timestamp,
            // Any file may have versions of the wanted column.
            Ordering::Greater => Timestamp::OLDEST,
        }
    }

    /// Passes the visible cells of the row to `show`, and opens the files that it needs for that.
    pub(crate) fn read(
        &mut self,
        lookup: &mut RowLookup<'_>,
        show: &mut impl FnMut(ShownCell<'_>),
        observer: &mut impl GetObserver,
    ) -> Result<()> {
        loop {
            if !self.has_all_files && self.open_file(lookup, observer)? {
                continue;
            }
            let Some(cell) = self.merge.cell().filter(|cell| cell.row == self.row) else { break };
            if self.is_after_columns(&cell) {
                break;
            }
            let verdict = self.rules.judge(&cell);
            if let Columns::Only(columns) = self.columns
                && self.rules.is_column_complete()
                && let Ok(index) = columns.binary_search_by(|known| known[..].cmp(cell.qualifier))
            {
                self.complete_columns = self.complete_columns.max(index + 1);
            }
            if verdict == Verdict::Include {
                show(ShownCell::Borrowed(cell));
            }
            if self.is_complete() {
                break; // Without a read of the next cell.
            }
            self.merge.pass(&mut self.rules, verdict)?;
        }
        Ok(())
    }

    /// Returns whether `cell` is after the last named column.
    fn is_after_columns(&self, cell: &CellRef<'_>) -> bool {
        match self.columns {
            Columns::All => false,
            Columns::Only(columns) => columns.last().is_some_and(|last| &last[..] < cell.qualifier),
        }
    }

    /// Returns whether all named columns are complete.
    fn is_complete(&self) -> bool {
        matches!(self.columns, Columns::Only(columns) if columns.len() == self.complete_columns)
    }

    /// Opens the next file that is needed to judge the current cell; returns whether there was one.
    fn open_file(
        &mut self,
        lookup: &mut RowLookup<'_>,
        observer: &mut impl GetObserver,
    ) -> Result<bool> {
        let needed = self.needed_time();
        lookup.stop_below(needed);
        let Some(found) = lookup.next_file(observer)? else {
            self.has_all_files = needed == Timestamp::OLDEST;
            return Ok(false);
        };
        self.add_file(found)?;
        Ok(true)
    }

    /// Adds the reads of the files to `trace`, and tells them to the observer.
    ///
    /// Returns the number of cells that were copied from memstores.
    pub(crate) fn end(mut self, trace: &mut ReadTrace, observer: &mut impl GetObserver) -> usize {
        let mut copied = 0;
        for (source, cells) in self.sources.iter().zip(self.merge.sources_mut()) {
            match cells {
                CellSource::Memory(cursor) => copied += cursor.copied(),
                CellSource::File(cursor) => {
                    let read = cursor.take_trace();
                    trace.add(&read);
                    let file = source.file.expect("a file has an index");
                    observer.read_further(file, &read);
                }
            }
        }
        copied
    }
}
