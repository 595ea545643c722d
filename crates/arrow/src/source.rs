//! Where cells come from: one interface for files, stores and tables.

use directories::MissingCells;
use sstable::{Cell, CellRef, ReadTrace};

use crate::Result;

/// A source of cells in HBase's order.
///
/// Implement it to make batches of cells from elsewhere:
///
/// ```
/// use hfile_arrow::{BatchScan, CellSource, Result};
/// use sstable::{Cell, CellRef, Timestamp};
///
/// struct Numbers(u32, Option<Cell>);
///
/// impl CellSource for Numbers {
///     fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
///         self.0 += 1;
///         let row = format!("row{}", self.0);
///         let cell = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), b"v").to_cell();
///         self.1 = (self.0 <= 3).then_some(cell);
///         Ok(self.1.as_ref().map(Cell::as_ref))
///     }
/// }
///
/// let batches: Result<Vec<_>> = BatchScan::cells().source(Numbers(0, None))?.collect();
/// assert_eq!(batches?[0].num_rows(), 3);
/// # Ok::<(), hfile_arrow::Error>(())
/// ```
pub trait CellSource: Send {
    /// Moves to the next cell and returns it; `None` after the last one.
    ///
    /// # Errors
    ///
    /// If a cell cannot be read. The source has no further cells then.
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>>;

    /// Returns the counters of the reads so far.
    ///
    /// The default returns zeros: for sources that count elsewhere or not at all.
    fn trace(&mut self) -> ReadTrace {
        ReadTrace::default()
    }

    /// Returns what was left out so far, because it is damaged or missing.
    ///
    /// The default returns nothing: for sources that end at damage.
    fn missing(&self) -> Vec<MissingCells> {
        Vec::new()
    }
}

impl<S: CellSource + ?Sized> CellSource for Box<S> {
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
        (**self).next_cell()
    }

    fn trace(&mut self) -> ReadTrace {
        (**self).trace()
    }

    fn missing(&self) -> Vec<MissingCells> {
        (**self).missing()
    }
}

/// A source that merges others by key: families of the same rows.
///
/// Copies each cell, because a source has only one current cell.
pub(crate) struct MergedSource {
    /// The sources with their current cells; `None` before the first cell.
    sources: Vec<(Box<dyn CellSource>, Cell)>,
    /// The source whose cell was returned last.
    current: Option<usize>,
}

impl MergedSource {
    /// Merges `sources`, whose cells have different columns.
    pub(crate) fn new(sources: Vec<Box<dyn CellSource>>) -> Result<Self> {
        let mut filled = Vec::with_capacity(sources.len());
        for mut source in sources {
            if let Some(cell) = copy_of_next(&mut source)? {
                filled.push((source, cell));
            }
        }
        Ok(Self { sources: filled, current: None })
    }
}

fn copy_of_next(source: &mut Box<dyn CellSource>) -> Result<Option<Cell>> {
    Ok(source.next_cell()?.map(|cell| cell.to_cell()))
}

impl CellSource for MergedSource {
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
        if let Some(index) = self.current.take() {
            let (source, cell) = &mut self.sources[index];
            match copy_of_next(source)? {
                Some(next) => *cell = next,
                None => drop(self.sources.remove(index)),
            }
        }
        let cells = self.sources.iter().map(|(_, cell)| cell.as_ref()).enumerate();
        let least = cells.min_by(|(_, left), (_, right)| left.compare(right));
        Ok(least.map(|(index, cell)| {
            self.current = Some(index);
            cell
        }))
    }
}
