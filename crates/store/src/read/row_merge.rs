//! The merge of one row and family: the slow path of a get.
//!
//! The cells of the row come from memstores and files, in order, and pass through the rules as in a
//! scan. What differs is that the files are opened as late as possible, newest first: a cell can be
//! judged once all files are open that may have a cell that is not older, because a delete marker
//! hides only cells that are not newer than itself. Once every named column is complete, the remaining files
//! are not read.

use std::cmp::Ordering;

use cells::merge::{CellCursor, MergeCursor};
use cells::rules::{Rules, Verdict};
use cells::shown::{Choice, Selection, ShownCells, pass_to_column};
use cells::view::Columns;
use sstable::lookup::{RowInFile, RowLookup};
use sstable::{CellRef, Timestamp};

use crate::error::{Error, Result};
use crate::files::version::file_list::RankedFile;
use crate::files::version::store_file::FileCursor;
use crate::read::sources::{CellSource, MemstoreCursor, StoreMerge};
use crate::read::view::AnswerCell;

/// The merged cells of one row and family.
#[derive(Debug)]
pub(crate) struct RowMerge<'a> {
    cells: ShownCells<'a, CellSource>,
    sources: RowSources<'a>,
}

/// What is in the merge of a row, and what it can still need.
#[derive(Debug)]
struct RowSources<'a> {
    row: &'a [u8],
    columns: &'a Columns,
    files: &'a [RankedFile],
    /// The sources of the merge, in its order.
    merged: Vec<RowSource>,
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
            cells: ShownCells::new(StoreMerge::unpositioned(Vec::new()), rules),
            sources: RowSources {
                row,
                columns,
                files,
                merged: Vec::new(),
                complete_columns: 0,
                has_all_files: false,
            },
        }
    }

    /// Adds a memstore, which is older than those that were added before.
    pub(crate) fn add_memstore(&mut self, cursor: MemstoreCursor) -> Result<()> {
        let (merge, rules) = self.cells.parts();
        let added = RowSource { rank: 0, file: None };
        self.sources.add(merge, rules, CellSource::Memory(cursor), added)
    }

    /// Adds a file that has the row.
    pub(crate) fn add_file(&mut self, found: RowInFile<'_>) -> Result<()> {
        let (merge, rules) = self.cells.parts();
        self.sources.add_file(merge, rules, found)
    }

    /// Returns the oldest time that matters for the current cell: every file that may have a cell
    /// of that time or later must be open before the cell can be judged.
    pub(crate) fn needed_time(&self) -> Timestamp {
        self.sources.needed_time(self.cells.merge())
    }

    /// Passes the visible cells of the row to `show`, and opens the files that it needs for that.
    pub(crate) fn read(
        &mut self,
        lookup: &mut RowLookup<'_>,
        show: &mut impl FnMut(AnswerCell<'_>),
    ) -> Result<()> {
        let sources = &mut self.sources;
        let has_next = self.cells.select(&mut RowSelection { sources, lookup, show })?;
        debug_assert!(!has_next, "the selection shows the cells itself");
        Ok(())
    }

    /// Adds the reads of the files to the counters of the lookup.
    ///
    /// Returns the number of cells that were copied from memstores.
    pub(crate) fn end(mut self, lookup: &mut RowLookup<'_>) -> usize {
        let mut copied = 0;
        for (source, cells) in self.sources.merged.iter().zip(self.cells.sources_mut()) {
            match cells {
                CellSource::Memory(cursor) => copied += cursor.copied(),
                CellSource::File(cursor) => {
                    let file = source.file.expect("a file has an index");
                    lookup.add_reads(file, &cursor.take_trace());
                }
            }
        }
        copied
    }
}

impl RowSources<'_> {
    fn add_file(
        &mut self,
        merge: &mut StoreMerge,
        rules: &mut Rules<'_>,
        found: RowInFile<'_>,
    ) -> Result<()> {
        let index = found.file();
        let RankedFile { file, rank } = &self.files[index];
        let cursor = FileCursor::at(file, found.into_scanner());
        let added = RowSource { rank: *rank, file: Some(index) };
        self.add(merge, rules, CellSource::File(Box::new(cursor)), added)
    }

    /// Adds a source at the current column, and notes its markers that delete in all columns.
    ///
    /// The markers come first in the row, and the merge may be past them.
    fn add(
        &mut self,
        merge: &mut StoreMerge,
        rules: &mut Rules<'_>,
        mut cells: CellSource,
        source: RowSource,
    ) -> Result<()> {
        if let Columns::Only(columns) = self.columns {
            let may_delete_families = cells.may_delete_families();
            pass_to_column(&mut cells, self.row, &columns[self.complete_columns], |cell| {
                let is_relevant = may_delete_families
                    && cell.qualifier.is_empty()
                    && !rules.note_family_marker(cell);
                !is_relevant
            })?;
        }
        let index = self.merged.partition_point(|known| known.rank <= source.rank);
        self.merged.insert(index, source);
        merge.insert(index, cells);
        Ok(())
    }

    fn needed_time(&self, merge: &StoreMerge) -> Timestamp {
        let Columns::Only(columns) = self.columns else { return Timestamp::OLDEST };
        let Some(cell) = merge.cell().filter(|cell| cell.row == self.row) else {
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

    /// Returns whether all named columns are complete.
    fn is_complete(&self) -> bool {
        matches!(self.columns, Columns::Only(columns) if columns.len() == self.complete_columns)
    }
}

/// The cells of the row in the columns of the get.
struct RowSelection<'s, 'a, 'l, Show> {
    sources: &'s mut RowSources<'a>,
    lookup: &'s mut RowLookup<'l>,
    show: &'s mut Show,
}

impl<Show: FnMut(AnswerCell<'_>)> Selection<CellSource> for RowSelection<'_, '_, '_, Show> {
    /// Opens the files that are needed to judge the current cell.
    fn prepare(
        &mut self,
        merge: &mut MergeCursor<CellSource>,
        rules: &mut Rules<'_>,
    ) -> Result<(), Error> {
        while !self.sources.has_all_files {
            let needed = self.sources.needed_time(merge);
            self.lookup.stop_below(needed);
            let Some(found) = self.lookup.next_file()? else {
                self.sources.has_all_files = needed == Timestamp::OLDEST;
                break;
            };
            self.sources.add_file(merge, rules, found)?;
        }
        Ok(())
    }

    fn includes(&self, cell: &CellRef<'_>) -> bool {
        let is_after_columns = match self.sources.columns {
            Columns::All => false,
            Columns::Only(columns) => columns.last().is_some_and(|last| &last[..] < cell.qualifier),
        };
        cell.row == self.sources.row && !is_after_columns
    }

    fn choose(&mut self, cell: &CellRef<'_>, verdict: Verdict, rules: &Rules<'_>) -> Choice {
        if let Columns::Only(columns) = self.sources.columns
            && rules.is_column_complete()
            && let Ok(index) = columns.binary_search_by(|known| known[..].cmp(cell.qualifier))
        {
            self.sources.complete_columns = self.sources.complete_columns.max(index + 1);
        }
        if verdict == Verdict::Include {
            (self.show)(AnswerCell::Borrowed(*cell));
        }
        // Without a read of the next cell.
        if self.sources.is_complete() { Choice::End } else { Choice::Pass }
    }
}
