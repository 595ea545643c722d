//! The cells of a file, or of all files of a directory, in the order of their keys.

use std::cmp::Ordering;
use std::path::Path;

use directories::CellScanner;
use sstable::{Caching, CellRef, Comparator};

use super::expand::Inputs;
use crate::failure::UsageError;

/// A merging cursor over the cells of store files. Of equal keys, the newest cell comes first.
pub(crate) struct MergedCells {
    order: Comparator,
    /// The scanners that are not at their end, by descending cell: the last one has the next cell.
    scanners: Vec<CellScanner>,
}

impl MergedCells {
    /// Opens a file, or all files of a directory, at the first cell.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or [`UsageError`] if the files differ in the order of their rows.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let mut inputs = Inputs::expand(&[path.to_owned()]);
        if let Some(problem) = inputs.take_problems().into_iter().next() {
            return Err(problem.error);
        }
        let files = inputs.files();
        let mut merged = Self { order: Comparator::Bytes, scanners: Vec::new() };
        for (index, file) in files.iter().enumerate() {
            let reader = file.open()?.reader;
            let order = reader.whole().trailer().comparator;
            if index > 0 && order != merged.order {
                let what = format!(
                    "{}: cannot merge a file of hbase:meta with another file: their row orders differ",
                    file.name()
                );
                return Err(UsageError(what).into());
            }
            merged.order = order;
            // Several files are not read ahead: that would take a thread for each.
            let mut scanner = if files.len() == 1 {
                reader.bulk_scanner()
            } else {
                reader.scanner(Caching::Bypass)
            };
            scanner.seek_to_first()?;
            merged.insert(scanner);
        }
        Ok(merged)
    }

    /// The order of the rows.
    pub(crate) const fn order(&self) -> Comparator {
        self.order
    }

    /// Returns the current cell; `None` after the last one.
    pub(crate) fn cell(&self) -> Option<CellRef<'_>> {
        self.scanners.last()?.cell()
    }

    /// Moves to the next cell.
    pub(crate) fn advance(&mut self) -> sstable::Result<()> {
        let Some(mut scanner) = self.scanners.pop() else { return Ok(()) };
        scanner.advance()?;
        self.insert(scanner);
        Ok(())
    }

    fn insert(&mut self, scanner: CellScanner) {
        let Some(cell) = scanner.cell() else { return };
        let order = self.order;
        let at = self.scanners.partition_point(|other| {
            other.cell().is_some_and(|other| compare(order, &other, &cell).is_gt())
        });
        self.scanners.insert(at, scanner);
    }
}

fn compare(order: Comparator, one: &CellRef<'_>, other: &CellRef<'_>) -> Ordering {
    order.compare(&one.key(), &other.key()).then_with(|| other.sequence_id.cmp(&one.sequence_id))
}
