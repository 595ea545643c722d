//! The cells of one store file that a scan selects, without the other files of its family.
//!
//! The scan begins with a seek, ends at the first row after the range, and seeks past columns that are
//! not wanted, so that it reads only the blocks that it needs.

use std::ops::Range;

use sstable::{Caching, CellRef, Comparator, KeyRef, ReadTrace, Timestamp};
use store::rules::{Rules, Verdict, View};
use store::{Clock, FamilyOptions};

use super::options::FamilyColumns;
use super::plan::row_range;
use super::row_range::RowRange;
use crate::{CellScanner, StoreFileReader, TableScan};

/// Unwanted cells that are skipped one by one before a seek.
const SKIPS_MAX: u32 = 16;

/// The cells of one store file, or of the half of one, that a scan selects.
///
/// The file's delete markers hide its own cells only; a raw scan also returns markers and deleted cells.
/// Of a [`TableScan`], the rows, columns, times, versions, `raw` and `now` apply.
#[derive(Debug)]
pub struct StoreFileCells {
    scanner: CellScanner,
    order: Comparator,
    range: RowRange,
    /// The prefix of the rows. Needed in the order of `hbase:meta`; in the order of bytes, the range has no
    /// other rows.
    prefix: Vec<u8>,
    /// The only row, if the scan names one. In the order of `hbase:meta`, the range has other rows too.
    row: Option<Vec<u8>>,
    /// The wanted families, with their qualifiers ascending; empty if all are wanted.
    families: Vec<FamilyColumns>,
    /// Whether the scan seeks past unwanted columns.
    seeks: bool,
    /// The wanted timestamps; `None` for all. Used only without rules.
    times: Option<Range<Timestamp>>,
    /// Hide deleted cells, and versions beyond the limits; `None` for a raw scan of all cells.
    rules: Option<Rules<'static>>,
    state: State,
    trace: ReadTrace,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// The scanner is at a cell that was not judged.
    Unjudged,
    /// The scanner is at the cell that was returned last.
    Returned,
    Done,
}

