//! Scans over the rows of a family.
//!
//! A scan merges all memstores and files and passes the cells through the rules. A reverse scan goes from
//! row to row [backwards](RowsBackward), and reads each row forwards.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;

use cells::backward::RowsBackward;
use cells::cell_filter::CellFilter;
use cells::prefix_end;
use cells::rules::{Rules, Verdict};
use cells::shown::{Choice, Selection, ShownCells};
use sstable::lookup::{FilterQuestion, RowBounds, WantedCells};
use sstable::{Caching, Cell, CellRef, Comparator, FilterAnswer, KeyRef, ReadTrace};

use crate::error::Result;
use crate::files::version::store_file::{FileCursor, StoreFile};
use crate::files::version::store_version::Family;
use crate::process::{OwnProcess, check_process};
use crate::read::query::Scan;
use crate::read::sources::{CellSource, MemstoreCursor, StoreMerge, take_trace};
use crate::read::view::ReadView;

/// The cells that a scan shows, in order. After an error the iterator ends.
///
/// The scan shows the store as it was when the scan began, and keeps the memstores and files of
/// that moment alive. The iterator copies each cell; [`next_ref`](Self::next_ref) borrows it
/// instead.
#[derive(Debug)]
pub struct ScanCells {
    family: Arc<Family>,
    process: OwnProcess,
    cells: ShownCells<'static, CellSource>,
    selection: ScanSelection,
}

/// The part of a scan that the rules do not know.
#[derive(Debug)]
struct ScanSelection {
    scan: Scan,
    filter: CellFilter,
    /// In a reverse scan: the rows of the merge.
    backward: Option<RowsBackward>,
    counter: RowCounter,
}

/// The rows and cells returned so far, for the limits of a scan.
#[derive(Debug, Default)]
struct RowCounter {
    rows: u64,
    /// The last row.
    row: Vec<u8>,
    /// Cells of the last row.
    row_cells: u64,
}

impl ScanCells {
    pub(crate) fn new(view: &ReadView, mut scan: Scan) -> Result<Self> {
        let family = view.family(&scan.family)?;
        let process = view.process.clone();
        scan.columns.sort();
        let columns = Cow::Owned(scan.columns.sorted.clone());
        let retention = family.family.options.retention();
        let mut shown = scan.view;
        if !scan.conditions.is_empty() {
            shown.versions = u32::MAX; // The filter applies the maximum of the scan.
        }
        let rules = Rules::for_read(&retention, &shown, columns, view.now());
        let filter = CellFilter::new(scan.conditions.clone(), scan.view.versions);
        let memstores = family.memstores();
        let mut sources: Vec<_> = memstores
            .map(|memstore| {
                CellSource::Memory(MemstoreCursor::new(Arc::clone(memstore), view.visible))
            })
            .collect();
        let mut trace = ReadTrace::default();
        let can_contribute =
            |file: &&Arc<StoreFile>| can_contribute(file, &scan, &rules, &mut trace);
        let files = family.files.by_sequence().filter(can_contribute);
        sources.extend(
            files.map(|file| CellSource::File(Box::new(FileCursor::new(file, Caching::Use)))),
        );
        let prefix = scan.prefix.as_deref();
        let start = scan.start.as_deref().max(prefix).unwrap_or_default();
        let upper_bound = scan.start.as_deref().map(|start| [start, b"\0"].concat());
        let upper_bound = [upper_bound, prefix.and_then(prefix_end)].into_iter().flatten().min();
        let mut backward = None;
        let merge = if scan.reverse {
            backward = Some(RowsBackward::new(sources.len(), upper_bound));
            StoreMerge::unpositioned(sources)
        } else {
            StoreMerge::new(sources, KeyRef::before_row(start))?
        };
        let is_empty = scan.rows_max == Some(0) || scan.cells_per_row_max == Some(0);
        if trace.filters_unreadable > 0 {
            family.log_filter_problems();
        }
        let family = Arc::clone(&family.family);
        family.reads.record(&trace, 0);
        let mut cells = ShownCells::new(merge, rules);
        if backward.is_some() {
            cells = cells.row_by_row();
        }
        if is_empty {
            cells.end();
        }
        let selection = ScanSelection { scan, filter, backward, counter: RowCounter::default() };
        Ok(Self { family, process, cells, selection })
    }

