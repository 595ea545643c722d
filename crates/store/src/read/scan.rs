//! Many rows in order.
//!
//! Forwards, all sources are merged once and passed through the rules. Backwards, each row is:
//! the greatest row below the last one is looked for, and then read forwards, as HBase does.

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

use sstable::{Caching, Cell, CellRef, KeyRef, ReadTrace};

use crate::error::Result;
use crate::files::store_file::{FileCursor, StoreFile};
use crate::files::version::Family;
use crate::read::get::ReadView;
use crate::read::merge::{CellSource, MemstoreCursor, MergeCursor};
use crate::read::query::Scan;
use crate::read::rules::{Rules, Verdict};

/// The cells that a scan shows, in order. After an error there are none.
///
/// It shows the store as it was when the scan began, and keeps the memstores and files of that
/// moment for as long. As an iterator it gives away a copy of each cell; who only looks at them
/// asks for [`next_ref`](Self::next_ref), which copies nothing.
#[derive(Debug)]
pub struct Cells {
    family: Arc<Family>,
    scan: Scan,
    rules: Rules<'static>,
    merge: MergeCursor,
    standing: Standing,
    /// Going backwards: no row from here on is wanted any more, but this one if it is being read.
    below: Option<Vec<u8>>,
    reads_row: bool,
    shown: Shown,
}

/// What has become of the cell that a merge stands on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Standing {
    /// It was not looked at yet.
    Unseen,
    /// It is to be shown next.
    Chosen,
    /// It was shown, and the merge has to leave it.
    Shown,
    /// Neither it nor any behind it is shown.
    End,
}

/// What was shown so far, for the limits of a scan.
#[derive(Debug, Default)]
struct Shown {
    rows: u64,
    /// The last row, and how many cells of it.
    row: Vec<u8>,
    row_cells: u64,
}

/// What the limits of a scan say of a cell.
enum Limit {
    Within,
    RowIsFull,
    End,
}

impl Cells {
    /// Cells of a column that are passed over one by one before it is worth to seek its end.
    const SKIPS_MAX: u32 = 16;

    pub(crate) fn new(view: &ReadView, scan: Scan) -> Result<Self> {
        let family = view.family(&scan.family)?;
        let columns = Cow::Owned(scan.columns.clone());
        let rules = Rules::for_read(&family.family.options, &scan.view, columns, view.now());
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
        let below = scan.start.as_deref().map(|start| [start, b"\0"].concat());
        let below = [below, prefix.and_then(first_behind)].into_iter().flatten().min();
        let merge = MergeCursor::new(sources, KeyRef::before_row(start))?;
        let is_empty = scan.rows_max == Some(0) || scan.cells_per_row_max == Some(0);
        if trace.filters_unreadable > 0 {
            family.log_filter_problems();
        }
        let family = Arc::clone(&family.family);
        family.reads.record(&trace);
        Ok(Self {
            family,
            scan,
            rules,
            merge,
            standing: if is_empty { Standing::End } else { Standing::Unseen },
            below,
            reads_row: false,
            shown: Shown::default(),
        })
    }

    /// The next cell as it stands in memory, without a copy; `None` at the end.
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
        if !self.choose()? {
            return Ok(None);
        }
        self.standing = Standing::Shown;
        let cell = self.merge.cell();
        debug_assert!(cell.is_some(), "the merge stands on the chosen cell");
        Ok(cell)
    }

    /// The next cells, up to `limit`, all of one row, so that a long row comes in parts (HBase's
    /// batch). None at the end.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`](crate::Store::get).
    pub fn next_batch(&mut self, limit: usize) -> Result<Vec<Cell>> {
        let mut batch: Vec<Cell> = Vec::new();
        while batch.len() < limit && self.choose()? {
            let cell = self.chosen();
            if batch.first().is_some_and(|first| first.row() != cell.row) {
                break;
            }
            batch.push(cell.to_cell());
            self.standing = Standing::Shown;
        }
        Ok(batch)
    }

    /// The cell that was chosen.
    fn chosen(&self) -> CellRef<'_> {
        self.merge.cell().expect("the merge stands on the chosen cell")
    }

    /// Goes to the next cell that is to be shown; whether there is one.
    fn choose(&mut self) -> Result<bool> {
        if matches!(self.standing, Standing::Unseen | Standing::Shown) {
            // If one of these fails, nothing comes behind it.
            if mem::replace(&mut self.standing, Standing::End) == Standing::Shown {
                self.merge.advance()?;
            }
            if self.find()? {
                self.standing = Standing::Chosen;
            }
        }
        Ok(self.standing == Standing::Chosen)
    }

    /// Goes to the first cell to be shown, from the one on that the merge stands on.
    fn find(&mut self) -> Result<bool> {
        let mut skips = 0;
        while !self.scan.reverse || self.stands_in_row()? {
            let Some(cell) = self.merge.cell() else { break };
            if !self.scan.reverse && !self.scan.wants_going_on(cell.row) {
                break;
            }
            match self.rules.judge(&cell) {
                Verdict::Include => {
                    match self.shown.count(&self.scan, cell.row) {
                        Limit::Within => return Ok(true),
                        Limit::RowIsFull if self.scan.reverse => self.reads_row = false,
                        Limit::RowIsFull => self.merge.seek(KeyRef::after_row(&self.shown.row))?,
                        Limit::End => break,
                    }
                    continue;
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
        Ok(false)
    }

    /// Going backwards: whether the merge stands on a cell of a row that is wanted, after it has gone
    /// to the row below if need be.
    fn stands_in_row(&mut self) -> Result<bool> {
        let (stop, prefix) = (self.scan.stop.as_deref(), self.scan.prefix.as_deref());
        loop {
            let row = self.below.as_deref().filter(|_| self.reads_row);
            if row.is_some() && self.merge.cell().map(|cell| cell.row) == row {
                return Ok(true);
            }
            let Some(row) = self.merge.row_before(self.below.as_deref())? else {
                return Ok(false);
            };
            if stop.is_some_and(|stop| &row[..] <= stop)
                || prefix.is_some_and(|prefix| !row.starts_with(prefix))
            {
                return Ok(false);
            }
            self.merge.seek(KeyRef::before_row(&row))?;
            self.below = Some(row.into());
            self.reads_row = true;
        }
    }
}

impl Shown {
    /// Counts a cell that could be shown, and its row, unless that is one too many.
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

impl Iterator for Cells {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_ref().transpose()?;
        Some(next.map(|cell| cell.to_cell()))
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        self.family.reads.record(&self.merge.take_trace());
    }
}

impl Scan {
    /// Going forwards: whether a row that the scan has come to is not behind those it asks for.
    fn wants_going_on(&self, row: &[u8]) -> bool {
        self.stop.as_deref().is_none_or(|stop| row < stop)
            && self.prefix.as_deref().is_none_or(|prefix| row.starts_with(prefix))
    }
}

/// Whether a file can have cells that the scan shows, or markers that hide some.
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

/// The first row behind all that begin with `prefix`; `None` if there is none.
fn first_behind(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut row = prefix[..=last].to_vec();
    row[last] += 1;
    Some(row)
}
