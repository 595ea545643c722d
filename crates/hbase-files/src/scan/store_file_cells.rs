//! The cells of one store file that a scan selects, without the other files of its family.
//!
//! The scan begins with a seek, ends before the first row after the range, and seeks past columns that are
//! not wanted, so that it reads only the blocks that it needs.

use cells::merge::MergeCursor;
use cells::rules::{Rules, Verdict};
use cells::shown::{Choice, Selection, ShownCells};
use cells::{Clock, Retention};
use sstable::{Caching, CellRef, Comparator, KeyRef, ReadTrace};

use super::row_range::RowRange;
use crate::scan::TableScan;
use crate::table::{CellScanner, StoreFileReader};

/// The cells of one store file, or of the half of one, that a scan selects.
///
/// The file's delete markers hide its own cells only; a raw scan also returns markers and deleted cells.
/// Of a [`TableScan`], the rows, columns, times, versions, `raw` and `now` apply.
#[derive(Debug)]
pub struct StoreFileCells {
    cells: ShownCells<'static, CellScanner>,
    selection: FileSelection,
    is_over: bool,
    trace: ReadTrace,
}

/// The rows of a scan.
#[derive(Debug)]
struct FileSelection {
    /// The prefix of the rows. Needed in the order of `hbase:meta`; in the order of bytes, the range has no
    /// other rows.
    prefix: Vec<u8>,
    /// The only row, if the scan names one. In the order of `hbase:meta`, the range has other rows too.
    row: Option<Vec<u8>>,
    /// Whether the scan wants the family of the file. If not, it can read the file in full nevertheless.
    is_family_wanted: bool,
    /// Whether the scan reads all blocks of its rows.
    is_in_full: bool,
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
        let range = scan.row_range(order);
        let ends_inside = file.last_row().is_some_and(|last| !range.ends_after(last, order));
        let has_columns = scan.families.iter().any(|wanted| !wanted.qualifiers.is_empty());
        // Another thread prefetches only if the scan reads to the end of the file.
        let unbounded = if ends_inside || has_columns {
            reader.scanner(Caching::Bypass)
        } else {
            reader.bulk_scanner()
        };
        let mut scanner = match &scan.row {
            Some(row) => unbounded.until(KeyRef::after_row(row)),
            None => range.end(unbounded),
        };
        if range.overlaps(file, order) {
            seek_to_start(&mut scanner, &range)?;
        }
        Ok(Self::new(scanner, order, scan, false))
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
        let range = scan.row_range(order);
        let mut scanner = range.end(reader.bulk_scanner());
        seek_to_start(&mut scanner, &range)?;
        Ok(Self::new(scanner, order, scan, true))
    }

    fn new(scanner: CellScanner, order: Comparator, scan: &TableScan, is_in_full: bool) -> Self {
        // All cells of a file are of one family.
        let family = scanner.cell().map(|cell| cell.family);
        let wanted = scan.families.iter().find(|wanted| Some(&wanted.family[..]) == family);
        let is_family_wanted = scan.families.is_empty() || wanted.is_some();
        let rules = rules(scan, wanted.map_or(&[], |wanted| &wanted.qualifiers));
        let (prefix, row) = (scan.prefix.clone(), scan.row.clone());
        let mut cells = ShownCells::new(MergeCursor::at_positions(vec![scanner], order), rules);
        if is_in_full {
            cells = cells.without_seeks();
        }
        let is_over = !is_family_wanted && !is_in_full;
        let selection = FileSelection { prefix, row, is_family_wanted, is_in_full };
        Self { cells, selection, is_over, trace: ReadTrace::default() }
    }

    /// Returns a reference to the next cell, or `None` at the end.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read. No further cells follow.
    pub fn next_ref(&mut self) -> sstable::Result<Option<CellRef<'_>>> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(None);
        }
        if !self.cells.select(&mut self.selection)? {
            return Ok(None);
        }
        self.is_over = false;
        self.cells.next(&mut self.selection)
    }

    /// Returns the counters of the reads so far.
    pub fn trace(&mut self) -> &ReadTrace {
        for scanner in self.cells.sources_mut() {
            self.trace.add(&scanner.take_trace());
        }
        &self.trace
    }
}

impl Selection<CellScanner> for FileSelection {
    /// The scanner ends where the range does.
    fn includes(&self, _: &CellRef<'_>) -> bool {
        true
    }

    fn choose(&mut self, cell: &CellRef<'_>, verdict: Verdict, rules: &Rules<'_>) -> Choice {
        let is_row_wanted = self.is_family_wanted
            && cell.row.starts_with(&self.prefix)
            && self.row.as_ref().is_none_or(|row| *row == cell.row);
        let ends_at_row = self.row.is_some() && !self.is_in_full;
        match verdict {
            Verdict::Include if is_row_wanted => Choice::Return,
            // The scanner ends with the row: it does not read the next one.
            Verdict::SkipColumn if ends_at_row && rules.ends_row(cell) => Choice::EndRow,
            _ => Choice::Pass,
        }
    }
}

/// Returns the rules of a scan of these columns; all columns if there are none.
fn rules(scan: &TableScan, qualifiers: &[Vec<u8>]) -> Rules<'static> {
    let all_versions = Retention::default().versions(u32::MAX);
    let now = scan.now.unwrap_or_else(|| Clock::system().now());
    let of_view = Rules::new(&all_versions, &scan.view(), now);
    // The rules insert each into their sorted list.
    let mut sorted: Vec<_> = qualifiers.iter().collect();
    sorted.sort();
    let rules = sorted.into_iter().fold(of_view, Rules::column);
    let shows_every_cell = scan.raw && scan.versions == u32::MAX;
    if shows_every_cell { rules.every_cell() } else { rules }
}

fn seek_to_start(scanner: &mut CellScanner, range: &RowRange) -> sstable::Result<()> {
    if range.start.is_empty() {
        scanner.seek_to_first()
    } else {
        scanner.seek(KeyRef::before_row(&range.start))
    }
}
