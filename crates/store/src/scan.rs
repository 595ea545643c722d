//! Many rows in order.
//!
//! Forwards, all sources are merged once and passed through the rules. Backwards, each row is:
//! the greatest row below the last one is looked for, and then read forwards, as HBase does.

use std::borrow::Cow;
use std::sync::Arc;

use sstable::{Caching, Cell, KeyRef};

use crate::error::Result;
use crate::merge::{MemoryCursor, Merge, Source};
use crate::query::Scan;
use crate::read::ReadView;
use crate::rules::{Rules, Verdict};
use crate::store_file::{FileCursor, StoreFile};
use crate::version::Family;

/// The cells that a scan shows, in order. After an error there are none.
///
/// It shows the store as it was when the scan began, and keeps the memstores and files of that
/// moment for as long.
#[derive(Debug)]
pub struct Cells {
    family: Arc<Family>,
    scan: Scan,
    rules: Rules<'static>,
    merge: Merge,
    /// Going backwards: no row from here on is wanted any more, but this one if it is being read.
    below: Option<Vec<u8>>,
    reads_row: bool,
    /// The row of the last cell shown, and how many rows were.
    row: Vec<u8>,
    rows: u64,
    is_done: bool,
}

impl Cells {
    /// Cells of a column that are passed over one by one before it is worth to seek its end.
    const SKIPS_MAX: u32 = 16;

    pub(crate) fn new(view: &ReadView, scan: Scan) -> Result<Self> {
        let family = view.family(&scan.family)?;
        let columns = Cow::Owned(scan.columns.clone());
        let rules = Rules::for_read(&family.family.options, &scan.view, columns, view.now);
        let memstores = family.memstores();
        let mut sources: Vec<_> = memstores
            .map(|memstore| Source::Memory(MemoryCursor::new(Arc::clone(memstore), view.visible)))
            .collect();
        let can_matter = |file: &&Arc<StoreFile>| can_matter(file, &scan, &rules);
        let files = family.files.by_sequence().filter(can_matter);
        sources
            .extend(files.map(|file| Source::File(Box::new(FileCursor::new(file, Caching::Use)))));
        let start = scan.start.as_deref().unwrap_or_default();
        let below = scan.start.as_deref().map(|start| [start, b"\0"].concat());
        let merge = Merge::new(sources, KeyRef::before_row(start))?;
        let is_done = scan.rows_max == Some(0);
        let (row, rows, reads_row) = (Vec::new(), 0, false);
        let family = Arc::clone(&family.family);
        Ok(Self { family, scan, rules, merge, below, reads_row, row, rows, is_done })
    }

    fn read_next(&mut self) -> Result<Option<Cell>> {
        let mut skips = 0;
        while self.stands_in_range()? {
            let Some(cell) = self.merge.cell() else { break };
            match self.rules.judge(&cell) {
                Verdict::Include => {
                    let cell = cell.to_cell();
                    if !self.count_row(&cell) {
                        break;
                    }
                    self.merge.advance()?;
                    return Ok(Some(cell));
                }
                // Among the cells without a qualifier stand the deletes of the whole family.
                Verdict::SkipColumn if !cell.qualifier.is_empty() => skips += 1,
                Verdict::Skip | Verdict::SkipColumn => {}
            }
            if skips > Self::SKIPS_MAX {
                let cell = cell.to_cell();
                let column = cell.as_ref();
                let end = KeyRef::after_column(column.row, column.family, column.qualifier);
                self.merge.seek(end)?;
                skips = 0;
            } else {
                self.merge.advance()?;
            }
        }
        Ok(None)
    }

    /// Whether the merge stands on a cell of the range; backwards, after it has gone to the row
    /// below if need be.
    fn stands_in_range(&mut self) -> Result<bool> {
        let stop = self.scan.stop.as_deref();
        if !self.scan.reverse {
            let cell = self.merge.cell();
            return Ok(cell.is_some_and(|cell| stop.is_none_or(|stop| cell.row < stop)));
        }
        loop {
            let row = self.below.as_deref().filter(|_| self.reads_row);
            if row.is_some() && self.merge.cell().map(|cell| cell.row) == row {
                return Ok(true);
            }
            let Some(row) = self.merge.row_before(self.below.as_deref())? else {
                return Ok(false);
            };
            if stop.is_some_and(|stop| &row[..] <= stop) {
                return Ok(false);
            }
            self.merge.seek(KeyRef::before_row(&row))?;
            self.below = Some(row.into());
            self.reads_row = true;
        }
    }

    /// Counts the row that a cell is of; `false` if it is one too many.
    fn count_row(&mut self, cell: &Cell) -> bool {
        if self.rows == 0 || self.row != cell.row() {
            if self.scan.rows_max == Some(self.rows) {
                return false;
            }
            self.rows += 1;
            self.row.clear();
            self.row.extend_from_slice(cell.row());
        }
        true
    }
}

impl Iterator for Cells {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.read_next().transpose();
        self.is_done = !matches!(next, Some(Ok(_)));
        next
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        self.family.reads.record(&self.merge.take_trace());
    }
}

/// Whether a file can have cells that the scan shows, or markers that hide some.
fn can_matter(file: &StoreFile, scan: &Scan, rules: &Rules<'_>) -> bool {
    let (first, last) = (&file.entry.first_row[..], &file.entry.last_row[..]);
    let (start, stop) = (scan.start.as_deref(), scan.stop.as_deref());
    let in_range = if scan.reverse {
        start.is_none_or(|start| first <= start) && stop.is_none_or(|stop| last > stop)
    } else {
        start.is_none_or(|start| last >= start) && stop.is_none_or(|stop| first < stop)
    };
    in_range && rules.can_matter(file.oldest(), file.newest())
}
