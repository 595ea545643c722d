//! The cells of one HFile, or of a half, that an export selects.

use std::cmp::Ordering;
use std::ops::Range;

use hbase_files::{CellScanner, FamilyColumns, StoreFileReader, TableScan};
use sstable::{CellRef, Comparator, KeyRef, ReadTrace, Timestamp};
use store::rules::{Rules, Verdict, View};
use store::{Clock, FamilyOptions};

use super::source::PartCells;
use crate::error::Result;

/// A cursor over the selected cells of a file.
pub(super) struct FileCells {
    scanner: CellScanner,
    order: Comparator,
    prefix: Vec<u8>,
    stop: Option<Vec<u8>>,
    families: Vec<FamilyColumns>,
    /// The times of the cells; `None` for all, as the end of a range is excluded.
    times: Option<Range<Timestamp>>,
    /// Which versions are shown; `None` if all cells are.
    rules: Option<Rules<'static>>,
    is_returned: bool,
    trace: ReadTrace,
}

impl FileCells {
    /// Moves to the first row of the range.
    pub(super) fn open(reader: &StoreFileReader, scan: &TableScan) -> sstable::Result<Self> {
        let order = reader.whole().trailer().comparator;
        let mut scanner = reader.bulk_scanner();
        // The rows of hbase:meta with a prefix do not follow each other.
        let prefix = if order == Comparator::Bytes { &scan.prefix[..] } else { b"" };
        let start = scan.start.as_deref().unwrap_or_default();
        let first = if order.compare_rows(prefix, start).is_gt() { prefix } else { start };
        if first.is_empty() {
            scanner.seek_to_first()?;
        } else {
            scanner.seek(KeyRef::before_row(first))?;
        }
        let view = View::default().versions(scan.versions).time_range(scan.min_ts, scan.max_ts);
        let family = FamilyOptions::default().versions(u32::MAX);
        let (all, times) = (TableScan::default(), scan.min_ts..scan.max_ts);
        let all = all.min_ts..all.max_ts;
        let now = scan.now.unwrap_or_else(|| Clock::system().now());
        Ok(Self {
            scanner,
            order,
            prefix: scan.prefix.clone(),
            stop: scan.stop.clone(),
            families: scan.families.clone(),
            times: (times != all).then_some(times),
            rules: (!scan.raw).then(|| Rules::new(&family, &view, now)),
            is_returned: false,
            trace: ReadTrace::default(),
        })
    }

    /// Moves to the next selected cell, from the current one on. Returns whether there is one.
    fn find(&mut self) -> sstable::Result<bool> {
        while let Some(cell) = self.scanner.cell() {
            let begins = self.prefix.is_empty() || cell.row.starts_with(&self.prefix);
            let is_past_prefix = !begins
                && self.order == Comparator::Bytes
                && cell.row.cmp(&self.prefix) == Ordering::Greater;
            let stop = self.stop.as_deref();
            if is_past_prefix
                || stop.is_some_and(|stop| self.order.compare_rows(cell.row, stop).is_ge())
            {
                break;
            }
            // The rules must judge each cell of a row: markers under the empty qualifier, too.
            let is_shown = match &mut self.rules {
                Some(rules) => rules.judge(&cell) == Verdict::Include,
                None => self.times.as_ref().is_none_or(|times| times.contains(&cell.timestamp)),
            };
            if is_shown && begins && is_wanted(&self.families, &cell) {
                return Ok(true);
            }
            self.scanner.advance()?;
        }
        // A scan without cache checks the rest of a block when it leaves the block.
        self.scanner.check_place()?;
        Ok(false)
    }
}

/// Whether a cell is of a wanted column.
fn is_wanted(families: &[FamilyColumns], cell: &CellRef<'_>) -> bool {
    let of_cell = families.iter().find(|wanted| wanted.family == cell.family);
    families.is_empty()
        || of_cell.is_some_and(|FamilyColumns { qualifiers, .. }| {
            let is_named = |wanted: &Vec<u8>| wanted == cell.qualifier;
            qualifiers.is_empty() || qualifiers.iter().any(is_named)
        })
}

impl PartCells for FileCells {
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
        if self.is_returned {
            self.scanner.advance()?;
        }
        self.is_returned = self.find()?;
        Ok(if self.is_returned { self.scanner.cell() } else { None })
    }

    fn trace(&mut self) -> ReadTrace {
        self.trace.add(&self.scanner.take_trace());
        self.trace
    }
}
