//! The cells of one store file that a scan selects, without the other files of its family.
//!
//! The scan begins with a seek, ends at the first row after the range, and seeks past columns that are
//! not wanted, so that it reads only the blocks that it needs.

use std::ops::Range;

use sstable::{Caching, CellRef, Comparator, KeyRef, ReadTrace, Timestamp};
use store::rules::{Rules, Verdict, View};
use store::{Clock, FamilyOptions};

use super::plan::row_range;
use super::row_range::RowRange;
use crate::{CellScanner, StoreFileReader, TableScan};

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
    /// Whether the scan wants the family of the file. If not, it can read the file in full nevertheless.
    is_family_wanted: bool,
    /// Whether the scan seeks past unwanted cells.
    seeks: bool,
    /// Whether the file may have markers that delete in all columns of its family.
    may_delete_families: bool,
    /// The wanted timestamps; `None` for all. Used only without rules.
    times: Option<Range<Timestamp>>,
    /// Hide other columns, deleted cells, and versions beyond the limits; `None` for a raw scan of all cells.
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
        let mut cells = Self::new(reader, scanner, scan, range);
        if overlaps {
            cells.seek_to_start()?;
        }
        cells.choose_columns(scan);
        if !cells.is_family_wanted {
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
        let range = row_range(scan, reader.whole().trailer().comparator);
        let cells = Self::new(reader, reader.bulk_scanner(), scan, range);
        let mut cells = Self { seeks: false, ..cells };
        cells.seek_to_start()?;
        cells.choose_columns(scan);
        Ok(cells)
    }

    fn new(
        reader: &StoreFileReader,
        scanner: CellScanner,
        scan: &TableScan,
        range: RowRange,
    ) -> Self {
        let file = reader.whole();
        Self {
            scanner,
            order: file.trailer().comparator,
            range,
            prefix: scan.prefix.clone(),
            row: scan.row.clone(),
            is_family_wanted: false,
            seeks: true,
            may_delete_families: file.file_info().delete_family_count() != Some(0),
            times: scan.times(),
            rules: None,
            state: State::Unjudged,
            trace: ReadTrace::default(),
        }
    }

    /// Chooses the columns of the family of the current cell: all cells of a file are of one family.
    fn choose_columns(&mut self, scan: &TableScan) {
        let family = self.scanner.cell().map(|cell| cell.family);
        let wanted = scan.families.iter().find(|wanted| Some(&wanted.family[..]) == family);
        self.is_family_wanted = scan.families.is_empty() || wanted.is_some();
        let mut qualifiers: Vec<_> = wanted.iter().flat_map(|wanted| &wanted.qualifiers).collect();
        // The rules insert each into their sorted list.
        qualifiers.sort();
        let shows_every_cell = scan.raw && scan.versions == u32::MAX;
        if shows_every_cell && qualifiers.is_empty() {
            return; // The rules would hide nothing.
        }
        let view = View::default()
            .versions(scan.versions)
            .time_range(scan.min_ts, scan.max_ts)
            .raw(scan.raw);
        let all_versions = FamilyOptions::default().versions(u32::MAX);
        let now = scan.now.unwrap_or_else(|| Clock::system().now());
        let rules = Rules::new(&all_versions, &view, now);
        let rules = qualifiers.into_iter().fold(rules, Rules::column);
        self.rules = Some(if shows_every_cell { rules.every_cell() } else { rules });
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
            let is_row_wanted = self.is_family_wanted
                && cell.row.starts_with(&self.prefix)
                && self.row.as_ref().is_none_or(|row| *row == cell.row);
            if verdict == Verdict::Include && is_row_wanted {
                return Ok(true);
            }
            let rules = self.rules.as_mut().filter(|_| self.seeks);
            if verdict == Verdict::SkipColumn
                && self.row.is_some()
                && rules.as_ref().is_some_and(|rules| rules.ends_row(&cell))
            {
                break; // Without a read of the next row.
            }
            let may_delete_families = || self.may_delete_families;
            match rules.and_then(|rules| rules.seek_after(&cell, verdict, may_delete_families)) {
                Some(position) => self.scanner.seek(position)?,
                None => self.scanner.advance()?,
            }
        }
        // A scan without cache checks the rest of a block when it leaves the block.
        self.scanner.check_place()?;
        Ok(false)
    }
}
