//! Where cells come from: one interface for files, stores and tables.

use hbase_files::{MissingCells, TornLog, Warning};
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

    /// Returns what the source leaves in doubt, as [`TableCells::warnings`](hbase_files::TableCells::warnings).
    ///
    /// The default returns nothing: for sources that are no tables of a root directory.
    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    /// Returns the torn write-ahead logs.
    ///
    /// The default returns nothing: for sources without logs.
    fn torn_logs(&self) -> Vec<TornLog> {
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

    fn warnings(&self) -> Vec<Warning> {
        (**self).warnings()
    }

    fn torn_logs(&self) -> Vec<TornLog> {
        (**self).torn_logs()
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
            match copy_of_next(source) {
                Ok(Some(next)) => *cell = next,
                Ok(None) => drop(self.sources.remove(index)),
                Err(error) => {
                    // The cells of the other sources are not in order with those that are lost.
                    self.sources.clear();
                    return Err(error);
                }
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

#[cfg(test)]
mod tests {
    use sstable::Timestamp;

    use super::*;
    use crate::Error;

    /// A source of a family that fails after its cells.
    struct Failing {
        family: &'static [u8],
        rows: std::vec::IntoIter<&'static [u8]>,
        cell: Option<Cell>,
    }

    impl CellSource for Failing {
        fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
            let row = self.rows.next().ok_or_else(|| Error::Internal("the end".to_owned()))?;
            let cell = CellRef::put(row, self.family, b"q", Timestamp::new(1), b"v").to_cell();
            Ok(Some(self.cell.insert(cell).as_ref()))
        }
    }

    #[test]
    fn no_cells_follow_an_error() {
        let of = |family, rows: Vec<&'static [u8]>| -> Box<dyn CellSource> {
            Box::new(Failing { family, rows: rows.into_iter(), cell: None })
        };
        let sources = vec![of(b"f", vec![b"a"]), of(b"g", vec![b"a", b"b", b"c"])];
        let mut merged = MergedSource::new(sources).expect("each has a cell");
        assert_eq!(merged.next_cell().expect("sound").expect("the first").family, b"f");
        merged.next_cell().expect_err("`f` has no second cell");
        for _ in 0..3 {
            assert!(merged.next_cell().expect("the error was returned").is_none());
        }
    }
}