impl StoreFileCells {
    /// Moves to the first cell of the scan's rows. Reads only the blocks that the scan needs.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn open(reader: &StoreFileReader, scan: &TableScan) -> sstable::Result<Self> {
        let file = reader.whole();
        let order = file.trailer().comparator;
        let range = row_range(scan, order);
        let ends_inside = file.last_row().is_some_and(|last| !range.ends_after(last, order));
        let has_columns = scan.families.iter().any(|wanted| !wanted.qualifiers.is_empty());
        // Another thread prefetches only if the scan reads to the end of the file.
        let scanner = if ends_inside || has_columns {
            reader.scanner(Caching::Bypass)
        } else {
            reader.bulk_scanner()
        };
        let overlaps = range.overlaps(file, order);
        let mut cells = Self::new(scanner, scan, order, range);
        if overlaps {
            cells.seek_to_start()?;
        }
        // All cells of a file are of one family.
        let family = cells.scanner.cell().map(|cell| cell.family);
        let is_wanted = |family| scan.families.iter().any(|wanted| wanted.family == family);
        if !family.is_some_and(|family| scan.families.is_empty() || is_wanted(family)) {
            cells.state = State::Done;
        }
        Ok(cells)
    }

    /// Moves to the first cell of the scan's rows, to read every block from there to the end of the rows.
    ///
    /// Finds damage between the wanted cells, too. Another thread prefetches.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn open_in_full(reader: &StoreFileReader, scan: &TableScan) -> sstable::Result<Self> {
        let order = reader.whole().trailer().comparator;
        let cells = Self::new(reader.bulk_scanner(), scan, order, row_range(scan, order));
        let mut cells = Self { seeks: false, ..cells };
        cells.seek_to_start()?;
        Ok(cells)
    }

    fn new(scanner: CellScanner, scan: &TableScan, order: Comparator, range: RowRange) -> Self {
        let mut families = scan.families.clone();
        for wanted in &mut families {
            wanted.qualifiers.sort_unstable();
        }
        let view = View::default()
            .versions(scan.versions)
            .time_range(scan.min_ts, scan.max_ts)
            .raw(scan.raw);
        let all_versions = FamilyOptions::default().versions(u32::MAX);
        let now = scan.now.unwrap_or_else(|| Clock::system().now());
        let has_rules = !scan.raw || scan.versions < u32::MAX;
        Self {
            scanner,
            order,
            range,
            prefix: scan.prefix.clone(),
            row: scan.row.clone(),
            families,
            seeks: true,
            times: scan.times(),
            rules: has_rules.then(|| Rules::new(&all_versions, &view, now)),
            state: State::Unjudged,
            trace: ReadTrace::default(),
        }
    }

    fn seek_to_start(&mut self) -> sstable::Result<()> {
        if self.range.start.is_empty() {
            self.scanner.seek_to_first()
        } else {
            self.scanner.seek(KeyRef::before_row(&self.range.start))
        }
    }

    /// Returns a reference to the next cell, or `None` at the end.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read. No further cells follow.
    pub fn next_ref(&mut self) -> sstable::Result<Option<CellRef<'_>>> {
        let state = std::mem::replace(&mut self.state, State::Done);
        if state == State::Done {
            return Ok(None);
        }
        if state == State::Returned {
            self.scanner.advance()?;
        }
        if !self.find()? {
            return Ok(None);
        }
        self.state = State::Returned;
        Ok(self.scanner.cell())
    }

    /// Returns the counters of the reads so far.
    pub fn trace(&mut self) -> &ReadTrace {
        self.trace.add(&self.scanner.take_trace());
        &self.trace
    }

    /// Moves to the first cell to return, at or after the current one. Returns whether there is one.
    fn find(&mut self) -> sstable::Result<bool> {
        let mut skips = 0_u32;
        while let Some(cell) = self.scanner.cell() {
            if !self.range.ends_after(cell.row, self.order) {
                break;
            }
            let verdict = match &mut self.rules {
                Some(rules) => rules.judge(&cell),
                None if self.times.as_ref().is_none_or(|times| times.contains(&cell.timestamp)) => {
                    Verdict::Include
                }
                None => Verdict::Skip,
            };
            let family = self.families.iter().find(|wanted| wanted.family == cell.family);
            let qualifiers = family.map(|wanted| &wanted.qualifiers[..]).unwrap_or_default();
            let is_wanted = (family.is_some() || self.families.is_empty())
                && (qualifiers.is_empty()
                    || qualifiers
                        .binary_search_by(|wanted| wanted[..].cmp(cell.qualifier))
                        .is_ok());
            let is_row_wanted = cell.row.starts_with(&self.prefix)
                && self.row.as_ref().is_none_or(|row| *row == cell.row);
            if verdict == Verdict::Include && is_wanted && is_row_wanted {
                return Ok(true);
            }
            // Markers for the family are under the empty qualifier, and must all be judged.
            let ends_column = self.seeks
                && !cell.qualifier.is_empty()
                && (!is_wanted || verdict == Verdict::SkipColumn);
            skips = skips.saturating_add(ends_column.into());
            if ends_column && skips > SKIPS_MAX {
                skips = 0;
                let cell = cell.to_cell();
                let end = after_column(cell.as_ref(), is_wanted, qualifiers);
                self.scanner.seek(end)?;
            } else {
                self.scanner.advance()?;
            }
        }
        // A scan without cache checks the rest of a block when it leaves the block.
        self.scanner.check_place()?;
        Ok(false)
    }
}

/// Returns the place after the column of a cell, or before the next wanted column of the row.
fn after_column<'k>(cell: CellRef<'k>, is_wanted: bool, qualifiers: &'k [Vec<u8>]) -> KeyRef<'k> {
    let CellRef { row, family, qualifier, .. } = cell;
    if is_wanted {
        return KeyRef::after_column(row, family, qualifier);
    }
    match qualifiers.iter().find(|wanted| &wanted[..] > qualifier) {
        Some(wanted) => KeyRef::before_column(row, family, wanted),
        None => KeyRef::after_row(row),
    }
}
