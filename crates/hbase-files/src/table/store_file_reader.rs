//! A reader for the cells of a store file: a whole HFile, or the half that a reference stands for.
//!
//! A half is read through the index and the filters of the whole HFile: a row that is not in the HFile
//! is in neither half. HBase: `HalfStoreFileReader`.

use cells::merge::CellCursor;
use sstable::{
    Caching, CellRef, FileName, Half, KeyRef, ReadTrace, Reader, ReaderOptions, Reference,
    RowCells, RowProbe, Scanner,
};

use crate::error::{Error, Result};
use crate::table::Location;
use crate::tree::FileTree;

/// A reader for the cells of a store file: of an HFile, or of the half of one.
#[derive(Clone, Debug)]
pub struct StoreFileReader {
    whole: Reader,
    half: Option<Reference>,
}

impl StoreFileReader {
    /// Restricts a reader to one half of its HFile; with `None`, the reader has all cells of the HFile.
    pub const fn new(whole: Reader, half: Option<Reference>) -> Self {
        Self { whole, half }
    }

    /// Opens the HFile at a location. Errors name the file `name`.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the file cannot be opened, or as [`Reader::open`]; [`Error::Damaged`] for a
    /// symbolic link out of the root.
    pub fn open(
        tree: &dyn FileTree,
        location: &Location,
        name: FileName,
        options: ReaderOptions,
    ) -> Result<Self> {
        let source = tree.open(&location.path).map_err(|source| {
            match Error::io(&location.path, "open it")(source) {
                Error::Io { source, action, .. } => Error::File(sstable::Error::Io {
                    file: name.clone(),
                    action: action.into(),
                    source,
                }),
                other => other,
            }
        })?;
        Ok(Self::new(Reader::open(source, name, options)?, location.half.clone()))
    }

    /// Returns the reader of the whole HFile.
    pub const fn whole(&self) -> &Reader {
        &self.whole
    }

    /// Returns the split key and the half; `None` if this is not the half of an HFile.
    pub const fn half(&self) -> Option<&Reference> {
        self.half.as_ref()
    }

    /// Returns whether a row is in the half.
    pub(crate) fn holds_row(&self, row: &[u8]) -> bool {
        self.half.as_ref().is_none_or(|half| half.holds(&KeyRef::before_row(row)))
    }

    /// Returns whether the file may have a row: whether the row is in the half and in the key range
    /// of the HFile.
    pub fn spans_row(&self, row: &[u8]) -> bool {
        self.holds_row(row) && self.whole.spans_row(row)
    }

    /// Returns the cells of a row, as [`Reader::look_up`]. A row of the other half is out of range.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn look_up<'r>(&self, probe: &RowProbe<'r>) -> sstable::Result<RowCells<'r>> {
        if self.holds_row(probe.row()) {
            self.whole.look_up(probe)
        } else {
            Ok(RowCells::out_of_range(probe.row()))
        }
    }

    /// Returns a scanner without a position.
    pub fn scanner(&self, caching: Caching) -> CellScanner {
        self.cells_of(self.whole.scanner(caching))
    }

    /// Returns a scanner without a position for long scans, as [`Reader::bulk_scanner`].
    pub fn bulk_scanner(&self) -> CellScanner {
        self.cells_of(self.whole.bulk_scanner())
    }

    fn cells_of(&self, scanner: Scanner) -> CellScanner {
        let scanner = match &self.half {
            Some(half) if half.half() == Half::Bottom => scanner.until(half.split_key()),
            _ => scanner,
        };
        CellScanner { scanner, half: self.half.clone() }
    }
}

/// A cursor over the cells of a store file, as [`Scanner`]. It has no cell outside its half.
#[derive(Debug)]
pub struct CellScanner {
    scanner: Scanner,
    half: Option<Reference>,
}

impl CellScanner {
    /// Ends the scan before the key `stop`, as [`Scanner::until`]. Call it before the first seek.
    #[must_use]
    pub fn until(self, stop: KeyRef<'_>) -> Self {
        Self { scanner: self.scanner.until(stop), ..self }
    }

    /// Ends the scan after `count` cells, as [`Scanner::limit`]. Call it before the first seek.
    #[must_use]
    pub fn limit(self, count: u64) -> Self {
        Self { scanner: self.scanner.limit(count), ..self }
    }

