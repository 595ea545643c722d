//! Makes batches of bounded size from cells, one cell after the other.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use sstable::CellRef;

use crate::cells_builder::CellsBuilder;
use crate::error::{Error, Result};
use crate::pivot_builder::PivotBuilder;

/// The bytes that Arrow can address in one array of bytes.
const ARRAY_BYTES_MAX: usize = i32::MAX as usize;

/// Makes batches from cells that the caller appends: the opposite of [`Batches`](crate::Batches),
/// which takes the cells from a source.
///
/// ```
/// use hfile_arrow::BatchScan;
/// use sstable::{CellRef, Timestamp};
///
/// let mut builder = BatchScan::cells().rows_max(2).builder()?;
/// let cell = |row| CellRef::put(row, b"f", b"q", Timestamp::new(1), b"v");
/// assert!(builder.append(&cell(b"row1"))?.is_none());
/// assert!(builder.append(&cell(b"row2"))?.is_none());
/// let full = builder.append(&cell(b"row3"))?.expect("the third cell begins the next batch");
/// assert_eq!(full.num_rows(), 2);
/// assert_eq!(builder.flush()?.expect("a cell is left").num_rows(), 1);
/// assert!(builder.flush()?.is_none());
/// # Ok::<(), hfile_arrow::Error>(())
/// ```
#[derive(Debug)]
pub struct BatchBuilder {
    contents: Contents,
    rows_max: usize,
    bytes_max: usize,
}

#[derive(Debug)]
pub(crate) enum Contents {
    Cells(CellsBuilder),
    Pivot(PivotBuilder),
}

impl BatchBuilder {
    pub(crate) fn new(contents: Contents, rows_max: usize, bytes_max: usize) -> Self {
        Self { contents, rows_max: rows_max.max(1), bytes_max: bytes_max.min(ARRAY_BYTES_MAX) }
    }

    /// Returns the schema of the batches.
    pub const fn schema(&self) -> &SchemaRef {
        match &self.contents {
            Contents::Cells(builder) => builder.schema(),
            Contents::Pivot(builder) => builder.schema(),
        }
    }

    /// Appends a cell. Returns a batch if the cell does not fit in it; the cell begins the next one.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] if a value is not of its column's type; [`Error::Invalid`] if the cell, or
    /// in a pivot its row, exceeds 2 GiB, or if a delete marker is pivoted.
    pub fn append(&mut self, cell: &CellRef<'_>) -> Result<Option<RecordBatch>> {
        let bytes = cell_bytes(cell);
        let (rows_max, bytes_max) = (self.rows_max, self.bytes_max);
        let is_full = |rows, held: usize| {
            rows >= rows_max || (rows > 0 && held.saturating_add(bytes) > bytes_max)
        };
        let mut full = None;
        let held = match &mut self.contents {
            Contents::Cells(builder) => {
                if is_full(builder.rows(), builder.bytes()) {
                    full = Some(builder.finish()?);
                }
                builder.bytes()
            }
            Contents::Pivot(builder) => {
                if builder.begins_row(cell.row) {
                    builder.end_row();
                    if is_full(builder.rows(), builder.bytes()) {
                        full = Some(builder.finish()?);
                    }
                }
                builder.bytes()
            }
        };
        if held.saturating_add(bytes) > ARRAY_BYTES_MAX {
            let row = cells::escape(cell.row);
            return Err(Error::Invalid(format!(
                "row {row}: too large for a record batch, at most 2 GiB"
            )));
        }
        match &mut self.contents {
            Contents::Cells(builder) => builder.append(cell, bytes)?,
            Contents::Pivot(builder) => builder.append(cell, bytes)?,
        }
        Ok(full)
    }

    /// Returns the number of values that became null so far, because they are not of their column's type.
    pub const fn bad_values(&self) -> u64 {
        match &self.contents {
            Contents::Cells(_) => 0,
            Contents::Pivot(builder) => builder.bad_values(),
        }
    }

    /// Returns the bytes of the cells that no batch has yet, about as in memory.
    pub const fn pending_bytes(&self) -> usize {
        match &self.contents {
            Contents::Cells(builder) => builder.bytes(),
            Contents::Pivot(builder) => builder.bytes(),
        }
    }

    /// Returns the cells that no batch has yet; `None` if there are none.
    ///
    /// In a pivot this also ends the current row: the next cell must be of another row.
    ///
    /// # Errors
    ///
    /// Only [`Error::Internal`].
    pub fn flush(&mut self) -> Result<Option<RecordBatch>> {
        match &mut self.contents {
            Contents::Cells(builder) if builder.rows() == 0 => Ok(None),
            Contents::Cells(builder) => builder.finish().map(Some),
            Contents::Pivot(builder) => {
                builder.end_row();
                if builder.rows() == 0 { Ok(None) } else { builder.finish().map(Some) }
            }
        }
    }
}

/// Returns the bytes that a cell takes in a batch.
fn cell_bytes(cell: &CellRef<'_>) -> usize {
    /// Offsets of the byte strings, timestamp, sequence id and the name of the type.
    const FIXED: usize = 48;
    [cell.row, cell.family, cell.qualifier, cell.value, cell.tags]
        .iter()
        .fold(FIXED, |sum, bytes| sum.saturating_add(bytes.len()))
}
