//! Scans over the rows of a family.
//!
//! A scan merges all memstores and files and passes the cells through the rules. A reverse scan goes from
//! row to row [backwards](super::backward), and reads each row forwards.

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

use sstable::{Caching, Cell, CellRef, KeyRef, ReadTrace, prefix_end};

use crate::error::Result;
use crate::files::version::store_file::{FileCursor, StoreFile};
use crate::files::version::store_version::Family;
use crate::process::{OwnProcess, check_process};
use crate::read::backward::RowsBackward;
use crate::read::cell_filter::CellFilter;
use crate::read::get::ReadView;
use crate::read::query::Scan;
use crate::read::rules::{Rules, Verdict};
use crate::read::sources::{CellSource, MemstoreCursor, StoreMerge};

/// The cells that a scan shows, in order. After an error the iterator ends.
///
/// The scan shows the store as it was when the scan began, and keeps the memstores and files of
/// that moment alive. The iterator copies each cell; [`next_ref`](Self::next_ref) borrows it
/// instead.
#[derive(Debug)]
pub struct ScanCells {
    family: Arc<Family>,
    process: OwnProcess,
    scan: Scan,
    rules: Rules<'static>,
    filter: CellFilter,
    merge: StoreMerge,
    state: ScanState,
    /// In a reverse scan: the rows of the merge.
    backward: Option<RowsBackward>,
    counter: RowCounter,
}

/// The state of the cell at the merge cursor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ScanState {
    /// The rules were not asked yet.
    Unjudged,
    /// The cell is the next result.
    Selected,
    /// The cell was returned; the cursor must advance.
    Returned,
    /// The scan has ended.
    Done,
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

/// Whether a cell is within the limits of a scan.
enum Limit {
    Within,
    RowIsFull,
    End,
}

impl ScanCells {
    pub(crate) fn new(view: &ReadView, mut scan: Scan) -> Result<Self> {
        let family = view.family(&scan.family)?;
        let process = view.process.clone();
        scan.columns.sort();
        let columns = Cow::Owned(scan.columns.sorted.clone());
        let options = &family.family.options;
        let mut shown = scan.view;
        if !scan.conditions.is_empty() {
            shown.versions = u32::MAX; // The filter applies the maximum of the scan.
        }
        let rules = Rules::for_read(options, &shown, columns, view.now());
        let filter = CellFilter::new(scan.conditions.clone(), scan.view.versions);
        let memstores = family.memstores();
        let mut sources: Vec<_> = memstores
            .map(|memstore| {
                CellSource::Memory(MemstoreCursor::new(Arc::clone(memstore), view.visible))
            })
            .collect();
        let mut trace = ReadTrace::default();
        let can_contribute = |file: &&Arc<StoreFile>| {
            let prefix = scan.prefix.as_deref();
            let reader = &file.reader;
            can_contribute(file, &scan, &rules)
                && prefix.is_none_or(|prefix| reader.may_contain_prefix(prefix, &mut trace))
        };
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
        Ok(Self {
            family,
            process,
            scan,
            rules,
            filter,
            merge,
            state: if is_empty { ScanState::Done } else { ScanState::Unjudged },
            backward,
            counter: RowCounter::default(),
        })
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
    #[inline]
    pub fn next_ref(&mut self) -> Result<Option<CellRef<'_>>> {
        if !self.select_next()? {
            return Ok(None);
        }
        self.state = ScanState::Returned;
        let cell = self.merge.cell();
        debug_assert!(cell.is_some(), "{ON_SELECTED_CELL}");
        Ok(cell)
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
        while batch.len() < limit && self.select_next()? {
            let cell = self.selected_cell();
            if batch.first().is_some_and(|first| first.row() != cell.row) {
                break;
            }
            batch.push(cell.to_cell());
            self.state = ScanState::Returned;
        }
        Ok(batch)
    }

    fn selected_cell(&self) -> CellRef<'_> {
        self.merge.cell().expect(ON_SELECTED_CELL)
    }

    /// Advances to the next cell to show; returns whether there is one.
    fn select_next(&mut self) -> Result<bool> {
        check_process(&self.process)?;
        if matches!(self.state, ScanState::Unjudged | ScanState::Returned) {
            // If a step fails, the scan stays done.
            if mem::replace(&mut self.state, ScanState::Done) == ScanState::Returned {
                self.advance()?;
            }
            if self.find_shown()? {
                self.state = ScanState::Selected;
            }
        }
        Ok(self.state == ScanState::Selected)
    }

    /// Advances to the first cell to show at or after the cursor; returns whether there is one.
    fn find_shown(&mut self) -> Result<bool> {
        loop {
            if let Some(backward) = &mut self.backward {
                backward.go_to_row(&mut self.merge)?;
            }
            let Some(cell) = self.merge.cell() else { return Ok(false) };
            if !self.scan.includes(cell.row) {
                return Ok(false);
            }
            match self.rules.judge(&cell) {
                Verdict::Include if !self.filter.accepts(&cell) => self.advance()?,
                Verdict::Include => match self.counter.count(&self.scan, cell.row) {
                    Limit::Within => return Ok(true),
                    Limit::RowIsFull if self.backward.is_some() => self.merge.clear_position(),
                    Limit::RowIsFull => {
                        self.merge.seek(KeyRef::after_row(&self.counter.row))?;
                    }
                    Limit::End => return Ok(false),
                },
                verdict if self.merge.seek_past(&mut self.rules, verdict)? => {}
                _ => self.advance()?,
            }
        }
    }

    fn advance(&mut self) -> Result<()> {
        if self.backward.is_some() { self.merge.advance_in_row() } else { self.merge.advance() }
    }
}

const ON_SELECTED_CELL: &str = "the merge cursor is on the selected cell";

impl RowCounter {
    /// Counts a cell and its row, unless it exceeds a limit.
    fn count(&mut self, scan: &Scan, row: &[u8]) -> Limit {
        if scan.rows_max.is_none() && scan.cells_per_row_max.is_none() {
            return Limit::Within;
        }
        if self.rows == 0 || self.row != row {
            if scan.rows_max == Some(self.rows) {
                return Limit::End;
            }
            self.rows += 1;
            self.row_cells = 0;
            self.row.clear();
            self.row.extend_from_slice(row);
        }
        if scan.cells_per_row_max == Some(self.row_cells) {
            return Limit::RowIsFull;
        }
        self.row_cells += 1;
        Limit::Within
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
        self.family.reads.record(&self.merge.take_trace(), 0);
    }
}

impl Scan {
    /// Returns whether a row is before the end of the range, in the direction of the scan.
    fn includes(&self, row: &[u8]) -> bool {
        let is_before = |stop: &[u8]| if self.reverse { row > stop } else { row < stop };
        self.stop.as_deref().is_none_or(is_before)
            && self.prefix.as_deref().is_none_or(|prefix| row.starts_with(prefix))
    }
}

/// Returns whether a file can hold cells that affect the scan's result.
fn can_contribute(file: &StoreFile, scan: &Scan, rules: &Rules<'_>) -> bool {
    let (first, last) = (file.entry.first_row(), file.entry.last_row());
    let (start, stop) = (scan.start.as_deref(), scan.stop.as_deref());
    let in_range = if scan.reverse {
        start.is_none_or(|start| first <= start) && stop.is_none_or(|stop| last > stop)
    } else {
        start.is_none_or(|start| last >= start) && stop.is_none_or(|stop| first < stop)
    };
    in_range && rules.can_contribute(file.oldest(), file.newest())
}