    /// Returns the current cell; `None` without a position.
    #[inline]
    pub fn cell(&self) -> Option<CellRef<'_>> {
        let cell = self.scanner.cell()?;
        match &self.half {
            Some(half) if !half.holds(&cell.key()) => None,
            _ => Some(cell),
        }
    }

    /// Moves to the first cell.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_to_first(&mut self) -> sstable::Result<()> {
        match &self.half {
            Some(half) if half.half() == Half::Top => self.scanner.seek(half.split_key()),
            _ => self.scanner.seek_to_first(),
        }
    }

    /// Moves to the last cell.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_to_last(&mut self) -> sstable::Result<()> {
        self.scanner.seek_to_last()
    }

    /// Moves to the first cell whose key is at least `key`.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek(&mut self, key: KeyRef<'_>) -> sstable::Result<()> {
        match &self.half {
            Some(half) if half.half() == Half::Top && !half.holds(&key) => self.seek_to_first(),
            _ => self.scanner.seek(key),
        }
    }

    /// Moves to the last cell whose key is less than `key`.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_before(&mut self, key: KeyRef<'_>) -> sstable::Result<()> {
        self.scanner.seek_before(key)
    }

    /// Moves to the first cell of the greatest row below `row`, or of all rows if `row` is `None`, as
    /// [`Scanner::seek_row_before`].
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_row_before(&mut self, row: Option<&[u8]>) -> sstable::Result<()> {
        if self.half.is_none() {
            return self.scanner.seek_row_before(row);
        }
        match row {
            None => self.seek_to_last()?,
            Some(row) => self.seek_before(KeyRef::before_row(row))?,
        }
        self.seek_to_row_start()
    }

    /// Moves from any cell of a row to its first cell.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_to_row_start(&mut self) -> sstable::Result<()> {
        match self.cell().map(|cell| cell.row.to_vec()) {
            Some(row) => self.seek(KeyRef::before_row(&row)),
            None => Ok(()),
        }
    }

    /// Moves to the next cell; does nothing outside the half.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    #[inline]
    pub fn advance(&mut self) -> sstable::Result<()> {
        if self.half.is_some() && self.cell().is_none() { Ok(()) } else { self.scanner.advance() }
    }

    /// Moves to the previous cell; does nothing outside the half.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn retreat(&mut self) -> sstable::Result<()> {
        if self.half.is_some() && self.cell().is_none() { Ok(()) } else { self.scanner.retreat() }
    }

    /// Returns the counters of the reads, and resets them.
    pub fn take_trace(&mut self) -> ReadTrace {
        self.scanner.take_trace()
    }
}

impl CellCursor for CellScanner {
    type Error = sstable::Error;