    /// Returns a reference to the next cell, or `None` at the end.
    ///
    /// ```
    /// # use store::{FamilyOptions, Put, Scan, Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("f", FamilyOptions::default())?;
    /// # store.put(Put::new("row1").column("f", "name", "Ada"))?;
    /// let mut cells = store.scan(Scan::family("f"))?;
    /// let mut bytes = 0;
    /// while let Some(cell) = cells.next_ref()? {
    ///     bytes += cell.value.len();
    /// }
    /// assert_eq!(bytes, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Store::get`](crate::Store::get).
    pub fn next_ref(&mut self) -> Result<Option<CellRef<'_>>> {
        check_process(&self.process)?;
        self.cells.next(&mut self.selection)
    }

    /// Returns up to `limit` of the next cells, all of one row; empty at the end.
    ///
    /// A long row comes in several batches, as with HBase's `Scan.setBatch`.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`](crate::Store::get).
    pub fn next_batch(&mut self, limit: usize) -> Result<Vec<Cell>> {
        let mut batch: Vec<Cell> = Vec::new();
        check_process(&self.process)?;
        while batch.len() < limit
            && self.cells.select(&mut self.selection)?
            && let Some(cell) = self.cells.selected()
            && batch.first().is_none_or(|first| first.row() == cell.row)
        {
            batch.push(cell.to_cell());
            self.cells.take();
        }
        Ok(batch)
    }
}

impl Selection<CellSource> for ScanSelection {
    fn prepare(&mut self, merge: &mut StoreMerge, _: &mut Rules<'_>) -> Result<()> {
        match &mut self.backward {
            Some(backward) => backward.go_to_row(merge),
            None => Ok(()),
        }
    }

    /// Returns whether the row of a cell is before the end of the range, in the direction of the scan.
    fn includes(&self, cell: &CellRef<'_>) -> bool {
        let Scan { stop, prefix, reverse, .. } = &self.scan;
        let is_before = |stop: &[u8]| if *reverse { cell.row > stop } else { cell.row < stop };
        stop.as_deref().is_none_or(is_before)
            && prefix.as_deref().is_none_or(|prefix| cell.row.starts_with(prefix))
    }

    fn choose(&mut self, cell: &CellRef<'_>, verdict: Verdict, _: &Rules<'_>) -> Choice {
        if verdict != Verdict::Include || !self.filter.accepts(cell) {
            return Choice::Pass;
        }
        self.counter.count(&self.scan, cell.row)
    }
}

impl RowCounter {
    /// Counts a cell and its row, and returns the cell, unless it exceeds a limit.
    fn count(&mut self, scan: &Scan, row: &[u8]) -> Choice {
        if scan.rows_max.is_none() && scan.cells_per_row_max.is_none() {
            return Choice::Return;
        }
        if self.rows == 0 || self.row != row {
            if scan.rows_max == Some(self.rows) {
                return Choice::End;
            }
            self.rows += 1;
            self.row_cells = 0;
            self.row.clear();
            self.row.extend_from_slice(row);
        }
        if scan.cells_per_row_max == Some(self.row_cells) {
            return Choice::EndRow;
        }
        self.row_cells += 1;
        Choice::Return
    }
}

impl Iterator for ScanCells {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_ref().transpose()?;
        Some(next.map(|cell| cell.to_cell()))
    }
}

impl Drop for ScanCells {
    fn drop(&mut self) {
        self.family.reads.record(&take_trace(self.cells.sources_mut()), 0);
    }
}

/// Returns whether a file can hold cells that affect the scan's result, and counts why not.
fn can_contribute(file: &StoreFile, scan: &Scan, rules: &Rules<'_>, trace: &mut ReadTrace) -> bool {
    let start = scan.start.as_deref().map_or(Bound::Unbounded, Bound::Included);
    let stop = scan.stop.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let (first, last) = if scan.reverse { (stop, start) } else { (start, stop) };
    let rows = RowBounds::new(first, last, Comparator::Bytes);
    let question = scan.prefix.as_deref().map_or(FilterQuestion::Nothing, FilterQuestion::Prefix);
    let wanted = WantedCells { rows, rules: Some(rules), question };
    let times = Some((file.oldest(), file.newest()));
    file.reader.may_have(&wanted, times, trace) != FilterAnswer::No
}
