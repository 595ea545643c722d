//! Reads the rows of a file in descending order, and each row's cells in file order.
//!
//! ```text
//! file       r1:a r1:b | r2:a r2:b r2:c | r3:a
//! read       r3:a | r2:a r2:b r2:c | r1:a r1:b
//! ```

use hbase_files::{CellScanner, StoreFileReader};
use sstable::{Caching, Cell, CellRef, KeyRef};
use transfer::cell_bytes;

/// The bytes of a row's cells to buffer while scanning it in reverse; a longer row is read twice.
const ROW_BYTES_MAX: u64 = 16 << 20;

/// A reverse scan, row by row.
pub(super) struct ReverseRows<'r> {
    reader: &'r StoreFileReader,
    /// Positioned at the last cell of the next row.
    scanner: CellScanner,
}

impl<'r> ReverseRows<'r> {
    /// Starts at the last row, or at the last row that is at most `start`.
    pub(super) fn new(reader: &'r StoreFileReader, start: Option<&[u8]>) -> sstable::Result<Self> {
        let mut scanner = reader.scanner(Caching::Bypass);
        match start {
            None => scanner.seek_to_last()?,
            Some(start) => scanner.seek_before(KeyRef::after_row(start))?,
        }
        Ok(Self { reader, scanner })
    }

    /// Returns the next row; `None` at the end.
    pub(super) fn row(&self) -> Option<&[u8]> {
        self.scanner.cell().map(|cell| cell.row)
    }

    /// Calls `each` with the cells of the next row.
    ///
    /// If a cell cannot be read, `each` is not called at all, unless the row exceeds [`ROW_BYTES_MAX`].
    pub(super) fn read_row(
        &mut self,
        mut each: impl FnMut(&CellRef<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Some(row) = self.row().map(<[u8]>::to_vec) else { return Ok(()) };
        let mut cells: Vec<Cell> = Vec::new();
        let mut bytes = 0;
        while let Some(cell) = self.scanner.cell()
            && cell.row == row
        {
            if bytes <= ROW_BYTES_MAX {
                let cell = cell.to_cell();
                bytes += cell_bytes(&cell);
                cells.push(cell);
            }
            self.scanner.retreat()?;
        }
        if bytes <= ROW_BYTES_MAX {
            return cells.iter().rev().try_for_each(|cell| each(&cell.as_ref()));
        }
        drop(cells);
        let mut forward = self.reader.scanner(Caching::Bypass);
        forward.seek(KeyRef::before_row(&row))?;
        while let Some(cell) = forward.cell()
            && cell.row == row
        {
            each(&cell)?;
            forward.advance()?;
        }
        Ok(())
    }
}