    #[inline]
    fn cell(&self) -> Option<CellRef<'_>> {
        Self::cell(self)
    }

    #[inline]
    fn row(&self) -> Option<&[u8]> {
        match &self.half {
            None => self.scanner.row(),
            Some(_) => Self::cell(self).map(|cell| cell.row),
        }
    }

    fn may_delete_families(&self) -> bool {
        self.scanner.may_delete_families()
    }

    #[inline]
    fn advance(&mut self) -> sstable::Result<()> {
        Self::advance(self)
    }

    fn seek(&mut self, key: KeyRef<'_>) -> sstable::Result<()> {
        Self::seek(self, key)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use filter::Seed;
    use sstable::Cell;

    use super::*;

    const FILE: &[u8] = include_bytes!("../../../sstable/testdata/p11-prefix-none-row.hfile");

    fn whole() -> (Reader, Vec<Cell>) {
        let source = Arc::new(Bytes::from_static(FILE));
        let reader =
            Reader::open(source, FileName::new("whole"), ReaderOptions::default()).unwrap();
        let mut scanner = reader.scanner(Caching::Use);
        scanner.seek_to_first().unwrap();
        let mut cells = Vec::new();
        while let Some(cell) = scanner.cell() {
            cells.push(cell.to_cell());
            scanner.advance().unwrap();
        }
        (reader, cells)
    }

    #[test]
    fn two_halves_make_the_whole_for_every_split_row() {
        let (reader, cells) = whole();
        let rows = cells.iter().step_by(37).map(|cell| cell.row().to_vec());
        for split in rows.chain([b"".to_vec(), b"zzz".to_vec()]) {
            let (mut found, mut backwards) = (Vec::new(), Vec::new());
            for half in [Half::Bottom, Half::Top] {
                let half_reader =
                    StoreFileReader::new(reader.clone(), Some(Reference::new(&split, half)));
                let mut scanner = half_reader.scanner(Caching::Use);
                scanner.seek_to_first().unwrap();
                while let Some(cell) = scanner.cell() {
                    found.push(cell.to_cell());
                    scanner.advance().unwrap();
                }
                let mut by_rows = Vec::new();
                scanner.seek_row_before(None).unwrap();
                while let Some(row) = scanner.cell().map(|cell| cell.row.to_vec()) {
                    let start = by_rows.len();
                    while let Some(cell) = scanner.cell().filter(|cell| cell.row == row) {
                        by_rows.push(cell.to_cell());
                        scanner.advance().unwrap();
                    }
                    by_rows[start..].reverse();
                    scanner.seek_row_before(Some(&row)).unwrap();
                }
                let mut reversed = Vec::new();
                scanner.seek_to_last().unwrap();
                while let Some(cell) = scanner.cell() {
                    reversed.push(cell.to_cell());
                    scanner.retreat().unwrap();
                }
                assert!(by_rows == reversed, "split at {split:?}, by rows");
                backwards.extend(reversed.into_iter().rev());
            }
            assert!(found == cells, "split at {split:?}");
            assert!(backwards == cells, "split at {split:?}, backwards");
        }
    }

    #[test]
    fn a_row_is_found_only_in_its_half() {
        let (reader, cells) = whole();
        let split = cells[cells.len() / 2].row();
        for cell in cells.iter().step_by(11) {
            for half in [Half::Top, Half::Bottom] {
                let half_reader =
                    StoreFileReader::new(reader.clone(), Some(Reference::new(split, half)));
                let probe = RowProbe::new(cell.row(), Seed::default());
                let found = half_reader.look_up(&probe).unwrap();
                let is_in_half = (cell.row() >= split) == (half == Half::Top);
                assert_eq!(found.cell().is_some(), is_in_half);
            }
        }
    }

    #[test]
    fn seeks_stay_in_their_half() {
        let (reader, cells) = whole();
        let split = cells[cells.len() / 2].row().to_vec();
        let start = cells.partition_point(|cell| cell.row() < &split[..]);
        let mut top = StoreFileReader::new(reader.clone(), Some(Reference::new(&split, Half::Top)))
            .scanner(Caching::Use);
        top.seek(cells[0].as_ref().key()).unwrap();
        assert_eq!(top.cell(), Some(cells[start].as_ref()));
        top.seek_before(cells[start].as_ref().key()).unwrap();
        assert_eq!(top.cell(), None);
        let mut bottom = StoreFileReader::new(reader, Some(Reference::new(&split, Half::Bottom)))
            .scanner(Caching::Use);
        bottom.seek_before(cells[cells.len() - 1].as_ref().key()).unwrap();
        assert_eq!(bottom.cell(), Some(cells[start - 1].as_ref()));
        bottom.seek(cells[start].as_ref().key()).unwrap();
        assert_eq!(bottom.cell(), None);
    }

    #[test]
    fn every_seek_finds_the_next_cell_of_the_half() {
        let (reader, cells) = whole();
        let at = [0, 1, cells.len() / 2, cells.len() - 1];
        let splits = at.map(|index| cells[index].row().to_vec());
        for split in splits.into_iter().chain([b"".to_vec(), b"zzz".to_vec()]) {
            for half in [Half::Top, Half::Bottom] {
                let of_half: Vec<&Cell> = cells
                    .iter()
                    .filter(|cell| (cell.row() >= &split[..]) == (half == Half::Top))
                    .collect();
                let half_reader =
                    StoreFileReader::new(reader.clone(), Some(Reference::new(&split, half)));
                let mut scanner = half_reader.scanner(Caching::Use);
                let of_split = cells.iter().filter(|cell| cell.row() == split).chain(&cells[..2]);
                let near =
                    of_split.chain(cells.iter().rev().take(2)).chain(cells.iter().step_by(97));
                let own = near.map(|cell| cell.as_ref().key());
                for key in own
                    .flat_map(|key| [key, KeyRef::before_row(key.row), KeyRef::after_row(key.row)])
                {
                    let next = of_half.partition_point(|cell| cell.as_ref().key() < key);
                    let cell = |index: Option<usize>| {
                        of_half.get(index.unwrap_or(usize::MAX)).map(|cell| cell.as_ref())
                    };
                    scanner.seek(key).unwrap();
                    assert_eq!(scanner.cell(), cell(Some(next)), "{split:?} {half:?} {key}");
                    scanner.seek_before(key).unwrap();
                    assert_eq!(
                        scanner.cell(),
                        cell(next.checked_sub(1)),
                        "{split:?} {half:?} {key}"
                    );
                }
                // Beyond its ends, a half has no cells in either direction.
                scanner.seek_to_last().unwrap();
                scanner.advance().unwrap();
                assert_eq!(scanner.cell(), None);
                scanner.advance().unwrap();
                assert_eq!(scanner.cell(), None);
                scanner.seek_to_first().unwrap();
                scanner.retreat().unwrap();
                assert_eq!(scanner.cell(), None);
                scanner.retreat().unwrap();
                assert_eq!(scanner.cell(), None);
            }
        }
    }

    #[test]
    fn a_bulk_scanner_has_the_cells_of_the_half_and_counts_its_reads() {
        let (reader, cells) = whole();
        let split = cells[cells.len() / 2].row();
        let half_reader = StoreFileReader::new(reader, Some(Reference::new(split, Half::Top)));
        let mut scanner = half_reader.bulk_scanner();
        scanner.seek_to_first().unwrap();
        let mut count = 0;
        while let Some(cell) = scanner.cell() {
            assert!(cell.row >= split);
            count += 1;
            scanner.advance().unwrap();
        }
        assert_eq!(count, cells.iter().filter(|cell| cell.row() >= split).count());
        assert!(scanner.take_trace().data_blocks() > 0);
        assert_eq!(scanner.take_trace().data_blocks(), 0);
        let found = half_reader.look_up(&RowProbe::new(cells[0].row(), Seed::default())).unwrap();
        assert!(found.cell().is_none());
        let trace = found.trace();
        assert_eq!((trace.files_considered, trace.files_skipped_by_range), (1, 1));
    }
}
